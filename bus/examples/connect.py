"""The connection that the other examples use: pip install nats-py."""

import json
import pathlib
import subprocess
import sys

import nats


def daemon():
    """What the running daemon says of itself: its address and its data folder."""
    status = subprocess.run(["writ", "status", "--json"], capture_output=True, text=True)
    if status.returncode != 0:
        sys.exit(status.stderr.strip())
    return json.loads(status.stdout)


async def connect(role):
    """A connection in a role: hook, dashboard, agent or admin. Every role hears its
    own inbox alone, so that the prefix has to be said."""
    at = daemon()
    who = json.loads((pathlib.Path(at["data_dir"]) / "credentials" / f"{role}.json").read_text())
    return await nats.connect(
        at["url"],
        user=who["user"],
        password=who["password"],
        inbox_prefix=f"_INBOX.{who['user']}".encode(),
    )


async def ask(bus, subject, **request):
    """A service's answer, or the end of the program with what it refuses."""
    answer = await bus.request(subject, json.dumps(request).encode(), timeout=10)
    headers = answer.headers or {}
    if code := headers.get("Nats-Service-Error-Code"):
        sys.exit(f"{subject}: {code}: {headers.get('Nats-Service-Error')}")
    return json.loads(answer.data)


def events(subject, headers, body):
    """The events of one message of the log, as (type, version, data): most hold one,
    those of one decision stand in one message."""
    if headers.get("content-type") == "application/vnd.writ.parts+json":
        return [(part["type"], part["version"], part["data"]) for part in json.loads(body)]
    return [(headers["ce-type"], int(headers["ce-writversion"]), json.loads(body))]

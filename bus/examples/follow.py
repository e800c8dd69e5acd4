"""A follower that notifies: says each refusal and approval as it happens, by
notify-send where there is one. It pulls, and ends after --count of them."""

import argparse
import asyncio
import shutil
import subprocess

from connect import connect, events
from nats.errors import TimeoutError as NothingNew
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy


def say(text):
    print(text, flush=True)
    if shutil.which("notify-send"):
        subprocess.run(["notify-send", "Writ", text], check=False)


def headline(kind, data):
    if kind == "tool.decided" and data.get("verdict") == "deny":
        return f"refused: {data.get('rule', '')} {data.get('tool', '')}"
    if kind == "gate.approved":
        return f"approved: {data['gate']}"
    return None


async def main(count, everything):
    bus = await connect("dashboard")
    stream = bus.jetstream()
    # A reader that nobody acknowledges, and that goes when it is not read.
    config = ConsumerConfig(
        ack_policy=AckPolicy.NONE,
        deliver_policy=DeliverPolicy.ALL if everything else DeliverPolicy.NEW,
        inactive_threshold=60,
    )
    reader = await stream.pull_subscribe("writ.session.>", stream="WRIT_SESSIONS", config=config)
    print("following", flush=True)
    while count > 0:
        try:
            batch = await reader.fetch(50, timeout=5)
        except NothingNew:
            continue
        for message in batch:
            for kind, _, data in events(message.subject, message.headers, message.data):
                if (text := headline(kind, data)) and count > 0:
                    say(text)
                    count -= 1
    await bus.close()


options = argparse.ArgumentParser()
options.add_argument("--count", type=int, default=1_000_000)
options.add_argument("--all", action="store_true", help="from the beginning of the log")
given = options.parse_args()
asyncio.run(main(given.count, given.all))

"""The log of sessions as a table of SQLite, to be asked by SQL: python table.py log.db.
It has the records pushed, which is simplest for a reader that takes everything once."""

import asyncio
import json
import sqlite3
import sys
import urllib.parse

from connect import connect, events

STREAM = "WRIT_SESSIONS"


async def main(path):
    table = sqlite3.connect(path)
    table.execute(
        "create table if not exists events (seq integer, part integer, time text, session text, "
        "actor text, type text, version integer, data text, primary key (seq, part))"
    )
    bus = await connect("dashboard")
    arriving = await bus.subscribe("writ.deliver.dashboard.table")
    await bus.flush()
    state = json.loads((await bus.request(f"$JS.API.STREAM.INFO.{STREAM}")).data)["state"]
    config = {
        "name": "table",
        "deliver_subject": "writ.deliver.dashboard.table",
        "deliver_policy": "all",
        "ack_policy": "none",
        "replay_policy": "instant",
        "mem_storage": True,
        "inactive_threshold": 60_000_000_000,
    }
    made = json.loads(
        (await bus.request(f"$JS.API.CONSUMER.CREATE.{STREAM}.table", json.dumps({"stream_name": STREAM, "config": config}).encode())).data
    )
    if "error" in made:
        sys.exit(made["error"]["description"])
    seq = 0
    while seq < state["last_seq"]:
        message = await arriving.next_msg(timeout=10)
        seq = int(message.reply.split(".")[-4])  # $JS.ACK.…: stream sequence, own, time, pending
        headers = message.headers
        for part, (kind, version, data) in enumerate(events(message.subject, headers, message.data)):
            row = (seq, part, headers["ce-time"], *(urllib.parse.unquote(headers[name]) for name in ("ce-subject", "ce-actor")), kind, version, json.dumps(data))
            table.execute("insert or replace into events values (?,?,?,?,?,?,?,?)", row)
    table.commit()
    await bus.request(f"$JS.API.CONSUMER.DELETE.{STREAM}.table")
    await bus.close()
    for kind, n in table.execute("select type, count(*) from events group by type order by 2 desc, 1"):
        print(f"{n:6} {kind}")


asyncio.run(main(*sys.argv[1:]))

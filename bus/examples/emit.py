"""A hook that emits: records in a session's log that something happened outside it,
such as a build on another machine: python emit.py SESSION build-finished status=failed."""

import asyncio
import sys

from connect import ask, connect


async def main(session, hook, *fields):
    bus = await connect("hook")
    told = await ask(
        bus,
        "writ.svc.emit",
        type="hook.observed",
        id=session,
        data={"host": "ci", "hook": hook, "fields": dict(field.split("=", 1) for field in fields)},
    )
    place = told["position"]
    print(f"recorded as {place['stream']} {place['seq']}")
    await bus.close()


asyncio.run(main(*sys.argv[1:]))

"""Prints the rules that matter for a text: python rules.py "retry a payment request"."""

import asyncio
import sys

from connect import ask, connect


async def main(text):
    bus = await connect("hook")
    found = await ask(bus, "writ.svc.retrieve", query=text, limit=5)
    for rule in found["rules"]:
        print(f"{rule['id']}  {rule['title']}")
    print(f"{len(found['rules'])} rules, {found['tokens']} tokens")
    await bus.close()


asyncio.run(main(" ".join(sys.argv[1:]) or "retry a payment request"))

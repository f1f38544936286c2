"""Drives beads-mcp, whose `bd` is ours, over MCP: python beads.py FOLDER."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

FOLDER = sys.argv[1]


def content(answer):
    assert not answer.isError, answer
    return "\n".join(block.text for block in answer.content)


async def main():
    env = {**os.environ, "BEADS_WORKING_DIR": FOLDER, "BEADS_ACTOR": "mona"}
    server = StdioServerParameters(command=sys.executable, args=["-m", "beads_mcp"], env=env, cwd=FOLDER)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        names = {tool.name for tool in (await session.list_tools()).tools}
        print(sorted(names))

        async def call(name, **arguments):
            return content(await session.call_tool(name, arguments))

        await call("context", action="set", workspace_root=FOLDER)
        first = json.loads(await call("create", title="First", issue_type="bug", priority=1, description="d"))["id"]
        second = json.loads(await call("create", title="Second", deps=[first]))["id"]
        assert first in await call("ready") and second not in await call("ready")
        assert second in await call("blocked")
        assert "First" in await call("show", issue_id=first)
        assert second in await call("list", status="open")
        await call("claim", issue_id=first)
        await call("update", issue_id=first, notes="noted")
        await call("comment_add", issue_id=first, text="hello") if "comment_add" in names else None
        await call("close", issue_id=first, reason="Completed")
        assert second in await call("ready")
        await call("reopen", issue_ids=[first])
        assert "open_issues" in await call("stats")
        shown = await call("show", issue_id=first)
        assert "noted" in shown and '"open"' in shown, shown


asyncio.run(main())

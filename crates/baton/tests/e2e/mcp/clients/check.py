"""Drives a server with the Python client, in every mode: python check.py BATON URL."""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters

BATON, URL = sys.argv[1:]


async def drive(server, mode, name):
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) == 11, tools
        project = {"project": "shop", "identity": name}
        began = await client.call_tool("session_start", project)
        assert not began.is_error, began
        assert json.loads(began.content[0].text) == began.structured_content, "text and structure differ"
        wrapped = await client.call_tool("session_wrap", {**project, "summary": "by " + name, "next": ["go on"]})
        assert not wrapped.is_error, wrapped
        picked = await client.call_tool("hd_exec", {"project": "shop", "identity": name + "-next"})
        assert picked.structured_content["baton"]["summary"] == "by " + name, picked
        done = await client.call_tool("session_wrap", {"project": "shop", "identity": name + "-next", "summary": "done", "done": True})
        assert not done.is_error, done
        refused = await client.call_tool("session_wrap", {**project, "summary": "late"})
        assert refused.is_error and refused.structured_content["error"]["code"] in ("session_released", "no_session"), refused
        projects = await client.call_tool("handoff", {"action": "projects"})
        assert not projects.is_error, projects
        status = await client.read_resource("baton://projects/shop/status")
        assert "sessions" in json.loads(status.contents[0].text)
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["pickup", "wrap", "handoff"]
        print(mode, client.protocol_version)


async def main():
    for mode in ("auto", "legacy", "2026-07-28"):
        await drive(StdioServerParameters(command=BATON, args=["mcp"], env=dict(os.environ)), mode, "py-pipe-" + mode)
        await drive(URL, mode, "py-web-" + mode)


asyncio.run(main())

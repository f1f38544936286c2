// Drives a server with the TypeScript client, in every mode: node check.mjs BATON URL, run where the client is installed.
import assert from "node:assert";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [baton, url] = process.argv.slice(2);
const from = createRequire(process.cwd() + "/");
const load = (name) => import(pathToFileURL(from.resolve(name)).href);
const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");

async function drive(transport, mode, name) {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  const call = (tool, input) => client.callTool({ name: tool, arguments: input });
  assert.equal((await client.listTools()).tools.length, 11);
  const project = { project: "shop", identity: name };
  const began = await call("session_start", project);
  assert.deepEqual(JSON.parse(began.content[0].text), began.structuredContent);
  assert.ok(!(await call("session_wrap", { ...project, summary: `by ${name}`, next: ["go on"] })).isError);
  const picked = await call("hd_exec", { project: "shop", identity: `${name}-next` });
  assert.equal(picked.structuredContent.baton.summary, `by ${name}`);
  assert.ok(!(await call("session_wrap", { project: "shop", identity: `${name}-next`, summary: "done", done: true })).isError);
  const refused = await call("session_wrap", { ...project, summary: "late" });
  assert.ok(["session_released", "no_session"].includes(refused.structuredContent.error.code));
  assert.ok(!(await call("handoff", { action: "projects" })).isError);
  const status = await client.readResource({ uri: "baton://projects/shop/status" });
  assert.ok(JSON.parse(status.contents[0].text).sessions);
  assert.equal((await client.listPrompts()).prompts.length, 3);
  await client.close();
  console.log(JSON.stringify(mode));
}

for (const [at, mode] of ["auto", "legacy", { pin: "2026-07-28" }].entries()) {
  const env = { ...process.env };
  await drive(new StdioClientTransport({ command: baton, args: ["mcp"], env, cwd: process.env.SHOP }), mode, `ts-pipe-${at}`);
  await drive(new StreamableHTTPClientTransport(new URL(url)), mode, `ts-web-${at}`);
}
process.exit(0);

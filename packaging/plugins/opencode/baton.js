// Written by `baton install`; `baton install --uninstall` removes it.
// Announces waiting hand-offs in a session's first system prompt and saves a checkpoint before a compaction. Whatever
// goes wrong here, the session goes on. OpenCode 1.x reads `server` of the default export, 2.x `setup`; there are no other exports.
import { spawn } from "node:child_process";

const BATON = "baton";
const AGENT = "opencode";

function hook(event, session, directory) {
  return new Promise((resolve) => {
    let text = "";
    const done = () => resolve(text.trim());
    try {
      const child = spawn(BATON, ["hook", event, "--agent", AGENT], {
        cwd: directory,
        stdio: ["pipe", "pipe", "ignore"],
        timeout: 2000,
      });
      child.stdout.on("data", (part) => (text += part));
      child.on("error", done);
      child.on("close", done);
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify({ cwd: directory, session_id: session }));
    } catch {
      done();
    }
  });
}

// Adds what waits to the system prompt, asked for once a session. One block: some endpoints refuse a second one.
function announcer(directory) {
  const announced = new Map();
  return async (session, system) => {
    if (!announced.has(session)) announced.set(session, await hook("session-start", session, directory));
    const text = announced.get(session);
    if (text) system[0] = system[0] ? `${system[0]}\n\n${text}` : text;
  };
}

const server = async ({ directory }) => {
  const announce = announcer(directory);
  return {
    event: async ({ event }) => {
      if (event.type === "session.error") await hook("failure", event.properties?.sessionID, directory);
    },
    "experimental.session.compacting": async (input) => {
      await hook("before-compaction", input?.sessionID, directory);
    },
    "experimental.chat.system.transform": async (input, output) => {
      await announce(input?.sessionID ?? "", output.system);
    },
  };
};

const setup = async (ctx) => {
  // Newer versions of 1.x call this too, with a context that has no hooks.
  if (typeof ctx?.session?.hook !== "function") return;
  const directory = ctx.directory ?? ctx.location?.directory ?? process.cwd();
  const announce = announcer(directory);
  await ctx.session.hook("context", async (event) => {
    if (Array.isArray(event?.system)) await announce(event.sessionID ?? "", event.system);
  });
  await ctx.session.hook("compaction", async (event) => {
    await hook("before-compaction", event?.sessionID, directory);
  });
};

export default { id: "baton", server, setup };

// Written by `baton install`; `baton install --uninstall` removes it.
// Announces waiting hand-offs in a session's first system prompt and saves a checkpoint before a compaction. Whatever
// goes wrong here, the session goes on.
import { spawn } from "node:child_process";

const BATON = @BATON@;
const AGENT = @AGENT@;

function hook(event, payload, directory) {
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
      child.stdin.end(JSON.stringify({ cwd: directory, ...payload }));
    } catch {
      done();
    }
  });
}

export const BatonPlugin = async ({ directory }) => {
  const announced = new Map();
  return {
    event: async ({ event }) => {
      if (event.type === "session.error") {
        await hook("failure", { session_id: event.properties?.sessionID }, directory);
      }
    },
    "experimental.session.compacting": async (input) => {
      await hook("before-compaction", { session_id: input?.sessionID }, directory);
    },
    "experimental.chat.system.transform": async (input, output) => {
      const id = input?.sessionID ?? "";
      if (!announced.has(id)) {
        announced.set(id, await hook("session-start", { session_id: id }, directory));
      }
      // One block: some endpoints refuse a second one.
      const text = announced.get(id);
      if (text) output.system[0] = output.system[0] ? `${output.system[0]}\n\n${text}` : text;
    },
  };
};

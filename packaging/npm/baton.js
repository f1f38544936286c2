#!/usr/bin/env node
"use strict";
// Starts the binary of this platform's package, which npm installed beside this one.
const { spawnSync } = require("child_process");
const os = require("os");

const platform = `baton-handoff-${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`${platform}/bin/baton`);
} catch {
  console.error(`baton: there is no package ${platform}.`);
  console.error("Linux and macOS on x64 and arm64 have one; npm leaves it out under --omit=optional.");
  console.error("Elsewhere build from source: cargo install --path crates/baton");
  process.exit(1);
}
// Interrupts reach the binary through the terminal's process group; this process waits for its end.
for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => {});
const ended = spawnSync(binary, process.argv.slice(2), { stdio: "inherit" });
if (ended.error) {
  console.error(`baton: ${binary} cannot be started: ${ended.error.message}`);
  process.exit(1);
}
process.exit(ended.status ?? 128 + (os.constants.signals[ended.signal] ?? 1));

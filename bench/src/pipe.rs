//! A client of `baton mcp`: the newer protocol on a pipe, one call at a time.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::process::{ChildGuard, User};

/// A server of its own, and the pipe to it.
pub struct Pipe {
    process: ChildGuard,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    calls: u64,
}

impl Pipe {
    /// Starts the server on a store and greets it: when this returns, the greeting has been answered.
    pub fn open(user: &User, store: &Path, identity: &str) -> Result<Self> {
        let mut command = user.command(&["mcp"]);
        command.env("BATON_STORE", store).env("BATON_IDENTITY", identity);
        command.env("BATON_PROCESS", format!("process of {identity}"));
        let mut process = ChildGuard(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
        let input = process.0.stdin.take().context("no standard input")?;
        let output = BufReader::new(process.0.stdout.take().context("no standard output")?);
        let mut pipe = Self { process, input, output, calls: 0 };
        pipe.request("server/discover", json!({}))?;
        Ok(pipe)
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.process.0.id()
    }

    /// Sends a request and waits for its response.
    pub fn request(&mut self, method: &str, mut params: Value) -> Result<Value> {
        self.calls += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let message = json!({ "jsonrpc": "2.0", "id": self.calls, "method": method, "params": params });
        writeln!(self.input, "{message}")?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let mut response: Value =
            serde_json::from_str(&line).with_context(|| format!("{method}: {line:?}"))?;
        if response["id"] != self.calls || !response["error"].is_null() {
            bail!("{method}: {response}");
        }
        Ok(response["result"].take())
    }

    /// Calls a tool, which must not refuse.
    pub fn tool(&mut self, name: &str, arguments: Value) -> Result<()> {
        let result = self.request("tools/call", json!({ "name": name, "arguments": arguments }))?;
        if result["isError"] == true {
            bail!("{name}: {}", result["structuredContent"]);
        }
        Ok(())
    }
}

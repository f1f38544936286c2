//! Just enough of an MCP client, on a pipe or over HTTP, in either era of the protocol.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::stage::Terminal;

/// How long an answer may take before the test is given up.
const TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const OLDER: [&str; 2] = ["2025-11-25", "2025-06-18"];
/// Every era, the newer one first.
pub(crate) const ERAS: [&str; 3] = [MODERN, OLDER[0], OLDER[1]];

enum Wire {
    Pipe { child: Child, input: Option<ChildStdin>, lines: Receiver<Value> },
    Web { address: String, session: Option<String> },
}

/// A client and what it says of itself.
pub(crate) struct Client {
    wire: Wire,
    era: &'static str,
    capabilities: Value,
    calls: i64,
    /// What the server said without being asked.
    pub notices: VecDeque<Value>,
    /// What the client answers when the server asks, by method.
    pub replies: Vec<(&'static str, Value)>,
}

impl Client {
    /// Starts `baton mcp` in a terminal and greets it.
    pub(crate) fn pipe(terminal: &Terminal<'_>, era: &'static str) -> Self {
        Self::pipe_with(terminal, era, &[], json!({}))
    }

    /// The same with arguments and capabilities.
    pub(crate) fn pipe_with(
        terminal: &Terminal<'_>,
        era: &'static str,
        args: &[&str],
        capabilities: Value,
    ) -> Self {
        let args: Vec<&str> = ["mcp"].iter().chain(args).copied().collect();
        let mut child = terminal.command(&args).stdin(Stdio::piped()).spawn().expect("baton starts");
        let output = BufReader::new(child.stdout.take().expect("stdout"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let parsed = serde_json::from_str(&line);
                let message = parsed.unwrap_or_else(|error| panic!("not the protocol: {error}: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self::greeted(Wire::Pipe { child, input, lines }, era, capabilities)
    }

    /// Greets a server over HTTP.
    pub(crate) fn web(address: &str, era: &'static str) -> Self {
        Self::greeted(Wire::Web { address: address.to_owned(), session: None }, era, json!({}))
    }

    fn greeted(wire: Wire, era: &'static str, capabilities: Value) -> Self {
        let mut client =
            Self { wire, era, capabilities, calls: 0, notices: VecDeque::new(), replies: Vec::new() };
        if era == MODERN {
            let greeting = client.ok("server/discover", json!({}));
            assert!(greeting["supportedVersions"].as_array().expect("versions").contains(&json!(MODERN)));
        } else {
            let me = json!({ "name": "test", "version": "1" });
            let params =
                json!({ "protocolVersion": era, "capabilities": client.capabilities, "clientInfo": me });
            assert_eq!(client.ok("initialize", params)["protocolVersion"], era);
            client.tell("notifications/initialized", json!({}));
        }
        client
    }

    fn message(&mut self, method: &str, mut params: Value) -> (i64, Value) {
        self.calls += 1;
        if self.era == MODERN {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
        }
        (self.calls, json!({ "jsonrpc": "2.0", "id": self.calls, "method": method, "params": params }))
    }

    /// Sends a request and does not wait.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> i64 {
        let (id, message) = self.message(method, params);
        self.write(&message);
        id
    }

    /// Says something that has no answer.
    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        match &mut self.wire {
            Wire::Pipe { .. } => self.write(&message),
            Wire::Web { .. } => _ = self.post(method, &message),
        }
    }

    fn write(&mut self, message: &Value) {
        let Wire::Pipe { input: Some(input), .. } = &mut self.wire else { panic!("no pipe") };
        writeln!(input, "{message}").and_then(|()| input.flush()).expect("the server reads");
    }

    /// Sends a line as it is and returns what comes back first.
    pub(crate) fn raw(&mut self, line: &[u8]) -> Value {
        let Wire::Pipe { input: Some(input), .. } = &mut self.wire else { panic!("no pipe") };
        input.write_all(line).and_then(|()| input.write_all(b"\n")).expect("the server reads");
        input.flush().expect("the server reads");
        self.next()
    }

    /// The whole response to a request.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let (id, message) = self.message(method, params);
        match &self.wire {
            Wire::Pipe { .. } => {
                self.write(&message);
                self.response(id)
            }
            Wire::Web { .. } => self.post(method, &message).1,
        }
    }

    /// Waits for the response to a request, answering what the server asks meanwhile.
    pub(crate) fn response(&mut self, id: i64) -> Value {
        loop {
            let message = self.next();
            if message["method"].is_null() && message["id"] == id {
                return message;
            }
            self.take(message);
        }
    }

    /// Waits for something that the server says without being asked.
    pub(crate) fn notice(&mut self) -> Value {
        loop {
            if let Some(notice) = self.notices.pop_front() {
                return notice;
            }
            let message = self.next();
            self.take(message);
        }
    }

    fn next(&self) -> Value {
        let Wire::Pipe { lines, .. } = &self.wire else { panic!("no pipe") };
        lines.recv_timeout(TIMEOUT).expect("the server says something")
    }

    fn take(&mut self, message: Value) {
        let Some(method) = message["method"].as_str() else { return };
        if message["id"].is_null() {
            self.notices.push_back(message);
            return;
        }
        let reply = self.replies.iter().find(|(of, _)| *of == method).map(|(_, reply)| reply.clone());
        let reply = reply.unwrap_or_else(|| panic!("the server asks {message:#}"));
        let id = message["id"].clone();
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "result": reply }));
    }

    /// The result of a request that succeeds.
    pub(crate) fn ok(&mut self, method: &str, params: Value) -> Value {
        let mut response = self.request(method, params);
        assert!(response["error"].is_null(), "{method}: {response:#}");
        response["result"].take()
    }

    /// The error of a request that fails.
    pub(crate) fn fails(&mut self, method: &str, params: Value) -> Value {
        let mut response = self.request(method, params);
        assert!(response["result"].is_null(), "{method}: {response:#}");
        response["error"].take()
    }

    /// The result of a tool: checked for what every result keeps to.
    pub(crate) fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.ok("tools/call", json!({ "name": name, "arguments": arguments }));
        check(&result);
        result
    }

    /// What a tool answers when it does what it is told.
    pub(crate) fn done(&mut self, name: &str, arguments: Value) -> Value {
        let mut result = self.tool(name, arguments);
        assert_eq!(result["isError"], false, "{name}: {result:#}");
        result["structuredContent"].take()
    }

    /// The error object of a tool that refuses with this code.
    pub(crate) fn refused(&mut self, code: &str, name: &str, arguments: Value) -> Value {
        let mut result = self.tool(name, arguments);
        assert_eq!(result["isError"], true, "{name}: {result:#}");
        let error = result["structuredContent"]["error"].take();
        assert_eq!(error["code"], code, "{name}: {error:#}");
        error
    }

    /// Closes the pipe and returns the exit code, with what was written to standard error.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let Wire::Pipe { child, input, .. } = &mut self.wire else { panic!("no pipe") };
        drop(input.take());
        let status = child.wait().expect("it ends");
        let mut output = String::new();
        child.stderr.take().expect("stderr").read_to_string(&mut output).expect("UTF-8");
        (status.code(), output)
    }

    fn post(&mut self, method: &str, message: &Value) -> (u16, Value) {
        let Wire::Web { address, session } = &self.wire else { panic!("no web") };
        let mut headers = vec![
            ("accept", "application/json, text/event-stream".to_owned()),
            ("content-type", "application/json".to_owned()),
        ];
        if self.era == MODERN {
            headers.push(("mcp-protocol-version", MODERN.to_owned()));
            headers.push(("mcp-method", method.to_owned()));
            let name = [&message["params"]["name"], &message["params"]["uri"]];
            headers
                .extend(name.iter().find_map(|name| name.as_str()).map(|name| ("mcp-name", name.to_owned())));
        } else if let Some(session) = session {
            headers.push(("mcp-session-id", session.clone()));
            headers.push(("mcp-protocol-version", self.era.to_owned()));
        }
        let reply = Reply::to(address, &headers, message.to_string().as_bytes());
        if let Wire::Web { session, .. } = &mut self.wire
            && let Some(id) = reply.header("mcp-session-id")
        {
            *session = Some(id);
        }
        let id = message["id"].clone();
        let found = reply.messages().into_iter().find(|message| message["id"] == id);
        (reply.status, found.unwrap_or_default())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Wire::Pipe { child, .. } = &mut self.wire {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What holds for every result of a tool: text and structure say the same, the next step stands first, and no client cuts it.
pub(crate) fn check(result: &Value) {
    let content = result["content"].as_array().expect("content");
    assert_eq!(content.len(), 1, "{result:#}");
    let text = content[0]["text"].as_str().expect("text");
    let read: Value = serde_json::from_str(text).expect("the text is JSON");
    assert_eq!(read, result["structuredContent"]);
    assert_eq!(
        read.as_object().and_then(|fields| fields.keys().next().cloned()).as_deref(),
        Some("next_step")
    );
    assert!(text.chars().count() < 10_000, "{} characters", text.chars().count());
}

/// A response of HTTP, read to its end.
#[derive(Debug)]
pub(crate) struct Reply {
    pub status: u16,
    head: String,
    body: String,
}

impl Reply {
    /// Posts to `/mcp`.
    pub(crate) fn to(address: &str, headers: &[(&str, String)], body: &[u8]) -> Self {
        Self::of(stream(address, headers, body))
    }

    /// Ends a session.
    pub(crate) fn deleted(address: &str, headers: &[(&str, String)]) -> Self {
        Self::of(request("DELETE", address, headers, b""))
    }

    fn of(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a response");
        let text = String::from_utf8(bytes).expect("UTF-8");
        let (head, body) = text.split_once("\r\n\r\n").expect("head and body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }

    /// The messages in the body: one as JSON, or several as events. Sizes of chunks stand on lines of their own.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let json = |line: &str| serde_json::from_str(line.strip_prefix("data: ").unwrap_or(line)).ok();
        self.body.lines().filter_map(json).filter(Value::is_object).collect()
    }
}

/// A request to `/mcp` whose response is still to be read.
pub(crate) fn stream(address: &str, headers: &[(&str, String)], body: &[u8]) -> TcpStream {
    request("POST", address, headers, body)
}

fn request(method: &str, address: &str, headers: &[(&str, String)], body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(TIMEOUT)).expect("timeout");
    let mut head =
        format!("{method} /mcp HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| *name == "host") {
        head.push_str(&format!("host: {address}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).expect("sent");
    stream
}

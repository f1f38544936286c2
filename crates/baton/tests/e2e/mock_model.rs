//! A model on loopback for real agents: it makes scripted tool calls, then says a sentence and ends. It speaks the three
//! APIs that agents use, and keeps every request, so that a test can see what reached the model.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// A tool call that the model makes, if a tool of this name is offered.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The tool; where several agents share a model, by the name that each has for it.
    tools: Vec<String>,
    input: Value,
    /// The MCP server whose tool it is: every agent calls that by a longer name, and not every one offers it at once.
    server: Option<&'static str>,
    /// The model thinks until this file is there. A shell would not wait as long: Codex goes on after ten seconds.
    after: Option<PathBuf>,
}

impl Call {
    /// A tool of the agent's own.
    pub(crate) fn new(tool: &str, input: Value) -> Self {
        Self { tools: vec![tool.to_owned()], input, server: None, after: None }
    }

    /// A tool of Baton's MCP server.
    pub(crate) fn baton(tool: &str, input: Value) -> Self {
        Self::of_server("baton", tool, input)
    }

    /// A tool of this MCP server.
    pub(crate) fn of_server(server: &'static str, tool: &str, input: Value) -> Self {
        Self { server: Some(server), ..Self::new(tool, input) }
    }

    /// A line for the agent's shell, whatever that is called.
    pub(crate) fn shell(line: &str) -> Self {
        let tools = ["Bash", "exec_command", "run_shell_command"].map(str::to_owned).to_vec();
        Self { tools, input: line.into(), server: None, after: None }
    }

    /// The same call, made when this file is there.
    pub(crate) fn after(self, file: &Path) -> Self {
        Self { after: Some(file.to_owned()), ..self }
    }

    /// What it is called with, as the tool of this name takes it.
    fn given(&self, name: &str) -> Value {
        match (&self.input, name) {
            (Value::String(line), "exec_command") => json!({ "cmd": line }),
            (Value::String(line), _) => json!({ "command": line, "description": "work" }),
            (input, _) => input.clone(),
        }
    }

    /// The name by which it is called, with its namespace where the agent has one.
    fn named(&self, path: &str, offered: &[(Option<String>, String)]) -> Option<(Option<String>, String)> {
        let Some(server) = self.server else {
            return offered.iter().find(|(_, name)| self.tools.contains(name)).cloned();
        };
        let tool = self.tools.first().filter(|_| !offered.is_empty())?;
        Some(match path {
            "/v1/messages" => (None, format!("mcp__{server}__{tool}")),
            "/v1/responses" => (Some(format!("mcp__{server}")), tool.clone()),
            _ => (None, format!("mcp_{server}_{tool}")),
        })
    }
}

/// What an agent sent.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub path: String,
    pub body: Value,
}

/// The model. It answers until the test ends.
pub(crate) struct MockModel {
    port: u16,
    state: Arc<Mutex<State>>,
}

struct State {
    script: Vec<Call>,
    /// How many of the calls were made; with `again`, every conversation begins anew.
    made: usize,
    again: bool,
    says: String,
    limited: bool,
    seen: Vec<Request>,
}

impl State {
    /// Whether the next call waits for a file.
    fn is_thinking(&self) -> bool {
        let file = self.script.get(self.made).and_then(|call| call.after.as_ref());
        file.is_some_and(|file| !file.exists())
    }
}

impl MockModel {
    /// Starts one that makes these calls in order, each once, and then says a sentence.
    pub(crate) fn start(script: Vec<Call>, says: &str) -> Self {
        Self::begin(script, says, false)
    }

    /// Starts one that makes these calls in every conversation.
    pub(crate) fn every_time(script: Vec<Call>, says: &str) -> Self {
        Self::begin(script, says, true)
    }

    fn begin(script: Vec<Call>, says: &str, again: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = State { script, made: 0, again, says: says.to_owned(), limited: false, seen: Vec::new() };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || _ = serve(&stream, &state));
            }
        });
        Self { port, state }
    }

    /// The address, without a path.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// From now on every request is over the limit.
    pub(crate) fn limit(&self) {
        self.state.lock().expect("state").limited = true;
    }

    /// Everything that was asked so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.state.lock().expect("state").seen.clone()
    }

    /// What an agent brought back from its tools, oldest first: exactly what a model would have seen.
    pub(crate) fn results(&self) -> Vec<String> {
        let found = self.requests().into_iter().map(|request| results(&request.body));
        found.max_by_key(Vec::len).unwrap_or_default()
    }

    /// Whether a text reached the model, in any request.
    pub(crate) fn was_told(&self, text: &str) -> bool {
        self.requests().iter().any(|request| mentions(&request.body, text))
    }

    /// The texts with these words that reached it, each once.
    pub(crate) fn texts(&self, words: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.requests().iter().for_each(|request| collect(&request.body, words, &mut found));
        found
    }
}

fn collect(value: &Value, words: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if text.contains(words) => _ = found.insert(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| collect(value, words, found)),
        Value::Object(members) => members.values().for_each(|value| collect(value, words, found)),
        _ => {}
    }
}

fn mentions(value: &Value, text: &str) -> bool {
    match value {
        Value::String(content) => content.contains(text),
        Value::Array(values) => values.iter().any(|value| mentions(value, text)),
        Value::Object(members) => members.values().any(|value| mentions(value, text)),
        _ => false,
    }
}

/// What a model says whose user has used up what was paid for.
/// How each provider says that the limit is reached.
fn limit_of(path: &str) -> String {
    let message = match path.split('?').next().unwrap_or_default() {
        "/v1/responses" => {
            json!({ "error": { "type": "usage_limit_reached", "message": "The usage limit has been reached",
            "plan_type": "plus", "resets_in_seconds": 7200 } })
        }
        path if path.contains(":") => json!({ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED",
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "details": [{ "@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{
                "quotaMetric": "generativelanguage.googleapis.com/generate_requests",
                "quotaId": "GenerateRequestsPerDayPerProjectPerModel" }] }] } }),
        _ => json!({ "type": "error", "error": { "type": "rate_limit_error", "message": "over the limit" } }),
    };
    message.to_string()
}

/// Answers the requests of one connection.
fn serve(stream: &TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let body = body(&mut reader)?;
        state.lock().expect("state").seen.push(Request { path: path.clone(), body: body.clone() });
        while !body["tools"].is_null() && state.lock().expect("state").is_thinking() {
            thread::sleep(Duration::from_millis(50));
        }
        let mut state = state.lock().expect("state");
        let limited = state.limited && path != "/";
        let (kind, text) = match limited {
            true => ("application/json", limit_of(&path)),
            false => answer(&path, &body, &mut state),
        };
        drop(state);
        let status = if limited { "429 Too Many Requests\r\nx-should-retry: false" } else { "200 OK" };
        let mut out = stream;
        write!(
            out,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{text}",
            text.len()
        )?;
        out.flush()?;
    }
}

fn body(reader: &mut BufReader<&TcpStream>) -> std::io::Result<Value> {
    let (mut length, mut chunked) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        match line.split_once(':') {
            Some(("content-length", n)) => length = n.trim().parse().unwrap_or_default(),
            Some(("transfer-encoding", how)) => chunked = how.contains("chunked"),
            Some(_) => {}
            None => break,
        }
    }
    let mut bytes = Vec::new();
    if chunked {
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16).unwrap_or_default();
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk)?;
            if size == 0 {
                break;
            }
            bytes.extend_from_slice(&chunk[..size]);
        }
    } else {
        bytes.resize(length, 0);
        reader.read_exact(&mut bytes)?;
    }
    Ok(serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

fn answer(path: &str, body: &Value, state: &mut State) -> (&'static str, String) {
    let path = path.split('?').next().unwrap_or_default();
    let offered = tools(&body["tools"]);
    let at = if state.again { results(body).len() } else { state.made };
    let next = state.script.get(at).and_then(|call| {
        let named = call.named(path, &offered)?;
        let input = call.given(&named.1);
        Some((named, input))
    });
    let speaks = match path {
        "/v1/messages" => body["stream"] == true,
        path => path == "/v1/responses" || path.ends_with(":streamGenerateContent"),
    };
    let call = next.filter(|_| speaks);
    state.made += usize::from(call.is_some());
    let streamed = "text/event-stream";
    match path {
        "/v1/messages" if body["stream"] == true => (streamed, anthropic(call.as_ref(), &state.says)),
        "/v1/messages" => ("application/json", anthropic_message(&state.says).to_string()),
        "/v1/messages/count_tokens" => ("application/json", json!({ "input_tokens": 10 }).to_string()),
        "/v1/responses" => (streamed, openai(call.as_ref(), &state.says)),
        _ if path.ends_with(":streamGenerateContent") => {
            (streamed, format!("data: {}\n\n", gemini(call.as_ref(), &state.says)))
        }
        _ if path.ends_with(":generateContent") => {
            ("application/json", gemini(None, &state.says).to_string())
        }
        _ if path.ends_with(":countTokens") => ("application/json", json!({ "totalTokens": 10 }).to_string()),
        _ => ("application/json", json!({}).to_string()),
    }
}

/// The names of the tools that a request offers, each with its namespace, however deep they are nested.
fn tools(value: &Value) -> Vec<(Option<String>, String)> {
    let text = |value: &Value| value["name"].as_str().map(str::to_owned);
    let mut found = Vec::new();
    for tool in value.as_array().into_iter().flatten() {
        let inner = ["tools", "functionDeclarations", "function_declarations"];
        let inner = inner.iter().filter_map(|key| tool[*key].as_array()).flatten();
        found.extend(inner.filter_map(|inner| Some((text(tool), text(inner)?))));
        found.extend(text(tool).map(|name| (None, name)));
    }
    found
}

/// The tool results that a request carries, in whichever API's shape.
fn results(request: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text_of = |content: &Value| content.as_str().map_or_else(|| content.to_string(), str::to_owned);
    let mut all = Vec::new();
    for message in list(&request["messages"]) {
        let parts = list(&message["content"]);
        let parts = parts.iter().filter(|part| part["type"] == "tool_result");
        all.extend(parts.map(|part| text_of(&part["content"])));
    }
    let input = list(&request["input"]);
    let input = input.iter().filter(|item| item["type"] == "function_call_output");
    all.extend(input.map(|item| text_of(&item["output"])));
    for content in list(&request["contents"]) {
        let parts = list(&content["parts"]);
        let parts = parts.iter().map(|part| &part["functionResponse"]).filter(|part| !part.is_null());
        all.extend(parts.map(|part| text_of(&part["response"])));
    }
    all
}

/// A call as it is made: the tool's name with its namespace, and what it is given.
type Made<'a> = Option<&'a ((Option<String>, String), Value)>;

/// An id that no other call has.
fn id(prefix: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("{prefix}_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = name.into();
    format!("event: {name}\ndata: {data}\n\n")
}

fn anthropic_message(says: &str) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "mock",
        "content": [{ "type": "text", "text": says }], "stop_reason": "end_turn", "stop_sequence": null,
        "usage": { "input_tokens": 10, "output_tokens": 5 },
    })
}

fn anthropic(call: Made<'_>, says: &str) -> String {
    let mut message = anthropic_message(says);
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    let (block, delta, reason) = match call {
        Some(((_, name), input)) => (
            json!({ "type": "tool_use", "id": id("toolu"), "name": name, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": input.to_string() }),
            "tool_use",
        ),
        None => {
            (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": says }), "end_turn")
        }
    };
    [
        event("message_start", json!({ "message": message })),
        event("content_block_start", json!({ "index": 0, "content_block": block })),
        event("content_block_delta", json!({ "index": 0, "delta": delta })),
        event("content_block_stop", json!({ "index": 0 })),
        event(
            "message_delta",
            json!({ "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": { "output_tokens": 5 } }),
        ),
        event("message_stop", json!({})),
    ]
    .concat()
}

fn openai(call: Made<'_>, says: &str) -> String {
    let mut item = match call {
        Some(((_, name), input)) => json!({
            "type": "function_call", "id": id("fc"), "call_id": id("call"), "name": name, "arguments": input.to_string(),
        }),
        None => json!({
            "type": "message", "id": "msg_1", "role": "assistant",
            "content": [{ "type": "output_text", "text": says, "annotations": [] }],
        }),
    };
    if let Some(((Some(namespace), _), _)) = call {
        item["namespace"] = namespace.as_str().into();
    }
    let response = json!({
        "id": "resp_1", "object": "response", "output": [item.clone()],
        "usage": { "input_tokens": 10, "input_tokens_details": null, "output_tokens": 5, "output_tokens_details": null, "total_tokens": 15 },
    });
    [
        event("response.created", json!({ "response": { "id": "resp_1" } })),
        event("response.output_item.done", json!({ "output_index": 0, "item": item })),
        event("response.completed", json!({ "response": response })),
    ]
    .concat()
}

fn gemini(call: Made<'_>, says: &str) -> Value {
    let part = match call {
        Some(((_, name), input)) => json!({ "functionCall": { "name": name, "args": input } }),
        None => json!({ "text": says }),
    };
    json!({
        "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 },
        "modelVersion": "mock",
    })
}

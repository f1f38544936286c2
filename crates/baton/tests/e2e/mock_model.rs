//! A model on loopback for real agents: it makes one scripted tool call, then says a sentence and ends. It speaks the three
//! APIs that agents use, and keeps every request, so that a test can see what reached the model.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// A tool call that the model makes once, if a tool of this name is offered.
#[derive(Debug, Clone)]
pub struct Call {
    pub tool: String,
    pub input: Value,
}

impl Call {
    pub fn new(tool: &str, input: Value) -> Self {
        Self { tool: tool.to_owned(), input }
    }
}

/// What an agent sent.
#[derive(Debug, Clone)]
pub struct Request {
    pub path: String,
    pub body: Value,
}

/// The model. It answers until the test ends.
pub struct MockModel {
    port: u16,
    state: Arc<Mutex<State>>,
}

struct State {
    script: Vec<Call>,
    says: String,
    limited: bool,
    seen: Vec<Request>,
}

impl MockModel {
    /// Starts one that makes these calls in order, each once, and then says a sentence.
    pub fn start(script: Vec<Call>, says: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state =
            Arc::new(Mutex::new(State { script, says: says.to_owned(), limited: false, seen: Vec::new() }));
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
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// From now on every request is over the limit.
    pub fn limit(&self) {
        self.state.lock().expect("state").limited = true;
    }

    /// Everything that was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        self.state.lock().expect("state").seen.clone()
    }

    /// Whether a text reached the model, in any request.
    pub fn was_told(&self, text: &str) -> bool {
        self.requests().iter().any(|request| mentions(&request.body, text))
    }
}

fn mentions(value: &Value, text: &str) -> bool {
    match value {
        Value::String(said) => said.contains(text),
        Value::Array(values) => values.iter().any(|value| mentions(value, text)),
        Value::Object(members) => members.values().any(|value| mentions(value, text)),
        _ => false,
    }
}

/// What a model says whose user has used up what was paid for.
const LIMIT: &str = r#"{"type":"error","error":{"type":"rate_limit_error","message":"over the limit"}}"#;

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
        let mut state = state.lock().expect("state");
        let limited = state.limited && path != "/";
        let (kind, text) = match limited {
            true => ("application/json", LIMIT.to_owned()),
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
    state.seen.push(Request { path: path.to_owned(), body: body.clone() });
    let path = path.split('?').next().unwrap_or_default();
    let offered = tools(&body["tools"]);
    let named = |call: &Call| offered.iter().position(|(_, name)| *name == call.tool);
    let next = state.script.first().and_then(|call| Some((named(call)?, call.clone())));
    let call = next.map(|(at, call)| {
        state.script.remove(0);
        (offered[at].0.clone(), call)
    });
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

type Made<'a> = Option<&'a (Option<String>, Call)>;

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
        Some((_, call)) => (
            json!({ "type": "tool_use", "id": "toolu_1", "name": call.tool, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": call.input.to_string() }),
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
        Some((_, call)) => json!({
            "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": call.tool,
            "arguments": call.input.to_string(),
        }),
        None => json!({
            "type": "message", "id": "msg_1", "role": "assistant",
            "content": [{ "type": "output_text", "text": says, "annotations": [] }],
        }),
    };
    if let Some((Some(namespace), _)) = call {
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
        Some((_, call)) => json!({ "functionCall": { "name": call.tool, "args": call.input } }),
        None => json!({ "text": says }),
    };
    json!({
        "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 },
        "modelVersion": "mock",
    })
}

//! A model that is none: it answers the three model APIs on loopback, calls the tools that it was told to call, and keeps what
//! the agent brought back, which is exactly what a model would have seen.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// The tools to call, one a turn, with their arguments.
pub type Script = Vec<(&'static str, Value)>;

/// A running model.
pub struct Model {
    pub url: String,
    results: Arc<Mutex<Vec<String>>>,
}

impl Model {
    /// Starts it; its thread ends with the test.
    pub fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("address"));
        let results = Arc::new(Mutex::new(Vec::new()));
        let (script, kept) = (Arc::new(script), Arc::clone(&results));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (script, kept) = (Arc::clone(&script), Arc::clone(&kept));
                std::thread::spawn(move || answer(stream, &script, &kept));
            }
        });
        Self { url, results }
    }

    /// What the agent brought back from its tools, oldest first.
    pub fn results(&self) -> Vec<String> {
        self.results.lock().expect("results").clone()
    }
}

fn answer(stream: TcpStream, script: &Script, kept: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut chunked) = (0, false);
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let header = line.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
    }
    let body = if chunked { unchunked(&mut reader)? } else { sized(&mut reader, length)? };
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (kind, text) = reply(&path, &request, script, kept);
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(text.as_bytes())).ok()
}

fn sized(reader: &mut impl Read, length: usize) -> Option<Vec<u8>> {
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

fn unchunked(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let size = usize::from_str_radix(line.trim(), 16).ok()?;
        let mut chunk = sized(reader, size + 2)?;
        if size == 0 {
            return Some(body);
        }
        chunk.truncate(size);
        body.append(&mut chunk);
    }
}

/// The tool results that a request carries, in whichever API's shape.
fn found(request: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut all = Vec::new();
    for message in list(&request["messages"]) {
        all.extend(
            list(&message["content"])
                .iter()
                .filter(|part| part["type"] == "tool_result")
                .map(|part| told(&part["content"])),
        );
    }
    let input = list(&request["input"]);
    all.extend(
        input.iter().filter(|item| item["type"] == "function_call_output").map(|item| told(&item["output"])),
    );
    for content in list(&request["contents"]) {
        let parts = list(&content["parts"]);
        all.extend(
            parts
                .iter()
                .filter(|part| !part["functionResponse"].is_null())
                .map(|part| told(&part["functionResponse"]["response"])),
        );
    }
    all
}

fn told(content: &Value) -> String {
    content.as_str().map_or_else(|| content.to_string(), str::to_owned)
}

fn reply(path: &str, request: &Value, script: &Script, kept: &Mutex<Vec<String>>) -> (&'static str, String) {
    let results = found(request);
    let next = script.get(results.len());
    let mut seen = kept.lock().expect("results");
    if results.len() > seen.len() {
        *seen = results;
    }
    drop(seen);
    let events = |events: Vec<Value>| {
        let one = |event: &Value| match event["type"].as_str() {
            Some(name) => format!("event: {name}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        };
        ("text/event-stream", events.iter().map(one).collect::<String>())
    };
    if path.contains("/responses") {
        events(openai(next))
    } else if path.contains("/messages") && !path.contains("count_tokens") {
        let offered = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        events(anthropic(&request["model"], next.filter(|_| offered)))
    } else if path.contains("streamGenerateContent") {
        events(vec![google(next)])
    } else if path.contains("generateContent") {
        ("application/json", google(None).to_string())
    } else {
        ("application/json", json!({ "input_tokens": 1 }).to_string())
    }
}

fn openai(next: Option<&(&'static str, Value)>) -> Vec<Value> {
    let item = match next {
        Some((name, arguments)) => json!({
            "type": "function_call", "id": "f", "call_id": format!("call-{name}"), "namespace": "mcp__baton", "name": name,
            "arguments": arguments.to_string(),
        }),
        None => {
            json!({ "type": "message", "id": "m", "role": "assistant", "content": [{ "type": "output_text", "text": "done" }] })
        }
    };
    let usage = json!({ "input_tokens": 1, "output_tokens": 1, "total_tokens": 2 });
    vec![
        json!({ "type": "response.created", "response": { "id": "r" } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": { "id": "r", "usage": usage } }),
    ]
}

fn anthropic(model: &Value, next: Option<&(&'static str, Value)>) -> Vec<Value> {
    let (block, delta, reason) = match next {
        Some((name, arguments)) => (
            json!({ "type": "tool_use", "id": format!("call-{name}"), "name": format!("mcp__baton__{name}"), "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": arguments.to_string() }),
            "tool_use",
        ),
        None => (
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": "done" }),
            "end_turn",
        ),
    };
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let message = json!({
        "id": "m", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": null, "usage": usage,
    });
    vec![
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 1 } }),
        json!({ "type": "message_stop" }),
    ]
}

fn google(next: Option<&(&'static str, Value)>) -> Value {
    let part = match next {
        Some((name, arguments)) => {
            json!({ "functionCall": { "name": format!("mcp_baton_{name}"), "args": arguments } })
        }
        None => json!({ "text": "done" }),
    };
    let usage = json!({ "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 });
    json!({
        "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": usage,
    })
}

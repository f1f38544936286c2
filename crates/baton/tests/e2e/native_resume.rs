//! A written session is taken up by the tool itself, whose model is a stand-in on loopback that writes down what it is sent.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::native::{ASKED, SAID, worked, written};
use crate::stage::{Stage, Terminal, env, items, skipped, text};
use crate::transcript_copies::{ID, SECRET, TwoMachines};

/// Seconds that a real tool may take.
const LIMIT: &str = "90";

/// A model that gives every request the same answer and keeps the requests.
struct Model {
    port: u16,
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

impl Model {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let received = requests.clone();
        thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let received = received.clone();
                thread::spawn(move || _ = answer(stream, &received));
            }
        });
        Self { port, asked: requests }
    }

    /// What was asked at paths with this part, all together.
    fn asked(&self, part: &str) -> String {
        let requests = self.asked.lock().expect("lock");
        requests.iter().filter(|(path, _)| path.contains(part)).map(|(_, body)| body.as_str()).collect()
    }
}

fn answer(mut stream: TcpStream, received: &Mutex<Vec<(String, String)>>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut bytes = Vec::new();
    let mut buffer = [0; 64 * 1024];
    let (head, length) = loop {
        let n = stream.read(&mut buffer)?;
        if n == 0 {
            return Ok(());
        }
        bytes.extend_from_slice(&buffer[..n]);
        if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            bytes.drain(..end + 4);
            let length = head.lines().find_map(|l| {
                l.to_ascii_lowercase().strip_prefix("content-length:").map(|v| v.trim().parse::<usize>())
            });
            break (head, length.and_then(Result::ok));
        }
    };
    let whole = |bytes: &[u8]| {
        length.map_or_else(|| bytes.ends_with(b"0\r\n\r\n") || head.starts_with("GET"), |n| bytes.len() >= n)
    };
    while !whole(&bytes) {
        let n = stream.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        bytes.extend_from_slice(&buffer[..n]);
    }
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let (kind, body) = reply(&path);
    received.lock().expect("lock").push((path, String::from_utf8_lossy(&bytes).into_owned()));
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// An answer in the form of the interface that this path belongs to.
fn reply(path: &str) -> (&'static str, String) {
    let events = |events: &[Value]| -> String {
        events
            .iter()
            .map(|e| format!("event: {}\ndata: {e}\n\n", e["type"].as_str().unwrap_or_default()))
            .collect()
    };
    if path.contains("/messages") && !path.contains("count_tokens") {
        let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
        let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": null, "usage": usage });
        let events_text = events(&[
            json!({ "type": "message_start", "message": message }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "going on" } }),
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": usage }),
            json!({ "type": "message_stop" }),
        ]);
        return ("text/event-stream", events_text);
    }
    if path.contains("/chat/completions") {
        let chunk = |delta: Value, reason: Value| {
            let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
            let usage = json!({ "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 });
            let chunk = json!({ "id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], "usage": usage });
            format!("data: {chunk}\n\n")
        };
        let text = chunk(json!({ "role": "assistant", "content": "going on" }), Value::Null);
        let end = chunk(json!({}), json!("stop"));
        return ("text/event-stream", format!("{text}{end}data: [DONE]\n\n"));
    }
    if path.contains("/responses") {
        let item = json!({ "type": "message", "id": "i1", "role": "assistant", "status": "completed", "content": [{ "type": "output_text", "text": "going on", "annotations": [] }] });
        let usage = json!({ "input_tokens": 1, "input_tokens_details": null, "output_tokens": 1, "output_tokens_details": null, "total_tokens": 2 });
        let events_text = events(&[
            json!({ "type": "response.created", "response": { "id": "r1" } }),
            json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
            json!({ "type": "response.completed", "response": { "id": "r1", "usage": usage } }),
        ]);
        return ("text/event-stream", events_text);
    }
    if path.contains("enerateContent") {
        let content = json!({ "candidates": [{ "index": 0, "content": { "role": "model", "parts": [{ "text": "going on" }] }, "finishReason": "STOP" }],
            "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 } });
        return match path.contains("stream") {
            true => ("text/event-stream", format!("data: {content}\n\n")),
            false => ("application/json", content.to_string()),
        };
    }
    ("application/json", "{\"totalTokens\":1,\"data\":[]}".to_owned())
}

/// The calls that a request holds, in whichever interface's form: names, and what they were called with.
fn calls_in(value: &Value, made: &mut Vec<(String, String)>) {
    let is_call = matches!(
        value["type"].as_str(),
        Some("tool_use" | "function_call" | "custom_tool_call" | "function")
    );
    let call = if value["functionCall"].is_object() { &value["functionCall"] } else { value };
    let call = if value["function"].is_object() { &value["function"] } else { call };
    let input = ["input", "arguments", "args"].iter().map(|key| &call[*key]).find(|input| !input.is_null());
    if let (true, Some(name), Some(input)) = (is_call || call != value, call["name"].as_str(), input) {
        made.push((name.to_owned(), input.to_string()));
    }
    match value {
        Value::Array(values) => values.iter().for_each(|value| calls_in(value, made)),
        Value::Object(members) => members.values().for_each(|value| calls_in(value, made)),
        _ => {}
    }
}

/// The folder of real programs, and a home in which they talk to the model.
struct Real {
    clis: PathBuf,
    model: Model,
}

impl Real {
    /// None, said loudly, where the program is not there.
    fn find(program: &str) -> Option<Self> {
        let Some(clis) = env("BATON_TEST_CLIS").map(PathBuf::from) else {
            skipped(&format!("no real {program}: set BATON_TEST_CLIS to a folder with the agents' programs"));
            return None;
        };
        if !clis.join(program).exists() {
            skipped(&format!("no real {program}: it is not in {}", clis.display()));
            return None;
        }
        Some(Self { clis, model: Model::start() })
    }

    /// Runs a command in the repository; what it printed, once it has succeeded.
    fn run(&self, stage: &Stage, program: &str, args: &[&str]) -> String {
        self.run_at(&stage.terminal("Lola"), program, args)
    }

    /// The same in a terminal.
    fn run_at(&self, terminal: &Terminal<'_>, program: &str, args: &[&str]) -> String {
        let url = format!("http://127.0.0.1:{}", self.model.port);
        let program =
            if program == "baton" { PathBuf::from(crate::stage::BATON) } else { self.clis.join(program) };
        // A tool that waits for something that never comes is stopped.
        let mut command: Command = terminal.program("timeout");
        command.arg(LIMIT).arg(&program).args(args).stdin(Stdio::null());
        command.env("PATH", format!("{}:{}", self.clis.display(), env("PATH").expect("PATH")));
        command.env("ANTHROPIC_BASE_URL", &url).env("ANTHROPIC_API_KEY", "dummy");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
        command
            .env("OPENAI_API_KEY", "dummy")
            .env("OPENAI_BASE_URL", format!("{url}/v1"))
            .env("OPENAI_MODEL", "m");
        command.env("COPILOT_OFFLINE", "true").env("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1"));
        command.env("COPILOT_PROVIDER_API_KEY", "dummy").env("COPILOT_MODEL", "gpt-4.1");
        command.env("MOCK_KEY", "dummy").env("GEMINI_API_KEY", "dummy").env("GOOGLE_GEMINI_BASE_URL", &url);
        let output = command.output().expect("it runs");
        let printed =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let requests: Vec<String> =
            self.model.asked.lock().expect("lock").iter().map(|(path, _)| path.clone()).collect();
        assert!(output.status.success(), "{} {args:?}: {printed}; asked {requests:?}", program.display());
        printed
    }

    /// The model was sent these calls of the agent's own tools: their names, each with a part of what they were called with. Of
    /// what they came to, the end of a command is told.
    fn heard_calls(&self, part: &str, expected: &[(&str, &str)]) {
        let mut made = Vec::new();
        let requests = self.model.asked.lock().expect("lock");
        for (_, body) in requests.iter().filter(|(path, _)| path.contains(part)) {
            calls_in(&serde_json::from_str(body).unwrap_or(Value::Null), &mut made);
        }
        for (name, input) in expected {
            let is_it = |(own, with): &(String, String)| own == name && with.contains(input);
            assert!(made.iter().any(is_it), "the model was sent no {name} of `{input}`: {made:#?}");
        }
        drop(requests);
        assert!(self.model.asked(part).contains("test_cart FAILED"), "what the test came to");
    }

    /// What the model was sent holds our words, and what is asked now.
    fn heard(&self, part: &str, text: &str) {
        let requests = self.model.asked(part);
        for fact in [SAID, ASKED, "Please go on now"] {
            assert!(
                requests.contains(fact),
                "the model was not sent `{fact}`: {text}\n{}",
                &requests[..requests.len().min(4_000)]
            );
        }
    }
}

#[test]
fn claude_code_itself_takes_the_written_session_up() {
    let Some(real) = Real::find("claude") else { return };
    let (stage, path) = worked();
    let id = text(&written(&stage, &path, "claude")["native"], "id");
    let output = real.run(&stage, "claude", &["-p", "--resume", &id, "Please go on now"]);
    assert!(output.contains("going on"), "{output}");
    real.heard("/messages", &output);
    let calls =
        [("Bash", "make test"), ("Read", "cart.py"), ("Edit", "quantize(CENT)"), ("Write", "test_cents")];
    real.heard_calls("/messages", &calls);
    // And all in one: we become the tool, which takes the session up and asks its model.
    stage.file("home/.claude.json", json!({ "hasCompletedOnboarding": true }).to_string());
    let output = real.run(&stage, "baton", &["continue", &path, "--in", "claude", "--native", "--", "-p"]);
    assert!(output.contains("goes on in Claude Code") && output.contains("going on"), "{output}");
    assert!(real.model.asked("/messages").contains("which this session holds"), "{output}");
}

#[test]
fn claude_code_itself_takes_a_session_of_another_machine_up() {
    let Some(real) = Real::find("claude") else { return };
    let of = TwoMachines::new();
    let (ann, donna) = (of.ann(), of.donna());
    ann.json(&["project", "set", "--transcripts", "yes"]);
    ann.json(&["transcripts", "push"]);
    of.desktop.file("home/.claude.json", json!({ "hasCompletedOnboarding": true }).to_string());
    // The command becomes Claude Code, in the clone, with the session that was written there.
    let args = ["continue", ID, "--in", "claude", "--native", "--", "-p"];
    let output = real.run_at(&donna, "baton", &args);
    assert!(output.contains("goes on in Claude Code") && output.contains("going on"), "{output}");
    let requests = real.model.asked("/messages");
    for fact in [SAID, "Never touch the migrations.", "which this session holds"] {
        assert!(requests.contains(fact), "the model was not sent `{fact}`: {output}");
    }
    assert!(!requests.contains(SECRET) && requests.contains(&of.clone.display().to_string()), "{output}");
    // From here on it is a session of this machine, which Claude Code itself resumes.
    let listed = donna.json(&["transcripts", "list", "--agent", "claude"]);
    let own = text(&items(&listed)[0], "id");
    assert_ne!(own, ID, "the one of the laptop keeps its id to itself");
    let output = real.run_at(&donna, "claude", &["-p", "--resume", &own, "Please go on now"]);
    assert!(output.contains("going on"), "{output}");
    real.heard("/messages", &output);
    assert_eq!(of.leftovers(), 0);
}

#[test]
fn codex_itself_takes_the_written_session_up() {
    let Some(real) = Real::find("codex") else { return };
    let (stage, path) = worked();
    let port = real.model.port;
    stage.file(
        "home/.codex/config.toml",
        format!("model = \"mock\"\nmodel_provider = \"mock\"\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\nwire_api = \"responses\"\nenv_key = \"MOCK_KEY\"\n"),
    );
    let id = text(&written(&stage, &path, "codex")["native"], "id");
    let output =
        real.run(&stage, "codex", &["exec", "--skip-git-repo-check", "resume", &id, "Please go on now"]);
    assert!(output.contains("going on"), "{output}");
    real.heard("/responses", &output);
    let calls =
        [("exec_command", "make test"), ("apply_patch", "quantize(CENT)"), ("apply_patch", "Add File")];
    real.heard_calls("/responses", &calls);
}

#[test]
fn gemini_itself_takes_the_written_session_up() {
    let Some(real) = Real::find("gemini") else { return };
    let (stage, path) = worked();
    stage.file(
        "home/.gemini/settings.json",
        json!({ "security": { "folderTrust": { "enabled": false }, "auth": { "selectedType": "gemini-api-key" } } }).to_string(),
    );
    let file = text(&written(&stage, &path, "gemini")["native"], "path");
    let args = ["--session-file", &file, "-m", "gemini-2.5-flash", "-p", "Please go on now"];
    let output = real.run(&stage, "gemini", &args);
    assert!(output.contains("going on"), "{output}");
    real.heard("enerateContent", &output);
    let calls = [
        ("run_shell_command", "make test"),
        ("read_file", "cart.py"),
        ("replace", "quantize(CENT)"),
        ("write_file", "test_cents"),
    ];
    real.heard_calls("enerateContent", &calls);
}

#[test]
fn qwen_itself_takes_the_written_session_up() {
    let Some(real) = Real::find("qwen") else { return };
    let (stage, path) = worked();
    let id = text(&written(&stage, &path, "qwen")["native"], "id");
    let output = real.run(&stage, "qwen", &["--resume", &id, "-p", "Please go on now"]);
    assert!(output.contains("going on"), "{output}");
    real.heard("/chat/completions", &output);
    let calls = [("run_shell_command", "make test"), ("read_file", "cart.py"), ("edit", "quantize(CENT)")];
    real.heard_calls("/chat/completions", &calls);
}

#[test]
fn pi_itself_takes_the_written_session_up() {
    let Some(real) = Real::find("pi") else { return };
    let (stage, path) = worked();
    let url = format!("http://127.0.0.1:{}/v1", real.model.port);
    let mock =
        json!({ "baseUrl": url, "api": "openai-completions", "apiKey": "dummy", "models": [{ "id": "m" }] });
    stage.file("home/.pi/agent/models.json", json!({ "providers": { "mock": mock } }).to_string());
    let id = text(&written(&stage, &path, "pi")["native"], "id");
    let args = ["--session", &id, "--provider", "mock", "--model", "m", "-p", "Please go on now"];
    let output = real.run(&stage, "pi", &args);
    assert!(output.contains("going on"), "{output}");
    real.heard("/chat/completions", &output);
    let calls =
        [("bash", "make test"), ("read", "cart.py"), ("edit", "quantize(CENT)"), ("write", "test_cents")];
    real.heard_calls("/chat/completions", &calls);
}

#[test]
fn copilot_itself_takes_the_written_session_up() {
    let Some(real) = Real::find("copilot") else { return };
    let (stage, path) = worked();
    let id = text(&written(&stage, &path, "copilot")["native"], "id");
    let output = real.run(&stage, "copilot", &[&format!("--resume={id}"), "-p", "Please go on now"]);
    assert!(output.contains("going on"), "{output}");
    real.heard("/chat/completions", &output);
}

#[test]
fn opencode_itself_takes_the_written_session_up() {
    let Some(real) = Real::find("opencode") else { return };
    let (stage, path) = worked();
    let options = json!({ "baseURL": format!("http://127.0.0.1:{}/v1", real.model.port), "apiKey": "dummy" });
    let mut config = json!({ "autoupdate": false, "provider": { "anthropic": { "options": options } } });
    stage.file("home/config/opencode/opencode.json", config.to_string());
    let path_var = format!("{}:{}", real.clis.display(), env("PATH").expect("PATH"));
    let lola = stage.terminal("Lola").with("PATH", path_var);
    // A session names a model; one that the user did not choose must not be used.
    let args = ["continue", &path, "--in", "opencode", "--native", "--print"];
    lola.refused(1, "native_unwritable", &args);
    config["model"] = json!("anthropic/claude-sonnet-4-5");
    stage.file("home/config/opencode/opencode.json", config.to_string());
    let answer = lola.json(&args);
    let id = text(&answer["native"], "id");
    assert!(id.starts_with("ses_") && answer["argv"].to_string().contains(&id), "{answer:#}");
    let listed = lola.json(&["transcripts", "path", &id, "--agent", "opencode"]);
    assert_eq!(listed["cwd"], json!(stage.shop().canonicalize().expect("shop")));
    assert!(!lola.json(&["status"])["reminders"].to_string().contains(&id), "it is its baton's");
    let output = real.run(&stage, "opencode", &["run", "--session", &id, "Please go on now"]);
    assert!(output.contains("going on"), "{output}");
    real.heard("/messages", &output);
    let calls =
        [("bash", "make test"), ("read", "cart.py"), ("edit", "quantize(CENT)"), ("write", "test_cents")];
    real.heard_calls("/messages", &calls);
    // What is not announced is removed from its store.
    let count = || items(&lola.json(&["transcripts", "list", "--agent", "opencode"])).len();
    assert_eq!(count(), 1);
    stage.terminal("Donna").json(&["pickup"]);
    lola.refused(4, "baton_claimed", &["continue", &path, "--in", "opencode", "--native"]);
    assert_eq!(count(), 1);
    let handoffs = stage.home().join("data/baton/handoffs");
    let left = fs::read_dir(handoffs).into_iter().flatten().flatten();
    assert_eq!(left.filter(|entry| entry.path().extension().is_some_and(|end| end == "json")).count(), 0);
}

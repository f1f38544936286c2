//! A conversation is written as a session of another tool: read back by us, and taken up by the tool itself, whose model is
//! a stand-in on loopback that writes down what it is sent.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::stage::{Stage, Terminal, env, items, skipped, text};
use crate::transcript_copies::{ID, SECRET, TwoMachines};

const SAID: &str = "I chose Decimal over float because money needs exact cents.";
/// Seconds that a real tool may take.
const LIMIT: &str = "90";
const ASKED: &str = "Never touch the migrations.";

fn worked() -> (Stage, String) {
    let stage = Stage::ready();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcripts/samples/claude/normal.jsonl");
    let content = fs::read_to_string(sample).expect("sample");
    let content = content.replace("/home/you/shop", &stage.shop().display().to_string());
    let path = stage.file("session.jsonl", content);
    (stage, path)
}

/// Writes the session for this tool and gives the answer.
fn written(stage: &Stage, path: &str, tool: &str) -> Value {
    let answer = stage.terminal("Lola").json(&["continue", path, "--in", tool, "--native", "--print"]);
    assert!(Path::new(&text(&answer["native"], "path")).is_file(), "{answer:#}");
    answer
}

#[test]
fn a_written_session_is_read_back_and_listed_under_its_tool() {
    let (stage, path) = worked();
    let lola = stage.terminal("Lola");
    for (tool, place) in [
        ("claude", ".claude/projects/"),
        ("codex", ".codex/sessions/"),
        ("copilot", ".copilot/session-state/"),
        ("qwen", ".qwen/projects/"),
        ("pi", ".pi/agent/sessions/"),
        ("gemini", "data/baton/handoffs/"),
    ] {
        let answer = written(&stage, &path, tool);
        let (id, file) = (text(&answer["native"], "id"), text(&answer["native"], "path"));
        assert!(file.starts_with(&stage.home().join(place).display().to_string()), "{tool}: {file}");
        if tool == "qwen" {
            // Its rule for the ids of sessions: a UUID of version 1 to 5.
            assert!(matches!(&id[14..15], "1" | "2" | "3" | "4" | "5"), "{tool} takes no session {id}");
        }
        let shown = lola.json(&["transcripts", "show", &file, "--agent", tool]);
        let messages = shown["messages"].as_array().expect("messages");
        assert_eq!(messages.len() as u64, answer["native"]["messages"].as_u64().expect("a number"), "{tool}");
        let whole = shown["messages"].to_string();
        for fact in [SAID, ASKED, "[ran Bash: make test → exit 2]"] {
            assert!(whole.contains(fact), "{tool}: no `{fact}` in {whole}");
        }
        assert!(
            messages.iter().enumerate().all(|(n, m)| m["role"] == ["user", "assistant"][n % 2]),
            "{tool}: by turns"
        );
        let argv = answer["argv"].to_string();
        assert!(
            argv.contains(if tool == "gemini" { &file } else { &id }) && argv.contains("make test"),
            "{tool}: {argv}"
        );
        if tool != "gemini" {
            let listed = lola.json(&["transcripts", "path", &id, "--agent", tool]);
            assert_eq!(
                (&listed["path"], &listed["cwd"]),
                (&json!(file), &json!(stage.shop().canonicalize().expect("shop"))),
                "{tool}"
            );
        }
        let halves = fs::read_dir(Path::new(&file).parent().expect("folder")).expect("folder");
        assert!(
            halves.filter_map(Result::ok).all(|e| !e.file_name().to_string_lossy().ends_with(".half")),
            "{tool}"
        );
    }
    // Where the tool's folder cannot be written, or the work is somebody else's, nothing is left behind.
    lola.refused(1, "native_unsupported", &["continue", &path, "--in", "amp", "--native", "--print"]);
    lola.refused(2, "usage", &["continue", &path, "--in", "codex", "--native", "--fresh", "--print"]);
    let blocked = lola.with("CODEX_HOME", stage.file("no-folder", ""));
    blocked.refused(1, "native_unwritable", &["continue", &path, "--in", "codex", "--native", "--print"]);
    let before = count(&stage.home().join(".codex"));
    stage.terminal("Donna").json(&["pickup"]);
    // Held by Donna: the tool would be told so, and its session is taken back.
    let bin = stage.file("bin/codex", "#!/bin/sh\n");
    fs::set_permissions(&bin, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("mode");
    let path_var =
        format!("{}:{}", Path::new(&bin).parent().expect("bin").display(), env("PATH").expect("PATH"));
    lola.with("PATH", path_var).refused(
        4,
        "baton_claimed",
        &["continue", &path, "--in", "codex", "--native"],
    );
    assert_eq!(count(&stage.home().join(".codex")), before);
}

/// The copies hold no work that the baton does not: taken for conversations of their own, each became a further baton.
#[test]
fn a_written_session_is_the_conversation_of_its_baton_until_it_goes_on() {
    let (stage, path) = worked();
    let lola = stage.terminal("Lola");
    for tool in ["claude", "codex", "qwen"] {
        let answer = written(&stage, &path, tool);
        let (id, file) = (text(&answer["native"], "id"), text(&answer["native"], "path"));
        let reminders = || stage.terminal("Reader").json(&["status"])["reminders"].to_string();
        assert!(!reminders().contains(&id), "{tool}: {}", reminders());
        let imported = lola.json(&["import-transcript", &file, "--agent", tool]);
        assert_eq!(
            (&imported["baton_id"], &imported["imported_before"]),
            (&answer["handoff_id"], &json!(true)),
            "{tool}: {imported:#}"
        );
    }
    assert_eq!(lola.json(&["status"])["handoffs"].as_array().map(Vec::len), Some(1));
}

fn count(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|e| if e.path().is_dir() { count(&e.path()) } else { 1 }).sum()
}

/// A model that says the same to everybody and keeps what it was asked.
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
        command.env("MOCK_KEY", "dummy").env("GEMINI_API_KEY", "dummy").env("GOOGLE_GEMINI_BASE_URL", &url);
        let output = command.output().expect("it runs");
        let printed =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let requests: Vec<String> =
            self.model.asked.lock().expect("lock").iter().map(|(path, _)| path.clone()).collect();
        assert!(output.status.success(), "{} {args:?}: {printed}; asked {requests:?}", program.display());
        printed
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
}

#[test]
fn qwen_itself_takes_the_written_session_up() {
    let Some(real) = Real::find("qwen") else { return };
    let (stage, path) = worked();
    let id = text(&written(&stage, &path, "qwen")["native"], "id");
    let output = real.run(&stage, "qwen", &["--resume", &id, "-p", "Please go on now"]);
    assert!(output.contains("going on"), "{output}");
    real.heard("/chat/completions", &output);
}

//! Transcripts in the shape that Claude Code and Codex write, of any size: prompts, answers, commands with large outputs,
//! edits, and now and then an image in base64.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

/// Numbers that look random and are the same in every run.
pub struct Dice(u64);

impl Dice {
    /// Dice of their own for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }

    /// A uuid.
    pub fn uuid(&mut self) -> String {
        let (a, b) = (self.below(u64::MAX), self.below(u64::MAX));
        let hex = format!("{a:016x}{b:016x}");
        format!("{}-{}-4{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
    }

    /// What a command printed: lines with paths, quotes and tabs, so that there is something to escape.
    fn output(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 100);
        while text.len() < bytes {
            let (line, value) = (self.below(900), self.below(100_000));
            text.push_str(&format!(
                "src/module_{line}.rs:{value}:\tlet price = \"{value}\"; // café {line}\n"
            ));
        }
        text
    }

    /// What a run of so many tests prints.
    fn tests(&mut self, count: usize, fails: bool) -> String {
        let mut text = format!("\nrunning {count} tests\n");
        for nth in 0..count {
            let (module, case) = (self.below(90), self.below(10_000));
            let word = if fails && nth == count / 2 { "FAILED" } else { "ok" };
            text.push_str(&format!("test module_{module}::round::case_{case} ... {word}\n"));
        }
        let (word, failed) = if fails { ("FAILED", 1) } else { ("ok", 0) };
        let passed = count - failed;
        text.push_str(&format!(
            "\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n"
        ));
        text
    }

    fn base64(&mut self, bytes: usize) -> String {
        const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::with_capacity(bytes + 10);
        while text.len() < bytes {
            let mut bits = self.below(u64::MAX);
            for _ in 0..10 {
                text.push(char::from(SIGNS[(bits & 63) as usize]));
                bits >>= 6;
            }
        }
        text
    }
}

/// A transcript that is being written.
struct Writer {
    out: BufWriter<File>,
    written: u64,
    dice: Dice,
    second: u64,
}

impl Writer {
    fn new(path: &Path, seed: u64) -> Result<Self> {
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        Ok(Self { out, written: 0, dice: Dice::new(seed), second: 0 })
    }

    fn line(&mut self, value: &Value) -> Result<()> {
        let line = value.to_string();
        writeln!(self.out, "{line}")?;
        self.written += line.len() as u64 + 1;
        Ok(())
    }

    fn time(&mut self) -> String {
        self.second += 1 + self.dice.below(20);
        let (day, s) = (1 + self.second / 86_400 % 28, self.second % 86_400);
        format!("2026-10-{day:02}T{:02}:{:02}:{:02}.000Z", s / 3600, s / 60 % 60, s % 60)
    }

    /// How much a command prints: mostly little, sometimes a lot; less in a small file.
    fn output_size(&mut self, bytes: u64) -> usize {
        let usual = [300, 900, 2_000, 4_000, 9_000, 30_000][self.dice.below(6) as usize];
        usual.min(bytes as usize / 4)
    }
}

/// Writes a Claude Code session of about so many bytes.
pub fn claude(path: &Path, bytes: u64, seed: u64) -> Result<()> {
    let mut writer = Writer::new(path, seed)?;
    let session = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
    let mut parent = Value::Null;
    let mut turn = 0_u64;
    while writer.written < bytes {
        for (role, content, result) in claude_turn(&mut writer, turn, bytes) {
            let uuid = writer.dice.uuid();
            let time = writer.time();
            let mut message = json!({ "role": role, "content": content });
            if role == "assistant" {
                message["model"] = json!("claude-sonnet-4-5");
                message["id"] = json!(format!("msg_{uuid}"));
                message["usage"] =
                    json!({ "input_tokens": 900, "output_tokens": 210, "cache_read_input_tokens": 40_000 });
            }
            let mut line = json!({
                "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/home/you/shop",
                "sessionId": session, "version": "2.1.329", "gitBranch": "main", "type": role, "message": message,
                "uuid": uuid, "timestamp": time,
            });
            if !result.is_null() {
                line["toolUseResult"] = result;
            }
            writer.line(&line)?;
            parent = json!(uuid);
        }
        turn += 1;
    }
    Ok(writer.out.flush()?)
}

/// Writes a Claude Code session of about so many bytes that is made of short commands: runs of tests, each with sixty lines of output,
/// every tenth of which fails.
pub fn commands(path: &Path, bytes: u64, seed: u64) -> Result<()> {
    let mut writer = Writer::new(path, seed)?;
    let session = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
    let mut turn = 0_u64;
    while writer.written < bytes {
        let (id, fails) = (format!("toolu_{turn}"), turn % 10 == 3);
        let output = writer.dice.tests(60, fails);
        let command = format!("cargo test -p shop module_{}::round", turn % 90);
        let call = json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command, "description": "Run the tests" } }]);
        let result =
            json!([{ "type": "tool_result", "tool_use_id": id, "content": output, "is_error": fails }]);
        let request = json!(format!("Fix module {turn}."));
        let messages = [("user", request), ("assistant", call), ("user", result)];
        for (role, content) in messages.into_iter().skip(usize::from(!turn.is_multiple_of(50))) {
            let (uuid, time) = (writer.dice.uuid(), writer.time());
            writer.line(&json!({
                "isSidechain": false, "userType": "external", "cwd": "/home/you/shop", "sessionId": session,
                "version": "2.1.329", "gitBranch": "main", "type": role, "message": { "role": role, "content": content },
                "uuid": uuid, "timestamp": time,
            }))?;
        }
        turn += 1;
    }
    Ok(writer.out.flush()?)
}

/// The messages of a turn: role, content, and what the tool gave back.
fn claude_turn(writer: &mut Writer, turn: u64, bytes: u64) -> Vec<(&'static str, Value, Value)> {
    let size = writer.output_size(bytes);
    let output = writer.dice.output(size);
    let (old, new) = (writer.dice.output(400), writer.dice.output(500));
    let file = format!("/home/you/shop/src/module_{}.rs", turn % 40);
    let use_of = |id: &str, name: &str, input: Value| json!([{ "type": "tool_use", "id": format!("{id}{turn}"), "name": name, "input": input }]);
    let result_of = |id: &str, content: Value| json!([{ "type": "tool_result", "tool_use_id": format!("{id}{turn}"), "content": content }]);
    let mut messages = vec![
        (
            "user",
            json!(format!("Now fix module {turn}: it must round to cents, and its test has to pass.")),
            Value::Null,
        ),
        (
            "assistant",
            json!([{ "type": "text", "text": format!("I will look at module {turn} and run its test first. {}", &old[..200]) }]),
            Value::Null,
        ),
        (
            "assistant",
            use_of(
                "b",
                "Bash",
                json!({ "command": format!("grep -rn price src/module_{turn}"), "description": "Search" }),
            ),
            Value::Null,
        ),
        (
            "user",
            result_of("b", json!(output)),
            json!({ "stdout": output, "stderr": "", "interrupted": false }),
        ),
        (
            "assistant",
            use_of("e", "Edit", json!({ "file_path": file, "old_string": old, "new_string": new })),
            Value::Null,
        ),
        (
            "user",
            result_of("e", json!("The file has been updated.")),
            json!({ "filePath": file, "oldString": old, "newString": new }),
        ),
    ];
    if turn % 10 == 9 && bytes > 1_000_000 {
        let image = json!([{ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": writer.dice.base64(160_000) } }]);
        messages.push((
            "assistant",
            use_of("i", "Read", json!({ "file_path": "/home/you/shop/shot.png" })),
            Value::Null,
        ));
        messages.push(("user", result_of("i", image), Value::Null));
    }
    messages
}

/// Writes a Codex rollout of about so many bytes.
pub fn codex(path: &Path, bytes: u64, seed: u64) -> Result<()> {
    let mut writer = Writer::new(path, seed)?;
    let id = writer.dice.uuid();
    let meta = json!({
        "id": id, "timestamp": "2026-10-01T00:00:00.000Z", "cwd": "/home/you/shop", "originator": "codex_cli",
        "cli_version": "0.58.0", "source": "cli", "git": { "commit_hash": "d46a0c1f", "branch": "main" },
    });
    codex_line(&mut writer, "session_meta", meta)?;
    codex_line(&mut writer, "turn_context", json!({ "cwd": "/home/you/shop", "model": "gpt-5.2-codex" }))?;
    let mut turn = 0_u64;
    while writer.written < bytes {
        for (kind, payload) in codex_turn(&mut writer, turn, bytes) {
            codex_line(&mut writer, kind, payload)?;
        }
        turn += 1;
    }
    Ok(writer.out.flush()?)
}

fn codex_line(writer: &mut Writer, kind: &str, payload: Value) -> Result<()> {
    let time = writer.time();
    writer.line(&json!({ "timestamp": time, "type": kind, "payload": payload }))
}

fn codex_turn(writer: &mut Writer, turn: u64, bytes: u64) -> Vec<(&'static str, Value)> {
    let size = writer.output_size(bytes);
    let output = writer.dice.output(size);
    let prompt = format!("Make importer {turn} faster. You must not change the API.");
    let answer =
        format!("Importer {turn} reads its file twice; I will read it once. {}", writer.dice.output(200));
    let call = |id: &str, name: &str, arguments: Value| json!({ "type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": format!("{id}{turn}") });
    let result = |id: &str, output: &str| json!({ "type": "function_call_output", "call_id": format!("{id}{turn}"), "output": json!({ "output": output, "metadata": { "exit_code": 0 } }).to_string() });
    let patch = format!(
        "*** Begin Patch\n*** Update File: src/importer_{}.rs\n@@\n-let a = 1;\n+let a = 2;\n*** End Patch\n",
        turn % 40
    );
    let content = |kind: &str, text: &str| json!([{ "type": kind, "text": text }]);
    let mut lines = vec![
        (
            "response_item",
            json!({ "type": "message", "role": "user", "content": content("input_text", &prompt) }),
        ),
        ("event_msg", json!({ "type": "user_message", "message": prompt })),
        (
            "response_item",
            json!({ "type": "reasoning", "summary": [], "encrypted_content": writer.dice.base64(2_000) }),
        ),
        (
            "response_item",
            call("s", "shell", json!({ "command": ["bash", "-lc", "cargo test -p importer"] })),
        ),
        ("response_item", result("s", &output)),
        ("response_item", call("p", "apply_patch", json!({ "input": patch }))),
        ("response_item", result("p", "Success. Updated the following files")),
        (
            "response_item",
            json!({ "type": "message", "role": "assistant", "content": content("output_text", &answer) }),
        ),
        ("event_msg", json!({ "type": "agent_message", "message": answer })),
    ];
    if turn % 10 == 9 && bytes > 1_000_000 {
        let url = format!("data:image/png;base64,{}", writer.dice.base64(160_000));
        lines.push(("response_item", json!({ "type": "message", "role": "user", "content": [{ "type": "input_image", "image_url": url }] })));
    }
    lines
}

/// Fills a home with so many sessions of both tools, most of them small; returns the files and their bytes.
pub fn home(home: &Path, files: usize, bytes: u64) -> Result<(Vec<PathBuf>, u64)> {
    let mut dice = Dice::new(7);
    let (mut paths, mut total) = (Vec::new(), 0);
    for number in 0..files {
        // A tenth of the files holds most of the bytes, as in the homes of real users.
        let size = match number % 10 {
            0 => bytes * 7 / files as u64 + dice.below(1_000_000),
            1..=3 => bytes / files as u64 / 2 + dice.below(60_000),
            _ => 3_000 + dice.below(30_000),
        };
        let id = dice.uuid();
        let path = match number % 3 {
            0 => home.join(format!(
                ".codex/sessions/2026/10/{:02}/rollout-2026-10-01T00-00-00-{id}.jsonl",
                1 + number % 28
            )),
            _ => home.join(format!(".claude/projects/-home-you-shop-{}/{id}.jsonl", number % 20)),
        };
        let write = if number % 3 == 0 { codex } else { claude };
        write(&path, size, number as u64)?;
        total += fs::metadata(&path)?.len();
        paths.push(path);
    }
    Ok((paths, total))
}

//! The full read of a session.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use super::{session_id, work_dir};
use crate::event::{Event, SourcePosition, TranscriptInfo, Usage};
use crate::report::Report;
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;
use crate::shared::lines::Lines;
use crate::shared::{call, chunk, plan, shell, sidecar};

/// The log of the user interface, beside the messages.
pub(super) const WIRE: &str = "wire.jsonl";
/// Mark of the message that a compaction leaves behind.
const COMPACTED: &str = "Previous context has been compacted";

/// Reads a session.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let wire = TimeLog::of(path);
    let mut news = Some(TranscriptInfo {
        id: session_id(path).map(Cow::Owned),
        cwd: work_dir(path).map(Cow::Owned),
        ..TranscriptInfo::default()
    });
    emitter.each_line(path, &mut |emitter, json| {
        if let Some(news) = news.take() {
            emitter.at_ms = wire.first_ms;
            emitter.session(news);
            emitter.at_ms = None;
        }
        record(emitter, json);
    });
    (emitter.position, emitter.at_ms) = (SourcePosition::default(), wire.last_ms);
    let state = sidecar::text(&path.with_file_name("state.json"));
    emitter.plan(plan::of(sidecar::json(&state).get("todos")));
    emitter.spend(spent(path));
    emitter.finish()
}

/// What the user said in a message; nothing if no user wrote it.
pub(super) fn prompt<'a>(json: &'a Json<'a>) -> Cow<'a, str> {
    let text = json.get("content").text();
    let injected = ["<system-reminder>", "<system>", "<notification"];
    if injected.iter().any(|start| text.trim_start().starts_with(start)) { Cow::Borrowed("") } else { text }
}

fn record(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    match json.get("role").str().unwrap_or_default() {
        "user" => user(emitter, json),
        "assistant" => assistant(emitter, json),
        "tool" => result(emitter, json),
        name if name.starts_with('_') || name == "system" => {}
        name => emitter.unknown_type(name),
    }
}

fn user(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let text = json.get("content").text();
    match text.split_once(COMPACTED) {
        Some((before, rest)) if before.len() < 16 => {
            emitter.compaction(rest.split_once("</system>").map_or(rest, |(_, summary)| summary).trim());
        }
        _ => emitter.user(&prompt(json)),
    }
}

fn assistant(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let content = json.get("content");
    for part in content.items() {
        match part.get("type").str() {
            Some("text") => emitter.assistant(part.get("text").str().unwrap_or_default()),
            Some("think") => emitter.thinking(part.get("think").str().unwrap_or_default()),
            _ => {}
        }
    }
    match content.str() {
        // Early versions put the summary into the mouth of the agent.
        Some(text) if text.contains(COMPACTED) => emitter.compaction(text),
        text => emitter.assistant(text.unwrap_or_default()),
    }
    call::function_calls(emitter, json.get("tool_calls"));
}

/// A result says in a `<system>` line in front of it how the call ended.
fn result(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let text = json.get("content").text();
    let (head, rest) =
        match text.trim_start().strip_prefix("<system>").and_then(|rest| rest.split_once("</system>")) {
            Some((head, rest)) => (head, rest.trim_start_matches('\n')),
            None => ("", text.as_ref()),
        };
    let failed = head.starts_with("ERROR") || head.contains("failed with exit code");
    let (ok, code) = (if head.is_empty() { None } else { Some(!failed) }, shell::told_exit(head));
    let output = if rest.trim().is_empty() { head } else { rest };
    let id = json.get("tool_call_id").str().unwrap_or_default();
    emitter.end_call(ToolResult { id, ok, code, output: Cow::Borrowed(output), edits: Vec::new() });
}

/// When the log of the user interface begins and ends; the transcript itself has no times.
#[derive(Debug, Default)]
pub(super) struct TimeLog {
    /// Time of the first entry.
    pub first_ms: Option<i64>,
    /// Time of the last entry.
    pub last_ms: Option<i64>,
}

impl TimeLog {
    const HEAD: usize = 8 * 1024;
    const TAIL: usize = 16 * 1024;
    const WIDEST: usize = 4 * 1024 * 1024;

    /// Looks at beginning and end of the log beside a transcript.
    pub(super) fn of(context: &Path) -> Self {
        let Ok(mut file) = File::open(context.with_file_name(WIRE)) else { return Self::default() };
        let size = file.metadata().map_or(0, |meta| meta.len());
        let head = chunk::head(&file, Self::HEAD).unwrap_or_default();
        let has_end = |tail: &[u8]| chunk::lines(tail).rev().find_map(time).is_some();
        let tail =
            chunk::last_lines(&mut file, size, 0, (Self::TAIL, Self::WIDEST), has_end).unwrap_or_default();
        Self {
            first_ms: chunk::lines(&head).find_map(time),
            last_ms: chunk::lines(&tail).rev().find_map(time),
        }
    }
}

fn time(line: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(line);
    Json::parse(&text).ok()?.get("timestamp").time()
}

/// Tokens used, summed over the steps of the log.
fn spent(context: &Path) -> Usage {
    let mut total = Usage::default();
    let Ok(file) = File::open(context.with_file_name(WIRE)) else { return total };
    let mut lines = Lines::new(file);
    while let Some(line) = lines.next_line() {
        let usage = line.bytes.filter(|bytes| memchr::memmem::find(bytes, b"\"token_usage\"").is_some());
        let text = String::from_utf8_lossy(usage.unwrap_or_default());
        let Ok(json) = Json::parse(&text) else { continue };
        let count = |key| json.at_path(&["message", "payload", "token_usage", key]).count();
        total.input = total.input.saturating_add(count("input_other"));
        total.cache_read = total.cache_read.saturating_add(count("input_cache_read"));
        total.cache_write = total.cache_write.saturating_add(count("input_cache_creation"));
        total.output = total.output.saturating_add(count("output"));
    }
    total
}

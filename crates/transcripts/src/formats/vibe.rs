//! Mistral Vibe: `~/.vibe/logs/session/session_<time>_<id>/messages.jsonl`, the messages as the model sees them, with facts about the
//! session in `meta.json`. Messages have no times. A compaction begins a new session that opens with its summary.

use std::borrow::Cow;
use std::path::Path;

use crate::event::{Event, TranscriptInfo, Usage};
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::{self, entries};
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;
use crate::shared::{call, heading, sidecar};

/// The format.
#[derive(Debug)]
pub struct Vibe;

const ID: &str = "vibe";
const MESSAGES: &str = "messages.jsonl";
const META: &str = "meta.json";

impl TranscriptReader for Vibe {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let sessions = env.dir_or_home("VIBE_HOME", ".vibe").join("logs/session");
        for session in entries(&sessions) {
            TranscriptFile::from_path(ID, &session.path().join(MESSAGES)).into_iter().for_each(&mut *found);
            for agent in entries(&session.path().join("agents")) {
                TranscriptFile::from_path(ID, &agent.path().join(MESSAGES)).into_iter().for_each(&mut *found);
            }
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        chunk::lines(head).take(20).any(|line| {
            let text = String::from_utf8_lossy(line);
            let json = Json::parse(&text).unwrap_or(Json::Null);
            json.get("role").str().is_some() && json.get("message_id").str().is_some()
        })
    }

    fn lives_at(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == MESSAGES) && path.with_file_name(META).is_file()
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        let mut header = heading::of_lines(found, read_header_line);
        let text = sidecar::text(&found.path.with_file_name(META));
        let meta = sidecar::json(&text);
        let fact = |json: &Json<'_>| json.str().map(str::to_owned);
        header.id = fact(meta.get("session_id")).or_else(|| dir_name(&found.path)).unwrap_or(header.id);
        header.cwd = fact(meta.at_path(&["environment", "working_directory"]));
        header.title = fact(meta.get("title")).or(header.title);
        header.model = fact(meta.at_path(&["config", "active_model"]));
        header.branch = fact(meta.get("git_branch"));
        header.created_at_ms = meta.get("start_time").time();
        header.updated_at_ms = meta.get("end_time").time().or(header.updated_at_ms);
        header.subagent = is_subagent(&found.path);
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        let text = sidecar::text(&path.with_file_name(META));
        let meta = sidecar::json(&text);
        let mut emitter = EventEmitter::new(sink);
        let follows = !is_subagent(path) && meta.get("parent_session_id").str().is_some();
        let mut reading = Reading { session: Some(session(&meta, path)), follows };
        emitter.each_line(path, &mut |emitter, json| {
            if let Some(session) = reading.session.take() {
                emitter.at_ms = meta.get("start_time").time();
                emitter.session(session);
                emitter.at_ms = None;
            }
            reading.message(emitter, json);
        });
        emitter.at_ms = meta.get("end_time").time();
        emitter.spend(usage(meta.get("stats")));
        for agent in path.parent().map(|folder| entries(&folder.join("agents"))).unwrap_or_default() {
            subagent(&mut emitter, &agent.path());
        }
        emitter.finish()
    }
}

/// Reads what a sub-agent said and did: its folder lies below that of the session that started it.
fn subagent(emitter: &mut EventEmitter<'_>, folder: &Path) {
    let path = folder.join(MESSAGES);
    if !path.is_file() {
        return;
    }
    let text = sidecar::text(&folder.join(META));
    let meta = sidecar::json(&text);
    let name = meta.at_path(&["agent_profile", "name"]).str().map(str::to_owned);
    let name = name.or_else(|| folder.file_name()?.to_str().map(str::to_owned));
    (emitter.subagent, emitter.at_ms) = (name, meta.get("end_time").time());
    let mut reading = Reading { session: None, follows: false };
    emitter.each_line(&path, &mut |emitter, json| reading.message(emitter, json));
    emitter.subagent = None;
}

/// Sessions of sub-agents lie below the session that started them.
fn is_subagent(path: &Path) -> bool {
    path.parent().and_then(Path::parent).and_then(Path::file_name).is_some_and(|name| name == "agents")
}

fn dir_name(path: &Path) -> Option<String> {
    path.file_name().filter(|name| *name == MESSAGES)?;
    path.parent()?.file_name()?.to_str().map(str::to_owned)
}

fn session(meta: &Json<'_>, path: &Path) -> TranscriptInfo<'static> {
    let fact = |json: &Json<'_>| json.str().map(|text| Cow::Owned(text.to_owned()));
    TranscriptInfo {
        id: fact(meta.get("session_id")).or_else(|| dir_name(path).map(Cow::Owned)),
        cwd: fact(meta.at_path(&["environment", "working_directory"])),
        branch: fact(meta.get("git_branch")),
        commit: fact(meta.get("git_commit")),
        model: fact(meta.at_path(&["config", "active_model"])),
        ..TranscriptInfo::default()
    }
}

fn usage(stats: &Json<'_>) -> Usage {
    Usage {
        input: stats.get("session_prompt_tokens").count(),
        output: stats.get("session_completion_tokens").count(),
        ..Usage::default()
    }
}

fn read_header_line(json: &Json<'_>, header: &mut Header) {
    match json.get("role").str() {
        Some("user") if !json.get("injected").is_true() => {
            heading::prompt(header, &json.get("content").text())
        }
        Some("assistant") => header.empty = false,
        _ => {}
    }
}

/// A session as far as it was read.
struct Reading {
    session: Option<TranscriptInfo<'static>>,
    /// Whether the next injected message is the summary of a compaction that ended another session. A sub-agent has a parent, too,
    /// and begins with none.
    follows: bool,
}

impl Reading {
    fn message(&mut self, emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
        match json.get("role").str().unwrap_or_default() {
            "user" if json.get("injected").is_true() => {
                if std::mem::take(&mut self.follows) {
                    emitter.compaction(json.get("content").text().trim());
                }
            }
            "user" => emitter.user(&json.get("content").text()),
            "assistant" => assistant(emitter, json),
            "tool" => result(emitter, json),
            "system" | "developer" => {}
            name => emitter.unknown_type(name),
        }
    }
}

fn assistant(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    emitter.thinking(json.get("reasoning_content").str().unwrap_or_default());
    emitter.assistant(&json.get("content").text());
    call::function_calls(emitter, json.get("tool_calls"));
}

/// A result is an object in JSON, or its fields one in a line, as `stdout: …`.
fn result(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let text = json.get("content").text();
    let failed = text.trim_start().starts_with("<tool_error>");
    let parsed = Json::parse(text.trim()).ok().filter(|json| json.get("returncode").int().is_some());
    let (code, output) = match &parsed {
        Some(object) => (object.get("returncode").int(), Cow::Owned(streams(object))),
        None => match fields(&text) {
            Some((code, output)) => (Some(code), Cow::Owned(output)),
            None => (None, Cow::Borrowed(text.as_ref())),
        },
    };
    let is_shell = code.is_some() || json.get("name").str().is_some_and(|name| name == "bash");
    let ok = match code {
        _ if failed => Some(false),
        Some(code) => Some(code == 0),
        None => (!is_shell).then_some(true),
    };
    let id = json.get("tool_call_id").str().unwrap_or_default();
    emitter.end_call(ToolResult { id, ok, code, output, edits: Vec::new() });
}

/// What a command printed on both streams.
fn streams(object: &Json<'_>) -> String {
    let parts = ["stdout", "stderr"].map(|key| object.get(key).str().unwrap_or_default().trim_end());
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The exit code and what a command printed, out of lines that begin with the names of the fields.
fn fields(text: &str) -> Option<(i64, String)> {
    if !text.starts_with("command: ") {
        return None;
    }
    let begin = text.find("\nstdout: ")? + "\nstdout: ".len();
    let end = text.rfind("\nreturncode: ").filter(|end| *end + 1 >= begin)?;
    let code = text[end + "\nreturncode: ".len()..].lines().next()?.trim().parse().ok()?;
    let printed = text.get(begin..end.max(begin)).unwrap_or_default();
    let (stdout, stderr) = printed.rsplit_once("\nstderr: ").unwrap_or((printed, ""));
    let parts = [stdout.trim_end(), stderr.trim_end()];
    Some((code, parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_command_are_read_from_their_lines() {
        let text = "command: pytest -q\nstdout: a FAILED\nb\n\nstderr: warned\nreturncode: 1";
        assert_eq!(fields(text), Some((1, "a FAILED\nb\nwarned".to_owned())));
        assert_eq!(fields("command: true\nstdout: \nstderr: \nreturncode: 0"), Some((0, String::new())));
        for odd in ["", "command: x", "stdout: a\nreturncode: 1", "command: x\nstdout: a\nreturncode: no"] {
            assert_eq!(fields(odd), None, "{odd}");
        }
    }
}

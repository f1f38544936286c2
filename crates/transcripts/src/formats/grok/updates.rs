//! The updates: messages are written down in pieces.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use crate::event::{Call, Category, Change, Edit, Usage};
use crate::header::Header;
use crate::shared::chunk;
use crate::shared::emit::{EventEmitter, Speaker, ToolResult};
use crate::shared::json::{Json, join};
use crate::shared::{call, heading, plan};

const HEAD: usize = 32 * 1024;

/// What each turn used; one that is told again is told anew.
#[derive(Debug, Default)]
pub(super) struct Turns(Vec<(String, Usage)>);

impl Turns {
    fn set(&mut self, turn: &str, usage: Usage) {
        match self.0.iter_mut().find(|(known, _)| known == turn && !turn.is_empty()) {
            Some((_, slot)) => *slot = usage,
            None => self.0.push((turn.to_owned(), usage)),
        }
    }

    /// What all of them used.
    pub(super) fn total(&self) -> Usage {
        self.0.iter().fold(Usage::default(), |total, (_, usage)| total.plus(*usage))
    }
}

/// Takes what a line says into a header.
pub(super) fn look(json: &Json<'_>, header: &mut Header) {
    let update = json.at_path(&["params", "update"]);
    heading::time(header, json.get("timestamp"));
    match update.get("sessionUpdate").str() {
        Some("user_message_chunk") => {
            heading::prompt(header, update.at_path(&["content", "text"]).str().unwrap_or_default())
        }
        Some("agent_message_chunk" | "tool_call") => header.empty = false,
        _ => {}
    }
}

/// The first prompt, out of the pieces in which it is written down.
pub(super) fn first_prompt(path: &Path) -> Option<String> {
    let head = chunk::head(File::open(path).ok()?, HEAD).ok()?;
    let mut prompt = String::new();
    for line in chunk::lines(&head) {
        let text = String::from_utf8_lossy(line);
        let json = Json::parse(&text).unwrap_or(Json::Null);
        let update = json.at_path(&["params", "update"]);
        if update.get("sessionUpdate").str() == Some("user_message_chunk") {
            prompt.push_str(update.at_path(&["content", "text"]).str().unwrap_or_default());
        } else if !prompt.is_empty() {
            break;
        }
    }
    Some(prompt).filter(|prompt| !prompt.trim().is_empty())
}

/// Reads a line.
pub(super) fn line(emitter: &mut EventEmitter<'_>, json: &Json<'_>, turns: &mut Turns) {
    let one = json.at_path(&["params", "update"]);
    match one.get("sessionUpdate").str() {
        Some("turn_completed") => {
            turns.set(one.get("prompt_id").str().unwrap_or_default(), usage(one.get("usage")));
        }
        _ => update(emitter, one, json.at_path(&["params", "_meta"])),
    }
}

/// Tokens of a turn; what was read from the cache counts as input there.
fn usage(usage: &Json<'_>) -> Usage {
    let (input, cached) = (usage.get("inputTokens").count(), usage.get("cachedReadTokens").count());
    Usage {
        input: input.saturating_sub(cached),
        cache_read: cached,
        cache_write: 0,
        output: usage.get("outputTokens").count(),
    }
}

fn update(emitter: &mut EventEmitter<'_>, update: &Json<'_>, outer: &Json<'_>) {
    let meta = if update.get("_meta").is_null() { outer } else { update.get("_meta") };
    let index = meta.get("promptIndex").int().map(|index| index.to_string());
    let key = meta.get("promptId").str().map(str::to_owned).or(index).unwrap_or_default();
    let text = || update.at_path(&["content", "text"]).str().unwrap_or_default();
    match update.get("sessionUpdate").str().unwrap_or_default() {
        "user_message_chunk" => emitter.piece(Speaker::User, &key, text()),
        "agent_message_chunk" => emitter.piece(Speaker::Assistant, &key, text()),
        "agent_thought_chunk" => emitter.piece(Speaker::Thinking, &key, text()),
        "tool_call" => {
            begin(emitter, update);
            end(emitter, update);
        }
        "tool_call_update" => end(emitter, update),
        "plan" => emitter.plan(plan::of(update.get("entries"))),
        "available_commands_update"
        | "current_mode_update"
        | "usage_update"
        | "session_info_update"
        | "config_option_update" => {}
        name => emitter.unknown_type(name),
    }
}

fn begin(emitter: &mut EventEmitter<'_>, update: &Json<'_>) {
    let id = update.get("toolCallId").str().unwrap_or_default();
    let (args, title) = (update.get("rawInput"), update.get("title").str().unwrap_or_default());
    let name =
        args.get("name").str().or_else(|| update.at_path(&["_meta", "toolName"]).str()).unwrap_or(title);
    let mut one = call::call(id, name, args);
    if one.category == Category::Other {
        one = by_kind(id, title, update);
    }
    emitter.plan(call::plan(name, args));
    emitter.call(one);
}

/// A call of a tool with an unspecific name: its category comes from the protocol.
fn by_kind<'a>(id: &'a str, title: &'a str, update: &'a Json<'a>) -> Call<'a> {
    let kind = update.get("kind").str().unwrap_or_default();
    let known = match kind {
        "execute" => "shell",
        "delete" | "move" => "edit",
        kind => kind,
    };
    let one = call::call(id, known, update.get("rawInput"));
    let target = if one.target.is_empty() { Cow::Borrowed(title.trim_matches('`')) } else { one.target };
    Call { name: Cow::Borrowed(if kind.is_empty() { title } else { kind }), target, ..one }
}

fn end(emitter: &mut EventEmitter<'_>, update: &Json<'_>) {
    let ok = match update.get("status").str() {
        Some("completed") => true,
        Some("failed") => false,
        _ => return,
    };
    let parts = update.get("content").items();
    let text = join(parts.iter().filter_map(|part| part.at_path(&["content", "text"]).str()));
    let raw = update.get("rawOutput");
    let output = if text.is_empty() {
        Cow::Borrowed(raw.first(&["output", "stdout", "error"]).or(raw.str()).unwrap_or_default())
    } else {
        text
    };
    let code = raw.get("exit_code").int().or_else(|| raw.get("exitCode").int());
    let edits = if ok { parts.iter().filter_map(diff).collect() } else { Vec::new() };
    emitter.end_call(ToolResult {
        id: update.get("toolCallId").str().unwrap_or_default(),
        ok: Some(ok),
        code,
        output,
        edits,
    });
}

fn diff(part: &Json<'_>) -> Option<Edit> {
    let path = part.get("path").str().filter(|_| part.get("type").str() == Some("diff"))?;
    let new = part.get("newText").str().unwrap_or_default();
    Some(match part.get("oldText") {
        Json::Null => Edit::new_text(path, Change::Created, new),
        old => Edit::replaced(path, old.str().unwrap_or_default(), new),
    })
}

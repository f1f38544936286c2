//! Messages in the words of OpenAI's API, from a row, a line or a document.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::event::{Category, Change, Edit, Outcome};
use crate::shared::call;
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;
use crate::shared::{plan, replaced};

/// How the summaries of all versions begin, and what stands round them.
const SUMMARIES: [&str; 2] = ["[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:"];
const SUMMARY_END: &str = "--- END OF CONTEXT SUMMARY";
const MERGED: &str = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]";
/// Before content that is no text but a list.
const STRUCTURED: &str = "\0json:";
/// The tool that sets the plan; its result is the plan as it stands.
const TODO: &str = "todo";

/// A message.
#[derive(Debug)]
pub(super) struct Message<'a> {
    /// Who said it.
    pub role: &'a str,
    /// What was said.
    pub text: Cow<'a, str>,
    /// The calls in it.
    pub calls: &'a Json<'a>,
    /// The call whose result it is.
    pub call_id: &'a str,
    /// What the model thought.
    pub reasoning: &'a str,
    /// Whether the tool marks it as the summary of a compaction.
    pub is_summary: bool,
}

/// The text of a cell, in which a list of parts may stand as JSON.
pub(super) fn text_of(content: &str) -> Cow<'_, str> {
    let list = content.strip_prefix(STRUCTURED).unwrap_or("null");
    match Json::parse(list) {
        Ok(json) if !json.items().is_empty() => Cow::Owned(json.text().into_owned()),
        _ => Cow::Borrowed(content),
    }
}

/// The summary that a message carries.
pub(super) fn summary(text: &str, is_marked: bool) -> Option<&str> {
    let text = text.split_once(MERGED).map_or(text, |(_, rest)| rest).trim_start();
    if !is_marked && !SUMMARIES.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    let body = match text.starts_with('[') {
        true => text
            .split_once('\n')
            .map_or_else(|| text.split_once("]:").map_or(text, |(_, rest)| rest), |(_, rest)| rest),
        false => text,
    };
    Some(body.split_once(SUMMARY_END).map_or(body, |(body, _)| body).trim())
}

/// Messages one after the other. A compaction repeats those that stay in the model's view; they are told once.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Fingerprints of what was told.
    fingerprints: HashSet<u64>,
    first: Option<u64>,
    /// Whether what comes now may be a repetition.
    repeats: bool,
    was_compacted: bool,
}

impl Messages {
    /// The next session of a conversation begins.
    pub(super) fn next_session(&mut self) {
        self.repeats = !self.fingerprints.is_empty();
    }

    /// A message that stands in the model's view, or that a compaction took out of it.
    pub(super) fn message(&mut self, emitter: &mut EventEmitter<'_>, one: &Message<'_>, is_compacted: bool) {
        if self.was_compacted && !is_compacted {
            self.repeats = true;
        }
        self.was_compacted = is_compacted;
        if let Some(summary) = summary(&one.text, one.is_summary) {
            self.repeats = true;
            return emitter.compaction(summary);
        }
        let print = fingerprint(one);
        self.repeats |= self.first == Some(print);
        self.first = self.first.or(Some(print));
        let is_new = self.fingerprints.insert(print);
        if self.repeats && !is_new {
            return;
        }
        self.repeats = false;
        emit_message(emitter, one);
    }
}

fn fingerprint(one: &Message<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    one.role.hash(&mut hasher);
    let ids: Vec<&str> = one.calls.items().iter().filter_map(|call| call.get("id").str()).collect();
    match (one.call_id, ids.is_empty()) {
        // Results are shortened when they are repeated.
        ("", true) => one.text.hash(&mut hasher),
        (id, _) => (id, ids).hash(&mut hasher),
    }
    hasher.finish()
}

fn emit_message(emitter: &mut EventEmitter<'_>, one: &Message<'_>) {
    match one.role {
        "user" => emitter.user(&one.text),
        "assistant" => {
            emitter.thinking(one.reasoning);
            emitter.assistant(&one.text);
            one.calls.items().iter().for_each(|call| begin(emitter, call));
        }
        "tool" => result(emitter, one.call_id, &one.text),
        "system" | "session_meta" => {}
        name => emitter.unknown_type(name),
    }
}

fn begin(emitter: &mut EventEmitter<'_>, one: &Json<'_>) {
    let function = one.get("function");
    let raw = function.get("arguments");
    let parsed = raw.str().and_then(|text| Json::parse(text).ok());
    let args = parsed.as_ref().unwrap_or(raw);
    let name = function.get("name").str().or(one.get("name").str()).unwrap_or_default();
    let id = one.get("id").str().unwrap_or_default();
    let call = call::call(id, name, args);
    // What is merged into the plan is not the plan.
    match name == TODO && args.get("merge").is_true() {
        true => emitter.call(call),
        false => emitter.call_with(call, args),
    }
}

/// A result: an object in JSON in most tools, a text in some.
fn result(emitter: &mut EventEmitter<'_>, id: &str, text: &str) {
    let parsed = Json::parse(text.trim()).ok().filter(|json| matches!(json, Json::Obj(_)));
    let Some(json) = parsed else {
        let shell = emitter.open(id).is_some_and(|open| open.category == Category::Shell);
        let ok = (!shell).then_some(true);
        return emitter.end_call(ToolResult { id, ok, output: Cow::Borrowed(text), ..ToolResult::default() });
    };
    let error = json.get("error").str();
    // A command that was not run, or still runs, has no code.
    let code = json.get("exit_code").int().filter(|code| *code >= 0);
    let refused = matches!(json.get("success"), Json::Bool(false)) || (error.is_some() && code.is_none());
    let shell = emitter.open(id).is_some_and(|open| open.category == Category::Shell);
    let ok = match code {
        _ if refused => Some(false),
        Some(code) => Some(code == 0),
        None => (!shell).then_some(true),
    };
    let printed = json.get("output").str();
    let output = match (printed, error) {
        (Some(printed), Some(error)) => Cow::Owned(format!("{}\n{error}", printed.trim_end())),
        (printed, error) => Cow::Borrowed(printed.or(error).or(json.get("content").str()).unwrap_or(text)),
    };
    let edits = if ok == Some(true) { edits(&json) } else { Vec::new() };
    let id = Cow::Borrowed(id);
    emitter.outcome(Outcome { id, ok, exit_code: code, output, edits });
    emitter.plan(plan::of(json.get("todos")));
}

/// What a patch did, where it is said file by file and of one file only how.
fn edits(json: &Json<'_>) -> Vec<Edit> {
    let kinds = [
        ("files_modified", Change::Modified),
        ("files_created", Change::Created),
        ("files_deleted", Change::Deleted),
    ];
    let all: Vec<(&str, Change)> = kinds
        .iter()
        .flat_map(|(key, change)| {
            json.get(key).items().iter().filter_map(Json::str).map(|path| (path, *change))
        })
        .collect();
    match (all.as_slice(), json.get("diff").str()) {
        ([(path, change)], Some(diff)) => vec![Edit::with_diff(path, *change, replaced::hunks(diff))],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_every_version_is_told_from_what_stands_round_it() {
        for (text, wanted) in [
            (
                "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns: x:\nHalf.\n\n--- END OF CONTEXT SUMMARY — go",
                Some("Half."),
            ),
            ("[CONTEXT SUMMARY]: Half.", Some("Half.")),
            (
                "[PRIOR CONTEXT]\nold\n\n[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\n\n[CONTEXT COMPACTION] x\nHalf.",
                Some("Half."),
            ),
            ("Fix [CONTEXT SUMMARY]:", None),
        ] {
            assert_eq!(summary(text, false), wanted, "{text}");
        }
        assert_eq!(summary("Half.", true), Some("Half."));
    }

    #[test]
    fn content_in_parts_is_read_as_its_text() {
        assert_eq!(text_of("\0json:[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image_url\"}]"), "a");
        for plain in ["a", "\0json:no", "json: a"] {
            assert_eq!(text_of(plain), plain);
        }
    }
}

//! What a call of the transcript did, where that is known well enough for another tool's call to stand for it.

use std::path::Path;

use baton_ops::transcript::{EventBody, EventRow, FileEdit, ToolCall};
use baton_tools::work::{Act, Hunk, Work};
use baton_transcripts::event::TYPED_COMMAND;
use serde::Deserialize;
use serde_json::Value;

/// Maximum length of a tool result: of a command from its end, which shows the outcome.
const RESULT: usize = 1_500;
/// A longer command line is told as text.
const MAX_COMMAND: usize = 8 * 1024;
/// Beyond this the readers cut a change.
const CUT: &str = "bytes left out]";

/// An event, and for a call the changes that it made.
pub(super) struct LinkedEvent<'a> {
    /// The event.
    pub row: EventRow<'a>,
    edits: Vec<FileEdit<'a>>,
}

/// Where an event stands in its file, and where the end of its call does.
#[derive(Default, Deserialize)]
struct EventPlace {
    line: Option<u64>,
    ended: Option<CallEnd>,
}

#[derive(Deserialize)]
struct CallEnd {
    line: Option<u64>,
}

/// Where files lay in the session that is left, and where they lie now.
pub(crate) struct Folders<'a> {
    /// The folder in which the session worked.
    pub old: Option<&'a str>,
    /// The folder in which it goes on.
    pub new: &'a Path,
    /// The home directory, for which transcripts are shown with `~`.
    pub home: &'a Path,
}

impl Folders<'_> {
    /// The absolute path of a file now.
    fn place(&self, path: &str) -> String {
        let tilde = |path: &str| match path.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None => Path::new(path).to_owned(),
        };
        let path = tilde(path);
        let inner = self.old.and_then(|old| path.strip_prefix(tilde(old)).ok().map(Path::to_owned));
        self.new.join(inner.unwrap_or(path)).display().to_string()
    }
}

/// The events of the agent itself, each call with its changes. A change stands behind its call, or behind the last of several
/// that ran at once.
pub(super) fn linked(events: &[Value]) -> Vec<LinkedEvent<'_>> {
    let mut all: Vec<LinkedEvent<'_>> = Vec::new();
    let mut ends: Vec<Option<u64>> = Vec::new();
    for value in events {
        let Some(row) = EventRow::read(value).filter(|row| row.subagent.is_none()) else { continue };
        let place = EventPlace::deserialize(value).unwrap_or_default();
        if let EventBody::Edit(edit) = row.body {
            let is_of = |event: &LinkedEvent<'_>| matches!(&event.row.body, EventBody::ToolCall(call) if names(call, &edit.path));
            let ended_here = |at: usize| ends[at].is_none_or(|end| place.line == Some(end));
            let mut calls: Vec<usize> =
                (0..all.len()).rev().filter(|at| is_of(&all[*at]) && ended_here(*at)).collect();
            let is_exact = |at: &usize| place.line.is_some() && ends[*at] == place.line;
            if calls.iter().any(is_exact) {
                calls.retain(is_exact);
            }
            if ends.iter().any(Option::is_some) {
                calls.reverse();
            }
            let is_new = |at: &&usize| all[**at].edits.iter().all(|known| known.path != edit.path);
            let call = calls.iter().find(is_new).or(calls.last()).copied();
            call.into_iter().for_each(|at| all[at].edits.push(edit.clone()));
            continue;
        }
        ends.push(place.ended.and_then(|end| end.line));
        all.push(LinkedEvent { row, edits: Vec::new() });
    }
    all
}

/// Whether a call works on this file.
fn names(call: &ToolCall<'_>, path: &str) -> bool {
    matches!(&*call.category, "edit" | "write") && call.target.split(", ").any(|one| one == path)
}

/// What a call did; none where it is not known in full.
pub(super) fn work_of(event: &LinkedEvent<'_>, folders: &Folders<'_>) -> Option<Vec<Work>> {
    let EventBody::ToolCall(call) = &event.row.body else { return None };
    let result = call.result.as_deref().map(str::trim_end).unwrap_or_default();
    let work = |act: Act, output: String| Work {
        act,
        ok: call.ok,
        exit_code: call.exit_code,
        output,
        at: event.row.at.map(|at| at.0),
    };
    match &*call.category {
        "shell" => {
            let is_own = call.tool != TYPED_COMMAND && !call.target.trim().is_empty();
            let act = Act::Command(call.target.clone().into_owned());
            (is_own && call.target.len() <= MAX_COMMAND).then(|| vec![work(act, end_of(result))])
        }
        "read" => {
            let (act, output) = read(call, result, folders)?;
            Some(vec![work(act, output)])
        }
        "edit" | "write" if call.ok != Some(false) && !event.edits.is_empty() => {
            let is_whole = call.category == "write";
            let acts = event.edits.iter().map(|edit| change(edit, is_whole, folders));
            acts.map(|act| act.map(|act| work(act, String::new()))).collect()
        }
        _ => None,
    }
}

/// The end of a result.
pub(super) fn end_of(result: &str) -> String {
    let mut from = result.len().saturating_sub(RESULT);
    while !result.is_char_boundary(from) {
        from += 1;
    }
    format!("{}{}", if from > 0 { "…" } else { "" }, &result[from..])
}

/// Lines of one file, as far as they go along.
fn read(call: &ToolCall<'_>, result: &str, folders: &Folders<'_>) -> Option<(Act, String)> {
    let target = call.target.trim();
    if target.is_empty() || target.contains(", ") || result.is_empty() {
        return None;
    }
    let path = folders.place(target);
    let first = call.lines.as_deref().and_then(|lines| lines.split('-').next()?.parse().ok()).unwrap_or(1);
    if call.ok == Some(false) {
        return Some((Act::Read { path, first, lines: 1 }, end_of(result)));
    }
    let mut end = result.len().min(RESULT);
    if end < result.len() {
        while !result.is_char_boundary(end) {
            end -= 1;
        }
        end = result[..end].rfind('\n')?;
    }
    let mut output = result[..end].to_owned();
    let lines = output.lines().count() as u64;
    if end < result.len() {
        output += &format!("\n… [{} {CUT}", result.len() - end);
    }
    Some((Act::Read { path, first, lines }, output))
}

/// A change of one file; none where its text is not known in full.
fn change(edit: &FileEdit<'_>, is_whole: bool, folders: &Folders<'_>) -> Option<Act> {
    let path = folders.place(&edit.path);
    if edit.change == "deleted" {
        return Some(Act::Delete { path });
    }
    let diff = edit.diff.as_deref().filter(|diff| !diff.is_empty() && !diff.ends_with(CUT))?;
    let hunks = hunks(diff);
    let lines = || hunks.iter().flat_map(|hunk| &hunk.lines);
    let only_added = lines().all(|line| line.starts_with('+'));
    match &*edit.change {
        "created" | "modified" if only_added && (is_whole || edit.change == "created") => {
            let content = lines().map(|line| format!("{}\n", &line[1..])).collect();
            Some(Act::Create { path, content })
        }
        "modified" => Some(Act::Edit { path, hunks }),
        _ => None,
    }
}

/// The hunks of a diff. Where it has no heads, a line that goes after one that came begins another: such a body is several
/// replacements one after another.
fn hunks(diff: &str) -> Vec<Hunk> {
    let has_heads = diff.lines().any(|line| line.starts_with("@@"));
    let has_context = diff.lines().any(|line| line.starts_with(' '));
    let mut hunks: Vec<Hunk> = vec![Hunk::default()];
    for line in diff.lines() {
        let last = hunks.last().and_then(|hunk| hunk.lines.last());
        let begins = !has_heads
            && !has_context
            && line.starts_with('-')
            && last.is_some_and(|last| last.starts_with('+'));
        if line.starts_with("@@") || begins {
            hunks.push(Hunk::default());
        }
        if let (true, Some(hunk)) = (line.starts_with([' ', '+', '-']), hunks.last_mut()) {
            hunk.lines.push(line.to_owned());
        }
    }
    hunks.retain(|hunk| !hunk.lines.is_empty());
    hunks
}

//! `bd batch`: several changes from a file, all of them or none.

use std::collections::BTreeMap;

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_ops::answer::RefusalView;
use baton_ops::task::{self as tasks, BatchResult, BatchStep};
use serde::Serialize;
use serde_json::Map;

use super::{Out, identity, link};
use crate::cli::read_input;
use crate::error::AppError;

/// The lines that are understood, for the refusal of others.
const GRAMMAR: &str = "use `create TYPE PRIORITY TITLE`, `close ID [REASON]`, `update ID KEY=VALUE ...` with status, priority, title \
     or assignee, `dep add ID ON [TYPE]` or `dep remove ID ON`";

/// A change, and the line of the input that it stands in.
struct Line {
    number: usize,
    text: String,
    step: BatchStep,
}

/// What a line led to.
#[derive(Serialize)]
struct LineResult {
    line: usize,
    op: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

/// What a batch did.
#[derive(Serialize)]
struct BatchOutput {
    status: &'static str,
    operations: usize,
    dry_run: bool,
    results: Vec<LineResult>,
}

impl BatchOutput {
    fn text(&self) -> String {
        if self.dry_run {
            return format!("{} operations are understood; nothing was written.\n", self.operations);
        }
        let result = |result: &LineResult| {
            let id = result.id.as_deref().map(visible).unwrap_or_default();
            format!("  {} {id}\n", result.op)
        };
        let results: String = self.results.iter().map(result).collect();
        format!("✓ {} operations\n{results}", self.operations)
    }
}

pub(super) fn batch(file: Option<&str>, dry_run: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let lines = parse(&read_input(file.unwrap_or("-"))?)?;
    let mut results: Vec<LineResult> = lines
        .iter()
        .map(|line| LineResult { line: line.number, op: name_of(&line.step), id: None })
        .collect();
    if !dry_run {
        let steps = lines.iter().map(|line| line.step.clone()).collect();
        let place = |at: usize| {
            let line = lines.get(at);
            line.map(|line| format!("line {} ({})", line.number, visible(&line.text))).unwrap_or_default()
        };
        for (result, done) in results.iter_mut().zip(carry_out(steps, place, out)?) {
            result.id = Some(done.id);
        }
    }
    let applied = BatchOutput { status: "ok", operations: results.len(), dry_run, results };
    out.print(&applied, BatchOutput::text)
}

fn name_of(step: &BatchStep) -> &'static str {
    match step {
        BatchStep::Create { .. } | BatchStep::Write { .. } => "create",
        BatchStep::Close { .. } => "close",
        BatchStep::Update { .. } => "update",
        BatchStep::Depend { remove: false, .. } => "dep add",
        BatchStep::Depend { remove: true, .. } => "dep remove",
    }
}

/// Carries steps out, all of them or none. A refusal names the place of its step, counted from 0; where that is empty, it is the
/// refusal of the whole.
pub(super) fn carry_out(
    steps: Vec<BatchStep>,
    place: impl Fn(usize) -> String,
    out: &mut Out<'_>,
) -> Result<Vec<BatchResult>, AppError> {
    let input = tasks::BatchInput { project: out.project(), identity: out.identity(), steps };
    match out.app.run::<tasks::Batch>(&input) {
        Ok(done) => Ok(done.results),
        Err(AppError::Refused(mut refusal)) => {
            if let Some(step) = RefusalView(&refusal).step() {
                let place = place(step.index);
                refusal.message = match place.as_str() {
                    "" => step.message.to_owned(),
                    place => format!("{place}: {}; no step was carried out", step.message),
                };
            }
            Err(AppError::Refused(refusal))
        }
        Err(error) => Err(error),
    }
}

fn parse(text: &str) -> Result<Vec<Line>, Refusal> {
    let mut lines = Vec::new();
    for (at, text) in text.lines().enumerate() {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let words = split_words(text);
        let step = words.as_deref().and_then(step).ok_or_else(|| {
            let what = format!("line {} is not understood: `{}`; nothing was written", at + 1, visible(text));
            Refusal::invalid("batch_invalid", what, GRAMMAR)
        })?;
        if let BatchStep::Depend { on, kind, remove: false, .. } = &step
            && let Some(refusal) = link::external_refusal(on, kind)
        {
            let message = format!("line {}: {}; nothing was written", at + 1, refusal.message);
            return Err(Refusal { message, ..refusal });
        }
        lines.push(Line { number: at + 1, text: text.to_owned(), step });
    }
    Ok(lines)
}

/// The words of a line. A text in double quotes is one word; a backslash in it takes the next character as it is. None: a quote
/// is not closed.
fn split_words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), None::<String>, false);
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            '\\' if is_quoted => word.get_or_insert_default().push(characters.next()?),
            c if c.is_whitespace() && !is_quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    (!is_quoted).then_some(words)
}

fn step(words: &[String]) -> Option<BatchStep> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let step = match words.as_slice() {
        ["create", issue_type, priority, title @ ..] if !title.is_empty() => BatchStep::Create {
            title: title.join(" "),
            issue_type: (*issue_type).to_owned(),
            priority: crate::cli::priority(priority).ok()?,
        },
        ["close", id, reason @ ..] => BatchStep::Close {
            id: (*id).to_owned(),
            reason: (!reason.is_empty()).then(|| reason.join(" ")),
            result: None,
            force: false,
        },
        ["update", id, pairs @ ..] if !pairs.is_empty() => update(id, pairs)?,
        ["dep", "add", id, on] => depend(id, on, "blocks", false),
        ["dep", "add", id, on, kind] => depend(id, on, kind, false),
        ["dep", "remove" | "rm", id, on] => depend(id, on, "blocks", true),
        _ => return None,
    };
    Some(step)
}

/// The step that makes an issue depend on another, or takes that away.
pub(super) fn depend(id: &str, on: &str, kind: &str, remove: bool) -> BatchStep {
    BatchStep::Depend {
        id: id.to_owned(),
        on: on.to_owned(),
        kind: kind.to_owned(),
        remove,
        metadata: Map::new(),
    }
}

fn update(id: &str, pairs: &[&str]) -> Option<BatchStep> {
    let (mut status, mut priority, mut title, mut assignee) = (None, None, None, None);
    for pair in pairs {
        let (key, value) = pair.split_once('=')?;
        match key {
            "status" => status = Some(value.to_owned()),
            "priority" => priority = Some(crate::cli::priority(value).ok()?),
            "title" => title = Some(value.to_owned()),
            "assignee" if value.is_empty() => assignee = Some(String::new()),
            "assignee" => assignee = Some(identity(value)),
            _ => return None,
        }
    }
    let metadata_refs = BTreeMap::new();
    Some(BatchStep::Update { id: id.to_owned(), status, priority, title, assignee, metadata_refs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_at_blanks_and_quotes_hold_it_together() {
        let words = |line| split_words(line).unwrap_or_default();
        assert_eq!(words("close a-1  Don't do it"), ["close", "a-1", "Don't", "do", "it"]);
        assert_eq!(
            words(r#"update a-1 title="say \"hi\"" status=open"#),
            ["update", "a-1", "title=say \"hi\"", "status=open"]
        );
        assert!(super::split_words("close a-1 \"open").is_none());
    }

    #[test]
    fn a_line_that_is_not_understood_is_named_with_what_is() {
        let text = "# first\n\ncreate task 2 A title\nupdate a-1 colour=red\n";
        let refusal = parse(text).map(|lines| lines.len()).expect_err("no such key");
        assert!(refusal.message.contains("line 4") && refusal.hint.contains("dep remove"), "{refusal:?}");
        for line in
            ["", "create task 9 t", "create task", "dep add a", "dep add a b c d", "update a-1", "drop a"]
        {
            assert!(split_words(line).as_deref().and_then(step).is_none(), "{line}");
        }
    }
}

//! Gates: issues that stand for something outside which another issue waits for.

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::task::view::View;
use baton_model::time::{Millis, parse_rfc3339, parse_span, rfc3339};
use baton_ops::task as tasks;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::annotate::show_task;
use super::args::{Arrangement, GateVerb};
use super::list::{Selection, print};
use super::shape::ClosedIssue;
use super::{Out, shape};
use crate::cli::task;
use crate::error::AppError;

/// The type of an issue that is a gate.
pub(super) const GATE: &str = "gate";

pub(super) fn run(verb: GateVerb, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        GateVerb::Create { blocks, kind, reason, timeout, await_id } => {
            let gate = Gate { blocks, kind, reason, timeout, await_id };
            create(gate, out)
        }
        GateVerb::List { id, all, limit } => list(id, all, limit, out),
        GateVerb::Show { id } => {
            let found = gate(&id, out)?;
            out.print(&[shape::details(found)], |all| all.iter().map(task::details).collect())
        }
        GateVerb::Resolve { id, reason } => {
            let id = gate(&id, out)?.task.id;
            resolve(&[id], reason.as_deref().unwrap_or("resolved"), out)
        }
        GateVerb::Check { kind, limit, dry_run } => check(kind.as_deref(), limit, dry_run, out),
    }
}

/// A gate that is to be made.
struct Gate {
    blocks: String,
    kind: String,
    reason: Option<String>,
    timeout: Option<String>,
    await_id: Option<String>,
}

fn create(args: Gate, out: &mut Out<'_>) -> Result<(), AppError> {
    let waiting = show_task(&args.blocks, out)?.task;
    let mut extra = Map::new();
    extra.insert("await_type".to_owned(), json!(args.kind));
    extra.extend(args.await_id.iter().map(|id| ("await_id".to_owned(), json!(id))));
    let await_span = args.await_id.as_deref().filter(|_| args.kind == "timer");
    if let Some(text) = args.timeout.as_deref().or(await_span) {
        extra.extend(timer(text)?);
    } else if args.kind == "timer" {
        let hint = "bd gate create --type timer --blocks ID --timeout 2h";
        return Err(Refusal::invalid("usage", "a timer needs --timeout", hint).into());
    }
    let input = tasks::CreateInput {
        project: out.project(),
        identity: out.identity(),
        title: format!("Gate ({}) for {}", args.kind, waiting.id),
        description: args.reason.unwrap_or_default(),
        issue_type: GATE.to_owned(),
        deps: vec![format!("blocks:{}", waiting.id)],
        extra,
        ..tasks::CreateInput::default()
    };
    let made = out.app.run::<tasks::Create>(&input)?.task.view;
    super::change::print_created(made, out)
}

/// An issue that is a gate.
fn gate(id: &str, out: &mut Out<'_>) -> Result<tasks::ShowOutput, AppError> {
    let found = show_task(id, out)?;
    if found.task.issue_type == GATE {
        return Ok(found);
    }
    let what = format!("{} is a {}, not a gate", visible(&found.task.id), visible(&found.task.issue_type));
    Err(Refusal::invalid("not_a_gate", what, "bd gate list").into())
}

/// The gates, open ones unless all are wanted.
fn gates(all: bool, out: &mut Out<'_>) -> Result<Vec<tasks::Row>, AppError> {
    let mut selection = Selection::all(out);
    selection.ledger.all = all;
    selection.ledger.issue_type = Some(GATE.to_owned());
    Ok(selection.find(out)?.0)
}

fn list(id: Option<String>, all: bool, limit: Option<u32>, out: &mut Out<'_>) -> Result<(), AppError> {
    let mut found = gates(all, out)?;
    if let Some(id) = id {
        let needed = show_task(&id, out)?.dependencies;
        found.retain(|row| needed.iter().any(|other| shape::linked_id(other) == row.task.id));
    }
    let most = limit_or_unlimited(limit, 50);
    let more = found.len() > most;
    found.truncate(most);
    print(found, more, &Arrangement::default(), out)
}

fn resolve(ids: &[String], reason: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let closed = close_gates(ids, reason, out)?;
    out.print(&closed, |all| {
        all.iter().map(|one| format!("✓ Resolved {}\n", visible(&one.issue.id))).collect()
    })
}

fn close_gates(ids: &[String], reason: &str, out: &mut Out<'_>) -> Result<Vec<ClosedIssue>, AppError> {
    let mut closed = Vec::new();
    for id in ids {
        let input = tasks::CloseInput {
            project: out.project(),
            identity: out.identity(),
            id: id.clone(),
            reason: Some(reason.to_owned()),
            force: true,
            ..tasks::CloseInput::default()
        };
        closed.push(ClosedIssue::from(out.app.run::<tasks::Close>(&input)?));
    }
    Ok(closed)
}

/// Closes the timers that have run out. What GitHub knows is asked for by nobody: a remark names those gates.
fn check(kind: Option<&str>, limit: Option<u32>, dry_run: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let now = crate::clock::now();
    let (mut over, mut unasked, mut timeless) = (Vec::new(), Vec::new(), Vec::new());
    let mut open = gates(false, out)?;
    open.truncate(limit_or_unlimited(limit, 0));
    let checked = open.len();
    for row in open {
        let awaits = row.task.other_text("await_type").unwrap_or_else(|| "human".to_owned());
        let wanted = kind
            .is_none_or(|kind| kind == "all" || awaits == kind || awaits.starts_with(&format!("{kind}:")));
        match awaits.as_str() {
            "timer" if wanted => match due(&row.task) {
                Some(due) if due <= now => over.push(row),
                Some(_) => {}
                None => timeless.push(row.task.id),
            },
            other if wanted && other.starts_with("gh:") => unasked.push(row.task.id),
            _ => {}
        }
    }
    if !unasked.is_empty() {
        out.remark(&format!(
            "GitHub is not asked; close these when their run or pull request is done: bd gate resolve {}",
            visible(&unasked.join(", "))
        ));
    }
    if !timeless.is_empty() {
        out.remark(&format!(
            "these timers do not say how long, and open by hand only: bd gate resolve {}",
            visible(&timeless.join(", "))
        ));
    }
    let ids: Vec<String> = over.into_iter().map(|row| row.task.id).collect();
    let (checked, resolved, escalated, errors) = (checked, ids.len(), 0, 0);
    if !dry_run {
        close_gates(&ids, "the time is over", out)?;
    }
    let answer = Checked { checked, resolved, escalated, errors, dry_run, ids };
    out.print(&answer, |found| {
        let word = if found.dry_run { "would be resolved" } else { "is resolved" };
        let text: String = found.ids.iter().map(|id| format!("✓ {} {word}\n", visible(id))).collect();
        if text.is_empty() { "No gate can be resolved.\n".to_owned() } else { text }
    })
}

/// The field of a gate that Beads has for its span.
#[derive(Deserialize)]
struct TimerFields {
    timeout: Option<i64>,
}

/// When a timer runs out: the instant that it names, or its span from its creation on, in the field of nanoseconds that Beads has
/// for it or as the text that it waits for.
fn due(gate: &View) -> Option<Millis> {
    if let Some(at) = gate.other_text("due_at") {
        return parse_rfc3339(&at);
    }
    let fields: Option<TimerFields> = serde_json::from_value(Value::Object(gate.rest.clone())).ok();
    let nanoseconds = fields.and_then(|fields| fields.timeout).filter(|span| *span > 0);
    let span = nanoseconds.map(|span| span / 1_000_000);
    let span = span.or_else(|| parse_span(&gate.other_text("await_id")?))?;
    Some(gate.created_at.0.saturating_add(span))
}

/// The fields of a timer of this span.
pub(super) fn timer(span: &str) -> Result<Map<String, Value>, Refusal> {
    let Some(millis) = parse_span(span) else {
        let what = format!("`{}` is not a span of time", visible(span));
        return Err(Refusal::invalid("span_invalid", what, "write it as 30m, 24h or 7d"));
    };
    // Beads keeps the span in nanoseconds.
    let due = rfc3339(crate::clock::now().saturating_add(millis));
    let fields = [("timeout", json!(millis.saturating_mul(1_000_000))), ("due_at", json!(due))];
    Ok(fields.map(|(key, value)| (key.to_owned(), value)).into_iter().collect())
}

/// What a look at the gates came to.
#[derive(Serialize)]
struct Checked {
    checked: usize,
    resolved: usize,
    escalated: usize,
    errors: usize,
    dry_run: bool,
    /// Those that are closed, or would be.
    ids: Vec<String>,
}

/// A limit of which 0 means none.
fn limit_or_unlimited(limit: Option<u32>, usual: u32) -> usize {
    match limit.unwrap_or(usual) {
        0 => usize::MAX,
        limit => usize::try_from(limit).unwrap_or(usize::MAX),
    }
}

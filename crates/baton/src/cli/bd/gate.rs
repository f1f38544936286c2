//! Gates: issues that stand for something outside which another issue waits for.

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::task::view::View;
use baton_model::time::{Millis, parse_rfc3339, parse_span, rfc3339};
use baton_ops::task as tasks;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::annotate::{show_present_task, show_task};
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
            let awaits = awaited(&found.task).map(|text| format!("waits for\n  {}\n", visible(&text)));
            let awaits = awaits.unwrap_or_default();
            out.print(&[shape::details(found)], |all| all.iter().map(task::details).chain([awaits]).collect())
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
    extra.insert("await_type".to_owned(), args.kind.as_str().into());
    extra.extend(args.await_id.iter().map(|id| ("await_id".to_owned(), id.as_str().into())));
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
            ..tasks::CloseInput::default()
        };
        closed.push(ClosedIssue::from(out.app.run::<tasks::Close>(&input)?));
    }
    Ok(closed)
}

/// What a gate waits for, by its type and the id that it names.
fn awaited(gate: &View) -> Option<String> {
    let kind = gate.other_text("await_type")?;
    Some(match gate.other_text("await_id") {
        Some(id) => format!("{kind} {id}"),
        None => kind,
    })
}

/// How it stands with what a gate waits for.
enum GateState {
    /// It is there, or the time is over.
    Met(&'static str),
    /// Not yet; of a gate for a person, that person has not closed it.
    Waiting,
    /// A timer without a span.
    Timeless,
    /// GitHub knows it, which is not asked.
    OfGitHub,
    /// An issue that is not here.
    Elsewhere,
}

fn state(gate: &View, out: &mut Out<'_>) -> Result<GateState, AppError> {
    let kind = gate.other_text("await_type").unwrap_or_default();
    Ok(match kind.as_str() {
        "timer" => match due(gate) {
            Some(due) if due <= crate::clock::now() => GateState::Met("the time is over"),
            Some(_) => GateState::Waiting,
            None => GateState::Timeless,
        },
        "bead" => {
            let id = gate.other_text("await_id").unwrap_or_default();
            // Beads writes the rig of the issue before it.
            let id = id.rsplit(':').next().unwrap_or_default();
            match show_present_task(id, out) {
                Ok(found) if found.task.status == "closed" => GateState::Met("the issue is closed"),
                Ok(_) => GateState::Waiting,
                Err(AppError::Refused(_)) => GateState::Elsewhere,
                Err(error) => return Err(error),
            }
        }
        kind if kind.starts_with("gh:") => GateState::OfGitHub,
        _ => GateState::Waiting,
    })
}

/// What a gate still waits for; nothing of a gate that waits for a person, whose closing is the condition.
pub(super) fn unmet(gate: &View, out: &mut Out<'_>) -> Result<Option<String>, AppError> {
    let kind = gate.other_text("await_type").unwrap_or_default();
    let is_of_person = matches!(kind.as_str(), "" | "human");
    Ok(match state(gate, out)? {
        GateState::Met(_) => None,
        _ if is_of_person => None,
        _ => awaited(gate),
    })
}

/// What there is to say of a look at gates that GitHub alone could open.
pub(super) fn refusal(verb: &GateVerb) -> Option<Refusal> {
    let GateVerb::Check { kind: Some(kind), .. } = verb else { return None };
    kind.starts_with("gh").then(|| {
        let what = format!("`bd gate check --type {}` asks GitHub; Baton does not", visible(kind));
        let hint = "use instead: `bd gate resolve ID` when the run or pull request is done; `bd gate list` names the gates";
        Refusal::invalid("not_supported", what, hint)
    })
}

/// Closes the timers that have run out, and the gates whose issue is closed. GitHub is not asked: a remark names the gates that
/// wait for it.
fn check(kind: Option<&str>, limit: Option<u32>, dry_run: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let mut open = gates(false, out)?;
    open.truncate(limit_or_unlimited(limit, 0));
    let checked = open.len();
    let (mut over, mut unasked, mut timeless, mut elsewhere) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for row in open {
        let awaits = row.task.other_text("await_type").unwrap_or_else(|| "human".to_owned());
        let wanted = kind
            .is_none_or(|kind| kind == "all" || awaits == kind || awaits.starts_with(&format!("{kind}:")));
        if !wanted {
            continue;
        }
        match state(&row.task, out)? {
            GateState::Met(why) => over.push((row.task.id, why)),
            GateState::Waiting => {}
            GateState::Timeless => timeless.push(row.task.id),
            GateState::OfGitHub => unasked.push(row.task.id),
            GateState::Elsewhere => elsewhere.push(row.task.id),
        }
    }
    for (ids, what) in [
        (unasked, "GitHub is not asked; close these when their run or pull request is done"),
        (timeless, "these timers do not say how long, and open by hand only"),
        (elsewhere, "the issues that these wait for are not here; close them when they are done"),
    ] {
        if !ids.is_empty() {
            out.remark(&format!("{what}: bd gate resolve {}", visible(&ids.join(", "))));
        }
    }
    if !dry_run {
        let mut refused = Vec::new();
        for (id, why) in &over {
            match close_gates(std::slice::from_ref(id), why, out) {
                Ok(_) => {}
                // What another holds is theirs to end; the others are gates all the same.
                Err(AppError::Refused(no)) => {
                    out.remark(&format!("{} stays: {}", visible(id), visible(&no.message)));
                    refused.push(id.clone());
                }
                Err(error) => return Err(error),
            }
        }
        over.retain(|(id, _)| !refused.contains(id));
    }
    let ids: Vec<String> = over.into_iter().map(|(id, _)| id).collect();
    let (resolved, escalated, errors) = (ids.len(), 0, 0);
    let answer = GateCheckOutput { checked, resolved, escalated, errors, dry_run, ids };
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
    let fields = [("timeout", Value::from(millis.saturating_mul(1_000_000))), ("due_at", due.into())];
    Ok(fields.map(|(key, value)| (key.to_owned(), value)).into_iter().collect())
}

/// What a look at the gates came to.
#[derive(Serialize)]
struct GateCheckOutput {
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

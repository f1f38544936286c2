//! What was insisted on, decided, tried, planned and left open.

use super::section::{Entry, FINISHED_TASKS, SHORTENED, Section, rank};
use super::{RenderContext, cut, place, quote};
use crate::packet::{Attempt, Decision, Packet, PlanItem, Text};

/// A list of sentences, each with its place.
fn list(
    cx: &RenderContext,
    out: &mut Vec<Entry>,
    (section, noun, rank): (Section, &'static str, u8),
    texts: &[Text],
) {
    for text in texts.iter().filter(|text| !text.text.trim().is_empty()) {
        let mark = cx.mark(text.at.as_deref());
        let show = |limit| format!("- {}{mark}\n", quote::prose(&cut::head(&text.text, limit)));
        out.push(Entry::new(section, noun).lengths(&[(rank, 240)], rank::WHOLE, show));
    }
}

pub(super) fn constraints(cx: &RenderContext, out: &mut Vec<Entry>) {
    list(cx, out, (Section::Constraints, "constraints", rank::CONSTRAINT), &cx.packet.constraints);
}

pub(super) fn questions(cx: &RenderContext, out: &mut Vec<Entry>) {
    let questions: Vec<Text> =
        cx.packet.open_loops.iter().filter(|text| !is_last_failure(cx, &text.at)).cloned().collect();
    list(cx, out, (Section::Questions, "open questions", rank::OPEN), &questions);
}

pub(super) fn notes(cx: &RenderContext, out: &mut Vec<Entry>) {
    list(cx, out, (Section::Notes, "notes", rank::OPEN), &cx.packet.session_notes);
}

/// Whether the entry is the last failure, which has a section of its own.
fn is_last_failure(cx: &RenderContext, at: &Option<String>) -> bool {
    let failure = cx.packet.last_failure.as_ref().and_then(|failure| failure.at.as_deref());
    failure.is_some() && failure == at.as_deref()
}

pub(super) fn issues(cx: &RenderContext, out: &mut Vec<Entry>) {
    list(cx, out, (Section::Issues, "known issues", rank::PLAN), &cx.packet.known_issues);
}

pub(super) fn completed(cx: &RenderContext, out: &mut Vec<Entry>) {
    let planned = |text: &Text| {
        cx.packet
            .pending_tasks
            .iter()
            .any(|item| item.title.trim() == text.text.trim() && state(&item.status) == "done")
    };
    let other: Vec<Text> = cx.packet.work_completed.iter().filter(|text| !planned(text)).cloned().collect();
    list(cx, out, (Section::Done, "completed items", rank::DETAIL), &other);
}

pub(super) fn references(cx: &RenderContext, out: &mut Vec<Entry>) {
    list(cx, out, (Section::References, "references", rank::DETAIL), &cx.packet.refs);
}

pub(super) fn decisions(cx: &RenderContext, out: &mut Vec<Entry>) {
    for (index, decision) in cx.packet.decisions.iter().enumerate() {
        let what = |limit| quote::prose(&cut::head(&decision.what, limit));
        let mark = cx.mark(decision.at.as_deref());
        let reasons = |limit| match rationale(decision, limit) {
            more if more.is_empty() => format!("- {}{mark}\n", what(limit)),
            more => format!("- {}{more}{mark}\n", sentence(&decision.what, limit)),
        };
        let lacks =
            if decision.why.is_some() || !decision.rejected.is_empty() { "reasons" } else { SHORTENED };
        let entry = Entry::new(Section::Decisions, "decisions");
        let entry = entry.form(rank::DECISION, Some(lacks), format!("- {}{mark}\n", what(180)));
        out.push(entry.lengths(&[(rank::REASON, 320)], rank::WHOLE, reasons).order(index as i64));
    }
}

/// A text that another follows on the line, so it ends in a stop.
fn sentence(text: &str, limit: usize) -> String {
    let text = quote::prose(&cut::head(text, limit));
    if text.ends_with(['.', '!', '?', ':', ';', '…', '。']) { text } else { text + "." }
}

/// Reason and rejected options, as far as the sentence itself does not name them.
fn rationale(decision: &Decision, limit: usize) -> String {
    let decided = cut::head(&decision.what, limit);
    let news = |text: &str| !decided.contains(text.trim());
    let why = decision
        .why
        .as_deref()
        .filter(|why| news(why))
        .map(|why| format!(" *Why:* {}", sentence(why, limit)));
    let each = |option: &String| quote::prose(&cut::head(option, limit / 2));
    let rejected: Vec<String> = decision.rejected.iter().filter(|option| news(option)).map(each).collect();
    let rejected = (!rejected.is_empty()).then(|| format!(" *Rejected:* {}.", rejected.join("; ")));
    why.unwrap_or_default() + &rejected.unwrap_or_default()
}

pub(super) fn attempts(cx: &RenderContext, out: &mut Vec<Entry>) {
    let attempts = cx.packet.failed_attempts.iter().filter(|attempt| !is_last_failure(cx, &attempt.at));
    for (index, attempt) in attempts.enumerate() {
        let tried = |limit| quote::prose(&cut::head(&attempt.tried, limit));
        let mark = cx.mark(attempt.at.as_deref());
        let show = |limit| match failure_reason(attempt, limit) {
            more if more.is_empty() => format!("- {}{mark}\n", tried(limit)),
            more => format!("- {}{more}{mark}\n", sentence(&attempt.tried, limit)),
        };
        let lacks = if attempt.why_failed.is_some() { "reasons" } else { SHORTENED };
        let entry = Entry::new(Section::Attempts, "failed attempts");
        let entry = entry.form(rank::DECISION, Some(lacks), format!("- {}{mark}\n", tried(180)));
        out.push(entry.lengths(&[(rank::REASON, 320)], rank::WHOLE, show).order(index as i64));
    }
}

fn failure_reason(attempt: &Attempt, limit: usize) -> String {
    attempt
        .why_failed
        .as_deref()
        .filter(|why| !cut::head(&attempt.tried, limit).contains(why.trim()))
        .map(|why| format!(" *Failed:* {}", sentence(why, limit)))
        .unwrap_or_default()
}

/// The item of the plan that comes next, where the sender named no step: the one in progress, else the first that is open.
pub(super) fn next_of_plan(packet: &Packet) -> Option<&PlanItem> {
    let named = |name: &str| packet.pending_tasks.iter().find(|item| state(&item.status) == name);
    let next = named("in progress").or_else(|| named("open"));
    let next = next.filter(|_| packet.next_steps.is_empty() && super::plan::to_carry_out(packet).is_none());
    next.filter(|item| !is_before_failure(packet, item))
}

/// Whether the plan is older than the last request, and what was asked for since then fails.
fn is_before_failure(packet: &Packet, item: &PlanItem) -> bool {
    let line = |at: Option<&Option<String>>| place::line_of(at.and_then(|at| at.as_deref()));
    let request = packet.requests.as_ref().and_then(|requests| requests.last.as_ref());
    let places = [
        line(Some(&item.at)),
        line(request.map(|request| &request.at)),
        line(packet.last_failure.as_ref().map(|failure| &failure.at)),
    ];
    places.iter().all(Option::is_some) && places.is_sorted()
}

/// How much of the plan is done, then what is not, in the plan's own order.
pub(super) fn plan(cx: &RenderContext, out: &mut Vec<Entry>) {
    let items = &cx.packet.pending_tasks;
    let (done, open): (Vec<&PlanItem>, Vec<&PlanItem>) =
        items.iter().partition(|item| state(&item.status) == "done");
    out.extend(done_count(cx, &done, items.len()));
    let next = next_of_plan(cx.packet);
    for item in open {
        if next.is_some_and(|next| std::ptr::eq(next, item)) && cx.is_small() {
            // Its words are the next step, above.
            continue;
        }
        let state = state(&item.status);
        let show = |limit| {
            format!("- {}{}{}\n", checkbox(item, state), title(item, limit), cx.mark(item.at.as_deref()))
        };
        let order = i64::from(state != "in progress");
        let entry = Entry::new(Section::Pending, "open tasks").order(order);
        out.push(entry.lengths(&[(rank::OPEN, 200)], rank::WHOLE, show));
    }
}

/// `9 of 10 tasks are ticked off`, and their names where there is room.
fn done_count(cx: &RenderContext, done: &[&PlanItem], all: usize) -> Option<Entry> {
    let count = match (done.len(), all) {
        (0, _) => return None,
        (1, 1) => "The one task is ticked off".to_owned(),
        (done, all) if done == all => format!("All {all} tasks are ticked off"),
        (1, all) => format!("1 of {all} tasks is ticked off"),
        (done, all) => format!("{done} of {all} tasks are ticked off"),
    };
    // The place of the list, once.
    let mark = cx.mark(done.last().and_then(|item| item.at.as_deref()));
    let rank = if cx.is_small() { rank::DECISION } else { rank::PLAN };
    let named = |limit| {
        let names: Vec<String> = done.iter().map(|item| subject(item, limit)).collect();
        format!("- {count}: {}{mark}\n", names.join("; "))
    };
    let entry = Entry::new(Section::Pending, FINISHED_TASKS);
    let entry = entry.form(rank, Some("names of finished tasks"), format!("- {count}{mark}\n"));
    Some(entry.lengths(&[(rank::PLAN, 60)], rank::WHOLE, named))
}

/// The title of an item; of a long one with a description behind it, `Write the tests: in …`, what stands before that.
fn subject(item: &PlanItem, limit: usize) -> String {
    let short = item.title.split_once(": ").filter(|(subject, _)| {
        item.title.chars().count() > limit && subject.split_whitespace().count() >= SUBJECT_WORDS
    });
    match short {
        Some((subject, _)) => title(&PlanItem { title: subject.to_owned(), ..item.clone() }, limit),
        None => title(item, limit),
    }
}

/// Fewer words before a colon are no subject: `Part 2: …`.
const SUBJECT_WORDS: usize = 4;

fn title(item: &PlanItem, limit: usize) -> String {
    let id = item.id.as_deref().map(|id| quote::code(&cut::middle(id, 60)) + " ").unwrap_or_default();
    id + &quote::prose(&cut::head(&item.title, limit))
}

fn checkbox(item: &PlanItem, state: &str) -> String {
    match state {
        "open" => "[ ] ".into(),
        "in progress" => "[ ] **in progress:** ".into(),
        "called complete" => "not ticked off, before the agent called the work complete: ".into(),
        _ => format!("[ ] ({}) ", quote::prose(&cut::head(&item.status, 40))),
    }
}

/// Whether an item is neither done nor skipped, and the agent did not call the whole work complete later.
pub(super) fn is_open(item: &PlanItem) -> bool {
    !matches!(state(&item.status), "done" | "skipped" | "called complete")
}

/// The sender's word for the state of an item as one of `done`, `in progress`, `open`, `skipped`, `called complete`, or `other`.
pub(super) fn state(word: &str) -> &'static str {
    match word.trim().to_lowercase().replace(['-', ' '], "_").as_str() {
        "completed" | "complete" | "done" | "closed" | "finished" | "resolved" | "x" => "done",
        "in_progress" | "inprogress" | "active" | "doing" | "started" | "running" | "current" => {
            "in progress"
        }
        "pending" | "open" | "todo" | "to_do" | "not_started" | "new" | "" => "open",
        "called_complete" => "called complete",
        "skipped" | "cancelled" | "canceled" | "deferred" => "skipped",
        _ => "other",
    }
}

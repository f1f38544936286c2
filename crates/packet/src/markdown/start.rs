//! What comes first: who hands over, what it is about, and where to begin.

use super::commands::outcome;
use super::section::{Entry, SHORTENED, Section, rank};
use super::{RenderContext, checks, cut, facts, place, plan, quote, session, staleness, task};
use crate::packet::{Failure, Packet, Party, PlanItem, Text};

/// The table of the overview.
pub(super) fn overview(cx: &RenderContext, out: &mut Vec<Entry>) {
    let packet = cx.packet;
    let small = cx.is_small();
    let mut row = |rank: u8, field: &str, value: Option<String>| {
        // The table has a price of its own, and the command for everything names the session.
        let rank = if small && rank > rank::CONSTRAINT { rank.max(rank::DETAIL) } else { rank };
        let text = value.map(|value| format!("| **{field}** | {value} |\n"));
        out.extend(text.map(|text| Entry::unshortened(Section::Overview, "overview rows", rank, text)));
    };
    let id = packet.session_id.as_deref();
    row(
        rank::LAST_TURN,
        "Source",
        Some(party(packet.source.as_ref(), id).unwrap_or_else(|| "unknown".into())),
    );
    let target = cx.options.to.map(|to| quote::cell(&cut::head(to, 60)));
    row(rank::CONSTRAINT, "Target", target.or_else(|| party(packet.target.as_ref(), None)));
    row(rank::DECISION, "Session ID", id.map(|id| quote::code_cell(&cut::middle(id, 80))));
    row(rank::LAST_TURN, "Directory", session::folder(cx));
    row(rank::DETAIL, "Model", session::fact(cx, "model"));
    row(rank::DETAIL, "Started", session::fact(cx, "started_at"));
    row(rank::LAST_TURN, "As of", created(cx));
    row(rank::DECISION, "Stopped", session::provider_stop(cx));
    let next = [&packet.next_agent, &packet.next_role].into_iter().flatten();
    let next: Vec<String> = next.map(|name| quote::cell(&cut::head(name, 60))).collect();
    row(rank::DETAIL, "Meant for", (!next.is_empty()).then(|| next.join(", ")));
    let focus: Vec<String> = packet.focus.iter().map(|tag| quote::code_cell(&cut::middle(tag, 60))).collect();
    row(rank::DETAIL, "Focus", (!focus.is_empty()).then(|| focus.join(" ")));
}

/// `claude (BlueLake)`; the id is left to its own row where it is the session's.
fn party(party: Option<&Party>, session: Option<&str>) -> Option<String> {
    let has_text = |text: &&str| !text.trim().is_empty();
    let agent = party?.agent.as_deref().filter(has_text).map(|agent| quote::cell(&cut::head(agent, 60)));
    let id = party?
        .id
        .as_deref()
        .filter(has_text)
        .filter(|id| Some(*id) != session)
        .map(|id| quote::code_cell(&cut::middle(id, 80)));
    match (agent, id) {
        (Some(agent), Some(id)) => Some(format!("{agent} ({id})")),
        (agent, id) => agent.or(id),
    }
}

fn created(cx: &RenderContext) -> Option<String> {
    let created = quote::cell(&cut::head(cx.packet.created_at.as_deref()?, 40));
    Some(place::age(cx).map_or_else(|| created.clone(), |age| format!("{created} ({age} ago)")))
}

/// The summary, as a block quote.
pub(super) fn summary(cx: &RenderContext, out: &mut Vec<Entry>) {
    if is_made_of_facts(cx.packet) {
        return;
    }
    let text = &cx.packet.summary;
    let show = |limit| quote::quote("", &cut::head(text, limit));
    let lengths = [(rank::SKELETON, 60), (rank::SKELETON, 200), (rank::CLEAR, 700), (rank::WHOLE, 2000)];
    out.push(Entry::new(Section::Summary, "summaries").lengths(&lengths, rank::WHOLE_PROSE, show));
}

/// Whether the summary only repeats the requests, the last failure and the last answer, all of which are told below.
fn is_made_of_facts(packet: &Packet) -> bool {
    packet.has_summary_of_facts() && packet.requests.as_ref().is_some_and(|requests| requests.first.is_some())
}

/// The next action, and where it stopped.
pub(super) fn start(cx: &RenderContext, out: &mut Vec<Entry>) {
    next(cx, out);
    let (first, last) = match &cx.packet.requests {
        Some(requests) => (requests.first.as_ref(), requests.last.as_ref()),
        None => (None, None),
    };
    let last = last.or(first);
    let only = last.is_some_and(|last| first.is_none_or(|first| first.text.trim() == last.text.trim()));
    let label = if only { "The request" } else { "Last request" };
    passage(
        cx,
        out,
        &users(cx, label),
        last,
        task::head,
        &[
            (rank::STOPPED, 140),
            (rank::GIST, 320),
            (rank::CLEAR, 1000),
            (rank::DETAIL, 2000),
            (rank::DIFF, 4000),
        ],
    );
    if let Some(failure) = &cx.packet.last_failure {
        out.push(failed(cx, failure));
    }
    let label = match is_answer_before_request(cx.packet) {
        true => "Last answer, before that request",
        false if !cx.is_small() && is_followed_by_work(cx.packet) => "Last answer, in the middle of the work",
        false => "Last answer",
    };
    let sure = if cx.is_small() { rank::GIST } else { rank::STOPPED };
    let answer = [(sure, 120), (rank::LAST_TURN, 320), (rank::ANSWER, 1000), (rank::USER_REMARK, 2000)];
    passage(cx, out, label, cx.packet.last_answer.as_ref(), cut::ends, &answer);
    let first = first.filter(|first| last.is_none_or(|last| last.text.trim() != first.text.trim()));
    let early = if is_made_of_facts(cx.packet) { rank::STOPPED } else { rank::PLAN };
    // Of a plan that other requests came after the steps are enough.
    let rest =
        if first.is_some_and(|first| task::is_document(&first.text)) { rank::DETAIL } else { rank::CLEAR };
    let lengths = [(early, 160), (rank::PLAN, 320), (rest, 1000)];
    passage(cx, out, &users(cx, "First request"), first, task::head, &lengths);
}

/// Says whose words follow, where there is space for it; that they are quoted shows in any case.
fn users(cx: &RenderContext, label: &str) -> String {
    if cx.is_small() { label.to_owned() } else { format!("{label}, in the user's words") }
}

/// The next action: the first step the sender named, else the item in progress, else the first open one.
fn next(cx: &RenderContext, out: &mut Vec<Entry>) {
    let packet = cx.packet;
    let item = |out: &mut Vec<Entry>, label: &str, rank: u8, text: &str, at: Option<&str>| {
        let show =
            |limit| format!("- **{label}:** {}{}\n", quote::prose(&cut::head(text, limit)), cx.mark(at));
        // The plan tells the item again where its name is longer than this.
        let lengths = [(rank, 120), (rank.max(rank::OPEN), 200), (rank.max(rank::GIST), 300)];
        out.push(Entry::new(Section::Start, "next steps").lengths(&lengths, rank::WHOLE, show));
    };
    if plan::to_carry_out(packet).is_some() {
        let text = format!("- **Next:** {}\n", next_by_state(cx));
        out.push(Entry::unshortened(Section::Start, "next steps", rank::STOPPED, text));
        let steps = packet.next_steps.iter().filter(|step| !is_request(packet, step));
        steps.for_each(|step| item(out, "Said before it", rank::LAST_TURN, &step.text, step.at.as_deref()));
        return;
    }
    match (packet.next_steps.split_first(), facts::next_of_plan(packet)) {
        (Some((first, rest)), _) if is_request(packet, first) => {
            let done = if is_request_last(packet) { "" } else { " See first what was done since." };
            let text = format!(
                "- **Next:** do what the last request, below, asks: nothing was said to it yet.{done}\n"
            );
            out.push(Entry::unshortened(Section::Start, "next steps", rank::STOPPED, text));
            rest.iter().for_each(|step| item(out, "Then", rank::OPEN, &step.text, step.at.as_deref()));
        }
        (Some((first, rest)), _) => {
            item(out, "Next", rank::STOPPED, &first.text, first.at.as_deref());
            rest.iter().for_each(|step| item(out, "Then", rank::OPEN, &step.text, step.at.as_deref()));
        }
        (None, Some(task)) if fails_since(packet, task) => {
            let text = format!("- **Next:** {}\n", next_by_state(cx));
            out.push(Entry::unshortened(Section::Start, "next steps", rank::STOPPED, text));
            item(out, "Then, from the plan", rank::OPEN, &task.title, task.at.as_deref());
        }
        (None, Some(task)) => {
            item(out, "Next, from the plan", rank::STOPPED, &task.title, task.at.as_deref())
        }
        (None, None) => {
            let text = format!("- **Next:** {}\n", next_by_state(cx));
            out.push(Entry::unshortened(Section::Start, "next steps", rank::STOPPED, text));
        }
    }
}

/// Whether something failed since the plan was set and since the last request, and no file was changed after it.
fn fails_since(packet: &Packet, task: &PlanItem) -> bool {
    let line = |at: &Option<String>| place::line_of(at.as_deref());
    let Some(failure) = &packet.last_failure else { return false };
    line(&task.at).zip(line(&failure.at)).is_some_and(|(set, failed)| set < failed)
        && !is_before_request(packet, failure)
        && !staleness::is_stale(packet, failure.at.as_deref())
}

/// Whether nothing is known of the time after the last request.
fn is_request_last(packet: &Packet) -> bool {
    let last =
        packet.requests.as_ref().and_then(|requests| requests.last.as_ref().or(requests.first.as_ref()));
    let request = place::line_of(last.and_then(|last| last.at.as_deref()));
    let latest = place::places(packet).into_iter().filter_map(|at| place::line_of(Some(at))).max();
    let calls = !packet.open_loops.is_empty() || !packet.session_notes.is_empty();
    request.zip(latest).is_some_and(|(request, latest)| request == latest) && !calls
}

/// What comes next by where the session stands, where neither a step nor an item of a plan was named.
fn next_by_state(cx: &RenderContext) -> &'static str {
    let packet = cx.packet;
    match plan::to_carry_out(packet).map(|proposal| proposal.approved) {
        Some(Some(true)) => return "carry out the plan below, to which the user agreed.",
        Some(Some(false)) => return "ask the user about the plan below, to which there was no consent.",
        Some(None) => return "ask the user whether the plan below is to be carried out.",
        None => {}
    }
    let failure = packet.last_failure.as_ref().filter(|failure| !is_before_request(packet, failure));
    if failure.is_some_and(stopped_at_conflicts) {
        return "end what stopped at conflicts, the last failure below: `git status` says which are left.";
    }
    if failure.is_some_and(|failure| staleness::is_stale(packet, failure.at.as_deref())) {
        return "see whether the last failure, below, still fails: files were changed after it.";
    }
    if failure.is_some() {
        return "find out why the last failure, below, fails; go on when it passes.";
    }
    if packet.last_answer.is_none() && packet.requests.is_some() {
        return "go on with the last request, below: the session ended before an answer.";
    }
    if is_answer_before_request(packet) {
        return "go on with the last request, below: the agent began it, and there is no answer to it yet.";
    }
    match (cx.is_small(), is_made_of_facts(packet)) {
        (true, _) => "not stated.",
        (false, true) => "not stated. Take it from what was said last, check it against the working copy.",
        (false, false) => "not stated. Take it from the summary, check it against the working copy.",
    }
}

/// Whether a merge or its like stopped at conflicts: it cannot be begun again before they are solved.
fn stopped_at_conflicts(failure: &Failure) -> bool {
    let joins = ["git merge", "git rebase", "git cherry-pick", "git pull", "git revert"];
    let output = failure.output.as_deref().unwrap_or_default();
    joins.iter().any(|verb| failure.command.contains(verb))
        && ["CONFLICT", "fix conflicts", "unmerged files"].iter().any(|mark| output.contains(mark))
}

/// Whether the last answer that says something is older than the last request.
fn is_answer_before_request(packet: &Packet) -> bool {
    let last =
        packet.requests.as_ref().and_then(|requests| requests.last.as_ref().or(requests.first.as_ref()));
    let line = |text: Option<&Text>| place::line_of(text.and_then(|text| text.at.as_deref()));
    line(packet.last_answer.as_ref()).zip(line(last)).is_some_and(|(answer, last)| answer < last)
}

/// Whether the agent went on to work after the last answer: what it says may have been done since.
fn is_followed_by_work(packet: &Packet) -> bool {
    let line = |at: &Option<String>| place::line_of(at.as_deref());
    let files = packet.files_modified.iter().map(|file| &file.at);
    let runs = packet.commands.iter().chain(&packet.checks).map(|run| &run.at);
    let failure = packet.last_failure.iter().map(|failure| &failure.at);
    let last = files.chain(runs).chain(failure).filter_map(line).max();
    let answer = packet.last_answer.as_ref().and_then(|answer| line(&answer.at));
    answer.zip(last).is_some_and(|(answer, last)| answer < last)
}

/// Whether a failure is older than the last request, so that it need not be what that was about.
fn is_before_request(packet: &Packet, failure: &Failure) -> bool {
    let last = packet.requests.as_ref().and_then(|requests| requests.last.as_ref());
    let request = place::line_of(last.and_then(|last| last.at.as_deref()));
    place::line_of(failure.at.as_deref()).zip(request).is_some_and(|(failed, request)| failed < request)
}

/// Whether a step is nothing but the last request itself.
fn is_request(packet: &crate::packet::Packet, step: &Text) -> bool {
    let last =
        packet.requests.as_ref().and_then(|requests| requests.last.as_ref().or(requests.first.as_ref()));
    last.is_some_and(|last| last.text.trim() == step.text.trim())
}

fn passage(
    cx: &RenderContext,
    out: &mut Vec<Entry>,
    label: &str,
    text: Option<&Text>,
    cut: fn(&str, usize) -> String,
    lengths: &[(u8, usize)],
) {
    let Some(text) = text.filter(|text| !text.text.trim().is_empty()) else { return };
    let mark = cx.mark(text.at.as_deref());
    let small = cx.is_small();
    let show = |limit| {
        let text = cut(&text.text, limit);
        let text = if small { without_blank_lines(&text) } else { text };
        format!("- **{label}**{mark}:\n{}", quote::quote("  ", &text))
    };
    let entry = Entry::new(Section::Start, "messages");
    out.push(entry.lengths(lengths, rank::WHOLE, show));
}

fn without_blank_lines(text: &str) -> String {
    text.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n")
}

fn failed(cx: &RenderContext, failure: &Failure) -> Entry {
    let head = |limit| {
        let command = quote::code(&cut::middle(&failure.command, limit));
        format!(
            "- **Last failure**{}{}: {command}{}{}\n",
            cx.mark(failure.at.as_deref()),
            staleness::staleness_note(cx.packet, failure.at.as_deref()),
            outcome(failure.exit_code),
            checks::word_of_pipe(cx, failure)
        )
    };
    let output = failure.output.as_deref().map(quote::clean).unwrap_or_default();
    let entry = Entry::new(Section::Start, "failures");
    if output.trim().is_empty() {
        return entry.lengths(&[(rank::STOPPED, 160)], rank::WHOLE, head);
    }
    let show = |limit, output: &str| head(limit) + &quote::fence("text", output);
    entry
        .form(rank::STOPPED, Some("outputs"), head(90))
        .form(rank::GIST, Some(SHORTENED), show(160, &cut::essence(&output, 4, 400)))
        .form(rank::CLEAR, Some(SHORTENED), show(300, &cut::cause_and_tail(&output, 12, 1200)))
        .form(rank::DIFF, Some(SHORTENED), show(600, &cut::cause_and_tail(&output, 40, 4000)))
        .form(rank::WHOLE, None, show(usize::MAX, &output))
}

//! The announcement for an agent at its start: facts, no instructions. Of other agents' words it has names and subjects, and
//! those quoted, cleaned and shortened; the setting `subjects` leaves the subjects out.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use baton_model::accounting::RemarkKind;
use baton_model::id::{short, visible};
use baton_model::session::View;
use baton_model::time::{Millis, Timestamp, ago};
use baton_model::{baton, handoff};
use baton_ops::card::{LateAnswer, SentHandoff, Unread, Waiting, WaitingKind, WaitingState, how_many_wait};
use baton_ops::session::StatusOutput;

use super::Call;
use super::payload::Payload;
use crate::config::Config;
use crate::install::record::digest;
use crate::{private_file, render};

/// The longest announcement, in bytes.
const MAX_BYTES: usize = 2_000;
/// How many of a kind are named.
const MAX_NAMED: usize = 5;

/// The announcement of a project's status card, under 2 KiB; with the subjects of what waits, or without; and with the flag that
/// the agent's tool needs to call Baton's tools, where no user confirms calls.
pub(super) fn text(
    status: &StatusOutput,
    now: Millis,
    (subjects, missing_flag): (bool, Option<&str>),
) -> String {
    let (project_id, card) = (visible(&status.project_id), &status.card);
    let age = |at: Timestamp| format!(", {}", ago(now, at.0));
    let waiting: Vec<&Waiting> = card.handoffs.iter().filter(|waiting| !is_held(waiting)).collect();
    let mut lines = vec![format!("Baton, the ledger of project {project_id}:")];
    lines.extend(own_session(status, subjects));
    let more = std::iter::repeat_n(WaitingKind::Baton, card.more_batons);
    lines.push(match how_many_wait(waiting.iter().map(|waiting| waiting.kind).chain(more)) {
        None => "- No baton and no hand-off waits.".to_owned(),
        Some(count) => format!("- {count}:"),
    });
    lines.extend(waiting.iter().take(MAX_NAMED).map(|waiting| {
        let to = waiting.to.as_deref().filter(|to| !to.is_empty());
        let to = to.map_or_else(String::new, |to| format!(", for {}", visible(to)));
        let (kind, id, from) = (waiting.kind.title(), visible(&waiting.id), visible(&waiting.sender()));
        let origin = waiting.kept.then(|| format!(", {}", render::why_kept(waiting.stopped.as_ref())));
        let origin = origin.unwrap_or_default();
        let about = quotation(waiting.subject.as_deref(), subjects);
        let place = place(waiting);
        format!("  - {kind} {id}{about} from {from}{to}{}{origin}{place}", age(waiting.created_at))
    }));
    lines.extend(more_line(waiting.len() + card.more_batons));
    lines.extend(how_to_accept(&waiting));
    lines.extend(accepted_and_left(&card.handoffs, subjects));
    lines.extend(sent(&card.sent, now, subjects));
    lines.extend(card.unread.as_ref().into_iter().flat_map(|mail| unread(mail, now, subjects)));
    let fresh = card.sessions.iter().filter(|session| session.fresh && !session.is_own);
    let at_work: Vec<String> = fresh.take(MAX_NAMED).map(worker).collect();
    if !at_work.is_empty() {
        lines.push(format!("- At work: {}.", at_work.join(", ")));
    }
    let tasks = card.tasks.len();
    if tasks > 0 {
        lines.push(format!("- Open tasks: {tasks}{}.", if tasks == 50 { " or more" } else { "" }));
    }
    if let Some(last) = &card.last_wrap {
        let by = visible(&last.last_wrapped_by);
        lines.push(format!("- Last wrap: by {by}{}.", age(last.last_wrapped_at)));
    }
    let is_left = |kind: RemarkKind| {
        use RemarkKind::{OpenConversation, ProjectMerged, RecoverableWork, UnwrappedTranscript};
        matches!(kind, RecoverableWork | UnwrappedTranscript | OpenConversation | ProjectMerged)
    };
    let left = card.reminders.iter().filter(|remark| is_left(remark.kind));
    lines.extend(left.map(|remark| format!("- {}.", remark.message)));
    lines.extend(missing_flag.map(|flag| {
        format!(
            "- Nobody confirms calls in this run: unless its settings allow Baton's tools, they are refused. Then do not try them: \
             tell the user what waits, and that `{flag}` lets you take it."
        )
    }));
    lines.push(CLOSING.to_owned());
    bounded(lines)
}

/// Where the work of something that waits lies, as far as that is not here, and what goes with it.
fn place(waiting: &Waiting) -> String {
    let changes = if waiting.has_changes { ", with changes" } else { "" };
    match waiting.location.as_ref().filter(|of| !of.is_this_machine) {
        Some(of) => format!("{changes}, left {}", render::location(of)),
        None => changes.to_owned(),
    }
}

fn more_line(count: usize) -> Option<String> {
    count
        .checked_sub(MAX_NAMED)
        .filter(|more| *more > 0)
        .map(|more| format!("  - and {more} more: `baton status`"))
}

/// A subject in quotation marks, behind a blank.
fn quotation(subject: Option<&str>, subjects: bool) -> String {
    subject.filter(|_| subjects).map(|text| format!(" \"{}\"", visible(text))).unwrap_or_default()
}

/// What this project has sent: who has it, or why it failed.
fn sent(sent: &[SentHandoff], now: Millis, subjects: bool) -> Vec<String> {
    if sent.is_empty() {
        return Vec::new();
    }
    let mut lines = vec!["- Sent from here:".to_owned()];
    lines.extend(sent.iter().take(MAX_NAMED).map(|one| {
        let (id, to) = (short(&one.handoff_id), visible(one.receiver()));
        let about = quotation(one.subject.as_deref(), subjects);
        let mut detail = one.clone();
        // The receiver's words are told where subjects are.
        if !subjects {
            detail.why = detail.why.filter(|_| !one.state.is_answered());
            detail.late = detail.late.map(|late| LateAnswer { result: None, ..late });
        }
        let detail = Some(render::sent_detail(&detail)).filter(|text| !text.is_empty());
        let detail = detail.map(|text| format!(": {text}")).unwrap_or_default();
        format!("  - {} {id}{about} to {to}, {}{detail}", one.state.as_str(), ago(now, one.age_since().0))
    }));
    lines.extend(more_line(sent.len()));
    lines
}

fn unread(mail: &Unread, now: Millis, subjects: bool) -> Vec<String> {
    let mut lines = vec![format!(
        "- Unread messages for {}: {} (`baton mail inbox --bodies`).",
        visible(&mail.identity),
        mail.total
    )];
    lines.extend(mail.items.iter().take(MAX_NAMED).map(|one| {
        let about = quotation(one.subject.as_deref(), subjects);
        format!(
            "  - {} from {}{about}, {}",
            visible(&one.kind),
            visible(&one.from),
            ago(now, one.created_at.0)
        )
    }));
    lines
}

const CLOSING: &str = "A baton is work that another agent left in this project, for anybody to go on with: the tool `hd_exec` or `baton pickup` claims one and shows its content, `baton pickup --dry-run` only shows it. `session_wrap` or `baton wrap` leaves one at the end of a session.";

/// How a hand-off from another project is taken, where one waits: a bare pickup takes batons only.
fn how_to_accept(waiting: &[&Waiting]) -> Option<String> {
    waiting.iter().any(|one| one.kind == WaitingKind::Handoff).then(|| {
        "- A hand-off is work from another project, taken by its id: `hd_exec` with `handoff_id`, or `baton pickup --handoff ID`.".to_owned()
    })
}

/// The accepted hand-offs on which no agent is at work: a bare pickup brings what was saved, and not the hand-off.
fn accepted_and_left(waiting: &[Waiting], subjects: bool) -> Vec<String> {
    let left = waiting.iter().filter(|one| one.nobody_at_work).take(MAX_NAMED);
    let line = |one: &Waiting| {
        let (id, from) = (visible(&one.id), visible(&one.sender()));
        let about = quotation(one.subject.as_deref(), subjects);
        format!(
            "- Hand-off {id}{about} from {from} was accepted, and nobody is at work on it: `hd_exec` with `handoff_id`, or \
             `baton pickup --handoff {}`, goes on with it.",
            short(&one.id)
        )
    };
    left.map(line).collect()
}

/// Who the agent is in its own session, and what it holds: after a compaction it knows neither.
fn own_session(status: &StatusOutput, subjects: bool) -> Option<String> {
    let mut own = status.card.sessions.iter().filter(|session| session.is_own);
    let (session, None) = (own.next()?, own.next()) else { return None };
    let (name, id) = (visible(&session.identity), visible(&session.session_id));
    let held = session.baton_id.as_deref().map(|baton_id| {
        let waiting = status.card.handoffs.iter().find(|one| one.id == baton_id);
        let about = waiting.map_or_else(String::new, |one| quotation(one.subject.as_deref(), subjects));
        format!(" and hold baton {}{about}", short(baton_id))
    });
    Some(format!("- You are {name}, in session {id}{}.", held.unwrap_or_default()))
}

/// Whether a live session holds it.
fn is_held(waiting: &Waiting) -> bool {
    matches!(
        waiting.state,
        WaitingState::Baton(baton::State::Held) | WaitingState::Handoff(handoff::State::Accepted)
    )
}

fn worker(session: &View) -> String {
    let place = session.copy.as_ref().map(|copy| format!(", {}", render::working_copy(session, copy)));
    let place = place.unwrap_or_default();
    format!("{} ({}{place})", visible(&session.identity), visible(&session.surface))
}

/// The lines, as far as they fit: the first and the last always do.
fn bounded(mut lines: Vec<String>) -> String {
    while lines.len() > 2 && lines.iter().map(|line| line.len() + 1).sum::<usize>() > MAX_BYTES {
        lines.remove(lines.len() - 2);
    }
    lines.join("\n") + "\n"
}

/// Whether this session has not had the announcement yet. A tool that also runs another's hooks calls twice at a start;
/// one with prompt hooks only calls at every prompt.
pub(super) fn first(config: &Config, call: &Call, payload: &Payload) -> bool {
    let Some(session) = &payload.session else { return call.event != "prompt" || unnamed(config, call) };
    let agent = if call.event == "prompt" { call.agent.as_str() } else { "start" };
    let mark = mark(config, &format!("{agent}/{session}"));
    let known = fs::read_to_string(&mark).ok();
    let announced = match (&known, call.event.as_str()) {
        (None, _) => false,
        (Some(_), "prompt") => true,
        // A resumed or compacted session gets it again, but not from two hooks of one start.
        (Some(by), _) => *by != call.agent && age_of(&mark).is_some_and(|age| age < Duration::from_secs(5)),
    };
    if !announced {
        leave(&mark, &call.agent);
    }
    !announced
}

/// A prompt of a session without a name: the process stands for it.
fn unnamed(config: &Config, call: &Call) -> bool {
    let process = crate::process::ProcessAncestry::ancestry().fingerprint();
    let mark = mark(config, &format!("{}/process/{process}", call.agent));
    let announced = mark.exists();
    if !announced {
        leave(&mark, &call.agent);
    }
    !announced
}

fn folder(config: &Config) -> PathBuf {
    config.data_dir.join("announced")
}

fn mark(config: &Config, what: &str) -> PathBuf {
    let name: String = digest(what).chars().take(24).collect();
    folder(config).join(name)
}

fn age_of(mark: &std::path::Path) -> Option<Duration> {
    fs::metadata(mark).ok()?.modified().ok()?.elapsed().ok()
}

/// Records that a session had the announcement, and deletes records older than a week. If it cannot be recorded, the
/// announcement is repeated.
fn leave(mark: &std::path::Path, agent: &str) {
    let Some(folder) = mark.parent() else { return };
    let _ = private_file::create_folder(folder).and_then(|()| private_file::write(mark, agent.as_bytes()));
    let marks: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    if marks.len() < 200 {
        return;
    }
    let week = Duration::from_secs(7 * 86_400);
    for old in marks {
        let changed: Option<SystemTime> = old.metadata().ok().and_then(|meta| meta.modified().ok());
        if changed.and_then(|at| at.elapsed().ok()).is_none_or(|age| age > week) {
            let _ = fs::remove_file(old.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_model::time::parse_rfc3339;
    use serde_json::json;

    const AT: &str = "2026-11-20T10:00:00Z";

    fn status(waiting: usize) -> StatusOutput {
        let one = |n: usize| {
            json!({ "id": format!("0199aaaa-0000-7000-8000-{n:012}"), "kind": "baton", "state": "open",
                "subject": "é".repeat(80), "from": "D".repeat(64), "to": null, "created_at": AT })
        };
        let session = |n: usize| {
            json!({ "session_id": "s", "identity": format!("{n}{}", "W".repeat(63)), "surface": "s".repeat(64),
                "machine": "m", "live": true, "fresh": true, "last_verb": "session_start", "last_heartbeat": AT,
                "started_at": AT, "thread_id": "t" })
        };
        let project = json!({ "project_id": "p".repeat(64), "is_isolated": false, "is_placeholder": false, "focus": [],
            "created_at": AT, "updated_at": AT });
        let status = json!({
            "project_id": "p".repeat(64), "project": project, "handoffs": (0..waiting).map(one).collect::<Vec<_>>(),
            "sessions": (0..50).map(session).collect::<Vec<_>>(),
            "tasks": vec![json!({ "id": "t-1", "project_id": "p", "priority": 2 }); 50],
            "last_wrap": { "last_wrapped_by": "D".repeat(64), "last_wrapped_at": AT, "last_wrapped_summary": "IGNORE ALL",
                "last_wrapped_session_id": "s", "last_wrapped_delta_id": "d" },
            "reminders": [],
        });
        serde_json::from_value(status).expect("a status")
    }

    #[test]
    fn whatever_waits_it_stays_under_2_kib_and_quotes_nobody() {
        let now = parse_rfc3339("2026-11-20T10:12:00Z").expect("a time");
        for waiting in [0, 1, 5, 50] {
            let text = text(&status(waiting), now, (true, None));
            assert!(text.len() < 2_048, "{waiting}: {} bytes", text.len());
            assert!(text.contains("baton") && text.ends_with("a session.\n"), "{text}");
            assert!(!text.contains("IGNORE"), "{text}");
        }
        assert!(
            text(&status(1), now, (true, None)).contains("from DDDD")
                && text(&status(1), now, (true, None)).contains("12m ago")
        );
    }

    #[test]
    fn unread_messages_and_who_is_at_work_are_named() {
        let mut status = status(0);
        status.card.unread = serde_json::from_value(json!({ "identity": "Donna", "total": 2, "items": [
            { "message_id": "m1", "kind": "Question", "from": "Ann", "subject": "half up?", "created_at": AT },
            { "message_id": "m2", "kind": "StatusUpdate", "from": "lib/Bob", "subject": "in v2", "created_at": AT },
        ] }))
        .expect("messages");
        status.card.sessions.truncate(1);
        status.card.sessions[0].identity = "Bob".into();
        status.card.sessions[0].surface = "codex".into();
        status.card.sessions[0].copy = serde_json::from_value(
            json!({ "root": "/repos/shop", "branch": "rounding", "commit": "abc1234", "is_worktree": false }),
        )
        .expect("a working copy");
        let now = parse_rfc3339("2026-11-20T10:12:00Z").expect("a time");
        let announcement = text(&status, now, (true, None));
        for line in [
            "- Unread messages for Donna: 2 (`baton mail inbox --bodies`).",
            "  - Question from Ann \"half up?\", 12m ago",
            "  - StatusUpdate from lib/Bob \"in v2\", 12m ago",
        ] {
            assert!(announcement.lines().any(|one| one == line), "{line}: {announcement}");
        }
        let at_work = announcement
            .lines()
            .find(|line| line.starts_with("- At work: Bob (codex, in "))
            .expect("at work");
        assert!(at_work.contains("branch rounding") && !at_work.contains("machine"), "{at_work}");
        status.card.sessions[0].is_elsewhere = true;
        assert!(text(&status, now, (true, None)).contains("branch rounding at abc1234, on another machine"));
        let shy = text(&status, now, (false, None));
        assert!(!shy.contains("half up") && shy.contains("  - Question from Ann, 12m ago"), "{shy}");
    }

    #[test]
    fn the_setting_leaves_subjects_and_answers_out() {
        let mut status = status(1);
        status.card.handoffs[0].subject = Some("round half up".into());
        status.card.sent = serde_json::from_value(json!([
            { "handoff_id": "0199aaaa-0000", "state": "failed", "subject": "new endpoint", "to_project_id": "lib",
              "why": "GitHub answered 404", "help": "baton handoff retry 0199aaaa-0000", "created_at": AT, "updated_at": AT },
            { "handoff_id": "0199bbbb-0000", "state": "declined", "subject": "old endpoint", "to_project_id": "lib",
              "holder": "Bob", "why": "not ours", "created_at": AT, "updated_at": AT },
        ]))
        .expect("hand-offs");
        let now = parse_rfc3339("2026-11-20T10:12:00Z").expect("a time");
        let announcement = text(&status, now, (true, None));
        assert!(announcement.contains("\"round half up\" from DDD"), "{announcement}");
        assert!(announcement.contains("failed 0199aaaa-0000 \"new endpoint\" to lib, 12m ago: GitHub answered 404, `baton handoff retry"), "{announcement}");
        assert!(announcement.contains("by Bob, \"not ours\""), "{announcement}");
        let shy = text(&status, now, (false, None));
        assert!(shy.contains("GitHub answered 404") && shy.contains("by Bob"), "{shy}");
        for word in ["round", "endpoint", "not ours"] {
            assert!(!shy.contains(word), "{word}: {shy}");
        }
    }

    #[test]
    fn a_baton_of_another_machine_is_said_to_be_one_and_what_goes_with_it() {
        let mut status = status(1);
        let place = |is_here: bool| {
            serde_json::from_value(json!({ "root": "/src/shop", "is_this_machine": is_here }))
                .expect("a place")
        };
        status.card.handoffs[0].location = Some(place(true));
        let here = text(&status, 0, (true, None));
        assert!(!here.contains("/src/shop") && !here.contains("with changes"), "{here}");
        status.card.handoffs[0].location = Some(place(false));
        status.card.handoffs[0].has_changes = true;
        let there = text(&status, 0, (true, None));
        assert!(there.contains(", with changes, left in /src/shop on another machine\n"), "{there}");
    }

    #[test]
    fn why_a_provider_stopped_an_agent_and_until_when_is_told() {
        let mut status = status(1);
        status.card.handoffs[0].kept = true;
        assert!(text(&status, 0, (true, None)).contains("kept automatically: its agent did not wrap"));
        let stopped = json!({ "text": "You've hit your limit", "again": "again at 3pm (Europe/Berlin)" });
        status.card.handoffs[0].stopped = serde_json::from_value(stopped).expect("a stop");
        let announcement = text(&status, 0, (true, None));
        let expected =
            "its provider stopped its agent (\"You've hit your limit\"; again at 3pm (Europe/Berlin))";
        assert!(announcement.contains(expected), "{announcement}");
    }

    #[test]
    fn an_agent_whose_calls_nobody_confirms_is_told_so() {
        let announcement = text(&status(1), 0, (true, Some("--allowed-tools mcp_baton_*")));
        assert!(
            announcement.contains("Nobody confirms calls in this run")
                && announcement.contains("`--allowed-tools mcp_baton_*`"),
            "{announcement}"
        );
        assert!(!text(&status(1), 0, (true, None)).contains("confirms"));
    }

    #[test]
    fn what_somebody_holds_does_not_wait() {
        let mut status = status(2);
        status.card.handoffs[0].state = WaitingState::Baton(baton::State::Held);
        assert!(text(&status, 0, (true, None)).contains("- 1 baton waits:"));
    }

    #[test]
    fn a_hand_off_that_its_acceptor_left_is_named_with_the_command_that_goes_on_with_it() {
        let mut status = status(2);
        status.card.handoffs[1].kind = WaitingKind::Handoff;
        status.card.handoffs[1].state = WaitingState::Handoff(handoff::State::Accepted);
        status.card.handoffs[1].subject = Some("an endpoint".into());
        assert!(!text(&status, 0, (true, None)).contains("nobody is at work"));
        status.card.handoffs[1].nobody_at_work = true;
        let announcement = text(&status, 0, (true, None));
        let expected = "\"an endpoint\" from DDDD";
        assert!(
            announcement.contains(expected) && announcement.contains("- 1 baton waits:"),
            "{announcement}"
        );
        assert!(
            announcement.contains("`baton pickup --handoff 0199aaaa-0000`, goes on with it"),
            "{announcement}"
        );
        assert!(!text(&status, 0, (false, None)).contains("an endpoint"));
    }

    #[test]
    fn batons_and_hand_offs_are_called_what_they_are() {
        let mut status = status(3);
        status.card.handoffs[1].kind = WaitingKind::Handoff;
        status.card.handoffs[1].state = WaitingState::Handoff(handoff::State::Offered);
        let announcement = text(&status, 0, (true, None));
        let lines = [
            "- 2 batons and 1 hand-off wait:\n",
            "\n  - hand-off 0199aaaa",
            "\n  - baton 0199aaaa",
            "- A hand-off is work from another project",
        ];
        for line in lines {
            assert!(announcement.contains(line), "{line}: {announcement}");
        }
        status.card.handoffs.remove(1);
        let batons = text(&status, 0, (true, None));
        assert!(batons.contains("- 2 batons wait:") && !batons.contains("hand-off"), "{batons}");
        status.card.handoffs.clear();
        assert!(text(&status, 0, (true, None)).contains("- No baton and no hand-off waits."));
    }
}

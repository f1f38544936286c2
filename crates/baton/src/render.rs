//! Answers as people read them: aligned tables, relative times, short ids, no control characters.

mod activity;
mod conversation;
mod sent;

use baton_model::accounting::{Remark, RemarkKind};
use baton_model::id::{short, visible};
use baton_model::packet::ValidatedPacket;
use baton_model::packet_from_ledger::is_unwrapped_summary;
use baton_model::repository::WorkingCopy;
use baton_model::session::View;
use baton_model::task::view::View as TaskView;
use baton_model::time::{Timestamp, ago};
use baton_model::{markdown, printable};
use baton_ops::baton::RowLocation;
use baton_ops::card::{Card, OpenTask, Waiting, WaitingKind};
use baton_ops::transcript::Stopped;

use crate::clock;

/// Text of several lines in which everything shows. Line ends of another system are line ends.
pub(crate) fn block(text: &str) -> String {
    printable::block(&text.replace("\r\n", "\n")).into_owned()
}

/// The start of an id.
pub(crate) fn short_id(full: &str) -> String {
    short(&visible(full)).to_owned()
}

/// How long ago something was.
pub(crate) fn time_ago(at: Timestamp) -> String {
    ago(clock::now(), at.0)
}

/// Rows with aligned columns, two spaces apart.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |i: usize| {
        rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width + 2 - cell.chars().count().min(*width)));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A heading with rows under it, indented; nothing when there are no rows.
pub(crate) fn section(title: &str, rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let body: String = table(rows).lines().map(|line| format!("  {line}\n")).collect();
    format!("{title}\n{body}")
}

/// A page of a list, or what is said of an empty one; below it how the next page is asked for. How many rows there are in all is
/// said where it is known.
pub(crate) fn page(rows: &[Vec<String>], empty: &str, total: Option<usize>, next: Option<&str>) -> String {
    if rows.is_empty() {
        return format!("{empty}\n");
    }
    let total = total.map(|total| format!("{total} in all; ")).unwrap_or_default();
    let more = next.map(|next| format!("{total}more: --cursor {}\n", visible(next))).unwrap_or_default();
    table(rows) + &more
}

/// What an empty list says: where it was narrowed, by which options.
pub(crate) fn none_of(empty: &str, options: &[(&str, Option<&str>)]) -> String {
    let given = options.iter().filter_map(|(name, value)| Some(format!("{name} {}", visible((*value)?))));
    let given: Vec<String> = given.collect();
    if given.is_empty() { empty.to_owned() } else { format!("{empty} (narrowed by {})", given.join(", ")) }
}

/// Who has a hand-off that was sent, why it stands where it stands, and the command that helps.
pub(crate) use conversation::conversation;
pub(crate) use sent::detail as sent_detail;
/// The hand-offs that a project sent, a line each.
pub(crate) use sent::left_anew;
pub(crate) use sent::section as sent_section;

/// The status card.
pub(crate) fn card(card: &Card) -> String {
    let mut text = format!("project {}", visible(&card.project.title()));
    if let Some(phase) = card.project.phase.as_deref().filter(|phase| !phase.is_empty()) {
        text.push_str(&format!(" · phase {}", visible(phase)));
    }
    if !card.project.focus.is_empty() {
        let focus: Vec<String> = card.project.focus.iter().map(|tag| visible(tag)).collect();
        text.push_str(&format!(" · focus {}", focus.join(", ")));
    }
    text.push('\n');
    let sessions = |fresh: bool| {
        let of = card.sessions.iter().filter(move |session| session.fresh == fresh);
        of.map(session_row).collect::<Vec<_>>()
    };
    text.push_str(&section("at work", &sessions(true)));
    text.push_str(&section("silent", &sessions(false)));
    let waiting = |kind: WaitingKind| {
        let of = card.handoffs.iter().filter(move |waiting| waiting.kind == kind);
        of.map(waiting_row).collect::<Vec<_>>()
    };
    text.push_str(&section("batons", &waiting(WaitingKind::Baton)));
    if card.more_batons > 0 {
        text.push_str(&format!("  and {} more: `baton batons` lists them all\n", card.more_batons));
    }
    text.push_str(&section("hand-offs", &waiting(WaitingKind::Handoff)));
    text.push_str(&sent::section(&card.sent));
    text.push_str(&sent::unread(card.unread.as_ref()));
    text.push_str(&sent::questions(&card.open_questions));
    text.push_str(&section("open tasks", &card.tasks.iter().map(open_task_row).collect::<Vec<_>>()));
    if let Some(last) = &card.last_wrap {
        let (by, summary) = (visible(&last.last_wrapped_by), visible(&last.last_wrapped_summary));
        let is_saved = is_unwrapped_summary(&last.last_wrapped_by, &last.last_wrapped_summary);
        let title = if is_saved { "last baton" } else { "last wrap" };
        text.push_str(&format!("{title}\n  {} by {by}: {summary}\n", time_ago(last.last_wrapped_at)));
    }
    if card.sessions.is_empty() && card.handoffs.is_empty() && card.sent.is_empty() {
        text.push_str("nobody is at work, and no baton and no hand-off waits\n");
    }
    // The card has shown the tasks and the last wrap already.
    let shown = |kind: RemarkKind| matches!(kind, RemarkKind::OpenTasks | RemarkKind::LastWrap);
    text.push_str(&reminders(card.reminders.iter().filter(|reminder| !shown(reminder.kind))));
    text
}

fn session_row(session: &View) -> Vec<String> {
    let dot = if session.live { "●" } else { "○" };
    let mark = match (session.live, session.fresh) {
        (true, _) => "",
        (false, true) => "quiet",
        (false, false) => "silent",
    };
    vec![
        format!("{dot} {}", visible(&session.identity)),
        visible(&session.surface),
        short_id(&session.session_id),
        format!("{} {}", activity::text(&session.last_verb), time_ago(session.last_heartbeat)),
        mark.to_owned(),
        session.copy.as_ref().map(|copy| working_copy(session, copy)).unwrap_or_default(),
    ]
}

/// Where an agent works, and that it is on another machine.
pub(crate) fn working_copy(session: &View, copy: &WorkingCopy) -> String {
    let elsewhere = match copy.host.as_deref() {
        _ if !session.is_elsewhere => String::new(),
        Some(host) => format!(", on {}", visible(host)),
        None => ", on another machine".to_owned(),
    };
    format!("in {}{elsewhere}", copy.describe())
}

/// A subject in quotation marks, as one that was cleaned.
fn quotation(subject: &str) -> String {
    format!("\"{}\"", visible(subject))
}

/// That a baton was kept automatically, and why its agent stopped.
pub(crate) fn why_kept(stopped: Option<&Stopped>) -> String {
    let Some(stopped) = stopped else { return "kept automatically: its agent did not wrap".to_owned() };
    let again = stopped.again.as_deref().map(|again| format!("; {}", visible(again))).unwrap_or_default();
    format!("kept automatically: its provider stopped its agent (\"{}\"{again})", visible(&stopped.text))
}

fn waiting_row(waiting: &Waiting) -> Vec<String> {
    let to = waiting.to.as_deref().map(|to| format!("for {}", visible(to)));
    vec![
        short_id(&waiting.id),
        waiting_state(waiting),
        waiting.subject.as_deref().map(quotation).unwrap_or_default(),
        format!("from {}", visible(&waiting.sender())),
        time_ago(waiting.created_at),
        [
            to,
            waiting.kept.then(|| match &waiting.stopped {
                Some(stopped) => why_kept(Some(stopped)),
                None => "kept automatically".to_owned(),
            }),
            waiting.has_changes.then(|| "with changes".to_owned()),
            waiting.location.as_ref().map(|of| format!("left {}", location(of))),
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", "),
    ]
}

/// Where the work of a baton was left.
pub(crate) fn location(of: &RowLocation) -> String {
    let elsewhere = match (of.is_this_machine, of.host.as_deref()) {
        (true, _) => String::new(),
        (false, Some(host)) => format!(" on {}", visible(host)),
        (false, None) => " on another machine".to_owned(),
    };
    format!("in {}{elsewhere}", visible(&of.root))
}

/// Where something that waits stands, and who holds it.
pub(crate) fn waiting_state(waiting: &Waiting) -> String {
    match waiting.holder() {
        Some(holder) => format!("{} by {}", waiting.state.as_str(), visible(holder)),
        None => waiting.state.as_str().to_owned(),
    }
}

/// Where an open task stands: what holds it back is no part of its status.
pub(crate) fn open_task_state(task: &OpenTask) -> String {
    let status = visible(&task.status);
    if task.blocked && task.status != "blocked" { format!("{status} (blocked)") } else { status }
}

/// An open task in a list.
pub(crate) fn open_task_row(task: &OpenTask) -> Vec<String> {
    vec![
        visible(&task.id),
        format!("P{}", task.priority),
        open_task_state(task),
        visible(&task.title),
        task.assignee.as_deref().map(visible).unwrap_or_default(),
    ]
}

/// A task in a list.
pub(crate) fn task_row(task: &TaskView) -> Vec<String> {
    vec![
        visible(&task.id),
        format!("P{}", task.priority),
        visible(&task.status),
        visible(&task.title),
        task.assignee.as_deref().map(visible).unwrap_or_default(),
    ]
}

/// A warning, on a line of its own.
pub(crate) fn warning(message: &str) -> String {
    format!("warning: {}\n", visible(message))
}

/// Warnings, one a line.
pub(crate) fn warnings<'a>(messages: impl IntoIterator<Item = &'a String>) -> String {
    messages.into_iter().map(|message| warning(message)).collect()
}

/// Reminders, one a line.
pub(crate) fn reminders<'a>(reminders: impl IntoIterator<Item = &'a Remark>) -> String {
    reminders.into_iter().map(|reminder| format!("reminder: {}\n", visible(&reminder.message))).collect()
}

/// Foreign text in a block that shows where it begins and ends, with its control characters made visible.
pub(crate) fn quoted(body: &str) -> String {
    body.lines().map(|line| format!("  │ {}\n", block(line))).collect()
}

/// A packet as a document: another agent's words, shown as such.
pub(crate) fn packet(body: &str) -> String {
    match ValidatedPacket::parse_stored(body.to_owned()) {
        Ok(packet) => markdown::render(packet.view(), &markdown::Options::default()).text,
        Err(_) => quoted(body),
    }
}

/// What goes to a terminal: whatever stands in it, it moves no cursor and hides nothing; then colour, where it is wanted.
/// Every text for people passes through here once, on its way out.
pub(crate) fn for_terminal(text: &str, color: bool) -> String {
    let shown = block(text);
    if color { coloured(&shown) } else { shown }
}

/// The same text with colour for people: verdicts at the beginning of a line, headings, and who is live.
fn coloured(text: &str) -> String {
    const MARKS: [(&str, &str); 6] = [
        ("error:", "\u{1b}[1;31m"),
        ("fault:", "\u{1b}[1;31m"),
        ("warning:", "\u{1b}[33m"),
        ("reminder:", "\u{1b}[33m"),
        ("  hint:", "\u{1b}[36m"),
        ("  ●", "\u{1b}[32m"),
    ];
    const HEADINGS: [&str; 14] = [
        "at work",
        "silent",
        "batons",
        "hand-offs",
        "sent hand-offs",
        "open tasks",
        "last wrap",
        "sessions",
        "records per identity",
        "records per thread",
        "never wrapped",
        "acknowledgements overdue",
        "done by force",
        "inherited work",
    ];
    let paint = |line: &str| match MARKS.iter().find(|(mark, _)| line.starts_with(mark)) {
        Some((mark, code)) => format!("{code}{mark}\u{1b}[0m{}", &line[mark.len()..]),
        None if HEADINGS.contains(&line.trim_end()) => format!("\u{1b}[1m{line}\u{1b}[0m"),
        None => line.to_owned(),
    };
    let end = if text.ends_with('\n') { "\n" } else { "" };
    text.lines().map(paint).collect::<Vec<_>>().join("\n") + end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_have_no_trailing_blanks() {
        let rows = [vec!["a".into(), "bb".into()], vec!["ccc".into(), String::new()]];
        assert_eq!(table(&rows), "a    bb\nccc\n");
    }

    #[test]
    fn colour_changes_no_word() {
        let text = "error: no [x]\n  hint: do\nat work\n  ● Donna\n  quoted error: stays\n";
        let coloured = coloured(text);
        assert!(coloured.contains("\u{1b}[1;31merror:\u{1b}[0m no [x]"));
        assert!(coloured.contains("\n  quoted error: stays\n"));
        let mut plain = coloured.clone();
        for code in ["\u{1b}[1;31m", "\u{1b}[36m", "\u{1b}[32m", "\u{1b}[1m", "\u{1b}[0m"] {
            plain = plain.replace(code, "");
        }
        assert_eq!(plain, text);
    }

    /// Files that write to a terminal by themselves, and why what they write is safe.
    const WRITERS: [(&str, &str); 29] = [
        ("app/output.rs", "answers and remarks, through `for_terminal`; JSON is exact"),
        ("changes/tests/speed.rs", "times that a test measured"),
        ("cli/bd/failure.rs", "refusals with quoted words; JSON is exact"),
        ("cli/bd/lines/mod.rs", "asks where an error of the command line would go"),
        ("cli/bd/mod.rs", "text through `for_terminal`; errors through `said`; JSON is exact"),
        ("cli/blocks.rs", "asks of an error whether it is one; a test"),
        ("cli/changes.rs", "a patch, through `for_terminal` where it reaches a terminal"),
        ("cli/completions.rs", "a script of ours"),
        ("cli/confirm.rs", "what would change and the question, through `for_terminal`"),
        ("cli/doctor/worktrees.rs", "the question, through `for_terminal`"),
        ("cli/handoff/file.rs", "a baton as a file, whose JSON is exact"),
        ("cli/handoff/from_transcript.rs", "documents, through `printable` where they reach a terminal"),
        ("cli/help.rs", "texts of ours"),
        ("cli/log.rs", "lines through `for_terminal`; JSON is exact"),
        ("cli/man.rs", "manual pages of ours"),
        ("cli/merge_driver.rs", "a question of ours"),
        ("cli/mod.rs", "asks whether standard output is a terminal"),
        ("cli/pickup/verify.rs", "the command and the question, through `for_terminal`"),
        ("cli/trust.rs", "the question, through `for_terminal`"),
        ("cli/usage.rs", "usage through `said`; refusals through `for_terminal`"),
        ("cli/watch.rs", "pictures and lines, through `for_terminal`; JSON is exact"),
        ("cli/wrap.rs", "asks whether standard error is a terminal"),
        ("hook/mod.rs", "what a tool reads: announcements are made by `text`, JSON is exact"),
        ("index_progress.rs", "counts"),
        ("picker/mod.rs", "lines that were cut by `draw`, which shows what is hidden"),
        ("progress.rs", "words of ours"),
        ("screen.rs", "cells that the dashboard has cleaned"),
        ("supervisor/tool_sequence.rs", "its question goes through for_terminal"),
        ("worker/tail.rs", "what the agent's own process writes"),
    ];

    #[test]
    fn nothing_reaches_a_terminal_past_the_one_exit() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let (mut folders, mut found) = (vec![root.clone()], std::collections::BTreeSet::new());
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "rs") {
                    let source = std::fs::read_to_string(&path).expect("a source");
                    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
                    let writes = ["stdout()", "stderr()", "println!", "eprint", " print!(", "error.print()"];
                    if writes.iter().any(|one| code.contains(one)) {
                        found.insert(path.strip_prefix(&root).expect("below").display().to_string());
                    }
                }
            }
        }
        let known = WRITERS.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(found, known, "write through `render::for_terminal`, or say in WRITERS why it is safe");
    }

    #[test]
    fn quoted_text_cannot_move_the_cursor() {
        assert_eq!(quoted("a\u{1b}[2Jb\nc"), "  │ a\\u{1b}[2Jb\n  │ c\n");
    }
}

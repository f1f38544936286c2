//! Checks: everything that was run to see whether the work is right, each once, with how it ended last.

use std::collections::{HashMap, HashSet};

use super::commands::outcome;
use super::section::{Entry, SHORTENED, Section, rank};
use super::{RenderContext, cut, quote, staleness};
use crate::packet::{Command, Failure, Packet};

/// How many checks that passed share a line.
const ON_A_LINE: usize = 3;
/// How many checks are rendered early; the list is in the order of value.
const EARLY: usize = 6;

/// Before the names of the tests that a check names as failing; they are rendered at greater length than an error.
const FAILING: &str = "failing tests";

/// The command that verifies, and the last state of every step that was run.
pub(super) fn verify(cx: &RenderContext, out: &mut Vec<Entry>) {
    let checks = last_states(cx.packet);
    if checks.is_empty() {
        return test_command(cx, out);
    }
    let value = |index: usize| if index < EARLY { rank::CHECK } else { rank::COMMAND };
    let (passed, other): (Vec<&Command>, Vec<&Command>) =
        checks.into_iter().partition(|check| passed_word(check).is_some());
    let (unknown, other): (Vec<&Command>, Vec<&Command>) =
        other.into_iter().partition(|check| check.exit_code.is_none() && check.note.is_none());
    for (index, check) in other.iter().enumerate() {
        let show = |limit| line(cx, check, limit);
        let entry = Entry::new(Section::Verify, "checks").lengths(&[(value(index), 140)], rank::WHOLE, show);
        out.push(entry.order(index as i64));
    }
    let mut index = 0;
    for (word, group) in groups(cx, &passed) {
        for chunk in group.chunks(ON_A_LINE) {
            let show = |limit| {
                let one = |check: &&Command| shown(&check.command, limit) + &cx.mark(check.at.as_deref());
                format!("- {word}: {}\n", chunk.iter().map(one).collect::<Vec<_>>().join(" · "))
            };
            let rank = value(index * ON_A_LINE);
            let entry = Entry::new(Section::Verify, "checks").form(rank, Some(SHORTENED), show(140));
            let mut entry = entry.form(rank::WHOLE, None, show(usize::MAX)).order(index as i64);
            entry.count = chunk.len();
            out.push(entry);
            index += 1;
        }
    }
    let (own, of_others): (Vec<&Command>, Vec<&Command>) =
        unknown.into_iter().partition(|check| runner(check).is_empty());
    for chunk in own.chunks(ON_A_LINE).chain(of_others.chunks(ON_A_LINE)) {
        let show = |limit| {
            let one = |check: &&Command| shown(&check.command, limit) + &cx.mark(check.at.as_deref());
            let by = chunk.first().map(|check| runner(check)).unwrap_or_default();
            let run = if by.is_empty() { "run" } else { by.trim_start_matches(", ") };
            format!("- {run}, outcome not known: {}\n", chunk.iter().map(one).collect::<Vec<_>>().join(" · "))
        };
        let entry = Entry::new(Section::Verify, "checks").form(rank::COMMAND, Some(SHORTENED), show(140));
        let mut entry = entry.form(rank::WHOLE, None, show(usize::MAX));
        entry.count = chunk.len();
        out.push(entry);
    }
}

/// How it is rendered that a command passed.
pub(super) fn passed_word(check: &Command) -> Option<&'static str> {
    match (check.exit_code, check.note.as_deref()) {
        (Some(0), _) => Some("exit 0"),
        // A tool that records no exit codes.
        (None, Some("ok")) => Some("ok"),
        _ => None,
    }
}

/// Whose run it is, where it is not the session's own.
fn runner(check: &Command) -> &'static str {
    if check.by.as_deref() == Some("sub-agent") { ", run by a sub-agent" } else { "" }
}

/// Checks that passed, by how they did: those that hold for the files as they are first.
fn groups<'a>(cx: &RenderContext, passed: &[&'a Command]) -> Vec<(String, Vec<&'a Command>)> {
    let mut groups: Vec<(String, Vec<&Command>)> = Vec::new();
    let is_stale = |check: &Command| staleness::is_check_stale(cx.packet, check);
    let (stale, fresh): (Vec<&Command>, Vec<&Command>) =
        passed.iter().copied().partition(|check| is_stale(check));
    for check in fresh.into_iter().chain(stale) {
        let word = passed_word(check).unwrap_or_default();
        let word = format!("{word}{}{}", staleness::check_note(cx.packet, check), runner(check));
        match groups.iter_mut().find(|(known, _)| *known == word) {
            Some((_, group)) => group.push(check),
            None => groups.push((word, vec![check])),
        }
    }
    groups
}

/// Each check once, in the order of value; a later packet's word stands.
fn last_states(packet: &Packet) -> Vec<&Command> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut states: Vec<&Command> = Vec::new();
    for check in packet.checks.iter().filter(|check| !check.command.trim().is_empty()) {
        let place = *places.entry(bare(&check.command)).or_insert(states.len());
        match states.get_mut(place) {
            Some(known) => *known = check,
            None => states.push(check),
        }
    }
    if let Some(failure) = &packet.last_failure {
        states.retain(|check| !is_last_failure(check, failure));
    }
    states
}

/// Whether a check is the run that the document begins with, and says nothing more of it.
fn is_last_failure(check: &Command, failure: &Failure) -> bool {
    let here = check.at.is_some() && check.at == failure.at && check.exit_code != Some(0);
    let output = failure.output.as_deref().unwrap_or_default();
    let is_told = |note: &str| note.contains(" behind it ") || output.contains(note.trim_end_matches('…'));
    let same = check.command.trim() == failure.command.trim();
    let names_more =
        check.note.as_deref().is_some_and(|note| note.contains(FAILING) && !is_told_whole(note, output));
    if names_more {
        return false;
    }
    same || (here && check.note.as_deref().is_none_or(|note| note.starts_with("in a chain") || is_told(note)))
}

/// Whether the end of an output that is told names every test that a note does.
fn is_told_whole(note: &str, output: &str) -> bool {
    let shown = cut::cause_and_tail(output, 12, 1200);
    let names = note.split_once(FAILING).map_or("", |(_, names)| names);
    names.split([',', ';', ' ']).filter(|name| name.len() > 3).all(|name| shown.contains(name))
}

/// Where a pipe hid the exit code of the last failure: what the check of the same run says of the pipe, up to its first colon.
pub(super) fn word_of_pipe(cx: &RenderContext, failure: &Failure) -> String {
    let here = |check: &&Command| check.at.is_some() && check.at == failure.at;
    let mut notes = cx.packet.checks.iter().filter(here).filter_map(|check| check.note.as_deref());
    let word = notes
        .find_map(|note| note.contains(" behind it ").then(|| note.split(':').next().unwrap_or_default()));
    word.filter(|_| failure.exit_code.is_none())
        .map(|word| format!(" → {}", quote::prose(word)))
        .unwrap_or_default()
}

fn line(cx: &RenderContext, check: &Command, limit: usize) -> String {
    let command = shown(&check.command, limit);
    let room = |note: &str| match note.contains(FAILING) {
        true => limit.saturating_mul(4),
        false => limit.saturating_add(limit / 2),
    };
    let note = check.note.as_deref().map(|note| quote::prose(&cut::head(note, room(note))));
    let note = note.filter(|note| !note.is_empty());
    let note = match (check.exit_code, note) {
        (Some(_), Some(note)) => format!(": {note}"),
        (None, Some(note)) => format!(" → {note}"),
        (_, None) => String::new(),
    };
    let at = check.at.as_deref();
    let has_passed_since = check.note.as_deref().is_some_and(|note| note.contains("passed since with"));
    // Whether that run still holds is rendered with its own command.
    let stale = if !has_passed_since && (check.exit_code.is_some() || !note.is_empty()) {
        staleness::check_note(cx.packet, check)
    } else {
        ""
    };
    format!("- {command}{}{note}{stale}{}\n", outcome(check.exit_code), cx.mark(at))
}

/// `make test`, or `make test` (through tail): a pipe ends with the code of its last program, which is not the check's.
fn shown(command: &str, limit: usize) -> String {
    let Some((check, filters)) = command.split_once(" | ") else {
        return quote::code(&cut::middle(command, limit));
    };
    let programs: Vec<&str> =
        filters.split(" | ").filter_map(|filter| filter.split_whitespace().next()).collect();
    let plain = |program: &&str| program.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    match programs.iter().all(plain) && !check.contains(['\'', '"']) {
        true => format!("{} (through {})", quote::code(&cut::middle(check, limit)), programs.join(", ")),
        false => quote::code(&cut::middle(command, limit)),
    }
}

/// The commands of the checks, bare.
pub(super) struct CheckedCommands<'a>(HashSet<&'a str>);

impl<'a> CheckedCommands<'a> {
    pub(super) fn of(packet: &'a Packet) -> Self {
        Self(packet.checks.iter().map(|check| bare(&check.command)).collect())
    }

    /// Whether the checks tell how a command ended last.
    pub(super) fn cover(&self, command: &str) -> bool {
        let known = |step: &str| self.0.contains(bare(step));
        let of_folder = |step: &str| step.starts_with("cd ");
        let steps = || command.split("&&").map(str::trim).filter(|step| !of_folder(step));
        known(command) || (steps().next().is_some() && steps().all(known))
    }
}

/// A command without redirections and what only shortens its output.
pub(super) fn bare(command: &str) -> &str {
    let first = command.split(" | ").next().unwrap_or(command);
    let end = [" 2>", " >", " &>"].iter().filter_map(|mark| first.find(mark)).min().unwrap_or(first.len());
    first[..end].trim()
}

/// The command that verifies by the word of the sender, and how it ended when it was run last.
fn test_command(cx: &RenderContext, out: &mut Vec<Entry>) {
    let packet = cx.packet;
    let has_text = |text: &&String| !text.trim().is_empty();
    let (command, status) =
        (packet.test_command.as_ref().filter(has_text), packet.test_status.as_ref().filter(has_text));
    let last = packet.commands.iter().rev().find(|run| Some(&run.command) == command);
    let code = last.and_then(|run| run.exit_code);
    let show = |limit| {
        let status = status.map(|text| quote::prose(&cut::head(text, limit)));
        let code = code.map(|code| format!("exit {code}"));
        let result = [code, status].into_iter().flatten().collect::<Vec<_>>().join(", ");
        match (command, result.is_empty()) {
            (Some(command), true) => format!("- Run {}\n", quote::code(&cut::middle(command, limit))),
            (Some(command), false) => {
                format!("- Run {} (last run: {result})\n", quote::code(&cut::middle(command, limit)))
            }
            (None, _) => format!("- Last known result: {result}\n"),
        }
    };
    if command.is_some() || status.is_some() {
        out.push(Entry::new(Section::Verify, "checks").lengths(&[(rank::STATE, 240)], rank::WHOLE, show));
    }
}

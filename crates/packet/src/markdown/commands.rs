//! The commands that mattered, each once, with how it ended.

use std::collections::BTreeMap;

use super::section::{Entry, SHORTENED, Section, rank};
use super::{RenderContext, checks, cut, quote};
use crate::packet::Command;

/// ` → exit 101`, or nothing where the code is not known.
pub(super) fn outcome(exit_code: Option<i64>) -> String {
    exit_code.map(|code| format!(" → exit {code}")).unwrap_or_default()
}

/// Runs of one command, rendered as one entry: the last of them.
struct Runs<'a> {
    last: &'a Command,
    codes: Vec<i64>,
    count: usize,
}

impl Runs<'_> {
    fn failed(&self) -> bool {
        self.codes.iter().any(|code| *code != 0)
    }

    /// Nothing is to be said of it but that it worked.
    fn is_plain(&self) -> bool {
        let remark = self.last.note.as_deref().filter(|note| *note != "ok");
        checks::passed_word(self.last).is_some() && !self.failed() && remark.is_none()
    }
}

/// How many commands that just worked share a line.
const ON_A_LINE: usize = 4;
/// How many such lines are wanted early.
const LATEST_LINES: i64 = 1;

/// Each command once, at the place of its last run: first what failed or has a remark, then what just worked.
pub(super) fn commands(cx: &RenderContext, out: &mut Vec<Entry>) {
    let checked = checks::CheckedCommands::of(cx.packet);
    let (plain, telling): (Vec<Runs>, Vec<Runs>) = runs(&cx.packet.commands)
        .into_iter()
        .filter(|runs| !checked.cover(&runs.last.command) && !is_told_above(cx, runs))
        .partition(Runs::is_plain);
    let total = telling.len() as i64;
    for (index, runs) in telling.iter().enumerate() {
        let (noun, rank) = match runs.failed() {
            true => ("failed commands", rank::FAILED_COMMAND),
            false => ("commands", rank::COMMAND),
        };
        let show = |limit| command_line(cx, runs, limit);
        out.push(
            Entry::new(Section::Commands, noun)
                .lengths(&[(rank, 140)], rank::WHOLE, show)
                .order(total - index as i64),
        );
    }
    // A tool records the codes of all commands or of none.
    let chunks: Vec<&[Runs]> = plain
        .chunk_by(|one, next| checks::passed_word(one.last) == checks::passed_word(next.last))
        .flat_map(|group| group.chunks(ON_A_LINE))
        .collect();
    let lines = chunks.len() as i64;
    for (index, chunk) in chunks.into_iter().enumerate() {
        let show = |limit| plain_line(cx, chunk, limit);
        // The latest are as telling as the plan; what was run long ago can wait.
        let latest = lines - (index as i64) <= LATEST_LINES && cx.packet.checks.is_empty();
        let rank = if latest { rank::PLAN } else { rank::COMMAND };
        let entry = Entry::new(Section::Commands, "commands").form(rank, Some(SHORTENED), show(140));
        let mut entry = entry.form(rank::WHOLE, None, show(usize::MAX)).order(lines - index as i64);
        entry.count = chunk.len();
        out.push(entry);
    }
}

/// Whether the last failure or a failed attempt tells all of this run.
fn is_told_above(cx: &RenderContext, runs: &Runs) -> bool {
    let Some(at) = runs.last.at.as_deref().filter(|_| runs.last.exit_code != Some(0)) else { return false };
    let failure = cx.packet.last_failure.iter();
    let failure = failure.map(|failure| (failure.at.as_deref(), &failure.command, failure.output.as_deref()));
    let attempts = cx.packet.failed_attempts.iter();
    let attempts =
        attempts.map(|attempt| (attempt.at.as_deref(), &attempt.tried, attempt.why_failed.as_deref()));
    let command = checks::bare(&runs.last.command);
    let has_note = |text: Option<&str>| {
        let note = runs.last.note.as_deref().unwrap_or_default();
        note.contains(" behind it ") || text.unwrap_or_default().contains(note.trim_end_matches('…'))
    };
    failure
        .chain(attempts)
        .any(|(place, text, reason)| place == Some(at) && text.contains(command) && has_note(reason))
}

fn runs(commands: &[Command]) -> Vec<Runs<'_>> {
    let mut all: BTreeMap<&str, (usize, Runs)> = BTreeMap::new();
    for (index, command) in commands.iter().enumerate() {
        let none = (index, Runs { last: command, codes: Vec::new(), count: 0 });
        let (place, runs) = all.entry(&command.command).or_insert(none);
        *place = index;
        runs.last = command;
        runs.count += 1;
        runs.codes.extend(command.exit_code);
    }
    let mut in_order: Vec<(usize, Runs)> = all.into_values().collect();
    in_order.sort_by_key(|(place, _)| *place);
    in_order.into_iter().map(|(_, runs)| runs).collect()
}

fn command_line(cx: &RenderContext, runs: &Runs, limit: usize) -> String {
    let last = runs.last;
    let mut earlier: Vec<i64> =
        runs.codes.iter().copied().filter(|code| Some(*code) != last.exit_code).collect();
    earlier.sort_unstable();
    earlier.dedup();
    let earlier: Vec<String> = earlier.iter().map(i64::to_string).collect();
    let times = match (runs.count, earlier.is_empty()) {
        (1, _) => String::new(),
        (count, true) => format!(" (×{count})"),
        (count, false) => format!(" (×{count}, before that exit {})", earlier.join(", ")),
    };
    let note = last
        .note
        .as_deref()
        .map(|note| quote::prose(&cut::head(note, limit)))
        .filter(|note| !note.is_empty());
    let note = note.map(|note| format!(": {note}")).unwrap_or_default();
    let command = quote::code(&cut::middle(&last.command, limit));
    format!("- {command}{}{times}{note}{}\n", outcome(last.exit_code), cx.mark(last.at.as_deref()))
}

/// `- exit 0: `npm run lint` (×2) · `npm test` (#246)`
fn plain_line(cx: &RenderContext, chunk: &[Runs], limit: usize) -> String {
    let one = |runs: &Runs| {
        let times = if runs.count > 1 { format!(" (×{})", runs.count) } else { String::new() };
        let command = quote::code(&cut::middle(&runs.last.command, limit));
        format!("{command}{times}{}", cx.mark(runs.last.at.as_deref()))
    };
    let word = chunk.first().and_then(|runs| checks::passed_word(runs.last)).unwrap_or_default();
    format!("- {word}: {}\n", chunk.iter().map(one).collect::<Vec<_>>().join(" · "))
}

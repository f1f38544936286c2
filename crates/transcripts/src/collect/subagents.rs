//! What sub-agents come to: the commands that failed in their hands, and what they report.

use super::calls::{Calls, Open};
use super::checks::LineOutcome;
use super::clean::Cleaner;
use super::coverage::makes_good;
use super::error_line::error_line;
use super::importance::{Importance, only_answers};
use super::miscall::is_miscall;
use super::piped::PipeEnd;
use super::prose;
use super::run::Run;
use super::stopped::Stopped;
use crate::event::{Category, Outcome};
use crate::shared::words::{one_line, sentences};

const MAX_FAILURES: usize = 20;
const MAX_TAIL: usize = 4096;

/// Commands of sub-agents that failed and that no later one of the same agent made good.
#[derive(Debug, Default)]
pub(super) struct SubagentFailures {
    runs: Vec<Run>,
}

impl SubagentFailures {
    /// A command of a sub-agent ended.
    pub(super) fn ran(&mut self, run: Run, output: &str, cleaner: &mut Cleaner<'_>) {
        let looks = run.importance == Importance::Look || only_answers(&run.command, run.exit_code);
        let failed = run.ok == Some(false) && !looks;
        self.runs.retain(|known| {
            known.at.subagent != run.at.subagent || !makes_good(&known.command, &run.command)
        });
        // A look that found nothing is no failure.
        if failed && run.importance > Importance::Look && self.runs.len() < MAX_FAILURES {
            let note = error(output, cleaner);
            self.runs.push(Run { note, ..run });
        }
    }

    /// The runs, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter()
    }
}

/// The line of an output that says most about a failure.
fn error(output: &str, cleaner: &mut Cleaner<'_>) -> Option<String> {
    let tail = cleaner.tail(output, MAX_TAIL);
    error_line(&tail).map(|line| one_line(line, 160))
}

impl Calls {
    /// Notes how a command of a sub-agent ended.
    pub(super) fn note_subagent(&mut self, open: &Open, outcome: &Outcome<'_>, cleaner: &mut Cleaner<'_>) {
        let Some(agent) = open.at.subagent.as_deref().filter(|_| open.category == Category::Shell) else {
            return;
        };
        if Stopped::of(outcome).is_some() {
            return;
        }
        let piped = self.piped(open, outcome, cleaner);
        let (ok, exit_code) = match &piped {
            Some(end) => (end.ok(), outcome.exit_code.filter(|_| *end == PipeEnd::Passed)),
            None => (outcome.ok, outcome.exit_code),
        };
        self.subagent_failures.ran(open.run(exit_code, ok, None), &outcome.output, cleaner);
        let failed = ok == Some(false);
        let error = failed.then(|| error(&outcome.output, cleaner)).flatten();
        let is_miscall = failed && is_miscall(&open.target, outcome.exit_code, &outcome.output);
        let ended =
            LineOutcome { piped: piped.as_ref(), error, is_miscall, ..LineOutcome::of(outcome, open.at_ms) };
        if let Some(checks) = self.subagent_checks.of(agent) {
            checks.ran(&open.target, ended, &open.at);
        }
    }
}

/// What a sub-agent reports, in a line: how it begins, which says what it found.
pub(super) fn report(task: &str, output: &str) -> Option<String> {
    const MAX_TASK: usize = 80;
    const MAX_REPORT: usize = 300;
    let output = without_opening(output);
    let speech = output.lines().map(str::trim).filter(|line| !line.is_empty() && !is_frame(line));
    let text = speech.map(|line| line.trim_start_matches(['#', ' '])).collect::<Vec<_>>().join(" ");
    let report = one_line(&text, MAX_REPORT);
    (!report.is_empty()).then(|| format!("{REPORT} “{}” reported: {report}", one_line(task, MAX_TASK)))
}

/// What stands before the task whose report follows.
pub(super) const REPORT: &str = "Sub-agent";

/// A report without the sentences in which a sub-agent says that it reports: `Perfect! Now I have enough. Let me write it.`
fn without_opening(output: &str) -> &str {
    let mut rest = output.trim_start();
    loop {
        let line = rest.lines().next().unwrap_or_default();
        let Some(first) = sentences(line).first().copied() else { return rest };
        let short = first.split_whitespace().count() <= 2 && first.ends_with(['!', '.']);
        if !(short || prose::announces(first)) || line.starts_with('#') {
            return rest;
        }
        let Some(at) = rest.find(first) else { return rest };
        let left = rest[at + first.len()..].trim_start();
        if left.is_empty() {
            return rest;
        }
        rest = left;
    }
}

/// Whether a line is the tool's and not the sub-agent's.
fn is_frame(line: &str) -> bool {
    let frames = [
        "agentId:",
        "<usage>",
        "</usage>",
        "total_tokens:",
        "tool_uses:",
        "duration_ms:",
        "<result>",
        "</result>",
    ];
    frames.iter().any(|frame| line.starts_with(frame))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_begins_with_what_was_found() {
        let output = "# Findings\n\nThe lexer drops BOMs.\n\nagentId: a1 (for resuming)\n<usage>total_tokens: 5</usage>";
        let text = report("Look at the lexer", output);
        assert_eq!(
            text.as_deref(),
            Some("Sub-agent “Look at the lexer” reported: Findings The lexer drops BOMs.")
        );
        assert_eq!(report("x", "\n"), None);
        let opening = "Perfect! Now I have enough. Let me write it down:\n\nThe lexer drops BOMs.";
        assert_eq!(report("x", opening).as_deref(), Some("Sub-agent “x” reported: The lexer drops BOMs."));
    }
}

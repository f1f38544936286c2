//! Calls that did not run, or were stopped: the user rejects or aborts them, or the tool does not start them. None of these is
//! a failure of the work. What the user says with a rejection is a message.

use crate::event::Outcome;

/// How a call came to nothing without failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// The user did not let it run.
    Rejected,
    /// It was stopped while it ran.
    Aborted,
    /// The tool did not start it, because a call beside it had failed.
    NeverRan,
}

/// Beginnings of results by which a tool says that the user does not let a call run.
const REJECTED: &[&str] = &[
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "User rejected tool use",
    // So a sub-agent is told.
    "Permission for this tool use was denied",
];
/// Beginnings of lines, the first or last of a result, by which a tool says that a call was stopped.
const ABORTED: &[&str] = &[
    "[Request interrupted by user",
    "Request interrupted by user",
    "Command aborted",
    "Command was aborted",
];
/// What is told of a call that the tool did not start.
pub(super) const NEVER_RAN_WORD: &str = "did not run";
const NEVER_RAN: &str = "Sibling tool call errored";
/// What stands before the user's own words in a rejection.
const WORDS_FOLLOW: &[&str] = &["the user said:", "reason for the rejection:"];
/// What a tool writes there itself, where the user answers no question and wants to say something first.
const OF_THE_TOOL: &str = "The user wants to clarify these questions";
/// Beginnings of what a tool adds after the user's words.
const NOTES: &[&str] = &["\n\nNote: The user's next message", "\n\nIMPORTANT: "];

impl Stopped {
    /// How a call that failed by the word of the tool came to nothing, if it did not fail.
    pub(super) fn of(outcome: &Outcome<'_>) -> Option<Self> {
        if outcome.ok != Some(false) {
            return None;
        }
        let text = bare(&outcome.output);
        let begins = |line: &str, marks: &[&str]| marks.iter().any(|mark| bare(line).starts_with(mark));
        let ends = [text.lines().next(), text.trim_end().lines().next_back()];
        if begins(text, REJECTED) {
            Some(Self::Rejected)
        } else if text.starts_with(NEVER_RAN) {
            Some(Self::NeverRan)
        } else {
            ends.into_iter().flatten().any(|line| begins(line, ABORTED)).then_some(Self::Aborted)
        }
    }

    /// What is told in place of an exit code.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Rejected => "rejected by the user, did not run",
            Self::Aborted => "stopped before it ended",
            Self::NeverRan => NEVER_RAN_WORD,
        }
    }
}

/// Whether a command was ended because it took too long, so that some of its steps may have been done.
pub(super) fn ran_out_of_time(outcome: &Outcome<'_>) -> bool {
    const HEAD: usize = 160;
    let head: String = bare(&outcome.output).chars().take(HEAD).collect::<String>().to_lowercase();
    let says = head.lines().next().is_some_and(|line| line.contains("timed out"));
    outcome.ok == Some(false) && (says || outcome.exit_code == Some(124))
}

/// What the user says in a rejection, in the user's own words.
pub(super) fn words_of_rejection<'o>(outcome: &'o Outcome<'_>) -> Option<&'o str> {
    if Stopped::of(outcome) != Some(Stopped::Rejected) {
        return None;
    }
    let text = outcome.output.as_ref();
    let begin = WORDS_FOLLOW.iter().filter_map(|mark| Some(text.find(mark)? + mark.len())).min()?;
    let words = text.get(begin..)?;
    let end = NOTES.iter().filter_map(|note| words.find(note)).min().unwrap_or(words.len());
    words.get(..end).map(str::trim).filter(|words| !words.is_empty() && !words.starts_with(OF_THE_TOOL))
}

/// A result without what a tool puts in front of its own words.
fn bare(text: &str) -> &str {
    let text = text.trim_start();
    ["Error: ", "<tool_use_error>", "<error>"]
        .iter()
        .fold(text, |text, frame| text.strip_prefix(frame).unwrap_or(text))
        .trim_start()
}

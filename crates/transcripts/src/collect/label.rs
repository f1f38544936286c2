//! Names of places in a transcript: `agent:id#line`.

use baton_packet::packet::{Attempt, Command, Text};

use super::calls::Run;
use super::chain_outcome::OK;
use super::checks::Check;
use super::{Sentence, SourceRef};
use crate::event::SIDECHAIN;
use crate::shared::words::one_line;

/// Names places in the transcript.
#[derive(Debug)]
pub(super) struct Label {
    agent: String,
    id: String,
}

impl Label {
    /// For a session of this id.
    pub(super) fn new(agent: &str, id: &str) -> Self {
        Self { agent: agent.to_owned(), id: short_id(id).to_owned() }
    }

    /// A place, as a field of the packet has it.
    pub(super) fn at(&self, at: &SourceRef) -> Option<String> {
        Some(match &at.subagent {
            Some(agent) if agent != SIDECHAIN => format!("{}:{}/{agent}#{}", self.agent, self.id, at.line),
            // What stands in a file beside the transcript has no line in it.
            None if at.line == 0 => format!("{}:{}", self.agent, self.id),
            _ => format!("{}:{}#{}", self.agent, self.id, at.line),
        })
    }

    /// A sentence with its place.
    pub(super) fn text(&self, sentence: &Sentence) -> Text {
        Text { text: sentence.text.clone(), at: self.at(&sentence.at) }
    }

    /// A command with its place; that it goes to the folder of the session first is not told each time.
    pub(super) fn command(&self, run: &Run, root: Option<&str>) -> Command {
        Command {
            command: below(root, &run.command).to_owned(),
            exit_code: run.exit_code,
            // A tool that records no codes says that it went well.
            note: run
                .note
                .clone()
                .or_else(|| (run.exit_code.is_none() && run.ok == Some(true)).then(|| OK.to_owned())),
            at: self.at(&run.at),
            ..Command::default()
        }
    }

    /// The last state of a step.
    pub(super) fn check(&self, check: &Check) -> Command {
        let note = match (&check.at.subagent, &check.note) {
            (Some(_), Some(note)) if note != OK => Some(format!("run by a sub-agent: {note}")),
            (Some(_), None) if check.exit_code.is_some_and(|code| code != 0) => {
                Some("run by a sub-agent".to_owned())
            }
            (_, note) => note.clone(),
        };
        let again = check.began_again_at.as_ref();
        let again = again.map(|at| format!("started again (#{}); how that ended is not known", at.line));
        Command {
            command: check.command.clone(),
            exit_code: check.exit_code,
            note: note.into_iter().chain(again).reduce(|note, again| format!("{note}; {again}")),
            at: self.at(&check.at),
            by: check.at.subagent.as_ref().map(|_| "sub-agent".to_owned()),
            outdated: None,
        }
    }

    /// A command that failed, as an attempt.
    pub(super) fn attempt(&self, run: &Run, failing: &str) -> Attempt {
        let code = run.exit_code.map(|code| format!("exit {code}"));
        let parts: Vec<String> = [code, run.note.clone()].into_iter().flatten().collect();
        let why_failed = (!parts.is_empty()).then(|| parts.join(": "));
        let agent =
            run.at.subagent.as_deref().map(|agent| format!(" ({})", by_subagent(agent))).unwrap_or_default();
        Attempt { tried: format!("`{}`{agent}", one_line(failing, 300)), why_failed, at: self.at(&run.at) }
    }
}

/// A command line without the step to this folder with which it begins.
fn below<'c>(root: Option<&str>, command: &'c str) -> &'c str {
    let rest = command.strip_prefix("cd ").zip(root).and_then(|(rest, root)| {
        let rest = rest.trim_start_matches(['"', '\'']).strip_prefix(root)?;
        rest.trim_start_matches(['"', '\'', '/']).strip_prefix(" && ")
    });
    rest.unwrap_or(command)
}

/// Whose work it is; several sub-agents may have no name.
pub(super) fn by_subagent(agent: &str) -> String {
    if agent == SIDECHAIN { "by a sub-agent".to_owned() } else { format!("by sub-agent {agent}") }
}

/// As much of an id as names one session among those of a machine: eight characters of it after a word such as
/// `session_`, all of an id that is hardly longer or begins with a day, which many share.
pub fn short_id(id: &str) -> &str {
    const CHARS: usize = 8;
    const WHOLE: usize = 16;
    let word = id.bytes().take_while(u8::is_ascii_alphabetic).count();
    let is_word = word > 0 && word < id.len() && matches!(id.as_bytes().get(word), Some(b'_' | b'-'));
    // The first part of a UUID may be all letters.
    let from = if is_word && word != CHARS { word + 1 } else { 0 };
    let rest = id.get(from..).unwrap_or_default();
    let end = match rest.chars().count() <= WHOLE || is_day(rest) {
        true => rest.len(),
        false => rest.char_indices().nth(CHARS).map_or(rest.len(), |(at, _)| at),
    };
    id.get(..from + end).unwrap_or(id)
}

/// Whether an id begins with a day: `20261120_…` or `2026-11-20T…`. A UUID may have eight digits before its first hyphen.
fn is_day(id: &str) -> bool {
    let fits = |pattern: &str| {
        let pairs = pattern.bytes().zip(id.bytes());
        let same = pairs.filter(|(wanted, byte)| match wanted {
            b'0' => byte.is_ascii_digit(),
            _ => wanted == byte,
        });
        same.count() == pattern.len()
    };
    fits("00000000_") || fits("0000-00-00T")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_to_the_folder_of_the_session_is_left_out() {
        for (command, shown) in [
            ("cd /srv/p && git push", "git push"),
            ("cd \"/srv/p\" && make", "make"),
            ("cd /srv/p/sub && make", "cd /srv/p/sub && make"),
            ("cd /srv/p; make", "cd /srv/p; make"),
        ] {
            assert_eq!(below(Some("/srv/p"), command), shown);
            assert_eq!(below(None, command), command);
        }
    }

    #[test]
    fn a_short_id_names_one_session_of_a_tool() {
        for (id, short) in [
            ("01a1fb69-e811-7c30-bbff-59dfc21c35e2", "01a1fb69"),
            ("abcdefab-0000-4000-8000-000000000001", "abcdefab"),
            ("session_95000000-0000-4000-8000-000000000001", "session_95000000"),
            ("sess_0d0d0d0d-0000-4000-8000-000000000001", "sess_0d0d0d0d"),
            ("ses_e04952aabffeEVky9rpmAH11oL", "ses_e04952aa"),
            ("T-0a0a0a0a-0000-4000-8000-000000000001", "T-0a0a0a0a"),
            ("20261118_1", "20261118_1"),
            ("20261118-110640", "20261118-110640"),
            ("20261120_110640_9e0001", "20261120_110640_9e0001"),
            ("2026-11-20T10-00-00.000Z", "2026-11-20T10-00-00.000Z"),
            ("20261120-0000-4000-8000-000000000001", "20261120"),
            ("1795000000000", "1795000000000"),
            ("", ""),
        ] {
            assert_eq!(short_id(id), short, "{id}");
        }
    }
}

//! Work that a command of git threw away: a failed attempt, unless it was done again since.

use baton_packet::packet::Attempt;

use super::{Collector, SourceRef};
use crate::shared::words::one_line;

/// How much of a command is told that threw work away, in characters, and how many of the files are named.
const MAX_COMMAND: usize = 120;
const MAX_NAMED: usize = 4;

/// What one command threw away.
#[derive(Debug)]
pub(super) struct ThrownAway {
    command: String,
    files: Vec<String>,
    /// The files in words.
    names: String,
    pub at: SourceRef,
}

impl Collector<'_> {
    /// Notes what work a command of git threw away.
    pub(super) fn taken_back(&mut self, command: &str, at: &SourceRef) {
        let files = std::mem::take(&mut self.files.taken_back);
        if files.is_empty() || at.subagent.is_some() {
            return;
        }
        let shown = files.iter().take(MAX_NAMED);
        let mut names: Vec<String> =
            shown.map(|path| format!("`{}`", self.cleaner.clean_text(path))).collect();
        if files.len() > MAX_NAMED {
            names.push(format!("{} more", files.len() - MAX_NAMED));
        }
        let (command, names) = (one_line(command, MAX_COMMAND), names.join(", "));
        self.thrown_away.push(ThrownAway { command, files, names, at: at.clone() });
    }

    /// What was thrown away, but for what was done anew and committed since.
    pub(super) fn losses(&self) -> Vec<(Attempt, &SourceRef)> {
        self.thrown_away.iter().filter_map(|lost| Some((self.loss(lost)?, &lost.at))).collect()
    }

    fn loss(&self, lost: &ThrownAway) -> Option<Attempt> {
        let since: Vec<Option<bool>> =
            lost.files.iter().filter_map(|path| self.files.committed_since(path, lost.at.line)).collect();
        let is_all = since.len() == lost.files.len();
        if is_all && since.iter().all(|committed| *committed == Some(true)) {
            return None;
        }
        let again = match (is_all, lost.files.len()) {
            (true, 1) => "; it was changed again since",
            (true, _) => "; they were changed again since",
            (false, _) => "",
        };
        let ThrownAway { command, names, .. } = lost;
        let tried = format!("`{command}` threw away changes that were in no commit, of {names}{again}");
        Some(Attempt { tried, why_failed: None, at: None })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::SessionScript;

    #[test]
    fn a_loss_that_was_made_good_is_no_failed_attempt() {
        let words = |script: SessionScript| -> Vec<String> {
            script.summary().failed_attempts.into_iter().map(|attempt| attempt.tried).collect()
        };
        let lost = || {
            let script = SessionScript::new().user("mend the test").edit("a", "a_test.go");
            script.run("b", "git checkout a_test.go && golangci-lint run", 0, "0 issues.")
        };
        let text = "`git checkout a_test.go && golangci-lint run` threw away changes that were in no commit, of `a_test.go`";
        assert_eq!(words(lost()), [text]);
        assert_eq!(words(lost().edit("c", "a_test.go")), [format!("{text}; it was changed again since")]);
        let commit = "git add a_test.go && git commit -m x";
        let committed =
            lost().edit("c", "a_test.go").run("d", commit, 0, "[main 1a2b3c4] x\n 1 file changed");
        assert_eq!(words(committed), [""; 0]);
    }
}

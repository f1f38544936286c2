//! What commands tell about the working copy: the branch, the last commit, whether something is not committed.

/// The working copy as the commands of a session showed it.
#[derive(Debug, Default)]
pub(super) struct GitState {
    /// The branch that was switched to last.
    pub branch: Option<String>,
    /// The last commit that was made or shown as the newest.
    pub commit: Option<String>,
    /// Whether there were changes that are not committed.
    pub dirty: Option<bool>,
    /// Whether git answered at all.
    pub answered: bool,
}

impl GitState {
    /// A command succeeded and printed this.
    pub(super) fn ran(&mut self, command: &str, output: &str) {
        if !command.contains("git ") {
            return;
        }
        for step in command.split(['\n', ';', '&', '|']) {
            let mut words = step.split_whitespace().skip_while(|word| *word != "git").skip(1).peekable();
            while matches!(words.peek(), Some(&"-C" | &"-c")) {
                words.nth(1);
            }
            let verb = words.next();
            self.answered |= verb.is_some();
            match verb {
                Some("commit") => self.committed(output),
                Some("checkout" | "switch") => self.switched(output),
                Some("status") => self.status(output),
                Some("rev-parse") if words.next() == Some("HEAD") => self.head(output),
                _ => {}
            }
        }
    }

    /// A command failed after it had printed this: of several steps, the commit may have been made and the push refused.
    pub(super) fn failed(&mut self, command: &str, output: &str) {
        if command.contains("git ") && command.contains("commit") {
            self.committed(output);
        }
    }

    /// The tool itself reported a commit: whether uncommitted changes are left is unknown.
    pub(super) fn committed_by_the_tool(&mut self) {
        self.dirty = None;
    }

    /// A file was changed.
    pub(super) fn changed(&mut self) {
        self.dirty = Some(true);
    }

    /// `[main 1a2b3c4] Subject`, `[main (root-commit) 1a2b3c4] Subject`.
    fn committed(&mut self, output: &str) {
        let found = output.lines().find_map(|line| {
            let (inside, _) = line.strip_prefix('[')?.split_once(']')?;
            let (branch, id) = inside.rsplit_once(' ')?;
            is_id(id).then_some((branch.split(' ').next()?, id))
        });
        if let Some((branch, id)) = found {
            self.commit = Some(id.to_owned());
            self.dirty = None;
            if branch != "detached" {
                self.branch = Some(branch.to_owned());
            }
        }
    }

    /// `Switched to branch 'x'`, `Switched to a new branch 'x'`, `Already on 'x'`.
    fn switched(&mut self, output: &str) {
        let line =
            output.lines().find(|line| line.starts_with("Switched to") || line.starts_with("Already on"));
        let name = line.and_then(|line| line.split('\'').nth(1)).filter(|name| !name.is_empty());
        if let Some(name) = name {
            self.branch = Some(name.to_owned());
        }
    }

    /// The long form, and the short one in which every line is a file.
    fn status(&mut self, output: &str) {
        let has = |text: &str| output.lines().any(|line| line.trim_start().starts_with(text));
        if let Some(name) = output.lines().find_map(|line| line.strip_prefix("On branch ")) {
            self.branch = Some(name.trim().to_owned());
        }
        let clean = has("nothing to commit") || output.trim().is_empty();
        let files = output.lines().filter(|line| {
            let mut bytes = line.bytes();
            let marks =
                [bytes.next(), bytes.next()].map(|mark| mark.is_some_and(|mark| b" MADRCU?".contains(&mark)));
            marks == [true, true] && bytes.next() == Some(b' ')
        });
        let changed =
            ["Changes not staged", "Changes to be committed", "Untracked files"].iter().any(|text| has(text));
        if clean {
            self.dirty = Some(false);
        } else if changed || files.count() > 0 {
            self.dirty = Some(true);
        }
    }

    fn head(&mut self, output: &str) {
        let first = output.lines().next().unwrap_or_default().trim();
        if first.len() == 40 && is_id(first) {
            self.commit = Some(first.to_owned());
        }
    }
}

fn is_id(text: &str) -> bool {
    (7..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(runs: &[(&str, &str)]) -> (Option<String>, Option<String>, Option<bool>) {
        let mut state = GitState::default();
        runs.iter().for_each(|(command, output)| state.ran(command, output));
        (state.branch, state.commit, state.dirty)
    }

    #[test]
    fn branch_and_commit_are_what_git_said_last() {
        let state = after(&[
            ("git checkout -b fix/x", "Switched to a new branch 'fix/x'"),
            ("git add -A && git commit -m 'a b'", "[fix/x 1a2b3c4] a b\n 1 file changed"),
            ("git status --short", " M a.rs\n?? b.rs\n"),
        ]);
        assert_eq!(state, (Some("fix/x".into()), Some("1a2b3c4".into()), Some(true)));
    }

    #[test]
    fn a_commit_counts_though_the_push_behind_it_failed() {
        let mut state = GitState::default();
        state.ran("git commit -m a", "[main 1111111] a");
        state.failed(
            "git commit -m b && git push",
            "[main 2222222] b\nfatal: Could not read from remote repository.",
        );
        state.failed("make", "[main 3333333] c");
        assert_eq!(state.commit.as_deref(), Some("2222222"));
    }

    #[test]
    fn a_clean_status_is_clean_and_other_output_says_nothing() {
        assert_eq!(
            after(&[("git status", "On branch main\nnothing to commit, working tree clean")]).2,
            Some(false)
        );
        assert_eq!(after(&[("git status -sb", "fatal: not a git repository")]).2, None);
        assert_eq!(after(&[("echo git commit", "[x] done")]).1, None);
    }
}

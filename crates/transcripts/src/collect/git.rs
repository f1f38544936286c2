//! What commands tell about the working copy: the branch, the last commit, whether something is not committed.

use baton_packet::packet::is_source;

use super::git_begun::{GitOperation, begun_after, commit_below_conflict, stops_at_conflict};
use super::git_status::{is_cut, status_part};
use super::steps::{git_words, plain_steps};

/// The working copy as the commands of a session showed it.
#[derive(Debug, Default)]
pub(super) struct GitState {
    /// The branch that was switched to last.
    pub branch: Option<String>,
    /// The last commit that was made or shown as the newest.
    pub commit: Option<String>,
    /// Whether the newest commit is another one than at the beginning, be it known or not.
    pub has_moved: bool,
    /// Whether there were changes that are not committed.
    pub dirty: Option<bool>,
    /// Whether git answered at all.
    pub answered: bool,
    /// The line on which everything was pushed last.
    pub pushed_at: Option<u64>,
    /// The files that were changed, as they were named.
    changed: Vec<String>,
    /// Whether the user spoke since the last change, and may have committed it.
    user_spoke: bool,
    /// Whether a commit was made outside of the session since the last call.
    committed_elsewhere: bool,
    /// The line on which git listed what is not committed last.
    listed_at: u64,
    /// The line of the last change of a file.
    changed_at: u64,
    /// What stopped at conflicts and was neither ended nor given up.
    pub in_progress: Option<GitOperation>,
}

impl GitState {
    /// A command succeeded on this line and printed this.
    pub(super) fn ran(&mut self, command: &str, output: &str, line: u64) {
        if !command.contains("git ") {
            return;
        }
        let steps = plain_steps(command);
        for (nth, step) in steps.iter().enumerate() {
            let Some((verb, rest)) = git_words(step) else { continue };
            self.answered = true;
            self.in_progress = begun_after(self.in_progress, (verb, &rest), output, true);
            if names_the_branch(verb, &rest) {
                self.read_branch_name(output, nth, steps.len());
                continue;
            }
            match verb {
                "merge" | "cherry-pick" | "revert" if rest.contains(&"--continue") => {
                    self.committed(output, true)
                }
                "commit" if rest.contains(&"--dry-run") => {}
                "commit" | "cherry-pick" | "revert" => self.committed(output, verb == "commit"),
                "checkout" | "switch" => self.switched(output),
                "status" => {
                    let part = status_part(&steps, nth, output, is_cut(command));
                    // Where it is cut off, an empty part says nothing.
                    let is_empty = part.text.trim().is_empty() && !output.trim().is_empty() && !part.is_whole;
                    self.status(if is_empty { output } else { &part.text }, line);
                }
                "rev-parse" if rest.contains(&"HEAD") => self.head(output),
                "log" => self.log(&rest, output),
                // What it shows is not committed.
                "diff" if rest.iter().all(|word| word.starts_with('-')) && !output.trim().is_empty() => {
                    self.user_spoke = false;
                }
                "branch" => self.listed(output),
                "rebase" | "pull" | "merge" => self.joined(verb, output),
                "reset" => self.reset(&rest, output),
                "push" => self.pushed(output, line),
                "stash" if output.contains("Saved working directory") => self.dirty = None,
                _ => {}
            }
        }
    }

    /// A command failed after it had printed this: of several steps, the commit may have been made and the push refused.
    pub(super) fn failed(&mut self, command: &str, output: &str) {
        for step in plain_steps(command) {
            if let Some((verb, rest)) = git_words(&step) {
                self.in_progress = begun_after(self.in_progress, (verb, &rest), output, false);
            }
            match git_words(&step) {
                Some(("commit", _)) => self.committed(output, false),
                Some(("rebase" | "cherry-pick", _)) if stops_at_conflict(output) => self.stopped(output),
                _ => {}
            }
        }
    }

    /// A command began on this line, and how it ended is not known: neither is what it was to commit or to take back.
    pub(super) fn began(&mut self, command: &str, line: u64) {
        for step in plain_steps(command) {
            let Some((verb, rest)) = git_words(&step).filter(|(_, rest)| !rest.contains(&"--dry-run")) else {
                continue;
            };
            let moves = ["commit", "rebase", "merge", "pull", "cherry-pick", "revert", "reset", "am"];
            let takes_back = ["stash", "restore", "checkout", "switch"];
            if moves.contains(&verb) && !matches!(rest.as_slice(), [] | ["HEAD", ..] if verb == "reset") {
                self.moved_to(None);
            }
            if (moves.contains(&verb) || takes_back.contains(&verb)) && self.changed_at < line {
                self.dirty = None;
            }
        }
    }

    /// Whether git listed what is not committed after this line.
    pub(super) fn told_since(&self, line: u64) -> bool {
        self.listed_at > line
    }

    /// The tool itself reported a commit: whether uncommitted changes are left is unknown.
    pub(super) fn committed_by_the_tool(&mut self) {
        (self.dirty, self.has_moved) = (None, false);
    }

    /// The user said something, and may have done something before.
    pub(super) fn user_spoke(&mut self) {
        self.user_spoke = true;
    }

    /// Whether a commit made outside of the session was seen since the last call.
    pub(super) fn saw_commit_of_others(&mut self) -> bool {
        std::mem::take(&mut self.committed_elsewhere)
    }

    /// Files were changed.
    pub(super) fn changed(&mut self, paths: impl Iterator<Item = String>, line: u64) {
        (self.dirty, self.user_spoke, self.changed_at) = (Some(true), false, line);
        for path in paths.filter(|path| !path.is_empty()) {
            if !self.changed.contains(&path) {
                self.changed.push(path);
            }
        }
    }

    /// The working copy is on this branch, as a command or the tool's own records show. The commit that is known is of the
    /// branch before.
    pub(super) fn on_branch(&mut self, name: &str) {
        if name == "HEAD" || self.branch.as_deref() == Some(name) {
            return;
        }
        if self.branch.is_some() {
            self.moved_to(None);
        }
        self.branch = Some(name.to_owned());
    }

    fn moved_to(&mut self, commit: Option<&str>) {
        (self.commit, self.has_moved) = (commit.map(str::to_owned), true);
    }

    /// A command shows this as the newest commit. Where it differs from the known one, a commit was made outside the session, and
    /// what is left of the changes is not known; neither is it where none was known and the user spoke after the last change.
    fn shown(&mut self, id: &str) {
        let is_new = match self.commit.as_deref() {
            Some(known) => !known.starts_with(id) && !id.starts_with(known),
            None => self.user_spoke,
        };
        if is_new {
            (self.dirty, self.committed_elsewhere, self.in_progress) = (None, true, None);
        }
        self.moved_to(Some(id));
    }

    /// `git branch --show-current` and the like: one line, which stands first or last where other steps print as well.
    fn read_branch_name(&mut self, output: &str, nth: usize, steps: usize) {
        let mut lines = output.lines().map(str::trim).filter(|line| !line.is_empty());
        let line = match (lines.clone().count(), nth) {
            (1, _) if steps == 1 => lines.next(),
            (_, 0) if steps > 1 => lines.next(),
            (_, nth) if nth + 1 == steps => lines.next_back(),
            _ => None,
        };
        if let Some(name) = line.filter(|name| is_branch_name(name)) {
            self.on_branch(name);
        }
    }

    /// `* main` in a list of branches.
    fn listed(&mut self, output: &str) {
        let current = output.lines().find_map(|line| line.strip_prefix("* "));
        let name = current.and_then(|text| text.split_whitespace().next());
        if let Some(name) = name.filter(|name| is_branch_name(name)) {
            self.on_branch(name);
        }
    }

    /// `[main 1a2b3c4] Subject`, `[main (root-commit) 1a2b3c4] Subject`: the last of several.
    fn committed(&mut self, output: &str, is_sure: bool) {
        match output.lines().rev().find_map(commit_line) {
            Some((branch, id)) => {
                self.moved_to(Some(id));
                self.dirty = None;
                if branch != "detached" {
                    self.branch = Some(branch.to_owned());
                }
            }
            // It was made, and what it is called was not shown.
            None if is_sure && !output.contains("nothing to commit") => {
                self.moved_to(None);
                self.dirty = None;
            }
            None => {}
        }
    }

    /// `Switched to branch 'x'`, `Switched to a new branch 'x'`, `Already on 'x'`.
    fn switched(&mut self, output: &str) {
        let line =
            output.lines().find(|line| line.starts_with("Switched to") || line.starts_with("Already on"));
        let name = line.and_then(|line| line.split('\'').nth(1)).filter(|name| !name.is_empty());
        // A new branch begins at the commit of the one before.
        if let Some(name) = name {
            self.branch = Some(name.to_owned());
        }
        if line.is_some_and(|line| line.starts_with("Switched to branch")) {
            self.moved_to(None);
        }
    }

    /// The long form, and the short one in which every line is a file.
    fn status(&mut self, output: &str, line: u64) {
        let has = |text: &str| output.lines().any(|line| line.trim_start().starts_with(text));
        let short = |line: &str| {
            line.strip_prefix("## ").map(|rest| rest.split("...").next().unwrap_or(rest).to_owned())
        };
        let long = |line: &str| line.strip_prefix("On branch ").map(|name| name.trim().to_owned());
        let name = output.lines().find_map(|line| long(line).or_else(|| short(line)));
        if let Some(name) = name.filter(|name| is_branch_name(name)) {
            self.on_branch(&name);
        }
        if has("Your branch is up to date with") {
            self.pushed_at = Some(line);
        }
        let clean = has("nothing to commit") || output.trim().is_empty();
        let marks = |line: &str| -> Option<(bool, String)> {
            let bytes = line.as_bytes();
            let is_mark = |at: usize| bytes.get(at).is_some_and(|mark| b" MADRCU?".contains(mark));
            let is_file = is_mark(0) && is_mark(1) && bytes.get(2) == Some(&b' ') && bytes.len() > 3;
            is_file.then(|| (line.starts_with("??"), line[3..].to_owned()))
        };
        let short: Vec<(bool, String)> = output.lines().filter_map(marks).collect();
        let changed = ["Changes not staged", "Changes to be committed", "Unmerged paths"];
        let untracked = || {
            let listed = output.lines().skip_while(|line| !line.starts_with("Untracked files"));
            let listed = listed.filter(|line| line.starts_with('\t')).map(|line| line.trim().to_owned());
            listed.chain(short.iter().map(|(_, path)| path.clone())).collect::<Vec<String>>()
        };
        (self.user_spoke, self.listed_at) = (false, line);
        if clean {
            self.dirty = Some(false);
        } else if changed.iter().any(|text| has(text)) || short.iter().any(|(is_new, _)| !is_new) {
            self.dirty = Some(true);
        } else if has("Untracked files") || !short.is_empty() {
            // Files that the session did not make are no work that waits for a commit.
            // Of notes and plans it is not known whether they are to be committed at all.
            let source: Vec<String> =
                untracked().into_iter().filter(|path| path.ends_with('/') || is_source(path)).collect();
            self.dirty = self.made_any_of(&source).then_some(true);
        }
    }

    fn made_any_of(&self, paths: &[String]) -> bool {
        let is_ours = |path: &String| {
            self.changed.iter().any(|known| match path.strip_suffix('/') {
                Some(_) => known.starts_with(path.as_str()),
                None => known == path,
            })
        };
        paths.iter().any(is_ours)
    }

    fn head(&mut self, output: &str) {
        let first = output.lines().next().unwrap_or_default().trim();
        if is_id(first) {
            self.shown(first);
        }
    }

    /// The first line of a log of the branch itself.
    fn log(&mut self, rest: &[&str], output: &str) {
        let is_plain = rest.iter().all(|word| {
            word.starts_with('-')
                && !["--all", "--grep", "-S", "-G", "--author", "--reverse", "--skip", "--since"]
                    .iter()
                    .any(|flag| word.starts_with(flag))
                || word.bytes().all(|byte| byte.is_ascii_digit())
        });
        let id = output.lines().find_map(|line| {
            let mut words = line.trim_start_matches("* ").split_whitespace().filter(|word| *word != "commit");
            let first = words.next()?;
            (is_id(first) && first.bytes().any(|byte| byte.is_ascii_digit())).then_some(first)
        });
        let Some(id) = id.filter(|_| is_plain) else { return };
        let decorated =
            output.lines().next().and_then(|line| line.split_once("(HEAD -> ")).map(|(_, rest)| rest);
        if let Some(name) =
            decorated.and_then(|rest| rest.split([',', ')']).next()).filter(|name| is_branch_name(name))
        {
            self.on_branch(name);
        }
        self.shown(id);
    }

    /// What a rebase, a merge or a pull made is named nowhere, except where it only went forward.
    fn joined(&mut self, verb: &str, output: &str) {
        if verb != "merge" && !output.contains("Automatic merge failed") && stops_at_conflict(output) {
            self.stopped(output);
        } else if output.contains("Successfully rebased") {
            self.moved_to(None);
            self.dirty = None;
        } else if output.contains("Fast-forward") {
            let line = output.lines().find_map(|line| line.strip_prefix("Updating "));
            let id = line.and_then(|line| line.split("..").nth(1)).map(str::trim).filter(|id| is_id(id));
            self.moved_to(id);
        } else if output.contains("Merge made by") {
            self.moved_to(None);
        }
    }

    /// A rebase stopped at a conflict, somewhere between the two branches.
    fn stopped(&mut self, output: &str) {
        self.moved_to(commit_below_conflict(output).filter(|id| is_id(id)));
    }

    fn reset(&mut self, rest: &[&str], output: &str) {
        let line = output.lines().find_map(|line| line.strip_prefix("HEAD is now at "));
        let id = line.and_then(|line| line.split_whitespace().next()).filter(|id| is_id(id));
        let goes = rest.iter().any(|word| word.contains('~') || word.contains('^') || is_id(word));
        if id.is_some() || goes {
            self.moved_to(id);
            self.dirty = if rest.contains(&"--hard") { None } else { Some(true) };
        }
    }

    /// `   1a2b3c4..5d6e7f8  main -> main`
    fn pushed(&mut self, output: &str, line: u64) {
        self.pushed_at = Some(line);
        let ids = output.lines().filter_map(|line| {
            let (ids, branches) = line.trim_start_matches([' ', '+']).split_once(' ')?;
            let branch = branches.trim_start().split(" -> ").next()?;
            let id = ids.rsplit("..").next()?.trim_start_matches('.');
            (ids.contains("..") && is_id(id)).then_some((branch, id))
        });
        let own = self.branch.as_deref();
        let mut found = ids.filter(|(branch, _)| own == Some(*branch) || *branch == "HEAD");
        if let Some((_, id)) = found.next_back() {
            self.moved_to(Some(id));
        }
    }
}

/// The branch and the commit of `[main 1a2b3c4] Subject`.
fn commit_line(line: &str) -> Option<(&str, &str)> {
    let (inside, _) = line.strip_prefix('[')?.split_once(']')?;
    let (branch, id) = inside.rsplit_once(' ')?;
    is_id(id).then_some((branch.split(' ').next()?, id))
}

/// Whether git says by a line that it made a commit.
pub(super) fn is_commit_line(line: &str) -> bool {
    let inside = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map(|(inside, _)| inside);
    inside.and_then(|inside| inside.rsplit_once(' ')).is_some_and(|(branch, id)| {
        // `git config core.abbrev` may shorten it.
        let is_id = (2..=40).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id && branch.bytes().any(|byte| !byte.is_ascii_digit())
    })
}

/// Whether a step of git prints the branch's name and nothing else.
fn names_the_branch(verb: &str, rest: &[&str]) -> bool {
    match verb {
        "branch" => rest.contains(&"--show-current"),
        "rev-parse" => rest.contains(&"--abbrev-ref") && rest.contains(&"HEAD"),
        "symbolic-ref" => rest.contains(&"--short") && rest.contains(&"HEAD"),
        _ => false,
    }
}

/// What git allows as the name of a branch, as far as it tells it from other output.
fn is_branch_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(['-', '(', '/', '.'])
        && !text.ends_with(['/', '.', ':'])
        && !text.contains("..")
        && !text.chars().any(|c| c.is_whitespace() || c.is_control() || "~^:?*[\\(){}\"'`,;".contains(c))
}

fn is_id(text: &str) -> bool {
    (7..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(runs: &[(&str, &str)]) -> GitState {
        let mut state = GitState::default();
        runs.iter().for_each(|(command, output)| state.ran(command, output, 1));
        state
    }

    fn after(runs: &[(&str, &str)]) -> (Option<String>, Option<String>, Option<bool>) {
        let state = state(runs);
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
    fn what_stopped_at_conflicts_is_in_progress_until_it_is_ended() {
        let begun = |runs: &[(&str, &str, bool)]| {
            let mut state = GitState::default();
            for (command, output, ok) in runs {
                match ok {
                    true => state.ran(command, output, 1),
                    false => state.failed(command, output),
                }
            }
            state.in_progress.map(GitOperation::name)
        };
        let conflict = "CONFLICT (content): Merge conflict in a.go\nAutomatic merge failed; fix conflicts and then commit the result.";
        let merge = ("git fetch && git merge origin/main", conflict, false);
        assert_eq!(begun(&[merge]), Some("merge"));
        assert_eq!(begun(&[("git merge origin/main 2>&1 | tail -5", conflict, true)]), Some("merge"));
        assert_eq!(
            begun(&[(
                "git pull --rebase",
                "error: could not apply 1a2b3c4... x\nCONFLICT (content): a",
                false
            )]),
            Some("rebase")
        );
        assert_eq!(begun(&[merge, ("git add a.go && git diff --check", "", true)]), Some("merge"));
        for end in [
            ("git commit --no-edit", "[main 1a2b3c4] Merge", true),
            ("git merge --abort", "", true),
            ("git reset --hard", "HEAD is now at 1a2b3c4 x", true),
            ("git status", "On branch main\nnothing to commit, working tree clean", true),
            ("git add -A && git commit -m x && git push", "[main 1a2b3c4] Merge\nfatal: no remote", false),
        ] {
            assert_eq!(begun(&[merge, end]), None, "{end:?}");
        }
        let refused = ("git commit -m x", "lint failed", false);
        assert_eq!(begun(&[merge, refused]), Some("merge"));
        let rebase = ("git rebase main", "CONFLICT (content): a", false);
        assert_eq!(begun(&[rebase, ("git commit -m x", "[detached HEAD 1a2b3c4] x", true)]), Some("rebase"));
        assert_eq!(
            begun(&[rebase, ("git rebase --continue", "CONFLICT (content): b", false)]),
            Some("rebase")
        );
        assert_eq!(
            begun(&[rebase, ("git rebase --continue", "Successfully rebased and updated", true)]),
            None
        );
        let status = "On branch main\nYou have unmerged paths.\n  (fix conflicts and run \"git commit\")";
        assert_eq!(begun(&[("git status", status, true)]), Some("merge"));
        assert_eq!(begun(&[("git merge x", "Already up to date.", true)]), None);
    }

    #[test]
    fn a_branch_that_was_left_is_told_no_more_and_neither_is_its_commit() {
        let left = |command: &str, output: &str| {
            after(&[
                ("git checkout -b patch-y", "Switched to a new branch 'patch-y'"),
                ("git commit -am r", "[patch-y f382f6f] r"),
                (command, output),
            ])
        };
        let other = (Some("feature/x".to_owned()), None, None);
        for (command, output) in [
            ("git branch --show-current", "feature/x"),
            ("git branch --show-current && git log origin/main -1", "feature/x\n1111111 a"),
            ("ls && git branch --show-current", "a\nb\nfeature/x"),
            ("git rev-parse --abbrev-ref HEAD", "feature/x\n"),
            ("git symbolic-ref --short HEAD", "feature/x"),
            ("git branch -a", "  main\n* feature/x\n  remotes/origin/main"),
        ] {
            assert_eq!(left(command, output), other, "{command}");
        }
        let shown = Some("1111111".to_owned());
        let log = left("git log --oneline --decorate -1", "1111111 (HEAD -> feature/x, origin/feature/x) a");
        assert_eq!((log.0.as_deref(), log.1), (Some("feature/x"), shown));
        let status = left("git status", "On branch feature/x\nnothing to commit, working tree clean");
        assert_eq!(status, (Some("feature/x".into()), None, Some(false)));
        let short = left("git status -sb", "## feature/x...origin/feature/x\n M a.rs");
        assert_eq!(short, (Some("feature/x".into()), None, Some(true)));
        for (command, output) in [
            ("git branch --show-current && make && git log -1", "make: nothing to be done\nfeature/x"),
            ("git branch --show-current", ""),
            ("git branch", "* (HEAD detached at 1a2b3c4)\n  main"),
        ] {
            assert_eq!(left(command, output).0.as_deref(), Some("patch-y"), "{command}");
        }
    }

    #[test]
    fn a_commit_that_somebody_else_made_leaves_it_open_what_is_not_committed() {
        let state = |log: &str| {
            let mut state = state(&[("git log --oneline -1", "b50a1b2 Fix bug")]);
            state.changed(["a.rs".to_owned()].into_iter(), 1);
            state.ran("git log --oneline -2", log, 2);
            (state.commit, state.dirty)
        };
        assert_eq!(state("af3f83b removed dead code\nb50a1b2 Fix bug"), (Some("af3f83b".into()), None));
        assert_eq!(state("b50a1b2a Fix bug"), (Some("b50a1b2a".into()), Some(true)));
    }

    #[test]
    fn a_commit_that_is_shown_first_after_the_user_spoke_may_be_of_the_changes() {
        let state = |speaks: bool| {
            let mut state = GitState::default();
            state.changed(["a.rs".to_owned()].into_iter(), 1);
            if speaks {
                state.user_spoke();
            }
            state.ran("git log --oneline -2", "af3f83b removed dead code\nb50a1b2 Fix bug", 2);
            (state.commit.is_some(), state.dirty)
        };
        assert_eq!((state(true), state(false)), ((true, None), (true, Some(true))));
        let mut seen = GitState::default();
        seen.changed(["a.rs".to_owned()].into_iter(), 1);
        seen.user_spoke();
        seen.ran("git log --oneline -1 && git status --short", "af3f83b removed dead code\n M a.rs", 2);
        assert_eq!(seen.dirty, Some(true), "git says so");
    }

    #[test]
    fn a_commit_counts_though_the_push_behind_it_failed() {
        let mut state = state(&[("git commit -m a", "[main 1111111] a")]);
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

    #[test]
    fn what_a_rebase_made_is_not_known_until_it_is_shown() {
        let mut state =
            state(&[("git log --oneline -1", "1a2b3c4 First"), ("git checkout x", "Switched to branch 'x'")]);
        state.changed(["a.rs".to_owned()].into_iter(), 1);
        state.failed(
            "git add commit.rs && git rebase --continue",
            "[detached HEAD e8bf0c9] a\nCONFLICT (content): b",
        );
        assert_eq!((state.commit.as_deref(), state.has_moved), (None, true));
        let done = "[detached HEAD 3ec0053] b\nRebasing (4/4)Successfully rebased and updated refs/heads/x.";
        state.ran("git rebase --continue 2>&1", done, 2);
        assert_eq!((state.commit.as_deref(), state.dirty), (None, None));
        state.ran("git push --force", "To x\n + 1a2b3c4...5d6e7f8 x -> x (forced update)", 3);
        assert_eq!((state.commit.as_deref(), state.pushed_at), (Some("5d6e7f8"), Some(3)));
        state.ran("git reset --hard HEAD~1 && git log --oneline -2", "HEAD is now at 9571a23 a", 4);
        assert_eq!(state.commit.as_deref(), Some("9571a23"));
        state.ran("git log --oneline origin/main -3", "1111111 a", 5);
        assert_eq!(state.commit.as_deref(), Some("9571a23"), "another branch");
    }

    #[test]
    fn where_a_rebase_stops_again_its_last_commit_is_known_if_git_made_none_behind_it() {
        let stopped = |steps: &str, ok: bool| {
            let mut state = state(&[("git log --oneline -1", "1a2b3c4 First")]);
            let output = format!(
                "[detached HEAD e8bf0c9] a\n 1 file changed\n{steps}Auto-merging b.rs\nCONFLICT (content): Merge conflict in b.rs\n\
                 error: could not apply 7191277... b"
            );
            match ok {
                true => state.ran("git rebase --continue 2>&1 | cat", &output, 2),
                false => state.failed("git rebase --continue", &output),
            }
            (state.commit, state.in_progress.is_some())
        };
        for ok in [true, false] {
            assert_eq!(stopped("Rebasing (2/4)\r", ok).0.as_deref(), Some("e8bf0c9"), "{ok}");
            assert_eq!(stopped("Rebasing (2/4)\rRebasing (3/4)\r", ok).0, None, "{ok}: one more lies on it");
        }
        // The first stop lies on a commit of the other branch.
        let mut state = state(&[("git log --oneline -1", "1a2b3c4 First")]);
        state.ran("git rebase main 2>&1 | tail -2", "CONFLICT (content): a\nCould not apply a337f33... a", 2);
        assert_eq!((state.commit.as_deref(), state.has_moved), (None, true));
    }

    #[test]
    fn files_that_nobody_here_made_are_no_uncommitted_changes() {
        let status = "On branch main\nUntracked files:\n  (use \"git add\")\n\tnotes/\n\nnothing added to commit but untracked files present";
        assert_eq!(after(&[("git commit -m a", "[main 1a2b3c4] a"), ("git status", status)]).2, None);
        assert_eq!(after(&[("git status --short", "?? a.rs")]).2, None);
        let mut state = GitState::default();
        state.changed(["notes/plan.rs".to_owned()].into_iter(), 1);
        state.ran("git status", status, 1);
        assert_eq!(state.dirty, Some(true));
    }
}

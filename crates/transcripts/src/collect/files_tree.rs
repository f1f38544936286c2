//! What git did to the files that a session changed.

use super::SourceRef;
use super::files::{FileState, Files, WholeFile, relative};
use super::git_status::lists;
use super::net_lines::NetLines;
use super::pathspec::{PathMatch, matches};
use super::work_tree::TreeEvent;
use crate::event::{Change, Edit};

/// How many commits can be taken back.
const MAX_COMMITS: usize = 40;
/// How many files of which nothing else is known are told by a commit.
const MAX_MOVES: usize = 80;

/// What was put aside of one file.
#[derive(Debug)]
struct StashedFile {
    path: String,
    net: NetLines,
    diff: Option<String>,
    is_uncommitted: Option<bool>,
}

/// What can be put back or taken back.
#[derive(Debug, Default)]
pub(super) struct History {
    /// For each stash its files; nothing where it is not known which they are.
    stashes: Vec<Option<Vec<StashedFile>>>,
    /// For each commit what it left behind of every file, by path.
    commits: Vec<Vec<(String, NetLines)>>,
    moves: usize,
    /// Whether git told of any file whether it is in a commit.
    is_told: bool,
}

impl History {
    pub(super) fn has_commits(&self) -> bool {
        !self.commits.is_empty()
    }
}

impl Files {
    /// Git did this.
    pub(super) fn tree_event(&mut self, event: TreeEvent, root: Option<&str>, at: &SourceRef) {
        match event {
            TreeEvent::Staged(paths) => self.staged(&paths, root),
            TreeEvent::Committed { all, amends, count } => self.commit(all, amends, count),
            TreeEvent::CommittedElsewhere => self.forget_where(Some(true)),
            TreeEvent::Uncommitted => self.forget_where(Some(false)),
            TreeEvent::Shown { uncommitted, is_all } => self.status(&uncommitted, is_all),
            TreeEvent::Restored(paths) => {
                let lost: Vec<String> = self.files_at(&paths, root).filter_map(FileState::loses).collect();
                self.taken_back.extend(lost);
                self.files_at(&paths, root).for_each(FileState::restore);
            }
            TreeEvent::Reset { commits } => {
                let lost: Vec<String> = self.rows().iter_mut().filter_map(FileState::loses).collect();
                self.taken_back.extend(lost);
                self.reset(commits);
            }
            TreeEvent::Stashed { all } => self.stash(all),
            TreeEvent::Unstashed => self.unstash(),
            TreeEvent::StashDropped => self.drop_stash(),
            TreeEvent::New(path) => self.is_new(&path),
            TreeEvent::Begun(event) => self.leave_open(*event, root, at.line),
            TreeEvent::Formatted(endings) => {
                let is_of = |file: &&mut FileState| {
                    endings.is_empty() || endings.iter().any(|ending| file.path.ends_with(ending))
                };
                self.rows().iter_mut().filter(is_of).for_each(|file| file.is_formatted = true);
            }
            TreeEvent::Changed(edit) => {
                self.changed_by_commit(&edit, root, at);
                self.row_at(&edit.path).into_iter().for_each(|file| file.is_uncommitted = Some(false));
            }
        }
    }

    /// A command began on this line that was to do this: how files stand that were changed before is not known any more.
    fn leave_open(&mut self, event: TreeEvent, root: Option<&str>, line: u64) {
        let (paths, keeps_changes) = match event {
            TreeEvent::Staged(paths) => return self.staged(&paths, root),
            TreeEvent::Committed { all, .. } => {
                self.history.is_told = true;
                let is_in = |file: &&mut FileState| {
                    (all && file.change != Change::Created || file.is_staged) && file.at.line < line
                };
                let files = self.rows().iter_mut().filter(is_in);
                return files.for_each(|file| (file.is_committed, file.is_uncommitted) = (None, None));
            }
            TreeEvent::Restored(paths) => (paths, false),
            event => (Vec::new(), matches!(event, TreeEvent::Uncommitted)),
        };
        for file in self.files_at(&paths, root).filter(|file| file.at.line < line) {
            if !keeps_changes {
                file.net.forget();
                file.whole = WholeFile::Lost;
            }
            file.is_uncommitted = None;
        }
    }

    /// It is not known any more of these files whether they are in a commit.
    fn forget_where(&mut self, state: Option<bool>) {
        self.history.is_told = true;
        let files = self.rows().iter_mut().filter(|file| file.is_uncommitted == state);
        files.for_each(|file| file.is_uncommitted = None);
    }

    /// Git listed what is in no commit. What was put aside is not among it.
    fn status(&mut self, uncommitted: &[String], is_all: bool) {
        self.history.is_told = true;
        if !self.history.stashes.is_empty() {
            return;
        }
        for file in self.rows() {
            let is_listed = uncommitted.iter().any(|listed| lists(listed, &file.path));
            // Of a file that git does not list it may know nothing.
            let is_tracked = file.change == Change::Modified || file.is_committed == Some(true);
            file.is_uncommitted = match (is_listed, is_all) {
                (true, _) => Some(true),
                (false, true) => is_tracked.then_some(false),
                (false, false) => file.is_uncommitted,
            };
        }
    }

    /// Whether the session tells of any file whether it is in a commit.
    pub(super) fn tells_commits(&self) -> bool {
        self.history.is_told
    }

    /// The files of these names and in these folders; all without a name.
    fn files_at<'f>(
        &'f mut self,
        paths: &[String],
        root: Option<&str>,
    ) -> impl Iterator<Item = &'f mut FileState> {
        let paths: Vec<String> = paths.iter().map(|path| relative(path, root)).collect();
        let is_named = move |file: &&mut FileState| {
            paths.is_empty() || paths.iter().any(|path| matches(path, &file.path).is_some())
        };
        self.rows().iter_mut().filter(is_named)
    }

    /// These go into the next commit; all without a name.
    fn staged(&mut self, paths: &[String], root: Option<&str>) {
        let paths: Vec<String> = paths.iter().map(|path| relative(path, root)).collect();
        for file in self.rows() {
            let found: Vec<PathMatch> = paths.iter().filter_map(|path| matches(path, &file.path)).collect();
            file.is_staged |= paths.is_empty() || !found.is_empty();
            file.is_named |= found.contains(&PathMatch::Named);
        }
    }

    fn commit(&mut self, all: bool, amends: bool, count: Option<usize>) {
        self.history.is_told = true;
        if amends {
            self.history.commits.pop();
        }
        // `git add -A` names those, too, that were committed and not changed since.
        let changes =
            |file: &&FileState| file.is_staged && (file.is_committed != Some(true) || file.net != file.base);
        let staged = self.rows().iter().filter(changes).count();
        // Where it holds more than what was staged here, the rest was staged outside of the session.
        let is_all_known = count.is_some_and(|count| count <= staged);
        let is_fewer = count.is_some_and(|count| count < staged);
        let mut bases = Vec::new();
        for file in self.rows() {
            let is_in = all && file.change != Change::Created || file.is_staged;
            if is_in {
                // Where the commit holds fewer files than `git add -A` named, git ignores some of the new ones.
                let is_known_to_git =
                    file.change != Change::Created || file.is_committed == Some(true) || file.is_named;
                let may_be_ignored = is_fewer && !is_known_to_git;
                let state = (!may_be_ignored).then_some(true);
                (file.base, file.is_committed, file.is_staged) = (file.net.clone(), state, false);
                file.is_uncommitted = state.map(|_| false);
            } else if file.net != file.base && !is_all_known {
                // Another process or the user may have staged it.
                (file.is_committed, file.is_uncommitted) = (None, None);
            }
            bases.push((file.path.clone(), file.base.clone()));
        }
        self.history.commits.push(bases);
        let excess = self.history.commits.len().saturating_sub(MAX_COMMITS);
        self.history.commits.drain(..excess);
    }

    fn reset(&mut self, commits: Option<usize>) {
        let known = commits.filter(|commits| *commits <= self.history.commits.len());
        let left = self.history.commits.len() - known.unwrap_or(0);
        self.history.commits.truncate(left);
        let last = self.history.commits.last().cloned().unwrap_or_default();
        for file in self.rows() {
            (file.is_staged, file.is_uncommitted) = (false, known.map(|_| false));
            if known.is_none() {
                file.net.forget();
                continue;
            }
            if commits != Some(0) {
                let base = last.iter().find(|(path, _)| *path == file.path).map(|(_, base)| base.clone());
                file.base = base.unwrap_or_default();
            }
            file.restore();
        }
    }

    fn stash(&mut self, all: bool) {
        let stashed = all.then(|| {
            let files = self.rows().iter_mut().filter(|file| !file.is_untracked());
            let put_aside = |file: &mut FileState| {
                let (path, net, diff) = (file.path.clone(), file.net.clone(), file.diff.clone());
                let is_uncommitted = file.is_uncommitted;
                file.restore();
                StashedFile { path, net, diff, is_uncommitted }
            };
            files.map(put_aside).collect()
        });
        self.history.stashes.push(stashed);
    }

    fn unstash(&mut self) {
        for stashed in self.history.stashes.pop().flatten().unwrap_or_default() {
            let Some(file) = self.row_at(&stashed.path) else { continue };
            file.whole.restore();
            file.is_uncommitted = stashed.is_uncommitted;
            if file.net == file.base {
                (file.net, file.diff) = (stashed.net, stashed.diff);
                file.is_undone = file.net.is_nothing() && file.is_undone;
            } else {
                file.net.forget();
                file.is_undone = false;
            }
        }
    }

    fn drop_stash(&mut self) {
        for stashed in self.history.stashes.pop().flatten().unwrap_or_default() {
            let is_lost = self
                .row_at(&stashed.path)
                .is_some_and(|file| file.net == file.base && stashed.net != file.base);
            self.taken_back.extend(is_lost.then_some(stashed.path));
        }
    }

    /// What is still put aside at the end is work that waits.
    pub(super) fn put_stashes_back(&mut self) {
        while !self.history.stashes.is_empty() {
            self.unstash();
        }
    }

    /// A commit says that a file is new, with its path in the repository.
    fn is_new(&mut self, path: &str) {
        let same = |known: &str| {
            let ends =
                |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
            known == path || ends(known, path) || ends(path, known)
        };
        // One that was made here may be one that git ignores, until a commit lists it.
        let is_open = |file: &FileState| {
            file.change == Change::Modified || file.change == Change::Created && file.is_committed.is_none()
        };
        let mut found = self.rows().iter_mut().filter(|file| is_open(file) && same(&file.path));
        if let (Some(file), None) = (found.next(), found.next()) {
            if file.change == Change::Created {
                (file.is_committed, file.is_uncommitted) = (Some(true), Some(false));
            }
            file.change = Change::Created;
        }
    }

    fn changed_by_commit(&mut self, edit: &Edit, root: Option<&str>, at: &SourceRef) {
        let has = |files: &mut Self, path: &str| files.row_at(path).is_some();
        // What a command line told already, by another name or in two steps.
        if edit.from.as_deref().is_some_and(|from| self.is_gone(from)) || self.is_gone(&edit.path) {
            return;
        }
        let knows_from = edit.from.as_deref().is_some_and(|from| has(self, from));
        match (has(self, &edit.path), knows_from) {
            (true, true) => {}
            // It was known to be there, and not from where it came.
            (true, false) => {
                let Some(file) = self.row_at(&edit.path) else { return };
                match edit.change {
                    Change::Renamed if file.change == Change::Modified && file.from.is_none() => {
                        (file.change, file.from) = (Change::Renamed, edit.from.clone());
                    }
                    Change::Deleted if file.change != Change::Deleted => self.apply(edit, root, at),
                    _ => {}
                }
            }
            (false, true) => self.apply(edit, root, at),
            (false, false) if self.history.moves < MAX_MOVES => {
                self.history.moves += 1;
                self.apply(edit, root, at);
            }
            (false, false) => {}
        }
    }
}

impl FileState {
    /// A file that git does not know keeps what was written.
    fn is_untracked(&self) -> bool {
        self.change == Change::Created && self.is_committed == Some(false) && !self.is_staged
    }

    /// The path, where changes that are in no commit are lost when git restores the file.
    fn loses(&mut self) -> Option<String> {
        let is_kept =
            self.is_untracked() || self.path.is_empty() || self.is_staged || self.is_committed.is_none();
        (!is_kept && self.net != self.base).then(|| self.path.clone())
    }

    /// What was done since the last commit is gone.
    fn restore(&mut self) {
        if self.is_untracked() || self.path.is_empty() {
            return;
        }
        if self.is_staged || self.is_committed.is_none() {
            return self.net.forget();
        }
        if self.net != self.base {
            self.diff = None;
            self.whole.restore();
        }
        (self.net, self.is_uncommitted) = (self.base.clone(), Some(false));
        if self.net.is_nothing() && matches!(self.change, Change::Modified | Change::Deleted) {
            (self.change, self.is_undone) = (Change::Modified, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::work_tree::tree_events;
    use super::*;

    type FileEvent = (String, Change, Option<(u64, u64)>);

    /// The files of a session of edits (`path`, old and new text) and commands of git that went well.
    fn files(steps: &[(&str, &str, &str)]) -> Vec<FileEvent> {
        let mut files = Files::default();
        let at = SourceRef::default();
        for (what, old, new) in steps {
            if what.starts_with("git ") {
                for event in tree_events(what, old, true) {
                    files.tree_event(event, None, &at);
                }
            } else {
                files.apply(&Edit::replaced(what, old, new), None, &at);
            }
        }
        let row = |file: FileState| {
            let lines = file.lines();
            (file.path, file.change, lines)
        };
        files.into_vec().into_iter().map(row).collect()
    }

    fn modified(path: &str, added: u64, removed: u64) -> FileEvent {
        (path.to_owned(), Change::Modified, Some((added, removed)))
    }

    #[test]
    fn what_git_took_back_does_not_count_and_a_file_of_which_nothing_is_left_is_not_named() {
        let edit = ("a.rs", "", "1\n2");
        let again = ("a.rs", "", "3");
        for undo in ["git checkout -- a.rs", "git checkout a.rs", "git restore .", "git reset --hard"] {
            assert_eq!(files(&[edit, (undo, "", "")]), []);
            assert_eq!(files(&[edit, (undo, "", ""), again]), [modified("a.rs", 1, 0)]);
        }
        assert_eq!(files(&[edit, ("git checkout -- b.rs", "", "")]), [modified("a.rs", 2, 0)]);
        let stash = [edit, ("git stash", "Saved working directory", "")];
        assert_eq!(files(&stash), [modified("a.rs", 2, 0)], "it waits");
        let drop = [&stash[..], &[("git stash drop", "Dropped refs/stash@{0}", "")]].concat();
        assert_eq!(files(&drop), []);
        let pop = [&stash[..], &[("git stash pop", "Dropped refs/stash@{0}", "")]].concat();
        assert_eq!(files(&pop), [modified("a.rs", 2, 0)]);
    }

    #[test]
    fn what_was_committed_stays_unless_the_commit_goes() {
        let first = ("a.rs", "", "1\n2");
        let commit = ("git add a.rs && git commit -m x", "[main 1a2b3c4] x", "");
        let more = ("a.rs", "", "3");
        assert_eq!(files(&[first, commit, more, ("git checkout a.rs", "", "")]), [modified("a.rs", 2, 0)]);
        let back = ("git reset --hard HEAD~1", "HEAD is now at 1111111 y", "");
        assert_eq!(files(&[first, commit, back, more]), [modified("a.rs", 1, 0)]);
        assert_eq!(files(&[first, commit, ("git reset --hard 1111111", "", ""), more])[0].2, None);
        let unknown = ("git commit -m x", "[main 1a2b3c4] x", "");
        let unsure = files(&[first, unknown, ("git checkout a.rs", "", "")]);
        assert_eq!(unsure, [("a.rs".to_owned(), Change::Modified, None)], "who staged it is not known");
    }

    #[test]
    fn a_commit_tells_which_files_are_new_and_which_were_moved() {
        let output = "[main 1a2b3c4] x\n create mode 100644 app/a.rs\n rename app/{ => core}/b.rs (97%)";
        let changes = files(&[("app/a.rs", "", "1"), ("git add -A && git commit -m x", output, "")]);
        let created = ("app/a.rs".to_owned(), Change::Created, Some((1, 0)));
        assert_eq!(changes, [created, ("app/core/b.rs".to_owned(), Change::Renamed, None)]);
    }

    /// Whether each file has changes that are in no commit, after these steps.
    fn uncommitted(steps: &[(&str, &str)]) -> Vec<(String, Option<bool>)> {
        let mut files = Files::default();
        let at = SourceRef::default();
        for (what, output) in steps {
            match *what {
                "log" => files.tree_event(TreeEvent::CommittedElsewhere, None, &at),
                git if git.starts_with("git ") => {
                    tree_events(git, output, true)
                        .into_iter()
                        .for_each(|event| files.tree_event(event, None, &at));
                }
                path => {
                    let new = path
                        .strip_prefix('+')
                        .map(|path| Edit { change: Change::Created, ..Edit::replaced(path, "", "a") });
                    files.apply(&new.unwrap_or_else(|| Edit::replaced(path, "a", "b")), None, &at);
                }
            }
        }
        files.into_vec().into_iter().map(|file| (file.path, file.is_uncommitted)).collect()
    }

    #[test]
    fn a_new_file_that_a_commit_of_all_leaves_out_may_be_ignored() {
        let (first, second) = ("[main 1a2b3c4] x\n 1 file changed", "[main 2a2b3c4] y\n 1 file changed");
        let all = "git add -A && git commit -m x";
        let states = uncommitted(&[("+notes.md", ""), ("+a.rs", ""), (all, first)]);
        assert!(states.iter().all(|(_, state)| state.is_none()), "one of the two is ignored: {states:?}");
        let states = uncommitted(&[
            ("+a.rs", ""),
            ("+b.rs", ""),
            (all, "[main 1a2b3c4] x\n 2 files changed"),
            ("b.rs", ""),
            (all, second),
        ]);
        assert!(
            states.iter().all(|(_, state)| *state == Some(false)),
            "what did not change is in no later commit: {states:?}"
        );
    }

    /// The same of the files of these commands, of which each ended so.
    fn after_commands(files: &[(&str, Change)], runs: &[(&str, &str, Option<bool>)]) -> Vec<Option<bool>> {
        let mut state = Files::default();
        let at = |line| SourceRef { line, subagent: None };
        for (path, change) in files {
            state.apply(&Edit { change: *change, ..Edit::replaced(path, "a", "b") }, None, &at(1));
        }
        for (line, (command, output, ok)) in (2..).zip(runs) {
            let events = match ok {
                Some(ok) => tree_events(command, output, *ok),
                None => super::super::work_tree::begun_events(command),
            };
            events.into_iter().for_each(|event| state.tree_event(event, None, &at(line)));
        }
        state.into_vec().into_iter().map(|file| file.is_uncommitted).collect()
    }

    #[test]
    fn a_commit_that_is_printed_went_through_whatever_came_after_it() {
        let chain = "git add -A && git commit -m x && git push origin main";
        let pushed = "[main 548dd49] x\n 1 file changed, 1 insertion(+)\nfatal: Could not read from remote repository.";
        let modified = [("core/rules.py", Change::Modified)];
        assert_eq!(after_commands(&modified, &[(chain, pushed, Some(false))]), [Some(false)]);
        let hook = "[lint] core/rules.py: E501\nhusky - pre-commit hook failed";
        assert_eq!(
            after_commands(&modified, &[(chain, hook, Some(false))]),
            [Some(true)],
            "a hook stopped it"
        );
        let glob = "git add core/*.py && git commit -m x && git push";
        assert_eq!(after_commands(&modified, &[(glob, pushed, Some(true))]), [Some(false)]);
        assert_eq!(after_commands(&modified, &[(glob, pushed, Some(false))]), [Some(false)]);
        let other = "git add docs/*.py && git commit -m x";
        assert_eq!(
            after_commands(&modified, &[(other, "[main 548dd49] x\n 1 file changed", Some(true))]),
            [None]
        );
    }

    #[test]
    fn what_a_command_without_an_end_was_to_commit_is_in_the_next_commit_of_all_at_the_latest() {
        let files = [("conv/a.py", Change::Created), ("conv/b.py", Change::Created)];
        let begun = ("git add conv/*.py && git commit -m x && git push", "", None);
        assert_eq!(after_commands(&files, &[begun]), [None, None]);
        let printed = "[main 548dd49] x\n 1 file changed, 1 insertion(+)\n create mode 100644 other.md";
        let all = ("git add -A && git commit -m x && git push", printed, Some(false));
        assert_eq!(after_commands(&files, &[begun, all]), [Some(false), Some(false)]);
        assert_eq!(
            after_commands(&files, &[all]),
            [None, None],
            "git may ignore what it was not given by name"
        );
    }

    #[test]
    fn a_change_after_a_commit_is_told_from_one_in_it() {
        let states = |steps: &[(&str, &str)]| -> Vec<Option<bool>> {
            uncommitted(steps).into_iter().map(|(_, state)| state).collect()
        };
        let (a, b) = (("a.go", ""), ("b.go", ""));
        let commit =
            ("git add a.go b.go && git commit -m x", "[main 62dc50a] x\n 2 files changed, 6 insertions(+)");
        assert_eq!(states(&[a, b]), [Some(true), Some(true)]);
        assert_eq!(states(&[a, b, commit]), [Some(false), Some(false)]);
        assert_eq!(states(&[a, b, commit, b]), [Some(false), Some(true)]);
        let one = ("git add a.go && git commit -m x", "[main 62dc50a] x\n 1 file changed, 1 insertion(+)");
        assert_eq!(states(&[a, b, one]), [Some(false), Some(true)], "it holds no more than was staged");
        let more = ("git add a.go && git commit -m x", "[main 62dc50a] x\n 2 files changed, 1 insertion(+)");
        assert_eq!(states(&[a, b, more]), [Some(false), None], "somebody else may have staged it");
        assert_eq!(states(&[a, b, commit, ("git reset --soft HEAD~1", "")]), [None, None]);
    }

    #[test]
    fn what_git_lists_says_what_is_in_no_commit() {
        let states = |steps: &[(&str, &str)]| -> Vec<Option<bool>> {
            uncommitted(steps).into_iter().map(|(_, state)| state).collect()
        };
        let edits = [("a.go", ""), ("cli/b.go", "")];
        let then = |more: &[(&'static str, &'static str)]| states(&[&edits[..], more].concat());
        assert_eq!(then(&[("log", "")]), [None, None], "the user made a commit");
        let status =
            "On branch x\nChanges not staged for commit:\n\tmodified:   b.go\n\nno changes added to commit";
        assert_eq!(then(&[("log", ""), ("git status", status)]), [Some(false), Some(true)]);
        assert_eq!(then(&[("log", ""), ("git status | head -3", status)]), [Some(false), Some(true)]);
        let popped = "On branch x\nChanges not staged for commit:\n\tmodified:   a.go\n\nno changes added to commit\nDropped refs/stash@{0} (1a2b3c4)";
        let stash = ("git stash", "Saved working directory and index state");
        assert_eq!(then(&[("log", ""), stash, ("git stash pop", popped)]), [Some(true), Some(false)]);
        let clean = ("git status --short", "");
        assert_eq!(then(&[stash, clean]), [Some(true), Some(true)], "what was put aside waits");
        assert_eq!(then(&[("git status --short", " M a.go")]), [Some(true), Some(false)]);
    }
}

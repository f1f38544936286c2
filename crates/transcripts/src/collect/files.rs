//! The files that a session changed.

use std::collections::{HashMap, HashSet};

use super::SourceRef;
use super::files_tree::History;
use super::net_lines::NetLines;
use crate::event::{Change, Edit, SIDECHAIN};
use crate::line_diff::{FileLines, is_same_but_for_space};
use crate::shared::diff::MAX_DIFF;
use crate::shared::words::clip_unclean;

const MAX_FILES: usize = 500;

/// A file and all that was done to it.
#[derive(Debug)]
pub(super) struct FileState {
    /// Path, relative where it can be.
    pub path: String,
    /// What it all amounts to.
    pub change: Change,
    /// The path before a rename.
    pub from: Option<String>,
    /// Lines that all edits together added and removed.
    pub net: NetLines,
    /// The same at the last commit.
    pub base: NetLines,
    /// The file before the first edit and after the last one, where the tool told all of it.
    pub whole: WholeFile,
    /// Whether it goes into the next commit.
    pub is_staged: bool,
    /// Whether it was given to git by its name, so that git does not ignore it.
    pub is_named: bool,
    /// Whether it was in a commit of this session; absent where that is not known.
    pub is_committed: Option<bool>,
    /// Whether git took all that was done to it back.
    pub is_undone: bool,
    /// Whether some of what was done to it is in no commit; absent where that is not known.
    pub is_uncommitted: Option<bool>,
    /// Whether a formatter ran over it since, so that its lines may be others than the edits made.
    pub is_formatted: bool,
    /// The last edit.
    pub diff: Option<String>,
    /// Place of the last edit.
    pub at: SourceRef,
}

/// What a tool told of a whole file.
#[derive(Debug, Default)]
pub(super) enum WholeFile {
    /// Nothing was done to it.
    #[default]
    Untouched,
    /// Its lines before the first edit, and its text after the last one.
    Tracked(FileLines, String),
    /// Its lines before the first edit; git put it back into an earlier state since, which the next edit tells.
    Restored(FileLines),
    /// Not all of it was told.
    Lost,
}

impl WholeFile {
    /// Git put the file back into an earlier state.
    pub(super) fn restore(&mut self) {
        *self = match std::mem::replace(self, Self::Lost) {
            Self::Tracked(first, _) | Self::Restored(first) => Self::Restored(first),
            Self::Untouched | Self::Lost => Self::Lost,
        };
    }

    /// One more edit. Returns whether the file was changed from outside since the last one.
    fn add(&mut self, edit: &Edit, has_edits: bool) -> bool {
        let state = std::mem::replace(self, Self::Lost);
        let Some(whole) = &edit.whole else { return false };
        let first = match state {
            Self::Untouched if has_edits => return false,
            Self::Untouched => FileLines::of(&whole.before),
            Self::Restored(first) => first,
            Self::Tracked(first, last) if last == whole.before => first,
            // A formatter ran in between.
            Self::Tracked(first, last) if is_same_but_for_space(&last, &whole.before) => first,
            Self::Tracked(..) => return true,
            Self::Lost => return false,
        };
        *self = Self::Tracked(first, whole.after.clone());
        false
    }
}

/// Changed files, in the order in which they were first changed.
#[derive(Debug, Default)]
pub(super) struct Files {
    list: Vec<FileState>,
    index: HashMap<String, usize>,
    /// How many changes of further files were left out.
    pub left_out: u64,
    /// Paths at which there is nothing any more.
    gone: HashSet<String>,
    pub(super) history: History,
    /// Files whose changes git took back before they were committed, since this was asked last.
    pub(super) taken_back: Vec<String>,
}

impl Files {
    /// Adds a change that took place; that of a folder is one of the files in it that are known.
    pub(super) fn apply(&mut self, edit: &Edit, root: Option<&str>, at: &SourceRef) {
        if !edit.path.ends_with('/') {
            return self.apply_to_file(edit, root, at);
        }
        let (to, from) = (relative(&edit.path, root), edit.from.as_deref().map(|from| relative(from, root)));
        // What is moved to a folder that is there already goes into it, under its own name.
        if from.is_some() && self.index.keys().any(|path| path.starts_with(to.as_str())) {
            return;
        }
        let folder = from.clone().unwrap_or_else(|| to.clone());
        let inside: Vec<String> = self
            .index
            .keys()
            .filter_map(|path| path.strip_prefix(folder.as_str()))
            .filter(|rest| !rest.is_empty())
            .map(str::to_owned)
            .collect();
        for rest in inside {
            let from = from.as_ref().map(|from| format!("{from}{rest}"));
            let one = Edit { from, ..Edit::bare(&format!("{to}{rest}"), edit.change) };
            self.apply_to_file(&one, root, at);
        }
    }

    /// The files that were removed after a line of the transcript.
    pub(super) fn deleted_since(&self, line: u64) -> impl Iterator<Item = &str> {
        let is_gone = move |file: &&FileState| file.change == Change::Deleted && !file.path.is_empty();
        let gone = self.list.iter().filter(is_gone).filter(move |file| file.at.line > line);
        gone.map(|file| file.path.as_str())
    }

    /// The document that was written last after a line of the transcript.
    pub(super) fn document_since(&self, line: u64) -> Option<&str> {
        let is_new = |file: &&FileState| file.at.line > line && file.path.ends_with(".md");
        let written = self.list.iter().filter(is_new).filter(|file| file.change != Change::Deleted);
        written.max_by_key(|file| file.at.line).map(|file| file.path.as_str())
    }

    fn apply_to_file(&mut self, edit: &Edit, root: Option<&str>, at: &SourceRef) {
        let from = edit.from.as_deref().map(|from| relative(from, root));
        let before = from.as_deref().and_then(|from| self.index.remove(from));
        let path = relative(&edit.path, root);
        self.gone.extend(from.clone());
        match edit.change {
            Change::Deleted => _ = self.gone.insert(path.clone()),
            _ => _ = self.gone.remove(&path),
        }
        let there = self.index.get(&path).copied();
        // What lies in the home and was never changed here was removed for a trial.
        if edit.change == Change::Deleted && there.is_none() && path.starts_with('~') {
            return;
        }
        if let (Some(there), Some(before)) = (there, before) {
            return self.replace(there, before, at);
        }
        let known = there.or(before);
        let slot = match known {
            Some(slot) => slot,
            None if self.list.len() >= MAX_FILES => {
                self.left_out += 1;
                return;
            }
            None => {
                self.list.push(FileState::new(&path, edit.change, at));
                self.list.len() - 1
            }
        };
        self.index.insert(path.clone(), slot);
        if let Some(file) = self.list.get_mut(slot) {
            let was_made_here = known.is_some() && file.change == Change::Created;
            let is_anew = known.is_none() || file.is_undone && file.change == Change::Deleted;
            file.change = if is_anew { edit.change } else { combined(file.change, edit.change) };
            file.from = file.from.take().or(from);
            file.path = path;
            // What was made here and is gone leaves nothing.
            file.is_undone = was_made_here && edit.change == Change::Deleted;
            file.is_uncommitted = is_uncommitted(file, edit, at, self.history.has_commits());
            file.add(edit, at);
            if file.from.as_deref() == Some(file.path.as_str()) {
                // It was moved back.
                (file.from, file.change) = (None, Change::Modified);
                file.is_undone = file.net.is_nothing();
            }
        }
    }

    /// A file takes the place of another one: what was done to it was done to what lies there now.
    fn replace(&mut self, there: usize, before: usize, at: &SourceRef) {
        let Some(moved) = self.list.get_mut(before) else { return };
        let gone = FileState { path: String::new(), ..FileState::new("", moved.change, &moved.at) };
        let moved = std::mem::replace(moved, gone);
        if let Some(file) = self.list.get_mut(there) {
            (file.net, file.diff, file.from) = (NetLines::default(), None, None);
            file.then(FileState { at: at.clone(), change: Change::Modified, ..moved });
        }
    }

    /// Names the files as seen from the root, which was not known before; what turns out to be one file is one.
    pub(super) fn make_relative(&mut self, root: &str) {
        let before = std::mem::take(&mut self.list);
        self.index.clear();
        for mut file in before.into_iter().filter(|file| !file.path.is_empty()) {
            file.path = relative(&file.path, Some(root));
            file.from = file.from.map(|from| relative(&from, Some(root)));
            match self.index.get(&file.path).and_then(|slot| self.list.get_mut(*slot)) {
                Some(known) => known.then(file),
                None => {
                    self.index.insert(file.path.clone(), self.list.len());
                    self.list.push(file);
                }
            }
        }
    }

    /// The files.
    pub(super) fn into_vec(mut self) -> Vec<FileState> {
        self.put_stashes_back();
        // What took another file's place has left an empty row.
        let is_left = |file: &FileState| !file.is_undone && !file.is_as_it_was();
        self.list.into_iter().filter(|file| !file.path.is_empty() && is_left(file)).collect()
    }

    /// Whether a file was moved away from there, or removed, and none was put in its place.
    pub(super) fn is_gone(&self, path: &str) -> bool {
        self.gone.contains(path)
    }

    /// Whether another agent may have changed a file after a sub-agent, whose lines stand in another file, failed to.
    pub(super) fn may_be_changed(&self, path: &str, agent: Option<&str>) -> bool {
        let row = self.index.get(path).and_then(|slot| self.list.get(*slot));
        agent != Some(SIDECHAIN) && row.is_some_and(|row| row.at.subagent.as_deref() != agent)
    }

    /// Whether a file that was changed after this line is in a commit with all that was done to it; nothing where it was not changed.
    pub(super) fn committed_since(&self, path: &str, line: u64) -> Option<Option<bool>> {
        let row = self.index.get(path).and_then(|slot| self.list.get(*slot))?;
        (row.at.line > line).then(|| row.is_uncommitted.map(|open| !open))
    }

    /// Whether there is something at a path, or in it, that was changed after this line.
    pub(super) fn is_there_since(&self, path: &str, line: u64) -> bool {
        let path = path.trim_end_matches('/');
        let lies_there = |file: &FileState| {
            let rest = file.path.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_there = |file: &&FileState| file.change != Change::Deleted && file.at.line > line;
        self.list.iter().filter(is_there).any(lies_there)
    }

    /// The files that were changed.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|file| file.path.as_str())
    }

    pub(super) fn rows(&mut self) -> &mut [FileState] {
        &mut self.list
    }

    pub(super) fn row_at(&mut self, path: &str) -> Option<&mut FileState> {
        let slot = *self.index.get(path)?;
        self.list.get_mut(slot)
    }
}

impl FileState {
    fn new(path: &str, change: Change, at: &SourceRef) -> Self {
        Self {
            path: path.to_owned(),
            change,
            from: None,
            net: NetLines::default(),
            base: NetLines::default(),
            whole: WholeFile::default(),
            is_staged: false,
            is_named: false,
            is_committed: Some(false),
            is_undone: false,
            is_uncommitted: None,
            is_formatted: false,
            diff: None,
            at: at.clone(),
        }
    }

    /// Whether later edits took back what earlier ones did.
    fn is_as_it_was(&self) -> bool {
        self.change == Change::Modified && self.net.has_edits() && self.lines() == Some((0, 0))
    }

    /// Lines added and removed, where known.
    pub(super) fn lines(&self) -> Option<(u64, u64)> {
        // Of a file that is gone, no line is left.
        if self.change == Change::Deleted {
            return None;
        }
        let is_own = self.change == Change::Created;
        match &self.whole {
            WholeFile::Tracked(first, last) if !is_own && !self.net.is_unknown() => {
                first.changes_to(&FileLines::of(last))
            }
            _ => self.net.figures(is_own),
        }
    }

    /// The lines in words, where known: `+3 -1`, `~+3 -1`.
    pub(super) fn figures(&self) -> Option<String> {
        let unsure = if self.is_formatted { "~" } else { "" };
        self.lines().map(|(added, removed)| format!("{unsure}+{added} -{removed}"))
    }

    /// What was done to the file later.
    fn then(&mut self, later: Self) {
        self.change = combined(self.change, later.change);
        self.whole = WholeFile::Lost;
        self.net.join(&later.net);
        self.is_formatted |= later.is_formatted;
        self.diff = later.diff.or(self.diff.take()).filter(|_| later.change != Change::Deleted);
        (self.at, self.is_uncommitted) = (later.at, later.is_uncommitted);
    }

    fn add(&mut self, edit: &Edit, at: &SourceRef) {
        if self.whole.add(edit, self.net.has_edits()) {
            self.net.forget();
        }
        self.net.add(edit);
        self.is_formatted &= !matches!(self.whole, WholeFile::Tracked(..));
        // An edit on the main line outranks what a sub-agent, read after it, may have done before.
        if self.at.subagent.is_none() && at.subagent.is_some() && self.diff.is_some() {
            return;
        }
        self.diff = edit.diff.as_deref().map(|diff| clip_unclean(diff, MAX_DIFF)).or(self.diff.take());
        if edit.change == Change::Deleted {
            self.diff = None;
        }
        self.at = at.clone();
    }
}

/// Whether a change is in no commit: one that a sub-agent made, whose lines are read later, may be, and so may what was removed and
/// git did not know.
fn is_uncommitted(file: &FileState, edit: &Edit, at: &SourceRef, has_commits: bool) -> Option<bool> {
    let is_known = at.subagent.is_none() || !has_commits;
    let was_known_to_git = edit.change != Change::Deleted || file.is_committed == Some(true);
    (is_known && was_known_to_git).then_some(true)
}

/// What two changes of one file amount to.
fn combined(first: Change, then: Change) -> Change {
    match (first, then) {
        (_, Change::Deleted) => Change::Deleted,
        (Change::Deleted, _) => Change::Modified,
        (Change::Created, _) => Change::Created,
        (Change::Renamed, _) => Change::Renamed,
        (Change::Modified, Change::Created) => Change::Modified,
        (Change::Modified, then) => then,
    }
}

/// The path as seen from the root, if it lies in it.
pub(super) fn relative(path: &str, root: Option<&str>) -> String {
    let inside = root.and_then(|root| path.strip_prefix(root.trim_end_matches(['/', '\\'])));
    let inside =
        inside.filter(|rest| rest.starts_with(['/', '\\'])).map(|rest| rest.trim_start_matches(['/', '\\']));
    inside.unwrap_or(path.strip_prefix("./").unwrap_or(path)).to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::work_tree::TreeEvent;
    use super::*;
    use crate::event::FileStates;

    type FileEvent = (String, Change, Option<(u64, u64)>);

    fn check(edits: &[Edit]) -> Vec<FileEvent> {
        let mut files = Files::default();
        edits.iter().for_each(|edit| files.apply(edit, Some("/w/p"), &SourceRef::default()));
        files
            .into_vec()
            .into_iter()
            .map(|file| {
                let lines = file.lines();
                (file.path, file.change, lines)
            })
            .collect()
    }

    #[test]
    fn edits_of_one_file_are_summed_up_whatever_its_path_looks_like() {
        let edits = [
            Edit::new_text("/w/p/a.rs", Change::Created, "x\ny"),
            Edit::replaced("a.rs", "x", "z"),
            Edit::replaced("./a.rs", "z", ""),
        ];
        assert_eq!(check(&edits), [("a.rs".to_owned(), Change::Created, Some((1, 0)))]);
    }

    #[test]
    fn a_file_that_the_tool_tells_whole_is_counted_from_its_first_to_its_last_state() {
        let edit = |old: &str, new: &str| {
            let whole = Some(Arc::new(FileStates { before: old.to_owned(), after: new.to_owned() }));
            Edit { whole, ..Edit::replaced("a.rs", old, new) }
        };
        let modified = |lines| [("a.rs".to_owned(), Change::Modified, lines)];
        let moved = [edit("fn a\n}\nfn b\n}", "fn b\n}\nfn a\n}")];
        assert_eq!(check(&moved), modified(Some((2, 2))));
        let formatted = [edit("a", "a\nb"), edit("a\n  b", "a\n  b\nc")];
        assert_eq!(check(&formatted), modified(Some((2, 0))), "a formatter is no other hand");
        let mut files = Files::default();
        let at = SourceRef::default();
        files.apply(&edit("a", "a\nb"), None, &at);
        files.tree_event(TreeEvent::Restored(Vec::new()), None, &at);
        files.apply(&edit("a", "c"), None, &at);
        let lines: Vec<_> = files.into_vec().iter().map(FileState::lines).collect();
        assert_eq!(lines, [Some((1, 1))], "git took the first edit back");
        let merged = [edit("a", "a\nb"), edit("a\nb\ntheirs", "a\nb\ntheirs\nc")];
        assert_eq!(check(&merged), modified(None), "what somebody else added is not known");
    }

    #[test]
    fn a_file_that_was_made_and_removed_is_not_named_and_made_again_it_is_new() {
        let (made, gone) =
            (Edit::new_text("notes.md", Change::Created, "x"), Edit::bare("notes.md", Change::Deleted));
        assert_eq!(check(&[made.clone(), gone.clone()]), []);
        let again = check(&[made.clone(), gone.clone(), made]);
        assert_eq!(again.iter().map(|(_, change, _)| *change).collect::<Vec<_>>(), [Change::Created]);
        let known = check(&[Edit::replaced("notes.md", "a", "b"), gone]);
        assert_eq!(known, [("notes.md".to_owned(), Change::Deleted, None)]);
    }

    #[test]
    fn a_folder_takes_the_files_in_it_along() {
        let moved = Edit { from: Some("src/".to_owned()), ..Edit::bare("lib/", Change::Renamed) };
        let edits = [Edit::replaced("src/a.rs", "a", "b"), Edit::replaced("srcs/b.rs", "a", "b"), moved];
        let changes = |edits: &[Edit]| -> Vec<(String, Change)> {
            check(edits).into_iter().map(|(path, change, _)| (path, change)).collect()
        };
        let expected = ("srcs/b.rs".to_owned(), Change::Modified);
        assert_eq!(changes(&edits), [("lib/a.rs".to_owned(), Change::Renamed), expected.clone()]);
        let [one, other, _] = edits;
        let removed = [one, other, Edit::bare("src/", Change::Deleted)];
        assert_eq!(changes(&removed), [("src/a.rs".to_owned(), Change::Deleted), expected]);
    }

    #[test]
    fn a_renamed_file_is_one_file() {
        let moved = Edit { from: Some("b.rs".to_owned()), ..Edit::with_diff("c.rs", Change::Renamed, "+x") };
        let edits = [Edit::replaced("b.rs", "a", "b"), moved, Edit::bare("/w/pq/d.rs", Change::Deleted)];
        let wanted = [
            ("c.rs".to_owned(), Change::Renamed, Some((2, 1))),
            ("/w/pq/d.rs".to_owned(), Change::Deleted, None),
        ];
        assert_eq!(check(&edits), wanted);
    }

    #[test]
    fn a_file_that_takes_anothers_place_is_one_file() {
        let moved = Edit { from: Some("new.rs".to_owned()), ..Edit::bare("a.rs", Change::Renamed) };
        let edits = [
            Edit::replaced("a.rs", "x", "y"),
            Edit::new_text("new.rs", Change::Created, "1\n2\n3"),
            Edit::bare("a.rs", Change::Deleted),
            moved,
        ];
        assert_eq!(check(&edits), [("a.rs".to_owned(), Change::Modified, Some((3, 0)))]);
    }

    #[test]
    fn a_root_that_is_known_late_names_what_came_before_and_makes_one_file_of_two_names() {
        let mut files = Files::default();
        files.apply(&Edit::replaced("/w/p/a.rs", "x", "y"), None, &SourceRef::default());
        files.apply(&Edit::replaced("a.rs", "y", "z"), None, &SourceRef::default());
        files.apply(&Edit::bare("/w/other/b.rs", Change::Deleted), None, &SourceRef::default());
        files.make_relative("/w/p");
        files.apply(&Edit::replaced("/w/p/a.rs", "z", ""), Some("/w/p"), &SourceRef::default());
        let changes: Vec<FileEvent> = files
            .into_vec()
            .into_iter()
            .map(|file| {
                let lines = file.lines();
                (file.path, file.change, lines)
            })
            .collect();
        let wanted = [
            ("a.rs".to_owned(), Change::Modified, Some((0, 1))),
            ("/w/other/b.rs".to_owned(), Change::Deleted, None),
        ];
        assert_eq!(changes, wanted);
    }
}

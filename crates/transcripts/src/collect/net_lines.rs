//! The lines of a file that all edits together added and removed: what one takes back that another did counts for nothing.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::event::{Change, Edit};
use crate::shared::diff::count;

/// Lines added and removed so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct NetLines {
    /// How often each line, by its hash, is there more often than at the beginning.
    lines: HashMap<u64, i64>,
    /// Sums of edits whose lines are not known.
    sums: (u64, u64),
    /// How many lines there are, if there were none at the beginning.
    own: i64,
    /// Whether something was written over what is not known.
    is_over_unknown: bool,
    /// Whether nothing is known of some edit.
    is_unknown: bool,
    /// Whether a line that many places have, such as `}`, was counted against another.
    is_doubtful: bool,
    /// How many edits there were.
    edits: u64,
}

impl NetLines {
    /// One more edit.
    pub(super) fn add(&mut self, edit: &Edit) {
        let (Some(added), Some(removed)) = (edit.added, edit.removed) else {
            // A file that a command wrote over or edited in place.
            self.is_unknown |= matches!(edit.change, Change::Modified | Change::Created);
            return;
        };
        // What is written as a whole takes the place of what was edited before.
        self.is_over_unknown |= edit.is_whole && self.edits > 0;
        let by_sums = if edit.is_whole { added as i64 } else { self.own + added as i64 - removed as i64 };
        self.own = edit.whole.as_ref().map_or(by_sums, |whole| whole.after.lines().count() as i64);
        self.edits += 1;
        match edit.diff.as_deref().filter(|diff| count(diff) == (added, removed)) {
            Some(diff) => {
                // What stood between the marks of a conflict was no line of either side's file.
                self.is_unknown |= diff.lines().any(takes_conflict_mark);
                diff.lines().for_each(|line| self.add_line(line));
            }
            None => self.sums = (self.sums.0 + added, self.sums.1 + removed),
        }
    }

    fn add_line(&mut self, line: &str) {
        let step = match line.as_bytes().first() {
            _ if line.starts_with("+++ ") || line.starts_with("--- ") => return,
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return,
        };
        let mut hasher = DefaultHasher::new();
        line[1..].hash(&mut hasher);
        let times = self.lines.entry(hasher.finish()).or_insert(0);
        let tells = line.contains(char::is_alphanumeric);
        self.is_doubtful |= !tells && *times * step < 0;
        *times += step;
    }

    /// The edits of another row of the same file.
    pub(super) fn join(&mut self, later: &Self) {
        for (line, times) in &later.lines {
            *self.lines.entry(*line).or_insert(0) += times;
        }
        self.sums = (self.sums.0 + later.sums.0, self.sums.1 + later.sums.1);
        self.own += later.own;
        self.edits += later.edits;
        self.is_over_unknown |= later.is_over_unknown;
        self.is_unknown |= later.is_unknown;
        self.is_doubtful |= later.is_doubtful;
    }

    /// Says that it is not known what is left of the edits.
    pub(super) fn forget(&mut self) {
        self.is_unknown = true;
    }

    /// Whether it is not known what is left of the edits.
    pub(super) fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    /// Whether there was an edit.
    pub(super) fn has_edits(&self) -> bool {
        self.edits > 0
    }

    /// Whether nothing is left of all edits.
    pub(super) fn is_nothing(&self) -> bool {
        self.edits == 0 && !self.is_unknown
    }

    /// Lines added and removed; of a file that the session made, all that it has were added.
    pub(super) fn figures(&self, is_own: bool) -> Option<(u64, u64)> {
        let is_summed_up = self.sums != (0, 0) && self.edits > 1;
        let is_unsure = (self.is_over_unknown || is_summed_up || self.is_doubtful) && !is_own;
        if self.is_unknown || self.edits == 0 || is_unsure {
            return None;
        }
        let sum = |sign: i64| -> u64 {
            self.lines.values().map(|times| (times * sign).max(0).unsigned_abs()).sum()
        };
        let (added, removed) = (sum(1) + self.sums.0, sum(-1) + self.sums.1);
        Some(if is_own { (self.own.max(0).unsigned_abs(), 0) } else { (added, removed) })
    }
}

/// Whether a line of a diff takes out a mark that git put round a conflict.
fn takes_conflict_mark(line: &str) -> bool {
    line.starts_with("-<<<<<<< ") || line.starts_with("->>>>>>> ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::event::FileStates;

    fn figures(edits: &[Edit], is_own: bool) -> Option<(u64, u64)> {
        let mut net = NetLines::default();
        edits.iter().for_each(|edit| net.add(edit));
        net.figures(is_own)
    }

    #[test]
    fn what_is_taken_back_counts_for_nothing() {
        let edit = |old: &str, new: &str| Edit::replaced("a.rs", old, new);
        assert_eq!(figures(&[edit("a", "b"), edit("b", "c")], false), Some((1, 1)));
        assert_eq!(figures(&[edit("a", "b"), edit("b", "a")], false), Some((0, 0)));
        assert_eq!(figures(&[edit("a", "a\nb\nc"), edit("b", "")], false), Some((1, 0)));
        let written = Edit::new_text("a.rs", Change::Created, "1\n2\n3");
        assert_eq!(figures(&[written.clone(), edit("2", "")], true), Some((2, 0)));
        assert_eq!(figures(&[written.clone(), edit("2", ""), written.clone()], true), Some((3, 0)));
        assert_eq!(figures(&[edit("0", "1"), written], false), None, "what was there before is not known");
    }

    #[test]
    fn an_edit_whose_lines_are_not_known_counts_with_its_sums_where_it_is_the_only_one() {
        let long =
            Edit { diff: Some("+a".to_owned()), added: Some(900), removed: Some(3), ..Edit::default() };
        assert_eq!(figures(&[long.clone(), Edit::replaced("a", "x", "y")], false), None);
        assert_eq!(figures(std::slice::from_ref(&long), false), Some((900, 3)));
        assert_eq!(figures(&[long], true), Some((897, 0)));
    }

    #[test]
    fn long_edits_cancel_each_other_too() {
        let many: String = (0..900).map(|line| format!("line {line} of a long file\n")).collect();
        let edits = [Edit::replaced("a.rs", "x", &many), Edit::replaced("a.rs", &many, "y")];
        assert_eq!(figures(&edits, false), Some((1, 1)));
    }

    #[test]
    fn the_lines_of_a_file_are_those_that_the_tool_counts() {
        let written = Edit::new_text("a.rs", Change::Created, "1\n2\n3\n4");
        // A formatter took two of them out before this edit.
        let whole = Some(Arc::new(FileStates { before: "1\n4".to_owned(), after: "1\n5\n4".to_owned() }));
        let edit = Edit { whole, ..Edit::replaced("a.rs", "1", "1\n5") };
        assert_eq!(figures(&[written, edit], true), Some((3, 0)));
    }

    #[test]
    fn a_file_that_a_command_changed_has_no_figures() {
        let written = Edit::new_text("a.rs", Change::Created, "1\n2");
        let by_sed = Edit::bare("a.rs", Change::Modified);
        assert_eq!(figures(&[written, by_sed.clone()], true), None);
        assert_eq!(figures(&[by_sed, Edit::replaced("a.rs", "a", "b")], false), None);
    }

    #[test]
    fn a_conflict_that_was_resolved_has_no_figures() {
        let conflict = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main";
        assert_eq!(figures(&[Edit::replaced("a.rs", conflict, "b")], false), None);
        let heading = Edit::replaced("a.md", "Title\n=======", "Title");
        assert_eq!(figures(&[heading], false), Some((0, 1)), "an underline is no mark of a conflict");
    }
}

//! How many lines two texts differ by, as `git diff` counts them.

use std::hash::{DefaultHasher, Hash, Hasher};

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The most lines of both texts, without the ones that they share at both ends, whose differences are counted. The work grows with the
/// square of it where all differ.
const MAX_LINES: usize = 8000;

/// The lines of a text by their hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileLines(Vec<u64>);

/// Whether two texts differ in nothing but white space, as where a formatter ran.
pub(crate) fn is_same_but_for_space(one: &str, other: &str) -> bool {
    let ink = |text: &'_ str| text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect::<Vec<u8>>();
    ink(one) == ink(other)
}

impl FileLines {
    /// The lines of a text.
    pub(crate) fn of(text: &str) -> Self {
        let hash = |line: &str| {
            let mut hasher = DefaultHasher::new();
            line.hash(&mut hasher);
            hasher.finish()
        };
        Self(text.lines().map(hash).collect())
    }

    /// Lines added and removed from this text to the other; nothing where too many lines stand between their first and last
    /// difference.
    pub(crate) fn changes_to(&self, other: &Self) -> Option<(u64, u64)> {
        let (mut old, mut new) = (self.0.as_slice(), other.0.as_slice());
        let front = old.iter().zip(new).take_while(|(one, other)| one == other).count();
        (old, new) = (&old[front..], &new[front..]);
        let back = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
        (old, new) = (&old[..old.len() - back], &new[..new.len() - back]);
        if old.len() + new.len() > MAX_LINES {
            return None;
        }
        let count = |(added, removed), op: DiffOp| match op {
            DiffOp::Equal { .. } => (added, removed),
            DiffOp::Delete { old_len, .. } => (added, removed + old_len),
            DiffOp::Insert { new_len, .. } => (added + new_len, removed),
            DiffOp::Replace { old_len, new_len, .. } => (added + new_len, removed + old_len),
        };
        let operations = capture_diff_slices(Algorithm::Myers, old, new);
        let (added, removed) = operations.into_iter().fold((0, 0), count);
        Some((added as u64, removed as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(old: &str, new: &str) -> Option<(u64, u64)> {
        let lines = |text: &str| FileLines::of(&text.replace(' ', "\n"));
        lines(old).changes_to(&lines(new))
    }

    #[test]
    fn lines_are_counted_as_by_git() {
        assert_eq!(changes("", ""), Some((0, 0)));
        assert_eq!(changes("a b c", "a b c"), Some((0, 0)));
        assert_eq!(changes("", "a b"), Some((2, 0)));
        assert_eq!(changes("a b c", ""), Some((0, 3)));
        assert_eq!(changes("a b c d", "a x c y d"), Some((2, 1)));
        assert_eq!(changes("a b c", "c a b"), Some((1, 1)), "a line that was moved");
        assert_eq!(changes("1 2 3 4 5 6", "6 5 4 3 2 1"), Some((5, 5)));
    }

    #[test]
    fn white_space_is_no_difference_of_ink() {
        assert!(is_same_but_for_space("a  b\nc", "a b\n\n  c"));
        assert!(!is_same_but_for_space("a b", "a c"));
    }
}

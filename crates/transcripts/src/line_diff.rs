//! How many lines two texts differ by, as `git diff` counts them.

use std::hash::{DefaultHasher, Hash, Hasher};

/// More differences are not counted out.
const MAX_DIFFERENCES: usize = 4000;

/// The lines of a text by their hashes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileLines {
    lines: Vec<u64>,
    /// All that is no white space.
    ink: u64,
}

impl FileLines {
    /// The lines of a text.
    pub(crate) fn of(text: &str) -> Self {
        Self::of_lines(text.lines())
    }

    /// The same of lines one by one.
    pub(crate) fn of_lines<'t>(lines: impl Iterator<Item = &'t str>) -> Self {
        let mut ink = DefaultHasher::new();
        let hash = |line: &'t str| {
            line.split_whitespace().for_each(|word| ink.write(word.as_bytes()));
            let mut hasher = DefaultHasher::new();
            line.hash(&mut hasher);
            hasher.finish()
        };
        let lines = lines.map(hash).collect();
        Self { lines, ink: ink.finish() }
    }

    /// How many lines there are.
    pub(crate) fn count(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Whether two texts differ in nothing but white space, as where a formatter ran.
    pub(crate) fn is_same_but_for_space(&self, other: &Self) -> bool {
        self.ink == other.ink
    }

    /// Lines added and removed from this text to the other; nothing where they are too different.
    pub(crate) fn changes_to(&self, other: &Self) -> Option<(u64, u64)> {
        let (mut old, mut new) = (self.lines.as_slice(), other.lines.as_slice());
        let front = old.iter().zip(new).take_while(|(one, other)| one == other).count();
        (old, new) = (&old[front..], &new[front..]);
        let back = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
        (old, new) = (&old[..old.len() - back], &new[..new.len() - back]);
        let all = shortest_script(old, new)?;
        // Added and removed lines are the script together, and what the new text is longer by.
        let removed = (all + old.len()).checked_sub(new.len())? / 2;
        Some(((all - removed) as u64, removed as u64))
    }
}

/// The least number of lines to take out and put in (Myers, forwards only).
fn shortest_script(old: &[u64], new: &[u64]) -> Option<usize> {
    let (long, wide) = (old.len() as isize, new.len() as isize);
    let most = (old.len() + new.len()).min(MAX_DIFFERENCES);
    let middle = most as isize + 1;
    let mut reached = vec![0_isize; 2 * most + 3];
    for steps in 0..=most as isize {
        for diagonal in (-steps..=steps).step_by(2) {
            let (below, above) =
                (reached[(middle + diagonal - 1) as usize], reached[(middle + diagonal + 1) as usize]);
            let down = diagonal == -steps || (diagonal != steps && below < above);
            let mut x = if down { above } else { below + 1 };
            while x < long
                && x - diagonal < wide
                && x - diagonal >= 0
                && old[x as usize] == new[(x - diagonal) as usize]
            {
                x += 1;
            }
            reached[(middle + diagonal) as usize] = x;
            if x >= long && x - diagonal >= wide {
                return Some(steps as usize);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(old: &str, new: &str) -> Option<(u64, u64)> {
        let lines = |text: &str| FileLines::of_lines(text.split_terminator(' '));
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
        let (one, other) = (FileLines::of("a  b\nc"), FileLines::of("a b\n\n  c"));
        assert!(one.is_same_but_for_space(&other) && one != other);
    }
}

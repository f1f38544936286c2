//! Bodies of unified diffs.

use crate::event::{Change, Edit};
use crate::shared::json::Json;
use crate::shared::words::clip_unclean;

/// No more of a diff is shown.
pub(crate) const MAX_DIFF: usize = 4096;
/// No more of a diff is read: its lines are counted against those of other edits.
const MAX_COUNTED: usize = 1024 * 1024;

impl Edit {
    /// A change of a path whose content is not known.
    pub fn bare(path: &str, change: Change) -> Self {
        Self { path: path.to_owned(), change, ..Self::default() }
    }

    /// A change given as the body of a diff.
    pub fn with_diff(path: &str, change: Change, body: &str) -> Self {
        let (added, removed) = count(body);
        let diff = (!body.is_empty()).then(|| clip_unclean(body.trim_end_matches('\n'), MAX_COUNTED));
        Self { added: Some(added), removed: Some(removed), diff, ..Self::bare(path, change) }
    }

    /// One piece of text replaced by another.
    pub fn replaced(path: &str, old: &str, new: &str) -> Self {
        Self::with_diff(path, Change::Modified, &replace(old, new))
    }

    /// A file written as a whole, over what was there or anew.
    pub fn new_text(path: &str, change: Change, content: &str) -> Self {
        Self { is_whole: true, ..Self::with_diff(path, change, &mark('+', content.lines())) }
    }
}

/// Lines added and removed by the body of a unified diff.
pub(crate) fn count(body: &str) -> (u64, u64) {
    let (mut added, mut removed) = (0, 0);
    for line in body.lines().filter(|line| !line.starts_with("+++ ") && !line.starts_with("--- ")) {
        match line.as_bytes().first() {
            Some(b'+') => added += 1,
            Some(b'-') => removed += 1,
            _ => {}
        }
    }
    (added, removed)
}

/// The body for hunks given as `[{lines: ["-a", "+b"], oldStart, …}]`.
pub(crate) fn structured(hunks: &Json<'_>) -> String {
    let mut body = String::new();
    for hunk in hunks.items() {
        let number = |key| hunk.get(key).count();
        let (old, new) = (number("oldStart"), number("newStart"));
        body.push_str(&format!("@@ -{old},{} +{new},{} @@\n", number("oldLines"), number("newLines")));
        for line in hunk.get("lines").items().iter().filter_map(Json::str) {
            body.push_str(line);
            body.push('\n');
        }
    }
    body
}

/// The body for one piece of text replaced by another: what is the same at both ends is left out.
fn replace(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let (front, back) = same_ends(&old, &new);
    let gone = mark('-', old[front..old.len() - back].iter().copied());
    gone + &mark('+', new[front..new.len() - back].iter().copied())
}

/// The body with what it takes out and puts back again as what it is: lines that stay. Models write whole functions
/// into a patch of which one line changes.
pub(crate) fn only_changed(body: &str) -> String {
    let lines: Vec<&str> = body.lines().collect();
    let run =
        |from: usize, sign: char| lines[from..].iter().take_while(|line| line.starts_with(sign)).count();
    let mut out = String::with_capacity(body.len());
    let mut at = 0;
    while at < lines.len() {
        let (gone, new) = match run(at, '-') {
            0 => (0, 0),
            gone => (gone, run(at + gone, '+')),
        };
        if new == 0 {
            out.push_str(lines[at]);
            out.push('\n');
            at += 1;
            continue;
        }
        let text =
            |range: std::ops::Range<usize>| lines[range].iter().map(|line| &line[1..]).collect::<Vec<_>>();
        let (old, new_text) = (text(at..at + gone), text(at + gone..at + gone + new));
        out.push_str(&diff_lines(&old, &new_text));
        at += gone + new;
    }
    out
}

/// The body for these lines replaced by those, with what is the same at both ends as context.
fn diff_lines(old: &[&str], new: &[&str]) -> String {
    let (front, back) = same_ends(old, new);
    let stays = |lines: &[&str]| mark(' ', lines.iter().copied());
    stays(&old[..front])
        + &mark('-', old[front..old.len() - back].iter().copied())
        + &mark('+', new[front..new.len() - back].iter().copied())
        + &stays(&old[old.len() - back..])
}

/// How many lines are the same at the beginning and at the end.
fn same_ends(old: &[&str], new: &[&str]) -> (usize, usize) {
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let back = old[front..].iter().rev().zip(new[front..].iter().rev()).take_while(|(a, b)| a == b).count();
    (front, back)
}

fn mark<'t>(sign: char, lines: impl Iterator<Item = &'t str>) -> String {
    lines.flat_map(|line| [sign.to_string(), line.to_owned(), "\n".to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_shows_only_what_changed() {
        let edit = Edit::replaced("a", "x\nold\ny", "x\nnew\nmore\ny");
        assert_eq!(edit.diff.as_deref(), Some("-old\n+new\n+more"));
        assert_eq!((edit.added, edit.removed), (Some(2), Some(1)));
    }

    #[test]
    fn lines_that_are_taken_out_and_put_back_are_no_change() {
        let body = "@@\n-def add(a, b):\n-    return a - b\n+def add(a, b):\n+    return a + b\n ctx\n-gone\n ctx\n+new\n";
        let wanted = "@@\n def add(a, b):\n-    return a - b\n+    return a + b\n ctx\n-gone\n ctx\n+new\n";
        assert_eq!(only_changed(body), wanted);
        assert_eq!(count(&only_changed("-same\n+same")), (0, 0));
    }

    #[test]
    fn file_names_in_a_diff_are_no_changed_lines() {
        assert_eq!(count("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z"), (1, 1));
    }
}

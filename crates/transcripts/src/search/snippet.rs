//! The line of a passage that shows why it was found.

use super::passage::Entry;
use super::query::{Query, Term};
use super::words::{fold, is_sign};

/// Characters before and after what was found.
const AROUND: usize = 70;

/// What is shown of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// Line of the entry in the transcript.
    pub line: u64,
    /// Who said it, see [`Entry::role`].
    pub role: String,
    /// The place, on one line.
    pub text: String,
    /// How many of the query's terms stand in this entry.
    pub terms: usize,
}

/// The entry with most of the query's terms, shown around the first of them.
pub fn snippet(entries: &[Entry], query: &Query) -> Option<Snippet> {
    let shown = entries.iter().map(|entry| {
        let text: Vec<char> = entry.text.chars().collect();
        let found: Vec<usize> = query.terms.iter().filter_map(|term| find(&text, term)).collect();
        (found.len(), entry, around(&text, found.iter().min().copied().unwrap_or(0)))
    });
    // The first of those with most: `max_by_key` takes the last.
    let (terms, entry, text) = shown.rev().max_by_key(|(terms, ..)| *terms)?;
    Some(Snippet { line: entry.line, role: entry.role.clone(), text, terms })
}

/// Where a term begins, in characters.
fn find(text: &[char], term: &Term) -> Option<usize> {
    let wanted: Vec<Vec<char>> = term.words.split(' ').map(|word| word.chars().map(fold).collect()).collect();
    let words = split(text);
    let matches = |at: usize| {
        wanted.iter().enumerate().all(|(nth, wanted)| {
            let last = term.prefix && nth + 1 == wanted_len(term);
            words.get(at + nth).is_some_and(|(from, to)| same(&text[*from..*to], wanted, last))
        })
    };
    (0..words.len()).find(|at| matches(*at)).map(|at| words[at].0)
}

fn wanted_len(term: &Term) -> usize {
    term.words.split(' ').count()
}

fn same(word: &[char], wanted: &[char], prefix: bool) -> bool {
    (word.len() == wanted.len() || (prefix && word.len() > wanted.len()))
        && word.iter().zip(wanted).all(|(have, want)| fold(*have) == *want)
}

/// The words of a text by their places.
fn split(text: &[char]) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut from = None;
    for (at, c) in text.iter().enumerate() {
        let sign = is_sign(*c);
        if !sign && c.is_alphanumeric() {
            from.get_or_insert(at);
            continue;
        }
        words.extend(from.take().map(|from| (from, at)));
        if sign {
            words.push((at, at + 1));
        }
    }
    words.extend(from.map(|from| (from, text.len())));
    words
}

fn around(text: &[char], at: usize) -> String {
    let (from, to) = (at.saturating_sub(AROUND), text.len().min(at + 2 * AROUND));
    let middle: String = text[from..to].iter().collect();
    let middle = middle.split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, after) = (if from > 0 { "…" } else { "" }, if to < text.len() { "…" } else { "" });
    format!("{before}{middle}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(line: u64, text: &str) -> Entry {
        Entry { line, role: "user".to_owned(), text: text.to_owned() }
    }

    #[track_caller]
    fn check(entries: &[Entry], query: &str, line: u64, part: &str) {
        let shown = snippet(entries, &Query::parse(query)).expect("an entry");
        assert!(shown.line == line && shown.text.contains(part), "{query}: {shown:?}");
    }

    #[test]
    fn the_entry_with_most_of_the_query_is_shown() {
        let entries =
            [entry(1, "prices are wrong"), entry(5, "Round the\n  Prices to cénts"), entry(7, "prices")];
        check(&entries, "cents prices", 5, "Round the Prices to cénts");
        check(&entries, "prices", 1, "prices are wrong");
        check(&entries, "\"the prices\"", 5, "the Prices");
        check(&entries, "wro*", 1, "wrong");
        check(&entries, "absent", 1, "prices are wrong");
        assert_eq!(snippet(&[], &Query::parse("x")), None);
    }

    #[test]
    fn of_a_long_entry_the_place_is_shown() {
        let text = format!("{} needle {}", "hay ".repeat(500), "hay ".repeat(500));
        let shown = snippet(&[entry(1, &text)], &Query::parse("needle")).expect("an entry");
        assert!(shown.text.starts_with('…') && shown.text.ends_with('…') && shown.text.contains(" needle "));
        assert!(shown.text.chars().count() < 4 * AROUND);
        check(&[entry(2, "错误：修复了")], "修复", 2, "修复");
    }
}

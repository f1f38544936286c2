//! Finds every keyword in one pass: the automaton of Aho and Corasick as one small table.
//!
//! A step is one look into the table, which waits for the step before, so what counts is that the table stays in the
//! processor's cache, and that nothing else stands in the loop. Bytes that no keyword holds share a column.

use std::collections::HashMap;
use std::ops::Range;

use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, StartKind};

/// A compiled set of keywords. Case does not count in ASCII.
#[derive(Debug)]
pub(crate) struct Keywords {
    /// The column of each byte.
    columns: [u8; 256],
    /// Columns of a row, as a power of two.
    shift: u32,
    /// Rows by state: where the row of the next state begins, for each column.
    table: Vec<u32>,
    start: u32,
    /// Rows from here on are of states that end keywords.
    first: u32,
    /// Of each of these, the keywords: number and length.
    ends: Vec<Vec<(usize, usize)>>,
}

impl Keywords {
    /// Compiles keywords; their numbers are their places in the list.
    pub(crate) fn new(words: &[&str]) -> Option<Self> {
        let dfa = DFA::builder()
            .ascii_case_insensitive(true)
            .start_kind(StartKind::Unanchored)
            .build(words)
            .ok()?;
        let (columns, bytes) = columns(words);
        let start = dfa.start_state(Anchored::No).ok()?;
        let mut states = vec![start];
        let mut known = HashMap::from([(start, ())]);
        let mut at = 0;
        while let Some(state) = states.get(at).copied() {
            at += 1;
            for byte in &bytes {
                let next = dfa.next_state(Anchored::No, state, *byte);
                if known.insert(next, ()).is_none() {
                    states.push(next);
                }
            }
        }
        // Those that end nothing come first. Otherwise they stay in the order of their depth: what is met often is together.
        states.sort_by_key(|state| dfa.is_match(*state));
        let shift = bytes.len().next_power_of_two().trailing_zeros();
        let row = |at: usize| u32::try_from(at << shift).ok();
        let rows: HashMap<_, _> =
            states.iter().enumerate().map(|(at, state)| Some((*state, row(at)?))).collect::<Option<_>>()?;
        let mut table = vec![0; states.len() << shift];
        for (at, state) in states.iter().enumerate() {
            for (column, byte) in bytes.iter().enumerate() {
                table[(at << shift) + column] = *rows.get(&dfa.next_state(Anchored::No, *state, *byte))?;
            }
        }
        let first = states.partition_point(|state| !dfa.is_match(*state));
        let ends = states[first..].iter().map(|state| {
            let all = (0..dfa.match_len(*state)).map(|one| dfa.match_pattern(*state, one));
            all.map(|keyword| (keyword.as_usize(), dfa.pattern_len(keyword))).collect()
        });
        let (start, ends) = (*rows.get(&start)?, ends.collect());
        Some(Self { columns, shift, table, start, first: row(first)?, ends })
    }

    /// Every place of every keyword, by where it ends.
    pub(crate) fn each(&self, text: &str, mut found: impl FnMut(usize, Range<usize>)) {
        let (table, columns) = (self.table.as_slice(), &self.columns);
        let (mut state, first) = (self.start, self.first);
        for (at, byte) in text.as_bytes().iter().enumerate() {
            state = table[state as usize + usize::from(columns[usize::from(*byte)])];
            if state >= first {
                self.report(state, at + 1, &mut found);
            }
        }
    }

    /// Kept out of the loop, which is all that most bytes see.
    #[inline(never)]
    fn report(&self, state: u32, end: usize, found: &mut dyn FnMut(usize, Range<usize>)) {
        for (keyword, len) in &self.ends[((state - self.first) >> self.shift) as usize] {
            found(*keyword, end - len..end);
        }
    }
}

/// The column of each byte, and one byte of each column. The first is of all bytes that no keyword holds.
fn columns(words: &[&str]) -> ([u8; 256], Vec<u8>) {
    let mut columns = [0; 256];
    let used = |byte: u8| words.iter().any(|word| word.bytes().any(|own| own.eq_ignore_ascii_case(&byte)));
    let other = (0..=u8::MAX).rev().find(|byte| !used(*byte)).unwrap_or(0);
    let mut bytes = vec![other];
    for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_uppercase() && used(*byte)) {
        let column = u8::try_from(bytes.len()).unwrap_or(0);
        columns[usize::from(byte)] = column;
        columns[usize::from(byte.to_ascii_uppercase())] = column;
        bytes.push(byte);
    }
    (columns, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found_where_it_ends_also_within_another() {
        let words = ["token", "ok", "://", "$2", "_token", "K"];
        let keywords = Keywords::new(&words).expect("compiled");
        let text = "API_TOKEN=ä://x$2 tokk";
        let mut found = Vec::new();
        keywords.each(text, |keyword, place| found.push((keyword, place)));
        found.sort_by_key(|(keyword, place)| (place.start, *keyword));
        let lower = text.to_ascii_lowercase();
        let mut wanted: Vec<_> = (0..text.len())
            .flat_map(|at| words.iter().enumerate().map(move |(keyword, word)| (at, keyword, *word)))
            .filter(|(at, _, word)| lower.as_bytes()[*at..].starts_with(word.to_ascii_lowercase().as_bytes()))
            .map(|(at, keyword, word)| (keyword, at..at + word.len()))
            .collect();
        wanted.sort_by_key(|(keyword, place)| (place.start, *keyword));
        assert_eq!(found, wanted);
        assert!(found.len() >= 8, "{found:?}");
    }
}

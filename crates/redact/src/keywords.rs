//! Finds every keyword in one pass: the automaton of Aho and Corasick as one small table. It is made here and not by a library: every
//! process that reads a transcript makes it anew, and straight into the table that takes a tenth of the time.
//!
//! A step is one look into the table, which waits for the step before, so what counts is that the table stays in the
//! processor's cache, and that nothing else stands in the loop. Bytes that no keyword holds share a column.

use std::ops::Range;

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
    pub(crate) fn new(words: &[&str]) -> Self {
        let (columns, width) = columns(words);
        let shift = width.next_power_of_two().trailing_zeros();
        let trie = Trie::new(words, &columns);
        let order = trie.in_order();
        let (row, first) = rows(&trie, &order, shift);
        let mut table = vec![0; trie.nodes.len() << shift];
        for at in order.iter().copied() {
            let to = row[at] as usize;
            // What no keyword goes on with leads where it leads from the longest end that one begins with.
            let fail = row[trie.nodes[at].fail] as usize;
            if at != ROOT {
                table.copy_within(fail..fail + (1 << shift), to);
            }
            trie.children(at).for_each(|child| {
                table[to + usize::from(trie.nodes[child].column)] = row[child];
            });
        }
        let ends = order.iter().filter(|at| trie.nodes[**at].ends).map(|at| trie.ends(*at)).collect();
        Self { columns, shift, table, start: row[ROOT], first, ends }
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

/// The column of each byte, and how many there are. The first is of all bytes that no keyword holds.
fn columns(words: &[&str]) -> ([u8; 256], usize) {
    let mut used = [false; 256];
    words.iter().flat_map(|word| word.bytes()).for_each(|byte| {
        used[usize::from(byte.to_ascii_lowercase())] = true;
    });
    let (mut columns, mut width) = ([0; 256], 1);
    for byte in (0..=u8::MAX).filter(|byte| used[usize::from(*byte)]) {
        let column = u8::try_from(width).unwrap_or(0);
        columns[usize::from(byte)] = column;
        columns[usize::from(byte.to_ascii_uppercase())] = column;
        width += 1;
    }
    (columns, width)
}

/// The row of each node, and the first row of those that end keywords, which come last. Otherwise they stay in the order of their
/// depth: what is met often is together.
fn rows(trie: &Trie, order: &[usize], shift: u32) -> (Vec<u32>, u32) {
    let mut rows = vec![0; trie.nodes.len()];
    let mut next = 0;
    let mut number = |ends: bool| {
        for at in order.iter().copied().filter(|at| trie.nodes[*at].ends == ends) {
            rows[at] = next << shift;
            next += 1;
        }
        next << shift
    };
    let first = number(false);
    number(true);
    (rows, first)
}

const ROOT: usize = 0;

/// The keywords by their beginnings.
struct Trie {
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    /// The column of the byte that leads here.
    column: u8,
    /// The first child, and the next child of the same parent; the root is neither.
    child: usize,
    sibling: usize,
    /// The node of the longest end of this beginning that is a beginning too.
    fail: usize,
    /// The keywords that end here: number and length.
    own: Vec<(usize, usize)>,
    /// Whether a keyword ends here, or at an end of this beginning.
    ends: bool,
}

impl Trie {
    fn new(words: &[&str], columns: &[u8; 256]) -> Self {
        let mut trie = Self { nodes: vec![Node::default()] };
        for (number, word) in words.iter().enumerate() {
            let mut at = ROOT;
            for byte in word.bytes() {
                let column = columns[usize::from(byte)];
                at = trie.child(at, column).unwrap_or_else(|| trie.grow(at, column));
            }
            trie.nodes[at].own.push((number, word.len()));
        }
        trie.link();
        trie
    }

    fn grow(&mut self, parent: usize, column: u8) -> usize {
        let new = self.nodes.len();
        let sibling = std::mem::replace(&mut self.nodes[parent].child, new);
        self.nodes.push(Node { column, sibling, ..Node::default() });
        new
    }

    fn children(&self, at: usize) -> impl Iterator<Item = usize> {
        let node = |at: usize| (at != ROOT).then_some(at);
        std::iter::successors(node(self.nodes[at].child), move |at| node(self.nodes[*at].sibling))
    }

    fn child(&self, at: usize, column: u8) -> Option<usize> {
        self.children(at).find(|child| self.nodes[*child].column == column)
    }

    /// Every node, by its depth.
    fn in_order(&self) -> Vec<usize> {
        let mut order = vec![ROOT];
        let mut next = 0;
        while let Some(at) = order.get(next).copied() {
            order.extend(self.children(at));
            next += 1;
        }
        order
    }

    /// Finds the node that each falls back to.
    fn link(&mut self) {
        for at in self.in_order() {
            let mut child = self.nodes[at].child;
            while child != ROOT {
                let fail = self.fail_of(at, self.nodes[child].column);
                self.nodes[child].fail = fail;
                self.nodes[child].ends = !self.nodes[child].own.is_empty() || self.nodes[fail].ends;
                child = self.nodes[child].sibling;
            }
        }
    }

    fn fail_of(&self, parent: usize, column: u8) -> usize {
        let mut at = parent;
        while at != ROOT {
            at = self.nodes[at].fail;
            if let Some(child) = self.child(at, column) {
                return child;
            }
        }
        ROOT
    }

    /// The keywords that end at a node, the longest first.
    fn ends(&self, at: usize) -> Vec<(usize, usize)> {
        let up = |at: &usize| Some(self.nodes[*at].fail).filter(|_| *at != ROOT);
        std::iter::successors(Some(at), up).flat_map(|at| self.nodes[at].own.iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found_where_it_ends_also_within_another() {
        let words = ["token", "ok", "://", "$2", "_token", "K"];
        let keywords = Keywords::new(&words);
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

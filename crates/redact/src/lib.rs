//! Secrets out of text.
//!
//! Everything that leaves a transcript passes through [`Redactor::redact`]. Keywords are found first, in one pass over
//! the text; only where one stands is a rule tried, on a bounded window, so that the work is linear in the text.
//! Strings that no rule knows but that look random are the last resort. Redacting twice gives the same as once.

mod assigned;
mod entropy;
mod patterns;
mod pem;
mod shapes;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::AhoCorasick;

use assigned::Class;
use patterns::Patterns;
use shapes::{SHAPES, Shape};

/// How a redacted place begins; what follows is the kind and `]`.
pub const MARK: &str = "[redacted:";

const ROUNDS: usize = 8;

/// Compiled rules. Made once and shared: it holds no state.
#[derive(Debug)]
pub struct Redactor {
    keywords: Option<AhoCorasick>,
    rules: Vec<Rule>,
    patterns: Patterns,
}

/// Text without its secrets, and how many of each kind there were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text; borrowed where there was nothing to redact.
    pub text: Cow<'a, str>,
    /// How often each kind was found.
    pub counts: BTreeMap<&'static str, usize>,
}

/// What is tried where a keyword stands.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Shape(&'static Shape),
    Assigned(Class),
    Pattern(usize),
    Pem,
}

/// A secret: where it stands and how sure its rule is (lower is surer).
#[derive(Debug)]
struct Found {
    span: Range<usize>,
    kind: &'static str,
    rank: u8,
}

impl Redactor {
    /// Compiles the rules.
    pub fn new() -> Self {
        let (words, rules): (Vec<&str>, Vec<Rule>) = table().into_iter().unzip();
        let keywords = AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok();
        Self { keywords, rules, patterns: Patterns::new() }
    }

    /// The text with every secret replaced by `[redacted:<kind>]`.
    pub fn redact<'a>(&self, text: &'a str) -> Redacted<'a> {
        let mut done = Redacted { text: Cow::Borrowed(text), counts: BTreeMap::new() };
        // A replacement ends what stood beside it and may so uncover a second secret; rarely is there a third round.
        for _ in 0..ROUNDS {
            let found = self.find(&done.text);
            if found.is_empty() {
                break;
            }
            done.text = Cow::Owned(replace(&done.text, found, &mut done.counts));
        }
        done
    }

    fn find(&self, text: &str) -> Vec<Found> {
        let mut found = Vec::new();
        if let Some(keywords) = &self.keywords {
            for hit in keywords.find_overlapping_iter(text) {
                let rule = self.rules.get(hit.pattern().as_usize());
                found.extend(rule.and_then(|rule| self.apply(*rule, text, hit.range())));
            }
        }
        entropy::scan(text, |span| found.push(Found { span, kind: "high-entropy", rank: 3 }));
        found.retain(|one| !text[one.span.clone()].contains(MARK));
        merge(found)
    }

    fn apply(&self, rule: Rule, text: &str, hit: Range<usize>) -> Option<Found> {
        let (span, kind, rank) = match rule {
            Rule::Shape(shape) => (shape.matches(text, hit.start)?, shape.kind, 0),
            Rule::Assigned(class) => (assigned::value(text, hit, class)?, class.kind(), 2),
            Rule::Pattern(index) => {
                self.patterns.matches(index, text, hit).map(|(span, kind)| (span, kind, 1))?
            }
            Rule::Pem => (pem::block(text, hit.start)?, "private-key", 0),
        };
        Some(Found { span, kind, rank })
    }
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

/// Every keyword with its rule.
fn table() -> Vec<(&'static str, Rule)> {
    let shapes = SHAPES.iter().map(|shape| (shape.prefix, Rule::Shape(shape)));
    let assigned = assigned::NAMES.iter().map(|(name, class)| (*name, Rule::Assigned(*class)));
    let patterns =
        patterns::TABLE.iter().enumerate().map(|(index, pattern)| (pattern.keyword, Rule::Pattern(index)));
    shapes.chain(assigned).chain(patterns).chain([(pem::KEYWORD, Rule::Pem)]).collect()
}

/// Overlapping finds become one, of the surest kind, so that nothing is redacted twice and no remainder is left.
fn merge(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_key(|one| (one.span.start, one.rank));
    let mut merged: Vec<Found> = Vec::with_capacity(found.len());
    for one in found {
        match merged.last_mut() {
            Some(last) if one.span.start < last.span.end => {
                last.span.end = last.span.end.max(one.span.end);
                if one.rank < last.rank {
                    (last.kind, last.rank) = (one.kind, one.rank);
                }
            }
            _ => merged.push(one),
        }
    }
    merged
}

fn replace(text: &str, found: Vec<Found>, counts: &mut BTreeMap<&'static str, usize>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for Found { span, kind, .. } in found {
        out.push_str(&text[done..span.start]);
        out.push_str(MARK);
        out.push_str(kind);
        out.push(']');
        *counts.entry(kind).or_insert(0) += 1;
        done = span.end;
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests;

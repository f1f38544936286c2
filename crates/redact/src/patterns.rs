//! Secrets whose shape has structure: the few rules that need a regular expression.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use crate::boundary::starts_fresh;
use crate::table::TABLE;

/// One rule. The first group that took part is the secret; without groups the whole match is.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// What it is called in the replacement.
    pub kind: &'static str,
    /// What must stand in the text before the expression is tried.
    pub keyword: &'static str,
    /// The expression, which needs the features of the parser that this crate asks for and no others.
    pub expression: &'static str,
    /// How far before the keyword a match may begin; at 0 it begins at the keyword.
    pub before: usize,
    /// Whether a match is plausible as a secret.
    pub judge: fn(&str) -> bool,
}

/// How far a match may reach past its keyword.
const REACH: usize = 4096;

/// The compiled rules, in the order of [`TABLE`].
#[derive(Debug)]
pub(crate) struct Patterns(Vec<OnceLock<Option<Regex>>>);

impl Patterns {
    /// The table. An expression is compiled when its keyword is first met: all together take longer than reading the
    /// headers of a hundred transcripts.
    pub(crate) fn new() -> Self {
        Self(TABLE.iter().map(|_| OnceLock::new()).collect())
    }

    /// The expression of a rule; a test proves that every one compiles.
    fn regex(&self, index: usize) -> Option<&Regex> {
        let compile = || Regex::new(TABLE.get(index)?.expression).ok();
        self.0.get(index)?.get_or_init(compile).as_ref()
    }

    /// The secret of rule `index` around its keyword.
    pub(crate) fn matches(
        &self,
        index: usize,
        text: &str,
        hit: Range<usize>,
    ) -> Option<(Range<usize>, &'static str)> {
        let pattern = TABLE.get(index)?;
        let regex = self.regex(index)?;
        let from = floor(text, hit.start.saturating_sub(pattern.before));
        let to = floor(text, (hit.end + REACH).min(text.len()));
        let anchored = if pattern.before == 0 { Anchored::Yes } else { Anchored::No };
        let mut captures = regex.create_captures();
        regex.captures(Input::new(text).range(from..to).anchored(anchored), &mut captures);
        // Digits of an escape sequence before the match pass for its own.
        while pattern.before > 0 && !may_begin(text.as_bytes(), captures.get_match()?.start()) {
            let next = captures.get_match()?.start() + 1;
            regex.captures(Input::new(text).range(next..to).anchored(anchored), &mut captures);
        }
        let whole = captures.get_match()?;
        let groups = captures.iter().skip(1).flatten().next();
        let span = groups.unwrap_or(whole.span());
        (pattern.judge)(&text[span.start..span.end]).then_some((span.start..span.end, pattern.kind))
    }

    #[cfg(test)]
    pub(crate) fn all_compiled(&self) -> bool {
        (0..TABLE.len()).all(|index| self.regex(index).is_some())
    }
}

/// Whether a match may begin here: where a word does, or with a digit behind a letter.
fn may_begin(bytes: &[u8], start: usize) -> bool {
    let digit = bytes.get(start).is_some_and(u8::is_ascii_digit);
    starts_fresh(bytes, start) || digit && bytes[start - 1].is_ascii_alphabetic()
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

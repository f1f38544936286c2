//! Secrets out of text.
//!
//! Everything that leaves a transcript passes through [`Redactor::redact`]. Keywords are found first, in one pass over
//! the text; only where one stands is a rule tried, on a bounded window, so that the work is linear in the text. A rule
//! with a wide window looks at no part of the text twice.
//! Strings that no rule knows but that look random are the last resort, and encoded text is looked at as what it
//! encodes. Redacting twice gives the same as once.

mod arguments;
mod assigned;
mod block_scalar;
mod boundary;
mod class;
mod commands;
mod element;
mod encoded;
mod entropy;
mod exact;
mod extent;
mod fields;
mod header;
mod judge;
mod keywords;
mod literal;
mod manifest;
mod names;
mod naming;
mod noise;
mod pair_value;
mod pairs;
mod patterns;
mod pem;
mod phrase;
mod plain;
mod prose;
mod rules;
mod setting;
mod shapes;
mod state_words;
mod table;
mod unnamed;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use class::SecretClass;
use commands::{COMMANDS, Command};
use entropy::Run;
use keywords::Keywords;
use literal::NameWord;
use patterns::Patterns;
use rules::UserRules;
pub use rules::{RuleError, Rules};
use shapes::{SHAPES, TokenShape};

/// How a redacted place begins; what follows is the kind and `]`.
pub const MARK: &str = "[redacted:";

const ROUNDS: usize = 8;

/// Compiled rules. Made once and shared: it holds no state.
#[derive(Debug)]
pub struct Redactor {
    keywords: Keywords,
    rules: Vec<Rule>,
    patterns: Patterns,
    own: UserRules,
    fingerprint: u64,
}

static SHARED: OnceLock<Redactor> = OnceLock::new();

/// The redactor of this process: with the rules that [`install`] gave it, else with ours alone.
pub fn shared() -> &'static Redactor {
    SHARED.get_or_init(Redactor::new)
}

/// Gives this process a user's own rules. It comes before any text is redacted: later it changes nothing.
pub fn install(rules: &Rules) -> Result<(), RuleError> {
    let redactor = Redactor::with(rules)?;
    // Settings are read again for another folder; a user's rules are the same there.
    let _ = SHARED.set(redactor);
    Ok(())
}

/// Text without its secrets, and how many of each kind there were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text; borrowed where there was nothing to redact.
    pub text: Cow<'a, str>,
    /// How often each kind was found.
    pub counts: BTreeMap<&'static str, usize>,
}

/// A secret that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// Its kind, as a mark names it.
    pub kind: &'static str,
    /// The byte of the text at which it begins.
    pub at: usize,
}

/// What is tried where a keyword stands.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Shape(&'static TokenShape),
    Assigned(SecretClass),
    Pattern(usize),
    Command(&'static Command),
    Manifest,
    Piped,
    Cookie,
    Pem,
    Vault,
}

/// A secret: where it stands and how sure its rule is (lower is surer).
#[derive(Debug)]
struct Match {
    span: Range<usize>,
    kind: &'static str,
    rank: u8,
}

impl Redactor {
    /// Compiles our rules.
    pub fn new() -> Self {
        let (words, rules): (Vec<&str>, Vec<Rule>) = table().into_iter().unzip();
        let keywords = Keywords::new(&words);
        let fingerprint = Rules::default().fingerprint();
        Self { keywords, rules, patterns: Patterns::new(), own: UserRules::default(), fingerprint }
    }

    /// Compiles our rules and a user's.
    pub fn with(rules: &Rules) -> Result<Self, RuleError> {
        Ok(Self { own: UserRules::new(rules)?, fingerprint: rules.fingerprint(), ..Self::new() })
    }

    /// A fingerprint of the rules: redacted text that was kept under another one is made anew.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
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

    /// The first secret of a text.
    pub fn first(&self, text: &str) -> Option<Finding> {
        self.find(text).first().map(|one| Finding { kind: one.kind, at: one.span.start })
    }

    /// The first secret that nothing looks like by chance, also where the text is made of bytes at random: a private key, or a token
    /// with a provider's prefix in its full length; and what a user's own rules find.
    pub fn first_unmistakable(&self, text: &str) -> Option<Finding> {
        let mut found = Vec::new();
        self.keywords.each(text, |index, hit| {
            let (span, kind) = match self.rules.get(index) {
                Some(Rule::Shape(shape)) => (shape.matches_whole(text, hit.start), shape.kind),
                Some(Rule::Pem) => (pem::block(text, hit.start), "private-key"),
                Some(Rule::Vault) => (pem::vault(text, hit.start), "ansible-vault"),
                _ => return,
            };
            found.extend(span.map(|span| Match { span, kind, rank: 0 }));
        });
        self.own.find(text, &mut |span| found.push(Match { span, kind: "custom", rank: 4 }));
        found.retain(|one| !self.own.allows(&text[one.span.clone()]));
        merge(found).first().map(|one| Finding { kind: one.kind, at: one.span.start })
    }

    fn find(&self, text: &str) -> Vec<Match> {
        let mut found = self.find_plain(text);
        entropy::scan(text, |run| match run {
            Run::Recognised(span, kind) => found.push(Match { span, kind, rank: 1 }),
            Run::Random(span) => found.push(Match { span, kind: "high-entropy", rank: 3 }),
            Run::Encoded(_, text) if self.find_plain(&text).is_empty() => {}
            Run::Encoded(span, _) => found.push(Match { span, kind: "encoded-secret", rank: 3 }),
        });
        self.own.find(text, &mut |span| found.push(Match { span, kind: "custom", rank: 4 }));
        found.retain(|one| {
            !text[one.span.clone()].contains(MARK) && !self.own.allows(&text[one.span.clone()])
        });
        merge(found)
    }

    /// What the keywords find, but not what looks random or is encoded.
    fn find_plain(&self, text: &str) -> Vec<Match> {
        let mut search = Search {
            text,
            patterns: &self.patterns,
            found: Vec::new(),
            looked: Vec::new(),
            word: NameWord::default(),
            encoded: NameWord::default(),
        };
        self.keywords.each(text, |index, hit| {
            if let Some(rule) = self.rules.get(index) {
                search.apply(*rule, index, hit);
            }
        });
        search.found
    }
}

/// One pass over a text.
struct Search<'t> {
    text: &'t str,
    patterns: &'t Patterns,
    found: Vec<Match>,
    /// How far rules with a wide window have looked, by their keyword.
    looked: Vec<(usize, usize)>,
    word: NameWord,
    /// The name before the beginning of a JSON object in base64, which occurs within such objects.
    encoded: NameWord,
}

impl Search<'_> {
    fn apply(&mut self, rule: Rule, index: usize, hit: Range<usize>) {
        let text = self.text;
        let (span, kind, rank) = match rule {
            Rule::Shape(shape) => (shape.matches(text, hit.start), shape.kind, 0),
            Rule::Assigned(class) => (assigned::value(text, hit, class, &mut self.word), class.kind(), 2),
            Rule::Pattern(at) if !self.may_try(at, &hit) => return,
            Rule::Pattern(at) => match self.patterns.matches(at, text, hit) {
                Some((span, kind)) => (Some(span), kind, 1),
                None => return,
            },
            Rule::Pem => (self.once(index, &hit, |hit| pem::block(text, hit.start)), "private-key", 0),
            Rule::Vault => (self.once(index, &hit, |hit| pem::vault(text, hit.start)), "ansible-vault", 0),
            Rule::Cookie if hit.start < self.looked(index) => return,
            // All cookies of a header are judged together.
            Rule::Cookie => {
                let (span, end) = header::cookies(text, &hit);
                self.advance_to(index, end);
                (span, "cookie", 1)
            }
            Rule::Piped => (commands::piped(text, hit, 0), "password", 1),
            Rule::Command(_) | Rule::Manifest => return self.wide(rule, index, hit),
        };
        self.found.extend(span.map(|span| Match { span, kind, rank }));
    }

    /// Whether an expression is tried here: text of nothing but its keyword is not gone over again for each.
    fn may_try(&mut self, pattern: usize, hit: &Range<usize>) -> bool {
        let byte = |at: usize| self.text.as_bytes().get(hit.start + at).copied();
        match table::TABLE.get(pattern).map_or("", |pattern| pattern.keyword) {
            "eyJ" => self.encoded.once_more(self.text, hit.start),
            // These stand in many words: the sign that a key has behind them is looked for first.
            "pat" => byte(17) == Some(b'.'),
            "re_" => byte(11) == Some(b'_'),
            "-us" => byte(3).is_some_and(|byte| byte.is_ascii_digit()),
            _ => true,
        }
    }

    /// A block is taken whole: what begins within one is none of its own.
    fn once(
        &mut self,
        index: usize,
        hit: &Range<usize>,
        block: impl Fn(&Range<usize>) -> Option<Range<usize>>,
    ) -> Option<Range<usize>> {
        if hit.start < self.looked(index) {
            return None;
        }
        let span = block(hit)?;
        self.advance_to(index, span.end);
        Some(span)
    }

    fn wide(&mut self, rule: Rule, index: usize, hit: Range<usize>) {
        let looked = self.looked(index);
        if hit.start < looked {
            return;
        }
        let mut spans = Vec::new();
        let (to, kind) = match rule {
            Rule::Command(command) => (command.values(self.text, hit, &mut spans), "password"),
            _ => (manifest::values(self.text, hit, looked, &mut spans), "kubernetes-secret"),
        };
        self.advance_to(index, to);
        self.found.extend(spans.into_iter().map(|span| Match { span, kind, rank: 1 }));
    }

    fn looked(&self, index: usize) -> usize {
        self.looked.iter().find(|(rule, _)| *rule == index).map_or(0, |(_, to)| *to)
    }

    fn advance_to(&mut self, index: usize, to: usize) {
        match self.looked.iter_mut().find(|(rule, _)| *rule == index) {
            Some((_, looked)) => *looked = to.max(*looked),
            None => self.looked.push((index, to)),
        }
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
        table::TABLE.iter().enumerate().map(|(index, pattern)| (pattern.keyword, Rule::Pattern(index)));
    let commands = COMMANDS.iter().map(|command| (command.program, Rule::Command(command)));
    let manifests = manifest::KEYWORDS.iter().map(|keyword| (*keyword, Rule::Manifest));
    let piped = commands::PIPED.iter().map(|keyword| (*keyword, Rule::Piped));
    let blocks = [(header::COOKIE, Rule::Cookie), (pem::KEYWORD, Rule::Pem), (pem::VAULT, Rule::Vault)];
    shapes
        .chain(assigned)
        .chain(patterns)
        .chain(commands)
        .chain(manifests)
        .chain(piped)
        .chain(blocks)
        .collect()
}

/// Overlapping finds become one, of the surest kind, so that nothing is redacted twice and no remainder is left.
fn merge(mut found: Vec<Match>) -> Vec<Match> {
    found.sort_by_key(|one| (one.span.start, one.rank));
    let mut merged: Vec<Match> = Vec::with_capacity(found.len());
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

fn replace(text: &str, found: Vec<Match>, counts: &mut BTreeMap<&'static str, usize>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for Match { span, kind, .. } in found {
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

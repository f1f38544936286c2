//! A user's own rules: what else is secret, and what is none.

use std::fmt;
use std::ops::Range;

use regex_automata::meta::{Config, Regex};

use crate::MARK;

/// Goes up with every change of our own rules that takes out more or less.
const VERSION: u32 = 6;
/// No list is longer.
pub(crate) const MAX_RULES: usize = 64;
/// No expression is longer, in bytes.
pub(crate) const MAX_RULE_BYTES: usize = 1024;
/// No compiled expression is larger, in bytes.
const MAX_COMPILED_BYTES: usize = 512 * 1024;

/// What a user adds to the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Expressions of what is secret.
    pub patterns: Vec<String>,
    /// Exceptions from the rules: a literal text, or an expression between two `/`, which has to match the whole.
    pub allow: Vec<String>,
}

/// A rule that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    /// `patterns` or `allow`.
    pub list: &'static str,
    /// The rule as it was given.
    pub rule: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule: String = self.rule.chars().take(80).collect();
        write!(f, "`{rule}` in `{}`: {}", self.list, self.reason)
    }
}

impl Rules {
    /// A fingerprint of the rules, the user's and the built-in ones: identifies what was redacted under other rules.
    pub fn fingerprint(&self) -> u64 {
        let lists = [("patterns", &self.patterns), ("allow", &self.allow)];
        let parts = lists
            .iter()
            .flat_map(|(name, list)| std::iter::once(*name).chain(list.iter().map(String::as_str)));
        let bytes = parts.flat_map(|part| part.bytes().chain([0xff])).chain(VERSION.to_le_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.allow.is_empty()
    }
}

/// Compiled rules of a user.
#[derive(Debug, Default)]
pub(crate) struct UserRules {
    patterns: Vec<Regex>,
    literals: Vec<String>,
    allowed: Vec<Regex>,
}

impl UserRules {
    /// Compiles them, or says which one cannot be used and why.
    pub(crate) fn new(rules: &Rules) -> Result<Self, RuleError> {
        let mut own = Self::default();
        for (list, all) in [("patterns", &rules.patterns), ("allow", &rules.allow)] {
            if let Some(rule) = all.get(MAX_RULES) {
                return Err(refuse(list, rule, format!("there are more than {MAX_RULES}")));
            }
        }
        for rule in &rules.patterns {
            own.patterns.push(compile("patterns", rule, rule)?);
        }
        for rule in &rules.allow {
            match rule.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
                Some(expression) => {
                    compile("allow", rule, expression)?;
                    own.allowed.push(compile("allow", rule, &format!(r"\A(?:{expression})\z"))?);
                }
                None if rule.is_empty() => return Err(refuse("allow", rule, "it is empty".to_owned())),
                None => own.literals.push(rule.clone()),
            }
        }
        Ok(own)
    }

    /// Whether this may stay.
    pub(crate) fn allows(&self, secret: &str) -> bool {
        self.literals.iter().any(|literal| literal == secret)
            || self.allowed.iter().any(|regex| regex.is_match(secret))
    }

    /// What the patterns find, without what was taken out before.
    pub(crate) fn find(&self, text: &str, found: &mut impl FnMut(Range<usize>)) {
        if self.patterns.is_empty() {
            return;
        }
        let marks = marks(text);
        for span in self.patterns.iter().flat_map(|regex| regex.find_iter(text)) {
            let mut from = span.start();
            let first = marks.partition_point(|mark| mark.end <= from);
            for mark in marks[first..].iter().take_while(|mark| mark.start < span.end()) {
                piece(text, from..mark.start, found);
                from = from.max(mark.end);
            }
            piece(text, from..span.end(), found);
        }
    }
}

fn piece(text: &str, span: Range<usize>, found: &mut impl FnMut(Range<usize>)) {
    if span.start < span.end && !text[span.clone()].trim().is_empty() {
        found(span);
    }
}

/// Where secrets were taken out.
fn marks(text: &str) -> Vec<Range<usize>> {
    let mark = |at: usize| {
        let kind = text[at + MARK.len()..]
            .bytes()
            .take(40)
            .take_while(|byte| byte.is_ascii_lowercase() || *byte == b'-' || byte.is_ascii_digit());
        let end = at + MARK.len() + kind.count();
        (text.as_bytes().get(end) == Some(&b']')).then_some(at..end + 1)
    };
    text.match_indices(MARK).filter_map(|(at, _)| mark(at)).collect()
}

fn compile(list: &'static str, rule: &str, expression: &str) -> Result<Regex, RuleError> {
    if expression.is_empty() {
        return Err(refuse(list, rule, "it is empty".to_owned()));
    }
    if rule.len() > MAX_RULE_BYTES {
        return Err(refuse(list, rule, format!("it is longer than {MAX_RULE_BYTES} bytes")));
    }
    let config =
        Config::new().nfa_size_limit(Some(MAX_COMPILED_BYTES)).hybrid_cache_capacity(MAX_COMPILED_BYTES);
    let regex =
        Regex::builder().configure(config).build(expression).map_err(|error| match error.size_limit() {
            Some(_) => {
                refuse(list, rule, "it is too large: write it with fewer or smaller repetitions".to_owned())
            }
            None => {
                let reason = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
                let last = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                refuse(list, rule, format!("it is no regular expression: {last}"))
            }
        })?;
    if list == "patterns" && regex.is_match("") {
        return Err(refuse(list, rule, "it matches the empty text, so it would match everywhere".to_owned()));
    }
    Ok(regex)
}

fn refuse(list: &'static str, rule: &str, reason: String) -> RuleError {
    RuleError { list, rule: rule.to_owned(), reason }
}

//! Secrets whose shape has structure: the few rules that need a regular expression.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use crate::shapes::starts_fresh;

/// One rule. Group 1 is the secret; without it the whole match is.
#[derive(Debug)]
pub struct Pattern {
    kind: &'static str,
    /// What must stand in the text before the expression is tried.
    pub keyword: &'static str,
    expression: &'static str,
    /// How far before the keyword a match may begin; at 0 it begins at the keyword.
    before: usize,
}

/// How far a match may reach past its keyword.
const REACH: usize = 4096;

/// The rules.
pub static TABLE: &[Pattern] = &[
    Pattern {
        kind: "jwt",
        keyword: "eyJ",
        expression: r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
        before: 0,
    },
    Pattern {
        kind: "url-password",
        keyword: "://",
        expression: r#"://[^\s/:@"'<>`\\]{0,128}:([^\s/@"'<>`$*{}\\][^\s/@"'<>`\\]{0,255})@[A-Za-z0-9\[]"#,
        before: 0,
    },
    Pattern {
        kind: "sendgrid-key",
        keyword: "SG.",
        expression: r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}",
        before: 0,
    },
    Pattern {
        kind: "slack-webhook",
        keyword: "hooks.slack.com/",
        expression: r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})",
        before: 0,
    },
    Pattern {
        kind: "azure-secret",
        keyword: "Q~",
        expression: r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
        before: 4,
    },
    Pattern {
        kind: "azure-key",
        keyword: "AccountKey=",
        expression: r"AccountKey=([A-Za-z0-9+/]{40,}={0,2})",
        before: 0,
    },
    Pattern {
        kind: "azure-key",
        keyword: "SharedAccessKey=",
        expression: r"SharedAccessKey=([A-Za-z0-9+/]{40,}={0,2})",
        before: 0,
    },
    Pattern {
        kind: "telegram-token",
        keyword: ":AA",
        expression: r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}",
        before: 10,
    },
    Pattern {
        kind: "bearer-token",
        keyword: "bearer ",
        expression: r"(?i:bearer) +([A-Za-z0-9._~+/-]{16,}=*)",
        before: 0,
    },
    Pattern {
        kind: "basic-auth",
        keyword: "basic ",
        expression: r"(?i:basic) +([A-Za-z0-9+/]{16,}={0,2})",
        before: 0,
    },
];

/// The compiled rules, in the order of [`TABLE`].
#[derive(Debug)]
pub struct Patterns(Vec<OnceLock<Option<Regex>>>);

impl Patterns {
    /// The table. An expression is compiled when its keyword is first met: all together take longer than reading the
    /// headers of a hundred transcripts.
    pub fn new() -> Self {
        Self(TABLE.iter().map(|_| OnceLock::new()).collect())
    }

    /// The expression of a rule; a test proves that every one compiles.
    fn regex(&self, index: usize) -> Option<&Regex> {
        let compile = || Regex::new(TABLE.get(index)?.expression).ok();
        self.0.get(index)?.get_or_init(compile).as_ref()
    }

    /// The secret of rule `index` around its keyword.
    pub fn matches(
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
        let whole = captures.get_match()?;
        if pattern.before > 0 && !starts_fresh(text.as_bytes(), whole.start()) {
            return None;
        }
        let span = captures.get_group(1).unwrap_or(whole.span());
        let secret = &text[span.start..span.end];
        let plausible = !matches!(pattern.kind, "bearer-token" | "basic-auth") || credential(secret);
        plausible.then_some((span.start..span.end, pattern.kind))
    }

    #[cfg(test)]
    pub fn all_compiled(&self) -> bool {
        (0..TABLE.len()).all(|index| self.regex(index).is_some())
    }
}

/// Words follow "bearer" and "basic" in prose too; a credential holds digits or is mixed.
fn credential(secret: &str) -> bool {
    let bytes = secret.as_bytes();
    bytes.iter().any(u8::is_ascii_digit)
        || (bytes.iter().any(u8::is_ascii_uppercase) && secret.ends_with('='))
        || bytes
            .windows(2)
            .filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase())
            .count()
            > 6
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

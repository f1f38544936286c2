//! How much a text may take: so many tokens of a model, or so many bytes.

mod tokens;

use std::fmt;

use crate::refusal::Refusal;
pub use tokens::estimate_tokens;

/// Below this many tokens a document is too short for the errors of its estimate to even out.
const SHORT: usize = 800;

/// The size that a document may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Tokens, by [`estimate_tokens`].
    Tokens(usize),
    /// Bytes of UTF-8.
    Bytes(usize),
}

impl Budget {
    /// Reads `2000` (tokens), `1500B`, `4kB` (4,000 bytes) or `2KiB` (2,048 bytes); letters count the same in either
    /// case, and digits may be grouped with `_` or `,`.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !matches!(c, '0'..='9' | '_' | ',')).unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(split);
        let amount: usize = number.replace(['_', ','], "").parse().map_err(|_| malformed_refusal(text))?;
        let bytes =
            |each: usize| amount.checked_mul(each).map(Self::Bytes).ok_or_else(|| malformed_refusal(text));
        let budget = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "t" | "token" | "tokens" => Self::Tokens(amount),
            "b" | "byte" | "bytes" => Self::Bytes(amount),
            "k" | "kb" => bytes(1000)?,
            "kib" => bytes(1024)?,
            "m" | "mb" => bytes(1_000_000)?,
            "mib" => bytes(1024 * 1024)?,
            _ => return Err(malformed_refusal(text)),
        };
        if amount == 0 { Err(malformed_refusal(text)) } else { Ok(budget) }
    }

    /// Whether `text` keeps within the budget.
    pub fn allows(self, text: &str) -> bool {
        self.cost(text) <= self.room()
    }

    /// What a text costs, in thousandths of the unit. Additive over lines.
    pub(crate) fn cost(self, text: &str) -> u64 {
        match self {
            // Vocabularies differ: `cl100k_base` needs up to 5 % more for a document than the one that is estimated, up to 7 %
            // for a short one, where less evens out; and some tools count four characters as a token.
            Self::Tokens(amount) => {
                let percent = if amount < SHORT { 109 } else { 105 };
                (tokens::milli_tokens(text) * percent / 100).max(text.chars().count() as u64 * 250)
            }
            Self::Bytes(_) => text.len() as u64 * 1000,
        }
    }

    /// The whole budget, in thousandths of the unit.
    pub(crate) fn room(self) -> u64 {
        let (Self::Tokens(amount) | Self::Bytes(amount)) = self;
        (amount as u64).saturating_mul(1000)
    }
}

/// `2000 tokens`, `2048 bytes`.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens(amount) => write!(f, "{amount} tokens"),
            Self::Bytes(amount) => write!(f, "{amount} bytes"),
        }
    }
}

fn malformed_refusal(text: &str) -> Refusal {
    let shown: String = text.chars().take(40).collect();
    Refusal::invalid(
        "budget_malformed",
        format!("`{}` is not a budget", shown.escape_debug()),
        "give tokens as a number (`2000`), or bytes with a unit (`1500B`, `4kB`, `2KiB`)",
    )
    .with("budget", shown)
}

#[cfg(test)]
mod tests;

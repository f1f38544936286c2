//! A place in the list of what needs a person: what is worst comes first, and of that the oldest.

use std::fmt;

use baton_model::attention::AttentionItem;
use baton_model::refusal::Refusal;

use crate::page::Position;

/// A place in the list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Severity of the last item.
    pub(super) rank: u8,
    /// Its time and id.
    pub(super) position: Position,
}

impl Place {
    /// Before all that there is.
    pub(super) fn first() -> Self {
        Self { rank: 0, position: Position::oldest() }
    }

    pub(super) fn of(item: &AttentionItem) -> Self {
        Self { rank: item.rank(), position: Position { at: item.since.0, id: item.id.clone() } }
    }

    /// Reads a cursor.
    pub(super) fn parse(text: &str) -> Result<Self, Refusal> {
        let parts = text.split_once('.').and_then(|(rank, rest)| Some((rank.parse().ok()?, rest)));
        // One without a rank is none.
        let (rank, rest) = parts.unwrap_or((0, ""));
        Ok(Self { rank, position: Position::parse(rest)? })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.rank, self.position)
    }
}

//! Pages of lists that are ordered by time and id: where one ends, the next goes on, whatever came meanwhile.

use std::fmt;

use baton_model::refusal::Refusal;
use baton_model::time::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In which order such a list is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// What waits longest first.
    Oldest,
    /// What came last first.
    Newest,
}

impl Order {
    /// Where a list in this order begins.
    pub(crate) fn first(self) -> Position {
        match self {
            Self::Oldest => Position::oldest(),
            Self::Newest => Position::newest(),
        }
    }
}

/// A place in such a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    /// The time of the last row.
    pub(crate) at: Millis,
    /// Its id.
    pub(crate) id: String,
}

impl Position {
    /// Before all that there is, from the oldest on.
    pub(crate) fn oldest() -> Self {
        Self { at: i64::MIN, id: String::new() }
    }

    /// After all that there is, from the newest back.
    pub(crate) fn newest() -> Self {
        Self { at: i64::MAX, id: String::new() }
    }

    /// Reads a cursor.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let parts = text.split_once('_').and_then(|(at, id)| Some((at.parse().ok()?, id)));
        let Some((at, id)) = parts else {
            let what = format!("`{}` is no cursor", baton_model::id::visible(text));
            return Err(Refusal::invalid(
                "cursor_invalid",
                what,
                "give `next` of the page before as it came",
            ));
        };
        Ok(Self { at, id: id.to_owned() })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.at, self.id)
    }
}

/// How many rows a page has: as many as were asked for, at least one and at most `most`; with 0 as many as a page may have.
pub(crate) fn page_size(limit: Option<i64>, usual: usize, most: usize) -> usize {
    let wanted = limit.map_or(usual, |limit| usize::try_from(limit).unwrap_or(1));
    if wanted == 0 { most } else { wanted.clamp(1, most) }
}

/// The number of rows as the store takes it.
pub(crate) fn row_limit(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

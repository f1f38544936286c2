//! Where a task stands on the board.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Task;
use crate::time::Millis;

/// Where the tasks of a role stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BoardState {
    /// Held back by others, or blocked by hand.
    Blocked,
    /// Closed.
    Closed,
    /// Not to be offered yet.
    Deferred,
    /// Worked on.
    InProgress,
    /// Set aside in another way.
    Other,
    /// Ready to be worked on.
    Ready,
}

/// What decides where a task stands.
#[derive(Debug, Clone, Copy)]
pub struct BoardFacts<'a> {
    /// Its status.
    pub status: &'a str,
    /// Whether others hold it back.
    pub is_blocked: bool,
    /// Whether it is put off.
    pub is_deferred: bool,
    /// Whether it can be worked on.
    pub is_ready: bool,
}

impl BoardState {
    /// Where it stands.
    pub fn of(facts: BoardFacts<'_>) -> Self {
        match facts.status {
            "closed" => Self::Closed,
            "in_progress" | "hooked" => Self::InProgress,
            "open" if facts.is_blocked => Self::Blocked,
            "open" if facts.is_deferred => Self::Deferred,
            "open" if facts.is_ready => Self::Ready,
            "deferred" => Self::Deferred,
            "blocked" => Self::Blocked,
            _ => Self::Other,
        }
    }

    /// Where a task stands at a time.
    pub fn of_task(task: &Task, now: Millis) -> Self {
        Self::of(BoardFacts {
            status: &task.status,
            is_blocked: task.readiness.blocked,
            is_deferred: task.readiness.wait_until > now,
            is_ready: task.readiness.ready,
        })
    }
}

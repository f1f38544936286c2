//! Code mode: one call of the tool `exec` is a JavaScript program whose calls of other tools stand in the rollout as finished items
//! with ids of their own. (Codex 0.169; which models use it stands in its catalog of models.)

use std::borrow::Cow;

use crate::event::{Call, Category, SourcePosition};
use crate::shared::json::Json;

/// The tool that runs a program.
const TOOL: &str = "exec";
/// The namespace in which it stands since Codex 0.171; before it stood in none.
const NAMESPACE: &str = "functions";

/// A program that was called, until it is known whether items tell what it did.
pub(super) struct Script {
    pub(super) id: String,
    source: String,
    pub(super) position: SourcePosition,
    pub(super) at_ms: Option<i64>,
    /// Whether an item tells of a call that it made.
    pub(super) has_items: bool,
}

impl Script {
    /// The program of a `custom_tool_call`, if it is one.
    pub(super) fn of(item: &Json<'_>, place: SourcePosition, at_ms: Option<i64>) -> Option<Self> {
        let foreign = item.get("namespace").str().is_some_and(|space| space != NAMESPACE);
        if item.get("name").str() != Some(TOOL) || foreign {
            return None;
        }
        let id = item.first(&["call_id", "id"])?.to_owned();
        let source = item.get("input").str()?.to_owned();
        Some(Self { id, source, position: place, at_ms, has_items: false })
    }

    /// The call, for a program that called no tool or that failed between two calls.
    pub(super) fn call(&self) -> Call<'_> {
        Call {
            id: Cow::Borrowed(&self.id),
            name: Cow::Borrowed(TOOL),
            category: Category::Other,
            target: Cow::Borrowed(self.source.trim()),
            ..Call::default()
        }
    }
}

/// How far a program came, by its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// It runs still: `wait` brings the rest.
    Running,
    Completed,
    Failed,
}

impl Progress {
    /// What the first words of an output say.
    pub(super) fn of(output: &str) -> Option<Self> {
        let states = [
            ("Script running", Self::Running),
            ("Script completed", Self::Completed),
            ("Script failed", Self::Failed),
        ];
        states.into_iter().find_map(|(words, state)| output.starts_with(words).then_some(state))
    }
}

/// What a program printed, without the lines that Codex puts before it.
pub(super) fn printed(output: &str) -> &str {
    output.split_once("Output:\n").map_or(output, |(_, printed)| printed).trim_start_matches('\n')
}

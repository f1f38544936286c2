//! Which entries a line of the file speaks of. A tool that does not know a field leaves it out of what it writes, and that takes
//! nothing away: what a line lacks is gone only where its writer would have written it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::entry;
use super::record::OWN;

/// Fields that every version of every tool has: one that is not there is empty.
const CORE: [&str; 16] = [
    "acceptance_criteria",
    "assignee",
    "close_reason",
    "closed_at",
    "created_at",
    "created_by",
    "description",
    "design",
    "estimated_minutes",
    "external_ref",
    "issue_type",
    "metadata",
    "notes",
    "priority",
    "status",
    "title",
];

/// Fields that every task has for good: a line that lacks one, or has it empty, says nothing about it.
pub(super) const LASTING: [&str; 6] =
    ["created_at", "created_by", "issue_type", "priority", "status", "title"];

/// Fields of newer versions of Beads, in which tasks have metadata, too.
const NEWER: [&str; 36] = [
    "_type",
    "actor",
    "await_id",
    "await_type",
    "bonded_from",
    "closed_by_session",
    "compacted_at",
    "compacted_at_commit",
    "compaction_level",
    "defer_until",
    "delete_reason",
    "deleted_at",
    "deleted_by",
    "due_at",
    "ephemeral",
    "event_kind",
    "is_template",
    "mol_type",
    "no_history",
    "original_size",
    "original_type",
    "owner",
    "payload",
    "pinned",
    "sender",
    "source_formula",
    "source_location",
    "source_system",
    "spec_id",
    "started_at",
    "target",
    "timeout",
    "waiters",
    "wisp",
    "wisp_type",
    "work_type",
];

/// What a line has of the metadata.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Metadata {
    /// Our own object is in it.
    #[default]
    Own,
    /// An object without ours.
    Foreign,
    /// An object with something else in our place.
    Odd,
    /// It is not there, or is no object.
    Absent,
}

/// What a line speaks of; by default of everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    metadata: Metadata,
    /// The names of its fields.
    fields: Option<BTreeSet<String>>,
    /// What every task has, or a closed one, and the line lacks.
    missing: BTreeSet<&'static str>,
}

impl Coverage {
    /// Of a line.
    pub(super) fn of(line: &Map<String, Value>) -> Self {
        let metadata = match line.get("metadata") {
            Some(Value::Object(metadata)) => match metadata.get(OWN) {
                Some(Value::Object(_)) => Metadata::Own,
                None | Some(Value::Null) => Metadata::Foreign,
                Some(_) => Metadata::Odd,
            },
            _ => Metadata::Absent,
        };
        Self { metadata, fields: Some(line.keys().cloned().collect()), missing: missing_fields(line) }
    }

    /// Whether the line says nothing about an entry that no line takes away: it lacks a field that every task has, or a closed one.
    pub(super) fn is_missing(&self, name: &str) -> bool {
        self.missing.contains(name)
    }

    /// Whether its writer knows, or has kept, what only Baton writes.
    pub(super) fn has_own(&self) -> bool {
        self.metadata == Metadata::Own
    }

    /// Whether something that is not ours stands in our place.
    pub fn is_odd(&self) -> bool {
        self.metadata == Metadata::Odd
    }

    /// Whether an entry that the line does not have was taken away.
    pub(super) fn includes(&self, name: &str) -> bool {
        // Baton removes an entry of its own with a time in its clocks; a line without it says nothing.
        if is_own(name) || self.is_missing(name) {
            return false;
        }
        if name.starts_with("metadata/") {
            return self.metadata != Metadata::Absent;
        }
        if is_core(name) {
            return true;
        }
        let field = entry::field(name);
        let is_named = self.fields.as_ref().is_none_or(|fields| fields.contains(field));
        is_named || (NEWER.contains(&field) && self.metadata != Metadata::Absent)
    }
}

/// The fields that a line lacks although its task has them. When it was closed is a fact of every task that is not open.
fn missing_fields(line: &Map<String, Value>) -> BTreeSet<&'static str> {
    let is_said = |name: &str| match line.get(name) {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    };
    let mut missing: BTreeSet<&'static str> = LASTING.into_iter().filter(|name| !is_said(name)).collect();
    let status = line.get("status").and_then(Value::as_str).unwrap_or_default();
    if ["", "closed", "deleted", "tombstone"].contains(&status) && !is_said("closed_at") {
        missing.insert("closed_at");
    }
    missing
}

/// Whether a line says where its task stands.
pub(super) fn has_state(line: &Map<String, Value>) -> bool {
    let missing = missing_fields(line);
    !["issue_type", "priority", "status"].iter().any(|name| missing.contains(name))
}

/// Whether every tool writes an entry, unless there is none.
pub(super) fn is_core(name: &str) -> bool {
    entry::is_member(name) || CORE.contains(&name)
}

/// Whether an entry is one of ours.
fn is_own(name: &str) -> bool {
    name == "metadata/agent_role"
        || name
            .strip_prefix("metadata/")
            .and_then(|path| path.strip_prefix(OWN))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

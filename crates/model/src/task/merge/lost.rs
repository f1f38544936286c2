//! Values that a merge does not keep, and that no rule for conflicts sees.

use serde_json::{Map, Value};

use super::super::conflict::{Conflict, Side};
use super::super::entry::{self, entries};
use super::super::record::{OWN, Record};
use super::super::sealed;
use super::super::version::Version;
use super::{clocks_of, replaced, text};

/// Fields that follow from others, or tell when and not what.
const DERIVED: [&str; 5] = ["closed_at", "created_at", "deleted_at", "created_by", "status"];

/// The texts of ours that the merged version does not have any more, by field: what `baton log` shows as `replaced`. Encrypted contexts
/// are among them: a file replaced them, not an agent that can read them.
pub fn replaced_by(ours: &Record, merged: &Record) -> Map<String, Value> {
    let (old, new) = (entries(ours), entries(merged));
    let sealed = ["agent_context", "handoff_instructions"].into_iter().filter_map(|context| {
        let name = format!("metadata/{OWN}/{context}");
        let value = old.get(&name).filter(|value| new.get(&name) != Some(value))?;
        Some((context.to_owned(), value.clone()))
    });
    let sealed: Vec<(String, Value)> = sealed.collect();
    let mut found = replaced::texts(old, &new);
    found.extend(sealed);
    found
}

/// Two sides of a conflict that git has left.
pub struct Sides<'a> {
    /// What both began from, where that is known.
    pub base: Option<&'a Record>,
    /// What the ledger has.
    pub ours: &'a Record,
    /// The line.
    pub theirs: &'a Record,
}

impl Sides<'_> {
    /// Whether one side alone has changed a field: the other has it as both began. Where that version is not known, a field whose
    /// change was never seen is as it was when the task was created.
    pub fn is_one_sided(&self, field: &str) -> bool {
        let [ours, theirs] = [self.ours, self.theirs].map(entries);
        let Some(name) = ours.keys().chain(theirs.keys()).find(|name| name.replace('/', ".") == field) else {
            return false;
        };
        if let Some(base) = self.base.map(entries) {
            return base.get(name) == ours.get(name) || base.get(name) == theirs.get(name);
        }
        let is_seen = |record: &Record| clocks_of(record).of(name).is_seen;
        self.ours.task.created_at == self.theirs.task.created_at
            && self.theirs.stamp.is_some()
            && is_seen(self.ours) != is_seen(self.theirs)
    }
}

/// What one of two sides of git's conflict says and the merged version does not have, where it was never seen before (`known`), and what
/// gave way to it. Without the version that both began from, either may be a change of its own: the versions between that only one
/// side had are not the ground of both.
pub fn lost_by_sides(known: &[Record], sides: &Sides<'_>, merged: &Record) -> Vec<Conflict> {
    let Sides { ours, theirs, .. } = sides;
    let versions: Vec<Map<String, Value>> = known.iter().map(entries).collect();
    let (our, current, line) = (entries(ours), entries(merged), Version::of(theirs).entries);
    let is_told =
        |name: &str| !entry::is_comment(name) && !entry::is_member(name) && !DERIVED.contains(&name);
    let conflict = |name: &str, side: Side| Conflict {
        id: theirs.task.task_id.clone(),
        field: name.replace('/', "."),
        ours: our.get(name).cloned().unwrap_or_default(),
        theirs: line.get(name).cloned().unwrap_or_default(),
        kept: side,
    };
    let mut found = Vec::new();
    for (name, their) in line.iter().filter(|(name, their)| is_told(name) && our.get(*name) != Some(their)) {
        let is_old = versions.iter().any(|version| version.get(name) == Some(their));
        let is_within =
            |other: Option<&Value>| other == Some(their) || text::is_more(name, other, Some(their));
        if !is_within(current.get(name)) && !is_old {
            found.push(conflict(name, Side::Ours));
        } else if our.contains_key(name)
            && !text::is_more(name, Some(their), our.get(name))
            && current.get(name) == Some(their)
        {
            found.push(conflict(name, Side::Theirs));
        }
    }
    found.retain(|conflict| !sides.is_one_sided(&conflict.field));
    found
}

/// Puts the encrypted contexts of ours back where the merged version has plain text or something unreadable in their place. Returns what
/// was not taken.
pub fn keep_sealed(ours: &Record, merged: &mut Record) -> Vec<Conflict> {
    let mut found = Vec::new();
    let id = ours.task.task_id.clone();
    for (name, own, new) in [
        ("agent_context", &ours.task.agent_context, &mut merged.task.agent_context),
        ("handoff_instructions", &ours.task.handoff_instructions, &mut merged.task.handoff_instructions),
    ] {
        if sealed::text(own).is_none() || sealed::text(new).is_some_and(sealed::is_whole) {
            continue;
        }
        let field = format!("metadata.{OWN}.{name}");
        // The text of the file is not repeated: it may be the plain text of what is secret.
        let (ours, theirs) = (Value::from("(encrypted)"), Value::from("(not encrypted)"));
        found.push(Conflict { id: id.clone(), field, ours, theirs, kept: Side::Ours });
        new.clone_from(own);
    }
    found
}

//! What a line lacks whose writer gave it no new time.

use serde_json::Value;

use crate::task::conflict::{Conflict, Side};
use crate::task::entry;
use crate::task::record::Record;
use crate::task::version::Version;

/// What a line lacks although a known version of the same time has it: a script took it out and left the time as it was. The merge
/// keeps it, because another clone may have written that line at the same instant. `known`: the versions that the file had before.
pub fn untimed_removals(known: &[Record], merged: &Record, theirs: &Record) -> Vec<Conflict> {
    let line = Version::of(theirs);
    let is_origin = |version: &Version<'_>| {
        let has_clocks = version.has_clocks_of(&line) || !theirs.coverage.has_own();
        version.at() == line.at() && has_clocks
    };
    let mut versions = known.iter().map(Version::of);
    let Some(origin) = versions.rfind(is_origin) else { return Vec::new() };
    let entries = entry::entries(merged);
    let is_removed = |name: &&String| {
        let coverage = &theirs.coverage;
        let is_covered = entry::is_comment(name) || coverage.includes(name) || coverage.is_missing(name);
        !line.entries.contains_key(*name) && is_covered && entries.contains_key(*name)
    };
    let removal = |name: &String| Conflict {
        id: merged.task.task_id.clone(),
        field: name.clone(),
        ours: entries.get(name).cloned().unwrap_or_default(),
        theirs: Value::Null,
        kept: Side::Ours,
    };
    origin.entries.keys().filter(is_removed).map(removal).collect()
}

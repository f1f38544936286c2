//! When files were changed, by whichever agent: a check that began before that is of an earlier state of them.

use std::collections::HashMap;

use baton_packet::packet::{FileChange, Packet};

/// How many files are kept.
const MAX_FILES: usize = 2000;

/// When each file was changed last, in epoch milliseconds.
#[derive(Debug, Default)]
pub(super) struct ChangeTimes(HashMap<String, i64>);

impl ChangeTimes {
    /// A file was changed by a call that began then.
    pub(super) fn changed(&mut self, path: &str, at_ms: Option<i64>) {
        let Some(at_ms) = at_ms else { return };
        if self.0.len() < MAX_FILES || self.0.contains_key(path) {
            let known = self.0.entry(path.to_owned()).or_insert(at_ms);
            *known = at_ms.max(*known);
        }
    }

    /// When a source file that is still changed was changed last. What was removed may have been made for a trial.
    fn last_of(&self, files: &[FileChange]) -> Option<i64> {
        let changed =
            files.iter().filter(|file| file.is_source() && file.change.as_deref() != Some("deleted"));
        changed.filter_map(|file| self.0.get(&file.path)).max().copied()
    }

    /// Marks the checks that began before the last change of a source file; `began` has the time of each.
    pub(super) fn mark_outdated(&self, packet: &mut Packet, began: &[Option<i64>]) {
        let Some(last) = self.last_of(&packet.files_modified) else { return };
        for (check, began) in packet.checks.iter_mut().zip(began) {
            if began.is_some_and(|began| began < last) {
                check.outdated = Some(true);
            }
        }
    }
}

//! Lines of a file that are older than what the ledger has: what they say otherwise is not taken, and one complaint says so.

use baton_model::task::conflict::Conflict;

use super::beads_file::Complaint;

/// Lines that are older than what the ledger has, and say what it never had.
#[derive(Default)]
pub(super) struct OlderLines {
    first: usize,
    count: usize,
    /// How many of them are named.
    named: usize,
    /// Of the first few: the task, and each field with what is kept and what was not taken.
    names: Vec<String>,
}

impl OlderLines {
    /// Notes a line and what of it was not taken.
    pub(super) fn add(&mut self, line: usize, passed: &[Conflict]) {
        if passed.is_empty() {
            return;
        }
        if self.count == 0 {
            self.first = line;
        }
        self.count += 1;
        if self.named < 5 {
            self.names.extend(passed.iter().map(Conflict::describe_ignored));
            self.named += 1;
        }
    }

    /// The complaint about all of them, if there are any.
    pub(super) fn complaint(self) -> Option<Complaint> {
        let more = if self.count > self.named { ", …" } else { "" };
        let text = format!(
            "{} lines are older than what the ledger has, and what they say otherwise was not taken: {}{more}; `baton task update ID` sets it",
            self.count,
            self.names.join("; ")
        );
        let complaint = Complaint { line: self.first, path: String::new(), text, unreadable: false };
        (self.count > 0).then_some(complaint)
    }
}

//! Lines that close a task while parts of it, or what it waits for, are still open: other lines of the same import may close those.

use baton_store::{Failure, Tx};

use super::beads_file::TaskLine;
use super::beads_merge::Progress;

/// Lines that are put off until the others are taken in.
#[derive(Default)]
pub(super) struct EarlyCloses {
    waiting: Vec<(TaskLine, bool)>,
    /// Whether no line is left that could make room for another.
    is_over: bool,
}

impl EarlyCloses {
    /// Whether a line that closes its task early can still wait for others.
    pub(super) fn can_wait(&self) -> bool {
        !self.is_over
    }

    /// Puts a line off; says with it whether it is the first one of its task.
    pub(super) fn put_off(&mut self, line: TaskLine, is_first: bool) {
        self.waiting.push((line, is_first));
    }
}

impl Progress<'_, '_> {
    /// Takes in what was put off, as long as that makes room for more. What is still early then keeps its task open.
    pub(super) fn take_early_closes(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        loop {
            let waiting = std::mem::take(&mut self.early.waiting);
            let count = waiting.len();
            for (line, is_first) in waiting {
                self.take_in(tx, line, is_first)?;
            }
            if self.early.is_over || self.early.waiting.is_empty() {
                return Ok(());
            }
            self.early.is_over = self.early.waiting.len() == count;
        }
    }
}

//! In which projects the store's threads wrote, for who follows the ledgers.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The projects that were written since they were last taken.
#[derive(Default)]
pub(super) struct WrittenProjects {
    projects: Mutex<BTreeSet<String>>,
    notify: Notify,
}

impl WrittenProjects {
    fn projects(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a thread has committed.
    pub(super) fn note(&self, mut projects: BTreeSet<String>) {
        if !projects.is_empty() {
            self.projects().append(&mut projects);
            self.notify.notify_one();
        }
    }

    /// Waits for a write, and takes the projects of all since the last time.
    pub(super) async fn next(&self) -> BTreeSet<String> {
        self.notify.notified().await;
        std::mem::take(&mut *self.projects())
    }
}

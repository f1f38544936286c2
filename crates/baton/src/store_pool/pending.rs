//! Operations that are under way.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts an operation until it is answered, or its caller stops waiting.
pub(super) struct PendingCount<'a>(&'a AtomicUsize);

impl<'a> PendingCount<'a> {
    pub(super) fn count(all: &'a AtomicUsize) -> Self {
        all.fetch_add(1, Ordering::Relaxed);
        Self(all)
    }
}

impl Drop for PendingCount<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

//! The order of a list.

use std::cmp::Reverse;

use baton_ops::task::Row;

use crate::cli::bd::args::SortKey;

/// Two days, in milliseconds: what is younger is sorted by priority in the hybrid order.
const RECENT: i64 = 2 * 86_400_000;

/// Sorts issues that come by priority, then oldest first.
pub(in crate::cli::bd) fn sort(issues: &mut [Row], key: Option<SortKey>, reverse: bool, now: i64) {
    match key {
        None | Some(SortKey::Priority) => {}
        Some(SortKey::Created) => issues.sort_by_key(|row| Reverse(row.task.created_at)),
        Some(SortKey::Oldest) => issues.sort_by_key(|row| row.task.created_at),
        Some(SortKey::Updated) => issues.sort_by_key(|row| Reverse(row.task.updated_at)),
        Some(SortKey::Closed) => issues.sort_by_key(|row| Reverse(row.task.closed_at)),
        Some(SortKey::Status) => issues.sort_by_key(|row| row.task.status.clone()),
        Some(SortKey::Id) => issues.sort_by_key(|row| row.task.id.clone()),
        Some(SortKey::Title) => issues.sort_by_key(|row| row.task.title.to_lowercase()),
        Some(SortKey::Type) => issues.sort_by_key(|row| row.task.issue_type.clone()),
        Some(SortKey::Assignee) => issues.sort_by_key(|row| row.task.assignee.clone()),
        Some(SortKey::Hybrid) => issues.sort_by_key(|row| {
            let created = row.task.created_at;
            match now.saturating_sub(created.0) < RECENT {
                true => (0, row.task.priority, created),
                false => (1, 0, created),
            }
        }),
    }
    if reverse {
        issues.reverse();
    }
}

//! The warning of sessions at work in one working copy.

use baton_model::accounting::{Remark, RemarkKind};
use baton_model::id::{short, visible};
use baton_model::repository::WorkingCopy;
use baton_model::session::View;

/// The warning for a caller in whose working copy other sessions are at work.
pub(super) fn shared_copy(
    own: Option<&WorkingCopy>,
    machine: &str,
    own_id: Option<&str>,
    open: &[View],
) -> Option<Remark> {
    let root = &own?.root;
    let is_beside = |other: &&View| {
        other.fresh
            && Some(other.session_id.as_str()) != own_id
            && other.machine == machine
            && other.copy.as_ref().is_some_and(|copy| copy.root == *root)
    };
    let others: Vec<String> = open
        .iter()
        .filter(is_beside)
        .map(|other| {
            format!(
                "{} ({}, {})",
                visible(&other.identity),
                visible(&other.surface),
                short(&other.session_id)
            )
        })
        .collect();
    if others.is_empty() {
        return None;
    }
    let verb = if others.len() == 1 { "works" } else { "work" };
    let message = format!(
        "{} {verb} in this working copy too, {}: a worktree of your own (`git worktree add`) keeps the changes apart",
        others.join(", "),
        visible(root)
    );
    Some(Remark { kind: RemarkKind::SharedWorkingCopy, message })
}

//! Advisory leases that conflict.

use baton_model::attention::{AttentionItem, Reason, SuggestedCommand};
use baton_model::lease::FileLease;
use baton_model::time::Timestamp;

/// The item of a lease that conflicts with another's.
pub(super) fn conflict((of, other): &(FileLease, String)) -> AttentionItem {
    let reason = Reason::LeaseConflict;
    let suggestion = SuggestedCommand {
        reason,
        project_id: &of.project_id,
        id: &of.lease_id,
        subject: &of.pattern,
        to: None,
    };
    AttentionItem {
        reason,
        help: suggestion.command(),
        project_id: of.project_id.clone(),
        id: of.lease_id.clone(),
        subject: of.pattern.clone(),
        from: Some(of.identity.clone()),
        to: Some(other.clone()),
        since: Timestamp(of.taken_at),
        detail: of.why.clone(),
        blocked: false,
        agents: Vec::new(),
        blocker: None,
        made_by: None,
        holds_work: false,
        actions: Vec::new(),
    }
}

/// The leases, given from the oldest on, that conflict with an earlier one, each with that one's holder.
pub(super) fn conflicts(leases: &[FileLease]) -> Vec<(FileLease, String)> {
    let with_earlier = |(index, of): (usize, &FileLease)| {
        let earlier = leases.iter().take(index).find(|earlier| of.conflicts(earlier))?;
        Some((of.clone(), earlier.identity.clone()))
    };
    leases.iter().enumerate().filter_map(with_earlier).collect()
}

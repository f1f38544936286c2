//! Actions that the viewer of an item may take.

use baton_model::attention::{AttentionItem, Reason};
use baton_model::handoff::State;
use baton_model::row_action::{
    HandoffParties, OfferedAction, RowAction, Viewer, of_baton, of_message, of_session,
};

/// Actions of an item except those of a task, which depend on its status.
pub(super) fn of_item(item: &AttentionItem, viewer: &str) -> Vec<OfferedAction> {
    let viewer = Viewer(viewer);
    let from = item.from.as_deref().unwrap_or_default();
    let to = item.to.as_deref();
    let of_handoff = |state, to| {
        // The sender of an offer is named behind its project.
        let from = from.split_once('/').map_or(from, |(_, name)| name);
        HandoffParties { state, from, to, accepted_by: None }.actions(viewer)
    };
    match item.reason {
        Reason::SessionSilent => of_session(from, viewer),
        // Of these the receiver is a project.
        Reason::HandoffFailed => of_handoff(State::Failed, None),
        Reason::HandoffStuck => of_handoff(State::Pending, None),
        Reason::HandoffReturned => of_handoff(State::Declined, None),
        Reason::HandoffStarving | Reason::HandoffWaiting => of_handoff(State::Offered, to),
        Reason::BatonStarving | Reason::BatonWaiting => of_baton(from, to, viewer),
        Reason::MessageUnread | Reason::MessageWaiting => of_message(from, to, false, viewer),
        // What was read is not taken back.
        Reason::AnswerLate | Reason::AnswerWaiting => {
            let mut actions = of_message(from, to, false, viewer);
            actions.retain(|one| one.action != RowAction::Retract);
            actions
        }
        Reason::AckLate => of_message(from, to, true, viewer),
        // Who is at work is asked before the work is given to another.
        Reason::SessionQuiet => {
            let mut actions = of_session(from, viewer);
            actions.reverse();
            actions
        }
        Reason::LeaseConflict => viewer.write_to(&[Some(from), to]).into_iter().collect(),
        Reason::WorkingCopyShared => {
            let agents: Vec<Option<&str>> = item.agents.iter().map(|name| Some(name.as_str())).collect();
            viewer.write_to(&agents).into_iter().collect()
        }
        Reason::TaskRetried | Reason::TaskBlocked => Vec::new(),
    }
}

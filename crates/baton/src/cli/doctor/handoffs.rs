//! What `baton doctor` says of hand-offs that do not reach their receivers, in every project of the store.

use baton_model::attention::{AttentionItem, Reason};
use baton_ops::attention::{Attention, AttentionInput};

use crate::app::App;
use crate::cli::attention;
use crate::render;

/// Hand-offs that failed or are stuck, the oldest first. Nothing where the store is too damaged to say.
pub(super) fn stuck(app: &mut App) -> Vec<AttentionItem> {
    let of = |reason: Reason| AttentionInput {
        reason: Some(reason.as_str().to_owned()),
        ..AttentionInput::default()
    };
    let reasons = [Reason::HandoffFailed, Reason::HandoffStuck];
    reasons
        .into_iter()
        .filter_map(|reason| app.run::<Attention>(&of(reason)).ok())
        .flat_map(|found| found.items)
        .collect()
}

/// A line each.
pub(super) fn section(stuck: &[AttentionItem]) -> String {
    render::section("hand-offs that do not arrive", &stuck.iter().map(attention::row).collect::<Vec<_>>())
}

//! Names the conversation of a project that left no baton, where the command line or a hook shows what waits.

use baton_model::accounting::Remark;
use baton_ops::card::Card;
use baton_ops::transcript::{List, UnwrappedQuery};

use crate::app::App;
use crate::clock;

/// The remark about it, if there is one. Transcripts that cannot be listed are no reason to show nothing else.
pub(crate) fn remark(
    app: &mut App,
    (project_id, card): (&str, &Card),
    (session_id, conversation): (Option<&str>, Option<&str>),
) -> Option<Remark> {
    let caller = app.caller();
    let query = UnwrappedQuery { surface: &caller.surface, session_id, conversation, now: clock::now() };
    let listed = app.run::<List>(&query.listing(project_id, card)).ok()?;
    query.remark(&listed.items, card)
}

//! Names the conversations of a project that left no baton, where the command line or a hook shows what waits.

use baton_model::accounting::Remark;
use baton_ops::card::Card;
use baton_ops::transcript::{List, Unwrapped, UnwrappedQuery};

use crate::app::App;
use crate::clock;

/// The remarks about them. Transcripts that cannot be listed are no reason to show nothing else.
pub(crate) fn remarks(
    app: &mut App,
    (project_id, card): (&str, &Card),
    (session_id, conversation): (Option<&str>, Option<&str>),
) -> Vec<Remark> {
    let caller = app.caller();
    let query = UnwrappedQuery { surface: &caller.surface, session_id, conversation, now: clock::now() };
    let Ok(listed) = app.run::<List>(&query.listing(project_id)) else { return Vec::new() };
    let Some(question) = query.question(project_id, &listed.items) else { return Vec::new() };
    let Ok(unwrapped) = app.run::<Unwrapped>(&question) else { return Vec::new() };
    query.remarks(&listed.items, &unwrapped, card)
}

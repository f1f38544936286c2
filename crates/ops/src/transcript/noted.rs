//! In which projects the hooks of a conversation spoke, for the hooks themselves: they write it down where its transcript is.

use baton_model::time::Millis;
use baton_store::{Failure, Store, conversation_project};

use crate::project::merged_into;

/// The projects in which hooks of a tool's conversation spoke, the first one first. Of one that was merged, that in which it goes
/// on.
pub fn noted_in(store: &mut Store, (tool, id): (&str, &str)) -> Result<Vec<String>, Failure> {
    store.read(|tx| {
        let mut found = conversation_project::of(tx, tool, id)?;
        for project_id in &mut found {
            if let Some(now) = merged_into(tx, project_id)? {
                *project_id = now;
            }
        }
        Ok(found)
    })
}

/// Notes that a hook of a tool's conversation spoke in a project. What is noted stays, and the first note stays the first.
pub fn note_project(
    store: &mut Store,
    conversation: (&str, &str),
    project_id: &str,
    now: Millis,
) -> Result<(), Failure> {
    store.write_relaxed(|tx| Ok(conversation_project::put(tx, conversation, project_id, now)?))
}

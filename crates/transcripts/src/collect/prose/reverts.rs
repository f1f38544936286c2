//! What the agent says when it undoes its own work.

use super::lowered;
use crate::shared::words::has_phrase;

/// Whether the agent takes back what it did before: `Let me revert my earlier change and instead fix the setup`.
pub(crate) fn reverts_own_work(text: &str) -> bool {
    const VERBS: &[&str] = &["revert", "undo", "reverting", "undoing", "roll back", "back out"];
    const OBJECTS: &[&str] =
        &["my earlier", "my previous", "my last", "my change", "my first", "that change", "this change"];
    let lower = lowered(text);
    VERBS.iter().any(|verb| OBJECTS.iter().any(|object| has_phrase(&lower, &format!("{verb} {object}"))))
}

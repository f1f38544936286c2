//! What the agent says when it undoes its own work.

use super::lowered;
use crate::shared::words::has_phrase;

/// Whether the user takes back what he asked for last, and says nothing else: `actually, can you revert that?`
pub(crate) fn takes_request_back(text: &str) -> bool {
    const MAX_WORDS: usize = 10;
    const VERBS: &[&str] = &["revert", "undo", "roll back", "scratch", "forget", "never mind"];
    const OBJECTS: &[&str] =
        &["that", "this", "it", "those", "these", "all of that", "everything", "the last change"];
    let lower = lowered(text.trim());
    let orders = || {
        VERBS.iter().any(|verb| OBJECTS.iter().any(|object| has_phrase(&lower, &format!("{verb} {object}"))))
    };
    text.split_whitespace().count() <= MAX_WORDS && orders()
}

/// Whether the agent takes back what it did before: `Let me revert my earlier change and instead fix the setup`.
pub(crate) fn reverts_own_work(text: &str) -> bool {
    const VERBS: &[&str] = &["revert", "undo", "reverting", "undoing", "roll back", "back out"];
    const OBJECTS: &[&str] =
        &["my earlier", "my previous", "my last", "my change", "my first", "that change", "this change"];
    let lower = lowered(text);
    VERBS.iter().any(|verb| OBJECTS.iter().any(|object| has_phrase(&lower, &format!("{verb} {object}"))))
}

//! What a task that passes no longer says.

use super::carried::FAILURE_FIELDS;
use crate::route;
use crate::task::{Task, entry};
use crate::time::parse_rfc3339;

/// Takes out of the context of a task that passes what an attempt that failed has left there. What its agent says with the closing
/// stays, and so does what was written after the last of these attempts.
pub fn clear_failures(known: &Task, passed: &mut Task) {
    let last = route::attempts(known).last().and_then(|attempt| parse_rfc3339(attempt["at"].as_str()?));
    let Some(last) = last else { return };
    for field in FAILURE_FIELDS {
        let is_said_now = passed.agent_context.get(field) != known.agent_context.get(field);
        if !is_said_now && known.clocks.of(&entry::of_context(field)).at <= last {
            passed.agent_context.shift_remove(field);
        }
    }
}

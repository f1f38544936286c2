//! The refusal of a second session under a name that is at work.

use super::{AdmissionRequest, Session};
use crate::refusal::{Kind, Refusal};
use crate::repository::machine_name;
use crate::time::ago;

/// Refuses a caller whose name is at work in another process, and says where.
pub(super) fn refusal(holder: &Session, who: &AdmissionRequest<'_>) -> Refusal {
    Refusal::new(
        Kind::Conflict,
        "identity_conflict",
        format!("{} is already active in this project: {}", holder.identity, place(holder, who)),
        "work under another name (--as NAME), or take over with --force --why REASON",
    )
    .with("holder", holder.to_json(who.now, who.limits))
}

/// Where the agent of a session is at work, in a clause for a caller that knows its name.
fn place(holder: &Session, who: &AdmissionRequest<'_>) -> String {
    let copy = holder.working_copy.as_ref();
    let elsewhere = match holder.location.machine == who.location.machine {
        true => String::new(),
        false => {
            let host = copy.and_then(|copy| copy.host.as_deref());
            format!("on machine {}, ", machine_name(host, &holder.location.machine))
        }
    };
    let folder = copy.map(|copy| format!("in {}, ", copy.describe())).unwrap_or_default();
    format!("{elsewhere}{folder}through {}, heard of {}", holder.surface, ago(who.now, holder.heartbeat_at))
}

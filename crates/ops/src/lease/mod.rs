//! File leases: announce what is being worked on, see who works on what, give it back.

mod list;
mod release;
mod take;

use baton_model::holder::Holder;
use baton_model::lease::FileLease;
use baton_model::refusal::Refusal;
use baton_model::session::Session;
use baton_store::{Failure, Tx, lease};

use crate::op::Env;
use crate::ownership;

pub use baton_model::lease::{Mode, Row};
pub use list::{List, ListInput, ListOutput};
pub use release::{Release, ReleaseInput, ReleaseOutput};
pub use take::{Take, TakeInput, TakeOutput, Warning, WarningKind};

/// The caller's leases that another took over while the clock was ahead, and that would hold by the present time.
fn taken_over(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    caller: &Holder<'_>,
) -> Result<Vec<FileLease>, Failure> {
    let lost = lease::taken_over(tx, project_id, caller.identity, env.now)?;
    Ok(lost.into_iter().filter(|lease| lease.holder().is_same(caller)).collect())
}

/// Ids of the leases that another live process of the session's name took in it.
fn held_elsewhere(env: &Env<'_>, own: Option<&Session>, held: &[FileLease]) -> Vec<String> {
    let Some(own) = own else { return Vec::new() };
    let in_it = |lease: &&FileLease| lease.session_id.as_ref() == Some(&own.session_id);
    let is_elsewhere = |lease: &&FileLease| {
        lease.location.as_ref().is_some_and(|place| ownership::is_held_elsewhere(env, own, place))
    };
    held.iter().filter(in_it).filter(is_elsewhere).map(|lease| lease.lease_id.clone()).collect()
}

/// The refusal, which says that the caller's own lease was taken over, if it was.
fn with_takeover(refusal: Refusal, lost: Option<&FileLease>) -> Refusal {
    match lost {
        Some(lease) => Refusal { message: format!("{}; {}", refusal.message, lease.takeover()), ..refusal }
            .with("taken_over", serde_json::json!(lease.row())),
        None => refusal,
    }
}

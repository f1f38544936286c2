//! What a pickup says of changes that a session before it applied: they lie in its working copy, and the baton with which they came has
//! them still.

use baton_store::{Failure, session_commit};

use super::bundle_view::PickupOutput;
use super::work_location::WorkLocation;
use crate::changes::AppliedChanges;
use crate::op::{Cx, Host};

/// Names them where their folder is gone or has them no more, and says where they are not in that folder only.
pub(super) fn name_applied(cx: &mut Cx<'_>, bundle: &mut PickupOutput) -> Result<(), Failure> {
    let applied = std::mem::take(&mut bundle.applied_changes);
    name_at_location(cx, bundle, &applied)?;
    for one in &applied {
        let is_named = bundle.earlier_changes.iter().any(|known| known.baton_id == one.changes.baton_id);
        let Cx { store, env } = &mut *cx;
        let missing = match is_named {
            true => None,
            false => store.read(|tx| one.missing(tx, env, &bundle.project_id))?,
        };
        if let Some(earlier) = missing {
            bundle.instruction =
                format!("Also applied before: {}. {}", earlier.message, bundle.instruction).into();
            bundle.earlier_changes.push(earlier);
        }
    }
    Ok(())
}

/// The same of changes that were applied where the work lies.
fn name_at_location(
    cx: &mut Cx<'_>,
    bundle: &mut PickupOutput,
    applied: &[AppliedChanges],
) -> Result<(), Failure> {
    let Some(mut location) = bundle.location.clone().filter(|place| place.is_this_machine && !place.is_here)
    else {
        return Ok(());
    };
    for one in applied {
        if !was_left_in(cx, bundle, one, &location)? {
            continue;
        }
        let baton_id = &one.changes.baton_id;
        if location.is_there == Some(false) {
            let earlier = one.left_behind(&location.copy.root);
            bundle.instruction = format!("Also left: {}. {}", earlier.message, bundle.instruction).into();
            bundle.earlier_changes.push(earlier);
            location.name_baton(baton_id);
        } else if holds(cx.env.host, one, &location) {
            location.is_not_only_there(baton_id);
        }
    }
    bundle.location = Some(location);
    Ok(())
}

/// Whether changes were applied in this folder, and no session on the way of the baton committed there since.
fn was_left_in(
    cx: &mut Cx<'_>,
    bundle: &PickupOutput,
    applied: &AppliedChanges,
    location: &WorkLocation,
) -> Result<bool, Failure> {
    let is_in_it = |root: Option<&str>| root == Some(location.copy.root.as_str());
    let mut is_left = false;
    for session in &bundle.lineage {
        if session.location.machine != location.machine
            || !is_in_it(session.working_copy.as_ref().map(|copy| copy.root.as_str()))
        {
            continue;
        }
        let (project_id, id) = (&session.project_id, &session.session_id);
        if !cx.store.read(|tx| Ok(session_commit::of(tx, project_id, id, 1)?))?.is_empty() {
            return Ok(false);
        }
        is_left = applied.are_from(id);
        if is_left {
            break;
        }
    }
    Ok(is_left)
}

/// Whether all that is not committed in a folder is what the changes hold.
fn holds(host: &dyn Host, applied: &AppliedChanges, location: &WorkLocation) -> bool {
    let manifest = &applied.changes.manifest;
    let is_all_named = location.uncommitted_total == Some(location.uncommitted.len());
    is_all_named
        && location.uncommitted.iter().all(|path| manifest.files.contains(path))
        && host
            .fingerprints(&location.copy.root, &manifest.files)
            .is_some_and(|now| now == manifest.fingerprints)
}

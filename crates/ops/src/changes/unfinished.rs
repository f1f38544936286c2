//! What git was in the middle of along the line of a baton: it does not travel, and a later wrap is in the middle of nothing.

use baton_model::changes::{CarriedOperation, GitOperation, UnfinishedOperation};
use baton_model::packet::ValidatedPacket;
use baton_model::session::Session;
use baton_store::{Failure, Tx, baton, changes, delta, session};

use super::BatonChanges;

/// The most batons before one that are looked at.
const MAX_ANCESTORS: i64 = 64;

/// The operations of git's that were named along the line of a baton.
pub(crate) struct LineOperations {
    /// Each that a baton before it named, the latest first, and the baton itself does not name.
    pub earlier: Vec<CarriedOperation>,
    /// What the baton itself names.
    pub own: Vec<UnfinishedOperation>,
    /// The session that left the first baton of the line.
    pub first_session: Option<String>,
}

impl LineOperations {
    /// Adds one, unless the same is named by a later baton. A bisect leaves nothing behind that could be lost.
    pub(crate) fn add(&mut self, found: CarriedOperation) {
        let is_named = self.own.contains(&found.unfinished)
            || self.earlier.iter().any(|known| known.unfinished == found.unfinished);
        if !is_named && found.unfinished.operation != GitOperation::Bisect {
            self.earlier.push(found);
        }
    }
}

/// The operations that were named along the line of a baton.
pub(crate) fn line_operations(
    tx: &mut Tx<'_>,
    project_id: &str,
    baton_id: &str,
) -> Result<LineOperations, Failure> {
    let line = changes::lineage(tx, project_id, baton_id, MAX_ANCESTORS)?;
    let first_session = line.last().map(|link| link.session_id.clone());
    let mut found = LineOperations { earlier: Vec::new(), own: Vec::new(), first_session };
    let sessions: Vec<String> = line.iter().map(|link| link.session_id.clone()).collect();
    for (depth, link) in line.into_iter().enumerate() {
        let Some(stored) = link.changes else { continue };
        let BatonChanges { baton_id, manifest, .. } = BatonChanges::read(stored)?;
        if depth == 0 {
            found.own = manifest.unfinished;
            continue;
        }
        for unfinished in manifest.unfinished {
            if is_over_in_place(tx, project_id, &sessions[..=depth], &unfinished)? {
                continue;
            }
            let (baton_id, base) = (baton_id.clone(), manifest.base.clone());
            found.add(CarriedOperation { baton_id, base, unfinished });
        }
    }
    Ok(found)
}

/// Whether an operation is over in the working copy in which it was under way: the sessions after the one that named it stayed there, and
/// one of them left it with nothing uncommitted and nothing under way. `sessions`: those of the line, the one that named it last.
fn is_over_in_place(
    tx: &mut Tx<'_>,
    project_id: &str,
    sessions: &[String],
    of: &UnfinishedOperation,
) -> Result<bool, Failure> {
    let Some((named_by, later)) = sessions.split_last() else { return Ok(false) };
    let place = |session: Session| {
        session.working_copy.map(|copy| (session.location.machine, copy.root, copy.branch))
    };
    let begun = session::get(tx, project_id, named_by)?.and_then(place);
    let Some((machine, root, _)) = begun else { return Ok(false) };
    // What went on elsewhere may have lost the state of git, and comes back without it.
    for session_id in later.iter().rev() {
        let now = session::get(tx, project_id, session_id)?.and_then(place);
        let Some((_, _, branch)) = now.filter(|now| now.0 == machine && now.1 == root) else { break };
        let is_on_branch = of.operation != GitOperation::Rebase || branch.is_some();
        if is_on_branch && is_left_clean(tx, project_id, session_id)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a session left its working copy with nothing uncommitted and nothing under way, as its packet says.
fn is_left_clean(tx: &mut Tx<'_>, project_id: &str, session_id: &str) -> Result<bool, Failure> {
    let Some(left) = baton::of_session(tx, project_id, session_id)? else { return Ok(false) };
    let body = delta::get(tx, project_id, &left.baton_id)?.map(|left| left.body);
    let packet = body.and_then(|body| ValidatedPacket::parse(body).ok());
    let git = packet.as_ref().and_then(|packet| packet.view().git.as_ref());
    Ok(git.is_some_and(|git| git.in_progress.is_none() && (git.dirty == Some(false) || git.new_document)))
}

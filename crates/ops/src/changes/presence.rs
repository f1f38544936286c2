//! That the changes of a baton are in the working copy of a session, and where that is now.

use std::ffi::OsStr;
use std::path::Path;

use baton_model::delta::{Delta, Kind, Row};
use baton_model::id::short;
use baton_model::session::Session;
use baton_model::time::Millis;
use baton_store::{Failure, Tx, changes, delta, project_root};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::displaced::is_root_of;
use crate::ledger::{Author, append_json};
use crate::op::Env;

/// How the summary of a [`PresenceRecord`] ends.
const PRESENT: &str = "are in the working copy";
/// How the summary of an entry ends that says that they are there no more.
pub(super) const TAKEN_BACK: &str = "were taken back from the working copy";

/// That the changes of a baton are in the working copy of a session.
#[derive(Serialize, Deserialize)]
pub(super) struct PresenceRecord {
    summary: String,
    baton_id: String,
    changes_present: String,
    /// The working copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root: Option<String>,
    /// The id of its repository, unless it is a linked worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repository_id: Option<String>,
    /// When that was noted.
    #[serde(skip)]
    at: Millis,
}

/// Where a working copy is in which changes were applied.
pub(super) enum AppliedFolder {
    /// In its folder, which can be looked into.
    There(String),
    /// In another folder of this machine.
    Moved(String),
    /// Nowhere.
    Gone(String),
    /// On another machine, or in a folder that cannot be looked into; which one, as far as it was noted.
    Unseen(Option<String>),
}

impl PresenceRecord {
    /// Where the working copy of a session is now. A worktree keeps the name under which it was made where it is moved to.
    pub(super) fn folder(
        &self,
        tx: &mut Tx<'_>,
        env: &Env<'_>,
        own: &Session,
    ) -> Result<AppliedFolder, Failure> {
        let (caller, host) = (env.caller, env.host);
        let last = own.working_copy.as_ref().map(|copy| &copy.root);
        let Some(root) = self.root.as_ref().or(last) else { return Ok(AppliedFolder::Unseen(None)) };
        let unseen = AppliedFolder::Unseen(Some(root.clone()));
        if own.location.machine != caller.location.machine {
            return Ok(unseen);
        }
        let here = caller.git_root.as_ref().zip(caller.repository.as_ref());
        let place = project_root::get(tx, &caller.location.machine, root)?;
        let is_place = place.as_ref().is_some_and(|place| place.project_id == own.project_id);
        let is_of_callers = here.zip(place.filter(|_| is_place)).is_some_and(|((_, repository), place)| {
            is_root_of(&place, repository.id.as_deref(), Some(&repository.common_dir))
        });
        match host.has_folder(root) {
            Some(false) => {}
            Some(true) if is_place || caller.git_root.as_ref() == Some(root) => {
                return Ok(AppliedFolder::There(root.clone()));
            }
            // A client answers for working copies of its caller's repository, and none of those is there.
            None if host.client_answers() && is_of_callers && caller.git_root.as_ref() != Some(root) => {}
            Some(true) | None => return Ok(unseen),
        }
        let Some((here, repository)) = here else { return Ok(AppliedFolder::Gone(root.clone())) };
        let is_same = self.repository_id.is_some() && self.repository_id == repository.id;
        if is_same && !repository.is_worktree {
            return Ok(AppliedFolder::Moved(here.clone()));
        }
        let name = Path::new(root).file_name().and_then(OsStr::to_str);
        let named = name.and_then(|name| host.worktree_named(here, name));
        // One that was made later under the name is another one.
        Ok(match named.filter(|(_, since)| *since <= self.at) {
            Some((folder, _)) => AppliedFolder::Moved(folder),
            None => AppliedFolder::Gone(root.clone()),
        })
    }
}

/// That a session had changes in a working copy.
pub(super) struct Presence {
    pub(super) session_id: String,
    pub(super) record: PresenceRecord,
}

/// Whether a ledger entry only says where changes are, or that they are there no more.
pub fn is_presence(row: &Row) -> bool {
    let is_of = |summary: &String| summary.ends_with(PRESENT) || summary.ends_with(TAKEN_BACK);
    row.kind == Kind::Other && row.summary.as_ref().is_some_and(is_of)
}

/// Notes that the changes of a baton are in the working copy of a session. Noted once.
pub(crate) fn note_presence(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    own: &Session,
    baton_id: &str,
) -> Result<(), Failure> {
    let Some(stored) = changes::get(tx, &own.project_id, baton_id)? else { return Ok(()) };
    if is_present(tx, (&own.project_id, &own.session_id), &stored.content_hash)? {
        return Ok(());
    }
    let record = PresenceRecord {
        summary: format!("the changes of baton {} {PRESENT}", short(baton_id)),
        baton_id: baton_id.to_owned(),
        changes_present: stored.content_hash,
        root: own.working_copy.as_ref().map(|copy| copy.root.clone()),
        repository_id: main_repository_id(env, own),
        at: env.now,
    };
    append_json(tx, env, &Author::session(own), Kind::Other, &json!(record)).map(drop)
}

/// The id of the repository in whose main working copy a session stands.
fn main_repository_id(env: &Env<'_>, own: &Session) -> Option<String> {
    let is_here = own.working_copy.as_ref().map(|copy| &copy.root) == env.caller.git_root.as_ref();
    let repository = env.caller.repository.as_ref().filter(|repository| is_here && !repository.is_worktree);
    repository.and_then(|repository| repository.id.clone())
}

/// Whether a session has changes in its working copy.
pub(super) fn is_present(tx: &mut Tx<'_>, of: (&str, &str), hash: &str) -> Result<bool, Failure> {
    presence(tx, of, hash).map(|record| record.is_some())
}

/// What was noted when changes came into the working copy of a session.
pub(super) fn presence(
    tx: &mut Tx<'_>,
    (project_id, session_id): (&str, &str),
    hash: &str,
) -> Result<Option<PresenceRecord>, Failure> {
    Ok(presence_among(&delta::of_session(tx, project_id, session_id)?, hash))
}

/// The same among the entries of a session.
pub(super) fn presence_among(notes: &[Delta], hash: &str) -> Option<PresenceRecord> {
    let mut records = notes.iter().filter(|note| note.kind == Kind::Other).filter_map(|note| {
        let record = serde_json::from_str::<PresenceRecord>(&note.body).ok()?;
        Some(PresenceRecord { at: note.created_at, ..record })
    });
    records.find(|record| record.changes_present == hash)
}

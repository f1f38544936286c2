//! Changes of an earlier baton that sessions applied: whether they are still where they were applied, and what a wrap notes of those that
//! are not. A folder on another machine cannot be looked into, so that a later answer there goes by that note.

use std::collections::BTreeMap;

use baton_model::delta::Kind;
use baton_model::id::{short, visible};
use baton_model::session::Session;
use baton_store::changes::LineageBaton;
use baton_store::{Failure, Tx, delta, session};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::BatonChanges;
use super::applied_place::PlaceWords;
use super::applied_state::{AppliedState, are_committed};
use super::lineage::{ChangesPlace, EarlierChanges, origin};
use super::presence::{AppliedFolder, Presence, TAKEN_BACK, presence_among};
use crate::ledger::{Author, append_json};
use crate::op::Env;

/// What a wrap found of changes that were applied before it.
#[derive(Serialize, Deserialize)]
struct TakenBackRecord {
    summary: String,
    baton_id: String,
    /// The hash of their content.
    changes_taken_back: String,
    /// The files that were taken back; none where they are there again.
    files: Vec<String>,
}

/// What the sessions after an earlier baton noted of its changes.
#[derive(Default)]
pub(super) struct Trace {
    /// Where they had them, the newest session first.
    presences: Vec<Presence>,
    /// The files that the newest note says were taken back; none where they were applied since.
    taken_back: Vec<String>,
    /// Files of which a later baton has what became of them.
    superseded: Vec<String>,
}

impl Trace {
    /// Reads it. `later`: the batons after the one of the changes, the newest first.
    pub(super) fn read(
        tx: &mut Tx<'_>,
        project_id: &str,
        later: &[LineageBaton],
        hash: &str,
    ) -> Result<Self, Failure> {
        let mut found = Self::default();
        let (mut is_settled, mut oldest) = (false, None);
        for (at, link) in later.iter().enumerate() {
            let notes = delta::of_session(tx, project_id, &link.session_id)?;
            let others = notes.iter().rev().filter(|note| note.kind == Kind::Other);
            let mut records =
                others.filter_map(|note| serde_json::from_str::<TakenBackRecord>(&note.body).ok());
            let noted = records.find(|record| record.changes_taken_back == hash);
            let present = presence_among(&notes, hash);
            if !is_settled && (noted.is_some() || present.is_some()) {
                is_settled = true;
                found.taken_back = noted.map(|record| record.files).unwrap_or_default();
            }
            if let Some(record) = present {
                oldest = Some(at);
                found.presences.push(Presence { session_id: link.session_id.clone(), record });
            }
        }
        // Who had them and gave changes along gave along what had become of them.
        for link in later.iter().take(oldest.map_or(0, |at| at + 1)) {
            if let Some(stored) = link.changes.as_ref().filter(|stored| stored.content_hash != hash) {
                found.superseded.extend(BatonChanges::read(stored.clone())?.manifest.files);
            }
        }
        Ok(found)
    }

    /// Whether a session had them in its working copy.
    pub(super) fn is_applied(&self) -> bool {
        !self.presences.is_empty()
    }
}

/// Changes of an earlier baton that are, or were, in the working copies of sessions.
pub(crate) struct AppliedChanges {
    /// What they are.
    pub changes: BatonChanges,
    /// What the sessions noted.
    pub(super) trace: Trace,
}

impl AppliedChanges {
    /// As they are said to be left where the folder is gone in which they were applied.
    pub(crate) fn left_behind(&self, folder: &str) -> EarlierChanges {
        let baton_id = &self.changes.baton_id;
        let message = format!(
            "{}: applied in {}, which is gone; `baton changes apply {baton_id}` brings them",
            origin(&self.changes),
            visible(folder)
        );
        EarlierChanges { gone_folder: Some(folder.to_owned()), ..notice(&self.changes, message) }
    }

    /// Whether a session applied them.
    pub(crate) fn are_from(&self, session_id: &str) -> bool {
        self.trace.presences.iter().any(|one| one.session_id == session_id)
    }

    /// As an answer to a later session names them: as long as they are, all or a part, neither where they were applied nor committed, and went
    /// on with no later baton.
    pub(crate) fn missing(
        &self,
        tx: &mut Tx<'_>,
        env: &Env<'_>,
        project_id: &str,
    ) -> Result<Option<EarlierChanges>, Failure> {
        Ok(self.search(tx, env, project_id)?.map(|missing| missing.earlier))
    }

    /// The same for a wrap, which notes it for answers on other machines. `known`: what was found before its transaction.
    pub(super) fn note_missing(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        (own, known): (&Session, &AppliedFindings),
    ) -> Result<Option<EarlierChanges>, Failure> {
        let found = match known.missing.get(&self.changes.manifest.content_hash) {
            Some(found) => found.clone(),
            None => self.search(tx, env, &own.project_id)?,
        };
        let files = found.as_ref().map(|missing| missing.files.clone()).unwrap_or_default();
        let is_seen = found.as_ref().is_none_or(|missing| missing.is_seen);
        if is_seen && files != self.trace.taken_back {
            let (hash, id) = (&self.changes.manifest.content_hash, &self.changes.baton_id);
            let record = TakenBackRecord {
                summary: format!("the changes of baton {} {TAKEN_BACK}", short(id)),
                baton_id: id.clone(),
                changes_taken_back: hash.clone(),
                files,
            };
            append_json(tx, env, &Author::session(own), Kind::Other, &json!(record))?;
        }
        Ok(found.map(|missing| missing.earlier))
    }

    /// Looks in the folder in which they were applied. Git is asked.
    pub(super) fn search(
        &self,
        tx: &mut Tx<'_>,
        env: &Env<'_>,
        project_id: &str,
    ) -> Result<Option<MissingChanges>, Failure> {
        let Trace { presences, superseded, .. } = &self.trace;
        let manifest = &self.changes.manifest;
        let Some(newest) = presences.first() else { return Ok(None) };
        if manifest.files.iter().all(|file| superseded.contains(file)) {
            return Ok(None);
        }
        let Some(by) = session::get(tx, project_id, &newest.session_id)? else { return Ok(None) };
        let (folder, is_moved) = match newest.record.folder(tx, env, &by)? {
            AppliedFolder::Unseen(_) => return Ok(self.as_noted()),
            AppliedFolder::Gone(_) if are_committed(env, by.started_at, manifest) => return Ok(None),
            AppliedFolder::Gone(folder) => {
                let earlier = in_gone_folder(&self.changes, folder);
                return Ok(Some(MissingChanges { earlier, files: manifest.files.clone(), is_seen: false }));
            }
            AppliedFolder::There(folder) => (folder, false),
            AppliedFolder::Moved(folder) => (folder, true),
        };
        let state = AppliedState::of(env, (&folder, by.started_at), manifest, superseded);
        let files = match &state {
            AppliedState::TakenBack => manifest.files.clone(),
            AppliedState::PartlyTakenBack(files) => files.clone(),
            AppliedState::Unseen => return Ok(self.as_noted()),
            AppliedState::Left | AppliedState::Committed | AppliedState::Replaced => return Ok(None),
        };
        // What was committed where the caller stands is there.
        if are_committed(env, by.started_at, manifest) {
            return Ok(None);
        }
        let message = PlaceWords::of(env, &folder, is_moved).message(&self.changes, &state);
        Ok(message.map(|message| MissingChanges {
            earlier: notice(&self.changes, message),
            files,
            is_seen: true,
        }))
    }

    /// What a wrap noted where the folder could be looked into.
    fn as_noted(&self) -> Option<MissingChanges> {
        let files = &self.trace.taken_back;
        if files.is_empty() {
            return None;
        }
        let message = format!(
            "{}: applied, and taken back, as a wrap found where that was: {files}; `baton changes show {1}` has all of them still, `baton \
             changes apply {1}` brings them again",
            origin(&self.changes),
            self.changes.baton_id,
            files = super::applied_place::first_of(files)
        );
        Some(MissingChanges { earlier: notice(&self.changes, message), files: files.clone(), is_seen: false })
    }
}

/// What was found of applied changes before the transaction of a wrap, by the hash of their content: git is asked, and other writers
/// would wait for it.
#[derive(Default)]
pub(crate) struct AppliedFindings {
    /// Those of earlier batons that are not where they were applied.
    pub(super) missing: BTreeMap<String, Option<MissingChanges>>,
    /// Those of the session's own baton.
    pub(super) held: BTreeMap<String, EarlierChanges>,
}

/// Changes that are not where they were applied.
#[derive(Clone)]
pub(super) struct MissingChanges {
    earlier: EarlierChanges,
    files: Vec<String>,
    /// Whether the folder was looked into, or is known to be gone.
    is_seen: bool,
}

fn notice(changes: &BatonChanges, message: String) -> EarlierChanges {
    EarlierChanges {
        baton_id: changes.baton_id.clone(),
        files_total: changes.manifest.files.len(),
        place: ChangesPlace::EarlierBaton,
        message,
        gone_folder: None,
    }
}

/// As they are named where the folder is gone in which they were applied.
pub(super) fn in_gone_folder(changes: &BatonChanges, folder: String) -> EarlierChanges {
    let message = format!(
        "{}: applied in a folder that is not there any more, {}; where they are in no commit, `baton changes apply {}` brings them again",
        origin(changes),
        visible(&folder),
        changes.baton_id
    );
    EarlierChanges { gone_folder: Some(folder), ..notice(changes, message) }
}

//! What an answer says of changes that a session applied: whether they lie in the folder in which it did, were taken back there, or cannot be
//! seen from where the caller stands.

use baton_model::id::visible;
use baton_model::session::Session;
use baton_store::changes::StoredChanges;
use baton_store::{Failure, Tx};

use super::BatonChanges;
use super::applied_state::{AppliedState, are_committed};
use super::lineage::{ChangesPlace, EarlierChanges, origin};
use super::presence::{AppliedFolder, presence};
use super::taken_back::in_gone_folder;
use crate::op::Env;

/// The most files that a sentence names.
const MAX_NAMED_FILES: usize = 10;

/// The first paths of a list, and how many more there are.
pub(super) fn first_of(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().take(MAX_NAMED_FILES).map(|path| visible(path)).collect();
    match paths.len().saturating_sub(MAX_NAMED_FILES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

impl EarlierChanges {
    /// Applied in a working copy that was removed since: what was committed there is in the repository.
    fn in_gone_folder(
        self,
        (env, own): (&Env<'_>, &Session),
        stored: &StoredChanges,
        folder: String,
    ) -> Result<Self, Failure> {
        let changes = BatonChanges::read(stored.clone())?;
        if !are_committed(env, own.started_at, &changes.manifest) {
            return Ok(in_gone_folder(&changes, folder));
        }
        let message = format!(
            "{}: applied in a folder that is not there any more, {}, and committed since, which is checked out here",
            origin(&changes),
            visible(&folder)
        );
        Ok(Self { message, gone_folder: Some(folder), ..self })
    }

    /// Applied where nobody can look from here.
    fn unseen(self, stored: &StoredChanges, folder: Option<&str>) -> Result<Self, Failure> {
        let origin = origin(&BatonChanges::read(stored.clone())?);
        let place = folder.map_or_else(
            || "where the session worked".to_owned(),
            |folder| format!("in {}", visible(folder)),
        );
        let message = format!(
            "{origin}: applied {place}; what became of them there cannot be seen from here; `baton changes show {}` has them still",
            self.baton_id
        );
        Ok(Self { message, ..self })
    }

    /// As they are found in the folder in which they were applied, or to which that was moved.
    fn judged(
        self,
        (env, own): (&Env<'_>, &Session),
        (folder, is_moved): (&str, bool),
        stored: &StoredChanges,
    ) -> Result<Self, Failure> {
        let changes = BatonChanges::read(stored.clone())?;
        let place = PlaceWords::of(env, folder, is_moved);
        let state = AppliedState::of(env, (folder, own.started_at), &changes.manifest, &[]);
        match place.message(&changes, &state) {
            None => self.unseen(stored, Some(folder)),
            Some(message) => {
                let place = match state {
                    AppliedState::Left | AppliedState::Committed => ChangesPlace::WorkingCopy,
                    _ => ChangesPlace::EarlierBaton,
                };
                Ok(Self { place, message, ..self })
            }
        }
    }
}

/// How a sentence names the folder in which changes were applied.
pub(super) struct PlaceWords {
    place: String,
    by_now: String,
}

impl PlaceWords {
    pub(super) fn of(env: &Env<'_>, folder: &str, is_moved: bool) -> Self {
        let is_here = env.caller.git_root.as_deref() == Some(folder);
        let shown = visible(folder);
        let place = match is_here || is_moved {
            true => "where the session worked".to_owned(),
            false => format!("in {shown}"),
        };
        let by_now = if is_moved && !is_here { format!(", which is {shown} by now") } else { String::new() };
        Self { place, by_now }
    }

    /// What became of changes in that folder; nothing where the folder cannot be inspected.
    pub(super) fn message(&self, changes: &BatonChanges, state: &AppliedState) -> Option<String> {
        let (origin, baton_id) = (origin(changes), &changes.baton_id);
        let Self { place, by_now } = self;
        Some(match state {
            AppliedState::Unseen => return None,
            AppliedState::Committed => format!(
                "{origin}: applied already {place}, and committed there{by_now}; `baton changes show {baton_id}` has them still"
            ),
            AppliedState::Left => format!(
                "{origin}: applied already {place}, and left there{by_now}; `baton changes show {baton_id}` has them still"
            ),
            AppliedState::TakenBack => format!(
                "{origin}: applied {place}, and taken back there{by_now}, since they are neither uncommitted nor committed; `baton \
                 changes apply {baton_id}` brings them again: {}",
                first_of(&changes.manifest.files)
            ),
            AppliedState::PartlyTakenBack(paths) => format!(
                "{origin}: applied {place}, and a part taken back there{by_now}: {}; the rest is left there, as it came or edited \
                 since, or went on with a later baton. `baton changes show {baton_id}` has all of them still, `baton changes diff \
                 {baton_id}` compares",
                first_of(paths)
            ),
            AppliedState::Replaced => format!(
                "{origin}: applied {place}; the same files hold something else there by now{by_now}, uncommitted or committed: \
                 `baton changes diff {baton_id}` compares"
            ),
        })
    }
}

/// What became of changes that a session applied, by the folder in which it did: it may have wrapped in another one.
pub(super) fn where_applied(
    tx: &mut Tx<'_>,
    (env, own): (&Env<'_>, &Session),
    stored: &StoredChanges,
    changes: EarlierChanges,
) -> Result<EarlierChanges, Failure> {
    let applied = presence(tx, (&own.project_id, &own.session_id), &stored.content_hash)?;
    let folder = match applied {
        Some(applied) => applied.folder(tx, env, own)?,
        None => AppliedFolder::Unseen(None),
    };
    match folder {
        AppliedFolder::Gone(folder) => changes.in_gone_folder((env, own), stored, folder),
        AppliedFolder::There(folder) => changes.judged((env, own), (&folder, false), stored),
        AppliedFolder::Moved(folder) => changes.judged((env, own), (&folder, true), stored),
        AppliedFolder::Unseen(folder) => changes.unseen(stored, folder.as_deref()),
    }
}

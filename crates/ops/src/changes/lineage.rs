//! Changes along the line of a baton: a wrap passes on what its session did not apply, and answers name what stayed behind.

use baton_model::baton::Baton;
use baton_model::changes::RemoteContent;
use baton_model::id::{short, visible};
use baton_model::session::Session;
use baton_store::changes::{LineageBaton, StoredChanges};
use baton_store::{Failure, Tx, changes};
use serde::{Deserialize, Serialize};

use super::applied_state::{AppliedState, are_committed};
use super::presence::{AppliedFolder, Presence, is_present, presence};
use super::{BatonChanges, refuse_others};
use crate::op::Env;

/// The most batons before one that are looked at.
const MAX_ANCESTORS: i64 = 8;

/// The most files that a sentence names.
const MAX_NAMED_FILES: usize = 10;

/// Where changes of an earlier baton are after a wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangesPlace {
    /// They go along with the next baton.
    NextBaton,
    /// In the working copy of the session that wrapped: it applied them, or they were made there.
    WorkingCopy,
    /// With their own baton: they were not applied, or what was applied is not there any more as it came.
    EarlierBaton,
}

/// Changes that came with an earlier baton of the same line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierChanges {
    /// The baton that they came with.
    pub baton_id: String,
    /// How many files they concern.
    pub files_total: usize,
    /// Where they are.
    pub place: ChangesPlace,
    /// What became of them, and how to get them, in a sentence.
    pub message: String,
    /// The folder in which they were applied, where that is not there any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone_folder: Option<String>,
}

impl EarlierChanges {
    fn of(stored: &StoredChanges, place: ChangesPlace) -> Result<Self, Failure> {
        let changes = BatonChanges::read(stored.clone())?;
        let origin = origin(&changes);
        let BatonChanges { baton_id, manifest, .. } = changes;
        let files_total = manifest.files.len();
        let message = match place {
            ChangesPlace::NextBaton => format!("{origin}: not applied, so they go on with this one"),
            ChangesPlace::WorkingCopy => format!(
                "{origin}: applied already where the session worked, and left there; `baton changes show {baton_id}` has them still"
            ),
            ChangesPlace::EarlierBaton => {
                format!(
                    "{origin}: not applied and not in this one; `baton changes apply {baton_id}` brings them"
                )
            }
        };
        Ok(Self { baton_id, files_total, place, message, gone_folder: None })
    }

    /// Applied in a working copy that was removed since: what was committed there is in the repository.
    fn in_gone_folder(
        self,
        (env, own): (&Env<'_>, &Session),
        stored: &StoredChanges,
        folder: String,
    ) -> Result<Self, Failure> {
        let applied = AppliedChanges { changes: BatonChanges::read(stored.clone())?, presences: Vec::new() };
        if !are_committed(env, own.started_at, &applied.changes.manifest) {
            return Ok(applied.in_gone_folder(folder));
        }
        let message = format!(
            "{}: applied in a folder that is not there any more, {}, and committed since, which is checked out here",
            origin(&applied.changes),
            visible(&folder)
        );
        Ok(Self { message, gone_folder: Some(folder), ..self })
    }

    /// Applied in a working copy that was moved to this folder since.
    fn in_moved_folder(self, stored: &StoredChanges, folder: &str) -> Result<Self, Failure> {
        let origin = origin(&BatonChanges::read(stored.clone())?);
        let message = format!(
            "{origin}: applied already where the session worked, and left there, which is {} by now; `baton changes show {}` has them \
             still",
            visible(folder),
            self.baton_id
        );
        Ok(Self { message, ..self })
    }

    /// As they are found in the working copy of the session that applied them.
    fn judged(
        self,
        env: &Env<'_>,
        place: (Option<&String>, i64),
        stored: &StoredChanges,
    ) -> Result<Self, Failure> {
        let changes = BatonChanges::read(stored.clone())?;
        let origin = origin(&changes);
        let baton_id = &self.baton_id;
        let (place, message) = match AppliedState::of(env, place, &changes.manifest) {
            AppliedState::Left => return Ok(self),
            AppliedState::TakenBack => (
                ChangesPlace::EarlierBaton,
                format!(
                    "{origin}: applied where the session worked, and taken back there, since they are neither uncommitted nor \
                     committed; `baton changes apply {baton_id}` brings them again"
                ),
            ),
            AppliedState::PartlyTakenBack(paths) => (
                ChangesPlace::EarlierBaton,
                format!(
                    "{origin}: applied where the session worked, and a part taken back there: {}; the rest is left there, as it came or \
                     edited since. `baton changes show {baton_id}` has all of them still, `baton changes diff {baton_id}` compares",
                    first_of(&paths)
                ),
            ),
            AppliedState::Replaced => (
                ChangesPlace::EarlierBaton,
                format!(
                    "{origin}: applied where the session worked; the same files hold something else there by now, uncommitted or \
                     committed: `baton changes diff {baton_id}` compares"
                ),
            ),
        };
        Ok(Self { place, message, ..self })
    }
}

/// Which changes are meant, in a clause. What was applied may be committed by now.
fn origin(changes: &BatonChanges) -> String {
    let count = match changes.manifest.files.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    format!("the changes that came with baton {} ({count})", short(&changes.baton_id))
}

/// The first paths of a list, and how many more there are.
fn first_of(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().take(MAX_NAMED_FILES).map(|path| visible(path)).collect();
    match paths.len().saturating_sub(MAX_NAMED_FILES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Gives the next baton the changes of the one that a session held, unless it has its own or the session has them in its working copy.
pub(crate) fn pass_on(tx: &mut Tx<'_>, own: &Session, held: &str, next: &str) -> Result<(), Failure> {
    let project_id = own.project_id.as_str();
    let Some(stored) = changes::get(tx, project_id, held)? else { return Ok(()) };
    if changes::get(tx, project_id, next)?.is_some()
        || is_present(tx, (project_id, &own.session_id), &stored.content_hash)?
    {
        return Ok(());
    }
    Ok(changes::put(tx, project_id, &StoredChanges { baton_id: next.to_owned(), ..stored })?)
}

/// Gives a baton that takes the place of another one its changes, unless it has its own.
pub(crate) fn replace(tx: &mut Tx<'_>, earlier: &Baton, next: &str) -> Result<(), Failure> {
    let project_id = earlier.project_id.as_str();
    let Some(stored) = changes::get(tx, project_id, &earlier.baton_id)? else { return Ok(()) };
    if changes::get(tx, project_id, next)?.is_some() {
        return Ok(());
    }
    Ok(changes::put(tx, project_id, &StoredChanges { baton_id: next.to_owned(), ..stored })?)
}

/// The changes along the line of a baton.
pub(crate) struct LineChanges {
    /// Those of the baton itself.
    pub own: Option<BatonChanges>,
    /// Those of earlier ones that no session of its line applied.
    pub earlier: Vec<EarlierChanges>,
    /// Those of earlier ones that sessions of its line applied.
    pub applied: Vec<AppliedChanges>,
}

/// Changes of an earlier baton that are, or were, in the working copies of sessions.
pub(crate) struct AppliedChanges {
    /// What they are.
    pub changes: BatonChanges,
    /// The sessions, and in which folder each had them, as far as it was noted.
    presences: Vec<Presence>,
}

impl AppliedChanges {
    /// As they are said to be left where the folder is gone in which they were applied.
    pub(crate) fn left_behind(&self, folder: &str) -> EarlierChanges {
        let BatonChanges { baton_id, manifest, .. } = &self.changes;
        let message = format!(
            "{}: applied in {}, which is gone; `baton changes apply {baton_id}` brings them",
            origin(&self.changes),
            visible(folder)
        );
        let (baton_id, files_total) = (baton_id.clone(), manifest.files.len());
        let gone_folder = Some(folder.to_owned());
        EarlierChanges { baton_id, files_total, place: ChangesPlace::EarlierBaton, message, gone_folder }
    }

    /// Whether a session applied them.
    pub(crate) fn are_from(&self, session_id: &str) -> bool {
        self.presences.iter().any(|one| one.session_id == session_id)
    }

    /// As a receiver is told of them whose baton was left by a session that had applied them in a folder which is gone. What is committed
    /// where the receiver stands is there.
    pub(crate) fn left_nowhere(&self, env: &Env<'_>, lineage: &[Session]) -> Option<EarlierChanges> {
        let left_by = lineage.first()?;
        let one = self.presences.iter().find(|one| one.session_id == left_by.session_id)?;
        match one.record.folder(env, left_by) {
            AppliedFolder::Gone(_) if are_committed(env, left_by.started_at, &self.changes.manifest) => None,
            AppliedFolder::Gone(folder) => Some(self.in_gone_folder(folder)),
            AppliedFolder::There | AppliedFolder::Moved(_) => None,
        }
    }

    fn in_gone_folder(&self, folder: String) -> EarlierChanges {
        let BatonChanges { baton_id, manifest, .. } = &self.changes;
        let message = format!(
            "{}: applied in a folder that is not there any more, {}; where they are in no commit, `baton changes apply {baton_id}` brings \
             them again",
            origin(&self.changes),
            visible(&folder)
        );
        EarlierChanges {
            baton_id: baton_id.clone(),
            files_total: manifest.files.len(),
            place: ChangesPlace::EarlierBaton,
            message,
            gone_folder: Some(folder),
        }
    }
}

/// The changes of a baton, and of those before it.
pub(crate) fn with_earlier(
    tx: &mut Tx<'_>,
    project_id: &str,
    baton_id: &str,
) -> Result<LineChanges, Failure> {
    let line = changes::lineage(tx, project_id, baton_id, MAX_ANCESTORS)?;
    let own = line.first().and_then(|first| first.changes.clone()).map(BatonChanges::read).transpose()?;
    let (mut earlier, mut applied) = (Vec::new(), Vec::new());
    for (stored, presences) in earlier_changes(tx, project_id, &line)? {
        match presences.is_empty() {
            true => earlier.push(EarlierChanges::of(stored, ChangesPlace::EarlierBaton)?),
            false => applied.push(AppliedChanges { changes: BatonChanges::read(stored.clone())?, presences }),
        }
    }
    Ok(LineChanges { own, earlier, applied })
}

/// Whether the baton that a session holds, or one before it on its line, has changes.
pub(crate) fn has_earlier(tx: &mut Tx<'_>, own: &Session) -> Result<bool, Failure> {
    let Some(held) = &own.baton_id else { return Ok(false) };
    Ok(changes::lineage(tx, &own.project_id, held, MAX_ANCESTORS)?.iter().any(|link| link.changes.is_some()))
}

/// What became of the changes that a session's baton came with, now that it has left the next one. `captured`: the next one
/// has changes of its own.
pub(crate) fn after_wrap(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    own: &Session,
    next: &str,
    captured: bool,
) -> Result<Vec<EarlierChanges>, Failure> {
    let Some(held) = own.baton_id.as_deref().filter(|held| *held != next) else { return Ok(Vec::new()) };
    let line = changes::lineage(tx, &own.project_id, next, MAX_ANCESTORS)?;
    let mut found = Vec::new();
    let mut of_held = None;
    if let [next, before, ..] = line.as_slice()
        && let Some(stored) = &before.changes
        && !captured
        && stored.baton_id == held
    {
        let is_passed_on = next.changes.as_ref().is_some_and(|own| own.content_hash == stored.content_hash);
        let place = if is_passed_on { ChangesPlace::NextBaton } else { ChangesPlace::WorkingCopy };
        let changes = EarlierChanges::of(stored, place)?;
        let applied = presence(tx, (&own.project_id, &own.session_id), &stored.content_hash)?;
        let folder = applied.map_or(AppliedFolder::There, |applied| applied.folder(env, own));
        let is_here = |folder: &String| env.caller.git_root.as_ref() == Some(folder);
        let root = own.working_copy.as_ref().map(|copy| &copy.root);
        found.push(match (place, folder) {
            (ChangesPlace::WorkingCopy, AppliedFolder::Gone(folder)) => {
                changes.in_gone_folder((env, own), stored, folder)?
            }
            (ChangesPlace::WorkingCopy, AppliedFolder::Moved(folder)) if !is_here(&folder) => {
                changes.in_moved_folder(stored, &folder)?
            }
            (ChangesPlace::WorkingCopy, AppliedFolder::Moved(folder)) => {
                changes.judged(env, (Some(&folder), own.started_at), stored)?
            }
            (ChangesPlace::WorkingCopy, AppliedFolder::There) => {
                changes.judged(env, (root, own.started_at), stored)?
            }
            _ => changes,
        });
        of_held = Some(stored.content_hash.clone());
    }
    for (stored, presences) in earlier_changes(tx, &own.project_id, &line)? {
        if presences.is_empty() && Some(&stored.content_hash) != of_held.as_ref() {
            found.push(EarlierChanges::of(stored, ChangesPlace::EarlierBaton)?);
        }
    }
    Ok(found)
}

/// The changes of the batons before the first of a line, each content once, and where sessions after them applied them.
fn earlier_changes<'a>(
    tx: &mut Tx<'_>,
    project_id: &str,
    line: &'a [LineageBaton],
) -> Result<Vec<(&'a StoredChanges, Vec<Presence>)>, Failure> {
    let mut found: Vec<(&StoredChanges, Vec<Presence>)> = Vec::new();
    let newest = line.first().and_then(|first| first.changes.as_ref());
    for (depth, link) in line.iter().enumerate().skip(1) {
        let Some(stored) = &link.changes else { continue };
        let is_same = |other: &StoredChanges| other.content_hash == stored.content_hash;
        if newest.is_some_and(is_same) || found.iter().any(|(other, _)| is_same(other)) {
            continue;
        }
        let mut presences = Vec::new();
        for later in line.iter().take(depth) {
            let session_id = later.session_id.clone();
            let record = presence(tx, (project_id, &session_id), &stored.content_hash)?;
            presences.extend(record.map(|record| Presence { session_id, record }));
        }
        found.push((stored, presences));
    }
    Ok(found)
}

/// Removes the same content from the batons before one: it was passed on from there. Returns where they had it in remotes.
pub(super) fn remove_earlier(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, identity): (&str, &str),
    dropped: &StoredChanges,
) -> Result<EarlierDrop, Failure> {
    let mut found = EarlierDrop::default();
    for link in changes::lineage(tx, project_id, &dropped.baton_id, MAX_ANCESTORS)? {
        let is_same = |stored: &StoredChanges| {
            stored.content_hash == dropped.content_hash && stored.baton_id != dropped.baton_id
        };
        let same = link.changes.filter(is_same);
        // What another agent left stays with its baton, unless the caller may drop that by itself.
        let same =
            same.filter(|stored| refuse_others(env, (&stored.baton_id, &stored.identity), identity).is_ok());
        if let Some(same) = same {
            changes::remove(tx, project_id, &same)?;
            found.baton_ids.push(same.baton_id.clone());
            found.remotes.extend(BatonChanges::read(same)?.manifest.remote);
        }
    }
    Ok(found)
}

/// The same changes of earlier batons, which were dropped with those of a later one.
#[derive(Default)]
pub(super) struct EarlierDrop {
    pub baton_ids: Vec<String>,
    pub remotes: Vec<RemoteContent>,
}

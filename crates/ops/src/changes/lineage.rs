//! Changes along the line of a baton: a wrap passes on what its session did not apply, and answers name what stayed behind.

use baton_model::baton::Baton;
use baton_model::changes::{Manifest, RemoteContent};
use baton_model::id::short;
use baton_model::session::Session;
use baton_store::changes::{LineageBaton, StoredChanges};
use baton_store::{Failure, Tx, baton, changes, session};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::applied_place::where_applied;
use super::presence::is_present;
use super::taken_back::{AppliedChanges, AppliedFindings, Trace};
use super::{BatonChanges, refuse_others};
use crate::op::Env;

/// The most batons before one that are looked at.
const MAX_ANCESTORS: i64 = 8;
/// The verb of a session that stands for one of another ledger, whose baton arrived as a file.
const IMPORT_VERB: &str = "baton_import";

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
                "{origin}: applied already where the session worked; `baton changes show {baton_id}` has them still"
            ),
            ChangesPlace::EarlierBaton => {
                format!(
                    "{origin}: not applied and not in this one; `baton changes apply {baton_id}` brings them"
                )
            }
        };
        Ok(Self { baton_id, files_total, place, message, gone_folder: None })
    }
}

/// Which changes are meant, in a clause. What was applied may be committed by now.
pub(super) fn origin(changes: &BatonChanges) -> String {
    let count = match changes.manifest.files.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    format!("the changes that came with baton {} ({count})", short(&changes.baton_id))
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

/// The changes of a baton, and of those before it.
pub(crate) fn with_earlier(
    tx: &mut Tx<'_>,
    project_id: &str,
    baton_id: &str,
) -> Result<LineChanges, Failure> {
    let line = changes::lineage(tx, project_id, baton_id, MAX_ANCESTORS)?;
    let own = line.first().and_then(|first| first.changes.clone()).map(BatonChanges::read).transpose()?;
    let (mut earlier, mut applied) = (Vec::new(), Vec::new());
    for (stored, trace) in earlier_changes(tx, project_id, &line)? {
        match trace.is_applied() {
            false => earlier.push(EarlierChanges::of(stored, ChangesPlace::EarlierBaton)?),
            true => applied.push(AppliedChanges { changes: BatonChanges::read(stored.clone())?, trace }),
        }
    }
    Ok(LineChanges { own, earlier, applied })
}

/// Files that went along from a working copy.
#[derive(Default)]
pub(super) struct GivenFiles {
    pub paths: Vec<String>,
    /// For each of them what it held when it went along last; nothing where that is not known.
    pub fingerprints: Vec<String>,
}

/// The files of the changes that sessions of a baton's line gave along from the working copy of the caller. What one of them only passed
/// on lies where it came from.
pub(super) fn given_from_here(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    baton_id: &str,
) -> Result<GivenFiles, Failure> {
    let mut given = GivenFiles::default();
    let Some(here) = env.caller.git_root.as_deref() else { return Ok(given) };
    let mut line = changes::lineage(tx, project_id, baton_id, MAX_ANCESTORS)?;
    line.extend(before_import(tx, project_id, &line)?);
    for (depth, link) in line.iter().enumerate() {
        let Some(stored) = &link.changes else { continue };
        let is_same = |other: &LineageBaton| {
            other.changes.as_ref().is_some_and(|other| other.content_hash == stored.content_hash)
        };
        if line.iter().skip(depth + 1).any(is_same) {
            continue;
        }
        let giver = session::get(tx, project_id, &link.session_id)?;
        let is_from_here = giver.is_some_and(|giver| {
            giver.location.machine == env.caller.location.machine
                && giver.working_copy.is_some_and(|copy| copy.root == here)
        });
        if is_from_here {
            let manifest = BatonChanges::read(stored.clone())?.manifest;
            for (at, path) in manifest.files.into_iter().enumerate() {
                if !given.paths.contains(&path) {
                    given.paths.push(path);
                    given.fingerprints.push(manifest.fingerprints.get(at).cloned().unwrap_or_default());
                }
            }
        }
    }
    Ok(given)
}

/// The batons of the same thread that were left here before one that arrived as a file, with which a line begins: the work went away as
/// a file, too, and the line does not lead to it.
fn before_import(
    tx: &mut Tx<'_>,
    project_id: &str,
    line: &[LineageBaton],
) -> Result<Vec<LineageBaton>, Failure> {
    let Some(first) = line.last() else { return Ok(Vec::new()) };
    let importer = session::get(tx, project_id, &first.session_id)?;
    let Some(thread_id) = importer.filter(|own| own.last_verb == IMPORT_VERB).map(|own| own.thread_id) else {
        return Ok(Vec::new());
    };
    let of_thread = baton::of_thread(tx, project_id, &thread_id)?;
    let imported_at = of_thread.iter().find(|baton| baton.session_id == first.session_id);
    let imported_at = imported_at.map_or(i64::MAX, |baton| baton.seq);
    let before = of_thread.iter().rev().filter(|baton| baton.seq < imported_at);
    let mut found = Vec::new();
    for left in before.take(usize::try_from(MAX_ANCESTORS).unwrap_or(usize::MAX)) {
        let changes = changes::get(tx, project_id, &left.baton_id)?;
        found.push(LineageBaton { session_id: left.session_id.clone(), changes });
    }
    Ok(found)
}

/// Whether the baton that a session holds, or one before it on its line, has changes.
pub(crate) fn has_earlier(tx: &mut Tx<'_>, own: &Session) -> Result<bool, Failure> {
    let Some(held) = &own.baton_id else { return Ok(false) };
    Ok(changes::lineage(tx, &own.project_id, held, MAX_ANCESTORS)?.iter().any(|link| link.changes.is_some()))
}

/// Finds, before the transaction of a wrap, what became of the changes that sessions of a baton's line applied. `captured`: what goes
/// along with the next baton.
pub(crate) fn find_applied(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    own: &Session,
    captured: Option<&Manifest>,
) -> Result<AppliedFindings, Failure> {
    let mut found = AppliedFindings::default();
    let Some(held) = &own.baton_id else { return Ok(found) };
    let changes = captured.map(|manifest| StoredChanges {
        baton_id: String::new(),
        identity: own.identity.clone(),
        manifest: json!(manifest).to_string(),
        content_hash: manifest.content_hash.clone(),
        created_at: env.now,
    });
    let mut line = vec![LineageBaton { session_id: own.session_id.clone(), changes }];
    line.extend(changes::lineage(tx, &own.project_id, held, MAX_ANCESTORS)?);
    for (stored, trace) in earlier_changes(tx, &own.project_id, &line)? {
        let hash = &stored.content_hash;
        if stored.baton_id == *held && is_present(tx, (&own.project_id, &own.session_id), hash)? {
            let of_held = EarlierChanges::of(stored, ChangesPlace::WorkingCopy)?;
            found.held.insert(hash.clone(), where_applied(tx, (env, own), stored, of_held)?);
        }
        if trace.is_applied() {
            let applied = AppliedChanges { changes: BatonChanges::read(stored.clone())?, trace };
            found.missing.insert(hash.clone(), applied.search(tx, env, &own.project_id)?);
        }
    }
    Ok(found)
}

/// What became of the changes that a session's baton came with, now that it has left the next one. `captured`: the next one
/// has changes of its own.
pub(crate) fn after_wrap(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (own, known): (&Session, &AppliedFindings),
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
        found.push(match place {
            ChangesPlace::WorkingCopy => match known.held.get(&stored.content_hash) {
                Some(found) => found.clone(),
                None => where_applied(tx, (&*env, own), stored, changes)?,
            },
            ChangesPlace::NextBaton | ChangesPlace::EarlierBaton => changes,
        });
        of_held = Some(stored.content_hash.clone());
    }
    for (stored, trace) in earlier_changes(tx, &own.project_id, &line)? {
        let is_named = Some(&stored.content_hash) == of_held.as_ref();
        if trace.is_applied() {
            let applied = AppliedChanges { changes: BatonChanges::read(stored.clone())?, trace };
            let missing = applied.note_missing(tx, env, (own, known))?;
            found.extend(missing.filter(|_| !is_named));
        } else if !is_named {
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
) -> Result<Vec<(&'a StoredChanges, Trace)>, Failure> {
    let mut found: Vec<(&StoredChanges, Trace)> = Vec::new();
    let newest = line.first().and_then(|first| first.changes.as_ref());
    for (depth, link) in line.iter().enumerate().skip(1) {
        let Some(stored) = &link.changes else { continue };
        let is_same = |other: &StoredChanges| other.content_hash == stored.content_hash;
        if newest.is_some_and(is_same) || found.iter().any(|(other, _)| is_same(other)) {
            continue;
        }
        found.push((stored, Trace::read(tx, project_id, &line[..depth], &stored.content_hash)?));
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

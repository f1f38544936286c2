//! Changes: what was not committed in the working copy of a baton. They are captured and applied where the working copy is; here
//! they are kept.

mod applied_place;
mod applied_state;
mod attach;
mod drop;
mod lineage;
mod part;
mod presence;
mod record;
mod show;
mod taken_back;
mod unfinished;
mod upload;

use baton_model::baton::State;
use baton_model::changes::{Manifest, RemoteContent, invalid_refusal};
use baton_model::id::{identity_key, short, visible};
use baton_model::refusal::{self, Refusal};
use baton_model::time::Timestamp;
use baton_store::changes::StoredChanges;
use baton_store::content::CHANGES;
use baton_store::{Failure, Fault, Tx, baton, changes};
use serde::{Deserialize, Serialize};

use crate::content::{self, ContentFacts};
use crate::op::Env;
use crate::project::carried_here;
use crate::resolve;
pub use attach::{Attach, AttachInput, AttachOutput};
pub use drop::{Drop, DropInput, DropOutput};
pub use lineage::{ChangesPlace, EarlierChanges};
pub(crate) use lineage::{
    LineChanges, after_wrap, find_applied, has_earlier, pass_on, replace, with_earlier,
};
pub use part::{Part, PartInput, PartOutput};
pub use presence::is_presence;
pub(crate) use presence::note_presence;
pub use record::{Record, RecordInput, RecordOutput};
pub use show::{Show, ShowInput, ShowOutput};
pub(crate) use taken_back::{AppliedChanges, AppliedFindings};
pub(crate) use unfinished::line_operations;
pub use upload::{Upload, UploadInput, UploadOutput};

/// Refuses the client of an access token that is neither an operator's nor of the agent that left the baton: what another left is
/// neither removed nor replaced under its name.
fn refuse_others(env: &Env<'_>, (baton_id, owner): (&str, &str), identity: &str) -> Result<(), Refusal> {
    if env.caller.grant.is_operator() || identity_key(owner) == identity_key(identity) {
        return Ok(());
    }
    let (owner, identity) = (visible(owner), visible(identity));
    let what = format!("baton {baton_id} was left by {owner}, not by {identity}");
    let hint = format!("let {owner} change what goes with it, or use a token with the scope operator");
    Err(Refusal::new(refusal::Kind::Conflict, "changes_not_yours", what, hint))
}

/// The changes of a baton, as answers show them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatonChanges {
    /// The baton.
    pub baton_id: String,
    /// Who left them.
    pub identity: String,
    /// When.
    pub created_at: Timestamp,
    /// What they are.
    #[serde(flatten)]
    pub manifest: Manifest,
}

impl BatonChanges {
    fn read(stored: StoredChanges) -> Result<Self, Fault> {
        let manifest = serde_json::from_str(&stored.manifest)
            .map_err(|error| Fault::other(format!("the changes of baton {}: {error}", stored.baton_id)))?;
        let StoredChanges { baton_id, identity, created_at, .. } = stored;
        Ok(Self { baton_id, identity, created_at: Timestamp(created_at), manifest })
    }
}

/// The changes of one baton.
pub(crate) fn of_baton(
    tx: &mut Tx<'_>,
    project_id: &str,
    baton_id: &str,
) -> Result<Option<BatonChanges>, Failure> {
    Ok(changes::get(tx, project_id, baton_id)?.map(BatonChanges::read).transpose()?)
}

/// Attaches changes to a baton. All of their content has to be there, unless it is in a remote.
pub(crate) fn attach(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, identity): (&str, &str),
    baton_id: &str,
    manifest: &Manifest,
) -> Result<(), Failure> {
    manifest.check()?;
    if manifest.remote.is_none() {
        let facts =
            ContentFacts { hash: &manifest.content_hash, bytes: manifest.bytes, parts: manifest.parts() };
        content::check(tx, project_id, &CHANGES, &facts, invalid_refusal)?;
    }
    let before = changes::get(tx, project_id, baton_id)?;
    let text = serde_json::to_string(manifest).map_err(|error| Fault::other(error.to_string()))?;
    let stored = StoredChanges {
        baton_id: baton_id.to_owned(),
        identity: identity.to_owned(),
        manifest: text,
        content_hash: manifest.content_hash.clone(),
        created_at: env.now,
    };
    if let Some(before) = before.filter(|before| before.content_hash != stored.content_hash) {
        changes::remove(tx, project_id, &before)?;
    }
    changes::put(tx, project_id, &stored)?;
    Ok(CHANGES.remove_unused(tx, project_id, env.now - content::UNUSED)?)
}

/// Those of the references in remotes that no baton of the project has any more.
fn unnamed(
    tx: &mut Tx<'_>,
    project_id: &str,
    given_up: impl IntoIterator<Item = RemoteContent>,
) -> Result<Vec<RemoteContent>, Failure> {
    let mut unnamed = Vec::new();
    for remote in given_up {
        if !unnamed.contains(&remote) && show::of_reference(tx, project_id, &remote.reference)?.is_empty() {
            unnamed.push(remote);
        }
    }
    Ok(unnamed)
}

/// Copies the changes of a baton that was left anew in another project.
pub(crate) fn carry(
    tx: &mut Tx<'_>,
    (from, baton_id): (&str, &str),
    (into, new_id): (&str, &str),
) -> Result<(), Failure> {
    let Some(stored) = changes::get(tx, from, baton_id)? else { return Ok(()) };
    CHANGES.copy(tx, (from, into), &stored.content_hash)?;
    let anew = StoredChanges { baton_id: new_id.to_owned(), ..stored };
    Ok(changes::put(tx, into, &anew)?)
}

/// Brings the changes of a baton back to the one from which it was left anew: dropped, kept or replaced as they were meanwhile.
pub(crate) fn give_back(
    tx: &mut Tx<'_>,
    (from, baton_id): (&str, &str),
    (into, new_id): (&str, &str),
) -> Result<(), Failure> {
    let (now, before) = (changes::get(tx, into, new_id)?, changes::get(tx, from, baton_id)?);
    match (now, before) {
        (Some(now), Some(before)) if now.content_hash == before.content_hash => Ok(()),
        (None, Some(before)) => Ok(changes::remove(tx, from, &before)?),
        (Some(_), before) => {
            if let Some(before) = before {
                changes::remove(tx, from, &before)?;
            }
            carry(tx, (into, new_id), (from, baton_id))
        }
        (None, None) => Ok(()),
    }
}

/// The changes that a caller means: of a baton by its id or a unique prefix of one, else of the one that the caller holds, else the
/// newest of the project.
fn find(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    named: Option<&str>,
) -> Result<StoredChanges, Failure> {
    let Some(id) = named else {
        if let Some(held) = held_by_caller(tx, env, project_id)? {
            return match changes::get(tx, project_id, &held)? {
                Some(changes) => Ok(changes),
                None => Err(none_held(tx, project_id, &held)?.into()),
            };
        }
        let what = format!("no baton of project {project_id} has changes");
        return Ok(changes::newest(tx, project_id, 1)?.pop().ok_or_else(|| no_changes_refusal(what))?);
    };
    if let Some(found) = changes::get(tx, project_id, id)? {
        return Ok(found);
    }
    let is_prefix = id.len() >= 4 && id.is_ascii();
    let ids = if is_prefix { changes::by_prefix(tx, project_id, id)? } else { Vec::new() };
    let known = if is_prefix { baton::by_prefix(tx, project_id, id)? } else { Vec::new() };
    if let ([], [known]) = (ids.as_slice(), known.as_slice()) {
        return Err(baton_without_changes_refusal(tx, project_id, known)?.into());
    }
    match ids.as_slice() {
        [one] => match changes::get(tx, project_id, one)? {
            Some(found) => Ok(found),
            None => Err(baton_without_changes_refusal(tx, project_id, one)?.into()),
        },
        // One of a project that was merged into this one goes on here under another id.
        [] => match carried_here(tx, project_id, id)? {
            Some(carried) => find(tx, env, project_id, Some(&carried)),
            None => Err(no_changes_refusal(format!(
                "project {project_id} has no baton `{}` with changes",
                visible(id)
            ))
            .into()),
        },
        many => Err(resolve::ambiguous_id_refusal("baton", id, many).into()),
    }
}

/// The refusal where the baton that the caller holds has no changes: those of another one may not be meant, so they are named.
fn none_held(tx: &mut Tx<'_>, project_id: &str, held: &str) -> Result<Refusal, Failure> {
    let refusal = no_changes_refusal(format!("baton {}, which you hold, has no changes", short(held)));
    // A baton that is held takes no changes.
    let hint = format!("`baton end` gives it back; then, {}", hint_of_sender(held));
    let refusal = Refusal { hint, ..refusal };
    let hint = match changes::newest(tx, project_id, 1)?.pop() {
        Some(other) => {
            let id = short(&other.baton_id);
            let by = visible(&other.identity);
            let left_at = baton::get(tx, project_id, held)?.map(|held| held.created_at);
            let age = if left_at.is_some_and(|at| other.created_at > at) { "newer" } else { "older" };
            format!(
                "baton {id} of {by} has {age} ones: `baton changes show {id}` tells them, and each command takes that id"
            )
        }
        None => refusal.hint.clone(),
    };
    Ok(Refusal { hint, ..refusal })
}

/// The baton that the caller's session holds.
fn held_by_caller(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<Option<String>, Failure> {
    let Ok(identity) = resolve::identity(env.caller, None) else { return Ok(None) };
    let own = resolve::open_session(tx, env, project_id, &identity)?;
    Ok(own.and_then(|own| own.baton_id))
}

fn no_changes_refusal(what: String) -> Refusal {
    let hint = "`baton wrap --with-changes` keeps what is not committed, where the work was done";
    Refusal::new(refusal::Kind::NotFound, "changes_none", what, hint)
}

/// The refusal for a baton that is there. What its agent left uncommitted goes with it once that side says so.
fn baton_without_changes_refusal(
    tx: &mut Tx<'_>,
    project_id: &str,
    baton_id: &str,
) -> Result<Refusal, Failure> {
    let refusal = no_changes_refusal(format!("baton {} has no changes", visible(baton_id)));
    let waits = match baton::get(tx, project_id, baton_id)? {
        Some(left) => attach::state(tx, &left)? == State::Open,
        None => false,
    };
    Ok(if waits { Refusal { hint: hint_of_sender(baton_id), ..refusal } } else { refusal })
}

fn hint_of_sender(baton_id: &str) -> String {
    let id = visible(baton_id);
    format!(
        "where the work was done, `baton changes keep {id}` gives it what is not committed; a wrap takes that along with \
         `--with-changes`"
    )
}

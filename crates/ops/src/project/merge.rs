//! `project_merge`: two projects are one repository after all.
//!
//! A ledger is a chain of hashes over its own project's entries, so the entries of one project cannot become another's. What
//! moves are the folders, and the batons that no session has continued: each is left anew in the other project, byte for byte, and the
//! first one names its successor. The two projects are related, so that a memory search covers both.

use baton_model::access::Scope;
use baton_model::baton::Baton;
use baton_model::delta::Kind;
use baton_model::id::{check_project, visible};
use baton_model::refusal::{self, Refusal};
use baton_model::session::Session;
use baton_store::project_root::ProjectRoot;
use baton_store::{Failure, Tx, baton, lease, project, project_root, request, session, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::merge_carry::{carry, carry_saved, preview_baton, preview_carried};
use super::merge_rest::{
    MovedCopy, MovedMail, awaited_handoffs, end_open, move_agents, move_copies, move_leases, move_mail,
    move_sent, pushed_copies, require_isolation_kept, require_no_lease_conflict, require_no_open_handoffs,
    waiting_mail,
};
use super::merge_undo::{preview_undo, take_back};
use super::merged::{last_record, require_not_merged};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation, Reach};
use crate::ownership::is_at_work;
use crate::project_name::{given_name, title};
use crate::resolve;
use crate::session::unwrapped_sessions;
use crate::task::{free_unbegun, require_unclaimed};

/// The most batons that go along, and the most open tasks that are counted.
pub(super) const MAX_MOVED: i64 = 1_000;
/// The kind of relation between the two.
const MERGED: &str = "merged";

/// Merges a project into another.
pub struct Merge;

/// Input of `project_merge`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeInput {
    /// The project that ends.
    pub from: String,
    /// The project that goes on.
    pub into: String,
    /// Only say what would happen.
    #[serde(default)]
    pub dry_run: bool,
    /// Take an earlier merge of the two back.
    #[serde(default)]
    pub undo: bool,
    /// Identity that decides.
    #[serde(default)]
    pub identity: Option<String>,
}

/// Answer of `project_merge`.
#[derive(Serialize, Deserialize)]
pub struct MergeOutput {
    /// The project that goes on.
    pub project_id: String,
    /// What it is called since it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The project that ended.
    pub from: String,
    /// What that one is called since it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_name: Option<String>,
    /// The folders that moved.
    pub paths: Vec<String>,
    /// The batons that were left anew: old and new id.
    pub batons: Vec<CarriedBaton>,
    /// Where a merge is taken back: the batons that stay in the project that went on, because a session continued them there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batons_left: Vec<CarriedBaton>,
    /// Open tasks that stay in the project that ended.
    pub tasks_left: usize,
    /// Messages that waited there, and wait in the other project now. Where a merge is taken back: those that wait in the first again.
    #[serde(default)]
    pub messages_moved: usize,
    /// Encrypted messages that stay there: they can be read with a key of that project alone.
    #[serde(default)]
    pub sealed_left: usize,
    /// Leases that were held there, and are held in the other project now. Where a merge is taken back: those that are held in the first
    /// again.
    #[serde(default)]
    pub leases_moved: usize,
    /// Sessions that were pushed there, and are kept in the other project now.
    #[serde(default)]
    pub transcripts_moved: usize,
    /// Sessions that were pushed there and stay: they are encrypted for keys of that project, or the other one takes none.
    #[serde(default)]
    pub transcripts_left: usize,
    /// Hand-offs that were sent from there and are not over: what becomes of them is told to the other project.
    #[serde(default)]
    pub handoffs_moved: usize,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// The command that takes it back; none where this was that.
    pub undo: Option<String>,
}

/// A baton that was left anew in another project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedBaton {
    /// Its id before; of what a session saved without a wrap, the session's.
    pub from: String,
    /// Whether it is what a session saved without a wrap.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_session: bool,
    /// Its id now; none in a preview.
    pub to: Option<String>,
    /// First line of its packet's summary.
    pub summary: String,
}

/// What a merge leaves in the ledger for its undoing.
#[derive(Serialize, Deserialize)]
pub(super) struct MergeRecord {
    summary: String,
    pub(super) merged_into: String,
    pub(super) places: Vec<(String, String)>,
    pub(super) batons: Vec<CarriedBaton>,
    /// The hand-offs whose sender the other project became.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) handoffs: Vec<String>,
    /// The sessions that were pushed there and moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) copies: Vec<MovedCopy>,
    /// The mail that moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) mail: Vec<MovedMail>,
    /// The leases that moved, by their ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) leases: Vec<String>,
}

impl Operation for Merge {
    const META: Meta =
        Meta::write("project_merge", "Merge a project into another: folders and open batons move")
            .scope(Scope::Operator)
            .reach(Reach::Everything);
    type Input = MergeInput;
    type Output = MergeOutput;

    fn run(input: MergeInput, cx: &mut Cx<'_>) -> Result<MergeOutput, Failure> {
        check_project(&input.from)?;
        check_project(&input.into)?;
        let [from, into] = [&input.from, &input.into].map(|id| cx.env.caller.id_of(id).to_owned());
        let input = MergeInput { from, into, ..input };
        if input.from == input.into {
            let what = "a project is not merged into itself";
            return Err(Refusal::invalid("merge_invalid", what, "name two projects").into());
        }
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let answer = match input.dry_run {
            true => store.read(|tx| preview(tx, env, &input))?,
            false => store.write(&[&input.from, &input.into], |tx| match input.undo {
                true => take_back(tx, env, &input, &identity),
                false => merge(tx, env, &input, &identity),
            })?,
        };
        let (from_name, name) =
            store.read(|tx| Ok((given_name(tx, &input.from)?, given_name(tx, &input.into)?)))?;
        Ok(MergeOutput { from_name, name, ..answer })
    }
}

/// What would move. Refused while an agent is at work in the project that ends.
fn preview(tx: &mut Tx<'_>, env: &Env<'_>, input: &MergeInput) -> Result<MergeOutput, Failure> {
    for id in [&input.from, &input.into] {
        resolve::require_project(tx, id)?;
    }
    if input.undo {
        return preview_undo(tx, env, input);
    }
    require_isolation_kept(tx, input)?;
    let mut open = session::open(tx, &input.from)?;
    open.retain(|one| is_at_work(env, one));
    if !open.is_empty() {
        return Err(busy_refusal(tx, env, &open, &input.from)?.into());
    }
    require_not_merged(tx, &input.from)?;
    require_not_merged(tx, &input.into)?;
    require_no_open_handoffs(tx, &input.from)?;
    require_unclaimed(tx, env, &input.from)?;
    require_no_lease_conflict(tx, env, (&input.from, &input.into))?;
    let paths = project_root::of_project(tx, &input.from)?.into_iter().map(|place| place.path).collect();
    // In the order in which they are left anew.
    let mut batons = Vec::new();
    for saved in unwrapped_sessions(tx, env, &input.from)? {
        batons.push(preview_carried(tx, &saved)?);
    }
    for left in baton::unspent(tx, &input.from, MAX_MOVED)?.into_iter().rev() {
        batons.push(preview_baton(tx, left)?);
    }
    let tasks = task::open(tx, &input.from, MAX_MOVED)?.len();
    let mail = waiting_mail(tx, env, &input.from)?;
    let copies = pushed_copies(tx, (&input.from, &input.into))?;
    Ok(MergeOutput {
        transcripts_moved: copies.movable.len(),
        transcripts_left: copies.left,
        handoffs_moved: awaited_handoffs(tx, &input.from)?.len(),
        messages_moved: mail.movable.len(),
        sealed_left: mail.sealed.len(),
        leases_moved: lease::held_leases(tx, &input.from, env.now)?.len(),
        ..answer(input, paths, batons, tasks)
    })
}

pub(super) fn answer(
    input: &MergeInput,
    paths: Vec<String>,
    batons: Vec<CarriedBaton>,
    tasks_left: usize,
) -> MergeOutput {
    let undo = format!("baton project merge {} --into {} --undo", input.from, input.into);
    MergeOutput {
        project_id: input.into.clone(),
        name: None,
        from: input.from.clone(),
        from_name: None,
        paths,
        batons,
        batons_left: Vec::new(),
        tasks_left,
        messages_moved: 0,
        sealed_left: 0,
        leases_moved: 0,
        transcripts_moved: 0,
        transcripts_left: 0,
        handoffs_moved: 0,
        dry_run: input.dry_run,
        undo: (!input.undo).then_some(undo),
    }
}

fn merge(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &MergeInput,
    identity: &str,
) -> Result<MergeOutput, Failure> {
    let mut merged = preview(tx, env, input)?;
    let places = project_root::of_project(tx, &input.from)?;
    for place in &places {
        project_root::put(tx, &ProjectRoot { project_id: input.into.clone(), ..place.clone() }, env.now)?;
    }
    free_unbegun(tx, env, &Author { project_id: &input.from, identity, session: None })?;
    let mail = move_mail(tx, env, (&input.from, &input.into))?;
    let leases = move_leases(tx, env, (&input.from, &input.into))?;
    move_agents(tx, env, (&input.from, &input.into))?;
    let copies = move_copies(tx, (&input.from, &input.into))?;
    // The oldest first, so that the newest stays the newest.
    let mut unspent = baton::unspent(tx, &input.from, MAX_MOVED)?;
    unspent.reverse();
    merged.batons.clear();
    // An id that is shown to people begins with its millisecond: each baton has one of its own.
    for saved in unwrapped_sessions(tx, env, &input.from)? {
        merged.batons.push(carry_saved(tx, env, &saved, &input.into)?);
        env.now += 1;
    }
    for left in unspent {
        merged.batons.push(carry(tx, env, left, &input.into)?);
        env.now += 1;
    }
    let why = "this project was merged into another";
    let open = session::open(tx, &input.from)?;
    end_open(tx, env, &input.into, (identity, why), open)?;
    let isolated = [&input.from, &input.into].map(|id| project::get(tx, id));
    let mut are_open = true;
    for project in isolated {
        are_open &= project?.is_some_and(|project| !project.is_isolated);
    }
    if are_open {
        project::relate(tx, (&input.from, &input.into), MERGED, identity, env.now)?;
    }
    let record = MergeRecord {
        summary: format!("merged into project {}", input.into),
        merged_into: input.into.clone(),
        places: places.into_iter().map(|place| (place.machine, place.path)).collect(),
        batons: merged.batons.clone(),
        handoffs: move_sent(tx, (&input.from, &input.into))?,
        copies,
        mail,
        leases,
    };
    project::set_merged_into(tx, &input.from, Some(&input.into))?;
    request::copy(tx, &input.from, &input.into)?;
    note_merge(tx, env, (&input.from, &input.into, identity), &record)?;
    Ok(merged)
}

/// Writes a merge into both ledgers.
fn note_merge(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (from, into, identity): (&str, &str, &str),
    record: &MergeRecord,
) -> Result<(), Failure> {
    let author = Author { project_id: from, identity, session: None };
    append_json(tx, env, &author, Kind::Other, &json!(record))?;
    let body = json!({ "summary": format!("project {from} merged into this one"), "merged_from": from,
        "batons": record.batons });
    append_json(tx, env, &Author { project_id: into, ..author }, Kind::Other, &body)?;
    Ok(())
}

/// Leaves a baton of a merged project anew in the one that goes on: it had left as a file before the merge, and was taken back.
pub(crate) fn carry_reclaimed(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (left, into): (Baton, &str),
    identity: &str,
) -> Result<CarriedBaton, Failure> {
    let from = left.project_id.clone();
    let carried = carry(tx, env, left, into)?;
    if let Some(mut record) = last_record(tx, &from, Some(into), MAX_MOVED)? {
        record.batons.push(carried.clone());
        note_merge(tx, env, (&from, into, identity), &record)?;
    }
    Ok(carried)
}

/// Leaves the batons of a merged project anew whose successors the other one does not have: it was imported as it was before
/// the merge.
pub(crate) fn carry_missing(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (from, into): (&str, &str),
) -> Result<(), Failure> {
    let Some(mut record) = last_record(tx, from, Some(into), MAX_MOVED)? else { return Ok(()) };
    project::set_merged_into(tx, from, Some(into))?;
    let sent = move_sent(tx, (from, into))?;
    let mut is_changed = !sent.is_empty();
    record.handoffs.extend(sent);
    for carried in &mut record.batons {
        let Some(to) = carried.to.clone() else { continue };
        if baton::get(tx, into, &to)?.is_some() {
            continue;
        }
        let anew = match baton::get(tx, from, &carried.from)? {
            Some(before) if before.spent_by.as_ref().is_none_or(|by| *by == to) => {
                carry(tx, env, before, into)?
            }
            Some(_) => continue,
            None => match session::get(tx, from, &carried.from)? {
                Some(saved) => carry_saved(tx, env, &saved, into)?,
                None => continue,
            },
        };
        *carried = anew;
        is_changed = true;
        env.now += 1;
    }
    // A project that was merged holds nothing that waits.
    let mut unspent = baton::unspent(tx, from, MAX_MOVED)?;
    unspent.reverse();
    for left in unspent {
        record.batons.push(carry(tx, env, left, into)?);
        is_changed = true;
        env.now += 1;
    }
    if is_changed {
        let identity = resolve::identity(env.caller, None)?;
        note_merge(tx, env, (from, into, &identity), &record)?;
    }
    Ok(())
}

pub(super) fn busy_refusal(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    open: &[Session],
    project_id: &str,
) -> Result<Refusal, Failure> {
    let at_work: Vec<String> = open.iter().map(|session| session.describe(env.now)).collect();
    let what = format!("{} is at work in project {}", at_work.join(", "), title(tx, project_id)?);
    Ok(Refusal::new(refusal::Kind::Conflict, "project_busy", what, end_hint(open)))
}

/// How to go on although sessions are at work: the command that ends the first of them.
pub(super) fn end_hint<'a>(busy: impl IntoIterator<Item = &'a Session>) -> String {
    let id = busy.into_iter().next().map_or("ID", |session| session.session_id.as_str());
    format!(
        "wait for the wrap, or end the session: `baton end --session {} --force --why REASON`",
        visible(id)
    )
}

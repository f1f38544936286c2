//! A merge of two projects is taken back.

use baton_model::baton::Baton;
use baton_model::delta::Kind;
use baton_model::packet_from_ledger::CARRIED_AS;
use baton_model::refusal::{self, Refusal};
use baton_model::session::Session;
use baton_store::project_root::ProjectRoot;
use baton_store::{Failure, Tx, baton, handoff, project, project_root, request, session};
use serde_json::json;

use super::merge::{CarriedBaton, MAX_MOVED, MergeInput, MergeOutput, MergeRecord, answer, busy_refusal};
use super::merge_carry::{carry_saved, preview_carried};
use super::merge_rest::{count_returning, set_sender, take_copies_back, take_leases_back, take_mail_back};
use super::merged::last_record;
use crate::ledger::{Author, append_json};
use crate::op::Env;
use crate::ownership::is_at_work;
use crate::project_name::title;
use crate::resolve;
use crate::session::update_baton;

/// The merge that is to be taken back.
pub(super) fn last_merge(tx: &mut Tx<'_>, input: &MergeInput) -> Result<MergeRecord, Failure> {
    if let Some(record) = last_record(tx, &input.from, Some(&input.into), MAX_MOVED)? {
        return Ok(record);
    }
    let what = format!("project {} was not merged into {}", title(tx, &input.from)?, title(tx, &input.into)?);
    let hint = "`baton log` shows what was done";
    Err(Refusal::new(refusal::Kind::NotFound, "merge_unknown", what, hint).into())
}

/// Refuses to take a merge back while an agent works in one of its folders: the session belongs to the other project.
fn require_nobody_at_work(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    into: &str,
    record: &MergeRecord,
) -> Result<(), Failure> {
    let is_there = |one: &Session| {
        let root = one.working_copy.as_ref().map(|copy| copy.root.as_str());
        let machine = one.location.machine.as_str();
        record.places.iter().any(|(at, path)| at == machine && root.is_none_or(|root| is_inside(root, path)))
    };
    let mut open = session::open(tx, into)?;
    open.retain(|one| is_at_work(env, one) && is_there(one));
    if open.is_empty() { Ok(()) } else { Err(busy_refusal(tx, env, &open, into)?.into()) }
}

/// Whether a folder is another one or lies below it.
fn is_inside(folder: &str, other: &str) -> bool {
    std::path::Path::new(folder).starts_with(other)
}

/// The merge that is taken back, where nothing stands against that.
fn undoable(tx: &mut Tx<'_>, env: &Env<'_>, input: &MergeInput) -> Result<MergeRecord, Failure> {
    let record = last_merge(tx, input)?;
    require_last_of_chain(tx, input)?;
    require_nobody_at_work(tx, env, &input.into, &record)?;
    Ok(record)
}

/// Whether a session holds a baton or has continued it: then it stays where it is.
fn is_taken(baton: &Baton) -> bool {
    baton.spent_by.is_some() || baton.holder_session_id.is_some()
}

/// What taking a merge back would do. Refused where that is.
pub(super) fn preview_undo(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    input: &MergeInput,
) -> Result<MergeOutput, Failure> {
    let record = undoable(tx, env, input)?;
    let (mut batons, mut batons_left) = (Vec::new(), Vec::new());
    for carried in record.batons {
        let now = carried.to.as_deref().map(|id| baton::get(tx, &input.into, id)).transpose()?.flatten();
        if now.is_none_or(|now| is_taken(&now)) {
            batons_left.push(carried);
            continue;
        }
        // What waits again is what it was before, or what its session had saved.
        let summary = match baton::get(tx, &input.from, &carried.from)? {
            Some(before) if before.spent_by != carried.to => continue,
            Some(before) => before.summary,
            None => match session::get(tx, &input.from, &carried.from)? {
                Some(saved) => preview_carried(tx, &saved)?.summary,
                None => carried.summary.clone(),
            },
        };
        batons.push(CarriedBaton { summary, ..carried });
    }
    let ends = (input.from.as_str(), input.into.as_str());
    let (messages_moved, leases_moved) = count_returning(tx, env, ends, (&record.mail, &record.leases))?;
    let paths = record.places.into_iter().map(|(_, path)| path).collect();
    Ok(MergeOutput { batons_left, messages_moved, leases_moved, ..answer(input, paths, batons, 0) })
}

/// Gives the folders back, and the batons that no session has picked up since.
pub(super) fn take_back(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &MergeInput,
    identity: &str,
) -> Result<MergeOutput, Failure> {
    for id in [&input.from, &input.into] {
        resolve::require_project(tx, id)?;
    }
    let record = undoable(tx, env, input)?;
    for id in &record.handoffs {
        if handoff::get(tx, id)?.is_some_and(|one| one.from_project_id == input.into) {
            set_sender(tx, id, (&input.into, &input.from))?;
        }
    }
    take_copies_back(tx, (&input.from, &input.into), &record.copies)?;
    let messages_moved = take_mail_back(tx, env, (&input.from, &input.into), &record.mail)?;
    let leases_moved = take_leases_back(tx, env, (&input.from, &input.into), &record.leases)?;
    let paths = take_places_back(tx, env, input, &record.places)?;
    let (mut batons, mut batons_left) = (Vec::new(), Vec::new());
    for carried in record.batons {
        let now = carried.to.as_deref().map(|id| baton::get(tx, &input.into, id)).transpose()?.flatten();
        let before = baton::get(tx, &input.from, &carried.from)?;
        let Some(mut now) = now.filter(|now| !is_taken(now)) else {
            if let Some(saved) = session::get(tx, &input.from, &carried.from)? {
                note_carried(tx, env, (&saved, &input.into), carried.to.as_deref())?;
            }
            batons_left.push(carried);
            continue;
        };
        now.spent_by = Some(carried.from.clone());
        let summary = match before {
            Some(before) if before.spent_by != carried.to => continue,
            Some(before) => {
                let own = (input.from.as_str(), before.baton_id.as_str());
                crate::changes::give_back(tx, own, (&input.into, &now.baton_id))?;
                let before = Baton { spent_by: None, ..before };
                update_baton(tx, &before)?;
                before.summary
            }
            // What a session had saved without a wrap waits in its own project from now on: the session is over.
            None => leave_saved(tx, env, input, &carried)?.unwrap_or_else(|| carried.summary.clone()),
        };
        update_baton(tx, &now)?;
        batons.push(CarriedBaton { summary, ..carried });
    }
    request::take_back(tx, &input.from, &input.into)?;
    project::unrelate(tx, &input.from, &input.into)?;
    project::set_merged_into(tx, &input.from, None)?;
    for (project_id, other) in [(&input.from, &input.into), (&input.into, &input.from)] {
        note_undoing(tx, env, (project_id, other, identity))?;
    }
    Ok(MergeOutput { batons_left, messages_moved, leases_moved, ..answer(input, paths, batons, 0) })
}

/// Gives the folders back that belong to the project that went on, and returns their paths.
fn take_places_back(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    input: &MergeInput,
    places: &[(String, String)],
) -> Result<Vec<String>, Failure> {
    let mut paths = Vec::new();
    for (machine, path) in places {
        let known = project_root::get(tx, machine, path)?.filter(|place| place.project_id == input.into);
        if let Some(place) = known {
            project_root::put(tx, &ProjectRoot { project_id: input.from.clone(), ..place }, env.now)?;
            paths.push(path.clone());
        }
    }
    Ok(paths)
}

/// Leaves what a session saved as a baton of its own project. Returns its summary; none where there is no such session.
fn leave_saved(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &MergeInput,
    carried: &CarriedBaton,
) -> Result<Option<String>, Failure> {
    let Some(saved) = session::get(tx, &input.from, &carried.from)? else { return Ok(None) };
    let anew = carry_saved(tx, env, &saved, &input.from)?;
    env.now += 1;
    note_carried(tx, env, (&saved, &input.from), anew.to.as_deref())?;
    Ok(Some(anew.summary))
}

/// Writes into a session that saved something without a wrap that this goes on as a baton, so that no other session is given it.
pub(super) fn note_carried(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (saved, project_id): (&Session, &str),
    baton_id: Option<&str>,
) -> Result<(), Failure> {
    let summary = format!("goes on as a baton of project {project_id}");
    let mut body = json!({ "summary": summary, "project_id": project_id });
    body[CARRIED_AS] = json!(baton_id);
    append_json(tx, env, &Author::session(saved), Kind::Other, &body).map(drop)
}

/// Refuses to take a merge back whose result was merged on: folders and batons lie in the next project by now.
fn require_last_of_chain(tx: &mut Tx<'_>, input: &MergeInput) -> Result<(), Failure> {
    let (from, into) = (&input.from, &input.into);
    let Some(next) = project::get(tx, into)?.and_then(|project| project.merged_into) else { return Ok(()) };
    let (ended, goes_on, first) = (title(tx, into)?, title(tx, &next)?, title(tx, from)?);
    let what = format!("project {ended} was merged into {goes_on} since, with what came from {first}");
    let hint = format!("first `baton project merge {into} --into {next} --undo`, then this again");
    Err(Refusal::new(refusal::Kind::Conflict, "project_merged", what, hint)
        .with("project_id", next.as_str())
        .with("merged_from", into.as_str())
        .into())
}

/// Writes into a ledger that the merge with another project was taken back.
fn note_undoing(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (project_id, other, identity): (&str, &str, &str),
) -> Result<(), Failure> {
    let body =
        json!({ "summary": format!("the merge with project {other} was taken back"), "merge_undone": other });
    append_json(tx, env, &Author { project_id, identity, session: None }, Kind::Other, &body).map(drop)
}

/// Writes into a project's ledger, where that does not tell of it, that its merge was taken back: it was imported as it was before the
/// undoing.
pub(crate) fn reopen(tx: &mut Tx<'_>, env: &mut Env<'_>, (from, into): (&str, &str)) -> Result<(), Failure> {
    project::set_merged_into(tx, from, None)?;
    if last_record(tx, from, Some(into), MAX_MOVED)?.is_none() {
        return Ok(());
    }
    let identity = resolve::identity(env.caller, None)?;
    note_undoing(tx, env, (from, into, &identity))
}

//! Where the work of a baton that left as a file goes on, as far as this store knows.

use baton_model::baton::Baton;
use baton_model::delta::Kind;
use baton_model::id::{short, visible};
use baton_model::refusal::{self, Refusal};
use baton_model::time::ago;
use baton_store::{Failure, Tx, baton, delta, project, session};

use super::import::{BatonImport, BatonImportOutput};
use super::records::{ImportRecord, MAX_ENTRIES, receipt_of};
use crate::idempotency::request::Request;
use crate::op::{Env, Operation};

/// The refusal to have a baton wait here again while its work goes on from the file; none where nothing is known of that.
pub(super) fn refusal(tx: &mut Tx<'_>, env: &Env<'_>, left: &Baton) -> Result<Option<Refusal>, Failure> {
    // What is here can be named best, then what another project of the store has, then what a file told.
    let place = match came_back(tx, env, left)? {
        None => imported(tx, env, left)?,
        place => place,
    };
    let place = match place {
        None => receipt_of(tx, left)?.map(|receipt| {
            let when = ago(env.now, receipt.picked_up_at.0);
            (format!("{} picked it up elsewhere {when}", visible(&receipt.picked_up_by)), None)
        }),
        place => place,
    };
    let Some((place, next)) = place else { return Ok(None) };
    let id = &left.baton_id;
    let what = format!("the work of baton {} goes on from its file: {place}", short(id));
    let anyway = format!(
        "`baton handoff reclaim {id} --force --why REASON` has it wait here all the same, and two agents may then do the same work"
    );
    let hint = match next {
        Some(next) => format!("`{next}` continues it; {anyway}"),
        None => format!("leave it to them; {anyway}"),
    };
    let refusal = Refusal::new(refusal::Kind::Conflict, "baton_continued", what, hint);
    Ok(Some(refusal.with("baton_id", id.as_str())))
}

/// Where it is, and the command that goes on there.
type ContinuationPlace = Option<(String, Option<String>)>;

/// The baton of the same line of work that came into this project as a file since the export.
fn came_back(tx: &mut Tx<'_>, env: &Env<'_>, left: &Baton) -> Result<ContinuationPlace, Failure> {
    let exported = match &left.spent_by {
        Some(id) => delta::get(tx, &left.project_id, id)?,
        None => None,
    };
    let Some(exported) = exported else { return Ok(None) };
    for entry in delta::newest_of_kind(tx, &left.project_id, Kind::Other, MAX_ENTRIES)? {
        if entry.seq <= exported.seq {
            break;
        }
        let Ok(record) = serde_json::from_str::<ImportRecord>(&entry.body) else { continue };
        let here = baton::get(tx, &left.project_id, &record.baton_id)?;
        if let Some(here) = here.filter(|here| here.thread_id == left.thread_id) {
            let state = state(tx, env, &here)?;
            let what = format!("it came back as baton {}, which {state}", short(&here.baton_id));
            return Ok(Some((what, Some(format!("baton pickup --handoff {}", here.baton_id)))));
        }
    }
    Ok(None)
}

/// The baton that another project of the store made of the file. A token hears only of projects that it reaches.
fn imported(tx: &mut Tx<'_>, env: &Env<'_>, left: &Baton) -> Result<ContinuationPlace, Failure> {
    for known in project::list(tx)? {
        let id = &known.project_id;
        let once = Request::of_content(id, BatonImport::NAME, &left.baton_id);
        let Some(there) = once.earlier_answer::<BatonImportOutput>(tx)? else { continue };
        let Some(there) = baton::get(tx, id, &there.baton_id)? else { continue };
        if !env.caller.grant.reaches(id) {
            return Ok(Some(("it was imported elsewhere".to_owned(), None)));
        }
        let state = state(tx, env, &there)?;
        let what = format!("project {id} imported it as baton {}, which {state}", short(&there.baton_id));
        return Ok(Some((what, Some(format!("baton --project {id} pickup --handoff {}", there.baton_id)))));
    }
    Ok(None)
}

/// Who has a baton, in a clause.
pub(super) fn state(tx: &mut Tx<'_>, env: &Env<'_>, of: &Baton) -> Result<String, Failure> {
    let holder = match &of.holder_session_id {
        Some(id) => session::get(tx, &of.project_id, id)?,
        None => None,
    };
    Ok(match (&of.spent_by, holder) {
        (Some(_), _) if of.is_finished() => "says that nothing is left to do".to_owned(),
        (Some(next), _) => format!("was carried on and wrapped as {}", short(next)),
        (None, Some(holder)) => format!("{} holds", holder.describe(env.now)),
        (None, None) => "waits there".to_owned(),
    })
}

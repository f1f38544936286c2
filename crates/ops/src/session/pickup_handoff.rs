//! `hd_exec` of a hand-off from another project: accept it, and get everything that goes with it.

use baton_model::access::Grant;
use baton_model::delta::Kind;
use baton_model::handoff::{Event, Handoff, State as HandoffState};
use baton_model::refusal::{self, Refusal};
use baton_model::session::Session;
use baton_model::time::rfc3339;
use baton_store::state::State;
use baton_store::{Failure, Store, Tx, baton, handoff, handoff_step, memory, project, session, state, task};
use serde_json::{Value, json};

use super::pickup::{Picked, Pickup, PickupInput};
use super::pickup_bundle::{self, Bundle};
use super::pickup_decide::own_session;
use super::{Registered, replace};
use crate::document::{LONGEST_ALTOGETHER, OmissionReason};
use crate::handoff::steps::Plan;
use crate::handoff::{answer, by_id, record};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Host, Operation};
use crate::request;

/// The hand-off that is meant, if the id names one to this project and not a baton.
pub(super) fn meant(
    store: &mut Store,
    input: &PickupInput,
    project_id: &str,
) -> Result<Option<Handoff>, Failure> {
    let Some(id) = &input.handoff_id else { return Ok(None) };
    store.read(|tx| {
        if baton::get(tx, project_id, id)?.is_some() {
            return Ok(None);
        }
        let one = match handoff::get(tx, id)? {
            Some(one) => one,
            // An id that begins like a baton's stays a baton's.
            None if id.len() < 4 || !id.is_ascii() || !baton::by_prefix(tx, project_id, id)?.is_empty() => {
                return Ok(None);
            }
            None => match handoff::by_prefix(tx, id)?.as_slice() {
                [only] => by_id(tx, &Grant::default(), only)?,
                _ => return Ok(None),
            },
        };
        Ok(Some(one).filter(|h| h.to_project_id == project_id))
    })
}

/// Accepts it and gives the bundle. With `dry_run` it only shows.
pub(super) fn accept(
    input: &PickupInput,
    cx: &mut Cx<'_>,
    known: &Handoff,
    identity: &str,
) -> Result<Bundle, Failure> {
    let Cx { store, env } = cx;
    let project_id = known.to_project_id.clone();
    let picked = if input.dry_run {
        Picked { identity: identity.to_owned(), ..Picked::default() }
    } else {
        store.write(&[&known.from_project_id, &project_id], |tx| {
            take(tx, env, input, &known.handoff_id, identity)
        })?
    };
    let mut bundle = store.read(|tx| pickup_bundle::read(tx, env, &project_id, &picked, input.dry_run))?;
    let machine = env.caller.place.machine.clone();
    let facts = store.read(|tx| facts(tx, &known.handoff_id, &machine))?;
    bundle.with_handoff(whole(&facts, env.host));
    Ok(bundle)
}

fn take(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &PickupInput,
    id: &str,
    named: &str,
) -> Result<Picked, Failure> {
    let mut handoff = by_id(tx, &Grant::default(), id)?;
    let project_id = handoff.to_project_id.clone();
    let request = input.request(env, &project_id, named)?;
    if let Some(picked) = input.answered(tx, env, request.as_ref(), (&project_id, named))? {
        return Ok(picked);
    }
    let (mut own, is_new) = match own_session(tx, env, input, &project_id, named)? {
        Registered::Same(session) => (session, false),
        Registered::New(mut session, replaced) => {
            take_seeded_id(tx, &mut session, &handoff)?;
            replace(tx, env, &mut session, replaced, input.why.as_deref())?;
            (session, true)
        }
    };
    let mut plan = Plan::of(&handoff);
    let again = handoff.state == HandoffState::Accepted && plan.accepted_by.as_ref() == Some(&own.session_id);
    own.heartbeat_at = env.now;
    Pickup::NAME.clone_into(&mut own.last_verb);
    if is_new {
        session::insert(tx, &own)?
    } else {
        session::put(tx, &own)?
    }
    let mut picked = Picked {
        session_id: Some(own.session_id.clone()),
        identity: own.identity.clone(),
        ..Picked::default()
    };
    if !again {
        handoff.state = handoff.state.advance(Event::Accept).map_err(|no| taken(&handoff, &plan, no))?;
        plan.accepted_by = Some(own.session_id.clone());
        plan.accepted_as = Some(own.identity.clone());
        plan.accepted_place = Some(own.place.clone());
        handoff.plan = plan.to_text();
        handoff.updated_at = env.now;
        handoff::put(tx, &handoff)?;
        record(tx, env, &handoff, &own.identity)?;
        crate::handoff::begin_task(tx, env, &handoff, &own.identity)?;
        claim(tx, env, &handoff, &own)?;
        let body = json!({
            "handoff_id": handoff.handoff_id,
            "from_project_id": handoff.from_project_id,
            "picker_identity": own.identity,
            "picked_up_at": rfc3339(env.now),
        });
        let delta = append_json(tx, env, &Author::session(&own), Kind::Pickup, &body)?;
        picked.pickup_delta_id = Some(delta.delta_id);
    }
    request::keep(tx, env, request.as_ref(), &picked)?;
    Ok(picked)
}

/// A new session takes the id of the one that was seeded for it, so that the sender's answer names it rightly.
fn take_seeded_id(tx: &mut Tx<'_>, new: &mut Session, handoff: &Handoff) -> Result<(), Failure> {
    let Some(seeded) = state::of_handoff(tx, &handoff.to_project_id, &handoff.handoff_id)? else {
        return Ok(());
    };
    if seeded.claimed_at.is_none() && session::get(tx, &new.project_id, &seeded.session_id)?.is_none() {
        if new.thread_id == new.session_id {
            new.thread_id.clone_from(&seeded.session_id);
        }
        new.session_id = seeded.session_id;
    }
    Ok(())
}

/// The seeded state belongs to this session from now on.
fn claim(tx: &mut Tx<'_>, env: &Env<'_>, handoff: &Handoff, own: &Session) -> Result<(), Failure> {
    if let Some(seeded) = state::of_handoff(tx, &handoff.to_project_id, &handoff.handoff_id)? {
        let claimed = State { session_id: own.session_id.clone(), claimed_at: Some(env.now), ..seeded };
        state::put(tx, &handoff.to_project_id, &claimed)?;
    }
    Ok(())
}

fn taken(handoff: &Handoff, plan: &Plan, no: Refusal) -> Refusal {
    match &plan.accepted_by {
        Some(session) if handoff.state == HandoffState::Accepted => Refusal::new(
            refusal::Kind::Conflict,
            "handoff_claimed",
            "somebody else has accepted this hand-off",
            "`baton status` lists what else waits",
        )
        .with("holder_session_id", session.clone()),
        _ => no,
    }
}

/// What the ledger holds about a hand-off.
struct Facts {
    handoff: Handoff,
    row: Value,
    task: Option<Value>,
    note: Option<Value>,
    state: Option<State>,
    /// The receiver's folders, then the sender's, on this machine.
    roots: Vec<String>,
}

fn facts(tx: &mut Tx<'_>, id: &str, machine: &str) -> Result<Facts, Failure> {
    let handoff = by_id(tx, &Grant::default(), id)?;
    let (to, from) = (handoff.to_project_id.clone(), handoff.from_project_id.clone());
    let mut roots = project::roots(tx, &to, machine)?;
    roots.extend(project::roots(tx, &from, machine)?);
    let found = match &handoff.task_id {
        Some(task) => task::get(tx, &to, task)?,
        None => None,
    };
    let note = match &handoff.memory_id {
        Some(memory) => memory::get(tx, &to, memory)?.filter(|note| note.withdrawn_at.is_none()),
        None => None,
    };
    let steps = handoff_step::of(tx, &handoff.handoff_id)?;
    Ok(Facts {
        row: answer(&handoff, &steps),
        task: found.map(|task| task.to_json()),
        note: note.map(|note| note.to_json()),
        state: state::of_handoff(tx, &to, &handoff.handoff_id)?,
        roots,
        handoff,
    })
}

/// Everything that goes with it. Its texts are another agent's words: data, not orders.
fn whole(facts: &Facts, host: &dyn Host) -> Value {
    let plan = Plan::of(&facts.handoff);
    let mut row = facts.row.clone();
    row["description"] = json!(plan.description);
    row["links"] = json!(plan.links);
    row["packet"] = json!(Some(&facts.handoff.packet).filter(|text| !text.is_empty()));
    row["task_row"] = json!(facts.task);
    row["note"] = json!(facts.note);
    row["state"] = json!(facts.handoff.state.as_str());
    row["session_state"] = match &facts.state {
        Some(state) => json!({ "version": state.version,
            "state": serde_json::from_str::<Value>(&state.body).unwrap_or(Value::Null) }),
        None => Value::Null,
    };
    row["project_document"] =
        read(facts, host, OWN_DOCUMENT).map_or(Value::Null, |text| shown(OWN_DOCUMENT, &text));
    let mut checks = vec![task_check(facts)];
    let documents = Documents::read(facts, host, &texts(plan.links.get("docs")));
    checks.extend(documents.checks);
    for revision in texts(plan.links.get("source_ref")) {
        let known: Vec<bool> =
            facts.roots.iter().filter_map(|root| host.has_commit(root, &revision)).collect();
        let ok = if known.is_empty() { None } else { Some(known.contains(&true)) };
        let said = match ok {
            Some(true) => "there",
            Some(false) => "not there",
            None => "no working copy on this machine could be asked",
        };
        checks.push(check("commit", &revision, ok, said));
    }
    // What the sender named stands before what was read of it: the reader sees both, and nothing comes along unannounced.
    row["documents_named"] = json!(documents.named);
    row["documents"] = json!(documents.included);
    row["checks"] = json!(checks);
    row
}

fn task_check(facts: &Facts) -> Value {
    let id = facts.handoff.task_id.as_deref().unwrap_or("none");
    let status = facts.task.as_ref().and_then(|task| task["status"].as_str());
    let seen = if facts.handoff.issue_number.is_some() { ", as last seen" } else { "" };
    let said = status.map_or_else(|| "unknown".to_owned(), |status| format!("{status}{seen}"));
    check("task", id, status.map(|status| status != "closed"), &said)
}

fn check(kind: &str, handle: &str, ok: Option<bool>, said: &str) -> Value {
    json!({ "kind": kind, "handle": handle, "ok": ok, "message": said })
}

/// The document in which a repository says what it is.
const OWN_DOCUMENT: &str = "docs/PROJECT.md";

/// The documents that the sender named.
#[derive(Default)]
struct Documents {
    /// Each path, with whether it is given along and why not.
    named: Vec<Value>,
    included: Vec<Value>,
    checks: Vec<Value>,
}

impl Documents {
    fn read(facts: &Facts, host: &dyn Host, paths: &[String]) -> Self {
        let (mut all, mut room) = (Self::default(), LONGEST_ALTOGETHER);
        for path in paths {
            let found = read(facts, host, path).and_then(|text| match room.checked_sub(text.len()) {
                Some(left) => {
                    room = left;
                    Ok(text)
                }
                None => Err(OmissionReason::TooLarge),
            });
            let why = found.as_ref().err().map(|omission| omission.reason());
            all.named.push(json!({ "path": path, "included": found.is_ok(), "left_out": why }));
            let ok = match found {
                Ok(_) | Err(OmissionReason::TooLarge) => Some(true),
                Err(OmissionReason::Missing) => Some(false),
                Err(_) => None,
            };
            all.checks.push(check("document", path, ok, why.unwrap_or("there")));
            all.included.extend(found.ok().map(|text| shown(path, &text)));
        }
        all
    }
}

/// A document in the receiver's folders, else in the sender's. Of several reasons the first that says more than that it is
/// missing counts.
fn read(facts: &Facts, host: &dyn Host, path: &str) -> Result<String, OmissionReason> {
    let mut why = if host.is_served() { OmissionReason::OnServer } else { OmissionReason::Missing };
    for root in &facts.roots {
        match host.document(root, path) {
            Ok(text) => return Ok(text),
            Err(omission) if why == OmissionReason::Missing => why = omission,
            Err(_) => {}
        }
    }
    Err(why)
}

fn shown(path: &str, text: &str) -> Value {
    json!({ "path": path, "bytes": text.len(), "text": text })
}

/// A link's value as texts: one, or a list of them.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) => items.iter().filter_map(|v| v.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    }
}

//! `hd_exec`: pick a baton up. Checks, release of the predecessor, claim, session and delta are one transaction.

use baton_model::baton::{Baton, ClaimOutcome};
use baton_model::delta::Kind;
use baton_model::refusal::Refusal;
use baton_model::session::{ReleaseReason, Session};
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, message, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::accepted_handoffs::pass_on;
use super::brought_work::name_recovered;
use super::bundle_view::PickupOutput;
use super::pickup_again::repeat_answer;
use super::pickup_bundle;
use super::pickup_decide::{decide, with_verb};
use super::prior_changes::{UncommittedFiles, UncommittedMarks, note_beginning};
use super::recovery::{brought_with, recoverable};
use super::{
    RegistrationOutcome, Releaser, SessionRegistration, notify, release, replace, resume_registered,
    update_baton, working_copy,
};
use super::{applied_changes, carried_operations, pickup_handoff, waiting_changes, work_search};
use crate::idempotency::request::{self, Request, Requester};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation};
use crate::resolve;

/// Picks a baton up.
pub struct Pickup;

/// Input of `hd_exec`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PickupInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity to work under.
    #[serde(default)]
    pub identity: Option<String>,
    /// An own open session that becomes the picker.
    #[serde(default)]
    pub session: Option<String>,
    /// Only a baton that this session left.
    #[serde(default)]
    pub from_session: Option<String>,
    /// Exactly this baton or this hand-off from another project, by its id or a unique prefix of it.
    #[serde(default, rename = "handoff_id")]
    pub target_id: Option<String>,
    /// Take over from an active holder, predecessor or session of the same identity.
    #[serde(default)]
    pub force: bool,
    /// Who holds it, as the caller knows; empty where none is expected. Refused before anything is written where another holds it by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Why force is used; written into the ledger.
    #[serde(default)]
    pub why: Option<String>,
    /// The tool it works through.
    #[serde(default)]
    pub surface: Option<String>,
    /// Show what would be picked up; claim, register and drain nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// Lists uncut; else `has_more` names those cut.
    #[serde(default)]
    pub full: bool,
    /// Makes a retry return the same ids and baton.
    #[serde(default)]
    pub request_id: Option<String>,
}

/// What the transaction decided; kept under the request id. The bundle is built anew for every answer.
#[derive(Serialize, Deserialize, Clone, Default)]
pub struct PickupResult {
    /// The session.
    pub session_id: Option<String>,
    /// The identity that acted.
    pub identity: String,
    /// The session that left the baton.
    pub predecessor_session_id: Option<String>,
    /// The ledger entry of the pickup.
    pub pickup_delta_id: Option<String>,
    /// The baton.
    pub baton_id: Option<String>,
    /// The session whose work was recovered.
    pub recovered_session_id: Option<String>,
    /// Batons that wait for other agents.
    pub waiting_for_others: usize,
    /// The messages that waited, where the call has a request id: a retry brings the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<String>>,
    /// The pickup began the session.
    #[serde(default)]
    pub started: bool,
    /// Of a dry run: why the pickup would be refused.
    #[serde(skip)]
    pub obstacle: Option<Refusal>,
    /// It was decided for an earlier call of the same request.
    #[serde(skip)]
    pub replayed: bool,
}

impl PickupInput {
    /// The baton or hand-off that an input names.
    pub fn target_in(input: &Map<String, Value>) -> Option<&str> {
        input.get("handoff_id")?.as_str()
    }

    /// How it registers where it names no session of its own.
    pub(super) fn registration<'a>(
        &'a self,
        project_id: &'a str,
        identity: &'a str,
    ) -> SessionRegistration<'a> {
        SessionRegistration {
            project_id,
            identity,
            surface: self.surface.as_deref(),
            verb: Pickup::NAME,
            force: self.force.then_some(ReleaseReason::PreemptedByPickup),
        }
    }

    fn session_named<'a>(&'a self, env: &'a Env<'_>) -> Option<&'a str> {
        self.session.as_deref().or(env.caller.session.as_deref())
    }

    /// The request that it is, where it has an id.
    pub(super) fn request(
        &self,
        env: &Env<'_>,
        project_id: &str,
        identity: &str,
    ) -> Result<Option<Request>, Failure> {
        let who = Requester { identity, session: self.session_named(env) };
        Ok(Request::of(env, &who, (project_id, Pickup::NAME), self.request_id.as_deref(), self)?)
    }

    /// What the same request picked up before.
    pub(super) fn earlier_answer(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        request: Option<&Request>,
        (project_id, identity): (&str, &str),
    ) -> Result<Option<PickupResult>, Failure> {
        let Some(mut picked) = request::earlier_answer_of::<PickupResult>(tx, request)? else {
            return Ok(None);
        };
        picked.replayed = true;
        if let (Some(id), None) = (&picked.session_id, self.session_named(env)) {
            let known = resolve::session_by_id(tx, project_id, id)?;
            resume_registered(tx, env, &self.registration(project_id, identity), known)?;
        }
        Ok(Some(picked))
    }
}

impl Operation for Pickup {
    const META: Meta =
        Meta::write("hd_exec", "Pick up a baton: continue another agent's work with its context and duty")
            .opens_session()
            .shows_on_dry_run()
            .changes_tasks()
            .needs_file_lock();
    type Input = PickupInput;
    type Output = PickupOutput;

    fn run(input: PickupInput, cx: &mut Cx<'_>) -> Result<PickupOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        if let Some(handoff) = pickup_handoff::find_handoff(cx.store, &input, &project_id)? {
            return pickup_handoff::accept(&input, cx, &handoff, &identity);
        }
        let Cx { store, env } = cx;
        let mut files = UncommittedFiles::default();
        let picked = if input.dry_run {
            store.read(|tx| preview(tx, env, &input, &project_id, &identity))?
        } else {
            let marks = UncommittedMarks::read(env, &mut files);
            store.write(&[&project_id], |tx| pick(tx, env, (&input, &marks), &project_id, &identity))?
        };
        let mut bundle = store
            .read(|tx| pickup_bundle::read(tx, env, &project_id, &picked, (input.dry_run, input.full)))?;
        bundle.location = work_search::of_bundle(cx, &bundle, &mut files)?;
        waiting_changes::name_place(&mut bundle, cx.env.host);
        waiting_changes::note_root(cx, &bundle)?;
        applied_changes::name_applied(cx, &mut bundle)?;
        carried_operations::name_operations(cx, &mut bundle);
        Ok(bundle)
    }
}

pub(super) fn preview(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &PickupInput,
    project_id: &str,
    identity: &str,
) -> Result<PickupResult, Failure> {
    if baton_store::project::get(tx, project_id)?.is_none() {
        return Err(resolve::no_project_refusal(project_id).into());
    }
    let decision = decide(tx, env, input, project_id, identity)?;
    if let Some(own) = decision.holding_session() {
        return repeat_answer(tx, own, &decision);
    }
    let recovered = decision.taken_from().or(decision.session_to_recover.clone());
    Ok(PickupResult {
        identity: decision.registration.identity(),
        predecessor_session_id: recovered
            .as_ref()
            .or(decision.predecessor.as_ref())
            .map(|s| s.session_id.clone()),
        baton_id: decision.baton.as_ref().map(|b| b.baton_id.clone()),
        recovered_session_id: recovered.map(|s| s.session_id),
        waiting_for_others: decision.waiting_for_others,
        obstacle: decision.obstacle,
        ..PickupResult::default()
    })
}

pub(super) fn pick(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (input, marks): (&PickupInput, &UncommittedMarks),
    project_id: &str,
    identity: &str,
) -> Result<PickupResult, Failure> {
    resolve::require(tx, project_id)?;
    let request = input.request(env, project_id, identity)?;
    if let Some(picked) = input.earlier_answer(tx, env, request.as_ref(), (project_id, identity))? {
        return Ok(picked);
    }
    let decision = decide(tx, env, input, project_id, identity)?;
    if let Some(own) = decision.holding_session() {
        session::beat(tx, own, Pickup::NAME, env.now)?;
        let mut picked = repeat_answer(tx, own, &decision)?;
        keep(tx, env, request.as_ref(), project_id, &mut picked)?;
        return Ok(picked);
    }
    let holder = decision.taken_from();
    let (mut own, is_new) = match decision.registration {
        RegistrationOutcome::Existing(session) => (session, false),
        RegistrationOutcome::New(mut session, replaced) => {
            replace(tx, env, &mut session, replaced, input.why.as_deref())?;
            (session, true)
        }
    };
    let before = holder.clone().or(decision.predecessor.clone());
    let ousted = YieldingSessions {
        predecessor: decision.predecessor.as_ref().zip(decision.predecessor_yields),
        claim: decision.claim.as_ref(),
    };
    release_yielding(tx, env, &ousted, &own, input.why.as_deref())?;
    let recovered = match (&decision.baton, &decision.session_to_recover) {
        (None, None) => recoverable(tx, env, project_id, (Some(&own.session_id), input.full))?.0,
        (None, Some(named)) => brought_with(tx, env, named, Some(&own.session_id))?,
        (Some(_), _) => Vec::new(),
    };
    for silent in &recovered {
        preempt(tx, env, silent, &own, ReleaseReason::Stale, input.why.as_deref())?;
    }
    take(tx, env, &mut own, before.as_ref(), decision.baton.as_ref())?;
    pass_on(tx, env, &decision.accepted, before.as_ref().zip(decision.baton.as_ref()), &own)?;
    working_copy::save(tx, env, with_verb(&mut own, is_new, (&decision.baton, &recovered)), is_new)?;
    let body = pickup_body(env, (input, marks), &own, (before.as_ref(), decision.baton.as_ref(), &recovered));
    let pickup = append_json(tx, env, &Author::session(&own), Kind::Pickup, &body)?.delta_id;
    let mut picked = PickupResult {
        session_id: Some(own.session_id),
        identity: own.identity,
        predecessor_session_id: before.map(|s| s.session_id),
        pickup_delta_id: Some(pickup),
        baton_id: decision.baton.map(|b| b.baton_id),
        recovered_session_id: holder.or(decision.session_to_recover).map(|s| s.session_id),
        waiting_for_others: decision.waiting_for_others,
        started: is_new,
        ..PickupResult::default()
    };
    keep(tx, env, request.as_ref(), project_id, &mut picked)?;
    Ok(picked)
}

/// Keeps a decision for a retry of its request, with the messages that wait now: the first answer counts as delivered even where it
/// never reached its caller, and a retry has to bring the same.
pub(super) fn keep(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    request: Option<&Request>,
    project_id: &str,
    picked: &mut PickupResult,
) -> Result<(), Failure> {
    if request.is_none() {
        return Ok(());
    }
    let waiting = message::pending(tx, project_id, &picked.identity, env.now)?;
    picked.messages = Some(waiting.into_iter().map(|message| message.message_id).collect());
    request::keep(tx, env, request, &*picked)
}

/// Who has to yield to a pickup.
struct YieldingSessions<'a> {
    predecessor: Option<(&'a Session, ReleaseReason)>,
    claim: Option<&'a ClaimOutcome>,
}

fn release_yielding(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    ousted: &YieldingSessions<'_>,
    by: &Session,
    why: Option<&str>,
) -> Result<(), Failure> {
    if let Some((session, reason)) = ousted.predecessor {
        preempt(tx, env, session, by, reason, why)?;
    }
    match ousted.claim {
        Some(ClaimOutcome::Forced(session)) => {
            preempt(tx, env, session, by, ReleaseReason::PreemptedByPickup, why)
        }
        Some(ClaimOutcome::Recovered(session)) => preempt(tx, env, session, by, ReleaseReason::Stale, why),
        _ => Ok(()),
    }
}

/// The picker becomes the holder, and inherits thread and accounting. It is not written yet.
fn take(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    own: &mut Session,
    before: Option<&Session>,
    found: Option<&Baton>,
) -> Result<(), Failure> {
    own.heartbeat_at = env.now;
    if let Some(before) = before {
        own.inherited_from = Some(before.session_id.clone());
        own.picked_up_session_id = Some(before.session_id.clone());
        own.thread_id.clone_from(&before.thread_id);
    }
    let Some(found) = found else { return Ok(()) };
    own.thread_id.clone_from(&found.thread_id);
    // A reconnect has brought it along already.
    let has_it = own.baton_id.replace(found.baton_id.clone()).as_ref() == Some(&found.baton_id);
    if has_it {
        return Ok(());
    }
    update_baton(tx, &found.held_by(&own.session_id, env.now))
}

fn pickup_body(
    env: &Env<'_>,
    (input, marks): (&PickupInput, &UncommittedMarks),
    own: &Session,
    (before, found, recovered): (Option<&Session>, Option<&Baton>, &[Session]),
) -> Value {
    let mut body = json!({
        "predecessor_session_id": before.map(|s| &s.session_id),
        "inherited_from_wrap_delta_id": found.map(|b| &b.baton_id),
        "picker_identity": own.identity,
        "picked_up_at": rfc3339(env.now),
    });
    note_beginning(env, marks, own, &mut body);
    if input.force {
        body["forced"] = json!(true);
        body["why"] = json!(input.why);
    }
    name_recovered(body, recovered)
}

/// Releases a session that has to yield; one that was preempted by force gets a signal that names its successor.
pub(super) fn preempt(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    who: &Session,
    by: &Session,
    reason: ReleaseReason,
    why: Option<&str>,
) -> Result<(), Failure> {
    let yields = |who: &Session| who.is_open() && who.session_id != by.session_id;
    let known = session::get(tx, &who.project_id, &who.session_id)?.filter(yields);
    let Some(mut who) = known else { return Ok(()) };
    release(
        tx,
        env,
        &mut who,
        &Releaser { identity: &by.identity, reason, why, successor: Some(&by.session_id) },
    )?;
    if reason != ReleaseReason::PreemptedByPickup {
        return Ok(());
    }
    notify(tx, env, &who, &by.identity, why)
}

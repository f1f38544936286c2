//! `session_start`: begin fresh work.

use baton_model::accounting::Remark;
use baton_model::delta::Kind;
use baton_model::session::{ReleaseReason, Session};
use baton_store::{Failure, Tx, delta, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::left_work::{inherited_remark, left_remarks, prefetch_left};
use super::prior_changes::{UncommittedFiles, UncommittedMarks, note_beginning};
use super::shared_copy::shared_copy;
use super::{
    RegistrationOutcome, SessionRegistration, admit_session, replace, resume_registered, working_copy,
};
use crate::card::Card;
use crate::idempotency::replay::{self, Replay};
use crate::idempotency::request::{self, Request, Requester};
use crate::ledger::{Author, append_json};
use crate::message::remind;
use crate::op::{Cx, Env, Meta, Operation};
use crate::{card, resolve};

/// Begins fresh work.
pub struct Start;

/// Input of `session_start`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity to work under.
    #[serde(default)]
    pub identity: Option<String>,
    /// The tool it works through: `claude_code`, `codex`, `human`, …
    #[serde(default)]
    pub surface: Option<String>,
    /// Release another active session of the same identity.
    #[serde(default)]
    pub force: bool,
    /// Why force is used; written into the ledger.
    #[serde(default)]
    pub why: Option<String>,
    /// Makes a retry return the same session.
    #[serde(default)]
    pub request_id: Option<String>,
}

/// Answer of `session_start`.
#[derive(Serialize, Deserialize)]
pub struct StartOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The session.
    pub session_id: String,
    /// The ledger entry that records it.
    pub delta_id: Option<String>,
    /// Whether it is the session that the caller had already.
    pub resumed: bool,
    /// Marks the answer of a repeated request.
    #[serde(flatten)]
    pub replay: Replay,
    /// The card's reminders, under the name that they have in a pickup.
    pub rules_reminders: Vec<Remark>,
    /// What the project card shows.
    #[serde(flatten)]
    pub card: Card,
}

impl Operation for Start {
    const META: Meta =
        Meta::write("session_start", "Begin fresh work in a project").opens_session().changes_tasks();
    type Input = StartInput;
    type Output = StartOutput;

    fn run(input: StartInput, cx: &mut Cx<'_>) -> Result<StartOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let marks = UncommittedMarks::read(env, &mut UncommittedFiles::default());
        let begun =
            store.write(&[&project_id], |tx| begin(tx, env, (&input, &marks), &project_id, &identity))?;
        let now = env.now;
        let (card, replay) = store.read(|tx| {
            let replay = match begun.replayed {
                true => {
                    Replay::of(replay::of_session(tx, env, &project_id, (&begun.session.session_id, None))?)
                }
                false => Replay::default(),
            };
            let whose = (project_id.as_str(), Some(begun.session.identity.as_str()));
            let mut card = card::read_with(tx, env, whose, |tx| prefetch_left(tx, &project_id, now))?;
            let left = left_remarks(tx, env, &project_id, &card)?;
            card.reminders.extend(left);
            card.reminders.extend(inherited_remark(tx, &begun.session)?);
            card.reminders.extend(remind(tx, &project_id, &begun.session.identity, env.now)?);
            let own = &begun.session;
            let shared = shared_copy(
                own.working_copy.as_ref(),
                &own.location.machine,
                Some(&own.session_id),
                &card.sessions,
            );
            card.reminders.extend(shared);
            Ok((card, replay))
        })?;
        Ok(StartOutput {
            project_id,
            resumed: begun.resumed && !replay.is_over(),
            identity: begun.session.identity,
            session_id: begun.session.session_id,
            delta_id: begun.delta_id,
            replay,
            rules_reminders: card.reminders.clone(),
            card,
        })
    }
}

/// What is kept for a retry; the card is read anew.
#[derive(Serialize, Deserialize)]
pub struct StartRecord {
    /// The session.
    pub session_id: String,
    /// The ledger entry that records it.
    pub delta_id: Option<String>,
}

struct SessionStart {
    session: Session,
    /// Its first delta.
    delta_id: Option<String>,
    /// It was there before.
    resumed: bool,
    /// It was begun for an earlier call of the same request.
    replayed: bool,
}

fn begin(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (input, marks): (&StartInput, &UncommittedMarks),
    project_id: &str,
    identity: &str,
) -> Result<SessionStart, Failure> {
    resolve::require(tx, project_id)?;
    let scope = (project_id, Start::NAME);
    let who = Requester::identity(identity);
    let request = Request::of(env, &who, scope, input.request_id.as_deref(), input)?;
    let spec = SessionRegistration {
        project_id,
        identity,
        surface: input.surface.as_deref(),
        verb: Start::NAME,
        force: input.force.then_some(ReleaseReason::Operator),
    };
    if let Some(first) = request::earlier_answer_of::<StartRecord>(tx, request.as_ref())? {
        let session = resolve::session_by_id(tx, project_id, &first.session_id)?;
        let session = resume_registered(tx, env, &spec, session)?;
        return Ok(SessionStart { session, delta_id: first.delta_id, resumed: true, replayed: true });
    }
    match admit_session(tx, env, &spec)? {
        RegistrationOutcome::Existing(mut own) => {
            own.heartbeat_at = env.now;
            Start::NAME.clone_into(&mut own.last_verb);
            session::put(tx, &own)?;
            working_copy::refresh(tx, env, &mut own)?;
            let first =
                delta::of_session(tx, project_id, &own.session_id)?.into_iter().next().map(|d| d.delta_id);
            let answer = StartRecord { session_id: own.session_id.clone(), delta_id: first.clone() };
            request::keep(tx, env, request.as_ref(), &answer)?;
            Ok(SessionStart { session: own, delta_id: first, resumed: true, replayed: false })
        }
        RegistrationOutcome::New(mut new, replaced) => {
            replace(tx, env, &mut new, replaced, input.why.as_deref())?;
            session::insert(tx, &new)?;
            working_copy::note_root(tx, env, project_id)?;
            let body = start_body(env, &new, (input, marks));
            let delta = append_json(tx, env, &Author::session(&new), Kind::Start, &body)?;
            let answer =
                StartRecord { session_id: new.session_id.clone(), delta_id: Some(delta.delta_id.clone()) };
            request::keep(tx, env, request.as_ref(), &answer)?;
            Ok(SessionStart { session: new, delta_id: Some(delta.delta_id), resumed: false, replayed: false })
        }
    }
}

fn start_body(env: &Env<'_>, session: &Session, (input, marks): (&StartInput, &UncommittedMarks)) -> Value {
    let mut body =
        json!({ "surface": session.surface, "started_at": baton_model::time::rfc3339(session.started_at) });
    note_beginning(env, marks, session, &mut body);
    if input.force {
        body["forced"] = json!(true);
        body["why"] = json!(input.why);
    }
    body
}

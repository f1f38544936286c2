//! `session_start`: begin fresh work.

use baton_model::accounting::Remark;
use baton_model::delta::Kind;
use baton_model::session::{ReleaseReason, Session};
use baton_store::{Failure, Tx, delta, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Registered, Registration, again, register, replace};
use crate::card::Card;
use crate::ledger::{Author, append_json};
use crate::message::remind;
use crate::op::{Access, Cx, Env, Operation};
use crate::replay::{self, Replay};
use crate::request::{self, Request, Requester};
use crate::{card, resolve};

/// Begins fresh work.
pub(crate) struct Start;

/// Input of `session_start`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Identity to work under.
    #[serde(default)]
    identity: Option<String>,
    /// The tool it works through: `claude_code`, `codex`, `human`, …
    #[serde(default)]
    surface: Option<String>,
    /// Release another active session of the same identity.
    #[serde(default)]
    force: bool,
    /// Why force is used; written into the ledger.
    #[serde(default)]
    why: Option<String>,
    /// Makes a retry return the same session.
    #[serde(default)]
    request_id: Option<String>,
}

/// Answer of `session_start`.
#[derive(Serialize)]
pub(crate) struct Output {
    project_id: String,
    identity: String,
    session_id: String,
    delta_id: Option<String>,
    resumed: bool,
    #[serde(flatten)]
    replay: Replay,
    /// The card's reminders, under the name that they have in a pickup.
    rules_reminders: Vec<Remark>,
    #[serde(flatten)]
    card: Card,
}

impl Operation for Start {
    const NAME: &'static str = "session_start";
    const DOC: &'static str = "Begin fresh work in a project";
    const ACCESS: Access = Access::Write;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let begun = store.write(&[&project_id], |tx| begin(tx, env, &input, &project_id, &identity))?;
        let (card, replay) = store.read(|tx| {
            let replay = match begun.replayed {
                true => {
                    Replay::of(replay::of_session(tx, env, &project_id, (&begun.session.session_id, None))?)
                }
                false => Replay::default(),
            };
            let mut card = card::read(tx, env, &project_id)?;
            card.reminders.extend(remind(tx, &project_id, &begun.session.identity, env.now)?);
            Ok((card, replay))
        })?;
        Ok(Output {
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
struct First {
    session_id: String,
    delta_id: Option<String>,
}

struct Begun {
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
    input: &Input,
    project_id: &str,
    identity: &str,
) -> Result<Begun, Failure> {
    resolve::require(tx, project_id)?;
    let scope = (project_id, Start::NAME);
    let who = Requester::identity(identity);
    let request = Request::of(env, &who, scope, input.request_id.as_deref(), input)?;
    let wish = Registration {
        project_id,
        identity,
        surface: input.surface.as_deref(),
        verb: Start::NAME,
        force: input.force.then_some(ReleaseReason::Operator),
    };
    if let Some(first) = request::answered::<First>(tx, request.as_ref())? {
        let session = resolve::session_by_id(tx, project_id, &first.session_id)?;
        let session = again(tx, env, &wish, session)?;
        return Ok(Begun { session, delta_id: first.delta_id, resumed: true, replayed: true });
    }
    match register(tx, env, &wish)? {
        Registered::Same(mut own) => {
            own.heartbeat_at = env.now;
            Start::NAME.clone_into(&mut own.last_verb);
            session::put(tx, &own)?;
            let first =
                delta::of_session(tx, project_id, &own.session_id)?.into_iter().next().map(|d| d.delta_id);
            let answer = First { session_id: own.session_id.clone(), delta_id: first.clone() };
            request::keep(tx, env, request.as_ref(), &answer)?;
            Ok(Begun { session: own, delta_id: first, resumed: true, replayed: false })
        }
        Registered::New(mut new, replaced) => {
            replace(tx, env, &mut new, replaced, input.why.as_deref())?;
            session::insert(tx, &new)?;
            let body = start_body(&new, input);
            let delta = append_json(tx, env, &Author::session(&new), Kind::Start, &body)?;
            let answer = First { session_id: new.session_id.clone(), delta_id: Some(delta.delta_id.clone()) };
            request::keep(tx, env, request.as_ref(), &answer)?;
            Ok(Begun { session: new, delta_id: Some(delta.delta_id), resumed: false, replayed: false })
        }
    }
}

fn start_body(session: &Session, input: &Input) -> Value {
    let mut body =
        json!({ "surface": session.surface, "started_at": baton_model::time::rfc3339(session.started_at) });
    if input.force {
        body["forced"] = json!(true);
        body["why"] = json!(input.why);
    }
    body
}

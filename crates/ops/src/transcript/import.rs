//! `transcript_import`: make a baton of a session whose agent never said goodbye.

use baton_model::delta::Kind;
use baton_model::id::{check_identity, check_label};
use baton_model::packet::Sealed;
use baton_model::session::{Place, Release, ReleaseReason, Session};
use baton_store::{Failure, Tx, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::find::Meant;
use super::read::{Wish, read};
use crate::bearer;
use crate::ledger::{Author, append_json};
use crate::op::{Access, Cx, Env, Operation, Reach};
use crate::request::Request;
use crate::resolve;
use crate::session::{Address, leave};

/// Imports a transcript as a baton.
pub(crate) struct Import;

/// Input of `transcript_import`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Identity that the work is put under; else the name of the tool.
    #[serde(default)]
    identity: Option<String>,
    /// Session id, a unique prefix of one, `latest`, or a path.
    id: String,
    /// The tool that wrote it.
    #[serde(default)]
    agent: Option<String>,
    /// A summary in place of the one made from the facts.
    #[serde(default)]
    summary: Option<String>,
    /// Only this identity is offered the baton.
    #[serde(default)]
    to: Option<String>,
    /// Only this role is offered the baton.
    #[serde(default)]
    role: Option<String>,
}

/// Answer of `transcript_import`.
#[derive(Serialize, Deserialize, Clone)]
pub(crate) struct Output {
    project_id: String,
    identity: String,
    pub(super) session_id: String,
    delta_id: String,
    pub(super) baton_id: String,
    pub(super) transcript_id: String,
    pub(super) agent: String,
    pub(super) summary: String,
    pub(super) imported_before: bool,
}

impl Operation for Import {
    const NAME: &'static str = "transcript_import";
    const DOC: &'static str = "Make a baton of a session whose agent never wrapped";
    const ACCESS: Access = Access::Write;
    const REACH: Reach = Reach::Disk;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        cx.store.read(|tx| resolve::known(tx, &project_id))?;
        let (summary, project) = (input.summary.clone(), input.project.clone());
        let wish = Wish { summary, project, ..Wish::of(&input.id, input.agent.as_deref()) };
        let (meant, packet) = read(cx, &wish)?;
        let named = input.identity.as_deref().or(cx.env.caller.identity.as_deref());
        // A token that is bound to identities imports as one of these, whichever tool it was.
        let is_bound = cx.env.caller.grant.bearer.as_ref().is_some_and(|bearer| bearer.identities.is_some());
        let usual = Some(meant.format.id()).filter(|_| !is_bound);
        let identity = resolve::identity(cx.env.caller, named.or(usual))?;
        let to = Address { identity: input.to.as_deref(), role: input.role.as_deref() };
        input.to.iter().try_for_each(|name| check_identity(name))?;
        input.role.iter().try_for_each(|role| check_label("role", role))?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            import(tx, env, &meant, &packet, (&project_id, &identity, &to), &key(&meant))
        })
    }
}

/// The same file in the same state is imported once: its size and last entry are part of the key.
pub(super) fn key(meant: &Meant) -> String {
    let id: String = meant.header.id.chars().take(40).collect();
    format!("t:{id}:{}:{}", meant.header.bytes, meant.header.updated_at_ms.unwrap_or_default() % 1_000_000)
}

/// Leaves a baton for the session in a transcript, or gives back the one left under the same key.
pub(super) fn import(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    meant: &Meant,
    packet: &Sealed,
    (project_id, identity, to): (&str, &str, &Address<'_>),
    key: &str,
) -> Result<Output, Failure> {
    let request = Request::of_content(project_id, Import::NAME, key);
    if let Some(known) = request.answered::<Output>(tx)? {
        return Ok(Output { imported_before: true, ..known });
    }
    let own = over_session(env, meant, project_id, identity);
    session::insert(tx, &own)?;
    let body = json!({
        "summary": format!("imported from {} session {}", meant.format.title(), meant.header.id),
        "surface": own.surface, "transcript_id": meant.header.id,
    });
    append_json(tx, env, &Author::session(&own), Kind::Start, &body)?;
    let left = leave(tx, env, &own, packet, to)?;
    // Registering writes no release: the session is over from here on.
    session::put(tx, &own)?;
    let output = Output {
        project_id: project_id.to_owned(),
        identity: own.identity,
        session_id: own.session_id,
        delta_id: left.delta_id.clone(),
        baton_id: left.delta_id,
        transcript_id: meant.header.id.clone(),
        agent: meant.format.id().to_owned(),
        summary: left.summary,
        imported_before: false,
    };
    request.keep(tx, env.now, &output)?;
    Ok(output)
}

/// A session that is over as soon as it is registered: it stands for the one in the transcript.
fn over_session(env: &mut Env<'_>, meant: &Meant, project_id: &str, identity: &str) -> Session {
    let session_id = env.id();
    Session {
        project_id: project_id.to_owned(),
        thread_id: session_id.clone(),
        session_id,
        identity: identity.to_owned(),
        surface: meant.format.id().to_owned(),
        place: Place::default(),
        started_at: env.now,
        heartbeat_at: env.now,
        last_verb: Import::NAME.to_owned(),
        release: Some(Release {
            at: env.now,
            reason: ReleaseReason::Wrapped,
            by: identity.to_owned(),
            successor: None,
        }),
        inherited_from: None,
        picked_up_session_id: None,
        opened_by: bearer::token_id(env),
        stale_after: env.limits.stale_after,
        baton_id: None,
    }
}

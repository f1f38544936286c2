//! `session_reassign`: make the hand-off of a session that does not do so itself, and address it.

use baton_model::access::Scope;
use baton_model::delta::Delta;
use baton_model::id::{check_identity, identity_key, is_shared_name, short};
use baton_model::packet::ValidatedPacket;
use baton_model::packet_from_ledger::{self, AgentPresence};
use baton_model::refusal::{self, Refusal};
use baton_model::session::{ReleaseReason, Session};
use baton_model::suggest::suggestions;
use baton_store::{Failure, Tx, baton, delta, session, state};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::brought_work::{left_by, recovered_by};
use super::checkpoint::task_key;
use super::recovery::holders;
use super::{Address, Releaser, leave, notify, release, spend};
use crate::changes::{EarlierChanges, after_wrap, find_applied};
use crate::force_request::require_holder;
use crate::op::{Cx, Env, Meta, Operation};
use crate::{agent, resolve, token_rights};

/// Reassigns a session.
pub struct Reassign;

/// Input of `session_reassign`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReassignInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that reassigns.
    #[serde(default)]
    pub identity: Option<String>,
    /// The session, by its id or a unique prefix of it.
    pub session: String,
    /// The identity or tool that is to continue.
    pub to: String,
    /// Address it though no identity of that name is known yet: the baton waits for it.
    #[serde(default)]
    pub wait: bool,
    /// Whose session it is, as the caller knows. It is refused before anything is written where it is another's.
    #[serde(default)]
    pub holder: Option<String>,
    /// Why; written into the ledger.
    #[serde(default)]
    pub why: Option<String>,
}

/// Answer of `session_reassign`.
#[derive(Serialize, Deserialize)]
pub struct ReassignOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The session.
    pub session_id: String,
    /// The ledger entry that records it.
    pub delta_id: String,
    /// The baton.
    pub baton_id: String,
    /// Who it is for.
    pub to: String,
    /// What happened, in a sentence.
    pub summary: String,
    /// What became of changes that came with the session's own baton and those before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_changes: Vec<EarlierChanges>,
}

impl Operation for Reassign {
    const META: Meta = Meta::write(
        "session_reassign",
        "Leave a session's baton in its place, release it, and address that baton",
    )
    .changes_tasks();
    type Input = ReassignInput;
    type Output = ReassignOutput;

    fn run(input: ReassignInput, cx: &mut Cx<'_>) -> Result<ReassignOutput, Failure> {
        check_identity(&input.to)?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let applied = store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let given = session_to_reassign(tx, env, &project_id, &input)?;
            find_applied(tx, env, &given, None)
        })?;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            let mut given = session_to_reassign(tx, env, &project_id, &input)?;
            if !input.wait {
                require_known(tx, (&project_id, &given.session_id), &input.to)?;
            }
            let packet = gather_packet(tx, &given, AgentPresence::Away)?;
            check_size(&packet, &given, &input.to)?;
            let to = Address { identity: Some(&input.to), role: None };
            let left = leave(tx, env, &given, &packet, &to)?;
            spend(tx, &given, &left.delta_id)?;
            let earlier_changes = after_wrap(tx, env, (&given, &applied), &left.delta_id, false)?;
            let by = Releaser {
                identity: &identity,
                reason: ReleaseReason::Operator,
                why: input.why.as_deref(),
                successor: None,
            };
            release(tx, env, &mut given, &by)?;
            if identity_key(&identity) != identity_key(&given.identity) {
                notify(tx, env, &given, &identity, input.why.as_deref())?;
            }
            Ok(ReassignOutput {
                project_id: project_id.clone(),
                identity: identity.clone(),
                session_id: given.session_id,
                delta_id: left.delta_id.clone(),
                baton_id: left.delta_id,
                to: input.to.clone(),
                summary: left.summary,
                earlier_changes,
            })
        })
    }
}

/// The session that is meant, where the caller may end it.
fn session_to_reassign(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    input: &ReassignInput,
) -> Result<Session, Failure> {
    let given = resolve::session_by_id(tx, project_id, &input.session)?;
    if !token_rights::may_act_in(env, &given) {
        // Ending another caller's session needs the scope operator, as an explicit force does.
        env.caller.grant.require(Scope::Operator)?;
    }
    let what = format!("session {}", short(&given.session_id));
    require_holder(&what, input.holder.as_deref(), Some(&given.identity))?;
    match given.is_open() {
        true => Ok(given),
        false => Err(session_over_refusal(&given).into()),
    }
}

/// Refuses a name that no agent of the project has had and that is no tool's: a baton would wait for a misspelt name.
fn require_known(tx: &mut Tx<'_>, (project_id, session_id): (&str, &str), to: &str) -> Result<(), Failure> {
    if is_shared_name(to)
        || baton_tools::by_name(to).is_some()
        || agent::first_name(tx, project_id, to)?.is_some()
    {
        return Ok(());
    }
    let names = agent::known_names(tx, project_id)?;
    let similar = suggestions(to, names.iter().map(String::as_str));
    let wait = format!("`baton reassign {} --to {to} --wait` has the baton wait for them", short(session_id));
    let hint = match similar.as_slice() {
        [] => format!("check the name with `baton agent list --all`; {wait}"),
        near => format!("did you mean {}? Else {wait}", near.join(" or ")),
    };
    let what = format!("nobody called {to} has registered or worked in project {project_id}");
    Err(Refusal::new(refusal::Kind::NotFound, "recipient_unknown", what, hint)
        .with("near", json!(similar))
        .into())
}

fn session_over_refusal(session: &Session) -> Refusal {
    Refusal::new(
        refusal::Kind::Conflict,
        "session_released",
        format!("session {} of {} is over already", session.session_id, session.identity),
        "`baton status` lists the batons that wait",
    )
    .with("session_id", session.session_id.clone())
}

/// The packet that the session's baton, the deltas of all who held that, and their states amount to. It may be of any size.
pub(super) fn gather_packet(
    tx: &mut Tx<'_>,
    of: &Session,
    presence: AgentPresence,
) -> Result<ValidatedPacket, Failure> {
    let deltas = delta::of_session(tx, &of.project_id, &of.session_id)?;
    gather_with(tx, (of, presence), &deltas)
}

/// The packet that a session took over, and what its agent saved and said since: what the transcript does not hold. Nothing where
/// there is neither.
pub(crate) fn entrusted_packet(tx: &mut Tx<'_>, of: &Session) -> Result<Option<ValidatedPacket>, Failure> {
    let mut deltas = delta::of_session(tx, &of.project_id, &of.session_id)?;
    deltas.retain(|delta| !packet_from_ledger::is_capture(delta));
    let recovered = recovered_by(&deltas);
    if of.baton_id.is_none() && recovered.is_empty() && !packet_from_ledger::is_saved(&deltas) {
        return Ok(None);
    }
    gather_with(tx, (of, AgentPresence::Away), &deltas).map(Some)
}

/// The packet that goes on where a baton is left anew in the place of its last holder: what the last of its holders left who saved
/// something, on top of the packet that it took over. Nothing where none of them did: then the baton is as it was.
pub(crate) fn saved_packet(tx: &mut Tx<'_>, of: &Session) -> Result<Option<ValidatedPacket>, Failure> {
    let Some(baton_id) = &of.baton_id else { return Ok(None) };
    for holder in holders(tx, (&of.project_id, baton_id), &of.session_id)?.iter().rev() {
        let left = left_by(tx, holder)?;
        if packet_from_ledger::is_saved(&left) || !recovered_by(&left).is_empty() {
            return entrusted_packet(tx, holder);
        }
    }
    Ok(None)
}

fn gather_with(
    tx: &mut Tx<'_>,
    (of, presence): (&Session, AgentPresence),
    deltas: &[Delta],
) -> Result<ValidatedPacket, Failure> {
    let held = match &of.baton_id {
        Some(id) => baton::get(tx, &of.project_id, id)?.zip(delta::get(tx, &of.project_id, id)?),
        None => None,
    };
    let mut packet = None;
    if let Some((baton, wrap)) = held {
        packet = ValidatedPacket::parse_stored(wrap.body).ok();
        for before in holders(tx, (&of.project_id, &baton.baton_id), &of.session_id)? {
            let deltas = left_by(tx, &before)?;
            if before.session_id != of.session_id && packet_from_ledger::is_saved(&deltas) {
                packet = Some(add_holder(tx, (&before, AgentPresence::Away), &deltas, packet.as_ref())?);
            }
        }
    }
    // After the next wrap, no pickup brings what this one brought without a baton.
    for id in recovered_by(deltas) {
        let Some(before) = session::get(tx, &of.project_id, &id)? else { continue };
        let saved = left_by(tx, &before)?;
        packet = Some(add_holder(tx, (&before, AgentPresence::Away), &saved, packet.as_ref())?);
    }
    add_holder(tx, (of, presence), deltas, packet.as_ref())
}

/// What one holder left, on top of the packet that it had taken over.
fn add_holder(
    tx: &mut Tx<'_>,
    (of, presence): (&Session, AgentPresence),
    deltas: &[Delta],
    inherited: Option<&ValidatedPacket>,
) -> Result<ValidatedPacket, Failure> {
    let state = state::get(tx, &of.project_id, &of.identity, &task_key(of))?;
    let state: Option<Value> =
        state.filter(|s| s.session_id == of.session_id).and_then(|s| serde_json::from_str(&s.body).ok());
    let state = state.or_else(|| packet_from_ledger::last_state(deltas));
    Ok(packet_from_ledger::packet((of, presence), deltas, state, inherited)?)
}

/// A packet that is too large to be stored is refused, and nothing of it is cut.
fn check_size(packet: &ValidatedPacket, of: &Session, to: &str) -> Result<(), Refusal> {
    let hint = match &of.baton_id {
        Some(baton) => {
            format!("{to} takes over all of it with `baton pickup --handoff {baton} --force --why REASON`")
        }
        None => format!("`baton handoff from-session {}` shows all of it", of.session_id),
    };
    packet.check_stored_size().map_err(|refusal| Refusal { hint, ..refusal })
}

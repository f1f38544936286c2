//! `handoff_show`: one hand-off, or one baton, with its packet, for who asks for it by its id. That its sender has seen how it came
//! back is written afterwards, by `handoff_seen`.

use baton_model::baton::{Baton, State};
use baton_model::handoff;
use baton_model::refusal;
use baton_model::session::Session;
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx, baton, delta, handoff_step, memory, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::conversation::{self, IssueConversation, Shown};
use super::details::HandoffDetails;
use super::linked_documents::{LinkedDocumentSummary, summaries};
use super::{Row, by_id, claimant, isolation, unknown_refusal};
use crate::baton::{Spending, spending};
use crate::card::{WaitingKind, nobody_there, viewer_key};
use crate::op::{Cx, Env, Meta, Operation};
use crate::ownership::is_at_work;
use crate::project::carried_here;
use crate::resolve;

/// Shows a hand-off.
pub struct Show;

/// Input of `handoff_show`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// Id of a hand-off or of a baton, or a unique prefix of one.
    pub id: String,
    /// Project in which a baton is looked for; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that looks: a hand-off that came back to it needs no attention any more.
    #[serde(default)]
    pub identity: Option<String>,
    /// Say what the one who looks can do with a hand-off.
    #[serde(default)]
    pub actions: bool,
    /// All that people said under its issue, and not the newest alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
}

/// Answer of `handoff_show`: the hand-off with its packet as text.
#[derive(Serialize, Deserialize)]
pub struct ShowOutput {
    /// The project.
    pub project_id: String,
    /// The hand-off.
    #[serde(flatten)]
    pub handoff: HandoffOrBaton,
    /// The hand-off packet.
    pub packet: Option<String>,
    /// What the sender wrote besides the packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where the work comes from, and the documents that its sender named.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub links: Map<String, Value>,
    /// Those documents, and how much of each goes along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<LinkedDocumentSummary>,
    /// The note that came with it.
    pub note: Option<crate::memory::View>,
    /// What people said and changed under its issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<IssueConversation>,
    /// Why no agent can take an offer yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_missing: Option<String>,
}

/// What an id of `handoff_show` names.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum HandoffOrBaton {
    /// A baton, in the words of a hand-off.
    Baton(Box<BatonRow>),
    /// A hand-off.
    Handoff(Box<Row>),
}

/// A baton in the words of a hand-off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatonRow {
    /// Its id.
    #[serde(default)]
    pub baton_id: String,
    /// The same, for who asked for a hand-off.
    pub handoff_id: String,
    /// That it is a baton.
    pub kind: WaitingKind,
    /// Where it stands.
    pub state: State,
    /// Why it is spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spending>,
    /// First line of the packet's summary.
    pub subject: String,
    /// The project.
    pub from_project_id: String,
    /// The same project.
    pub to_project_id: String,
    /// The identity that wrapped.
    pub from_identity: String,
    /// The identity it is addressed to.
    pub to_identity: Option<String>,
    /// The role it is addressed to.
    pub to_role: Option<String>,
    /// Who holds it, or held it last.
    pub holder: Option<String>,
    /// The session that left it.
    pub session_id: String,
    /// When it was left.
    pub created_at: Timestamp,
}

impl Operation for Show {
    const META: Meta =
        Meta::read("handoff_show", "Show a hand-off or a baton with its packet").shows_return();
    type Input = ShowInput;
    type Output = ShowOutput;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<ShowOutput, Failure> {
        let here = resolve::project_id(cx.store, &cx.env, input.project.as_deref()).ok();
        let Cx { store, env } = cx;
        store.read(|tx| match by_id(tx, &env.caller.grant, &input.id) {
            Err(Failure::Refused(refusal)) if refusal.kind == refusal::Kind::NotFound => {
                match here.as_deref().map(|project| find_baton(tx, env, project, &input.id)).transpose()? {
                    Some(Some(found)) => Ok(found),
                    _ => Err(refusal.into()),
                }
            }
            Err(other) => Err(other),
            Ok(handoff) => {
                let handoff = claimant::as_of_now(tx, env, handoff)?;
                if isolation::is_hidden(tx, here.as_deref(), &handoff)? {
                    return Err(unknown_refusal(&input.id).into());
                }
                let packet = Some(handoff.packet.clone()).filter(|text| !text.is_empty());
                let steps = handoff_step::of(tx, &handoff.handoff_id)?;
                let note = match &handoff.memory_id {
                    Some(id) => memory::get(tx, &handoff.to_project_id, id)?
                        .map(|note| crate::memory::View::from(&note)),
                    None => None,
                };
                let project_id = handoff.to_project_id.clone();
                let viewer = isolation::Viewer { project: here.as_deref(), grant: Some(&env.caller.grant) };
                let row = isolation::shown_to(tx, viewer, &handoff, Row::of(&handoff, &steps))?;
                let row = row.with_names(tx, &env.caller.grant)?;
                let row = match input.actions {
                    true => row.with_actions(&viewer_key(env, input.identity.as_deref()), &env.caller.grant),
                    false => row,
                };
                let details = HandoffDetails::of(&handoff);
                let documents = summaries(&details);
                let HandoffDetails { description, links, .. } = details;
                let description = Some(description).filter(|text| !text.trim().is_empty());
                let receiver_missing = match handoff.state {
                    handoff::State::Offered => nobody_there(tx, &handoff)?,
                    _ => None,
                };
                let see_all = format!("baton handoff show {} --full", handoff.handoff_id);
                let shown = Shown { project: here.as_deref(), full: input.full, see_all: &see_all };
                let conversation = conversation::of(tx, &handoff, shown)?;
                let handoff = HandoffOrBaton::Handoff(Box::new(row));
                Ok(ShowOutput {
                    project_id,
                    handoff,
                    packet,
                    description,
                    links,
                    documents,
                    note,
                    conversation,
                    receiver_missing,
                })
            }
        })
    }
}

/// The baton of this id or unique prefix, in the words of a hand-off.
fn find_baton(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    id: &str,
) -> Result<Option<ShowOutput>, Failure> {
    resolve::require_project(tx, project_id)?;
    let found = match baton::get(tx, project_id, id)? {
        Some(found) => Some(found),
        None if id.len() >= 4 && id.is_ascii() => {
            let ids = baton::by_prefix(tx, project_id, id)?;
            match ids.as_slice() {
                [one] => baton::get(tx, project_id, one)?,
                // One of a project that was merged into this one goes on here under another id.
                [] => match carried_here(tx, project_id, id)? {
                    Some(carried) => baton::get(tx, project_id, &carried)?,
                    None => None,
                },
                many => return Err(resolve::ambiguous_id_refusal("baton", id, many).into()),
            }
        }
        None => None,
    };
    let Some(found) = found else { return Ok(None) };
    let holder = match &found.holder_session_id {
        Some(id) => session::get(tx, project_id, id)?,
        None => None,
    };
    let state = found.state(holder.as_ref(), |holder| is_at_work(env, holder));
    let packet = delta::get(tx, project_id, &found.baton_id)?.map(|wrap| wrap.body);
    let row = BatonRow { spent: spending(tx, &found)?, ..baton_row(found, state, holder) };
    Ok(Some(ShowOutput {
        project_id: project_id.to_owned(),
        handoff: HandoffOrBaton::Baton(Box::new(row)),
        packet,
        description: None,
        links: Map::new(),
        documents: Vec::new(),
        note: None,
        conversation: None,
        receiver_missing: None,
    }))
}

fn baton_row(found: Baton, state: State, holder: Option<Session>) -> BatonRow {
    BatonRow {
        handoff_id: found.baton_id.clone(),
        baton_id: found.baton_id,
        kind: WaitingKind::Baton,
        state,
        spent: None,
        subject: found.summary,
        from_project_id: found.project_id.clone(),
        to_project_id: found.project_id,
        from_identity: found.identity,
        to_identity: found.to_identity,
        to_role: found.to_role,
        holder: holder.map(|holder| holder.identity),
        session_id: found.session_id,
        created_at: Timestamp(found.created_at),
    }
}

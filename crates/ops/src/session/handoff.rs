//! `session_handoff`: the hand-off document of a session: what it wrapped, else what it has left so far.

use baton_model::budget::Budget;
use baton_model::markdown::{Options, Preset, render};
use baton_model::packet::ValidatedPacket;
use baton_model::packet_from_ledger::AgentPresence;
use baton_store::{Failure, baton, delta};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::reassign::gather_packet;
use crate::op::{Cx, Meta, Operation};
use crate::ownership::is_at_work;
use crate::resolve;

/// Makes the document of a session.
pub struct SessionDocument;

/// Input of `session_handoff`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionDocumentInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The session, by its id or a unique prefix of it.
    pub session: String,
    /// The tool that is to continue.
    #[serde(default)]
    pub to: Option<String>,
    /// Size of the document: tokens (`2000`) or bytes (`2KiB`).
    #[serde(default)]
    pub budget: Option<String>,
    /// `minimal`, `standard`, `verbose` or `full`.
    #[serde(default)]
    pub preset: Option<String>,
    /// Its agent has ended, as who started it knows: the words say that it did not wrap, although the session is open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
}

/// Answer of `session_handoff`.
#[derive(Serialize, Deserialize)]
pub struct SessionDocumentOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The session.
    pub session_id: String,
    /// Whether a session was wrapped.
    pub wrapped: bool,
    /// The document.
    pub document: String,
    /// Estimated size, in tokens.
    pub tokens: usize,
    /// The hand-off packet.
    pub packet: Value,
}

impl Operation for SessionDocument {
    const META: Meta = Meta::read(
        "session_handoff",
        "Show a session's hand-off document: what it wrapped, else what it has left so far",
    );
    type Input = SessionDocumentInput;
    type Output = SessionDocumentOutput;

    fn run(input: SessionDocumentInput, cx: &mut Cx<'_>) -> Result<SessionDocumentOutput, Failure> {
        let budget = input.budget.as_deref().map(Budget::parse).transpose()?;
        let preset = input.preset.as_deref().map(Preset::parse).transpose()?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        let (of, packet, wrapped) = store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let of = resolve::session_by_id(tx, &project_id, &input.session)?;
            let left = match baton::of_session(tx, &project_id, &of.session_id)? {
                Some(left) => delta::get(tx, &project_id, &left.baton_id)?,
                None => None,
            };
            match left {
                Some(wrap) => Ok((of, ValidatedPacket::parse_stored(wrap.body)?, true)),
                None => {
                    let presence = match !input.ended && of.is_open() && is_at_work(env, &of) {
                        true => AgentPresence::AtWork,
                        false => AgentPresence::Away,
                    };
                    let packet = gather_packet(tx, &of, presence)?;
                    Ok((of, packet, false))
                }
            }
        })?;
        let options = Options {
            budget,
            preset: preset.unwrap_or(Preset::Standard),
            to: input.to.as_deref(),
            now_ms: Some(cx.env.now),
            ..Options::default()
        };
        let document = render(packet.view(), &options);
        Ok(SessionDocumentOutput {
            project_id,
            identity: of.identity,
            session_id: of.session_id,
            wrapped,
            document: document.text,
            tokens: document.tokens_estimated,
            packet: json!(packet.view()),
        })
    }
}

//! Baton as the client of a Baton on another machine: `BATON_SERVER` takes the place of a store.
//!
//! Every operation goes to the server as it is, with who calls. What concerns this machine stays here: other tools'
//! transcripts are read here ([`disk`]), and what the server has to ask is answered here ([`answers`]).

mod answers;
mod caller_header;
mod client;
mod disk;
mod document_consent;
mod facts;
mod fitted;
mod handoff_links;
mod http_client;
mod keyed_call;
mod known_scope;
mod placeholder;
mod question;
mod readiness;
mod sent_document;
mod server_fault;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use caller_header::CallerHeader;
pub(crate) use caller_header::caller_of;
pub(crate) use client::Remote;
pub(crate) use disk::client_store;
pub(crate) use facts::{AnsweredQuestion, ClientHost, FACTS_REQUIRED};
pub(crate) use keyed_call::RemoteCall;
pub(crate) use readiness::check_ready;

/// What is posted to `/api/v1/remote/{operation}`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Call {
    /// The operation's input.
    pub input: Map<String, Value>,
    /// Who calls.
    pub caller: CallerHeader,
    /// What was asked before, answered.
    pub facts: Vec<AnsweredQuestion>,
}

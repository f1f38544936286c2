//! The table of operations: every face is made or checked from it.

use baton_model::refusal::{Kind, Refusal};
use baton_store::Failure;
use serde_json::Value;

use crate::op::{Cx, Entry, entry};
use crate::{audit, handoff, ledger, memory, message, project, session, task, transcript};

/// Everything that Baton can do, by noun.
pub static ALL: &[Entry] = &[
    entry::<audit::Report>(),
    entry::<handoff::Advance>(),
    entry::<handoff::Create>(),
    entry::<transcript::Document>(),
    entry::<handoff::List>(),
    entry::<handoff::Publish>(),
    entry::<handoff::Retry>(),
    entry::<handoff::Show>(),
    entry::<session::Pickup>(),
    entry::<ledger::Export>(),
    entry::<ledger::Import>(),
    entry::<ledger::LedgerList>(),
    entry::<ledger::Note>(),
    entry::<memory::Add>(),
    entry::<memory::Search>(),
    entry::<memory::Withdraw>(),
    entry::<project::Init>(),
    entry::<project::List>(),
    entry::<project::Relate>(),
    entry::<project::Set>(),
    entry::<project::Show>(),
    entry::<session::Checkpoint>(),
    entry::<session::End>(),
    entry::<session::Handoff>(),
    entry::<session::Heartbeat>(),
    entry::<session::Reassign>(),
    entry::<session::Resolve>(),
    entry::<session::Start>(),
    entry::<session::Status>(),
    entry::<session::Wrap>(),
    entry::<message::Ack>(),
    entry::<message::Delivered>(),
    entry::<message::Pending>(),
    entry::<message::Recall>(),
    entry::<message::Send>(),
    entry::<ledger::StoreCheck>(),
    entry::<task::Create>(),
    entry::<task::List>(),
    entry::<task::Show>(),
    entry::<task::Update>(),
    entry::<handoff::TrackerEvent>(),
    entry::<transcript::Import>(),
    entry::<transcript::List>(),
    entry::<transcript::Show>(),
];

/// The operation of this name.
pub fn find(name: &str) -> Result<&'static Entry, Refusal> {
    ALL.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
        Refusal::new(
            Kind::NotFound,
            "operation_unknown",
            format!("there is no operation `{}`", baton_model::id::visible(name)),
            format!("use one of {}", known.join(", ")),
        )
    })
}

/// Runs the operation of this name on JSON.
pub fn run(name: &str, input: Value, cx: &mut Cx<'_>) -> Result<Value, Failure> {
    (find(name)?.run)(input, cx)
}

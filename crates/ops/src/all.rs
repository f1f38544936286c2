//! The table of operations: every face is made or checked from it.

use baton_model::refusal::{Kind, Refusal};
use baton_store::Failure;
use serde_json::Value;

use crate::op::{Cx, Meta, Operation, OperationEntry, entry};
use crate::{
    agent, attention, audit, baton, changes, handoff, key, lease, ledger, memory, message, portable, project,
    session, share, task, thread, token, transcript,
};

/// Everything that Baton can do, by noun.
pub static ALL: &[OperationEntry] = &[
    entry::<agent::Limit>(),
    entry::<agent::List>(),
    entry::<agent::Register>(),
    entry::<agent::ListRoles>(),
    entry::<agent::Show>(),
    entry::<attention::Attention>(),
    entry::<audit::Report>(),
    entry::<portable::BatonExport>(),
    entry::<portable::BatonImport>(),
    entry::<baton::List>(),
    entry::<portable::BatonReclaim>(),
    entry::<baton::Show>(),
    entry::<baton::Withdraw>(),
    entry::<task::BeadsExport>(),
    entry::<task::BeadsImport>(),
    entry::<task::BeadsMemory>(),
    entry::<task::BeadsPublished>(),
    entry::<changes::Attach>(),
    entry::<changes::Drop>(),
    entry::<changes::Part>(),
    entry::<changes::Record>(),
    entry::<changes::Show>(),
    entry::<changes::Upload>(),
    entry::<session::CommitOrigin>(),
    entry::<ledger::Decisions>(),
    entry::<handoff::Advance>(),
    entry::<handoff::Create>(),
    entry::<transcript::Document>(),
    entry::<handoff::List>(),
    entry::<handoff::Publish>(),
    entry::<handoff::Retry>(),
    entry::<handoff::MarkSeen>(),
    entry::<handoff::Show>(),
    entry::<session::Pickup>(),
    entry::<key::Add>(),
    entry::<key::Create>(),
    entry::<key::List>(),
    entry::<key::Remove>(),
    entry::<lease::List>(),
    entry::<lease::Release>(),
    entry::<lease::Take>(),
    entry::<ledger::Export>(),
    entry::<ledger::Heads>(),
    entry::<ledger::Import>(),
    entry::<ledger::LedgerList>(),
    entry::<ledger::Note>(),
    entry::<message::MailAck>(),
    entry::<message::Inbox>(),
    entry::<message::Read>(),
    entry::<message::MailSchema>(),
    entry::<message::Search>(),
    entry::<message::MailSend>(),
    entry::<message::Thread>(),
    entry::<message::Threads>(),
    entry::<memory::Add>(),
    entry::<memory::Reindex>(),
    entry::<memory::MemoryScope>(),
    entry::<memory::Search>(),
    entry::<memory::Withdraw>(),
    entry::<project::RemovePlace>(),
    entry::<project::Init>(),
    entry::<project::List>(),
    entry::<project::Merge>(),
    entry::<project::Overview>(),
    entry::<project::Places>(),
    entry::<project::Relate>(),
    entry::<project::Rename>(),
    entry::<project::Search>(),
    entry::<project::Set>(),
    entry::<project::Show>(),
    entry::<project::Split>(),
    entry::<session::Checkpoint>(),
    entry::<session::End>(),
    entry::<session::SessionDocument>(),
    entry::<session::Heartbeat>(),
    entry::<session::History>(),
    entry::<session::Reassign>(),
    entry::<session::Resolve>(),
    entry::<session::Show>(),
    entry::<session::Start>(),
    entry::<session::Status>(),
    entry::<session::Wrap>(),
    entry::<share::Create>(),
    entry::<share::List>(),
    entry::<share::Preview>(),
    entry::<share::Revoke>(),
    entry::<share::Show>(),
    entry::<message::Ack>(),
    entry::<message::Delivered>(),
    entry::<message::Pending>(),
    entry::<message::Retract>(),
    entry::<message::Send>(),
    entry::<ledger::StoreCheck>(),
    entry::<task::Batch>(),
    entry::<task::Blocked>(),
    entry::<task::Board>(),
    entry::<task::ClaimTask>(),
    entry::<task::Close>(),
    entry::<task::Comment>(),
    entry::<task::Create>(),
    entry::<task::Cycles>(),
    entry::<task::Delete>(),
    entry::<task::Depend>(),
    entry::<task::Increment>(),
    entry::<task::List>(),
    entry::<task::Ready>(),
    entry::<task::Release>(),
    entry::<task::Rename>(),
    entry::<task::Reopen>(),
    entry::<task::Route>(),
    entry::<task::Show>(),
    entry::<task::Stats>(),
    entry::<task::Tree>(),
    entry::<task::Update>(),
    entry::<thread::Show>(),
    entry::<token::Check>(),
    entry::<token::Create>(),
    entry::<token::List>(),
    entry::<token::Revoke>(),
    entry::<handoff::TrackerComments>(),
    entry::<handoff::TrackerEvent>(),
    entry::<transcript::Capture>(),
    entry::<transcript::Continue>(),
    entry::<transcript::Copies>(),
    entry::<transcript::Copy>(),
    entry::<transcript::Doctor>(),
    entry::<transcript::Events>(),
    entry::<transcript::Find>(),
    entry::<transcript::Import>(),
    entry::<transcript::List>(),
    entry::<transcript::CopyPart>(),
    entry::<transcript::Push>(),
    entry::<transcript::Search>(),
    entry::<transcript::Show>(),
    entry::<transcript::Unwrapped>(),
    entry::<transcript::CopyUpload>(),
    entry::<transcript::Withdraw>(),
];

/// Other names under which operations are known: those that the first plan of mail gave its tools.
pub const ALIASES: &[(&str, &str)] = &[
    ("acknowledge_message", "mail_ack"),
    ("fetch_inbox", "mail_inbox"),
    ("list_agents", "agent_list"),
    ("send_message", "mail_send"),
];

/// The operation of this name, or of this other name.
pub fn find(name: &str) -> Result<&'static OperationEntry, Refusal> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, real)| real);
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

/// What faces have to know of the operation of this name; nothing where there is none.
pub fn meta(name: &str) -> Option<&'static Meta> {
    find(name).ok().map(|entry| &entry.meta)
}

/// Runs an operation in this process. Its input goes the same way as one that came as JSON.
pub fn call_typed<O: Operation>(input: &O::Input, cx: &mut Cx<'_>) -> Result<O::Output, Failure> {
    let malformed = |error| {
        let what = format!("{} cannot be read or written as JSON: {error}", O::NAME);
        Refusal::invalid("answer_unwritable", what, "report this")
    };
    let input = serde_json::to_value(input).map_err(malformed)?;
    Ok(serde_json::from_value(run(O::NAME, input, cx)?).map_err(malformed)?)
}

/// Runs the operation of this name on JSON.
pub fn run(name: &str, input: Value, cx: &mut Cx<'_>) -> Result<Value, Failure> {
    (find(name)?.run)(input, cx)
}

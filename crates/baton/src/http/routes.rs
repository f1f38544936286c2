//! The paths of the API, one line each: what the router serves and `/openapi.json` describes.

use baton_ops::op::Operation;
use baton_ops::{
    agent, attention, audit, baton, handoff, lease, ledger, memory, message, project, session, share, task,
    thread, token, transcript,
};

/// A path and the operation behind it.
pub(super) struct Route {
    /// `GET`, `POST`, `PATCH`, `PUT` or `DELETE`.
    pub method: &'static str,
    /// Below `/api/v1`, and at the root. Names in braces are arguments of the operation.
    pub path: &'static str,
    /// The operation.
    pub operation: &'static str,
    /// Arguments that the path stands for.
    pub fixed: &'static [(&'static str, &'static str)],
    /// The status of success.
    pub status: u16,
    /// `Accept: text/markdown` gives the answer's `document`.
    pub document: bool,
}

const fn get(path: &'static str, operation: &'static str) -> Route {
    Route { method: "GET", path, operation, fixed: &[], status: 200, document: false }
}

const fn document(path: &'static str, operation: &'static str) -> Route {
    Route { document: true, ..get(path, operation) }
}

const fn post(path: &'static str, operation: &'static str) -> Route {
    Route { method: "POST", ..get(path, operation) }
}

const fn create(path: &'static str, operation: &'static str) -> Route {
    Route { status: 201, ..post(path, operation) }
}

const fn patch(path: &'static str, operation: &'static str) -> Route {
    Route { method: "PATCH", ..get(path, operation) }
}

const fn delete(path: &'static str, operation: &'static str) -> Route {
    Route { method: "DELETE", ..get(path, operation) }
}

const fn act(
    path: &'static str,
    operation: &'static str,
    fixed: &'static [(&'static str, &'static str)],
) -> Route {
    Route { fixed, ..post(path, operation) }
}

/// All paths. Within a noun: the list, the making, the one, what is done with it.
pub(super) static ROUTES: &[Route] = &[
    get("/projects", project::List::NAME),
    create("/projects", project::Init::NAME),
    get("/projects/{project}", project::Show::NAME),
    patch("/projects/{project}", project::Set::NAME),
    get("/overview", project::Overview::NAME),
    get("/search", project::Search::NAME),
    get("/projects/{project}/status", session::Status::NAME),
    get("/projects/{project}/audit", audit::Report::NAME),
    get("/projects/{project}/ledger", ledger::LedgerList::NAME),
    get("/projects/{project}/decisions", ledger::Decisions::NAME),
    get("/projects/{project}/export", ledger::Export::NAME),
    create("/projects/{project}/notes", ledger::Note::NAME),
    get("/projects/{project}/sessions", session::History::NAME),
    create("/projects/{project}/sessions", session::Start::NAME),
    post("/projects/{project}/pickup", session::Pickup::NAME),
    get("/projects/{project}/tasks", task::List::NAME),
    create("/projects/{project}/tasks", task::Create::NAME),
    get("/projects/{project}/ready", task::Ready::NAME),
    get("/projects/{project}/board", task::Board::NAME),
    create("/projects/{project}/increments", task::Increment::NAME),
    get("/projects/{project}/tasks/{id}", task::Show::NAME),
    patch("/projects/{project}/tasks/{id}", task::Update::NAME),
    post("/projects/{project}/tasks/{id}/claim", task::ClaimTask::NAME),
    post("/projects/{project}/tasks/{id}/close", task::Close::NAME),
    post("/projects/{project}/tasks/{id}/reopen", task::Reopen::NAME),
    post("/projects/{project}/tasks/{id}/release", task::Release::NAME),
    create("/projects/{project}/tasks/{id}/comments", task::Comment::NAME),
    get("/projects/{project}/handoffs", handoff::List::NAME),
    get("/projects/{project}/batons", baton::List::NAME),
    get("/projects/{project}/attention", attention::Attention::NAME),
    get("/projects/{project}/agents", agent::List::NAME),
    create("/projects/{project}/agents", agent::Register::NAME),
    get("/projects/{project}/messages", message::Inbox::NAME),
    create("/projects/{project}/messages", message::MailSend::NAME),
    get("/projects/{project}/messages/search", message::Search::NAME),
    get("/projects/{project}/messages/{message_id}/thread", message::Thread::NAME),
    get("/projects/{project}/leases", lease::List::NAME),
    get("/projects/{project}/threads", message::Threads::NAME),
    get("/attention", attention::Attention::NAME),
    get("/batons", baton::List::NAME),
    get("/batons/{id}", baton::Show::NAME),
    post("/batons/{id}/withdraw", baton::Withdraw::NAME),
    get("/sessions", session::History::NAME),
    create("/sessions", session::Start::NAME),
    get("/sessions/{session}", session::Show::NAME),
    post("/sessions/{session}/checkpoint", session::Checkpoint::NAME),
    post("/sessions/{session}/wrap", session::Wrap::NAME),
    post("/sessions/{session}/end", session::End::NAME),
    post("/sessions/{session}/heartbeat", session::Heartbeat::NAME),
    post("/sessions/{session}/reassign", session::Reassign::NAME),
    document("/sessions/{session}/handoff", session::SessionDocument::NAME),
    get("/tasks", task::List::NAME),
    create("/tasks", task::Create::NAME),
    get("/tasks/{id}", task::Show::NAME),
    patch("/tasks/{id}", task::Update::NAME),
    get("/handoffs", handoff::List::NAME),
    create("/handoffs", handoff::Create::NAME),
    get("/handoffs/{id}", handoff::Show::NAME),
    act("/handoffs/{id}/accept", handoff::Advance::NAME, &[("action", "accept")]),
    act("/handoffs/{id}/decline", handoff::Advance::NAME, &[("action", "decline")]),
    act("/handoffs/{id}/complete", handoff::Advance::NAME, &[("action", "complete")]),
    act("/handoffs/{id}/cancel", handoff::Advance::NAME, &[("action", "cancel")]),
    post("/messages/{message_id}/ack", message::MailAck::NAME),
    delete("/messages/{message_id}", message::Retract::NAME),
    post("/handoffs/{id}/retry", handoff::Retry::NAME),
    post("/handoffs/{id}/seen", handoff::MarkSeen::NAME),
    post("/handoffs/{id}/publish", handoff::Publish::NAME),
    get("/memories", memory::Search::NAME),
    create("/memories", memory::Add::NAME),
    delete("/memories/{id}", memory::Withdraw::NAME),
    get("/transcripts", transcript::List::NAME),
    get("/transcripts/search", transcript::Search::NAME),
    get("/transcripts/{id}", transcript::Show::NAME),
    document("/transcripts/{id}/handoff", transcript::Document::NAME),
    post("/transcripts/{id}/import", transcript::Import::NAME),
    get("/tokens", token::List::NAME),
    create("/tokens", token::Create::NAME),
    delete("/tokens/{id}", token::Revoke::NAME),
    get("/projects/{project}/shares", share::List::NAME),
    create("/shares", share::Create::NAME),
    get("/shares/preview/{id}", share::Preview::NAME),
    delete("/shares/{id}", share::Revoke::NAME),
    get("/threads/{id}", thread::Show::NAME),
    get("/decisions", ledger::Decisions::NAME),
    get("/heads", ledger::Heads::NAME),
    get("/check", ledger::StoreCheck::NAME),
];

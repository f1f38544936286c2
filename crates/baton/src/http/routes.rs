//! The paths of the API, one line each: what the router serves and `/openapi.json` describes.

/// A path and the operation behind it.
pub struct Route {
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
pub static ROUTES: &[Route] = &[
    get("/projects", "project_list"),
    create("/projects", "project_init"),
    get("/projects/{project}", "project_show"),
    patch("/projects/{project}", "project_set"),
    get("/overview", "project_overview"),
    get("/search", "project_search"),
    get("/projects/{project}/status", "session_status"),
    get("/projects/{project}/audit", "audit_report"),
    get("/projects/{project}/ledger", "ledger_list"),
    get("/projects/{project}/export", "ledger_export"),
    create("/projects/{project}/notes", "ledger_note"),
    get("/projects/{project}/sessions", "session_history"),
    create("/projects/{project}/sessions", "session_start"),
    post("/projects/{project}/pickup", "hd_exec"),
    get("/projects/{project}/tasks", "task_list"),
    create("/projects/{project}/tasks", "task_create"),
    get("/projects/{project}/ready", "task_ready"),
    get("/projects/{project}/board", "task_board"),
    create("/projects/{project}/increments", "task_increment"),
    get("/projects/{project}/tasks/{id}", "task_show"),
    patch("/projects/{project}/tasks/{id}", "task_update"),
    post("/projects/{project}/tasks/{id}/claim", "task_claim"),
    post("/projects/{project}/tasks/{id}/close", "task_close"),
    post("/projects/{project}/tasks/{id}/reopen", "task_reopen"),
    create("/projects/{project}/tasks/{id}/comments", "task_comment"),
    get("/projects/{project}/handoffs", "handoff_list"),
    get("/projects/{project}/agents", "agent_list"),
    create("/projects/{project}/agents", "agent_register"),
    get("/projects/{project}/messages", "mail_inbox"),
    create("/projects/{project}/messages", "mail_send"),
    get("/projects/{project}/messages/search", "mail_search"),
    get("/projects/{project}/messages/{message_id}/thread", "mail_thread"),
    get("/projects/{project}/leases", "lease_list"),
    get("/projects/{project}/threads", "mail_threads"),
    create("/sessions", "session_start"),
    post("/sessions/{session}/checkpoint", "session_checkpoint"),
    post("/sessions/{session}/wrap", "session_wrap"),
    post("/sessions/{session}/end", "session_end"),
    post("/sessions/{session}/heartbeat", "session_heartbeat"),
    post("/sessions/{session}/reassign", "session_reassign"),
    document("/sessions/{session}/handoff", "session_handoff"),
    get("/tasks", "task_list"),
    create("/tasks", "task_create"),
    get("/tasks/{id}", "task_show"),
    patch("/tasks/{id}", "task_update"),
    get("/handoffs", "handoff_list"),
    create("/handoffs", "handoff_create"),
    get("/handoffs/{id}", "handoff_show"),
    act("/handoffs/{id}/accept", "handoff_advance", &[("action", "accept")]),
    act("/handoffs/{id}/decline", "handoff_advance", &[("action", "decline")]),
    act("/handoffs/{id}/complete", "handoff_advance", &[("action", "complete")]),
    act("/handoffs/{id}/cancel", "handoff_advance", &[("action", "cancel")]),
    post("/messages/{message_id}/ack", "mail_ack"),
    delete("/messages/{message_id}", "signal_recall"),
    post("/handoffs/{id}/retry", "handoff_retry"),
    post("/handoffs/{id}/publish", "handoff_publish"),
    get("/memories", "memory_search"),
    create("/memories", "memory_add"),
    delete("/memories/{id}", "memory_withdraw"),
    get("/transcripts", "transcript_list"),
    get("/transcripts/search", "transcript_search"),
    get("/transcripts/{id}", "transcript_show"),
    document("/transcripts/{id}/handoff", "handoff_document"),
    post("/transcripts/{id}/import", "transcript_import"),
    get("/tokens", "token_list"),
    create("/tokens", "token_create"),
    delete("/tokens/{id}", "token_revoke"),
    get("/heads", "ledger_heads"),
    get("/check", "store_check"),
];

//! Every row of a project as JSON and back: what an export adds to the ledger, so that an import is a whole store.
//!
//! The ledger itself is not here: it is read and appended by [`delta`](crate::delta).

use serde_json::{Map, Value as Json};

use crate::engine::{Failure, Fault, FaultKind, Store, Tx, Value};
use crate::params;

/// A table of a project: how its rows are read and written.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    columns: &'static [&'static str],
    pub(crate) select: &'static str,
    pub(crate) insert: &'static str,
    pub(crate) count: &'static str,
}

/// Where a column stands in the rows of a table.
pub(crate) fn position(table: &str, column: &str) -> Option<usize> {
    let table = TABLES.iter().find(|known| known.name == table)?;
    table.columns.iter().position(|known| *known == column)
}

macro_rules! tables {
    ($($constant:ident, $put:ident: $name:literal [$first:literal $(, $column:literal)*] ($places:literal) of $condition:literal by $order:literal;)+) => {
        crate::sql! {
            $(
                $constant = concat!("SELECT ", $first $(, ", ", $column)*, " FROM ", $name, " WHERE ", $condition, " ORDER BY ", $order);
                $put = concat!("INSERT INTO ", $name, " (", $first $(, ", ", $column)*, ") VALUES (", $places, ") ON CONFLICT DO NOTHING");
            )+
            REMOVE_HANDOFF = "DELETE FROM handoff WHERE handoff_id = $1";
            REMOVE_STEP = "DELETE FROM handoff_step WHERE handoff_id = $1 AND step_no = $2";
            REMOVE_COMMENT = "DELETE FROM issue_comment WHERE handoff_id = $1 AND comment_id = $2";
            REMOVE_TEXT = "DELETE FROM issue_text WHERE handoff_id = $1";
        }
        pub(crate) const TABLES: &[Table] = &[
            $(Table {
                name: $name,
                columns: &[$first $(, $column)*],
                select: $constant,
                insert: $put,
                count: concat!("SELECT COUNT(*) FROM ", $name),
            },)+
        ];
    };
}

tables! {
    PROJECT, PUT_PROJECT: "project" ["project_id", "seq", "issues_provider", "issues_github_repo", "vcs_provider",
        "vcs_remote_url", "is_isolated", "is_placeholder", "phase", "focus", "webhook_url", "last_wrapped_at",
        "last_wrapped_by", "last_wrapped_session_id", "last_wrapped_delta_id", "last_wrapped_summary", "created_at",
        "updated_at", "default_owner", "suggested_repo", "chain_head", "takes_transcripts", "merged_into"]
        ("$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23") of "project_id = $1" by "project_id";
    SESSION, PUT_SESSION: "session" ["project_id", "session_id", "identity", "identity_key", "surface", "machine_id",
        "process", "started_at", "heartbeat_at", "last_verb", "released_at", "release_reason", "released_by",
        "successor_session_id", "thread_id", "inherited_from", "picked_up_session_id", "baton_id", "stale_at", "opened_by",
        "stale_after", "copy_root", "copy_branch", "copy_commit", "copy_is_worktree", "copy_host"]
        ("$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26")
        of "project_id = $1" by "session_id";
    SESSION_COMMIT, PUT_SESSION_COMMIT: "session_commit" ["project_id", "commit_id", "session_id", "made_at"]
        ("$1, $2, $3, $4") of "project_id = $1" by "session_id, made_at, commit_id";
    STATE, PUT_STATE: "session_state" ["project_id", "identity_key", "task_key", "session_id", "version", "body",
        "updated_at", "identity", "handoff_id", "claimed_at"]
        ("$1, $2, $3, $4, $5, $6, $7, $8, $9, $10") of "project_id = $1" by "identity_key, task_key";
    BATON, PUT_BATON: "baton" ["project_id", "baton_id", "seq", "session_id", "identity", "thread_id", "created_at",
        "summary", "to_identity", "to_role", "holder_session_id", "held_at", "spent_by", "version"]
        ("$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14") of "project_id = $1" by "seq";
    CHANGES, PUT_CHANGES: "changes" ["project_id", "baton_id", "identity", "manifest", "content_hash", "created_at"]
        ("$1, $2, $3, $4, $5, $6") of "project_id = $1" by "baton_id";
    CHANGES_PART, PUT_CHANGES_PART: "changes_part" ["project_id", "content_hash", "part", "content", "created_at",
        "uploaded_by"] ("$1, $2, $3, $4, $5, $6") of "project_id = $1" by "content_hash, part";
    TRANSCRIPT_COPY, PUT_TRANSCRIPT_COPY: "transcript_copy" ["project_id", "agent", "transcript_id", "identity", "identity_key",
        "opened_by", "manifest", "content_hash", "created_at"]
        ("$1, $2, $3, $4, $5, $6, $7, $8, $9") of "project_id = $1" by "agent, transcript_id, identity_key";
    TRANSCRIPT_COPY_PART, PUT_TRANSCRIPT_COPY_PART: "transcript_copy_part" ["project_id", "content_hash", "part", "content",
        "created_at", "uploaded_by"] ("$1, $2, $3, $4, $5, $6") of "project_id = $1" by "content_hash, part";
    CONVERSATION, PUT_CONVERSATION: "conversation" ["project_id", "tool", "native_id", "session_id", "baton_id", "bytes",
        "last_entry_at", "updated_at"]
        ("$1, $2, $3, $4, $5, $6, $7, $8") of "project_id = $1" by "tool, native_id";
    REQUEST, PUT_REQUEST: "request" ["project_id", "caller", "verb", "request_id", "fingerprint", "answer", "created_at",
        "expires_at"]
        ("$1, $2, $3, $4, $5, $6, $7, $8") of "project_id = $1" by "caller, verb, request_id";
    MESSAGE, PUT_MESSAGE: "message" ["project_id", "message_id", "seq", "kind", "from_identity", "to_identity", "to_key",
        "subject", "body", "created_at", "expires_at", "delivered_at", "recalled_at", "ack_by", "acked_at", "importance",
        "thread_id", "reply_to", "to_role", "from_project_id", "to_project_id", "readers", "from_type"]
        ("$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23") of "project_id = $1" by "seq";
    AGENT, PUT_AGENT: "agent" ["project_id", "identity_key", "identity", "program", "model", "roles", "skills",
        "max_tasks", "registered_at", "updated_at"]
        ("$1, $2, $3, $4, $5, $6, $7, $8, $9, $10") of "project_id = $1" by "identity_key";
    LEASE, PUT_LEASE: "file_lease" ["project_id", "lease_id", "pattern", "mode", "advisory", "identity", "identity_key",
        "session_id", "why", "taken_at", "expires_at", "released_at", "machine_id", "process", "bearer"]
        ("$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15") of "project_id = $1" by "lease_id";
    KEY, PUT_KEY: "public_key" ["project_id", "identity_key", "identity", "recipient", "added_by", "added_at"]
        ("$1, $2, $3, $4, $5, $6") of "project_id = $1" by "identity_key";
    TASK, PUT_TASK: "task" ["project_id", "task_id", "title", "description", "status", "priority", "issue_type",
        "assignee", "agent_role", "labels", "created_by", "created_at", "updated_at", "closed_at", "close_reason", "extra",
        "parent_id", "defer_until", "estimated_minutes", "specialist_tags", "agent_context", "handoff_instructions",
        "previous_agent", "attempts", "result", "pending_type", "woken", "claim_token", "claim_by", "claim_session_id",
        "claim_lease", "claim_until", "blocked", "passes", "ready", "wait_until", "clocks",
        "claim_machine", "claim_process", "claim_bearer"]
        ("$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40")
        of "project_id = $1" by "task_id";
    DEPENDENCY, PUT_DEPENDENCY: "task_dependency" ["project_id", "task_id", "depends_on_id", "kind", "gate", "place", "body"]
        ("$1, $2, $3, $4, $5, $6, $7") of "project_id = $1" by "task_id, place, depends_on_id, kind";
    COMMENT, PUT_COMMENT: "task_comment" ["project_id", "task_id", "place", "number", "body"]
        ("$1, $2, $3, $4, $5") of "project_id = $1" by "task_id, place";
    COUNTER, PUT_COUNTER: "task_counter" ["project_id", "parent_id", "last"]
        ("$1, $2, $3") of "project_id = $1" by "parent_id";
    LINE, PUT_LINE: "task_line" ["project_id", "task_id", "line", "stale", "earlier"]
        ("$1, $2, $3, $4, $5") of "project_id = $1" by "task_id";
    OTHER_LINE, PUT_OTHER_LINE: "task_other_line" ["project_id", "place", "line"]
        ("$1, $2, $3") of "project_id = $1" by "place";
    HANDOFF, PUT_HANDOFF: "handoff" ["handoff_id", "state", "subject", "from_project_id", "to_project_id",
        "from_identity", "to_identity", "to_role", "packet", "task_id", "result", "last_error", "created_at", "updated_at",
        "tracker", "issues_repo", "issue_number", "memory_id", "session_id", "agent_id", "seed_task_id", "plan", "expires_at",
        "seen_at"]
        ("$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24")
        of "$1 IN (from_project_id, to_project_id)" by "handoff_id";
    STEP, PUT_STEP: "handoff_step" ["handoff_id", "step_no", "kind", "state", "attempts", "due_at", "lease_until", "fence",
        "holder_machine", "holder_process", "is_unknown", "last_error", "result", "updated_at"]
        ("$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14")
        of "handoff_id IN (SELECT handoff_id FROM handoff WHERE $1 IN (from_project_id, to_project_id))" by "handoff_id, step_no";
    ISSUE_COMMENT, PUT_ISSUE_COMMENT: "issue_comment" ["handoff_id", "comment_id", "standing", "author", "body", "bytes",
        "created_at", "updated_at"] ("$1, $2, $3, $4, $5, $6, $7, $8")
        of "handoff_id IN (SELECT handoff_id FROM handoff WHERE $1 IN (from_project_id, to_project_id))" by "handoff_id, comment_id";
    ISSUE_TEXT, PUT_ISSUE_TEXT: "issue_text" ["handoff_id", "title", "labels", "labels_ever", "body_added", "body_removed",
        "sent_body", "edited_by", "edited_at", "updated_at"] ("$1, $2, $3, $4, $5, $6, $7, $8, $9, $10")
        of "handoff_id IN (SELECT handoff_id FROM handoff WHERE $1 IN (from_project_id, to_project_id))" by "handoff_id";
    MEMORY, PUT_MEMORY: "memory" ["project_id", "memory_id", "kind", "text", "tags", "importance", "identity", "handoff_id",
        "created_at", "withdrawn_at", "withdrawn_by", "withdrawn_why"]
        ("$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12") of "project_id = $1" by "memory_id";
    VECTOR, PUT_VECTOR: "memory_vector" ["project_id", "memory_id", "seq", "embedder", "dimension", "vector"]
        ("$1, $2, $3, $4, $5, $6") of "project_id = $1" by "memory_id";
    RELATION, PUT_RELATION: "project_relation" ["project_id", "other_project_id", "kind", "created_by", "created_at"]
        ("$1, $2, $3, $4, $5") of "project_id = $1" by "other_project_id";
}

/// A row: its table, and its columns by name.
pub type DumpedRow = (&'static str, Map<String, Json>);

/// The tables and their columns, in the order in which their rows are written.
pub fn columns() -> Vec<(&'static str, &'static [&'static str])> {
    TABLES.iter().map(|table| (table.name, table.columns)).collect()
}

/// Whether a row of this table with these columns can be written.
pub fn knows(name: &str, row: &Map<String, Json>) -> bool {
    let table = TABLES.iter().find(|table| table.name == name);
    table.is_some_and(|table| row.keys().all(|key| table.columns.contains(&key.as_str())))
}

/// Every row of a project outside the ledger: table by table, each as (table, columns).
pub fn read(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<DumpedRow>, Fault> {
    let mut rows = Vec::new();
    for table in TABLES {
        for row in tx.query(table.select, params![project_id])? {
            let values = row.0;
            let named =
                table.columns.iter().map(|name| (*name).to_owned()).zip(values.into_iter().map(to_json));
            rows.push((table.name, named.collect()));
        }
    }
    Ok(rows)
}

/// Writes a row that [`read`] gave, and says whether it did: one that is there already stays (a hand-off belongs to two
/// projects). A column that is missing is null, or what it means in older exports; a column or table that is unknown is a fault.
pub fn write(tx: &mut Tx<'_>, name: &str, row: &Map<String, Json>) -> Result<bool, Fault> {
    let table = TABLES
        .iter()
        .find(|table| table.name == name)
        .ok_or_else(|| Fault::other(format!("an export names the unknown table `{name}`")))?;
    if let Some(key) = row.keys().find(|key| !table.columns.contains(&key.as_str())) {
        return Err(Fault::other(format!("an export names the unknown column `{key}` of `{name}`")));
    }
    let value = |column: &&str| match row.get(*column) {
        None => in_older_exports(name, column, row),
        given => from_json(given),
    };
    let values: Vec<Value> = table.columns.iter().map(value).collect();
    let written = tx.execute(table.insert, &values)?;
    if name == "memory" && written == 1 {
        let text = |key: &str| row.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        let words = format!("{} {}", text("text"), text("tags"));
        crate::search_memory::index(tx, &text("project_id"), &text("memory_id"), &words)?;
    }
    Ok(written == 1)
}

/// Writes a row of a hand-off, of a step, or of the conversation under its issue in place of the one that is there, which an older export brought.
pub fn replace(tx: &mut Tx<'_>, name: &str, row: &Map<String, Json>) -> Result<(), Fault> {
    let key = |column: &str| from_json(row.get(column));
    match name {
        "handoff" => tx.execute(REMOVE_HANDOFF, params![key("handoff_id")])?,
        "handoff_step" => tx.execute(REMOVE_STEP, params![key("handoff_id"), key("step_no")])?,
        "issue_comment" => tx.execute(REMOVE_COMMENT, params![key("handoff_id"), key("comment_id")])?,
        "issue_text" => tx.execute(REMOVE_TEXT, params![key("handoff_id")])?,
        _ => {
            return Err(Fault::other(format!(
                "rows of `{name}` belong to one project, and are not replaced"
            )));
        }
    };
    write(tx, name, row).map(drop)
}

/// What a column means in an export that was written before there was such a column.
fn in_older_exports(table: &str, column: &str, row: &Map<String, Json>) -> Value {
    match (table, column) {
        ("project", "chain_head") => "".into(),
        ("project", "takes_transcripts") => 0.into(),
        ("changes_part" | "transcript_copy_part", "uploaded_by") => "".into(),
        ("task", "specialist_tags") => "[]".into(),
        // An answer with an empty caller matches no request.
        ("request", "caller" | "fingerprint") => "".into(),
        ("task", "agent_context" | "handoff_instructions") => "{}".into(),
        ("task", "clocks") => {
            let changed = row.get("updated_at").and_then(Json::as_i64).unwrap_or_default();
            format!(r#"{{"floor":{changed}}}"#).into()
        }
        ("task_line", "earlier") => "[]".into(),
        ("task", "attempts" | "woken" | "claim_token" | "blocked" | "passes" | "wait_until") => 0.into(),
        ("task", "ready") => row.get("status").is_some_and(|status| status == "open").into(),
        _ => Value::Null,
    }
}

/// Columns that hold JSON, whatever was given.
const JSON: &[(&str, &str)] = &[
    ("project", "focus"),
    ("session_state", "body"),
    ("changes", "manifest"),
    ("transcript_copy", "manifest"),
    ("request", "answer"),
    ("message", "readers"),
    ("agent", "roles"),
    ("agent", "skills"),
    ("task", "labels"),
    ("task", "extra"),
    ("task", "specialist_tags"),
    ("task", "agent_context"),
    ("task", "handoff_instructions"),
    ("task_dependency", "body"),
    ("task_comment", "body"),
    ("task_line", "line"),
    ("handoff", "plan"),
    ("issue_text", "labels"),
    ("issue_text", "labels_ever"),
    ("memory", "tags"),
];

/// What of a project's rows outside the ledger cannot be read: cells of another type than any that is written, texts that are no
/// UTF-8, and JSON that is none.
pub fn faults(store: &mut Store, project_id: &str) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for table in TABLES {
        match store.read(|tx| Ok(tx.query(table.select, params![project_id])?)) {
            Ok(rows) => {
                for row in rows {
                    let cells = table.columns.iter().zip(&row.0);
                    let wrong = cells
                        .filter_map(|(column, value)| Some((*column, damage(table.name, column, value)?)));
                    let name = |(column, what): (&str, &str)| {
                        format!("{project_id}: `{column}` of a row of `{}` {what}", table.name)
                    };
                    found.extend(wrong.map(name));
                }
            }
            Err(Failure::Fault(fault)) if matches!(fault.kind, FaultKind::Corrupt | FaultKind::Other) => {
                found.push(format!("{project_id}: `{}` cannot be read: {}", table.name, fault.message));
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(found)
}

fn damage(table: &str, column: &str, value: &Value) -> Option<&'static str> {
    match value {
        Value::Blob(_) => Some("is of a type that is never written"),
        Value::Text(text) if text.contains('\0') => Some("holds a NUL character"),
        Value::Text(text) if JSON.contains(&(table, column)) => {
            let read = serde_json::from_str::<serde::de::IgnoredAny>(text);
            read.is_err().then_some("is no JSON")
        }
        _ => None,
    }
}

fn to_json(value: Value) -> Json {
    match value {
        Value::Int(number) => number.into(),
        Value::Text(text) => text.into(),
        // No exported table has such a column.
        Value::Null | Value::Blob(_) => Json::Null,
    }
}

fn from_json(value: Option<&Json>) -> Value {
    match value {
        Some(Json::Number(number)) => number.as_i64().map_or(Value::Null, Value::Int),
        Some(Json::String(text)) => Value::Text(text.clone()),
        _ => Value::Null,
    }
}

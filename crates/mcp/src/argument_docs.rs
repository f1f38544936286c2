//! What an argument means to a tool whose actions mean different things by it: in the face's own words, which say for which
//! action they hold. Where nothing is said here, the operation's own words stand.

/// Tool, argument, its description.
const ARGUMENT_DOCS: &[(&str, &str, &str)] = &[
    ("session_checkpoint", "why", "Of a decision: why"),
    ("handoff", "why", "reassign: why"),
    ("handoff", "wait", "reassign: to a new name"),
    ("task_read", "status", "Only this one; `closed` ones only when asked for"),
    ("task_read", "query", "Only with all of these words"),
    ("task_read", "labels", "Only with all of these"),
    ("task_read", "tags", "Only with one of these"),
    ("task_read", "agent_role", "Only of this role"),
    ("task_read", "assignee", "Only of this identity"),
    ("task_read", "full", "Contexts, linked tasks, comments"),
    ("task_write", "labels", "update: in place of those before"),
    (
        "mail",
        "type",
        "`message` (usual), a signal's type, or a hand-off message's: `task_handoff`, `fix_complete`, …",
    ),
    ("mail", "to", "A name, or `role:R` for whoever of it reads first; a reply needs none"),
    ("mail", "reply_to", "The message that this one answers"),
    ("mail", "subject", "One line; a reply brings its own"),
    ("mail", "importance", "`low`, `normal`, `high` or `critical`"),
    ("handoff_create", "issues_github_repo", "`owner/repo`; else the registry's"),
    ("handoff_create", "from_project_id", "The sender's; else this folder's"),
    ("handoff_create", "to_project_id", "The receiver's"),
    ("handoff_create", "to_identity", "Only for this identity"),
    ("handoff_create", "to_role", "Only for this role"),
    ("handoff_create", "subject", "One line; else that of the replaced one"),
    ("handoff_create", "replaces", "The returned one it replaces"),
    ("handoff_create", "links", "`repository`, `ref`, `docs`, …"),
    ("handoff_create", "create", "Although one has a similar name"),
    ("handoff_create", "dry_run", "Only show it"),
    ("handoff_create", "packet", "An object; clients may rewrite it"),
    ("handoff_create", "packet_text", "Its text, byte for byte"),
    ("session_wrap", "packet", "An object; clients may rewrite it"),
    ("session_wrap", "packet_text", "Its text, byte for byte"),
    ("session_wrap", "to", "Only for this identity"),
    ("session_wrap", "role", "Only for this role"),
    ("session_wrap", "focus", "With a summary: tags of the work"),
    ("session_wrap", "done", "With a summary: nothing is left to do"),
    ("session_wrap", "summary", "Without a packet: what happened, where it stands"),
    ("session_wrap", "again", "Also where its transcript's baton was taken"),
    ("handoff", "role", "Only for this role"),
    ("handoff", "holder", "Who has it now"),
    ("inbox", "holder", "Who has it now"),
    ("hd_exec", "holder", "Who has it now"),
    ("task_write", "holder", "Who has it now"),
    ("handoff", "repo", "retry: another `owner/repo`, if no issue is made yet"),
    ("handoff", "again", "Also where the session has left a baton"),
    ("session_checkpoint", "state", "Replaces the object before; left out, that stays"),
    ("hd_exec", "dry_run", "Only show; claim nothing"),
    ("recall", "from", "Where to begin: after what was `shown`"),
    ("session_checkpoint", "task", "Task of the state; else your own state"),
    (
        "session_checkpoint",
        "kind",
        "note: `note`, `decision`, `remember`, `research` or `methodology`; remember: any word",
    ),
    ("session_checkpoint", "rejected", "Of a decision: rejected options"),
    ("session_checkpoint", "text", "What; of a decision: what was decided"),
    ("session_checkpoint", "tags", "Tags"),
    ("session_checkpoint", "importance", "remember: 0 to 1; 0.4 is usual"),
    ("session_checkpoint", "expected_version", "The version you saw; another is refused"),
    ("session_wrap", "reason", "end: why"),
    ("session_wrap", "force", "Also another agent's session; only when the user says so"),
    ("hd_exec", "handoff_id", "Exactly this one"),
    ("handoff", "id", "Of a hand-off; import: of a transcript. A unique prefix does"),
    ("handoff", "session", "reassign: one of `recall sessions`"),
    ("handoff", "result", "complete: what came of it; decline, cancel: why"),
    ("handoff", "to", "reassign: the identity that goes on"),
    ("handoff", "agent", "import: the tool that wrote it"),
    ("inbox", "id", "get: of a hand-off or a baton. A unique prefix does"),
    ("inbox", "state", "handoffs: only in this state"),
    ("inbox", "session", "document: one of `recall sessions`"),
    ("inbox", "from_session", "preview: only a baton that this session left"),
    ("inbox", "handoff_id", "preview: exactly this one"),
    ("inbox", "message_id", "thread: any message of it"),
    ("inbox", "to", "document: the tool that goes on"),
    ("inbox", "limit", "At most so many; 0 for all"),
    ("inbox", "budget", "document: its size in tokens (`2000`) or bytes (`2KiB`)"),
    ("task_read", "limit", "At most so many; 0 for all"),
    ("task_write", "title", "One line"),
    ("task_write", "description", "What is to be done"),
    ("task_write", "acceptance_criteria", "How to tell that it is done"),
    ("task_write", "issue_type", "`task`, `bug`, `feature`, `epic`, `chore` or a word of your own"),
    (
        "task_write",
        "agent_role",
        "Role it wants: `testing`, `fixing`, … or your own; claim: only such a task",
    ),
    ("task_write", "specialist_tags", "Skills it needs"),
    ("task_write", "parent", "The task that it is a part of"),
    ("task_write", "id", "Task id or its beginning; claim without: the first ready; create: your own"),
    (
        "task_write",
        "agent_context",
        "What was done, at most 16 KiB; update replaces it, or merges with `merge`",
    ),
    ("task_write", "handoff_instructions", "What the next one needs to know; likewise"),
    ("task_write", "tags", "claim: only one with at least one of these"),
    ("task_write", "result", "close: how it went; else the reason's words decide"),
    ("task_write", "reason", "close: why, what failed"),
    ("task_write", "context", "close: what was done or found, into `agent_context`"),
    ("task_write", "token", "`token` of the claim; a lost lease refuses the write"),
    ("task_write", "sensitive", "Encrypt both objects for those whose key is listed"),
    ("task_write", "text", "comment: what is said"),
    ("task_write", "while_alive", "claim: while your process lives; else until `expires_at`"),
    ("task_write", "merge", "update: merge both objects (RFC 7396)"),
    ("task_write", "deps", "What it depends on: `ID` or `TYPE:ID`; `blocks:ID`: it blocks that"),
    ("mail", "message_id", "The message, or any of its thread"),
    ("mail", "body", "The text; ack: an answer to its sender"),
    ("mail", "content", "The fields of a hand-off message; a refusal says what is missing"),
    ("recall", "kind", "ledger, memories: only this kind"),
    ("recall", "limit", "At most so many"),
    ("recall", "query", "memories, search: all these words; search: also `\"phrases\"` and `begin*`"),
    ("recall", "since_ms", "Only since, in epoch milliseconds"),
    ("recall", "tags", "memories: those with all of these"),
    ("recall", "id", "Of a transcript: a prefix, a path, or `latest`"),
    ("recall", "agent", "The tool that wrote it: `claude`, `codex`, …"),
    ("recall", "session", "ledger: only of this session"),
];

/// What this tool says of an argument.
pub(crate) fn argument_doc(tool: &str, argument: &str) -> Option<&'static str> {
    ARGUMENT_DOCS.iter().find(|(of, name, _)| *of == tool && *name == argument).map(|(_, _, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{ToolSet, list};

    #[test]
    fn what_is_said_is_said_of_an_argument_that_exists() {
        let tools = list(&ToolSet::default());
        for (tool, argument, text) in ARGUMENT_DOCS {
            let listed = tools.iter().find(|listed| listed.name == *tool);
            let schema = &listed.unwrap_or_else(|| panic!("no tool {tool}")).input_schema;
            assert_eq!(schema["properties"][argument]["description"], *text, "{tool} {argument}");
        }
    }

    /// Two meanings one after the other leave it to the reader which is whose.
    #[test]
    fn no_argument_is_told_in_two_ways_at_once() {
        for tool in list(&ToolSet::default()) {
            for (name, property) in tool.input_schema["properties"].as_object().expect("properties") {
                let text = property["description"].as_str().unwrap_or_default();
                assert!(!text.contains(" / "), "{} {name}: {text}", tool.name);
            }
        }
    }
}

//! What an argument means to a tool whose actions mean different things by it: in the face's own words, which say for which
//! action they hold. Where nothing is said here, the operation's own words stand.

/// Tool, argument, what is said of it.
const SAID: &[(&str, &str, &str)] = &[
    ("session_checkpoint", "task", "The task that the state belongs to; else the identity's own state"),
    ("session_checkpoint", "expected_version", "The version that you have seen; another one is refused"),
    ("session_wrap", "reason", "end: why"),
    ("session_wrap", "force", "Also a session that is another agent's; only when the user says so"),
    (
        "hd_exec",
        "handoff_id",
        "Exactly this `baton_id`, or this hand-off from another project; a unique prefix does",
    ),
    ("handoff_create", "links", "Where it comes from: `repository`, `ref`, `documents` (paths of specs), …"),
    ("handoff", "id", "Of a hand-off; get: or of a baton; import: of a transcript. A unique prefix does"),
    ("handoff", "state", "list: only this one: `offered`, `accepted`, `completed`, …"),
    ("handoff", "session", "document, reassign: the session, as `recall sessions` lists it"),
    ("handoff", "from_session", "preview: only a baton that this session left"),
    ("handoff", "handoff_id", "preview: exactly this one"),
    ("handoff", "why", "Why; written into the ledger"),
    ("handoff", "result", "complete: what came of it; decline, cancel: why"),
    ("handoff", "to", "document, reassign: the tool or identity that goes on"),
    ("handoff", "agent", "import: the tool that wrote it: `claude`, `codex`, …"),
    ("handoff", "budget", "document: its size in tokens (`2000`) or bytes (`2KiB`)"),
    ("task_read", "limit", "At most so many; 0 for all"),
    ("task_write", "title", "One line"),
    ("task_write", "description", "What is to be done"),
    ("task_write", "acceptance_criteria", "How to tell that it is done"),
    ("task_write", "notes", "Anything else"),
    ("task_write", "priority", "0 (now) to 4 (some day)"),
    ("task_write", "issue_type", "`task`, `bug`, `feature`, `epic`, `chore` or a word of your own"),
    (
        "task_write",
        "agent_role",
        "Role it wants: `implementation`, `testing`, `fixing`, `verification` or your own; claim: only such a task",
    ),
    ("task_write", "labels", "update: in place of those before"),
    ("task_write", "specialist_tags", "What its agent has to be good at"),
    ("task_write", "estimated_duration", "In minutes"),
    ("task_write", "parent", "The task that it is a part of"),
    (
        "task_write",
        "id",
        "Task id or a unique prefix; claim without it: the first that is ready; create: an id of your own",
    ),
    (
        "task_write",
        "agent_context",
        "What was done so far, at most 16 KiB; update replaces it, or merges with `merge`",
    ),
    ("task_write", "handoff_instructions", "What the next one needs to know; likewise"),
    ("task_write", "tags", "claim: only one with at least one of these"),
    ("task_write", "result", "close: how it went; else the words of the reason decide"),
    ("task_write", "reason", "close: why, what failed"),
    ("task_write", "context", "close: what was done, found or logged: merged into `agent_context`"),
    ("task_write", "token", "`token` of the claim: the write is refused when the lease is lost"),
    (
        "task_write",
        "sensitive",
        "Encrypt `agent_context` and `handoff_instructions` for those whose key is listed",
    ),
    ("task_write", "text", "comment: what is said"),
    ("task_write", "while_alive", "claim: for as long as your process lives; else until `expires_at`"),
    ("task_write", "merge", "update: merge both objects (RFC 7396) in place of replacing them"),
    ("task_write", "deps", "What it depends on, as `ID` or `TYPE:ID`; `blocks:ID`: it blocks that one"),
    ("mail", "message_id", "The message, or any of its thread; a unique prefix does"),
    (
        "mail",
        "type",
        "`message` (usual), a signal's type, or a hand-off message: `task_assignment`, `task_handoff`, \
         `test_failure_report`, `fix_complete`, `verification_request`",
    ),
    ("mail", "body", "The text; ack: an answer to its sender"),
    ("mail", "content", "The fields of a hand-off message; a refusal says what is missing"),
    ("recall", "kind", "ledger, memories: only this kind; remember: `note`, `decision`, `issue` or any word"),
    ("recall", "limit", "At most so many"),
    ("recall", "query", "memories, search: words that all occur; search: also `\"phrases\"` and `begin*`"),
    ("recall", "since_ms", "Only from this instant on, in epoch milliseconds"),
    ("recall", "tags", "memories: those with all of these; remember: its tags"),
    ("recall", "text", "remember: what"),
    (
        "recall",
        "id",
        "Of a transcript: as listed, a unique prefix, a path, or `latest` (of this project, else of all)",
    ),
    ("recall", "agent", "The tool that wrote it: `claude`, `codex`, …"),
    ("recall", "session", "ledger: only of this session"),
];

/// What this tool says of an argument.
pub(crate) fn argument_doc(tool: &str, argument: &str) -> Option<&'static str> {
    SAID.iter().find(|(of, name, _)| *of == tool && *name == argument).map(|(_, _, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{ToolSet, list};

    #[test]
    fn what_is_said_is_said_of_an_argument_that_exists() {
        let tools = list(&ToolSet::default());
        for (tool, argument, text) in SAID {
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

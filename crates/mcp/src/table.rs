//! The tools: which one offers which operations. A line here is all that it takes to offer one more.

pub use crate::not_offered::NOT_OFFERED;
use baton_ops::op::{Operation, OperationEntry, SessionEffect, TxMode};
use baton_ops::{agent, handoff, ledger, memory, message, project, session, task, transcript};

/// One tool as agents see it.
pub struct Tool {
    /// snake_case, at most [`crate::MAX_NAME`] characters.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// When to use it, in words that an agent can act on. What each action does comes from the operations.
    pub doc: &'static str,
    /// What it offers. A tool with one action takes no `action`.
    pub actions: &'static [Action],
    /// Arguments of its operations that are left to the command line: a model reads every word of a list of tools.
    pub omit: &'static [&'static str],
    /// Actions that calls of earlier versions name here. They are understood and not listed; another tool lists them.
    pub unlisted: &'static [Action],
    /// Whether a call without `action` means the first.
    pub has_default: bool,
    /// Whether it may take something away.
    pub destructive: bool,
    /// Whether clients that hide tools behind a search should show it at once.
    pub always: bool,
}

/// One thing that a tool does.
pub struct Action {
    /// The value of `action`.
    pub name: &'static str,
    /// The operation of the table that does it.
    pub operation: &'static str,
    /// What this action says in the caller's place.
    pub fixed: &'static [(&'static str, FixedArgument)],
    /// What it does, where the operation's own line does not say it.
    pub doc: &'static str,
}

/// A value that an action gives to its operation.
#[derive(Clone, Copy)]
pub enum FixedArgument {
    /// A text.
    Text(&'static str),
    /// Yes.
    Yes,
}

/// The face's own action: reads on in an answer that was too long. It is no operation, since it touches no ledger.
pub const READ_MORE: &str = "rest";

const fn op(name: &'static str, operation: &'static str) -> Action {
    Action { name, operation, fixed: &[], doc: "" }
}

/// An action with its own description, in place of the operation's.
const fn with_doc(name: &'static str, operation: &'static str, doc: &'static str) -> Action {
    Action { name, operation, fixed: &[], doc }
}

/// One of the answers to a hand-off.
const fn advance(fixed: &'static [(&'static str, FixedArgument)], doc: &'static str) -> Action {
    let name = if let [(_, FixedArgument::Text(name))] = fixed { name } else { "" };
    Action { name, operation: handoff::Advance::NAME, fixed, doc }
}

/// A baton as it would be picked up.
const PREVIEW: Action = Action {
    name: "preview",
    operation: session::Pickup::NAME,
    fixed: &[("dry_run", FixedArgument::Yes)],
    doc: "Show a baton as hd_exec would give it, claiming nothing",
};

/// Operations that keep headers of the transcripts that they read: a cache that no other caller sees.
const CACHING: &[&str] = &[transcript::List::NAME, transcript::Show::NAME, transcript::Document::NAME];

const fn only(operation: &'static str) -> Action {
    op("", operation)
}

/// The tools, in the order in which they are listed. Those that read and those that change are apart, so that reading can be
/// allowed once.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "session_start",
        title: "Start a session",
        doc: "Call first for fresh work: registers you and shows who is at work and what waits. To continue somebody's work, call \
            hd_exec instead.",
        actions: &[only(session::Start::NAME)],
        omit: &[],
        unlisted: &[],
        has_default: true,
        destructive: false,
        always: true,
    },
    Tool {
        name: "session_checkpoint",
        title: "Save progress",
        doc: "Call after each step, so that a crash loses nothing, and for decisions and notes.",
        actions: &[
            op("save", session::Checkpoint::NAME),
            op("note", ledger::Note::NAME),
            op("remember", memory::Add::NAME),
        ],
        omit: &[],
        unlisted: &[],
        has_default: true,
        destructive: false,
        always: false,
    },
    Tool {
        name: "session_wrap",
        title: "Wrap up and leave the baton",
        doc: "Call when you stop: says what was done, what is next and what is open, and leaves a baton that exactly one other \
            agent picks up. Give `summary` and `next`, and in a `packet` any of: work_completed, next_steps, \
            open_loops, decisions [{what, why, rejected}], failed_attempts [{tried, why_failed}], constraints, \
            files_modified [{path, change}], commands [{command, exit_code}], test_command, test_status, known_issues, \
            focus, refs, git, environment, metadata.",
        actions: &[op("wrap", session::Wrap::NAME), op("end", session::End::NAME)],
        omit: &["fields", "changes"],
        unlisted: &[],
        has_default: true,
        destructive: false,
        always: true,
    },
    Tool {
        name: "hd_exec",
        title: "Pick up the baton",
        doc: "Call first when you continue another agent's work. Opens your session, claims the newest baton (or the one named) \
            and returns its packet in baton.body with history, tasks, decisions and messages.",
        actions: &[only(session::Pickup::NAME)],
        omit: &["full"],
        unlisted: &[],
        has_default: true,
        destructive: false,
        always: true,
    },
    Tool {
        name: "handoff_create",
        title: "Leave work for another project",
        doc: "Call when work belongs into another repository: makes a task there with your reasons and offers it.",
        actions: &[only(handoff::Create::NAME)],
        omit: &["local", "expires_in"],
        unlisted: &[],
        has_default: true,
        destructive: false,
        always: false,
    },
    Tool {
        name: "handoff",
        title: "Answer hand-offs",
        doc: "Answers an offered hand-off, hands a stuck session on. What waits: inbox.",
        actions: &[
            advance(&[("action", FixedArgument::Text("accept"))], "Take on what another project offered"),
            advance(&[("action", FixedArgument::Text("decline"))], "Say no to it"),
            advance(
                &[("action", FixedArgument::Text("complete"))],
                "Say what came of it; its sender is told",
            ),
            advance(&[("action", FixedArgument::Text("cancel"))], "Take back what you offered"),
            op("retry", handoff::Retry::NAME),
            with_doc(
                "reassign",
                session::Reassign::NAME,
                "End a session that is stuck, with the baton that it should have left for `to`",
            ),
            with_doc(
                "import",
                transcript::Import::NAME,
                "Make a baton of another tool's session that left none; then take it with hd_exec",
            ),
        ],
        omit: &["force", "summary"],
        unlisted: &[
            op("list", handoff::List::NAME),
            op("get", handoff::Show::NAME),
            PREVIEW,
            op("status", session::Status::NAME),
            op("document", session::SessionDocument::NAME),
            op("projects", project::List::NAME),
        ],
        has_default: false,
        // Whatever is answered stays in the ledger, and nothing is taken from a live agent.
        destructive: false,
        always: false,
    },
    Tool {
        name: "inbox",
        title: "See what waits",
        doc: "Shows what waits for you and who is there. Claims nothing.",
        actions: &[
            op("handoffs", handoff::List::NAME),
            op("get", handoff::Show::NAME),
            PREVIEW,
            op("mail", message::Inbox::NAME),
            op("thread", message::Thread::NAME),
            op("status", session::Status::NAME),
            op("document", session::SessionDocument::NAME),
            op("agents", agent::List::NAME),
            op("projects", project::List::NAME),
        ],
        omit: &[
            "actions",
            "force",
            "full",
            "ended",
            "preset",
            "role",
            "skill",
            "fresh",
            "all",
            "bodies",
            "why",
            "request_id",
            "cursor",
        ],
        unlisted: &[],
        has_default: false,
        destructive: false,
        always: false,
    },
    Tool {
        name: "task_read",
        title: "Read tasks",
        doc: "Reads the project's tasks.",
        actions: &[
            op("list", task::List::NAME),
            op("show", task::Show::NAME),
            op("ready", task::Ready::NAME),
            op("blocked", task::Blocked::NAME),
        ],
        omit: &[
            "board_state",
            "unassigned",
            "issue_type",
            "any_label",
            "parent",
            "edges",
            "after",
            "metadata",
            "durable",
            "other_types",
            "for_agent",
            "budget",
            "assigned_first",
            "ids",
            "actions_for",
        ],
        unlisted: &[],
        has_default: false,
        destructive: false,
        always: false,
    },
    Tool {
        name: "task_write",
        title: "Write tasks",
        doc: "Changes the project's tasks.",
        actions: &[
            op("create", task::Create::NAME),
            op("update", task::Update::NAME),
            op("claim", task::ClaimTask::NAME),
            with_doc(
                "close",
                task::Close::NAME,
                "Report how it went and close it; a failed test or verification wakes the fixing task with your reason",
            ),
            op("comment", task::Comment::NAME),
            op("increment", task::Increment::NAME),
        ],
        omit: &[
            "estimated_duration",
            "external_ref",
            "extra",
            "notes",
            "due",
            "defer",
            "lease_s",
            "previous_agent",
            "for_agent",
            "add_labels",
            "remove_labels",
            "after",
            "design",
            "close_reason",
            "append_notes",
            "force",
            "why",
            "budget",
        ],
        unlisted: &[],
        has_default: false,
        destructive: false,
        always: false,
    },
    Tool {
        name: "mail",
        title: "Messages between agents",
        doc: "Short messages to another agent of the project, by identity or role. What was in hd_exec's answer is read already.",
        actions: &[
            op("read", message::Read::NAME),
            op("send", message::MailSend::NAME),
            op("ack", message::MailAck::NAME),
            op("recall", message::Retract::NAME),
        ],
        omit: &["to_project", "expires_in_s", "ack_by_s", "sensitive", "ack_required", "wait"],
        unlisted: &[
            op("inbox", message::Inbox::NAME),
            op("thread", message::Thread::NAME),
            op("agents", agent::List::NAME),
        ],
        has_default: false,
        destructive: false,
        always: false,
    },
    Tool {
        name: "recall",
        title: "Look back",
        doc: "Reads what happened: the project's ledger (notes, decisions, wraps) and the transcripts of every coding agent on \
            this machine. `rest` reads on where an answer says `left_out`.",
        actions: &[
            op("ledger", ledger::LedgerList::NAME),
            op("sessions", session::History::NAME),
            op("memories", memory::Search::NAME),
            op("search", transcript::Search::NAME),
            with_doc(
                "transcripts",
                transcript::List::NAME,
                "List sessions of every coding agent on this machine, this project's first",
            ),
            op("transcript", transcript::Show::NAME),
            with_doc(
                "document",
                transcript::Document::NAME,
                "Make a hand-off document of such a session, for you to go on from",
            ),
            Action { name: READ_MORE, operation: READ_MORE, fixed: &[], doc: "Read on in a long answer" },
        ],
        omit: &[
            "before",
            "by",
            "text",
            "chain",
            "no_refresh",
            "preset",
            "last",
            "related",
            "brief",
            "newest",
            "summary",
            "to",
            "all",
            "open",
            "cursor",
        ],
        unlisted: &[],
        has_default: false,
        destructive: false,
        always: false,
    },
];

/// Names that are understood in calls and never listed: the seed's.
pub const ALIASES: &[(&str, &str)] = &[("ims.handoff.create", handoff::Create::NAME)];

impl Tool {
    /// The action of this name.
    pub fn action(&self, name: &str) -> Option<&'static Action> {
        self.actions.iter().find(|action| action.name == name)
    }
}

impl Action {
    /// The line of the table of operations; none for the face's own action.
    pub fn entry(&self) -> Option<&'static OperationEntry> {
        baton_ops::all::find(self.operation).ok()
    }

    /// Whether its operation has an argument of this name.
    pub fn takes(&self, name: &str) -> bool {
        let schema = |entry: &OperationEntry| serde_json::Value::from((entry.input_schema)());
        self.entry().is_some_and(|entry| schema(entry)["properties"].get(name).is_some())
    }

    /// What it does to the caller's session.
    pub fn session_effect(&self) -> SessionEffect {
        self.entry().map_or(SessionEffect::None, |entry| entry.session)
    }

    /// Whether it changes nothing.
    pub fn reads(&self) -> bool {
        let previews =
            self.fixed.iter().any(|(name, value)| *name == "dry_run" && matches!(value, FixedArgument::Yes));
        let reads = previews || self.operation == READ_MORE || CACHING.contains(&self.operation);
        reads || self.entry().is_some_and(|entry| entry.tx_mode == TxMode::Read)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use baton_ops::all::ALL;

    use super::*;

    #[test]
    fn every_operation_is_offered_or_left_out_with_a_reason() {
        let offered: BTreeSet<&str> = TOOLS.iter().flat_map(|t| t.actions).map(|a| a.operation).collect();
        let left_out: BTreeSet<&str> = NOT_OFFERED.iter().map(|(name, _)| *name).collect();
        for entry in ALL {
            let (a, b) = (offered.contains(entry.name), left_out.contains(entry.name));
            assert!(a != b, "`{}`: give it a line in TOOLS, or one in NOT_OFFERED, not both", entry.name);
        }
        for name in offered.iter().chain(&left_out) {
            assert!(
                *name == READ_MORE || ALL.iter().any(|entry| entry.name == *name),
                "no operation `{name}`"
            );
        }
    }

    /// The preview of `hd_exec` and the answers to a hand-off are one operation each, told apart by what is fixed.
    #[test]
    fn no_operation_is_reachable_under_two_names() {
        let mut seen = BTreeSet::new();
        for action in TOOLS.iter().flat_map(|tool| tool.actions) {
            let fixed: Vec<&str> = action.fixed.iter().map(|(name, _)| *name).collect();
            let name = if fixed.is_empty() { "" } else { action.name };
            assert!(seen.insert((action.operation, name)), "{} is offered twice", action.operation);
        }
    }

    #[test]
    fn actions_have_names_where_there_are_several() {
        for tool in TOOLS {
            let names: BTreeSet<&str> = tool.actions.iter().map(|action| action.name).collect();
            assert_eq!(names.len(), tool.actions.len(), "{}", tool.name);
            assert_eq!(names.contains(""), tool.actions.len() == 1, "{}", tool.name);
        }
    }
}

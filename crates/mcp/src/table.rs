//! The tools: which one offers which operations. A line here is all that it takes to offer one more.

use baton_ops::op::{Access, Entry, Operation, SessionEffect};
use baton_ops::{
    agent, audit, handoff, key, lease, ledger, memory, message, project, session, task, token, transcript,
};

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
pub const REST: &str = "rest";

const fn op(name: &'static str, operation: &'static str) -> Action {
    Action { name, operation, fixed: &[], doc: "" }
}

/// The same in other words than the operation's own.
const fn with_doc(name: &'static str, operation: &'static str, doc: &'static str) -> Action {
    Action { name, operation, fixed: &[], doc }
}

/// One of the answers to a hand-off.
const fn advance(fixed: &'static [(&'static str, FixedArgument)], doc: &'static str) -> Action {
    let name = match fixed {
        [(_, FixedArgument::Text(name))] => name,
        _ => "",
    };
    Action { name, operation: handoff::Advance::NAME, fixed, doc }
}

const fn only(operation: &'static str) -> Action {
    op("", operation)
}

/// The ten tools, in the order in which they are listed for ever.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "session_start",
        title: "Start a session",
        doc: "Call first when you begin fresh work. Registers you and shows who else is at work and what waits. To continue \
            work that somebody left, call hd_exec instead.",
        actions: &[only(session::Start::NAME)],
        omit: &[],
        has_default: true,
        destructive: false,
        always: true,
    },
    Tool {
        name: "session_checkpoint",
        title: "Save progress",
        doc: "Call after each finished step, so that a crash loses nothing, and to write down a decision or a note.",
        actions: &[op("save", session::Checkpoint::NAME), op("note", ledger::Note::NAME)],
        omit: &[],
        has_default: true,
        destructive: false,
        always: false,
    },
    Tool {
        name: "session_wrap",
        title: "Wrap up and leave the baton",
        doc: "Call when you stop: says what was done, what is next and what is open, and leaves a baton that exactly one other \
            agent picks up. Give `summary` and `next`, or a `packet` with any of: summary, work_completed, next_steps, \
            open_loops, decisions [{what, why, rejected}], failed_attempts [{tried, why_failed}], constraints, \
            files_modified [{path, change}], commands [{command, exit_code}], test_command, test_status, known_issues, \
            focus, refs, git, environment, metadata.",
        actions: &[op("wrap", session::Wrap::NAME), op("end", session::End::NAME)],
        omit: &[],
        has_default: true,
        destructive: false,
        always: true,
    },
    Tool {
        name: "hd_exec",
        title: "Pick up the baton",
        doc: "Call first when you continue another agent's work. Opens your session, claims the newest baton (or the one named) \
            and returns its packet in baton.body with recent history, tasks, decisions and messages.",
        actions: &[only(session::Pickup::NAME)],
        omit: &["full"],
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
        has_default: true,
        destructive: false,
        always: false,
    },
    Tool {
        name: "handoff",
        title: "Look at hand-offs and answer them",
        doc: "Lists what waits, previews a baton without claiming it, answers an offered hand-off, hands a stuck session on.",
        actions: &[
            op("list", handoff::List::NAME),
            op("get", handoff::Show::NAME),
            Action {
                name: "preview",
                operation: session::Pickup::NAME,
                fixed: &[("dry_run", FixedArgument::Yes)],
                doc: "Show a baton as hd_exec would give it, claiming nothing",
            },
            advance(&[("action", FixedArgument::Text("accept"))], "Take on what another project offered"),
            advance(&[("action", FixedArgument::Text("decline"))], "Say no to it"),
            advance(
                &[("action", FixedArgument::Text("complete"))],
                "Say what came of it; its sender is told",
            ),
            advance(&[("action", FixedArgument::Text("cancel"))], "Take back what you offered"),
            op("retry", handoff::Retry::NAME),
            op("status", session::Status::NAME),
            op("document", session::Handoff::NAME),
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
            op("projects", project::List::NAME),
        ],
        omit: &["force", "full", "preset", "summary"],
        has_default: false,
        destructive: true,
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
            "unassigned",
            "issue_type",
            "any_label",
            "parent",
            "edges",
            "after",
            "metadata",
            "for_agent",
            "budget",
        ],
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
                "Report how it went and close it. A test or verification that failed wakes the task that fixes, with your reason",
            ),
            op("comment", task::Comment::NAME),
            op("increment", task::Increment::NAME),
        ],
        omit: &[
            "external_ref",
            "extra",
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
        has_default: false,
        destructive: false,
        always: false,
    },
    Tool {
        name: "mail",
        title: "Messages between agents",
        doc: "Short messages to another agent of the project, by identity or role; `agents` lists both. What was in hd_exec's answer is read already.",
        actions: &[
            op("inbox", message::Inbox::NAME),
            op("read", message::Read::NAME),
            op("thread", message::Thread::NAME),
            op("send", message::MailSend::NAME),
            op("ack", message::MailAck::NAME),
            op("recall", message::Recall::NAME),
            op("agents", agent::List::NAME),
        ],
        omit: &[
            "to_project",
            "expires_in_s",
            "ack_by_s",
            "sensitive",
            "role",
            "skill",
            "fresh",
            "all",
            "bodies",
            "ack_required",
            "wait",
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
            op("remember", memory::Add::NAME),
            op("search", transcript::Search::NAME),
            with_doc(
                "transcripts",
                transcript::List::NAME,
                "List sessions of every coding agent on this machine, this project's first, then newest first",
            ),
            op("transcript", transcript::Show::NAME),
            with_doc(
                "document",
                transcript::Document::NAME,
                "Make a hand-off document of such a session, for you to go on from",
            ),
            Action { name: REST, operation: REST, fixed: &[], doc: "Read on in a long answer" },
        ],
        omit: &["chain", "no_refresh", "preset", "last", "related", "brief", "newest", "summary", "to"],
        has_default: false,
        destructive: false,
        always: false,
    },
];

/// Names that are understood in calls and never listed: the seed's.
pub const ALIASES: &[(&str, &str)] = &[("ims.handoff.create", handoff::Create::NAME)];

/// Operations that no tool offers, each with its reason.
pub const NOT_OFFERED: &[(&str, &str)] = &[
    (agent::RolesShown::NAME, "for the person who writes the roles file: `baton agent roles`"),
    (agent::Show::NAME, "in the list of agents"),
    (agent::Register::NAME, "registered where the agent is set up: `baton agent register`"),
    (task::BeadsExport::NAME, "a whole file at once: `baton export beads`"),
    (task::BeadsImport::NAME, "a whole file at once: `baton import beads`"),
    (task::BeadsPublished::NAME, "for the command line, which keeps the file"),
    (handoff::Publish::NAME, "a person puts a task on GitHub: `baton handoff publish`"),
    (key::Add::NAME, "a person lists a key: `baton key add`"),
    (key::Create::NAME, "a person makes a key: `baton key create`"),
    (key::List::NAME, "a person looks after keys: `baton key list`"),
    (key::Remove::NAME, "a person removes a key: `baton key remove`"),
    (lease::List::NAME, "the list is short of room: `baton lease list`"),
    (lease::Release::NAME, "a lease ends with its session; sooner: `baton lease release`"),
    (lease::Take::NAME, "the list is short of room: `baton lease take`"),
    (message::Search::NAME, "the list is short of room: `baton mail search`"),
    (message::Threads::NAME, "for the page: the inbox names what is in threads"),
    (message::MailSchema::NAME, "in docs/messages.json, and a message that does not fit is told where"),
    (message::Ack::NAME, "mail acknowledges signals too"),
    (message::Delivered::NAME, "the server marks what was written out"),
    (message::Pending::NAME, "in the inbox"),
    (message::Send::NAME, "mail sends signals too"),
    (task::Board::NAME, "for people: `baton task`"),
    (task::Reopen::NAME, "update sets the status"),
    (task::Depend::NAME, "create takes `deps`; later: `baton task dep`"),
    (task::Cycles::NAME, "a cycle is refused when it would arise: `bd dep cycles`"),
    (task::Stats::NAME, "for people: `baton task stats`"),
    (task::Tree::NAME, "for people: `bd dep tree`"),
    (audit::Report::NAME, "reads instruction files, which only the command line does"),
    (ledger::Export::NAME, "a whole project at once: `baton log export`"),
    (ledger::Heads::NAME, "for the server's own stream of events"),
    (ledger::Import::NAME, "a whole project at once: `baton log import`"),
    (project::RemovePlace::NAME, "a person decides: `baton project remove`"),
    (project::Merge::NAME, "a person decides: `baton project merge`"),
    (project::Places::NAME, "who works where is in every status card; `baton project places`"),
    (project::Split::NAME, "a person decides: `baton project split`"),
    (project::Init::NAME, "a person registers a repository: `baton init`"),
    (memory::Reindex::NAME, "for whoever runs it: `baton memory reindex`"),
    (memory::MemoryScope::NAME, "asked by the faces before a search"),
    (memory::Withdraw::NAME, "a person withdraws: `baton memory withdraw`"),
    (project::Overview::NAME, "for the page: every project at a glance"),
    (project::Relate::NAME, "a person decides: `baton project relate`"),
    (project::Set::NAME, "a person decides: `baton project set`"),
    (project::Show::NAME, "in every status card"),
    (session::Resolve::NAME, "a person asks which work was meant: `baton resolve`"),
    (session::Heartbeat::NAME, "the server beats by itself"),
    (task::Release::NAME, "a worker gives back what its command could not do"),
    (task::Route::NAME, "the router gives work out: `baton route`, `baton serve`"),
    (token::Check::NAME, "the server asks it at its door"),
    (token::Create::NAME, "a person gives access: `baton token create`"),
    (token::List::NAME, "a person gives access: `baton token list`"),
    (token::Revoke::NAME, "a person gives access: `baton token revoke`"),
    (handoff::TrackerEvent::NAME, "GitHub calls it, with a signature"),
    (project::Search::NAME, "the page searches over everything; `recall` and `task_read` are for agents"),
    (transcript::Capture::NAME, "hooks capture what an agent did"),
    (transcript::Continue::NAME, "a person goes on in another tool: `baton continue`"),
    (transcript::Events::NAME, "for writing another tool's session: `baton continue --native`"),
    (transcript::Find::NAME, "for the picker of `baton continue`"),
    (ledger::StoreCheck::NAME, "for the person who keeps the store: `baton doctor`"),
];

impl Tool {
    /// The action of this name.
    pub fn action(&self, name: &str) -> Option<&'static Action> {
        self.actions.iter().find(|action| action.name == name)
    }
}

impl Action {
    /// The line of the table of operations; none for the face's own action.
    pub fn entry(&self) -> Option<&'static Entry> {
        baton_ops::all::find(self.operation).ok()
    }

    /// Whether its operation has an argument of this name.
    pub fn takes(&self, name: &str) -> bool {
        self.entry().is_some_and(|entry| {
            let schema = serde_json::Value::from((entry.input_schema)());
            schema["properties"].get(name).is_some()
        })
    }

    /// What it does to the caller's session.
    pub fn session_effect(&self) -> SessionEffect {
        self.entry().map_or(SessionEffect::None, |entry| entry.session)
    }

    /// Whether it changes nothing.
    pub fn reads(&self) -> bool {
        let previews =
            self.fixed.iter().any(|(name, value)| *name == "dry_run" && matches!(value, FixedArgument::Yes));
        self.operation == REST || previews || self.entry().is_some_and(|entry| entry.access == Access::Read)
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
            assert!(*name == REST || ALL.iter().any(|entry| entry.name == *name), "no operation `{name}`");
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

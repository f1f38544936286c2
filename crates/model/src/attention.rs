//! What needs a person: the reason, since when, and what helps.

use serde::{Deserialize, Serialize};

use crate::id::{identity_key, short};
use crate::message::ROLE;
use crate::row_action::OfferedAction;
use crate::shell::shell_word;
use crate::time::{Millis, Timestamp};

/// After this long a baton or a hand-off that no agent takes is starving, in milliseconds.
pub const STARVING_AFTER: Millis = 3_600_000;
/// After this long a hand-off that is still on its way is stuck, in milliseconds.
pub const STUCK_AFTER: Millis = 120_000;
/// A hand-off that came back needs the attention of others than its sender for this long, in milliseconds; the card shows it as long.
pub const RETURNED_FOR: Millis = 7 * 86_400_000;
/// An agent that is at work and has written nothing for this long, in milliseconds, needs a look.
pub const QUIET_AFTER: Millis = 2 * 3_600_000;
/// A task that was tried so often needs a person.
pub const RETRIES: i64 = 3;

/// Why something needs a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A session is open and its agent is not heard of.
    SessionSilent,
    /// An agent is at work and has written nothing for long.
    SessionQuiet,
    /// A step of a hand-off failed for good.
    HandoffFailed,
    /// A hand-off does not reach its receiver.
    HandoffStuck,
    /// A hand-off was offered long ago, and is neither accepted nor declined.
    HandoffStarving,
    /// A hand-off was offered a short while ago.
    HandoffWaiting,
    /// A hand-off came back: it was declined, or it expired.
    HandoffReturned,
    /// A baton was left long ago, and no session holds it.
    BatonStarving,
    /// A baton was left a short while ago.
    BatonWaiting,
    /// A question, a blocker or a critical message was sent long ago and is not read.
    MessageUnread,
    /// A question, a blocker or a critical message was sent a short while ago and is not read.
    MessageWaiting,
    /// A question or a blocker was read long ago and is not answered.
    AnswerLate,
    /// A question or a blocker was read a short while ago and is not answered.
    AnswerWaiting,
    /// A message is not acknowledged in time.
    AckLate,
    /// A task was tried again and again.
    TaskRetried,
    /// A task of the highest priority cannot go on.
    TaskBlocked,
    /// Two agents announced work on the same paths.
    LeaseConflict,
    /// Two agents are at work in one working copy.
    WorkingCopyShared,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 18] = [
        Self::SessionSilent,
        Self::SessionQuiet,
        Self::HandoffFailed,
        Self::HandoffStuck,
        Self::HandoffStarving,
        Self::HandoffWaiting,
        Self::HandoffReturned,
        Self::BatonStarving,
        Self::BatonWaiting,
        Self::MessageUnread,
        Self::MessageWaiting,
        Self::AnswerLate,
        Self::AnswerWaiting,
        Self::AckLate,
        Self::TaskRetried,
        Self::TaskBlocked,
        Self::LeaseConflict,
        Self::WorkingCopyShared,
    ];

    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionSilent => "session_silent",
            Self::SessionQuiet => "session_quiet",
            Self::HandoffFailed => "handoff_failed",
            Self::HandoffStuck => "handoff_stuck",
            Self::HandoffStarving => "handoff_starving",
            Self::HandoffWaiting => "handoff_waiting",
            Self::HandoffReturned => "handoff_returned",
            Self::BatonStarving => "baton_starving",
            Self::BatonWaiting => "baton_waiting",
            Self::MessageUnread => "message_unread",
            Self::MessageWaiting => "message_waiting",
            Self::AnswerLate => "answer_late",
            Self::AnswerWaiting => "answer_waiting",
            Self::AckLate => "ack_late",
            Self::TaskRetried => "task_retried",
            Self::TaskBlocked => "task_blocked",
            Self::LeaseConflict => "lease_conflict",
            Self::WorkingCopyShared => "working_copy_shared",
        }
    }

    /// Reads the word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }

    /// In words of people, as a heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::SessionSilent => "silent session",
            Self::SessionQuiet => "quiet session",
            Self::HandoffFailed => "failed hand-off",
            Self::HandoffStuck => "stuck hand-off",
            Self::HandoffStarving => "starving hand-off",
            Self::HandoffWaiting => "waiting hand-off",
            Self::HandoffReturned => "returned hand-off",
            Self::BatonStarving => "starving baton",
            Self::BatonWaiting => "waiting baton",
            Self::MessageUnread => "unread message",
            Self::MessageWaiting => "new message",
            Self::AnswerLate => "unanswered question",
            Self::AnswerWaiting => "read question",
            Self::AckLate => "late acknowledgement",
            Self::TaskRetried => "retried task",
            Self::TaskBlocked => "blocked P0 task",
            Self::LeaseConflict => "lease conflict",
            Self::WorkingCopyShared => "shared working copy",
        }
    }

    /// So many of them, in words of people: `2 failed hand-offs`.
    pub fn count(self, count: usize) -> String {
        let title = self.title();
        match self {
            _ if count == 1 => format!("1 {title}"),
            Self::TaskBlocked => format!("{count} blocked P0 tasks"),
            Self::WorkingCopyShared => format!("{count} shared working copies"),
            _ => format!("{count} {title}s"),
        }
    }

    /// How bad it is, the worst first: what is broken, what waits too long, what only waits. A silent agent that holds work comes before
    /// all ([`AttentionItem::rank`]).
    pub fn rank(self) -> u8 {
        match self {
            Self::HandoffFailed
            | Self::HandoffReturned
            | Self::TaskRetried
            | Self::TaskBlocked
            | Self::LeaseConflict
            | Self::WorkingCopyShared => 1,
            Self::SessionSilent
            | Self::SessionQuiet
            | Self::HandoffStuck
            | Self::HandoffStarving
            | Self::BatonStarving
            | Self::MessageUnread
            | Self::AnswerLate
            | Self::AckLate => 2,
            Self::HandoffWaiting | Self::BatonWaiting | Self::MessageWaiting | Self::AnswerWaiting => 3,
        }
    }

    /// Whether it only waits, and needs no attention yet.
    pub fn is_fresh(self) -> bool {
        matches!(self, Self::HandoffWaiting | Self::BatonWaiting | Self::MessageWaiting | Self::AnswerWaiting)
    }
}

/// A part of the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// What is for the identity that looks, or its own.
    Mine,
    /// What else needs a person.
    Concern,
    /// What else only waits.
    Waiting,
}

impl Section {
    /// Every section.
    pub const ALL: [Self; 3] = [Self::Mine, Self::Concern, Self::Waiting];

    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mine => "mine",
            Self::Concern => "concern",
            Self::Waiting => "waiting",
        }
    }

    /// Reads the word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|section| section.as_str() == word)
    }

    /// Whether an item with this reason may stand in it.
    pub fn has(self, reason: Reason) -> bool {
        match self {
            Self::Mine => true,
            Self::Concern => !reason.is_fresh(),
            Self::Waiting => reason.is_fresh(),
        }
    }
}

/// Something that needs a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttentionItem {
    /// Why.
    pub reason: Reason,
    /// The project that it is in.
    pub project_id: String,
    /// Id of the session, hand-off, baton, message, task or lease.
    pub id: String,
    /// Its words: a subject, a summary, a title.
    pub subject: String,
    /// Whose it is, or who sent it.
    pub from: Option<String>,
    /// For whom it is: a name, the address of a role, or a project.
    pub to: Option<String>,
    /// Since when.
    pub since: Timestamp,
    /// What is known besides: an error, the blocker, the other holder.
    pub detail: Option<String>,
    /// The command that helps.
    pub help: String,
    /// Of a task: it was given up, and is not ready until it is opened again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocked: bool,
    /// Of a shared working copy: everybody who is at work in it, who came first first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// Of a task that waits: the task for which it waits first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocker: Option<Blocker>,
    /// The author of a task without an assignee, whose inbox it is in.
    #[serde(skip)]
    pub made_by: Option<String>,
    /// Of a silent session: it holds a baton, a task, paths or a hand-off, which no other session can take meanwhile.
    #[serde(skip)]
    pub holds_work: bool,
    /// What the one who looks can do about it, the first thing first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<OfferedAction>,
}

/// A task for which another one waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocker {
    /// Its id, in the same project.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Where it stands.
    pub status: String,
    /// Who is at work on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Whom it is assigned to, where nobody is at work on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
}

/// The command that opens a task again, which gives it its attempts once more.
pub fn reopen_command(project_id: &str, task_id: &str) -> String {
    format!("baton task update {task_id} --status open --project {project_id}")
}

/// What the command that helps is made of.
pub struct SuggestedCommand<'a> {
    /// Why.
    pub reason: Reason,
    /// The project.
    pub project_id: &'a str,
    /// Id of what needs a person.
    pub id: &'a str,
    /// Its words; of a lease, the pattern.
    pub subject: &'a str,
    /// For whom it is.
    pub to: Option<&'a str>,
}

impl AttentionItem {
    /// The last of the ranks.
    pub const LAST_RANK: u8 = 3;

    /// How bad it is, the worst first.
    pub fn rank(&self) -> u8 {
        if self.holds_work { 0 } else { self.reason.rank() }
    }

    /// Whether the identity of this key sent it; the sender of a hand-off is named behind its project.
    pub fn is_sent_by(&self, key: &str) -> bool {
        let sender = self.from.as_deref().unwrap_or_default();
        let name = sender.split_once('/').map_or(sender, |(_, name)| name);
        !key.is_empty() && identity_key(name) == key
    }

    /// Whether it is addressed to the identity of this key.
    pub fn is_for(&self, key: &str) -> bool {
        self.to.as_deref().is_some_and(|to| identity_key(to) == key)
    }

    /// Takes the command that helps its sender: what one sent is taken back or read, and neither accepted nor answered.
    pub fn suggest_to_sender(&mut self, key: &str) {
        let (brief, project_id) = (short(&self.id), &self.project_id);
        match self.reason {
            Reason::HandoffStarving | Reason::HandoffWaiting => {
                self.help = format!("baton handoff cancel {brief}")
            }
            Reason::BatonStarving | Reason::BatonWaiting if self.to.is_some() && !self.is_for(key) => {
                self.help = format!("baton batons withdraw {brief} --project {project_id}");
            }
            Reason::MessageUnread
            | Reason::MessageWaiting
            | Reason::AnswerLate
            | Reason::AnswerWaiting
            | Reason::AckLate => {
                self.help = format!("baton mail thread {brief} --project {project_id}");
            }
            _ => {}
        }
    }
}

impl SuggestedCommand<'_> {
    /// The command that helps.
    pub fn command(&self) -> String {
        let SuggestedCommand { project_id, id, .. } = self;
        let brief = short(id);
        // No agent acts under the address of a role: the one that has the role says its own name.
        match (self.reason, self.to.filter(|to| !to.starts_with(ROLE))) {
            (Reason::SessionSilent, _) => {
                format!("baton pickup --from-session {brief} --project {project_id}")
            }
            (Reason::SessionQuiet | Reason::WorkingCopyShared, _) => {
                format!("baton sessions show {brief} --project {project_id}")
            }
            (Reason::HandoffReturned, _) => format!("baton handoff show {brief}"),
            (
                Reason::MessageUnread | Reason::MessageWaiting | Reason::AnswerLate | Reason::AnswerWaiting,
                to,
            ) => match to {
                Some(to) => format!(
                    "baton mail send --as {} --reply-to {id} --project {project_id} --text '…'",
                    shell_word(to)
                ),
                None => format!("baton mail send --reply-to {id} --project {project_id} --text '…'"),
            },
            (Reason::HandoffFailed | Reason::HandoffStuck, _) => format!("baton handoff retry {brief}"),
            (
                Reason::HandoffStarving
                | Reason::HandoffWaiting
                | Reason::BatonStarving
                | Reason::BatonWaiting,
                _,
            ) => {
                format!("baton pickup --handoff {brief} --project {project_id}")
            }
            (Reason::AckLate, Some(to)) => {
                format!("baton mail ack {brief} --as {} --project {project_id}", shell_word(to))
            }
            (Reason::AckLate, None) => format!("baton mail ack {brief} --project {project_id}"),
            (Reason::TaskRetried | Reason::TaskBlocked, _) => {
                format!("baton task show {id} --project {project_id}")
            }
            (Reason::LeaseConflict, _) => {
                format!("baton lease list {} --project {project_id}", shell_word(self.subject))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_takes_back_or_reads_what_he_sent() {
        let item = |reason, from: &str| AttentionItem {
            reason,
            project_id: "docs".into(),
            id: "0199aaaa-bbbb".into(),
            subject: String::new(),
            from: Some(from.into()),
            to: None,
            since: Timestamp(0),
            detail: None,
            help: "baton pickup".into(),
            blocked: false,
            agents: Vec::new(),
            blocker: None,
            made_by: None,
            holds_work: false,
            actions: Vec::new(),
        };
        for (reason, from, command) in [
            (Reason::HandoffWaiting, "shop/Mara", "baton handoff cancel"),
            (Reason::HandoffStarving, "shop/mara", "baton handoff cancel"),
            (Reason::MessageUnread, "Mara", "baton mail thread"),
            (Reason::BatonWaiting, "Mara", "baton pickup"),
        ] {
            let mut item = item(reason, from);
            assert!(item.is_sent_by("mara") && !item.is_sent_by("shop") && !item.is_sent_by(""), "{from}");
            item.suggest_to_sender("mara");
            assert!(item.help.starts_with(command), "{}", item.help);
        }
    }

    #[test]
    fn every_reason_has_a_word_that_is_read_again() {
        for reason in Reason::ALL {
            assert_eq!(Reason::from_word(reason.as_str()), Some(reason));
            assert_eq!(serde_json::json!(reason), reason.as_str());
        }
        assert_eq!(Reason::from_word("boredom"), None);
    }

    #[test]
    fn the_command_that_helps_can_be_pasted_whatever_a_name_holds() {
        let id = "01999999-aaaa-7000-8000-000000000001";
        for reason in Reason::ALL {
            let suggestion = SuggestedCommand {
                reason,
                project_id: "shop",
                id,
                subject: "src/$(rm)'x",
                to: Some("Bob's bot"),
            };
            let line = suggestion.command();
            assert!(line.starts_with("baton "), "{line}");
            assert!(!line.contains("$(") || line.contains(r"'src/$(rm)'\''x'"), "{line}");
            assert!(!line.contains("Bob") || line.contains(r"'Bob'\''s bot'"), "{line}");
        }
    }
}

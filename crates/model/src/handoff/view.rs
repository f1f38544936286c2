//! A hand-off as answers show it.

use serde::{Deserialize, Serialize};

use super::{Handoff, State};
use crate::actor::{Actor, ActorType};
use crate::issue::without_advice;
use crate::time::{Timestamp, parse_rfc3339};

/// A hand-off as answers show it. Who accepted and who ended it, and results that came late, stand in it once there are any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Its id.
    pub handoff_id: String,
    /// Where it stands.
    pub state: State,
    /// One line.
    pub subject: String,
    /// The sender's project.
    pub from_project_id: String,
    /// What that one is called since it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_project_name: Option<String>,
    /// The receiver's project.
    pub to_project_id: String,
    /// What that one is called since it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_project_name: Option<String>,
    /// The identity that sent it.
    pub from_identity: String,
    /// The identity it is addressed to.
    pub to_identity: Option<String>,
    /// The role it is addressed to.
    pub to_role: Option<String>,
    /// The task in the receiver's tracker, once there is one.
    pub task: Option<TaskRef>,
    /// The memory note that goes with it.
    pub memory_id: Option<String>,
    /// The session that is seeded for it.
    pub session_id: Option<String>,
    /// When it expires, if it is not accepted.
    pub expires_at: Option<Timestamp>,
    /// What the receiver said at the end.
    pub result: Option<String>,
    /// Why it failed; of one that is over, without advice.
    pub last_error: Option<String>,
    /// `owner/repo` of the issues repository that was tried last, where its issue is not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issues_github_repo: Option<String>,
    /// When it was written down.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The identity that accepted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_by: Option<String>,
    /// When it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_at: Option<String>,
    /// When it was offered last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_at: Option<String>,
    /// Who ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ending>,
    /// Results and reasons that came when another stood, and remarks of those who had not accepted it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late_results: Vec<LateResult>,
    /// The names that the repository of its issue had before, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renames: Vec<Rename>,
    /// The hand-off that was left anew in its place, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
    /// Whether its issue's repository is not to be found on the tracker; `last_error` says how it answers then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repository_missing: bool,
}

impl View {
    /// What people call the sender's project.
    pub fn sender_project(&self) -> &str {
        self.from_project_name.as_deref().unwrap_or(&self.from_project_id)
    }

    /// What people call the receiver's project.
    pub fn receiver_project(&self) -> &str {
        self.to_project_name.as_deref().unwrap_or(&self.to_project_id)
    }

    /// In whose place an operator ended it: the sender's where it was cancelled, else the acceptor's. None where an own end is meant, or
    /// the name is not known here.
    pub fn in_place_of(&self) -> Option<&str> {
        self.ended.as_ref()?.forced.as_ref()?;
        match self.state {
            State::Cancelled => Some(&self.from_identity),
            _ => self.accepted_by.as_deref(),
        }
    }

    /// The same in a clause: `in Ann's place`.
    pub fn place_clause(&self) -> Option<String> {
        let is_forced = self.ended.as_ref().is_some_and(|ended| ended.forced.is_some());
        is_forced.then(|| match self.in_place_of() {
            Some(name) => format!("in {name}'s place"),
            None => "in the acceptor's place".to_owned(),
        })
    }

    /// What the other side reads of the end: the result or the reason, else why it was ended in another's place.
    pub fn closing_words(&self) -> Option<&str> {
        let forced = self.ended.as_ref().and_then(|ended| ended.forced.as_deref());
        self.result.as_deref().or(forced)
    }

    /// The age that a list shows: of one that waits since it was written down, else since it came into its state.
    pub fn stands_since(&self) -> Timestamp {
        match self.state {
            State::Planned | State::Pending | State::Offered => self.created_at,
            _ => self.state_since(),
        }
    }

    /// When it came into its present state. Later changes, such as a reopened issue or a late result, do not move it.
    pub fn state_since(&self) -> Timestamp {
        let known = match self.state {
            State::Planned | State::Pending | State::Failed => return self.updated_at,
            State::Offered => return parsed(self.offered_at.as_deref()).unwrap_or(self.created_at),
            State::Accepted => parsed(self.accepted_at.as_deref()),
            State::Expired => self.expires_at,
            State::Completed | State::Declined | State::Cancelled => None,
        };
        let ended = self.ended.as_ref().filter(|_| self.state != State::Accepted);
        ended.and_then(|ended| parsed(Some(&ended.at))).or(known).unwrap_or(self.updated_at)
    }
}

fn parsed(text: Option<&str>) -> Option<Timestamp> {
    text.and_then(parse_rfc3339).map(Timestamp)
}

/// The task of a hand-off in its tracker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRef {
    /// Its id.
    pub id: String,
    /// Its page, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Where it is kept.
    pub metadata: TaskPlace,
}

/// Where the task of a hand-off is kept: `tracker` in Baton itself, else the issue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskPlace {
    /// `owner/repo` of the issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub github_repo: Option<String>,
    /// Number of the issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub github_issue: Option<i64>,
    /// The issue's page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub github_url: Option<String>,
    /// `local`: the embedded tracker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracker: Option<String>,
}

/// Another name of the repository of an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rename {
    /// The name before.
    pub before: String,
    /// The name from then on.
    pub now: String,
    /// When that was seen.
    pub at: Timestamp,
}

/// Who ended a hand-off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// Who did it: an identity of the project that ended it, unless `by_type` says otherwise.
    pub by: String,
    /// What kind of actor that is.
    #[serde(default)]
    pub by_type: ActorType,
    /// When.
    pub at: String,
    /// The reason or the result that was given with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Why it was ended in another's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced: Option<String>,
}

impl Ending {
    /// Whether an agent of this name did it.
    pub fn is_by(&self, identity: &str) -> bool {
        Actor { name: &self.by, kind: self.by_type }.is(identity)
    }

    /// Who did it, in a sentence.
    pub fn actor(&self) -> String {
        match self.by_type {
            // Of a project whose people have no name here, `by` says so already.
            ActorType::Project => self.by.clone(),
            kind => kind.label(&self.by),
        }
    }
}

/// What words are that are kept beside a hand-off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LateWords {
    /// A result that came when the hand-off was over, or from an acceptor whose session another had ended.
    #[default]
    Result,
    /// The reason of one who declined then.
    Reason,
    /// What one said of it while another had accepted it.
    Remark,
}

impl LateWords {
    /// What people call them.
    pub fn label(self) -> &'static str {
        match self {
            Self::Result => "late result",
            Self::Reason => "late reason",
            Self::Remark => "remark",
        }
    }

    /// Whether this is the kind that earlier versions knew alone.
    pub fn is_result(&self) -> bool {
        *self == Self::Result
    }
}

/// Words that are not the result, because another result stood or another had accepted it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateResult {
    /// What they are.
    #[serde(default, skip_serializing_if = "LateWords::is_result")]
    pub kind: LateWords,
    /// Who did it.
    pub by: String,
    /// What kind of actor that is.
    #[serde(default, skip_serializing_if = "ActorType::is_agent")]
    pub by_type: ActorType,
    /// When.
    pub at: String,
    /// What came of it.
    pub result: String,
    /// The entry in the receiver's ledger that holds the same.
    pub delta_id: String,
}

/// The fields of a hand-off's plan that answers show.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ViewFields {
    url: Option<String>,
    accepted_as: Option<String>,
    accepted_at: Option<String>,
    offered_at: Option<String>,
    ended: Option<Ending>,
    late_results: Vec<LateResult>,
    renames: Vec<Rename>,
    replaced_by: Option<String>,
    repository_missing: bool,
}

impl Handoff {
    fn view_fields(&self) -> ViewFields {
        serde_json::from_str(&self.plan).unwrap_or_default()
    }

    /// The task's page, if it has one: as GitHub says it, else where GitHub has it.
    pub fn task_url(&self) -> Option<String> {
        self.page(self.view_fields().url)
    }

    fn page(&self, named: Option<String>) -> Option<String> {
        let (repo, number) = self.issues_repo.as_ref().zip(self.issue_number)?;
        Some(named.unwrap_or_else(|| format!("https://github.com/{repo}/issues/{number}")))
    }

    fn task_ref(&self, page: Option<String>) -> Option<TaskRef> {
        let id = self.task_id.clone()?;
        let metadata = match (&self.issues_repo, self.issue_number) {
            (Some(repo), Some(number)) => TaskPlace {
                github_repo: Some(repo.clone()),
                github_issue: Some(number),
                github_url: page.clone(),
                tracker: None,
            },
            _ => TaskPlace { tracker: Some("local".to_owned()), ..TaskPlace::default() },
        };
        Some(TaskRef { id, url: page, metadata })
    }
}

impl From<&Handoff> for View {
    fn from(handoff: &Handoff) -> Self {
        let ViewFields {
            url,
            accepted_as,
            accepted_at,
            offered_at,
            ended,
            late_results,
            renames,
            replaced_by,
            repository_missing,
        } = handoff.view_fields();
        Self {
            handoff_id: handoff.handoff_id.clone(),
            state: handoff.state,
            subject: handoff.subject.clone(),
            from_project_id: handoff.from_project_id.clone(),
            from_project_name: None,
            to_project_name: None,
            to_project_id: handoff.to_project_id.clone(),
            from_identity: handoff.from_identity.clone(),
            to_identity: handoff.to_identity.clone(),
            to_role: handoff.to_role.clone(),
            task: handoff.task_ref(handoff.page(url)),
            memory_id: handoff.memory_id.clone(),
            session_id: handoff.session_id.clone(),
            expires_at: handoff.expires_at.map(Timestamp),
            result: handoff.result.clone(),
            last_error: handoff.last_error.as_deref().map(|why| match handoff.state.is_over() {
                true => without_advice(why).to_owned(),
                false => why.to_owned(),
            }),
            issues_github_repo: handoff.issues_repo.clone().filter(|_| handoff.issue_number.is_none()),
            created_at: Timestamp(handoff.created_at),
            updated_at: Timestamp(handoff.updated_at),
            accepted_by: accepted_as,
            accepted_at,
            offered_at,
            ended,
            late_results,
            renames,
            replaced_by,
            repository_missing,
        }
    }
}

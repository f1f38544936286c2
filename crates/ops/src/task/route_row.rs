//! What a pass of the router says of a task.

use baton_model::handoff_message::Kind;
use baton_model::route::{self, Judgement};
use baton_model::task::Task;
use baton_model::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A task that a pass dealt with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutedTask {
    /// Its id.
    pub task_id: String,
    /// One line.
    pub title: String,
    /// Which role it wants.
    pub agent_role: Option<String>,
    /// What its agent has to be good at.
    pub tags: Vec<String>,
    /// 0 (now) to 4 (some day).
    pub priority: i64,
    /// How often it was tried.
    pub attempts: i64,
}

/// A task that was given to an agent, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The task.
    #[serde(flatten)]
    pub task: RoutedTask,
    /// The agent.
    pub agent: String,
    /// The type of the message that goes with it.
    pub message_type: Kind,
    /// With `explain`: how every agent was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Vec<Judgement>>,
    /// The message; none of a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The fencing token of the agent's claim; none of a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<i64>,
}

/// A task for which no agent is free, or that cannot be given to one as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingTask {
    /// The task.
    #[serde(flatten)]
    pub task: RoutedTask,
    /// Why it waits.
    pub why: String,
    /// How it waits.
    #[serde(flatten)]
    pub state: WaitState,
    /// With `explain`: how every agent was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Vec<Judgement>>,
}

/// How a task waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WaitState {
    /// For an agent.
    Queued {
        /// Since when, if that is written down.
        since: Option<Timestamp>,
        /// Whether a human was notified.
        #[serde(rename = "told")]
        human_notified: bool,
    },
    /// It is not ready to be routed.
    Unready {
        /// Whether it is.
        ready: bool,
    },
}

/// A task that is blocked after too many attempts, or would be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockedTask {
    /// The task.
    #[serde(flatten)]
    pub task: RoutedTask,
    /// The attempts, each as it was written down.
    pub failed_attempts: Vec<Value>,
    /// With `explain`: how every agent was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Vec<Judgement>>,
    /// Why it is blocked; none of a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What a step that was carried out adds to its row.
#[derive(Debug, Default)]
pub(super) struct StepEffect {
    pub(super) message_id: Option<String>,
    pub(super) token: Option<i64>,
    pub(super) why: Option<String>,
}

impl From<&Task> for RoutedTask {
    fn from(task: &Task) -> Self {
        Self {
            task_id: task.task_id.clone(),
            title: task.title.clone(),
            agent_role: task.agent_role.clone(),
            tags: task.specialist_tags.clone(),
            priority: task.priority,
            attempts: task.attempts,
        }
    }
}

impl WaitState {
    /// Of a task that waits for an agent; `tell`: a human is told now.
    pub(super) fn queued(task: &Task, tell: bool) -> Self {
        let since = route::queued_at(task).map(Timestamp);
        Self::Queued { since, human_notified: tell || route::was_notified(task) }
    }
}

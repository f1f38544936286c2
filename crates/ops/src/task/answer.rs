//! A task as the answer of a verb, and the tasks that are linked with one.

use baton_model::task::view::{Fields, View};
use serde::{Deserialize, Deserializer, Serialize};

/// A task with who acted on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskAnswer {
    /// The task.
    #[serde(flatten)]
    pub view: View,
    /// The identity that acted; none where a repeated request is answered with the task as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// Its session, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

impl<'de> Deserialize<'de> for TaskAnswer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        let (identity, session_id) = (fields.take("identity"), fields.take("session_id"));
        Ok(Self { identity, session_id, view: fields.into_view()? })
    }
}

/// The task of a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ClaimedTask {
    /// As it is now.
    Open(Box<TaskAnswer>),
    /// A sensitive one whose claim is over by the time of a repeated request: no word of its content.
    Withheld {
        /// Its id.
        id: String,
        /// Where it stands.
        status: String,
        /// That it is sensitive.
        sensitive: bool,
    },
}

/// A task that another is linked with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkedTask {
    /// The task.
    #[serde(flatten)]
    pub task: LinkTarget,
    /// Kind of the dependency.
    pub dependency_type: String,
}

/// What is shown of a linked task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LinkTarget {
    /// All of it.
    Whole(Box<View>),
    /// What tells it from others.
    Head {
        /// Its id.
        id: String,
        /// One line.
        title: String,
        /// Where it stands.
        status: String,
        /// 0 (now) to 4 (some day).
        priority: i64,
        /// Which role it wants.
        agent_role: Option<String>,
    },
    /// It is not there.
    Missing {
        /// Its id.
        id: String,
        /// That it is not.
        missing: bool,
    },
}

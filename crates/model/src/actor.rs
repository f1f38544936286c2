//! Actor of an entry: mostly an agent of the ledger, at times a user of GitHub, a project or Baton itself.

use serde::{Deserialize, Serialize};

use crate::id::identity_key;

/// What kind of actor a name belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActorType {
    /// An agent or a person who works in the project under an identity.
    #[default]
    Agent,
    /// A user of GitHub, who acted there.
    GithubUser,
    /// A tracker that does not say which of its users acted.
    Tracker,
    /// A project whose people are not named.
    Project,
    /// Baton itself: a deadline passed, or a step failed.
    System,
}

impl ActorType {
    /// Every type.
    pub const ALL: [Self; 5] = [Self::Agent, Self::GithubUser, Self::Tracker, Self::Project, Self::System];

    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::GithubUser => "github_user",
            Self::Tracker => "tracker",
            Self::Project => "project",
            Self::System => "system",
        }
    }

    /// Reads the word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Whether it reads mail and holds work under its name.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's `skip_serializing_if` passes a reference")]
    pub fn is_agent(&self) -> bool {
        *self == Self::Agent
    }

    /// The name of such an actor in a sentence. It reads like no agent's where it is none.
    pub fn label(self, name: &str) -> String {
        match self {
            Self::GithubUser => format!("{name} on GitHub"),
            Self::Project => format!("project {name}"),
            Self::Agent | Self::Tracker | Self::System => name.to_owned(),
        }
    }
}

/// An actor, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Actor<'a> {
    /// The identity, the login, or the project.
    pub name: &'a str,
    /// What kind of actor it is.
    pub kind: ActorType,
}

impl<'a> Actor<'a> {
    /// An agent of the ledger.
    pub fn agent(name: &'a str) -> Self {
        Self { name, kind: ActorType::Agent }
    }

    /// Whether it is the agent of this name.
    pub fn is(&self, identity: &str) -> bool {
        self.kind.is_agent() && identity_key(self.name) == identity_key(identity)
    }

    /// Its name in a sentence.
    pub fn label(&self) -> String {
        self.kind.label(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_survive_being_written() {
        for kind in ActorType::ALL {
            assert_eq!(ActorType::from_word(kind.as_str()), Some(kind));
            assert_eq!(serde_json::json!(kind), kind.as_str());
        }
        assert_eq!(ActorType::from_word("robot"), None);
    }

    #[test]
    fn nobody_reads_like_an_agent_who_is_none() {
        let label = |kind: ActorType| kind.label("lib");
        assert_eq!(label(ActorType::Agent), "lib");
        assert_eq!(label(ActorType::GithubUser), "lib on GitHub");
        assert_eq!(label(ActorType::Project), "project lib");
        assert_eq!(Actor { name: "GitHub", kind: ActorType::Tracker }.label(), "GitHub");
    }
}

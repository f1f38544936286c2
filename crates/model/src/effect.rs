//! An effect: something to be done outside, stored as a row before it is tried.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::time::Millis;

/// How long a relay may work at an effect before another may take it over.
pub const LEASE: Millis = 15_000;
/// Pause before the first retry.
pub const FIRST_RETRY: Millis = 1_000;
/// Longest pause between two tries.
pub const MAX_PAUSE: Millis = 600_000;
/// After so many tries an effect is given up and says why.
pub const MAX_ATTEMPTS: i64 = 20;

/// Who carries effects out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adapter {
    /// Posts entries of the ledger to a project's webhook.
    Webhook,
    /// Keeps the memory index outside the ledger in step.
    MemoryIndex,
}

impl Adapter {
    /// Its word in the outbox.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::MemoryIndex => "recall",
        }
    }
}

/// What an effect does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Posts an entry of the ledger.
    Webhook(WebhookPost),
    /// Brings memories into the index, or takes them out.
    MemoryIndex(IndexUpdate),
    /// A row that this version cannot read.
    Unreadable {
        /// The word for its adapter.
        adapter: String,
        /// What the adapter would need.
        payload: String,
    },
}

/// An entry of the ledger for a webhook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WebhookPost {
    /// The receiver.
    pub url: String,
    /// The entry.
    pub delta: Value,
}

/// A change of the memory index.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IndexUpdate {
    /// Memories to be put there as they are now; those that were withdrawn are taken out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory_ids: Vec<String>,
    /// What was put there before this and not since is taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forget_before: Option<Millis>,
}

impl Action {
    /// The action of a row.
    pub fn read(adapter: &str, payload: &str) -> Self {
        let known = [Adapter::Webhook, Adapter::MemoryIndex].into_iter().find(|one| one.as_str() == adapter);
        let action = match known {
            Some(Adapter::Webhook) => serde_json::from_str(payload).map(Self::Webhook).ok(),
            Some(Adapter::MemoryIndex) => serde_json::from_str(payload).map(Self::MemoryIndex).ok(),
            None => None,
        };
        action
            .unwrap_or_else(|| Self::Unreadable { adapter: adapter.to_owned(), payload: payload.to_owned() })
    }

    /// The word of its adapter.
    pub fn adapter(&self) -> &str {
        match self {
            Self::Webhook(_) => Adapter::Webhook.as_str(),
            Self::MemoryIndex(_) => Adapter::MemoryIndex.as_str(),
            Self::Unreadable { adapter, .. } => adapter,
        }
    }

    /// What the adapter needs, as JSON.
    pub fn payload(&self) -> String {
        let json = match self {
            Self::Webhook(post) => serde_json::to_string(post),
            Self::MemoryIndex(update) => serde_json::to_string(update),
            Self::Unreadable { payload, .. } => Ok(payload.clone()),
        };
        json.unwrap_or_default()
    }
}

/// A row of the outbox.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// Its id; sent along, so that a receiver can drop what it has seen.
    pub effect_id: String,
    /// The project whose change caused it.
    pub project_id: String,
    /// What is to be done.
    pub action: Action,
    /// How often it was tried.
    pub attempts: i64,
    /// When it may be tried (again).
    pub due_at: Millis,
    /// Fencing token of the lease under which it is being tried.
    pub fence: i64,
    /// Why the last try failed.
    pub last_error: Option<String>,
}

impl Effect {
    /// An effect that was not tried yet.
    pub fn new(effect_id: String, project_id: &str, action: Action, due_at: Millis) -> Self {
        Self {
            effect_id,
            project_id: project_id.to_owned(),
            action,
            attempts: 0,
            due_at,
            fence: 0,
            last_error: None,
        }
    }
}

/// How a try ended. The adapter says by type whether trying again can help.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Done.
    Done,
    /// Failed for now; the receiver may have said how long to wait.
    Retry {
        /// What went wrong.
        why: String,
        /// Pause that the receiver asked for.
        after: Option<Millis>,
    },
    /// Failed for good.
    Final {
        /// What went wrong.
        why: String,
    },
}

/// What becomes of the row.
#[derive(Debug, Clone, PartialEq)]
pub enum EffectDisposition {
    /// Nothing more to do.
    Done,
    /// Try again then.
    At(Millis, String),
    /// Given up, with the reason.
    Failed(String),
}

/// The transition after a try: `jitter` is a random number from 0 to 999.
pub fn next_disposition(effect: &Effect, outcome: Outcome, now: Millis, jitter: i64) -> EffectDisposition {
    match outcome {
        Outcome::Done => EffectDisposition::Done,
        Outcome::Final { why } => EffectDisposition::Failed(why),
        Outcome::Retry { why, .. } if effect.attempts >= MAX_ATTEMPTS => {
            EffectDisposition::Failed(format!("given up after {} tries: {why}", effect.attempts))
        }
        Outcome::Retry { why, after } => {
            let doublings = u32::try_from(effect.attempts.clamp(1, 20) - 1).unwrap_or_default();
            let pause = FIRST_RETRY.saturating_mul(1 << doublings).min(MAX_PAUSE);
            let pause = pause + pause * jitter.clamp(0, 999) / 4_000;
            EffectDisposition::At(
                now.saturating_add(after.map_or(pause, |requested| requested.max(pause))),
                why,
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(attempts: i64, outcome: Outcome) -> EffectDisposition {
        let update = Action::MemoryIndex(IndexUpdate::default());
        let effect = Effect { attempts, ..Effect::new("e".into(), "p", update, 0) };
        next_disposition(&effect, outcome, 0, 0)
    }

    fn retry(after: Option<Millis>) -> Outcome {
        Outcome::Retry { why: "w".into(), after }
    }

    #[test]
    fn pauses_double_up_to_a_limit() {
        for (attempts, pause) in [(1, 1_000), (2, 2_000), (5, 16_000), (15, MAX_PAUSE)] {
            assert_eq!(check(attempts, retry(None)), EffectDisposition::At(pause, "w".into()));
        }
    }

    #[test]
    fn a_pause_asked_for_is_obeyed() {
        assert_eq!(check(1, retry(Some(30_000))), EffectDisposition::At(30_000, "w".into()));
        assert_eq!(check(5, retry(Some(1))), EffectDisposition::At(16_000, "w".into()));
    }

    #[test]
    fn an_action_is_read_as_it_was_written() {
        let post = WebhookPost { url: "https://example.com".into(), delta: serde_json::json!({ "seq": 1 }) };
        let update = IndexUpdate { memory_ids: vec!["m".into()], forget_before: None };
        for action in [Action::Webhook(post), Action::MemoryIndex(update)] {
            assert_eq!(Action::read(action.adapter(), &action.payload()), action);
        }
        for (adapter, payload) in [("webhook", "{}"), ("recall", "{"), ("fax", "{}")] {
            let action = Action::read(adapter, payload);
            assert!(matches!(action, Action::Unreadable { .. }), "{action:?}");
            assert_eq!((action.adapter(), action.payload()), (adapter, payload.to_owned()));
        }
    }

    #[test]
    fn tries_end() {
        assert!(
            matches!(check(MAX_ATTEMPTS, retry(None)), EffectDisposition::Failed(why) if why.contains("20 tries"))
        );
        assert_eq!(check(1, Outcome::Final { why: "gone".into() }), EffectDisposition::Failed("gone".into()));
        assert_eq!(check(1, Outcome::Done), EffectDisposition::Done);
    }
}

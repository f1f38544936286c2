//! An effect: something to be done outside, stored as a row before it is tried.

use crate::time::Millis;

/// How long a relay may work at an effect before another may take it over.
pub const LEASE: Millis = 15_000;
/// Pause before the first retry.
pub const FIRST_RETRY: Millis = 1_000;
/// Longest pause between two tries.
pub const MAX_PAUSE: Millis = 600_000;
/// After so many tries an effect is given up and says why.
pub const MAX_ATTEMPTS: i64 = 20;

/// A row of the outbox.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// Its id; sent along, so that a receiver can drop what it has seen.
    pub effect_id: String,
    /// The project whose change caused it.
    pub project_id: String,
    /// The adapter that carries it out: `webhook`.
    pub adapter: String,
    /// What the adapter needs, as JSON.
    pub payload: String,
    /// How often it was tried.
    pub attempts: i64,
    /// When it may be tried (again).
    pub due_at: Millis,
    /// Fencing token of the lease under which it is being tried.
    pub fence: i64,
    /// Why the last try failed.
    pub last_error: Option<String>,
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
pub enum RowFate {
    /// Nothing more to do.
    Done,
    /// Try again then.
    At(Millis, String),
    /// Given up, with the reason.
    Failed(String),
}

/// The transition after a try: `jitter` is a random number from 0 to 999.
pub fn after(effect: &Effect, outcome: Outcome, now: Millis, jitter: i64) -> RowFate {
    match outcome {
        Outcome::Done => RowFate::Done,
        Outcome::Final { why } => RowFate::Failed(why),
        Outcome::Retry { why, .. } if effect.attempts >= MAX_ATTEMPTS => {
            RowFate::Failed(format!("given up after {} tries: {why}", effect.attempts))
        }
        Outcome::Retry { why, after } => {
            let doublings = u32::try_from(effect.attempts.clamp(1, 20) - 1).unwrap_or_default();
            let pause = FIRST_RETRY.saturating_mul(1 << doublings).min(MAX_PAUSE);
            let pause = pause + pause * jitter.clamp(0, 999) / 4_000;
            RowFate::At(now.saturating_add(after.map_or(pause, |asked| asked.max(pause))), why)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(attempts: i64, outcome: Outcome) -> RowFate {
        let effect = Effect {
            effect_id: "e".into(),
            project_id: "p".into(),
            adapter: "webhook".into(),
            payload: "{}".into(),
            attempts,
            due_at: 0,
            fence: 1,
            last_error: None,
        };
        after(&effect, outcome, 0, 0)
    }

    fn retry(after: Option<Millis>) -> Outcome {
        Outcome::Retry { why: "w".into(), after }
    }

    #[test]
    fn pauses_double_up_to_a_limit() {
        for (attempts, pause) in [(1, 1_000), (2, 2_000), (5, 16_000), (15, MAX_PAUSE)] {
            assert_eq!(check(attempts, retry(None)), RowFate::At(pause, "w".into()));
        }
    }

    #[test]
    fn a_pause_asked_for_is_obeyed() {
        assert_eq!(check(1, retry(Some(30_000))), RowFate::At(30_000, "w".into()));
        assert_eq!(check(5, retry(Some(1))), RowFate::At(16_000, "w".into()));
    }

    #[test]
    fn tries_end() {
        assert!(matches!(check(MAX_ATTEMPTS, retry(None)), RowFate::Failed(why) if why.contains("20 tries")));
        assert_eq!(check(1, Outcome::Final { why: "gone".into() }), RowFate::Failed("gone".into()));
        assert_eq!(check(1, Outcome::Done), RowFate::Done);
    }
}

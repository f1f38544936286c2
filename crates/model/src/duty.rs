//! What servers on one ledger do by themselves, and who of them does it.
//!
//! A duty has one holder, which sends heartbeats while it lives. Clocks are not compared: a server takes a duty over
//! after it has seen no heartbeat for long enough by its own monotonic clock. The fence rises with every change of
//! holder, so that writes of a former holder are recognised as such.

use crate::time::Millis;

/// Pause between two beats.
pub const BEAT: Millis = 1_500;
/// A holder that could not beat for so long stops by itself.
pub const TRUSTED: Millis = 4_000;
/// A duty that did not beat for so long is free: longer than its holder trusts itself, a beat's pause apart.
pub const SILENT: Millis = 6_000;

// A holder stops before another may begin.
const _: () = assert!(BEAT < TRUSTED && TRUSTED + BEAT < SILENT);

/// Marks silent sessions.
pub const SWEEP: &str = "sweep";
/// Gives work out.
pub const ROUTE: &str = "route";
/// Carries effects out.
pub const RELAY: &str = "relay";
/// Drive hand-offs, side by side.
pub const LANES: [&str; 4] = ["lane-0", "lane-1", "lane-2", "lane-3"];

/// Every duty.
pub fn all() -> impl Iterator<Item = &'static str> {
    [SWEEP, ROUTE, RELAY].into_iter().chain(LANES)
}

/// A duty as it stands in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duty {
    /// Which one.
    pub duty_id: String,
    /// The server that holds it; empty if it was released.
    pub holder: String,
    /// The machine that server runs on.
    pub machine_id: String,
    /// Its process there.
    pub process: String,
    /// How often it changed hands.
    pub fence: i64,
    /// How often it beat.
    pub beat: i64,
}

/// A duty, and since when it has been seen like this, by a clock that only the observer has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedDuty {
    duty: Duty,
    since: Millis,
}

impl WatchedDuty {
    /// What is known after another look: the wait goes on where nothing has moved.
    pub fn observe(before: Option<Self>, duty: Duty, now: Millis) -> Self {
        match before {
            Some(before) if before.duty == duty => before,
            _ => Self { duty, since: now },
        }
    }

    /// Whether it may be taken: it was released, its holder's process is known to be gone, or its heartbeat has timed
    /// out.
    pub fn is_free(&self, now: Millis, gone: impl FnOnce(&Duty) -> bool) -> bool {
        self.duty.holder.is_empty() || now.saturating_sub(self.since) >= SILENT || gone(&self.duty)
    }

    /// The duty.
    pub fn duty(&self) -> &Duty {
        &self.duty
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duty(holder: &str, beat: i64) -> Duty {
        Duty {
            duty_id: RELAY.into(),
            holder: holder.into(),
            machine_id: "m".into(),
            process: "p".into(),
            fence: 1,
            beat,
        }
    }

    #[test]
    fn a_duty_that_beats_is_never_free() {
        let mut watched = None;
        for turn in 0..100 {
            let now = turn * (SILENT - 1);
            let seen = WatchedDuty::observe(watched.take(), duty("a", turn), now);
            assert!(!seen.is_free(now, |_| false));
            watched = Some(seen);
        }
    }

    #[test]
    fn a_silent_duty_is_free_at_the_edge_and_not_before() {
        let first = WatchedDuty::observe(None, duty("a", 7), 1_000);
        let same = WatchedDuty::observe(Some(first.clone()), duty("a", 7), 1_000 + SILENT - 1);
        assert!(!same.is_free(1_000 + SILENT - 1, |_| false));
        assert!(same.is_free(1_000 + SILENT, |_| false));
        let moved = WatchedDuty::observe(Some(first), duty("a", 8), 1_000 + SILENT);
        assert!(!moved.is_free(1_000 + SILENT, |_| false), "it beat meanwhile");
    }

    #[test]
    fn what_was_laid_down_or_left_behind_is_free_at_once() {
        assert!(WatchedDuty::observe(None, duty("", 0), 5).is_free(5, |_| false));
        assert!(WatchedDuty::observe(None, duty("a", 0), 5).is_free(5, |duty| duty.process == "p"));
    }
}

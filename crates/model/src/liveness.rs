//! Heartbeats that are kept beside the ledger, and how far the ledger may lag behind them.
//!
//! Where something faster than the ledger keeps heartbeats, only few of them are written to the ledger. Which ones is
//! decided so that the fast keeper may be lost at any moment: a session with a heartbeat at least every half cut-off is
//! fresh by the ledger alone, at every instant, and a lease of its tasks that would hold with all heartbeats holds with
//! those that were written. What is lost is the green dot, until the next heartbeat, which then goes to the ledger.

use crate::session::Limits;
use crate::time::Millis;

/// Maximum lag of the persisted heartbeat behind the cached one: half the shorter of the stale cut-off and the shortest lease that
/// heartbeats renew.
pub fn lag(limits: Limits, shortest_lease: Option<Millis>) -> Millis {
    let judged = shortest_lease.map_or(limits.stale_after, |lease| lease.min(limits.stale_after));
    (judged / 2).max(0)
}

/// Whether a heartbeat must be written to the ledger, whose last one is from `kept_at`.
pub fn is_due(kept_at: Millis, now: Millis, lag: Millis) -> bool {
    now.saturating_sub(kept_at) >= lag
}

/// The later of the persisted and the cached heartbeat.
pub fn latest(kept_at: Millis, heard_at: Option<Millis>) -> Millis {
    heard_at.map_or(kept_at, |heard_at| heard_at.max(kept_at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits { stale_after: 600, live_after: 90 };

    /// What the ledger has after these heartbeats, given as pauses between them.
    fn retained(pauses: &[Millis], lag: Millis) -> Vec<(Millis, Millis)> {
        let (mut now, mut kept_at) = (0, 0);
        let beat = |pause: &Millis| {
            now += pause;
            if is_due(kept_at, now, lag) {
                kept_at = now;
            }
            (now, kept_at)
        };
        pauses.iter().map(beat).collect()
    }

    #[test]
    fn a_heartbeat_is_due_at_the_edge_and_not_before() {
        assert_eq!(lag(LIMITS, None), 300);
        assert_eq!((is_due(0, 299, 300), is_due(0, 300, 300)), (false, true));
        assert!(!is_due(500, 400, 300), "a clock that went back is no reason to write");
    }

    #[test]
    fn a_short_lease_makes_the_ledger_follow_closely() {
        assert_eq!((lag(LIMITS, Some(60)), lag(LIMITS, Some(10_000))), (30, 300));
        assert_eq!(lag(Limits { stale_after: 0, live_after: 0 }, None), 0, "then every heartbeat is written");
    }

    #[test]
    fn the_later_one_counts() {
        assert_eq!((latest(5, None), latest(5, Some(4)), latest(5, Some(6))), (5, 5, 6));
    }

    proptest! {
        #[test]
        fn the_ledger_is_never_further_behind_than_it_may_be(pauses in prop::collection::vec(0i64..2_000, 1..50)) {
            for (now, kept_at) in retained(&pauses, lag(LIMITS, None)) {
                prop_assert!(now - kept_at < lag(LIMITS, None).max(1));
            }
        }

        #[test]
        fn who_is_heard_of_every_half_cut_off_is_fresh_by_the_ledger_alone(
            pauses in prop::collection::vec(0i64..=300, 1..50),
            last in 0i64..=300,
        ) {
            for (heard_at, kept_at) in retained(&pauses, lag(LIMITS, None)) {
                prop_assert!(heard_at + last - kept_at <= LIMITS.stale_after);
            }
        }

        #[test]
        fn a_lease_that_every_half_of_it_is_renewed_holds_by_the_ledger_alone(
            lease in 2i64..2_000,
            parts in prop::collection::vec(0i64..=100, 1..50),
            last in 0i64..=100,
        ) {
            let half = lease.min(LIMITS.stale_after) / 2;
            let pauses: Vec<_> = parts.iter().map(|part| part * half / 100).collect();
            for (heard_at, kept_at) in retained(&pauses, lag(LIMITS, Some(lease))) {
                prop_assert!(heard_at + last * half / 100 <= kept_at + lease);
            }
        }

        #[test]
        fn after_a_pause_the_first_heartbeat_is_written(pauses in prop::collection::vec(300i64..5_000, 1..20)) {
            for (now, kept_at) in retained(&pauses, lag(LIMITS, None)) {
                prop_assert_eq!(now, kept_at, "so a session that comes back is known to all at once");
            }
        }
    }
}

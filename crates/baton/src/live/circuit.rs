//! When to try again what failed: at once after the first failure, then with growing pauses.

use std::time::Duration;

/// The first pause.
const FIRST: Duration = Duration::from_millis(100);
/// The longest.
const MAX_PAUSE: Duration = Duration::from_secs(4);

/// How often something failed in a row, and since when it may be tried again, by a steady clock.
#[derive(Debug, Default)]
pub(super) struct Circuit {
    failures: u32,
    not_before: Duration,
}

impl Circuit {
    /// Whether it may be tried now.
    pub(super) fn is_closed(&self, now: Duration) -> bool {
        now >= self.not_before
    }

    /// From when on.
    pub(super) fn not_before(&self) -> Duration {
        self.not_before
    }

    /// It failed: the next try is after a pause, twice as long as the last one.
    pub(super) fn failed(&mut self, now: Duration) {
        let pause = FIRST.saturating_mul(1 << self.failures.min(16)).min(MAX_PAUSE);
        self.failures = self.failures.saturating_add(1);
        self.not_before = now + pause;
    }

    /// It worked.
    pub(super) fn worked(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end_with_success() {
        let mut circuit = Circuit::default();
        let mut now = Duration::ZERO;
        let mut pauses = Vec::new();
        for _ in 0..8 {
            assert!(circuit.is_closed(now));
            circuit.failed(now);
            let from = now;
            while !circuit.is_closed(now) {
                now += Duration::from_millis(1);
            }
            pauses.push((now - from).as_millis());
        }
        assert_eq!(pauses, [100, 200, 400, 800, 1_600, 3_200, 4_000, 4_000]);
        circuit.worked();
        circuit.failed(now);
        assert!(circuit.is_closed(now + FIRST) && !circuit.is_closed(now));
    }
}

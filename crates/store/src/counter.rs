//! Counters that outlive a restore.
//!
//! A store that was put back to an earlier state would give out the numbers once more that it gave out after that state: an
//! old claim's token would be the token of a new claim, an old `If-Match` would fit a version that its sender never saw, and
//! a listener would take new events for those that it has had. So every restore sets a floor, and counters continue above it.

use baton_model::time::Millis;

use crate::engine::{Fault, Tx};
use crate::params;

crate::sql! {
    HIGHEST = "SELECT COALESCE(MAX(number), 0) FROM (SELECT MAX(seq) AS number FROM project
        UNION ALL SELECT MAX(counter_floor) FROM project UNION ALL SELECT MAX(claim_token) FROM task
        UNION ALL SELECT MAX(version) FROM session_state UNION ALL SELECT MAX(floor) FROM counter_floor) AS numbers";
    RAISE = "UPDATE project SET counter_floor = $1";
    RAISE_ONE = "UPDATE project SET counter_floor = $1 WHERE project_id = $2";
    KEEP = "INSERT INTO counter_floor (floor_id, floor) VALUES (1, $1)
        ON CONFLICT (floor_id) DO UPDATE SET floor = excluded.floor";
    MARK_STEPS_UNKNOWN = "UPDATE handoff_step SET is_unknown = 1 WHERE state IN ('pending', 'running', 'failed')
        AND kind IN ('task', 'publish', 'comment', 'report', 'undo_task')";
    DOUBT_ONE = "UPDATE handoff_step SET is_unknown = 1 WHERE state IN ('pending', 'running', 'failed')
        AND kind IN ('task', 'publish', 'comment', 'report', 'undo_task')
        AND handoff_id IN (SELECT handoff_id FROM handoff WHERE from_project_id = $1 OR to_project_id = $1)";
}

/// How far the floor goes above the highest number where the clock is behind it.
const FLOOR_MARGIN: i64 = 1_000_000_000;

/// A floor above every number that was given out. Numbers begin at 1 and a counter rises by less than one in a millisecond,
/// so the time in milliseconds is above those that are not known any more.
pub fn floor(highest: i64, now: Millis) -> i64 {
    if now > highest { now } else { highest.saturating_add(FLOOR_MARGIN) }
}

/// The highest number that the store has given out.
pub fn highest(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    tx.query_one(HIGHEST, &[])?.reader().int()
}

/// Says that the store was put back to an earlier state: every counter of every project continues above a new floor, and a
/// step of a hand-off that is not done is looked up in its tracker before it is tried, because it may have been done since.
/// Returns the floor.
pub fn raise_floor_after_restore(tx: &mut Tx<'_>, now: Millis) -> Result<i64, Fault> {
    let floor = floor(highest(tx)?, now);
    tx.execute(RAISE, params![floor])?;
    tx.execute(KEEP, params![floor])?;
    tx.execute(MARK_STEPS_UNKNOWN, &[])?;
    Ok(floor)
}

/// Raises every counter of one project above a new floor, and marks the steps of its hand-offs as unknown: it was brought in from
/// elsewhere.
pub fn raise_one(tx: &mut Tx<'_>, project_id: &str, now: Millis) -> Result<(), Fault> {
    let floor = floor(highest(tx)?, now);
    tx.execute(RAISE_ONE, params![floor, project_id])?;
    tx.execute(DOUBT_ONE, params![project_id])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{FLOOR_MARGIN, floor};

    #[test]
    fn a_floor_is_above_every_number_also_with_a_clock_that_is_behind() {
        assert_eq!(floor(41, 1_700_000_000_000), 1_700_000_000_000);
        assert_eq!(floor(1_700_000_000_000, 1_700_000_000_000), 1_700_000_000_000 + FLOOR_MARGIN);
        assert_eq!(floor(1_700_000_000_000, 5), 1_700_000_000_000 + FLOOR_MARGIN);
    }
}

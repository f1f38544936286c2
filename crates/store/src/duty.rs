//! Duties of servers: who has each, and that it lives.

use baton_model::duty::Duty;
use baton_model::session::ProcessLocation;
use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx};
use crate::params;

crate::sql! {
    ALL_OF_THEM = "SELECT duty_id, holder, machine_id, process, fence, beat FROM duty ORDER BY duty_id";
    BEAT = "UPDATE duty SET beat = beat + 1 WHERE holder = $1";
    TAKE = "INSERT INTO duty (duty_id, holder, machine_id, process, fence, beat, taken_at)
        VALUES ($1, $2, $3, $4, 1, 0, $5) ON CONFLICT (duty_id) DO UPDATE SET holder = excluded.holder,
        machine_id = excluded.machine_id, process = excluded.process, fence = duty.fence + 1, beat = duty.beat + 1,
        taken_at = excluded.taken_at WHERE duty.fence = $6 AND duty.beat = $7";
    LAY_DOWN = "UPDATE duty SET holder = '', beat = beat + 1 WHERE holder = $1";
    HELD = "SELECT COUNT(*) FROM duty WHERE duty_id = $1 AND holder = $2 AND fence = $3";
}

fn read(row: Row) -> Result<Duty, Fault> {
    let mut r = row.reader();
    Ok(Duty {
        duty_id: r.text()?,
        holder: r.text()?,
        machine_id: r.text()?,
        process: r.text()?,
        fence: r.int()?,
        beat: r.int()?,
    })
}

/// Every duty that has ever been taken.
pub fn all(tx: &mut Tx<'_>) -> Result<Vec<Duty>, Fault> {
    tx.query(ALL_OF_THEM, params![])?.into_iter().map(read).collect()
}

/// Shows that a server lives; says how many duties it has.
pub fn beat(tx: &mut Tx<'_>, holder: &str) -> Result<u64, Fault> {
    tx.execute(BEAT, params![holder])
}

/// Takes a duty if its row is unchanged since `seen` (`None`: it has no row yet): compare-and-set on fence and beat.
/// Returns whether it was taken.
pub fn take(
    tx: &mut Tx<'_>,
    duty_id: &str,
    (holder, place): (&str, &ProcessLocation),
    seen: Option<&Duty>,
    now: Millis,
) -> Result<bool, Fault> {
    let (fence, beat) = seen.map_or((-1, -1), |seen| (seen.fence, seen.beat));
    let taken =
        tx.execute(TAKE, params![duty_id, holder, &place.machine, &place.process, now, fence, beat])?;
    Ok(taken == 1)
}

/// Releases every duty of a server, so that others need not wait for its timeout.
pub fn resign(tx: &mut Tx<'_>, holder: &str) -> Result<(), Fault> {
    tx.execute_deferred(LAY_DOWN, params![holder])
}

/// Whether a server has a duty under this fence: asked where what it does is written.
pub fn is_held(tx: &mut Tx<'_>, duty_id: &str, holder: &str, fence: i64) -> Result<bool, Fault> {
    Ok(tx.query_one(HELD, params![duty_id, holder, fence])?.reader().int()? == 1)
}

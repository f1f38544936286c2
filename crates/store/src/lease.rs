//! File leases.

use baton_model::id::identity_key;
use baton_model::lease::{FileLease, Mode, WorktreeLocation};
use baton_model::session::ProcessLocation;
use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx};
use crate::params;

/// The columns that the row reader takes, in its order; the last two are of its session.
macro_rules! columns {
    () => {
        "l.project_id, l.lease_id, l.pattern, l.mode, l.advisory, l.identity, l.session_id, l.why, l.taken_at, \
         l.expires_at, l.released_at, l.machine_id, l.process, l.bearer, s.copy_root, s.copy_branch"
    };
}

/// Leases, each with its session if it has one.
macro_rules! leases {
    () => {
        " FROM file_lease l LEFT JOIN session s ON s.project_id = l.project_id AND s.session_id = l.session_id"
    };
}

crate::sql! {
    PUT = "INSERT INTO file_lease (project_id, lease_id, pattern, mode, advisory, identity, identity_key, session_id, why,
        taken_at, expires_at, released_at, machine_id, process, bearer)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
        ON CONFLICT (project_id, lease_id) DO UPDATE SET mode = excluded.mode, advisory = excluded.advisory,
        session_id = excluded.session_id, why = excluded.why, expires_at = excluded.expires_at,
        released_at = excluded.released_at, machine_id = excluded.machine_id, process = excluded.process,
        bearer = excluded.bearer";
    HELD = concat!("SELECT ", columns!(), leases!(), " WHERE l.project_id = $1 AND l.released_at IS NULL AND l.expires_at >= $2
        AND (l.session_id IS NULL OR s.released_at IS NULL) ORDER BY l.taken_at, l.lease_id");
    EXPIRED = concat!("SELECT ", columns!(), leases!(), " WHERE l.project_id = $1 AND l.released_at IS NULL
        AND l.expires_at < $2 ORDER BY l.taken_at, l.lease_id");
    TAKEN_OVER = concat!("SELECT ", columns!(), leases!(), " WHERE l.project_id = $1 AND l.identity_key = $2
        AND l.expires_at >= $3 AND l.released_at > l.expires_at ORDER BY l.taken_at, l.lease_id");
}

fn read(row: Row) -> Result<FileLease, Fault> {
    let mut r = row.reader();
    Ok(FileLease {
        project_id: r.text()?,
        lease_id: r.text()?,
        pattern: r.text()?,
        mode: Mode::from_word(&r.text()?),
        advisory: r.bool()?,
        identity: r.text()?,
        session_id: r.opt_text()?,
        why: r.opt_text()?,
        taken_at: r.int()?,
        expires_at: r.int()?,
        released_at: r.opt_int()?,
        location: r
            .opt_text()?
            .zip(r.opt_text()?)
            .map(|(machine, process)| ProcessLocation { machine, process }),
        access_token_id: r.opt_text()?,
        worktree: r
            .opt_text()?
            .map(|root| Ok::<_, Fault>(WorktreeLocation { root, branch: r.opt_text()? }))
            .transpose()?,
    })
}

/// The leases that hold: not given back, not expired, and their session not released. Oldest first.
pub fn held_leases(tx: &mut Tx<'_>, project_id: &str, now: Millis) -> Result<Vec<FileLease>, Fault> {
    tx.query(HELD, params![project_id, now])?.into_iter().map(read).collect()
}

/// The leases whose time is over and that their holders did not give back. Where the clock goes back they would hold again.
pub fn expired(tx: &mut Tx<'_>, project_id: &str, now: Millis) -> Result<Vec<FileLease>, Fault> {
    tx.query(EXPIRED, params![project_id, now])?.into_iter().map(read).collect()
}

/// The leases of an identity that the present time lies within, and that another took over while the clock was ahead.
pub fn taken_over(
    tx: &mut Tx<'_>,
    project_id: &str,
    identity: &str,
    now: Millis,
) -> Result<Vec<FileLease>, Fault> {
    tx.query(TAKEN_OVER, params![project_id, identity_key(identity), now])?.into_iter().map(read).collect()
}

/// Writes a lease, new or changed.
pub fn put(tx: &mut Tx<'_>, lease: &FileLease) -> Result<(), Fault> {
    tx.execute_deferred(
        PUT,
        params![
            &lease.project_id,
            &lease.lease_id,
            &lease.pattern,
            lease.mode.as_str(),
            lease.advisory,
            &lease.identity,
            identity_key(&lease.identity),
            lease.session_id.clone(),
            lease.why.clone(),
            lease.taken_at,
            lease.expires_at,
            lease.released_at,
            lease.location.as_ref().map(|place| place.machine.clone()),
            lease.location.as_ref().map(|place| place.process.clone()),
            lease.access_token_id.clone(),
        ],
    )?;
    tx.count_change(&lease.project_id)
}

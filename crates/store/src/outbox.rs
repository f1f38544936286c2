//! The outbox: effects to be carried out outside, as rows.

use baton_model::effect::{Action, Adapter, Effect, EffectDisposition, LEASE};
use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx};
use crate::params;

crate::sql! {
    INSERT = "INSERT INTO outbox (project_id, effect_id, adapter, payload, state, attempts, due_at, lease_until, fence,
        created_at) VALUES ($1, $2, $3, $4, 'pending', 0, $5, 0, 0, $6)";
    DUE = "SELECT project_id, effect_id, adapter, payload, attempts, due_at, fence, last_error FROM outbox
        WHERE state = 'pending' AND adapter = $1 AND due_at <= $2 AND lease_until <= $3 ORDER BY due_at, effect_id LIMIT $4";
    LEASE_IT = "UPDATE outbox SET lease_until = $1, attempts = attempts + 1, fence = fence + 1
        WHERE project_id = $2 AND effect_id = $3 AND state = 'pending' AND fence = $4";
    CLOSE = "UPDATE outbox SET state = $1, due_at = $2, lease_until = 0, last_error = $3
        WHERE project_id = $4 AND effect_id = $5 AND fence = $6";
    COUNT = "SELECT state, COUNT(*) FROM outbox GROUP BY state ORDER BY state";
    PENDING = "SELECT COUNT(*) FROM outbox WHERE state = 'pending' AND adapter = $1";
    LAST_ERROR = "SELECT last_error FROM outbox WHERE state = 'pending' AND adapter = $1 AND last_error IS NOT NULL ORDER BY due_at DESC, effect_id LIMIT 1";
    MAKE_DUE = "UPDATE outbox SET due_at = $1 WHERE state = 'pending' AND adapter = $2 AND project_id = $3 AND due_at > $4 AND lease_until <= $5";
}

fn read(row: Row) -> Result<Effect, Fault> {
    let mut r = row.reader();
    Ok(Effect {
        project_id: r.text()?,
        effect_id: r.text()?,
        action: Action::read(&r.text()?, &r.text()?),
        attempts: r.int()?,
        due_at: r.int()?,
        fence: r.int()?,
        last_error: r.opt_text()?,
    })
}

/// Writes an effect down, in the transaction of the change that causes it.
pub fn push(tx: &mut Tx<'_>, effect: &Effect, now: Millis) -> Result<(), Fault> {
    tx.execute_deferred(
        INSERT,
        params![
            &effect.project_id,
            &effect.effect_id,
            effect.action.adapter(),
            effect.action.payload(),
            effect.due_at,
            now
        ],
    )?;
    Ok(())
}

/// What an adapter may try now, the longest due first.
pub fn due(tx: &mut Tx<'_>, adapter: Adapter, now: Millis, limit: i64) -> Result<Vec<Effect>, Fault> {
    tx.query(DUE, params![adapter.as_str(), now, now, limit])?.into_iter().map(read).collect()
}

/// How much an adapter still has to do.
pub fn pending(tx: &mut Tx<'_>, adapter: Adapter) -> Result<i64, Fault> {
    tx.query_one(PENDING, params![adapter.as_str()])?.reader().int()
}

/// Takes an effect under a lease: compare-and-set on its fence. `None` if another process has taken it.
pub fn lease(tx: &mut Tx<'_>, effect: &Effect, now: Millis) -> Result<Option<Effect>, Fault> {
    let taken =
        tx.execute(LEASE_IT, params![now + LEASE, &effect.project_id, &effect.effect_id, effect.fence])? == 1;
    Ok(taken.then(|| Effect { attempts: effect.attempts + 1, fence: effect.fence + 1, ..effect.clone() }))
}

/// Records how a try ended; says whether the lease still held.
pub fn close(tx: &mut Tx<'_>, effect: &Effect, next: &EffectDisposition) -> Result<bool, Fault> {
    let (state, due_at, why) = match next {
        EffectDisposition::Done => ("done", effect.due_at, None),
        EffectDisposition::At(at, why) => ("pending", *at, Some(why)),
        EffectDisposition::Failed(why) => ("failed", effect.due_at, Some(why)),
    };
    let changed = tx.execute(
        CLOSE,
        params![state, due_at, why.cloned(), &effect.project_id, &effect.effect_id, effect.fence],
    )?;
    Ok(changed == 1)
}

/// How many effects there are in each state.
pub fn count(tx: &mut Tx<'_>) -> Result<Vec<(String, i64)>, Fault> {
    let rows = tx.query(COUNT, params![])?;
    rows.into_iter()
        .map(|row| {
            let mut r = row.reader();
            Ok((r.text()?, r.int()?))
        })
        .collect()
}

/// Why the latest try of something failed that an adapter still has to do.
pub fn last_error(tx: &mut Tx<'_>, adapter: Adapter) -> Result<Option<String>, Fault> {
    match tx.query_opt(LAST_ERROR, params![adapter.as_str()])? {
        Some(row) => row.reader().opt_text(),
        None => Ok(None),
    }
}

/// Makes due at once what an adapter would try again later for a project.
pub fn make_due(tx: &mut Tx<'_>, adapter: Adapter, project_id: &str, now: Millis) -> Result<(), Fault> {
    tx.execute_deferred(MAKE_DUE, params![now, adapter.as_str(), project_id, now, now])?;
    Ok(())
}

//! The steps of hand-offs.

use baton_model::saga::{Kind, Step, StepStage};
use baton_model::session::ProcessLocation;
use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx};
use crate::params;

crate::sql! {
    OF_HANDOFF = "SELECT step_no, kind, state, attempts, due_at, lease_until, fence, holder_machine, holder_process, is_unknown,
        last_error, result, updated_at FROM handoff_step WHERE handoff_id = $1 ORDER BY step_no";
    PUT = "INSERT INTO handoff_step (handoff_id, step_no, kind, state, attempts, due_at, lease_until, fence, holder_machine,
        holder_process, is_unknown, last_error, result, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT (handoff_id, step_no) DO UPDATE SET
        state = excluded.state, attempts = excluded.attempts, due_at = excluded.due_at, lease_until = excluded.lease_until,
        fence = excluded.fence, holder_machine = excluded.holder_machine, holder_process = excluded.holder_process,
        is_unknown = excluded.is_unknown, last_error = excluded.last_error, result = excluded.result,
        updated_at = excluded.updated_at";
    DUE = "SELECT handoff_id, MIN(due_at) AS due FROM handoff_step WHERE state IN ('pending', 'running') AND due_at <= $1
        GROUP BY handoff_id ORDER BY due, handoff_id LIMIT $2";
}

fn read(row: Row) -> Result<Step, Fault> {
    let mut r = row.reader();
    let no = r.int()?;
    let (kind, stage) = (r.text()?, r.text()?);
    let unknown = || Fault::other(format!("step {no} is the unknown `{kind} {stage}`"));
    Ok(Step {
        no,
        kind: Kind::from_word(&kind).ok_or_else(unknown)?,
        stage: StepStage::from_word(&stage).ok_or_else(unknown)?,
        attempts: r.int()?,
        due_at: r.int()?,
        lease_until: r.int()?,
        fence: r.int()?,
        holder: ProcessLocation { machine: r.text()?, process: r.text()? },
        is_unknown: r.bool()?,
        last_error: r.opt_text()?,
        result: r.opt_text()?,
        updated_at: r.int()?,
    })
}

/// The steps of a hand-off, in order.
pub fn of(tx: &mut Tx<'_>, handoff_id: &str) -> Result<Vec<Step>, Fault> {
    tx.query(OF_HANDOFF, params![handoff_id])?.into_iter().map(read).collect()
}

/// Writes the steps that differ from those that were read. Both projects are held by this write.
pub fn put(tx: &mut Tx<'_>, handoff_id: &str, before: &[Step], after: &[Step]) -> Result<(), Fault> {
    for step in after.iter().filter(|step| !before.contains(step)) {
        tx.execute_deferred(
            PUT,
            params![
                handoff_id,
                step.no,
                step.kind.as_str(),
                step.stage.as_str(),
                step.attempts,
                step.due_at,
                step.lease_until,
                step.fence,
                &step.holder.machine,
                &step.holder.process,
                step.is_unknown,
                step.last_error.clone(),
                step.result.clone(),
                step.updated_at,
            ],
        )?;
    }
    Ok(())
}

/// Ids of hand-offs with a step whose time has come, the longest due first. Some of them may be in work elsewhere.
pub fn due(tx: &mut Tx<'_>, now: Millis, limit: i64) -> Result<Vec<String>, Fault> {
    tx.query(DUE, params![now, limit])?.into_iter().map(|row| row.reader().text()).collect()
}

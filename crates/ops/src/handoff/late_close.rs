//! A close of a task whose hand-off is over: what it says is the result no more. It is kept beside the hand-off, where the sender looks.

use baton_model::actor::{Actor, ActorType};
use baton_model::handoff::{Ending, Handoff, LateWords, State};
use baton_model::id::{short, visible};
use baton_model::task::Task;
use baton_store::{Failure, Tx, handoff};
use serde::{Deserialize, Serialize};

use super::{Row, claimant, isolation, late_words};
use crate::op::Env;

/// The hand-off of a task, which was over when its task was closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedHandoff {
    /// Its id.
    pub handoff_id: String,
    /// How it ended.
    pub state: String,
    /// Who ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<String>,
    /// What kind of actor that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by_type: Option<ActorType>,
    /// The reason that was given with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The entry of the receiver's ledger that keeps what was given as a late result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_delta_id: Option<String>,
    /// The same in a sentence.
    pub message: String,
}

/// Keeps what a late close says as a late result of the hand-off. None where the task is of no hand-off that is over, or where the
/// caller has ended it.
pub(crate) fn keep(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    task: &Task,
    by: &str,
    words: &str,
) -> Result<Option<EndedHandoff>, Failure> {
    if !task.extra.contains_key("handoff_id") {
        return Ok(None);
    }
    let Some(known) = handoff::by_task(tx, &task.project_id, &task.task_id)? else { return Ok(None) };
    let known = claimant::as_of_now(tx, env, known)?;
    if !matches!(known.state, State::Completed | State::Declined | State::Cancelled | State::Expired) {
        return Ok(None);
    }
    let viewer =
        isolation::Viewer { project: Some(known.to_project_id.as_str()), grant: Some(&env.caller.grant) };
    let ended = isolation::shown_to(tx, viewer, &known, Row::of(&known, &[]))?.handoff.ended;
    let is_own = ended.as_ref().is_some_and(|ended| ended.is_by(by));
    if is_own && known.state == State::Completed {
        return Ok(None);
    }
    let kept_delta_id = match words.trim().is_empty() {
        true => None,
        false => keep_beside(tx, env, &known, by, words)?,
    };
    let actor = ended.as_ref().map(Ending::actor);
    let ended_by_type = ended.as_ref().map(|ended| ended.by_type);
    let (ended_by, why) = ended.map(|ended| (ended.by, ended.why)).unzip();
    let mut ended = EndedHandoff {
        handoff_id: known.handoff_id.clone(),
        state: known.state.as_str().to_owned(),
        ended_by,
        ended_by_type,
        why: why.flatten(),
        kept_delta_id,
        message: String::new(),
    };
    ended.message = ended.sentence(actor.as_deref());
    Ok(Some(ended))
}

/// Keeps it beside the row as the ledger has it: that it has expired is written down by a transaction of its own.
fn keep_beside(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    known: &Handoff,
    by: &str,
    words: &str,
) -> Result<Option<String>, Failure> {
    match handoff::get(tx, &known.handoff_id)? {
        Some(row) => late_words::keep(tx, env, &row, Actor::agent(by), (LateWords::Result, words)),
        None => Ok(None),
    }
}

impl EndedHandoff {
    fn sentence(&self, actor: Option<&str>) -> String {
        let state = match self.state.as_str() {
            "expired" => "has expired".to_owned(),
            state => format!("was {state}"),
        };
        let by = actor.map(|by| format!(" by {}", visible(by))).unwrap_or_default();
        let why = self.why.as_ref().map(|why| format!(" ({})", visible(why))).unwrap_or_default();
        let outcome = match self.kept_delta_id {
            Some(_) => ", so that this is not its result; its sender sees what you gave as a late result",
            None => ", so that this is not its result",
        };
        format!("its hand-off {} {state}{by}{why}{outcome}", short(&self.handoff_id))
    }

    /// What to do about it.
    pub fn hint(&self, task_id: &str) -> String {
        format!(
            "`baton handoff show {}` tells how it ended; to go on all the same, open the task again: `baton task reopen {}`",
            short(&self.handoff_id),
            visible(task_id)
        )
    }
}

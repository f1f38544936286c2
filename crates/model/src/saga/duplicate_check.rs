//! Detection of duplicates. A request of unknown outcome may still arrive after a retry has created the task: it was
//! delayed in the network, or its sender was suspended after sending. So a retry after such a request schedules a later
//! check.

use serde_json::{Value, json};

use super::{Kind, NOT_YET, Step, StepStage};
use crate::session::ProcessLocation;
use crate::time::Millis;

/// Pauses before each check, in milliseconds. The network and GitHub drop a request within minutes. A request whose sender
/// may still be running can arrive later, so it is looked for until the last check.
const PAUSES: [Millis; 5] = [60_000, 600_000, 3_600_000, 21_600_000, 86_400_000];
/// Number of checks that suffice once the sender has ended.
const CHECKS_WITHOUT_SENDER: usize = 2;

/// Schedules a check, because a request of this sender may still arrive. Without a sender, the request itself has ended.
pub fn schedule_duplicate_check(steps: &mut Vec<Step>, sender: Option<&ProcessLocation>, now: Millis) {
    let at = pending_check(steps, now);
    if let Some(step) = steps.get_mut(at) {
        let sender = sender.map(|place| json!({ "machine": place.machine, "process": place.process }));
        // A check that is due sooner stays so.
        step.due_at = step.due_at.min(now.saturating_add(PAUSES[0]));
        step.result = Some(
            json!({ "looks": 0, "sender": sender, "doubles_closed": closed_duplicates(step) }).to_string(),
        );
        step.updated_at = now;
    }
}

/// Makes the check due at once: a sender whose step another one had taken over has returned, and may have created a task.
pub fn check_duplicates_now(steps: &mut Vec<Step>, now: Millis) {
    let at = pending_check(steps, now);
    if let Some(step) = steps.get_mut(at) {
        step.due_at = now;
        step.updated_at = now;
    }
}

/// Index of the pending check; adds one where there is none.
fn pending_check(steps: &mut Vec<Step>, now: Millis) -> usize {
    let waits = |step: &Step| step.kind == Kind::DuplicateCheck && step.stage == StepStage::Pending;
    steps.iter().position(waits).unwrap_or_else(|| {
        let no = steps.last().map_or(1, |step| step.no + 1);
        steps.push(Step::new(no, Kind::DuplicateCheck, NOT_YET, now));
        steps.len() - 1
    })
}

/// Records a finished check, and schedules the next one unless this was the last. `is_gone` says whether a sender has ended.
pub fn record_duplicate_check(
    step: &mut Step,
    closed: &[i64],
    is_gone: impl Fn(&ProcessLocation) -> bool,
    now: Millis,
) {
    let before = read(step);
    let looks = before["looks"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(PAUSES.len()) + 1;
    let duplicates: Vec<i64> = closed_duplicates(step).into_iter().chain(closed.iter().copied()).collect();
    let is_over = match sender(&before) {
        Some(place) if !is_gone(&place) => looks >= PAUSES.len(),
        _ => looks >= CHECKS_WITHOUT_SENDER,
    };
    let result = json!({ "looks": looks, "sender": before["sender"], "doubles_closed": duplicates });
    step.result = Some(result.to_string());
    step.last_error = None;
    step.is_unknown = false;
    step.lease_until = 0;
    step.updated_at = now;
    if is_over {
        step.stage = StepStage::Done;
    } else {
        step.stage = StepStage::Pending;
        step.due_at = now.saturating_add(PAUSES[looks.min(PAUSES.len() - 1)]);
    }
}

/// Numbers of the duplicate issues that a step has closed.
pub fn closed_duplicates(step: &Step) -> Vec<i64> {
    read(step)["doubles_closed"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect()
}

fn read(step: &Step) -> Value {
    let text = step.result.as_deref().filter(|_| !matches!(step.kind, Kind::Comment | Kind::Report));
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null)
}

fn sender(result: &Value) -> Option<ProcessLocation> {
    let part = |name: &str| Some(result["sender"][name].as_str()?.to_owned());
    Some(ProcessLocation { machine: part("machine")?, process: part("process")? })
}

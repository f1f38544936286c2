//! Detection of duplicates. A request of unknown outcome may still arrive after a retry has created the task: it was
//! delayed in the network, or its sender was suspended after sending. So a retry after such a request schedules a later
//! check.

use serde_json::{Value, json};

use super::{Kind, NOT_YET, Step, StepStage};
use crate::session::Place;
use crate::time::Millis;

/// Pauses before the looks, one after the other. The network and GitHub give a request up within minutes; only one whose sender
/// is not known to be gone may come later, and is looked for until the last.
const PAUSES: [Millis; 5] = [60_000, 600_000, 3_600_000, 21_600_000, 86_400_000];
/// Looks that are enough once the sender is gone.
const ENOUGH: usize = 2;

/// Leaves a look for later: a request of this sender may still arrive. Without a sender the request itself has ended.
pub fn look_later(steps: &mut Vec<Step>, sender: Option<&Place>, now: Millis) {
    let at = waiting(steps, now);
    if let Some(step) = steps.get_mut(at) {
        let sender = sender.map(|place| json!({ "machine": place.machine, "process": place.process }));
        // One that is due sooner stays so.
        step.due_at = step.due_at.min(now.saturating_add(PAUSES[0]));
        step.result =
            Some(json!({ "looks": 0, "sender": sender, "doubles_closed": doubles_of(step) }).to_string());
        step.updated_at = now;
    }
}

/// One who was overtaken has come back and may have made a task: it is looked for now.
pub fn overtaken(steps: &mut Vec<Step>, now: Millis) {
    let at = waiting(steps, now);
    if let Some(step) = steps.get_mut(at) {
        step.due_at = now;
        step.updated_at = now;
    }
}

/// The place of the look that waits, which is made where there is none.
fn waiting(steps: &mut Vec<Step>, now: Millis) -> usize {
    let waits = |step: &Step| step.kind == Kind::Double && step.stage == StepStage::Pending;
    steps.iter().position(waits).unwrap_or_else(|| {
        let no = steps.last().map_or(1, |step| step.no + 1);
        steps.push(Step::new(no, Kind::Double, NOT_YET, now));
        steps.len() - 1
    })
}

/// A look is over: it was the last, or the next one is due later. `is_gone` says whether a sender has ended.
pub fn looked(step: &mut Step, closed: &[i64], is_gone: impl Fn(&Place) -> bool, now: Millis) {
    let before = read(step);
    let looks = before["looks"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(PAUSES.len()) + 1;
    let doubles: Vec<i64> = doubles_of(step).into_iter().chain(closed.iter().copied()).collect();
    let is_over = match sender(&before) {
        Some(place) if !is_gone(&place) => looks >= PAUSES.len(),
        _ => looks >= ENOUGH,
    };
    let result = json!({ "looks": looks, "sender": before["sender"], "doubles_closed": doubles });
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

/// The doubles that a step has closed.
pub fn doubles_of(step: &Step) -> Vec<i64> {
    read(step)["doubles_closed"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect()
}

fn read(step: &Step) -> Value {
    let text = step.result.as_deref().filter(|_| step.kind != Kind::Comment);
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null)
}

fn sender(result: &Value) -> Option<Place> {
    let part = |name: &str| Some(result["sender"][name].as_str()?.to_owned());
    Some(Place { machine: part("machine")?, process: part("process")? })
}

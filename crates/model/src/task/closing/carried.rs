//! The context that a closed task hands to the next of its increment. It is computed from the increment's tasks as they are now, so
//! that what passed clears what failed, and words that come after a closing still count.

use serde_json::{Map, Value, json};

use super::{FollowerAction, IncrementStage, Outcome, Step, files};
use crate::task::{Task, check_context, sealed};

/// Fields of a context that describe a failure.
pub(super) const FAILURE_FIELDS: [&str; 4] =
    ["failure", "failure_details", "error_logs", "reproduction_steps"];

/// Lists that each agent may add to.
const REMARKS: [&str; 2] = ["known_issues", "potential_issues"];

/// The field that names what a context had no room for, and the task that has it.
pub(crate) const IN_OTHER_TASKS: &str = "in_other_tasks";

/// Takes fields out of a context until it has the size that one may have: those of which another task is known that has them,
/// first what was built, whose words no later turn replaces, and the largest of them.
fn shorten<'a>(context: &mut Map<String, Value>, holder: impl Fn(&str, &Value) -> Option<&'a Task>) {
    while check_context("agent_context", context).is_err() {
        let fields = context.iter().filter(|(key, _)| *key != IN_OTHER_TASKS);
        let can_go = fields.filter_map(|(key, value)| {
            let holder = holder(key, value)?;
            let stays =
                IncrementStage::of(holder.agent_role.as_deref()) == Some(IncrementStage::Implementation);
            Some((stays, value.to_string().len(), key.clone(), holder.task_id.clone()))
        });
        let Some((.., key, id)) = can_go.max_by_key(|(stays, size, ..)| (*stays, *size)) else { return };
        context.shift_remove(&key);
        if let Value::Object(others) = context.entry(IN_OTHER_TASKS).or_insert_with(|| json!({})) {
            others.insert(key, json!(id));
        }
    }
}

/// The tasks of one increment.
#[derive(Debug, Clone, Default)]
pub struct IncrementTasks {
    /// The task that builds.
    pub implementation: Option<Task>,
    /// The task that tests.
    pub testing: Option<Task>,
    /// The task that fixes.
    pub fixing: Option<Task>,
    /// The task that approves.
    pub verification: Option<Task>,
}

impl IncrementTasks {
    /// The task of a stage.
    pub fn of(&self, stage: IncrementStage) -> Option<&Task> {
        match stage {
            IncrementStage::Implementation => self.implementation.as_ref(),
            IncrementStage::Testing => self.testing.as_ref(),
            IncrementStage::Fixing => self.fixing.as_ref(),
            IncrementStage::Verification => self.verification.as_ref(),
        }
    }

    /// Puts a task into the place of its stage.
    pub fn put(&mut self, task: Task) {
        match IncrementStage::of(task.agent_role.as_deref()) {
            Some(IncrementStage::Implementation) => self.implementation = Some(task),
            Some(IncrementStage::Testing) => self.testing = Some(task),
            Some(IncrementStage::Fixing) => self.fixing = Some(task),
            Some(IncrementStage::Verification) => self.verification = Some(task),
            None => {}
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Task> {
        [&self.implementation, &self.fixing, &self.testing, &self.verification].into_iter().flatten()
    }

    /// What a task said itself: the fields that no other task of the increment has with the same value. The reason of a closing goes
    /// on as the work that was completed.
    fn own(&self, task: &Task) -> Map<String, Value> {
        let is_carried = |key: &str, value: &Value| {
            self.all().filter(|other| other.task_id != task.task_id).any(|other| {
                let is_reason = key == "work_completed" && value.as_str() == completed(other).as_deref();
                is_reason || other.agent_context.get(key) == Some(value)
            })
        };
        let fields = task.agent_context.iter().filter(|(key, value)| !is_carried(key, value));
        fields.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// The context that goes with a step from the closed task. That of a sensitive increment is passed on as it is: it
    /// cannot be read here.
    pub fn context(&self, step: &Step, closed: &Task) -> Map<String, Value> {
        if self.all().chain([closed]).any(sealed::is_sensitive) {
            return closed.agent_context.clone();
        }
        let mut context = match (step.act, step.stage) {
            (FollowerAction::Wake, _) => self.wake(closed),
            (FollowerAction::Rerun, _) => self.rerun(closed),
            (_, IncrementStage::Verification) => self.request_approval(closed),
            _ => closed.agent_context.clone(),
        };
        if step.stage == IncrementStage::Testing && !has_text(&context, &["work_completed", "summary"]) {
            put_text(&mut context, "work_completed", completed(closed).as_deref());
        }
        if let Some(files) = self.files(closed.assignee.as_deref()) {
            context.insert("files_modified".into(), files);
        }
        // Who had it before, and how often, is said of the receiver's own task.
        context.shift_remove("previous_agent");
        context.shift_remove("attempts");
        context.shift_remove("test_attempts");
        context.shift_remove(IN_OTHER_TASKS);
        for field in REMARKS {
            context.get_mut(field).into_iter().for_each(files::drop_repeated);
        }
        let failures = self.fixing.as_ref().map_or(0, super::test_failures);
        if step.stage == IncrementStage::Verification && failures > 0 {
            context.insert("test_attempts".into(), json!(failures));
        }
        // All of it is what others say.
        let target = self.of(step.stage).map(|task| task.task_id.as_str());
        let holder = |key: &str, value: &Value| {
            let mut others = self.all().filter(|task| Some(task.task_id.as_str()) != target);
            others.find(|task| task.agent_context.get(key) == Some(value)).unwrap_or(closed)
        };
        shorten(&mut context, |key, value| Some(holder(key, value)));
        context
    }

    /// Keeps the context of a task within the size that one may have: what another task of the increment says as well goes, the
    /// largest first, but nothing that its agent says now. `in_other_tasks` names each field that went and the task that has it.
    pub fn make_room(&self, task_id: &str, context: &mut Map<String, Value>, now: &Map<String, Value>) {
        let holder = |key: &str, value: &Value| {
            let mut others = self.all().filter(|task| task.task_id != task_id);
            others.find(|task| task.agent_context.get(key) == Some(value))
        };
        shorten(context, |key, value| holder(key, value).filter(|_| !now.contains_key(key)));
    }

    /// For the fix: what the failed task was given and found, the reason for its closing, what was built, and what the fix
    /// before this one did.
    fn wake(&self, failed: &Task) -> Map<String, Value> {
        let mut context = failed.agent_context.clone();
        if !self.own(failed).contains_key("work_completed") {
            // What the last fix did is told apart from what was built.
            context.shift_remove("work_completed");
        }
        for field in ["work_completed", "test_command", "implementation_notes"] {
            let built = self.implementation.as_ref().and_then(|built| built.agent_context.get(field));
            if let (Some(value), false) = (built, context.contains_key(field)) {
                context.insert(field.to_owned(), value.clone());
            }
        }
        if let Some(built) = self.implementation.as_ref().filter(|_| !has_text(&context, &["work_completed"]))
        {
            put_text(&mut context, "work_completed", completed(built).as_deref());
        }
        context.shift_remove("previous_fix");
        if let Some(fix) = self.fixing.as_ref().filter(|fix| !fix.is_open()) {
            let reason = fix.close_reason.as_deref().filter(|reason| *reason != super::UNNEEDED);
            put_text(&mut context, "previous_fix", self.report_of_fix(fix).or(reason));
        }
        put_text(&mut context, "failure", failed.close_reason.as_deref());
        context
    }

    /// What a closed fix says that it did. The test was handed either these words or, where it said nothing, the reason of its closing;
    /// the words that the fix itself was handed are those of another.
    fn report_of_fix<'a>(&self, fix: &'a Task) -> Option<&'a str> {
        let report = fix.agent_context.get("work_completed").and_then(Value::as_str)?;
        let test = self.testing.as_ref().and_then(|test| test.agent_context.get("work_completed")?.as_str());
        if test == Some(report) {
            return Some(report);
        }
        let is_reason_told = test.is_some() && test == completed(fix).as_deref();
        let is_own = !is_reason_told && self.own(fix).contains_key("work_completed");
        is_own.then_some(report)
    }

    /// For another run of the test: what was built, what the fix changed, and what failed before.
    fn rerun(&self, fix: &Task) -> Map<String, Value> {
        let own = self.own(fix);
        let mut context =
            self.implementation.as_ref().map(|built| built.agent_context.clone()).unwrap_or_default();
        // What was fixed, not what was built.
        context.shift_remove("work_completed");
        context.extend(own.into_iter().filter(|(key, _)| key != "failure"));
        if !has_text(&context, &["work_completed"]) {
            put_text(&mut context, "work_completed", completed(fix).as_deref());
        }
        context.extend(self.previous_failures(fix));
        context
    }

    /// What failed until now, the last one first, as the field of a context. An agent may have replaced the context of its task, so
    /// that the last failure is read from the task that failed, and the earlier ones from the task that has most of them.
    fn previous_failures(&self, fix: &Task) -> Option<(String, Value)> {
        let lists = self.all().map(|task| list(task.agent_context.get("previous_failures")));
        let mut known = lists.max_by_key(Vec::len).unwrap_or_default();
        let failed = [&self.testing, &self.verification].into_iter().flatten();
        let failed = failed.filter(|task| task.result.as_deref() == Some(Outcome::Fail.word()));
        let failed = failed.max_by_key(|task| task.closed_at);
        let last = failed.and_then(|task| self.failure(task));
        let handed = || {
            let field = |name: &str| fix.agent_context.get(name);
            field("failure").or_else(|| field("failure_details")).cloned()
        };
        // A fix that is closed once more tells nothing twice.
        let is_new = |failure: &Value| !known.first().is_some_and(|first| is_of(first, failure));
        let newest = last.or_else(|| handed().filter(is_new));
        known.splice(0..0, newest);
        (!known.is_empty()).then(|| ("previous_failures".to_owned(), Value::Array(known)))
    }

    /// Why a task failed: the reason of its closing, with what it reported of the failure beside it.
    fn failure(&self, failed: &Task) -> Option<Value> {
        let reason = failed.close_reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
        // The fix has its report as well, by having been handed it.
        let before = [&self.implementation, &self.testing].into_iter().flatten();
        let before: Vec<&Task> = before.filter(|task| task.task_id != failed.task_id).collect();
        let is_own = |field: &&str| {
            let value = failed.agent_context.get(*field);
            before.iter().all(|task| task.agent_context.get(*field) != value)
        };
        let reports = ["failure_details", "error_logs"].into_iter().filter(is_own);
        let reports = reports.filter_map(|field| failed.agent_context.get(field));
        let reports = reports.map(text_of).filter(|text| !text.trim().is_empty());
        let mut parts: Vec<String> = reason.map(str::to_owned).into_iter().collect();
        for report in reports.filter(|report| reason != Some(report.trim())) {
            parts.push(end_of(report.trim(), MAX_REPORT));
        }
        (!parts.is_empty()).then(|| json!(parts.join(": ")))
    }

    /// For the approval: what was built and fixed, what the last test said, and how often it failed before.
    fn request_approval(&self, test: &Task) -> Map<String, Value> {
        let mut context = test.agent_context.clone();
        let own = self.own(test);
        let built = self.implementation.as_ref();
        let report = |task: &Task| {
            let text = |key: &str| task.agent_context.get(key).and_then(Value::as_str).map(str::to_owned);
            let named = text("work_completed").or_else(|| text("summary")).or_else(|| completed(task));
            named.filter(|text| !text.trim().is_empty())
        };
        let fixed =
            (test.attempts > 0).then(|| context.get("work_completed").and_then(Value::as_str)).flatten();
        let parts: Vec<String> = match (built.and_then(report), fixed) {
            (Some(built), Some(fixed)) if fixed.starts_with(GIVEN_UP) => vec![built, fixed.to_owned()],
            (Some(built), Some(fixed)) if built != fixed => vec![built, format!("then fixed: {fixed}")],
            (Some(built), _) => vec![built],
            (None, fixed) => fixed.map(str::to_owned).into_iter().collect(),
        };
        if !own.contains_key("summary") && !parts.is_empty() {
            context.insert("summary".into(), json!(parts.join("; ")));
            context.shift_remove("work_completed");
        }
        for field in FAILURE_FIELDS {
            if !own.contains_key(field) {
                context.shift_remove(field);
            }
        }
        // One that passed has no failure, whatever an older version left there.
        context.shift_remove("failure");
        if !own.contains_key("test_results") {
            let passed = test.close_reason.as_deref().filter(|reason| !reason.trim().is_empty());
            context.insert("test_results".into(), json!(passed.unwrap_or(Outcome::Pass.word())));
        }
        context
    }
}

/// How the work of a fix that failed begins.
const GIVEN_UP: &str = "the fix was given up: ";

/// What a closed task says by the reason of its closing. One that failed has completed nothing.
fn completed(task: &Task) -> Option<String> {
    let reason = task.close_reason.as_deref().filter(|reason| !reason.trim().is_empty())?;
    let has_failed = task.result.as_deref() == Some(Outcome::Fail.word());
    Some(match IncrementStage::of(task.agent_role.as_deref()) {
        Some(IncrementStage::Fixing) if has_failed => format!("{GIVEN_UP}{reason}"),
        Some(IncrementStage::Implementation) if has_failed => format!("the implementation failed: {reason}"),
        _ => reason.to_owned(),
    })
}

fn put_text(context: &mut Map<String, Value>, key: &str, text: Option<&str>) {
    if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
        context.insert(key.to_owned(), json!(text));
    }
}

/// Whether one of these fields is a text that says something.
fn has_text(context: &Map<String, Value>, fields: &[&str]) -> bool {
    let text =
        |key: &&str| context.get(*key).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
    fields.iter().any(text)
}

/// Whether an entry tells this failure, with or without its report.
fn is_of(entry: &Value, failure: &Value) -> bool {
    match (entry.as_str(), failure.as_str()) {
        (Some(entry), Some(failure)) => {
            entry.strip_prefix(failure).is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
        }
        _ => entry == failure,
    }
}

/// The most bytes of a report in the list of what failed before; its end says what went wrong.
const MAX_REPORT: usize = 400;

/// The end of a text, marked where its beginning is missing.
fn end_of(text: &str, most: usize) -> String {
    let over = text.len().saturating_sub(most);
    match (over..=text.len()).find(|at| text.is_char_boundary(*at)) {
        Some(from) if over > 0 => format!("…{}", &text[from..]),
        _ => text.to_owned(),
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

pub(super) fn list(value: Option<&Value>) -> Vec<Value> {
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.clone(),
        Some(other) => vec![other.clone()],
    }
}

/// Brings a follower's context from what it was handed before to what is known now. Fields that the follower has set itself stay.
pub fn refresh(target: &mut Map<String, Value>, before: &Map<String, Value>, now: &Map<String, Value>) {
    for (key, value) in before {
        if !now.contains_key(key) && target.get(key) == Some(value) {
            target.shift_remove(key);
        }
    }
    for (key, value) in now {
        if target.get(key).is_none() || target.get(key) == before.get(key) {
            target.insert(key.clone(), value.clone());
        }
    }
}

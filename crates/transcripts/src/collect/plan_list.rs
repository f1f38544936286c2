//! The list of tasks that the agent kept, and whether what is not ticked off in it is still to be done.

use baton_packet::packet::{Packet, PlanItem, Text};

use super::label::Label;
use super::{Collector, prose};
use crate::event::PlanItem as PlanStep;
use crate::shared::plan::{CALLED_COMPLETE, SKIPPED};

/// A list that so many lines and requests came after is one of the past.
const STALE_LINES: u64 = 300;
const STALE_REQUESTS: u64 = 2;
/// The state of an item of such a list.
const LONG_PAST: &str = "not ticked off, long before the end";

impl Collector<'_> {
    /// The user asks for something. Where the agent has called all of its work complete before, with tests that pass, and he
    /// takes up something else, what is not ticked off was done.
    pub(super) fn plan_was_passed_over(&mut self, request: &str) {
        let Some(answer) = self.last_answer.as_ref().filter(|_| self.replied && !self.plan.is_empty()) else {
            return;
        };
        let since = self.plan_at.line.max(self.changed_at);
        let is_green = self.calls.failure.is_none()
            && self.calls.last_test().is_some_and(|run| run.ok == Some(true) && run.at.line > since);
        let is_complete = prose::calls_complete(&answer.text) && prose::next_steps(&answer.text).is_empty();
        self.plan_is_complete |= is_green && is_complete && !prose::misses_something(request);
    }

    /// Whether the list is of the past, by its age.
    fn has_stale_plan(&self) -> bool {
        let age = self.last_line.saturating_sub(self.plan_at.line);
        age >= STALE_LINES && self.requests_since_plan >= STALE_REQUESTS
    }

    /// Whether something of the list is left to do.
    pub(super) fn has_open_plan(&self) -> bool {
        !self.plan_is_complete && !self.has_stale_plan() && self.plan.iter().any(is_open)
    }

    pub(super) fn plan_into(&mut self, packet: &mut Packet, label: &Label) {
        let at = label.at(&self.plan_at);
        let past = match (self.plan_is_complete, self.has_stale_plan()) {
            (true, _) => Some(CALLED_COMPLETE),
            (false, true) => Some(LONG_PAST),
            (false, false) => None,
        };
        for item in &self.plan {
            let title = self.cleaner.text(&item.title, 600);
            if item.status == "completed" {
                packet.work_completed.push(Text { text: title.clone(), at: at.clone() });
            }
            let status = past.filter(|_| is_open(item)).unwrap_or(&item.status).to_owned();
            packet.pending_tasks.push(PlanItem { title, status, at: at.clone(), ..PlanItem::default() });
        }
    }
}

fn is_open(item: &PlanStep) -> bool {
    !matches!(item.status.as_str(), "completed" | SKIPPED)
}

#[cfg(test)]
mod tests {
    use super::super::tests::SessionScript;
    use crate::event::{EventKind, PlanItem};

    /// The states of a list of two items of which one was ticked off.
    fn states(test: (i64, &'static str), answer: &'static str, request: &'static str) -> Vec<String> {
        let item = |title: &str, status: &str| PlanItem {
            title: title.to_owned(),
            status: status.to_owned(),
            id: None,
        };
        let plan = vec![item("Update the struct", "completed"), item("Update the tests", "in_progress")];
        let script = SessionScript::new()
            .user("Simplify the summary and update the tests")
            .add(EventKind::Plan(plan))
            .edit("a", "s_test.go")
            .run("b", "go test ./...", test.0, test.1)
            .agent(answer)
            .user(request)
            .call("c", crate::event::Category::Read, "n.go");
        script.summary().pending_tasks.into_iter().map(|item| item.status).collect()
    }

    #[test]
    fn a_task_that_was_never_ticked_off_is_not_open_where_the_work_was_called_complete_and_another_followed()
    {
        let (ok, done, next) = (
            (0, "ok p 1s"),
            "The implementation is complete: all tests pass.",
            "great, new change: begin the folders with 1",
        );
        assert_eq!(states(ok, done, next), ["completed", "called complete"]);
        let open = ["completed", "in_progress"];
        assert_eq!(states((1, "--- FAIL: TestA"), done, next), open, "the tests fail");
        assert_eq!(states(ok, "The struct is simpler now.", next), open, "nothing was called complete");
        assert_eq!(states(ok, "The struct is complete, but the tests are not.", next), open);
        assert_eq!(
            states(ok, "The implementation is complete. Remaining: the integration tests", next),
            open
        );
        assert_eq!(
            states(ok, done, "you forgot the tests of the session"),
            open,
            "the user misses something"
        );
        assert_eq!(states(ok, done, "ok"), open, "nothing new was asked for");
    }
}

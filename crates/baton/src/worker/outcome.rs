//! What came of a command: from its exit code, and from the file of results, which wins.

use std::process::ExitStatus;

use baton_model::lossless_json;
use baton_model::task::closing::IncrementStage;
use baton_ops::task::CloseResult;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::run::CommandEnd;

/// The fields of a report that say how something failed.
const FAILURE_FIELDS: [&str; 3] = ["failure", "failure_details", "error_logs"];

/// What is written down about the task.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// It is closed with this result.
    Closed {
        result: CloseResult,
        reason: String,
        context: Map<String, Value>,
        instructions: Map<String, Value>,
    },
    /// The agent failed: the task goes to another, with what this one has found out.
    Failed { reason: String, context: Map<String, Value>, instructions: Map<String, Value> },
    /// The file of results cannot be read, for this reason. That is a failure of the agent, too.
    Unreadable(String),
    /// The worker was stopped: the task goes back, and that is no attempt.
    Interrupted,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    /// Without it the exit code decides.
    result: Option<OutcomeWord>,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    context: Map<String, Value>,
    #[serde(default)]
    handoff_instructions: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum OutcomeWord {
    Pass,
    Fail,
    Error,
}

impl Outcome {
    /// Whether the agent did its work, whatever came of it.
    pub(super) fn is_work(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }

    /// What follows from an ending and the file of results, if there is one.
    pub(super) fn of(
        ending: &CommandEnd,
        report: Option<Result<String, String>>,
        role: Option<&str>,
    ) -> Self {
        let status = match ending {
            CommandEnd::Interrupted | CommandEnd::Lost => return Self::Interrupted,
            CommandEnd::TooLong(most) => {
                let reason = format!("stopped after {} seconds, its longest session", most / 1000);
                return Self::failed(reason);
            }
            CommandEnd::Ended(status) => status,
        };
        match report.map(|text| text.and_then(|text| read(&text))) {
            Some(Ok(report)) => Self::reported(report, *status, role),
            Some(Err(why)) => Self::Unreadable(format!("its BATON_RESULT cannot be read: {why}")),
            None => Self::of_exit(*status, role),
        }
    }

    fn reported(report: Report, status: ExitStatus, role: Option<&str>) -> Self {
        let Report { result, reason, context, handoff_instructions: instructions } = report;
        let result = match result {
            Some(OutcomeWord::Pass) => CloseResult::Pass,
            Some(OutcomeWord::Fail) => CloseResult::Fail,
            Some(OutcomeWord::Error) => return Self::Failed { reason, context, instructions },
            None => return Self::of_exit(status, role).with_report(reason, context, instructions),
        };
        Self::Closed { result, reason, context, instructions }
    }

    /// What the exit code says, with the words of a report that names no result.
    fn with_report(
        self,
        report: String,
        context: Map<String, Value>,
        instructions: Map<String, Value>,
    ) -> Self {
        let reason = if report.trim().is_empty() { self.reason().to_owned() } else { report };
        match self {
            Self::Closed { result, .. } => Self::Closed { result, reason, context, instructions },
            Self::Failed { .. } => Self::Failed { reason, context, instructions },
            other => other,
        }
    }

    fn of_exit(status: ExitStatus, role: Option<&str>) -> Self {
        let judges =
            matches!(IncrementStage::of(role), Some(IncrementStage::Testing | IncrementStage::Verification));
        let (result, reason) = match status.code() {
            Some(0) => (CloseResult::Pass, "the command ended with 0"),
            Some(1) if judges => (CloseResult::Fail, "the command ended with 1"),
            _ => return Self::failed(format!("the command ended with {status}")),
        };
        Self::Closed { result, reason: reason.to_owned(), context: Map::new(), instructions: Map::new() }
    }

    /// The same ending of an agent that could not do its work: its exit code says nothing about the task.
    pub(super) fn without_result(self) -> Self {
        match self {
            Self::Closed { .. } => Self::failed(self.reason().to_owned()),
            other => other,
        }
    }

    /// The same ending with the end of the command's output as `error_logs`, where it failed and its report does not say how.
    pub(super) fn with_output(mut self, output: &str) -> Self {
        if let Self::Closed { result: CloseResult::Fail, context, instructions, .. }
        | Self::Failed { context, instructions, .. } = &mut self
        {
            let says_how =
                |map: &Map<String, Value>| FAILURE_FIELDS.iter().any(|field| map.contains_key(*field));
            if !output.trim().is_empty() && !says_how(context) && !says_how(instructions) {
                context.insert("error_logs".to_owned(), output.into());
            }
        }
        self
    }

    fn failed(reason: String) -> Self {
        Self::Failed { reason, context: Map::new(), instructions: Map::new() }
    }

    /// Why.
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Closed { reason, .. } | Self::Failed { reason, .. } | Self::Unreadable(reason) => reason,
            Self::Interrupted => "the worker was stopped",
        }
    }
}

fn read(text: &str) -> Result<Report, String> {
    lossless_json::read(text.as_bytes()).map_err(|error| error.to_string())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn check(raw: i32, report: Option<&str>, role: &str) -> String {
        let report = report.map(|text| Ok(text.to_owned()));
        match Outcome::of(&CommandEnd::Ended(ExitStatus::from_raw(raw)), report, Some(role)) {
            Outcome::Closed { result, reason, .. } => format!("{}: {reason}", result.as_str()),
            Outcome::Failed { reason, .. } | Outcome::Unreadable(reason) => format!("failed: {reason}"),
            Outcome::Interrupted => "interrupted".to_owned(),
        }
    }

    #[test]
    fn exit_codes_mean_what_the_role_makes_of_them() {
        assert_eq!(check(0, None, "fixing"), "pass: the command ended with 0");
        assert_eq!(check(1 << 8, None, "testing-specialist"), "fail: the command ended with 1");
        assert_eq!(check(1 << 8, None, "verification"), "fail: the command ended with 1");
        assert_eq!(check(1 << 8, None, "implementation"), "failed: the command ended with exit status: 1");
        assert_eq!(check(2 << 8, None, "testing"), "failed: the command ended with exit status: 2");
        assert!(check(9, None, "testing").starts_with("failed: the command ended with signal: 9"));
    }

    #[test]
    fn a_report_without_a_result_keeps_its_words_and_the_exit_code_decides() {
        let report = r#"{"reason":"built","context":{"work_completed":"x"}}"#;
        assert_eq!(check(0, Some(report), "implementation"), "pass: built");
        assert_eq!(check(1 << 8, Some("{\"context\":{}}"), "testing"), "fail: the command ended with 1");
        assert_eq!(check(3 << 8, Some(report), "implementation"), "failed: built");
        let ended = CommandEnd::Ended(ExitStatus::from_raw(0));
        let outcome = Outcome::of(&ended, Some(Ok(report.to_owned())), Some("implementation"));
        assert!(
            matches!(&outcome, Outcome::Closed { context, .. } if context["work_completed"] == "x"),
            "{outcome:?}"
        );
    }

    #[test]
    fn the_end_of_the_output_says_how_it_failed_where_no_report_does() {
        let with = |raw: i32, report: Option<&str>| {
            let ended = CommandEnd::Ended(ExitStatus::from_raw(raw));
            let outcome = Outcome::of(&ended, report.map(|text| Ok(text.to_owned())), Some("testing"));
            match outcome.with_output("assertion failed\n") {
                Outcome::Closed { context, .. } | Outcome::Failed { context, .. } => {
                    Value::Object(context).to_string()
                }
                other => format!("{other:?}"),
            }
        };
        assert_eq!(with(1 << 8, None), r#"{"error_logs":"assertion failed\n"}"#);
        assert_eq!(with(2 << 8, None), r#"{"error_logs":"assertion failed\n"}"#);
        assert_eq!(with(0, None), "{}", "nothing failed");
        let line = r#"{"result":"fail","context":{"failure_details":"2 red"}}"#;
        assert_eq!(with(1 << 8, Some(line)), r#"{"failure_details":"2 red"}"#);
    }

    #[test]
    fn a_report_wins_and_a_malformed_one_is_a_failure_that_says_where() {
        assert_eq!(check(0, Some("{\"result\":\"fail\",\"reason\":\"2 red\"}"), "testing"), "fail: 2 red");
        assert_eq!(check(3 << 8, Some("{\"result\":\"pass\"}"), "fixing"), "pass: ");
        assert_eq!(
            check(0, Some("{\"result\":\"error\",\"reason\":\"no net\"}"), "fixing"),
            "failed: no net"
        );
        let malformed = check(0, Some("{\"result\":\"pass\",\n \"contex\":{}}"), "fixing");
        assert!(malformed.contains("contex") && malformed.contains("line 2"), "{malformed}");
    }

    #[test]
    fn a_report_of_which_something_would_be_lost_is_not_taken() {
        for (report, why) in [
            (r#"{"result":"fail","context":{"a":1,"a":2}}"#, "the key \"a\" is given twice"),
            (r#"{"result":"pass","context":{"n":123456789012345678901234567890}}"#, "has more than 64 bits"),
        ] {
            let shown = check(0, Some(report), "testing");
            assert!(
                shown.starts_with("failed: its BATON_RESULT cannot be read") && shown.contains(why),
                "{shown}"
            );
        }
    }
}

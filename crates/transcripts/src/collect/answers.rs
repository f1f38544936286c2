//! The user's answers to questions that the agent asks with a tool: words of the user, each a decision.

use baton_packet::packet::Decision;

use super::prose::{Passage, topic};
use super::{Collector, Sentence, SourceRef, StandingDecision, subagents};
use crate::event::{Category, Outcome};
use crate::shared::words::one_line;

/// Names of tools that hand a task to a sub-agent, as the label of a call begins.
const SUBAGENT_TOOLS: &[&str] = &["Task ", "Agent ", "task ", "subagent "];
/// A report of a sub-agent weighs as much as the heaviest words of the agent's own.
const REPORT_SALIENCE: u8 = 60;
/// Beginnings of results that hold answers.
const ANSWERED: &[&str] = &["Your questions have been answered: ", "User has answered your questions: "];
/// The longest question and the longest answer that are told, in characters.
const MAX_QUESTION: usize = 300;
const MAX_ANSWER: usize = 1000;

impl Collector<'_> {
    /// A call was answered, by the user or by a sub-agent.
    pub(super) fn answered_call(
        &mut self,
        kind: &Category,
        call: &str,
        outcome: &Outcome<'_>,
        at: &SourceRef,
    ) {
        if *kind == Category::Ask {
            return self.answered_by_user(&outcome.output, at);
        }
        let task = SUBAGENT_TOOLS.iter().find_map(|tool| call.strip_prefix(tool));
        let report = task.and_then(|task| {
            subagents::report(
                &self.cleaner.clean_text(task.trim()),
                &self.cleaner.clean_text(&outcome.output),
            )
        });
        if let Some(text) = report.filter(|_| outcome.ok != Some(false)) {
            self.remarks.attach("assistant", Passage { text, salience: REPORT_SALIENCE }, at);
        }
    }

    /// A call that asks the user returned: each answer is a decision.
    pub(super) fn answered_by_user(&mut self, output: &str, at: &SourceRef) {
        let output = self.cleaner.clean_text(output);
        for (question, answer) in answers(&output) {
            let (question, answer) = (one_line(question, MAX_QUESTION), one_line(answer, MAX_ANSWER));
            let text = format!("{answer} — the user's answer to “{question}”");
            let named = topic(&text);
            let decision = Decision { what: text.clone(), why: None, rejected: Vec::new(), at: None };
            self.decisions.push(StandingDecision {
                decision,
                at: at.clone(),
                named,
                role: "user",
                is_carried_out: false,
            });
            self.remember("user", Sentence { text, at: at.clone() });
        }
    }
}

/// Each question with its answer, from `"question"="answer", "question"="answer". You can …`.
fn answers(output: &str) -> Vec<(&str, &str)> {
    let rest = ANSWERED.iter().find_map(|begin| output.trim_start().strip_prefix(begin));
    let mut rest = rest.unwrap_or_default();
    let mut all = Vec::new();
    while let Some((question, after)) = rest.strip_prefix('"').and_then(|rest| rest.split_once("\"=\"")) {
        // An answer may hold quotation marks; what follows it is the next question or the tool's last sentence.
        let next = after.find("\", \"").filter(|_| after.contains("\"=\""));
        let end = next.or_else(|| after.rfind("\". ")).or_else(|| after.rfind('"'));
        let (answer, left) = after.split_at(end.unwrap_or(after.len()));
        if !answer.trim().is_empty() {
            all.push((question, answer));
        }
        rest = left.strip_prefix("\", ").unwrap_or_default();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_with_their_questions() {
        let output = "User has answered your questions: \"Where, in cli/ or e2e/?\"=\"Separate e2e/ (Recommended)\", \
                      \"Which mode?\"=\"the \"strict\" one\". You can now continue with the user's answers in mind.";
        let wanted = [
            ("Where, in cli/ or e2e/?", "Separate e2e/ (Recommended)"),
            ("Which mode?", "the \"strict\" one"),
        ];
        assert_eq!(answers(output), wanted);
        assert_eq!(answers("Your questions have been answered: \"a?\"=\"b\""), [("a?", "b")]);
        assert_eq!(answers("He said: \"a\"=\"b\""), []);
    }
}

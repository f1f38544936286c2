//! What is left to do: the next steps, and what was begun and not ended.

use baton_packet::packet::Text;

use super::calls::Open;
use super::coverage::core;
use super::label::Label;
use super::resolution::LastFailure;
use super::steps::{git_words, plain_steps};
use super::{Collector, Sentence, SourceRef, prose};
use crate::event::Category;
use crate::shared::shell::is_test;
use crate::shared::words::one_line;

const MAX_LOOPS: usize = 20;
/// After so many commands, one that never came back is left out.
const MANY_COMMANDS: usize = 5;
/// So much is told of what the agent said last, in characters.
const MAX_ANNOUNCED: usize = 200;
/// Behind a question that the agent put aside, where the conversation or the work went on.
const SETTLED: &str = " — left open by the agent; whether it was settled since is not known";
/// The next step where the last thing that happened was a call.
const GO_ON: &str = "go on with the last request";
/// Before a step that the agent names in a message that ends with a question.
const PROPOSED: &str = "the agent proposes, and the user has not answered: ";
/// Before the question with which the session ends.
const ASK_USER: &str = "ask the user, who has not answered";
/// Behind a commit that was started and has no result.
const NOR_COMMITTED: &str = "nor whether what it commits is committed";
const CUT_OFF: &str = "go on with the last request: the session ended while the agent was at work on it";

impl Collector<'_> {
    /// The unanswered request, then what the last answer named.
    pub(super) fn next_steps(&self, label: &Label) -> Vec<Text> {
        let unanswered = self.last_request.iter().filter(|_| !self.replied);
        let mut steps: Vec<Text> = match self.go_on.as_ref().filter(|_| !self.replied) {
            None if self.unreported_result().is_some() => self
                .unreported_result()
                .map(|(text, at)| Text { text, at: label.at(at) })
                .into_iter()
                .collect(),
            Some(word) => vec![Text { text: go_on(word), at: label.at(&word.at) }],
            None => unanswered.filter_map(|_| self.request_to_tell()).map(|one| label.text(&one)).collect(),
        };
        if let Some(answer) = &self.last_answer {
            // What stands before a question to the user is a proposal until he answers.
            let asks = self.replied
                && prose::suggests(&answer.text)
                && !prose::asked_at_the_end(&answer.text).is_empty();
            let proposed = if asks { PROPOSED } else { "" };
            let named = prose::next_steps(&answer.text).into_iter();
            steps.extend(
                named.map(|text| Text { text: format!("{proposed}{text}"), at: label.at(&answer.at) }),
            );
            if steps.is_empty() && !self.has_open_plan() {
                // An agent that did something since did what was announced.
                let announced = prose::announced(&answer.text).filter(|_| self.last_done.is_none());
                let announced = announced.map(|text| format!("{GO_ON}; the agent said last: “{text}”"));
                steps.extend(announced.map(|text| Text { text, at: label.at(&answer.at) }));
                let cut_off =
                    self.at_work.iter().filter(|_| steps.is_empty() && self.calls.failure.is_none());
                let cut_off: Vec<Text> =
                    cut_off.map(|(at, _)| Text { text: CUT_OFF.to_owned(), at: label.at(at) }).collect();
                steps.extend(cut_off);
            }
        }
        if steps.is_empty() {
            steps.extend(self.awaited_answer().map(|(text, at)| Text { text, at: label.at(at) }));
        }
        steps
    }

    /// The question with which the session ends, and what may be chosen. A plan that waits to be carried out comes before it.
    fn awaited_answer(&self) -> Option<(String, &SourceRef)> {
        let answer = self.last_answer.as_ref().filter(|_| self.replied && !self.has_open_plan())?;
        let question = prose::asked_at_the_end(&answer.text).pop()?;
        let is_last = answer.text.trim_end().trim_end_matches(['*', '_', ')', ' ']).ends_with('?');
        if !is_last || !question.ends_with('?') || self.has_waiting_plan() {
            return None;
        }
        let choices = prose::choices(&answer.text, &question);
        let choices = match choices.is_empty() {
            true => String::new(),
            false => format!(" (to choose from: {})", choices.join(" / ")),
        };
        Some((format!("{ASK_USER}: “{question}”{choices}"), &answer.at))
    }

    /// What is left open, but for what is told as the next step.
    pub(super) fn open_loops(&self, open: &[Open], next: &[Text], label: &Label) -> Vec<Text> {
        let mut loops = Vec::new();
        let mut add = |text: String, at: &SourceRef| loops.push(Text { text, at: label.at(at) });
        if let Some(LastFailure { run, .. }) = &self.calls.failure {
            let failed = || run.note.clone().unwrap_or_else(|| "failed".to_owned());
            let code = run.exit_code.map_or_else(failed, |code| format!("ended with exit code {code}"));
            add(format!("`{}` {code} and did not succeed since", one_line(&run.command, 200)), &run.at);
        }
        let since = self.spoke_at;
        let worked_since = |line: u64| self.calls.commands.iter().any(|run| run.at.line > line.max(since));
        // Where the conversation went on, a call that never returned was stopped.
        let hangs = |call: &&Open| {
            let looks = matches!(call.category, Category::Read | Category::Search);
            let runs_on = call.answered && !is_test(&call.target);
            let is_recent = call.at.line >= since || !worked_since(call.at.line);
            let matters = matches!(call.category, Category::Shell | Category::Task) && is_recent;
            call.at.subagent.is_none()
                && !call.is_typed()
                && !looks
                && (runs_on || matters || call.category == Category::Ask || call.at.line >= since)
        };
        let mut listed = Vec::new();
        // Where so much was run since, it was given up, unless it runs in the background.
        let ended_since = |call: &&Open| {
            let later = || self.calls.commands.iter().filter(|run| run.at.line > call.at.line);
            let again = later().any(|run| core(&run.command) == core(&call.target));
            call.category == Category::Shell
                && (again || (!call.answered && later().count() >= MANY_COMMANDS))
        };
        for call in open.iter().filter(hangs).rev().filter(|call| !ended_since(call)).take(MAX_LOOPS) {
            let text = open_call_text(call);
            if !listed.contains(&text) {
                add(text.clone(), &call.at);
                listed.push(text);
            }
        }
        for (line, at) in self.edits_not_made() {
            add(line, at);
        }
        if let Some(at) = &self.interrupted {
            add("The user stopped the agent here.".to_owned(), at);
        }
        for (text, at) in self.unstaged().into_iter().chain(self.announced_beside_plan()) {
            add(text, at);
        }
        let is_next = |question: &str| next.iter().any(|step| step.text.contains(question));
        let questions = self.open_questions().into_iter().filter(|(question, _)| !is_next(question));
        for (question, at) in questions.chain(self.open_offer()) {
            add(question, at);
        }
        loops
    }

    /// What is told of edits that failed, the agent's own and those of sub-agents.
    fn edits_not_made(&self) -> impl Iterator<Item = (String, &SourceRef)> {
        let request = self.last_request.as_ref().map_or(0, |sentence| sentence.at.line);
        let answer = self.last_answer.as_ref().map(|sentence| sentence.text.as_str());
        let edits = &self.calls.failed_edits;
        let is_changed = |path: &str, agent: Option<&str>| self.files.may_be_changed(path, agent);
        let of_subagents = edits.line_of_subagents(is_changed);
        edits.line_since(request, answer).into_iter().chain(of_subagents)
    }

    /// What the agent said last that it does next, where the plan names the step: it was not done.
    fn announced_beside_plan(&self) -> Option<(String, &SourceRef)> {
        let is_idle = self.replied && self.last_done.is_none() && self.at_work.is_none();
        let answer = self.last_answer.as_ref().filter(|_| is_idle)?;
        let announced = prose::announced(&answer.text).filter(|_| self.has_open_plan())?;
        Some((
            format!("the agent said last, and had not done it: “{}”", one_line(announced, MAX_ANNOUNCED)),
            &answer.at,
        ))
    }

    /// What was put aside, then what the last answer asks, if the user has said nothing since.
    fn open_questions(&self) -> Vec<(String, &SourceRef)> {
        let as_of_now = |question: &str, at: &SourceRef| match at.line < self.changed_at.max(self.spoke_at) {
            true => format!("{question}{SETTLED}"),
            false => question.to_owned(),
        };
        let mut all: Vec<(String, &SourceRef)> =
            self.questions.iter().map(|(question, at)| (as_of_now(question, at), at)).collect();
        if let Some(answer) = self.last_answer.as_ref().filter(|_| self.replied) {
            for question in prose::asked_at_the_end(&answer.text) {
                if !self.questions.iter().any(|(known, _)| *known == question) {
                    all.push((question, &answer.at));
                }
            }
        }
        all
    }

    /// What was done last about a request of which the agent has said nothing yet: it may be all that was asked for.
    fn unreported_result(&self) -> Option<(String, &SourceRef)> {
        let done = self.last_done.as_ref().filter(|_| !self.replied && self.calls.failure.is_none())?;
        // Commands and edits are told by what came of them.
        let is_told = !matches!(done.category, Category::Other | Category::Mcp(_));
        let is_since = self.last_request.as_ref().is_some_and(|request| request.at.line < done.call.at.line);
        let call = one_line(&done.call.text, 120);
        let result = one_line(&done.result, 120);
        let result = if result.is_empty() { result } else { format!(", and gave “{result}”") };
        (is_since && !is_told && done.succeeded).then(|| {
            let text = format!("tell the user, then go on: `{call}` succeeded after the last request{result}; nothing was said of it yet");
            (text, &done.call.at)
        })
    }
}

/// What is told of a call that never ended.
fn open_call_text(call: &Open) -> String {
    let what = call.label();
    match call.category {
        Category::Ask => format!("the agent asked and got no answer: {what}"),
        Category::Shell if commits(&call.target) => {
            format!("`{what}` was started; how it ended is not known, {NOR_COMMITTED}")
        }
        Category::Shell => format!("`{what}` was started; how it ended is not known"),
        Category::Edit | Category::Write => {
            format!("`{what}` was being changed; whether it was is not known")
        }
        _ => format!("`{what}` was called; its outcome is not known"),
    }
}

/// Whether a step of a command line makes a commit.
fn commits(line: &str) -> bool {
    plain_steps(line).iter().any(|step| git_words(step).is_some_and(|(verb, _)| verb == "commit"))
}

/// The next step where the user said last that the work goes on.
fn go_on(word: &Sentence) -> String {
    let word = one_line(&word.text, 60);
    format!("go on with the last request: the user said “{word}”, and there is no answer to it yet")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SessionScript, texts};
    use crate::event::{Call, Category, EventKind};

    const ASKS: &str = "Two ways:\n\n**1. Subagents (this session)** - one for each task\n\n**2. A session beside** - in steps\n\nWhich approach?";

    #[test]
    fn a_question_at_the_end_is_what_comes_next_with_its_choices() {
        let packet = SessionScript::new().user("Mend the hooks").agent(ASKS).summary();
        let wanted = "ask the user, who has not answered: “Which approach?” (to choose from: 1. Subagents (this session) / 2. A session beside)";
        assert_eq!((texts(&packet.next_steps), texts(&packet.open_loops)), (vec![wanted], vec![]));
        let settled = SessionScript::new()
            .user("Mend the hooks")
            .agent("Done. Is the name unique? I think so.")
            .summary();
        assert_eq!(texts(&settled.next_steps), [""; 0], "the agent goes on by itself");
        let more = SessionScript::new().user("Mend the hooks").agent(ASKS).user("the first").summary();
        assert!(texts(&more.next_steps).iter().all(|step| !step.contains("not answered:")), "{more:#?}");
    }

    #[test]
    fn advice_and_what_the_agent_answers_itself_are_no_questions() {
        let open = |answer: &'static str| {
            let packet =
                SessionScript::new().user("Mend the hooks").edit("a", "hooks.rs").agent(answer).summary();
            let all = packet.open_loops.iter().chain(&packet.next_steps).map(|text| text.text.clone());
            all.collect::<Vec<String>>()
        };
        for answer in [
            "The hooks are mended. If one is slow again, check whether the daemon runs.",
            "The hooks are mended. I recommend verifying whether the old cache is still needed before a release.",
            "The hooks are mended. A flag says whether a hook may fail.",
            "The hooks are mended. Let me know if you have any questions or run into problems.",
            "The hooks are mended. Let me know how it goes!",
            "Why did they fail? The path was relative to the wrong folder. All hooks run now.",
            "**What was wrong?** The path was relative.\n\nAll hooks run now.",
            "## Why did the hooks fail?\n\nThe path was relative.\n\nAll hooks run now.",
            "**Is it safe?**\n\nYes: every path is checked.",
            "Should it fail loudly? Yes, since a silent hook hides the fault. It does so now.",
            "The catch? It costs a second per run.",
            "So what changed? Only the path. Who would have thought that?\n\nAll hooks run now.",
        ] {
            assert_eq!(open(answer), [""; 0], "{answer}");
        }
        for (answer, question) in [
            ("It is not clear whether the old cache is still needed.", "not clear whether"),
            ("Please decide whether a hook may fail.", "decide whether"),
            ("Let me know whether the old flag should go.", "let me know whether"),
            ("Let me know if you want me to drop the old flag, too.", "drop the old flag"),
            ("Let me know which of the two you prefer.", "which of the two"),
            (
                "Should I use the cache or the index? The cache is faster, the index is smaller.",
                "cache or the index?",
            ),
            ("Which one do you want? Both work.", "which one do you want?"),
            ("Is the daemon meant to run as root? I could not find out.", "run as root?"),
            ("Two ways are left. Is the daemon meant to run as root?", "run as root?"),
            ("### Which approach do you prefer?\n\n1. A cache\n2. An index", "which approach"),
        ] {
            let open = open(answer);
            assert!(open.iter().any(|text| text.to_lowercase().contains(question)), "{answer}: {open:?}");
        }
    }

    #[test]
    fn the_approval_of_a_plan_that_the_tool_does_not_tell_is_a_decision() {
        let decided = |exit_code: i64| {
            let (id, name, proposal) = ("p".into(), "ExitPlanMode".into(), Some("".into()));
            let call = Call { id, name, category: Category::Task, proposal, ..Call::default() };
            let script = SessionScript::new().user("Write a plan").edit("a", "docs/plans/perf.md");
            let script = script.add(EventKind::Call(call)).ended("p", exit_code, "").agent(ASKS);
            script.summary().decisions.into_iter().map(|decision| decision.what).collect::<Vec<_>>()
        };
        assert_eq!(decided(0), ["The user agreed to the plan in `docs/plans/perf.md`."]);
        assert_eq!(decided(1), [""; 0]);
    }
}

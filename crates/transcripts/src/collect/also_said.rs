//! Which of the things that were said still tell something at the end.

use baton_packet::packet::{Packet, Remark};

use super::label::Label;
use super::remarks::TimedRemark;
use super::request_weight::{RequestWeight, request_weight};
use super::{Collector, Sentence, prose, subagents};

/// A message that the document shows whole, in bytes.
const SHORT: usize = 1000;
/// Words of the agent, and an earlier request of the user, that are shorter say too little by themselves.
const MIN_WORDS: usize = 6;
const MIN_REQUEST_WORDS: usize = 8;
/// What was found out for the last request weighs more than what was said before it.
const FINDING_IMPORTANCE: i64 = 70;
/// So much is told of an earlier request and of other words of the user that he took back later, in characters.
const MAX_REQUEST: usize = 90;
const MAX_PREFERENCE: usize = 200;
/// A longer turn has told something that lasts.
const SHORT_TURN: usize = 480;

impl Collector<'_> {
    /// What else was said, but for what became a question or a step at the end, for what first and last request and last answer
    /// tell anyway, and for what work that was done since has made a thing of the past.
    pub(super) fn also_said(&self, packet: &Packet, label: &Label) -> Vec<Remark> {
        let remark = |entry: &TimedRemark| {
            let (role, words) = (self.role_of(entry), &entry.said);
            let text = match role {
                "request" => self.with_removal(&words.text, words.at.line, MAX_REQUEST),
                "user" => self.with_removal(&words.text, words.at.line, MAX_PREFERENCE),
                _ => words.text.clone(),
            };
            Remark { role: role.to_owned(), text, importance: entry.salience.into(), at: label.at(&words.at) }
        };
        let all = self.remarks.in_order().into_iter();
        let telling =
            all.filter(|entry| !is_listed(packet, entry) && !self.is_quoted(entry) && !self.is_past(entry));
        let mut remarks: Vec<Remark> = telling.map(remark).collect();
        remarks.extend(self.findings(label, &remarks));
        remarks
    }

    /// What the agent found out since the last request, where nothing was changed since: the request was to look into something.
    fn findings(&self, label: &Label, remarks: &[Remark]) -> Vec<Remark> {
        let is_told = |text: &str| remarks.iter().any(|remark| remark.text.contains(text));
        let answer = self.answer_to_tell().map(|answer| answer.at);
        let new = self.findings.iter().filter(|one| Some(&one.at) != answer.as_ref() && !is_told(&one.text));
        let looks_into = self.changed_at < self.spoke_at;
        let remark = |one: &Sentence| Remark {
            role: "assistant".to_owned(),
            text: one.text.clone(),
            importance: FINDING_IMPORTANCE,
            at: label.at(&one.at),
        };
        new.filter(|_| looks_into).map(remark).collect()
    }

    /// Whose words they are; what the user asked for, or said of the code, before work that was done since is of the past.
    fn role_of(&self, entry: &TimedRemark) -> &'static str {
        let text = &entry.said.text;
        let is_earlier = || {
            let is_passing = entry.is_of_order || prose::asks_for_one_thing(text) || prose::names_code(text);
            self.was_followed(entry) && !entry.is_settled() && is_passing
        };
        match entry.role {
            "user" if entry.is_answer() => "answer",
            "user" if is_earlier() => "request",
            role => role,
        }
    }

    /// Whether a file was changed since.
    fn was_followed(&self, entry: &TimedRemark) -> bool {
        entry.said.at.line < self.changed_at
    }

    /// Whether the agent said something after this line.
    fn has_spoken_since(&self, line: u64) -> bool {
        self.last_answer.as_ref().is_some_and(|answer| answer.at.line > line)
    }

    fn is_quoted(&self, entry: &TimedRemark) -> bool {
        let whole = [&self.first_request, &self.last_request, &self.last_answer];
        let holds = |one: &Sentence| one.at == entry.said.at && one.text.len() <= SHORT;
        whole.into_iter().flatten().any(holds)
    }

    /// Whether words tell of what was so at their time only, or nothing by themselves.
    fn is_past(&self, entry: &TimedRemark) -> bool {
        let (line, text) = (entry.said.at.line, entry.said.text.as_str());
        let (words, followed) = (text.split_whitespace().count(), self.was_followed(entry));
        let passed = self.calls.last_test().filter(|run| run.ok == Some(true)).map_or(0, |run| run.at.line);
        let repaired = line < passed && prose::tells_of_failing_tests(text);
        let answered = line < self.spoke_at && prose::only_questions(text);
        let by_role = match (entry.role, entry.is_settled()) {
            ("user", true) => false,
            ("user", false) if prose::asks_for_one_thing(text) => followed && words < MIN_REQUEST_WORDS,
            // What the user states is told, whatever was done since.
            ("user", false) => false,
            (_, true) => followed && prose::finds_or_plans(text),
            (_, false) => {
                let asks = text.contains("? ") || text.ends_with('?');
                let is_report = text.starts_with(subagents::REPORT);
                // What the agent said it would do, and then went on.
                let is_done = entry.is_mid_work && self.has_spoken_since(line) && prose::announces(text);
                // How the code stood, what was missing, and what was taken for the cause.
                let is_of_then = prose::names_lines(text)
                    || line < self.spoke_at && self.remarks.tell_of_lack(&entry.said.at)
                    || entry.is_mid_work && self.has_spoken_since(line) && prose::guesses(text);
                words < MIN_WORDS
                    || entry.is_mended
                    || (followed && is_of_then)
                    || is_done
                    || (asks && line < self.spoke_at)
                    || (followed && (is_report || prose::is_of_the_moment(text)))
                    || (followed && entry.is_mid_work && prose::tells_of_code(text))
                    || (followed && line < self.spoke_at && prose::weighs_options(text))
            }
        };
        answered || repaired || by_role
    }

    /// Leaves out of the last turns what was announced and then done, and the user's words that only let the work go on.
    pub(super) fn keep_telling_turns(&mut self) {
        let answer_line = self.answer_to_tell().map(|answer| answer.at.line);
        let last_users = self.recent.iter().rev().filter(|(role, _)| *role == "user").nth(1);
        let late = last_users.map_or(0, |(_, sentence)| sentence.at.line);
        let unanswered = self.unanswered_turns();
        let past = self.past_turns();
        self.recent.retain(|(role, turn)| match *role {
            "assistant" => {
                Some(turn.at.line) == answer_line
                    || !(prose::is_step(&turn.text) || past.contains(&turn.at.line))
            }
            _ => turn.at.line >= late || !(says_nothing(&turn.text) || unanswered.contains(&turn.at.line)),
        });
    }

    /// The lines of turns that tell what the agent saw before the last change of a file: short ones in the middle of the work, those
    /// that name lines by their numbers, those that told of a fault which was mended right after.
    fn past_turns(&self) -> Vec<u64> {
        let turns: Vec<_> = self.recent.iter().collect();
        let is_past = |turn: &Sentence| {
            turn.at.line < self.changed_at
                && turn.text.len() <= SHORT_TURN
                && prose::is_of_the_moment(&turn.text)
        };
        let pairs = turns.windows(2).filter(|pair| pair[0].0 == "assistant" && pair[1].0 == "assistant");
        let seen = pairs.filter(|pair| is_past(&pair[0].1)).map(|pair| pair[0].1.at.line);
        // Lines that were named have moved since, or are gone.
        let names_lines = |turn: &Sentence| {
            turn.at.line < self.changed_at && turn.text.len() <= SHORT_TURN && prose::names_lines(&turn.text)
        };
        let of_agent = self.recent.iter().filter(|(role, _)| *role == "assistant");
        let named = of_agent.filter(|(_, turn)| names_lines(turn)).map(|(_, turn)| turn.at.line);
        seen.chain(named).chain(self.mended_at.iter().copied()).collect()
    }

    /// The lines of questions of the user behind which the answer is not among the last turns.
    fn unanswered_turns(&self) -> Vec<u64> {
        let telling =
            |(role, turn): &&(&'static str, Sentence)| *role == "user" || !prose::is_step(&turn.text);
        let turns: Vec<_> = self.recent.iter().filter(telling).collect();
        let is_lost = |pair: &&[&(&'static str, Sentence)]| {
            pair[0].0 == "user" && pair[1].0 == "user" && prose::only_questions(&pair[0].1.text)
        };
        turns.windows(2).filter(is_lost).map(|pair| pair[0].1.at.line).collect()
    }

    /// Whether the user asked later for what a sentence forbids once: `don't commit` and then `commit this`.
    pub(super) fn is_lifted(&self, constraint: &Sentence) -> bool {
        let Some(verb) = prose::forbidden_for_now(&constraint.text) else { return false };
        let later = self.orders.iter().filter(|order| order.at.line > constraint.at.line);
        later.into_iter().any(|order| prose::orders(&order.text, verb))
    }
}

/// Whether it is among the questions and steps at the end, or is a decision.
fn is_listed(packet: &Packet, entry: &TimedRemark) -> bool {
    let text = entry.said.text.as_str();
    let items = packet.open_loops.iter().chain(&packet.next_steps).map(|item| &item.text);
    items.chain(packet.decisions.iter().map(|decision| &decision.what)).any(|item| item.contains(text))
}

/// Whether the user's words only let the work go on, or are the name of a command.
fn says_nothing(text: &str) -> bool {
    let weight = request_weight(text);
    matches!(weight, RequestWeight::GoOn | RequestWeight::Courtesy | RequestWeight::Praise)
        || text.split_whitespace().nth(1).is_none()
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::super::tests::SessionScript;

    /// All that is told of what was said, but for the last answer.
    fn words(packet: &Packet) -> String {
        let turns = packet.recent_messages.iter().map(|turn| turn.text.as_str());
        packet.remarks.iter().map(|remark| remark.text.as_str()).chain(turns).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_fault_that_the_very_next_edit_mended_is_not_told() {
        const FAULT: &str = "The `replace_all` replaced the string in the const declaration itself! It turned `const unknown = \"x\"` into `const unknown = unknown`. Let me fix this:";
        const FOUND: &str = "I found the issue. In `extract` (a.go:212-222) only the new lines are stored:\n\n```go\nx\n```\n\nSo when looking up a checkpoint from the 2nd commit, you only get the delta, not the full transcript.\n\nThe way is simple: always store all of it. Let me update `extract` to use all lines.";
        for fault in [FAULT, FOUND] {
            let script = SessionScript::new().user("use a constant").edit("a", "setup.go").agent(fault);
            let open =
                script.run("b", "go test ./...", 0, "ok  \tx").agent("Tests pass before it.").summary();
            assert!(
                words(&open).contains("turned") || words(&open).contains("delta"),
                "no edit came after: {}",
                words(&open)
            );
            let script = SessionScript::new().user("use a constant").edit("a", "setup.go").agent(fault);
            let script = script.edit("b", "setup.go").run("c", "go test ./...", 0, "ok  \tx");
            let mended = script.agent("All tests pass.").summary();
            assert!(
                !words(&mended).contains("turned") && !words(&mended).contains("delta"),
                "{}",
                words(&mended)
            );
        }
    }

    #[test]
    fn lines_that_were_named_and_guesses_are_of_the_past_once_files_were_changed() {
        const LINES: &str = "Never. The flag is false on line 807, then always set on line 838, because the attribution needs it. There is no path where it stays so. Want me to clean it up?";
        let script = |last: bool| {
            let script = SessionScript::new().user("write the flag").edit("a", "a.go").agent("Done.");
            let script =
                script.user("when is the flag not set?").agent(LINES).user("yes, please remove the flag");
            let script = if last { script.edit("b", "a.go") } else { script };
            words(&script.agent("Removed.").user("and the docs").agent("They are right.").summary())
        };
        assert!(script(false).contains("line 807"), "{}", script(false));
        assert!(!script(true).contains("line 807"), "{}", script(true));
        const GUESS: &str = "So SA5011 is enabled by default. The issue might be that the versions of the linter differ. Let me check the exact version.";
        let is_told = |edited: bool| {
            let script = SessionScript::new().user("why does CI fail?").agent(GUESS);
            let script = script.run("a", "golangci-lint version", 0, "1.64");
            let script = script.agent("Both have the same version, so it is the platform.").user("mend it");
            let script = if edited { script.edit("b", "a.go") } else { script };
            let packet = script.agent("Mended.").summary();
            packet.remarks.iter().any(|remark| remark.text.contains("versions of the linter"))
        };
        assert!(is_told(false), "where no file was changed after");
        assert!(!is_told(true));
    }

    #[test]
    fn what_was_missing_is_of_the_past_once_it_was_made() {
        const LACK: &str = "The script is just dropped into `scripts/` with:\n- No README\n- No mention in CLAUDE.md\n- No explanation of when or how to run it\n\nThis is a gap, because users won't know whether the old branch may be deleted, but they need to.";
        let script = |made: bool| {
            let script = SessionScript::new().user("write the script").edit("a", "migrate.sh").agent("Done.");
            let script = script.user("is it documented?").agent(LACK).user("then write the usage into it");
            let script = if made { script.edit("b", "migrate.sh") } else { script };
            let packet = script.agent("Written.").user("and the tests?").agent("They pass.").summary();
            packet.remarks.iter().map(|remark| remark.text.as_str()).collect::<Vec<_>>().join("\n")
        };
        assert!(script(false).contains("No README"), "{}", script(false));
        assert!(!script(true).contains("No README") && !script(true).contains("a gap"), "{}", script(true));
    }
}

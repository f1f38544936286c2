//! What the agent says, and what is decided by either side.

use baton_packet::packet::{Attempt, Decision};

use super::prose::{self, PacketWords, Passage};
use super::request::is_said_anew;
use super::{Collector, MAX_ANSWER, MAX_MESSAGE, Sentence, SourceRef, StandingDecision};
use crate::event::{Category, Outcome};
use crate::shared::words::{clip, clip_middle, clip_unclean, one_line};

/// So much is kept of what a call returned, in bytes.
const MAX_RESULT: usize = 400;
/// How much of a finding is told, in characters.
const MAX_FINDING: usize = 240;

/// A call that came back, and how what it returned begins.
#[derive(Debug)]
pub(super) struct DoneCall {
    pub call: Sentence,
    pub category: Category,
    pub succeeded: bool,
    pub result: String,
}

impl Collector<'_> {
    pub(super) fn assistant(&mut self, text: &str, at: SourceRef) {
        self.provider_stop = None;
        let whole = self.cleaner.clean_text(without_thinking(text));
        if whole.trim().is_empty() {
            return;
        }
        if prose::reverts_own_work(&whole) {
            let since = self.spoke_at;
            self.decisions.retain(|held| held.role != "assistant" || held.at.line < since);
        }
        if !self.replied && (prose::concedes(&whole) || prose::revises(&whole)) {
            self.remarks.take_back_answer();
        }
        self.remarks.put_back(&prose::put_back(&whole));
        let mut recorded = self.decide("assistant", &whole, &at);
        for (tried, why_failed) in prose::attempts(&whole) {
            recorded.push(PacketWords::new(&tried, why_failed.is_some()));
            self.attempts.push((Attempt { tried, why_failed, at: None }, at.clone()));
        }
        for question in prose::put_aside(&whole) {
            recorded.push(PacketWords::new(&question, true));
            self.questions.push((question, at.clone()));
        }
        self.remarks.agent(&whole, prose::passages(&whole, &recorded), &at);
        self.sets_out_at = prose::sets_out_to_mend(&whole).then_some(at.line);
        for text in prose::findings(&whole) {
            self.findings.push(Sentence { text: one_line(text, MAX_FINDING), at: at.clone() });
        }
        let answer = Sentence { text: clip_middle(whole.trim(), MAX_ANSWER), at };
        self.remember("assistant", answer.clone());
        self.answers.add(&answer);
        self.last_answer = Some(answer);
        self.last_done = None;
        (self.answered, self.replied, self.interrupted, self.at_work) = (true, true, None, None);
    }

    /// What the agent said last that says more than what comes next, else what it said last.
    pub(super) fn answer_to_tell(&self) -> Option<Sentence> {
        let passed = self.calls.last_test().filter(|run| run.ok == Some(true));
        let proved_at = passed.filter(|run| run.at.line > self.changed_at).map(|_| self.changed_at);
        self.answers.to_tell(self.spoke_at, proved_at).or(self.last_answer.as_ref()).cloned()
    }

    /// A call of the main line ended.
    pub(super) fn note_end(
        &mut self,
        call: Option<&(Category, String)>,
        outcome: &Outcome<'_>,
        at: &SourceRef,
    ) {
        if let Some((category, call)) = call {
            self.last_done = Some(DoneCall {
                call: Sentence { text: call.clone(), at: at.clone() },
                category: category.clone(),
                succeeded: outcome.ok == Some(true),
                result: self.cleaner.text(&clip_unclean(&outcome.output, MAX_RESULT), MAX_RESULT),
            });
        }
    }

    /// Keeps decisions and gives their words; a later one about the same things takes the place of an earlier one.
    pub(super) fn decide(&mut self, role: &'static str, text: &str, at: &SourceRef) -> Vec<PacketWords> {
        let mut recorded = Vec::new();
        for found in prose::decisions(text) {
            let before = self.decisions.iter().count();
            self.decisions.retain(|known| !prose::same_matter(&known.decision.what, &found.what));
            self.superseded += (before - self.decisions.iter().count()) as u64;
            // What was said of it before, in words of no rule or of other rules, must not stand without this.
            let named = prose::topic(&found.what);
            let reopened = role == "user" && self.reopen(&found.what, at);
            if reopened || self.remarks.is_about(&named) {
                let passage = Passage { text: found.what.clone(), salience: u8::MAX };
                self.remarks.attach(role, passage, at);
            }
            recorded.push(PacketWords::new(&found.what, found.why.is_some()));
            let rejected = found.rejected.into_iter().collect();
            let decision = Decision { what: found.what, why: found.why, rejected, at: None };
            self.decisions.push(StandingDecision {
                decision,
                at: at.clone(),
                named,
                role,
                is_carried_out: false,
            });
        }
        recorded
    }

    /// Takes back the decisions that the user speaks of later in other words, since they may no longer hold: each
    /// becomes a remark before those words. Returns whether there was one.
    pub(super) fn reopen(&mut self, words: &str, at: &SourceRef) -> bool {
        let same = |known: &StandingDecision| known.at != *at && prose::speaks_of(words, &known.named);
        let mut found = false;
        while let Some(held) = self.decisions.take(same) {
            let before = Passage { text: held.decision.what, salience: u8::MAX };
            self.remarks.attach(held.role, before, &held.at);
            found = true;
        }
        found
    }

    pub(super) fn remember(&mut self, role: &'static str, sentence: Sentence) {
        // What was announced is out of date where the agent speaks again.
        if role == "assistant" {
            self.recent.pop_if(|(role, before)| *role == "assistant" && prose::is_step(&before.text));
        }
        // What was sent too early is told as it was sent again.
        self.recent.pop_if(|(by, before)| {
            role == "user" && *by == "user" && is_said_anew(&before.text, &sentence.text)
        });
        let own =
            Some(role).filter(|role| *role == "user").and_then(|_| prose::without_output(&sentence.text));
        let text = clip(own.as_ref().unwrap_or(&sentence.text), MAX_MESSAGE);
        self.recent.push((role, Sentence { text, at: sentence.at }));
    }
}

/// What an agent says without the thoughts that some models write before it, between tags.
fn without_thinking(text: &str) -> &str {
    // A call that the provider did not take for one is no speech.
    let text = text.split("<|tool_calls_section_begin|>").next().unwrap_or_default();
    let inside = ["<thinking>", "<think>"].iter().find_map(|tag| text.trim_start().strip_prefix(tag));
    let Some(inside) = inside else { return text };
    ["</thinking>", "</think>"]
        .iter()
        .find_map(|tag| inside.split_once(tag))
        .map_or(inside, |(_, speech)| speech)
}

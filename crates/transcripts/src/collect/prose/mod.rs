//! What sentences say: constraints of the user, decisions, failed attempts, questions and next steps of the agent.
//!
//! A sentence counts by turns of phrase that seldom mean anything else; which of them are found, and what is taken for
//! one and is none, is measured (`bench/fidelity`).

mod assent;
mod attempts;
mod completion;
mod concession;
mod constraints;
mod decisions;
mod denied_parts;
mod fault_report;
mod keeping;
mod lifted;
mod narration;
mod passages;
mod passing;
mod pasted;
mod phrases;
mod questions;
mod reasoned_choice;
mod repair;
mod reply_words;
mod requirements;
mod reverts;
mod rhetorical;
mod salience;
mod steps;
mod topic;
mod whole_paste;

pub(super) use assent::{proposal_asked_about, proposes};
pub(super) use attempts::attempts;
pub(super) use completion::{calls_complete, misses_something};
pub(super) use concession::{concedes, put_back, revises, tells_of_removal};
pub(super) use constraints::constraints;
#[cfg(test)]
use decisions::DecisionText;
pub(super) use decisions::{corrects, decisions, rejects_all};
pub(super) use keeping::{kept_objects, removal, removed_objects};
pub(super) use lifted::{forbidden_for_now, orders};
pub(super) use narration::{
    announces, findings, is_step, leads_to_step, looks_first, only_announces, tells_something, thinks_aloud,
};
pub(super) use passages::{PacketWords, Passage, passages, users_passages};
pub(super) use passing::{
    asks_for_one_thing, finds_or_plans, is_of_the_moment, names_code, tells_of_code, weighs_options,
};
pub(super) use pasted::{typed, without_output};
pub(super) use questions::{
    asked_at_the_end, asks_for_work, choices, is_put_to_the_user, only_asks, only_questions, put_aside,
    tells_of_failing_tests,
};
pub(super) use repair::{guesses, names_lines, sets_out_to_mend, tells_of_lack};
pub(super) use reply_words::{answers, is_telling_answer, offers_a_choice, says_only_yes};
pub(super) use reverts::{reverts_own_work, takes_request_back};
pub(super) use steps::{announced, next_steps, suggests};
pub(super) use topic::{same_matter, speaks_of, topic};
pub(super) use whole_paste::{is_told_as_pasted, told_as_pasted};

use crate::shared::words::{is_item, sentences};
use phrases::{List, Lowered, has, lowered};

/// Longer sentences are pasted text, not speech.
const MAX_SENTENCE: usize = 400;

/// Whether the text begins with any of these.
fn begins(lower: &str, starts: &[&str]) -> bool {
    let lower = lower.trim_start_matches(['*', '_', '"', '(', ' ']);
    starts
        .iter()
        .any(|start| lower.strip_prefix(start).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
}

/// What stands on one line, which belongs together.
struct Paragraph<'t> {
    sentences: Vec<&'t str>,
    /// Whether the line is an item of a list.
    is_item: bool,
}

/// The sentences of a text, line by line. Code is left out.
fn paragraphs(text: &str) -> Vec<Paragraph<'_>> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced {
            lines.push(Paragraph { sentences: sentences(line), is_item: is_item(line) });
        }
    }
    lines
}

#[cfg(test)]
mod tests;

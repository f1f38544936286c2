//! The conversation as a tool can hold it: what was said, and the calls for which it has one of its own. Other calls are told as
//! text.

use std::fmt::Write as _;

use baton_ops::transcript::{EventBody, EventRow, Role, TodoItem, ToolCall};
use baton_tools::native::{Native, Step};
use baton_tools::work::OwnCall;
use serde_json::Value;

use super::work::{Folders, LinkedEvent, end_of, linked, work_of};

/// So much of the conversation goes along, the newest of it; the document has the rest.
const WHOLE: usize = 160 * 1024;

/// What was said and done.
#[derive(Debug)]
pub(crate) struct Conversation {
    /// The steps; the first is the user's.
    pub steps: Vec<Step>,
    /// How many turns at the beginning were left out.
    pub left_out: usize,
}

impl Conversation {
    /// The conversation of the events of a transcript. Sub-agents had their own.
    pub(crate) fn of(events: &[Value], native: &Native, folders: &Folders<'_>) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        for event in &linked(events) {
            match own_calls(event, native, folders) {
                Some(calls) => steps.extend(calls.into_iter().map(Step::Call)),
                None => {
                    speech(&event.row).into_iter().for_each(|(user, text)| add_words(&mut steps, user, &text))
                }
            }
        }
        let from = cut(&steps);
        let newest = steps.split_off(from);
        Self { steps: newest, left_out: turns(&steps) }
    }
}

/// The calls of the target that do the same; none where one of them would not.
fn own_calls(event: &LinkedEvent<'_>, native: &Native, folders: &Folders<'_>) -> Option<Vec<OwnCall>> {
    let works = work_of(event, folders)?;
    let calls: Option<Vec<Vec<OwnCall>>> = works.iter().map(native.calls).collect();
    calls.map(|calls| calls.concat())
}

/// Adds words, to those of the same speaker where nothing stands between.
fn add_words(steps: &mut Vec<Step>, user: bool, text: &str) {
    let text = text.trim();
    match steps.last_mut() {
        _ if text.is_empty() => {}
        Some(Step::User(last)) if user => *last += &format!("\n\n{text}"),
        Some(Step::Assistant(last)) if !user => *last += &format!("\n\n{text}"),
        _ if user => steps.push(Step::User(text.to_owned())),
        _ => steps.push(Step::Assistant(text.to_owned())),
    }
}

/// Where the part begins that goes along: at a word of the user, and at the last one at the latest.
fn cut(steps: &[Step]) -> usize {
    let (mut size, mut from) = (0, steps.len());
    for (at, step) in steps.iter().enumerate().rev() {
        size += match step {
            Step::User(text) | Step::Assistant(text) => text.len(),
            Step::Call(call) => call.input.to_string().len() + call.output.len(),
        };
        if size > WHOLE && from < steps.len() {
            break;
        }
        if matches!(step, Step::User(_)) {
            from = at;
        }
    }
    from
}

/// How many turns of user and agent the steps are.
fn turns(steps: &[Step]) -> usize {
    let is_user = |step: &Step| matches!(step, Step::User(_));
    let changes = steps.windows(2).filter(|pair| is_user(&pair[0]) != is_user(&pair[1])).count();
    changes + usize::from(!steps.is_empty())
}

fn speech(event: &EventRow<'_>) -> Option<(bool, String)> {
    match &event.body {
        EventBody::Message { role, text } => Some((*role == Role::User, text.clone().into_owned())),
        EventBody::Compaction { text } => Some((false, format!("[what came before, summed up]\n{text}"))),
        EventBody::ToolCall(call) => Some((false, call_text(call))),
        EventBody::Todo { items } => Some((false, plan_text(items))),
        EventBody::Interrupted | EventBody::ProviderError { .. } | EventBody::Edit(_) | EventBody::Other => {
            None
        }
    }
}

/// A tool call as text, so that the model does not take it for a call that it can make.
fn call_text(call: &ToolCall<'_>) -> String {
    let mut line = format!("[ran {}", call.tool);
    if !call.target.is_empty() {
        let _ = write!(line, ": {}", call.target);
    }
    match (call.exit_code, call.ok) {
        (Some(code), _) => _ = write!(line, " → exit {code}]"),
        (None, Some(true)) => line.push_str(" → ok]"),
        (None, Some(false)) => line.push_str(" → failed]"),
        (None, None) => line.push_str(" → outcome unknown]"),
    }
    let speaks = call.ok == Some(false) || call.category == "shell";
    if let Some(result) = call.result.as_deref().map(str::trim).filter(|text| speaks && !text.is_empty()) {
        let _ = write!(line, "\n{}", end_of(result));
    }
    line
}

fn plan_text(items: &[TodoItem<'_>]) -> String {
    let line = |item: &TodoItem<'_>| format!("\n- {} ({})", item.title, item.status);
    format!("[plan]{}", items.iter().map(line).collect::<String>())
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;

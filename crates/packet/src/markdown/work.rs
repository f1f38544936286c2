//! What was done: tool calls, turns; and whatever else the packet carries.

use serde_json::Value;

use super::section::{Entry, SHORTENED, Section, rank};
use super::{RenderContext, cut, quote, remarks, session};
use crate::packet::{Message, Text, ToolActivity};

/// Tool calls by category, with the most telling ones.
pub(super) fn activity(cx: &RenderContext, out: &mut Vec<Entry>) {
    for tools in &cx.packet.tool_activity {
        // What commands came to is told by the checks.
        if tools.category == "shell" && !cx.packet.checks.is_empty() {
            continue;
        }
        // A count alone says nothing of the work.
        let entry = Entry::new(Section::Activity, "tool categories");
        let entry = match tools.samples.is_empty() {
            true => entry,
            false => entry.form(rank::TURN, Some(SHORTENED), activity_line(tools, 3, 100)),
        };
        out.push(entry.form(rank::WHOLE_PROSE, None, activity_line(tools, usize::MAX, usize::MAX)));
    }
}

fn activity_line(tools: &ToolActivity, samples: usize, limit: usize) -> String {
    let category = quote::prose(&cut::middle(&tools.category, limit)).replace('*', "\\*");
    let samples: Vec<String> =
        tools.samples.iter().take(samples).map(|sample| quote::code(&cut::middle(sample, limit))).collect();
    let samples = if samples.is_empty() { String::new() } else { format!(": {}", samples.join(" · ")) };
    format!("- **{}** (×{}){samples}\n", if category.is_empty() { "other" } else { &category }, tools.count)
}

/// How many turns at the end are worth more than the rest.
const LAST_TURNS: usize = 4;
/// How many before those are worth more than what was said earlier.
const LATE_TURNS: usize = 2;
/// How many turns at the end are there in any case, from 1,000 tokens on.
const SURE_TURNS: usize = 3;
/// What is shown of one of the last turns in any case, in characters.
const SHORT_TURN_CHARS: usize = 80;
/// What is shown of a turn at first, in characters.
pub(super) const TURN_CHARS: usize = 200;

pub(super) fn turns(cx: &RenderContext, out: &mut Vec<Entry>) {
    let total = cx.packet.recent_messages.len();
    for (index, turn) in cx.packet.recent_messages.iter().enumerate() {
        let age = total - index;
        let remark = remarks::covered_by(cx.packet, turn);
        let (rank, order) = match remark {
            _ if age <= LAST_TURNS => (rank::LAST_TURN, age as i64),
            _ if age <= LAST_TURNS + LATE_TURNS => (rank::ANSWER, age as i64),
            // The user's words are few and weigh most: the later, the more.
            _ if turn.role == "user" => (rank::USER_REMARK, age as i64 - i64::from(u8::MAX)),
            Some(remark) => remarks::value(remark),
            None => (rank::TURN, age as i64),
        };
        // From 1,000 tokens on the last few have a place of their own, be it a short one.
        let sure = age <= SURE_TURNS && !cx.is_small();
        let first = if sure { rank::CHECK } else { rank };
        let entry = Entry::new(Section::Turns, "turns").order(order);
        let (role, mark) = (quote::name(&turn.role).unwrap_or("other"), cx.mark(turn.at.as_deref()));
        if let Some(above) = shown_above(cx, turn) {
            out.push(entry.form(first, None, format!("- **{role}**{mark}: {above}, above\n")));
            continue;
        }
        let show = |limit| {
            let text = cut::head(&turn.text, limit);
            let one_line = !text.contains('\n');
            let text = if one_line {
                format!(" {}\n", quote::prose(&text))
            } else {
                "\n".to_owned() + &quote::quote("  ", &text)
            };
            format!("- **{role}**{mark}:{text}")
        };
        let short = [(first, SHORT_TURN_CHARS), (rank, TURN_CHARS), (rank::WHOLE, 600)];
        let lengths = if sure { &short[..] } else { &short[1..] };
        out.push(entry.lengths(lengths, rank::WHOLE_PROSE, show));
    }
}

/// Whether a turn is the request or answer that the document begins with.
fn shown_above(cx: &RenderContext, turn: &Message) -> Option<&'static str> {
    let last = cx.packet.requests.as_ref().and_then(|requests| requests.last.as_ref());
    let same =
        |text: Option<&crate::packet::Text>| text.is_some_and(|text| text.text.trim() == turn.text.trim());
    let answer = cx.packet.last_answer.as_ref();
    let here = |text: Option<&crate::packet::Text>| {
        text.and_then(|text| text.at.as_deref().zip(turn.at.as_deref()))
            .is_none_or(|(there, here)| there == here)
    };
    // A request may be told with what it answers or what was asked for before it.
    let of_last = turn.role == "user"
        && turn.at.is_some()
        && last.is_some_and(|last| last.at == turn.at && last.text.starts_with(turn.text.trim()));
    match turn.text.trim().is_empty() {
        true => None,
        false if same(last) || of_last => Some("the last request"),
        false
            if is_told_at(
                cx.packet.requests.as_ref().and_then(|requests| requests.first.as_ref()),
                turn,
                "user",
            ) =>
        {
            Some("the first request")
        }
        false if is_told_at(answer, turn, "assistant") => Some("the last answer"),
        false if same(answer) && here(answer) => Some("the last answer"),
        false if same(answer) => Some("the same words as the last answer"),
        false => None,
    }
}

/// Whether a turn is this message, however much of either is kept.
fn is_told_at(text: Option<&Text>, turn: &Message, role: &str) -> bool {
    let same_place = text.is_some_and(|text| text.at.is_some() && text.at == turn.at);
    same_place && turn.role == role
}

/// The environment, the sender's metadata, and fields that this version does not know.
pub(super) fn other_fields(cx: &RenderContext, out: &mut Vec<Entry>) {
    let environment = cx.packet.environment.as_ref().and_then(session::rest_of);
    let environment = environment.iter().map(|value| ("environment", value));
    let untold = cx.packet.metadata.iter().filter(|(key, value)| !session::is_rendered(key, value));
    let rest = untold.chain(&cx.packet.other).map(|(key, value)| (key.as_str(), value));
    for (key, value) in environment.chain(rest) {
        let key = quote::code(&cut::middle(key, 80));
        let flat = match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        let nested = value.is_object() || value.is_array();
        let short = format!("- {key}: {}\n", quote::code(&cut::middle(&flat, 160)));
        let whole = match nested && flat.chars().count() > 160 {
            true => format!("- {key}:\n{}", quote::fence("json", &format!("{value:#}"))),
            false => format!("- {key}: {}\n", quote::code(&flat)),
        };
        let entry = Entry::new(Section::Other, "other fields");
        out.push(entry.form(rank::OTHER, Some(SHORTENED), short).form(rank::OTHER, None, whole));
    }
}

//! What is known of the session itself: where it ran, what it was before its context was compacted, what of it could
//! not be read. A sender puts this among the environment and the metadata.

use serde_json::{Map, Value};

use super::section::{Entry, Section, rank};
use super::{RenderContext, cut, quote};

/// Metadata fields that are rendered in a sentence of their own, where they have the expected form.
pub(super) fn is_rendered(key: &str, value: &Value) -> bool {
    match key {
        "model" | "started_at" => value.is_string(),
        "compaction" => value["summary"].is_string(),
        "provider_stop" => value["text"].is_string(),
        // Sizes of the session say nothing about the work.
        "tokens" => value["output"].is_number(),
        "transcript" => value["lines"].is_number(),
        "summary_by" => value == "facts" || value == "ledger",
        "complaints" => faults(value).is_some(),
        "redactions" | "left_out" => amounts(value).is_some(),
        _ => false,
    }
}

/// The environment without what the overview tells; nothing if that is all.
pub(super) fn rest_of(environment: &Value) -> Option<Value> {
    match environment {
        Value::Null => None,
        Value::Object(map) => {
            let rest: Map<String, Value> = map
                .iter()
                .filter(|(key, value)| *key != "cwd" || !value.is_string())
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            (!rest.is_empty()).then_some(Value::Object(rest))
        }
        other => Some(other.clone()),
    }
}

/// The folder in which the session ran.
pub(super) fn folder(cx: &RenderContext) -> Option<String> {
    let cwd = cx.packet.environment.as_ref()?["cwd"].as_str().filter(|cwd| !cwd.trim().is_empty())?;
    Some(quote::code_cell(&cut::middle(cwd, 160)))
}

/// A text of the metadata for the overview.
pub(super) fn fact(cx: &RenderContext, key: &str) -> Option<String> {
    let text = cx.packet.metadata.get(key)?.as_str().filter(|text| !text.trim().is_empty())?;
    Some(quote::cell(&cut::head(text, 80)))
}

/// With what the provider stopped the agent, and until when.
pub(super) fn provider_stop(cx: &RenderContext) -> Option<String> {
    let stop = cx.packet.metadata.get("provider_stop")?;
    let text = stop["text"].as_str().filter(|text| !text.trim().is_empty())?;
    let again = stop["again"].as_str().map(|again| format!("; {}", quote::cell(&cut::head(again, 60))));
    Some(format!("by its provider: {}{}", quote::cell(&cut::head(text, 160)), again.unwrap_or_default()))
}

/// What the agent itself wrote down of its work when its context was full.
pub(super) fn earlier_sessions(cx: &RenderContext, out: &mut Vec<Entry>) {
    let Some(compaction) = cx.packet.metadata.get("compaction") else { return };
    let summary = compaction["summary"].as_str().filter(|text| !text.trim().is_empty());
    let Some(summary) = summary else { return };
    let times = match compaction["count"].as_u64() {
        Some(count @ 2..) => format!(", the last of {count} times"),
        _ => String::new(),
    };
    // What was open then was worked on since.
    let open = match compaction["work_went_on"].as_bool() {
        Some(true) => ", as of then and without what was open",
        _ => "",
    };
    let mark = cx.mark(compaction["at"].as_str());
    let show = |limit| {
        let text = quote::quote("  ", &cut::head(summary, limit));
        format!("- **The agent's own summary when its context was compacted{times}**{open}{mark}:\n{text}")
    };
    let lengths = [(rank::CLEAR, 320), (rank::DIFF, 1000)];
    out.push(Entry::new(Section::Earlier, "summaries").lengths(&lengths, rank::WHOLE_PROSE, show));
}

/// What could not be read, what was taken out, and what did not fit into the packet.
pub(super) fn losses(cx: &RenderContext, out: &mut Vec<Entry>) {
    let mut line = |label: &str, detail: Option<String>| {
        let text = detail.filter(|detail| !detail.is_empty()).map(|detail| format!("- {label}: {detail}\n"));
        out.extend(text.map(|text| Entry::unshortened(Section::Provenance, "origins", rank::DETAIL, text)));
    };
    let field = |key: &str| cx.packet.metadata.get(key);
    line("Skipped or mended while the transcript was read", field("complaints").and_then(faults));
    line("Redacted", field("redactions").and_then(amounts));
    line("In the transcript, but not in this hand-off", field("left_out").and_then(amounts));
}

/// `bad line (line 3), unknown type ×2 (first at line 6)`
fn faults(complaints: &Value) -> Option<String> {
    let one = |fault: &Value| {
        let (count, line) = (fault["count"].as_u64()?, fault["first_line"].as_u64()?);
        let kind = match fault["kind"].as_str()? {
            "broken_chain" => "a message whose predecessor is missing in the file".to_owned(),
            "missing_part" => "a part of the conversation is in a file that is not there".to_owned(),
            kind => readable_key(kind),
        };
        Some(match (count, line) {
            (..=1, 0) => kind,
            (..=1, _) => format!("{kind} (line {line})"),
            (_, 0) => format!("{kind} ×{count}"),
            _ => format!("{kind} ×{count} (first at line {line})"),
        })
    };
    let parts: Option<Vec<String>> = complaints.as_array()?.iter().map(one).collect();
    parts.map(|parts| parts.join(", "))
}

/// `commands ×12, messages ×3`
fn amounts(counts: &Value) -> Option<String> {
    let one = |(key, count): (&String, &Value)| Some(format!("{} ×{}", readable_key(key), count.as_u64()?));
    let parts: Option<Vec<String>> = counts.as_object()?.iter().map(one).collect();
    parts.map(|parts| parts.join(", "))
}

fn readable_key(key: &str) -> String {
    quote::prose(&cut::middle(key, 60).replace('_', " "))
}

//! The names of a packet's fields, for suggestions where one is mistyped.

use super::Packet;
use crate::printable;
use crate::refusal::Refusal;

/// The most levels that lists and objects of a packet may be nested in each other.
const MAX_DEPTH: usize = 127;

/// What is wrong with the JSON of a packet: where a limit was met, the limit.
pub(super) fn fault(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.strip_prefix("recursion limit exceeded") {
        Some(place) => format!("it is nested in more than {MAX_DEPTH} levels{place}"),
        None => text,
    }
}

/// Every field of a packet, in the order of its definition.
pub const FIELDS: [&str; 35] = [
    "summary",
    "source",
    "target",
    "session_id",
    "created_at",
    "requests",
    "last_answer",
    "last_failure",
    "work_completed",
    "next_steps",
    "open_loops",
    "session_notes",
    "pending_tasks",
    "proposal",
    "decisions",
    "failed_attempts",
    "constraints",
    "files_modified",
    "files_read",
    "searched",
    "checks",
    "commands",
    "test_command",
    "test_status",
    "known_issues",
    "focus",
    "next_agent",
    "next_role",
    "refs",
    "tool_activity",
    "remarks",
    "recent_messages",
    "git",
    "environment",
    "metadata",
];

/// The refusal of a packet without a summary, with the names of its unknown fields: one of them may be meant for it.
pub(super) fn no_summary_refusal(packet: &Packet) -> Refusal {
    let unknown: Vec<String> =
        packet.other.keys().take(5).map(|name| format!("`{}`", printable::line(name))).collect();
    let what = match unknown.is_empty() {
        true => "the packet has no `summary`".to_owned(),
        false => format!("the packet has no `summary`, but {}", unknown.join(", ")),
    };
    super::refusal(&what, "say in `summary`, in a sentence, what happened and where it stands")
        .with("path", "summary")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Map, Value, json};

    use super::*;

    #[test]
    fn a_packet_without_a_summary_names_what_it_has_in_its_place() {
        let refused =
            |text: &str| crate::packet::ValidatedPacket::parse(text.to_owned()).expect_err("refused");
        let named = refused("{\"sumary\": \"x\"}");
        assert_eq!(named.message, "the packet has no `summary`, but `sumary`");
        assert_eq!(refused("{}").message, "the packet has no `summary`");
    }

    #[test]
    fn every_name_is_a_field_and_every_field_is_named() {
        let named: Map<String, Value> = FIELDS.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
        let known = |name: &str| {
            let mut packet = json!({});
            packet[name] = json!("x");
            !serde_json::from_value::<Packet>(packet).is_ok_and(|packet| packet.other.contains_key(name))
        };
        assert!(named.keys().all(|name| known(name)), "{named:?}");
        let source = include_str!("mod.rs");
        let fields = source.split("pub struct Packet {").nth(1).and_then(|rest| rest.split("\n}").next());
        let lines = fields.expect("the packet").lines().filter_map(|line| line.trim().strip_prefix("pub "));
        let defined: BTreeSet<&str> = lines.filter_map(|line| line.split(':').next()).collect();
        let expected: BTreeSet<&str> = FIELDS.into_iter().chain(["other"]).collect();
        assert_eq!(defined, expected);
    }
}

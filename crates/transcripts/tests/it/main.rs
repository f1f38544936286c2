//! Whole transcripts in, whole packets out.

#![allow(clippy::expect_used, clippy::print_stderr, reason = "helpers of tests may fail a test")]

mod aider;
mod amp;
mod antigravity;
mod assent;
mod atif;
mod auggie;
mod batches;
mod cline;
mod cn;
mod code_mode;
mod codebuff;
mod codex;
mod crush;
mod damage;
mod databases;
mod devin;
mod family;
mod field;
mod gemini;
mod goose;
mod hermes;
mod hostile;
mod key_order;
mod kimi_wire;
mod kiro;
mod listing;
mod opencode;
mod openhands;
mod pi;
mod plans;
mod provider_errors;
mod qoder;
mod queue;
mod real;
mod samples;
mod stories;
mod subagents;
mod unknown_types;
mod vscode;
mod windsurf;
mod zed;

use std::path::{Path, PathBuf};

use baton_transcripts::{Options, by_id, detect, summarize, summarize_session};
use serde_json::Value;

/// A sample of ours.
fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples").join(name)
}

/// The packet of a file, as a receiver reads it.
fn packet(path: &Path) -> Value {
    let format = detect(path).expect("a known format");
    let options = Options { home: Some("/home/you".to_owned()), ..Options::default() };
    serde_json::to_value(summarize(path, format, &options)).expect("JSON")
}

/// The packet of a session by its key, read as this format.
fn packet_of(format: &str, path: &Path, key: Option<&str>) -> Value {
    let format = by_id(format).expect("a known format");
    let options = Options { home: Some("/home/you".to_owned()), ..Options::default() };
    serde_json::to_value(summarize_session(path, key, format, &options)).expect("JSON")
}

/// The packet as text, for a snapshot: without the path, which no two runs share.
fn shown(mut packet: Value) -> String {
    packet["source"]["path"] = "…".into();
    serde_json::to_string_pretty(&packet).expect("JSON")
}

/// Checks that a packet holds these values, given by JSON pointer.
fn check(packet: &Value, wanted: &[(&str, Value)]) {
    for (pointer, value) in wanted {
        let found = packet.pointer(pointer).unwrap_or(&Value::Null);
        assert_eq!(found, value, "{pointer} in {packet:#}");
    }
}

/// The values of one field in a list.
fn column<'v>(packet: &'v Value, list: &str, field: &str) -> Vec<&'v str> {
    packet[list]
        .as_array()
        .map_or(Vec::new(), |items| items.iter().filter_map(|item| item[field].as_str()).collect())
}

/// Kinds of the complaints of a packet.
fn complaints(packet: &Value) -> Vec<&str> {
    let list = packet["metadata"]["complaints"].as_array();
    list.map_or(Vec::new(), |list| list.iter().filter_map(|one| one["kind"].as_str()).collect())
}

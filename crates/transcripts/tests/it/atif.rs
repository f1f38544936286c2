//! ATIF: one document for a run, its sub-agents within.

use serde_json::json;

use super::damage::check_as;
use super::{check, column, packet, packet_of, sample};

const NORMAL: &str = "atif/normal.json";

#[test]
fn what_a_sub_agent_did_is_told_as_its_own_and_once() {
    let text = std::fs::read_to_string(sample(NORMAL)).expect("sample");
    let format = baton_transcripts::detect(&sample(NORMAL)).expect("a format");
    assert_eq!(format.id(), "atif");
    let (mut own, mut of_searcher) = (0, 0);
    format.read(&sample(NORMAL), &mut |event| match event.subagent.as_deref() {
        None => own += 1,
        Some("searcher") => of_searcher += 1,
        Some(name) => panic!("{name}"),
    });
    assert_eq!(of_searcher, 3, "a request, a call and its result; {own}, {}", text.len());
}

#[test]
fn an_earlier_run_that_was_copied_is_not_told_again() {
    let packet = packet(&sample(NORMAL));
    assert!(!packet.to_string().contains("An earlier run"));
    // The counts of the prompt contain what was read from the cache.
    let tokens = json!({"input": 300, "cache_read": 1200, "cache_write": 0, "output": 80});
    check(&packet, &[("/metadata/tokens", tokens), ("/environment/tool_version", json!("0.4.2"))]);
}

#[test]
fn the_totals_count_where_no_step_has_counts_of_its_own() {
    let run = r#"{"schema_version":"ATIF-v1.0","session_id":"s","agent":{"name":"a","version":"1"},
        "steps":[{"step_id":1,"source":"user","message":"Fix it"},{"step_id":2,"source":"agent","message":"Done."}],
        "final_metrics":{"total_prompt_tokens":10,"total_cached_tokens":4,"total_completion_tokens":3}}"#;
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("run.json");
    std::fs::write(&path, run).expect("written");
    let tokens = json!({"input": 6, "cache_read": 4, "cache_write": 0, "output": 3});
    check(&packet(&path), &[("/metadata/tokens", tokens), ("/session_id", json!("s"))]);
}

#[test]
fn a_result_without_an_id_belongs_to_the_call_that_waits_and_an_untold_exit_code_is_not_known() {
    let run = r#"{"schema_version":"ATIF-v1.2","agent":{"name":"a"},"steps":[{"source":"user","message":"Test it"},
        {"source":"agent","message":"","tool_calls":[
            {"tool_call_id":"1","function_name":"bash","arguments":{"command":"make test"}},
            {"tool_call_id":"2","function_name":"bash","arguments":{"command":"make lint"}}],
         "observation":{"results":[{"content":"all fine"},{"content":[{"type":"text","text":"Error: no rule"}]}]}}]}"#;
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("run.json");
    std::fs::write(&path, run).expect("written");
    let mut outcomes = Vec::new();
    let format = baton_transcripts::detect(&path).expect("a format");
    format.read(&path, &mut |event| {
        if let baton_transcripts::event::EventKind::Outcome(outcome) = &event.what {
            outcomes.push((outcome.id.to_string(), outcome.ok, outcome.exit_code));
        }
    });
    assert_eq!(outcomes, [("1".to_owned(), None, None), ("2".to_owned(), Some(false), None)]);
}

#[test]
fn a_damaged_run_gives_what_stands_before_and_an_empty_one_says_so() {
    let damaged = packet(&sample("atif/damaged.json"));
    assert_eq!(column(&damaged["metadata"], "complaints", "kind"), ["truncated_document"]);
    check(&damaged, &[("/files_modified/0/path", json!("cart.py"))]);
    let empty = packet_of("atif", &sample("atif/empty.json"), None);
    assert_eq!(column(&empty["metadata"], "complaints", "kind"), ["no_conversation"]);
    let bytes = std::fs::read(sample(NORMAL)).expect("sample");
    for end in (0..bytes.len()).step_by(61) {
        check_as("atif", "run.json", &bytes[..end]);
    }
}

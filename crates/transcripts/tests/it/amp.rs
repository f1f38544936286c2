use baton_transcripts::TranscriptEnv;
use serde_json::json;

use super::damage::check_as;
use super::databases::listed;
use super::{check, column, packet, packet_of, sample, shown};

const NORMAL: &str = "amp/threads/T-0a0a0a0a-0000-4000-8000-000000000001.json";

#[test]
fn an_amp_thread_is_read_with_its_tools_and_todos() {
    let packet = packet(&sample(NORMAL));
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "tests/test_cents.py"]);
    assert_eq!(column(&packet, "pending_tasks", "status"), ["completed", "pending"]);
    assert!(column(&packet, "open_loops", "text").contains(&"The user stopped the agent here."));
    check(
        &packet,
        &[
            ("/source/agent", json!("amp")),
            ("/environment/cwd", json!("~/my shop")),
            ("/git/branch", json!("cents")),
            ("/last_failure/command", json!("make test")),
            ("/last_failure/exit_code", json!(2)),
            ("/requests/last/text", json!("Please don't rename anything. What about the docs?")),
            ("/metadata/tokens/output", json!(80)),
            ("/metadata/complaints", json!(null)),
        ],
    );
    insta::assert_snapshot!("amp", shown(packet));
}

#[test]
fn a_thread_that_goes_on_from_a_summary_keeps_it() {
    check(
        &packet(&sample("amp/threads/T-0b0b0b0b-0000-4000-8000-000000000002.json")),
        &[
            ("/metadata/compaction/summary", json!("Monolith half split; module a moved to b.")),
            ("/next_steps/0/text", json!("Go on")),
        ],
    );
}

#[test]
fn threads_are_listed_by_their_titles() {
    let home = tempfile::tempdir().expect("dir");
    let dir = home.path().join(".local/share/amp/threads");
    std::fs::create_dir_all(&dir).expect("dir");
    std::fs::copy(sample(NORMAL), dir.join("T-1.json")).expect("copy");
    let headers = listed(&TranscriptEnv { home: home.path().to_owned(), ..TranscriptEnv::default() }, "amp");
    assert_eq!(headers[0].title.as_deref(), Some("Round prices"));
    assert_eq!(headers[0].cwd.as_deref(), Some("/home/you/my shop"));
}

#[test]
fn a_damaged_thread_gives_what_stands_before_and_an_empty_one_says_so() {
    let damaged = packet(&sample("amp/damaged.json"));
    assert_eq!(column(&damaged["metadata"], "complaints", "kind"), ["truncated_document"]);
    assert_eq!(column(&damaged, "pending_tasks", "status"), ["completed", "pending"]);
    let empty = packet_of("amp", &sample("amp/empty.json"), None);
    assert_eq!(column(&empty["metadata"], "complaints", "kind"), ["no_conversation"]);
    let bytes = std::fs::read(sample(NORMAL)).expect("sample");
    for end in (0..bytes.len()).step_by(61) {
        check_as("amp", "T-1.json", &bytes[..end]);
    }
}

#[test]
fn what_amp_exports_is_read_with_its_times_as_text() {
    let packet = packet(&sample("amp/exported.json"));
    check(
        &packet,
        &[
            ("/source/agent", json!("amp")),
            ("/session_id", json!("T-0c0c0c0c-0000-4000-8000-000000000003")),
            ("/requests/first/text", json!("Round the prices in cart.py")),
            ("/files_modified/0/path", json!("cart.py")),
            ("/git/branch", json!("cents")),
            ("/environment/tool_version", json!("0.0.1795")),
            ("/metadata/started_at", json!("2026-11-20T10:00:00.000Z")),
            ("/metadata/complaints", json!(null)),
        ],
    );
}

use baton_transcripts::{Filter, Header, TranscriptEnv, by_id, list};
use serde_json::json;

use super::damage::check_as;
use super::stories::{PLAN, plan, tells_the_story};
use super::{check, column, packet, sample};

const NORMAL: &str = "vscode_copilot/normal/workspaceStorage/0f343b0931126a20f133d67c2b018a3b/chatSessions/97000000-0000-4000-8000-000000000001.jsonl";
const DOCUMENT: &str = "vscode_copilot/document/workspaceStorage/1f343b0931126a20f133d67c2b018a3b/chatSessions/97000000-0000-4000-8000-000000000002.json";

#[test]
fn vscode_copilot_tells_the_story_from_the_log_of_its_changes() {
    let packet = tells_the_story(NORMAL);
    assert_eq!(plan(&packet), PLAN);
    assert_eq!(column(&packet, "files_modified", "path").len(), 2, "what was applied is told by the calls");
    check(
        &packet,
        &[
            ("/git/branch", json!("main")),
            ("/git/commit", json!("d46a0c1f00000000000000000000000000000000")),
            ("/metadata/tokens", json!({"input": 4400, "cache_read": 0, "cache_write": 0, "output": 360})),
            ("/created_at", json!("2026-11-20T11:10:04.000Z")),
        ],
    );
    assert!(!packet.to_string().contains("Forget it"), "a request that the user took back is gone");
}

#[test]
fn a_document_of_older_versions_tells_the_same() {
    let packet = tells_the_story(DOCUMENT);
    assert_eq!(plan(&packet), PLAN);
    check(&packet, &[("/environment/cwd", json!("~/shop")), ("/git/branch", json!(null))]);
}

#[test]
fn a_session_at_work_is_read_from_what_the_editor_shows() {
    let packet = packet(&sample("vscode_copilot/compacted.jsonl"));
    assert_eq!(column(&packet, "commands", "command"), ["cargo test -q", "cargo run"]);
    assert_eq!(
        column(&packet, "files_modified", "path"),
        ["~/shop/lexer a.rs", "~/shop/by_hand.rs", "~/shop/old.rs"]
    );
    assert!(column(&packet, "open_loops", "text").contains(&"The user stopped the agent here."));
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Port the parser")),
            ("/metadata/compaction/summary", json!("Parser half ported; lexer is next.")),
            ("/files_modified/2/change", json!("deleted")),
            ("/commands/0/exit_code", json!(0)),
            ("/metadata/tokens", json!({"input": 730, "cache_read": 0, "cache_write": 0, "output": 42})),
            ("/metadata/complaints", json!([{"kind": "unknown_type", "count": 1, "first_line": 2}])),
        ],
    );
}

fn listed(env: &TranscriptEnv) -> Vec<Header> {
    list(env, &Filter { agents: vec!["vscode_copilot".into()], ..Filter::default() }, &(), 1)
}

#[test]
fn every_editor_and_windows_without_a_folder_are_looked_through() {
    let home = tempfile::tempdir().expect("dir");
    let put = |name: &str, at: &str| {
        let target = home.path().join(at);
        std::fs::create_dir_all(target.parent().expect("parent")).expect("dir");
        std::fs::copy(sample(name), target).expect("copy");
    };
    put(DOCUMENT, ".config/Code/User/globalStorage/emptyWindowChatSessions/a.json");
    put(NORMAL, ".config/VSCodium/User/globalStorage/transferredChatSessions/b.jsonl");
    put(NORMAL, ".vscode-server/data/User/workspaceStorage/x/chatSessions/c.jsonl");
    put(DOCUMENT, ".vscode-server/data/User/workspaceStorage/x/chatSessions/c.json");
    let log = home.path().join(".vscode-server/data/User/workspaceStorage/x/chatSessions/c.jsonl");
    let newer = std::time::UNIX_EPOCH + std::time::Duration::from_secs(4_000_000_000);
    std::fs::File::options().append(true).open(&log).expect("open").set_modified(newer).expect("time");
    let headers = listed(&TranscriptEnv { home: home.path().to_owned(), ..TranscriptEnv::default() });
    assert_eq!(headers.len(), 3, "{headers:#?}");
    assert!(headers.iter().all(|one| one.title.as_deref() == Some("Fix total()") && one.cwd.is_none()));
    assert!(headers.iter().any(|one| one.path == log), "of a document and a log the newer one");
}

#[test]
fn a_document_that_was_cut_anywhere_and_a_log_out_of_order_are_survived() {
    let bytes = std::fs::read(sample(DOCUMENT)).expect("sample");
    for end in (0..bytes.len()).step_by(131) {
        check_as("vscode_copilot", "x.json", &bytes[..end]);
    }
    let log = std::fs::read_to_string(sample(NORMAL)).expect("sample");
    let mut lines: Vec<&str> = log.lines().collect();
    lines.reverse();
    check_as("vscode_copilot", "x.jsonl", lines.join("\n").as_bytes());
}

#[test]
fn a_log_whose_values_would_fill_the_memory_ends_where_they_would() {
    let log = std::fs::read_to_string(sample(NORMAL)).expect("sample");
    let many = format!(r#"{{"kind":1,"k":["x"],"v":[{}1]}}"#, "1,".repeat(400_000));
    let text = format!("{log}{}", format!("{many}\n").repeat(6));
    let report = check_as("vscode_copilot", "x.jsonl", text.as_bytes());
    assert!(report.complaints.iter().any(|one| one.kind == "oversized_line"), "{report:?}");
    assert!(report.events > 10);
    assert!(by_id("vscode_copilot").is_some());
}

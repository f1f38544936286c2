use serde_json::json;

use super::damage::check_as;
use super::stories::{PLAN, plan, tells_the_story};
use super::{check, column, packet, sample};

const NORMAL: &str = "continue/normal/sessions/99000000-0000-4000-8000-000000000001.json";

#[test]
fn continue_tells_the_story() {
    let packet = tells_the_story(NORMAL);
    assert_eq!(plan(&packet), PLAN);
    check(
        &packet,
        &[
            ("/files_modified/1/change", json!("created")),
            ("/metadata/model", json!("gpt-5.2")),
            ("/metadata/tokens", json!({"input": 1200, "cache_read": 2000, "cache_write": 0, "output": 400})),
        ],
    );
}

#[test]
fn a_session_of_the_extension_is_read_with_its_summary() {
    let packet = packet(&sample("continue/compacted.json"));
    assert_eq!(column(&packet, "commands", "command"), ["git push", "cargo test", "cargo run"]);
    check(
        &packet,
        &[
            ("/source/agent", json!("continue")),
            ("/metadata/compaction/summary", json!("Parser half ported; lexer is next.")),
            ("/metadata/model", json!("claude-sonnet-4-5")),
            ("/requests/first/text", json!("Now the lexer")),
            ("/files_modified/0/path", json!("lexer.rs")),
            ("/commands/1/note", json!("exit code unknown")),
            ("/metadata/tokens/input", json!(3200)),
            ("/metadata/complaints/0/kind", json!("unknown_type")),
        ],
    );
}

#[test]
fn a_damaged_session_of_continue_gives_what_stands_before() {
    let packet = packet(&sample("continue/damaged.json"));
    assert_eq!(column(&packet["metadata"], "complaints", "kind"), ["truncated_document"]);
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "NOTES.md"]);
    let bytes = std::fs::read(sample(NORMAL)).expect("sample");
    for end in (0..bytes.len()).step_by(89) {
        check_as("continue", "x.json", &bytes[..end]);
    }
}

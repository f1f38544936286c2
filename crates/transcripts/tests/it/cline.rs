use std::path::{Path, PathBuf};

use baton_transcripts::TranscriptEnv;
use serde_json::json;

use super::damage::check_as;
use super::databases::listed;
use super::{check, column, packet, packet_of, sample, shown};

/// A file of a task.
fn task(part: &str) -> PathBuf {
    sample(part)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("dir");
    for entry in std::fs::read_dir(from).expect("dir").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            drop(std::fs::copy(entry.path(), target))
        }
    }
}

const CLASSIC: &str = "cline/globalStorage/saoudrizwan.claude-dev/tasks/1795000000000/ui_messages.json";
const SDK: &str = "cline/sessions/1795000000000_abcde/1795000000000_abcde.messages.json";
const ROO: &str = "roo/globalStorage/rooveterinaryinc.roo-cline/tasks/0b0b0b0b-0000-4000-8000-000000000001/ui_messages.json";
const KILO: &str =
    "kilo_code/globalStorage/kilocode.kilo-code/tasks/0c0c0c0c-0000-4000-8000-000000000001/ui_messages.json";

#[test]
fn a_task_is_read_as_it_was_shown_with_the_ends_of_what_was_sent() {
    let packet = packet(&task(CLASSIC));
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "tests/test_cents.py"]);
    assert_eq!(column(&packet, "files_modified", "change"), ["modified", "created"]);
    assert_eq!(column(&packet, "pending_tasks", "status"), ["completed", "pending"]);
    assert_eq!(
        column(&packet, "next_steps", "text"),
        ["Please don't rename anything. What about the docs?", "update docs/prices.md"]
    );
    let messages = column(&packet, "recent_messages", "text");
    assert!(messages.iter().all(|text| !text.starts_with("I'll look")), "it was done: {messages:?}");
    check(
        &packet,
        &[
            ("/source/agent", json!("cline")),
            ("/session_id", json!("1795000000000")),
            ("/environment/cwd", json!("~/shop")),
            ("/last_failure/exit_code", json!(2)),
            ("/test_status", json!("fail")),
            ("/metadata/tokens", json!({"input": 150, "cache_read": 2100, "cache_write": 10, "output": 30})),
            ("/metadata/complaints", json!(null)),
        ],
    );
    insta::assert_snapshot!("cline", shown(packet));
}

#[test]
fn a_task_without_what_was_shown_is_read_from_what_was_sent() {
    let packet = packet(&task("cline/tagged/api_conversation_history.json"));
    assert_eq!(column(&packet, "files_modified", "path"), ["src/fast.js"]);
    assert_eq!(column(&packet, "constraints", "text"), ["You must not change the API."]);
    check(
        &packet,
        &[
            ("/last_failure/command", json!("npm test")),
            ("/last_failure/exit_code", json!(1)),
            ("/requests/first/text", json!("Make the importer faster. You must not change the API.")),
            ("/requests/last/text", json!("Fix the test")),
            ("/environment/cwd", json!("~/shop")),
            ("/last_answer/text", json!("Faster, but a test fails.")),
        ],
    );
}

#[test]
fn a_session_of_the_command_line_is_read_with_its_manifest() {
    let packet = packet(&task(SDK));
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py"]);
    check(
        &packet,
        &[
            ("/git/branch", json!("cents")),
            ("/last_failure/command", json!("make test")),
            ("/last_failure/exit_code", json!(2)),
            ("/requests/last/text", json!("What about the docs?")),
            ("/metadata/compaction/summary", json!("Earlier context was compacted. Files edited: cart.py")),
            ("/metadata/tokens/cache_read", json!(2000)),
            ("/metadata/complaints", json!(null)),
        ],
    );
    insta::assert_snapshot!("cline-sessions", shown(packet));
}

#[test]
fn roo_keeps_its_todos_and_condensed_context() {
    let packet = packet_of("roo", &task(ROO), None);
    assert_eq!(column(&packet, "files_modified", "path"), ["tests/stable.rs"]);
    assert_eq!(column(&packet, "pending_tasks", "status"), ["in_progress", "pending"]);
    assert_eq!(column(&packet, "constraints", "text"), ["Only change tests/"]);
    assert!(column(&packet, "open_loops", "text").contains(&"Shall I remove the old helper?"));
    check(
        &packet,
        &[
            ("/last_failure/exit_code", json!(101)),
            ("/environment/cwd", json!("~/api")),
            ("/metadata/compaction/summary", json!("The sleep was replaced by wait().")),
            ("/decisions/0/rejected", json!(["a longer sleep"])),
        ],
    );
    insta::assert_snapshot!("roo", shown(packet));
}

#[test]
fn an_answer_that_was_never_finished_is_kept() {
    let packet = packet_of("kilo_code", &task(KILO), None);
    assert_eq!(
        column(&packet, "recent_messages", "text"),
        ["Add a health endpoint", "use port 8080", "I'll use po"]
    );
    check(&packet, &[("/last_failure/exit_code", json!(7)), ("/source/agent", json!("kilo_code"))]);
    insta::assert_snapshot!("kilo-code", shown(packet));
}

#[test]
fn damage_and_emptiness_are_said() {
    let packet = packet(&task("cline/damaged/ui_messages.json"));
    assert_eq!(column(&packet, "files_modified", "path"), ["log.py"]);
    assert_eq!(column(&packet["metadata"], "complaints", "kind"), ["truncated_document", "bad_record"]);
    let empty = packet_of("cline", &task("cline/empty/ui_messages.json"), None);
    assert_eq!(column(&empty["metadata"], "complaints", "kind"), ["no_conversation"]);
}

#[test]
fn every_editor_and_the_command_line_are_looked_through() {
    let home = tempfile::tempdir().expect("dir");
    let user = home.path().join(".config/VSCodium/User");
    for name in ["cline", "roo", "kilo_code"] {
        copy(&sample(&format!("{name}/globalStorage")), &user.join("globalStorage"));
    }
    copy(&sample("cline/sessions"), &home.path().join(".cline/data/sessions"));
    let env = TranscriptEnv { home: home.path().to_owned(), ..TranscriptEnv::default() };
    let cline = listed(&env, "cline");
    assert_eq!(cline.len(), 2);
    let session = cline.iter().find(|one| one.id == "1795000000000_abcde").expect("listed");
    assert_eq!((session.title.as_deref(), session.branch.as_deref()), (Some("Round prices"), Some("cents")));
    assert!(cline.iter().all(|one| one.cwd.as_deref() == Some("/home/you/shop") && !one.empty));
    let roo = listed(&env, "roo");
    assert_eq!((roo.len(), roo[0].cwd.as_deref()), (1, Some("/home/you/api")));
    assert_eq!(listed(&env, "kilo_code")[0].first_prompt.as_deref(), Some("Add a health endpoint"));
}

#[test]
fn a_task_that_was_cut_anywhere_is_survived() {
    for name in [CLASSIC, SDK, "cline/tagged/api_conversation_history.json"] {
        let bytes = std::fs::read(sample(name)).expect("sample");
        let file = name.rsplit('/').next().expect("name");
        for end in (0..bytes.len()).step_by(97) {
            check_as("cline", file, &bytes[..end]);
        }
    }
}

use serde_json::json;

use super::damage::check_as;
use super::stories::{PLAN, plan, tells_the_story};
use super::{check, column, packet, packet_of, sample};

const NORMAL: &str = "auggie/normal/sessions/9c100000-0000-4000-8000-000000000001.json";

#[test]
fn auggie_tells_the_story_with_the_tasks_that_are_kept_beside_it() {
    let packet = tells_the_story(NORMAL);
    assert_eq!(plan(&packet), PLAN);
    check(
        &packet,
        &[
            ("/files_modified/1/change", json!("created")),
            (
                "/metadata/tokens",
                json!({"input": 1500, "cache_read": 2500, "cache_write": 250, "output": 500}),
            ),
            ("/created_at", json!("2026-11-20T10:05:00.000Z")),
        ],
    );
}

#[test]
fn what_auggie_summed_up_is_a_summary_and_no_request() {
    let packet = packet(&sample("auggie/compacted.json"));
    assert_eq!(column(&packet, "files_modified", "change"), ["created", "deleted"]);
    check(
        &packet,
        &[
            ("/source/agent", json!("auggie")),
            ("/environment/cwd", json!("~/shop")),
            ("/metadata/compaction/summary", json!("Parser half ported; lexer is next.")),
            ("/requests/last/text", json!("Now the lexer")),
            ("/commands/0/note", json!("exit code unknown")),
            ("/metadata/complaints", json!(null)),
        ],
    );
    assert!(!packet.to_string().contains("Supervisor text"));
}

#[test]
fn a_damaged_session_of_auggie_gives_what_stands_before() {
    let packet = packet_of("auggie", &sample("auggie/damaged.json"), None);
    assert_eq!(column(&packet["metadata"], "complaints", "kind"), ["truncated_document"]);
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "NOTES.md"]);
    let bytes = std::fs::read(sample(NORMAL)).expect("sample");
    for end in (0..bytes.len()).step_by(97) {
        check_as("auggie", "x.json", &bytes[..end]);
    }
}

/// An id out of a file leads to no file outside the folder of the tasks.
#[test]
fn a_task_with_a_path_for_an_id_leads_nowhere() {
    let home = tempfile::tempdir().expect("dir");
    let (sessions, tasks) = (home.path().join("sessions"), home.path().join("task-storage/tasks"));
    std::fs::create_dir_all(&sessions).expect("dir");
    std::fs::create_dir_all(&tasks).expect("dir");
    std::fs::write(home.path().join("secret"), r#"{"name":"Secret","subTasks":[]}"#).expect("write");
    std::fs::write(tasks.join("r"), r#"{"name":"Root","subTasks":["../../secret","r","a"]}"#).expect("write");
    std::fs::write(tasks.join("a"), r#"{"name":"Own","state":"COMPLETE","subTasks":["r"]}"#).expect("write");
    let text = std::fs::read_to_string(sample(NORMAL)).expect("sample");
    let path = sessions.join("x.json");
    std::fs::write(&path, text.replace("70000000-0000-4000-8000-000000000000", "r")).expect("write");
    assert_eq!(plan(&packet(&path)), [("Own", "completed")]);
}

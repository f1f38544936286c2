use baton_transcripts::TranscriptEnv;
use serde_json::json;

use super::databases::{Database, listed};
use super::{check, column, packet, packet_of, shown};

const PLACE: &str = "shop/.crush/crush.db";
const NORMAL: &str = "5c0f6a1e-0000-4000-8000-000000000001";

#[test]
fn a_crush_session_is_read_with_its_todos_and_sub_agent() {
    let made = Database::new("crush/normal.sql", "x/crush.db");
    let packet = packet_of("crush", &made.path(), Some(NORMAL));
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "tests/test_cents.py", "notes.txt"]);
    assert_eq!(
        column(&packet, "files_modified", "change"),
        ["modified", "created", "modified (by sub-agent m06$$c7)"]
    );
    assert_eq!(column(&packet, "pending_tasks", "status"), ["completed", "pending"]);
    assert_eq!(column(&packet, "commands", "command"), ["make test", "ls tests", "git status --short"]);
    check(
        &packet,
        &[
            ("/last_failure/command", json!("make test")),
            ("/last_failure/exit_code", json!(2)),
            ("/commands/1/exit_code", json!(0)),
            ("/requests/last/text", json!("What about the docs?")),
            ("/metadata/tokens/input", json!(900)),
            ("/metadata/complaints", json!(null)),
        ],
    );
    insta::assert_snapshot!("crush", shown(packet));
}

/// A repository may bring such a database, and every listing reads it.
#[test]
fn a_view_without_end_ends() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join(".crush/crush.db");
    std::fs::create_dir(dir.path().join(".crush")).expect("a folder");
    let db = rusqlite::Connection::open(&path).expect("a database");
    db.execute_batch(
        "CREATE VIEW sessions AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
        SELECT x AS id, null AS parent_session_id, 't' AS title, x AS message_count, 1 AS prompt_tokens,
        1 AS completion_tokens, 1 AS cost, 1 AS updated_at, 1 AS created_at, null AS summary_message_id FROM c",
    )
    .expect("a view");
    drop(db);
    let env = TranscriptEnv { folders: vec![dir.path().to_owned()], ..TranscriptEnv::default() };
    assert!(listed(&env, "crush").len() <= 1, "a listing comes to an end, and gives out no made-up sessions");
}

#[test]
fn crush_is_found_in_known_projects_and_by_its_own_list() {
    let made = Database::new("crush/normal.sql", PLACE);
    let env = TranscriptEnv { home: made.home().to_owned(), ..TranscriptEnv::default() };
    assert_eq!(listed(&env, "crush"), []);
    let inside = TranscriptEnv { folders: vec![made.home().join("shop/src")], ..env.clone() };
    let headers = listed(&inside, "crush");
    assert_eq!(headers.len(), 2);
    let main = headers.iter().find(|header| header.id == NORMAL).expect("listed");
    assert_eq!((main.title.as_deref(), main.model.as_deref()), (Some("Round prices"), Some("glm-5")));
    assert_eq!(main.cwd.as_deref(), Some(made.home().join("shop").to_string_lossy().as_ref()));
    assert_eq!(main.created_at_ms, Some(1_795_000_000_000));
    let registry = made.home().join(".local/share/crush/projects.json");
    std::fs::create_dir_all(registry.parent().expect("parent")).expect("dir");
    let shop = made.home().join("shop");
    std::fs::write(
        registry,
        json!({"projects": [{"path": shop, "data_dir": shop.join(".crush")}]}).to_string(),
    )
    .expect("write");
    assert_eq!(listed(&env, "crush"), headers);
}

#[test]
fn a_compacted_crush_session_keeps_its_summary() {
    let made = Database::new("crush/compacted.sql", PLACE);
    let packet = packet(&made.path());
    check(
        &packet,
        &[
            ("/source/agent", json!("crush")),
            ("/metadata/compaction/summary", json!("Monolith half split; module a moved to b.")),
            ("/requests/last/text", json!("Split the monolith")),
            ("/open_loops/0/text", json!("The user stopped the agent here.")),
        ],
    );
}

#[test]
fn a_damaged_crush_session_gives_what_is_whole_and_an_empty_one_says_so() {
    let made = Database::new("crush/damaged.sql", PLACE);
    let packet = packet_of("crush", &made.path(), Some("s3"));
    assert_eq!(column(&packet["metadata"], "complaints", "kind"), ["bad_record", "unknown_type"]);
    check(
        &packet,
        &[("/requests/first/text", json!("Clean up the logs")), ("/metadata/complaints/0/count", json!(2))],
    );
    let env = TranscriptEnv {
        home: made.home().to_owned(),
        folders: vec![made.home().join("shop")],
        ..TranscriptEnv::default()
    };
    let empty = listed(&env, "crush").into_iter().find(|header| header.id == "s4").expect("listed");
    assert_eq!(empty.complaints[0].kind, "no_conversation");
}

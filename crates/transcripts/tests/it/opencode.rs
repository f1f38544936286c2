use std::path::PathBuf;

use serde_json::json;

use super::databases::Database;
use super::{check, column, packet, packet_of, sample, shown};

const PLACE: &str = ".local/share/opencode/opencode.db";

fn old_session() -> PathBuf {
    sample("opencode/storage/session/p1/ses_ff01.json")
}

#[test]
fn an_opencode_session_is_read_with_its_tools_todos_and_sub_agent() {
    let made = Database::new("opencode/normal.sql", PLACE);
    let packet = packet_of("opencode", &made.path(), Some("ses_aa01"));
    assert_eq!(
        column(&packet, "files_modified", "path"),
        ["cart.py", "tests/test_cents.py", "prices.lock", "notes.txt"]
    );
    assert_eq!(
        column(&packet, "files_modified", "change"),
        ["modified", "created", "modified", "modified (by sub-agent ses_aa02)"]
    );
    assert_eq!(column(&packet, "pending_tasks", "status"), ["completed", "pending"]);
    assert_eq!(
        column(&packet, "constraints", "text"),
        ["Never touch the migrations.", "Please don't rename anything."]
    );
    check(
        &packet,
        &[
            ("/last_failure/command", json!("make test")),
            ("/last_failure/exit_code", json!(2)),
            ("/requests/last/text", json!("Please don't rename anything. What about the docs?")),
            ("/files_modified/0/lines", json!("+2 -1")),
            ("/git/branch", json!("cents")),
            ("/metadata/tokens/output", json!(100)),
            ("/metadata/complaints", json!(null)),
        ],
    );
    insta::assert_snapshot!("opencode", shown(packet));
}

#[test]
fn headers_come_from_the_rows() {
    let made = Database::new("opencode/normal.sql", PLACE);
    let headers = made.list("opencode");
    let main = headers.iter().find(|header| header.id == "ses_aa01").expect("listed");
    assert_eq!(main.key.as_deref(), Some("ses_aa01"));
    assert_eq!((main.title.as_deref(), main.cwd.as_deref()), (Some("Round prices"), Some("/home/you/shop")));
    assert_eq!((main.branch.as_deref(), main.model.as_deref()), (Some("cents"), Some("glm-5")));
    assert!(main.created_at_ms < main.updated_at_ms && main.complaints.is_empty());
    assert!(headers.iter().any(|header| header.id == "ses_aa02" && header.subagent));
}

#[test]
fn what_was_undone_is_gone_and_a_compaction_stays() {
    let made = Database::new("opencode/compacted.sql", PLACE);
    let packet = packet(&made.path());
    check(
        &packet,
        &[
            ("/source/agent", json!("opencode")),
            ("/requests/last/text", json!("Split the monolith into modules")),
            ("/metadata/compaction/summary", json!("Monolith half split; module a moved to b.")),
            ("/files_modified", json!(null)),
        ],
    );
    assert!(!packet.to_string().contains("French"));
    assert_eq!(made.list("opencode")[0].title.as_deref(), Some("Split the monolith into modules"));
}

#[test]
fn a_damaged_session_gives_what_is_whole() {
    let made = Database::new("opencode/damaged.sql", PLACE);
    let packet = packet_of("opencode", &made.path(), None);
    assert_eq!(column(&packet, "files_modified", "path"), ["log.py"]);
    assert_eq!(column(&packet, "metadata/complaints", "kind"), Vec::<&str>::new());
    let kinds = column(&packet["metadata"], "complaints", "kind");
    assert_eq!(kinds, ["bad_record", "unknown_type"]);
    check(
        &packet,
        &[
            ("/last_failure/exit_code", json!(3)),
            ("/requests/last/text", json!("Clean up the logs")),
            ("/last_answer/text", json!("Words of a message whose head is lost.")),
        ],
    );
    assert!(column(&packet, "open_loops", "text").iter().any(|text| text.contains("sleep 100")));
}

#[test]
fn a_session_without_messages_says_so() {
    let made = Database::new("opencode/empty.sql", PLACE);
    let headers = made.list("opencode");
    assert!(headers[0].empty && headers[0].complaints[0].kind == "no_conversation");
}

#[test]
fn the_older_layout_of_files_is_read() {
    let packet = packet(&old_session());
    check(
        &packet,
        &[
            ("/source/agent", json!("opencode")),
            ("/requests/first/text", json!("Sort the imports")),
            ("/last_failure/exit_code", json!(127)),
            ("/pending_tasks/0/title", json!("Install isort")),
            ("/files_modified/0/change", json!("modified (by sub-agent ses_ff02)")),
            ("/metadata/model", json!("sonnet")),
        ],
    );
}

#[test]
fn kilo_is_read_from_its_own_database() {
    let made = Database::new("kilo/normal.sql", ".local/share/kilo/kilo.db");
    assert_eq!(made.list("kilo")[0].id, "ses_ee01");
    let packet = packet_of("kilo", &made.path(), Some("ses_ee01"));
    assert_eq!(column(&packet, "files_modified", "path"), ["tests/stable.rs", "tests/wait.rs"]);
    assert_eq!(column(&packet, "files_modified", "change"), ["modified", "created"]);
    assert!(column(&packet, "open_loops", "text").contains(&"The user stopped the agent here."));
    check(&packet, &[("/last_failure/exit_code", json!(101)), ("/source/agent", json!("kilo"))]);
    insta::assert_snapshot!("kilo", shown(packet));
}

/// The sessions of a sample of version 2, in its place.
fn second(sample: &str) -> Database {
    Database::new(&format!("opencode/{sample}.sql"), PLACE)
}

#[test]
fn version_2_tells_the_story() {
    let made = second("v2");
    let packet = packet_of("opencode", &made.path(), Some("ses_dd01"));
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Fix total() in cart.py. Never touch the migrations.")),
            ("/requests/last/text", json!("What is left?")),
            ("/decisions/0/rejected", json!(["a helper"])),
            ("/last_failure/command", json!("pytest -q")),
            ("/last_failure/exit_code", json!(1)),
            ("/test_status", json!("fail")),
            ("/environment/tool_version", json!("2.0.9")),
            ("/metadata/model", json!("glm-5")),
            ("/metadata/tokens", json!({"input": 300, "cache_read": 3000, "cache_write": 30, "output": 75})),
            ("/metadata/complaints", json!(null)),
        ],
    );
    assert_eq!(
        column(&packet, "files_modified", "path"),
        ["cart.py", "NOTES.md", "prices.lock", "callers.txt"]
    );
    assert_eq!(
        column(&packet, "files_modified", "change"),
        ["modified", "created", "modified", "created (by sub-agent ses_dd02)"]
    );
    assert_eq!(packet["files_modified"][0]["lines"], "+1 -1");
    assert_eq!(column(&packet, "constraints", "text"), ["Never touch the migrations."]);
    assert_eq!(
        column(&packet, "next_steps", "text"),
        ["update docs/cart.md", "find out why test_cart fails"]
    );
    let text = packet.to_string();
    assert!(!text.contains("tax.py\",\"path") && !text.contains("Note from a hook"), "{packet:#}");
}

#[test]
fn headers_of_version_2_come_from_its_rows() {
    let headers = second("v2").list("opencode");
    let of = |id: &str| headers.iter().find(|header| header.id == id).expect("listed");
    let main = of("ses_dd01");
    assert_eq!((main.title.as_deref(), main.cwd.as_deref()), (Some("Fix total()"), Some("/home/you/shop")));
    assert_eq!(main.model.as_deref(), Some("glm-5"));
    assert!(main.created_at_ms < main.updated_at_ms && main.complaints.is_empty() && !main.subagent);
    assert!(of("ses_dd02").subagent);
    let fork = of("ses_dd03");
    assert_eq!(fork.title.as_deref(), Some("Fix total() in cart.py. Never touch the migrations."));
    assert!(!fork.subagent);
}

#[test]
fn what_a_fork_repeats_was_paid_for_by_the_other_session() {
    let packet = packet_of("opencode", &second("v2").path(), Some("ses_dd03"));
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Fix total() in cart.py. Never touch the migrations.")),
            ("/requests/last/text", json!("Try it with a helper")),
            ("/metadata/tokens", json!({"input": 100, "cache_read": 1000, "cache_write": 10, "output": 25})),
        ],
    );
}

#[test]
fn version_2_after_a_compaction_a_move_and_an_interruption() {
    let made = second("v2-compacted");
    let format = baton_transcripts::by_id("opencode").expect("known");
    let folders = baton_transcripts::working_folders(&made.path(), None, format);
    assert_eq!(folders, ["/home/you/shop", "/home/you/shop-wt"]);
    let packet = packet(&made.path());
    check(
        &packet,
        &[
            ("/source/agent", json!("opencode")),
            ("/requests/last/text", json!("Go on with module c")),
            ("/metadata/compaction/summary", json!("Monolith half split; module a moved to b.")),
            ("/metadata/compaction/count", json!(1)),
            ("/environment/cwd", json!("~/shop")),
            ("/metadata/tokens/output", json!(35)),
            ("/metadata/complaints", json!(null)),
        ],
    );
    let open = column(&packet, "open_loops", "text");
    assert_eq!(open.iter().filter(|text| text.contains("stopped the agent")).count(), 1, "{open:?}");
    assert!(open.iter().any(|text| text.contains("make all")), "{open:?}");
}

#[test]
fn what_version_2_copied_is_not_told_twice_and_what_version_1_added_is_not_lost() {
    let made = second("v2-copied");
    let packet = packet_of("opencode", &made.path(), Some("ses_df01"));
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Sort the imports")),
            ("/requests/last/text", json!("Also sort the exports")),
            ("/last_answer/text", json!("Exports are sorted too.")),
            ("/commands/0/command", json!("isort .")),
            ("/commands/1", json!(null)),
            ("/pending_tasks", json!(null)),
            ("/metadata/tokens/input", json!(200)),
        ],
    );
    let listed: Vec<String> = made.list("opencode").into_iter().map(|header| header.id).collect();
    assert_eq!(listed, ["ses_df02", "ses_df01"]);
    let packet = packet_of("opencode", &made.path(), None);
    check(&packet, &[("/requests/first/text", json!("Explain the build"))]);
}

#[test]
fn a_damaged_session_of_version_2_gives_what_is_whole() {
    let made = second("v2-damaged");
    let packet = packet_of("opencode", &made.path(), None);
    assert_eq!(column(&packet, "files_modified", "path"), ["log.py"]);
    assert_eq!(column(&packet["metadata"], "complaints", "kind"), ["bad_record", "unknown_type"]);
    check(&packet, &[("/last_failure/exit_code", json!(3))]);
    assert_eq!(made.list("opencode")[0].title.as_deref(), Some("Clean up the logs"));
    made.open().execute_batch("DELETE FROM session_message").expect("SQL");
    let headers = made.list("opencode");
    assert!(headers[0].empty && headers[0].complaints[0].kind == "no_conversation");
}

#[test]
fn the_database_of_every_channel_is_listed_and_none_of_its_sessions_twice() {
    let made = second("v2");
    let beta = made.home().join(".local/share/opencode/opencode-next.db");
    let sql = std::fs::read_to_string(sample("opencode/v2.sql")).expect("sample");
    let sql =
        sql.replace("session_v2", "session").replace("ses_dd03", "ses_dd09").replace("msg_dd03", "msg_dd09");
    rusqlite::Connection::open(&beta).and_then(|db| db.execute_batch(&sql)).expect("database");
    let mut ids: Vec<String> = made.list("opencode").into_iter().map(|header| header.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["ses_dd01", "ses_dd02", "ses_dd03", "ses_dd09"]);
    let packet = packet_of("opencode", &beta, Some("ses_dd09"));
    check(&packet, &[("/requests/last/text", json!("Try it with a helper"))]);
    let env = |value: &str| baton_transcripts::TranscriptEnv {
        home: made.home().to_owned(),
        vars: [("OPENCODE_DB".to_owned(), value.to_owned())].into(),
        ..Default::default()
    };
    assert_eq!(super::databases::listed(&env("opencode-next.db"), "opencode").len(), 3);
    assert_eq!(super::databases::listed(&env("/nowhere/x.db"), "opencode").len(), 0);
}

#[test]
fn kilo_is_read_from_the_tables_of_version_2_too() {
    let made = Database::new("opencode/v2.sql", ".local/share/kilo/kilo.db");
    assert_eq!(made.list("kilo").len(), 3);
    check(
        &packet_of("kilo", &made.path(), Some("ses_dd01")),
        &[("/source/agent", json!("kilo")), ("/last_failure/exit_code", json!(1))],
    );
}

#[test]
fn a_message_of_version_2_that_is_too_large_costs_only_itself() {
    let made = second("v2");
    let large = format!("{{\"text\":\"{}\"}}", "x".repeat(9 * 1024 * 1024));
    made.open()
        .execute("UPDATE session_message SET data = ?1 WHERE type = 'synthetic'", (large,))
        .expect("SQL");
    let packet = packet_of("opencode", &made.path(), Some("ses_dd01"));
    assert_eq!(column(&packet["metadata"], "complaints", "kind"), ["oversized_line"]);
    check(&packet, &[("/requests/last/text", json!("What is left?"))]);
}

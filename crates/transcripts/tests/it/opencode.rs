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

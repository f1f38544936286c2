use serde_json::json;

use super::databases::Database;
use super::{check, column, packet, packet_of, shown};

const PLACE: &str = ".local/share/zed/threads/threads.db";

/// The sample with its documents packed, as Zed keeps them.
fn packed(sql: &str) -> Database {
    let made = Database::new(sql, PLACE);
    let db = made.open();
    let mut query = db.prepare("SELECT id, data FROM threads WHERE data_type = 'json'").expect("SQL");
    let rows: Vec<(String, String)> = query
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("rows")
        .map(|row| row.expect("row"))
        .collect();
    for (id, data) in rows {
        let bytes = zstd::encode_all(data.as_bytes(), 3).expect("packs");
        db.execute("UPDATE threads SET data = ?1, data_type = 'zstd' WHERE id = ?2", (bytes, id))
            .expect("SQL");
    }
    drop(query);
    drop(db);
    made
}

#[test]
fn a_zed_thread_is_read_packed_or_not() {
    let made = packed("zed/normal.sql");
    let packet = packet_of("zed", &made.path(), Some("z1"));
    assert_eq!(
        column(&packet, "files_modified", "path"),
        ["cart.py", "tests/test_cents.py", "old.py", "notes.txt"]
    );
    assert_eq!(
        column(&packet, "files_modified", "change"),
        ["modified", "created", "deleted", "modified (by sub-agent z2)"]
    );
    check(
        &packet,
        &[
            ("/last_failure/command", json!("make test")),
            ("/last_failure/exit_code", json!(2)),
            ("/files_modified/0/lines", json!("+1 -1")),
            ("/commands/1/exit_code", json!(0)),
            ("/git/branch", json!("cents")),
            ("/metadata/tokens/input", json!(900)),
            ("/metadata/complaints", json!(null)),
        ],
    );
    assert!(column(&packet, "open_loops", "text").iter().any(|text| text.contains("make docs")));
    let mut plain = packet_of("zed", &Database::new("zed/normal.sql", PLACE).path(), Some("z1"));
    plain["source"] = packet["source"].clone();
    assert_eq!(plain, packet);
    insta::assert_snapshot!("zed", shown(packet));
}

#[test]
fn zed_threads_are_listed_with_the_titles_of_their_rows() {
    let headers = packed("zed/normal.sql").list("zed");
    let main = headers.iter().find(|header| header.id == "z1").expect("listed");
    assert_eq!((main.title.as_deref(), main.cwd.as_deref()), (Some("Round prices"), Some("/home/you/shop")));
    assert_eq!(main.updated_at_ms, Some(1_795_000_600_000));
    assert!(headers.iter().any(|header| header.id == "z2" && header.subagent));
}

#[test]
fn an_older_thread_is_read() {
    let made = packed("zed/normal.sql");
    let packet = packet_of("zed", &made.path(), Some("z3"));
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Sort the imports")),
            ("/last_answer/text", json!("isort is missing.")),
            ("/last_failure/exit_code", json!(127)),
            ("/environment/cwd", json!("~/shop")),
        ],
    );
}

#[test]
fn a_damaged_thread_gives_what_is_whole_and_says_what_is_not() {
    let made = Database::new("zed/damaged.sql", PLACE);
    let packet_of = |id| packet_of("zed", &made.path(), Some(id));
    let cut = packet_of("z4");
    assert_eq!(column(&cut["metadata"], "complaints", "kind"), ["truncated_document"]);
    check(&cut, &[("/requests/first/text", json!("Sort the imports"))]);
    assert_eq!(column(&packet_of("z5")["metadata"], "complaints", "kind")[1], "no_conversation");
    assert_eq!(column(&packet_of("z6")["metadata"], "complaints", "kind"), ["no_conversation"]);
    assert_eq!(packet(&made.path())["source"]["agent"], "zed");
}

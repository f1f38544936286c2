use baton_transcripts::TranscriptEnv;
use serde_json::json;

use super::damage::check_as;
use super::databases::{Database, listed};
use super::{check, column, packet, packet_of, sample, shown};

const PLACE: &str = ".local/share/kiro-cli/data.sqlite3";
const CLASSIC: &str = "kiro/sessions/cli/0c0c0c0c-0000-4000-8000-000000000001.jsonl";
const LATER: &str = "kiro/sessions/0a1b2c3d/sess_0d0d0d0d-0000-4000-8000-000000000001/messages.jsonl";
const EDITOR: &str = "kiro/workspace-sessions/L2hvbWUveW91L3Nob3A/e1.json";

#[test]
fn a_conversation_in_the_database_is_read() {
    let made = Database::new("kiro/normal.sql", PLACE);
    let packet = packet_of("kiro", &made.path(), Some("k1"));
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "tests/test_cents.py"]);
    assert_eq!(column(&packet, "pending_tasks", "status"), ["completed", "pending"]);
    check(
        &packet,
        &[
            ("/last_failure/command", json!("make test")),
            ("/last_failure/exit_code", json!(2)),
            ("/requests/last/text", json!("Please don't rename anything. What about the docs?")),
            ("/environment/cwd", json!("~/shop")),
            ("/metadata/model", json!("claude-sonnet-4.5")),
            ("/metadata/complaints", json!(null)),
        ],
    );
    insta::assert_snapshot!("kiro", shown(packet));
}

#[test]
fn an_older_conversation_is_known_by_its_folder() {
    let made = Database::new("kiro/normal.sql", PLACE);
    check(
        &packet_of("kiro", &made.path(), Some("folder:/home/you/old")),
        &[
            ("/environment/cwd", json!("~/old")),
            ("/requests/first/text", json!("Go on")),
            ("/metadata/compaction/summary", json!("Monolith half split; module a moved to b.")),
        ],
    );
}

#[test]
fn files_of_lines_are_read_in_both_layouts() {
    let classic = packet(&sample(CLASSIC));
    assert_eq!(column(&classic, "files_modified", "path"), ["src/a.py"]);
    assert_eq!(column(&classic["metadata"], "complaints", "kind"), ["truncated_last_line"]);
    check(
        &classic,
        &[
            ("/source/agent", json!("kiro")),
            ("/environment/cwd", json!("~/shop")),
            ("/last_failure/exit_code", json!(127)),
            ("/last_failure/output", json!("isort: not found")),
            ("/constraints/0/text", json!("Only change src/")),
        ],
    );
    let later = packet(&sample(LATER));
    assert_eq!(column(&later, "next_steps", "text"), ["use port 8080", "deploy it"]);
    check(
        &later,
        &[
            ("/source/agent", json!("kiro")),
            ("/environment/cwd", json!("~/api")),
            ("/metadata/complaints", json!(null)),
        ],
    );
}

#[test]
fn a_session_of_the_editor_is_read() {
    let packet = packet(&sample(EDITOR));
    check(
        &packet,
        &[
            ("/source/agent", json!("kiro")),
            ("/session_id", json!("e1")),
            ("/requests/first/text", json!("Add dark mode")),
            ("/last_answer/text", json!("Done.")),
        ],
    );
}

#[test]
fn all_four_stores_are_listed() {
    let made = Database::new("kiro/normal.sql", PLACE);
    let put = |from: &str, to: &str| {
        let target = made.home().join(to);
        std::fs::create_dir_all(target.parent().expect("parent")).expect("dir");
        std::fs::copy(sample(from), target).expect("copy");
    };
    put(CLASSIC, ".kiro/sessions/cli/c.jsonl");
    put(&CLASSIC.replace("jsonl", "json"), ".kiro/sessions/cli/c.json");
    put(LATER, ".kiro/sessions/0a1b/sess_1/messages.jsonl");
    put(&LATER.replace("messages.jsonl", "session.json"), ".kiro/sessions/0a1b/sess_1/session.json");
    let editor = ".config/Kiro/User/globalStorage/kiro.kiroagent/workspace-sessions/x";
    put(EDITOR, &format!("{editor}/e1.json"));
    put(&EDITOR.replace("e1", "sessions"), &format!("{editor}/sessions.json"));
    let headers = listed(&TranscriptEnv { home: made.home().to_owned(), ..TranscriptEnv::default() }, "kiro");
    let mut titles: Vec<_> = headers.iter().filter_map(|header| header.title.as_deref()).collect();
    titles.sort_unstable();
    assert_eq!(
        titles,
        [
            "Dark mode",
            "Go on",
            "Health endpoint",
            "Round prices",
            "Round the prices in cart.py to cents. Never touch the migrations."
        ]
    );
    assert!(headers.iter().all(|header| header.cwd.is_some() && !header.empty));
}

#[test]
fn damage_and_emptiness_are_said_and_any_cut_is_survived() {
    let made = Database::new("kiro/damaged.sql", PLACE);
    let cut = packet_of("kiro", &made.path(), Some("k3"));
    assert_eq!(column(&cut["metadata"], "complaints", "kind"), ["truncated_document"]);
    check(
        &cut,
        &[(
            "/requests/first/text",
            json!("Round the prices in cart.py to cents. Never touch the migrations."),
        )],
    );
    let empty = packet_of("kiro", &made.path(), Some("k4"));
    assert_eq!(column(&empty["metadata"], "complaints", "kind"), ["no_conversation"]);
    for name in [CLASSIC, LATER, EDITOR] {
        let bytes = std::fs::read(sample(name)).expect("sample");
        let file = name.rsplit('/').next().expect("name");
        for end in (0..bytes.len()).step_by(17) {
            check_as("kiro", file, &bytes[..end]);
        }
    }
}

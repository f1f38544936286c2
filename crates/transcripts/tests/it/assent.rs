//! An assent or a choice of the user's is told with what it answers; a correction takes back what the agent decided.

use serde_json::{Value, json};

use super::field::{agent, claude, user};
use super::{check, column, packet};

fn last_request(answer: &str, word: &str) -> String {
    let packet = claude(&[user("Port the parser"), agent(answer), user(word)]);
    packet["requests"]["last"]["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn an_assent_is_told_with_the_proposal_that_it_answers() {
    let proposal = "The parser is slow.\n\nI can cache the tokens and drop the second pass.";
    for word in ["do it", "yes", "go ahead", "sure, do that"] {
        let wanted =
            format!("{word} — said to the agent's words: “I can cache the tokens and drop the second pass.”");
        assert_eq!(last_request(proposal, word), wanted);
    }
    let options = "Two ways:\n\n1. Cache the tokens\n2. Drop the second pass\n\nBoth keep the API.";
    assert_eq!(last_request(options, "2"), "2 — said to the agent's words: “2. Drop the second pass”");
    let question = format!("{options} Which one?");
    let chosen = last_request(&question, "let's try 1");
    assert!(chosen.contains("Which one?") && chosen.contains("1. Cache the tokens"), "{chosen}");
    assert_eq!(last_request("Ported.", "yes, do it"), "Port the parser");
    assert_eq!(last_request(proposal, "continue"), "Port the parser");
}

#[test]
fn a_correction_of_the_user_takes_the_decision_back() {
    let decided = "I'll use SQLite rather than Postgres, because it needs no server.";
    let decisions = |word: &str| {
        let packet = claude(&[user("Store the prices"), agent(decided), user(word), agent("Done so.")]);
        column(&packet, "decisions", "what").iter().filter(|what| **what == decided).count()
    };
    for word in ["No, Postgres please.", "Actually, keep it in Postgres", "don't use sqlite, we have no disk"]
    {
        assert_eq!(decisions(word), 0, "{word}");
    }
    for word in ["No, the other file has the bug.", "Postgres is fine too, go on", "Why SQLite?"] {
        assert_eq!(decisions(word), 1, "{word}");
    }
}

/// A sub-agent's command that failed, and what the sub-agent reported.
#[test]
fn what_a_sub_agent_came_to_is_told() {
    let dir = tempfile::tempdir().expect("dir");
    let id = "f0000000-0000-4000-8000-000000000001";
    let path = dir.path().join(format!("{id}.jsonl"));
    let record = |side: bool, at: usize, message: Value| {
        json!({"parentUuid": at.checked_sub(1).map(|at| format!("u{at}")), "uuid": format!("u{at}"), "isSidechain": side,
            "agentId": side.then_some("a1"), "cwd": "/w/p", "sessionId": id, "version": "2.1.37", "type": message["role"],
            "message": message})
    };
    let call = |id: &str, name: &str, input: Value| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]});
    let result = |id: &str, text: &str, failed: bool| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}]});
    let main = [
        record(false, 0, json!({"role": "user", "content": "Check the lexer"})),
        record(false, 1, call("t1", "Task", json!({"description": "Fuzz the lexer", "prompt": "x"}))),
        record(false, 2, result("t1", "The lexer drops byte order marks.", false)),
        record(false, 3, json!({"role": "assistant", "content": [{"type": "text", "text": "So it does."}]})),
    ];
    let side = [
        record(true, 0, json!({"role": "user", "content": "x"})),
        record(true, 1, call("s1", "Bash", json!({"command": "cargo fuzz run lexer"}))),
        record(true, 2, result("s1", "Exit code 77\nerror: crash in bom", true)),
    ];
    let text = |records: &[Value]| records.iter().map(|record| format!("{record}\n")).collect::<String>();
    std::fs::write(&path, text(&main)).expect("written");
    let folder = dir.path().join(id).join("subagents");
    std::fs::create_dir_all(&folder).expect("folder");
    std::fs::write(folder.join("agent-a1.jsonl"), text(&side)).expect("written");
    let packet = packet(&path);
    check(
        &packet,
        &[
            ("/last_failure/command", json!("cargo fuzz run lexer")),
            ("/last_failure/output", json!("error: crash in bom")),
            ("/last_failure/at", json!("claude:f0000000/a1#2")),
            ("/checks/0/note", json!("run by a sub-agent: error: crash in bom")),
            ("/failed_attempts/0", json!(null)),
            (
                "/remarks/0/text",
                json!("Sub-agent “Fuzz the lexer” reported: The lexer drops byte order marks."),
            ),
        ],
    );
}

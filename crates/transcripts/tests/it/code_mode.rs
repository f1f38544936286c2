//! Codex in code mode: programs whose calls stand in the rollout as finished items, as Codex 0.169 writes them.

use serde_json::{Value, json};

use super::field::document;
use super::{check, column};

fn item(payload: Value) -> Value {
    json!({ "timestamp": "2026-11-26T17:22:12.058Z", "type": "response_item", "payload": payload })
}

fn program(id: &str, source: &str) -> Value {
    item(
        json!({ "type": "custom_tool_call", "id": format!("ctc_{id}"), "status": "completed", "call_id": id, "name": "exec",
        "input": source }),
    )
}

fn printed(id: &str, state: &str, text: &str) -> Value {
    let head = format!("Script {state}\nWall time 0.1 seconds\nOutput:\n");
    item(json!({ "type": "custom_tool_call_output", "call_id": id, "output": [
        { "type": "input_text", "text": head }, { "type": "input_text", "text": text }] }))
}

fn done(item: Value) -> Value {
    json!({ "timestamp": "2026-11-26T17:22:12.259Z", "type": "event_msg", "payload": { "type": "item_completed",
        "thread_id": "01a218e1-0d90-7f13-a443-ba4eaaf1bb94", "turn_id": "t1", "item": item } })
}

fn command(id: &str, line: &str, code: i64, output: &str) -> Value {
    done(
        json!({ "type": "CommandExecution", "id": id, "command": ["/bin/bash", "-lc", line], "cwd": "file:///w/p",
        "source": "unified_exec_startup", "status": if code == 0 { "completed" } else { "failed" },
        "aggregated_output": output, "exit_code": code }),
    )
}

fn rollout(lines: &[Value]) -> Value {
    let mut all = vec![
        json!({ "timestamp": "2026-11-26T17:22:11.000Z", "type": "session_meta", "payload": {
            "id": "01a218e1-0d90-7f13-a443-ba4eaaf1bb94", "cwd": "/w/p", "cli_version": "0.169.0" } }),
        item(
            json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Write app.py and test it" }] }),
        ),
    ];
    all.extend_from_slice(lines);
    document("rollout-2026-11-26T17-22-11-01a218e1-0d90-7f13-a443-ba4eaaf1bb94.jsonl", &all)
}

#[test]
fn what_a_program_did_is_told_as_calls() {
    let patched = json!({ "type": "FileChange", "id": "exec-2", "changes": { "/w/p/app.py": { "type": "add", "content": "print('x')\n" } },
        "status": "completed", "stdout": "Success. Updated the following files:\nA app.py\n", "stderr": "" });
    let packet = rollout(&[
        program(
            "c0",
            "const p = await tools.apply_patch('*** Begin Patch…');\nawait tools.exec_command({cmd: 'cargo test'});",
        ),
        done(patched),
        command(
            "exec-3",
            "cargo test",
            101,
            "test parser::empty ... FAILED\n\ntest result: FAILED. 4 passed; 1 failed\n",
        ),
        printed("c0", "completed", "{}"),
    ]);
    assert_eq!(column(&packet, "files_modified", "path"), ["app.py"]);
    assert_eq!(column(&packet, "files_modified", "change"), ["created"]);
    assert_eq!(column(&packet, "commands", "command"), ["cargo test"]);
    assert!(
        !packet.to_string().contains("await tools"),
        "the program is not told where its calls are: {packet:#}"
    );
}

#[test]
fn a_program_that_goes_on_while_the_agent_waits_is_told_by_what_it_did() {
    let packet = rollout(&[
        program("c1", "// @exec: {\"yield_time_ms\": 300}\nawait tools.exec_command({cmd: 'make'});"),
        item(
            json!({ "type": "custom_tool_call_output", "call_id": "c1", "output": "Script running with cell ID 2\nWall time 0.3 seconds\nOutput:\n" }),
        ),
        item(
            json!({ "type": "function_call", "name": "wait", "arguments": "{\"cell_id\":\"2\"}", "call_id": "c2" }),
        ),
        command("exec-4", "make", 2, "error: no rule\n"),
        item(
            json!({ "type": "function_call_output", "call_id": "c2", "output": "Script completed\nOutput:\nerror: no rule\n" }),
        ),
    ]);
    assert_eq!(column(&packet, "commands", "command"), ["make"]);
    check(&packet, &[("/commands/0/exit_code", json!(2))]);
}

#[test]
fn a_call_outside_a_program_is_told_once() {
    let packet = rollout(&[
        item(
            json!({ "type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"cargo test\"}", "call_id": "c6" }),
        ),
        command("c6", "cargo test", 0, "test result: ok. 5 passed\n"),
        item(
            json!({ "type": "function_call_output", "call_id": "c6", "output": "Process exited with code 0\nOutput:\ntest result: ok. 5 passed\n" }),
        ),
    ]);
    assert_eq!(column(&packet, "commands", "command"), ["cargo test"]);
    assert_eq!(packet["commands"].as_array().map(Vec::len), Some(1));
}

/// Codex 0.171 puts its own tools into a namespace.
#[test]
fn a_program_of_a_tool_in_a_namespace_is_told_by_what_it_did() {
    let mut call = program("c7", "text(await tools.exec_command({cmd: 'cargo test'}));");
    call["payload"]["namespace"] = json!("functions");
    let packet = rollout(&[
        call,
        command("exec-8", "cargo test", 0, "test result: ok. 5 passed\n"),
        printed("c7", "completed", "test result: ok. 5 passed"),
    ]);
    assert_eq!(column(&packet, "commands", "command"), ["cargo test"]);
    check(&packet, &[("/commands/0/exit_code", json!(0)), ("/open_loops", Value::Null)]);
}

//! Shapes that real sessions have and that were told wrongly: who said it, whether it was a request, whether it took place.

use std::io::Write as _;

use serde_json::{Value, json};

use super::{check, column, packet};

/// The packet of a file of this name with these lines.
pub(super) fn document(name: &str, lines: &[Value]) -> Value {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join(name);
    let mut file = std::fs::File::create(&path).expect("file");
    lines.iter().for_each(|line| writeln!(file, "{line}").expect("write"));
    packet(&path)
}

/// A session of Claude Code; each line hangs under the one before.
pub(super) fn claude(messages: &[Value]) -> Value {
    document("f0000000-0000-4000-8000-000000000001.jsonl", &claude_lines(messages))
}

/// The lines of such a session.
pub(super) fn claude_lines(messages: &[Value]) -> Vec<Value> {
    messages
        .iter()
        .enumerate()
        .map(|(at, message)| {
            let mut line = json!({
                "parentUuid": at.checked_sub(1).map(|at| format!("u{at}")), "uuid": format!("u{at}"), "isSidechain": false,
                "cwd": "/w/p", "sessionId": "f0000000-0000-4000-8000-000000000001", "version": "2.1.37", "gitBranch": "main",
                "type": message["role"],
            });
            for (key, value) in message.as_object().expect("fields") {
                match key.as_str() {
                    "role" | "content" => line["message"][key] = value.clone(),
                    _ => line[key] = value.clone(),
                }
            }
            line
        })
        .collect()
}

pub(super) fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn meta(text: &str) -> Value {
    json!({"role": "user", "isMeta": true, "content": [{"type": "text", "text": text}]})
}

pub(super) fn agent(text: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": text}]})
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]})
}

fn result(id: &str, output: &str, failed: bool) -> Value {
    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]})
}

fn edit(id: &str, path: &str) -> Value {
    call(id, "Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"}))
}

/// A rollout of Codex.
fn codex(items: &[Value]) -> Value {
    let mut lines =
        vec![json!({"timestamp": "2026-11-20T10:00:00.000Z", "type": "session_meta", "payload": {
        "id": "01a1fb69-e811-7c30-bbff-59dfc21c35e2", "cwd": "/w/p", "cli_version": "0.118.0"}})];
    lines.extend(items.iter().map(
        |item| json!({"timestamp": "2026-11-20T10:00:01.000Z", "type": "response_item", "payload": item}),
    ));
    document("rollout-2026-11-20T10-00-00-01a1fb69-e811-7c30-bbff-59dfc21c35e2.jsonl", &lines)
}

fn codex_user(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
}

fn codex_agent(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

fn codex_patch(id: &str, patch: &str, output: &str) -> [Value; 2] {
    let arguments = json!({"command": ["bash", "-lc", format!("apply_patch <<'EOF'\n{patch}\nEOF\n")]});
    [
        json!({"type": "function_call", "name": "shell", "call_id": id, "arguments": arguments.to_string()}),
        json!({"type": "function_call_output", "call_id": id, "output": output}),
    ]
}

fn turns(packet: &Value) -> Vec<&str> {
    column(packet, "recent_messages", "text")
}

fn loops(packet: &Value) -> Vec<&str> {
    column(packet, "open_loops", "text")
}

#[test]
fn a_patch_that_the_sandbox_stopped_changed_nothing() {
    let add = "*** Begin Patch\n*** Add File: new.py\n+x = 1\n*** End Patch";
    for output in [
        "failed in sandbox None with execution error: command timed out",
        "failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 2, stdout: , stderr: bash: -c: line 1: unexpected EOF",
        "command timed out after 10000 milliseconds",
        "patch rejected by user",
        "exec command rejected by user",
        "Invalid patch: the last line of the patch must be '*** End Patch'",
        "error: Failed to find expected lines in /w/p/new.py:\nx = 2",
    ] {
        let [call, end] = codex_patch("c1", add, output);
        let packet = codex(&[codex_user("Add it"), call, end]);
        assert_eq!(column(&packet, "files_modified", "path"), Vec::<&str>::new(), "{output}");
    }
    let [call, end] = codex_patch("c1", add, "Success. Updated the following files:\nA new.py\n");
    assert_eq!(column(&codex(&[codex_user("Add it"), call, end]), "files_modified", "change"), ["created"]);
}

#[test]
fn a_skill_that_the_user_started_is_his_request_and_its_text_is_not_his() {
    let packet = claude(&[
        user(
            "<command-message>superpowers:brainstorm</command-message>\n<command-name>/superpowers:brainstorm</command-name>",
        ),
        meta("Invoke the superpowers:brainstorming skill and never write code before the design\n"),
        call("t1", "Skill", json!({"skill": "superpowers:brainstorming"})),
        result("t1", "Launching skill: superpowers:brainstorming", false),
        meta(
            "Base directory for this skill: /home/you/.claude/skills/x\n\n# Brainstorming\n\nNever skip a step.",
        ),
        agent("What is it that you want to build?"),
        user(
            "<command-name>/ide</command-name>\n            <command-message>ide</command-message>\n            <command-args></command-args>",
        ),
        user("<local-command-stdout>Connected to Visual Studio Code.</local-command-stdout>"),
        user(
            "<command-name>/model</command-name>\n            <command-message>model</command-message>\n            <command-args>opus</command-args>",
        ),
    ]);
    check(
        &packet,
        &[
            ("/requests/first/text", json!("/superpowers:brainstorm")),
            ("/requests/last/text", json!("/superpowers:brainstorm")),
        ],
    );
    assert_eq!(column(&packet, "constraints", "text"), Vec::<&str>::new());
}

#[test]
fn a_command_that_the_user_ran_is_neither_a_request_nor_left_open() {
    let packet = claude(&[
        user("Tidy up"),
        agent("Tidied up."),
        user("<bash-input>git status</bash-input>"),
        user(
            "<bash-stdout>On branch main\nnothing to commit, working tree clean</bash-stdout><bash-stderr></bash-stderr>",
        ),
    ]);
    check(
        &packet,
        &[
            ("/requests/last/text", json!("Tidy up")),
            ("/commands/0/command", json!("git status")),
            ("/commands/0/note", json!("run by the user; exit code unknown")),
        ],
    );
    assert_eq!(loops(&packet), Vec::<&str>::new());
    assert_eq!(packet.get("next_steps"), None, "{packet:#}");
    let shell = "<user_shell_command>\n<command>\npytest -q\n</command>\n<result>\nExit code: 1\nDuration: 0.3100 seconds\nOutput:\n1 failed\n</result>\n</user_shell_command>";
    let packet = codex(&[codex_user("Mend it"), codex_agent("Mended."), codex_user(shell)]);
    check(
        &packet,
        &[
            ("/requests/last/text", json!("Mend it")),
            ("/test_command", json!("pytest -q")),
            ("/test_status", json!("fail")),
            ("/commands/0/note", json!("run by the user: 1 failed")),
        ],
    );
}

#[test]
fn what_the_tool_tells_the_agent_is_no_request() {
    for text in [
        "<bash-notification>\n<shell-id>b1</shell-id>\n<status>completed</status>\n<summary>Background command \"x\" completed (exit code 0).</summary>\nRead the output file.\n</bash-notification>",
        "<task-notification>\n<task-id>a1</task-id>\n<result>Done</result>\n</task-notification>\nFull transcript available at: /tmp/a1.output",
        "<teammate-message teammate_id=\"lead\">\nTake the next task\n</teammate-message>",
        "<ide_opened_file>The user opened /w/p/a.rs in the IDE.</ide_opened_file>",
        "<tick>3</tick>",
    ] {
        let packet = claude(&[user("Port it"), agent("Ported."), user(text), agent("Noted.")]);
        check(&packet, &[("/requests/last/text", json!("Port it"))]);
        assert_eq!(turns(&packet), ["Port it", "Ported.", "Noted."], "{text}");
    }
    let other = json!({"role": "user", "origin": {"kind": "channel"}, "content": "Ship it"});
    let packet = claude(&[user("Port it"), agent("Ported."), other, agent("Noted.")]);
    check(&packet, &[("/requests/last/text", json!("Port it"))]);
}

#[test]
fn what_a_tool_puts_beside_the_users_words_does_not_swallow_them() {
    let texts = [
        "<system-reminder>\nBe brief.\n</system-reminder>\nRename the field",
        "<ide_opened_file>The user opened a.rs</ide_opened_file>\n<ide_selection>x</ide_selection>Rename the field",
        "Rename the field\n\n<system-reminder>Never mention this.</system-reminder>",
    ];
    for text in texts {
        check(&claude(&[user(text)]), &[("/requests/last/text", json!("Rename the field"))]);
        check(&codex(&[codex_user(text)]), &[("/requests/last/text", json!("Rename the field"))]);
    }
}

#[test]
fn a_command_in_the_background_ends_when_its_notification_says_so() {
    let started = |id: &str| {
        let mut line = result(id, "Command running in background with ID: b1", false);
        line["toolUseResult"] =
            json!({"stdout": "", "stderr": "", "interrupted": false, "backgroundTaskId": "b1"});
        line
    };
    for notice in [
        "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>t1</tool-use-id>\n<status>failed</status>\n<summary>Background command \"npm test\" failed with exit code 1</summary>\n</task-notification>",
        "<bash-notification>\n<shell-id>b1</shell-id>\n<status>failed</status>\n<summary>Background command \"npm test\" failed with exit code 1.</summary>\n</bash-notification>",
    ] {
        let packet = claude(&[
            user("Run the tests"),
            call("t1", "Bash", json!({"command": "npm test", "run_in_background": true})),
            started("t1"),
            user(notice),
            agent("They fail."),
        ]);
        check(&packet, &[("/test_status", json!("fail")), ("/commands/0/exit_code", json!(1))]);
    }
}

#[test]
fn a_request_without_content_does_not_take_the_place_of_one_with_it() {
    for word in ["hi", "Thanks!", "quit", "ok, thank you"] {
        let packet = claude(&[user("Port the parser"), agent("Ported."), user(word)]);
        check(
            &packet,
            &[("/requests/last/text", json!("Port the parser")), ("/last_answer/text", json!("Ported."))],
        );
        assert_eq!(packet.get("next_steps"), None, "{word}: {packet:#}");
        assert_eq!(turns(&packet).last(), Some(&word));
    }
    let packet = claude(&[user("Port the parser"), agent("Half of it is ported."), user("continue")]);
    check(
        &packet,
        &[
            ("/requests/last/text", json!("Port the parser")),
            (
                "/next_steps/0/text",
                json!(
                    "go on with the last request: the user said “continue”, and there is no answer to it yet"
                ),
            ),
        ],
    );
    let packet =
        claude(&[user("hi"), agent("Hello! What shall I do?"), user("Port the parser"), agent("Ported.")]);
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Port the parser")),
            ("/requests/last/text", json!("Port the parser")),
        ],
    );
    check(&claude(&[user("hi")]), &[("/requests/first/text", json!("hi"))]);
    let codex = codex(&[codex_user("Port the parser"), codex_agent("Ported."), codex_user("yes, do it")]);
    check(&codex, &[("/requests/last/text", json!("Port the parser"))]);
}

#[test]
fn a_yes_is_told_with_the_question_that_it_answers() {
    let packet = claude(&[
        user("Port the parser"),
        agent("Ported. The old tests are still there.\n\nShall I delete `tests/old.rs` too?"),
        user("yes"),
    ]);
    check(
        &packet,
        &[
            ("/requests/first/text", json!("Port the parser")),
            (
                "/requests/last/text",
                json!("yes — the answer to the agent's question: “Shall I delete `tests/old.rs` too?”"),
            ),
        ],
    );
}

#[test]
fn success_that_is_claimed_while_an_edit_failed_is_said_with_the_reason() {
    let missing = "<tool_use_error>String to replace not found in file.\nString: a</tool_use_error>";
    let packet = claude(&[
        user("Rename a to b"),
        edit("t1", "/w/p/src/x.rs"),
        result("t1", missing, true),
        edit("t2", "/w/p/src/y.rs"),
        result("t2", "The file was updated", false),
        agent("Done: everything is renamed."),
    ]);
    assert_eq!(
        loops(&packet),
        [
            "The last answer speaks of success, but `src/x.rs` was not changed: “String to replace not found in file.”",
        ]
    );
    assert_eq!(column(&packet, "files_modified", "path"), ["src/y.rs"]);
    let mended = claude(&[
        user("Rename a to b"),
        edit("t1", "/w/p/src/x.rs"),
        result("t1", missing, true),
        edit("t2", "/w/p/src/x.rs"),
        result("t2", "The file was updated", false),
        agent("Done."),
    ]);
    assert_eq!(loops(&mended), Vec::<&str>::new());
    let [call, end] = codex_patch(
        "c1",
        "*** Begin Patch\n*** Update File: src/x.rs\n@@\n-a\n+b\n*** End Patch",
        "error: Failed to find expected lines in /w/p/src/x.rs:\na",
    );
    let packet = codex(&[codex_user("Rename a to b"), call, end, codex_agent("All renamed successfully.")]);
    assert_eq!(
        loops(&packet),
        [
            "The last answer speaks of success, but `src/x.rs` was not changed: “error: Failed to find expected lines in /w/p/src/x.rs:”",
        ]
    );
}

#[test]
fn a_file_outside_of_the_project_makes_no_uncommitted_changes() {
    let packet = claude(&[
        user("Note it"),
        edit("t1", "/home/you/.claude/plans/x.md"),
        result("t1", "The file was updated", false),
    ]);
    assert_eq!(packet.pointer("/git/dirty"), None, "{packet:#}");
    let packet = claude(&[user("x"), edit("t1", "/w/p/a.rs"), result("t1", "ok", false)]);
    check(&packet, &[("/git/dirty", json!(true))]);
}

#[test]
fn what_was_only_asked_for_is_not_told_as_done() {
    let lines = [
        json!({"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>\nMend it\n</user_query>"}]}}),
        json!({"role": "assistant", "message": {"content": [
            {"type": "tool_use", "name": "Write", "input": {"path": "/w/p/a.py", "contents": "x\n"}}]}}),
        json!({"role": "assistant", "message": {"content": [{"type": "text", "text": "Mended."}]}}),
    ];
    let packet = document("c0000000-0000-4000-8000-000000000001.jsonl", &lines);
    assert_eq!(packet["tool_activity"][0]["samples"], json!(["/w/p/a.py → result not recorded"]));
}

#[test]
fn only_what_is_left_undecided_is_an_open_question() {
    let packet = claude(&[
        user("Mend the build"),
        agent("The linker prints an unresolved symbol. I removed the unresolved imports."),
        agent("Whether we keep v1 is unresolved."),
        agent("Built."),
    ]);
    assert_eq!(loops(&packet), ["Whether we keep v1 is unresolved."]);
}

#[test]
fn a_plan_of_long_ago_is_not_the_next_step() {
    let todo =
        json!({"todos": [{"content": "Write the docs", "status": "pending", "activeForm": "Writing"}]});
    let mut messages = vec![user("Port it"), call("t0", "TodoWrite", todo), result("t0", "ok", false)];
    for at in 0..200 {
        messages.push(user(&format!("Now mend fault number {at} of the parser")));
        messages.push(agent("Mended."));
    }
    let packet = claude(&messages);
    check(
        &packet,
        &[
            ("/pending_tasks/0/title", json!("Write the docs")),
            ("/pending_tasks/0/status", json!("not ticked off, long before the end")),
        ],
    );
}

#[test]
fn a_session_that_codex_imported_has_its_calls_and_files() {
    let packet = codex(&[
        codex_user("Fix add()"),
        codex_agent(
            "Looking.\n[external_agent_tool_call: Edit]\nfile_path: /w/p/app.py\n[/external_agent_tool_call]",
        ),
        codex_user("[external_agent_tool_result]\nThe file was updated\n[/external_agent_tool_result]"),
        codex_agent("[external_agent_tool_call: Bash]\ncommand: pytest -q\n[/external_agent_tool_call]"),
        codex_agent(
            "[external_agent_tool_result: error]\nExit code 1\n1 failed\n[/external_agent_tool_result]",
        ),
        codex_agent("It fails still.\n<EXTERNAL SESSION IMPORTED>"),
    ]);
    assert_eq!(column(&packet, "files_modified", "path"), ["app.py"]);
    check(
        &packet,
        &[
            ("/requests/last/text", json!("Fix add()")),
            ("/test_command", json!("pytest -q")),
            ("/test_status", json!("fail")),
            ("/commands/0/exit_code", json!(1)),
            ("/last_answer/text", json!("It fails still.")),
        ],
    );
}

#[test]
fn a_title_is_never_that_of_another_session() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("f0000000-0000-4000-8000-000000000001.jsonl");
    let line = |leaf: &str| {
        let summary = json!({"type": "summary", "summary": "Of a session", "leafUuid": leaf});
        let user = json!({"type": "user", "uuid": "u0", "sessionId": "x", "message": {"role": "user", "content": "Port it"}});
        std::fs::write(&path, format!("{summary}\n{user}\n")).expect("write");
        let found = baton_transcripts::TranscriptFile::from_path("claude", &path).expect("a file");
        baton_transcripts::by_id("claude").expect("known").header(&found).title
    };
    assert_eq!(line("elsewhere").as_deref(), Some("Port it"));
    assert_eq!(line("u0").as_deref(), Some("Of a session"));
}

#[test]
fn what_a_sub_agent_did_is_read_where_the_tool_wrote_it_among_the_sessions_own_lines() {
    let progress = |message: Value| json!({"role": "progress", "data": {"type": "agent_progress", "agentId": "a1", "message": message}});
    let line = |role: &str, content: Value| {
        progress(json!({"type": role, "message": {"role": role, "content": content}}))
    };
    let messages = [
        user("Add summaries"),
        call("t1", "TaskCreate", json!({"subject": "Show them"})),
        result("t1", "Task #1 created", false),
        call("c1", "Task", json!({"description": "Write it", "prompt": "Write it"})),
        line("user", json!([{"type": "text", "text": "Write it, and never push"}])),
        line(
            "assistant",
            json!([{"type": "tool_use", "id": "e1", "name": "Edit", "input": {"file_path": "/w/p/sum.go", "old_string": "a", "new_string": "b"}}]),
        ),
        line("user", json!([{"type": "tool_result", "tool_use_id": "e1", "content": "done"}])),
        line(
            "assistant",
            json!([{"type": "tool_use", "id": "u1", "name": "TaskUpdate", "input": {"taskId": "1", "status": "completed"}}]),
        ),
        result("c1", "It is written", false),
        agent("All of it is done."),
    ];
    let packet = claude(&messages);
    assert_eq!(packet["files_modified"][0]["path"], "sum.go", "{packet:#}");
    assert_eq!(packet["pending_tasks"][0]["status"], "completed", "{packet:#}");
    assert_eq!(packet["requests"]["last"]["text"], "Add summaries", "its order is no word of the user");
    assert_eq!(packet["constraints"], Value::Null, "{packet:#}");
}

#[test]
fn the_list_of_all_tasks_is_how_they_stand() {
    let mut listed = result("l1", "#1 [completed] Show them", false);
    listed["toolUseResult"] = json!({"tasks": [{"id": "1", "subject": "Show them", "status": "completed"}, {"id": "3", "subject": "Ship", "status": "pending"}]});
    let messages = [
        user("Add summaries"),
        call("t1", "TaskCreate", json!({"subject": "Show them"})),
        call("t2", "TaskCreate", json!({"subject": "Dropped since"})),
        call("l1", "TaskList", json!({})),
        listed,
        agent("So it stands."),
    ];
    let tasks = claude(&messages)["pending_tasks"].clone();
    let states: Vec<(&str, &str)> = tasks
        .as_array()
        .into_iter()
        .flatten()
        .map(|task| (task["title"].as_str().unwrap_or_default(), task["status"].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(states, [("Show them", "completed"), ("Ship", "pending")]);
}

//! Plans in prose that the agent puts before the user: what they say, the files that they name, and what became of them.

use baton_transcripts::{Options, by_id, show, summarize};
use serde_json::{Value, json};

/// Records of Claude Code in the shape of 2.1, each with its successor.
fn transcript(records: Vec<Value>) -> String {
    let mut text = String::new();
    for (index, mut record) in records.into_iter().enumerate() {
        record["uuid"] = json!(format!("aaaa-{index:04}"));
        record["parentUuid"] = if index == 0 { Value::Null } else { json!(format!("aaaa-{:04}", index - 1)) };
        record["sessionId"] = json!("aaaaaaaa-0000-4000-8000-00000000000e");
        record["cwd"] = json!("/home/you/shop");
        record["isSidechain"] = json!(false);
        text.push_str(&format!("{record}\n"));
    }
    text
}

fn user(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "model": "claude-opus-4-5",
        "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}})
}

fn result(id: &str, refused: bool) -> Value {
    let text = if refused { "The user doesn't want to proceed with this tool use." } else { "ok" };
    json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": refused}]}})
}

fn read(records: Vec<Value>) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, transcript(records)).expect("written");
    let format = by_id("claude").expect("a known format");
    serde_json::to_value(summarize(&path, format, &Options::default())).expect("JSON")
}

const PLAN: &str = "# Coupons\n\n1. `/home/you/shop/src/coupon.rs:10-30` gets a check.\n2. `cart.rs` calls it.\n3. mise.toml";

fn files(packet: &Value) -> Vec<&str> {
    let files = packet["proposal"]["files"].as_array().expect("files");
    files.iter().filter_map(|file| file["path"].as_str()).collect()
}

#[test]
fn a_plan_that_the_agent_proposed_is_told_with_the_files_that_it_names_and_what_became_of_it() {
    let packet = read(vec![
        user("plan the coupons"),
        call("c1", "Read", json!({"file_path": "/home/you/shop/src/cart.rs"})),
        result("c1", false),
        call("c2", "ExitPlanMode", json!({"plan": PLAN})),
        result("c2", true),
    ]);
    assert_eq!(packet["proposal"]["text"], PLAN);
    assert_eq!(packet["proposal"]["approved"], false);
    assert_eq!(packet["proposal"].get("changes_since"), None);
    // `cart.rs` was read, so it is named there.
    assert_eq!(files(&packet), ["src/coupon.rs", "mise.toml"]);
}

#[test]
fn a_plan_in_a_file_of_the_tool_is_the_one_that_is_put_before_the_user_and_changes_after_it_are_counted() {
    let file = "/home/you/.claude/plans/calm-river.md";
    let packet = read(vec![
        user("plan the coupons"),
        call("c1", "Write", json!({"file_path": file, "content": PLAN})),
        result("c1", false),
        call("c2", "ExitPlanMode", json!({"allowedPrompts": [], "planFilePath": file})),
        result("c2", false),
        call(
            "c3",
            "Edit",
            json!({"file_path": "/home/you/shop/src/coupon.rs", "old_string": "a", "new_string": "b"}),
        ),
        result("c3", false),
    ]);
    assert_eq!(packet["proposal"]["text"], PLAN);
    assert_eq!(packet["proposal"]["approved"], true);
    assert_eq!(packet["proposal"]["changes_since"], 1);
    assert_eq!(files(&packet), ["cart.rs", "mise.toml"]);
}

#[test]
fn a_later_version_of_a_plan_takes_the_place_of_the_earlier_one_and_knows_its_folders() {
    let packet = read(vec![
        user("plan the coupons"),
        call("c1", "ExitPlanMode", json!({"plan": "change `src/deep/cart.rs`"})),
        result("c1", true),
        call("c2", "ExitPlanMode", json!({"plan": "only the tests of cart.rs"})),
    ]);
    assert_eq!(packet["proposal"]["text"], "only the tests of cart.rs");
    assert_eq!(packet["proposal"].get("approved"), None);
    assert_eq!(files(&packet), ["src/deep/cart.rs"]);
}

#[test]
fn a_secret_in_a_plan_is_taken_out_wherever_it_is_told() {
    let secret = format!("ghp_{}", "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d");
    let plan = format!("set GITHUB_TOKEN={secret} in `src/ci.rs`");
    let records = vec![user("plan"), call("c1", "ExitPlanMode", json!({"plan": plan}))];
    let packet = read(records.clone());
    assert!(!packet.to_string().contains(&secret), "{packet:#}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, transcript(records)).expect("written");
    let format = by_id("claude").expect("a known format");
    let mut shown = String::new();
    show(&path, format, &Options::default(), &mut |event| shown.push_str(&format!("{event:?}\n")));
    assert!(shown.contains("proposal: Some") && !shown.contains(&secret), "{shown}");
}

#[test]
fn what_the_user_wrote_after_a_slash_command_is_a_request_and_a_command_alone_is_none() {
    let packet = read(vec![
        user(
            "<command-message>fix is running…</command-message>\n<command-name>/fix</command-name>\n<command-args>only the parser, never touch the lexer</command-args>",
        ),
        user(
            "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args></command-args>",
        ),
        user("<local-command-stdout>Set model</local-command-stdout>"),
    ]);
    assert_eq!(packet["requests"]["first"]["text"], "/fix only the parser, never touch the lexer");
    assert_eq!(packet["requests"]["last"]["text"], "/fix only the parser, never touch the lexer");
    assert!(packet["constraints"].to_string().contains("never touch the lexer"), "{packet:#}");
}

fn local_command(text: &str) -> Value {
    json!({"type": "system", "subtype": "local_command", "content": text, "isMeta": false})
}

/// Versions of this month write what the user gives as a command into a line of the tool's own.
#[test]
fn a_command_that_the_tool_wrote_into_a_line_of_its_own_is_a_request() {
    let packet = read(vec![
        local_command(
            "<command-name>/fix</command-name><command-message>fix</command-message>\
             <command-args>only the parser, never touch lexer.rs</command-args>",
        ),
        call("c1", "Read", json!({"file_path": "/home/you/shop/src/cart.rs"})),
        result("c1", false),
        local_command("<local-command-stdout>Set model to opus</local-command-stdout>"),
        local_command("<bash-input>cargo test</bash-input>"),
        local_command("<bash-stdout>1 failed</bash-stdout><bash-exit-code>101</bash-exit-code>"),
    ]);
    assert_eq!(
        packet["requests"]["last"]["text"], "/fix only the parser, never touch lexer.rs",
        "{packet:#}"
    );
    let text = packet.to_string();
    assert!(text.contains("cargo test") && text.contains("101"), "{packet:#}");
    assert!(!text.contains("Set model"), "{packet:#}");
}

#[test]
fn the_listing_names_a_session_by_its_command_and_its_agent_and_knows_the_folder_before_a_worktree() {
    let folder = tempfile::tempdir().expect("a folder");
    let projects = folder.path().join(".claude/projects/-home-you-shop");
    std::fs::create_dir_all(&projects).expect("made");
    let path = projects.join("aaaaaaaa-0000-4000-8000-00000000000e.jsonl");
    let command = "<command-name>/fix</command-name><command-args>the parser</command-args>";
    let talk = transcript(vec![local_command(command), user("now the lexer")])
        .replace("/home/you/shop", "/nowhere/worktrees/shop-x");
    let worktree = json!({"type": "worktree-state", "sessionId": "s", "worktreeSession":
        {"originalCwd": "/home/you/shop", "worktreePath": "/nowhere/worktrees/shop-x"}});
    let header = |text: String| {
        std::fs::write(&path, text).expect("written");
        let mut all = Vec::new();
        let format = by_id("claude").expect("known");
        let env = baton_transcripts::TranscriptEnv { home: folder.path().to_owned(), ..Default::default() };
        format.find(&env, &mut |one| all.push(format.header(&one)));
        all.remove(0)
    };
    let first = header(format!("{worktree}\n{talk}"));
    assert_eq!(
        first.cwd.as_deref(),
        Some("/nowhere/worktrees/shop-x"),
        "what became of the worktree is seen by who goes on"
    );
    let bare = talk.replace("\"cwd\":\"/nowhere/worktrees/shop-x\",", "");
    assert_eq!(header(format!("{worktree}\n{bare}")).cwd.as_deref(), Some("/home/you/shop"));
    assert_eq!(first.title.as_deref(), Some("/fix the parser"));
    let name = json!({"type": "agent-name", "agentName": "Parser", "sessionId": "s"});
    let title = json!({"type": "custom-title", "customTitle": "Fix it", "sessionId": "s"});
    assert_eq!(header(format!("{talk}{title}\n{name}\n")).title.as_deref(), Some("Parser"));
}

#[test]
fn sub_agents_of_a_workflow_are_read_with_their_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, transcript(vec![user("go")])).expect("written");
    let run = folder.path().join("s/subagents/workflows/r1");
    std::fs::create_dir_all(&run).expect("made");
    let edit = call("c9", "Write", json!({"file_path": "/home/you/shop/src/made.rs", "content": "x"}));
    let done = json!({"type": "user", "toolUseResult": {"type": "create", "filePath": "/home/you/shop/src/made.rs"},
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c9", "content": "ok"}]}});
    std::fs::write(run.join("agent-a1.jsonl"), transcript(vec![edit, done])).expect("written");
    let packet = summarize(&path, by_id("claude").expect("known"), &Options::default());
    let packet = serde_json::to_value(packet).expect("JSON");
    assert!(packet.to_string().contains("made.rs"), "{packet:#}");
}

//! Sub-agents whose records stand among those of the session, as Claude Code 1.0 wrote them.

use serde_json::{Value, json};

use super::{column, packet};

/// A session of Claude Code, record by record.
pub(crate) struct Script {
    records: Vec<Value>,
    parent: Option<String>,
    is_side: bool,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self { records: Vec::new(), parent: None, is_side: false }
    }

    pub(crate) fn text(&self) -> String {
        self.records.iter().map(|record| format!("{record}\n")).collect()
    }

    fn packet(&self) -> Value {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("session.jsonl");
        std::fs::write(&path, self.text()).expect("written");
        packet(&path)
    }

    fn add(mut self, kind: &str, message: &Value) -> Self {
        let count = self.records.len() + 1;
        let id = format!("00000000-0000-4000-8000-{count:012}");
        self.records.push(json!({
            "parentUuid": self.parent, "isSidechain": self.is_side, "userType": "external", "cwd": "/srv/shop",
            "sessionId": "11111111-2222-4333-8444-555555555555", "version": "1.0.60", "gitBranch": "main", "type": kind,
            "message": message, "uuid": id, "timestamp": format!("2026-02-01T10:{:02}:{:02}.000Z", count / 60, count % 60),
        }));
        self.parent = Some(id);
        self
    }

    pub(crate) fn user(self, text: &str) -> Self {
        self.add("user", &json!({ "role": "user", "content": text }))
    }

    pub(crate) fn say(self, text: &str) -> Self {
        let content = json!([{ "type": "text", "text": text }]);
        self.add("assistant", &json!({ "role": "assistant", "model": "claude-sonnet-4", "content": content }))
    }

    fn begin(self, name: &str, input: &Value) -> (Self, String) {
        let id = format!("toolu_{}", self.records.len());
        let content = json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
        let message = json!({ "role": "assistant", "model": "claude-sonnet-4", "content": content });
        (self.add("assistant", &message), id)
    }

    fn end(self, id: &str, output: &str, is_error: bool) -> Self {
        let result =
            json!([{ "type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error }]);
        self.add("user", &json!({ "role": "user", "content": result }))
    }

    fn call(self, name: &str, input: &Value, output: &str, is_error: bool) -> Self {
        let (script, id) = self.begin(name, input);
        script.end(&id, output, is_error)
    }

    pub(crate) fn write(self, file: &str) -> Self {
        let path = format!("/srv/shop/{file}");
        let output = format!("File created successfully at: {path}");
        self.call("Write", &json!({ "file_path": path, "content": "x\n" }), &output, false)
    }

    fn run(self, command: &str, output: &str, is_error: bool) -> Self {
        self.call("Bash", &json!({ "command": command }), output, is_error)
    }

    fn refused_edit(self, file: &str) -> Self {
        let error = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>";
        let input = json!({ "file_path": format!("/srv/shop/{file}"), "old_string": "a", "new_string": "b" });
        self.call("Edit", &input, error, true)
    }

    /// A task that a sub-agent does, and what it reports.
    pub(crate) fn task(self, prompt: &str, work: impl FnOnce(Self) -> Self, report: &str) -> Self {
        let input = json!({ "description": prompt, "prompt": prompt, "subagent_type": "general-purpose" });
        let (mut script, id) = self.begin("Task", &input);
        let parent = script.parent.take();
        script.is_side = true;
        let mut script = work(script.user(prompt)).say(report);
        (script.is_side, script.parent) = (false, parent);
        script.end(&id, report, false)
    }
}

#[test]
fn a_build_that_failed_in_a_sub_agents_hands_is_the_last_failure() {
    let packet = Script::new()
        .user("create a TODO app")
        .task(
            "Make the page and build it",
            |agent| {
                agent
                    .write("page.tsx")
                    .run("npx tsc --noEmit", "", false)
                    .run("ls -la types/", "ls: types/: No such file or directory", true)
                    .run(
                        "npm run build",
                        "> next build\nBuild error occurred\n[TypeError: generate is not a function]",
                        true,
                    )
            },
            "Done. The app is fully functional.",
        )
        .say("The TODO app is complete and ready for use.")
        .packet();
    let checks = column(&packet, "checks", "command");
    assert!(checks.contains(&"npm run build") && checks.contains(&"npx tsc --noEmit"), "{packet:#}");
    assert_eq!(packet["last_failure"]["command"], json!("npm run build"));
    assert_eq!(packet["last_failure"]["at"], json!("claude:11111111#10"), "it stands in the same file");
    assert_eq!(column(&packet, "failed_attempts", "tried"), [""; 0], "told once, and a look is no attempt");
}

#[test]
fn what_the_session_itself_ran_later_stands_for_what_a_sub_agent_ran() {
    let session = |command: &str| {
        Script::new()
            .user("create a TODO app")
            .task(
                "Build it",
                |agent| agent.write("page.tsx").run("npm run build", "Error: no", true),
                "Done.",
            )
            .run(command, "done", false)
            .say("It builds.")
            .packet()
    };
    let packet = session("npm run build");
    assert_eq!(packet["last_failure"], Value::Null);
    assert_eq!(column(&packet, "checks", "command"), ["npm run build"]);
    assert_eq!(column(&packet, "failed_attempts", "tried"), [""; 0]);
    assert_eq!(session("npm run lint")["last_failure"]["command"], json!("npm run build"));
}

#[test]
fn a_later_run_of_another_sub_agent_stands_for_an_earlier_one() {
    let packet = Script::new()
        .user("create a TODO app")
        .run("npm run build", "done", false)
        .task("Build it", |agent| agent.write("a.tsx").run("npm run build", "Error: no", true), "Failed.")
        .task("Mend it", |agent| agent.write("a.tsx").run("npm run build", "done", false), "Done.")
        .say("It builds.")
        .packet();
    assert_eq!(packet["last_failure"], Value::Null);
    assert_eq!(column(&packet, "checks", "at"), ["claude:11111111#16"]);
}

#[test]
fn an_edit_that_a_sub_agent_could_not_make_is_told_unless_somebody_made_it() {
    let session = |file: &str| {
        Script::new()
            .user("make the hook simple")
            .task("Replace it", |agent| agent.refused_edit("useTodos.ts").write(file), "Done.")
            .say("All is done.")
            .packet()
    };
    let packet = session("useSimpleTodos.ts");
    let loops = column(&packet, "open_loops", "text");
    assert_eq!(
        loops,
        [
            "A sub-agent did not change `useTodos.ts`: “File has not been read yet. Read it first before writing to it.”"
        ]
    );
    assert_eq!(column(&session("useTodos.ts"), "open_loops", "text"), [""; 0]);
}

#[test]
fn what_a_sub_agent_of_vibe_did_is_the_sessions_and_what_it_was_given_is_no_compaction() {
    let made = tempfile::tempdir().expect("a folder");
    let own = super::sample("vibe/normal/logs/session/session_20261120_110640_9d000000");
    let agent = made.path().join("agents/explore_20261120_110700_9d000009");
    std::fs::create_dir_all(&agent).expect("made");
    for name in ["messages.jsonl", "meta.json"] {
        std::fs::copy(own.join(name), made.path().join(name)).expect("copied");
    }
    let about = json!({"session_id": "9d000009", "parent_session_id": "9d000000", "agent_profile": {"name": "explore"}});
    std::fs::write(agent.join("meta.json"), about.to_string()).expect("written");
    let input = json!({"path": "/home/you/shop/NOTES-of-agent.md", "content": "x"}).to_string();
    let lines = [
        json!({"role": "user", "injected": true, "content": "Look for callers", "message_id": "a0"}),
        json!({"role": "assistant", "content": "", "message_id": "a1", "tool_calls": [
            {"id": "w1", "index": 0, "type": "function", "function": {"name": "write_file", "arguments": input}}]}),
        json!({"role": "tool", "tool_call_id": "w1", "name": "write_file", "content": "written", "message_id": "a2"}),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(agent.join("messages.jsonl"), lines).expect("written");
    let alone = super::packet(&own.join("messages.jsonl"));
    let packet = super::packet(&made.path().join("messages.jsonl"));
    assert!(packet.to_string().contains("NOTES-of-agent.md"), "{packet:#}");
    assert_eq!(packet["requests"], alone["requests"]);
    let text = super::packet(&agent.join("messages.jsonl")).to_string();
    assert!(
        !text.contains("Look for callers"),
        "an injected message is no compaction of a sub-agent: {text}"
    );
}

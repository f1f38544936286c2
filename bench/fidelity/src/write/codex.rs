//! Codex: response items, beside them the events of the old or of the new history mode.

use serde_json::{Value, json};

use super::{Counter, Tool, diff, lines, session};
use crate::story::{State, Step, Story};

/// The history mode since 0.169.
pub const PAGED: Tool = Tool { id: "codex", name: "codex", file, write: |story| write(story, true) };
/// The history mode of before, with plans.
pub const LEGACY: Tool = Tool { id: "codex", name: "codex (old)", file, write: |story| write(story, false) };

fn file(story: &Story) -> String {
    format!("sessions/2026/11/20/rollout-2026-11-20T06-00-00-{}.jsonl", session(story))
}

struct Writer<'s> {
    story: &'s Story,
    paged: bool,
    counter: Counter,
    records: Vec<Value>,
}

fn write(story: &Story, paged: bool) -> String {
    let mut writer = Writer { story, paged, counter: Counter::new(story), records: Vec::new() };
    let mut meta = json!({"id": session(story), "timestamp": "2026-11-20T06:00:00.000Z", "cwd": story.cwd(),
        "originator": "codex_cli", "cli_version": "0.118.0", "source": "cli",
        "git": {"commit_hash": "0123456789abcdef0123456789abcdef01234567", "branch": "main"}});
    if paged {
        meta["cli_version"] = "0.169.0".into();
        meta["history_mode"] = "paginated".into();
    }
    writer.push("session_meta", meta);
    writer.push(
        "turn_context",
        json!({"turn_id": "t0", "cwd": story.cwd(), "model": "gpt-5.2-codex", "approval_policy": "never"}),
    );
    let context = format!("<environment_context>\n  <cwd>{}</cwd>\n</environment_context>", story.cwd());
    writer.item(
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": context}]}),
    );
    for step in &story.steps {
        writer.step(step);
    }
    lines(&writer.records)
}

impl Writer<'_> {
    fn step(&mut self, step: &Step) {
        match step {
            Step::User(text) => self.user(text),
            Step::Agent(text) => self.agent(text),
            Step::Shell { command, exit, output } => self.shell(command, *exit, output),
            Step::Edit { path, old, new, refused } => {
                let body = format!("*** Update File: {path}\n{}", diff(old, new));
                let change = json!({"type": "update", "unified_diff": diff(old, new), "move_path": null});
                self.patch(path, &body, change, *refused);
            }
            Step::Create { path, content } => {
                let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
                self.patch(
                    path,
                    &format!("*** Add File: {path}\n{lines}"),
                    json!({"type": "add", "content": content}),
                    None,
                );
            }
            Step::Delete(path) => {
                self.patch(
                    path,
                    &format!("*** Delete File: {path}\n"),
                    json!({"type": "delete", "content": "x\n"}),
                    None,
                );
            }
            Step::Rename(from, to) => {
                let body = format!("*** Update File: {from}\n*** Move to: {to}\n@@\n-old\n+new\n");
                let change = json!({"type": "update", "unified_diff": "@@ -1 +1 @@\n-old\n+new\n", "move_path": self.story.path(to)});
                self.patch(from, &body, change, None);
            }
            Step::Read(path, text) => self.shell(&format!("cat {path}"), 0, text),
            Step::Search(pattern, found) => self.shell(&format!("rg -n {pattern}"), 0, found),
            Step::Plan(items) => self.plan(items),
            Step::Compact(summary) => {
                self.push("compacted", json!({"message": summary, "replacement_history": []}))
            }
            Step::Undone(steps) => {
                steps.iter().for_each(|step| self.step(step));
                self.event(json!({"type": "thread_rolled_back", "num_turns": 1}));
            }
        }
    }

    fn user(&mut self, text: &str) {
        self.event(json!({"type": "task_started", "turn_id": "t"}));
        self.item(
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}),
        );
        match self.paged {
            true => {
                self.completed(json!({"type": "UserMessage", "content": [{"type": "text", "text": text}]}))
            }
            false => self.event(json!({"type": "user_message", "message": text})),
        }
    }

    fn agent(&mut self, text: &str) {
        match self.paged {
            true => {
                self.completed(json!({"type": "AgentMessage", "content": [{"type": "Text", "text": text}]}))
            }
            false => self.event(json!({"type": "agent_message", "message": text})),
        }
        self.item(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}));
    }

    fn shell(&mut self, command: &str, exit: i64, output: &str) {
        let id = self.function("exec_command", json!({"cmd": command}));
        if self.paged {
            self.completed(json!({"type": "CommandExecution", "id": id, "command": ["/bin/bash", "-lc", command],
                "cwd": format!("file://{}", self.story.cwd()), "status": if exit == 0 { "completed" } else { "failed" },
                "aggregated_output": output, "exit_code": exit}));
        }
        self.output(
            &id,
            &format!(
                "Chunk ID: f9\nWall time: 0.1 seconds\nProcess exited with code {exit}\nOutput:\n{output}"
            ),
        );
    }

    fn patch(&mut self, path: &str, body: &str, change: Value, refused: Option<&str>) {
        let id = format!("call_{}", self.counter.next());
        let input = format!("*** Begin Patch\n{body}*** End Patch\n");
        self.item(json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": id, "input": input, "status": "completed"}));
        if self.paged && refused.is_none() {
            let changes = json!({self.story.path(path): change});
            self.completed(
                json!({"type": "FileChange", "id": id, "changes": changes, "status": "completed"}),
            );
        }
        let output = match refused {
            Some(_) => format!(
                "apply_patch verification failed: Failed to find expected lines in {}",
                self.story.path(path)
            ),
            None => format!(
                "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM {path}\n"
            ),
        };
        self.item(json!({"type": "custom_tool_call_output", "call_id": id, "output": output}));
    }

    fn plan(&mut self, items: &[(String, State)]) {
        let status = |state| match state {
            State::Done => "completed",
            State::Doing => "in_progress",
            State::Open => "pending",
        };
        let plan: Vec<Value> =
            items.iter().map(|(title, state)| json!({"step": title, "status": status(*state)})).collect();
        let id = self.function("update_plan", json!({"plan": plan}));
        self.output(&id, "Plan updated");
    }

    fn function(&mut self, name: &str, arguments: Value) -> String {
        let id = format!("call_{}", self.counter.next());
        self.item(
            json!({"type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id}),
        );
        id
    }

    fn output(&mut self, id: &str, output: &str) {
        self.item(json!({"type": "function_call_output", "call_id": id, "output": output}));
    }

    fn completed(&mut self, mut item: Value) {
        if item["id"].is_null() {
            item["id"] = self.counter.id().into();
        }
        self.event(json!({"type": "item_completed", "turn_id": "t", "item": item}));
    }

    fn item(&mut self, payload: Value) {
        self.push("response_item", payload);
    }

    fn event(&mut self, payload: Value) {
        self.push("event_msg", payload);
    }

    fn push(&mut self, kind: &str, payload: Value) {
        self.counter.next();
        self.records.push(json!({"timestamp": self.counter.time(), "ordinal": self.records.len(), "type": kind, "payload": payload}));
    }
}

//! Copilot CLI: events. Nothing can be undone in it, and its plan is a checklist in Markdown.

use serde_json::{Value, json};

use super::{Counter, Tool, diff, lines, session};
use crate::story::{State, Step, Story};

pub const TOOL: Tool = Tool {
    id: "copilot",
    name: "copilot",
    file: |story| format!("session-state/{}/events.jsonl", session(story)),
    write,
};

struct Writer<'s> {
    story: &'s Story,
    counter: Counter,
    parent: Value,
    records: Vec<Value>,
}

fn write(story: &Story) -> String {
    let mut writer = Writer { story, counter: Counter::new(story), parent: Value::Null, records: Vec::new() };
    writer.push(
        "session.start",
        json!({"sessionId": session(story), "version": 1, "producer": "copilot-agent",
        "copilotVersion": "1.0.102", "startTime": "2026-11-20T06:00:00.000Z", "selectedModel": "gpt-5.4",
        "context": {"cwd": story.cwd(), "gitRoot": story.cwd(), "branch": "main", "headCommit": "0123456"}}),
    );
    for step in &story.steps {
        writer.step(step);
    }
    lines(&writer.records)
}

impl Writer<'_> {
    fn step(&mut self, step: &Step) {
        let path = |path: &str| self.story.path(path);
        match step {
            Step::User(text) => self.push("user.message", json!({"content": text, "transformedContent": format!("<current_datetime>now</current_datetime>\n\n{text}")})),
            Step::Agent(text) => self.push("assistant.message", json!({"model": "gpt-5.4", "content": text, "toolRequests": []})),
            Step::Shell { command, exit, output } => self.shell(command, *exit, output),
            Step::Edit { path: file, old, new, refused } => {
                let args = json!({"path": path(file), "old_str": old, "new_str": new});
                let (text, ok) = match refused {
                    Some(why) => ((*why).to_owned(), false),
                    None => (format!("diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n{}", diff(old, new)), true),
                };
                self.call("edit", args, &text, ok, None);
            }
            Step::Create { path: file, content } => {
                self.call("create", json!({"path": path(file), "file_text": content}), "Created", true, None);
            }
            Step::Delete(file) => self.shell(&format!("rm {file}"), 0, ""),
            Step::Rename(from, to) => self.shell(&format!("git mv {from} {to}"), 0, ""),
            Step::Read(file, text) => self.call("view", json!({"path": path(file)}), text, true, None),
            Step::Search(pattern, found) => self.call("grep", json!({"pattern": pattern}), found, true, None),
            Step::Plan(items) => self.plan(items),
            Step::Compact(_) | Step::Undone(_) => {}
        }
    }

    fn shell(&mut self, command: &str, exit: i64, output: &str) {
        self.call("bash", json!({"command": command, "description": "Run it"}), output, true, Some(exit));
    }

    fn plan(&mut self, items: &[(String, State)]) {
        let sign = |state| match state {
            State::Done => "x",
            State::Doing => "-",
            State::Open => " ",
        };
        let todos: String =
            items.iter().map(|(title, state)| format!("- [{}] {title}\n", sign(*state))).collect();
        self.call("update_todo", json!({"todos": todos}), "TODO list updated", true, None);
    }

    fn call(&mut self, name: &str, args: Value, text: &str, ok: bool, exit: Option<i64>) {
        let id = format!("call_{}", self.counter.next());
        self.push(
            "assistant.message",
            json!({"model": "gpt-5.4", "content": "",
            "toolRequests": [{"toolCallId": id, "name": name, "arguments": args, "type": "function"}]}),
        );
        self.push("tool.execution_start", json!({"toolCallId": id, "toolName": name, "arguments": args}));
        let mut done = json!({"toolCallId": id, "success": ok});
        match ok {
            true => done["result"] = json!({"content": text, "detailedContent": text}),
            false => done["error"] = json!({"message": text, "code": "failure"}),
        }
        if let Some(exit) = exit {
            done["shellExecution"] = json!({"exitCode": exit});
        }
        self.push("tool.execution_complete", done);
    }

    fn push(&mut self, kind: &str, data: Value) {
        let id = self.counter.id();
        self.records.push(json!({"type": kind, "data": data, "id": id, "timestamp": self.counter.time(), "parentId": self.parent}));
        self.parent = json!(id);
    }
}

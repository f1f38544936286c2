//! OpenCode: one document, as its own export writes it. What is undone leaves no trace there.

use serde_json::{Value, json};

use super::{Counter, Tool, diff, session};
use crate::story::{State, Step, Story};

pub const TOOL: Tool = Tool {
    id: "opencode",
    name: "opencode",
    file: |story| format!("ses_{}.json", &session(story)[..8]),
    write,
};

struct Writer<'s> {
    story: &'s Story,
    counter: Counter,
    messages: Vec<Value>,
}

fn write(story: &Story) -> String {
    let mut writer = Writer { story, counter: Counter::new(story), messages: Vec::new() };
    for step in &story.steps {
        writer.step(step);
    }
    let info = json!({"id": format!("ses_{}", &session(story)[..8]), "slug": "brave-pixel", "projectID": "global",
        "directory": story.cwd(), "title": "New session", "version": "1.18.33", "cost": 0,
        "time": {"created": 1_795_219_445_076_u64, "updated": 1_795_219_470_246_u64}});
    json!({"info": info, "messages": writer.messages}).to_string()
}

impl Writer<'_> {
    fn step(&mut self, step: &Step) {
        let path = |path: &str| self.story.path(path);
        match step {
            Step::User(text) => self.push("user", json!({"type": "text", "text": text})),
            Step::Agent(text) => {
                self.push("assistant", json!({"type": "text", "text": text, "synthetic": false}))
            }
            Step::Shell { command, exit, output } => self.shell(command, *exit, output),
            Step::Edit { path: file, old, new, refused } => {
                let input = json!({"filePath": path(file), "oldString": old, "newString": new});
                match refused {
                    Some(why) => self.push("assistant", json!({"type": "tool", "tool": "edit", "callID": "c",
                        "state": {"status": "error", "input": input, "error": why, "time": {"start": 1, "end": 2}}})),
                    None => self.call("edit", input, "Edit applied successfully.", json!({"diff": format!("--- {file}\n+++ {file}\n{}", diff(old, new))})),
                }
            }
            Step::Create { path: file, content } => {
                self.call(
                    "write",
                    json!({"filePath": path(file), "content": content}),
                    "Wrote file successfully.",
                    json!({"exists": false}),
                );
            }
            Step::Delete(file) => self.shell(&format!("rm {file}"), 0, ""),
            Step::Rename(from, to) => self.shell(&format!("git mv {from} {to}"), 0, ""),
            Step::Read(file, text) => self.call("read", json!({"filePath": path(file)}), text, json!({})),
            Step::Search(pattern, found) => self.call("grep", json!({"pattern": pattern}), found, json!({})),
            Step::Plan(items) => self.plan(items),
            Step::Compact(_) | Step::Undone(_) => {}
        }
    }

    fn shell(&mut self, command: &str, exit: i64, output: &str) {
        let input = json!({"command": command});
        self.call("bash", input, output, json!({"output": output, "exit": exit, "truncated": false}));
    }

    fn plan(&mut self, items: &[(String, State)]) {
        let status = |state| match state {
            State::Done => "completed",
            State::Doing => "in_progress",
            State::Open => "pending",
        };
        let todos: Vec<Value> = items
            .iter()
            .map(|(title, state)| json!({"content": title, "status": status(*state), "priority": "medium"}))
            .collect();
        self.call("todowrite", json!({"todos": todos}), "[]", json!({"todos": todos}));
    }

    fn call(&mut self, name: &str, input: Value, output: &str, metadata: Value) {
        let id = format!("call_{}", self.counter.next());
        self.push("assistant", json!({"type": "tool", "tool": name, "callID": id, "state": {"status": "completed",
            "input": input, "output": output, "title": name, "metadata": metadata, "time": {"start": 1, "end": 2}}}));
    }

    fn push(&mut self, role: &str, mut part: Value) {
        let at = self.counter.next();
        let id = format!("msg_{at:08}");
        part["id"] = format!("prt_{at:08}").into();
        part["messageID"] = id.clone().into();
        let mut info = json!({"role": role, "id": id, "time": {"created": 1_795_219_446_586_u64 + at * 1000}, "agent": "build"});
        if role == "assistant" {
            info["path"] = json!({"cwd": self.story.cwd(), "root": self.story.cwd()});
            info["modelID"] = "m".into();
        }
        self.messages.push(json!({"info": info, "parts": [part]}));
    }
}

//! Claude Code: lines that name their parents.

use serde_json::{Value, json};

use super::{Counter, Tool, lines, session};
use crate::story::{State, Step, Story};

pub const TOOL: Tool = Tool {
    id: "claude",
    name: "claude",
    file: |story| format!("projects/-home-you-{}/{}.jsonl", story.project, session(story)),
    write,
};

struct Writer<'s> {
    story: &'s Story,
    counter: Counter,
    parent: Value,
    branch: String,
    records: Vec<Value>,
}

fn write(story: &Story) -> String {
    let mut writer = Writer {
        story,
        counter: Counter::new(story),
        parent: Value::Null,
        branch: "main".into(),
        records: Vec::new(),
    };
    for step in &story.steps {
        writer.step(step);
    }
    lines(&writer.records)
}

impl Writer<'_> {
    fn step(&mut self, step: &Step) {
        let path = |path: &str| self.story.path(path);
        match step {
            Step::User(text) => self.push("user", json!({"message": {"role": "user", "content": text}})),
            Step::Agent(text) => self.agent(json!({"type": "text", "text": text})),
            Step::Shell { command, exit, output } => self.shell(command, *exit, output),
            Step::Edit { path: file, old, new, refused } => {
                let input = json!({"file_path": path(file), "old_string": old, "new_string": new, "replace_all": false});
                match refused {
                    Some(why) => self.call(
                        "Edit",
                        input,
                        format!("<tool_use_error>{why}</tool_use_error>"),
                        true,
                        json!(format!("Error: {why}")),
                    ),
                    None => {
                        let result = json!({"filePath": path(file), "oldString": old, "newString": new, "userModified": false, "replaceAll": false});
                        self.call(
                            "Edit",
                            input,
                            format!("The file {} has been updated.", path(file)),
                            false,
                            result,
                        );
                    }
                }
            }
            Step::Create { path: file, content } => {
                let result = json!({"type": "create", "filePath": path(file), "content": content, "structuredPatch": []});
                let input = json!({"file_path": path(file), "content": content});
                self.call(
                    "Write",
                    input,
                    format!("File created successfully at: {}", path(file)),
                    false,
                    result,
                );
            }
            Step::Delete(file) => self.shell(&format!("rm {file}"), 0, ""),
            Step::Rename(from, to) => self.shell(&format!("git mv {from} {to}"), 0, ""),
            Step::Read(file, text) => {
                let result = json!({"type": "text", "file": {"filePath": path(file), "content": text}});
                self.call("Read", json!({"file_path": path(file)}), text.clone(), false, result);
            }
            Step::Search(pattern, found) => {
                let result = json!({"mode": "content", "content": found});
                self.call("Grep", json!({"pattern": pattern}), found.clone(), false, result);
            }
            Step::Plan(items) => self.plan(items),
            Step::Compact(summary) => self.compact(summary),
            Step::Undone(steps) => {
                let before = self.parent.clone();
                steps.iter().for_each(|step| self.step(step));
                self.parent = before;
            }
        }
    }

    fn shell(&mut self, command: &str, exit: i64, output: &str) {
        if let Some(branch) = command.strip_prefix("git checkout -b ") {
            branch.clone_into(&mut self.branch);
        }
        let input = json!({"command": command, "description": "Run it"});
        if exit == 0 {
            let result = json!({"stdout": output, "stderr": "", "interrupted": false, "isImage": false});
            return self.call("Bash", input, output.to_owned(), false, result);
        }
        let text = format!("Exit code {exit}\n{output}");
        self.call("Bash", input, text.clone(), true, json!(format!("Error: {text}")));
    }

    fn plan(&mut self, items: &[(String, State)]) {
        let status = |state| match state {
            State::Done => "completed",
            State::Doing => "in_progress",
            State::Open => "pending",
        };
        let todos: Vec<Value> = items
            .iter()
            .map(|(title, state)| json!({"content": title, "status": status(*state), "activeForm": title}))
            .collect();
        let result = json!({"oldTodos": [], "newTodos": todos});
        self.call(
            "TodoWrite",
            json!({"todos": todos}),
            "Todos have been modified successfully.".into(),
            false,
            result,
        );
    }

    fn compact(&mut self, summary: &str) {
        let before = self.parent.take();
        let boundary = json!({"subtype": "compact_boundary", "logicalParentUuid": before, "content": "Conversation compacted",
            "compactMetadata": {"trigger": "auto", "preTokens": 155_000, "postTokens": 4000}});
        self.push("system", boundary);
        let text = format!(
            "This session is being continued from a previous conversation that ran out of context.\n{summary}"
        );
        self.push("user", json!({"isCompactSummary": true, "isVisibleInTranscriptOnly": true, "message": {"role": "user", "content": text}}));
    }

    fn call(&mut self, name: &str, input: Value, text: String, failed: bool, detail: Value) {
        let id = format!("toolu_{:024}", self.counter.next());
        self.agent(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed});
        self.push("user", json!({"message": {"role": "user", "content": [block]}, "toolUseResult": detail}));
    }

    fn agent(&mut self, block: Value) {
        let id = format!("msg_{:024}", self.counter.next());
        let usage = json!({"input_tokens": 10, "output_tokens": 40, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 5000});
        self.push(
            "assistant",
            json!({"message": {"id": id, "type": "message", "role": "assistant", "model": "claude-opus-4-8",
            "content": [block], "stop_reason": null, "usage": usage}}),
        );
    }

    fn push(&mut self, kind: &str, more: Value) {
        let id = self.counter.id();
        let mut record = json!({"type": kind, "uuid": id, "parentUuid": self.parent, "sessionId": session(self.story),
            "timestamp": self.counter.time(), "cwd": self.story.cwd(), "gitBranch": self.branch, "version": "2.1.329",
            "isSidechain": false, "userType": "external"});
        if let (Some(record), Value::Object(more)) = (record.as_object_mut(), more) {
            record.extend(more);
        }
        self.records.push(record);
        self.parent = json!(id);
    }
}

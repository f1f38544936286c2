//! Gemini CLI: records that are replaced as a call goes on.

use serde_json::{Value, json};

use super::{Counter, Tool, diff, lines, session};
use crate::story::{State, Step, Story};

pub const TOOL: Tool = Tool {
    id: "gemini",
    name: "gemini",
    file: |story| {
        format!("tmp/{}/chats/session-2026-11-20T06-00-{}.jsonl", story.project, &session(story)[..8])
    },
    write,
};

struct Writer<'s> {
    story: &'s Story,
    counter: Counter,
    records: Vec<Value>,
}

fn write(story: &Story) -> String {
    let head = json!({"sessionId": session(story), "projectHash": "9c88", "startTime": "2026-11-20T06:00:00.000Z",
        "lastUpdated": "2026-11-20T06:00:00.000Z", "kind": "main"});
    let context =
        format!("<session_context>\n- **Workspace Directories:**\n  - {}\n</session_context>", story.cwd());
    let first = json!({"$set": {"messages": [{"id": "m0", "timestamp": "2026-11-20T06:00:00.000Z", "type": "user",
        "content": [{"text": context}]}]}});
    let mut writer = Writer { story, counter: Counter::new(story), records: vec![head, first] };
    for step in &story.steps {
        writer.step(step);
    }
    lines(&writer.records)
}

impl Writer<'_> {
    fn step(&mut self, step: &Step) {
        let path = |path: &str| self.story.path(path);
        match step {
            Step::User(text) => {
                self.push(json!({"type": "user", "content": [{"text": text}]}));
            }
            Step::Agent(text) => {
                self.push(json!({"type": "gemini", "model": "gemini-2.5-pro", "content": text, "thoughts": [], "tokens": {"input": 1500, "output": 90, "total": 1590}}));
            }
            Step::Shell { command, exit, output } => self.shell(command, *exit, output),
            Step::Edit { path: file, old, new, refused } => {
                let args = json!({"file_path": path(file), "old_string": old, "new_string": new});
                match refused {
                    Some(why) => self.call("replace", args, why, "error", json!(format!("Error: {why}"))),
                    None => {
                        let display = json!({"fileDiff": diff(old, new), "fileName": file, "filePath": path(file), "isNewFile": false});
                        self.call(
                            "replace",
                            args,
                            &format!("Successfully modified file: {} (1 replacements).", path(file)),
                            "success",
                            display,
                        );
                    }
                }
            }
            Step::Create { path: file, content } => {
                let args = json!({"file_path": path(file), "content": content});
                let display = json!({"fileDiff": diff("", content), "fileName": file, "filePath": path(file), "originalContent": "", "newContent": content, "isNewFile": true});
                self.call(
                    "write_file",
                    args,
                    &format!("Successfully created and wrote to new file: {}", path(file)),
                    "success",
                    display,
                );
            }
            Step::Delete(file) => self.shell(&format!("rm {file}"), 0, ""),
            Step::Rename(from, to) => self.shell(&format!("git mv {from} {to}"), 0, ""),
            Step::Read(file, text) => {
                self.call("read_file", json!({"file_path": path(file)}), text, "success", json!(""))
            }
            Step::Search(pattern, found) => {
                self.call("grep_search", json!({"pattern": pattern}), found, "success", json!(""))
            }
            Step::Plan(items) => self.plan(items),
            Step::Compact(_) => {}
            Step::Undone(steps) => {
                let first = format!("m{}", self.counter.count + 1);
                steps.iter().for_each(|step| self.step(step));
                self.records.push(json!({"$rewindTo": first}));
            }
        }
    }

    fn shell(&mut self, command: &str, exit: i64, output: &str) {
        let code = if exit == 0 { String::new() } else { format!("Exit Code: {exit}\n") };
        let output_or = if output.is_empty() { "(empty)" } else { output.trim_end() };
        let text = format!(
            "<untrusted_context>\nOutput: {output_or}\n{code}Process Group PGID: 5606\n</untrusted_context>"
        );
        self.call("run_shell_command", json!({"command": command}), &text, "success", json!(output));
    }

    fn plan(&mut self, items: &[(String, State)]) {
        let status = |state| match state {
            State::Done => "completed",
            State::Doing => "in_progress",
            State::Open => "pending",
        };
        let todos: Vec<Value> = items
            .iter()
            .map(|(title, state)| json!({"description": title, "status": status(*state)}))
            .collect();
        self.call(
            "write_todos",
            json!({"todos": todos}),
            "Successfully updated the todo list.",
            "success",
            json!({"todos": todos}),
        );
    }

    fn call(&mut self, name: &str, args: Value, text: &str, status: &str, display: Value) {
        let call = format!("{name}_{}", self.counter.count);
        let response = if status == "error" { json!({"error": text}) } else { json!({"output": text}) };
        let result = json!([{"functionResponse": {"id": call, "name": name, "response": response}}]);
        let first =
            self.push(json!({"type": "gemini", "model": "gemini-2.5-pro", "content": "", "thoughts": []}));
        let mut whole = first;
        whole["toolCalls"] = json!([{"id": call, "name": name, "args": args, "status": status, "result": result, "resultDisplay": display}]);
        self.records.push(whole);
        self.push(json!({"type": "user", "content": result}));
    }

    fn push(&mut self, more: Value) -> Value {
        let id = format!("m{}", self.counter.next());
        let mut record = json!({"id": id, "timestamp": self.counter.time()});
        if let (Some(record), Value::Object(more)) = (record.as_object_mut(), more) {
            record.extend(more);
        }
        self.records.push(record.clone());
        record
    }
}

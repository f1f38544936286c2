//! A session as an ATIF trajectory (version 1.7), as `baton handoff from-transcript --format atif` writes it.
//!
//! ATIF has no fields for folder, branch, exit codes, plans and changed files: they stand in `extra`, where Baton's own reader
//! finds them again. Steps without a message of a person or an agent have the source `system` and say in `extra` what they are.

use baton_model::time::Timestamp;
use baton_ops::transcript::{EventBody, EventRow, FileEdit, Role, Row, ToolCall};
use serde::Serialize;
use serde_json::{Map, Value};

const VERSION: &str = "ATIF-v1.7";

/// A run of an agent.
#[derive(Debug, Serialize)]
pub(super) struct Trajectory {
    schema_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trajectory_id: Option<String>,
    agent: Agent,
    steps: Vec<Step>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subagent_trajectories: Vec<Trajectory>,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    extra: Extra,
}

#[derive(Debug, Default, Clone, Serialize)]
struct Agent {
    name: String,
    version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_name: Option<String>,
}

#[derive(Debug, Serialize)]
struct Step {
    step_id: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<Timestamp>,
    source: Source,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation: Option<Observation>,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    extra: Extra,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Source {
    System,
    User,
    Agent,
}

#[derive(Debug, Serialize)]
struct Call {
    tool_call_id: String,
    function_name: String,
    arguments: Map<String, Value>,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    extra: Extra,
}

#[derive(Debug, Default, Serialize)]
struct Observation {
    results: Vec<CallResult>,
}

#[derive(Debug, Serialize)]
struct CallResult {
    source_call_id: String,
    content: String,
    #[serde(skip_serializing_if = "Extra::is_empty")]
    extra: Extra,
}

/// What ATIF has no field for.
#[derive(Debug, Default, Serialize)]
struct Extra {
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<StepKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    todos: Vec<Todo>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edits: Vec<FileEdit<'static>>,
}

#[derive(Debug, Serialize)]
struct Todo {
    content: String,
    status: String,
}

/// What a step of the source `system` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum StepKind {
    Compaction,
    Interrupted,
    ProviderError,
    Plan,
}

impl Extra {
    fn is_empty(&self) -> bool {
        let texts = [&self.title, &self.cwd, &self.git_branch];
        texts.iter().all(|text| text.is_none())
            && self.kind.is_none()
            && self.exit_code.is_none()
            && !self.is_error
            && self.todos.is_empty()
            && self.edits.is_empty()
    }

    fn of_kind(kind: StepKind) -> Self {
        Self { kind: Some(kind), ..Self::default() }
    }
}

/// The trajectory of a session from its events; the first of them is the session itself.
pub(super) fn of_events(events: &[Value]) -> Trajectory {
    let session = events.first().and_then(|first| serde_json::from_value::<Row>(first.clone()).ok());
    let agent = Agent {
        name: session.as_ref().map_or_else(String::new, |row| row.agent.clone()),
        version: "unknown".to_owned(),
        model_name: session.as_ref().and_then(|row| row.model.clone()),
    };
    let mut main = Trajectory::new(agent);
    if let Some(row) = session {
        main.session_id = Some(row.id);
        main.extra = Extra { title: row.title, cwd: row.cwd, git_branch: row.branch, ..Extra::default() };
    }
    for row in events.iter().skip(1).filter_map(EventRow::read) {
        main.of(row.subagent.as_deref()).take(&row);
    }
    main
}

impl Trajectory {
    fn new(agent: Agent) -> Self {
        Self {
            schema_version: VERSION,
            session_id: None,
            trajectory_id: None,
            agent,
            steps: Vec::new(),
            subagent_trajectories: Vec::new(),
            extra: Extra::default(),
        }
    }

    /// The trajectory of a sub-agent, which begins with its first event; that of the session where there is none.
    fn of(&mut self, subagent: Option<&str>) -> &mut Self {
        let Some(name) = subagent else { return self };
        let known = self.subagent_trajectories.iter().position(|one| one.agent.name == name);
        let at = known.unwrap_or_else(|| {
            let mut begun = Self::new(Agent { name: name.to_owned(), ..self.agent.clone() });
            begun.trajectory_id = Some(format!("subagent-{}", self.subagent_trajectories.len() + 1));
            self.subagent_trajectories.push(begun);
            self.subagent_trajectories.len() - 1
        });
        &mut self.subagent_trajectories[at]
    }

    fn take(&mut self, row: &EventRow<'_>) {
        match &row.body {
            EventBody::Message { role: Role::User, text } => self.step(row, Source::User, text),
            EventBody::Message { text, .. } => self.step(row, Source::Agent, text),
            EventBody::Compaction { text } => self.note(row, text, Extra::of_kind(StepKind::Compaction)),
            EventBody::Interrupted => self.note(row, "", Extra::of_kind(StepKind::Interrupted)),
            EventBody::ProviderError { text } => {
                self.note(row, text, Extra::of_kind(StepKind::ProviderError))
            }
            EventBody::Todo { items } => {
                let todo = |item: &baton_ops::transcript::TodoItem<'_>| Todo {
                    content: item.title.to_string(),
                    status: item.status.to_string(),
                };
                let todos = items.iter().map(todo).collect();
                self.note(row, "", Extra { todos, ..Extra::of_kind(StepKind::Plan) });
            }
            EventBody::ToolCall(call) => self.call(row, call),
            EventBody::Edit(edit) => self.edit(edit),
            EventBody::Other => {}
        }
    }

    fn step(&mut self, row: &EventRow<'_>, source: Source, message: &str) {
        self.steps.push(Step {
            step_id: self.steps.len() + 1,
            timestamp: row.at,
            source,
            message: message.to_owned(),
            tool_calls: Vec::new(),
            observation: None,
            extra: Extra::default(),
        });
    }

    fn note(&mut self, row: &EventRow<'_>, message: &str, extra: Extra) {
        self.step(row, Source::System, message);
        if let Some(step) = self.steps.last_mut() {
            step.extra = extra;
        }
    }

    /// A call belongs to the step in which the agent said what it does.
    fn call(&mut self, row: &EventRow<'_>, call: &ToolCall<'_>) {
        if self.steps.last().is_none_or(|step| step.source != Source::Agent) {
            self.step(row, Source::Agent, "");
        }
        let Some(step) = self.steps.last_mut() else { return };
        let id = format!("call-{}-{}", step.step_id, step.tool_calls.len() + 1);
        step.tool_calls.push(Call {
            tool_call_id: id.clone(),
            function_name: call.tool.to_string(),
            arguments: arguments(call),
            extra: Extra::default(),
        });
        if let Some(output) = &call.result {
            let is_error = call.ok == Some(false);
            let extra = Extra { exit_code: call.exit_code, is_error, ..Extra::default() };
            let result = CallResult { source_call_id: id, content: output.to_string(), extra };
            step.observation.get_or_insert_default().results.push(result);
        }
    }

    /// A change of a file belongs to the newest call that works on it.
    fn edit(&mut self, edit: &FileEdit<'_>) {
        let mut calls = self.steps.iter_mut().rev().flat_map(|step| step.tool_calls.iter_mut().rev());
        let works_on = |call: &&mut Call| {
            call.arguments.values().any(|value| value.as_str().is_some_and(|text| text.contains(&*edit.path)))
        };
        if let Some(call) = calls.find(works_on) {
            call.extra.edits.push(owned(edit));
        }
    }
}

/// What the call works on, under the name by which most tools call it. Of the other arguments the events tell nothing.
fn arguments(call: &ToolCall<'_>) -> Map<String, Value> {
    let key = match call.category.as_ref() {
        "shell" => "command",
        "edit" | "write" | "read" => "file_path",
        "search" => "pattern",
        "fetch" => "url",
        _ => "description",
    };
    let target = Some(call.target.as_ref()).filter(|target| !target.is_empty());
    target.into_iter().map(|target| (key.to_owned(), Value::from(target))).collect()
}

fn owned(edit: &FileEdit<'_>) -> FileEdit<'static> {
    let text = |text: &std::borrow::Cow<'_, str>| std::borrow::Cow::Owned(text.to_string());
    FileEdit {
        path: text(&edit.path),
        change: text(&edit.change),
        from: edit.from.as_ref().map(text),
        added: edit.added,
        removed: edit.removed,
        diff: edit.diff.as_ref().map(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn events() -> Vec<Value> {
        vec![
            json!({ "event": "session", "id": "s", "agent": "claude", "path": "x.jsonl", "cwd": "/home/you/shop",
                "model": "m", "bytes": 1, "complaints": [] }),
            json!({ "event": "message", "role": "user", "text": "Fix it", "at": "2026-11-20T11:00:00Z" }),
            json!({ "event": "message", "role": "assistant", "text": "I look." }),
            json!({ "event": "tool_call", "tool": "Edit", "category": "edit", "target": "cart.py", "ok": true,
                "exit_code": null, "result": "edited" }),
            json!({ "event": "edit", "path": "cart.py", "change": "modified", "from": null, "added": 1,
                "removed": 1, "diff": "-a\n+b" }),
            json!({ "event": "tool_call", "tool": "Bash", "category": "shell", "target": "make test", "ok": false,
                "exit_code": 2, "result": "1 failed" }),
            json!({ "event": "todo", "items": [{ "title": "Docs", "status": "pending", "id": null }] }),
            json!({ "event": "message", "role": "assistant", "text": "Looked.", "subagent": "searcher" }),
            json!({ "event": "interrupted" }),
        ]
    }

    #[test]
    fn calls_stand_in_the_step_that_announces_them_and_facts_without_a_field_in_extra() {
        let made = serde_json::to_value(of_events(&events())).expect("JSON");
        let step = &made["steps"][1];
        assert_eq!((&step["source"], &step["message"]), (&json!("agent"), &json!("I look.")));
        assert_eq!(step["tool_calls"][0]["extra"]["edits"][0]["diff"], "-a\n+b");
        assert_eq!(step["tool_calls"][1]["arguments"], json!({ "command": "make test" }));
        let result = &step["observation"]["results"][1];
        assert_eq!(result["source_call_id"], step["tool_calls"][1]["tool_call_id"]);
        assert_eq!(result["extra"], json!({ "exit_code": 2, "is_error": true }));
        assert_eq!(made["steps"][2]["extra"]["kind"], "plan");
        assert_eq!(made["steps"][3]["extra"], json!({ "kind": "interrupted" }));
        assert_eq!(made["extra"], json!({ "cwd": "/home/you/shop" }));
        assert_eq!(made["subagent_trajectories"][0]["agent"]["name"], "searcher");
        let ids: Vec<_> =
            made["steps"].as_array().into_iter().flatten().map(|step| &step["step_id"]).collect();
        assert_eq!(ids, [1, 2, 3, 4]);
    }

    #[test]
    fn what_is_written_is_read_again_as_the_same_session() {
        let file = tempfile::NamedTempFile::with_suffix(".json").expect("a file");
        serde_json::to_writer(&file, &of_events(&events())).expect("written");
        let format = baton_transcripts::detect(file.path()).expect("a format");
        let packet = baton_transcripts::summarize(file.path(), format, &Default::default());
        let packet = serde_json::to_value(packet).expect("JSON");
        assert_eq!(packet["session_id"], "s");
        assert_eq!(packet["files_modified"][0]["lines"], "+1 -1");
        assert_eq!(packet["last_failure"]["exit_code"], 2);
        assert_eq!(packet["pending_tasks"][0]["title"], "Docs");
        assert_eq!(packet["environment"]["cwd"], "/home/you/shop");
    }
}

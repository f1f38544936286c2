//! A session of OpenCode as its `import` takes it: one document.

use std::path::PathBuf;

use baton_model::refusal::Refusal;
use baton_model::time::Millis;
use baton_transcripts::TranscriptEnv;
use serde_json::{Value, json};

use crate::native::{NativeSession, NativeTarget, SessionPlaces, Step, prefixed_id};
use crate::work::{Act, OwnCall, Work};

/// The version whose form this is.
const VERSION: &str = "1.18.33";

/// Where it keeps which models were used, the last one first.
pub(super) fn last_model(env: &TranscriptEnv) -> PathBuf {
    let state = env.dir("XDG_STATE_HOME").filter(|path| path.is_absolute());
    state.unwrap_or_else(|| env.home.join(".local/state")).join("opencode/model.json")
}

/// The model that the settings name, else the one that was used last: a session names one, and goes on with it.
pub(super) fn model(settings: &str, last: &str) -> Option<String> {
    let settings: Value = settings.find('{').and_then(|at| serde_json::from_str(&settings[at..]).ok())?;
    if let Some(model) = settings["model"].as_str().filter(|model| model.contains('/')) {
        return Some(model.to_owned());
    }
    let last: Value = serde_json::from_str(last).ok()?;
    let last = &last["recent"][0];
    Some(format!("{}/{}", last["providerID"].as_str()?, last["modelID"].as_str()?))
}

/// Its own calls.
pub(super) fn calls(work: &Work) -> Option<Vec<OwnCall>> {
    let one = |name, input, output| Some(vec![work.call(name, input, output)]);
    match &work.act {
        Act::Command(line) => {
            let output = match work.failure() {
                Some(code) => format!("{}\n\n(exit code {code})", work.output),
                None => work.printed("(no output)"),
            };
            one("bash", json!({ "command": line, "description": "Runs a command" }), output)
        }
        Act::Read { path, first, lines } => {
            one("read", json!({ "filePath": path, "offset": first, "limit": lines }), work.result())
        }
        Act::Edit { path, hunks } => work.replacements(hunks, |old, new| {
            let input = json!({ "filePath": path, "oldString": old, "newString": new });
            work.call("edit", input, "Edit applied successfully.".to_owned())
        }),
        Act::Create { path, content } => {
            let input = json!({ "filePath": path, "content": content });
            one("write", input, "Wrote file successfully.".to_owned())
        }
        Act::Delete { .. } => None,
    }
}

/// Makes the ids of a document, in order.
struct Ids<'a> {
    session: &'a NativeSession,
    count: usize,
}

impl Ids<'_> {
    fn next(&mut self, prefix: &str) -> String {
        self.count += 1;
        prefixed_id(prefix, self.session.now, self.count, &self.session.new_id())
    }
}

/// The document: all that the agent says and does until the user speaks again is one message.
pub(super) fn records(session: &NativeSession) -> Vec<Value> {
    let mut ids = Ids { session, count: 0 };
    let mut messages: Vec<Value> = Vec::new();
    let mut rest = session.steps.as_slice();
    while let Some(first) = rest.first() {
        let length = match first {
            Step::User(_) => 1,
            _ => rest.iter().take_while(|step| !matches!(step, Step::User(_))).count(),
        };
        let (own, later) = rest.split_at(length);
        let at = session.now.saturating_add(i64::try_from(messages.len()).unwrap_or_default());
        let before = messages.last().map(|last| last["info"]["id"].clone());
        messages.push(message(&mut ids, own, before, at));
        rest = later;
    }
    let time = json!({ "created": session.now, "updated": session.now });
    vec![json!({
        "info": {
            "id": session.id, "slug": session.id, "projectID": "global", "directory": session.cwd(),
            "title": session.title, "version": VERSION, "time": time,
        },
        "messages": messages,
    })]
}

fn message(ids: &mut Ids<'_>, steps: &[Step], before: Option<Value>, at: Millis) -> Value {
    let session = ids.session;
    let (provider, model) =
        session.model.as_deref().and_then(|name| name.split_once('/')).unwrap_or_default();
    let id = ids.next("msg_");
    let info = match steps {
        [Step::User(_)] => json!({
            "id": id, "sessionID": session.id, "role": "user", "time": { "created": at }, "agent": "build",
            "model": { "providerID": provider, "modelID": model },
        }),
        _ => json!({
            "id": id, "sessionID": session.id, "role": "assistant", "time": { "created": at, "completed": at },
            "agent": "build", "mode": "build", "parentID": before, "cost": 0, "finish": "stop",
            "path": { "cwd": session.cwd(), "root": session.cwd() }, "providerID": provider, "modelID": model,
            "tokens": { "input": 0, "output": 0, "reasoning": 0, "cache": { "read": 0, "write": 0 } },
        }),
    };
    let mut parts = Vec::new();
    let mut is_open = false;
    for step in steps {
        // What follows a call is another request to the model.
        if !matches!(step, Step::User(_)) && !is_open {
            parts.push(json!({ "type": "step-start" }));
        }
        is_open = !matches!(step, Step::Call(_));
        parts.push(match step {
            Step::User(text) | Step::Assistant(text) => json!({ "type": "text", "text": text }),
            Step::Call(call) => tool(session, call, at),
        });
    }
    for part in &mut parts {
        part["id"] = json!(ids.next("prt_"));
        part["sessionID"] = json!(session.id);
        part["messageID"] = json!(id);
    }
    json!({ "info": info, "parts": parts })
}

fn tool(session: &NativeSession, call: &OwnCall, at: Millis) -> Value {
    let time = json!({ "start": call.at.unwrap_or(at), "end": call.at.unwrap_or(at) });
    let state = match call.ok {
        // A command that fails is a call that was completed.
        Some(false) if call.exit_code.is_none() => {
            json!({ "status": "error", "input": call.input, "error": call.output, "time": time })
        }
        _ => json!({
            "status": "completed", "input": call.input, "output": call.output, "title": call.name, "time": time,
            "metadata": call.exit_code.map_or_else(|| json!({}), |code| json!({ "exit": code })),
        }),
    };
    json!({ "type": "tool", "tool": call.name, "callID": session.call_id("call_"), "state": state })
}

pub(super) fn target(session: &NativeSession, places: &SessionPlaces<'_>) -> Result<NativeTarget, Refusal> {
    let name = format!("opencode-{}.json", session.id);
    Ok(NativeTarget { main: places.own.join(name), extra_files: Vec::new() })
}

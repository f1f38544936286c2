//! What a tool tells its hooks, in the words of each, read into one shape.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::{Deserialize as _, Serialize};
use serde_json::Value;

use super::Call;

/// The longest message of a tool that is read.
const LIMIT: u64 = 4 * 1024 * 1024;

/// The input of a hook.
#[derive(Debug, Clone, Default)]
pub(super) struct Payload {
    /// Its own id of the session.
    pub session: Option<String>,
    /// The transcript.
    pub transcript: Option<PathBuf>,
    /// Where the agent works.
    pub cwd: Option<PathBuf>,
    /// The tool's name of the event.
    name: Option<String>,
    /// Which round of a session this is, where the tool counts them.
    round: Option<i64>,
}

impl Payload {
    /// Reads one JSON document from standard input, without waiting for its end; the default if there is none within
    /// `patience`.
    pub(super) fn read(patience: Duration) -> Self {
        if std::io::stdin().is_terminal() {
            return Self::default();
        }
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let input = std::io::Read::take(std::io::stdin().lock(), LIMIT);
            let mut input = serde_json::Deserializer::from_reader(std::io::BufReader::new(input));
            _ = sender.send(Value::deserialize(&mut input).ok());
        });
        let payload = receiver.recv_timeout(patience).ok().flatten();
        payload.map(|payload| Self::of(&payload)).unwrap_or_default()
    }

    /// Takes what is known out of a tool's message.
    pub(super) fn of(payload: &Value) -> Self {
        let text = |names: &[&str]| {
            let found = names.iter().find_map(|name| payload.get(*name).and_then(Value::as_str));
            found.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let roots = ["workspacePaths", "workspace_roots"];
        let root = roots.iter().find_map(|name| payload.get(*name)?.get(0)?.as_str().map(str::to_owned));
        Self {
            session: text(&["session_id", "sessionId", "conversation_id", "conversationId", "sessionID"]),
            transcript: text(&["transcript_path", "transcriptPath"]).map(PathBuf::from),
            cwd: text(&["cwd"]).or(root).map(PathBuf::from).filter(|cwd| cwd.is_absolute()),
            name: text(&["hook_event_name", "hookEventName"]),
            round: payload.get("invocationNum").and_then(Value::as_i64),
        }
    }

    /// The payload for a detached process: only the fields that it needs.
    pub(super) fn for_detached(&self) -> impl Serialize {
        #[derive(Serialize)]
        struct Detached<'a> {
            session_id: Option<&'a str>,
            transcript_path: Option<&'a Path>,
            cwd: Option<&'a Path>,
        }
        Detached {
            session_id: self.session.as_deref(),
            transcript_path: self.transcript.as_deref(),
            cwd: self.cwd.as_deref(),
        }
    }

    /// Whether the tool says that the session has had its first round.
    pub(super) fn is_later_round(&self) -> bool {
        self.round.is_some_and(|round| round > 1)
    }

    /// The tool's name of the event; the answer has to repeat it.
    pub(super) fn event_name(&self, call: &Call) -> &str {
        let usual = if call.event == "prompt" { "UserPromptSubmit" } else { "SessionStart" };
        self.name.as_deref().unwrap_or(usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_words_of_every_tool_are_understood() {
        let claude = json!({ "session_id": "a", "transcript_path": "/t.jsonl", "cwd": "/shop", "hook_event_name": "SessionEnd" });
        let copilot = json!({ "sessionId": "a", "transcriptPath": "/t.jsonl", "cwd": "/shop" });
        let cursor =
            json!({ "conversation_id": "a", "transcript_path": "/t.jsonl", "workspace_roots": ["/shop"] });
        for input in [claude, copilot, cursor] {
            let payload = Payload::of(&input);
            assert_eq!(payload.session.as_deref(), Some("a"), "{input}");
            assert_eq!(payload.transcript, Some("/t.jsonl".into()), "{input}");
            assert_eq!(payload.cwd, Some("/shop".into()), "{input}");
        }
        assert!(Payload::of(&json!({ "invocationNum": 2, "workspacePaths": ["/shop"] })).is_later_round());
        let odd = Payload::of(&json!({ "session_id": 7, "cwd": "relative", "transcript_path": null }));
        assert_eq!((odd.session, odd.cwd, odd.transcript), (None, None, None));
        assert!(Payload::of(&json!([1])).session.is_none());
    }
}

//! Grok Build: `~/.grok/sessions/<directory, encoded>/<id>/updates.jsonl`, the updates of the Agent Client Protocol, with
//! facts about the session in `summary.json`. Where there are no updates, `chat_history.jsonl` beside them, which holds what the
//! model saw. Known from readers of others only.

mod history;
mod updates;

use std::borrow::Cow;
use std::path::Path;

use crate::event::{Event, TranscriptInfo};
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::{self, entries};
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::{heading, sidecar};

/// The format.
#[derive(Debug)]
pub struct Grok;

const ID: &str = "grok";
const UPDATES: &str = "updates.jsonl";
const HISTORY: &str = "chat_history.jsonl";

impl TranscriptReader for Grok {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        for project in entries(&env.dir_or_home("GROK_HOME", ".grok").join("sessions")) {
            for session in entries(&project.path()) {
                let file = |name| TranscriptFile::from_path(ID, &session.path().join(name));
                let updates = file(UPDATES).filter(|updates| updates.stamp.size > 0);
                updates.or_else(|| file(HISTORY)).into_iter().for_each(&mut *found);
            }
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        chunk::lines(head).take(20).any(|line| {
            let text = String::from_utf8_lossy(line);
            Json::parse(&text).is_ok_and(|json| {
                json.at_path(&["params", "update", "sessionUpdate"]).str().is_some() || history::is_row(&json)
            })
        })
    }

    fn lives_at(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == HISTORY)
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        let look = if is_history(&found.path) { history::look } else { updates::look };
        let mut header = heading::of_lines(found, look);
        if let Some(prompt) = updates::first_prompt(&found.path) {
            header.title = None;
            header.first_prompt = None;
            heading::prompt(&mut header, &prompt);
            header.title = header.first_prompt.clone();
        }
        let text = summary(&found.path);
        let about = sidecar::json(&text);
        let fact = |json: &Json<'_>| json.str().map(str::to_owned);
        header.id =
            fact(about.at_path(&["info", "id"])).or_else(|| dir_name(&found.path)).unwrap_or(header.id);
        header.cwd = fact(about.at_path(&["info", "cwd"])).or_else(|| fact(about.get("git_root_dir")));
        header.branch = fact(about.get("head_branch")).or(header.branch);
        header.created_at_ms = header.created_at_ms.or_else(|| about.get("created_at").time());
        header.title =
            about.first(&["generated_title", "session_summary"]).map(str::to_owned).or(header.title);
        header.model = about.first(&["current_model_id", "model"]).map(str::to_owned).or(header.model);
        header.subagent =
            about.get("parent_session_id").str().is_some() && about.get("session_kind").str() != Some("fork");
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        let mut emitter = EventEmitter::new(sink);
        let mut reported = false;
        let mut turns = updates::Turns::default();
        let in_history = is_history(path);
        emitter.each_line(path, &mut |emitter, json| {
            if !std::mem::replace(&mut reported, true) {
                session(emitter, path);
            }
            match in_history {
                true => history::row(emitter, json),
                false => updates::line(emitter, json, &mut turns),
            }
        });
        emitter.spend(turns.total());
        emitter.finish()
    }
}

fn summary(path: &Path) -> String {
    sidecar::text(&path.with_file_name("summary.json"))
}

/// Whether a file holds what the model saw: by its name, else by what it begins with.
fn is_history(path: &Path) -> bool {
    const HEAD: usize = 32 * 1024;
    if path.file_name().is_some_and(|name| name == HISTORY || name == UPDATES) {
        return path.file_name().is_some_and(|name| name == HISTORY);
    }
    let head = chunk::open(path).and_then(|file| chunk::head(file, HEAD)).unwrap_or_default();
    chunk::lines(&head)
        .any(|line| Json::parse(&String::from_utf8_lossy(line)).is_ok_and(|json| history::is_row(&json)))
}

/// A session goes by the name of its directory.
fn dir_name(path: &Path) -> Option<String> {
    path.file_name().filter(|name| *name == UPDATES || *name == HISTORY)?;
    path.parent()?.file_name()?.to_str().map(str::to_owned)
}

fn session(emitter: &mut EventEmitter<'_>, path: &Path) {
    let text = summary(path);
    let about = sidecar::json(&text);
    let field = |value: Option<&str>| value.map(|text| Cow::Owned(text.to_owned()));
    emitter.session(TranscriptInfo {
        id: field(about.at_path(&["info", "id"]).str()).or_else(|| dir_name(path).map(Cow::Owned)),
        cwd: field(about.at_path(&["info", "cwd"]).str().or(about.get("git_root_dir").str())),
        branch: field(about.get("head_branch").str()),
        model: field(about.first(&["current_model_id", "model"])),
        ..TranscriptInfo::default()
    });
}

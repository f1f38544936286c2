//! The full read of a session, with the list of tasks that is kept beside it.

use std::borrow::Cow;
use std::path::Path;

use super::nodes;
use crate::event::{Event, PlanItem, TranscriptInfo};
use crate::report::Report;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::plan;
use crate::shared::sidecar;
use crate::shared::words::unclean_line;

/// Reads a session, and gives out its title.
pub(super) fn read(path: &Path, title: &mut Option<String>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let text = emitter.document(path);
    let doc = Json::parse(&text).unwrap_or(Json::Null);
    *title = doc.first(&["customTitle", "title"]).map(|title| unclean_line(title, 120));
    let history = doc.get("chatHistory").items();
    let folder = history.iter().find_map(|item| nodes::folder(item.at_path(&["exchange", "request_nodes"])));
    emitter.at_ms = doc.get("created").time();
    emitter.session(TranscriptInfo {
        id: doc.get("sessionId").str().map(Cow::Borrowed),
        cwd: folder.map(Cow::Borrowed),
        model: doc.at_path(&["agentState", "modelId"]).str().map(Cow::Borrowed),
        ..TranscriptInfo::default()
    });
    for item in history {
        emitter.record(0, item.get("finishedAt").time());
        exchange(&mut emitter, item);
    }
    if let Some(root) = doc.get("rootTaskUuid").str() {
        emitter.plan(tasks(path, root));
    }
    emitter.finish()
}

/// A request with its answer.
fn exchange(emitter: &mut EventEmitter<'_>, item: &Json<'_>) {
    let exchange = item.get("exchange");
    let sent = exchange.get("request_nodes");
    if let Some(summary) = nodes::summary(sent) {
        emitter.compaction(summary);
    }
    nodes::results(emitter, sent);
    // What stands for the history is not said by the user.
    if !item.get("isHistorySummary").is_true() {
        let text = exchange.get("request_message").str().map_or_else(|| nodes::texts(sent), Cow::Borrowed);
        emitter.user(&text);
    }
    let answer = exchange.get("response_nodes");
    emitter.model(exchange.get("model_id").str());
    nodes::thoughts(emitter, answer);
    if !item.get("isHistorySummary").is_true() {
        emitter.assistant(exchange.get("response_text").str().unwrap_or_default());
    }
    nodes::calls(emitter, answer);
    emitter.spend(nodes::usage(answer));
    nodes::count_unknown(emitter, sent);
    nodes::count_unknown(emitter, answer);
}

/// The tasks below the one that stands for the session, each in a file of its own.
fn tasks(path: &Path, root: &str) -> Vec<PlanItem> {
    /// So many tasks are read.
    const MOST: usize = 200;
    let Some(folder) = path.parent().and_then(Path::parent).map(|home| home.join("task-storage/tasks"))
    else {
        return Vec::new();
    };
    let mut items = Vec::new();
    let mut open = vec![root.to_owned()];
    let mut seen = std::collections::HashSet::new();
    while let Some(id) = open.pop() {
        if seen.len() > MOST || !is_name(&id) || !seen.insert(id.clone()) {
            continue;
        }
        let text = sidecar::text(&folder.join(&id));
        let task = sidecar::json(&text);
        if id != root {
            let title = task.first(&["name", "description"]).unwrap_or_default().to_owned();
            let status = plan::status(&task.get("state").str().unwrap_or_default().to_lowercase());
            items.extend((!title.is_empty()).then_some(PlanItem { title, status, id: Some(id) }));
        }
        let below = task.get("subTasks").items().iter().rev().filter_map(Json::str);
        open.extend(below.map(str::to_owned));
    }
    items
}

/// Whether an id names a file of its own. It comes out of a file; a path in it would lead elsewhere.
fn is_name(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

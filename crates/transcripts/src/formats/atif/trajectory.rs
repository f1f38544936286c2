//! A trajectory: its steps in order, with those of its sub-agents where a result refers to them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use super::observation;
use crate::event::{Event, EventKind, TranscriptInfo, Usage};
use crate::report::Report;
use crate::shared::call;
use crate::shared::emit::EventEmitter;
use crate::shared::event_row::edit;
use crate::shared::json::Json;
use crate::shared::plan;
use crate::shared::words::unclean_line;

/// Whether a document that begins like this is a trajectory.
pub(in crate::formats) fn is_trajectory(head: &[u8]) -> bool {
    let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
    head.trim_ascii_start().starts_with(b"{") && has("\"schema_version\"") && has("\"ATIF-v1.")
}

/// Reads a trajectory, and gives out the title that a tool put into `extra`.
pub(in crate::formats) fn read(
    path: &Path,
    title: &mut Option<String>,
    sink: &mut dyn FnMut(&Event<'_>),
) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let text = emitter.document(path);
    let document = Json::parse(&text).unwrap_or(Json::Null);
    *title = document.at_path(&["extra", "title"]).str().map(|title| unclean_line(title, 120));
    let mut reader = Reader {
        emitter,
        subagents: document.get("subagent_trajectories").items(),
        read: HashSet::new(),
        metered: false,
    };
    reader.session(&document);
    reader.steps(&document);
    // A sub-agent that no result refers to is told after the steps.
    for subagent in reader.subagents {
        reader.subagent(subagent.get("trajectory_id").str().unwrap_or_default());
    }
    if !reader.metered {
        let metrics = document.get("final_metrics");
        let counts = ["total_prompt_tokens", "total_completion_tokens", "total_cached_tokens"];
        reader.emitter.spend(usage(counts.map(|key| metrics.get(key).count())));
    }
    reader.emitter.finish()
}

struct Reader<'s, 'd> {
    emitter: EventEmitter<'s>,
    /// The trajectories of sub-agents, which all stand at the root of the document.
    subagents: &'d [Json<'d>],
    /// The sub-agents that were read: one may refer to itself.
    read: HashSet<&'d str>,
    /// Whether a step told its usage.
    metered: bool,
}

impl<'d> Reader<'_, 'd> {
    fn session(&mut self, document: &'d Json<'d>) {
        let (agent, extra) = (document.get("agent"), document.get("extra"));
        let steps = document.get("steps").items();
        let fact = |text: Option<&'d str>| text.map(Cow::Borrowed);
        self.emitter.at_ms = steps.iter().find_map(|step| step.get("timestamp").time());
        self.emitter.session(TranscriptInfo {
            id: fact(document.first(&["session_id", "trajectory_id"])),
            cwd: fact(extra.first(&["cwd", "working_directory", "working_dir"])),
            branch: fact(extra.first(&["git_branch", "branch"])),
            commit: fact(extra.first(&["git_commit", "commit"])),
            model: fact(agent.get("model_name").str()),
            version: fact(agent.get("version").str()),
        });
    }

    fn steps(&mut self, trajectory: &'d Json<'d>) {
        for step in trajectory.get("steps").items() {
            self.emitter.record(0, step.get("timestamp").time());
            // Steps that were carried over from an earlier run are told there.
            if !step.get("is_copied_context").is_true() {
                self.step(step);
            }
        }
    }

    fn step(&mut self, step: &'d Json<'d>) {
        let message = step.get("message").text();
        match step.get("source").str().unwrap_or_default() {
            "user" if is_typed(step) => self.emitter.user(&message),
            "user" => {}
            "system" => note(&mut self.emitter, step.get("extra"), &message),
            "agent" => {
                self.emitter.model(step.get("model_name").str());
                self.emitter.thinking(step.get("reasoning_content").str().unwrap_or_default());
                self.emitter.assistant(&message);
                for one in step.get("tool_calls").items() {
                    let id = one.get("tool_call_id").str().unwrap_or_default();
                    let name = one.get("function_name").str().unwrap_or_default();
                    let arguments = one.get("arguments");
                    let mut call = call::call(id, name, arguments);
                    let edits: Vec<_> =
                        one.at_path(&["extra", "edits"]).items().iter().filter_map(edit).collect();
                    if !edits.is_empty() {
                        call.edits = edits;
                    }
                    self.emitter.call_with(call, arguments);
                }
            }
            name => return self.emitter.unknown_type(name),
        }
        for result in step.at_path(&["observation", "results"]).items() {
            observation::end_call(&mut self.emitter, result);
            for subagent in result.get("subagent_trajectory_ref").items() {
                self.subagent(subagent.get("trajectory_id").str().unwrap_or_default());
            }
        }
        self.spend(step.get("metrics"));
    }

    fn spend(&mut self, metrics: &Json<'_>) {
        let counts = ["prompt_tokens", "completion_tokens", "cached_tokens"];
        let usage = usage(counts.map(|key| metrics.get(key).count()));
        self.metered |= usage != Usage::default();
        self.emitter.spend(usage);
    }

    /// Tells the steps of a sub-agent once.
    fn subagent(&mut self, id: &str) {
        let mut trajectories = self.subagents.iter();
        let is_named = |one: &&Json<'_>| !id.is_empty() && one.get("trajectory_id").str() == Some(id);
        let Some(trajectory) = trajectories.find(is_named) else { return };
        if !self.read.insert(trajectory.get("trajectory_id").str().unwrap_or_default()) {
            return;
        }
        let name = trajectory.at_path(&["agent", "name"]).str().unwrap_or("sub-agent");
        let outer = self.emitter.enter(name);
        self.steps(trajectory);
        self.emitter.leave(outer);
    }
}

/// Emits what Baton's own export puts into steps of the system; the system's other steps are instructions of the tool.
fn note(emitter: &mut EventEmitter<'_>, extra: &Json<'_>, message: &str) {
    match extra.get("kind").str() {
        Some("compaction") => emitter.compaction(message),
        Some("provider_error") => emitter.provider_error(message),
        Some("interrupted") => emitter.send(EventKind::Interrupted),
        Some("plan") => emitter.plan(plan::of(extra.get("todos"))),
        _ => {}
    }
}

/// Whether a person typed the step. Devin also writes steps of its own under the user's name, and says so.
fn is_typed(step: &Json<'_>) -> bool {
    ["extra", "metadata"].iter().all(|part| !matches!(step.get(part).get("is_user_input"), Json::Bool(false)))
}

/// Usage from the counts of the prompt, of the answer, and of what was read from the cache, which the prompt's contains.
fn usage([prompt, output, cache_read]: [u64; 3]) -> Usage {
    Usage { input: prompt.saturating_sub(cache_read), cache_read, output, ..Usage::default() }
}

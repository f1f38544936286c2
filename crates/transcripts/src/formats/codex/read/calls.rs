//! Calls and what came of them.

use std::borrow::Cow;

use super::Reader;
use crate::event::{Call, EventKind, Outcome};
use crate::formats::codex::items;
use crate::formats::codex::script::{Progress, Script, printed};
use crate::shared::json::Json;
use crate::shared::tool;

impl Reader<'_> {
    pub(super) fn function_call(&mut self, item: &Json<'_>) {
        // Arguments are JSON inside a string; some tools that write rollouts put an object there.
        let raw = item.get("arguments");
        let parsed = raw.str().and_then(|text| Json::parse(text).ok());
        let args = parsed.as_ref().unwrap_or(raw);
        self.call(items::function_call(item, args));
        let plan = items::plan(args);
        if item.get("name").str() == Some("update_plan") && !plan.is_empty() {
            self.send(EventKind::Plan(plan));
        }
    }

    pub(super) fn call(&mut self, call: Call<'_>) {
        self.called.insert(call.id.clone().into_owned());
        self.send(EventKind::Call(call));
    }

    pub(super) fn custom_call(&mut self, item: &Json<'_>) {
        let Some(script) = Script::of(item, self.position, self.at_ms) else {
            return self.call(items::custom_call(item));
        };
        self.flush_script();
        self.script = Some(script);
    }

    /// The result of a call. That of a program is told where no item tells what it did, or where it failed.
    pub(super) fn output(&mut self, item: &Json<'_>) {
        let outcome = items::output(item);
        let Some(mut script) = self.script.take_if(|script| script.id == outcome.id) else {
            return self.send(EventKind::Outcome(outcome));
        };
        let progress = Progress::of(&outcome.output);
        match progress {
            Some(Progress::Running) => self.script = Some(script),
            Some(Progress::Completed) if script.has_items => {}
            _ => {
                script.has_items = false;
                self.script = Some(script);
                self.flush_script();
                let ok = progress.map(|state| state == Progress::Completed).or(outcome.ok);
                let output = Cow::Owned(printed(&outcome.output).to_owned());
                self.send(EventKind::Outcome(Outcome { ok, output, ..outcome }));
            }
        }
    }

    /// Tells of a program of which no item told.
    pub(super) fn flush_script(&mut self) {
        let Some(script) = self.script.take().filter(|script| !script.has_items) else { return };
        self.called.insert(script.id.clone());
        self.send_at(script.position, script.at_ms, EventKind::Call(script.call()));
    }

    pub(super) fn web_search(&mut self, item: &Json<'_>) {
        let id = item.first(&["call_id", "id"]).unwrap_or("web_search");
        let query =
            item.at_path(&["action", "query"]).str().or_else(|| item.get("query").str()).unwrap_or_default();
        self.send(EventKind::Call(crate::event::Call {
            id: Cow::Borrowed(id),
            name: Cow::Borrowed("web_search"),
            category: tool::category("web_search"),
            target: Cow::Borrowed(query),
            ..crate::event::Call::default()
        }));
        self.send(EventKind::Outcome(Outcome {
            id: Cow::Borrowed(id),
            ok: Some(true),
            ..Outcome::default()
        }));
    }

    /// A finished item of a call; where nothing told of the call, a program made it.
    pub(super) fn completed_call(&mut self, item: &Json<'_>) {
        let id = item.get("id").str().unwrap_or_default();
        if !self.called.contains(id)
            && let Some(call) = items::completed_call(item)
        {
            self.script.iter_mut().for_each(|script| script.has_items = true);
            self.call(call);
        }
        items::completed(item).into_iter().for_each(|outcome| self.send(EventKind::Outcome(outcome)));
    }
}

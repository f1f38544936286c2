//! What the model was sent and answered: messages of content blocks, with tool calls as blocks or, in older versions, as
//! tags in the text.

use std::borrow::Cow;

use super::xml;
use crate::event::{Call, Category, EventKind, Outcome, Usage};
use crate::shared::call;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::shell;

/// Reads messages one after the other.
#[derive(Debug, Default)]
pub(super) struct ApiMessageReader {
    /// A call by tags, which has no id: what comes back next belongs to it.
    open: Option<(String, Category)>,
    tagged: u64,
    /// Kinds of the calls by blocks.
    kinds: Vec<(String, Category)>,
}

impl ApiMessageReader {
    /// A message.
    pub(super) fn message(&mut self, emitter: &mut EventEmitter<'_>, message: &Json<'_>) {
        let model =
            message.at_path(&["modelInfo", "id"]).str().or(message.at_path(&["modelInfo", "modelId"]).str());
        emitter.model(model);
        let content = message.get("content");
        let folded = message.get("isSummary").is_true()
            || matches!(
                message.at_path(&["metadata", "kind"]).str(),
                Some("compaction" | "compaction_summary")
            );
        let user = message.get("role").str() == Some("user");
        if folded {
            return match message.at_path(&["metadata", "summary"]).str() {
                Some(summary) => emitter.send(EventKind::Compaction(Cow::Borrowed(summary))),
                None => self.folded(emitter, content, user),
            };
        }
        match (content, user) {
            (Json::Str(text), true) => self.user_text(emitter, text),
            (Json::Str(text), false) => self.assistant_text(emitter, text),
            (blocks, true) => blocks.items().iter().for_each(|block| self.user(emitter, block)),
            (blocks, false) => blocks.items().iter().for_each(|block| self.assistant(emitter, block)),
        }
        emitter.spend(usage(message.get("metrics")));
    }

    /// A message that stands for what was compacted away; the prompt before it stays as it is.
    fn folded(&mut self, emitter: &mut EventEmitter<'_>, content: &Json<'_>, user: bool) {
        let whole = content.text();
        let notice = content.items().iter().filter_map(|block| block.get("text").str());
        let (notices, own): (Vec<&str>, Vec<&str>) =
            notice.partition(|text| text.contains("<SYSTEM_NOTICE>"));
        if user && !notices.is_empty() {
            own.iter().for_each(|text| self.user_text(emitter, text));
        }
        let summary = if notices.is_empty() { whole.into_owned() } else { notices.join("\n") };
        let summary = summary.replace("<SYSTEM_NOTICE>", "").replace("</SYSTEM_NOTICE>", "");
        emitter.send(EventKind::Compaction(Cow::Borrowed(summary.trim())));
    }

    fn user(&mut self, emitter: &mut EventEmitter<'_>, block: &Json<'_>) {
        match block.get("type").str() {
            Some("text") => self.user_text(emitter, block.get("text").str().unwrap_or_default()),
            Some("tool_result") => self.result(emitter, block),
            _ => {}
        }
    }

    fn user_text(&mut self, emitter: &mut EventEmitter<'_>, text: &str) {
        if let Some((id, category)) = self.open.take() {
            if !is_answer(text) {
                self.open = Some((id, category));
            } else {
                // `[tool for 'target'] Result:` may stand in a block of its own.
                let body = xml::result_body(text);
                if body.trim().is_empty() {
                    self.open = Some((id, category));
                } else {
                    emitter.outcome(outcome(&id, &category, body, false));
                }
                return xml::user_texts(text, false).iter().for_each(|message| emitter.user(message));
            }
        }
        xml::user_texts(text, true).iter().for_each(|message| emitter.user(message));
    }

    fn assistant(&mut self, emitter: &mut EventEmitter<'_>, block: &Json<'_>) {
        match block.get("type").str() {
            Some("text") => self.assistant_text(emitter, block.get("text").str().unwrap_or_default()),
            Some("thinking" | "reasoning") => {
                emitter.thinking(block.first(&["thinking", "text", "reasoning"]).unwrap_or_default())
            }
            Some("tool_use") => {
                let (id, input) = (block.get("id").str().unwrap_or_default(), block.get("input"));
                self.call(emitter, id, block.get("name").str().unwrap_or_default(), input);
            }
            _ => {}
        }
    }

    fn assistant_text(&mut self, emitter: &mut EventEmitter<'_>, text: &str) {
        let (message, tools) = xml::split(text);
        emitter.assistant(&message);
        for (name, fields) in tools {
            self.tagged += 1;
            let id = format!("tag-{}", self.tagged);
            let input = Json::Obj(fields);
            let kind = self.call(emitter, &id, name, &input);
            self.open = kind.map(|kind| (id, kind));
        }
    }

    /// A call; what a tool only says to the user is said.
    fn call(
        &mut self,
        emitter: &mut EventEmitter<'_>,
        id: &str,
        name: &str,
        input: &Json<'_>,
    ) -> Option<Category> {
        if let Some(text) = speech(name, input) {
            emitter.assistant(text);
            return None;
        }
        let call = call_of(id, name, input);
        let kind = call.category.clone();
        self.kinds.push((id.to_owned(), kind.clone()));
        emitter.call_with(call, input);
        for list in ["task_progress", "todos"] {
            emitter.plan(crate::shared::plan::checklist(input.get(list).str().unwrap_or_default()));
        }
        Some(kind)
    }

    fn result(&mut self, emitter: &mut EventEmitter<'_>, block: &Json<'_>) {
        let id = block.get("tool_use_id").str().unwrap_or_default();
        let kind = self.kinds.iter().rev().find(|(known, _)| known == id).map(|(_, kind)| kind.clone());
        let content = block.get("content");
        let text = content.text();
        // The newer tools answer with objects, in a text or as they are.
        let parsed = text.trim_start().starts_with(['{', '[']).then(|| Json::parse(&text).ok()).flatten();
        let answer = parsed.as_ref().unwrap_or(content);
        let kind = kind.unwrap_or_default();
        match answers(answer) {
            Some((ok, output)) => {
                let exit_code = (kind == Category::Shell).then(|| shell::told_exit(&output)).flatten();
                let ok = exit_code.map_or(ok && !block.get("is_error").is_true(), |code| code == 0);
                let id = Cow::Borrowed(id);
                emitter.outcome(Outcome {
                    id,
                    ok: Some(ok),
                    exit_code,
                    output: Cow::Owned(output),
                    edits: Vec::new(),
                });
            }
            None => {
                emitter.outcome(outcome(id, &kind, xml::result_body(&text), block.get("is_error").is_true()));
                xml::user_texts(&text, false).iter().for_each(|message| emitter.user(message));
            }
        }
    }
}

/// What is a tool call by name, but only speaks.
fn speech<'a>(name: &str, input: &'a Json<'a>) -> Option<&'a str> {
    match name {
        "attempt_completion" => input.get("result").str(),
        "ask_followup_question" | "ask_question" => input.get("question").str(),
        "plan_mode_respond" | "plan_mode_response" => input.get("response").str(),
        _ => None,
    }
}

fn call_of<'a>(id: &'a str, name: &'a str, input: &'a Json<'a>) -> Call<'a> {
    if name == "use_mcp_tool" {
        let server = input.get("server_name").str().unwrap_or_default();
        let tool = input.get("tool_name").str().unwrap_or_default();
        return Call {
            id: Cow::Borrowed(id),
            name: Cow::Owned(format!("mcp__{server}__{tool}")),
            category: Category::Mcp(server.to_owned()),
            target: Cow::Borrowed(input.get("arguments").str().unwrap_or_default()),
            ..Call::default()
        };
    }
    call::call(id, name, input)
}

/// `{query, result, success, error}` or a list of them: whether all went well, and what they say.
fn answers(answer: &Json<'_>) -> Option<(bool, String)> {
    let one = [answer];
    let all: Vec<&Json<'_>> = match answer {
        Json::Obj(_) => one.to_vec(),
        _ => answer.items().iter().collect(),
    };
    let answers = !all.is_empty() && all.iter().all(|one| matches!(one.get("success"), Json::Bool(_)));
    let text = |one: &&Json<'_>| one.first(&["error", "result", "output"]).unwrap_or_default().to_owned();
    answers.then(|| {
        let ok = all.iter().all(|one| one.get("success").is_true());
        (ok, all.iter().map(text).collect::<Vec<_>>().join("\n"))
    })
}

fn outcome<'a>(id: &'a str, category: &Category, text: &'a str, failed: bool) -> Outcome<'a> {
    let refused = failed || xml::is_failure(text);
    let exit_code = if *category == Category::Shell { shell::told_exit(text) } else { None };
    let ok = match (exit_code, category) {
        (Some(code), _) => Some(code == 0),
        _ if refused => Some(false),
        (None, Category::Shell) => None,
        _ => Some(true),
    };
    Outcome { id: Cow::Borrowed(id), ok, exit_code, output: Cow::Borrowed(text), edits: Vec::new() }
}

/// Whether text that is sent to the model answers a call and does not only describe the surroundings.
fn is_answer(text: &str) -> bool {
    !text.trim_start().starts_with("<environment_details>")
}

fn usage(metrics: &Json<'_>) -> Usage {
    Usage {
        input: metrics.get("inputTokens").count().saturating_sub(metrics.get("cacheReadTokens").count()),
        cache_read: metrics.get("cacheReadTokens").count(),
        cache_write: metrics.get("cacheWriteTokens").count(),
        output: metrics.get("outputTokens").count(),
    }
}

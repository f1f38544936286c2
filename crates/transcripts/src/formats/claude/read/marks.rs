//! Texts that the tool wraps in elements of its own: slash commands, commands that the user ran, ends of what ran in the background.

use std::borrow::Cow;

use super::Reader;
use crate::event::{Call, Category, EventKind, Outcome, SourcePosition, TYPED_COMMAND};
use crate::formats::claude::line::{self, slash_command};
use crate::shared::json::Json;

impl Reader<'_> {
    /// A line of the tool's own. Newer versions write what the user gave as a command into one, in place of a user's line.
    pub(super) fn system(&mut self, json: &Json<'_>, place: SourcePosition) {
        match json.get("subtype").str() {
            Some("local_command") if !json.get("isMeta").is_true() => {
                let text = json.get("content").text();
                self.marked(&text, json, place);
            }
            Some(name) => self.unknown_part("system", name, line::SYSTEM_LINES),
            None => {}
        }
    }

    /// Counts a part whose type is not among the known ones.
    pub(super) fn unknown_part(&mut self, record: &str, name: &str, known: &[&str]) {
        if !known.contains(&name) {
            self.out.complaints.add_unknown_part(record, name);
        }
    }

    /// Takes a text that begins with an element of the tool's; whether it was one.
    pub(super) fn marked(&mut self, text: &str, json: &Json<'_>, place: SourcePosition) -> bool {
        if let Some(command) = slash_command(text) {
            self.send(json, place, EventKind::User(Cow::Owned(command)));
        } else if let Some(command) = line::typed_command(text) {
            self.typed_command(json, place, command);
        } else if let Some((code, output)) = line::typed_output(text) {
            let id = self.typed.take();
            id.into_iter().for_each(|id| self.late_outcome(json, place, &id, code, None, &output));
        } else if let Some(end) = line::background_end(text) {
            let known = self.background.iter().position(|(task, _)| task == end.task);
            let begun = known.and_then(|at| self.background.remove(at)).map(|(_, call)| call);
            if let Some(id) = end.call.map(str::to_owned).or(begun) {
                self.late_outcome(json, place, &id, end.code, end.ok, end.summary);
            }
        } else {
            return false;
        }
        true
    }

    fn typed_command(&mut self, json: &Json<'_>, place: SourcePosition, command: &str) {
        let id = format!("typed-{}", place.line);
        self.send(
            json,
            place,
            EventKind::Call(Call {
                id: Cow::Borrowed(&id),
                name: Cow::Borrowed(TYPED_COMMAND),
                category: Category::Shell,
                target: Cow::Borrowed(command),
                ..Call::default()
            }),
        );
        self.typed = Some(id);
    }

    /// The end of something whose result the tool did not write as a result.
    fn late_outcome(
        &mut self,
        json: &Json<'_>,
        position: SourcePosition,
        id: &str,
        code: Option<i64>,
        ok: Option<bool>,
        output: &str,
    ) {
        self.send(
            json,
            position,
            EventKind::Outcome(Outcome {
                id: Cow::Borrowed(id),
                ok: code.map(|code| code == 0).or(ok),
                exit_code: code,
                output: Cow::Borrowed(output),
                edits: Vec::new(),
            }),
        );
    }
}

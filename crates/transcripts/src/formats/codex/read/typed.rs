//! Messages that hold calls: of another agent's session, and commands that the user ran.

use std::borrow::Cow;

use super::Reader;
use crate::event::{Call, Category, EventKind, Outcome, TYPED_COMMAND};
use crate::formats::codex::imported::{self, Piece};
use crate::formats::codex::line;
use crate::shared::json::Json;
use crate::shared::{call, shell, typed};

impl Reader<'_> {
    /// A message of another agent's session: its calls are told as calls, in the words of the tool that made them.
    pub(super) fn imported(&mut self, typed: &str, by_user: bool) {
        for (nth, piece) in imported::pieces(typed).into_iter().enumerate() {
            match piece {
                Piece::Words(words) if by_user => {
                    line::own_words(words).into_iter().for_each(|own| self.send(EventKind::User(own.into())));
                }
                Piece::Words(words) => self.send(EventKind::Assistant(words.into())),
                Piece::Call { name, args } => {
                    let Ok(args) = Json::parse(&args) else { continue };
                    let id = format!("imported-{}/{nth}", self.position.line);
                    self.send(EventKind::Call(call::call(&id, name, &args)));
                    self.waiting.push_back(id.clone());
                }
                Piece::Result { failed, text } => {
                    let Some(id) = self.waiting.pop_front() else { continue };
                    let (code, output) = shell::split_exit_code(text);
                    self.send(EventKind::Outcome(Outcome {
                        id: Cow::Owned(id),
                        ok: Some(!failed),
                        exit_code: code.filter(|_| failed),
                        output: output.into(),
                        edits: Vec::new(),
                    }));
                }
            }
        }
    }

    /// A command that the user ran, which stands in a message with what came of it.
    pub(super) fn typed(&mut self, content: &Json<'_>) {
        let text = content.text();
        let Some(typed) = typed::in_message(&text) else { return };
        let id = format!("typed-{}", self.position.line);
        self.send(EventKind::Call(Call {
            id: Cow::Borrowed(&id),
            name: Cow::Borrowed(TYPED_COMMAND),
            category: Category::Shell,
            target: Cow::Borrowed(typed.command),
            ..Call::default()
        }));
        self.send(EventKind::Outcome(Outcome {
            id: Cow::Borrowed(&id),
            ok: typed.code.map(|code| code == 0),
            exit_code: typed.code,
            output: Cow::Borrowed(typed.output),
            edits: Vec::new(),
        }));
    }
}

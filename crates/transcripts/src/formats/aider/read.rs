//! The full read of a chat.

use std::borrow::Cow;
use std::path::Path;

use super::{chats, edits};
use crate::event::{Call, Category, Event, EventKind, Outcome, TYPED_COMMAND, TranscriptInfo, Usage};
use crate::report::Report;
use crate::shared::emit::EventEmitter;
use crate::shared::shell;
use crate::shared::{json_file, time};

/// A fence that is not closed within so many lines is none.
const MAX_FENCE: usize = 5000;
/// So much of the last answers is kept to look their changes up.
const MAX_ANSWER: usize = 1024 * 1024;

/// Reads a chat: of this start, or the last.
pub(super) fn read(path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut reader = Reader {
        emitter: EventEmitter::new(sink),
        user: Vec::new(),
        agent: Vec::new(),
        answer: String::new(),
        open: None,
        calls: 0,
    };
    match json_file::text(path) {
        Ok(text) => reader.chat(path, &chats::lines(&text, key)),
        Err(fault) => reader.emitter.complain(fault),
    }
    reader.emitter.finish()
}

struct Reader<'s> {
    emitter: EventEmitter<'s>,
    /// What the user and the agent are saying, with the lines.
    user: Vec<(u64, String)>,
    agent: Vec<(u64, String)>,
    /// What the agent said since the last request.
    answer: String,
    /// The command that runs, and what it said.
    open: Option<(String, Vec<String>)>,
    calls: u64,
}

impl Reader<'_> {
    fn chat(&mut self, path: &Path, lines: &[(u64, &str)]) {
        let mut closed_at = 0;
        for (at, (number, line)) in lines.iter().enumerate() {
            self.emitter.line(*number, line.len());
            if at == 0 {
                self.begin(path, line);
            }
            // Marks inside of a code block are no marks.
            if at > closed_at || at == 0 {
                closed_at = fence(&lines[at..]).map_or(at, |length| at + length);
            }
            match line {
                line if at < closed_at => self.agent_line(*number, line),
                line if chats::start(line).is_some() => {}
                line if line.starts_with("####") => self.user_line(*number, line),
                line if line.starts_with("> ") || *line == ">" => self.tool_line(line[1..].trim()),
                line => self.agent_line(*number, line),
            }
        }
        self.flush();
        self.close();
    }

    fn begin(&mut self, path: &Path, first: &str) {
        let start = chats::start(first);
        self.emitter.at_ms = start.and_then(time::lenient);
        let own =
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(".aider"));
        let cwd = path.parent().filter(|_| own).map(|folder| folder.to_string_lossy().into_owned());
        let (id, cwd) = (start.map(|start| Cow::Owned(chats::id(start))), cwd.map(Cow::Owned));
        self.emitter.session(TranscriptInfo { id, cwd, ..TranscriptInfo::default() });
    }

    fn user_line(&mut self, number: u64, line: &str) {
        self.flush_agent();
        let text = line.trim_start_matches('#').strip_prefix(' ').unwrap_or_default().trim_end();
        self.user.push((number, if text == "<blank>" { String::new() } else { text.to_owned() }));
    }

    fn agent_line(&mut self, number: u64, line: &str) {
        self.flush_user();
        if !line.trim().is_empty() {
            self.close();
        }
        if !line.trim().is_empty() || !self.agent.is_empty() {
            self.agent.push((number, line.to_owned()));
        }
    }

    fn flush(&mut self) {
        self.flush_user();
        self.flush_agent();
    }

    fn flush_agent(&mut self) {
        let Some((number, text)) = take_text(&mut self.agent) else { return };
        self.emitter.line(number, 0);
        self.emitter.assistant(text.trim());
        if self.answer.len() < MAX_ANSWER {
            self.answer.push_str(&text);
            self.answer.push('\n');
        }
    }

    fn flush_user(&mut self) {
        let Some((number, text)) = take_text(&mut self.user) else { return };
        self.close();
        self.answer.clear();
        self.emitter.line(number, 0);
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word {
            "/run" | "/test" if !rest.is_empty() => self.run(TYPED_COMMAND, rest.trim()),
            "/ask" | "/code" | "/architect" | "/context" => self.emitter.user(rest.trim()),
            _ if word.starts_with('!') => self.run(TYPED_COMMAND, text.trim_start_matches('!').trim()),
            // Any other order is for the tool and not for the agent; a path is no order.
            _ if word.starts_with('/') && !word[1..].contains('/') => {}
            _ => self.emitter.user(text),
        }
    }

    /// A line of the tool.
    fn tool_line(&mut self, line: &str) {
        self.flush();
        if let Some(path) = line.strip_prefix("Applied edit to ") {
            return self.edited(path.trim());
        }
        if let Some(command) = line.strip_prefix("Running ") {
            self.close();
            return self.run("run", command.trim());
        }
        let asks = line.starts_with("Add ") && line.contains("command output to the chat");
        if let Some((_, output)) = self.open.as_mut().filter(|_| !asks) {
            output.push(line.to_owned());
        }
        let session = TranscriptInfo::default();
        if let Some(rest) = line.strip_prefix("Commit ") {
            let commit =
                rest.split(' ').next().filter(|hash| hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
            self.emitter.session(TranscriptInfo { commit: commit.map(Cow::Borrowed), ..session });
        } else if let Some(model) = line.strip_prefix("Main model: ").or_else(|| line.strip_prefix("Model: "))
        {
            self.emitter.model(model.split(' ').next());
        } else if let Some(version) = line.strip_prefix("Aider v") {
            self.emitter.session(TranscriptInfo { version: Some(Cow::Borrowed(version)), ..session });
        } else if let Some(rest) = line.strip_prefix("Tokens: ") {
            self.emitter.spend(usage(rest));
        } else if line.starts_with("^C") {
            self.emitter.send(EventKind::Interrupted);
        }
    }

    fn edited(&mut self, path: &str) {
        let edit = edits::of(&self.answer, path);
        let id = self.begin_call("edit", Category::Edit, path, vec![edit]);
        let id = Cow::Borrowed(id.as_str());
        self.emitter.outcome(Outcome { id, ok: Some(true), ..Outcome::default() });
    }

    fn run(&mut self, name: &str, command: &str) {
        let id = self.begin_call(name, Category::Shell, command, Vec::new());
        self.open = Some((id, Vec::new()));
    }

    fn begin_call(
        &mut self,
        name: &str,
        category: Category,
        target: &str,
        edits: Vec<crate::event::Edit>,
    ) -> String {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        let (name, target) = (Cow::Borrowed(name), Cow::Borrowed(target));
        self.emitter.send(EventKind::Call(Call {
            id: Cow::Borrowed(&id),
            name,
            category,
            target,
            edits,
            ..Call::default()
        }));
        id
    }

    /// Ends the open command. Its exit code is known only if the output contains it.
    fn close(&mut self) {
        let Some((id, output)) = self.open.take() else { return };
        let output = output.join("\n");
        let exit_code = shell::told_exit(&output);
        let ok = exit_code.map(|code| code == 0);
        self.emitter.outcome(Outcome {
            id: Cow::Owned(id),
            ok,
            exit_code,
            output: Cow::Owned(output),
            ..Outcome::default()
        });
    }
}

/// The lines as one text, and the number of the first.
fn take_text(lines: &mut Vec<(u64, String)>) -> Option<(u64, String)> {
    let lines = std::mem::take(lines);
    let first = lines.first()?.0;
    Some((first, lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")))
}

/// How many lines a code block has that begins with the first of these, if it does and is closed.
fn fence(lines: &[(u64, &str)]) -> Option<usize> {
    let (_, first) = lines.first().filter(|(_, line)| line.trim_start().starts_with("```"))?;
    let ticks = first.trim_start().bytes().take_while(|byte| *byte == b'`').count();
    let rest = lines.iter().take(MAX_FENCE).enumerate().skip(1);
    let mut rest =
        rest.take_while(|(_, (_, line))| !line.starts_with("> Tokens: ") && chats::start(line).is_none());
    let closes = |line: &str| line.trim().len() >= ticks && line.trim().bytes().all(|byte| byte == b'`');
    rest.find(|(_, (_, line))| closes(line)).map(|(at, _)| at + 1)
}

/// `2.1k sent, 1.0k cache hit, 120 received. Cost: …`
fn usage(text: &str) -> Usage {
    let amount = |part: &str| -> Option<u64> {
        let word = part.split_whitespace().next()?;
        let (number, factor) = match word.strip_suffix(['k', 'M']) {
            Some(number) if word.ends_with('M') => (number, 1e6),
            Some(number) => (number, 1e3),
            None => (word, 1.0),
        };
        let value = number.replace(',', "").parse::<f64>().ok()? * factor;
        (0.0..1e15).contains(&value).then_some(value.round() as u64)
    };
    let counts = text.split(". ").next().unwrap_or(text).trim_end_matches('.');
    let part = |name: &str| counts.split(", ").find(|part| part.contains(name)).and_then(amount).unwrap_or(0);
    Usage {
        input: part("sent"),
        cache_read: part("cache hit"),
        cache_write: part("cache write"),
        output: part("received"),
    }
}

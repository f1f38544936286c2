//! A conversation in its database: a row for each step, packed as a protocol buffer. Its fields have no public schema; these numbers
//! are those that readers of others found in the program. What a checkpoint says is not among them.

use std::borrow::Cow;
use std::path::Path;

use super::{ID, begin, prompt, tasks, workspace_in};
use crate::event::{TranscriptInfo, Usage};
use crate::formats::antigravity::wire::Message;
use crate::header::{Header, TranscriptFile};
use crate::report::kind;
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::heading;
use crate::shared::json::Json;
use crate::sqlite::{self, Db, Fault, Select};

/// Types of steps that say nothing of the conversation: checkpoints, notices, what was read before.
const SILENT: &[u64] = &[23, 90, 98, 101];
const DONE: u64 = 3;
const CANCELED: u64 = 6;
const FAILED: u64 = 7;

/// Fields of a step.
mod step {
    pub(super) const TYPE: u64 = 1;
    pub(super) const STATUS: u64 = 4;
    pub(super) const METADATA: u64 = 5;
    pub(super) const USER_INPUT: u64 = 19;
    pub(super) const PLANNER_RESPONSE: u64 = 20;
    pub(super) const ERROR_MESSAGE: u64 = 24;
    pub(super) const RUN_COMMAND: u64 = 28;
    pub(super) const ERROR: u64 = 31;
    /// Results of other tools, each with the field of its text.
    pub(super) const RESULTS: &[(u64, u64)] = &[(13, 3), (14, 4), (42, 5), (47, 3)];
}

/// A step with what its row says beside it.
struct Step<'b> {
    message: Message<'b>,
    kind: u64,
    at_ms: Option<i64>,
}

impl<'b> Step<'b> {
    fn of(bytes: &'b [u8], kind: Option<i64>) -> Self {
        let message = Message::new(bytes);
        let own = message.number(step::TYPE);
        let kind = if own == 0 { kind.and_then(|kind| kind.try_into().ok()).unwrap_or(0) } else { own };
        let time = message.at(&[step::METADATA, 1]);
        let at_ms = i64::try_from(time.number(1)).ok().and_then(|seconds| seconds.checked_mul(1000));
        let at_ms =
            at_ms.filter(|ms| *ms > 0).map(|ms| ms + i64::try_from(time.number(2) / 1_000_000).unwrap_or(0));
        Self { message, kind, at_ms }
    }

    /// What the user said in it.
    fn prompt(&self) -> Option<String> {
        let input = self.message.get(step::USER_INPUT)?;
        let pieces: Vec<Cow<'_, str>> = input.all(3).map(|piece| piece.text(1)).collect();
        let text = input.first(&[1, 2]);
        let text = if text.is_empty() { Cow::Owned(pieces.join("\n")) } else { text };
        Some(prompt(&text).into_owned()).filter(|text| !text.is_empty())
    }

    fn metadata(&self) -> Message<'b> {
        self.message.at(&[step::METADATA])
    }
}

/// Whether a file is a database, by its name.
pub(super) fn is_one(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "db")
}

/// A conversation goes by the name of its file.
fn id(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()
}

fn steps(db: &Db, each: &mut dyn FnMut(Option<Vec<u8>>, Option<i64>) -> bool) -> Result<(), Fault> {
    let select = Select { table: "steps", columns: &["step_payload", "step_type"], tail: "ORDER BY idx" };
    db.each(select, &[], &mut |row| each(row.bytes(0), row.int(1)))
}

/// The header of a conversation.
pub(super) fn header(found: &TranscriptFile) -> Header {
    let mut header = sqlite::header(found, |db, header| {
        steps(db, &mut |bytes, kind| {
            let bytes = bytes.unwrap_or_default();
            let step = Step::of(&bytes, kind);
            header.created_at_ms = header.created_at_ms.or(step.at_ms);
            header.empty &= step.message.get(step::PLANNER_RESPONSE).is_none();
            step.prompt().into_iter().for_each(|prompt| {
                header.empty = false;
                header.set_first_prompt(&prompt);
            });
            header.first_prompt.is_none()
        })?;
        header.cwd = workspace(db, &found.path);
        header.model = generations(db)?.1;
        Ok(())
    });
    header.id = id(&found.path).map_or_else(|| heading::stem(found), str::to_owned);
    header.tool_id = ID.to_owned();
    header
}

/// Reads a conversation; a key is its name.
pub(super) fn read(emitter: &mut EventEmitter<'_>, path: &Path, key: Option<&str>) {
    if key.is_some_and(|key| id(path) != Some(key)) {
        return;
    }
    let done = sqlite::open(path).and_then(|db| all(emitter, &db, path));
    if let Err(fault) = done {
        emitter.complain(fault.kind());
    }
}

fn all(emitter: &mut EventEmitter<'_>, db: &Db, path: &Path) -> Result<(), Fault> {
    let (used, model) = generations(db)?;
    let cwd = workspace(db, path);
    let mut known = Some(TranscriptInfo {
        id: id(path).map(|id| Cow::Owned(id.to_owned())),
        cwd: cwd.map(Cow::Owned),
        model: model.map(Cow::Owned),
        ..TranscriptInfo::default()
    });
    let mut placed = known.as_ref().is_some_and(|known| known.cwd.is_some());
    let mut counted = false;
    steps(db, &mut |bytes, kind| {
        let bytes = bytes.unwrap_or_default();
        let step = Step::of(&bytes, kind);
        emitter.record(bytes.len(), step.at_ms);
        known.take().into_iter().for_each(|known| emitter.session(known));
        if bytes.is_empty() || !step.message.is_whole() {
            emitter.complain(kind::BAD_RECORD);
        }
        let usage = usage(step.metadata().at(&[9]));
        counted |= usage != Usage::default();
        emit(emitter, &step, &mut placed);
        emitter.spend(usage);
        true
    })?;
    if !counted {
        emitter.spend(used);
    }
    let home = path.parent().and_then(Path::parent);
    if let Some((home, id)) = home.zip(id(path)) {
        tasks(emitter, &home.join("brain").join(id));
    }
    Ok(())
}

fn emit(emitter: &mut EventEmitter<'_>, step: &Step<'_>, placed: &mut bool) {
    let message = step.message;
    emitter.model(Some(&*step.metadata().at(&[24]).first(&[20, 8])).filter(|name| !name.is_empty()));
    if message.get(step::USER_INPUT).is_some() {
        step.prompt().into_iter().for_each(|prompt| emitter.user(&prompt));
    } else if let Some(answer) = message.get(step::PLANNER_RESPONSE) {
        emitter.thinking(&answer.text(3));
        emitter.assistant(&answer.text(1));
        for (at, one) in answer.all(7).enumerate() {
            let given = one.text(1);
            let id =
                if given.is_empty() { format!("step {}/{at}", emitter.position.line).into() } else { given };
            let text = one.text(3);
            let args = Json::parse(&text).unwrap_or(Json::Null);
            begin(emitter, &id, &one.text(2), &args, placed);
        }
    } else if let Some(error) = message.get(step::ERROR_MESSAGE) {
        emitter.provider_error(&error.at(&[3]).first(&[1, 2, 3]));
    } else if let Some(call) = step.metadata().get(4) {
        end(emitter, message, &call.text(1));
    } else if !SILENT.contains(&step.kind) && !message.bytes().is_empty() {
        emitter.unknown_type(&format!("step {}", step.kind));
    }
}

/// The step that a call was: its result.
fn end(emitter: &mut EventEmitter<'_>, message: Message<'_>, id: &str) {
    let ok = match message.number(step::STATUS) {
        DONE => true,
        CANCELED | FAILED => false,
        _ => return,
    };
    let waiting = emitter.waiting().map(|open| open.id.clone()).unwrap_or_default();
    let id = if id.is_empty() { &waiting } else { id };
    let command = message.get(step::RUN_COMMAND);
    let texts = step::RESULTS.iter().map(|(result, text)| message.at(&[*result]).text(*text));
    let error = message.at(&[step::ERROR]).first(&[1, 2, 3]);
    let output = match command {
        Some(command) => {
            let both = command.at(&[21]).first(&[1, 2]);
            if both.is_empty() { command.first(&[4, 5]) } else { both }
        }
        None => texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default(),
    };
    let output = if output.is_empty() { error } else { output };
    // A code of 0 is not written.
    let code = command.filter(|_| ok).map(|command| i64::from_ne_bytes(command.number(6).to_ne_bytes()));
    emitter.end_call(ToolResult { id, ok: Some(ok), code, output, ..ToolResult::default() });
}

fn usage(usage: Message<'_>) -> Usage {
    Usage {
        input: usage.number(2),
        output: usage.number(3),
        cache_write: usage.number(4),
        cache_read: usage.number(5),
    }
}

/// What the answers used, and the model of the last, as another table tells it.
fn generations(db: &Db) -> Result<(Usage, Option<String>), Fault> {
    let select = Select { table: "gen_metadata", columns: &["data"], tail: "ORDER BY idx" };
    let (mut total, mut model) = (Usage::default(), None);
    db.each(select, &[], &mut |row| {
        let bytes = row.bytes(0).unwrap_or_default();
        let one = Message::new(&bytes).at(&[1]);
        total = total.plus(usage(one.at(&[4])));
        let name = one.text(19);
        let is_name = !name.is_empty() && name.len() <= 64 && !name.chars().any(char::is_control);
        model = Some(name.into_owned()).filter(|_| is_name).or(model.take());
        true
    })?;
    Ok((total, model))
}

/// The working directory: as the history of all prompts has it, else the first address of a folder in what is known of the whole.
fn workspace(db: &Db, path: &Path) -> Option<String> {
    let home = path.parent().and_then(Path::parent);
    let history = home.zip(id(path)).and_then(|(home, id)| workspace_in(home, id));
    history.or_else(|| {
        let columns = &["data", "metadata", "blob", "value"];
        let select = Select { table: "trajectory_metadata_blob", columns, tail: "" };
        let found = db
            .first(select, &[], &mut |row| (0..columns.len()).find_map(|column| folder(&row.bytes(column)?)));
        found.ok().flatten()
    })
}

/// The first `file://` address in a message, wherever it stands; its length stands before it.
fn folder(bytes: &[u8]) -> Option<String> {
    const SCHEME: &[u8] = b"file://";
    let at = memchr::memmem::find(bytes, SCHEME)?;
    let length = usize::from(*bytes.get(at.checked_sub(1)?)?);
    let text = std::str::from_utf8(bytes.get(at..at + length)?).ok()?;
    let folder = crate::shared::uri::path(text);
    Some(folder).filter(|folder| !folder.is_empty() && !folder.chars().any(char::is_control))
}

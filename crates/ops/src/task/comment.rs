//! `task_comment`: say something about a task.

use baton_model::delta::Kind;
use baton_model::refusal::Refusal;
use baton_model::task::Task;
use baton_model::task::view::Comment as CommentView;
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use task::comment;

use super::beads_renames::successor;
use super::write::{update_without_delta, write};
use super::{by_id, by_id_to_change};
use crate::handoff::{EndedHandoff, late_close, tracker};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation};

/// The longest comment.
const MAX_BYTES: usize = 64 * 1024;

/// Comments on a task.
pub struct Comment;

/// Input of `task_comment`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that says it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Task id or a unique prefix of one.
    pub id: String,
    /// What is said; at most 64 KiB.
    pub text: String,
}

/// Answer of `task_comment`: the comment.
#[derive(Serialize, Deserialize)]
pub struct CommentOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The comment.
    #[serde(flatten)]
    pub comment: CommentView,
}

impl Operation for Comment {
    const META: Meta =
        Meta::write("task_comment", "Say something about a task").changes_tasks().reads_tasks();
    type Input = CommentInput;
    type Output = CommentOutput;

    fn run(input: CommentInput, cx: &mut Cx<'_>) -> Result<CommentOutput, Failure> {
        check(&input.text)?;
        let request = (input.project.as_deref(), input.identity.as_deref(), Self::NAME);
        write(cx, request, |tx, env, author| {
            let found = by_id_to_change(tx, author.project_id, &input.id)?;
            let comment = add_comment(tx, env, author, &found, CommentText::plain(&input.text))?;
            Ok(CommentOutput {
                project_id: author.project_id.to_owned(),
                identity: author.identity.to_owned(),
                comment: CommentView(comment),
            })
        })
    }
}

/// Refuses a text that is no comment.
pub(super) fn check(text: &str) -> Result<(), Refusal> {
    if !text.trim().is_empty() && text.len() <= MAX_BYTES {
        return Ok(());
    }
    let what = "a comment has 1 byte to 64 KiB";
    Err(Refusal::invalid("comment_invalid", what, "shorten it, or name a file in it"))
}

/// The field of a comment that holds what a close said which came when the task was closed already. The ledger in which the task's
/// hand-off is, finds by it in the Beads file what its sender is to hear.
const LATE_CLOSE: &str = "late_close";

/// What a late close said, by the comment that keeps it: its author and its text. None for any other comment.
pub(super) fn late_close_words(comment: &Map<String, Value>) -> Option<(&str, &str)> {
    let is_late =
        comment.get(LATE_CLOSE).and_then(Value::as_bool) == Some(true) && !comment.contains_key("readers");
    let text = |key: &str| comment.get(key).and_then(Value::as_str);
    is_late.then_some((text("author")?, text("text")?))
}

/// What a new comment says.
#[derive(Clone, Copy)]
pub(super) struct CommentText<'a> {
    text: &'a str,
    /// Who can decrypt it; empty where it is plain.
    readers: &'a [String],
    /// Whether a close said it that came when the task was closed already.
    is_late_close: bool,
}

impl<'a> CommentText<'a> {
    /// A text that is not encrypted.
    pub(super) fn plain(text: &'a str) -> Self {
        Self { text, readers: &[], is_late_close: false }
    }
}

/// Writes a comment down, and brings it to the task's issue. One that only readers can decrypt names them and stays here.
pub(super) fn add_comment(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    found: &Task,
    CommentText { text, readers, is_late_close }: CommentText<'_>,
) -> Result<Map<String, Value>, Failure> {
    // Ids are numbers where the project's comments came with numbers, else texts.
    let id = match comment::highest(tx, author.project_id)? {
        Some(highest) => json!(highest + 1),
        None => json!(env.id()),
    };
    let mut body = Map::new();
    body.insert("id".into(), id);
    body.insert("issue_id".into(), json!(found.task_id));
    body.insert("author".into(), json!(author.identity));
    body.insert("text".into(), json!(text));
    body.insert("created_at".into(), json!(rfc3339(env.now)));
    if !readers.is_empty() {
        body.insert("readers".into(), json!(readers));
    }
    if is_late_close {
        body.insert(LATE_CLOSE.into(), json!(true));
    }
    let place = comment::count(tx, author.project_id, &found.task_id)?;
    comment::insert(tx, found, place, &body)?;
    update_without_delta(tx, found, &Task { updated_at: env.now, ..found.clone() })?;
    let what =
        json!({ "summary": format!("task {} has a comment", found.task_id), "task_id": found.task_id });
    append_json(tx, env, author, Kind::Other, &what)?;
    if readers.is_empty() {
        tracker::task_commented(tx, env, found, (author.identity, text))?;
    }
    Ok(body)
}

/// Codes of refusals by which a task is not, or no longer, the caller's to end, or the caller's session was ended by another.
const TOO_LATE: [&str; 9] = [
    "handoff_state",
    "task_claimed",
    "lease_lost",
    "task_closed",
    "task_not_claimed",
    "handoff_not_yours",
    "task_renamed",
    "task_deleted",
    "session_released",
];

/// An encrypted text, and who can read it.
#[derive(Clone)]
pub(super) struct Encrypted {
    pub(super) text: String,
    pub(super) readers: Vec<String>,
}

/// What a caller says at the end of its work, which is kept if it comes too late.
#[derive(Default)]
pub(super) struct LateComment {
    /// Each becomes a comment.
    pub(super) texts: Vec<String>,
    /// An encrypted text, which becomes a comment of its own.
    pub(super) encrypted: Option<Encrypted>,
    /// Whether the call said more than this.
    pub(super) is_part: bool,
    /// Whether the call says how the work ended: the hand-off that it came with is told, too.
    pub(super) is_end: bool,
}

/// Where words are kept that came too late.
#[derive(Default)]
pub(super) struct KeptWords {
    /// The comment with the first of them.
    pub(super) comment_id: Option<Value>,
    /// The hand-off of the task, where that was over before.
    pub(super) handoff: Option<EndedHandoff>,
}

impl LateComment {
    /// A reason, with which the call says nothing else or more.
    pub(super) fn reason(reason: Option<&str>, is_part: bool) -> Self {
        Self {
            texts: reason.map(str::to_owned).into_iter().collect(),
            encrypted: None,
            is_part,
            is_end: false,
        }
    }
}

/// A refusal beside which the caller's words are kept as comments: the task is another's by now, or over. One and the same
/// text is kept once. Other refusals stay as they are.
pub(super) fn keep_late(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    (id, words): (&str, &LateComment),
    failure: Failure,
) -> Result<Refusal, Failure> {
    let mut refusal = match failure {
        Failure::Refused(refusal) if TOO_LATE.contains(&refusal.code) => refusal,
        other => return Err(other),
    };
    let named = by_id(tx, author.project_id, id)?;
    let found = successor(tx, &named)?.unwrap_or(named);
    let KeptWords { comment_id, handoff } = late_comments(tx, env, author, &found, words)?;
    if comment_id.is_none() && handoff.is_none() {
        return Err(refusal.into());
    }
    if let Some(comment_id) = comment_id {
        let what =
            if words.is_part { "of what you gave, the reason is kept" } else { "what you gave is kept" };
        refusal.message = format!("{}; {what} as a comment", refusal.message);
        refusal = refusal.with("kept_comment_id", comment_id).with("project_id", author.project_id);
    }
    if let Some(handoff) = handoff {
        refusal.message = format!("{}; {}", refusal.message, handoff.message);
        if matches!(refusal.code, "task_closed" | "handoff_state") {
            refusal.hint = handoff.hint(&found.task_id);
        }
        refusal = refusal.with("ended_handoff", json!(handoff));
    }
    Ok(refusal)
}

/// Keeps the caller's words as comments, all of them or none.
pub(super) fn late_comments(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    found: &Task,
    words: &LateComment,
) -> Result<KeptWords, Failure> {
    let texts: Vec<&String> = words.texts.iter().filter(|text| !text.trim().is_empty()).collect();
    if texts.iter().any(|text| text.len() > MAX_BYTES) {
        return Ok(KeptWords::default());
    }
    let mut first = None;
    for text in &texts {
        let content = CommentText { is_late_close: words.is_end, ..CommentText::plain(text) };
        let id = late_comment(tx, env, author, found, content)?;
        first.get_or_insert(id);
    }
    // A context has a bound of its own before it is encrypted.
    if let Some(Encrypted { text, readers }) = &words.encrypted {
        let content = CommentText { readers, ..CommentText::plain(text) };
        let body = add_comment(tx, env, author, found, content)?;
        first.get_or_insert(id_of(&body));
    }
    let handoff = match words.is_end {
        true => {
            let texts: Vec<&str> = texts.into_iter().map(String::as_str).collect();
            late_close::keep(tx, env, found, author.identity, &texts.join("\n"))?
        }
        false => None,
    };
    Ok(KeptWords { comment_id: first, handoff })
}

/// Keeps the caller's words as a comment, once; returns its id.
fn late_comment(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    found: &Task,
    content: CommentText<'_>,
) -> Result<Value, Failure> {
    let is_it = |known: &Map<String, Value>| {
        known.get("text").and_then(Value::as_str) == Some(content.text)
            && known.get("author").and_then(Value::as_str) == Some(author.identity)
    };
    let known = comment::of(tx, author.project_id, &found.task_id)?.into_iter().find(is_it);
    let body = match known {
        Some(body) => body,
        None => add_comment(tx, env, author, found, content)?,
    };
    Ok(id_of(&body))
}

fn id_of(comment: &Map<String, Value>) -> Value {
    comment.get("id").cloned().unwrap_or(Value::Null)
}

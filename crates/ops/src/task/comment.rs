//! `task_comment`: say something about a task.

use baton_model::delta::Kind;
use baton_model::refusal::Refusal;
use baton_model::task::Task;
use baton_model::time::rfc3339;
use baton_store::{Failure, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use task::comment;

use super::by_id;
use super::write::{change_quietly, write};
use crate::handoff::tracker;
use crate::ledger::append_json;
use crate::op::{Cx, Meta, Operation};

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
    pub comment: Map<String, Value>,
}

impl Operation for Comment {
    const META: Meta =
        Meta::write("task_comment", "Say something about a task").changes_tasks().follows_tasks();
    type Input = CommentInput;
    type Output = CommentOutput;

    fn run(input: CommentInput, cx: &mut Cx<'_>) -> Result<CommentOutput, Failure> {
        if input.text.trim().is_empty() || input.text.len() > 64 * 1024 {
            let what = "a comment has 1 byte to 64 KiB";
            return Err(Refusal::invalid("comment_invalid", what, "shorten it, or name a file in it").into());
        }
        let asked = (input.project.as_deref(), input.identity.as_deref(), Self::NAME);
        write(cx, asked, |tx, env, author| {
            let found = by_id(tx, author.project_id, &input.id)?;
            // Ids are numbers where the project's comments came with numbers, else texts.
            let id = match comment::highest(tx, author.project_id)? {
                Some(highest) => json!(highest + 1),
                None => json!(env.id()),
            };
            let mut body = Map::new();
            body.insert("id".into(), id);
            body.insert("issue_id".into(), json!(found.task_id));
            body.insert("author".into(), json!(author.identity));
            body.insert("text".into(), json!(input.text));
            body.insert("created_at".into(), json!(rfc3339(env.now)));
            let place = comment::count(tx, author.project_id, &found.task_id)?;
            comment::insert(tx, &found, place, &body)?;
            change_quietly(tx, &found, &Task { updated_at: env.now, ..found.clone() })?;
            let what = json!({ "summary": format!("task {} has a comment", found.task_id), "task_id": found.task_id });
            append_json(tx, env, author, Kind::Other, &what)?;
            tracker::task_commented(tx, env, &found, (author.identity, &input.text))?;
            Ok(CommentOutput {
                project_id: author.project_id.to_owned(),
                identity: author.identity.to_owned(),
                comment: body,
            })
        })
    }
}

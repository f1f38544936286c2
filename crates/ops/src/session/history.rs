//! `session_history`: the sessions of a project, newest first, with what each left and who took it: the way of the baton.

use baton_store::{Failure, baton, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// The most sessions in one answer.
const MOST: i64 = 500;

/// Reads the history.
pub struct History;

/// Input of `session_history`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// At most so many, 500 at the most; 100 when it is left out.
    #[serde(default)]
    pub limit: Option<i64>,
}

/// Answer of `session_history`.
#[derive(Serialize, Deserialize)]
pub struct HistoryOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<Value>,
    /// There are more than were asked for.
    pub more: bool,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for History {
    const META: Meta = Meta::read(
        "session_history",
        "List a project's sessions, open and released, with the baton that each left",
    );
    type Input = HistoryInput;
    type Output = HistoryOutput;

    fn run(input: HistoryInput, cx: &mut Cx<'_>) -> Result<HistoryOutput, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let limit = input.limit.unwrap_or(100).clamp(1, MOST);
        let Cx { store, env } = cx;
        store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let mut found = session::newest(tx, &project_id, limit + 1)?;
            let more = i64::try_from(found.len()).unwrap_or(i64::MAX) > limit;
            found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            let mut items = Vec::with_capacity(found.len());
            for of in &found {
                let mut row = of.to_json(env.now, env.limits);
                if let Some(left) = baton::of_session(tx, &project_id, &of.session_id)? {
                    let holder = match &left.holder_session_id {
                        Some(id) => session::get(tx, &project_id, id)?,
                        None => None,
                    };
                    row["left"] = json!({
                        "baton_id": left.baton_id,
                        "summary": left.summary,
                        "state": left.state(holder.as_ref(), env.now, env.limits).as_str(),
                        "to": left.to_identity.clone().or(left.to_role.clone().map(|role| format!("role:{role}"))),
                        "created_at": baton_model::time::rfc3339(left.created_at),
                        "taken_by": left.holder_session_id,
                        "taken_at": left.held_at.map(baton_model::time::rfc3339),
                    });
                }
                items.push(row);
            }
            Ok(HistoryOutput { project_id, items, more, next: None })
        })
    }
}

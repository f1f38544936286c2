//! Comments and labels of an issue.

use baton_model::refusal::Refusal;
use baton_ops::op::Operation;
use baton_ops::task as tasks;
use serde_json::{Value, json};

use super::Out;
use super::verbs::list_of;
use crate::error::CliError;
use crate::render::{list, text};

pub(super) fn comment(id: &str, body: &str, out: &mut Out<'_>) -> Result<(), CliError> {
    let mut answer = out.call(tasks::Comment::NAME, json!({ "id": id, "text": body }))?;
    if let Some(fields) = answer.as_object_mut() {
        fields.shift_remove("project_id");
        fields.shift_remove("identity");
    }
    out.print(answer, |done| format!("✓ Comment added to {}\n", text(done, "issue_id")))
}

pub(super) fn comments(words: &[String], out: &mut Out<'_>) -> Result<(), CliError> {
    match words {
        [id] => {
            let found = out.call(tasks::Show::NAME, json!({ "id": id, "full": true }))?;
            out.print(json!(list(&found, "comments")), |all| {
                let line = |c: &Value| {
                    format!("[{}] {}: {}\n", text(c, "created_at"), text(c, "author"), text(c, "text"))
                };
                list_of(all).iter().map(line).collect()
            })
        }
        [add, id, rest @ ..] if add == "add" && !rest.is_empty() => comment(id, &rest.join(" "), out),
        _ => Err(Refusal::invalid(
            "usage",
            "an id, or `add`, an id and a text are needed",
            "bd comments add ID TEXT",
        )
        .into()),
    }
}

pub(super) fn label(verb: &str, id: &str, labels: Vec<String>, out: &mut Out<'_>) -> Result<(), CliError> {
    let answer = match verb {
        "list" => out.call(tasks::Show::NAME, json!({ "id": id, "full": true }))?,
        _ if labels.is_empty() => {
            return Err(Refusal::invalid("usage", "a label is needed", "bd label add ID LABEL").into());
        }
        "add" => out.call(tasks::Update::NAME, json!({ "id": id, "add_labels": labels }))?,
        _ => out.call(tasks::Update::NAME, json!({ "id": id, "remove_labels": labels }))?,
    };
    out.print(json!(list(&answer, "labels")), |all| {
        list_of(all)
            .iter()
            .filter_map(Value::as_str)
            .map(|l| format!("{}\n", baton_model::id::visible(l)))
            .collect()
    })
}

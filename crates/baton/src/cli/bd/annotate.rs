//! Comments and labels of an issue.

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::task::view::Comment;
use baton_ops::task::{self as tasks, CommentInput, ShowInput, UpdateInput};

use super::Out;
use crate::error::AppError;

pub(super) fn comment(id: &str, body: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let (project, identity) = (out.project(), out.identity());
    let input = CommentInput { project, identity, id: id.to_owned(), text: body.to_owned() };
    let made = out.app.run::<tasks::Comment>(&input)?;
    out.print(&made.comment, |made| format!("✓ Comment added to {}\n", visible(made.issue_id())))
}

pub(super) fn comments(words: &[String], out: &mut Out<'_>) -> Result<(), AppError> {
    match words {
        [id] => {
            let found = shown(id, out)?;
            out.print(&found.comments, |all| {
                let line = |c: &Comment| {
                    let [at, author, text] = [c.created_at(), c.author(), c.text()].map(visible);
                    format!("[{at}] {author}: {text}\n")
                };
                all.iter().map(line).collect()
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

/// A task with everything.
pub(super) fn shown(id: &str, out: &mut Out<'_>) -> Result<tasks::ShowOutput, AppError> {
    let input = ShowInput { project: out.project(), id: id.to_owned(), full: true, budget: None };
    out.app.run::<tasks::Show>(&input)
}

pub(super) fn label(verb: &str, id: &str, labels: Vec<String>, out: &mut Out<'_>) -> Result<(), AppError> {
    let (project, identity) = (out.project(), out.identity());
    let mut input = UpdateInput { project, identity, id: id.to_owned(), ..UpdateInput::default() };
    let labels = match verb {
        "list" => shown(id, out)?.task.labels,
        _ if labels.is_empty() => {
            return Err(Refusal::invalid("usage", "a label is needed", "bd label add ID LABEL").into());
        }
        verb => {
            match verb {
                "add" => input.add_labels = labels,
                _ => input.remove_labels = labels,
            }
            out.app.run::<tasks::Update>(&input)?.task.view.labels
        }
    };
    out.print(&labels, |all| all.iter().map(|label| format!("{}\n", visible(label))).collect())
}

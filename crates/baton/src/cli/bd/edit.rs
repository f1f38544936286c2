//! A field of an issue in the user's editor.

use std::io::Write;
use std::process::Command;

use baton_model::refusal::{Kind, Refusal};
use baton_ops::task as tasks;

use super::annotate::show_task;
use super::change::{print_updated, unchanged};
use super::{Out, shape};
use crate::error::AppError;

/// A field that can be edited.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Title,
    Description,
    Design,
    Notes,
    Acceptance,
}

pub(super) fn edit(id: &str, field: Field, out: &mut Out<'_>) -> Result<(), AppError> {
    let task = show_task(id, out)?.task;
    let other = |key: &str| task.other_text(key).unwrap_or_default();
    let before = match field {
        Field::Title => task.title.clone(),
        Field::Description => task.description.clone(),
        Field::Design => other("design"),
        Field::Notes => other("notes"),
        Field::Acceptance => other("acceptance_criteria"),
    };
    let after = edited(&before, out)?;
    if after == before {
        out.remark("nothing was changed");
        return Ok(());
    }
    let mut input = unchanged(&task.id, out);
    let slot = match field {
        Field::Title => &mut input.title,
        Field::Description => &mut input.description,
        Field::Design => &mut input.design,
        Field::Notes => &mut input.notes,
        Field::Acceptance => &mut input.acceptance_criteria,
    };
    *slot = Some(after);
    let changed = shape::changed(out.app.run::<tasks::Update>(&input)?.task);
    print_updated(&[changed], out)
}

/// The text after the editor was closed.
fn edited(before: &str, out: &Out<'_>) -> Result<String, AppError> {
    let var = |name: &str| out.app.config.vars.get(name).filter(|value| !value.is_empty()).cloned();
    let editor = var("VISUAL").or_else(|| var("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let failed = |what: String| {
        Refusal::new(
            Kind::Refused,
            "editor_failed",
            what,
            "set EDITOR, or use bd update ID --description TEXT",
        )
    };
    let mut file =
        tempfile::Builder::new().prefix("bd-").suffix(".md").tempfile().map_err(anyhow::Error::from)?;
    file.write_all(before.as_bytes())?;
    file.flush()?;
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = Command::new(program).args(words).arg(file.path()).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => {
            return Err(failed(format!("`{editor}` ended with {status}; nothing was changed")).into());
        }
        Err(error) => return Err(failed(format!("`{editor}` cannot be started: {error}")).into()),
    }
    let after = std::fs::read_to_string(file.path()).map_err(anyhow::Error::from)?;
    Ok(after.trim_end().to_owned())
}

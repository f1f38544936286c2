//! `ledger_import`: rebuild a project from an export. Everything is checked before anything is written.

use baton_model::access::Scope;
use baton_model::delta::{Delta, Kind};
use baton_model::id::check_project;
use baton_model::refusal::{self, Refusal};
use baton_model::time::parse_rfc3339;
use baton_store::{Failure, Tx, delta, dump, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::op::{Access, Cx, Operation, Reach};

/// Rebuilds a project.
pub(crate) struct Import;

/// Input of `ledger_import`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The lines of an export, in order.
    lines: Vec<Value>,
}

/// Answer of `ledger_import`.
#[derive(Serialize)]
pub(crate) struct Output {
    project_id: String,
    deltas: usize,
    rows: usize,
}

/// A checked line.
enum Line {
    Ledger(Box<Delta>),
    Row(String, Map<String, Value>),
}

impl Operation for Import {
    const NAME: &'static str = "ledger_import";
    const DOC: &'static str = "Rebuild a project from an export, if it is not there yet";
    const ACCESS: Access = Access::Write;
    const SCOPE: Scope = Scope::Operator;
    const REACH: Reach = Reach::Everything;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let (project_id, lines) = check(input.lines)?;
        cx.store.write_shared(|tx| {
            if project::get(tx, &project_id)?.is_some() {
                return Err(there_already(&project_id).into());
            }
            write(tx, &lines)
        })?;
        let deltas = lines.iter().filter(|line| matches!(line, Line::Ledger(_))).count();
        Ok(Output { project_id, deltas, rows: lines.len() - deltas })
    }
}

fn there_already(project_id: &str) -> Refusal {
    Refusal::new(
        refusal::Kind::Conflict,
        "project_exists",
        format!("project {project_id} is in this store already"),
        "import into an empty store: --store PATH",
    )
    .with("project_id", project_id)
}

fn invalid(number: usize, what: &str) -> Refusal {
    Refusal::invalid(
        "export_invalid",
        format!("line {number} of the export {what}"),
        "give a whole file of `baton log export`",
    )
    .with("line", number)
}

/// Reads every line; all must belong to one project, ledger numbers must rise, and the project's own row must be there.
fn check(lines: Vec<Value>) -> Result<(String, Vec<Line>), Refusal> {
    let mut project: Option<String> = None;
    let (mut last, mut has_project) = (0, false);
    let mut checked = Vec::with_capacity(lines.len());
    for (index, line) in lines.into_iter().enumerate() {
        let number = index + 1;
        let Value::Object(mut row) = line else { return Err(invalid(number, "is not an object")) };
        let of = row.get("project_id").and_then(Value::as_str).map(str::to_owned);
        let of = of.ok_or_else(|| invalid(number, "names no project"))?;
        if project.get_or_insert_with(|| of.clone()) != &of {
            return Err(invalid(number, "belongs to another project"));
        }
        checked.push(match row.shift_remove("_type") {
            None => {
                let delta = ledger_row(&row).ok_or_else(|| invalid(number, "is not a row of a ledger"))?;
                if delta.seq <= last {
                    return Err(invalid(number, "is out of order"));
                }
                last = delta.seq;
                Line::Ledger(Box::new(delta))
            }
            Some(Value::String(table)) if is_known(&table, &mut row) => {
                has_project |= table == "project";
                Line::Row(table, row)
            }
            Some(_) => return Err(invalid(number, "is of a kind or version that is not known")),
        });
    }
    let project = project.ok_or_else(|| invalid(1, "is missing: the file is empty"))?;
    check_project(&project)?;
    if !has_project {
        return Err(invalid(
            checked.len(),
            "is the last, and the project's own row has not come: the file was cut",
        ));
    }
    Ok((project, checked))
}

/// Whether the row can be written as it is; a hand-off's line carries the exported project beside its columns.
fn is_known(table: &str, row: &mut Map<String, Value>) -> bool {
    if table == "handoff" {
        row.shift_remove("project_id");
    }
    dump::knows(table, row)
}

fn ledger_row(row: &Map<String, Value>) -> Option<Delta> {
    let text = |key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let kind = Kind::from_word(row.get("kind")?.as_str()?);
    let body = match (kind, row.get("body")?) {
        (Kind::Wrap, Value::String(packet)) => packet.clone(),
        (_, body) => body.to_string(),
    };
    Some(Delta {
        project_id: text("project_id")?,
        seq: row.get("seq")?.as_i64()?,
        delta_id: text("delta_id")?,
        kind,
        session_id: text("session_id"),
        identity: text("identity")?,
        created_at: parse_rfc3339(&text("created_at")?)?,
        inherited_from: text("inherited_from"),
        thread_id: text("thread_id"),
        body,
    })
}

fn write(tx: &mut Tx<'_>, lines: &[Line]) -> Result<(), Failure> {
    for line in lines {
        match line {
            Line::Ledger(row) => delta::append(tx, row)?,
            Line::Row(table, row) => dump::write(tx, table, row)?,
        }
    }
    Ok(())
}

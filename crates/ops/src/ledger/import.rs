//! `ledger_import`: rebuild a project from an export. Everything is checked before anything is written.

use baton_model::access::Scope;
use baton_model::delta::{Delta, Kind};
use baton_model::id::check_project;
use baton_model::project::{is_redacted_address, redacted_address};
use baton_model::refusal::{self, Refusal};
use baton_model::time::parse_rfc3339;
use baton_store::export_file::{self, FileError};
use baton_store::{Failure, FaultKind, Tx, counter, delta, dump, handoff, key, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::import_merged;
use super::import_shared::{self, SharedHandoffs};
use crate::op::{BeginsStore, Cx, Meta, Operation, Reach};

/// Rebuilds a project.
pub struct Import;

/// Input of `ledger_import`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportInput {
    /// The lines of an export, in order, each as its exact text, from the header to the last one.
    pub lines: Vec<Value>,
    /// Believe lines that nothing vouches for: an export of an older version, or what is left of a damaged one. Its ledger
    /// gets a new chain.
    #[serde(default)]
    pub unverified: bool,
}

/// Answer of `ledger_import`.
#[derive(Serialize, Deserialize)]
pub struct ImportOutput {
    /// The project.
    pub project_id: String,
    /// Ledger entries that were written.
    pub deltas: usize,
    /// Other rows that were written.
    pub rows: usize,
    /// Whether the lines were shown to be all that was written.
    pub verified: bool,
    /// Messages between this project and another that were sent after the receiver's project was exported, and were put
    /// into its mailbox now.
    #[serde(default)]
    pub messages_delivered: usize,
    /// Open hand-offs between this project and another whose task is not there: they were left after the receiver's project was
    /// exported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handoffs_without_task: Vec<String>,
    /// Batons that an open session holds here, and that `project merge` has left anew in another project of this store.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batons_held_and_moved: Vec<String>,
    /// The host to which each entry of this project is posted from now on: the export sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_url: Option<String>,
    /// The host of a webhook whose address the export does not hold: nothing is posted until it is set anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_left_out: Option<String>,
    /// Identities whose public keys came along: the holders of the private halves can read what is encrypted for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys_of: Vec<String>,
}

/// A checked line, and its number.
struct NumberedLine {
    number: usize,
    content: Content,
}

enum Content {
    Ledger(Box<Delta>),
    Row(String, Map<String, Value>),
}

/// What an import writes.
struct CheckedImport {
    project_id: String,
    lines: Vec<NumberedLine>,
    verified: bool,
    webhook_left_out: Option<String>,
}

impl Operation for Import {
    const META: Meta =
        Meta::write("ledger_import", "Rebuild a project from an export, if it is not there yet")
            .scope(Scope::Operator)
            .reach(Reach::Everything)
            .begins_store(BeginsStore::InFolder);
    type Input = ImportInput;
    type Output = ImportOutput;

    fn run(input: ImportInput, cx: &mut Cx<'_>) -> Result<ImportOutput, Failure> {
        let CheckedImport { project_id, lines, verified, webhook_left_out } =
            check(input.lines, input.unverified)?;
        let now = cx.env.now;
        let rows = lines.iter().filter_map(|line| match &line.content {
            Content::Row(table, row) => Some((table.as_str(), row)),
            Content::Ledger(_) => None,
        });
        let mut taken = import_shared::receivers(rows);
        taken.insert(&project_id);
        let entries = lines.iter().filter_map(|line| match &line.content {
            Content::Ledger(delta) => Some(delta.body.as_str()),
            Content::Row(..) => None,
        });
        // A merge concerns batons of the other project.
        let tied = cx.store.read(|tx| import_merged::tied(tx, &project_id, entries))?;
        taken.extend(tied.iter().map(String::as_str));
        let taken: Vec<&str> = taken.into_iter().collect();
        let Cx { store, env } = cx;
        let settled = store.write(&taken, |tx| {
            if project::get(tx, &project_id)?.is_some() {
                return Err(there_already_refusal(&project_id).into());
            }
            write(tx, &lines)?;
            counter::raise_one(tx, &project_id, now)?;
            Ok(ImportRepairs {
                messages_delivered: import_shared::deliver(tx, &project_id)?,
                handoffs_without_task: handoff::without_task(tx, &project_id)?,
                batons_held_and_moved: import_merged::reconcile(tx, env, &project_id)?,
                webhook_url: project::webhook(tx, &project_id)?.map(|url| redacted_address(&url)),
                keys_of: key::list(tx, &project_id)?.into_iter().map(|key| key.identity).collect(),
            })
        })?;
        let deltas = lines.iter().filter(|line| matches!(line.content, Content::Ledger(_))).count();
        Ok(ImportOutput {
            project_id,
            deltas,
            rows: lines.len() - deltas,
            verified,
            messages_delivered: settled.messages_delivered,
            handoffs_without_task: settled.handoffs_without_task,
            batons_held_and_moved: settled.batons_held_and_moved,
            webhook_url: settled.webhook_url,
            webhook_left_out,
            keys_of: settled.keys_of,
        })
    }
}

/// What an import has put right between projects, and what came with it that acts by itself.
struct ImportRepairs {
    messages_delivered: usize,
    handoffs_without_task: Vec<String>,
    batons_held_and_moved: Vec<String>,
    webhook_url: Option<String>,
    keys_of: Vec<String>,
}

fn there_already_refusal(project_id: &str) -> Refusal {
    Refusal::new(
        refusal::Kind::Conflict,
        "project_exists",
        format!("project {project_id} is in this store already"),
        "import into an empty store: --store PATH",
    )
    .with("project_id", project_id)
}

fn invalid_refusal(number: usize, what: &str) -> Refusal {
    Refusal::invalid(
        "export_invalid",
        format!("line {number} of the export {what}"),
        "give a whole file of `baton log export`; --unverified takes what is left of a damaged one",
    )
    .with("line", number)
}

fn unverifiable_refusal() -> Refusal {
    Refusal::invalid(
        "export_unverified",
        "the export has no header and no sums: an older Baton wrote it, and nothing says whether all of it is there",
        "export it again with this version, or import it as it is with --unverified",
    )
}

/// The objects of the lines, each with its number.
fn objects(lines: &[String], unverified: bool) -> Result<Vec<export_file::NumberedLine>, Refusal> {
    let lines = || lines.iter().map(String::as_str);
    let read = if unverified { export_file::salvage(lines()) } else { export_file::read(lines()) };
    read.map_err(|flaw| match flaw {
        FileError::Unverifiable => unverifiable_refusal(),
        FileError::Line { number, what } => invalid_refusal(number, &what),
    })
}

/// Reads every line; all must belong to one project, ledger numbers must rise, each delta must follow from the one before, and
/// the project's own row must be there.
fn check(lines: Vec<Value>, unverified: bool) -> Result<CheckedImport, Refusal> {
    let text = |line: Value| match line {
        Value::String(text) => text,
        object => object.to_string(),
    };
    let lines: Vec<String> = lines.into_iter().map(text).collect();
    let (mut project, mut chain) = (None::<String>, Chain { verified: !unverified, ..Chain::default() });
    let mut checked: Vec<NumberedLine> = Vec::with_capacity(lines.len());
    let mut webhook_left_out = None;
    for (number, mut row) in objects(&lines, unverified)? {
        let of = row.get("project_id").and_then(Value::as_str).map(str::to_owned);
        let of = of.ok_or_else(|| invalid_refusal(number, "names no project"))?;
        if project.get_or_insert_with(|| of.clone()) != &of {
            return Err(invalid_refusal(number, "belongs to another project"));
        }
        let content = match row.shift_remove("_type") {
            None => Content::Ledger(Box::new(chain.delta(number, &row)?)),
            Some(Value::String(table)) if is_known(&table, &of, &mut row) => {
                if table == "project" {
                    webhook_left_out = take_redacted_webhook(&mut row);
                }
                Content::Row(table, row)
            }
            Some(_) => return Err(invalid_refusal(number, "is of a kind or version that is not known")),
        };
        checked.push(NumberedLine { number, content });
    }
    let project_id = project.ok_or_else(|| invalid_refusal(1, "is missing: the file is empty"))?;
    check_project(&project_id)?;
    chain.end(&mut checked)?;
    Ok(CheckedImport { project_id, lines: checked, verified: !unverified, webhook_left_out })
}

/// Takes an address out of which the export left a part: it leads to no receiver that knows the sender.
fn take_redacted_webhook(row: &mut Map<String, Value>) -> Option<String> {
    let url = row.get("webhook_url").and_then(Value::as_str).filter(|url| is_redacted_address(url))?;
    let url = url.to_owned();
    row.insert("webhook_url".into(), Value::Null);
    Some(url)
}

/// The chain as far as it was read.
#[derive(Default)]
struct Chain {
    last: i64,
    newest: String,
    verified: bool,
}

impl Chain {
    fn delta(&mut self, number: usize, row: &Map<String, Value>) -> Result<Delta, Refusal> {
        let delta = ledger_row(row).ok_or_else(|| invalid_refusal(number, "is not a row of a ledger"))?;
        if delta.seq <= self.last {
            return Err(invalid_refusal(number, "is out of order"));
        }
        self.last = delta.seq;
        self.newest = delta::chain_hash(&delta, &self.newest);
        let given = row.get("chain").and_then(Value::as_str);
        if self.verified && given != Some(self.newest.as_str()) {
            return Err(invalid_refusal(number, "is a delta that does not follow from the one before it"));
        }
        Ok(delta)
    }

    /// Compares the end with the project's row; in an unverified import the row is corrected instead.
    fn end(&self, lines: &mut [NumberedLine]) -> Result<(), Refusal> {
        let count = lines.len();
        let row = lines.iter_mut().find_map(|line| match &mut line.content {
            Content::Row(table, row) if table == "project" => Some((line.number, row)),
            _ => None,
        });
        let cut = "is the last, and the project's own row has not come: the file was cut";
        let (number, row) = row.ok_or_else(|| invalid_refusal(count, cut))?;
        if !self.verified {
            let counted = row.get("seq").and_then(Value::as_i64).unwrap_or_default().max(self.last);
            row.insert("seq".into(), counted.into());
            row.insert("chain_head".into(), self.newest.clone().into());
        }
        if row.get("chain_head").and_then(Value::as_str) != Some(self.newest.as_str()) {
            return Err(invalid_refusal(number, "names another delta as the newest"));
        }
        match row.get("seq").and_then(Value::as_i64) {
            Some(seq) if seq >= self.last => Ok(()),
            _ => Err(invalid_refusal(number, "counts behind its ledger")),
        }
    }
}

/// Whether the row can be written as it is; a line of a hand-off or of its steps carries the exported project beside its
/// columns, and a hand-off belongs to it by either of its ends.
fn is_known(table: &str, project_id: &str, row: &mut Map<String, Value>) -> bool {
    if matches!(table, "handoff_step" | "issue_comment" | "issue_text") {
        row.shift_remove("project_id");
    }
    if table == "handoff" {
        row.shift_remove("project_id");
        let ends = ["from_project_id", "to_project_id"].map(|end| row.get(end).and_then(Value::as_str));
        if !ends.contains(&Some(project_id)) {
            return false;
        }
    }
    dump::knows(table, row)
}

fn ledger_row(row: &Map<String, Value>) -> Option<Delta> {
    let text = |key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let kind = Kind::from_word(row.get("kind")?.as_str()?);
    let body = match (kind, row.get("body")?, text("body_text")) {
        (_, _, Some(exact)) => exact,
        (Kind::Wrap, Value::String(packet), _) => packet.clone(),
        (_, body, _) => body.to_string(),
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

/// Writes a row of one table, and says whether it was not there; a value that the table does not take is a fault of the line.
fn write_row(
    tx: &mut Tx<'_>,
    (table, row): (&str, &Map<String, Value>),
    number: usize,
) -> Result<bool, Failure> {
    dump::write(tx, table, row).map_err(|fault| match fault.kind {
        FaultKind::Constraint => {
            invalid_refusal(number, "lacks a value, or has one of another type than its column takes").into()
        }
        _ => fault.into(),
    })
}

/// Writes the rows. Those of hand-offs may be there already: the other project's import has brought them.
fn write(tx: &mut Tx<'_>, lines: &[NumberedLine]) -> Result<(), Failure> {
    let mut newest = String::new();
    let mut handoffs = SharedHandoffs::default();
    for line in lines {
        let flaw = match &line.content {
            Content::Ledger(row) => {
                newest = delta::restore(tx, row, &newest)?;
                None
            }
            Content::Row(table, row) => match table.as_str() {
                "handoff" => handoffs.handoff(tx, row).map(|()| None)?,
                "handoff_step" => {
                    (!handoffs.step(tx, row)?).then_some("is a step of a hand-off that has not come")
                }
                "issue_comment" | "issue_text" => (!handoffs.issue(tx, table, row)?)
                    .then_some("is of the issue of a hand-off that has not come"),
                _ => (!write_row(tx, (table, row), line.number)?).then_some("is a row that is there already"),
            },
        };
        if let Some(what) = flaw {
            return Err(invalid_refusal(line.number, what).into());
        }
    }
    Ok(())
}

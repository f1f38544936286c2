//! Lines of issues without an id, as scripts write them for `bd import`: each gets an id of its own, and the present time.

use std::io::{BufWriter, Write};

use baton_model::time::rfc3339;
use baton_ops::Lines;
use serde_json::{Map, Value};
use tempfile::NamedTempFile;

use super::{Out, about};
use crate::beads_file::FileLines;
use crate::cli::beads;
use crate::clock;
use crate::error::AppError;

/// The most characters of a project's id with which the ids of its issues begin.
const PREFIX: usize = 24;
/// How many characters a new id has: so many that no other issue has it.
const LENGTH: usize = 8;

/// The file in which every issue has an id; none where every line of it has one already.
pub(super) fn with_ids(path: &str, out: &mut Out<'_>) -> Result<Option<NamedTempFile>, AppError> {
    let mut lines = FileLines::open(&beads::file(path, out.app))?;
    if !has_nameless(&mut lines) {
        return Ok(None);
    }
    lines.rewind()?;
    let prefix: String = about::project(out)?.chars().take(PREFIX).collect();
    let now = rfc3339(clock::now());
    let file = tempfile::Builder::new().prefix("bd-").tempfile()?;
    let mut to = BufWriter::new(file.as_file());
    while let Some(line) = lines.next()? {
        let line = match nameless(&line) {
            Some(mut issue) => {
                issue.insert("id".to_owned(), format!("{prefix}-{}", suffix()).into());
                for key in ["created_at", "updated_at"] {
                    issue.entry(key).or_insert_with(|| now.as_str().into());
                }
                Value::Object(issue).to_string()
            }
            None => line,
        };
        writeln!(to, "{line}")?;
    }
    to.flush()?;
    drop(to);
    Ok(Some(file))
}

/// Whether there is an issue without an id. A line that cannot be read is for the import to name.
fn has_nameless(lines: &mut FileLines) -> bool {
    while let Ok(Some(line)) = lines.next() {
        if nameless(&line).is_some() {
            return true;
        }
    }
    false
}

/// The issue of a line that has a title and no id.
fn nameless(line: &str) -> Option<Map<String, Value>> {
    let issue: Map<String, Value> = serde_json::from_str(line.trim()).ok()?;
    let is_issue = issue.get("_type").is_none_or(|kind| kind == "issue");
    let has_id = issue.get("id").is_some_and(|id| !id.is_null() && id != "");
    (is_issue && !has_id && issue.get("title").is_some_and(Value::is_string)).then_some(issue)
}

fn suffix() -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut bytes = [0; LENGTH];
    clock::random(&mut bytes);
    bytes.iter().map(|byte| char::from(DIGITS[usize::from(*byte) % DIGITS.len()])).collect()
}

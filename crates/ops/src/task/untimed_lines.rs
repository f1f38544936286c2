//! Lines of a file from which something was taken out without a new time: the ledger keeps it, and a complaint for each says so.

use baton_model::id::visible;
use baton_model::task::conflict::Conflict;
use serde_json::Value;

use super::beads_file::Complaint;

/// Fields that no line takes away.
const LASTING: [&str; 7] =
    ["created_at", "created_by", "issue_type", "priority", "status", "title", "closed_at"];
/// How many removals are named one by one.
const MAX_NAMED: usize = 20;

/// What was kept of lines that were not newer.
#[derive(Default)]
pub(super) struct UntimedLines {
    named: Vec<Complaint>,
    /// How many more there are, and the line of the first of them.
    more: usize,
    next: usize,
}

impl UntimedLines {
    /// Notes a line and what it lacks.
    pub(super) fn add(&mut self, line: usize, removals: &[Conflict]) {
        for removal in removals {
            if self.named.len() < MAX_NAMED {
                let text = sentence(removal);
                self.named.push(Complaint { line, path: String::new(), text, unreadable: false });
                continue;
            }
            self.next = if self.more == 0 { line } else { self.next };
            self.more += 1;
        }
    }

    /// The complaints about all of them.
    pub(super) fn complaints(self) -> impl Iterator<Item = Complaint> {
        let text = format!(
            "kept {} more entries of the ledger that lines lack which are not newer; give those lines a newer `updated_at`",
            self.more
        );
        let more = Complaint { line: self.next, path: String::new(), text, unreadable: false };
        self.named.into_iter().chain((self.more > 0).then_some(more))
    }
}

/// What was kept, why, and the command that takes it away.
fn sentence(removal: &Conflict) -> String {
    let id = visible(&removal.id);
    let (what, how) = match removal.field.split_once(':') {
        Some(("labels", label)) => {
            let label = visible(label);
            (
                format!("label `{label}`"),
                format!("`baton task update {id} --remove-label {label}` takes it away"),
            )
        }
        Some(("dependencies", _)) => {
            let on = removal.ours.get("depends_on_id").and_then(Value::as_str).unwrap_or_default();
            let on = visible(on);
            (format!("dependency on {on}"), format!("`baton task dep remove {id} {on}` takes it away"))
        }
        Some(("comments", _)) => ("comment".to_owned(), "no comment is ever taken away".to_owned()),
        _ => (visible(&removal.field.replace('/', ".")).to_string(), emptying(&id, &removal.field)),
    };
    let why = match LASTING.contains(&removal.field.as_str()) {
        true => "the line lacks it, which takes nothing away",
        false => "the line is not newer",
    };
    format!("kept the ledger's {what} of {id}: {why}; {how}")
}

/// How a field is emptied.
fn emptying(id: &str, field: &str) -> String {
    match field {
        "description" | "design" | "notes" | "assignee" => {
            format!("`baton task update {id} --{field} \"\"` empties it")
        }
        "status" | "priority" => format!("`baton task update {id} --{field} VALUE` changes it"),
        "issue_type" => format!("`baton task update {id} --type TYPE` changes it"),
        "title" => format!("`baton task update {id} --title TEXT` changes it"),
        "created_at" | "created_by" | "closed_at" => "it stays as it is".to_owned(),
        "acceptance_criteria" => format!("`baton task update {id} --acceptance \"\"` empties it"),
        _ => "give it a newer `updated_at`".to_owned(),
    }
}

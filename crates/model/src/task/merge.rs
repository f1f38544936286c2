//! Two changed versions of a record made one: field by field, against the version that both began from.

use serde_json::{Map, Value};

use super::record::{Record, canonical, kind_of, read, target_of};

/// A field that both sides changed, each in its own way.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// The field.
    pub field: String,
    /// What we had.
    pub ours: Value,
    /// What came.
    pub theirs: Value,
    /// Which of the two was kept: `ours` or `theirs`.
    pub kept: &'static str,
}

/// Fields that say one thing together.
const STATUS: [&str; 4] = ["status", "closed_at", "close_reason", "deleted_at"];

/// The merged record, and what both sides had changed differently: the side that changed later is kept, ours when both
/// did at once. Without a common version, what one side lacks is taken from the other. What was deleted stays deleted.
pub fn merge(base: Option<&Record>, ours: &Record, theirs: &Record) -> (Record, Vec<Conflict>) {
    let mut sides = Sides {
        base: base.map(canonical).unwrap_or_default(),
        ours: canonical(ours),
        theirs: canonical(theirs),
        newer: if theirs.task.updated_at > ours.task.updated_at { "theirs" } else { "ours" },
        conflicts: Vec::new(),
    };
    let mut merged = Map::new();
    sides.status(&mut merged, ours, theirs);
    let keys: Vec<String> = sides.ours.keys().chain(sides.theirs.keys()).cloned().collect();
    for key in keys {
        if merged.contains_key(&key) || STATUS.contains(&key.as_str()) {
            continue;
        }
        let [base, ours, theirs] =
            [&sides.base, &sides.ours, &sides.theirs].map(|side| side.get(&key).cloned().unwrap_or_default());
        let value = match key.as_str() {
            "updated_at" => later(ours, theirs),
            "labels" | "dependencies" | "comments" => union(&key, &base, &ours, &theirs),
            _ => sides.field(&key, base, ours, theirs),
        };
        if !value.is_null() {
            merged.insert(key, value);
        }
    }
    let record = read(&merged).unwrap_or_else(|_| ours.clone());
    (record, sides.conflicts)
}

struct Sides {
    base: Map<String, Value>,
    ours: Map<String, Value>,
    theirs: Map<String, Value>,
    newer: &'static str,
    conflicts: Vec<Conflict>,
}

impl Sides {
    fn field(&mut self, name: &str, base: Value, ours: Value, theirs: Value) -> Value {
        if ours == theirs || theirs == base {
            return ours;
        }
        if ours == base {
            return theirs;
        }
        if let (Value::Object(ours), Value::Object(theirs)) = (&ours, &theirs) {
            let empty = Map::new();
            return Value::Object(self.object(name, base.as_object().unwrap_or(&empty), ours, theirs));
        }
        // One side never knew the field.
        if base.is_null() && self.base.is_empty() && (ours.is_null() || theirs.is_null()) {
            return if ours.is_null() { theirs } else { ours };
        }
        let kept = self.newer;
        self.conflicts.push(Conflict {
            field: name.to_owned(),
            ours: ours.clone(),
            theirs: theirs.clone(),
            kept,
        });
        if kept == "ours" { ours } else { theirs }
    }

    fn object(
        &mut self,
        name: &str,
        base: &Map<String, Value>,
        ours: &Map<String, Value>,
        theirs: &Map<String, Value>,
    ) -> Map<String, Value> {
        let mut merged = Map::new();
        for key in ours.keys().chain(theirs.keys()) {
            if merged.contains_key(key) {
                continue;
            }
            let [base, ours, theirs] =
                [base, ours, theirs].map(|side| side.get(key).cloned().unwrap_or_default());
            let value = self.field(&format!("{name}.{key}"), base, ours, theirs);
            if !value.is_null() {
                merged.insert(key.clone(), value);
            }
        }
        merged
    }

    /// Status, when and why are taken together from one side.
    fn status(&mut self, merged: &mut Map<String, Value>, ours: &Record, theirs: &Record) {
        let word = |side: &Map<String, Value>| side.get("status").cloned().unwrap_or_default();
        let (base, our, their) = (word(&self.base), word(&self.ours), word(&self.theirs));
        let same = our == their;
        let from_theirs = match (ours.task.status.as_str(), theirs.task.status.as_str()) {
            ("tombstone", _) => false,
            (_, "tombstone") => true,
            _ if their == base && !same => false,
            _ if our == base && !same => true,
            _ => {
                let kept = self.newer;
                if !same {
                    self.conflicts.push(Conflict { field: "status".into(), ours: our, theirs: their, kept });
                }
                kept == "theirs"
            }
        };
        let side = if from_theirs { &self.theirs } else { &self.ours };
        for key in STATUS {
            if let Some(value) = side.get(key) {
                merged.insert(key.to_owned(), value.clone());
            }
        }
    }
}

fn later(ours: Value, theirs: Value) -> Value {
    let at = |value: &Value| value.as_str().and_then(crate::time::parse_rfc3339);
    if at(&theirs) > at(&ours) { theirs } else { ours }
}

/// What names an entry of a list.
fn key(list: &str, entry: &Value) -> String {
    match (list, entry.as_object()) {
        ("dependencies", Some(fields)) => format!("{} {}", kind_of(fields), target_of(fields)),
        ("comments", Some(fields)) if fields.contains_key("id") => fields["id"].to_string(),
        _ => entry.to_string(),
    }
}

/// Entries of both lists in our order; one that the base has and a side lacks was taken away there. An entry that both have
/// is taken from the side that changed it.
fn union(list: &str, base: &Value, ours: &Value, theirs: &Value) -> Value {
    let entries = |side: &Value| side.as_array().cloned().unwrap_or_default();
    let find = |side: &[Value], wanted: &str| side.iter().find(|entry| key(list, entry) == wanted).cloned();
    let (base, ours, theirs) = (entries(base), entries(ours), entries(theirs));
    let mut merged: Vec<Value> = Vec::new();
    for entry in ours.iter().chain(&theirs) {
        let name = key(list, entry);
        if find(&merged, &name).is_some() {
            continue;
        }
        match (find(&base, &name), find(&ours, &name), find(&theirs, &name)) {
            (old, Some(our), Some(their)) => {
                merged.push(if old.as_ref() == Some(&our) { their } else { our })
            }
            (None, Some(one), None) | (None, None, Some(one)) => merged.push(one),
            _ => {}
        }
    }
    if merged.is_empty() { Value::Null } else { Value::Array(merged) }
}

#[cfg(test)]
mod tests;

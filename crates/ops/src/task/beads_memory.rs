//! `beads_memory`: change a memory that stands in a Beads file.

use baton_model::delta::Kind;
use baton_model::memory::Memory;
use baton_store::{Failure, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use task::line;

use super::write::write;
use crate::ledger::append_json;
use crate::op::{Cx, Meta, Operation};

/// Changes a memory of the file.
pub struct BeadsMemory;

/// Input of `beads_memory`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeadsMemoryInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that changes it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Its key. Nothing is changed where there is no memory of this key.
    pub key: String,
    /// Its new text; without it the memory is taken out.
    #[serde(default)]
    pub value: Option<String>,
}

/// Answer of `beads_memory`.
#[derive(Serialize, Deserialize)]
pub struct BeadsMemoryOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The text before; missing where the file has no memory of this key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

impl Operation for BeadsMemory {
    const META: Meta =
        Meta::write("beads_memory", "Change a memory of a Beads file, or take it out").changes_tasks();
    type Input = BeadsMemoryInput;
    type Output = BeadsMemoryOutput;

    fn run(input: BeadsMemoryInput, cx: &mut Cx<'_>) -> Result<BeadsMemoryOutput, Failure> {
        if let Some(text) = &input.value {
            Memory { text: text.clone(), kind: "note".to_owned(), ..Memory::default() }.check()?;
        }
        let request = (input.project.as_deref(), input.identity.as_deref(), Self::NAME);
        write(cx, request, |tx, env, author| {
            let known = line::others(tx, author.project_id)?;
            let (mut lines, mut before) = (Vec::with_capacity(known.len()), None);
            for text in &known {
                match memory(text).filter(|memory| memory.key == input.key) {
                    None => lines.push(text.clone()),
                    Some(memory) => {
                        lines.extend(input.value.as_deref().map(|value| memory.line_with(value)));
                        before = Some(memory.value);
                    }
                }
            }
            if lines != known {
                line::put_others(tx, author.project_id, &lines)?;
                let what = if input.value.is_some() { "changed in" } else { "taken out of" };
                let summary = format!("memory {} was {what} the file", input.key);
                let body = json!({ "summary": summary, "replaced": { "value": before } });
                append_json(tx, env, author, Kind::Other, &body)?;
            }
            Ok(BeadsMemoryOutput {
                project_id: author.project_id.to_owned(),
                identity: author.identity.to_owned(),
                before,
            })
        })
    }
}

/// A memory as a line of the file has it.
pub struct BeadsFileMemory {
    /// What it is called.
    pub key: String,
    /// Its text.
    pub value: String,
    fields: Map<String, Value>,
}

impl BeadsFileMemory {
    /// The line with another text.
    fn line_with(&self, value: &str) -> String {
        let mut fields = self.fields.clone();
        fields.insert("value".to_owned(), json!(value));
        Value::Object(fields).to_string()
    }
}

/// The memory that a line of the file is; none where it is something else.
pub fn memory(line: &str) -> Option<BeadsFileMemory> {
    let fields = serde_json::from_str::<Map<String, Value>>(line).ok()?;
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    if text("_type") != Some("memory") {
        return None;
    }
    let key = text("key")?.to_owned();
    let value = text("value").unwrap_or_default().to_owned();
    Some(BeadsFileMemory { key, value, fields })
}

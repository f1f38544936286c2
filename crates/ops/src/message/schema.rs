//! `mail_schema`: what the typed hand-off messages look like.

use baton_model::handoff_message::Kind;
use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::op::{Cx, Meta, Operation};

/// Shows the schemas.
pub struct MailSchema;

/// Input of `mail_schema`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MailSchemaInput {
    /// Only this type.
    #[serde(rename = "type", default)]
    pub kind: Option<String>,
}

/// What a typed hand-off message looks like.
#[derive(Serialize, Deserialize)]
pub struct SchemaRow {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The JSON Schema.
    pub schema: Value,
}

/// Answer of `mail_schema`.
#[derive(Serialize, Deserialize)]
pub struct MailSchemaOutput {
    /// The rows of this page.
    pub items: Vec<SchemaRow>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for MailSchema {
    const META: Meta = Meta::read("mail_schema", "Show the JSON Schema of each typed hand-off message");
    type Input = MailSchemaInput;
    type Output = MailSchemaOutput;

    fn run(input: MailSchemaInput, _: &mut Cx<'_>) -> Result<MailSchemaOutput, Failure> {
        let kinds = match input.kind.as_deref() {
            Some(word) => vec![Kind::parse(word)?],
            None => Kind::ALL.to_vec(),
        };
        let row = |kind: &Kind| SchemaRow { kind: *kind, schema: kind.schema().into() };
        Ok(MailSchemaOutput { items: kinds.iter().map(row).collect(), next: None })
    }
}

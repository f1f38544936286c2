//! `mail_schema`: what the typed hand-off messages look like.

use baton_model::handoff_message::Kind;
use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::op::{Access, Cx, Operation};

/// Shows the schemas.
pub(crate) struct MailSchema;

/// Input of `mail_schema`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Only this type.
    #[serde(rename = "type", default)]
    kind: Option<String>,
}

/// Answer of `mail_schema`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Output {
    items: Vec<Value>,
    next: Option<i64>,
}

impl Operation for MailSchema {
    const NAME: &'static str = "mail_schema";
    const DOC: &'static str = "Show the JSON Schema of each typed hand-off message";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, _: &mut Cx<'_>) -> Result<Output, Failure> {
        let kinds = match input.kind.as_deref() {
            Some(word) => vec![Kind::named(word)?],
            None => Kind::ALL.to_vec(),
        };
        let row = |kind: &Kind| json!({ "type": kind.as_str(), "schema": kind.schema() });
        Ok(Output { items: kinds.iter().map(row).collect(), next: None })
    }
}

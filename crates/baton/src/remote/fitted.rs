//! Budgets that this machine applies: a context that it alone decrypts can be cut only then.

use baton_ops::op::Operation;
use baton_ops::task::{ClaimTask, ClaimTaskOutput, Show, ShowOutput};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The answer of an operation, with the budget applied that the server left to its client.
pub(super) fn fitted(operation: &str, answer: Value) -> Value {
    match operation {
        ClaimTask::NAME => changed(answer, ClaimTaskOutput::truncate),
        Show::NAME => changed(answer, ShowOutput::truncate),
        _ => answer,
    }
}

/// An answer that is none of the operation's stays as it is: its caller says so.
fn changed<O: DeserializeOwned + Serialize>(answer: Value, fit: fn(&mut O)) -> Value {
    let Ok(mut output) = O::deserialize(&answer) else { return answer };
    fit(&mut output);
    serde_json::to_value(output).unwrap_or(answer)
}

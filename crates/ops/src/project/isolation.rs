//! What of an isolated project is told outside of it, and of others inside: that they are there, and nothing that was said.

use baton_store::{Failure, project};
use serde_json::{Value, json};

use crate::op::Cx;
use crate::resolve;

/// The isolated project in which a caller stands who names none.
pub(super) fn standing_in(cx: &mut Cx<'_>) -> Result<Option<String>, Failure> {
    let Ok(own) = resolve::project_id(cx.store, cx.env.caller, None) else { return Ok(None) };
    let is_isolated =
        cx.store.read(|tx| Ok(project::get(tx, &own)?.is_some_and(|project| project.is_isolated)))?;
    Ok(Some(own).filter(|_| is_isolated))
}

/// A project's row in a list of all, without what was said in it.
pub(super) fn outline(row: &mut Value) {
    if let Value::Object(fields) = row {
        fields.retain(|key, _| !key.starts_with("last_wrapped"));
        fields.insert("phase".into(), Value::Null);
        fields.insert("focus".into(), json!([]));
    }
}

//! The MCP face. It stands in a crate of its own because the generics of a server are slow to compile.
//!
//! So far it only describes the operations as tools; no transport speaks yet, and the binary offers no `mcp` command.

use baton_ops::all::ALL;
use baton_ops::op::{Access, Entry};
use serde_json::{Value, json};

/// The longest name that every client shows whole (one cuts names at 63 characters, prefix included).
pub const MAX_NAME: usize = 40;

/// Every operation as an MCP tool, in the fixed order of the table: a list must not change as a side effect of a call.
pub fn tools() -> Vec<Value> {
    ALL.iter().map(tool).collect()
}

fn tool(entry: &Entry) -> Value {
    let reads = entry.access == Access::Read;
    json!({
        "name": entry.name,
        "description": entry.doc,
        "inputSchema": (entry.input_schema)(),
        "annotations": { "readOnlyHint": reads, "openWorldHint": false },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_every_client_shows() {
        for tool in tools() {
            let name = tool["name"].as_str().unwrap_or_default().to_owned();
            let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(!name.is_empty() && name.len() <= MAX_NAME && name.chars().all(good), "{name}");
        }
    }

    #[test]
    fn inputs_are_closed_objects() {
        for tool in tools() {
            assert_eq!(tool["inputSchema"]["type"], "object", "{}", tool["name"]);
            assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{}", tool["name"]);
        }
    }

    #[test]
    fn the_order_is_the_table_s() {
        let names: Vec<Value> = tools().iter().map(|tool| tool["name"].clone()).collect();
        let table: Vec<Value> = ALL.iter().map(|entry| json!(entry.name)).collect();
        assert_eq!(names, table);
    }
}

//! The list of tools, as a client is given it.

use std::sync::Arc;

use baton_model::refusal::ErrorObject;
use rmcp::model::{MetaObject, Tool as Listed, ToolAnnotations};
use serde_json::{Value, json};

use crate::schema;
use crate::table::{Action, TOOLS, Tool};

/// Which tools a server offers: chosen at its start, the same to its end.
#[derive(Clone, Debug, Default)]
pub struct ToolSet {
    /// Only these tools; empty means all.
    pub tools: Vec<String>,
    /// Only what changes nothing.
    pub read_only: bool,
}

impl ToolSet {
    /// The actions of a tool that are offered; none means that the tool is not.
    pub fn actions(&self, tool: &'static Tool) -> Vec<&'static Action> {
        if !self.tools.is_empty() && !self.tools.iter().any(|name| name == tool.name) {
            return Vec::new();
        }
        tool.actions.iter().filter(|action| !self.read_only || action.reads()).collect()
    }

    /// The actions of earlier versions that a tool understands.
    pub fn unlisted(&self, tool: &'static Tool) -> impl Iterator<Item = &'static Action> + use<> {
        let is_chosen = self.tools.is_empty() || self.tools.iter().any(|name| name == tool.name);
        let read_only = self.read_only;
        tool.unlisted.iter().filter(move |action| is_chosen && (!read_only || action.reads()))
    }

    /// Names that were chosen and are no tool's.
    pub fn unknown(&self) -> Vec<&str> {
        let known = |name: &&str| !TOOLS.iter().any(|tool| tool.name == *name);
        self.tools.iter().map(String::as_str).filter(known).collect()
    }
}

/// The tools, in the order of the table.
pub(crate) fn list(offer: &ToolSet) -> Vec<Listed> {
    let output = Arc::new(schema::output());
    let offered =
        TOOLS.iter().map(|tool| (tool, offer.actions(tool))).filter(|(_, actions)| !actions.is_empty());
    offered.map(|(tool, actions)| tool_listing(tool, &actions, &output)).collect()
}

fn tool_listing(
    tool: &Tool,
    actions: &[&'static Action],
    output: &Arc<serde_json::Map<String, serde_json::Value>>,
) -> Listed {
    let reads = actions.iter().all(|action| action.reads());
    let hints = ToolAnnotations::from_raw(
        None,
        Some(reads),
        Some(tool.destructive && !reads),
        Some(reads),
        Some(false),
    );
    let listed = Listed::new(tool.name, describe(tool, actions), Arc::new(schema::input(tool, actions)))
        .with_title(tool.title)
        .with_annotations(hints)
        .with_raw_output_schema(Arc::clone(output));
    if !tool.always {
        return listed;
    }
    let mut meta = MetaObject::new();
    meta.insert("anthropic/alwaysLoad".into(), json!(true));
    listed.with_meta(meta)
}

/// The words of the table, then a line for each action from its operation.
fn describe(tool: &Tool, actions: &[&'static Action]) -> String {
    let mut text = tool.doc.split_whitespace().collect::<Vec<_>>().join(" ");
    if tool.actions.len() == 1 {
        return text;
    }
    for action in actions {
        let doc = match action.entry() {
            Some(entry) if action.fixed.is_empty() && action.doc.is_empty() => entry.doc,
            _ => action.doc,
        };
        let needs = schema::needs(action);
        text.push_str(&format!("\n- {}", action.name));
        if !doc.is_empty() {
            text.push_str(&format!(": {doc}"));
        }
        if !needs.is_empty() {
            text.push_str(&format!(" (needs {})", needs.join(", ")));
        }
    }
    text
}

/// The refusal of an action that a tool does not have: it names the tool that has one of this name.
pub(crate) fn unknown_action(tool: &Tool, actions: &[&Action], wanted: Option<&Value>) -> ErrorObject {
    let what = match wanted {
        Some(name) => format!("{} has no action {name}", tool.name),
        None => format!("{} needs an `action`", tool.name),
    };
    let named = wanted.and_then(Value::as_str);
    let has = |other: &&Tool| other.actions.iter().any(|action| Some(action.name) == named);
    let other = TOOLS.iter().filter(|other| other.name != tool.name).find(has);
    let hint = match (other, named) {
        (Some(other), Some(action)) => format!("call {} {{action: {action}}}", other.name),
        _ => {
            let names: Vec<&str> = actions.iter().map(|action| action.name).collect();
            format!("use one of {}", names.join(", "))
        }
    };
    ErrorObject::new("action_unknown", what, hint)
}

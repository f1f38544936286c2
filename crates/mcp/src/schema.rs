//! Input schemas of tools, merged from those of their operations. Nothing is typed by hand, only made smaller: a model reads
//! every word of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::argument_docs::argument_doc;
use crate::table::{Action, READ_MORE, Tool};

/// How much of an answer is wanted. Every tool takes it; no operation does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Detail {
    /// At most 3,000 characters.
    Brief,
    /// At most 10,000 characters, which every client shows whole.
    #[default]
    Normal,
    /// At most 40,000 characters; some clients cut it.
    Full,
}

/// Input of the face's own action: where to read on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageInput {
    /// `left_out.token` of the answer.
    pub token: String,
    /// `field` of the part that was left out.
    pub field: String,
    /// First item or character wanted; what was `shown` is skipped.
    #[serde(default)]
    pub from: usize,
}

/// What every answer has beside the fields of its operation, which speak for themselves.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Frame {
    /// What to do now.
    pub next_step: String,
}

/// Found out by the server itself, said once for all, or asked for by the page alone.
pub(crate) const HIDDEN: &[&str] = &["surface", "order", "whole", "parts"];

/// Fields that mean the same everywhere, in fewer words.
const COMMON: &[(&str, &str)] = &[
    ("project", "Id; else this folder's"),
    ("identity", "Your name; else as before"),
    ("session", "Yours; else your open one"),
    (REQUEST_ID, "For retries"),
    ("force", "Take it from a live agent; only when the user says so"),
    ("why", "Of force; goes into the ledger"),
];

/// The key under which a call is answered once.
pub(crate) const REQUEST_ID: &str = "request_id";

/// A priority, of whichever tool.
const PRIORITY: &str = "`critical`, `high`, `normal`, `low`, or 0 to 4";

/// The input schema of a tool with these of its actions.
pub(crate) fn input(tool: &Tool, actions: &[&'static Action]) -> Map<String, Value> {
    let parts: Vec<(&Action, Value)> = actions.iter().map(|action| (*action, slim(&raw(action)))).collect();
    let mut properties = Map::new();
    if tool.actions.len() > 1 {
        let names: Vec<&str> = actions.iter().map(|action| action.name).collect();
        properties.insert("action".into(), json!({ "type": "string", "enum": names }));
    }
    for (action, part) in &parts {
        for (name, property) in part["properties"].as_object().into_iter().flatten() {
            let fixed = action.fixed.iter().any(|(fixed, _)| fixed == name);
            let omitted = HIDDEN.contains(&name.as_str()) || tool.omit.contains(&name.as_str());
            if !fixed && !omitted {
                let mut property = property.clone();
                // Fields of a field say by their names what they are.
                let inner = property.get_mut("properties").and_then(Value::as_object_mut);
                for (_, inner) in inner.into_iter().flatten() {
                    inner.as_object_mut().and_then(|inner| inner.remove("description"));
                }
                merge(&mut properties, name, property);
            }
        }
    }
    if actions.iter().any(|action| !action.reads()) && !tool.omit.contains(&REQUEST_ID) {
        // Every write may be repeated, also one whose operation has no field for it.
        properties.entry(REQUEST_ID).or_insert_with(|| json!({ "type": "string" }));
    }
    for (name, doc) in COMMON {
        let own = |(_, part): &(&Action, Value)| required(part).any(|required| required == *name);
        if let Some(property) = properties.get_mut(*name)
            && !parts.iter().any(own)
        {
            property["description"] = json!(doc);
        }
    }
    for (name, property) in &mut properties {
        if let Some(text) = argument_doc(tool.name, name) {
            property["description"] = json!(text);
        }
        if name == "priority" {
            // A word or a number.
            *property = json!({ "description": PRIORITY });
        }
    }
    properties.insert("detail".into(), json!({ "type": "string", "enum": ["brief", "normal", "full"] }));
    let mut needed: Vec<String> =
        if tool.actions.len() > 1 && !tool.has_default { vec!["action".into()] } else { Vec::new() };
    if let [(_, part)] = parts.as_slice() {
        needed.extend(required(part).map(str::to_owned));
    }
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(properties));
    if !needed.is_empty() {
        schema.insert("required".into(), json!(needed));
    }
    schema.insert("additionalProperties".into(), json!(false));
    schema
}

/// The output schema, one for all: the frame. Each operation adds fields of its own.
pub(crate) fn output() -> Map<String, Value> {
    let mut schema = slim(&schemars::schema_for!(Frame).into());
    for (_, property) in schema["properties"].as_object_mut().into_iter().flatten() {
        if let Some(fields) = property.as_object_mut() {
            fields.remove("description");
        }
    }
    schema.as_object_mut().map(std::mem::take).unwrap_or_default()
}

/// What the action needs beyond what its tool demands of every call.
pub(crate) fn needs(action: &Action) -> Vec<String> {
    let is_fixed = |name: &str| action.fixed.iter().any(|(fixed, _)| *fixed == name);
    required(&slim(&raw(action))).filter(|name| !is_fixed(name)).map(str::to_owned).collect()
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The schema as the operation's type gives it.
fn raw(action: &Action) -> Value {
    if action.operation == READ_MORE {
        return schemars::schema_for!(PageInput).into();
    }
    action.entry().map(|entry| (entry.input_schema)().into()).unwrap_or_default()
}

/// The same schema in fewer words: references resolved, what a model does not need left out.
pub(crate) fn slim(schema: &Value) -> Value {
    let definitions = schema["$defs"].clone();
    let mut slimmed = slimmed(schema, &definitions);
    if let Some(fields) = slimmed.as_object_mut() {
        fields.remove("description");
    }
    slimmed
}

fn slimmed(schema: &Value, definitions: &Value) -> Value {
    let Some(fields) = schema.as_object() else { return schema.clone() };
    if let Some(name) = fields.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/")) {
        let mut target = slimmed(&definitions[name], definitions);
        if let Some(doc) = fields.get("description") {
            target["description"] = doc.clone();
        }
        return target;
    }
    if let Some(values) = fields.get("oneOf").and_then(Value::as_array).and_then(|of| constants(of)) {
        return json!({ "type": "string", "enum": values });
    }
    if let Some([only]) = fields.get("anyOf").and_then(Value::as_array).map(|of| without_null(of)).as_deref()
    {
        let mut only = slimmed(only, definitions);
        if let Some(doc) = fields.get("description") {
            only["description"] = doc.clone();
        }
        return only;
    }
    let mut slim = Map::new();
    for (key, value) in fields {
        match key.as_str() {
            "$schema" | "title" | "default" | "format" | "$defs" | "minimum" => {}
            "type" => _ = slim.insert(key.clone(), not_null(value)),
            "properties" => {
                let inner = value.as_object().into_iter().flatten();
                let inner = inner.map(|(name, property)| (name.clone(), slimmed(property, definitions)));
                slim.insert(key.clone(), Value::Object(inner.collect()));
            }
            "description" => {
                let text = value.as_str().unwrap_or_default().trim_end_matches('.');
                slim.insert(key.clone(), json!(text));
            }
            // An object is open unless it says otherwise.
            "additionalProperties" if *value == true => {}
            "items" | "additionalProperties" => _ = slim.insert(key.clone(), slimmed(value, definitions)),
            _ => _ = slim.insert(key.clone(), value.clone()),
        }
    }
    Value::Object(slim)
}

/// The values of an enum whose variants are all constants.
fn constants(of: &[Value]) -> Option<Vec<Value>> {
    let mut values = Vec::new();
    for variant in of {
        match (variant.get("const"), variant.get("enum").and_then(Value::as_array)) {
            (Some(value), _) => values.push(value.clone()),
            (None, Some(several)) => values.extend(several.iter().cloned()),
            _ => return None,
        }
    }
    Some(values)
}

fn without_null(of: &[Value]) -> Vec<&Value> {
    of.iter().filter(|schema| schema["type"] != "null").collect()
}

/// An optional field is one that may be left out; that it may be `null` too need not be said.
fn not_null(kind: &Value) -> Value {
    let Some(kinds) = kind.as_array() else { return kind.clone() };
    match kinds.iter().filter(|kind| **kind != "null").collect::<Vec<_>>().as_slice() {
        [one] => (*one).clone(),
        _ => kind.clone(),
    }
}

/// Adds a property; if another action has one of the same name, the descriptions are joined.
fn merge(properties: &mut Map<String, Value>, name: &str, property: Value) {
    let Some(known) = properties.get_mut(name) else {
        properties.insert(name.to_owned(), property);
        return;
    };
    let description = |schema: &Value| schema["description"].as_str().unwrap_or_default().to_owned();
    let (before, now) = (description(known), description(&property));
    if !now.is_empty() && !before.split(" / ").any(|part| part == now) {
        let both = if before.is_empty() { now } else { format!("{before} / {now}") };
        known["description"] = json!(both);
    }
    if shape(known) != shape(&property)
        && let Some(fields) = known.as_object_mut()
    {
        // Two shapes: any value passes the schema, and the operation says what is wrong with it.
        fields.retain(|key, _| key == "description");
    }
}

fn shape(schema: &Value) -> Value {
    let mut shape = schema.clone();
    if let Some(fields) = shape.as_object_mut() {
        fields.remove("description");
    }
    shape
}

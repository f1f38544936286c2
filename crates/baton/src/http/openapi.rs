//! `/openapi.json`: the API described by the table of paths and the operations' own schemas.

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::response::Response;
use baton_ops::all;
use baton_ops::op::{HandoffEffect, OperationEntry, Site, TxMode};
use serde_json::{Map, Value, json};

use super::answer::json_of;
use super::routes::{ROUTES, Route};

/// `GET /openapi.json`
pub(super) async fn show() -> Response {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(document);
    json_of(StatusCode::OK, &DOCUMENT)
}

/// The whole description, OpenAPI 3.1.
pub(super) fn document() -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    for route in ROUTES {
        if let Ok(entry) = all::find(route.operation) {
            insert(&mut paths, route.path, route.method, of_route(route, entry, &mut schemas));
        }
    }
    for entry in all::ALL {
        let path = format!("/ops/{}", entry.name);
        insert(&mut paths, &path, "POST", of_operation(entry, &mut schemas));
    }
    insert(&mut paths, "/events", "GET", events());
    insert(&mut paths, "/remote/{name}", "POST", remote());
    schemas.insert("Problem".into(), problem());
    schemas.insert("Answer".into(), answer());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Baton",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The hand-off layer for coding agents: one leaves a packet, exactly one picks it up.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/api/v1" }],
        "security": [{}, { "bearer": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": problem_responses(),
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn insert(paths: &mut Map<String, Value>, path: &str, method: &str, what: Value) {
    let entry = paths.entry(path.to_owned()).or_insert_with(|| json!({}));
    entry[method.to_lowercase()] = what;
}

/// The operation's input as a component; its own definitions become components too.
fn input_ref(entry: &OperationEntry, schemas: &mut Map<String, Value>) -> (Value, Value) {
    let mut schema = (entry.input_schema)().to_value();
    let definitions = schema.as_object_mut().and_then(|object| object.remove("$defs"));
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
        object.insert("title".into(), entry.name.into());
    }
    let prefix = format!("{}.", entry.name);
    let moved = |value: &Value| rename(value, &prefix);
    for (name, definition) in definitions.as_ref().and_then(Value::as_object).into_iter().flatten() {
        schemas.insert(format!("{prefix}{name}"), moved(definition));
    }
    let schema = moved(&schema);
    schemas.insert(entry.name.to_owned(), schema.clone());
    (json!({ "$ref": format!("#/components/schemas/{}", entry.name) }), schema)
}

/// References to definitions of one schema, pointed at the components.
fn rename(value: &Value, prefix: &str) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| match (key.as_str(), value.as_str()) {
                ("$ref", Some(target)) => {
                    let name = target.trim_start_matches("#/$defs/");
                    (key.clone(), json!(format!("#/components/schemas/{prefix}{name}")))
                }
                _ => (key.clone(), rename(value, prefix)),
            })
            .collect(),
        Value::Array(items) => items.iter().map(|item| rename(item, prefix)).collect(),
        other => other.clone(),
    }
}

fn of_route(route: &Route, entry: &OperationEntry, schemas: &mut Map<String, Value>) -> Value {
    let (_, schema) = input_ref(entry, schemas);
    let names: Vec<&str> =
        route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
    let fixed = |name: &str| route.fixed.iter().any(|(key, _)| *key == name);
    let mut parameters = Vec::new();
    let mut body = Map::new();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let mut what = property.clone();
        let about = what.as_object_mut().and_then(|o| o.remove("description")).unwrap_or_default();
        if names.contains(&name.as_str()) {
            let schema = json!({ "type": "string", "minLength": 1 });
            parameters.push(json!({ "name": name, "in": "path", "required": true, "description": about, "schema": schema }));
        } else if fixed(name) {
            // The path says it.
        } else if route.method == "GET" || route.method == "DELETE" {
            let required = required.contains(&name.as_str());
            parameters.push(
                json!({ "name": name, "in": "query", "required": required, "description": about, "schema": nullless(&what),
                    "style": "form", "explode": false }),
            );
        } else {
            body.insert(name.clone(), property.clone());
        }
    }
    let mut described =
        head(entry, &format!("{}_{}", route.method.to_lowercase(), route.path.replace(['/', '{', '}'], "_")));
    described["parameters"] = json!(parameters);
    if route.method == "POST" || route.method == "PATCH" {
        let needed: Vec<&str> =
            required.into_iter().filter(|name| !names.contains(name) && !fixed(name)).collect();
        let content = json!({ "type": "object", "properties": body, "required": needed, "additionalProperties": false });
        described["requestBody"] = json!({ "required": !needed.is_empty(), "content": { "application/json": { "schema": content } } });
    }
    described["responses"] = responses(entry, route.status, route.document, route.method == "GET");
    described
}

/// A query cannot say null.
fn nullless(property: &Value) -> Value {
    let mut property = property.clone();
    if let Some(kinds) = property["type"].as_array() {
        let kinds: Vec<Value> = kinds.iter().filter(|kind| *kind != "null").cloned().collect();
        property["type"] = match kinds.as_slice() {
            [one] => one.clone(),
            _ => json!(kinds),
        };
    }
    if let Some(fields) = property.as_object_mut() {
        fields.remove("default");
    }
    property
}

fn of_operation(entry: &OperationEntry, schemas: &mut Map<String, Value>) -> Value {
    let (reference, schema) = input_ref(entry, schemas);
    let needed = schema["required"].as_array().is_some_and(|names| !names.is_empty());
    let mut described = head(entry, &format!("ops_{}", entry.name));
    described["requestBody"] =
        json!({ "required": needed, "content": { "application/json": { "schema": reference } } });
    described["responses"] = responses(entry, 200, false, false);
    described
}

fn head(entry: &OperationEntry, id: &str) -> Value {
    let noun = entry.name.split('_').next().unwrap_or_default();
    json!({ "operationId": id, "summary": entry.doc, "tags": [noun], "x-baton-operation": entry.name,
        "x-baton-scope": entry.scope.as_str() })
}

fn responses(entry: &OperationEntry, status: u16, document: bool, tagged: bool) -> Value {
    let mut content = json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Answer" } } });
    if document {
        content["text/markdown"] = json!({ "schema": { "type": "string" } });
    }
    let mut all = Map::new();
    all.insert(status.to_string(), json!({ "description": entry.doc, "content": content.clone() }));
    if entry.handoff == HandoffEffect::Begins {
        let later = "Written down and on its way: Location says where to look";
        all.entry("200").or_insert_with(
            || json!({ "description": "A preview: nothing was written", "content": content.clone() }),
        );
        all.insert("202".into(), json!({ "description": later, "content": content }));
    }
    if tagged || entry.tx_mode == TxMode::Read {
        all.insert(
            "304".into(),
            json!({ "description": "Nothing has changed since the tag of If-None-Match" }),
        );
    }
    problems(Value::Object(all))
}

/// The ways in which every request can be refused.
const PROBLEMS: [(u16, &str); 12] = [
    (400, "Malformed input"),
    (401, "No valid token"),
    (403, "Not from here, or not with this token"),
    (404, "What was named does not exist"),
    (408, "The body came too slowly"),
    (409, "Held, claimed, or moved on"),
    (412, "The state has another version"),
    (413, "The body is too large"),
    (422, "The request cannot be carried out as it stands"),
    (429, "Too many requests with this token, or with none, in a second"),
    (500, "A fault of ours"),
    (503, "Too much at once, or a system outside failed"),
];

/// Adds them to what an operation answers.
fn problems(mut all: Value) -> Value {
    for (status, _) in PROBLEMS {
        all[status.to_string()] = json!({ "$ref": format!("#/components/responses/{status}") });
    }
    all
}

/// What they look like, once for all operations.
fn problem_responses() -> Value {
    let content =
        json!({ "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } });
    PROBLEMS
        .into_iter()
        .map(|(status, about)| (status.to_string(), json!({ "description": about, "content": content })))
        .collect::<Map<String, Value>>()
        .into()
}

fn events() -> Value {
    let query = |name: &str, about: &str| json!({ "name": name, "in": "query", "required": false, "description": about, "schema": { "type": "string" } });
    json!({
        "operationId": "events", "summary": "Listen to every delta as it is written, as Server-Sent Events", "tags": ["ledger"],
        "parameters": [
            query("project", "Only this project"), query("last_event_id", "Begin after this event, as the header Last-Event-ID does"),
        ],
        "responses": problems(json!({ "200": { "description": "A stream that does not end by itself",
            "content": { "text/event-stream": { "schema": { "type": "string" } } } } })),
    })
}

/// What clients of ours on other machines speak.
fn remote() -> Value {
    let names: Vec<&str> =
        all::ALL.iter().filter(|entry| entry.site == Site::Ledger).map(|entry| entry.name).collect();
    let fact = json!({ "type": "object", "required": ["question", "answer"], "additionalProperties": false,
        "properties": { "question": { "type": "object" }, "answer": {} } });
    let text = json!({ "type": ["string", "null"] });
    let caller = json!({ "type": "object", "additionalProperties": false, "properties": {
        "identity": text, "project": text, "session": text, "git_root": text,
        "surface": { "type": "string" }, "machine": { "type": "string" }, "process": { "type": "string" },
        "folders": { "type": "array", "items": { "type": "string" } } } });
    let body = json!({ "type": "object", "additionalProperties": false, "properties": {
        "input": { "type": "object", "description": "As the operation takes it" },
        "caller": caller, "facts": { "type": "array", "items": fact } } });
    json!({
        "operationId": "remote", "tags": ["remote"],
        "summary": "Run an operation for a client that answers what only its machine can tell",
        "description": "409 with the code facts_wanted carries `questions`; called again with the answers in `facts`, the operation goes on. \
            Until then nothing is written.",
        "parameters": [{ "name": "name", "in": "path", "required": true, "schema": { "type": "string", "enum": names } }],
        "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
        "responses": problems(json!({ "200": { "description": "The operation's answer",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Answer" } } } } })),
    })
}

fn answer() -> Value {
    json!({
        "type": "object",
        "description": "The operation's answer, the same as `--json` and MCP give.",
        "properties": {
            "project_id": { "type": ["string", "null"] },
            "identity": { "type": ["string", "null"] },
            "session_id": { "type": ["string", "null"] },
        },
    })
}

fn problem() -> Value {
    json!({
        "type": "object",
        "description": "RFC 9457, with a stable code and what to do next",
        "required": ["type", "title", "status", "code", "message", "hint"],
        "properties": {
            "type": { "type": "string" }, "title": { "type": "string" }, "status": { "type": "integer" },
            "code": { "type": "string" }, "message": { "type": "string" }, "hint": { "type": "string" },
        },
    })
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test may read its environment")]
mod tests {
    use super::*;

    #[test]
    fn every_path_names_arguments_of_its_operation() {
        for route in ROUTES {
            let entry = all::find(route.operation).expect(route.path);
            let schema = (entry.input_schema)();
            let known = schema.get("properties").cloned().unwrap_or_default();
            let named = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
            for name in named.chain(route.fixed.iter().map(|(name, _)| *name)) {
                assert!(known.get(name).is_some(), "{}: {} takes no `{name}`", route.path, route.operation);
            }
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = document();
        let mut pending = vec![&document];
        while let Some(value) = pending.pop() {
            match value {
                Value::Object(fields) => {
                    if let Some(target) = fields.get("$ref").and_then(Value::as_str) {
                        let pointer = target.trim_start_matches('#');
                        assert!(document.pointer(pointer).is_some(), "{target} leads nowhere");
                    }
                    pending.extend(fields.values());
                }
                Value::Array(items) => pending.extend(items),
                _ => {}
            }
        }
    }

    #[test]
    fn the_page_under_docs_is_what_is_served() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
        let text = format!("{:#}\n", document());
        if std::env::var_os("BATON_WRITE_DOCS").is_some() {
            std::fs::write(&path, &text).expect("written");
        }
        let known = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(known == text, "docs/openapi.json is not up to date: run with BATON_WRITE_DOCS=1");
    }

    #[test]
    fn a_path_stands_once() {
        let mut seen = std::collections::BTreeSet::new();
        for route in ROUTES {
            assert!(seen.insert((route.method, route.path)), "{} {}", route.method, route.path);
        }
    }
}

//! Qdrant's published description of its API, and whether a request or an answer is as it says. It knows the words that the description
//! uses; one that it does not know is a complaint, so that nothing passes unread.

use serde_json::Value;

use crate::http::Request;

/// What `openapi/extract_qdrant.py` has taken out of Qdrant's own client.
const TEXT: &str = include_str!("../../openapi/qdrant.json");

pub(super) struct ApiDescription(Value);

/// The place of an operation in the description.
#[derive(Clone, Copy)]
pub(super) struct Operation<'a>(&'a Value);

impl ApiDescription {
    pub(super) fn read() -> Self {
        Self(serde_json::from_str(TEXT).unwrap_or_default())
    }

    pub(super) fn operation(&self, method: &str, path: &str) -> Option<Operation<'_>> {
        let parts: Vec<&str> = path.split('/').collect();
        let fits = |template: &str| {
            let wanted: Vec<&str> = template.split('/').collect();
            wanted.len() == parts.len()
                && wanted.iter().zip(&parts).all(|(w, p)| w.starts_with('{') || w == p)
        };
        let (_, methods) = self.0["paths"].as_object()?.iter().find(|(path, _)| fits(path))?;
        methods.get(method.to_lowercase()).map(Operation)
    }

    pub(super) fn of_request(&self, operation: Operation<'_>, request: &Request) -> Vec<String> {
        let mut complaints = Vec::new();
        for (name, text) in &request.query {
            let value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()));
            match operation.0["query"].get(name) {
                None => complaints.push(format!("query {name} is not described")),
                Some(schema) => self.check(schema, &value, &format!("query {name}"), &mut complaints),
            }
        }
        match operation.0.get("request") {
            None if !request.body.is_null() => {
                complaints.push("request: a body that nobody described".into())
            }
            None => {}
            Some(schema) => self.check(schema, &request.body, "request", &mut complaints),
        }
        self.with_request(request, complaints)
    }

    pub(super) fn of_answer(&self, operation: Operation<'_>, body: &Value) -> Vec<String> {
        let mut complaints = Vec::new();
        self.check(&operation.0["responses"]["200"], body, "answer", &mut complaints);
        complaints
    }

    fn with_request(&self, request: &Request, complaints: Vec<String>) -> Vec<String> {
        complaints.into_iter().map(|what| format!("{} {}: {what}", request.method, request.path)).collect()
    }

    /// Whether a value is as a schema says.
    pub(super) fn check(&self, schema: &Value, value: &Value, at: &str, complaints: &mut Vec<String>) {
        for (word, wanted) in schema.as_object().into_iter().flatten() {
            match word.as_str() {
                "$ref" => {
                    let place = wanted.as_str().unwrap_or_default().trim_start_matches('#');
                    match self.0.pointer(place) {
                        Some(part) => self.check(part, value, at, complaints),
                        None => complaints.push(format!("{at}: nothing is described at {place}")),
                    }
                }
                "type" if is_a(wanted, value) => {}
                "type" => complaints.push(format!("{at} is {value:.80}, not {wanted}")),
                "enum" if wanted.as_array().is_some_and(|all| all.contains(value)) => {}
                "enum" => complaints.push(format!("{at} is {value}, none of {wanted}")),
                "format" if wanted != "uuid" || value.as_str().is_some_and(|text| text.len() == 36) => {}
                "format" => complaints.push(format!("{at} is {value}, no {wanted}")),
                "required" => {
                    let all = wanted.as_array().into_iter().flatten().filter_map(Value::as_str);
                    complaints.extend(
                        all.filter(|key| value.get(key).is_none())
                            .map(|key| format!("{at}.{key} is missing")),
                    );
                }
                "properties" => {
                    for (key, inner) in wanted.as_object().into_iter().flatten() {
                        if let Some(field) = value.get(key) {
                            self.check(inner, field, &format!("{at}.{key}"), complaints);
                        }
                    }
                }
                "additionalProperties" => self.more(schema, wanted, value, at, complaints),
                "items" => {
                    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(wanted, item, &format!("{at}[{number}]"), complaints);
                    }
                }
                "anyOf" => self.any(wanted, value, at, complaints),
                other => complaints.push(format!("{at}: `{other}` is a word that this check does not know")),
            }
        }
    }

    fn more(&self, schema: &Value, wanted: &Value, value: &Value, at: &str, complaints: &mut Vec<String>) {
        let known = schema["properties"].as_object();
        for (key, field) in value.as_object().into_iter().flatten() {
            if known.is_some_and(|known| known.contains_key(key)) {
                continue;
            }
            match wanted {
                Value::Bool(true) => {}
                Value::Bool(false) => complaints.push(format!("{at}.{key} is one too many")),
                inner => self.check(inner, field, &format!("{at}.{key}"), complaints),
            }
        }
    }

    /// One matching alternative is enough; if none matches, the complaints about the nearest are reported.
    fn any(&self, wanted: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
        let complaints = |one: &Value| {
            let mut faults = Vec::new();
            self.check(one, value, at, &mut faults);
            faults
        };
        let nearest = wanted.as_array().into_iter().flatten().map(complaints).min_by_key(Vec::len);
        faults.extend(nearest.into_iter().flatten());
    }
}

fn is_a(kind: &Value, value: &Value) -> bool {
    match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_as_described_is_seen() {
        let described = ApiDescription::read();
        let operation = described.operation("POST", "/collections/c/points/query").expect("described");
        let good = json!({
            "prefetch": [{ "query": { "indices": [1], "values": [0.5] }, "using": "words", "limit": 5,
                "filter": { "must": [{ "key": "project_id", "match": { "any": ["p"] } }] } }],
            "query": { "fusion": "rrf" }, "limit": 5, "with_payload": ["project_id"],
        });
        let check = |body: &Value| {
            let mut complaints = Vec::new();
            described.check(&operation.0["request"], body, "request", &mut complaints);
            complaints
        };
        assert_eq!(check(&good), Vec::<String>::new());
        for (place, wrong) in [
            ("/query/fusion", json!("rrff")),
            ("/prefetch/0/query/indices", json!(["a"])),
            ("/prefetch/0/filter/must/0/match", json!({ "anny": ["p"] })),
            ("/prefetch/0/filter/must/0/match/any", json!("p")),
            ("/limit", json!("5")),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(place).expect("there") = wrong;
            assert!(!check(&bad).is_empty(), "{place}");
        }
        let mut more = good.clone();
        more["colour"] = json!("red");
        assert_eq!(check(&more).len(), 1);
        assert!(described.operation("PATCH", "/collections/c/points/query").is_none());
        assert!(described.operation("POST", "/nowhere").is_none());
    }
}

//! GitHub's published description of its API, and whether an exchange is as it says. It knows the words that the description uses; a word that
//! it does not know is a complaint, so that nothing passes unread.

use baton_emulator::Exchange;
use serde_json::{Value, json};

/// What `crates/emulator/openapi/extract.mjs` has taken out of npm's `@octokit/openapi`.
const ISSUES: &str = include_str!("../../../../emulator/openapi/issues.json");

/// The description.
pub(super) struct ApiDescription(Value);

impl ApiDescription {
    pub(super) fn read() -> Self {
        Self(serde_json::from_str(ISSUES).expect("JSON"))
    }

    /// Every operation that it describes, as method and path.
    pub(super) fn operations(&self) -> Vec<(String, String)> {
        let paths = self.0["paths"].as_object().expect("paths");
        let of = |(path, methods): (&String, &Value)| {
            let methods = methods.as_object().expect("methods");
            methods.keys().map(|method| (method.to_uppercase(), path.clone())).collect::<Vec<_>>()
        };
        paths.iter().flat_map(of).collect()
    }

    /// The operation that a request asks for.
    pub(super) fn operation(&self, exchange: &Exchange) -> Option<(String, String)> {
        let path = exchange.request.path.strip_prefix("/api/v3").unwrap_or(&exchange.request.path);
        let parts: Vec<&str> = path.split('/').collect();
        let fits = |template: &str| {
            let wanted: Vec<&str> = template.split('/').collect();
            wanted.len() == parts.len()
                && wanted.iter().zip(&parts).all(|(w, p)| w.starts_with('{') || w == p)
        };
        self.operations().into_iter().find(|(method, path)| *method == exchange.request.method && fits(path))
    }

    /// What is not as described.
    pub(super) fn complaints(&self, exchange: &Exchange) -> Vec<String> {
        let Some((method, path)) = self.operation(exchange) else {
            return vec![format!("{} {} is not described", exchange.request.method, exchange.request.path)];
        };
        let operation = &self.0["paths"][&path][method.to_lowercase()];
        let mut complaints = Vec::new();
        self.query(operation, exchange, &mut complaints);
        let wanted = &operation["requestBody"]["content"]["application/json"]["schema"];
        match (wanted.is_null(), exchange.request.body.is_null()) {
            (true, false) => complaints.push("request: a body that nobody described".into()),
            (false, false) => {
                self.check(wanted, &exchange.request.body, "request", &mut complaints);
                let known = wanted["properties"].as_object().expect("properties");
                let given = exchange.request.body.as_object().expect("an object");
                let unknown = given.keys().filter(|key| !known.contains_key(*key));
                complaints.extend(unknown.map(|key| format!("request.{key} is not described")));
            }
            _ => {}
        }
        self.answer(operation, exchange, &mut complaints);
        complaints.into_iter().map(|what| format!("{method} {path} → {}: {what}", exchange.status)).collect()
    }

    fn query(&self, operation: &Value, exchange: &Exchange, complaints: &mut Vec<String>) {
        let parameters: Vec<&Value> =
            operation["parameters"].as_array().into_iter().flatten().map(|one| self.resolved(one)).collect();
        for (name, text) in &exchange.request.query {
            match parameters.iter().find(|one| one["in"] == "query" && one["name"] == name.as_str()) {
                None => complaints.push(format!("query {name} is not described")),
                Some(parameter) => {
                    let number =
                        text.parse::<i64>().ok().filter(|_| parameter["schema"]["type"] == "integer");
                    let value = number.map_or_else(|| json!(text), |number| json!(number));
                    self.check(&parameter["schema"], &value, &format!("query {name}"), complaints);
                }
            }
        }
    }

    fn answer(&self, operation: &Value, exchange: &Exchange, complaints: &mut Vec<String>) {
        let described = &operation["responses"][exchange.status.to_string()];
        if described.is_null() {
            // Any call may be told so; GitHub says it once for all, and not in the description. So it is with what has not changed.
            let tagged = exchange.request.headers.contains_key("if-none-match");
            match exchange.status {
                401 | 429 | 500..=599 => {}
                304 if tagged && exchange.body.is_null() => {}
                _ => complaints.push("this status is not described".into()),
            }
            return;
        }
        let content = &self.resolved(described)["content"]["application/json"]["schema"];
        match content.is_null() {
            true if !exchange.body.is_null() => {
                complaints.push("answer: a body that nobody described".into())
            }
            true => {}
            false => self.check(content, &exchange.body, "answer", complaints),
        }
    }

    fn resolved<'a>(&'a self, node: &'a Value) -> &'a Value {
        match node["$ref"].as_str() {
            Some(place) => self.0.pointer(place.trim_start_matches('#')).expect("a part of the description"),
            None => node,
        }
    }

    /// Whether a value is as a schema says.
    pub(super) fn check(&self, schema: &Value, value: &Value, at: &str, complaints: &mut Vec<String>) {
        let schema = self.resolved(schema);
        if value.is_null() && schema["nullable"] == true {
            return;
        }
        for (word, wanted) in schema.as_object().into_iter().flatten() {
            match word.as_str() {
                "title" | "default" | "nullable" => {}
                "type" if is_a(wanted, value) => {}
                "type" => complaints.push(format!("{at} is {value:.80}, not {wanted}")),
                "enum" if wanted.as_array().is_some_and(|all| all.contains(value)) => {}
                "enum" => complaints.push(format!("{at} is {value}, none of {wanted}")),
                "format" if is_formed(wanted, value) => {}
                "format" => complaints.push(format!("{at} is {value}, no {wanted}")),
                "required" => {
                    let missing = wanted.as_array().into_iter().flatten().filter_map(Value::as_str);
                    complaints.extend(
                        missing
                            .filter(|key| value.get(key).is_none())
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
                "additionalProperties" => {
                    let known = schema["properties"].as_object();
                    let more = value.as_object().into_iter().flatten();
                    for (key, field) in
                        more.filter(|(key, _)| known.is_none_or(|known| !known.contains_key(*key)))
                    {
                        match wanted {
                            Value::Bool(true) => {}
                            Value::Bool(false) => complaints.push(format!("{at}.{key} is one too many")),
                            inner => self.check(inner, field, &format!("{at}.{key}"), complaints),
                        }
                    }
                }
                "items" => {
                    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(wanted, item, &format!("{at}[{number}]"), complaints);
                    }
                }
                "allOf" => wanted
                    .as_array()
                    .into_iter()
                    .flatten()
                    .for_each(|one| self.check(one, value, at, complaints)),
                "anyOf" | "oneOf" => {
                    let fits = |one: &&Value| {
                        let mut complaints = Vec::new();
                        self.check(one, value, at, &mut complaints);
                        complaints.is_empty()
                    };
                    let count = wanted.as_array().into_iter().flatten().filter(fits).count();
                    if count == 0 || (word == "oneOf" && count > 1) {
                        complaints.push(format!("{at} fits {count} of {word}"));
                    }
                }
                other => complaints.push(format!("{at}: `{other}` is a word that this test does not know")),
            }
        }
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
        _ => false,
    }
}

fn is_formed(format: &Value, value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    match format.as_str() {
        Some("date-time") => baton_model::time::parse_rfc3339(text).is_some(),
        Some("uri") => text.contains("://") && !text.contains(char::is_whitespace),
        Some("int64") => value.is_i64(),
        _ => false,
    }
}

#[test]
fn what_is_not_as_described_is_seen() {
    let described = ApiDescription::read();
    let schema = json!({ "$ref": "#/components/schemas/issue-comment" });
    let user = json!({ "$ref": "#/components/schemas/simple-user" });
    let check = |schema: &Value, value: &Value| {
        let mut complaints = Vec::new();
        described.check(schema, value, "it", &mut complaints);
        complaints
    };
    let hub = baton_emulator::Emulator::start(Default::default()).expect("an emulator");
    let proxy = baton_emulator::Proxy::start(&hub.url(), None).expect("a proxy");
    hub.hub().add("o/r", "t", "b", Vec::new());
    let address = proxy.url().replace("http://", "");
    let path = "/repos/o/r/issues/1/comments";
    let body = br#"{"body":"said"}"#;
    let made = crate::http::request(&address, "POST", path, body, &[]).expect("an answer").json();
    assert_eq!(check(&schema, &made), Vec::<String>::new());
    for key in ["id", "node_id", "user", "created_at"] {
        let mut less = made.clone();
        less.as_object_mut().expect("object").remove(key);
        assert_eq!(check(&schema, &less), [format!("it.{key} is missing")]);
    }
    for (key, wrong) in [
        ("id", json!("1")),
        ("created_at", json!("yesterday")),
        ("author_association", json!("FRIEND")),
        ("url", json!("here")),
    ] {
        let mut other = made.clone();
        other[key] = wrong;
        assert!(!check(&schema, &other).is_empty(), "{key}");
    }
    assert!(!check(&user, &json!({ "login": 1 })).is_empty() && !check(&user, &Value::Null).is_empty());
    assert!(!check(&json!({ "madeUp": 1 }), &made).is_empty(), "a word that is not known");
    let mut exchange = proxy.exchanges().remove(0);
    assert_eq!(described.complaints(&exchange), Vec::<String>::new());
    exchange.request.body = json!({ "body": "said", "colour": "red" });
    assert_eq!(described.complaints(&exchange).len(), 1);
    exchange.status = 299;
    assert_eq!(described.complaints(&exchange).len(), 2);
}

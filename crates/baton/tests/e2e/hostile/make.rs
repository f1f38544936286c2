//! Making calls up: a small generator, the same for the same seed.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// A call.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub method: String,
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// Whether the request may be refused before HTTP is understood.
    pub is_malformed: bool,
}

/// A path of the description and one of its methods.
struct Target {
    method: String,
    path: String,
    operation: String,
    parameters: Vec<Value>,
    body: Value,
}

/// Makes calls.
pub(super) struct Maker {
    state: u64,
    targets: Vec<Target>,
    schemas: Value,
    own: Vec<String>,
    foreign: Vec<String>,
    tokens: Vec<String>,
    /// Ids of the other project, each with one of the same shape that nobody has; longer ones first.
    pub twins: Vec<(String, String)>,
}

/// Values that are wrong everywhere, climb, or mean something to somebody else.
const ODD: &[&str] = &[
    "",
    " ",
    "latest",
    "*",
    "%",
    "-1",
    "0",
    "null",
    "true",
    "[]",
    "{}",
    "../../../../etc/passwd",
    "/etc/passwd",
    ".env",
    ".git/config",
    "..",
    ".",
    "~/.ssh/id_rsa",
    "file:///etc/passwd",
    "http://169.254.169.254/",
    "'; DROP TABLE project; --",
    "\" OR 1=1 --",
    "$(id)",
    "`id`",
    "--force",
    "-rf",
    "\u{202e}evil",
    "a\u{0}b",
    "a\nb",
    "a\r\nx: y",
    "\u{1b}[2J",
    "\u{e0041}",
    "😀",
    "e\u{301}",
    "ﬀ",
    "İ",
    "01900000-0000-7000-8000-000000000000",
    "0190",
    "shop/../vaulx",
    "2026-11-22T00:00:00Z",
    "99999999999999999999",
    "1e308",
    "NaN",
];

/// Headers with which one might get round what the request itself may do.
const TRICKS: &[(&str, &str)] = &[
    ("x-http-method-override", "DELETE"),
    ("x-original-url", "/api/v1/projects/vault"),
    ("x-rewrite-url", "/api/v1/projects/vault"),
    ("x-forwarded-for", "127.0.0.1"),
    ("x-forwarded-host", "localhost"),
    ("forwarded", "for=127.0.0.1;host=localhost"),
    ("authorization", "Basic b3BlcmF0b3I6"),
    ("cookie", "token=x"),
    ("idempotency-key", "1"),
    ("idempotency-key", "\u{ff}"),
    ("if-match", "\"v1\""),
    ("if-none-match", "*"),
    ("accept", "text/markdown"),
    ("accept-encoding", "gzip"),
    ("content-encoding", "gzip"),
    ("content-type", "text/plain"),
    ("content-type", "application/x-www-form-urlencoded"),
    ("last-event-id", "vault/1/1"),
    ("range", "bytes=0-1"),
    ("expect", "x"),
    ("te", "trailers"),
    ("upgrade", "h2c"),
    ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ("baton-caller", "{"),
    ("baton-caller", r#"{"project":"vault","identity":"Dora"}"#),
    ("baton-caller", r#"{"project":"shop","identity":"Dora","machine":"m","process":"p"}"#),
    ("baton-caller", r#"{"folders":["/"],"git_root":"/etc"}"#),
];

impl Maker {
    pub(super) fn new(
        seed: u64,
        openapi: &Value,
        own: &BTreeSet<String>,
        foreign: &BTreeSet<String>,
        tokens: &[String],
    ) -> Self {
        let mut targets = Vec::new();
        for (path, methods) in openapi["paths"].as_object().expect("paths") {
            // A stream does not end by itself; it has a test of its own.
            for (method, what) in methods.as_object().expect("methods").iter().filter(|_| path != "/events") {
                targets.push(Target {
                    method: method.to_uppercase(),
                    path: path.clone(),
                    operation: what["x-baton-operation"].as_str().unwrap_or_default().to_owned(),
                    parameters: what["parameters"].as_array().cloned().unwrap_or_default(),
                    body: what["requestBody"]["content"]["application/json"]["schema"].clone(),
                });
            }
        }
        assert!(targets.len() > 100, "{} paths", targets.len());
        let mut twins: Vec<(String, String)> = foreign
            .iter()
            .map(|id| match id.contains("vault") {
                true => (id.clone(), id.replace("vault", "vaulx")),
                // The end of an id is random; it stays as long, and it begins as it did.
                false => {
                    let (begin, end) = id.split_at(id.len().saturating_sub(12));
                    let digits = |c: char| if c.is_ascii_digit() { '7' } else { c };
                    (id.clone(), begin.to_owned() + &end.chars().map(digits).collect::<String>())
                }
            })
            .filter(|(real, made_up)| real != made_up && !own.contains(real))
            .collect();
        twins.sort_by_key(|(real, _)| std::cmp::Reverse(real.len()));
        let foreign = twins.iter().map(|(real, _)| real.clone()).collect();
        let (own, tokens) = (own.iter().cloned().collect(), tokens.to_vec());
        let schemas = openapi["components"]["schemas"].clone();
        Self { state: seed | 1, targets, schemas, own, foreign, tokens, twins }
    }

    fn next(&mut self, below: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 33).unwrap_or(0) % below.max(1)
    }

    /// Once in so many times.
    fn once_in(&mut self, times: usize) -> bool {
        self.next(times) == 0
    }

    fn word(&mut self) -> String {
        match self.next(10) {
            0..=3 => self.foreign_id(),
            4..=6 => self.own_id(),
            7..=8 => ODD[self.next(ODD.len())].to_owned(),
            _ if self.once_in(8) => "x".repeat(100_000),
            _ => format!("{}/../{}", self.own_id(), self.foreign_id()),
        }
    }

    fn own_id(&mut self) -> String {
        let at = self.next(self.own.len());
        self.own[at].clone()
    }

    fn foreign_id(&mut self) -> String {
        let at = self.next(self.foreign.len());
        self.foreign[at].clone()
    }

    /// A call that nobody should make.
    pub(super) fn call(&mut self) -> Call {
        let at = self.next(self.targets.len());
        let (method, path, operation) = (
            self.targets[at].method.clone(),
            self.targets[at].path.clone(),
            self.targets[at].operation.clone(),
        );
        let parameters = self.targets[at].parameters.clone();
        let (mut path, mut query) = (path, Vec::new());
        for parameter in &parameters {
            let name = parameter["name"].as_str().unwrap_or_default();
            match parameter["in"].as_str() {
                Some("path") => {
                    // Mostly something that is there, so that what comes after is reached.
                    let value =
                        if name == "project" && !self.once_in(3) { "shop".to_owned() } else { self.word() };
                    let value =
                        if name == "name" && !self.once_in(3) { "session_status".to_owned() } else { value };
                    path = path.replace(&format!("{{{name}}}"), &self.encoded(&value));
                }
                Some("query") if self.once_in(2) => {
                    let value =
                        if name == "project" && !self.once_in(3) { "shop".to_owned() } else { self.word() };
                    query.push(format!("{name}={}", self.encoded(&value)));
                }
                _ => {}
            }
        }
        if self.once_in(12) {
            query.push("surprise=1".to_owned());
        }
        let prefix = if self.once_in(4) && !path.starts_with("/ops") && !path.starts_with("/remote") {
            ""
        } else {
            "/api/v1"
        };
        let path = format!("{prefix}{path}{}{}", if query.is_empty() { "" } else { "?" }, query.join("&"));
        let schema = self.targets[at].body.clone();
        let body = if schema.is_null() { Vec::new() } else { self.body(&schema, &operation) };
        let mut call = Call { method, path, headers: self.headers(), body, is_malformed: false };
        if self.once_in(15) {
            let others = ["PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "BREW", "post", "GET"];
            call.method = others[self.next(others.len())].to_owned();
            call.is_malformed = matches!(call.method.as_str(), "HEAD" | "OPTIONS" | "TRACE");
        }
        // A hand-off into another project is what may be sent there: it is no attack.
        if operation == "handoff_create" || String::from_utf8_lossy(&call.body).contains("to_project_id") {
            call.body = replaced(&call.body, &[("vault".to_owned(), "shop".to_owned())]);
        }
        call
    }

    /// The same call with ids that nobody has in place of the other project's; none where it names none.
    pub(super) fn twin(&self, call: &Call) -> Option<Call> {
        let mut twin = call.clone();
        for (real, made_up) in &self.twins {
            twin.path = twin.path.replace(real, made_up);
            for (_, value) in &mut twin.headers {
                *value = value.replace(real, made_up);
            }
        }
        twin.body = replaced(&call.body, &self.twins);
        let is_same = twin.path == call.path && twin.body == call.body && twin.headers == call.headers;
        (!is_same).then_some(twin)
    }

    fn headers(&mut self) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        match self.next(20) {
            0 => {}
            1 => headers.push(("authorization", "Bearer baton_0000".to_owned())),
            n => headers.push(("authorization", format!("Bearer {}", self.tokens[n % self.tokens.len()]))),
        }
        if self.once_in(4) {
            let (name, value) = TRICKS[self.next(TRICKS.len())];
            headers.push((name, value.to_owned()));
        }
        headers
    }

    fn body(&mut self, schema: &Value, operation: &str) -> Vec<u8> {
        match self.next(30) {
            0 => return vec![b'['; 20_000],
            1 => return b"{\"project\":\"\xff\xfe\"}".to_vec(),
            2 => return b"{\"project\":\"shop\",\"project\":\"vault\"}".to_vec(),
            3 => return "\u{feff}{}".as_bytes().to_vec(),
            4 => {
                return format!(
                    "{{\"project\":\"shop\",\"identity\":{}1{}}}",
                    "{\"a\":".repeat(3_000),
                    "}".repeat(3_000)
                )
                .into_bytes();
            }
            5 if self.once_in(4) => return vec![b'x'; 3 * 1024 * 1024],
            6 => return b"{\"project\":\"sh\\ud83d\"}".to_vec(),
            _ => {}
        }
        let mut value = self.value(schema, 0);
        if let Some(fields) = value.as_object_mut() {
            if fields.contains_key("project") && !self.once_in(3) {
                fields.insert("project".into(), "shop".into());
            }
            if operation == "hd_exec" || self.once_in(3) {
                fields.remove("force");
            }
            if self.once_in(25) {
                fields.insert("surprise".into(), json!(1));
            }
        }
        let text = value.to_string();
        if self.once_in(40) { text.as_bytes()[..text.len() / 2].to_vec() } else { text.into_bytes() }
    }

    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        if depth > 6 {
            return Value::Null;
        }
        if let Some(name) = schema["$ref"].as_str().and_then(|target| target.rsplit('/').next()) {
            let schema = self.schemas[name].clone();
            return self.value(&schema, depth + 1);
        }
        if self.once_in(14) {
            let wrong = [
                json!(null),
                json!(-1),
                json!(1e300),
                json!(true),
                json!([[[]]]),
                json!({ "a": 1 }),
                json!("x"),
                json!(i64::MIN),
            ];
            return wrong[self.next(wrong.len())].clone();
        }
        for several in ["enum", "oneOf", "anyOf"] {
            if let Some(all) = schema[several].as_array().filter(|all| !all.is_empty()) {
                let one = all[self.next(all.len())].clone();
                let is_schema = several != "enum" && one.get("const").is_none();
                return if is_schema {
                    self.value(&one, depth + 1)
                } else {
                    one.get("const").cloned().unwrap_or(one)
                };
            }
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.first().and_then(Value::as_str).unwrap_or_default().to_owned(),
            one => one.as_str().unwrap_or_default().to_owned(),
        };
        match kind.as_str() {
            "object" => self.object(schema, depth),
            "array" => {
                let items = schema["items"].clone();
                (0..self.next(4)).map(|_| self.value(&items, depth + 1)).collect()
            }
            "integer" => json!([0, 1, 7, -1, 100_000, i64::MAX][self.next(6)]),
            "number" => json!([0.0, 1.5, -1.0, 1e300][self.next(4)]),
            "boolean" => json!(self.once_in(2)),
            _ => json!(self.word()),
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let required: Vec<String> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        let mut fields = Map::new();
        for (name, property) in schema["properties"].as_object().cloned().unwrap_or_default() {
            if (required.contains(&name) && !self.once_in(30)) || self.once_in(3) {
                let value = self.value(&property, depth + 1);
                fields.insert(name, value);
            }
        }
        Value::Object(fields)
    }

    /// For a path or a query; now and then not as it should be.
    fn encoded(&mut self, text: &str) -> String {
        if self.once_in(40) {
            return ["%ff%fe", "%00", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "%", "%zz", "..%5c..", "%252e%252e"]
                [self.next(7)]
            .to_owned();
        }
        let short: String = text.chars().take(2_000).collect();
        short
            .bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
                _ => format!("%{byte:02x}"),
            })
            .collect()
    }
}

/// Bytes with one text in place of another.
fn replaced(bytes: &[u8], pairs: &[(String, String)]) -> Vec<u8> {
    match String::from_utf8(bytes.to_vec()) {
        Ok(text) => pairs.iter().fold(text, |text, (from, to)| text.replace(from, to)).into_bytes(),
        Err(_) => bytes.to_vec(),
    }
}

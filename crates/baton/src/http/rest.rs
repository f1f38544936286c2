//! REST: a table of paths, each one an operation. Path, query and body together are its input; nothing is decided here.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use axum::{Router, body::Body};
use baton_model::access::Grant;
use baton_model::lossless_json;
use baton_model::refusal::Refusal;
use baton_ops::all;
use baton_ops::answer::AnswerView;
use baton_ops::input::InputView;
use baton_ops::op::{HandoffEffect, OperationEntry, TxMode};
use serde_json::{Map, Value};

use super::answer::{delivered, handoff_response, json_of, of_type, problem, problem_as, tagged};
use super::input::{idempotency_key, input};
use super::routes::{ROUTES, Route};
use crate::error::AppError;
use crate::remote::caller_of;
use crate::store_pool::Pool;

/// Every path of the table, under `/api/v1` and, for programs written for the seed's paths, at the root.
pub(super) fn router() -> Router<Arc<Pool>> {
    let mut router = Router::new();
    for route in ROUTES {
        let Ok(entry) = all::find(route.operation) else { continue };
        let kinds = Arc::new(kinds(entry));
        for prefix in ["/api/v1", ""] {
            let kinds = Arc::clone(&kinds);
            let path = format!("{prefix}{}", route.path);
            let handler = async move |State(pool): State<Arc<Pool>>,
                                      Extension(grant): Extension<Grant>,
                                      Path(path): Path<BTreeMap<String, String>>,
                                      RawQuery(query): RawQuery,
                                      headers: HeaderMap,
                                      body: Bytes| {
                let route_request =
                    RouteRequest { route, entry, kinds: &kinds, path, query, headers: &headers, body: &body };
                route_request.answer(pool, grant).await
            };
            router = router.route(&path, on(filter(route.method), handler));
        }
    }
    router
}

fn filter(method: &str) -> MethodFilter {
    match method {
        "GET" => MethodFilter::GET,
        "PATCH" => MethodFilter::PATCH,
        "PUT" => MethodFilter::PUT,
        "DELETE" => MethodFilter::DELETE,
        _ => MethodFilter::POST,
    }
}

/// What a text in a path or a query stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParamType {
    Text,
    Integer,
    Truth,
    List,
    Json,
}

/// The operation's own schema says how its arguments are read from text.
fn kinds(entry: &OperationEntry) -> BTreeMap<String, ParamType> {
    let schema = (entry.input_schema)();
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    properties.into_iter().map(|(name, property)| (name, shape(&property))).collect()
}

fn shape(property: &Value) -> ParamType {
    let names = |word: &str| match &property["type"] {
        Value::String(one) => one == word,
        Value::Array(several) => several.iter().any(|one| one == word),
        _ => false,
    };
    if names("integer") {
        ParamType::Integer
    } else if names("boolean") {
        ParamType::Truth
    } else if names("array") {
        ParamType::List
    } else if names("string") || property.get("$ref").is_some() || property.get("enum").is_some() {
        ParamType::Text
    } else {
        ParamType::Json
    }
}

impl ParamType {
    fn read(self, name: &str, text: &str) -> Result<Value, Refusal> {
        let refusal = |wanted: &str| {
            Refusal::invalid(
                "query_invalid",
                format!("`{name}` is `{}`, which is not {wanted}", baton_model::id::visible(text)),
                "see /openapi.json",
            )
        };
        match self {
            Self::Text => Ok(text.into()),
            Self::Integer => text.parse::<i64>().map(Value::from).map_err(|_| refusal("a whole number")),
            Self::Truth => match text {
                "true" | "1" | "" => Ok(true.into()),
                "false" | "0" => Ok(false.into()),
                _ => Err(refusal("true or false")),
            },
            Self::List => Ok(text.split(',').filter(|one| !one.is_empty()).map(Value::from).collect()),
            // A number that would be rounded is a text.
            Self::Json => Ok(lossless_json::read(text.as_bytes()).unwrap_or_else(|_| text.into())),
        }
    }
}

/// A request on one path of the table.
struct RouteRequest<'a> {
    route: &'static Route,
    entry: &'static OperationEntry,
    kinds: &'a BTreeMap<String, ParamType>,
    path: BTreeMap<String, String>,
    query: Option<String>,
    headers: &'a HeaderMap,
    body: &'a [u8],
}

impl RouteRequest<'_> {
    async fn answer(self, pool: Arc<Pool>, grant: Grant) -> Response {
        match self.run(&pool, grant.clone()).await {
            Ok(answer) if self.wants_markdown() => document(&answer),
            Ok(answer) if self.entry.tx_mode == TxMode::Read || self.route.method == "GET" => {
                let accepted = self.text(&header::ACCEPT_ENCODING);
                tagged(&answer, self.text(&header::IF_NONE_MATCH), accepted)
            }
            Ok(answer) if self.entry.handoff == HandoffEffect::Begins => {
                handoff_response(self.status(), &answer)
            }
            Ok(answer) if self.marks_later() => json_of(self.status(), &answer),
            Ok(answer) => delivered(pool, grant, self.status(), answer),
            Err(error) => conditional_problem(self.headers, &error),
        }
    }

    /// Whether the caller does not show the messages of an answer now: they go on waiting.
    fn marks_later(&self) -> bool {
        self.headers.get("baton-delivery").is_some_and(|value| value == "later")
    }

    fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.route.status).unwrap_or_default()
    }

    async fn run(&self, pool: &Pool, grant: Grant) -> Result<Value, AppError> {
        let mut caller = caller_of(self.headers)?;
        caller.grant = grant;
        let input = Value::Object(self.input()?);
        match idempotency_key(self.headers)? {
            Some(key) if self.entry.tx_mode == TxMode::Write => {
                check_key(&input, key)?;
                pool.run_once(self.entry.name, input, caller, key.to_owned()).await
            }
            _ => pool.run(self.entry.name, input, caller).await,
        }
    }

    /// Body, then query, then path: a path names the thing, so it wins, and a different word elsewhere is refused.
    fn input(&self) -> Result<Map<String, Value>, Refusal> {
        let mut fields = input(self.body)?;
        for (name, text) in self.pairs()? {
            let Some(shape) = self.kinds.get(&name) else { return Err(self.unknown_refusal(&name)) };
            put(&mut fields, &name, shape.read(&name, &text)?)?;
        }
        for (name, value) in self.route.fixed {
            put(&mut fields, name, (*value).into())?;
        }
        for (name, text) in &self.path {
            let shape = self.kinds.get(name).copied().unwrap_or(ParamType::Text);
            put(&mut fields, name, shape.read(name, text)?)?;
        }
        condition(self.headers, self.entry.name, self.kinds, &mut fields)?;
        Ok(fields)
    }

    fn pairs(&self) -> Result<Vec<(String, String)>, Refusal> {
        let query = self.query.as_deref().unwrap_or_default();
        let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        match pairs.iter().find(|(_, value)| value.contains('\0')) {
            Some((name, _)) => Err(Refusal::invalid(
                "query_invalid",
                format!("`{}` holds a NUL character", baton_model::id::visible(name)),
                "remove it",
            )),
            None => Ok(pairs),
        }
    }

    fn unknown_refusal(&self, name: &str) -> Refusal {
        let known: Vec<&str> = self.kinds.keys().map(String::as_str).collect();
        Refusal::invalid(
            "query_unknown",
            format!("{} takes no `{}`", self.entry.name, baton_model::id::visible(name)),
            format!("it takes {}", known.join(", ")),
        )
    }

    fn text(&self, name: &header::HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    fn wants_markdown(&self) -> bool {
        self.route.document && self.text(&header::ACCEPT).is_some_and(|kinds| kinds.contains("text/markdown"))
    }
}

/// The name under which an operation takes the version that its caller has seen.
const EXPECTED_VERSION: &str = "expected_version";

/// Puts the version that `If-Match` names into the input. Every operation that compares versions honours it, on each of its
/// paths; on any other it is refused, since the caller relies on it.
fn condition(
    headers: &HeaderMap,
    operation: &str,
    kinds: &BTreeMap<String, ParamType>,
    fields: &mut Map<String, Value>,
) -> Result<(), Refusal> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(()) };
    let text = String::from_utf8_lossy(value.as_bytes());
    let version = text.trim().trim_matches('"').trim_start_matches('v').parse::<i64>().ok();
    match version.filter(|_| kinds.contains_key(EXPECTED_VERSION)) {
        Some(version) => put(fields, EXPECTED_VERSION, version.into()),
        None => Err(Refusal::invalid(
            "condition_unsupported",
            format!("{operation} has no version `{}` to compare", baton_model::id::visible(&text)),
            "send If-Match only with the ETag of a versioned state",
        )),
    }
}

/// The input of an operation that is called by its name, with the condition of the request.
pub(super) fn named_input(name: &str, headers: &HeaderMap, body: &[u8]) -> Result<Value, Refusal> {
    let mut fields = input(body)?;
    if headers.contains_key(header::IF_MATCH) {
        let entry = all::find(name)?;
        condition(headers, entry.name, &kinds(entry), &mut fields)?;
    }
    Ok(Value::Object(fields))
}

/// A no. Another version than the one that `If-Match` names is a precondition that failed.
pub(super) fn conditional_problem(headers: &HeaderMap, error: &AppError) -> Response {
    match error {
        AppError::Refused(refusal)
            if refusal.code == "version_conflict" && headers.contains_key(header::IF_MATCH) =>
        {
            problem_as(StatusCode::PRECONDITION_FAILED, error)
        }
        other => problem(other),
    }
}

/// Refuses a key of the header that is another one than the request id of the body: only one of them could count.
pub(super) fn check_key(input: &Value, key: &str) -> Result<(), Refusal> {
    let named = input.as_object().and_then(|fields| InputView(fields).request_id());
    if named.is_none_or(|named| named == key) {
        return Ok(());
    }
    let what = "`Idempotency-Key` and `request_id` are not the same";
    Err(Refusal::invalid("input_contradictory", what, "give one of them"))
}

fn put(fields: &mut Map<String, Value>, name: &str, value: Value) -> Result<(), Refusal> {
    match fields.get(name) {
        Some(other) if *other != value => Err(Refusal::invalid(
            "input_contradictory",
            format!("`{}` is given twice, and not the same", baton_model::id::visible(name)),
            "leave it out of the body",
        )),
        _ => {
            fields.insert(name.to_owned(), value);
            Ok(())
        }
    }
}

fn document(answer: &Value) -> Response {
    match AnswerView(answer).document() {
        Some(text) => of_type(StatusCode::OK, "text/markdown; charset=utf-8", Body::from(text.to_owned())),
        None => json_of(StatusCode::OK, answer),
    }
}

//! Spans as OTLP writes them in JSON. Whole numbers and ids are texts there.

use serde::Serialize;

/// Something that took time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    pub(super) trace: u128,
    pub(super) id: u64,
    pub(super) parent: Option<u64>,
    pub(super) name: String,
    /// 1: inside, 2: answers a request.
    pub(super) kind: u8,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) attributes: Vec<Attribute>,
    pub(super) error: Option<String>,
}

/// An attribute of a span. One without a value is not sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Attribute {
    key: &'static str,
    value: Option<AttributeValue>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
enum AttributeValue {
    IntValue(String),
    StringValue(String),
}

impl Attribute {
    pub(super) fn text(key: &'static str, text: Option<String>) -> Self {
        Self { key, value: text.map(AttributeValue::StringValue) }
    }

    pub(super) fn number(key: &'static str, number: i64) -> Self {
        Self { key, value: Some(AttributeValue::IntValue(number.to_string())) }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    resource_spans: [ResourceSpans<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'a> {
    resource: Resource,
    scope_spans: [ScopeSpans<'a>; 1],
}

#[derive(Serialize)]
struct Resource {
    attributes: [Attribute; 1],
}

#[derive(Serialize)]
struct ScopeSpans<'a> {
    scope: Scope,
    spans: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Scope {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    trace_id: String,
    span_id: String,
    name: &'a str,
    kind: u8,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: Vec<&'a Attribute>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status<'a>>,
}

#[derive(Serialize)]
struct Status<'a> {
    code: u8,
    message: &'a str,
}

impl<'a> From<&'a Span> for Row<'a> {
    fn from(span: &'a Span) -> Self {
        Self {
            trace_id: format!("{:032x}", span.trace),
            span_id: format!("{:016x}", span.id),
            name: &span.name,
            kind: span.kind,
            start_time_unix_nano: span.start.to_string(),
            end_time_unix_nano: span.end.to_string(),
            attributes: span.attributes.iter().filter(|attribute| attribute.value.is_some()).collect(),
            parent_span_id: span.parent.map(|parent| format!("{parent:016x}")),
            // 2 is OTLP's word for an error.
            status: span.error.as_deref().map(|message| Status { code: 2, message }),
        }
    }
}

/// The body of an export request.
pub(super) fn document(service: &str, spans: &[Span]) -> serde_json::Result<String> {
    let scope = Scope { name: "baton", version: env!("CARGO_PKG_VERSION") };
    let scope_spans = [ScopeSpans { scope, spans: spans.iter().map(Row::from).collect() }];
    let resource = Resource { attributes: [Attribute::text("service.name", Some(service.to_owned()))] };
    serde_json::to_string(&Document { resource_spans: [ResourceSpans { resource, scope_spans }] })
}

//! What goes back over the wire: JSON, and a "no" as RFC 9457 wants it.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use baton_model::access::Grant;
use baton_model::refusal::{ErrorObject, Kind, Refusal};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;

use super::encoding;
use crate::error::AppError;
use crate::store_pool::Pool;
use baton_ops::answer::AnswerView;
use baton_ops::handoff::Progress;
use baton_ops::message::{Delivered, DeliveredInput};
use baton_ops::op::Caller;

const JSON: &str = "application/json";

/// An answer with its type.
pub(super) fn of_type(status: StatusCode, kind: &'static str, body: Body) -> Response {
    (status, [(header::CONTENT_TYPE, kind)], body).into_response()
}

/// A JSON answer.
pub(super) fn json_of(status: StatusCode, value: &Value) -> Response {
    of_type(status, JSON, Body::from(value.to_string()))
}

/// The tag by which a client says which state it has seen: the version where there is one, else a hash of the bytes.
pub(super) fn etag(answer: &Value, bytes: &[u8]) -> String {
    match AnswerView(answer).version() {
        Some(version) => format!("\"v{version}\""),
        None => {
            let digest = Sha256::digest(bytes);
            let number = digest.iter().take(8).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
            format!("\"{number:016x}\"")
        }
    }
}

/// The answer to a read: with a tag, or only the word that nothing has changed. One without a version is compressed for a client that
/// takes it so (`accepted`); a version stays a strong tag, which `If-Match` needs.
pub(super) fn tagged(answer: &Value, known: Option<&str>, accepted: Option<&str>) -> Response {
    let bytes = Bytes::from(answer.to_string());
    let tag = etag(answer, &bytes);
    let is_versioned = AnswerView(answer).version().is_some();
    let same = known.is_some_and(|list| {
        list.split(',').any(|one| matches!(one.trim().trim_start_matches("W/"), t if t == tag || t == "*"))
    });
    let packed = if same || is_versioned { None } else { encoding::compressed(&bytes, accepted) };
    // Of two encodings of one answer neither has the bytes that a strong tag promises (RFC 9110, section 8.8.3.3).
    let tag = if is_versioned { tag } else { format!("W/{tag}") };
    let is_packed = packed.is_some();
    let mut response = if same {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        of_type(StatusCode::OK, JSON, Body::from(packed.unwrap_or(bytes)))
    };
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_packed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("zstd"));
    }
    if let Ok(value) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, value);
    }
    response
}

/// The answer to an operation. When its last byte was taken, the signals that a pickup brought are marked as delivered, by the
/// authority of its caller. What an answer names in `deliver` is marked by the program that reads it.
pub(super) fn delivered(pool: Arc<Pool>, grant: Grant, status: StatusCode, answer: Value) -> Response {
    let view = AnswerView(&answer);
    let bytes = Bytes::from(answer.to_string());
    let tag = view.state_version().map(|_| etag(&answer, &bytes));
    let body = match view.delivery() {
        None => Body::from(bytes),
        Some(delivery) => marking(pool, grant, bytes, delivery),
    };
    let mut response = of_type(status, JSON, body);
    if let Some(value) = tag.and_then(|tag| HeaderValue::from_str(&tag).ok()) {
        response.headers_mut().insert(header::ETAG, value);
    }
    response
}

/// The answer to a write that planned a hand-off: after it was driven, or with 202 and where to look when it is still on its way.
pub(super) fn handoff_response(status: StatusCode, answer: &Value) -> Response {
    let status = match Progress::deserialize(answer) {
        // A preview has no hand-off, and makes nothing.
        Err(_) => StatusCode::OK,
        Ok(progress) if progress.row.is_on_its_way() => StatusCode::ACCEPTED,
        Ok(_) => status,
    };
    let mut response = json_of(status, answer);
    let place = AnswerView(answer).handoff_id().map(|id| format!("/api/v1/handoffs/{id}"));
    if let Some(place) = place.and_then(|place| HeaderValue::from_str(&place).ok()) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    response
}

fn marking(pool: Arc<Pool>, grant: Grant, bytes: Bytes, delivery: DeliveredInput) -> Body {
    let caller = Caller { grant, ..Caller::default() };
    Body::from_stream(stream::unfold(Some((bytes, pool, caller, delivery)), |state| async move {
        let (bytes, pool, caller, delivery) = state?;
        if bytes.is_empty() {
            // The result is not needed: if the operation fails, the signals are delivered once more.
            let _ = pool.run_typed::<Delivered>(&delivery, caller).await;
            return None;
        }
        Some((Ok::<Bytes, std::convert::Infallible>(bytes), Some((Bytes::new(), pool, caller, delivery))))
    }))
}

/// What RFC 9457 names, beside our code, hint and details.
#[derive(Serialize)]
struct Problem {
    #[serde(flatten)]
    error: ErrorObject,
    #[serde(rename = "type")]
    kind: String,
    title: String,
    status: u16,
}

/// A "no" as a problem of RFC 9457.
pub(super) fn problem(error: &AppError) -> Response {
    let status = StatusCode::from_u16(error.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    problem_as(status, error)
}

/// A refusal or fault as a problem of RFC 9457 under this status.
pub(super) fn problem_as(status: StatusCode, error: &AppError) -> Response {
    let error = error.to_service_error();
    let (kind, title) = (format!("urn:baton:{}", error.code), error.message.clone());
    let problem = json!(Problem { error, kind, title, status: status.as_u16() });
    let mut response = of_type(status, "application/problem+json", Body::from(problem.to_string()));
    if status == StatusCode::UNAUTHORIZED {
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"baton\""));
    }
    if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// What a browser shows at an address that leads nowhere. It has no word of the address in it, and runs nothing.
const NOWHERE: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Nothing here · Baton</title>\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"></head><body><main><h1>There is nothing at this address</h1>\
    <p><a href=\"/\">Go to the inbox</a></p></main></body></html>";
const NOWHERE_POLICY: &str = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/// There is nothing at this path: a page with a link for who asks for one, else a problem.
pub(super) async fn no_route(headers: HeaderMap) -> Response {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accepted.contains("text/html") {
        let mut response = of_type(StatusCode::NOT_FOUND, "text/html; charset=utf-8", Body::from(NOWHERE));
        response
            .headers_mut()
            .insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(NOWHERE_POLICY));
        return response;
    }
    let refusal = Refusal::new(Kind::NotFound, "route_unknown", "there is nothing at this path", ROUTES_HINT);
    problem(&refusal.into())
}

/// The path does not know the method.
pub(super) async fn no_method() -> Response {
    let refusal = Refusal::invalid("method_not_allowed", "this path does not know the method", ROUTES_HINT);
    problem_as(StatusCode::METHOD_NOT_ALLOWED, &refusal.into())
}

const ROUTES_HINT: &str =
    "/openapi.json describes every path; any operation is called by POST at /api/v1/ops/{name}";

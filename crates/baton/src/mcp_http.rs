//! What a client of MCP may send over HTTP beyond what the protocol's library takes, and answers that it would give otherwise.

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use baton_mcp::UnhandledBody;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// A mark at the beginning of a text, which a reader of JSON may ignore (RFC 8259).
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Spells out the media types that a wildcard accepts. Answers a body that is no message of the protocol with a protocol error,
/// under its id where that is known, and the end of a session with 204.
pub(crate) async fn normalize(mut request: Request, next: Next) -> Response {
    spell_out(request.headers_mut());
    let method = request.method().clone();
    if method != Method::POST {
        let response = next.run(request).await;
        return match (method, response.status()) {
            (Method::DELETE, StatusCode::ACCEPTED) => StatusCode::NO_CONTENT.into_response(),
            _ => response,
        };
    }
    let (head, body) = request.into_parts();
    let bytes = match axum::body::to_bytes(body, baton_mcp::MAX_BODY).await {
        Ok(bytes) => bytes,
        Err(error) => {
            let what = format!(
                "the message cannot be read, or has more than {} bytes: {error}",
                baton_mcp::MAX_BODY
            );
            let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": what } });
            return json_of(StatusCode::PAYLOAD_TOO_LARGE, &error);
        }
    };
    let marked = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let bytes = bytes.slice(marked..);
    match baton_mcp::unhandled(&bytes) {
        Some(UnhandledBody::Error(error)) => json_of(StatusCode::BAD_REQUEST, &error),
        Some(UnhandledBody::Notification) => StatusCode::ACCEPTED.into_response(),
        None => next.run(Request::from_parts(head, Body::from(bytes))).await,
    }
}

/// An answer of its own, as JSON.
fn json_of(status: StatusCode, value: &Value) -> Response {
    (status, [(CONTENT_TYPE, JSON)], value.to_string()).into_response()
}

/// Names both media types of the protocol where the client takes them by a wildcard, or says nothing of what it takes.
fn spell_out(headers: &mut HeaderMap) {
    let lines: Vec<&str> = headers.get_all(ACCEPT).iter().filter_map(|line| line.to_str().ok()).collect();
    let ranges: Vec<&str> = lines.iter().flat_map(|line| line.split(',')).map(str::trim).collect();
    let is_excluded = |range: &&&str| range.replace(' ', "").contains(";q=0") && !range.contains("q=0.");
    if ranges.iter().any(|range| is_excluded(&range)) {
        return;
    }
    let takes = |media: &str| {
        let family = media.split('/').next().unwrap_or_default();
        ranges.iter().any(|range| {
            let essence = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            essence == media || essence == "*/*" || essence == format!("{family}/*")
        })
    };
    let wanted = match (ranges.is_empty() || takes(JSON), ranges.is_empty() || takes(EVENTS)) {
        (true, true) => "application/json, text/event-stream",
        (true, false) => JSON,
        (false, true) => EVENTS,
        (false, false) => return,
    };
    headers.insert(ACCEPT, HeaderValue::from_static(wanted));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(accept: &[&'static str], expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        for line in accept {
            headers.append(ACCEPT, HeaderValue::from_static(line));
        }
        spell_out(&mut headers);
        assert_eq!(headers.get(ACCEPT).and_then(|line| line.to_str().ok()), expected, "{accept:?}");
    }

    #[test]
    fn a_client_that_takes_anything_takes_both_types() {
        let both = Some("application/json, text/event-stream");
        check(&[], both);
        check(&["*/*"], both);
        check(&["application/json, */*;q=0.1"], both);
        check(&["application/*", "TEXT/*"], both);
        check(&["application/json"], Some(JSON));
        check(&["text/event-stream;q=1"], Some(EVENTS));
        check(&["text/html"], Some("text/html"));
        check(&["*/*, text/event-stream;q=0"], Some("*/*, text/event-stream;q=0"));
    }
}

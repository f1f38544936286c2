//! The bodies of requests: how large, how slow and how many at once they may be.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use baton_model::refusal::{Kind, Refusal};
use futures_util::StreamExt;
use tokio::sync::Semaphore;

use super::answer::problem_as;

/// The largest body accepted: a packet of 256 KiB, escaped, with room to spare.
pub(super) const MAX_BODY_BYTES: usize = 2 * 1024 * 1024;
/// How long a body may take, and how long one waits for room.
pub(super) const TIME: Duration = Duration::from_secs(30);
/// What all bodies together may hold, in KiB.
const ROOM: usize = 128 * 1024;

/// How much of a body that is too large is read and thrown away, in bytes, and for how long.
const DISCARDED: usize = 8 * 1024 * 1024;
const DISCARD_TIME: Duration = Duration::from_secs(5);

/// The room for bodies.
pub(super) fn room() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(ROOM))
}

/// Reads the body to its end before anything is done with it: a client that sends it too slowly gets nothing. Nothing of it is
/// held before it is known that there is room for all of it.
pub(super) async fn read_body(State(room): State<Arc<Semaphore>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let size =
        body.size_hint().upper().map_or(MAX_BODY_BYTES, |size| usize::try_from(size).unwrap_or(usize::MAX));
    if size == 0 {
        return next.run(Request::from_parts(parts, body)).await;
    }
    if size > MAX_BODY_BYTES {
        discard(body).await;
        return too_large(MAX_BODY_BYTES);
    }
    let units = u32::try_from(size / 1024 + 1).unwrap_or(u32::MAX);
    let Ok(Ok(_held)) = tokio::time::timeout(TIME, room.acquire_many(units)).await else {
        return no_room();
    };
    match tokio::time::timeout(TIME, axum::body::to_bytes(body, MAX_BODY_BYTES)).await {
        Ok(Ok(bytes)) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Ok(Err(error)) => unreadable(&error),
        Err(_) => too_slow(),
    }
}

/// Reads what a client sends too much of and keeps nothing: one that is still writing when the connection ends loses the answer.
async fn discard(body: Body) {
    let mut chunks = body.into_data_stream();
    let mut left = DISCARDED;
    let all = async {
        while let Some(Ok(chunk)) = chunks.next().await {
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(DISCARD_TIME, all).await;
}

/// A body that did not come: too large, or cut off.
fn unreadable(error: &axum::Error) -> Response {
    let is_too_large = std::iter::successors(Some(error as &dyn std::error::Error), |e| e.source())
        .any(|e| e.is::<http_body_util::LengthLimitError>());
    if is_too_large { too_large(MAX_BODY_BYTES) } else { cut_off(error) }
}

/// The answer to a body with more bytes than this.
pub(super) fn too_large(most: usize) -> Response {
    let what = format!("the body has more than {most} bytes");
    let hint = "a packet holds at most 256 KiB; name files in place of quoting them";
    problem_as(StatusCode::PAYLOAD_TOO_LARGE, &Refusal::invalid("body_too_large", what, hint).into())
}

/// The answer to a body that ended before its end.
pub(super) fn cut_off(error: &axum::Error) -> Response {
    let refusal = Refusal::invalid("body_invalid", error.to_string(), "send the body to its end");
    problem_as(StatusCode::BAD_REQUEST, &refusal.into())
}

/// The answer to a body that took too long.
pub(super) fn too_slow() -> Response {
    let what = "the body did not come in time";
    let refusal = Refusal::invalid("body_too_slow", what, "send it within 30 seconds");
    problem_as(StatusCode::REQUEST_TIMEOUT, &refusal.into())
}

/// The answer where other bodies take all the room.
pub(super) fn no_room() -> Response {
    let what = "too many requests are being received";
    let refusal = Refusal::new(Kind::Outside, "overloaded", what, "try again in a moment");
    problem_as(StatusCode::SERVICE_UNAVAILABLE, &refusal.into())
}

//! `GET /share/{secret}`: one baton or thread, read without a token by anyone who has the address. Nothing else is reachable from it.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use baton_ops::op::Caller;
use baton_ops::share::{Show, ShowInput};

use super::answer::{of_type, problem, problem_as};
use super::limit::{LimitKey, Limiter, Peer};
use crate::error::AppError;
use crate::shared_page;
use crate::store_pool::Pool;

/// What the address of a share needs.
pub(super) struct Shares {
    pool: Arc<Pool>,
    /// Counts requests by address, against guessing.
    limiter: Limiter,
}

/// The route of shares on this store.
pub(super) fn router(pool: &Arc<Pool>) -> Router {
    let shares = Shares { pool: Arc::clone(pool), limiter: Limiter::new(0) };
    Router::new().route("/share/{secret}", get(show)).with_state(Arc::new(shares))
}

async fn show(State(shares): State<Arc<Shares>>, Path(secret): Path<String>, request: Request) -> Response {
    if let Some(Peer(address)) = request.extensions().get::<Peer>().copied()
        && let Err((seconds, refusal)) = shares.limiter.count(LimitKey::Anonymous(address), Instant::now())
    {
        let mut response = problem_as(StatusCode::TOO_MANY_REQUESTS, &refusal.into());
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        return response;
    }
    let (status, page) = match shares.pool.run_typed::<Show>(&ShowInput { secret }, Caller::default()).await {
        Ok(view) => (StatusCode::OK, shared_page::html(Some(&view))),
        Err(AppError::Refused(no)) if no.code == "share_invalid" => {
            (StatusCode::NOT_FOUND, shared_page::html(None))
        }
        Err(error) => return problem(&error),
    };
    match page {
        Ok(page) => guarded(of_type(status, "text/html; charset=utf-8", Body::from(page))),
        Err(error) => problem(&error.into()),
    }
}

/// The page is in no other page, in no cache, in no index, and says nowhere where it was read.
fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let policy = format!("{}; frame-ancestors 'none'", *shared_page::POLICY);
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-robots-tag", HeaderValue::from_static("noindex"));
    response
}

//! Who may do what: the bearer's token becomes the grant that every operation checks.
//!
//! As long as the store has no access token and the server listens on a loopback address, every caller is the local user. Once a token exists,
//! every request needs one, also on loopback, where a reverse proxy may be forwarding remote requests.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use baton_model::access::{Bearer, Grant, Scope, token_invalid_refusal};
use baton_model::id::check_identity;
use baton_model::refusal::Refusal;
use baton_ops::op::Caller;
use baton_ops::token::{Check, CheckInput, CheckOutput};
use futures_util::StreamExt;
use hyper::body::{Frame, SizeHint};

use super::answer::{problem, problem_as};
use super::limit::{LimitKey, Limiter, OpenRequest, OpenRequests, Peer};
use crate::error::AppError;
use crate::store_pool::Pool;

/// How long an answer about a token is believed: a token that was taken back works no longer than this.
const CACHE_TTL: Duration = Duration::from_millis(500);
/// How long the answer that no token is needed is cached. A write in this time is still refused once there is one: the transaction that
/// writes looks for a token itself, see [`Grant::until_first_token`].
const ANONYMOUS_TTL: Duration = Duration::from_millis(50);
/// Names what the bearer may do, so that the page offers nothing that would be refused.
const SCOPE_HEADER: &str = "baton-scope";
/// Names the identities that the bearer's token is bound to, so that the page acts as one of these.
const IDENTITIES_HEADER: &str = "baton-identities";
/// Names the local user, where no token says who asks: the page fills it in where it asks for a name.
const NAME_HEADER: &str = "baton-name";
/// Tokens remembered at once; a flood of wrong ones empties the memory, nothing else.
const MAX_CACHED_TOKENS: usize = 1_024;

/// What an authenticator needs to know.
pub(super) struct Authenticator {
    pool: Arc<Pool>,
    /// Tokens are asked for even if none was made: the address can be reached from elsewhere.
    is_token_required: bool,
    /// The name of the local user, where the settings have one.
    local_name: Option<String>,
    cache: Mutex<TokenCache>,
    limiter: Limiter,
    in_flight: Arc<OpenRequests>,
}

/// By secret: when it was asked about, and what its bearer may do.
type TokenCache = HashMap<Option<String>, (Instant, Option<Grant>)>;

impl Authenticator {
    /// An authenticator for this store; `local_name` is who uses it without a token.
    pub(super) fn new(
        pool: Arc<Pool>,
        is_token_required: bool,
        limiter: Limiter,
        local_name: Option<String>,
    ) -> Self {
        let (cache, in_flight) = Default::default();
        Self { pool, is_token_required, local_name, cache, limiter, in_flight }
    }

    /// What a response says of the one who asked: what it may do, and as whom it acts.
    fn caller_headers(&self, grant: &Grant) -> Vec<(&'static str, HeaderValue)> {
        let names = grant.bearer.as_ref().and_then(|bearer| bearer.identities.as_ref());
        let local = self.local_name.as_ref();
        let local = local.filter(|name| grant.bearer.is_none() && check_identity(name).is_ok());
        let value = |text: &str| HeaderValue::from_str(text).ok();
        [
            (SCOPE_HEADER, value(grant.scope.as_str())),
            (IDENTITIES_HEADER, names.and_then(|names| value(&names.join(", ")))),
            (NAME_HEADER, local.and_then(|name| value(name))),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }

    /// What the bearer may do.
    async fn grant(&self, secret: Option<String>) -> Result<Grant, AppError> {
        let is_anonymous = secret.is_none() && !self.is_token_required;
        let lasts = if is_anonymous { ANONYMOUS_TTL } else { CACHE_TTL };
        if let Some(grant) = self.remembered(&secret, lasts) {
            return grant.ok_or_else(|| token_invalid_refusal().into());
        }
        let input = CheckInput { token: secret.clone() };
        let checked = self.pool.run_typed::<Check>(&input, Caller::default()).await;
        let grant = match checked {
            Ok(answer) if secret.is_some() => Some(read(answer)),
            Ok(answer) if !answer.needed && !self.is_token_required => {
                Some(Grant { until_first_token: true, ..Grant::default() })
            }
            Ok(_) => None,
            Err(AppError::Refused(refusal)) if refusal.code == "token_invalid" => None,
            Err(other) => return Err(other),
        };
        self.remember(secret, grant.clone());
        grant.ok_or_else(|| token_invalid_refusal().into())
    }

    fn remembered(&self, secret: &Option<String>, lasts: Duration) -> Option<Option<Grant>> {
        let cache = self.cache.lock().ok()?;
        let (since, grant) = cache.get(secret)?;
        (since.elapsed() < lasts).then(|| grant.clone())
    }

    fn remember(&self, secret: Option<String>, grant: Option<Grant>) {
        if let Ok(mut cache) = self.cache.lock() {
            if cache.len() >= MAX_CACHED_TOKENS {
                cache.clear();
            }
            cache.insert(secret, (Instant::now(), grant));
        }
    }
}

fn read(answer: CheckOutput) -> Grant {
    // Without an id an unbound bearer owns no session.
    let (token_id, name) = (answer.token_id.unwrap_or_default(), answer.name.unwrap_or_default());
    Grant {
        scope: answer.scope.unwrap_or(Scope::Read),
        projects: answer.projects,
        until_first_token: false,
        bearer: Some(Bearer { token_id, name, identities: answer.identities }),
    }
}

/// Lets a request in with what its bearer may do, or not at all, and not more often than it may.
pub(super) async fn authenticate(
    State(authenticator): State<Arc<Authenticator>>,
    mut request: Request,
    next: Next,
) -> Response {
    let secret = bearer(request.headers());
    let peer = request.extensions().get::<Peer>().copied();
    let granted = authenticator.grant(secret.clone()).await;
    let who = match (&granted, &secret, peer) {
        (Ok(_), Some(secret), _) => Some(LimitKey::Token(secret.clone())),
        (Err(_), _, Some(Peer(address))) => Some(LimitKey::Anonymous(address)),
        // The local user.
        _ => None,
    };
    if let Some(Err((seconds, refusal))) = who.map(|who| authenticator.limiter.count(who, Instant::now())) {
        return too_many(seconds, refusal);
    }
    match granted {
        Ok(grant) => {
            let open = match secret.as_deref().map(|token| authenticator.in_flight.enter(token)).transpose() {
                Ok(open) => open,
                Err(refusal) => return too_many(1, refusal),
            };
            let about_caller = authenticator.caller_headers(&grant);
            request.extensions_mut().insert(grant);
            request.extensions_mut().insert(AdmittedRequest { at: Instant::now(), secret: secret.clone() });
            let mut response = as_long_as_valid(authenticator, secret, next.run(request).await);
            response
                .headers_mut()
                .extend(about_caller.into_iter().map(|(name, value)| (HeaderName::from_static(name), value)));
            until_sent(open, response)
        }
        Err(error) => problem(&error),
    }
}

/// When a request was let in, and on which token.
#[derive(Clone)]
struct AdmittedRequest {
    at: Instant,
    secret: Option<String>,
}

/// Asks about the token again once the body is there: a client that sends its body slowly could else act on a token that was revoked or
/// has expired in the meantime, or on none once the first one was made.
pub(super) async fn confirm(
    State(authenticator): State<Arc<Authenticator>>,
    mut request: Request,
    next: Next,
) -> Response {
    let admission = request.extensions().get::<AdmittedRequest>().cloned();
    if let Some(AdmittedRequest { at, secret }) = admission
        && at.elapsed() >= ANONYMOUS_TTL
    {
        match authenticator.grant(secret).await {
            Ok(grant) => _ = request.extensions_mut().insert(grant),
            Err(error) => return problem(&error),
        }
    }
    next.run(request).await
}

fn too_many(seconds: u64, refusal: Refusal) -> Response {
    let mut response = problem_as(StatusCode::TOO_MANY_REQUESTS, &refusal.into());
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Keeps the request counted as open until its answer is sent or its client has gone.
fn until_sent(open: Option<OpenRequest>, response: Response) -> Response {
    let Some(open) = open else { return response };
    response.map(|body| Body::new(CountedBody { body, _open: open }))
}

/// The body of an answer, together with its place among the open requests of its token. Its length is passed on, so that a
/// short answer keeps its `content-length`.
struct CountedBody {
    body: Body,
    _open: OpenRequest,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Ends an event stream when the token that opened it is revoked.
fn as_long_as_valid(
    authenticator: Arc<Authenticator>,
    secret: Option<String>,
    response: Response,
) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    if !kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")) {
        return response;
    }
    let (head, body) = response.into_parts();
    let ended = async move {
        loop {
            tokio::time::sleep(CACHE_TTL).await;
            // Only a `token_invalid` refusal closes the connection; a store that does not answer does not.
            if matches!(authenticator.grant(secret.clone()).await, Err(AppError::Refused(refusal)) if refusal.code == "token_invalid")
            {
                return;
            }
        }
    };
    Response::from_parts(head, Body::from_stream(body.into_data_stream().take_until(Box::pin(ended))))
}

/// The secret of the request. Only a header counts: a cookie would be sent along by any page that links here.
fn bearer(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().unwrap_or_default().trim();
    match text.split_once(' ') {
        Some((kind, secret)) if kind.eq_ignore_ascii_case("bearer") => Some(secret.trim().to_owned()),
        // Something else was meant to prove who asks: that is a wrong token, not none.
        _ => Some(text.to_owned()),
    }
}

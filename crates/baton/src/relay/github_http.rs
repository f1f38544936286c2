//! One request to GitHub and its answer; a limit that was hit holds everything back until it is over.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use baton_model::issue::{ResponseHeaders, RetryDecision, retry_decision};
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::github_auth::GitHubCredentials;
use crate::bounded_body::{self, BodyError};
use crate::clock;
use crate::error::AppError;

/// The revision of the API that answers are read in.
const API_VERSION: &str = "2022-11-28";

/// The largest answer that is read, in bytes: a page of comments takes a few megabytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// How often a request follows a repository to its new place.
const MOVES: usize = 3;

/// The client.
pub(super) struct Http {
    client: reqwest::Client,
    base: String,
    access: GitHubCredentials,
    blocked_until: Mutex<Option<Instant>>,
}

/// What came back.
pub(super) struct Response {
    /// The status.
    pub status: u16,
    /// JSON; null where there is none.
    pub body: Value,
    /// Seconds to wait.
    pub retry_after: Option<i64>,
    /// Calls left.
    pub remaining: Option<i64>,
    /// When there are more, in seconds of the epoch.
    pub reset: Option<i64>,
    /// The answer's tag.
    pub etag: Option<String>,
    /// Whether there is another page.
    pub has_next: bool,
}

/// Nothing came back.
pub(super) struct RequestError {
    /// Why.
    pub why: String,
    /// Whether the request may have arrived.
    pub was_sent: bool,
    /// How long to wait, if that is known.
    pub after: Option<i64>,
}

impl RequestError {
    /// A request that was not sent.
    pub(super) fn unsent(why: impl Into<String>, after: Option<i64>) -> Self {
        Self { why: why.into(), was_sent: false, after }
    }
}

impl Http {
    /// A client of the API at this address.
    pub(super) fn new(base: &str, access: GitHubCredentials) -> Result<Self, AppError> {
        // Installing twice is harmless: the first provider stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(4))
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("baton/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| anyhow::anyhow!("the HTTP client cannot be built: {error}"))?;
        Ok(Self {
            client,
            base: base.trim_end_matches('/').to_owned(),
            access,
            blocked_until: Mutex::new(None),
        })
    }

    /// How long nothing may be asked.
    pub(super) fn blocked_for(&self) -> Option<Duration> {
        let until = (*self.blocked_until.lock().ok()?)?;
        until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// Sends a request and reads its answer.
    pub(super) async fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        timeout: Duration,
        etag: Option<&str>,
    ) -> Result<Response, RequestError> {
        if let Some(left) = self.blocked_for() {
            let after = i64::try_from(left.as_millis()).ok();
            return Err(RequestError::unsent("GitHub's rate limit is used up", after));
        }
        let token = match self.access.token(self, path).await {
            Ok(token) => token,
            Err(instead) => {
                let answer = instead?;
                self.record_rate_limit(&answer);
                return Ok(answer);
            }
        };
        let answer = self.send_with_token(method, path, body, timeout, (&token, etag)).await?;
        self.record_rate_limit(&answer);
        Ok(answer)
    }

    /// Sends a request with this bearer token.
    pub(super) async fn send_with_token(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        timeout: Duration,
        (token, etag): (&str, Option<&str>),
    ) -> Result<Response, RequestError> {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap_or_default();
        let mut address = format!("{}{path}", self.base);
        for _ in 0..MOVES {
            let response = self.request(&method, &address, body, timeout, (token, etag)).await?;
            match next_address(&self.base, &address, &response) {
                Some(next) => address = next,
                None => return answer_of(response).await,
            }
        }
        answer_of(self.request(&method, &address, body, timeout, (token, etag)).await?).await
    }

    async fn request(
        &self,
        method: &reqwest::Method,
        address: &str,
        body: Option<&Value>,
        timeout: Duration,
        (token, etag): (&str, Option<&str>),
    ) -> Result<reqwest::Response, RequestError> {
        let mut request = self
            .client
            .request(method.clone(), address)
            .timeout(timeout)
            .bearer_auth(token)
            .header("accept", "application/vnd.github+json")
            .header("x-github-api-version", API_VERSION);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        if let Some(etag) = etag {
            request = request.header("if-none-match", etag);
        }
        request.send().await.map_err(|error| send_failed(&error))
    }

    /// Records a rate limit, which holds for all requests of this process.
    fn record_rate_limit(&self, answer: &Response) {
        let marks = ResponseHeaders {
            retry_after: answer.retry_after,
            remaining: answer.remaining,
            reset: answer.reset,
            message: answer.body["message"].as_str().unwrap_or_default(),
        };
        if let RetryDecision::Later(Some(after)) = retry_decision(answer.status, &marks, clock::now())
            && let Ok(mut until) = self.blocked_until.lock()
        {
            let pause = Duration::from_millis(u64::try_from(after).unwrap_or_default());
            *until = Instant::now().checked_add(pause);
        }
    }
}

/// Where a renamed or moved repository is now: GitHub answers 301 or 307, and the same request goes there, with its method and
/// body. The token goes to no other host than that of the settings.
fn next_address(base: &str, address: &str, response: &reqwest::Response) -> Option<String> {
    if !matches!(response.status().as_u16(), 301 | 302 | 307 | 308) {
        return None;
    }
    let [base, target] = [base, address].map(|text| reqwest::Url::parse(text).ok());
    let (base, target) = (base?, target?);
    let mut next = target.join(response.headers().get("location")?.to_str().ok()?).ok()?;
    if next.query().is_none() {
        next.set_query(target.query());
    }
    (next.origin() == base.origin()).then(|| next.to_string())
}

async fn answer_of(response: reqwest::Response) -> Result<Response, RequestError> {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let text = bounded_body::read(response, MAX_ANSWER_BYTES).await.map_err(|error| match error {
        BodyError::TooLong(limit) => too_long(limit),
        BodyError::Broken(error) => send_failed(&error),
    })?;
    Ok(read(status, &headers, &text))
}

fn read(status: u16, headers: &HeaderMap, text: &[u8]) -> Response {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let number = |name: &str| header(name).and_then(|text| text.parse().ok());
    Response {
        status,
        body: serde_json::from_slice(text).unwrap_or(Value::Null),
        retry_after: number("retry-after"),
        remaining: number("x-ratelimit-remaining"),
        reset: number("x-ratelimit-reset"),
        etag: header("etag").map(str::to_owned),
        has_next: header("link").is_some_and(|link| link.contains("rel=\"next\"")),
    }
}

/// An answer that is not read to its end: the request arrived.
fn too_long(limit: usize) -> RequestError {
    let why = format!("GitHub answers with more than {} MiB", limit >> 20);
    RequestError { why, was_sent: true, after: None }
}

/// An error of the client. Only where no connection was made is it certain that nothing arrived.
fn send_failed(error: &reqwest::Error) -> RequestError {
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |cause| cause.source());
    let cause = causes.last().map(ToString::to_string).unwrap_or_default();
    let host = error.url().and_then(|url| url.host_str()).unwrap_or("the tracker");
    let why = match (error.is_timeout(), error.is_connect()) {
        (true, _) => format!("{host} did not answer in time"),
        (_, true) => format!("{host} cannot be reached: {cause}"),
        _ => format!("the call to {host} failed: {cause}"),
    };
    RequestError { why, was_sent: !error.is_connect() && !error.is_builder(), after: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const API: &str = "https://api.github.com";

    /// Where a request goes on that is answered so.
    fn next(status: u16, location: &str) -> Option<String> {
        let answer = axum::http::Response::builder().status(status).header("location", location);
        let answer = answer.body(String::new()).expect("an answer").into();
        next_address(API, &format!("{API}/repos/o/r/issues?state=all&page=2"), &answer)
    }

    #[test]
    fn a_moved_repository_is_followed_and_the_token_goes_to_no_other_host() {
        for status in [301, 302, 307, 308] {
            let there = format!("{API}/repositories/7/issues?state=all&page=2");
            assert_eq!(
                next(status, "/repositories/7/issues"),
                Some(there.clone()),
                "the question goes along"
            );
            assert_eq!(next(status, &format!("{API}/repositories/7/issues")), Some(there));
            let own = format!("{API}/repositories/7/issues?page=1");
            assert_eq!(next(status, &own), Some(own.clone()));
            for elsewhere in [
                "https://api.github.com.evil.example/repositories/7/issues",
                "http://api.github.com/repositories/7/issues",
                "https://api.github.com:8443/repositories/7/issues",
                "//evil.example/repositories/7/issues",
                "https://api.github.com@evil.example/",
            ] {
                assert_eq!(next(status, elsewhere), None, "{elsewhere}");
            }
        }
        assert_eq!(next(200, "/repositories/7/issues"), None);
        assert_eq!(next(404, "/repositories/7/issues"), None);
    }
}

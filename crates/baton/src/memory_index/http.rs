//! A request with a JSON body, an answer of bounded size in bounded time.

use std::time::Duration;

use serde_json::Value;

use crate::bounded_body::{self, BodyError};
use crate::error::AppError;

/// The largest answer that is read.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// Why an external service could not be used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ServiceError {
    /// What went wrong, in a sentence without its end.
    pub why: String,
    /// What to do, where that is known.
    pub hint: Option<&'static str>,
    /// The status, where there was an answer.
    pub status: Option<u16>,
    /// How long to wait, in milliseconds, where that was said.
    pub after: Option<i64>,
}

impl ServiceError {
    /// Something that went wrong.
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), hint: None, status: None, after: None }
    }
}

/// A client of one service.
pub(super) struct Http {
    client: reqwest::Client,
    /// How it is called in messages.
    name: &'static str,
    key: Option<(&'static str, String)>,
}

impl Http {
    /// A client that shows a key in this header.
    pub(super) fn new(name: &'static str, key: Option<(&'static str, String)>) -> Result<Self, AppError> {
        // Installing twice is harmless: the first provider stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(1))
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("baton/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| anyhow::anyhow!("the HTTP client cannot be built: {error}"))?;
        Ok(Self { client, name, key })
    }

    /// Sends a request; an answer other than 200 is trouble, with what it says.
    pub(super) async fn send(
        &self,
        method: &str,
        url: &str,
        body: Option<&Value>,
        timeout: Duration,
    ) -> Result<Value, ServiceError> {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap_or_default();
        let mut request = self.client.request(method, url).timeout(timeout);
        if let Some((header, key)) = &self.key {
            request = request.header(*header, key);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let response = request.send().await.map_err(|error| self.away(&error))?;
        let status = response.status().as_u16();
        let header = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let after =
            header.and_then(|text| text.parse::<i64>().ok()).map(|seconds| seconds.clamp(0, 3_600) * 1_000);
        let bytes = bounded_body::read(response, MAX_ANSWER_BYTES).await.map_err(|error| match error {
            BodyError::TooLong(_) => {
                ServiceError::new(format!("{} answers with more than 64 MiB", self.name))
            }
            BodyError::Broken(error) => self.away(&error),
        })?;
        let read = serde_json::from_slice::<Value>(&bytes);
        match (status, read) {
            (200, Ok(answer)) => Ok(answer),
            (200, Err(_)) => {
                Err(ServiceError::new(format!("{} answers with something that is no JSON", self.name)))
            }
            (status, read) => {
                let message = read.ok().and_then(|answer| error_text(&answer)).unwrap_or_default();
                let why = format!("{} answered {status}{message}", self.name);
                Err(ServiceError { status: Some(status), after, ..ServiceError::new(why) })
            }
        }
    }

    /// Never with the address: a key could stand in it.
    fn away(&self, error: &reqwest::Error) -> ServiceError {
        let what = if error.is_timeout() {
            "does not answer in time"
        } else if error.is_connect() {
            "cannot be reached"
        } else {
            "broke the connection off"
        };
        ServiceError::new(format!("{} {what}", self.name))
    }
}

/// What an error says of itself: Qdrant's and OpenAI's way.
fn error_text(answer: &Value) -> Option<String> {
    let text =
        ["/status/error", "/error/message"].iter().find_map(|place| answer.pointer(place)?.as_str())?;
    let line = baton_model::packet::one_line(text);
    Some(format!(": {}", baton_model::id::visible(&line)))
}

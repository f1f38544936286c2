//! What GitHub posts to us: checked by its signature, so that it may come from outside, and brought into the ledger.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::op::Caller;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::config::Config;
use crate::workers::Pool;

/// The largest body that GitHub sends.
const MAX_BODY: usize = 25 * 1024 * 1024;

/// The receiver.
pub struct Hook {
    secret: Option<String>,
    pool: Arc<Pool>,
}

impl Hook {
    /// A receiver that believes what this secret has signed.
    pub fn new(config: &Config, pool: Arc<Pool>) -> Arc<Self> {
        Arc::new(Self { secret: config.github.webhook_secret.clone(), pool })
    }
}

/// The one route: it stands outside what only this machine may call, because its signature says who calls.
pub fn router(hook: Arc<Hook>) -> Router {
    Router::new()
        .route("/api/v1/github/webhook", post(receive))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(hook)
}

async fn receive(State(hook): State<Arc<Hook>>, headers: HeaderMap, body: Bytes) -> Response {
    if let Err(refusal) = checked(hook.secret.as_deref(), &headers, &body) {
        let status = if refusal.code == "webhook_unconfigured" {
            StatusCode::NOT_FOUND
        } else {
            StatusCode::UNAUTHORIZED
        };
        return super::answer::problem_as(status, &refusal.into());
    }
    let event = headers.get("x-github-event").and_then(|value| value.to_str().ok());
    let posted: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let Some(input) = input(event, &posted) else { return StatusCode::NO_CONTENT.into_response() };
    match hook.pool.run("tracker_event", input, Caller::default()).await {
        Ok(_) => StatusCode::NO_CONTENT.into_response(),
        Err(ended) => super::answer::problem(&ended),
    }
}

fn checked(secret: Option<&str>, headers: &HeaderMap, body: &[u8]) -> Result<(), Refusal> {
    let Some(secret) = secret else {
        let what = "no secret for GitHub's webhook is configured";
        return Err(Refusal::new(
            Kind::NotFound,
            "webhook_unconfigured",
            what,
            "set BATON_GITHUB_WEBHOOK_SECRET",
        ));
    };
    let wrong = || {
        let what = "the signature is not that of the configured secret";
        Refusal::new(
            Kind::Refused,
            "signature_invalid",
            what,
            "give GitHub the secret in BATON_GITHUB_WEBHOOK_SECRET",
        )
    };
    let given = headers.get("x-hub-signature-256").and_then(|value| value.to_str().ok());
    let given = given.and_then(|text| text.strip_prefix("sha256=")).and_then(bytes).ok_or_else(wrong)?;
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map_err(|_| wrong())?;
    mac.update(body);
    mac.verify_slice(&given).map_err(|_| wrong())
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    if !hex.is_ascii() || hex.len() % 2 == 1 {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok()).collect()
}

/// What an event says about an issue; nothing for events that say nothing of it.
fn input(event: Option<&str>, posted: &Value) -> Option<Value> {
    let issue = &posted["issue"];
    if event != Some("issues") || issue.get("pull_request").is_some() {
        return None;
    }
    Some(json!({
        "repo": posted["repository"]["full_name"].as_str()?,
        "number": issue["number"].as_i64()?,
        "state": issue["state"].as_str()?,
        "state_reason": issue["state_reason"].as_str(),
        "by": posted["sender"]["login"].as_str(),
        "marker": issue["body"].as_str().and_then(baton_model::issue::marker_in),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(secret: Option<&str>, signature: &str) -> Result<(), &'static str> {
        let mut headers = HeaderMap::new();
        headers.insert("x-hub-signature-256", signature.parse().expect("header"));
        checked(secret, &headers, b"Hello, World!").map_err(|refusal| refusal.code)
    }

    #[test]
    fn only_what_the_secret_has_signed_is_believed() {
        // The example of GitHub's own pages.
        let good = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        assert_eq!(check(Some("It's a Secret to Everybody"), good), Ok(()));
        assert_eq!(check(Some("another"), good), Err("signature_invalid"));
        assert_eq!(check(None, good), Err("webhook_unconfigured"));
        for bad in ["", "sha256=", "sha256=zz", "sha1=757107", "sha256=7"] {
            assert_eq!(check(Some("It's a Secret to Everybody"), bad).expect_err(bad), "signature_invalid");
        }
    }

    #[test]
    fn an_event_is_read_only_if_it_is_about_an_issue() {
        let posted = json!({ "action": "closed", "issue": { "number": 3, "state": "closed", "state_reason": "completed" },
            "repository": { "full_name": "o/r" }, "sender": { "login": "octocat" } });
        let expected = json!({ "repo": "o/r", "number": 3, "state": "closed", "state_reason": "completed", "by": "octocat", "marker": null });
        assert_eq!(input(Some("issues"), &posted), Some(expected));
        assert_eq!(input(Some("ping"), &posted), None);
        assert_eq!(input(Some("issues"), &json!({})), None);
    }
}

//! What GitHub posts to us: checked by its signature, so that it may come from outside, and brought into the ledger.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use baton_model::refusal::{Kind, Refusal};
use baton_model::time::{Millis, parse_rfc3339};
use baton_ops::handoff::{TrackerComments, TrackerCommentsInput, TrackerEvent, TrackerEventInput};
use baton_ops::op::Caller;
use futures_util::StreamExt;
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use serde::de::IgnoredAny;
use sha2::Sha256;
use tokio::sync::Semaphore;

use super::answer::problem_as;
use super::body;
use crate::clock;
use crate::config::Config;
use crate::relay::github_json::{Account, Comment, Label};
use crate::relay::github_read::ClosingWords;
use crate::relay::saga::Driver;
use crate::store_pool::Pool;

/// The largest body that GitHub sends. What is not about issues is only counted and compared with its signature.
const MAX_BODY_BYTES: usize = 25 * 1024 * 1024;
/// Bodies received at once, and how long one waits for its turn.
const MAX_CONCURRENT: usize = 32;
const TURN: Duration = Duration::from_secs(2);
/// Maximum age of a change that an event reports: an older one is taken for a replay, and polling finds the current
/// state.
const FRESH: Millis = 10 * 60 * 1_000;
/// Signatures remembered, so that what was taken is not taken twice while it is fresh.
const MAX_SIGNATURES: usize = 4_096;

/// The events that are read.
const EVENTS: [&str; 2] = ["issues", "issue_comment"];

/// How long GitHub is asked for the words of a close. GitHub gives a webhook up after 10 seconds.
const WORDS_TIMEOUT: Duration = Duration::from_secs(5);

/// The receiver.
pub(super) struct WebhookReceiver {
    secret: Option<String>,
    pool: Arc<Pool>,
    driver: Driver,
    room: Semaphore,
    recent: ReplayGuard,
}

/// The signatures of what was taken lately.
#[derive(Default)]
struct ReplayGuard(Mutex<VecDeque<Vec<u8>>>);

impl ReplayGuard {
    fn has(&self, signature: &[u8]) -> bool {
        self.0.lock().is_ok_and(|all| all.iter().any(|known| known == signature))
    }

    fn add(&self, signature: Vec<u8>) {
        let Ok(mut all) = self.0.lock() else { return };
        if all.len() >= MAX_SIGNATURES {
            all.pop_front();
        }
        all.push_back(signature);
    }
}

impl WebhookReceiver {
    /// A receiver that believes what this secret has signed.
    pub(super) fn new(config: &Config, pool: Arc<Pool>, driver: Driver) -> Arc<Self> {
        Arc::new(Self {
            secret: config.github.webhook_secret.clone(),
            pool,
            driver,
            room: Semaphore::new(MAX_CONCURRENT),
            recent: ReplayGuard::default(),
        })
    }

    /// The event together with what the person who closed the issue said under it, which GitHub does not send along. None where GitHub
    /// does not give the comments in time: then the next poll brings both.
    async fn with_words(&self, mut event: TrackerEventInput) -> Option<TrackerEventInput> {
        if let (Some(by), "closed") = (&event.by, event.state.as_str()) {
            let words = self.driver.closing_words_of(&event.repo, event.number, by);
            match tokio::time::timeout(WORDS_TIMEOUT, words).await {
                Ok(ClosingWords::Known(words)) => event.words = words,
                Ok(ClosingWords::Unknown) | Err(_) => return None,
            }
        }
        Some(event)
    }

    /// Reads a body that its signature proves to be GitHub's. Nothing is read before all else is right, and nothing is held of
    /// what is not about issues.
    async fn read(&self, headers: &HeaderMap, body: Body) -> Result<(Vec<u8>, Vec<u8>), Response> {
        let no = |refusal: Refusal| problem_as(status(&refusal), &refusal.into());
        let (mut mac, signature) = proof(self.secret.as_deref(), headers).map_err(no)?;
        let is_kept = event(headers).is_some_and(|event| EVENTS.contains(&event));
        let most = if is_kept { body::MAX_BODY_BYTES } else { MAX_BODY_BYTES };
        if declared(headers).is_some_and(|size| size > most) {
            return Err(body::too_large(most));
        }
        let Ok(Ok(_turn)) = tokio::time::timeout(TURN, self.room.acquire()).await else {
            return Err(body::no_room());
        };
        let (mut chunks, mut size, mut bytes) = (body.into_data_stream(), 0, Vec::new());
        let all = async {
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk.map_err(|error| body::cut_off(&error))?;
                size += chunk.len();
                if size > most {
                    return Err(body::too_large(most));
                }
                mac.update(&chunk);
                if is_kept {
                    bytes.extend_from_slice(&chunk);
                }
            }
            Ok(())
        };
        let Ok(read) = tokio::time::timeout(body::TIME, all).await else { return Err(body::too_slow()) };
        read?;
        mac.verify_slice(&signature).map_err(|_| no(webhook_refusal()))?;
        Ok((bytes, signature))
    }
}

/// The one route: it stands outside what only this machine may call, because its signature says who calls.
pub(super) fn router(hook: Arc<WebhookReceiver>) -> Router {
    Router::new().route("/api/v1/github/webhook", post(receive)).with_state(hook)
}

async fn receive(State(hook): State<Arc<WebhookReceiver>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let (body, signature) = match hook.read(&head.headers, body).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    let posted: WebhookBody = serde_json::from_slice(&body).unwrap_or_default();
    let done = || StatusCode::NO_CONTENT.into_response();
    let Some(news) = webhook_event(event(&head.headers), posted, clock::now()) else { return done() };
    if hook.recent.has(&signature) {
        return done();
    }
    let answer = match news {
        WebhookEvent::Issue(input) => {
            let Some(input) = hook.with_words(*input).await else { return done() };
            hook.pool.run_typed::<TrackerEvent>(&input, Caller::default()).await.map(drop)
        }
        WebhookEvent::Comments(input) => {
            hook.pool.run_typed::<TrackerComments>(&input, Caller::default()).await.map(drop)
        }
    };
    match answer {
        Ok(()) => {
            hook.recent.add(signature);
            done()
        }
        Err(error) => super::answer::problem(&error),
    }
}

fn event(headers: &HeaderMap) -> Option<&str> {
    headers.get("x-github-event").and_then(|value| value.to_str().ok())
}

fn declared(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn status(refusal: &Refusal) -> StatusCode {
    if refusal.code == "webhook_unconfigured" { StatusCode::NOT_FOUND } else { StatusCode::UNAUTHORIZED }
}

/// Whether the reported change is recent. GitHub signs no timestamp beside the body, so the time in the body is used.
fn is_fresh(posted: &WebhookBody, now: Millis) -> bool {
    let at = posted.issue.updated_at.as_deref().and_then(parse_rfc3339);
    at.is_none_or(|at| now - at <= FRESH)
}

fn webhook_refusal() -> Refusal {
    let what = "the signature is not that of the configured secret";
    let hint = "give GitHub the secret in BATON_GITHUB_WEBHOOK_SECRET";
    Refusal::new(Kind::Refused, "signature_invalid", what, hint)
}

/// What the body is to be compared with: an empty HMAC of the secret, and the signature that came.
fn proof(secret: Option<&str>, headers: &HeaderMap) -> Result<(Hmac<Sha256>, Vec<u8>), Refusal> {
    let Some(secret) = secret.filter(|secret| !secret.is_empty()) else {
        let what = "no secret for GitHub's webhook is configured";
        return Err(Refusal::new(
            Kind::NotFound,
            "webhook_unconfigured",
            what,
            "set BATON_GITHUB_WEBHOOK_SECRET",
        ));
    };
    let given = headers.get("x-hub-signature-256").and_then(|value| value.to_str().ok());
    let given = given.and_then(|text| text.strip_prefix("sha256=")).and_then(bytes);
    let given = given.filter(|bytes| bytes.len() == 32).ok_or_else(webhook_refusal)?;
    Ok((Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map_err(|_| webhook_refusal())?, given))
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    if !hex.is_ascii() || hex.len() % 2 == 1 {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok()).collect()
}

/// What GitHub posts, as far as it is read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct WebhookBody {
    action: Option<String>,
    issue: Issue,
    comment: Option<Comment>,
    repository: Repository,
    sender: Option<Account>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Issue {
    number: Option<i64>,
    state: Option<String>,
    state_reason: Option<String>,
    title: Option<String>,
    body: Option<String>,
    labels: Vec<Label>,
    updated_at: Option<String>,
    closed_at: Option<String>,
    /// There where it is no issue but a pull request.
    pull_request: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Repository {
    full_name: Option<String>,
}

/// What an event brings.
enum WebhookEvent {
    /// How an issue stands.
    Issue(Box<TrackerEventInput>),
    /// What was said under it.
    Comments(TrackerCommentsInput),
}

/// What an event brings; nothing for events that say nothing of an issue. What was said carries its own time, so that an event that comes
/// late, or again, overwrites nothing.
fn webhook_event(event: Option<&str>, posted: WebhookBody, now: Millis) -> Option<WebhookEvent> {
    if posted.issue.pull_request.is_some() {
        return None;
    }
    match event {
        Some("issues") if is_fresh(&posted, now) => {
            input(posted).map(|input| WebhookEvent::Issue(Box::new(input)))
        }
        Some("issue_comment") => comments(posted).map(WebhookEvent::Comments),
        _ => None,
    }
}

/// How an issue stands.
fn input(posted: WebhookBody) -> Option<TrackerEventInput> {
    let issue = posted.issue;
    let by = posted.sender.and_then(|sender| sender.login);
    let is_edit = posted.action.is_some_and(|action| EDITS.contains(&action.as_str()));
    Some(TrackerEventInput {
        repo: posted.repository.full_name?,
        number: issue.number?,
        state: issue.state?,
        state_reason: issue.state_reason,
        edited_by: by.clone().filter(|_| is_edit),
        by,
        updated_at: issue.updated_at.as_deref().and_then(parse_rfc3339),
        closed_at: issue.closed_at.as_deref().and_then(parse_rfc3339),
        marker: issue.body.as_deref().and_then(baton_model::issue::marker_in).map(str::to_owned),
        title: issue.title,
        body: issue.body,
        labels: issue.labels.into_iter().filter_map(Label::into_name).collect(),
        ..TrackerEventInput::default()
    })
}

/// The actions that change an issue's own words.
const EDITS: [&str; 3] = ["edited", "labeled", "unlabeled"];

/// What was said under an issue, changed or taken back.
fn comments(posted: WebhookBody) -> Option<TrackerCommentsInput> {
    let comment = posted.comment?.into_comment()?;
    let (repo, number) = (posted.repository.full_name?, posted.issue.number?);
    let input = TrackerCommentsInput { repo, number, ..TrackerCommentsInput::default() };
    match posted.action.as_deref()? {
        "created" | "edited" => Some(TrackerCommentsInput { comments: vec![comment], ..input }),
        "deleted" => Some(TrackerCommentsInput { deleted: vec![comment.id], ..input }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn posted(body: Value) -> WebhookBody {
        serde_json::from_value(body).expect("a body of GitHub's")
    }

    fn check(secret: Option<&str>, signature: &str) -> Result<(), &'static str> {
        let mut headers = HeaderMap::new();
        headers.insert("x-hub-signature-256", signature.parse().expect("header"));
        let (mut mac, signature) = proof(secret, &headers).map_err(|refusal| refusal.code)?;
        mac.update(b"Hello, World!");
        mac.verify_slice(&signature).map_err(|_| webhook_refusal().code)
    }

    #[test]
    fn what_was_taken_is_remembered_for_a_while() {
        let recent = ReplayGuard::default();
        recent.add(vec![1]);
        assert!(recent.has(&[1]) && !recent.has(&[2]));
        (0..MAX_SIGNATURES).for_each(|n| recent.add(n.to_be_bytes().to_vec()));
        assert!(!recent.has(&[1]), "and not for ever");
    }

    #[test]
    fn an_event_of_long_ago_is_not_believed() {
        let at = |time: &str| posted(json!({ "issue": { "updated_at": time } }));
        let now = parse_rfc3339("2026-11-20T10:10:00Z").expect("a time");
        assert!(is_fresh(&at("2026-11-20T10:00:00Z"), now));
        assert!(is_fresh(&at("2026-11-20T10:20:00Z"), now), "clocks differ");
        assert!(!is_fresh(&at("2026-11-20T09:59:59Z"), now));
        assert!(is_fresh(&WebhookBody::default(), now));
    }

    #[test]
    fn only_what_the_secret_has_signed_is_believed() {
        // The example of GitHub's own pages.
        let good = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        assert_eq!(check(Some("It's a Secret to Everybody"), good), Ok(()));
        assert_eq!(check(Some("another"), good), Err("signature_invalid"));
        assert_eq!(check(None, good), Err("webhook_unconfigured"));
        assert_eq!(check(Some(""), good), Err("webhook_unconfigured"));
        for bad in ["", "sha256=", "sha256=zz", "sha1=757107", "sha256=7"] {
            assert_eq!(check(Some("It's a Secret to Everybody"), bad).expect_err(bad), "signature_invalid");
        }
    }

    #[test]
    fn an_event_is_read_only_if_it_is_about_an_issue() {
        let closed = json!({ "action": "closed", "issue": { "number": 3, "state": "closed", "state_reason": "completed" },
            "repository": { "full_name": "o/r" }, "sender": { "login": "octocat" } });
        let expected = json!({ "repo": "o/r", "number": 3, "state": "closed", "state_reason": "completed", "by": "octocat", "marker": null });
        let read = |event: &str, body: Value| match webhook_event(Some(event), posted(body), 0) {
            Some(WebhookEvent::Issue(input)) => Some(json!(input)),
            Some(WebhookEvent::Comments(input)) => Some(json!(input)),
            None => None,
        };
        assert_eq!(read("issues", closed.clone()), Some(expected));
        assert_eq!(read("ping", closed), None);
        assert_eq!(read("issues", json!({})), None);
    }

    #[test]
    fn what_was_said_is_read_with_its_own_time_and_an_edit_with_its_author() {
        let event_of = |action: &str| {
            json!({ "action": action, "issue": { "number": 3, "state": "open" }, "repository": { "full_name": "o/r" },
                "sender": { "login": "mallory" }, "comment": { "id": 7, "body": "half up?", "user": { "login": "carol" },
                    "created_at": "1970-01-01T00:00:01Z", "updated_at": "1970-01-01T00:00:02Z" } })
        };
        let read = |event: &str, body: Value| webhook_event(Some(event), posted(body), i64::MAX);
        let Some(WebhookEvent::Comments(created)) = read("issue_comment", event_of("created")) else {
            panic!("a comment")
        };
        let expected = json!({ "id": 7, "author": "carol", "body": "half up?", "created_at": 1_000, "updated_at": 2_000 });
        assert_eq!((json!(created.comments), created.deleted.len()), (json!([expected]), 0));
        let Some(WebhookEvent::Comments(deleted)) = read("issue_comment", event_of("deleted")) else {
            panic!("a comment")
        };
        assert_eq!((deleted.comments.len(), deleted.deleted), (0, vec![7]));
        assert!(read("issue_comment", event_of("pinned")).is_none());
        let mut of_pull = event_of("created");
        of_pull["issue"]["pull_request"] = json!({});
        assert!(read("issue_comment", of_pull).is_none());
        let Some(WebhookEvent::Issue(edited)) = read("issues", event_of("edited")) else {
            panic!("an issue")
        };
        assert_eq!(edited.edited_by.as_deref(), Some("mallory"));
        let Some(WebhookEvent::Issue(closed)) = read("issues", event_of("closed")) else {
            panic!("an issue")
        };
        assert_eq!(closed.edited_by, None);
    }
}

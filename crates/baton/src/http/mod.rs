//! The HTTP face: `/healthz` and one route per operation of the table. It parses, hands over, renders.

mod github;
mod guard;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use baton_model::refusal::{Kind, Refusal};
use baton_model::session::Place;
use baton_ops::op::Caller;
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::error::Ended;
use crate::host::Machine;
use crate::relay::Relay;
use crate::relay::saga::{Driver, Lanes};
use crate::sweep::Sweep;
use crate::workers::Pool;

/// The largest body accepted: a packet of 256 KiB, escaped, with room to spare.
const MAX_BODY: usize = 2 * 1024 * 1024;

/// How long clients may take to finish their requests after the stop.
const GRACE: Duration = Duration::from_secs(2);

const OPERATIONS: &str = "operations are called by POST at /api/v1/ops/{name}";

/// Serves until it is told to stop; then it finishes what it accepted.
pub fn serve(address: SocketAddr, app: &mut App) -> Result<(), Ended> {
    let machine = Arc::new(Machine::new(&app.config));
    let pool = Arc::new(Pool::open(&app.config.store, &machine, app.config.limits)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let relay = Relay::start(&app.config, runtime.handle().clone())?;
    let sweep = Sweep::start(&app.config)?;
    let driver = Arc::new(Driver::new(&app.config, Arc::clone(&machine))?);
    let lanes = Lanes::start(&app.config, &driver, runtime.handle())?;
    let hook = github::Hook::new(&app.config, Arc::clone(&pool));
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await.map_err(|error| {
            Refusal::invalid(
                "listen_failed",
                format!("cannot listen on {address}: {error}"),
                "choose another port with --listen, or 0 for a free one",
            )
        })?;
        app.remark(&format!("baton serves on http://{}", listener.local_addr()?));
        let server = axum::serve(listener, router(Arc::clone(&pool)).merge(github::router(hook))).with_graceful_shutdown(stopped());
        tokio::select! {
            ended = server => ended?,
            () = overdue(&pool) => {}
        }
        Ok::<(), Ended>(())
    });
    lanes.stop();
    sweep.stop();
    relay.stop();
    runtime.shutdown_timeout(Duration::from_secs(5));
    served
}

fn router(pool: Arc<Pool>) -> Router {
    Router::new()
        .route("/healthz", get(health))
        .route("/api/v1/ops/{name}", post(operation))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn(guard::local_only))
        .with_state(pool)
}

async fn stopped() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! { _ = interrupted => {}, _ = terminated.recv() => {} }
            return;
        }
    }
    let _ = interrupted.await;
}

/// Ends some time after the stop, once every operation that was accepted has been answered: a client that sends or reads
/// too slowly is cut off.
async fn overdue(pool: &Pool) {
    stopped().await;
    tokio::time::sleep(GRACE).await;
    while pool.in_hand() > 0 {
        tokio::time::sleep(GRACE / 10).await;
    }
}

async fn health() -> Json<Value> {
    Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

/// Who calls, as the header `Baton-Caller` says: a JSON object with any of these fields.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CallerHeader {
    identity: Option<String>,
    project: Option<String>,
    session: Option<String>,
    surface: String,
    machine: String,
    process: String,
    folders: Vec<String>,
    git_root: Option<String>,
}

fn caller(headers: &HeaderMap) -> Result<Caller, Refusal> {
    let Some(text) = headers.get("baton-caller") else { return Ok(Caller::default()) };
    let told: CallerHeader = serde_json::from_slice(text.as_bytes()).map_err(|error| {
        Refusal::invalid(
            "caller_invalid",
            format!("the header Baton-Caller is malformed: {error}"),
            "give a JSON object or leave it out",
        )
    })?;
    Ok(Caller {
        identity: told.identity,
        project: told.project,
        session: told.session,
        surface: told.surface,
        place: Place { machine: told.machine, process: told.process },
        folders: told.folders,
        git_root: told.git_root,
    })
}

async fn operation(
    State(pool): State<Arc<Pool>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let body = match body {
        Ok(body) => body,
        Err(rejection) => return unreadable(&rejection),
    };
    match call(&pool, &name, &headers, &body).await {
        Ok(answer) if DRIVEN.contains(&name.as_str()) => driven(&pool, answer).await,
        Ok(answer) => delivered(pool, answer),
        Err(ended) => problem(&ended),
    }
}

/// Operations whose hand-off is driven before they are answered.
const DRIVEN: [&str; 3] = ["handoff_create", "handoff_retry", "handoff_publish"];
/// How long, in looks of 25 ms.
const LOOKS: u32 = 400;

/// Waits for a hand-off that the server drives; after ten seconds the answer says that it is not done yet.
async fn driven(pool: &Pool, mut answer: Value) -> Response {
    let id = answer["handoff_id"].clone();
    let waits = |answer: &Value| matches!(answer["state"].as_str(), Some("planned" | "pending"));
    for _ in 0..LOOKS {
        if !waits(&answer) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
        let Ok(now) = pool.run("handoff_show", json!({ "id": id }), Caller::default()).await else { break };
        for key in ["state", "task", "memory", "memory_id", "seeded_session", "session_id", "steps", "last_error", "updated_at"] {
            answer[key] = now[key].clone();
        }
    }
    let status = if waits(&answer) { StatusCode::ACCEPTED } else { StatusCode::OK };
    json_response(status, "application/json", Body::from(answer.to_string()))
}

async fn call(pool: &Pool, name: &str, headers: &HeaderMap, body: &[u8]) -> Result<Value, Ended> {
    let caller = caller(headers)?;
    pool.run(name, Value::Object(input(body)?), caller).await
}

/// The operation's input: a JSON object, or nothing at all.
fn input(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_slice(body).map_err(|error| {
        let what = format!("the body is not a JSON object: {error}");
        Refusal::invalid("body_invalid", what, "send the operation's input as a JSON object")
    })
}

/// A body that did not come: too large, or cut off.
fn unreadable(rejection: &BytesRejection) -> Response {
    let (code, hint) = match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ("body_too_large", "a packet holds at most 256 KiB; name files in place of quoting them")
        }
        _ => ("body_invalid", "send the body to its end"),
    };
    problem_as(rejection.status(), &Refusal::invalid(code, rejection.body_text(), hint).into())
}

async fn no_route() -> Response {
    let refusal = Refusal::new(Kind::NotFound, "route_unknown", "there is nothing at this path", OPERATIONS);
    problem_as(StatusCode::NOT_FOUND, &refusal.into())
}

async fn no_method() -> Response {
    let refusal = Refusal::invalid("method_not_allowed", "this path does not know the method", OPERATIONS);
    problem_as(StatusCode::METHOD_NOT_ALLOWED, &refusal.into())
}

/// The answer; when its last byte was taken, the signals in it are marked as delivered.
fn delivered(pool: Arc<Pool>, answer: Value) -> Response {
    let ids: Vec<Value> =
        answer["pending_signals"].as_array().into_iter().flatten().map(|s| s["message_id"].clone()).collect();
    let bytes = Bytes::from(answer.to_string());
    if ids.is_empty() || answer["dry_run"] == true {
        return json_response(StatusCode::OK, "application/json", Body::from(bytes));
    }
    let mark = json!({ "project": answer["project_id"], "message_ids": ids });
    let steps = stream::unfold(Some((bytes, pool, mark)), |state| async move {
        let (bytes, pool, mark) = state?;
        if bytes.is_empty() {
            // Nobody waits for this answer: a failure means that the signals come once more.
            let _ = pool.run("signal_delivered", mark, Caller::default()).await;
            return None;
        }
        Some((Ok::<Bytes, std::convert::Infallible>(bytes), Some((Bytes::new(), pool, mark))))
    });
    json_response(StatusCode::OK, "application/json", Body::from_stream(steps))
}

fn json_response(status: StatusCode, kind: &'static str, body: Body) -> Response {
    (status, [(header::CONTENT_TYPE, kind)], body).into_response()
}

/// A "no" as RFC 9457 wants it, with our code, hint and details beside.
fn problem(ended: &Ended) -> Response {
    let status = StatusCode::from_u16(ended.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    problem_as(status, ended)
}

fn problem_as(status: StatusCode, ended: &Ended) -> Response {
    let mut body = ended.to_json()["error"].take();
    body["type"] = json!(format!("urn:baton:{}", body["code"].as_str().unwrap_or("fault")));
    body["title"] = body["message"].clone();
    body["status"] = json!(status.as_u16());
    json_response(status, "application/problem+json", Body::from(body.to_string()))
}

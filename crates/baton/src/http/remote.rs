//! `POST /api/v1/remote/{name}`: an operation for a client of ours on another machine, which answers itself what only its
//! machine can tell. The answer is the operation's own; signals in it are marked as delivered by the client.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use baton_model::access::Grant;
use baton_model::lossless_json;
use baton_model::refusal::Refusal;
use baton_ops::op::{Caller, Site, TxMode};
use serde_json::Value;

use super::answer::{json_of, problem};
use super::input::idempotency_key;
use crate::error::AppError;
use crate::remote::Call;
use crate::store_pool::Pool;

/// Runs it.
pub(super) async fn call(
    State(pool): State<Arc<Pool>>,
    Extension(grant): Extension<Grant>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match run(&pool, &name, grant, &headers, &body).await {
        Ok(answer) => json_of(StatusCode::OK, &answer),
        Err(error) => problem(&error),
    }
}

async fn run(
    pool: &Pool,
    name: &str,
    grant: Grant,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Value, AppError> {
    let call: Call = lossless_json::read(body).map_err(|error| {
        let what = format!("the body is no call: {error}");
        Refusal::invalid("body_invalid", what, "send an object with input, caller and facts")
    })?;
    let entry = baton_ops::all::find(name)?;
    if entry.site == Site::Disk {
        let what = format!("{name} reads the disk of the machine that it is called on");
        return Err(Refusal::invalid("operation_local", what, "run it where the transcripts are").into());
    }
    let caller = Caller { grant, ..call.caller.caller() };
    let key = idempotency_key(headers)?.filter(|_| entry.tx_mode == TxMode::Write).map(str::to_owned);
    pool.run_for(name, Value::Object(call.input), caller, key, call.facts).await
}

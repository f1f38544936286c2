//! Whether a server that runs is ready: the question of a health check, which opens no store itself.

use std::time::Duration;

use serde::Deserialize;

use super::http_client::client;
use super::server_fault::{unreachable_refusal, unreadable_refusal, unready_refusal};
use crate::bounded_body::{self, BodyError};
use crate::config::Server;
use crate::error::AppError;

/// How long the answer may take: the store behind it is asked for one row.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// The answer is one line.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// What `/readyz` answers: its state, or why the store does not answer.
#[derive(Deserialize)]
struct ReadyAnswer {
    #[serde(default)]
    status: serde_json::Value,
    #[serde(default)]
    message: String,
}

/// Refused where the server does not answer, or its store does not.
pub(crate) async fn check_ready(server: &Server) -> Result<(), AppError> {
    let question = client(server)?.get(format!("{}/readyz", server.url)).timeout(ANSWER_TIMEOUT);
    let unreachable = |error: &reqwest::Error| unreachable_refusal(server, error, false);
    let response = question.send().await.map_err(|error| unreachable(&error))?;
    let status = response.status();
    let body = match bounded_body::read(response, MAX_ANSWER_BYTES).await {
        Ok(body) => body,
        Err(BodyError::Broken(error)) => return Err(unreachable(&error).into()),
        Err(BodyError::TooLong(_)) => return Err(unreadable_refusal(server, "its answer is too long").into()),
    };
    match serde_json::from_slice::<ReadyAnswer>(&body) {
        Ok(answer) if status.is_success() && answer.status == "ready" => Ok(()),
        Ok(answer) if status.is_server_error() && !answer.message.is_empty() => {
            Err(unready_refusal(server, &answer.message).into())
        }
        _ => {
            Err(unreadable_refusal(server, &format!("it answers {status}, and not whether it is ready"))
                .into())
        }
    }
}

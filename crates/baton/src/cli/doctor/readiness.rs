//! `baton doctor --ready`: what a health check calls. It asks the server that runs, and opens no store.

use baton_model::refusal::Refusal;
use serde::Serialize;

use crate::app::App;
use crate::config::Server;
use crate::error::AppError;
use crate::remote::check_ready;

/// Where `baton serve` listens unless it is told otherwise.
const DEFAULT_URL: &str = "http://127.0.0.1:7077";

/// A server that is ready.
#[derive(Serialize)]
struct ReadyServer {
    server: String,
    ready: bool,
}

pub(super) fn run(url: Option<&str>, app: &App) -> Result<(), AppError> {
    let of_settings = app.config.server.as_ref();
    let url = url.or(of_settings.map(|server| server.url.as_str())).unwrap_or(DEFAULT_URL);
    // The question needs no token, so none leaves this machine.
    let server = Server::at(url, "--ready", of_settings.and_then(|server| server.ca.clone()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(check_ready(&server)).map_err(in_own_words)?;
    let answer = ReadyServer { server: server.url, ready: true };
    app.show(&answer, |answer| format!("{} is ready\n", baton_model::id::visible(&answer.server)))
}

/// The refusal with what helps here, where no store is opened and the address may not be that of the settings.
fn in_own_words(error: AppError) -> AppError {
    match error {
        AppError::Refused(refusal) if ["server_unreachable", "server_unreadable"].contains(&refusal.code) => {
            let hint = "see that `baton serve` runs there, or name its address: `baton doctor --ready URL`";
            Refusal { hint: hint.into(), ..refusal }.into()
        }
        error => error,
    }
}

//! What the command line logs, and where.

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::{Cli, Command};

/// Logs to standard error: INFO for `serve`, more with `--verbose`, only errors with `--quiet`. Write errors on a
/// closed standard error are ignored.
pub(super) fn start(cli: &Cli) {
    let level = match (cli.global.quiet, cli.global.verbose) {
        (true, _) => tracing::Level::ERROR,
        (_, 0) if matches!(cli.command, Command::Serve(_)) => tracing::Level::INFO,
        (_, 0) => return,
        (_, 1) => tracing::Level::INFO,
        (_, 2) => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    // The MCP library logs every request at the level of a server's own messages.
    let library = if level > tracing::Level::INFO { level } else { tracing::Level::ERROR };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_ansi(false)
        // Logging its own errors would write to standard error, and panic if that is closed.
        .log_internal_errors(false)
        .finish()
        .with(Targets::new().with_default(level).with_target("rmcp", library))
        .init();
}

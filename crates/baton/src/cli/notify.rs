//! `baton notify`

use baton_model::id::visible;
use clap::Subcommand;
use serde::Serialize;

use crate::app::App;
use crate::error::AppError;
use crate::notify::{self, channels};
use crate::notify_marks::NotifyFolder;
use crate::render;

/// Show how you are told outside the terminal what matters, and try it
///
/// You are told that a baton waits, a hand-off was taken, an agent was stopped, or a message wants your answer. Set it up under
/// `[notify]` in your settings file (~/.config/baton/config.toml): `me` with your name, `desktop = true`, `ntfy`, `slack` and `discord` with an
/// address, `command` with a line for the shell, which gets JSON on standard input; `quiet = "22:00-07:00"`, and `topics` for what
/// you want to hear (baton, handoff, limit, question). Nothing has to run: whatever writes to the ledger sends what is new. Each
/// matter is sent once; what comes up in the quiet hours is sent with the first one after them.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// Send a message over each way, and say how it went
    Test,
    /// Tell what is new; commands do this by themselves
    Send,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    match args.verb {
        None => show(app),
        Some(Verb::Test) => test(app),
        Some(Verb::Send) => {
            let delivery = notify::send(app)?;
            app.show(&delivery, |delivery| {
                let failed: String =
                    delivery.failed.iter().map(|line| format!("  {}\n", visible(line))).collect();
                let count = match (delivery.is_quiet, delivery.sent) {
                    (true, _) => "quiet hours: kept for later".to_owned(),
                    (false, 0) => "nothing new".to_owned(),
                    (false, sent) => format!("sent: {sent}"),
                };
                format!("{count}\n{failed}")
            })
        }
    }
}

/// What `baton notify` answers.
#[derive(Serialize)]
struct NotifyReport {
    ways: Vec<&'static str>,
    topics: Vec<&'static str>,
    quiet: Option<String>,
    last_error: Option<String>,
}

fn show(app: &App) -> Result<(), AppError> {
    let settings = &app.config.notify;
    let report = NotifyReport {
        ways: channels(settings).into_iter().map(notify::Channel::as_str).collect(),
        topics: settings.topics.iter().map(|topic| topic.as_str()).collect(),
        quiet: app.config.origins.get("notify.quiet").map(|(value, _)| value.clone()),
        last_error: NotifyFolder::of(&app.config).memory().last_error,
    };
    app.show(&report, |report| {
        if report.ways.is_empty() {
            return "nothing is told; `baton help notify` says how to set it up\n".to_owned();
        }
        let row = |name: &str, value: &str| vec![name.to_owned(), visible(value)];
        let mut rows = vec![row("ways", &report.ways.join(", ")), row("topics", &report.topics.join(", "))];
        rows.extend(report.quiet.as_deref().map(|quiet| row("quiet", quiet)));
        rows.extend(report.last_error.as_deref().map(|error| row("failed last", error)));
        render::table(&rows)
    })
}

/// How a way ended in a test.
#[derive(Serialize)]
struct TestedWay {
    way: &'static str,
    error: Option<String>,
}

fn test(app: &App) -> Result<(), AppError> {
    let results = notify::test_message(app);
    let ways: Vec<TestedWay> = results
        .into_iter()
        .map(|(way, result)| TestedWay { way: way.as_str(), error: result.err() })
        .collect();
    app.show(&ways, |ways| {
        if ways.is_empty() {
            return "nothing is set up; `baton help notify` says how\n".to_owned();
        }
        let row = |one: &TestedWay| vec![one.way.to_owned(), visible(one.error.as_deref().unwrap_or("sent"))];
        render::table(&ways.iter().map(row).collect::<Vec<_>>())
    })?;
    let is_reached = !ways.is_empty() && ways.iter().all(|one| one.error.is_none());
    if is_reached { Ok(()) } else { Err(AppError::Reported) }
}

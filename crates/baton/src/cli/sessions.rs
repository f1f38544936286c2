//! `baton sessions`

use baton_model::id::visible;
use baton_model::time::rfc3339;
use baton_ops::session::{History, HistoryInput, HistoryOutput, HistoryRow, Show, ShowInput, ShowOutput};
use baton_ops::thread;

use crate::app::App;
use crate::error::AppError;
use crate::render;

/// List a project's sessions, the newest first, or show one
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(clap::Args)]
struct ListArgs {
    /// Only open sessions, silent ones first, then who saved longest ago: each with its last checkpoint and its tasks
    #[arg(long)]
    open: bool,
    /// List the open sessions of all projects; implies --open
    #[arg(long)]
    all: bool,
    /// Number of sessions
    #[arg(short = 'n', value_name = "N")]
    limit: Option<i64>,
    /// Continue after a page, with its `next`
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Show a session with its last words and the way of its work
    Show {
        /// Session id, or a unique prefix
        #[arg(value_name = "ID")]
        session_id: String,
    },
    /// Show every session that a piece of work went through, and what was done in each
    Thread {
        /// Id of a session, a baton or a thread, or a unique prefix
        id: String,
        /// Number of sessions, the newest
        #[arg(short = 'n', value_name = "N")]
        limit: Option<i64>,
        /// Continue with earlier sessions, with the `next` of a page
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<String>,
    },
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    match args.verb {
        Some(Verb::Show { session_id }) => {
            let shown = app.run::<Show>(&ShowInput { session: session_id, project })?;
            return app.show(&shown, session_text);
        }
        Some(Verb::Thread { id, limit, cursor }) => {
            let shown = app.run::<thread::Show>(&thread::ShowInput { id, project, limit, cursor })?;
            return app.show(&shown, story);
        }
        None => {}
    }
    let ListArgs { open, all, limit, cursor } = args.list;
    let listed = app.run::<History>(&HistoryInput { project, limit, all, open: open || all, cursor })?;
    app.show(&listed, table)
}

pub(super) fn story(shown: &thread::ShowOutput) -> String {
    let mut text = format!("{}\n", visible(&shown.title));
    if let Some(next) = &shown.next {
        text.push_str(&format!("earlier sessions: --cursor {}\n", visible(next)));
    }
    for of in &shown.sessions {
        let state = of.release_reason.map_or(if of.live { "live" } else { "open" }, |reason| reason.as_str());
        let title = format!(
            "{} ({}, {state}, {})",
            visible(&of.identity),
            visible(&of.surface),
            rfc3339(of.started_at.0)
        );
        let entries = of.entries.iter();
        let mut rows: Vec<Vec<String>> = entries
            .map(|entry| vec![rfc3339(entry.at.0), visible(&entry.kind), visible(&entry.text)])
            .collect();
        rows.extend(of.work.iter().flat_map(work_rows));
        rows.extend(
            of.left
                .iter()
                .map(|left| vec!["baton".to_owned(), left.state.as_str().to_owned(), visible(&left.summary)]),
        );
        text.push_str(&render::section(&title, &rows));
    }
    text
}

fn work_rows(work: &thread::ThreadWork) -> Vec<Vec<String>> {
    let row = |name: &str, state: String, text: &str| vec![name.to_owned(), state, visible(text)];
    let requests = work.requests.iter().map(|text| row("asked", String::new(), text));
    let files = work
        .files
        .iter()
        .map(|file| row("file", file.change.as_deref().map(visible).unwrap_or_default(), &file.path));
    let commands = work.commands.iter().map(|run| {
        row("ran", run.exit_code.map(|code| format!("exit {code}")).unwrap_or_default(), &run.command)
    });
    let next = work.next_steps.iter().map(|text| row("next", String::new(), text));
    requests.chain(files).chain(commands).chain(next).collect()
}

fn table(listed: &HistoryOutput) -> String {
    let rows: Vec<_> = listed.items.iter().map(row).collect();
    render::page(&rows, "no session", None, listed.next.as_deref())
}

pub(super) fn row(row: &HistoryRow) -> Vec<String> {
    let session = &row.session;
    let state = match (session.release_reason, session.live, session.fresh) {
        (Some(reason), ..) => reason.as_str(),
        (None, true, _) => "live",
        (None, false, true) => "quiet",
        (None, false, false) => "silent",
    };
    vec![
        render::short_id(&session.session_id),
        row.project_id.as_deref().map(visible).unwrap_or_default(),
        visible(&session.identity),
        visible(&session.surface),
        state.to_owned(),
        render::time_ago(session.last_heartbeat),
        summary(row),
    ]
}

/// What it said last: what it left, else its last checkpoint, with its tasks.
fn summary(row: &HistoryRow) -> String {
    let left = row.left.as_ref().map(|left| visible(&left.summary));
    let last = row.last_checkpoint.as_ref().map(|last| visible(&last.summary));
    let tasks = row.tasks.iter().map(|task| format!("[{}] {}", visible(&task.id), visible(&task.title)));
    left.into_iter().chain(last).chain(tasks).collect::<Vec<_>>().join(" · ")
}

pub(super) fn session_text(shown: &ShowOutput) -> String {
    let mut text = render::table(&[row(&shown.row)]);
    if shown.way.len() > 1 {
        let way = shown.way.iter().map(|one| {
            vec![render::short_id(&one.session_id), visible(&one.identity), render::time_ago(one.started_at)]
        });
        text.push_str(&render::section("the way of its work", &way.collect::<Vec<_>>()));
    }
    text
}

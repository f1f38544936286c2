//! `baton sessions`

use baton_model::id::visible;
use baton_ops::session::{History, HistoryInput, HistoryOutput, HistoryRow, Show, ShowInput, ShowOutput};

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
    /// Only open sessions, each with its last checkpoint and its tasks
    #[arg(long)]
    open: bool,
    /// List the open sessions of all projects
    #[arg(long, requires = "open")]
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
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    if let Some(Verb::Show { session_id }) = args.verb {
        let shown = app.run::<Show>(&ShowInput { session: session_id, project })?;
        return app.show(&shown, one);
    }
    let ListArgs { open, all, limit, cursor } = args.list;
    let listed = app.run::<History>(&HistoryInput { project, limit, all, open, cursor })?;
    app.show(&listed, table)
}

fn table(listed: &HistoryOutput) -> String {
    let rows: Vec<_> = listed.items.iter().map(row).collect();
    render::page(&rows, "no session", None, listed.next.as_deref())
}

fn row(row: &HistoryRow) -> Vec<String> {
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
        render::since(session.last_heartbeat),
        words(row),
    ]
}

/// What it said last: what it left, else its last checkpoint, with its tasks.
fn words(row: &HistoryRow) -> String {
    let left = row.left.as_ref().map(|left| visible(&left.summary));
    let last = row.last_checkpoint.as_ref().map(|last| visible(&last.summary));
    let tasks = row.tasks.iter().map(|task| format!("[{}] {}", visible(&task.id), visible(&task.title)));
    left.into_iter().chain(last).chain(tasks).collect::<Vec<_>>().join(" · ")
}

fn one(shown: &ShowOutput) -> String {
    let mut text = render::table(&[row(&shown.row)]);
    if shown.way.len() > 1 {
        let way = shown.way.iter().map(|one| {
            vec![render::short_id(&one.session_id), visible(&one.identity), render::since(one.started_at)]
        });
        text.push_str(&render::section("the way of its work", &way.collect::<Vec<_>>()));
    }
    text
}

//! `baton transcripts`

mod doctor;
mod push;
mod readers;

use baton_model::id::visible;
use baton_ops::transcript::{
    self as ops, Find, FindInput, ListInput, Row, SearchInput, SearchOutput, Show, ShowInput, ShowOutput,
};

use crate::app::App;
use crate::error::AppError;
use crate::transcript_copies::CopyQuery;
use crate::{render, transcript_copies};
pub(super) use doctor::fault;

/// List, search, show and check sessions of every coding agent on this machine
///
/// `push` keeps one in the ledger of its project, with secrets redacted, so that `baton continue --native` goes on with it on another
/// machine. A project takes none before `baton project set --transcripts yes`.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// List sessions, newest first, with this project's at the top
    List(List),
    /// Report what of these sessions Baton cannot read, such as record types that it does not know
    Doctor(doctor::Doctor),
    /// Print the path of a session's file
    Path {
        /// Session id, a unique prefix, or `latest`
        #[arg(default_value = "latest")]
        id: String,
        /// Tool that wrote the session: claude, codex, gemini, …
        #[arg(long, value_name = "A")]
        agent: Option<String>,
    },
    /// Search what was said, called and printed in all sessions
    Search(Search),
    /// Show what was said in a session, with secrets redacted
    Show {
        /// Session id, a unique prefix, `latest`, or a path to a transcript
        #[arg(default_value = "latest")]
        id: String,
        /// Tool that wrote the session: claude, codex, gemini, …
        #[arg(long, value_name = "A")]
        agent: Option<String>,
        /// Who pushed the session, where several have
        #[arg(long, value_name = "NAME")]
        pushed_by: Option<String>,
        /// Number of entries to show, counted from the end; 0 for all
        #[arg(short, value_name = "N", default_value_t = 0)]
        n: usize,
    },
    /// List, enable and check programs that read the sessions of other tools
    Readers(readers::Readers),
    /// Keep a session in the ledger of its project, to be continued on another machine
    Push(push::Push),
    /// List the sessions that were pushed to this project
    Pushed(push::PushedArgs),
    /// Take back what you have pushed
    Withdraw(push::Withdraw),
}

#[derive(clap::Args, Default)]
struct List {
    /// Only sessions of this tool: claude, codex, gemini, …; may be repeated
    #[arg(long = "agent", value_name = "A")]
    agents: Vec<String>,
    /// How far to look back: 30m, 24h, 7d
    #[arg(long, value_name = "T")]
    since: Option<String>,
    /// Maximum number of results; 0 for all
    #[arg(short, value_name = "N", default_value_t = 0)]
    n: i64,
}

#[derive(clap::Args)]
struct Search {
    /// Words that must all occur; also '"a phrase"' or a prefix: pars*
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Only sessions of this tool: claude, codex, gemini, …; may be repeated
    #[arg(long = "agent", value_name = "A")]
    agents: Vec<String>,
    /// How far to look back: 30m, 24h, 7d
    #[arg(long, value_name = "T")]
    since: Option<String>,
    /// Maximum number of results; 0 for all
    #[arg(short, value_name = "N", default_value_t = 10)]
    n: i64,
    /// Search the index as it is, without looking for new and changed sessions first
    #[arg(long)]
    no_refresh: bool,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    if !matches!(args.verb, Some(Verb::Readers(_) | Verb::Pushed(_) | Verb::Withdraw(_))) {
        crate::readers::refresh(app);
    }
    match args.verb {
        Some(Verb::Readers(options)) => readers::run(options, app),
        Some(Verb::Path { id, agent }) => {
            let found = app.run::<Find>(&FindInput { id, agent })?;
            app.show(&found, |found| format!("{}\n", found.header.path))
        }
        Some(Verb::Show { id, agent, pushed_by, n }) => {
            let input = ShowInput { id, agent, last: Some(n) };
            let shown = show_or_fetch(input, pushed_by.as_deref(), app)?;
            app.show(&shown, show)
        }
        Some(Verb::Doctor(options)) => doctor::doctor(options, app),
        Some(Verb::Push(options)) => push::push(options, app),
        Some(Verb::Pushed(options)) => push::pushed(options, app),
        Some(Verb::Withdraw(options)) => push::withdraw(options, app),
        Some(Verb::List(options)) => list(options, app),
        Some(Verb::Search(options)) => search(options, app),
        None => list(List::default(), app),
    }
}

/// A session of this machine, else one that was pushed to the project.
fn show_or_fetch(input: ShowInput, pushed_by: Option<&str>, app: &mut App) -> Result<ShowOutput, AppError> {
    let missing = match pushed_by {
        Some(_) => transcript_copies::not_pushed_refusal(&input.id),
        None => match app.run::<Show>(&input) {
            Err(AppError::Refused(refusal))
                if refusal.code == "transcript_unknown" && input.id != "latest" =>
            {
                refusal
            }
            shown => return shown,
        },
    };
    let query = CopyQuery { id: &input.id, agent: input.agent.as_deref(), pushed_by };
    let Some(fetched) = transcript_copies::fetch(app, query)? else {
        return Err(missing.into());
    };
    app.remark(&fetched.origin());
    app.run::<Show>(&ShowInput { id: fetched.path.display().to_string(), agent: None, ..input })
}

fn list(options: List, app: &mut App) -> Result<(), AppError> {
    let since_ms = super::earliest_instant(options.since.as_deref())?;
    let (project, limit) = (app.project.clone(), Some(options.n));
    let listed = app.run::<ops::List>(&ListInput { agents: options.agents, project, since_ms, limit })?;
    app.show(&listed, |listed| match listed.items.as_slice() {
        [] => "no sessions were found\n".to_owned(),
        items => listing(items),
    })
}

/// The rows with the folder of each; those of this project and the others under a heading of their own.
fn listing(items: &[Row]) -> String {
    let (here, elsewhere): (Vec<&Row>, Vec<&Row>) = items.iter().partition(|item| item.here);
    let rows = |items: &[&Row]| items.iter().map(|item| row(item)).collect::<Vec<_>>();
    render::section("this project", &rows(&here)) + &render::section("elsewhere", &rows(&elsewhere))
}

fn search(options: Search, app: &mut App) -> Result<(), AppError> {
    let input = SearchInput {
        query: options.query.join(" "),
        agents: options.agents,
        project: app.project.clone(),
        since_ms: super::earliest_instant(options.since.as_deref())?,
        limit: Some(options.n),
        no_refresh: options.no_refresh,
    };
    let answer = app.run::<ops::Search>(&input)?;
    app.show(&answer, search_text)?;
    if answer.index.refreshed.as_ref().is_some_and(|refreshed| refreshed.busy) {
        app.remark("another process is indexing: what it has not read yet was not searched");
    }
    if answer.left_out != 0 {
        app.remark(&format!("the query is too long: {} of its words were left out", answer.left_out));
    }
    Ok(())
}

fn search_text(answer: &SearchOutput) -> String {
    let mut text = String::new();
    for item in &answer.items {
        let (place, age) = (visible(&item.place), item.transcript.updated_at.map(render::time_ago));
        text.push_str(&format!("{place}  {}  {}\n", age.unwrap_or_default(), title(&item.transcript)));
        let [role, snippet] = [&item.role, &item.snippet].map(|part| part.as_deref().unwrap_or_default());
        text.push_str(&format!("    {}: {}\n", visible(role), visible(snippet)));
    }
    let (shown, total) = (answer.items.len(), answer.total);
    if shown == 0 {
        let sessions = match answer.index.sessions {
            1 => "1 session".to_owned(),
            count => format!("{count} sessions"),
        };
        text.push_str(&format!("nothing was found in {sessions}\n"));
    } else if shown < total {
        let at_least = if answer.partial { "at least " } else { "" };
        text.push_str(&format!("({shown} of {at_least}{total} sessions: -n 0 shows all)\n"));
    }
    text
}

/// A folder as a column shows it: its last two names.
fn folder(path: &str) -> String {
    let names: Vec<&str> = path.split(['/', '\\']).filter(|name| !name.is_empty()).collect();
    let shown = names.get(names.len().saturating_sub(2)..).unwrap_or_default().join("/");
    visible(if names.len() > 2 { &shown } else { path })
}

/// The beginning of its title.
fn title(transcript: &Row) -> String {
    visible(transcript.title.as_deref().unwrap_or_default()).chars().take(60).collect()
}

fn row(transcript: &Row) -> Vec<String> {
    let complaint = if transcript.complaints.is_empty() { "" } else { "damaged" };
    vec![
        render::short_id(&transcript.id),
        visible(&transcript.agent),
        transcript.updated_at.map(render::time_ago).unwrap_or_default(),
        transcript.cwd.as_deref().map(folder).unwrap_or_default(),
        transcript.branch.as_deref().map(visible).unwrap_or_default(),
        title(transcript),
        complaint.to_owned(),
    ]
}

fn show(shown: &ShowOutput) -> String {
    let header = &shown.header;
    let cwd = header.cwd.as_deref().map(visible).unwrap_or_default();
    let mut text = format!("{} session {} in {cwd}\n", visible(&header.agent), visible(&header.id));
    if shown.left_out != 0 {
        text.push_str(&format!("({} earlier entries are left out: -n 0 shows all)\n", shown.left_out));
    }
    for message in &shown.messages {
        text.push_str(&format!("\n{} (line {})\n", message.role.as_str(), message.line));
        text.push_str(&render::quoted(&message.text));
    }
    for skipped in &shown.skipped {
        let (count, kind) = (skipped.count, visible(&skipped.kind));
        text.push_str(&format!("\nskipped: {count} × {kind}, first at line {}\n", skipped.first_line));
    }
    text
}

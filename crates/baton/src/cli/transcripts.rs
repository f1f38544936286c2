//! `baton transcripts`

use baton_ops::op::Operation;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::Ended;
use crate::render;

/// List, search and show sessions of every coding agent on this machine
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// List sessions, this project's first, newest first
    List(List),
    /// Print the path of a session's file
    Path {
        /// Session id, a unique prefix, or `latest`
        #[arg(default_value = "latest")]
        id: String,
        /// Tool that wrote it: claude, codex, gemini, …
        #[arg(long, value_name = "A")]
        agent: Option<String>,
    },
    /// Search what was said, called and printed in all sessions
    Search(Search),
    /// Show what was said in a session, with secrets taken out
    Show {
        /// Session id, a unique prefix, `latest`, or a path
        #[arg(default_value = "latest")]
        id: String,
        /// Tool that wrote it: claude, codex, gemini, …
        #[arg(long, value_name = "A")]
        agent: Option<String>,
        /// Only the last so many entries; 0 for all
        #[arg(short, value_name = "N", default_value_t = 0)]
        n: usize,
    },
}

#[derive(clap::Args, Default)]
struct List {
    /// Only this tool: claude, codex, gemini, …; give it several times
    #[arg(long = "agent", value_name = "A")]
    agents: Vec<String>,
    /// Only the last span of time: 30m, 24h, 7d
    #[arg(long, value_name = "T")]
    since: Option<String>,
    /// At most so many; 0 for all
    #[arg(short, value_name = "N", default_value_t = 0)]
    n: i64,
}

#[derive(clap::Args)]
struct Search {
    /// Words that all occur, '"a phrase"', the beginning of a word: pars*
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Only this tool: claude, codex, gemini, …; give it several times
    #[arg(long = "agent", value_name = "A")]
    agents: Vec<String>,
    /// Only the last span of time: 30m, 24h, 7d
    #[arg(long, value_name = "T")]
    since: Option<String>,
    /// At most so many; 0 for all
    #[arg(short, value_name = "N", default_value_t = 10)]
    n: i64,
    /// Search what is indexed, without looking for new and changed sessions first
    #[arg(long)]
    no_refresh: bool,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    match args.verb {
        Some(Verb::Path { id, agent }) => {
            let answer = app.call(baton_ops::transcript::Find::NAME, json!({ "id": id, "agent": agent }))?;
            app.answer(&answer, |a| format!("{}\n", a["path"].as_str().unwrap_or_default()))
        }
        Some(Verb::Show { id, agent, n }) => {
            let answer =
                app.call(baton_ops::transcript::Show::NAME, json!({ "id": id, "agent": agent, "last": n }))?;
            app.answer(&answer, show)
        }
        Some(Verb::List(wish)) => list(wish, app),
        Some(Verb::Search(wish)) => search(&wish, app),
        None => list(List::default(), app),
    }
}

fn list(wish: List, app: &mut App) -> Result<(), Ended> {
    let since = super::since(wish.since.as_deref())?;
    let input = json!({ "agents": wish.agents, "project": app.project, "since_ms": since, "limit": wish.n });
    let answer = app.call(baton_ops::transcript::List::NAME, input)?;
    app.answer(&answer, |a| {
        let rows: Vec<Vec<String>> = render::list(a, "items").iter().map(row).collect();
        if rows.is_empty() { "no sessions were found\n".to_owned() } else { render::table(&rows) }
    })
}

fn search(wish: &Search, app: &mut App) -> Result<(), Ended> {
    let input = json!({
        "query": wish.query.join(" "),
        "agents": wish.agents,
        "project": app.project,
        "since_ms": super::since(wish.since.as_deref())?,
        "limit": wish.n,
        "no_refresh": wish.no_refresh,
    });
    let answer = app.call(baton_ops::transcript::Search::NAME, input)?;
    app.answer(&answer, found)?;
    if answer["index"]["refreshed"]["busy"] == true {
        app.remark("another process is indexing: what it has not read yet was not searched");
    }
    if answer["left_out"] != 0 {
        app.remark(&format!("the query is too long: {} of its words were left out", answer["left_out"]));
    }
    Ok(())
}

fn found(answer: &Value) -> String {
    let items = render::list(answer, "items");
    let mut text = String::new();
    for item in items {
        let title: String = render::text(item, "title").chars().take(60).collect();
        text.push_str(&format!(
            "{}  {}  {title}\n",
            render::text(item, "place"),
            render::age(item, "updated_at")
        ));
        text.push_str(&format!("    {}: {}\n", render::text(item, "role"), render::text(item, "snippet")));
    }
    let (shown, total) = (items.len() as u64, answer["total"].as_u64().unwrap_or_default());
    if items.is_empty() {
        text.push_str(&format!("nothing was found in {} sessions\n", answer["index"]["sessions"]));
    } else if shown < total {
        let at_least = if answer["partial"] == true { "at least " } else { "" };
        text.push_str(&format!("({shown} of {at_least}{total} sessions: -n 0 shows all)\n"));
    }
    text
}

fn row(header: &Value) -> Vec<String> {
    let title: String = render::text(header, "title").chars().take(60).collect();
    let complaint = if render::list(header, "complaints").is_empty() { "" } else { "damaged" };
    vec![
        render::id(header, "id"),
        render::text(header, "agent"),
        render::age(header, "updated_at"),
        render::text(header, "branch"),
        title,
        complaint.to_owned(),
    ]
}

fn show(answer: &Value) -> String {
    let mut text = format!(
        "{} session {} in {}\n",
        render::text(answer, "agent"),
        render::text(answer, "id"),
        render::text(answer, "cwd")
    );
    if answer["left_out"] != 0 {
        text.push_str(&format!("({} earlier entries are left out: -n 0 shows all)\n", answer["left_out"]));
    }
    for message in render::list(answer, "messages") {
        text.push_str(&format!("\n{} (line {})\n", render::text(message, "role"), message["line"]));
        text.push_str(&render::quoted(message["text"].as_str().unwrap_or_default()));
    }
    for complaint in render::list(answer, "skipped") {
        text.push_str(&format!(
            "\nskipped: {} × {}, first at line {}\n",
            complaint["count"],
            render::text(complaint, "kind"),
            complaint["first_line"]
        ));
    }
    text
}

//! `baton transcripts`

use serde_json::{Value, json};

use crate::app::App;
use crate::error::Ended;
use crate::render;

/// List and show sessions of every coding agent on this machine
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

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    match args.verb {
        Some(Verb::Path { id, agent }) => {
            let answer = app.call("transcript_find", json!({ "id": id, "agent": agent }))?;
            app.answer(&answer, |a| format!("{}\n", a["path"].as_str().unwrap_or_default()))
        }
        Some(Verb::Show { id, agent, n }) => {
            let answer = app.call("transcript_show", json!({ "id": id, "agent": agent, "last": n }))?;
            app.answer(&answer, show)
        }
        Some(Verb::List(wish)) => list(wish, app),
        None => list(List::default(), app),
    }
}

fn list(wish: List, app: &mut App) -> Result<(), Ended> {
    let since = super::since(wish.since.as_deref())?;
    let input = json!({ "agents": wish.agents, "project": app.project, "since_ms": since, "limit": wish.n });
    let answer = app.call("transcript_list", input)?;
    app.answer(&answer, |a| {
        let rows: Vec<Vec<String>> = render::list(a, "items").iter().map(row).collect();
        if rows.is_empty() { "no sessions were found\n".to_owned() } else { render::table(&rows) }
    })
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

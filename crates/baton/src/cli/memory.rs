//! `baton memory`

use baton_ops::op::Operation;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Who, read_input};
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Store, recall and withdraw memories
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Store what should not have to be learnt twice
    Add(Add),
    /// Recall by words, importance and recency
    Search(Search),
    /// Withdraw a memory, so that it is never recalled again
    Withdraw(Withdraw),
    /// Make what recall keeps beside the memories again, from the ledger: vectors, and what is in Qdrant
    Reindex(Reindex),
}

#[derive(clap::Args)]
struct Reindex {
    /// Every project, not only this one
    #[arg(long)]
    all: bool,
    /// Throw Qdrant's collection away first, and fill it from every project: after another embedder was chosen
    #[arg(long)]
    fresh: bool,
}

#[derive(clap::Args)]
struct Add {
    #[command(flatten)]
    who: Who,
    /// What is to be remembered, or - for standard input
    text: String,
    /// Any label: note, decision, issue, …
    #[arg(long, value_name = "K", default_value = "note")]
    kind: String,
    /// A tag; give it several times
    #[arg(long = "tag", value_name = "T")]
    tags: Vec<String>,
    /// 0 to 1
    #[arg(long, value_name = "X", default_value = "0.4")]
    importance: f64,
    /// Makes a retry return the same memory
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

#[derive(clap::Args)]
struct Search {
    /// Words; none: the newest and most important
    #[arg(default_value = "")]
    query: String,
    /// Only this kind
    #[arg(long, value_name = "K")]
    kind: Option<String>,
    /// Only those with every one of these tags
    #[arg(long = "tag", value_name = "T")]
    tags: Vec<String>,
    /// Look into related projects as well
    #[arg(long)]
    related: bool,
    /// The most that are shown
    #[arg(short, value_name = "N", default_value = "10")]
    n: usize,
}

#[derive(clap::Args)]
struct Withdraw {
    #[command(flatten)]
    who: Who,
    /// Memory id or a unique prefix
    id: String,
    /// Why it is not true any more
    #[arg(long, value_name = "T")]
    why: Option<String>,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    match args.verb {
        Verb::Add(add) => {
            let text = if add.text == "-" { read_input("-")? } else { add.text };
            let input = json!({
                "project": app.project, "identity": add.who.identity, "text": text, "kind": add.kind, "tags": add.tags,
                "importance": add.importance, "request_id": add.request_id,
            });
            let answer = app.call(baton_ops::memory::Add::NAME, input)?;
            app.answer(&answer, |a| format!("remembered: {}\n", render::id(a, "memory_id")))
        }
        Verb::Search(search) => {
            let input = json!({
                "project": app.project, "query": search.query, "kind": search.kind, "tags": search.tags,
                "related": search.related, "limit": search.n,
            });
            let answer = app.call(baton_ops::memory::Search::NAME, input)?;
            if let Some(why) = answer["recall_why"].as_str() {
                app.remark(&format!("found by words alone: {why}"));
            }
            app.answer(&answer, |a| {
                render::table(&render::list(a, "items").iter().map(row).collect::<Vec<_>>())
            })
        }
        Verb::Withdraw(gone) => {
            let input = json!({ "project": app.project, "identity": gone.who.identity, "id": gone.id, "why": gone.why });
            let answer = app.call(baton_ops::memory::Withdraw::NAME, input)?;
            app.answer(&answer, |a| format!("withdrawn: {}\n", render::id(a, "memory_id")))
        }
        Verb::Reindex(which) => reindex(&which, app),
    }
}

/// How long a command goes on with indexing while it gets on.
const INDEXING: Duration = Duration::from_secs(3_600);

fn reindex(which: &Reindex, app: &mut App) -> Result<(), Ended> {
    if which.fresh {
        app.refuse_remote()?;
        crate::recall::report::drop_collection(app)?;
    }
    let projects: Vec<Option<String>> = if which.all || which.fresh {
        let all = app.call(baton_ops::project::List::NAME, json!({}))?;
        render::list(&all, "items").iter().map(|p| p["project_id"].as_str().map(str::to_owned)).collect()
    } else {
        vec![app.project.clone()]
    };
    let mut items = Vec::new();
    for project in projects {
        items.push(app.call(baton_ops::memory::Reindex::NAME, json!({ "project": project }))?);
    }
    let mut answer = json!({ "items": items, "to_do": 0 });
    if app.config.server.is_none() {
        let (to_do, trouble) = app.index(Instant::now() + INDEXING)?;
        answer["to_do"] = json!(to_do);
        answer["trouble"] = json!(trouble);
    }
    let rest = answer["to_do"].as_i64().unwrap_or_default();
    app.answer(&answer, |a| {
        let mut text = render::table(&render::list(a, "items").iter().map(indexed).collect::<Vec<_>>());
        if rest > 0 {
            let why = a["trouble"].as_str().unwrap_or("others are at work on it");
            text.push_str(&format!("not done yet: {rest}, tried again by itself ({why})\n"));
        }
        text
    })?;
    if rest > 0 { Err(Ended::Unfinished) } else { Ok(()) }
}

fn indexed(project: &Value) -> Vec<String> {
    let count = |key: &str, what: &str| format!("{} {what}", project[key].as_i64().unwrap_or_default());
    let embedder = render::text(project, "embedder");
    vec![
        render::text(project, "project_id"),
        count("memories", "memories"),
        count("embedded", &format!("new vectors by {embedder}")),
    ]
}

fn row(memory: &Value) -> Vec<String> {
    let first = memory["text"].as_str().unwrap_or_default().lines().next().unwrap_or_default();
    vec![
        render::id(memory, "memory_id"),
        render::text(memory, "kind"),
        baton_model::id::visible(first),
        render::age(memory, "created_at"),
    ]
}

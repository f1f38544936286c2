//! `baton memory`

use std::time::{Duration, Instant};

use baton_model::id::visible;
use baton_ops::memory::{
    self, AddInput, MatchBasis, ReindexInput, ReindexOutput, Row, SearchInput, WithdrawInput,
};
use baton_ops::project;
use serde::Serialize;

use super::{ActingIdentity, read_input};
use crate::app::App;
use crate::error::AppError;
use crate::render;

/// Store, recall and withdraw memories
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Store something worth remembering
    Add(Add),
    /// Recall memories by their words and, with a model, by their meaning
    #[command(visible_alias = "list")]
    Search(Search),
    /// Withdraw a memory so that it is never recalled again
    Withdraw(Withdraw),
    /// Rebuild the recall index from the ledger: the vectors, and what is in Qdrant
    Reindex(Reindex),
}

#[derive(clap::Args)]
struct Reindex {
    /// Reindex every project, not only this one
    #[arg(long)]
    all: bool,
    /// Delete Qdrant's collection first and refill it from every project; use after changing the embedder
    #[arg(long)]
    fresh: bool,
}

#[derive(clap::Args)]
struct Add {
    #[command(flatten)]
    who: ActingIdentity,
    /// Text to remember, or - for standard input
    text: String,
    /// Kind of memory, any label: note, decision, issue, …
    #[arg(long, value_name = "K", default_value = "note")]
    kind: String,
    /// Tag; may be repeated
    #[arg(long = "tag", value_name = "T")]
    tags: Vec<String>,
    /// Importance, from 0 to 1
    #[arg(long, value_name = "X", default_value = "0.4")]
    importance: f64,
    /// Idempotency key: a retry with it returns the first answer
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

#[derive(clap::Args)]
struct Search {
    /// Words to look for; if omitted, the newest and most important memories
    #[arg(value_name = "WORDS")]
    query: Vec<String>,
    /// Only memories of this kind
    #[arg(long, value_name = "K")]
    kind: Option<String>,
    /// Only memories with this tag; if repeated, with all of them
    #[arg(long = "tag", value_name = "T")]
    tags: Vec<String>,
    /// Also search related projects
    #[arg(long)]
    related: bool,
    /// Maximum number of results
    #[arg(short, value_name = "N", default_value = "10")]
    n: usize,
}

#[derive(clap::Args)]
struct Withdraw {
    #[command(flatten)]
    who: ActingIdentity,
    /// Memory id or a unique prefix
    id: String,
    /// Reason it is no longer true
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    why: Option<String>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    match args.verb {
        Verb::Add(add) => {
            let text = if add.text == "-" { read_input("-")? } else { add.text };
            let input = AddInput {
                project: app.project.clone(),
                identity: add.who.identity,
                text,
                kind: add.kind,
                tags: add.tags,
                importance: add.importance,
                request_id: add.request_id,
            };
            let added = app.run::<memory::Add>(&input)?;
            app.show(&added, |added| format!("remembered: {}\n", render::short_id(&added.memory.memory_id)))
        }
        Verb::Search(search) => {
            let mut options = vec![("--kind", search.kind.as_deref())];
            options.extend(search.tags.iter().map(|tag| ("--tag", Some(tag.as_str()))));
            let none = render::none_of("no memory was found", &options);
            let input = SearchInput {
                project: app.project.clone(),
                query: search.query.join(" "),
                id: None,
                kind: search.kind,
                tags: search.tags,
                related: search.related,
                limit: search.n,
            };
            let found = app.run::<memory::Search>(&input)?;
            if let Some(why) = &found.recall_why {
                app.remark(&format!("found by words alone: {why}"));
            }
            if found.matches_by == Some(MatchBasis::Words) && found.recall_why.is_none() && app.shows_text() {
                app.remark(WORDS_ONLY);
            }
            app.show(&found, |found| match found.items.as_slice() {
                [] => format!("{none}; `--related` looks into related projects as well; decisions and notes of sessions: `baton log --kind decision`, `--kind note`\n"),
                items => render::table(&items.iter().map(row).collect::<Vec<_>>()),
            })
        }
        Verb::Withdraw(gone) => {
            let project = app.project.clone();
            let input = WithdrawInput { project, identity: gone.who.identity, id: gone.id, why: gone.why };
            let withdrawn = app.run::<memory::Withdraw>(&input)?;
            app.show(&withdrawn, |gone| format!("withdrawn: {}\n", render::short_id(&gone.memory.memory_id)))
        }
        Verb::Reindex(which) => reindex(&which, app),
    }
}

/// What a search says without a model.
const WORDS_ONLY: &str =
    "found by words, not by meaning: no model is set (embeddings_url, BATON_EMBEDDINGS_URL)";

/// How long a command goes on with indexing while it gets on.
const INDEXING: Duration = Duration::from_secs(3_600);

/// Projects that were indexed again, and what is left to do.
#[derive(Serialize)]
struct ReindexSummary {
    items: Vec<ReindexOutput>,
    to_do: i64,
    /// Why it goes no further, if anything is in the way. Of a server's store nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<Option<String>>,
}

fn reindex(which: &Reindex, app: &mut App) -> Result<(), AppError> {
    if which.fresh {
        app.refuse_remote()?;
        super::doctor::memory_index::drop_collection(app)?;
    }
    let projects: Vec<Option<String>> = if which.all || which.fresh {
        let all = app.run::<project::List>(&project::ListInput {})?;
        all.items.into_iter().map(|row| Some(row.project.project_id)).collect()
    } else {
        vec![app.project.clone()]
    };
    let mut items = Vec::new();
    for project in projects {
        items.push(app.run::<memory::Reindex>(&ReindexInput { project })?);
    }
    let (to_do, trouble) = match app.config.server {
        Some(_) => (0, None),
        None => {
            let (to_do, trouble) = app.index(Instant::now() + INDEXING)?;
            (to_do, Some(trouble))
        }
    };
    app.show(&ReindexSummary { items, to_do, trouble }, |done| {
        let mut text = render::table(&done.items.iter().map(indexed).collect::<Vec<_>>());
        if to_do > 0 {
            let why = done.trouble.as_ref().and_then(Option::as_deref).unwrap_or("others are at work on it");
            text.push_str(&format!(
                "not done yet: {to_do}, tried again by later commands and a running `baton serve` ({why})\n"
            ));
        }
        text
    })?;
    if to_do > 0 { Err(AppError::Unfinished) } else { Ok(()) }
}

fn indexed(project: &ReindexOutput) -> Vec<String> {
    vec![
        visible(&project.project_id),
        format!("{} memories", project.memories),
        format!("{} new vectors by {}", project.embedded, visible(&project.embedder)),
    ]
}

fn row(row: &Row) -> Vec<String> {
    let memory = &row.memory;
    let first = memory.text.lines().next().unwrap_or_default();
    vec![
        render::short_id(&memory.memory_id),
        visible(&memory.kind),
        visible(first),
        render::time_ago(memory.created_at),
    ]
}

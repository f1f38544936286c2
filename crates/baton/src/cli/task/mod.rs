//! `baton task`

mod change;
mod query;

use baton_ops::op::Operation;
use serde_json::{Value, json};

use super::ActingIdentity;
use crate::app::App;
use crate::error::CliError;
pub use change::{Fields, object};
pub use query::{board, cycles, one as details, tree};

/// Create, find, claim, change and close tasks; shows the board by default
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Show tasks by role and state
    Board,
    /// Create a task
    Create(Box<change::Create>),
    /// Create four linked tasks for one piece of work: build, test, fix if needed, verify
    Increment(change::Increment),
    /// List tasks by priority, then oldest first
    List(query::List),
    /// List tasks that mention all of the given words
    Search(query::Search),
    /// List tasks that are ready to work on, by priority, then oldest first; or claim the first
    Ready(query::Ready),
    /// List blocked tasks and what each is waiting for
    Blocked {
        /// Maximum number of results; 0 for all
        #[arg(short, value_name = "N", default_value_t = 100)]
        n: u32,
    },
    /// Show a task, within its role's budget or in full
    Show {
        /// Task id or a unique prefix
        id: String,
        /// Show everything: whole contexts, linked tasks with their fields, all comments
        #[arg(long)]
        full: bool,
        /// Maximum size of texts and contexts, in bytes; defaults to the role's budget
        #[arg(long, value_name = "BYTES", conflicts_with = "full")]
        budget: Option<usize>,
    },
    /// Claim a task for yourself, under a lease
    Claim(change::Claim),
    /// Update a task; fields you omit stay as they are
    Update(Box<change::Update>),
    /// Close tasks with their result and trigger what follows
    Close(change::Close),
    /// Reopen closed tasks
    Reopen {
        /// Task ids or unique prefixes
        #[arg(required = true)]
        ids: Vec<String>,
        #[command(flatten)]
        who: ActingIdentity,
        /// Reason for reopening
        #[arg(long, value_name = "T")]
        reason: Option<String>,
    },
    /// Add, remove and show dependencies between tasks
    Dep {
        #[command(subcommand)]
        verb: change::Dep,
    },
    /// Comment on a task
    Comment {
        /// Task id or a unique prefix
        id: String,
        /// Text of the comment
        text: String,
        #[command(flatten)]
        who: ActingIdentity,
    },
    /// Count tasks by state
    Stats,
}

pub fn run(args: Args, app: &mut App) -> Result<(), CliError> {
    let project = app.project.clone();
    match args.verb {
        None | Some(Verb::Board) => {
            let answer = app.call(baton_ops::task::Board::NAME, json!({ "project": project }))?;
            app.answer(&answer, board)
        }
        Some(Verb::Create(create)) => change::create(*create, app),
        Some(Verb::Increment(increment)) => change::increment(increment, app),
        Some(Verb::List(list)) => query::list(list, app),
        Some(Verb::Search(search)) => query::search(search, app),
        Some(Verb::Ready(ready)) => query::ready(ready, app),
        Some(Verb::Blocked { n }) => {
            let answer =
                app.call(baton_ops::task::Blocked::NAME, json!({ "project": project, "limit": n }))?;
            app.answer(&answer, query::blocked)
        }
        Some(Verb::Show { id, full, budget }) => {
            let input = json!({ "project": project, "id": id, "full": full, "budget": budget });
            let answer = app.call(baton_ops::task::Show::NAME, input)?;
            app.answer(&answer, query::one)
        }
        Some(Verb::Claim(claim)) => change::claim(claim, app),
        Some(Verb::Update(update)) => change::update(*update, app),
        Some(Verb::Close(close)) => change::close(close, app),
        Some(Verb::Reopen { ids, who, reason }) => each(app, &ids, query::line, |id| {
            (
                baton_ops::task::Reopen::NAME,
                json!({ "project": project, "identity": who.identity, "id": id, "reason": reason }),
            )
        }),
        Some(Verb::Dep { verb }) => change::dep(verb, app),
        Some(Verb::Comment { id, text, who }) => {
            let text = if text == "-" { super::read_input("-")? } else { text };
            let input = json!({ "project": project, "identity": who.identity, "id": id, "text": text });
            let answer = app.call(baton_ops::task::Comment::NAME, input)?;
            app.answer(&answer, |_| "noted\n".to_owned())
        }
        Some(Verb::Stats) => {
            let answer = app.call(baton_ops::task::Stats::NAME, json!({ "project": project }))?;
            app.answer(&answer, query::stats)
        }
    }
}

/// Calls an operation for each of several tasks; one gives its own answer, several give a list.
fn each(
    app: &mut App,
    ids: &[String],
    render: fn(&Value) -> String,
    input: impl Fn(&String) -> (&'static str, Value),
) -> Result<(), CliError> {
    let mut answers = Vec::new();
    for id in ids {
        let (name, input) = input(id);
        answers.push(app.call(name, input)?);
    }
    match answers.as_slice() {
        [one] => app.answer(one, render),
        several => {
            let project = several.first().map_or(Value::Null, |one| one["project_id"].clone());
            let list = json!({ "project_id": project, "items": several, "next": null });
            app.answer(&list, |list| crate::render::list(list, "items").iter().map(render).collect())
        }
    }
}

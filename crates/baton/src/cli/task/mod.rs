//! `baton task`

mod change;
mod fields;
mod overview;
mod query;
mod remarks;
mod remove;

use baton_model::task::view::View;
use baton_ops::op::Operation;
use baton_ops::task as ops;
use serde::Serialize;

pub(super) use query::task_text as shown;

use super::ActingIdentity;
use crate::app::App;
use crate::error::AppError;
pub(super) use fields::{Fields, object};
pub(super) use overview::{cycles, tree};
pub(super) use query::{follow_ups, task_text as details};

/// Create, find, claim, change and close tasks; shows the board by default
#[derive(clap::Args)]
pub(super) struct Args {
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
        #[command(flatten)]
        who: ActingIdentity,
    },
    /// Claim a task for yourself, under a lease
    Claim(change::Claim),
    /// Give claimed tasks back, for other agents to take
    Release(change::Release),
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
        #[arg(long, value_name = "T", allow_hyphen_values = true)]
        reason: Option<String>,
    },
    /// Delete tasks; what they said stays in the ledger
    Delete {
        /// Task ids or unique prefixes
        #[arg(required = true)]
        ids: Vec<String>,
        #[command(flatten)]
        who: ActingIdentity,
        /// Reason for deleting
        #[arg(long, value_name = "T", allow_hyphen_values = true)]
        reason: Option<String>,
        /// Delete even if open tasks depend on them: those stay, without the dependency
        #[arg(long)]
        force: bool,
    },
    /// Give a task another id
    Rename {
        /// Task id or a unique prefix
        id: String,
        /// Its new id
        to: String,
        #[command(flatten)]
        who: ActingIdentity,
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

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    match args.verb {
        None | Some(Verb::Board) => {
            let board = app.run::<ops::Board>(&ops::BoardInput { project })?;
            app.show(&board, |board| overview::board(&board.items))
        }
        Some(Verb::Create(create)) => change::create(*create, app),
        Some(Verb::Increment(increment)) => change::increment(increment, app),
        Some(Verb::List(list)) => query::list(list, app),
        Some(Verb::Search(search)) => query::search(search, app),
        Some(Verb::Ready(ready)) => query::ready(ready, app),
        Some(Verb::Blocked { n }) => {
            let limit = Some(i64::from(n));
            let input = ops::BlockedInput { project, limit, ..ops::BlockedInput::default() };
            let found = app.run::<ops::Blocked>(&input)?;
            app.show(&found, query::blocked)
        }
        Some(Verb::Show { id, full, budget, who }) => {
            let input =
                ops::ShowInput { project, identity: who.identity, id, full, budget, actions_for: None };
            let shown = app.run::<ops::Show>(&input)?;
            app.show(&shown, query::task_text)
        }
        Some(Verb::Claim(claim)) => change::claim(claim, app),
        Some(Verb::Release(release)) => change::release(release, app),
        Some(Verb::Update(update)) => change::update(*update, app),
        Some(Verb::Close(close)) => change::close(close, app),
        Some(Verb::Reopen { ids, who, reason }) => change::reopen(&ids, &who, reason.as_ref(), app),
        Some(Verb::Delete { ids, who, reason, force }) => {
            let input =
                ops::DeleteInput { identity: who.identity, reason, force, ..ops::DeleteInput::default() };
            remove::delete(&ids, &input, app)
        }
        Some(Verb::Rename { id, to, who }) => {
            let input = ops::RenameInput { project, identity: who.identity, id, to };
            let done = app.run::<ops::Rename>(&input)?;
            app.show(&done, remove::renamed)
        }
        Some(Verb::Dep { verb }) => change::dep(verb, app),
        Some(Verb::Comment { id, text, who }) => {
            let text = if text == "-" { super::read_input("-")? } else { text };
            let input = ops::CommentInput { project, identity: who.identity, id, text };
            let comment = app.run::<ops::Comment>(&input)?;
            app.show(&comment, |_| "noted\n".to_owned())
        }
        Some(Verb::Stats) => {
            let stats = app.run::<ops::Stats>(&ops::StatsInput { project, ..ops::StatsInput::default() })?;
            app.show(&stats, overview::stats)
        }
    }
}

/// The answers for several tasks.
#[derive(Serialize)]
struct Answers<'a, T> {
    project_id: &'a str,
    items: &'a [T],
    next: Option<usize>,
}

/// Runs an operation for each of several tasks; one gives its own answer, several give a list.
fn run_for_each<O: Operation>(
    app: &mut App,
    ids: &[String],
    text: fn(&O::Output) -> String,
    task: fn(&O::Output) -> &View,
    input: impl Fn(&str) -> O::Input,
) -> Result<(), AppError> {
    let mut answers = Vec::new();
    for id in ids {
        answers.push(app.run::<O>(&input(id))?);
    }
    match answers.as_slice() {
        [one] => app.show(one, text),
        several => {
            let project_id = several.first().map_or("", |one| task(one).project_id.as_str());
            let list = Answers { project_id, items: several, next: None };
            app.show(&list, |list| list.items.iter().map(text).collect())
        }
    }
}

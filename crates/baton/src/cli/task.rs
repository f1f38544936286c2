//! `baton task`

use serde_json::{Value, json};

use super::Who;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Write tasks down, list, change and close them
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Write a task down
    Create(Box<Create>),
    /// List tasks by priority, then oldest first
    List {
        /// Only this status
        #[arg(long, value_name = "S")]
        status: Option<String>,
        /// Only tasks that want this role
        #[arg(long, value_name = "R")]
        agent_role: Option<String>,
        /// Closed ones too
        #[arg(long)]
        all: bool,
        /// At most so many; 0 for all
        #[arg(short, value_name = "N", default_value_t = 50)]
        n: u32,
    },
    /// Show a task
    Show {
        /// Task id or a unique prefix
        id: String,
    },
    /// Change a task; what is left out stays
    Update(Box<Update>),
    /// Close a task
    Close {
        /// Task id or a unique prefix
        id: String,
        #[command(flatten)]
        who: Who,
        /// Why
        #[arg(long, value_name = "T")]
        reason: Option<String>,
    },
    /// Open a closed task again
    Reopen {
        /// Task id or a unique prefix
        id: String,
        #[command(flatten)]
        who: Who,
    },
}

#[derive(clap::Args)]
struct Create {
    /// One line
    title: String,
    #[command(flatten)]
    who: Who,
    /// What is to be done
    #[arg(long, short, value_name = "T", default_value = "")]
    description: String,
    /// 0 (now) to 4 (some day)
    #[arg(long, short, value_name = "P", default_value_t = 2)]
    priority: i64,
    /// task, bug, feature, …
    #[arg(long = "type", short = 't', value_name = "K", default_value = "task")]
    issue_type: String,
    /// Who works on it
    #[arg(long, value_name = "NAME")]
    assignee: Option<String>,
    /// Which role it wants
    #[arg(long, value_name = "R")]
    agent_role: Option<String>,
    /// Labels
    #[arg(long = "label", short, value_name = "L")]
    labels: Vec<String>,
}

#[derive(clap::Args)]
struct Update {
    /// Task id or a unique prefix
    id: String,
    #[command(flatten)]
    who: Who,
    /// One line
    #[arg(long, value_name = "T")]
    title: Option<String>,
    /// What is to be done
    #[arg(long, short, value_name = "T")]
    description: Option<String>,
    /// open, in_progress, blocked, deferred or closed
    #[arg(long, value_name = "S")]
    status: Option<String>,
    /// 0 (now) to 4 (some day)
    #[arg(long, short, value_name = "P")]
    priority: Option<i64>,
    /// Who works on it; an empty text removes
    #[arg(long, value_name = "NAME")]
    assignee: Option<String>,
    /// Which role it wants; an empty text removes
    #[arg(long, value_name = "R")]
    agent_role: Option<String>,
    /// Labels, in place of those before
    #[arg(long = "label", short, value_name = "L")]
    labels: Option<Vec<String>>,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let project = app.project.clone();
    let (name, input) = match args.verb {
        Verb::List { status, agent_role, all, n } => {
            let input = json!({ "project": project, "status": status, "agent_role": agent_role, "all": all, "limit": n });
            let answer = app.call("task_list", input)?;
            return app.answer(&answer, list);
        }
        Verb::Create(c) => (
            "task_create",
            json!({
                "project": project, "identity": c.who.identity, "title": c.title, "description": c.description,
                "priority": c.priority, "issue_type": c.issue_type, "assignee": c.assignee, "agent_role": c.agent_role,
                "labels": c.labels,
            }),
        ),
        Verb::Show { id } => ("task_show", json!({ "project": project, "id": id })),
        Verb::Update(u) => (
            "task_update",
            json!({
                "project": project, "identity": u.who.identity, "id": u.id, "title": u.title, "description": u.description,
                "status": u.status, "priority": u.priority, "assignee": u.assignee, "agent_role": u.agent_role,
                "labels": u.labels,
            }),
        ),
        Verb::Close { id, who, reason } => (
            "task_update",
            json!({ "project": project, "identity": who.identity, "id": id, "status": "closed", "close_reason": reason }),
        ),
        Verb::Reopen { id, who } => (
            "task_update",
            json!({ "project": project, "identity": who.identity, "id": id, "status": "open" }),
        ),
    };
    let answer = app.call(name, input)?;
    app.answer(&answer, one)
}

fn list(answer: &Value) -> String {
    let rows: Vec<Vec<String>> = render::list(answer, "items").iter().map(render::task_row).collect();
    let more = if answer["next"].is_null() { "" } else { "there are more: -n 0 shows all\n" };
    if rows.is_empty() { "no tasks\n".to_owned() } else { format!("{}{more}", render::table(&rows)) }
}

fn one(task: &Value) -> String {
    let description = task["description"].as_str().map(render::quoted).unwrap_or_default();
    format!("{}{description}", render::table(&[render::task_row(task)]))
}

//! Verbs of `baton task` that write.

use baton_model::refusal::Refusal;
use baton_ops::op::Operation;
use serde_json::{Map, Value, json};

use super::super::ActingIdentity;
use super::{each, query};
use crate::app::App;
use crate::error::CliError;
use crate::render;

/// What a new task and a changed one both may be given.
#[derive(clap::Args)]
pub struct Fields {
    /// What needs to be done, or - for standard input
    #[arg(long, short, value_name = "T")]
    description: Option<String>,
    /// How to build it
    #[arg(long, value_name = "T")]
    design: Option<String>,
    /// Acceptance criteria
    #[arg(long, value_name = "T")]
    acceptance: Option<String>,
    /// Notes: anything else worth knowing
    #[arg(long, value_name = "T")]
    notes: Option<String>,
    /// Priority, from 0 (now) to 4 (some day), or P0 to P4
    #[arg(long, short, value_name = "P", value_parser = crate::cli::priority)]
    priority: Option<i64>,
    /// Type of task: task, bug, feature, epic, chore, …
    #[arg(long = "type", short = 't', value_name = "K")]
    issue_type: Option<String>,
    /// Identity the task is assigned to; an empty string unassigns it
    #[arg(long, short, value_name = "NAME")]
    assignee: Option<String>,
    /// Role for the task: implementation, testing, fixing, verification, or one of your own
    #[arg(long, alias = "role", value_name = "R")]
    agent_role: Option<String>,
    /// Skills its agent needs, separated by commas
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    tags: Option<Vec<String>>,
    /// Labels, separated by commas
    #[arg(long = "label", alias = "labels", short, value_name = "L", value_delimiter = ',')]
    labels: Option<Vec<String>>,
    /// Estimated duration, in minutes
    #[arg(long, short = 'e', value_name = "MINUTES", visible_alias = "estimate")]
    estimated_duration: Option<i64>,
    /// Parent task
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// When it is due: a date, an RFC 3339 time, or a span from now such as 3d
    #[arg(long, value_name = "WHEN")]
    due: Option<String>,
    /// Earliest time to offer it: a date, an RFC 3339 time, or a span from now such as 3d
    #[arg(long, value_name = "WHEN")]
    defer: Option<String>,
    /// Reference to the task in another system
    #[arg(long, value_name = "REF")]
    external_ref: Option<String>,
    /// What was done: a JSON object, or - for standard input
    #[arg(long, value_name = "JSON", visible_alias = "context")]
    agent_context: Option<String>,
    /// What the next agent needs to know: a JSON object, or - for standard input
    #[arg(long, value_name = "JSON")]
    handoff_instructions: Option<String>,
    /// Encrypt context and instructions for everyone whose key is listed; nobody else can read them or take the task
    #[arg(long)]
    sensitive: bool,
    /// Additional metadata: a JSON object
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
}

impl Fields {
    /// As the operations take them; what was not given is left out.
    pub fn into_input(self) -> Result<Map<String, Value>, CliError> {
        let description = match self.description.as_deref() {
            Some("-") => Some(crate::cli::read_input("-")?),
            _ => self.description,
        };
        let mut input = json!({
            "description": description, "design": self.design, "acceptance_criteria": self.acceptance,
            "notes": self.notes, "priority": self.priority, "issue_type": self.issue_type, "assignee": self.assignee,
            "agent_role": self.agent_role, "specialist_tags": self.tags, "labels": self.labels,
            "estimated_duration": self.estimated_duration, "parent": self.parent, "due": self.due, "defer": self.defer,
            "external_ref": self.external_ref,
        });
        input["agent_context"] = json!(object("--agent-context", self.agent_context.as_deref())?);
        input["handoff_instructions"] =
            json!(object("--handoff-instructions", self.handoff_instructions.as_deref())?);
        input["sensitive"] = json!(Some(true).filter(|_| self.sensitive));
        if let Some(metadata) = object("--metadata", self.metadata.as_deref())? {
            input["extra"] = json!({ "metadata": metadata });
        }
        Ok(present_fields(input))
    }
}

/// The fields that have a value.
fn present_fields(input: Value) -> Map<String, Value> {
    match input {
        Value::Object(fields) => fields.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        _ => Map::new(),
    }
}

/// Parses a JSON object from an argument, or from standard input for `-`; the error names the position.
pub fn object(what: &str, text: Option<&str>) -> Result<Option<Map<String, Value>>, CliError> {
    let Some(text) = text else { return Ok(None) };
    let text = if text == "-" { crate::cli::read_input("-")? } else { text.to_owned() };
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(fields)) => Ok(Some(fields)),
        Ok(_) => Err(bad_json(what, "it is JSON, but not an object")),
        Err(error) => Err(bad_json(what, &error.to_string())),
    }
}

fn bad_json(what: &str, why: &str) -> CliError {
    let message = format!("{what} is not a JSON object: {why}");
    Refusal::invalid("json_invalid", message, "quote it for the shell: '{\"key\": \"value\"}'").into()
}

#[derive(clap::Args)]
pub struct Create {
    /// Title: one line of at most 500 bytes
    title: String,
    #[command(flatten)]
    who: ActingIdentity,
    #[command(flatten)]
    fields: Fields,
    /// Id to use instead of a generated one
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Dependencies, separated by commas: ID or TYPE:ID; with blocks:ID the new task blocks that one
    #[arg(long, value_name = "DEP", value_delimiter = ',')]
    deps: Vec<String>,
    /// Print only the id
    #[arg(long)]
    silent: bool,
}

pub fn create(create: Create, app: &mut App) -> Result<(), CliError> {
    let mut input = create.fields.into_input()?;
    input.insert("project".into(), json!(app.project));
    input.insert("identity".into(), json!(create.who.identity));
    input.insert("title".into(), json!(create.title));
    input.insert("id".into(), json!(create.id));
    input.insert("deps".into(), json!(create.deps));
    let answer = app.call(baton_ops::task::Create::NAME, Value::Object(input))?;
    let silent = create.silent;
    app.answer(
        &answer,
        |task| if silent { format!("{}\n", render::text(task, "id")) } else { query::line(task) },
    )
}

#[derive(clap::Args)]
pub struct Increment {
    /// Title: what to build, in one line
    title: String,
    #[command(flatten)]
    who: ActingIdentity,
    /// What to build
    #[arg(long, short, value_name = "T", default_value = "")]
    description: String,
    /// Priority, from 0 (now) to 4 (some day), or P0 to P4
    #[arg(long, short, value_name = "P", default_value = "2", value_parser = crate::cli::priority)]
    priority: i64,
    /// Parent task of all four
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// Verification task of the previous increment
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// Estimated duration of the build task, in minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 120)]
    estimated_duration: i64,
    /// Skills the building agent needs, separated by commas
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    tags: Vec<String>,
    /// Labels for all four, separated by commas
    #[arg(long = "label", short, value_name = "L", value_delimiter = ',')]
    labels: Vec<String>,
    /// Acceptance criteria
    #[arg(long, value_name = "T")]
    acceptance: Option<String>,
    /// What the building agent needs to know: a JSON object
    #[arg(long, value_name = "JSON")]
    handoff_instructions: Option<String>,
    /// Encrypt what each task hands to the next for everyone whose key is listed
    #[arg(long)]
    sensitive: bool,
    /// Print only the verification task's id, to give to --after for the next increment
    #[arg(long)]
    silent: bool,
}

pub fn increment(args: Increment, app: &mut App) -> Result<(), CliError> {
    let instructions =
        object("--handoff-instructions", args.handoff_instructions.as_deref())?.unwrap_or_default();
    let input = json!({
        "project": app.project, "identity": args.who.identity, "title": args.title, "description": args.description,
        "priority": args.priority, "parent": args.parent, "after": args.after,
        "estimated_duration": args.estimated_duration, "specialist_tags": args.tags, "labels": args.labels,
        "acceptance_criteria": args.acceptance, "handoff_instructions": instructions,
        "sensitive": args.sensitive,
    });
    let answer = app.call(baton_ops::task::Increment::NAME, input)?;
    let silent = args.silent;
    app.answer(&answer, |made| {
        if silent { format!("{}\n", render::text(made, "verify_id")) } else { query::rows(made) }
    })
}

#[derive(clap::Args)]
pub struct Claim {
    /// Task id or a unique prefix; the first ready task if omitted
    id: Option<String>,
    #[command(flatten)]
    who: ActingIdentity,
    /// Only a task for this role
    #[arg(long, alias = "role", value_name = "R")]
    agent_role: Option<String>,
    /// Only a task with at least one of these tags
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    tags: Vec<String>,
    /// How long the lease lasts after each sign of life, in seconds
    #[arg(long, value_name = "SECONDS")]
    lease: Option<i64>,
    /// Claim it even if something blocks it; with --why, even if someone else holds it
    #[arg(long)]
    force: bool,
    /// Reason for taking it from its holder, who is told
    #[arg(long, value_name = "T", requires = "force")]
    why: Option<String>,
}

pub fn claim(claim: Claim, app: &mut App) -> Result<(), CliError> {
    let input = json!({
        "project": app.project, "identity": claim.who.identity, "id": claim.id, "agent_role": claim.agent_role,
        "tags": claim.tags, "lease_s": claim.lease, "force": claim.force,
        "why": claim.why,
    });
    let answer = app.call(baton_ops::task::ClaimTask::NAME, input)?;
    app.answer(&answer, query::claimed)
}

#[derive(clap::Args)]
pub struct Update {
    /// Task id or a unique prefix
    id: String,
    #[command(flatten)]
    who: ActingIdentity,
    #[command(flatten)]
    fields: Fields,
    /// Title: one line of at most 500 bytes
    #[arg(long, value_name = "T")]
    title: Option<String>,
    /// Status: open, in_progress, blocked, deferred, closed, pinned or hooked
    #[arg(long, short, value_name = "S")]
    status: Option<String>,
    /// Line to append to the notes
    #[arg(long, value_name = "T")]
    append_notes: Option<String>,
    /// Labels to add, separated by commas
    #[arg(long, value_name = "L", value_delimiter = ',')]
    add_label: Vec<String>,
    /// Labels to remove, separated by commas
    #[arg(long, value_name = "L", value_delimiter = ',')]
    remove_label: Vec<String>,
    /// Merge the JSON objects key by key instead of replacing them; null removes a key
    #[arg(long)]
    merge: bool,
    /// Token of the claim; refused if the lease has been lost
    #[arg(long, value_name = "N")]
    token: Option<i64>,
    /// Print nothing
    #[arg(long)]
    silent: bool,
}

pub fn update(update: Update, app: &mut App) -> Result<(), CliError> {
    let mut input = update.fields.into_input()?;
    let more = json!({
        "project": app.project, "identity": update.who.identity, "id": update.id, "title": update.title,
        "status": update.status, "append_notes": update.append_notes, "add_labels": update.add_label,
        "remove_labels": update.remove_label, "merge": update.merge, "token": update.token,
    });
    input.extend(present_fields(more));
    let answer = app.call(baton_ops::task::Update::NAME, Value::Object(input))?;
    let silent = update.silent;
    app.answer(&answer, |task| if silent { String::new() } else { query::line(task) })
}

#[derive(clap::Args)]
pub struct Close {
    /// Task ids or unique prefixes
    #[arg(required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    who: ActingIdentity,
    /// Outcome of the tasks; inferred from the words of the reason if omitted
    #[arg(long, value_name = "RESULT", value_parser = ["pass", "fail"])]
    result: Option<String>,
    /// Reason for closing
    #[arg(long, short, value_name = "T")]
    reason: Option<String>,
    /// What was done, found or logged: a JSON object to merge into the context
    #[arg(long, value_name = "JSON")]
    context: Option<String>,
    /// Token of the claim; refused if the lease has been lost
    #[arg(long, value_name = "N")]
    token: Option<i64>,
    /// Close even if something blocks it
    #[arg(long)]
    force: bool,
}

pub fn close(close: Close, app: &mut App) -> Result<(), CliError> {
    let context = object("--context", close.context.as_deref())?.unwrap_or_default();
    let project = app.project.clone();
    each(app, &close.ids, query::closed, |id| {
        let input = json!({
            "project": project, "identity": close.who.identity, "id": id, "result": close.result,
            "reason": close.reason, "context": context, "token": close.token, "force": close.force,
        });
        (baton_ops::task::Close::NAME, input)
    })
}

#[derive(clap::Subcommand)]
pub enum Dep {
    /// Make a task depend on another
    Add {
        /// Task that depends on the other
        id: String,
        /// Task it depends on
        on: String,
        #[command(flatten)]
        who: ActingIdentity,
        /// Type of dependency: blocks, parent-child, conditional-blocks, waits-for, related, discovered-from, …
        #[arg(long = "type", short = 't', value_name = "K", default_value = "blocks")]
        kind: String,
    },
    /// Remove a dependency
    Remove {
        /// Task that depends on the other
        id: String,
        /// Task it depends on
        on: String,
        #[command(flatten)]
        who: ActingIdentity,
        /// Type of the dependency to remove
        #[arg(long = "type", short = 't', value_name = "K", default_value = "blocks")]
        kind: String,
    },
    /// Show what a task depends on, as a tree
    Tree {
        /// Task id or a unique prefix
        id: String,
        /// Show what depends on it instead of what it depends on
        #[arg(long)]
        up: bool,
    },
    /// Find dependency cycles
    Cycles,
}

pub fn dep(verb: Dep, app: &mut App) -> Result<(), CliError> {
    let project = app.project.clone();
    let (id, on, who, kind, remove) = match verb {
        Dep::Add { id, on, who, kind } => (id, on, who, kind, false),
        Dep::Remove { id, on, who, kind } => (id, on, who, kind, true),
        Dep::Tree { id, up } => {
            let answer =
                app.call(baton_ops::task::Tree::NAME, json!({ "project": project, "id": id, "up": up }))?;
            return app.answer(&answer, query::tree);
        }
        Dep::Cycles => {
            let answer = app.call(baton_ops::task::Cycles::NAME, json!({ "project": project }))?;
            return app.answer(&answer, query::cycles);
        }
    };
    let input = json!({
        "project": project, "identity": who.identity, "id": id, "on": on, "type": kind, "remove": remove,
    });
    let answer = app.call(baton_ops::task::Depend::NAME, input)?;
    app.answer(&answer, |a| {
        let [id, on, kind] = ["issue_id", "depends_on_id", "type"].map(|key| render::text(a, key));
        let word = if remove { "no longer depends" } else { "depends" };
        format!("{id} {word} on {on} ({kind})\n")
    })
}

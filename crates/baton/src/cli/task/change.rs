//! Verbs of `baton task` that write.

use baton_model::id::visible;
use baton_ops::task as ops;

use super::super::{ActingIdentity, seconds};
use super::fields::{Fields, object};
use super::remarks::{name_similar_type, name_unknown_assignee};
use super::{overview, query, run_for_each};
use crate::app::App;
use crate::error::AppError;

#[derive(clap::Args)]
pub(super) struct Create {
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

pub(super) fn create(create: Create, app: &mut App) -> Result<(), AppError> {
    let input = ops::CreateInput {
        project: app.project.clone(),
        identity: create.who.identity,
        title: create.title,
        id: create.id,
        deps: create.deps,
        ..create.fields.into_create()?
    };
    let made = app.run::<ops::Create>(&input)?;
    name_similar_type(&made.task.view, app);
    name_unknown_assignee(input.assignee.as_deref(), made.task.identity.as_deref(), app)?;
    app.show(&made, |made| match create.silent {
        true => format!("{}\n", visible(&made.task.view.id)),
        false => query::line(&made.task.view),
    })
}

#[derive(clap::Args)]
pub(super) struct Increment {
    /// Title: what to build, in one line
    title: String,
    #[command(flatten)]
    who: ActingIdentity,
    /// What to build
    #[arg(long, short, value_name = "T", default_value = "", allow_hyphen_values = true)]
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
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
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

pub(super) fn increment(args: Increment, app: &mut App) -> Result<(), AppError> {
    let instructions = object("--handoff-instructions", args.handoff_instructions.as_deref())?;
    let input = ops::CreateIncrementInput {
        project: app.project.clone(),
        identity: args.who.identity,
        title: args.title,
        description: args.description,
        priority: args.priority,
        parent: args.parent,
        after: args.after,
        estimated_duration: args.estimated_duration,
        specialist_tags: args.tags,
        labels: args.labels,
        acceptance_criteria: args.acceptance,
        handoff_instructions: instructions.unwrap_or_default(),
        sensitive: args.sensitive,
    };
    let made = app.run::<ops::Increment>(&input)?;
    app.show(&made, |made| match args.silent {
        true => format!("{}\n", visible(&made.verify_id)),
        false => query::rows(&made.items, None),
    })
}

#[derive(clap::Args)]
pub(super) struct Claim {
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
    /// How long the lease lasts after each sign of life: 10m, 2h
    #[arg(long, value_name = "SPAN")]
    lease: Option<String>,
    /// Claim it even if something blocks it; with --why, even if someone else holds it
    #[arg(long)]
    force: bool,
    /// Who holds it, as far as you know: refused if another holds it by now
    #[arg(long, value_name = "NAME")]
    holder: Option<String>,
    /// Reason for taking it from its holder, who is told
    #[arg(long, value_name = "T", requires = "force", allow_hyphen_values = true)]
    why: Option<String>,
}

pub(super) fn claim(claim: Claim, app: &mut App) -> Result<(), AppError> {
    let input = ops::ClaimTaskInput {
        project: app.project.clone(),
        identity: claim.who.identity,
        id: claim.id,
        agent_role: claim.agent_role,
        tags: claim.tags,
        lease_s: seconds(claim.lease.as_deref())?,
        force: claim.force,
        holder: claim.holder,
        why: claim.why,
        ..ops::ClaimTaskInput::default()
    };
    let claimed = app.run::<ops::ClaimTask>(&input)?;
    app.show(&claimed, query::claimed)
}

#[derive(clap::Args)]
pub(super) struct Release {
    /// Task ids or unique prefixes
    #[arg(required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    who: ActingIdentity,
    /// What could not be done; counts as a failed attempt, which a release without it does not
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    why: Option<String>,
    /// Token of the claim; refused if the lease has been lost
    #[arg(long, value_name = "N")]
    token: Option<i64>,
    /// Give it back even if another agent has it; with --why, which that agent is told
    #[arg(long)]
    force: bool,
    /// Who holds it, as far as you know: refused if another holds it by now
    #[arg(long, value_name = "NAME")]
    holder: Option<String>,
    /// Whom to assign it to in the same step; no other agent can claim it in between
    #[arg(long, value_name = "NAME")]
    assignee: Option<String>,
}

pub(super) fn release(release: Release, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    run_for_each::<ops::Release>(
        app,
        &release.ids,
        |released| query::line(&released.task.view),
        |released| &released.task.view,
        |id| ops::ReleaseInput {
            project: project.clone(),
            identity: release.who.identity.clone(),
            id: id.to_owned(),
            token: release.token,
            untried: release.why.is_none(),
            force: release.force,
            holder: release.holder.clone(),
            why: release.why.clone(),
            assignee: release.assignee.clone(),
            ..ops::ReleaseInput::default()
        },
    )?;
    name_unknown_assignee(release.assignee.as_deref(), None, app)
}

#[derive(clap::Args)]
pub(super) struct Update {
    /// Task id or a unique prefix
    id: String,
    #[command(flatten)]
    who: ActingIdentity,
    #[command(flatten)]
    fields: Fields,
    /// Title: one line of at most 500 bytes
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    title: Option<String>,
    /// Status: open, in_progress, blocked, deferred, closed, pinned or hooked
    #[arg(long, short, value_name = "S")]
    status: Option<String>,
    /// Line to append to the notes
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
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
    /// Only if this agent has it: its holder, or its assignee; '' if nobody has
    #[arg(long, value_name = "NAME")]
    holder: Option<String>,
    /// Print nothing
    #[arg(long)]
    silent: bool,
}

pub(super) fn update(update: Update, app: &mut App) -> Result<(), AppError> {
    let input = ops::UpdateInput {
        project: app.project.clone(),
        identity: update.who.identity,
        id: update.id,
        title: update.title,
        status: update.status,
        append_notes: update.append_notes,
        add_labels: update.add_label,
        remove_labels: update.remove_label,
        merge: update.merge,
        token: update.token,
        holder: update.holder,
        ..update.fields.into_update()?
    };
    let has_type = input.issue_type.is_some();
    let changed = app.run::<ops::Update>(&input)?;
    if has_type {
        name_similar_type(&changed.task.view, app);
    }
    name_unknown_assignee(input.assignee.as_deref(), changed.task.identity.as_deref(), app)?;
    app.show(&changed, |changed| match update.silent {
        true => String::new(),
        false => query::line(&changed.task.view),
    })
}

#[derive(clap::Args)]
pub(super) struct Close {
    /// Task ids or unique prefixes
    #[arg(required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    who: ActingIdentity,
    /// Outcome of the tasks; inferred from the words of the reason if omitted
    #[arg(long, value_name = "RESULT", value_parser = ["pass", "fail"])]
    result: Option<String>,
    /// Reason for closing
    #[arg(long, short, value_name = "T", allow_hyphen_values = true)]
    reason: Option<String>,
    /// What was done, found or logged: a JSON object to merge into the context
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    context: Option<String>,
    /// Token of the claim; refused if the lease has been lost
    #[arg(long, value_name = "N")]
    token: Option<i64>,
    /// Close even if something blocks it
    #[arg(long)]
    force: bool,
}

pub(super) fn close(close: Close, app: &mut App) -> Result<(), AppError> {
    let context = object("--context", close.context.as_deref())?.unwrap_or_default();
    let project = app.project.clone();
    run_for_each::<ops::Close>(
        app,
        &close.ids,
        query::closed_text,
        |closed| &closed.task.view,
        |id| ops::CloseInput {
            project: project.clone(),
            identity: close.who.identity.clone(),
            id: id.to_owned(),
            result: close.result.as_deref().and_then(ops::CloseResult::from_word),
            reason: close.reason.clone(),
            context: context.clone(),
            token: close.token,
            force: close.force,
        },
    )
}

#[derive(clap::Subcommand)]
pub(super) enum Dep {
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

pub(super) fn dep(verb: Dep, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    let (id, on, who, kind, remove) = match verb {
        Dep::Add { id, on, who, kind } => (id, on, who, kind, false),
        Dep::Remove { id, on, who, kind } => (id, on, who, kind, true),
        Dep::Tree { id, up } => {
            let input = ops::TreeInput { project, id, up, ..ops::TreeInput::default() };
            let tree = app.run::<ops::Tree>(&input)?;
            return app.show(&tree, |tree| overview::tree(&tree.items));
        }
        Dep::Cycles => {
            let found = app.run::<ops::Cycles>(&ops::CyclesInput { project })?;
            return app.show(&found, |found| overview::cycles(&found.items));
        }
    };
    let identity = who.identity;
    let input = ops::DependInput { project, identity, id, on, kind, remove, ..ops::DependInput::default() };
    let done = app.run::<ops::Depend>(&input)?;
    app.show(&done, |done| {
        let [id, on, kind] = [&done.issue_id, &done.depends_on_id, &done.kind].map(|text| visible(text));
        let word = if remove { "no longer depends" } else { "depends" };
        format!("{id} {word} on {on} ({kind})\n")
    })
}

pub(super) fn reopen(
    ids: &[String],
    who: &ActingIdentity,
    reason: Option<&String>,
    app: &mut App,
) -> Result<(), AppError> {
    let project = app.project.clone();
    let input = |id: &str| ops::ReopenInput {
        project: project.clone(),
        identity: who.identity.clone(),
        id: id.to_owned(),
        reason: reason.cloned(),
    };
    let line = |reopened: &ops::ReopenOutput| query::line(&reopened.task.view);
    run_for_each::<ops::Reopen>(app, ids, line, |reopened| &reopened.task.view, input)
}

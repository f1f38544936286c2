//! Verbs of `baton task` that read, and tasks as people see them.

use baton_model::id::visible;
use baton_model::task::closing::FollowerAction;
use baton_model::task::view::View;
use baton_model::time::{Timestamp, parse_rfc3339, rfc3339};
use baton_ops::task::{self as ops, ClaimedTask, LinkTarget, LinkedTask};
use serde_json::{Map, Value};

use crate::app::App;
use crate::error::AppError;
use crate::render;

#[derive(clap::Args)]
pub(super) struct List {
    /// Only tasks with one of these statuses, separated by commas
    #[arg(long, short, value_name = "S")]
    status: Option<String>,
    /// Only tasks for this role
    #[arg(long, alias = "role", value_name = "R")]
    agent_role: Option<String>,
    /// Only tasks assigned to this identity
    #[arg(long, short, value_name = "NAME")]
    assignee: Option<String>,
    /// Only tasks of this type
    #[arg(long = "type", short = 't', value_name = "K")]
    issue_type: Option<String>,
    /// Only tasks with all of these labels, separated by commas
    #[arg(long = "label", short, value_name = "L", value_delimiter = ',')]
    labels: Vec<String>,
    /// Only tasks with at least one of these tags, separated by commas
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    tags: Vec<String>,
    /// Only subtasks of this task
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// Only tasks of this priority
    #[arg(long, short, value_name = "P", value_parser = crate::cli::priority)]
    priority: Option<i64>,
    /// Include closed tasks
    #[arg(long)]
    all: bool,
    /// Maximum number of results; 0 for all
    #[arg(short, value_name = "N", default_value_t = 50)]
    n: u32,
    /// Number of results to skip: `next` of the previous page
    #[arg(long, value_name = "N", default_value_t = 0)]
    after: usize,
}

pub(super) fn list(args: List, app: &mut App) -> Result<(), AppError> {
    // `all` is no state of a task; it says what --all says.
    let is_all = args.all || args.status.as_deref() == Some("all");
    let status = args.status.clone().filter(|status| status != "all");
    let is_plain = status.is_none() && !is_all && args.after == 0;
    let options = narrowing(&args, status.as_deref());
    let none = |empty: &str| {
        let options: Vec<_> = options.iter().map(|(name, value)| (*name, value.as_deref())).collect();
        render::none_of(empty, &options)
    };
    let input = ops::ListInput {
        project: app.project.clone(),
        status,
        agent_role: args.agent_role,
        assignee: args.assignee,
        issue_type: args.issue_type,
        labels: args.labels,
        tags: args.tags,
        parent: args.parent,
        priority: args.priority,
        all: is_all,
        limit: Some(i64::from(args.n)),
        after: args.after,
        ..ops::ListInput::default()
    };
    let found = app.run::<ops::List>(&input)?;
    if is_plain && found.items.is_empty() && app.shows_text() {
        let closed = ops::ListInput { all: true, limit: Some(0), ..input };
        let closed = app.run::<ops::List>(&closed)?.items.len();
        let text = match closed {
            0 => format!("{}\n", none("no tasks")),
            n => format!("{}; {n} closed (`--status closed` lists them, `--all` all)\n", none("none open")),
        };
        return app.show(&found, |_| text);
    }
    app.show(&found, |found| match found.items.as_slice() {
        [] => format!("{}\n", none("no tasks")),
        items => rows(items.iter().map(|row| &row.task), found.next),
    })
}

/// The options by which a list is narrowed.
fn narrowing(args: &List, status: Option<&str>) -> [(&'static str, Option<String>); 8] {
    let several = |values: &[String]| (!values.is_empty()).then(|| values.join(","));
    [
        ("--status", status.map(str::to_owned)),
        ("--agent-role", args.agent_role.clone()),
        ("--assignee", args.assignee.clone()),
        ("--type", args.issue_type.clone()),
        ("--label", several(&args.labels)),
        ("--tags", several(&args.tags)),
        ("--parent", args.parent.clone()),
        ("--priority", args.priority.map(|priority| priority.to_string())),
    ]
}

#[derive(clap::Args)]
pub(super) struct Search {
    /// Words that must all occur in the id, the title or a text
    #[arg(required = true)]
    words: Vec<String>,
    /// Maximum number of results; 0 for all
    #[arg(short, value_name = "N", default_value_t = 50)]
    n: u32,
}

pub(super) fn search(args: Search, app: &mut App) -> Result<(), AppError> {
    let input = ops::ListInput {
        project: app.project.clone(),
        query: Some(args.words.join(" ")),
        all: true,
        limit: Some(i64::from(args.n)),
        ..ops::ListInput::default()
    };
    let found = app.run::<ops::List>(&input)?;
    app.show(&found, |found| rows(found.items.iter().map(|row| &row.task), found.next))
}

#[derive(clap::Args)]
pub(super) struct Ready {
    /// Only tasks for this role
    #[arg(long, alias = "role", value_name = "R")]
    agent_role: Option<String>,
    /// Only tasks this agent may take, going by the role in its name
    #[arg(long, value_name = "NAME")]
    for_agent: Option<String>,
    /// Only tasks assigned to this identity
    #[arg(long, short, value_name = "NAME")]
    assignee: Option<String>,
    /// Only tasks with all of these labels, separated by commas
    #[arg(long = "label", short, value_name = "L", value_delimiter = ',')]
    labels: Vec<String>,
    /// Only tasks with at least one of these tags, separated by commas
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    tags: Vec<String>,
    /// Claim the first of them
    #[arg(long)]
    claim: bool,
    #[command(flatten)]
    who: super::super::ActingIdentity,
    /// Maximum number of results; 0 for all
    #[arg(short, value_name = "N", default_value_t = 100)]
    n: u32,
    /// Number of results to skip: `next` of the previous page
    #[arg(long, value_name = "N", default_value_t = 0)]
    after: usize,
}

pub(super) fn ready(args: Ready, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    if args.claim {
        let input = ops::ClaimTaskInput {
            project,
            identity: args.who.identity,
            agent_role: args.agent_role,
            tags: args.tags,
            for_agent: args.for_agent,
            ..ops::ClaimTaskInput::default()
        };
        let answer = app.run::<ops::ClaimTask>(&input)?;
        return app.show(&answer, claimed);
    }
    let input = ops::ReadyInput {
        project,
        assigned_first: args.who.identity,
        agent_role: args.agent_role,
        for_agent: args.for_agent,
        assignee: args.assignee,
        labels: args.labels,
        tags: args.tags,
        limit: Some(i64::from(args.n)),
        after: args.after,
        ..ops::ReadyInput::default()
    };
    let found = app.run::<ops::Ready>(&input)?;
    app.show(&found, |found| {
        let row = |found: &ops::Row| {
            let mut row = row(&found.task);
            if found.is_own {
                row.push("yours".to_owned());
            }
            row
        };
        page(found.items.iter().map(row).collect(), found.next)
    })
}

/// A task in one line.
pub(super) fn line(task: &View) -> String {
    render::table(&[row(task)])
}

fn row(task: &View) -> Vec<String> {
    let mut row = render::task_row(task);
    if task.blocked == Some(true) {
        row[2].push_str(" (blocked)");
    }
    row.insert(3, or_empty(task.agent_role.as_deref()));
    row
}

pub(super) fn or_empty(text: Option<&str>) -> String {
    text.map(visible).unwrap_or_default()
}

pub(super) fn joined(words: &[String], between: &str) -> String {
    visible(&words.join(between))
}

/// Several tasks, and whether there are more.
pub(super) fn rows<'a>(tasks: impl IntoIterator<Item = &'a View>, next: Option<usize>) -> String {
    page(tasks.into_iter().map(row).collect(), next)
}

fn page(rows: Vec<Vec<String>>, next: Option<usize>) -> String {
    let more = match next {
        None => String::new(),
        Some(next) => format!("there are more: --after {next} goes on, -n 0 shows all\n"),
    };
    if rows.is_empty() { "no tasks\n".to_owned() } else { format!("{}{more}", render::table(&rows)) }
}

pub(super) fn blocked(found: &ops::BlockedOutput) -> String {
    let row = |blocked: &ops::BlockedRow| {
        let mut row = row(&blocked.task);
        row.push(format!("waits for {}", joined(&blocked.blocked_by, ", ")));
        row
    };
    let rows: Vec<Vec<String>> = found.items.iter().map(row).collect();
    let more = if found.next.is_none() { "" } else { "there are more: -n 0 shows all\n" };
    if rows.is_empty() { "nothing waits\n".to_owned() } else { format!("{}{more}", render::table(&rows)) }
}

/// A claimed task with the packet that its agent works from.
pub(super) fn claimed(answer: &ops::ClaimTaskOutput) -> String {
    if !answer.claimed {
        return "nothing is ready\n".to_owned();
    }
    let packet = render::quoted(&format!("{:#}", answer.packet.as_ref().unwrap_or(&Value::Null)));
    let task = match &answer.task {
        Some(ClaimedTask::Open(task)) => line(&task.view),
        Some(ClaimedTask::Withheld { .. }) | None => String::new(),
    };
    let token = answer.token.map(|token| token.to_string()).unwrap_or_default();
    let until = answer.expires_at.map(|at| rfc3339(at.0)).unwrap_or_default();
    format!("{task}token {token} until {until}\n{packet}")
}

/// What a close caused, a line for each task.
pub(crate) fn follow_ups(steps: &[ops::FollowUp]) -> String {
    let line = |step: &ops::FollowUp| {
        let how = match step.act {
            FollowerAction::Hand => "is next",
            FollowerAction::Wake => "wakes",
            FollowerAction::Rerun => "runs again",
            FollowerAction::Unneeded => "is not needed",
        };
        let message = step.message.as_deref().map(|text| format!(", {}", visible(text))).unwrap_or_default();
        format!("  {} {} {how}{message}\n", or_empty(step.agent_role.as_deref()), visible(&step.id))
    };
    steps.iter().map(line).collect()
}

/// A closed task with what it led to.
pub(super) fn closed_text(closed: &ops::CloseOutput) -> String {
    let mut text = line(&closed.task.view) + &follow_ups(&closed.set_off);
    if closed.was_closed {
        let result = closed.task.view.result.as_deref().unwrap_or("pass");
        let words =
            if closed.kept_comment_id.is_some() { "; what you gave is kept as a comment" } else { "" };
        text.push_str(&format!("  it was closed before, with the result {}{words}\n", visible(result)));
    }
    if let Some(handoff) = &closed.ended_handoff {
        text.push_str(&format!("  {}\n", visible(&handoff.message)));
        if closed.was_closed {
            text.push_str(&format!("  {}\n", visible(&handoff.hint(&closed.task.view.id))));
        }
    }
    if !closed.unblocked.is_empty() {
        text.push_str(&format!("  ready now: {}\n", joined(&closed.unblocked, ", ")));
    }
    text
}

/// One task with everything that the answer has of it.
pub(crate) fn task_text(found: &ops::ShowOutput) -> String {
    let task = &found.task;
    let mut out = line(task);
    out.push_str(&render::section("facts", &facts(task)));
    let failed = task.failed_attempts().into_iter().map(|attempt| {
        let at = attempt.at.map(|at| render::time_ago(Timestamp(at))).unwrap_or_default();
        vec![visible(&attempt.by), at, visible(&attempt.why)]
    });
    out.push_str(&render::section("failed attempts", &failed.collect::<Vec<_>>()));
    for (name, words) in [("labels", &task.labels), ("tags", &task.specialist_tags)] {
        if !words.is_empty() {
            out.push_str(&format!("{name}\n  {}\n", joined(words, ", ")));
        }
    }
    let other = |key: &str| task.rest.get(key).and_then(Value::as_str);
    let texts = [
        ("description", Some(task.description.as_str()).filter(|text| !text.is_empty())),
        ("design", other("design")),
        ("acceptance criteria", other("acceptance_criteria")),
        ("notes", other("notes")),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            out.push_str(&format!("{name}\n{}", render::quoted(text)));
        }
    }
    let contexts = [
        ("agent context", task.agent_context.as_ref()),
        ("handoff instructions", task.handoff_instructions.as_ref()),
    ];
    for (name, context) in contexts {
        if let Some(context) = context {
            out.push_str(&format!("{name}\n{}", quoted_json(context)));
        }
    }
    out + &links(found)
}

fn quoted_json(fields: &Map<String, Value>) -> String {
    render::quoted(&format!("{:#}", Value::Object(fields.clone())))
}

fn facts(task: &View) -> Vec<Vec<String>> {
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let number = |number: Option<i64>| number.map(|number| number.to_string());
    let facts = [
        ("type", "issue_type", text(&task.issue_type)),
        ("parent", "parent", task.parent.clone()),
        ("by", "created_by", text(&task.created_by)),
        ("minutes", "estimated_duration", number(task.estimated_duration)),
        ("attempts", "attempts", number(task.attempts)),
        ("previous agent", "previous_agent", task.previous_agent.clone()),
        ("next message", "pending_message", task.pending_message.clone()),
        // A tombstone has the result of a closed task, which no agent gave.
        ("result", "result", task.result.clone().filter(|_| task.status != "tombstone")),
        ("closed", "close_reason", task.close_reason.clone()),
        ("now called", "renamed_to", None),
        ("deleted by", "deleted_by", None),
        ("deleted because", "delete_reason", None),
        ("deferred to", "defer_until", task.defer_until.map(|at| rfc3339(at.0))),
        ("due", "due_at", None),
    ];
    // What was imported may have a value of another type under the name.
    let row = |(name, key, text): (&str, &str, Option<String>)| {
        Some(vec![name.to_owned(), visible(&text.or_else(|| task.other_text(key))?)])
    };
    let why = task.routing_text("why").map(|why| vec!["why".to_owned(), visible(&why)]);
    facts.into_iter().filter_map(row).chain(why).collect()
}

fn linked(other: &LinkedTask) -> Vec<String> {
    let (id, state, title) = match &other.task {
        LinkTarget::Whole(task) => (&task.id, task.status.as_str(), task.title.as_str()),
        LinkTarget::Head { id, status, title, .. } => (id, status.as_str(), title.as_str()),
        LinkTarget::Missing { id, .. } => (id, "missing", ""),
    };
    vec![visible(&other.dependency_type), visible(id), visible(state), visible(title)]
}

fn links(found: &ops::ShowOutput) -> String {
    let mut text = String::new();
    for (name, others) in [("depends on", &found.dependencies), ("depended on by", &found.dependents)] {
        text.push_str(&render::section(name, &others.iter().map(linked).collect::<Vec<_>>()));
    }
    for comment in &found.comments {
        let at = parse_rfc3339(comment.created_at()).map(|at| render::time_ago(Timestamp(at)));
        let head = format!("{} {}", visible(comment.author()), at.unwrap_or_default());
        text.push_str(&format!("comment by {head}\n{}", render::quoted(comment.text())));
    }
    text.extend(found.conversation.as_ref().map(render::conversation));
    if !found.left_out.is_empty() {
        text.push_str(&format!("left out: {}; --full shows everything\n", joined(&found.left_out, ", ")));
    }
    text
}

//! Verbs of `baton task` that read, and tasks as people see them.

use baton_ops::op::Operation;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::CliError;
use crate::render::{self, list as items, text};

#[derive(clap::Args)]
pub struct List {
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

pub fn list(args: List, app: &mut App) -> Result<(), CliError> {
    let input = json!({
        "project": app.project, "status": args.status, "agent_role": args.agent_role, "assignee": args.assignee,
        "issue_type": args.issue_type, "labels": args.labels, "tags": args.tags, "parent": args.parent,
        "priority": args.priority, "all": args.all, "limit": args.n, "after": args.after,
    });
    let answer = app.call(baton_ops::task::List::NAME, input)?;
    app.answer(&answer, rows)
}

#[derive(clap::Args)]
pub struct Search {
    /// Words that must all occur in the id, the title or a text
    #[arg(required = true)]
    words: Vec<String>,
    /// Maximum number of results; 0 for all
    #[arg(short, value_name = "N", default_value_t = 50)]
    n: u32,
}

pub fn search(args: Search, app: &mut App) -> Result<(), CliError> {
    let query = args.words.join(" ");
    let input = json!({ "project": app.project, "query": query, "all": true, "limit": args.n });
    let answer = app.call(baton_ops::task::List::NAME, input)?;
    app.answer(&answer, rows)
}

#[derive(clap::Args)]
pub struct Ready {
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

pub fn ready(args: Ready, app: &mut App) -> Result<(), CliError> {
    let project = app.project.clone();
    if args.claim {
        let input = json!({
            "project": project, "identity": args.who.identity, "agent_role": args.agent_role, "tags": args.tags,
            "for_agent": args.for_agent,
        });
        let answer = app.call(baton_ops::task::ClaimTask::NAME, input)?;
        return app.answer(&answer, claimed);
    }
    let input = json!({
        "project": project, "agent_role": args.agent_role, "for_agent": args.for_agent, "assignee": args.assignee,
        "labels": args.labels, "tags": args.tags, "limit": args.n, "after": args.after,
    });
    let answer = app.call(baton_ops::task::Ready::NAME, input)?;
    app.answer(&answer, rows)
}

/// A task in one line.
pub fn line(task: &Value) -> String {
    render::table(&[row(task)])
}

fn row(task: &Value) -> Vec<String> {
    let mut row = render::task_row(task);
    if task["blocked"] == true {
        row[2].push_str(" (blocked)");
    }
    row.insert(3, text(task, "agent_role"));
    row
}

/// Several tasks, and whether there are more.
pub fn rows(answer: &Value) -> String {
    let rows: Vec<Vec<String>> = items(answer, "items").iter().map(row).collect();
    let more = match answer["next"].as_u64() {
        None => String::new(),
        Some(next) => format!("there are more: --after {next} goes on, -n 0 shows all\n"),
    };
    if rows.is_empty() { "no tasks\n".to_owned() } else { format!("{}{more}", render::table(&rows)) }
}

pub fn blocked(answer: &Value) -> String {
    let row = |task: &Value| {
        let mut row = row(task);
        let by: Vec<&str> = items(task, "blocked_by").iter().filter_map(Value::as_str).collect();
        row.push(format!("waits for {}", baton_model::id::visible(&by.join(", "))));
        row
    };
    let rows: Vec<Vec<String>> = items(answer, "items").iter().map(row).collect();
    let more = if answer["next"].is_null() { "" } else { "there are more: -n 0 shows all\n" };
    if rows.is_empty() { "nothing waits\n".to_owned() } else { format!("{}{more}", render::table(&rows)) }
}

/// A claimed task with the packet that its agent works from.
pub fn claimed(answer: &Value) -> String {
    if answer["claimed"] != true {
        return "nothing is ready\n".to_owned();
    }
    let packet = render::quoted(&format!("{:#}", answer["packet"]));
    let token = text(answer, "token");
    format!("{}token {token} until {}\n{packet}", line(&answer["task"]), text(answer, "expires_at"))
}

/// A closed task with what it led to.
pub fn closed(answer: &Value) -> String {
    let mut said = line(answer);
    for step in items(answer, "set_off") {
        let how = match text(step, "act").as_str() {
            "hand" => "is next",
            "wake" => "wakes",
            "rerun" => "runs again",
            _ => "is not needed",
        };
        let message = text(step, "message");
        let message = if message.is_empty() { message } else { format!(", {message}") };
        said.push_str(&format!("  {} {} {how}{message}\n", text(step, "agent_role"), text(step, "id")));
    }
    let ids: Vec<&str> = items(answer, "unblocked").iter().filter_map(Value::as_str).collect();
    if !ids.is_empty() {
        said.push_str(&format!("  ready now: {}\n", baton_model::id::visible(&ids.join(", "))));
    }
    said
}

/// One task with everything that the answer has of it.
pub fn one(task: &Value) -> String {
    let mut said = line(task);
    let facts: Vec<Vec<String>> = [
        ("type", "issue_type"),
        ("parent", "parent"),
        ("by", "created_by"),
        ("minutes", "estimated_duration"),
        ("attempts", "attempts"),
        ("previous agent", "previous_agent"),
        ("next message", "pending_message"),
        ("result", "result"),
        ("closed", "close_reason"),
        ("deferred to", "defer_until"),
        ("due", "due_at"),
    ]
    .iter()
    .map(|(name, key)| (*name, task, *key))
    .chain([("why", &task["route"], "why")])
    .filter(|(_, of, key)| of.get(*key).is_some_and(|value| !value.is_null()))
    .map(|(name, of, key)| vec![name.to_owned(), text(of, key)])
    .collect();
    said.push_str(&render::section("facts", &facts));
    let failed = items(task, "failed_attempts").iter();
    let failed: Vec<Vec<String>> =
        failed.map(|row| vec![text(row, "by"), render::age(row, "at"), text(row, "why")]).collect();
    said.push_str(&render::section("failed attempts", &failed));
    for (name, key) in [("labels", "labels"), ("tags", "specialist_tags")] {
        let words: Vec<&str> = items(task, key).iter().filter_map(Value::as_str).collect();
        if !words.is_empty() {
            said.push_str(&format!("{name}\n  {}\n", baton_model::id::visible(&words.join(", "))));
        }
    }
    for key in ["description", "design", "acceptance_criteria", "notes"] {
        if let Some(body) = task[key].as_str() {
            said.push_str(&format!("{}\n{}", key.replace('_', " "), render::quoted(body)));
        }
    }
    for key in ["agent_context", "handoff_instructions"] {
        if task[key].is_object() {
            said.push_str(&format!(
                "{}\n{}",
                key.replace('_', " "),
                render::quoted(&format!("{:#}", task[key]))
            ));
        }
    }
    said + &links(task)
}

fn links(task: &Value) -> String {
    let linked = |other: &Value| {
        let gone = if other["missing"] == true { "missing".to_owned() } else { text(other, "status") };
        vec![text(other, "dependency_type"), text(other, "id"), gone, text(other, "title")]
    };
    let mut said = String::new();
    for (name, key) in [("depends on", "dependencies"), ("depended on by", "dependents")] {
        said.push_str(&render::section(name, &items(task, key).iter().map(linked).collect::<Vec<_>>()));
    }
    for comment in items(task, "comments") {
        let head = format!("{} {}", text(comment, "author"), render::age(comment, "created_at"));
        said.push_str(&format!(
            "comment by {head}\n{}",
            render::quoted(comment["text"].as_str().unwrap_or_default())
        ));
    }
    let left: Vec<&str> = items(task, "left_out").iter().filter_map(Value::as_str).collect();
    if !left.is_empty() {
        let left = baton_model::id::visible(&left.join(", "));
        said.push_str(&format!("left out: {left}; --full shows everything\n"));
    }
    said
}

/// Tasks by role and state.
pub fn board(answer: &Value) -> String {
    let mut said = String::new();
    for role in items(answer, "items") {
        let name = text(role, "role");
        let count = |key: &str| role["counts"][key].as_i64().unwrap_or(0);
        let counts: Vec<String> = [
            ("in_progress", "in progress"),
            ("ready", "ready"),
            ("blocked", "blocked"),
            ("deferred", "deferred"),
            ("other", "set aside"),
            ("closed", "closed"),
        ]
        .iter()
        .filter(|(key, _)| count(key) > 0)
        .map(|(key, name)| format!("{} {name}", count(key)))
        .collect();
        let name = if name.is_empty() { "no role".to_owned() } else { name };
        said.push_str(&format!("{name}: {}\n", counts.join(" · ")));
        let mut rows = Vec::new();
        for (key, mark) in [("in_progress", "●"), ("ready", "○"), ("blocked", "·")] {
            rows.extend(items(role, key).iter().map(|task| cell(task, mark, key)));
            let shown = i64::try_from(items(role, key).len()).unwrap_or(i64::MAX);
            if count(key) > shown {
                rows.push(vec![
                    mark.to_owned(),
                    format!("and {} more {}", count(key) - shown, key.replace('_', " ")),
                ]);
            }
        }
        said.extend(render::table(&rows).lines().map(|line| format!("  {line}\n")));
    }
    if said.is_empty() {
        "no tasks yet: `baton task create TITLE` or `baton task increment TITLE`\n".into()
    } else {
        said
    }
}

fn cell(task: &Value, mark: &str, state: &str) -> Vec<String> {
    let attempts = task["attempts"].as_i64().unwrap_or(0);
    let tried = if attempts > 0 { format!("tried {attempts}×") } else { String::new() };
    let who = match (state, text(task, "assignee")) {
        (_, name) if name.is_empty() => String::new(),
        ("in_progress", name) => format!("with {name}"),
        (_, name) => format!("for {name}"),
    };
    vec![
        mark.to_owned(),
        text(task, "id"),
        format!("P{}", text(task, "priority")),
        text(task, "title"),
        [who, tried, text(task, "why")]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(", "),
    ]
}

pub fn stats(answer: &Value) -> String {
    let summary = &answer["summary"];
    let rows: Vec<Vec<String>> = summary
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| vec![key.replace('_', " "), value.to_string()])
        .collect();
    render::table(&rows)
}

pub fn tree(answer: &Value) -> String {
    let line = |row: &Value| {
        let depth = usize::try_from(row["depth"].as_u64().unwrap_or(0)).unwrap_or(0);
        let kind = match text(row, "dependency_type") {
            kind if kind.is_empty() => kind,
            kind => format!("{kind} "),
        };
        let state = if row["missing"] == true { "missing".to_owned() } else { text(row, "status") };
        let seen = if row["seen"] == true { " (see above)" } else { "" };
        format!("{}{kind}{} {state} {}{seen}\n", "  ".repeat(depth), text(row, "id"), text(row, "title"))
    };
    items(answer, "items").iter().map(line).collect()
}

pub fn cycles(answer: &Value) -> String {
    let line = |cycle: &Value| {
        let ids: Vec<&str> = cycle.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        format!("{}\n", baton_model::id::visible(&ids.join(" → ")))
    };
    match items(answer, "items") {
        [] => "no circles\n".to_owned(),
        found => found.iter().map(line).collect(),
    }
}

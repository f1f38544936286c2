//! `baton agent`

use baton_ops::op::Operation;
use serde_json::{Value, json};

use super::Who;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Register agents, list them, and show the roles that they may have
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Register an agent: what it is and what it can do
    ///
    /// What is left out stays as it was registered before. Limits in AGENT_ROLES.yaml win over those given here.
    Register(Box<Register>),
    /// List the agents of the project
    List {
        /// Only agents with this role
        #[arg(long, value_name = "R")]
        role: Option<String>,
        /// Only agents with this skill, their own or of a role
        #[arg(long, value_name = "S")]
        skill: Option<String>,
        /// Only agents that were heard of lately
        #[arg(long)]
        fresh: bool,
        /// Also identities that were in a session and never registered
        #[arg(long)]
        all: bool,
    },
    /// Show an agent, the limits that hold for it, and its open sessions
    Show {
        /// Its name; else your own
        name: Option<String>,
    },
    /// Show the roles that apply here, and where each value came from
    Roles,
}

#[derive(clap::Args)]
struct Register {
    /// Its name; else the identity that you work under
    name: Option<String>,
    #[command(flatten)]
    who: Who,
    /// The program that it is: claude, codex, …
    #[arg(long, value_name = "P")]
    program: Option<String>,
    /// The model that it runs on
    #[arg(long, value_name = "M")]
    model: Option<String>,
    /// A role that it has; give it several times
    #[arg(long = "role", value_name = "R")]
    roles: Option<Vec<String>>,
    /// What it is good at beyond what its roles say; give it several times
    #[arg(long = "skill", value_name = "S")]
    skills: Option<Vec<String>>,
    /// How many tasks it takes at once; else 1
    #[arg(long, value_name = "N")]
    max_tasks: Option<i64>,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let project = app.project.clone();
    match args.verb {
        Verb::Register(r) => {
            let input = json!({
                "project": project, "identity": r.name.or(r.who.identity), "program": r.program, "model": r.model,
                "roles": r.roles, "skills": r.skills, "max_tasks": r.max_tasks,
            });
            let answer = app.call(baton_ops::agent::Register::NAME, input)?;
            app.answer(&answer, |a| {
                format!("registered\n{}{}", render::table(&facts(a)), render::warnings(a))
            })
        }
        Verb::List { role, skill, fresh, all } => {
            let input =
                json!({ "project": project, "role": role, "skill": skill, "fresh": fresh, "all": all });
            let answer = app.call(baton_ops::agent::List::NAME, input)?;
            app.answer(&answer, |a| match render::list(a, "items") {
                [] => "no agent has registered: baton agent register --as NAME --role R\n".to_owned(),
                items => render::table(&items.iter().map(row).collect::<Vec<_>>()),
            })
        }
        Verb::Show { name } => {
            let answer =
                app.call(baton_ops::agent::Show::NAME, json!({ "project": project, "name": name }))?;
            app.answer(&answer, |a| render::table(&facts(a)))
        }
        Verb::Roles => {
            let answer = app.call(baton_ops::agent::RolesShown::NAME, json!({ "project": project }))?;
            app.answer(&answer, roles)
        }
    }
}

fn row(agent: &Value) -> Vec<String> {
    vec![
        render::text(agent, "name"),
        render::text(agent, "state"),
        words(agent, "roles"),
        words(agent, "skills"),
        render::text(agent, "program"),
        render::age(agent, "last_seen"),
    ]
}

fn facts(agent: &Value) -> Vec<Vec<String>> {
    let line = |title: &str, text: String| vec![title.to_owned(), text];
    let with_unit = |key: &str, unit: &str| {
        let text = render::text(agent, key);
        if text.is_empty() { text } else { format!("{text} {unit}") }
    };
    let mut rows = vec![
        line("name", render::text(agent, "name")),
        line("program", render::text(agent, "program")),
        line("model", render::text(agent, "model")),
        line("roles", words(agent, "roles")),
        line("skills", words(agent, "skills")),
        line(
            "tasks at once",
            format!("{} ({})", render::text(agent, "max_tasks"), render::text(agent, "max_tasks_from")),
        ),
        line("a session lasts", with_unit("max_session_duration", "minutes at most")),
        line("state", render::text(agent, "state")),
    ];
    rows.retain(|row| row.get(1).is_some_and(|text| !text.is_empty()));
    rows
}

fn words(value: &Value, key: &str) -> String {
    let shown = |item: &Value| item.as_str().map(baton_model::id::visible);
    render::list(value, key).iter().filter_map(shown).collect::<Vec<_>>().join(", ")
}

fn roles(answer: &Value) -> String {
    let mut text = match answer["file"].as_str() {
        Some(file) => format!("{file} over what is built in\n"),
        None => "built in; AGENT_ROLES.yaml in the repository changes them and adds others\n".to_owned(),
    };
    for role in render::list(answer, "items") {
        text.push_str(&render::section(&render::text(role, "role"), &role_rows(role)));
    }
    text
}

fn role_rows(role: &Value) -> Vec<Vec<String>> {
    let keys =
        ["skills", "typical_tasks", "max_session_duration", "max_concurrent_tasks", "responsibilities"];
    let shown = |key: &str| match &role[key] {
        Value::Array(_) => words(role, key),
        Value::Number(minutes) if key == "max_session_duration" => format!("{minutes} minutes"),
        _ => render::text(role, key),
    };
    let known = keys.iter().filter(|key| !role[**key].is_null());
    known
        .map(|key| vec![(*key).to_owned(), shown(key), format!("({})", render::text(&role["from"], key))])
        .collect()
}

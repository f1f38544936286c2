//! `baton agent`

use baton_model::id::visible;
use baton_ops::agent::{
    self, ListInput, ListRolesInput, ListRolesOutput, Profile, RegisterInput, RoleRow, Row, ShowInput,
};

use super::ActingIdentity;
use crate::app::App;
use crate::error::AppError;
use crate::render;

/// Register and list agents, and show the roles they may have
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Register an agent: what it is and what it can do
    ///
    /// Options you omit keep their registered values. Limits in AGENT_ROLES.yaml take precedence over those given here.
    Register(Box<Register>),
    /// List the project's agents
    List {
        /// Only agents with this role
        #[arg(long, value_name = "R")]
        role: Option<String>,
        /// Only agents with this skill, their own or from a role
        #[arg(long, value_name = "S")]
        skill: Option<String>,
        /// Only agents heard from recently
        #[arg(long)]
        fresh: bool,
        /// Include identities that had a session but never registered
        #[arg(long)]
        all: bool,
    },
    /// Show an agent, the limits that apply to it, and its open sessions
    Show {
        /// Name of the agent; defaults to your own
        name: Option<String>,
    },
    /// Show the roles that apply here and where each value came from
    Roles,
}

#[derive(clap::Args)]
struct Register {
    /// Name of the agent; defaults to the identity you act as
    name: Option<String>,
    #[command(flatten)]
    who: ActingIdentity,
    /// Program of the agent: claude, codex, …
    #[arg(long, value_name = "P")]
    program: Option<String>,
    /// Model it runs on
    #[arg(long, value_name = "M")]
    model: Option<String>,
    /// Role of the agent; may be repeated
    #[arg(long = "role", value_name = "R")]
    roles: Option<Vec<String>>,
    /// Skill beyond those of its roles; may be repeated
    #[arg(long = "skill", value_name = "S")]
    skills: Option<Vec<String>>,
    /// Maximum number of tasks at once; defaults to 1
    #[arg(long, value_name = "N")]
    max_tasks: Option<i64>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    match args.verb {
        Verb::Register(args) => {
            let Register { name, who, program, model, roles, skills, max_tasks } = *args;
            let identity = name.or(who.identity);
            let input = RegisterInput { project, identity, program, model, roles, skills, max_tasks };
            let registered = app.run::<agent::Register>(&input)?;
            app.show(&registered, |registered| {
                let warnings = registered.warnings.iter().map(|warning| render::warning(&warning.message));
                let warnings: String = warnings.collect();
                format!("registered\n{}{warnings}", render::table(&facts(&registered.agent)))
            })
        }
        Verb::List { role, skill, fresh, all } => {
            let agents = app.run::<agent::List>(&ListInput { project, role, skill, fresh, all })?;
            app.show(&agents, |agents| match agents.items.as_slice() {
                [] => "no agent has registered: baton agent register --as NAME --role R\n".to_owned(),
                items => render::table(&items.iter().map(row).collect::<Vec<_>>()),
            })
        }
        Verb::Show { name } => {
            let shown = app.run::<agent::Show>(&ShowInput { project, name })?;
            app.show(&shown, |shown| render::table(&facts(&shown.agent)))
        }
        Verb::Roles => {
            let known = app.run::<agent::ListRoles>(&ListRolesInput { project })?;
            app.show(&known, roles)
        }
    }
}

fn row(row: &Row) -> Vec<String> {
    match row {
        Row::Agent(agent) => vec![
            visible(&agent.name),
            agent.state.as_str().to_owned(),
            join_visible(&agent.roles),
            join_visible(&agent.skills),
            optional_text(agent.program.as_ref()),
            render::time_ago(agent.last_seen),
        ],
        Row::Stranger { name, state } => vec![visible(name), state.as_str().to_owned()],
    }
}

fn facts(agent: &Profile) -> Vec<Vec<String>> {
    let line = |title: &str, text: String| vec![title.to_owned(), text];
    let lasts = agent.max_session_duration.map(|minutes| format!("{minutes} minutes at most"));
    let mut rows = vec![
        line("name", visible(&agent.name)),
        line("program", optional_text(agent.program.as_ref())),
        line("model", optional_text(agent.model.as_ref())),
        line("roles", join_visible(&agent.roles)),
        line("skills", join_visible(&agent.skills)),
        line("tasks at once", format!("{} ({})", agent.max_tasks, visible(&agent.max_tasks_from))),
        line("a session lasts", lasts.unwrap_or_default()),
        line("state", agent.state.as_str().to_owned()),
    ];
    rows.retain(|row| row.get(1).is_some_and(|text| !text.is_empty()));
    rows
}

fn optional_text(text: Option<&String>) -> String {
    text.map(|text| visible(text)).unwrap_or_default()
}

fn join_visible(words: &[String]) -> String {
    words.iter().map(|word| visible(word)).collect::<Vec<_>>().join(", ")
}

fn roles(known: &ListRolesOutput) -> String {
    let mut text = match &known.file {
        Some(file) => format!("{} over what is built in\n", visible(file)),
        None => "built in; AGENT_ROLES.yaml in the repository changes them and adds others\n".to_owned(),
    };
    for role in &known.items {
        text.push_str(&render::section(&visible(&role.role), &role_rows(role)));
    }
    text
}

fn role_rows(role: &RoleRow) -> Vec<Vec<String>> {
    let from = &role.from;
    let list = |own: &Option<Vec<String>>| own.as_deref().map(join_visible);
    let lasts = role.max_session_duration.map(|minutes| format!("{minutes} minutes"));
    let at_once = role.max_concurrent_tasks.map(|tasks| tasks.to_string());
    let duty = role.responsibilities.as_deref().map(visible);
    let rows = [
        ("skills", list(&role.skills), &from.skills),
        ("typical_tasks", list(&role.typical_tasks), &from.typical_tasks),
        ("max_session_duration", lasts, &from.max_session_duration),
        ("max_concurrent_tasks", at_once, &from.max_concurrent_tasks),
        ("responsibilities", duty, &from.responsibilities),
    ];
    let row = |(key, text, from): (&str, Option<String>, &Option<String>)| {
        Some(vec![key.to_owned(), text?, format!("({})", optional_text(from.as_ref()))])
    };
    rows.into_iter().filter_map(row).collect()
}

//! `baton handoff`

use baton_model::handoff::View;
use baton_model::id::visible;
use baton_ops::Order;
use baton_ops::handoff::{
    self as ops, Action, Advance, AdvanceInput, CreateInput, CreateOutput, List, ListInput, ListOutput,
    PublishInput, PublishOutput, Retry, RetryInput, SeedSession, Show, ShowInput,
};
use baton_ops::session::{self, SessionDocumentInput};
use serde_json::{Map, Value};

mod ending;
mod export_remarks;
mod file;
mod from_transcript;
pub(super) mod progress;
mod show;
mod trajectory;

use progress::show_progress;
pub(super) use show::text as shown;

use super::{ActingIdentity, read_input};
use crate::app::App;
use crate::error::AppError;
use crate::render;

/// Hand work to another project, or turn any tool's session into a document
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Hand work to another project: a task with its packet
    Create(Box<Create>),
    /// List the hand-offs this project has sent or received
    List {
        /// Only hand-offs in this state: offered, accepted, completed, declined, cancelled, …
        #[arg(long, value_name = "S")]
        state: Option<String>,
        /// Only hand-offs for this name or role (role:NAME)
        #[arg(long, value_name = "NAME")]
        to: Option<String>,
        /// List those of all projects
        #[arg(long)]
        all: bool,
        /// List the oldest first
        #[arg(long)]
        oldest: bool,
        /// Number of hand-offs
        #[arg(short = 'n', value_name = "N")]
        limit: Option<i64>,
        /// Continue after a page, with its `next`
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<String>,
    },
    /// Show a hand-off or a baton with its packet
    ///
    /// One that came back needs no attention of its sender once they have opened it.
    Show {
        /// Hand-off or baton id, or a unique prefix
        id: String,
        /// Show all that people said under its issue, not the newest alone
        #[arg(long)]
        full: bool,
        #[command(flatten)]
        who: ActingIdentity,
    },
    /// Accept a hand-off
    Accept(AcceptArgs),
    /// Decline a hand-off
    Decline(EndArgs),
    /// Complete a hand-off: tell the sender the result and close the task
    Complete(EndArgs),
    /// Cancel a hand-off that you sent
    Cancel(EndArgs),
    /// Retry a failed hand-off, or push a pending one forward
    Retry(RetryArgs),
    /// Publish a hand-off's local task to GitHub under the same id
    Publish(Publish),
    /// Show a session's hand-off document: what it wrapped, or what it has recorded so far
    FromSession {
        /// Session id or a unique prefix
        session_id: String,
        /// Maximum size of the document, in tokens (2000) or bytes (2KiB)
        #[arg(long, value_name = "N|NKiB")]
        budget: Option<String>,
        /// Level of detail: minimal, standard, verbose or full
        #[arg(long, value_name = "P")]
        preset: Option<String>,
    },
    /// Write a waiting baton to a file, for a machine or a person that this ledger does not reach
    ///
    /// The file holds the packet, its document and the uncommitted changes that go with the baton. The baton no longer waits here: it goes on
    /// where the file is imported. `reclaim` undoes that.
    Export(Box<file::Export>),
    /// Have a baton that came as a file wait in this project
    ///
    /// The same file is imported once. Nothing in it is run; changes are applied by `baton pickup --apply` only.
    Import(file::Import),
    /// Have a baton that was exported wait here again
    Reclaim(file::Reclaim),
    /// Turn a session of any coding agent into a document the next agent can start from
    FromTranscript(Box<from_transcript::FromTranscript>),
}

#[derive(clap::Args)]
struct AcceptArgs {
    /// Hand-off id or a unique prefix
    id: String,
    #[command(flatten)]
    who: ActingIdentity,
}

#[derive(clap::Args)]
struct Answer {
    /// Hand-off id or a unique prefix
    id: String,
    #[command(flatten)]
    who: ActingIdentity,
    /// Result or reason to tell the other side
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    result: Option<String>,
}

#[derive(clap::Args)]
struct EndArgs {
    #[command(flatten)]
    answer: Answer,
    /// End a hand-off that someone else has accepted or sent; for operators
    #[arg(long, requires = "why")]
    force: bool,
    /// Who has accepted it, as far as you know: refused if another has it by now
    #[arg(long, value_name = "NAME")]
    holder: Option<String>,
    /// Reason of a decline or a cancel; with --force, why it is used: recorded in the ledger, and what the other side reads unless --result
    /// says more
    #[arg(long, value_name = "T", alias = "reason", allow_hyphen_values = true)]
    why: Option<String>,
}

#[derive(clap::Args)]
struct RetryArgs {
    /// Hand-off id or a unique prefix
    id: String,
    #[command(flatten)]
    who: ActingIdentity,
    /// Another issue tracker, as owner/repo, in place of a wrong one
    #[arg(long, value_name = "O/R")]
    repo: Option<String>,
}

#[derive(clap::Args)]
struct Publish {
    /// Hand-off id or a unique prefix
    id: String,
    #[command(flatten)]
    who: ActingIdentity,
    /// Issue tracker, as owner/repo
    #[arg(long, value_name = "O/R")]
    repo: Option<String>,
    /// Show the issue that would be created without writing anything
    #[arg(long)]
    dry_run: bool,
}

#[derive(clap::Args)]
struct Create {
    #[command(flatten)]
    who: ActingIdentity,
    /// Project to hand the work to; needed, unless --replaces names a hand-off that has it
    #[arg(long, value_name = "PROJECT", required_unless_present = "replaces")]
    to: Option<String>,
    /// Title of the task, in one line; needed likewise
    #[arg(long, value_name = "T", allow_hyphen_values = true, required_unless_present = "replaces")]
    subject: Option<String>,
    /// Project that hands the work over; defaults to the working directory's
    #[arg(long, value_name = "PROJECT")]
    from: Option<String>,
    /// What needs to be done, or - for standard input
    #[arg(long, value_name = "T|-", default_value = "", allow_hyphen_values = true)]
    description: String,
    /// Issue tracker, as owner/repo; overrides the registry (with a token: for operators)
    #[arg(long, value_name = "O/R")]
    repo: Option<String>,
    /// Keep the task in Baton's own ledger, whatever the registry says
    #[arg(long, conflicts_with = "repo")]
    local: bool,
    /// Label for the task; may be repeated
    #[arg(long = "tag", value_name = "T")]
    tags: Vec<String>,
    /// Priority: critical, high, normal, low, or 0 to 4
    #[arg(long, value_name = "P")]
    priority: Option<String>,
    /// Source of the work, as name=value; may be repeated. docs=PATH names a document, whose words go along
    #[arg(long = "link", value_name = "K=V", value_parser = link)]
    links: Vec<(String, String)>,
    /// Hand-off packet: a JSON file, or - for standard input
    #[arg(long, value_name = "F")]
    packet: Option<String>,
    /// Identity to address it to
    #[arg(long, value_name = "N")]
    to_identity: Option<String>,
    /// Role to address it to
    #[arg(long, value_name = "R")]
    to_role: Option<String>,
    /// Identity or role whose session is seeded; defaults to the addressee
    #[arg(long, value_name = "NAME")]
    seed_agent: Option<String>,
    /// Task of the seeded session; defaults to handoff-…
    #[arg(long, value_name = "ID")]
    seed_task: Option<String>,
    /// Expire if no agent accepts it within this span: 30m, 24h, 7d
    #[arg(long, value_name = "SPAN")]
    expires_in: Option<String>,
    /// Leave it for a project that is not registered yet, although its name is near that of a known one
    #[arg(long)]
    create: bool,
    /// Show what would be written without writing anything
    #[arg(long)]
    dry_run: bool,
    /// Idempotency key: a retry with it returns the first answer
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// Hand-off of this project that came back and that this one replaces: all that is not given anew is taken from it
    #[arg(long, value_name = "ID")]
    replaces: Option<String>,
}

fn link(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as name=value")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// Links by their names; several of one name are a list.
fn links(named: Vec<(String, String)>) -> Map<String, Value> {
    let mut links = Map::new();
    for (key, value) in named {
        let value = Value::String(value);
        match links.get_mut(&key) {
            None => _ = links.insert(key, value),
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    links
}

fn table(listed: &ListOutput, none: &str) -> String {
    let rows: Vec<_> = listed.items.iter().map(|one| row(&one.handoff)).collect();
    render::page(&rows, none, Some(listed.total), listed.next.as_deref())
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    match args.verb {
        Verb::Create(create) => self::create(*create, app),
        Verb::List { state, to, all, oldest, limit, cursor } => {
            let project = app.project.clone();
            let order = oldest.then_some(Order::Oldest);
            let none =
                render::none_of("no hand-offs", &[("--state", state.as_deref()), ("--to", to.as_deref())]);
            let input = ListInput { project, state, to, all, order, limit, cursor, ..ListInput::default() };
            let listed = app.run::<List>(&input)?;
            app.show(&listed, |listed| table(listed, &none))
        }
        Verb::Show { id, full, who } => {
            let project = app.project.clone();
            let input = ShowInput { id, project, identity: who.identity, actions: false, full };
            let shown = app.run::<Show>(&input)?;
            app.show(&shown, show::text)
        }
        Verb::Accept(AcceptArgs { id, who }) => {
            let answer = Answer { id, who, result: None };
            advance(Action::Accept, EndArgs { answer, force: false, holder: None, why: None }, app)
        }
        Verb::Decline(ending) => advance(Action::Decline, ending, app),
        Verb::Complete(ending) => advance(Action::Complete, ending, app),
        Verb::Cancel(ending) => advance(Action::Cancel, ending, app),
        Verb::Retry(RetryArgs { id, who, repo }) => {
            let progress = app.run::<Retry>(&RetryInput { id, identity: who.identity, repo })?;
            show_progress(&progress, app)
        }
        Verb::Publish(Publish { id, who, repo, dry_run }) => {
            let input = PublishInput { id, identity: who.identity, issues_github_repo: repo, dry_run };
            match app.run::<ops::Publish>(&input)? {
                PublishOutput::Preview(preview) => app.show(&preview, |preview| {
                    let issue = serde_json::to_string_pretty(&preview.would_create_issue);
                    format!("{}\n", issue.unwrap_or_default())
                }),
                PublishOutput::Made(progress) => show_progress(&progress, app),
            }
        }
        Verb::FromSession { session_id, budget, preset } => {
            let project = app.project.clone();
            let input = SessionDocumentInput {
                project,
                session: session_id,
                budget,
                preset,
                ..SessionDocumentInput::default()
            };
            let made = app.run::<session::SessionDocument>(&input)?;
            // The document keeps its lines; foreign text in it is fenced already.
            app.show(&made, |made| format!("{}\n", made.document))
        }
        Verb::Export(export) => file::export(*export, app),
        Verb::Import(import) => file::import(import, app),
        Verb::Reclaim(reclaim) => file::reclaim(reclaim, app),
        Verb::FromTranscript(request) => from_transcript::run(*request, app),
    }
}

fn create(create: Create, app: &mut App) -> Result<(), AppError> {
    let description = if create.description == "-" { read_input("-")? } else { create.description };
    let seed =
        SeedSession { agent_id: create.seed_agent, task_id: create.seed_task, ..SeedSession::default() };
    let input = CreateInput {
        from_project_id: create.from.or_else(|| app.project.clone()),
        to_project_id: create.to.unwrap_or_default(),
        identity: create.who.identity,
        subject: create.subject.unwrap_or_default(),
        description,
        tags: create.tags,
        priority: create.priority.map(Value::String),
        links: links(create.links),
        packet: create.packet.as_deref().map(read_input).transpose()?.map(Value::String),
        to_identity: create.to_identity,
        to_role: create.to_role,
        create: create.create,
        packet_text: None,
        dry_run: create.dry_run,
        replaces: create.replaces,
        request_id: create.request_id,
        issues_github_repo: create.repo,
        local: create.local,
        expires_in: create.expires_in,
        seed_session: Some(seed),
    };
    match app.run::<ops::Create>(&input)? {
        CreateOutput::Preview(preview) => app.show(&preview, |preview| {
            let warnings = render::warnings(preview.warnings.iter().map(|warning| &warning.message));
            format!("nothing was written: this is what would be\n{}{warnings}", progress::would(preview))
        }),
        CreateOutput::Made(progress) => show_progress(&progress, app),
    }
}

fn advance(action: Action, ending: EndArgs, app: &mut App) -> Result<(), AppError> {
    let EndArgs { answer, force, holder, why } = ending;
    let Answer { id, who, result } = answer;
    let has_reason = [&result, &why].into_iter().flatten().any(|text| !text.trim().is_empty());
    let is_silent = matches!(action, Action::Decline) && !has_reason;
    let input = AdvanceInput { id, action, identity: who.identity, result, force, holder, why };
    let advanced = app.run::<Advance>(&input)?;
    app.show(&advanced, |advanced| {
        let handoff = &advanced.handoff.handoff;
        let (id, state) = (render::short_id(&handoff.handoff_id), handoff.state.as_str());
        if advanced.reason_added {
            let sender = visible(&handoff.from_identity);
            return format!(
                "the reason is added to hand-off {id}, which you declined before: {sender} is told\n"
            );
        }
        let before =
            if advanced.was_done { " already: you did that before, and nothing changed" } else { "" };
        format!("hand-off {id} is {state}{before}\n")
    })?;
    if is_silent && !advanced.was_done {
        let id = render::short_id(&advanced.handoff.handoff.handoff_id);
        app.remark(&format!(
            "you gave no reason, so the sender hears only that it was declined: `baton handoff decline {id} --why REASON` adds one"
        ));
    }
    Ok(())
}

fn row(handoff: &View) -> Vec<String> {
    vec![
        render::short_id(&handoff.handoff_id),
        handoff.state.as_str().to_owned(),
        format!("{} → {}", visible(handoff.sender_project()), visible(handoff.receiver_project())),
        visible(&handoff.subject),
        render::time_ago(handoff.state_since()),
        handoff.replaced_by.as_deref().map(render::left_anew).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_links_of_one_name_add_up() {
        let named = [("docs", "a.md"), ("source_ref", "abc"), ("docs", "b.md"), ("docs", "c.md")];
        let all = links(named.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec());
        assert_eq!(
            Value::Object(all),
            serde_json::json!({ "docs": ["a.md", "b.md", "c.md"], "source_ref": "abc" })
        );
    }
}

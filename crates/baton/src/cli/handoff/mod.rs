//! `baton handoff`

use baton_ops::op::Operation;
use serde_json::{Map, Value, json};

pub mod driven;

use driven::driven;

use super::summarize::Summarize;
use super::{ActingIdentity, read_input};
use crate::app::{App, Format};
use crate::driven::SPAN;
use crate::error::Ended;
use crate::render;

/// Hand work to another project, or turn any tool's session into a document
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Leave work for another project: a task with its packet
    Create(Box<Create>),
    /// List the hand-offs that this project sent or received
    List {
        /// Only this state: offered, accepted, completed, declined, cancelled, …
        #[arg(long, value_name = "S")]
        state: Option<String>,
    },
    /// Show a hand-off or a baton with its packet
    Show {
        /// Id of a hand-off or a baton, or a unique prefix
        id: String,
    },
    /// Take a hand-off
    Accept(Answer),
    /// Say no to a hand-off
    Decline(Ending),
    /// Finish a hand-off: the sender hears the result, the task is closed
    Complete(Ending),
    /// Take a hand-off back
    Cancel(Answer),
    /// Try a failed hand-off again, or drive a pending one on
    Retry(RetryArgs),
    /// Bring a hand-off's local task into GitHub, under the same id
    Publish(Publish),
    /// Show a session's hand-off document: what it wrapped, else what it has left so far
    FromSession {
        /// The session, by its id or a unique prefix
        session_id: String,
        /// Size: tokens (2000) or bytes (2KiB)
        #[arg(long, value_name = "N|NKiB")]
        budget: Option<String>,
        /// minimal, standard, verbose or full
        #[arg(long, value_name = "P")]
        preset: Option<String>,
    },
    /// Turn a session of any coding agent into a document that the next can start from
    FromTranscript(Box<FromTranscript>),
}

#[derive(clap::Args)]
struct Answer {
    /// Hand-off id or a unique prefix
    id: String,
    #[command(flatten)]
    who: ActingIdentity,
    /// Result or reason, for the other side to read
    #[arg(long, value_name = "T")]
    result: Option<String>,
}

#[derive(clap::Args)]
struct Ending {
    #[command(flatten)]
    answer: Answer,
    /// End what another has accepted; for operators
    #[arg(long, requires = "why")]
    force: bool,
    /// Why force is used; written into the ledger
    #[arg(long, value_name = "T", requires = "force")]
    why: Option<String>,
}

#[derive(clap::Args)]
struct RetryArgs {
    /// Hand-off id or a unique prefix
    id: String,
    #[command(flatten)]
    who: ActingIdentity,
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
    /// Show the issue that would be made; write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(clap::Args)]
struct Create {
    #[command(flatten)]
    who: ActingIdentity,
    /// Project that is to do it
    #[arg(long, value_name = "PROJECT")]
    to: String,
    /// One line: the title of the task
    #[arg(long, value_name = "T")]
    subject: String,
    /// Project that it comes from; else the working directory's
    #[arg(long, value_name = "PROJECT")]
    from: Option<String>,
    /// What is to be done, or - for standard input
    #[arg(long, value_name = "T|-", default_value = "")]
    description: String,
    /// Issue tracker, as owner/repo, in place of what the registry says
    #[arg(long, value_name = "O/R")]
    repo: Option<String>,
    /// Use the embedded tracker, whatever the registry says
    #[arg(long, conflicts_with = "repo")]
    local: bool,
    /// Label of the task
    #[arg(long = "tag", value_name = "T")]
    tags: Vec<String>,
    /// critical, high, normal, low, or 0 to 4
    #[arg(long, value_name = "P")]
    priority: Option<String>,
    /// Where it comes from, as name=value
    #[arg(long = "link", value_name = "K=V", value_parser = link)]
    links: Vec<(String, String)>,
    /// Hand-off packet: a JSON file, or - for standard input
    #[arg(long, value_name = "F")]
    packet: Option<String>,
    /// Identity that it is for
    #[arg(long, value_name = "N")]
    to_identity: Option<String>,
    /// Role that it is for
    #[arg(long, value_name = "R")]
    to_role: Option<String>,
    /// Identity or role whose session is seeded; else who it is for
    #[arg(long, value_name = "NAME")]
    seed_agent: Option<String>,
    /// Task of the session that is seeded; else handoff-…
    #[arg(long, value_name = "ID")]
    seed_task: Option<String>,
    /// Expires when nobody has taken it for so long, such as 7d
    #[arg(long, value_name = "SPAN")]
    expires_in: Option<String>,
    /// Show what would be written; write nothing
    #[arg(long)]
    dry_run: bool,
    /// Makes a retry return the same hand-off
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

#[derive(clap::Args)]
struct FromTranscript {
    /// Session id, a unique prefix, `latest`, or a path to a transcript
    #[arg(default_value = "latest")]
    id: String,
    /// Tool that wrote it: claude, codex, gemini, …
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    /// Tool that is to continue
    #[arg(long, value_name = "TOOL")]
    to: Option<String>,
    /// Size: tokens (2000) or bytes (2KiB)
    #[arg(long, value_name = "N|NKiB")]
    budget: Option<String>,
    /// minimal, standard, verbose or full
    #[arg(long, value_name = "P")]
    preset: Option<String>,
    /// markdown, json (the packet) or jsonl (its events, a line each)
    #[arg(long, value_name = "F", default_value = "markdown", value_parser = ["markdown", "json", "jsonl"])]
    format: String,
    #[command(flatten)]
    summarize: Summarize,
    /// File to write to, in place of standard output
    #[arg(short, value_name = "FILE")]
    output: Option<String>,
    /// Replace a file that is there; never a store
    #[arg(long, requires = "output")]
    overwrite: bool,
}

fn link(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as name=value")?;
    Ok((key.to_owned(), value.to_owned()))
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    match args.verb {
        Verb::Create(create) => self::create(*create, app),
        Verb::List { state } => {
            let answer = app.call("handoff_list", json!({ "project": app.project, "state": state }))?;
            app.answer(&answer, |a| {
                render::table(&render::list(a, "items").iter().map(row).collect::<Vec<_>>())
            })
        }
        Verb::Show { id } => {
            let answer = app.call("handoff_show", json!({ "id": id, "project": app.project }))?;
            app.answer(&answer, show)
        }
        Verb::Accept(answer) => advance("accept", answer.plainly(), app),
        Verb::Decline(ending) => advance("decline", ending, app),
        Verb::Complete(ending) => advance("complete", ending, app),
        Verb::Cancel(answer) => advance("cancel", answer.plainly(), app),
        Verb::Retry(again) => {
            let answer =
                app.call("handoff_retry", json!({ "id": again.id, "identity": again.who.identity }))?;
            driven(answer, app)
        }
        Verb::Publish(publish) => {
            let input = json!({
                "id": publish.id, "identity": publish.who.identity, "issues_github_repo": publish.repo,
                "dry_run": publish.dry_run,
            });
            let answer = app.call("handoff_publish", input)?;
            if publish.dry_run {
                app.answer(&answer, |a| format!("{:#}\n", a["would_create_issue"]))
            } else {
                driven(answer, app)
            }
        }
        Verb::FromSession { session_id, budget, preset } => {
            let input =
                json!({ "project": app.project, "session": session_id, "budget": budget, "preset": preset });
            let answer = app.call("session_handoff", input)?;
            // The document keeps its lines; foreign text in it is fenced already.
            app.answer(&answer, |a| format!("{}\n", a["document"].as_str().unwrap_or_default()))
        }
        Verb::FromTranscript(wish) => from_transcript(*wish, app),
    }
}

fn create(create: Create, app: &mut App) -> Result<(), Ended> {
    let packet = create.packet.as_deref().map(read_input).transpose()?;
    let description = if create.description == "-" { read_input("-")? } else { create.description };
    let links: Map<String, Value> =
        create.links.into_iter().map(|(key, value)| (key, json!(value))).collect();
    let answer = app.call(
        "handoff_create",
        json!({
            "from_project_id": create.from.or_else(|| app.project.clone()), "to_project_id": create.to,
            "identity": create.who.identity, "subject": create.subject, "description": description, "tags": create.tags,
            "priority": create.priority, "links": links, "packet": packet, "to_identity": create.to_identity,
            "to_role": create.to_role, "dry_run": create.dry_run, "request_id": create.request_id,
            "issues_github_repo": create.repo, "local": create.local, "expires_in": create.expires_in,
            "seed_session": { "agent_id": create.seed_agent, "task_id": create.seed_task },
        }),
    )?;
    if create.dry_run {
        return app.answer(&answer, |a| {
            format!("nothing was written: this is what would be\n{}{}", driven::would(a), render::warnings(a))
        });
    }
    driven(answer, app)
}

impl Answer {
    /// Without force.
    fn plainly(self) -> Ending {
        Ending { answer: self, force: false, why: None }
    }
}

fn advance(action: &str, ending: Ending, app: &mut App) -> Result<(), Ended> {
    let Ending { answer, force, why } = ending;
    let input = json!({
        "id": answer.id, "action": action, "identity": answer.who.identity, "result": answer.result, "force": force,
        "why": why,
    });
    let answer = app.call(baton_ops::handoff::Advance::NAME, input)?;
    // The tracker hears of it now if it can, else later.
    app.drive(&render::text(&answer, "handoff_id"), SPAN / 3)?;
    app.answer(&answer, |a| {
        format!("hand-off {} is {}\n", render::id(a, "handoff_id"), render::text(a, "state"))
    })
}

fn row(handoff: &Value) -> Vec<String> {
    vec![
        render::id(handoff, "handoff_id"),
        render::text(handoff, "state"),
        format!("{} → {}", render::text(handoff, "from_project_id"), render::text(handoff, "to_project_id")),
        render::text(handoff, "subject"),
        render::age(handoff, "created_at"),
    ]
}

fn show(handoff: &Value) -> String {
    let packet = handoff["packet"].as_str().unwrap_or_default();
    let document = match baton_model::packet::Sealed::parse(packet.to_owned()) {
        Ok(packet) => {
            baton_model::markdown::render(packet.view(), &baton_model::markdown::Options::default()).text
        }
        Err(_) => render::quoted(packet),
    };
    let steps: Vec<Vec<String>> = render::list(handoff, "steps")
        .iter()
        .map(|s| vec![render::text(s, "step"), render::text(s, "state"), render::text(s, "last_error")])
        .collect();
    format!("{}{}{document}\n", render::table(&[row(handoff)]), render::section("steps", &steps))
}

fn from_transcript(wish: FromTranscript, app: &mut App) -> Result<(), Ended> {
    if let Some(file) = &wish.output {
        crate::private::check_output(std::path::Path::new(file), wish.overwrite)?;
    }
    if wish.format == "jsonl" {
        let answer = app.call("transcript_events", json!({ "id": wish.id, "agent": wish.agent }))?;
        let lines: String = render::list(&answer, "items").iter().map(|m| format!("{m}\n")).collect();
        return deliver(&lines, wish.output.as_deref(), app);
    }
    let summary = wish.summarize.of(&wish.id, wish.agent.as_deref(), app)?;
    let input = json!({ "id": wish.id, "agent": wish.agent, "to": wish.to, "budget": wish.budget, "preset": wish.preset, "summary": summary });
    let answer = app.call("handoff_document", input)?;
    if wish.format == "json" {
        return deliver(&format!("{:#}\n", answer["packet"]), wish.output.as_deref(), app);
    }
    if app.format != Format::Text && wish.output.is_none() {
        return app.answer(&answer, |_| String::new());
    }
    let document = answer["document"].as_str().unwrap_or_default();
    deliver(&format!("{document}\n"), wish.output.as_deref(), app)?;
    app.remark(&format!(
        "{} session {}: about {} tokens",
        render::text(&answer, "agent"),
        render::text(&answer, "id"),
        answer["tokens"]
    ));
    Ok(())
}

/// Writes a document to a file or to standard output.
fn deliver(text: &str, file: Option<&str>, app: &App) -> Result<(), Ended> {
    use std::io::{IsTerminal, Write};
    match file {
        Some(path) => {
            crate::private::write(std::path::Path::new(path), text.as_bytes()).map_err(|error| {
                baton_model::refusal::Refusal::invalid(
                    "output_unwritable",
                    format!("{path} cannot be written: {error}"),
                    "choose another file with -o",
                )
            })?;
            app.remark(&format!("written to {path}"));
        }
        None => {
            let mut out = std::io::stdout().lock();
            // JSON is exact; on a terminal what it does not escape by itself is escaped, which means the same.
            let shown = match (out.is_terminal(), text.starts_with('{')) {
                (true, true) => baton_model::printable::json(text),
                (true, false) => baton_model::printable::block(text),
                (false, _) => text.into(),
            };
            out.write_all(shown.as_bytes())?;
            out.flush()?;
        }
    }
    Ok(())
}

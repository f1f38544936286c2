//! `baton mail`

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::time::parse_span;
use baton_ops::op::Operation;
use serde_json::{Value, json};

use super::{Who, read_input};
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Write to agents and roles, read what came, answer and acknowledge it
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Send a letter or a typed hand-off message to an identity, or to whoever of a role takes it first
    Send(Box<Send>),
    /// List what waits, hand-offs first; looking takes nothing
    Inbox {
        #[command(flatten)]
        who: Who,
        /// Also what was read and acknowledged, or has expired
        #[arg(long)]
        all: bool,
        /// With the bodies of what is for you alone, which then count as delivered
        #[arg(long)]
        bodies: bool,
        /// At most so many; 0 for all
        #[arg(short, value_name = "N", default_value_t = 0)]
        n: usize,
    },
    /// Read a message; one for a role belongs to whoever reads it first
    Read {
        /// The message, by its id or a unique prefix
        message_id: String,
        #[command(flatten)]
        who: Who,
    },
    /// Acknowledge a message; its sender is told
    Ack {
        /// The message, by its id or a unique prefix
        message_id: String,
        #[command(flatten)]
        who: Who,
        /// What to say to its sender
        #[arg(long, value_name = "T", default_value = "")]
        text: String,
    },
    /// Show the messages of a thread, oldest first
    Thread {
        /// Any message of the thread, by its id or a unique prefix
        message_id: String,
        #[command(flatten)]
        who: Who,
    },
    /// Search the messages of the project, newest first
    Search {
        /// Words, all of which must occur, in any case
        #[arg(required = true, value_name = "WORD")]
        words: Vec<String>,
        #[command(flatten)]
        who: Who,
        /// Only what you sent or got
        #[arg(long)]
        mine: bool,
        /// At most so many; 0 for all
        #[arg(short, value_name = "N", default_value_t = 50)]
        n: usize,
    },
    /// Print the JSON Schema of the typed hand-off messages
    Schema {
        /// Only this type
        #[arg(value_name = "TYPE")]
        kind: Option<String>,
    },
}

#[derive(clap::Args)]
struct Send {
    #[command(flatten)]
    who: Who,
    /// Who it is for: a name, or role:R; a reply goes to the other side by itself
    #[arg(long, value_name = "N|role:R")]
    to: Option<String>,
    /// Project that the receiver works in, when that is another one
    #[arg(long, value_name = "ID")]
    to_project: Option<String>,
    /// message, a type of signal, or task_assignment, task_handoff, test_failure_report, fix_complete, verification_request
    #[arg(long = "type", value_name = "T", default_value = "message")]
    kind: String,
    /// One line; a hand-off message and a reply bring their own
    #[arg(long, short, value_name = "T")]
    subject: Option<String>,
    /// A file with the text, or - for standard input; of a hand-off message, its JSON
    #[arg(long, value_name = "F|-", conflicts_with = "text")]
    body: Option<String>,
    /// The text itself
    #[arg(long, value_name = "T")]
    text: Option<String>,
    /// low, normal, high or critical
    #[arg(long, value_name = "I")]
    importance: Option<String>,
    /// The message that this one answers
    #[arg(long, value_name = "ID")]
    reply_to: Option<String>,
    /// Ask for an acknowledgement within a day
    #[arg(long)]
    ack: bool,
    /// Ask for an acknowledgement within so long: 30m, 2h, 1d
    #[arg(long, value_name = "SPAN")]
    ack_by: Option<String>,
    /// Worth nothing after so long
    #[arg(long, value_name = "SPAN")]
    expires_in: Option<String>,
    /// Send it though nobody of that name is known yet: it waits for them
    #[arg(long)]
    wait: bool,
    /// Encrypt the text: only its receivers and you can read it, with your keys
    #[arg(long)]
    sensitive: bool,
    /// Makes a retry return the same message
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let project = app.project.clone();
    match args.verb {
        Verb::Send(send) => run_send(*send, app),
        Verb::Inbox { who, all, bodies, n } => {
            let input = json!({
                "project": project, "identity": who.identity, "all": all, "bodies": bodies, "limit": n,
            });
            let answer = app.call(baton_ops::message::Inbox::NAME, input)?;
            app.answer(&answer, inbox)?;
            delivered(app, &answer)
        }
        Verb::Read { message_id, who } => {
            let input = json!({ "project": project, "identity": who.identity, "message_id": message_id });
            let answer = app.call(baton_ops::message::Read::NAME, input)?;
            app.answer(&answer, whole)?;
            delivered(app, &answer)
        }
        Verb::Ack { message_id, who, text } => {
            let input = json!({
                "project": project, "identity": who.identity, "message_id": message_id, "body": text,
            });
            let answer = app.call(baton_ops::message::MailAck::NAME, input)?;
            app.answer(&answer, super::signal::acknowledged)
        }
        Verb::Thread { message_id, who } => {
            let input = json!({ "project": project, "identity": who.identity, "message_id": message_id });
            let answer = app.call(baton_ops::message::Thread::NAME, input)?;
            app.answer(&answer, |a| {
                render::list(a, "items").iter().map(whole).collect::<Vec<_>>().join("\n")
            })?;
            delivered(app, &answer)
        }
        Verb::Search { words, who, mine, n } => {
            let input = json!({
                "project": project, "identity": who.identity, "query": words.join(" "), "mine": mine, "limit": n,
            });
            let answer = app.call(baton_ops::message::Search::NAME, input)?;
            app.answer(&answer, found)
        }
        Verb::Schema { kind } => {
            let answer = app.call(baton_ops::message::MailSchema::NAME, json!({ "type": kind }))?;
            app.answer(&answer, |a| {
                render::list(a, "items").iter().map(|item| format!("{:#}\n", item["schema"])).collect()
            })
        }
    }
}

fn run_send(send: Send, app: &mut App) -> Result<(), Ended> {
    let body = match (send.text, &send.body) {
        (Some(text), _) => text,
        (None, Some(path)) => read_input(path)?,
        (None, None) => String::new(),
    };
    let input = json!({
        "project": app.project, "identity": send.who.identity, "to": send.to, "to_project": send.to_project,
        "type": send.kind, "subject": send.subject, "body": body, "importance": send.importance,
        "reply_to": send.reply_to, "ack_required": send.ack, "ack_by_s": seconds(send.ack_by.as_deref())?,
        "expires_in_s": seconds(send.expires_in.as_deref())?, "wait": send.wait, "sensitive": send.sensitive,
        "request_id": send.request_id,
    });
    let answer = app.call(baton_ops::message::MailSend::NAME, input)?;
    app.answer(&answer, |a| {
        let sent = format!("sent {} to {}", render::text(a, "message_id"), receiver(a));
        let sealed =
            if a["readers"].is_null() { String::new() } else { format!(", readable by {}", readers(a)) };
        format!("{sent}{sealed}\n{}", render::warnings(a))
    })
}

fn seconds(span: Option<&str>) -> Result<Option<i64>, Refusal> {
    let Some(text) = span else { return Ok(None) };
    let span = parse_span(text).ok_or_else(|| {
        let what = format!("`{}` is not a span of time", visible(text));
        Refusal::invalid("span_invalid", what, "write it as 30m, 24h or 7d")
    })?;
    Ok(Some(span / 1000))
}

/// Only now, with the answer written out, is what stands in it delivered.
fn delivered(app: &mut App, answer: &Value) -> Result<(), Ended> {
    let ids = render::list(answer, "deliver");
    if !ids.is_empty() {
        app.call(
            baton_ops::message::Delivered::NAME,
            json!({ "project": answer["project_id"], "message_ids": ids }),
        )?;
    }
    Ok(())
}

fn inbox(answer: &Value) -> String {
    let items = render::list(answer, "items");
    if items.is_empty() {
        return "nothing waits\n".to_owned();
    }
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    let mut text = render::table(&rows);
    for item in items.iter().filter(|item| item.get("body").is_some() || item.get("content").is_some()) {
        text.push('\n');
        text.push_str(&whole(item));
    }
    if !answer["next"].is_null() {
        text.push_str("there are more: -n 0 shows all\n");
    }
    text
}

fn row(message: &Value) -> Vec<String> {
    let mut marks: Vec<String> = Vec::new();
    if message["importance"] != "normal" {
        marks.push(render::text(message, "importance"));
    }
    if message["to"].as_str().is_some_and(|to| to.starts_with("role:")) {
        marks.push(format!("for {}", render::text(message, "to")));
    }
    if !message["readers"].is_null() {
        marks.push("encrypted".to_owned());
    }
    match (message["ack_by"].is_null(), message["acked_at"].is_null(), message["overdue"] == true) {
        (false, true, true) => marks.push("acknowledgement overdue".to_owned()),
        (false, true, false) => marks.push(format!("acknowledge by {}", render::text(message, "ack_by"))),
        _ => {}
    }
    vec![
        render::text(message, "message_id"),
        render::text(message, "type"),
        format!("from {}", sender(message)),
        render::age(message, "created_at"),
        render::text(message, "subject"),
        marks.join(", "),
    ]
}

fn found(answer: &Value) -> String {
    let items = render::list(answer, "items");
    if items.is_empty() {
        return "nothing was found\n".to_owned();
    }
    let mut text = String::new();
    for item in items {
        text.push_str(&format!(
            "{}  {} → {}  {}  {}\n",
            render::text(item, "message_id"),
            sender(item),
            receiver(item),
            render::age(item, "created_at"),
            render::text(item, "subject")
        ));
        text.push_str(&render::quoted(item["excerpt"].as_str().unwrap_or_default()));
    }
    if !answer["next"].is_null() {
        text.push_str("there are more: -n 0 shows all\n");
    }
    text
}

/// A message with its body: another agent's words, shown as such.
fn whole(message: &Value) -> String {
    let mut text = format!(
        "{} {}\n  from {} to {}, {}\n  {}\n",
        render::text(message, "type"),
        render::text(message, "message_id"),
        sender(message),
        receiver(message),
        render::age(message, "created_at"),
        render::text(message, "subject"),
    );
    if message["taken"] == true {
        text.push_str(&format!("  it was for role {} and is yours now\n", render::text(message, "role")));
    }
    if !message["ack_by"].is_null() && message["acked_at"].is_null() {
        text.push_str(&format!("  to be acknowledged by {}\n", render::text(message, "ack_by")));
    }
    if !message["acked_at"].is_null() {
        text.push_str(&format!("  acknowledged {}\n", render::age(message, "acked_at")));
    }
    match (message.get("content"), message["body"].as_str()) {
        (Some(content), _) => text.push_str(&render::quoted(&format!("{content:#}"))),
        (None, Some(body)) => text.push_str(&render::quoted(body)),
        (None, None) if !message["readers"].is_null() => {
            text.push_str(&format!("  encrypted, readable by {}: baton mail read\n", readers(message)));
        }
        (None, None) => text.push_str("  whoever of the role reads it first gets it: baton mail read\n"),
    }
    text
}

fn sender(message: &Value) -> String {
    with_project(render::text(message, "from"), render::text(message, "from_project_id"))
}

fn receiver(message: &Value) -> String {
    with_project(render::text(message, "to"), render::text(message, "to_project_id"))
}

fn with_project(name: String, project: String) -> String {
    if project.is_empty() { name } else { format!("{name} in {project}") }
}

fn readers(message: &Value) -> String {
    let names = render::list(message, "readers").iter().filter_map(Value::as_str).map(visible);
    names.collect::<Vec<_>>().join(", ")
}

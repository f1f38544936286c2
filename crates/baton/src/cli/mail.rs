//! `baton mail`

use baton_model::handoff_message::Urgency;
use baton_model::id::{identity_key, visible};
use baton_model::shell::shell_word;
use baton_model::time::rfc3339;
use baton_ops::message::{
    self, InboxInput, InboxOutput, InboxRow, MailAckInput, MailSchemaInput, MailSendInput, ReadInput,
    SearchInput, SearchOutput, ThreadInput, ThreadOutput, View,
};

use super::{ActingIdentity, read_input, seconds};
use crate::app::App;
use crate::error::AppError;
use crate::render;

/// Send, read, answer and acknowledge mail between agents and roles
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Send a message or a typed hand-off message to an identity or to the first agent of a role
    Send(Box<Send>),
    /// List waiting messages, hand-offs first, without taking them
    Inbox {
        #[command(flatten)]
        who: ActingIdentity,
        /// Include messages that were read and acknowledged, or have expired
        #[arg(long)]
        all: bool,
        /// Include the bodies of messages for you alone, which then count as delivered
        #[arg(long)]
        bodies: bool,
        /// Maximum number of results; 0 for all
        #[arg(short, value_name = "N", default_value_t = 0)]
        n: usize,
    },
    /// Read a message; one sent to a role belongs to the first agent that reads it
    Read {
        /// Message id or a unique prefix
        message_id: String,
        #[command(flatten)]
        who: ActingIdentity,
    },
    /// Acknowledge a message and tell its sender
    Ack {
        /// Message id or a unique prefix
        message_id: String,
        #[command(flatten)]
        who: ActingIdentity,
        /// Text to send back with the acknowledgement
        #[arg(long, value_name = "T", default_value = "", allow_hyphen_values = true)]
        text: String,
        /// Encrypt the text so that only the sender and you can read it, with your keys
        #[arg(long)]
        sensitive: bool,
    },
    /// Show the messages of a thread, oldest first
    Thread {
        /// Id or a unique prefix of any message in the thread
        message_id: String,
        #[command(flatten)]
        who: ActingIdentity,
    },
    /// Search the messages of the project, newest first
    Search {
        /// Words that must all occur, in upper or lower case
        #[arg(required = true, value_name = "WORD")]
        words: Vec<String>,
        #[command(flatten)]
        who: ActingIdentity,
        /// Only messages you sent or received
        #[arg(long)]
        mine: bool,
        /// Maximum number of results; 0 for all
        #[arg(short, value_name = "N", default_value_t = 50)]
        n: usize,
    },
    /// Print the JSON Schema of the typed hand-off messages
    Schema {
        /// Only the schema of this type
        #[arg(value_name = "TYPE")]
        kind: Option<String>,
    },
}

#[derive(clap::Args)]
struct Send {
    #[command(flatten)]
    who: ActingIdentity,
    /// Recipient: a name or role:R; a reply goes to the other side by default
    #[arg(long, value_name = "N|role:R")]
    to: Option<String>,
    /// Project of the recipient, if it is another one
    #[arg(long, value_name = "ID")]
    to_project: Option<String>,
    /// message, a signal type, task_assignment, task_handoff, test_failure_report, fix_complete or verification_request
    #[arg(long = "type", value_name = "T", default_value = "message")]
    kind: String,
    /// Subject, in one line; a hand-off message and a reply have their own
    #[arg(long, short, value_name = "T", allow_hyphen_values = true)]
    subject: Option<String>,
    /// File with the text, or - for standard input; for a hand-off message, its JSON
    #[arg(long, value_name = "F|-", conflicts_with = "text")]
    body: Option<String>,
    /// Text of the message
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    text: Option<String>,
    /// Importance: low, normal, high or critical
    #[arg(long, value_name = "I")]
    importance: Option<String>,
    /// Id of the message to reply to
    #[arg(long, value_name = "ID")]
    reply_to: Option<String>,
    /// Ask for an acknowledgement within a day
    #[arg(long)]
    ack: bool,
    /// Ask for an acknowledgement within this span: 30m, 2h, 1d
    #[arg(long, value_name = "SPAN")]
    ack_by: Option<String>,
    /// Expire after this span: 30m, 2h, 1d
    #[arg(long, value_name = "SPAN")]
    expires_in: Option<String>,
    /// Send it even if no identity of that name is known yet; it waits for it
    #[arg(long)]
    wait: bool,
    /// Encrypt the text so that only the recipients and you can read it, with your keys
    #[arg(long)]
    sensitive: bool,
    /// Idempotency key: a retry with it returns the first answer
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    match args.verb {
        Verb::Send(send) => run_send(*send, app),
        Verb::Inbox { who, all, bodies, n } => {
            let input = InboxInput { project, identity: who.identity, all, bodies, limit: n };
            let answer = app.run::<message::Inbox>(&input)?;
            app.show(&answer, inbox)?;
            app.mark_delivered(answer.project_id, answer.deliver)
        }
        Verb::Read { message_id, who } => {
            let input = ReadInput { project, identity: who.identity, message_id };
            let answer = app.run::<message::Read>(&input)?;
            app.show(&answer, |read| {
                message_text(&read.message, read.taken) + &how_to_answer(&read.message, &read.identity)
            })?;
            app.mark_delivered(answer.project_id, answer.deliver)
        }
        Verb::Ack { message_id, who, text, sensitive } => {
            let input = MailAckInput { project, identity: who.identity, message_id, body: text, sensitive };
            let answer = app.run::<message::MailAck>(&input)?;
            app.show(&answer, super::signal::acknowledged)
        }
        Verb::Thread { message_id, who } => {
            let input = ThreadInput { project, identity: who.identity, message_id };
            let answer = app.run::<message::Thread>(&input)?;
            app.show(&answer, thread)?;
            app.mark_delivered(answer.project_id, answer.deliver)
        }
        Verb::Search { words, who, mine, n } => {
            let query = words.join(" ");
            let input = SearchInput { project, identity: who.identity, query, mine, limit: n };
            let answer = app.run::<message::Search>(&input)?;
            app.show(&answer, search_text)
        }
        Verb::Schema { kind } => {
            let schemas = app.run::<message::MailSchema>(&MailSchemaInput { kind })?;
            app.show(&schemas, |all| all.items.iter().map(|row| format!("{:#}\n", row.schema)).collect())
        }
    }
}

fn run_send(send: Send, app: &mut App) -> Result<(), AppError> {
    let body = match (send.text, &send.body) {
        (Some(text), _) => text,
        (None, Some(path)) => read_input(path)?,
        (None, None) => String::new(),
    };
    let input = MailSendInput {
        project: app.project.clone(),
        identity: send.who.identity,
        to: send.to,
        to_project: send.to_project,
        kind: send.kind,
        subject: send.subject,
        body,
        content: None,
        importance: send.importance,
        reply_to: send.reply_to,
        ack_required: send.ack,
        ack_by_s: seconds(send.ack_by.as_deref())?,
        expires_in_s: seconds(send.expires_in.as_deref())?,
        wait: send.wait,
        sensitive: send.sensitive,
        request_id: send.request_id,
    };
    let sent = app.run::<message::MailSend>(&input)?;
    app.show(&sent, |sent| {
        let message = &sent.message;
        let verb = if sent.replayed { "sent already, and not twice:" } else { "sent" };
        let line = format!("{verb} {} to {}", visible(&message.message_id), receiver(message));
        let sealed = message.readers.as_deref().map(readers);
        let sealed = sealed.map_or_else(String::new, |names| format!(", readable by {names}"));
        format!("{line}{sealed}\n{}", super::signal::warnings(&sent.warnings))
    })
}

fn inbox(answer: &InboxOutput) -> String {
    if answer.items.is_empty() {
        return "nothing waits\n".to_owned();
    }
    let mut text = render::table(&answer.items.iter().map(row).collect::<Vec<_>>());
    let messages = answer.items.iter().map(|row| &row.message);
    for message in messages.filter(|message| message.body.is_some() || message.content.is_some()) {
        text.push('\n');
        text.push_str(&message_text(message, false));
        text.push_str(&how_to_answer(message, &answer.identity));
    }
    if answer.next.is_some() {
        text.push_str("there are more: -n 0 shows all\n");
    }
    text
}

/// The command with which a reader answers a question of another agent.
fn how_to_answer(message: &View, reader: &str) -> String {
    let is_own = identity_key(&message.from) == identity_key(reader);
    if message.kind != "Question" || !message.author().kind.is_agent() || is_own {
        return String::new();
    }
    format!(
        "  `baton mail send --as {} --reply-to {} --text …` answers\n",
        shell_word(reader),
        visible(&message.message_id)
    )
}

fn row(InboxRow { message, overdue, .. }: &InboxRow) -> Vec<String> {
    let mut marks: Vec<String> = Vec::new();
    if message.importance != Urgency::Normal {
        marks.push(message.importance.as_str().to_owned());
    }
    if message.to.starts_with("role:") {
        marks.push(format!("for {}", visible(&message.to)));
    }
    if message.readers.is_some() {
        marks.push("encrypted".to_owned());
    }
    match (message.ack_by, message.acked_at, *overdue) {
        (Some(_), None, true) => marks.push("acknowledgement overdue".to_owned()),
        (Some(by), None, false) => marks.push(format!("acknowledge by {}", rfc3339(by.0))),
        _ => {}
    }
    vec![
        visible(&message.message_id),
        visible(&message.kind),
        format!("from {}", sender(message)),
        render::time_ago(message.created_at),
        visible(&message.subject),
        marks.join(", "),
    ]
}

fn search_text(answer: &SearchOutput) -> String {
    if answer.items.is_empty() {
        return "nothing was found\n".to_owned();
    }
    let mut text = String::new();
    for row in &answer.items {
        let message = &row.message;
        text.push_str(&format!(
            "{}  {} → {}  {}  {}\n",
            visible(&message.message_id),
            sender(message),
            receiver(message),
            render::time_ago(message.created_at),
            visible(&message.subject)
        ));
        text.push_str(&render::quoted(row.excerpt.as_deref().unwrap_or_default()));
    }
    if answer.next.is_some() {
        text.push_str("there are more: -n 0 shows all\n");
    }
    text
}

/// A message with its body: another agent's words, shown as such. `taken`: it was for a role until now.
/// The messages of a thread.
pub(super) fn thread(answer: &ThreadOutput) -> String {
    answer.items.iter().map(|message| message_text(message, false)).collect::<Vec<_>>().join("\n")
}

fn message_text(message: &View, taken: bool) -> String {
    let mut text = format!(
        "{} {}\n  from {} to {}, {}\n  {}\n",
        visible(&message.kind),
        visible(&message.message_id),
        sender(message),
        receiver(message),
        render::time_ago(message.created_at),
        visible(&message.subject),
    );
    if taken {
        let role = message.role.as_deref().map(visible).unwrap_or_default();
        text.push_str(&format!("  it was for role {role} and is yours now\n"));
    }
    match (message.ack_by, message.acked_at) {
        (_, Some(at)) => text.push_str(&format!("  acknowledged {}\n", render::time_ago(at))),
        (Some(by), None) => text.push_str(&format!(
            "  to be acknowledged by {}: `baton mail ack {}`\n",
            rfc3339(by.0),
            visible(&message.message_id)
        )),
        (None, None) => {}
    }
    match (&message.content, &message.body, &message.readers) {
        (Some(content), _, _) => text.push_str(&render::quoted(&format!("{content:#}"))),
        (None, Some(body), _) => text.push_str(&render::quoted(body)),
        (None, None, Some(names)) => {
            text.push_str(&format!("  encrypted, readable by {}: baton mail read\n", readers(names)));
        }
        (None, None, None) => {
            text.push_str("  whoever of the role reads it first gets it: baton mail read\n");
        }
    }
    text
}

fn sender(message: &View) -> String {
    let project = message.sender_project().filter(|_| message.from_type.is_agent());
    with_project(&message.author().label(), project)
}

fn receiver(message: &View) -> String {
    with_project(&message.to, message.receiver_project())
}

fn with_project(name: &str, project: Option<&str>) -> String {
    match project {
        Some(project) => format!("{} in {}", visible(name), visible(project)),
        None => visible(name),
    }
}

fn readers(names: &[String]) -> String {
    names.iter().map(|name| visible(name)).collect::<Vec<_>>().join(", ")
}

//! `baton signal`

use baton_model::id::visible;
use baton_model::time::rfc3339;
use baton_ops::message::{self, AckInput, AckOutput, PendingInput, RetractInput, SendInput, View, Warning};

use super::{ActingIdentity, seconds};
use crate::app::App;
use crate::error::AppError;
use crate::render;

/// Send, list, acknowledge and recall short messages
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Send a short message to an identity
    Send {
        #[command(flatten)]
        who: ActingIdentity,
        /// Identity to send it to
        #[arg(long, value_name = "NAME")]
        to: String,
        /// Type: TaskAssigned, Acknowledgment, StatusUpdate, ReviewRequested, ReviewCompleted, Question or Blocker
        #[arg(long = "type", value_name = "T", default_value = "StatusUpdate")]
        kind: String,
        /// Subject, in one line
        subject: String,
        /// Text of the message
        #[arg(
            long = "text",
            alias = "body",
            value_name = "T",
            default_value = "",
            allow_hyphen_values = true
        )]
        body: String,
        /// Expire after this span: 30m, 2h, 1d; by default StatusUpdate and Acknowledgment after 7 days, Question,
        /// ReviewRequested and ReviewCompleted after 30 days, TaskAssigned and Blocker never
        #[arg(long, value_name = "SPAN")]
        expires_in: Option<String>,
        /// Ask for an acknowledgement within this span: 30m, 2h, 1d; for TaskAssigned, ReviewRequested, Question or Blocker
        #[arg(long, value_name = "SPAN")]
        ack_by: Option<String>,
    },
    /// Acknowledge a message and tell its sender
    Ack {
        #[command(flatten)]
        who: ActingIdentity,
        /// Message id
        message_id: String,
        /// Text to send back with the acknowledgement
        #[arg(
            long = "text",
            alias = "body",
            value_name = "T",
            default_value = "",
            allow_hyphen_values = true
        )]
        body: String,
    },
    /// List the messages waiting for an identity without taking them
    #[command(visible_alias = "list")]
    Pending {
        #[command(flatten)]
        who: ActingIdentity,
    },
    /// Recall a message before it is delivered
    Recall {
        #[command(flatten)]
        who: ActingIdentity,
        /// Message id
        message_id: String,
    },
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    match args.verb {
        Verb::Send { who, to, kind, subject, body, expires_in, ack_by } => {
            let input = SendInput {
                project,
                identity: who.identity,
                to,
                kind,
                subject,
                body,
                expires_in_s: seconds(expires_in.as_deref())?,
                ack_by_s: seconds(ack_by.as_deref())?,
            };
            let sent = app.run::<message::Send>(&input)?;
            app.show(&sent, |sent| {
                let message = &sent.message;
                let text = format!("sent {} to {}\n", visible(&message.message_id), visible(&message.to));
                text + &warnings(&sent.warnings)
            })
        }
        Verb::Ack { who, message_id, body } => {
            let input = AckInput { project, identity: who.identity, message_id, body };
            let answer = app.run::<message::Ack>(&input)?;
            app.show(&answer, acknowledged)
        }
        Verb::Pending { who } => {
            let input = PendingInput { project, identity: who.identity };
            let waiting = app.run::<message::Pending>(&input)?;
            app.show(&waiting, |waiting| match waiting.items.as_slice() {
                [] => "no message waits\n".to_owned(),
                items => render::table(&items.iter().map(row).collect::<Vec<_>>()),
            })
        }
        Verb::Recall { who, message_id } => {
            let input = RetractInput { project, identity: who.identity, message_id };
            let recalled = app.run::<message::Retract>(&input)?;
            app.show(&recalled, |recalled| format!("recalled {}\n", visible(&recalled.message_id)))
        }
    }
}

fn row(message: &View) -> Vec<String> {
    let from = message.author().label();
    let mut row: Vec<String> =
        [&message.message_id, &message.kind, &from, &message.subject].map(|text| visible(text)).into();
    if let Some(by) = message.ack_by {
        row.push(format!("acknowledge by {}", rfc3339(by.0)));
    }
    row
}

/// What is said of an acknowledgement.
pub(super) fn acknowledged(answer: &AckOutput) -> String {
    format!("{}{}", acknowledgement(answer), warnings(&answer.warnings))
}

fn acknowledgement(answer: &AckOutput) -> String {
    if answer.acked_before {
        let at = rfc3339(answer.acked_at.0);
        return match &answer.ack_message_id {
            Some(id) => format!(
                "acknowledged already, at {at}; what you say now goes to {} as message {}\n",
                visible(&answer.to),
                visible(id)
            ),
            None => format!("acknowledged already, at {at}\n"),
        };
    }
    format!("acknowledged {}; {} is told\n", visible(&answer.message_id), visible(&answer.to))
}

/// Warnings for the sender, one per line.
pub(super) fn warnings(all: &[Warning]) -> String {
    all.iter().map(|one| render::warning(&one.message)).collect()
}

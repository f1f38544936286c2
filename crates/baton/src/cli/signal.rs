//! `baton signal`

use baton_ops::op::Operation;
use serde_json::{Value, json};

use super::Who;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Leave short messages for an identity, look at them, take them back
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Leave a short message for an identity
    Send {
        #[command(flatten)]
        who: Who,
        /// Identity that it is for
        #[arg(long, value_name = "NAME")]
        to: String,
        /// TaskAssigned, Acknowledgment, StatusUpdate, ReviewRequested, ReviewCompleted, Question or Blocker
        #[arg(long = "type", value_name = "T", default_value = "StatusUpdate")]
        kind: String,
        /// One line
        subject: String,
        /// The text
        #[arg(long, value_name = "T", default_value = "")]
        body: String,
        /// Worth nothing after so many seconds; else by type: StatusUpdate and Acknowledgment 7 days, Question,
        /// ReviewRequested and ReviewCompleted 30 days, TaskAssigned and Blocker never
        #[arg(long, value_name = "SECONDS")]
        expires_in: Option<i64>,
        /// Of TaskAssigned, ReviewRequested, Question or Blocker: to be acknowledged within so many seconds
        #[arg(long, value_name = "SECONDS")]
        ack_by: Option<i64>,
    },
    /// Acknowledge a message; its sender is told
    Ack {
        #[command(flatten)]
        who: Who,
        /// The message
        message_id: String,
        /// What to say to its sender
        #[arg(long, value_name = "T", default_value = "")]
        body: String,
    },
    /// List what waits for an identity, without taking it
    Pending {
        #[command(flatten)]
        who: Who,
    },
    /// Take a message back before it is delivered
    Recall {
        #[command(flatten)]
        who: Who,
        /// The message
        message_id: String,
    },
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let project = app.project.clone();
    match args.verb {
        Verb::Send { who, to, kind, subject, body, expires_in, ack_by } => {
            let input = json!({
                "project": project, "identity": who.identity, "to": to, "type": kind, "subject": subject, "body": body,
                "expires_in_s": expires_in, "ack_by_s": ack_by,
            });
            let answer = app.call(baton_ops::message::Send::NAME, input)?;
            app.answer(&answer, |a| {
                let sent = format!("sent {} to {}\n", render::text(a, "message_id"), render::text(a, "to"));
                sent + &render::warnings(a)
            })
        }
        Verb::Ack { who, message_id, body } => {
            let input = json!({ "project": project, "identity": who.identity, "message_id": message_id, "body": body });
            let answer = app.call(baton_ops::message::Ack::NAME, input)?;
            app.answer(&answer, acknowledged)
        }
        Verb::Pending { who } => {
            let answer = app.call(
                baton_ops::message::Pending::NAME,
                json!({ "project": project, "identity": who.identity }),
            )?;
            app.answer(&answer, |a| {
                render::table(&render::list(a, "items").iter().map(row).collect::<Vec<_>>())
            })
        }
        Verb::Recall { who, message_id } => {
            let input = json!({ "project": project, "identity": who.identity, "message_id": message_id });
            let answer = app.call(baton_ops::message::Recall::NAME, input)?;
            app.answer(&answer, |a| format!("recalled {}\n", render::text(a, "message_id")))
        }
    }
}

fn row(message: &Value) -> Vec<String> {
    let mut row: Vec<String> =
        ["message_id", "type", "from", "subject"].iter().map(|key| render::text(message, key)).collect();
    if !message["ack_by"].is_null() {
        row.push(format!("acknowledge by {}", render::text(message, "ack_by")));
    }
    row
}

/// What is said of an acknowledgement.
pub(super) fn acknowledged(answer: &Value) -> String {
    if answer["acked_before"] == true {
        return format!("acknowledged already, at {}\n", render::text(answer, "acked_at"));
    }
    format!("acknowledged {}; {} is told\n", render::text(answer, "message_id"), render::text(answer, "to"))
}

//! Messages: signals and mail, one store.

mod ack;
mod delivered;
mod find;
mod inbox;
mod mail_send;
mod pending;
pub(crate) mod post;
mod read;
mod recall;
mod remind;
mod reply;
mod schema;
mod search;
mod send;
mod thread;
mod threads;

pub(crate) use ack::{Ack, MailAck};
pub(crate) use delivered::Delivered;
pub(crate) use inbox::Inbox;
pub(crate) use mail_send::MailSend;
pub(crate) use pending::Pending;
pub(crate) use read::Read;
pub(crate) use recall::Recall;
pub(crate) use remind::{foresee_reminder, remind};
pub(crate) use schema::MailSchema;
pub(crate) use search::Search;
pub(crate) use send::Send;
pub(crate) use thread::Thread;
pub(crate) use threads::Threads;

//! Messages: signals and mail, one store.

mod ack;
mod delivered;
mod find;
mod inbox;
mod mail_send;
mod names;
mod pending;
pub(crate) mod post;
mod read;
mod remind;
mod reply;
mod retract;
mod schema;
mod search;
mod send;
mod thread;
mod threads;
mod warning;

pub use baton_model::message::View;

pub use ack::{Ack, AckInput, AckOutput, MailAck, MailAckInput};
pub use delivered::{Delivered, DeliveredInput, DeliveredOutput};
pub use inbox::{Inbox, InboxInput, InboxOutput, InboxRow};
pub use mail_send::{MailSend, MailSendInput};
pub use pending::{Pending, PendingInput, PendingOutput};
pub use read::{Read, ReadInput, ReadOutput};
pub(crate) use remind::{prefetch_reminder, remind};
pub use retract::{Retract, RetractInput, RetractOutput};
pub use schema::{MailSchema, MailSchemaInput, MailSchemaOutput, SchemaRow};
pub use search::{Search, SearchInput, SearchOutput, SearchRow};
pub use send::{Send, SendInput, SendOutput};
pub use thread::{Thread, ThreadInput, ThreadOutput};
pub use threads::{ThreadRow, Threads, ThreadsInput, ThreadsOutput};
pub use warning::{Warning, WarningKind};

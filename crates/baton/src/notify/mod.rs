//! Notifications for a person, outside the terminal: a baton waits, a hand-off was taken, an agent stopped, a question came.

mod channel;
mod collect;
mod send;

pub(crate) use channel::{Channel, channels};
pub(crate) use send::{send, test_message};

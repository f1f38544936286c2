//! Signals: short messages to an identity.

mod ack;
mod delivered;
mod pending;
mod recall;
mod send;

pub(crate) use ack::Ack;
pub(crate) use delivered::Delivered;
pub(crate) use pending::Pending;
pub(crate) use recall::Recall;
pub(crate) use send::Send;

//! Threads: the sessions, of several tools and identities, that one piece of work goes through.

mod redacted;
mod show;
mod story;

pub use show::{Show, ShowInput, ShowOutput};
pub use story::{ThreadChange, ThreadCommand, ThreadDecision, ThreadEntry, ThreadSession, ThreadWork};

pub(crate) use redacted::redact;
pub(crate) use show::find;
pub(crate) use story::{Story, baton_story, story};

//! The nouns of Baton and their rules: values and pure functions.
//!
//! Nothing here reads a clock, a file, an environment variable or a random number, and nothing can fail except by a
//! [`Refusal`](refusal::Refusal). What a rule needs from outside comes in as an argument.

pub mod budget;
pub mod markdown;
pub mod packet;
pub mod refusal;

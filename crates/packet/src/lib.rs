//! The hand-off packet: its one schema, its budgets, and the Markdown document made of it.
//!
//! It lies below the model, which decides about packets, and below the readers of transcripts, which make them. Like the model it
//! reads no clock, file, environment variable or random number, and fails only by a [`Refusal`](refusal::Refusal).

pub mod budget;
pub mod markdown;
pub mod packet;
pub mod printable;
pub mod refusal;

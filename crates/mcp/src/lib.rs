//! The MCP face: the agents' own way in. It stands in a crate of its own because the generics of a server are slow to compile.
//!
//! Tools are made from the table of operations ([`table`]); an answer is the operation's own, in a frame that says the next
//! step first and keeps within what every client shows whole.

mod answer;
mod argument_docs;
mod backend;
mod call;
mod complete;
mod connection;
mod elicitation;
mod incoming;
mod next_step;
mod not_offered;
mod notices;
mod packet_fields;
mod prompts;
mod resources;
mod roots;
mod schema;
mod server;
mod stdio;
pub mod table;
mod tool_words;
mod tools;
mod truncate;
mod unwrapped;
mod watch;
mod web;

#[cfg(test)]
mod tests;

pub use backend::{Answer, Backend, BoxedFuture};
pub use connection::{DeliveryReceipt, Receipts};
pub use incoming::{UnhandledBody, unhandled};
pub use server::{Server, Shared};
pub use stdio::serve as serve_stdio;
pub use tools::ToolSet;
pub use web::{MAX_BODY, Web, service as web};

/// The longest name that every client shows whole (one cuts names at 63 characters, prefix included).
pub const MAX_NAME: usize = 40;

/// Everything that a client can list, as JSON: what the reference page and its test show.
pub fn lists() -> serde_json::Value {
    serde_json::json!({
        "instructions": next_step::INSTRUCTIONS,
        "tools": tools::list(&ToolSet::default()),
        "resource_templates": resources::templates(),
        "prompts": prompts::list(),
    })
}

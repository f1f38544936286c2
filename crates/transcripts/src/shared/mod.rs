//! What the formats have in common.

pub mod call;
pub mod chain;
pub mod chunk;
pub mod diff;
pub mod document;
pub mod json;
pub mod lines;
pub mod patch;
pub mod peek;
pub mod plan;
pub mod reverse;
pub mod shell;
pub mod side;
#[allow(dead_code, reason = "the formats that follow use the rest")]
pub mod tell;
pub mod time;
pub mod tool;
pub mod words;

//! What the formats have in common.

pub mod chunk;
pub mod diff;
pub mod json;
pub mod lines;
pub mod patch;
pub mod reverse;
pub mod shell;
pub mod time;
pub mod tool;
pub mod words;

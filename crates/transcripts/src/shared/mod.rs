//! What the formats have in common.

pub mod call;
pub mod chunk;
pub mod diff;
pub mod document;
pub mod glance;
pub mod json;
pub mod lines;
pub mod patch;
pub mod plan;
pub mod reverse;
pub mod shell;
pub mod talk;
pub mod time;
pub mod tool;
pub mod uri;
pub mod words;

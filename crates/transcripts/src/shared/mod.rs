//! What the formats have in common.

pub mod batch;
pub mod blocks;
pub mod call;
pub mod chain;
pub mod chunk;
pub mod diff;
pub mod document;
pub mod emit;
pub mod heading;
pub mod json;
pub mod json_file;
pub mod lines;
pub mod patch;
pub mod plan;
pub mod replaced;
pub mod reverse;
pub mod shell;
pub mod sidecar;
pub mod time;
pub mod tool;
pub mod uri;
pub mod words;

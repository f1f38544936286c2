//! What the formats have in common.

pub(crate) mod batch;
pub(crate) mod blocks;
pub(crate) mod call;
pub(crate) mod chain;
pub(crate) mod chunk;
pub(crate) mod diff;
pub(crate) mod document;
pub(crate) mod emit;
pub(crate) mod event_row;
pub(crate) mod harness;
pub(crate) mod heading;
pub(crate) mod json;
pub(crate) mod json_file;
pub(crate) mod lines;
pub(crate) mod patch;
pub(crate) mod phrases;
pub(crate) mod plan;
pub(crate) mod replaced;
pub(crate) mod reverse;
pub(crate) mod shell;
pub(crate) mod sidecar;
pub(crate) mod time;
pub(crate) mod tool;
pub(crate) mod typed;
pub(crate) mod uri;
pub(crate) mod words;

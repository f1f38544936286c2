//! What the formats have in common.

pub mod batch;
pub mod blocks;
pub mod call;
pub mod chain;
pub mod chunk;
pub mod diff;
pub mod document;
pub mod heading;
pub mod json;
pub mod lines;
pub mod patch;
pub mod plan;
pub mod replaced;
pub mod reverse;
pub mod shell;
pub mod side;
pub mod tell;
pub mod time;
pub mod tool;
pub mod uri;
pub mod whole;
pub mod words;

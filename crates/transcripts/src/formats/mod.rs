//! The tools whose transcripts are read.

pub mod aider;
pub mod amp;
pub mod claude;
pub mod cline;
pub mod codex;
pub mod crush;
pub mod goose;
pub mod kiro;
pub mod opencode;
pub mod zed;

//! The tools whose transcripts are read.

pub mod aider;
pub mod amp;
pub mod claude;
pub mod cline;
pub mod codex;
pub mod crush;
#[allow(dead_code, reason = "the format `cursor`, which reads the files of lines, calls it")]
pub mod cursor_db;
pub mod goose;
pub mod kiro;
pub mod opencode;
pub mod zed;

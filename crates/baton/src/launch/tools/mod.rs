//! One tool, one file.

pub mod aider;
pub mod amp;
pub mod antigravity;
pub mod claude;
pub mod cline;
pub mod codex;
pub mod copilot;
pub mod crush;
pub mod cursor;
pub mod droid;
pub mod gemini;
pub mod goose;
pub mod kilo;
pub mod kimi;
pub mod kimi_cli;
pub mod kiro;
pub mod opencode;
pub mod pi;
pub mod qwen;

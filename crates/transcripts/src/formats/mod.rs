//! The tools whose transcripts are read.

pub mod antigravity;
pub mod claude;
pub mod codex;
pub mod copilot;
pub mod cursor;
pub mod droid;
pub mod gemini;
pub mod grok;
pub mod kimi;
pub mod kimi_cli;
pub mod pi;
pub mod qwen;

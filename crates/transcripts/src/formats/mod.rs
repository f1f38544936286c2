//! The tools whose transcripts are read.

pub(crate) mod aider;
pub(crate) mod amp;
pub(crate) mod antigravity;
pub(crate) mod claude;
pub(crate) mod cline;
pub(crate) mod cn;
pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod crush;
pub(crate) mod cursor;
pub(crate) mod droid;
pub(crate) mod gemini;
pub(crate) mod goose;
pub(crate) mod grok;
pub(crate) mod hermes;
pub(crate) mod kimi;
pub(crate) mod kimi_cli;
pub(crate) mod kiro;
pub(crate) mod opencode;
pub(crate) mod openhands;
pub(crate) mod pi;
pub(crate) mod qoder;
pub(crate) mod qwen;
pub(crate) mod vibe;
pub(crate) mod vscode;
pub(crate) mod zed;

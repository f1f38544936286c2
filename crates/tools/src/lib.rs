//! The coding agents that Baton knows: one agent, one file under `agents`, one line in [`ALL`].
//!
//! Everything that depends on which agent it is stands there: its names, the processes and MCP clients that it is
//! recognised by, the reader of its transcripts, the entries in its configuration, its command lines, and the form of
//! its sessions. What is done with it (editing files, starting processes, listing transcripts) is done elsewhere, the
//! same for all.

mod agents;
pub mod install;
pub mod launch;
mod lookup;
pub mod native;
#[cfg(test)]
mod packages;
#[cfg(test)]
mod reference;
mod shapes;
pub mod storage;
pub mod work;

use agents::{
    aider, amp, antigravity, atif, auggie, claude, cline, cn, codebuff, codex, copilot, crush, cursor, devin,
    droid, external, gemini, goose, grok, hermes, kilo, kilo_code, kimi, kimi_cli, kiro, opencode, openhands,
    pi, qoder, qwen, roo, vibe, vscode_copilot, windsurf, zed,
};
use baton_transcripts::TranscriptReader;
use install::Install;
pub use install::Installer;
use launch::Launch;
pub use lookup::{
    Launcher, by_name, has_surface, headless, installer, installers, launcher, launcher_of_program,
    launchers, reader, readers, surface_of_client, surface_of_program,
};
use native::Native;
use storage::Storage;

/// A coding agent.
pub struct Tool {
    /// The one id: `claude`, `codex`, …; that of its transcripts too.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Other names of the same.
    pub aliases: &'static [&'static str],
    /// The surface that its sessions are registered under.
    pub surface: &'static str,
    /// Command names of the agent; the first is the one that is started.
    pub programs: &'static [&'static str],
    /// Names by which its MCP client introduces itself, as words: `gemini-cli` is also `gemini-cli-mcp-client`.
    pub mcp_client_names: &'static [&'static str],
    /// The reader of its transcripts.
    pub reader: Option<&'static dyn TranscriptReader>,
    /// Where its transcripts lie, and how their content is known.
    pub storage: Option<Storage>,
    /// How Baton is registered with it.
    pub install: Option<Install>,
    /// How it is started on a terminal.
    pub launch: Option<Launch>,
    /// How a session is written that it takes for one of its own.
    pub native: Option<Native>,
}

/// Every coding agent. Where two share a program or a client's name, the first is meant.
pub static ALL: &[&Tool] = &[
    &claude::TOOL,
    &codex::TOOL,
    &gemini::TOOL,
    &copilot::TOOL,
    &cursor::TOOL,
    &opencode::TOOL,
    &kilo::TOOL,
    &qwen::TOOL,
    &kimi::TOOL,
    &kimi_cli::TOOL,
    &droid::TOOL,
    &antigravity::TOOL,
    &kiro::TOOL,
    &cline::TOOL,
    &roo::TOOL,
    &kilo_code::TOOL,
    &vscode_copilot::TOOL,
    &pi::TOOL,
    &crush::TOOL,
    &goose::TOOL,
    &zed::TOOL,
    &amp::TOOL,
    &aider::TOOL,
    &grok::TOOL,
    &vibe::TOOL,
    &devin::TOOL,
    &atif::TOOL,
    &external::TOOL,
    &openhands::TOOL,
    &cn::TOOL,
    &qoder::TOOL,
    &hermes::TOOL,
    &auggie::TOOL,
    &codebuff::TOOL,
    &windsurf::TOOL,
];

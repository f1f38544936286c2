//! `baton`: the hand-off layer for coding agents.

mod app;
mod beads;
mod bounded_body;
mod changes;
mod cli;
mod clock;
mod commit_hook;
mod config;
mod document;
mod error;
mod git;
mod hook;
mod host;
mod http;
mod index_progress;
mod install;
mod issues_file;
mod keys;
mod launch;
mod leadership;
mod live;
mod mcp;
mod mcp_http;
mod mcp_sessions;
mod merge_driver;
mod mirror;
mod mirror_note;
mod open_files;
mod path_kind;
mod picker;
mod private_file;
mod process;
mod progress;
mod raw_lines;
mod recall;
mod relay;
mod remote;
mod render;
mod repo_file;
mod router;
mod runner;
mod server_host;
mod services;
mod store_pool;
mod supervisor;
mod sweep;
mod time_zone;
mod traces;
mod transcript_copies;
mod transfer_driver;
mod transfer_progress;
mod unwrapped;
mod worker;

fn main() {
    std::process::exit(cli::main());
}

//! `baton`: the hand-off layer for coding agents.

mod app;
mod beads;
mod beads_file;
mod beads_file_claims;
mod beads_file_note;
mod beads_file_service;
mod bounded_body;
mod cells;
mod changes;
mod claimed_project;
mod cli;
mod clock;
mod commit_hook;
mod config;
mod document;
mod error;
#[cfg(unix)]
mod file_limit;
mod file_lock;
mod fingerprint;
mod git;
mod handoff_driver;
mod handoff_progress;
mod hook;
mod host;
mod http;
mod index_progress;
mod install;
mod keys;
mod launch;
mod leadership;
mod live;
mod mcp;
mod mcp_http;
mod mcp_sessions;
mod memory_index;
mod merge_driver;
mod notify;
mod notify_marks;
mod open_conversations;
mod open_files;
mod path_kind;
mod picker;
mod private_file;
mod process;
mod process_group;
mod progress;
mod provider_error;
mod raw_lines;
mod readers;
mod relay;
mod remote;
mod render;
mod repo_file;
mod router;
mod runner;
mod screen;
mod served_beads_files;
mod server_host;
mod service;
mod services;
mod share_link;
mod shared_page;
mod store_pool;
mod supervisor;
mod sweep;
mod time_zone;
mod traces;
mod transcript_copies;
mod unwrapped;
mod worker;

fn main() {
    #[cfg(unix)]
    file_limit::fail_writes();
    std::process::exit(cli::main());
}

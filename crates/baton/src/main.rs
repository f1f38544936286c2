//! `baton`: the hand-off layer for coding agents.

mod app;
mod beads;
mod cli;
mod config;
mod driven;
mod duties;
mod error;
mod hook;
mod host;
mod http;
mod indexing;
mod install;
mod issues_file;
mod keys;
mod launch;
mod live;
mod mcp;
mod merge_driver;
mod mirror;
mod picker;
mod process;
mod progress;
mod recall;
mod relay;
mod remote;
mod render;
mod router;
mod sweep;
mod worker;
mod workers;
mod wrapped;

fn main() {
    std::process::exit(cli::main());
}

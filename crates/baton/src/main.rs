//! `baton`: the hand-off layer for coding agents.

mod app;
mod cli;
mod config;
mod error;
mod host;
mod http;
mod mcp;
mod process;
mod relay;
mod render;
mod sweep;
mod workers;

fn main() {
    std::process::exit(cli::main());
}

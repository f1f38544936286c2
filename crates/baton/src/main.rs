//! `baton`: the hand-off layer for coding agents.

mod app;
mod cli;
mod config;
mod error;
mod host;
mod http;
mod process;
mod relay;
mod render;
mod workers;

fn main() {
    let code = cli::main();
    // Leaving so, with the store still open, skips its closing checkpoint, which is half of a cold write.
    std::process::exit(code);
}

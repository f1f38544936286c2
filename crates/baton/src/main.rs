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
mod sweep;
mod workers;

fn main() {
    let code = cli::main();
    // Leaving so skips the closing checkpoint of the store, which is half of a cold write.
    std::process::exit(code);
}

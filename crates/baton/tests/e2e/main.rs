//! End to end: the real binary, an empty home, a git repository, and what the specification promises.
//!
//! `BATON_E2E_KILLS=200` kills more processes and waits for locks that take their time; `BATON_SAMPLES` points at real
//! transcripts.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it left out"
)]

mod callers;
mod calls;
mod cross;
mod cross_kill;
mod http;
mod journey;
mod kill;
mod ledger;
mod nouns;
mod race;
mod server;
mod stage;
mod stores;
mod transcripts;
mod webhook;
mod words;

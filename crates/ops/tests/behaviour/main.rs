//! What Baton does, rule by rule, on every backend: memory, a file, PostgreSQL.
//!
//! A test is a few calls of operations by name, in a world whose clock and numbers stand still, and assertions on codes
//! and rows. Its name is the rule. Set `BATON_TEST_POSTGRES` to a server's URL to have each of them run there too.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says where"
)]

#[macro_use]
mod every;
mod backend;
mod world;

mod accounting;
mod broken;
mod bundle;
mod checkpoint;
mod crowd;
mod family;
mod handoffs;
mod history;
mod identity;
mod isolation;
mod ledger;
mod memories;
mod pickup;
mod projects;
mod released;
mod resolving;
mod saga;
mod seed;
mod signals;
mod start;
mod tasks;
mod wrap;

//! One behaviour suite for every engine: memory, file and PostgreSQL.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

mod ahead;
mod bench;
#[path = "../support/database_server.rs"]
mod database_server;
mod files;
mod first_token;
mod incomplete;
mod migrations;
mod pem;
mod plans;
mod proxy;
mod restoring;
mod servers;
mod sharing;
mod tls;
mod transactions;

//! The family: one scenario, one function, one line in [`ALL`].

mod cli;
mod cycle_embedded;
mod cycle_server;
mod document;
mod handoffs;
mod http_crowd;
mod http_reads;
mod idle;
mod mcp;
mod pickup_large;
mod postgres;
mod reading;
mod recall;
mod routing;
mod sessions;
pub mod tasks;
mod transcripts_list;
mod transcripts_search;
mod worktree;

use anyhow::Result;

use crate::lab::Lab;
use crate::report::Line;

/// Something that is measured.
pub struct Scenario {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it compares.
    pub doc: &'static str,
    /// Measures.
    pub run: fn(&Lab) -> Result<Vec<Line>>,
}

/// Every scenario.
pub const ALL: &[Scenario] = &[
    Scenario {
        name: "tasks",
        doc: "`bd ready`, `list`, `show`, `create`, `update`, `close` with up to 100,000 tasks, against the sqlite3 shell",
        run: tasks::run,
    },
    Scenario {
        name: "routing",
        doc: "the router with a thousand agents and a thousand tasks; sixty-four claimers on one server",
        run: routing::run,
    },
    Scenario {
        name: "recall",
        doc: "`memory_search` over 100,000 memories: through the library, in a server, and as a process",
        run: recall::run,
    },
    Scenario {
        name: "pickup-cli",
        doc: "one `baton pickup` as a process, against a process with one durable SQLite transaction",
        run: cli::pickup,
    },
    Scenario {
        name: "other-cli",
        doc: "`baton wrap`, `start` and `--version` as processes, against the same",
        run: cli::others,
    },
    Scenario {
        name: "cycle-embedded",
        doc: "start, wrap and pickup through the library, against as many bare durable transactions",
        run: cycle_embedded::run,
    },
    Scenario {
        name: "pickup-large",
        doc: "`hd_exec` with a million deltas in a thousand projects, against a thousand deltas",
        run: pickup_large::run,
    },
    Scenario {
        name: "cycle-server",
        doc: "wrap and pickup on `baton serve`: 64 clients against one, both against bare commits",
        run: cycle_server::run,
    },
    Scenario {
        name: "postgres",
        doc: "operations on PostgreSQL against pgbench with as many statements and commits; 1, 2 and 4 servers",
        run: postgres::run,
    },
    Scenario {
        name: "transcripts-list",
        doc: "`baton transcripts list`, first and again, against reading the same files once",
        run: transcripts_list::run,
    },
    Scenario {
        name: "transcripts-search",
        doc: "`baton transcripts list` and `search` over 500 sessions, against `cat`, `find` and `--version`",
        run: transcripts_search::usual,
    },
    Scenario {
        name: "sessions",
        doc: "10,000 live sessions that beat every thirty seconds: what they cost a server with Redis, and without",
        run: sessions::run,
    },
    Scenario {
        name: "transcripts-large",
        doc: "the same over 5,000 sessions of 2.7 GB",
        run: transcripts_search::large,
    },
    Scenario {
        name: "document",
        doc: "`baton handoff from-transcript` of large files, against reading them once",
        run: document::run,
    },
    Scenario {
        name: "commands",
        doc: "the same of sessions that are made of short commands: 300 KB and 20 MB, in processor time",
        run: document::commands,
    },
    Scenario {
        name: "mcp",
        doc: "`baton mcp` on a million deltas: its greeting, a call beyond the store's own time, twenty servers at once",
        run: mcp::run,
    },
    Scenario {
        name: "handoffs",
        doc: "hand-offs to another project: planning one, and 1,000 driven over a GitHub that answers in 50 ms and has a limit",
        run: handoffs::run,
    },
    Scenario {
        name: "http-reads",
        doc: "read paths of `baton serve` against `/healthz` of the same server, with a million deltas in the store; the page",
        run: http_reads::run,
    },
    Scenario {
        name: "http-writes",
        doc: "notes of one client and of 64 against bare durable commits",
        run: http_crowd::writes,
    },
    Scenario {
        name: "http-listeners",
        doc: "a thousand listeners to events: when the last of them has heard",
        run: http_crowd::listeners,
    },
    Scenario {
        name: "http-load",
        doc: "memory of a server after ten minutes of load (`--quick`: ten seconds), and with 10,000 connections",
        run: http_crowd::load,
    },
    Scenario {
        name: "worktree",
        doc: "`baton status` deep in one of 300 worktrees, against the same where the project is named",
        run: worktree::run,
    },
    Scenario { name: "idle", doc: "size of the binary, memory of a server that waits", run: idle::run },
];

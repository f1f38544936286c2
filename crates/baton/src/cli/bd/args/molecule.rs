//! Verbs of an issue with its parts, and of those that are kept for a short time.

use clap::Subcommand;

#[derive(Subcommand)]
pub(in crate::cli::bd) enum MolVerb {
    /// List issues with parts
    List,
    /// Show an issue and its parts
    Show {
        /// Issue id
        id: String,
    },
    /// Show how many parts are closed
    Progress {
        /// Issue id
        id: String,
    },
    /// Show the part that is in progress or comes next
    Current {
        /// Issue id
        id: String,
    },
    /// List open issues whose parts are all closed
    Stale,
    /// List, show and close short-lived issues
    Wisp {
        #[command(subcommand)]
        verb: Option<WispVerb>,
    },
    /// Delete an issue and its parts: what was begun in vain
    Burn {
        /// Issue ids
        #[arg(required = true)]
        ids: Vec<String>,
        /// Delete them; without it the call says what would go
        #[arg(long, short, visible_alias = "yes")]
        force: bool,
        /// Only say what would go
        #[arg(long)]
        dry_run: bool,
    },
    /// Close an issue and its open parts
    Close {
        /// Issue id
        id: String,
        /// Reason
        #[arg(long, short, alias = "summary", allow_hyphen_values = true)]
        reason: Option<String>,
    },
}

#[derive(Subcommand)]
pub(in crate::cli::bd) enum WispVerb {
    /// List short-lived issues; this is the default
    List {
        /// Also closed ones
        #[arg(long)]
        all: bool,
    },
    /// Show an issue and its parts
    Show {
        /// Issue id
        id: String,
    },
    /// Show how many parts are closed
    Progress {
        /// Issue id
        id: String,
    },
    /// Close an issue and its open parts
    Close {
        /// Issue id
        id: String,
        /// Reason
        #[arg(long, short, allow_hyphen_values = true)]
        reason: Option<String>,
    },
}

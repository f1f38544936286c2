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
        /// Issue id; without it, the issues with parts that you have in progress
        id: Option<String>,
    },
    /// Show the parts, the one in progress and the one that comes next
    Current {
        /// Issue id; without it, the issues with parts that you have in progress
        id: Option<String>,
        /// Whose parts in progress count; defaults to you
        #[arg(long = "for", value_name = "NAME", conflicts_with = "id")]
        agent: Option<String>,
        /// Maximum number of parts that are shown; 0 for all
        #[arg(long)]
        limit: Option<usize>,
    },
    /// List open issues whose parts are all closed
    Stale {
        /// Only those that others wait for
        #[arg(long)]
        blocking: bool,
        /// Only those without an assignee
        #[arg(long)]
        unassigned: bool,
        /// Also epics without parts
        #[arg(long)]
        all: bool,
    },
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
        /// Only issues of this type
        #[arg(long = "type", short = 't')]
        issue_type: Option<String>,
    },
    /// Delete short-lived issues that were not touched for long
    Gc {
        /// How long they were not touched
        #[arg(long, value_name = "SPAN", default_value = "24h")]
        age: String,
        /// Also closed ones of that age
        #[arg(long)]
        all: bool,
        /// All closed ones, whatever their age; with --force
        #[arg(long, conflicts_with = "all")]
        closed: bool,
        /// With --closed: delete them; without it you see what would go
        #[arg(long, short)]
        force: bool,
        /// Show what would go
        #[arg(long)]
        dry_run: bool,
        /// Not those of these types, separated by commas
        #[arg(long, value_name = "TYPES", value_delimiter = ',')]
        exclude_type: Vec<String>,
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

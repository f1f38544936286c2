//! What `bd` takes.

use clap::Subcommand;

use crate::cli::task::Fields;

/// Manage this project's tasks with the commands of the issue tracker Beads
#[derive(clap::Parser)]
#[command(
    name = "bd",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub(super) struct Bd {
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print nothing but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Name to act under; defaults to BEADS_ACTOR or BD_ACTOR
    #[arg(long, global = true, value_name = "NAME")]
    pub actor: Option<String>,
    /// Accepted and ignored: Baton has one store
    #[arg(long, global = true, value_name = "PATH", hide = true)]
    pub db: Option<String>,
    /// Accepted and ignored
    #[arg(long, global = true, hide = true)]
    pub no_daemon: bool,
    #[command(subcommand)]
    pub command: Command,
}

/// Filters of several commands.
#[derive(clap::Args)]
pub(super) struct Filters {
    /// Only issues assigned to this name
    #[arg(long, short)]
    pub assignee: Option<String>,
    /// Only issues of this priority
    #[arg(long, short, value_parser = crate::cli::priority)]
    pub priority: Option<i64>,
    /// Only issues of this type
    #[arg(long = "type", short = 't')]
    pub issue_type: Option<String>,
    /// Only issues with all of these labels, separated by commas
    #[arg(long = "label", alias = "labels", short, value_delimiter = ',')]
    pub labels: Vec<String>,
    /// Only issues with at least one of these labels, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub label_any: Vec<String>,
    /// Only issues for this role
    #[arg(long)]
    pub agent_role: Option<String>,
    /// Only issues with at least one of these tags, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub tags: Vec<String>,
    /// Only subtasks of this issue
    #[arg(long)]
    pub parent: Option<String>,
    /// Maximum number of results; 0 for all
    #[arg(long = "limit", short = 'n')]
    pub limit: Option<u32>,
}

#[derive(Subcommand)]
pub(super) enum Command {
    /// Register this folder; Beads' own flags are accepted and ignored
    Init {
        /// Project id
        #[arg(long, short)]
        prefix: Option<String>,
        /// Accepted and ignored
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Create an issue
    #[command(alias = "new")]
    Create(Box<Create>),
    /// Create four linked issues: build, test, fix if needed, verify
    Increment {
        /// Title: what to build
        title: String,
        /// Verification issue of the previous increment
        #[arg(long)]
        after: Option<String>,
        /// Print only the verification issue's id
        #[arg(long)]
        silent: bool,
    },
    /// Show issues
    #[command(alias = "view")]
    Show {
        /// Issue ids
        #[arg(required = true)]
        ids: Vec<String>,
        /// Show everything; JSON always has everything
        #[arg(long, alias = "long")]
        full: bool,
    },
    /// Update issues
    Update(Box<Update>),
    /// List issues
    List {
        #[command(flatten)]
        filters: Filters,
        /// Only issues with one of these statuses, separated by commas
        #[arg(long, short)]
        status: Option<String>,
        /// Only unassigned issues
        #[arg(long)]
        no_assignee: bool,
        /// Include closed issues
        #[arg(long)]
        all: bool,
    },
    /// List ready issues by priority, then oldest first
    Ready {
        #[command(flatten)]
        filters: Filters,
        /// Only unassigned issues
        #[arg(long, short)]
        unassigned: bool,
        /// Only issues this agent may take
        #[arg(long)]
        for_agent: Option<String>,
        /// Claim the first of them
        #[arg(long)]
        claim: bool,
        /// Only issues with this metadata, as KEY=VALUE
        #[arg(long)]
        metadata_field: Option<String>,
        /// Accepted and ignored: the order is always the same
        #[arg(long, value_parser = ["priority"])]
        sort: Option<String>,
    },
    /// List blocked issues
    Blocked {
        /// Maximum number of results; 0 for all
        #[arg(long, short = 'n')]
        limit: Option<u32>,
    },
    /// Close issues
    #[command(alias = "done")]
    Close(Close),
    /// Reopen closed issues
    Reopen {
        /// Issue ids
        #[arg(required = true)]
        ids: Vec<String>,
        /// Reason
        #[arg(long, short)]
        reason: Option<String>,
    },
    /// Manage dependencies
    #[command(args_conflicts_with_subcommands = true)]
    Dep {
        #[command(subcommand)]
        verb: Option<Dep>,
        /// Issue that blocks the other
        id: Option<String>,
        /// Issue that is blocked
        #[arg(long, value_name = "ID")]
        blocks: Option<String>,
    },
    /// Add a comment
    Comment {
        /// Issue id
        id: String,
        /// Text of the comment
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// List comments, or add one: `comments add ID TEXT`
    Comments {
        /// Issue id; or `add`, an issue id and the text
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Manage labels: `label add ID LABEL`, `label remove ID LABEL`, `label list ID`
    Label {
        /// What to do: add, remove or list
        #[arg(value_parser = ["add", "remove", "list"])]
        verb: String,
        /// Issue id
        id: String,
        /// Labels to add or remove
        labels: Vec<String>,
    },
    /// List issues that mention all of the given words
    Search {
        /// Words that must all occur
        #[arg(required = true)]
        words: Vec<String>,
        /// Maximum number of results; 0 for all
        #[arg(long, short = 'n')]
        limit: Option<u32>,
        /// Only issues with this status
        #[arg(long, short)]
        status: Option<String>,
    },
    /// Count issues by state
    #[command(alias = "status")]
    Stats,
    /// Count issues, optionally in groups
    Count {
        /// Only issues with this status
        #[arg(long, short)]
        status: Option<String>,
        /// Group by status
        #[arg(long)]
        by_status: bool,
        /// Group by type
        #[arg(long)]
        by_type: bool,
        /// Group by priority
        #[arg(long)]
        by_priority: bool,
        /// Group by assignee
        #[arg(long)]
        by_assignee: bool,
        /// Group by label
        #[arg(long)]
        by_label: bool,
    },
    /// Export every issue as a line of JSON
    Export {
        /// File to write to; defaults to standard output
        #[arg(long, short)]
        output: Option<String>,
    },
    /// Import issues from a file
    Import {
        /// File to import
        #[arg(long, short)]
        input: Option<String>,
        /// File to import
        #[arg(conflicts_with = "input")]
        path: Option<String>,
        /// Check and count without importing anything
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(clap::Args)]
pub(super) struct Create {
    /// Title of the issue
    pub title: Option<String>,
    /// Title of the issue
    #[arg(long = "title", value_name = "T", conflicts_with = "title")]
    pub named: Option<String>,
    #[command(flatten)]
    pub fields: Fields,
    /// Id to use instead of a generated one
    #[arg(long)]
    pub id: Option<String>,
    /// Dependencies, separated by commas: ID or TYPE:ID; with blocks:ID the new issue blocks that one
    #[arg(long, value_delimiter = ',')]
    pub deps: Vec<String>,
    /// Do not export the issue as work
    #[arg(long)]
    pub ephemeral: bool,
    /// Accepted and ignored
    #[arg(long, hide = true)]
    pub force: bool,
    /// Print only the id
    #[arg(long)]
    pub silent: bool,
}

#[derive(clap::Args)]
pub(super) struct Update {
    /// Issue ids
    #[arg(required = true)]
    pub ids: Vec<String>,
    #[command(flatten)]
    pub fields: Fields,
    /// Title of the issue
    #[arg(long)]
    pub title: Option<String>,
    /// Status of the issue
    #[arg(long, short)]
    pub status: Option<String>,
    /// Line to append to the notes
    #[arg(long)]
    pub append_notes: Option<String>,
    /// Labels to add, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub add_label: Vec<String>,
    /// Labels to remove, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub remove_label: Vec<String>,
    /// Labels that replace the existing ones, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub set_labels: Option<Vec<String>>,
    /// Merge the JSON objects key by key instead of replacing them; null removes a key
    #[arg(long)]
    pub merge: bool,
    /// Claim it for yourself
    #[arg(long)]
    pub claim: bool,
    /// Print nothing
    #[arg(long)]
    pub silent: bool,
}

#[derive(clap::Args)]
pub(super) struct Close {
    /// Issue ids
    #[arg(required = true)]
    pub ids: Vec<String>,
    /// Reason
    #[arg(long, short)]
    pub reason: Option<String>,
    /// Close even if something blocks it
    #[arg(long, short)]
    pub force: bool,
    /// List the issues that became ready
    #[arg(long)]
    pub suggest_next: bool,
    /// Claim the next ready issue
    #[arg(long)]
    pub claim_next: bool,
    /// Outcome
    #[arg(long, value_parser = ["pass", "fail"])]
    pub result: Option<String>,
    /// What was done: a JSON object
    #[arg(long)]
    pub context: Option<String>,
}

#[derive(Subcommand)]
pub(super) enum Dep {
    /// Make one issue depend on another
    Add {
        /// Issue that depends on the other
        id: String,
        /// Issue it depends on
        #[arg(required_unless_present_any = ["blocked_by", "depends_on"])]
        on: Option<String>,
        /// Issue it depends on
        #[arg(long)]
        blocked_by: Option<String>,
        /// Issue it depends on
        #[arg(long)]
        depends_on: Option<String>,
        /// Type of dependency
        #[arg(long = "type", short = 't', default_value = "blocks")]
        kind: String,
    },
    /// Remove a dependency
    #[command(alias = "rm")]
    Remove {
        /// Issue that depends on the other
        id: String,
        /// Issue it depends on
        on: String,
    },
    /// Show an issue's dependencies as a tree
    Tree {
        /// Issue id
        id: String,
        /// Direction: down (what it depends on) or up (what depends on it)
        #[arg(long, value_parser = ["down", "up"], default_value = "down")]
        direction: String,
    },
    /// List what an issue depends on
    List {
        /// Issue id
        id: String,
    },
    /// Find dependency cycles
    Cycles,
}

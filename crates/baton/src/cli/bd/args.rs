//! What `bd` takes.

use clap::Subcommand;

use crate::cli::task::Fields;

/// Tasks of this project, as the issue tracker Beads shows them
#[derive(clap::Parser)]
#[command(
    name = "bd",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub struct Bd {
    /// Answer with JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Who acts; else BEADS_ACTOR or BD_ACTOR
    #[arg(long, global = true, value_name = "NAME")]
    pub actor: Option<String>,
    /// Taken and passed over: Baton has one store
    #[arg(long, global = true, value_name = "PATH", hide = true)]
    pub db: Option<String>,
    /// Taken and passed over
    #[arg(long, global = true, hide = true)]
    pub no_daemon: bool,
    #[command(subcommand)]
    pub command: Command,
}

/// Filters of several commands.
#[derive(clap::Args)]
pub struct Filters {
    /// Only this assignee
    #[arg(long, short)]
    pub assignee: Option<String>,
    /// Only this priority
    #[arg(long, short, value_parser = crate::cli::priority)]
    pub priority: Option<i64>,
    /// Only this type
    #[arg(long = "type", short = 't')]
    pub issue_type: Option<String>,
    /// All of these labels
    #[arg(long = "label", alias = "labels", short, value_delimiter = ',')]
    pub labels: Vec<String>,
    /// At least one of these labels
    #[arg(long, value_delimiter = ',')]
    pub label_any: Vec<String>,
    /// Only tasks that want this role
    #[arg(long)]
    pub agent_role: Option<String>,
    /// At least one of these tags
    #[arg(long, value_delimiter = ',')]
    pub tags: Vec<String>,
    /// Only parts of this one
    #[arg(long)]
    pub parent: Option<String>,
    /// At most so many; 0 for all
    #[arg(long = "limit", short = 'n')]
    pub limit: Option<u32>,
}

#[derive(Subcommand)]
pub enum Command {
    /// Register this folder; Beads' own flags are taken and passed over
    Init {
        /// Id of the project
        #[arg(long, short)]
        prefix: Option<String>,
        /// Taken and passed over
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Create an issue
    #[command(alias = "new")]
    Create(Box<Create>),
    /// Create four linked issues: build, test, fix if need be, verify
    Increment {
        /// What is built
        title: String,
        /// The verification of the increment before
        #[arg(long)]
        after: Option<String>,
        /// Print the id of the verification alone
        #[arg(long)]
        silent: bool,
    },
    /// Show issues
    #[command(alias = "view")]
    Show {
        /// Ids
        #[arg(required = true)]
        ids: Vec<String>,
        /// Everything; JSON always has everything
        #[arg(long, alias = "long")]
        full: bool,
    },
    /// Change issues
    Update(Box<Update>),
    /// List issues
    List {
        #[command(flatten)]
        filters: Filters,
        /// Only these statuses, separated by commas
        #[arg(long, short)]
        status: Option<String>,
        /// Only issues of nobody
        #[arg(long)]
        no_assignee: bool,
        /// Closed ones too
        #[arg(long)]
        all: bool,
    },
    /// List what is ready, by priority, then oldest first
    Ready {
        #[command(flatten)]
        filters: Filters,
        /// Only issues of nobody
        #[arg(long, short)]
        unassigned: bool,
        /// Only what this agent may take
        #[arg(long)]
        for_agent: Option<String>,
        /// Claim the first
        #[arg(long)]
        claim: bool,
        /// KEY=VALUE of the metadata
        #[arg(long)]
        metadata_field: Option<String>,
        /// The order is always this one
        #[arg(long, value_parser = ["priority"])]
        sort: Option<String>,
    },
    /// List what waits
    Blocked {
        /// At most so many; 0 for all
        #[arg(long, short = 'n')]
        limit: Option<u32>,
    },
    /// Close issues
    #[command(alias = "done")]
    Close(Close),
    /// Open closed issues again
    Reopen {
        /// Ids
        #[arg(required = true)]
        ids: Vec<String>,
        /// Why
        #[arg(long, short)]
        reason: Option<String>,
    },
    /// Dependencies
    #[command(args_conflicts_with_subcommands = true)]
    Dep {
        #[command(subcommand)]
        verb: Option<Dep>,
        /// This issue …
        id: Option<String>,
        /// … blocks that one
        #[arg(long, value_name = "ID")]
        blocks: Option<String>,
    },
    /// Add a comment
    Comment {
        /// Id
        id: String,
        /// The text
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// List comments, or add one: `comments add ID TEXT`
    Comments {
        /// An id; or `add`, an id and the text
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Labels: `label add ID LABEL`, `label remove ID LABEL`, `label list ID`
    Label {
        /// add, remove or list
        #[arg(value_parser = ["add", "remove", "list"])]
        verb: String,
        /// Id
        id: String,
        /// Labels
        labels: Vec<String>,
    },
    /// List issues that mention all words
    Search {
        /// Words
        #[arg(required = true)]
        words: Vec<String>,
        /// At most so many; 0 for all
        #[arg(long, short = 'n')]
        limit: Option<u32>,
        /// Only this status
        #[arg(long, short)]
        status: Option<String>,
    },
    /// Count issues by where they stand
    #[command(alias = "status")]
    Stats,
    /// Count issues, in groups if wanted
    Count {
        /// Only this status
        #[arg(long, short)]
        status: Option<String>,
        /// By status
        #[arg(long)]
        by_status: bool,
        /// By type
        #[arg(long)]
        by_type: bool,
        /// By priority
        #[arg(long)]
        by_priority: bool,
        /// By assignee
        #[arg(long)]
        by_assignee: bool,
        /// By label
        #[arg(long)]
        by_label: bool,
    },
    /// Write every issue as a line of JSON
    Export {
        /// A file, in place of standard output
        #[arg(long, short)]
        output: Option<String>,
    },
    /// Take issues in from a file
    Import {
        /// The file
        #[arg(long, short)]
        input: Option<String>,
        /// The file
        #[arg(conflicts_with = "input")]
        path: Option<String>,
        /// Check and count only
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(clap::Args)]
pub struct Create {
    /// The title
    pub title: Option<String>,
    /// The title
    #[arg(long = "title", value_name = "T", conflicts_with = "title")]
    pub named: Option<String>,
    #[command(flatten)]
    pub fields: Fields,
    /// An id of your own
    #[arg(long)]
    pub id: Option<String>,
    /// ID or TYPE:ID, separated by commas; blocks:ID means that the new one blocks that one
    #[arg(long, value_delimiter = ',')]
    pub deps: Vec<String>,
    /// Not exported as work
    #[arg(long)]
    pub ephemeral: bool,
    /// Taken and passed over
    #[arg(long, hide = true)]
    pub force: bool,
    /// Print the id alone
    #[arg(long)]
    pub silent: bool,
}

#[derive(clap::Args)]
pub struct Update {
    /// Ids
    #[arg(required = true)]
    pub ids: Vec<String>,
    #[command(flatten)]
    pub fields: Fields,
    /// The title
    #[arg(long)]
    pub title: Option<String>,
    /// The status
    #[arg(long, short)]
    pub status: Option<String>,
    /// A line to be added to the notes
    #[arg(long)]
    pub append_notes: Option<String>,
    /// Labels to be added
    #[arg(long, value_delimiter = ',')]
    pub add_label: Vec<String>,
    /// Labels to be taken away
    #[arg(long, value_delimiter = ',')]
    pub remove_label: Vec<String>,
    /// Labels in place of those before
    #[arg(long, value_delimiter = ',')]
    pub set_labels: Option<Vec<String>>,
    /// Merge JSON objects key by key
    #[arg(long)]
    pub merge: bool,
    /// Claim it, alone
    #[arg(long)]
    pub claim: bool,
    /// Print nothing
    #[arg(long)]
    pub silent: bool,
}

#[derive(clap::Args)]
pub struct Close {
    /// Ids
    #[arg(required = true)]
    pub ids: Vec<String>,
    /// Why
    #[arg(long, short)]
    pub reason: Option<String>,
    /// Although something holds it back
    #[arg(long, short)]
    pub force: bool,
    /// Name what became ready
    #[arg(long)]
    pub suggest_next: bool,
    /// Claim the next that is ready
    #[arg(long)]
    pub claim_next: bool,
    /// How it went
    #[arg(long, value_parser = ["pass", "fail"])]
    pub result: Option<String>,
    /// What was done: a JSON object
    #[arg(long)]
    pub context: Option<String>,
}

#[derive(Subcommand)]
pub enum Dep {
    /// The first depends on the second
    Add {
        /// The one that depends
        id: String,
        /// What it depends on
        #[arg(required_unless_present_any = ["blocked_by", "depends_on"])]
        on: Option<String>,
        /// What it depends on
        #[arg(long)]
        blocked_by: Option<String>,
        /// What it depends on
        #[arg(long)]
        depends_on: Option<String>,
        /// The type
        #[arg(long = "type", short = 't', default_value = "blocks")]
        kind: String,
    },
    /// Take a dependency away
    #[command(alias = "rm")]
    Remove {
        /// The one that depends
        id: String,
        /// What it depends on
        on: String,
    },
    /// Show the tree
    Tree {
        /// Id
        id: String,
        /// down (what it depends on) or up
        #[arg(long, value_parser = ["down", "up"], default_value = "down")]
        direction: String,
    },
    /// List what it depends on
    List {
        /// Id
        id: String,
    },
    /// Look for circles
    Cycles,
}

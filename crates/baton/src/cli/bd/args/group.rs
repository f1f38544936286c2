//! Verbs below a verb.

use clap::Subcommand;

#[derive(Subcommand)]
pub(in crate::cli::bd) enum Dep {
    /// Make one issue depend on another
    Add {
        /// Issue that depends on the other
        #[arg(required_unless_present = "file")]
        id: Option<String>,
        /// Issue it depends on
        #[arg(required_unless_present_any = ["blocked_by", "depends_on", "file"])]
        on: Option<String>,
        /// Issue it depends on
        #[arg(long, value_name = "ID")]
        blocked_by: Option<String>,
        /// Issue it depends on
        #[arg(long, value_name = "ID")]
        depends_on: Option<String>,
        /// Type of dependency
        #[arg(long = "type", short = 't', default_value = "blocks")]
        kind: String,
        /// File with a JSON object on each line: from, to and type; - for standard input
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
        /// Accepted and ignored: cycles are always looked for
        #[arg(long, hide = true)]
        no_cycle_check: bool,
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
        /// Direction: down (what it depends on), up (what depends on it) or both
        #[arg(long, value_parser = ["down", "up", "both"], default_value = "down")]
        direction: String,
        /// Show what depends on it: the same as --direction up
        #[arg(long)]
        reverse: bool,
        /// Maximum depth
        #[arg(long, short = 'd', alias = "depth")]
        max_depth: Option<usize>,
        /// Only issues with this status
        #[arg(long)]
        status: Option<String>,
        /// Print a Mermaid flowchart
        #[arg(long, value_parser = ["mermaid"])]
        format: Option<String>,
        /// Accepted and ignored: an issue that came before is marked
        #[arg(long, hide = true)]
        show_all_paths: bool,
    },
    /// List what issues depend on
    List {
        /// Issue ids
        #[arg(required = true)]
        ids: Vec<String>,
        /// Direction: down (what they depend on) or up (what depends on them)
        #[arg(long, value_parser = ["down", "up"], default_value = "down")]
        direction: String,
        /// Only dependencies of this type
        #[arg(long = "type", short = 't')]
        kind: Option<String>,
    },
    /// Link two issues that have to do with each other
    Relate {
        /// Issue id
        id: String,
        /// Issue id
        other: String,
    },
    /// Remove the link between two issues
    Unrelate {
        /// Issue id
        id: String,
        /// Issue id
        other: String,
    },
    /// Find dependency cycles
    Cycles,
}

#[derive(Subcommand)]
pub(in crate::cli::bd) enum LabelVerb {
    /// Add labels to issues: the ids, then the labels, separated by commas
    Add {
        /// Issue ids, then the labels
        #[arg(required = true, num_args = 2..)]
        words: Vec<String>,
    },
    /// Remove labels from issues: the ids, then the labels, separated by commas
    Remove {
        /// Issue ids, then the labels
        #[arg(required = true, num_args = 2..)]
        words: Vec<String>,
    },
    /// List the labels of an issue
    List {
        /// Issue id
        id: String,
    },
    /// List all labels, with how many issues have each
    ListAll,
    /// Add a label of an issue to its parts
    Propagate {
        /// Issue id
        id: String,
        /// Label
        label: String,
    },
}

#[derive(Subcommand)]
pub(in crate::cli::bd) enum EpicVerb {
    /// Show how many parts of each epic are closed
    Status {
        /// Only epics whose parts are all closed
        #[arg(long)]
        eligible_only: bool,
    },
    /// Close epics whose parts are all closed
    CloseEligible {
        /// Show what would be closed
        #[arg(long)]
        dry_run: bool,
        /// Reason
        #[arg(long, short, default_value = "All children completed", allow_hyphen_values = true)]
        reason: String,
    },
}

#[derive(Subcommand)]
pub(in crate::cli::bd) enum SwarmVerb {
    /// List epics with how many of their parts are closed
    List,
    /// Show the parts of an epic by state
    Status {
        /// Epic
        id: String,
    },
    /// Show in which order the parts of an epic can be worked on
    Validate {
        /// Epic
        id: String,
    },
}

#[derive(Subcommand)]
pub(in crate::cli::bd) enum GateVerb {
    /// Create a gate that blocks an issue
    Create {
        /// Issue that waits
        #[arg(long, value_name = "ID")]
        blocks: String,
        /// What it waits for: human, timer, bead, gh:run or gh:pr
        #[arg(long = "type", short = 't', default_value = "human", value_parser = ["human", "timer", "bead", "gh:run", "gh:pr"])]
        kind: String,
        /// Reason
        #[arg(long, short, allow_hyphen_values = true)]
        reason: Option<String>,
        /// How long a timer waits, such as 2h
        #[arg(long, value_name = "SPAN")]
        timeout: Option<String>,
        /// Issue, run or pull request
        #[arg(long, value_name = "ID")]
        await_id: Option<String>,
    },
    /// List gates, or those that block an issue
    List {
        /// Issue id
        id: Option<String>,
        /// Closed ones too
        #[arg(long, short)]
        all: bool,
        /// Maximum number of results; 0 for all
        #[arg(long, short = 'n')]
        limit: Option<u32>,
    },
    /// Show a gate
    Show {
        /// Gate
        id: String,
    },
    /// Close a gate
    Resolve {
        /// Gate
        id: String,
        /// Reason
        #[arg(long, short, allow_hyphen_values = true)]
        reason: Option<String>,
    },
    /// Close the timers that have run out, and the gates whose issue is closed
    Check {
        /// Only gates of this type
        #[arg(long = "type", short = 't')]
        kind: Option<String>,
        /// Maximum number of gates to look at; 0 for all
        #[arg(long, short = 'l')]
        limit: Option<u32>,
        /// Show what would be closed
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Subcommand)]
pub(in crate::cli::bd) enum TodoVerb {
    /// Add a small task
    Add {
        /// Title
        #[arg(required = true)]
        title: Vec<String>,
        /// Priority
        #[arg(long, short, value_parser = crate::cli::priority)]
        priority: Option<i64>,
        /// Description
        #[arg(long, short, allow_hyphen_values = true)]
        description: Option<String>,
    },
    /// List small tasks
    List {
        /// Closed ones too
        #[arg(long)]
        all: bool,
    },
    /// Close small tasks
    Done {
        /// Issue ids
        #[arg(required = true)]
        ids: Vec<String>,
        /// Reason
        #[arg(long, short, default_value = "Completed", allow_hyphen_values = true)]
        reason: String,
    },
}

#[derive(Subcommand)]
pub(in crate::cli::bd) enum KvVerb {
    /// Store a value; one of the same name gives way
    Set {
        /// Name
        key: String,
        /// Value
        value: String,
    },
    /// Print a value
    Get {
        /// Name
        key: String,
    },
    /// Remove a value
    #[command(aliases = ["delete", "unset"])]
    Clear {
        /// Name
        key: String,
    },
    /// List all names and values
    List,
}

#[derive(Subcommand)]
pub(in crate::cli::bd) enum ConfigVerb {
    /// Show a setting
    Get {
        /// Setting
        key: String,
    },
    /// Show all settings
    #[command(alias = "show")]
    List,
    /// Say how a setting is changed
    Set {
        /// Setting
        key: String,
        /// Value
        value: String,
    },
    /// Say how a setting is removed
    Unset {
        /// Setting
        key: String,
    },
}

/// Issues with the label `human`: what waits for a person.
#[derive(Subcommand)]
pub(in crate::cli::bd) enum HumanVerb {
    /// List issues with the label `human`
    List {
        /// Only issues with one of these statuses, separated by commas; all for every status
        #[arg(long, short)]
        status: Option<String>,
    },
    /// Answer an issue: the text becomes a comment, and the issue is closed
    Respond {
        /// Issue id
        id: String,
        /// Answer
        text: Vec<String>,
        /// Answer
        #[arg(long, short, conflicts_with = "text", allow_hyphen_values = true)]
        response: Option<String>,
    },
    /// Close an issue without an answer
    Dismiss {
        /// Issue id
        id: String,
        /// Reason
        words: Vec<String>,
        /// Reason
        #[arg(long, conflicts_with = "words", allow_hyphen_values = true)]
        reason: Option<String>,
    },
    /// Count issues with the label `human`
    Stats,
}

#[derive(Subcommand)]
pub(in crate::cli::bd) enum Dolt {
    /// Write the file
    Push,
    /// Write the file
    Commit {
        /// Accepted and ignored
        #[arg(long, short, hide = true, allow_hyphen_values = true)]
        message: Option<String>,
    },
    /// Show where issues are kept
    #[command(alias = "show", alias = "test")]
    Status,
}

#[derive(Subcommand)]
pub(in crate::cli::bd) enum HooksVerb {
    /// Have git merge the file field by field
    Install {
        /// Accepted and ignored
        #[arg(long, hide = true)]
        force: bool,
        /// Accepted and ignored: git's hooks are left alone
        #[arg(long, hide = true)]
        shared: bool,
        /// Accepted and ignored: git's hooks are left alone
        #[arg(long, hide = true)]
        chain: bool,
        /// Accepted and ignored: git's hooks are left alone
        #[arg(long, hide = true)]
        beads: bool,
    },
    /// Have git merge the file line by line again
    Uninstall,
    /// Show how git merges the file
    #[command(alias = "status")]
    List,
    /// Called by git hooks of bd; does nothing, because commands keep the file in step
    Run {
        /// Hook and its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

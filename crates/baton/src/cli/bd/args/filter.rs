//! Which issues a command is about, and in what order.

use clap::ValueEnum;

/// Filters of several commands.
#[derive(clap::Args, Clone, Default)]
pub(in crate::cli::bd) struct Filters {
    /// Only issues assigned to this name
    #[arg(long, short)]
    pub assignee: Option<String>,
    /// Only issues of this priority; may be repeated
    #[arg(long, short, value_parser = crate::cli::priority)]
    pub priority: Vec<i64>,
    /// Only issues of this type
    #[arg(long = "type", short = 't')]
    pub issue_type: Option<String>,
    /// Only issues with all of these labels, separated by commas
    #[arg(long = "label", aliases = ["labels", "label-exact"], short, value_delimiter = ',')]
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
    /// Maximum number of results, 50 when nothing is said and 100 of those that are ready; 0 for all
    #[arg(long = "limit", short = 'n')]
    pub limit: Option<u32>,
    /// No issues with one of these labels, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub exclude_label: Vec<String>,
    /// No issues of these types, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub exclude_type: Vec<String>,
    /// Only issues with this metadata, as KEY=VALUE; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub metadata_field: Vec<String>,
    /// Only issues of this kind of molecule: swarm, patrol or work
    #[arg(long, value_name = "KIND")]
    pub mol_type: Option<String>,
    /// Only short-lived issues of this kind
    #[arg(long, value_name = "KIND")]
    pub wisp_type: Option<String>,
    /// Only issues with a label that fits this pattern; * stands for any text
    #[arg(long, value_name = "GLOB")]
    pub label_pattern: Option<String>,
    /// Only issues whose metadata has this key
    #[arg(long, value_name = "KEY")]
    pub has_metadata_key: Option<String>,
}

/// Further filters of `list`, `search` and `count`.
#[derive(clap::Args, Clone, Default)]
pub(in crate::cli::bd) struct MoreFilters {
    /// Only issues whose title contains this text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub title: Option<String>,
    /// Only issues whose title contains this text as well
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub title_contains: Option<String>,
    /// Only issues whose description contains this text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub desc_contains: Option<String>,
    /// Only issues whose notes contain this text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub notes_contains: Option<String>,
    /// Only issues whose external reference contains this text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub external_contains: Option<String>,
    /// Only the issue with this external reference
    #[arg(long, value_name = "REF")]
    pub external_ref: Option<String>,
    /// Only issues whose specification begins with this text
    #[arg(long, value_name = "SPEC")]
    pub spec: Option<String>,
    /// Only issues without a description
    #[arg(long)]
    pub empty_description: bool,
    /// Only these issues, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "IDS")]
    pub id: Vec<String>,
    /// Only issues of this priority or a less urgent one
    #[arg(long, value_parser = crate::cli::priority, value_name = "P")]
    pub priority_min: Option<i64>,
    /// Only issues of this priority or a more urgent one
    #[arg(long, value_parser = crate::cli::priority, value_name = "P")]
    pub priority_max: Option<i64>,
    /// Only unassigned issues
    #[arg(long)]
    pub no_assignee: bool,
    /// Only issues without labels
    #[arg(long)]
    pub no_labels: bool,
    /// Only issues that are not part of another
    #[arg(long)]
    pub no_parent: bool,
    /// Only pinned issues
    #[arg(long)]
    pub pinned: bool,
    /// No pinned issues
    #[arg(long, conflicts_with = "pinned")]
    pub no_pinned: bool,
    /// Only issues that are put off
    #[arg(long)]
    pub deferred: bool,
    /// Only open issues whose due date has passed
    #[arg(long)]
    pub overdue: bool,
    #[command(flatten)]
    pub times: Times,
    /// Short-lived issues as well
    #[arg(long, aliases = ["ephemeral", "include-wisps"])]
    pub include_ephemeral: bool,
    /// Gates as well, which `list` leaves out
    #[arg(long)]
    pub include_gates: bool,
    /// Issues of the types agent, message, rig and role as well, which `list` leaves out
    #[arg(long)]
    pub include_infra: bool,
    /// Accepted and ignored: issues of all kinds are listed
    #[arg(long, hide = true)]
    pub include_templates: bool,
    /// Accepted and ignored: labels cost nothing
    #[arg(long, hide = true)]
    pub skip_labels: bool,
}

/// Bounds of times: a date, an RFC 3339 time, a span back such as `7d`, or `yesterday`.
#[derive(clap::Args, Clone, Default)]
pub(in crate::cli::bd) struct Times {
    /// Only issues created after this time
    #[arg(long, value_name = "WHEN")]
    pub created_after: Option<String>,
    /// Only issues created before this time
    #[arg(long, value_name = "WHEN")]
    pub created_before: Option<String>,
    /// Only issues changed after this time
    #[arg(long, value_name = "WHEN")]
    pub updated_after: Option<String>,
    /// Only issues changed before this time
    #[arg(long, value_name = "WHEN")]
    pub updated_before: Option<String>,
    /// Only issues closed after this time
    #[arg(long, value_name = "WHEN")]
    pub closed_after: Option<String>,
    /// Only issues closed before this time
    #[arg(long, value_name = "WHEN")]
    pub closed_before: Option<String>,
    /// Only issues put off until after this time
    #[arg(long, value_name = "WHEN")]
    pub defer_after: Option<String>,
    /// Only issues put off until before this time
    #[arg(long, value_name = "WHEN")]
    pub defer_before: Option<String>,
    /// Only issues due after this time
    #[arg(long, value_name = "WHEN")]
    pub due_after: Option<String>,
    /// Only issues due before this time
    #[arg(long, value_name = "WHEN")]
    pub due_before: Option<String>,
}

/// What a list is sorted by; ties are in order of priority, then oldest first.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli::bd) enum SortKey {
    /// Most urgent first
    Priority,
    /// Newest first
    Created,
    /// Last changed first
    Updated,
    /// Last closed first
    Closed,
    /// By status
    Status,
    /// By id
    Id,
    /// By title
    Title,
    /// By type
    Type,
    /// By assignee
    Assignee,
    /// Oldest first
    Oldest,
    /// What is younger than two days by priority, then the rest, oldest first
    Hybrid,
}

/// Order and look of a list.
#[derive(clap::Args, Clone, Default)]
pub(in crate::cli::bd) struct Arrangement {
    /// What it is sorted by; each command has the option under a short name of its own
    #[arg(skip)]
    pub sort: Option<SortKey>,
    /// Reverse the order
    #[arg(long, short)]
    pub reverse: bool,
    /// Show everything about each issue
    #[arg(long)]
    pub long: bool,
    /// Show parts below the issue that they belong to
    #[arg(long, alias = "pretty")]
    pub tree: bool,
    /// Show a line for each issue; this is the default
    #[arg(long, conflicts_with = "tree", alias = "plain")]
    pub flat: bool,
    /// Accepted and ignored: no pager is used
    #[arg(long, hide = true)]
    pub no_pager: bool,
}

//! Verbs that show issues.

use clap::Subcommand;

use super::filter::{Arrangement, Filters, MoreFilters, SortKey};

#[derive(Subcommand)]
pub(in crate::cli::bd) enum View {
    /// Show issues
    #[command(alias = "view")]
    Show {
        /// Issue ids
        #[arg(required_unless_present_any = ["id", "current"])]
        ids: Vec<String>,
        /// Issue id that looks like an option; may be repeated
        #[arg(long, value_name = "ID")]
        id: Vec<String>,
        /// Show the issues that you have in progress
        #[arg(long)]
        current: bool,
        /// Show everything; JSON always has everything
        #[arg(long, alias = "long")]
        full: bool,
        /// Show a line for each issue
        #[arg(long, conflicts_with = "full")]
        short: bool,
        /// Show the parts of each issue only
        #[arg(long)]
        children: bool,
        /// Show the issues that refer to each issue only
        #[arg(long, conflicts_with = "children")]
        refs: bool,
        /// Accepted and ignored: JSON always has everything
        #[arg(long, hide = true)]
        include_comments: bool,
        /// Accepted and ignored: JSON always has everything
        #[arg(long, hide = true)]
        include_dependents: bool,
        /// Show times in the time zone of this machine; JSON has them in UTC
        #[arg(long)]
        local_time: bool,
    },
    /// List issues
    List {
        #[command(flatten)]
        filters: Box<Filters>,
        #[command(flatten)]
        more: Box<MoreFilters>,
        #[command(flatten)]
        look: Arrangement,
        /// Sort by this field
        #[arg(long, value_enum, value_name = "FIELD")]
        sort: Option<SortKey>,
        /// Only issues with one of these statuses, separated by commas; all for every status
        #[arg(long, short)]
        status: Option<String>,
        /// Include closed issues
        #[arg(long)]
        all: bool,
        /// Only issues that can be worked on
        #[arg(long)]
        ready: bool,
        /// Print a graph: dot (Graphviz) or digraph
        #[arg(long, value_parser = ["dot", "digraph"])]
        format: Option<String>,
    },
    /// List the parts of an issue, closed ones too
    Children {
        /// Issue id
        id: String,
        #[command(flatten)]
        look: Arrangement,
        /// Sort by this field
        #[arg(long, value_enum, value_name = "FIELD")]
        sort: Option<SortKey>,
    },
    /// List issues that can be worked on, by priority, then oldest first
    Ready {
        #[command(flatten)]
        filters: Box<Filters>,
        #[command(flatten)]
        look: Arrangement,
        /// Sort by this field
        #[arg(long, short, value_enum, value_name = "FIELD")]
        sort: Option<SortKey>,
        /// Only unassigned issues
        #[arg(long, short)]
        unassigned: bool,
        /// Only issues this agent may take
        #[arg(long)]
        for_agent: Option<String>,
        /// Claim the first of them
        #[arg(long)]
        claim: bool,
        /// Say for each issue why it can be worked on, and what the others wait for
        #[arg(long, conflicts_with = "claim")]
        explain: bool,
        /// Also issues that are put off until later
        #[arg(long, conflicts_with = "claim")]
        include_deferred: bool,
        /// Accepted and ignored: a line for each issue is the default
        #[arg(long, hide = true)]
        brief: bool,
        /// Only parts of this molecule
        #[arg(long, value_name = "ID", conflicts_with = "parent")]
        mol: Option<String>,
    },
    /// List blocked issues
    Blocked {
        /// Maximum number of results; 0 for all
        #[arg(long, short = 'n')]
        limit: Option<u32>,
        /// Only subtasks of this issue
        #[arg(long)]
        parent: Option<String>,
    },
    /// List issues by an expression: `status=open AND priority<=1 AND updated>7d`
    Query {
        /// Expression
        #[arg(required = true)]
        expression: Vec<String>,
        /// Include closed issues
        #[arg(long, short)]
        all: bool,
        /// Maximum number of results; 0 for all
        #[arg(long, short = 'n')]
        limit: Option<u32>,
        #[command(flatten)]
        look: Arrangement,
        /// Sort by this field
        #[arg(long, value_enum, value_name = "FIELD")]
        sort: Option<SortKey>,
        /// Only check the expression
        #[arg(long)]
        parse_only: bool,
    },
    /// List open issues that mention all of the given words
    Search {
        /// Words that must all occur
        #[arg(required_unless_present = "query")]
        words: Vec<String>,
        /// Words that must all occur
        #[arg(long, value_name = "WORDS", conflicts_with = "words", allow_hyphen_values = true)]
        query: Option<String>,
        #[command(flatten)]
        filters: Box<Filters>,
        #[command(flatten)]
        more: Box<MoreFilters>,
        #[command(flatten)]
        look: Arrangement,
        /// Sort by this field
        #[arg(long, value_enum, value_name = "FIELD")]
        sort: Option<SortKey>,
        /// Only issues with one of these statuses, separated by commas
        #[arg(long, short)]
        status: Option<String>,
    },
    /// Count issues by state
    #[command(alias = "status")]
    Stats {
        /// Accepted and ignored: all issues are counted
        #[arg(long, hide = true)]
        all: bool,
        /// List the issues that are assigned to you
        #[arg(long)]
        assigned: bool,
        /// Accepted and ignored: git is not asked
        #[arg(long, hide = true)]
        no_activity: bool,
    },
    /// Count issues, optionally in groups
    Count {
        #[command(flatten)]
        filters: Box<Filters>,
        #[command(flatten)]
        more: Box<MoreFilters>,
        /// Only issues with one of these statuses, separated by commas
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
    /// List issues that have not changed for long
    Stale {
        /// Days without a change
        #[arg(long, short, default_value_t = 30)]
        days: u32,
        /// Maximum number of results; 0 for all
        #[arg(long, short = 'n')]
        limit: Option<u32>,
        /// Only issues with this status
        #[arg(long, short)]
        status: Option<String>,
    },
    /// List issues that lack a section that their type should have
    Lint {
        /// Issue ids; all open ones when none is given
        ids: Vec<String>,
        /// Only issues with this status; all for every status
        #[arg(long, short)]
        status: Option<String>,
        /// Only issues of this type
        #[arg(long = "type", short = 't')]
        issue_type: Option<String>,
    },
    /// List open issues that commits mention
    Orphans {
        /// Name the commits
        #[arg(long)]
        details: bool,
        /// Only issues with all of these labels, separated by commas
        #[arg(long = "label", short, value_delimiter = ',')]
        labels: Vec<String>,
        /// Only issues with at least one of these labels, separated by commas
        #[arg(long, value_delimiter = ',')]
        label_any: Vec<String>,
    },
    /// Show what changed in an issue, newest first
    History {
        /// Issue id
        id: String,
        /// Maximum number of changes; 0 for all
        #[arg(long, short = 'n')]
        limit: Option<u32>,
        /// Accepted and ignored: all events are shown
        #[arg(long, hide = true)]
        events: bool,
    },
    /// Find issues with the same content
    Duplicates {
        /// Close all but one of each group
        #[arg(long)]
        auto_merge: bool,
        /// Show what would be closed
        #[arg(long)]
        dry_run: bool,
    },
    /// List the statuses
    Statuses,
    /// List the types
    Types {
        /// Name the sections that each should have
        #[arg(long)]
        sections: bool,
    },
    /// Show the dependencies of an issue, or of all open ones, as a graph
    Graph {
        /// Issue id, or `check`
        id: Option<String>,
        /// All open issues
        #[arg(long, conflicts_with = "id")]
        all: bool,
        /// Print Graphviz
        #[arg(long)]
        dot: bool,
        /// A line for each issue; this is the default
        #[arg(long, alias = "box")]
        compact: bool,
        /// Only open issues
        #[arg(long)]
        open: bool,
    },
}

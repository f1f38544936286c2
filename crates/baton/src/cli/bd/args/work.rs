//! Verbs that change issues.

use clap::Subcommand;

use super::change::{Close, Create, Text, Update};

/// `bd delete`.
#[derive(clap::Args)]
pub(in crate::cli::bd) struct Delete {
    /// Issue ids
    pub ids: Vec<String>,
    /// File with an id on each line, or - for standard input
    #[arg(long, value_name = "FILE")]
    pub from_file: Option<String>,
    /// Delete; without it you see what would go
    #[arg(long, short)]
    pub force: bool,
    /// Only show what would go
    #[arg(long)]
    pub dry_run: bool,
    /// Delete what depends on them as well, and what depends on that
    #[arg(long)]
    pub cascade: bool,
    /// Reason
    #[arg(long, short, allow_hyphen_values = true)]
    pub reason: Option<String>,
    /// Accepted and ignored: a deleted issue stays in the file as one that was deleted
    #[arg(long, hide = true)]
    pub hard: bool,
}

/// `bd increment`.
#[derive(clap::Args)]
pub(in crate::cli::bd) struct Increment {
    /// Title: what to build
    pub title: String,
    /// What to build, or - for standard input
    #[arg(long, short, value_name = "T", alias = "body", allow_hyphen_values = true)]
    pub description: Option<String>,
    /// Priority, from 0 (now) to 4 (some day), or P0 to P4
    #[arg(long, short, value_name = "P", value_parser = crate::cli::priority)]
    pub priority: Option<i64>,
    /// Acceptance criteria
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub acceptance: Option<String>,
    /// Skills that the building agent needs, separated by commas
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub tags: Vec<String>,
    /// Labels of all four, separated by commas
    #[arg(long = "labels", visible_alias = "label", short = 'l', value_name = "L", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// Estimated duration of the implementation, in minutes
    #[arg(long, short = 'e', value_name = "MINUTES", visible_alias = "estimate")]
    pub estimated_duration: Option<i64>,
    /// Issue that all four are a part of
    #[arg(long, value_name = "ID")]
    pub parent: Option<String>,
    /// What the building agent needs to know: a JSON object, or - for standard input
    #[arg(long, value_name = "JSON")]
    pub handoff_instructions: Option<String>,
    /// Verification issue of the previous increment
    #[arg(long, value_name = "ID")]
    pub after: Option<String>,
    /// Print only the verification issue's id
    #[arg(long)]
    pub silent: bool,
}

#[derive(Subcommand)]
pub(in crate::cli::bd) enum Work {
    /// Create an issue
    #[command(alias = "new")]
    Create(Box<Create>),
    /// Create an issue and print its id
    Q {
        /// Title of the issue
        #[arg(required = true)]
        title: Vec<String>,
        /// Labels, separated by commas
        #[arg(long = "labels", alias = "label", short = 'l', value_delimiter = ',')]
        labels: Vec<String>,
        /// Issue that it is a part of
        #[arg(long)]
        parent: Option<String>,
        /// Priority
        #[arg(long, short, value_parser = crate::cli::priority)]
        priority: Option<i64>,
        /// Type
        #[arg(long = "type", short = 't')]
        issue_type: Option<String>,
    },
    /// Create four linked issues: build, test, fix if needed, verify
    Increment(Box<Increment>),
    /// Change issues
    Update(Box<Update>),
    /// Close issues
    #[command(alias = "done")]
    Close(Close),
    /// Reopen closed issues
    Reopen {
        /// Issue ids
        #[arg(required = true)]
        ids: Vec<String>,
        /// Reason
        #[arg(long, short, allow_hyphen_values = true)]
        reason: Option<String>,
    },
    /// Give claimed issues back
    Unclaim {
        /// Issue ids
        #[arg(required = true)]
        ids: Vec<String>,
        /// Reason
        #[arg(long, short, allow_hyphen_values = true)]
        reason: Option<String>,
        /// Give it back even if another agent has it
        #[arg(long)]
        force: bool,
    },
    /// Renew the claim of issues that you work on
    #[command(alias = "hb")]
    Heartbeat {
        /// Issue ids
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Assign an issue; an empty name unassigns it
    Assign {
        /// Issue id
        id: String,
        /// Name
        name: String,
    },
    /// Set the priority of an issue
    Priority {
        /// Issue id
        id: String,
        /// Priority
        #[arg(value_parser = crate::cli::priority)]
        priority: i64,
    },
    /// Add a label to an issue
    Tag {
        /// Issue id
        id: String,
        /// Label
        label: String,
    },
    /// Append a line to an issue's notes
    Note {
        /// Issue id
        id: String,
        #[command(flatten)]
        text: Text,
    },
    /// Put issues off
    Defer {
        /// Issue ids
        #[arg(required = true)]
        ids: Vec<String>,
        /// Until when; without it until `bd undefer`
        #[arg(long, value_name = "WHEN")]
        until: Option<String>,
        /// Reason; kept in the notes
        #[arg(long, short, allow_hyphen_values = true)]
        reason: Option<String>,
    },
    /// Take up issues that were put off
    Undefer {
        /// Issue ids
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Edit a field of an issue in $EDITOR
    Edit {
        /// Issue id
        id: String,
        /// Edit the title
        #[arg(long, group = "field")]
        title: bool,
        /// Edit the description; this is the default
        #[arg(long, group = "field")]
        description: bool,
        /// Edit the design
        #[arg(long, group = "field")]
        design: bool,
        /// Edit the notes
        #[arg(long, group = "field")]
        notes: bool,
        /// Edit the acceptance criteria
        #[arg(long, group = "field")]
        acceptance: bool,
    },
    /// Make a short-lived issue permanent
    Promote {
        /// Issue id
        id: String,
        /// Reason; kept as a comment
        #[arg(long, short, allow_hyphen_values = true)]
        reason: Option<String>,
    },
    /// Delete issues; what they said stays in the ledger
    Delete(Delete),
    /// Give an issue another id
    Rename {
        /// Issue id
        id: String,
        /// Its new id
        to: String,
    },
    /// Make several changes, all of them or none: one on each line of a file or of standard input
    Batch {
        /// File with the changes; defaults to standard input
        #[arg(long, short, value_name = "FILE")]
        file: Option<String>,
        /// Only check that every line is understood
        #[arg(long)]
        dry_run: bool,
        /// Accepted and ignored: the ledger says what each change was
        #[arg(long, short, hide = true, value_name = "TEXT", allow_hyphen_values = true)]
        message: Option<String>,
    },
    /// Close an issue as a duplicate of another
    Duplicate {
        /// Issue id
        id: String,
        /// Issue that stays
        #[arg(long, value_name = "ID")]
        of: String,
    },
    /// Close an issue in favour of another
    Supersede {
        /// Issue id
        id: String,
        /// Issue that takes its place
        #[arg(long, value_name = "ID")]
        with: String,
    },
}

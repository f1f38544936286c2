//! Verbs about what belongs to issues: dependencies, comments, labels, parts, memories.

use clap::Subcommand;

use super::change::Text;
use super::group::{Dep, EpicVerb, GateVerb, KvVerb, LabelVerb, SwarmVerb, TodoVerb};
use super::molecule::{MolVerb, WispVerb};

#[derive(Subcommand)]
pub(in crate::cli::bd) enum Relation {
    /// Manage dependencies
    #[command(args_conflicts_with_subcommands = true)]
    Dep {
        #[command(subcommand)]
        verb: Option<Dep>,
        /// Issue that blocks the other
        id: Option<String>,
        /// Issue that is blocked
        #[arg(long, short, value_name = "ID")]
        blocks: Option<String>,
        /// Accepted and ignored: cycles are always looked for
        #[arg(long, hide = true)]
        no_cycle_check: bool,
    },
    /// Add a comment
    Comment {
        /// Issue id
        id: String,
        #[command(flatten)]
        text: Text,
    },
    /// List comments, or add one: `comments add ID TEXT`
    Comments {
        /// Issue id; or `add`, an issue id and the text
        #[arg(required = true)]
        words: Vec<String>,
        /// With `add`: file with the text, or - for standard input
        #[arg(long, short, value_name = "FILE")]
        file: Option<String>,
        /// With `add`: who says it
        #[arg(long, short, value_name = "NAME")]
        author: Option<String>,
        /// Accepted and ignored: times are in UTC
        #[arg(long, hide = true)]
        local_time: bool,
    },
    /// Manage labels
    Label {
        #[command(subcommand)]
        verb: LabelVerb,
    },
    /// Show the value of a state that a label `DIMENSION:VALUE` says: `state ID DIMENSION`, `state list ID`
    State {
        /// Issue id and dimension; or `list` and an issue id
        #[arg(num_args = 2, required = true)]
        words: Vec<String>,
    },
    /// Set a state, kept as a label `DIMENSION:VALUE`
    SetState {
        /// Issue id
        id: String,
        /// DIMENSION=VALUE
        state: String,
        /// Reason; kept as a comment
        #[arg(long, allow_hyphen_values = true)]
        reason: Option<String>,
    },
    /// Show and close epics
    Epic {
        #[command(subcommand)]
        verb: EpicVerb,
    },
    /// Show how the parts of an epic stand
    Swarm {
        #[command(subcommand)]
        verb: SwarmVerb,
    },
    /// Show molecules: issues with parts
    Mol {
        #[command(subcommand)]
        verb: MolVerb,
    },
    /// List, show and close short-lived issues
    Wisp {
        #[command(subcommand)]
        verb: Option<WispVerb>,
    },
    /// Have an issue wait for something outside
    Gate {
        #[command(subcommand)]
        verb: GateVerb,
    },
    /// Keep a list of small tasks
    Todo {
        #[command(subcommand)]
        verb: Option<TodoVerb>,
    },
    /// Store a memory
    Remember {
        /// Text; the name of a memory alone shows it
        #[arg(required = true)]
        text: Vec<String>,
        /// Name of the memory; else made from its first words
        #[arg(long)]
        key: Option<String>,
    },
    /// Show a memory
    Recall {
        /// Name or id of the memory
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// List memories
    Memories {
        /// Words that their names or texts have; all memories without them
        words: Vec<String>,
    },
    /// Withdraw a memory
    Forget {
        /// Id or name of the memory
        id: String,
    },
    /// Keep values by name, as memories with the tag `kv:NAME`
    Kv {
        #[command(subcommand)]
        verb: KvVerb,
    },
    /// Make one issue depend on another
    Link {
        /// Issue that depends on the other
        id: String,
        /// Issue it depends on
        on: String,
        /// Type of dependency
        #[arg(long = "type", short = 't', default_value = "blocks")]
        kind: String,
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
}

//! What `bd` takes.

mod change;
mod diagnosis;
mod filter;
mod group;
mod molecule;
mod registration;
mod relation;
mod setup;
mod view;
mod work;

use clap::Subcommand;

pub(super) use change::{Close, Create, KeptFields, Text, TextFiles, Update};
pub(super) use diagnosis::{Area, Doctor};
pub(super) use filter::{Arrangement, Filters, MoreFilters, SortKey};
pub(super) use group::{
    ConfigVerb, Dep, Dolt, EpicVerb, GateVerb, HooksVerb, HumanVerb, KvVerb, LabelVerb, SwarmVerb, TodoVerb,
};
pub(super) use molecule::{MolVerb, WispVerb};
pub(super) use registration::{Prime, Sync};
pub(super) use relation::Relation;
pub(super) use setup::Setup;
pub(super) use view::View;
pub(super) use work::{Delete, Increment, Work};

/// Manage this project's tasks with the commands of the issue tracker Beads
#[derive(clap::Parser)]
#[command(
    name = "bd",
    version = super::about::VERSION,
    propagate_version = true,
    disable_help_subcommand = true,
    args_override_self = true,
    max_term_width = 100
)]
pub(super) struct Bd {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// What the help says above them.
const EVERYWHERE: &str = "Options of every command";

/// Options of every command.
#[derive(clap::Args)]
pub(super) struct Global {
    /// Print JSON
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub json: bool,
    /// Print nothing but errors
    #[arg(long, short, global = true, help_heading = EVERYWHERE)]
    pub quiet: bool,
    /// Name to act under; defaults to BEADS_ACTOR or BD_ACTOR
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "NAME")]
    pub actor: Option<String>,
    /// Refuse every command that writes
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub readonly: bool,
    /// Folder to work in
    #[arg(long, short = 'C', global = true, help_heading = EVERYWHERE, value_name = "DIR")]
    pub directory: Option<String>,
    /// Database of another folder: the project of that folder is used
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "PATH")]
    pub db: Option<String>,
    #[command(flatten)]
    pub ignored: IgnoredArgs,
}

/// Options of Beads that have nothing to act on here.
#[derive(clap::Args)]
pub(super) struct IgnoredArgs {
    /// Accepted and ignored
    #[arg(long, global = true, hide = true)]
    pub no_daemon: bool,
    /// Accepted and ignored
    #[arg(long, global = true, hide = true)]
    pub no_auto_flush: bool,
    /// Accepted and ignored
    #[arg(long, global = true, hide = true)]
    pub no_auto_import: bool,
    /// Accepted and ignored: the file is looked at before every command
    #[arg(long, global = true, hide = true)]
    pub allow_stale: bool,
    /// Accepted and ignored
    #[arg(long, global = true, hide = true)]
    pub no_db: bool,
    /// Accepted and ignored
    #[arg(long, global = true, hide = true)]
    pub sandbox: bool,
    /// Accepted and ignored
    #[arg(long, global = true, hide = true)]
    pub no_color: bool,
    /// Accepted and ignored
    #[arg(long, short, global = true, hide = true)]
    pub verbose: bool,
    /// Accepted and ignored
    #[arg(long, global = true, hide = true, value_name = "POLICY")]
    pub dolt_auto_commit: Option<String>,
    /// Accepted and ignored
    #[arg(long, global = true, hide = true)]
    pub embedded: bool,
    /// Accepted and ignored
    #[arg(long, global = true, hide = true)]
    pub ignore_schema_skew: bool,
}

/// A command.
#[derive(Subcommand)]
pub(super) enum Command {
    #[command(flatten)]
    Work(Work),
    #[command(flatten)]
    View(View),
    #[command(flatten)]
    Relation(Relation),
    #[command(flatten)]
    Setup(Setup),
}

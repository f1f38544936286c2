//! Verbs around the project and the program.

use clap::Subcommand;

use super::diagnosis::Doctor;
use super::group::{ConfigVerb, Dolt, HooksVerb, HumanVerb};
use super::registration::{Bootstrap, Init, Prime, Sync};

#[derive(Subcommand)]
pub(in crate::cli::bd) enum Setup {
    /// Register this folder and import the issues of its .beads/issues.jsonl
    Init(Box<Init>),
    /// Register a fresh clone and import the issues of its .beads/issues.jsonl
    Bootstrap(Bootstrap),
    /// Export every issue as a line of JSON
    Export {
        /// File to write to; defaults to standard output
        #[arg(long, short)]
        output: Option<String>,
        /// Also short-lived issues and memories
        #[arg(long, alias = "include-ephemeral")]
        all: bool,
        /// Also the memories that `remember` keeps; those of the mirrored file are exported in any case
        #[arg(long)]
        include_memories: bool,
        /// Accepted and ignored: issues of all kinds are exported
        #[arg(long, hide = true)]
        include_infra: bool,
    },
    /// Import issues from a file
    Import {
        /// File to import
        #[arg(long, short)]
        input: Option<String>,
        /// File to import, or - for standard input
        #[arg(conflicts_with = "input")]
        path: Option<String>,
        /// Check and count without importing anything
        #[arg(long)]
        dry_run: bool,
    },
    /// Bring the file and the ledger in step, in both directions
    Sync(Sync),
    /// Bring the file and the ledger in step; git carries the file
    Dolt {
        #[command(subcommand)]
        verb: Dolt,
    },
    /// Manage git hooks
    Hooks {
        #[command(subcommand)]
        verb: HooksVerb,
    },
    /// Show settings
    Config {
        #[command(subcommand)]
        verb: ConfigVerb,
    },
    /// Check that all is well
    Doctor(Box<Doctor>),
    /// Show the version
    Version,
    /// Show the store and how much is in it
    Info {
        /// Also the version of the schema and some ids
        #[arg(long)]
        schema: bool,
        /// Say where it is written what is new
        #[arg(long)]
        whats_new: bool,
    },
    /// Show where issues are kept
    #[command(alias = "context")]
    Where,
    /// Say that it works
    Ping,
    /// Print how an agent works with issues
    Prime(Prime),
    /// Print what belongs into AGENTS.md
    Onboard,
    /// Print the first commands
    Quickstart,
    /// Print the commands that people use most, or look after issues that wait for a person
    Human {
        #[command(subcommand)]
        verb: Option<HumanVerb>,
    },
    /// Print shell completions
    Completion {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Show help
    Help {
        /// Command
        command: Vec<String>,
        /// Show the help of every command
        #[arg(long)]
        all: bool,
    },
}

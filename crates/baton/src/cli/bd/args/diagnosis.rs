//! `bd doctor`.

use clap::ValueEnum;

/// What `bd doctor` looks at.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli::bd) enum Area {
    /// Everything that is usually looked at
    #[value(alias = "all")]
    Validate,
    /// Issues that can be read
    Database,
    /// Cycles of dependencies
    Cycles,
    /// Issues with the same content
    Duplicates,
    /// The Beads file
    File,
    /// Files beside it that versions of Beads before 1.0 have left
    Artifacts,
    /// Sections that issues of a type should have
    Conventions,
    /// Issues that look as if a test had made them
    Pollution,
    /// Dependencies on what is not there
    Dependencies,
}

#[derive(clap::Args)]
pub(in crate::cli::bd) struct Doctor {
    /// Look at this only
    #[arg(long, value_enum, value_name = "AREA")]
    pub check: Option<Area>,
    /// Look at conventions, leftovers of tests and of earlier versions, and dependencies as well
    #[arg(long, conflicts_with = "check")]
    pub deep: bool,
    /// Write the file if it is not in step; what is left is named with the command that mends it
    #[arg(long)]
    pub fix: bool,
    /// With --fix: only say what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Write the findings as JSON to this file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,
    /// Print nothing where all is well
    #[arg(long)]
    pub check_health: bool,
    /// Accepted and ignored: each finding names the command that mends it
    #[arg(long, hide = true)]
    pub agent: bool,
    /// Accepted and ignored: nothing is asked
    #[arg(long, short, hide = true)]
    pub yes: bool,
    /// Accepted and ignored: nothing is asked
    #[arg(long, short, hide = true)]
    pub interactive: bool,
    /// Accepted and ignored: nothing is ever overwritten unread
    #[arg(long, hide = true)]
    pub force: bool,
    /// Accepted and ignored: file and ledger are merged entry by entry
    #[arg(long, hide = true, value_name = "SOURCE")]
    pub source: Option<String>,
    /// Accepted and ignored: children are never changed by --fix
    #[arg(long, hide = true)]
    pub fix_child_parent: bool,
    /// Refused: another folder is named before the verb, `bd -C FOLDER doctor`
    #[arg(value_name = "FOLDER")]
    pub folder: Vec<String>,
}

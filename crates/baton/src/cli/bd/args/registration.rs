//! Verbs that register a folder, keep its file in step, and tell an agent how to begin.

/// `bd init`.
#[derive(clap::Args)]
pub(in crate::cli::bd) struct Init {
    /// What the ids of issues begin with: the project id
    #[arg(long, short)]
    pub prefix: Option<String>,
    /// The same as --prefix
    #[arg(value_name = "PREFIX", conflicts_with = "prefix")]
    pub name: Option<String>,
    /// Import the issues of this file; without a value those of .beads/issues.jsonl, as usual
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub from_jsonl: Option<Option<String>>,
    /// Keep git from adding the folder .beads, by a line in this clone's .git/info/exclude
    #[arg(long, alias = "setup-exclude")]
    pub stealth: bool,
    #[command(flatten)]
    pub ignored: InitIgnored,
}

/// Options of `bd init` that have nothing to act on here.
#[derive(clap::Args)]
pub(in crate::cli::bd) struct InitIgnored {
    /// Accepted and ignored: init installs no hooks; `bd hooks install` does
    #[arg(long, hide = true)]
    pub skip_hooks: bool,
    /// Accepted and ignored: init writes no AGENTS.md; `bd onboard` prints what belongs into it
    #[arg(long, hide = true)]
    pub skip_agents: bool,
    /// Accepted and ignored: init sets up no merge driver; `baton init --merge-driver` does
    #[arg(long, hide = true)]
    pub skip_merge_driver: bool,
    /// Accepted and ignored: nothing is overwritten
    #[arg(long, short, hide = true)]
    pub force: bool,
    /// Accepted and ignored: nothing is asked
    #[arg(long, alias = "yes", hide = true)]
    pub non_interactive: bool,
    /// Accepted and ignored: a folder that is registered stays as it is
    #[arg(long, hide = true)]
    pub init_if_missing: bool,
}

/// `bd bootstrap`.
#[derive(clap::Args)]
pub(in crate::cli::bd) struct Bootstrap {
    /// Only say what would be registered and imported
    #[arg(long)]
    pub dry_run: bool,
    /// Accepted and ignored: nothing is asked
    #[arg(long, short, alias = "non-interactive", hide = true)]
    pub yes: bool,
}

/// `bd sync`.
#[derive(clap::Args, Default)]
pub(in crate::cli::bd) struct Sync {
    /// Only say what would change
    #[arg(long)]
    pub dry_run: bool,
    /// Only say how ledger and file stand
    #[arg(long, alias = "check")]
    pub status: bool,
    /// Take in what the file has and leave it as it is
    #[arg(long)]
    pub import_only: bool,
    /// Accepted and ignored: the file is read before it is written, so that nothing in it is lost
    #[arg(long, alias = "export", hide = true)]
    pub flush_only: bool,
    /// Accepted and ignored: git commits the file
    #[arg(long, short, hide = true, allow_hyphen_values = true, value_name = "TEXT")]
    pub message: Option<String>,
    /// Accepted and ignored: git pulls and pushes the file
    #[arg(long, alias = "no-push", alias = "no-git-history", hide = true)]
    pub no_pull: bool,
    /// Accepted and ignored: all of it is done always
    #[arg(
        long,
        alias = "squash",
        alias = "merge",
        alias = "from-main",
        alias = "accept-rebase",
        hide = true
    )]
    pub full: bool,
    /// Accepted and ignored: issues keep their ids
    #[arg(long, hide = true)]
    pub rename_on_import: bool,
}

/// `bd prime`.
#[derive(clap::Args)]
pub(in crate::cli::bd) struct Prime {
    /// Print it as the answer of a session hook
    #[arg(long)]
    pub hook_json: bool,
    /// Print the memories only
    #[arg(long)]
    pub memories_only: bool,
    /// Print no memories
    #[arg(long, conflicts_with = "memories_only")]
    pub no_memories: bool,
    /// Maximum number of memories; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub max_memories: usize,
    /// Print the whole text, whatever --mcp says
    #[arg(long)]
    pub full: bool,
    /// Print a short text for an agent that has the MCP server
    #[arg(long)]
    pub mcp: bool,
    /// Accepted and ignored: the text has no git commands
    #[arg(long, hide = true)]
    pub stealth: bool,
    /// Print the usual text, also where .beads/PRIME.md has another: a beginning of one's own
    #[arg(long)]
    pub export: bool,
}

//! What writes an issue down and changes it.

use crate::cli::task::Fields;

/// Texts that may come from a file or standard input.
#[derive(clap::Args, Clone, Default)]
pub(in crate::cli::bd) struct TextFiles {
    /// File with the description, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["description", "body", "message"])]
    pub body_file: Option<String>,
    /// The same as --body-file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["description", "body", "message"])]
    pub description_file: Option<String>,
    /// The same as --description
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub body: Option<String>,
    /// The same as --description
    #[arg(long, short, value_name = "T", allow_hyphen_values = true)]
    pub message: Option<String>,
    /// Read the description from standard input
    #[arg(long, conflicts_with_all = ["description", "body_file", "description_file", "body", "message"])]
    pub stdin: bool,
    /// File with the design, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "design")]
    pub design_file: Option<String>,
}

/// Fields of Beads that Baton keeps and does not act on.
#[derive(clap::Args, Clone, Default)]
pub(in crate::cli::bd) struct KeptFields {
    /// Specification that the issue belongs to
    #[arg(long, value_name = "SPEC")]
    pub spec_id: Option<String>,
    /// Kind of molecule: swarm, patrol or work
    #[arg(long, value_name = "KIND")]
    pub mol_type: Option<String>,
    /// What an issue of type gate waits for: human, timer, gh:run or gh:pr
    #[arg(long, value_name = "KIND")]
    pub await_type: Option<String>,
    /// Run, pull request or span that an issue of type gate waits for
    #[arg(long, value_name = "ID")]
    pub await_id: Option<String>,
    /// Kind of short-lived issue
    #[arg(long, value_name = "KIND")]
    pub wisp_type: Option<String>,
    /// Mark it as not kept in the history
    #[arg(long)]
    pub no_history: bool,
    /// Mark it as short-lived: it is not exported as work
    #[arg(long)]
    pub ephemeral: bool,
}

#[derive(clap::Args)]
pub(in crate::cli::bd) struct Create {
    /// Title of the issue
    pub title: Option<String>,
    /// Title of the issue
    #[arg(long = "title", value_name = "T", allow_hyphen_values = true)]
    pub named: Option<String>,
    #[command(flatten)]
    pub fields: Fields,
    #[command(flatten)]
    pub texts: TextFiles,
    #[command(flatten)]
    pub kept: KeptFields,
    /// Id to use instead of a generated one
    #[arg(long)]
    pub id: Option<String>,
    /// Dependencies, separated by commas: ID or TYPE:ID; with blocks:ID the new issue blocks that one
    #[arg(long, value_delimiter = ',')]
    pub deps: Vec<String>,
    /// Issue whose parts the new one waits for
    #[arg(long, value_name = "ID")]
    pub waits_for: Option<String>,
    /// How many of the parts it waits for
    #[arg(long, value_parser = ["all-children", "any-children"], default_value = "all-children", requires = "waits_for")]
    pub waits_for_gate: String,
    /// Status of the issue
    #[arg(long, short)]
    pub status: Option<String>,
    /// Line to append to the notes
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub append_notes: Option<String>,
    /// Skills that the work needs; a paragraph of the description
    #[arg(long, value_name = "T")]
    pub skills: Option<String>,
    /// Do not take over the labels of the parent
    #[arg(long)]
    pub no_inherit_labels: bool,
    /// Refuse an issue whose description lacks a section that its type should have
    #[arg(long)]
    pub validate: bool,
    /// Check and show what would be created, without creating it
    #[arg(long)]
    pub dry_run: bool,
    /// Create an issue for each heading of a Markdown file
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["title", "named", "graph"])]
    pub file: Option<String>,
    /// Create linked issues from a plan: a JSON file with `nodes` and `edges`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["title", "named"])]
    pub graph: Option<String>,
    /// Take a type that no issue has yet
    #[arg(long)]
    pub force: bool,
    /// Print only the id
    #[arg(long)]
    pub silent: bool,
}

#[derive(clap::Args)]
pub(in crate::cli::bd) struct Update {
    /// Issue ids
    pub ids: Vec<String>,
    #[command(flatten)]
    pub fields: Fields,
    #[command(flatten)]
    pub texts: TextFiles,
    #[command(flatten)]
    pub kept: KeptFields,
    /// Title of the issue
    #[arg(long, allow_hyphen_values = true)]
    pub title: Option<String>,
    /// Status of the issue
    #[arg(long, short)]
    pub status: Option<String>,
    /// Line to append to the notes
    #[arg(long, allow_hyphen_values = true)]
    pub append_notes: Option<String>,
    /// Labels to add, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub add_label: Vec<String>,
    /// Labels to remove, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub remove_label: Vec<String>,
    /// Labels that replace the existing ones, separated by commas
    #[arg(long, value_delimiter = ',')]
    pub set_labels: Option<Vec<String>>,
    /// Metadata to set, as KEY=VALUE; may be repeated
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "metadata")]
    pub set_metadata: Vec<String>,
    /// Key of the metadata to remove; may be repeated
    #[arg(long, value_name = "KEY", conflicts_with = "metadata")]
    pub unset_metadata: Vec<String>,
    /// Mark it as permanent
    #[arg(long, conflicts_with = "ephemeral")]
    pub persistent: bool,
    /// Mark it as kept in the history
    #[arg(long, conflicts_with = "no_history")]
    pub history: bool,
    /// Session that closes it, with --status closed
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Allow an empty description from a file or standard input
    #[arg(long)]
    pub allow_empty_description: bool,
    /// Merge the JSON objects key by key instead of replacing them; null removes a key
    #[arg(long)]
    pub merge: bool,
    /// Claim it for yourself
    #[arg(long)]
    pub claim: bool,
    /// Take a type that no issue has yet; with --status closed, close even if something blocks it
    #[arg(long)]
    pub force: bool,
    /// Print nothing
    #[arg(long)]
    pub silent: bool,
}

#[derive(clap::Args, Default)]
pub(in crate::cli::bd) struct Close {
    /// Issue ids; a last word that is none is the reason
    pub ids: Vec<String>,
    /// Reason; given once it holds for all, given once for each issue it goes by position
    #[arg(long, short, allow_hyphen_values = true)]
    pub reason: Vec<String>,
    /// File with the reason, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "reason")]
    pub reason_file: Option<String>,
    /// Close even if something blocks it
    #[arg(long, short)]
    pub force: bool,
    /// List the issues that became ready
    #[arg(long)]
    pub suggest_next: bool,
    /// Claim the next ready issue
    #[arg(long)]
    pub claim_next: bool,
    /// Claim the next ready part of the same issue
    #[arg(long = "continue", conflicts_with = "claim_next")]
    pub next_part: bool,
    /// With --continue: name the next part and do not claim it
    #[arg(long, requires = "next_part")]
    pub no_auto: bool,
    /// Session that closes it
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Outcome
    #[arg(long, value_parser = ["pass", "fail"])]
    pub result: Option<String>,
    /// What was done: a JSON object
    #[arg(long, allow_hyphen_values = true)]
    pub context: Option<String>,
}

/// A text from the command line, a file or standard input.
#[derive(clap::Args)]
pub(in crate::cli::bd) struct Text {
    /// Text
    pub text: Vec<String>,
    /// File with the text, or - for standard input
    #[arg(long, short, value_name = "FILE", conflicts_with = "text")]
    pub file: Option<String>,
    /// Read the text from standard input
    #[arg(long, conflicts_with_all = ["text", "file"])]
    pub stdin: bool,
}

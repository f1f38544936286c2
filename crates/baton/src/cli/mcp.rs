//! `baton mcp`

use baton_mcp::{ToolSet, table};
use baton_model::refusal::Refusal;

use crate::app::App;
use crate::error::AppError;
use crate::mcp;

/// Serve Baton's tools to an agent over MCP, on standard input and output
#[derive(clap::Args)]
pub(super) struct Args {
    /// Offer only these tools, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    tools: Vec<String>,
    /// Offer only tools that change nothing
    #[arg(long)]
    read_only: bool,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let offer = ToolSet { tools: args.tools, read_only: args.read_only };
    if let Some(unknown) = offer.unknown().first() {
        let known: Vec<&str> = table::TOOLS.iter().map(|tool| tool.name).collect();
        return Err(Refusal::invalid(
            "tool_unknown",
            format!("there is no tool `{}`", baton_model::id::visible(unknown)),
            format!("use some of {}", known.join(", ")),
        )
        .into());
    }
    mcp::serve(offer, app)
}

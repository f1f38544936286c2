//! `baton completions`

use std::io::Write;

use crate::error::AppError;

/// Print shell completions
#[derive(clap::Args)]
pub(super) struct Args {
    /// Shell to print completions for
    shell: clap_complete::Shell,
}

pub(super) fn run(args: Args) -> Result<(), AppError> {
    // Into memory first: the generator panics when its output is closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "baton", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(())
}

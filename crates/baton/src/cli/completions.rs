//! `baton completions`

use crate::error::Ended;

/// Print completions for a shell
#[derive(clap::Args)]
pub struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub fn run(args: Args) -> Result<(), Ended> {
    clap_complete::generate(args.shell, &mut super::command(), "baton", &mut std::io::stdout());
    Ok(())
}

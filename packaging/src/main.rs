//! `cargo xtask VERB`: the daily verbs of the repository, and `dist`, which makes what is published.

mod command;
mod deb;
mod dist;
mod fixtures;
mod formula;
mod npm;
mod rpm;
mod sbom;
mod stage;
mod sums;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

use crate::command::Program;

/// The daily verbs of the repository
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Check format and lints, without running a test
    Check,
    /// Run the tests; arguments go to the test runner
    Test {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Run the benchmarks that are named, or all of them
    Bench {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Play the journeys with the newest published agents, and say what has changed
    Drift {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Write the generated pages and lists of `docs` anew
    Docs,
    /// Make what is published: archive, .deb, .rpm, npm packages, SBOM, checksums
    Dist(dist::Options),
    /// Install, use and remove what `dist` made, each in a folder or root of its own
    TryDist {
        /// Folder that `dist` wrote
        #[arg(long, value_name = "DIR", default_value = "target/dist-out")]
        out: PathBuf,
    },
    /// Write the formula for Homebrew from the checksums of a release
    Formula(formula::Options),
    /// Keep what a release writes, for the upgrade tests of every later one
    ReleaseFixtures(fixtures::Options),
}

fn main() -> ExitCode {
    match run(Arguments::parse().verb) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(verb: Verb) -> Result<()> {
    let root = repository()?;
    match verb {
        Verb::Check => {
            Program::new("cargo").args(["fmt", "--all", "--check"]).inside(&root).run()?;
            let lints = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
            Program::new("cargo").args(lints).inside(&root).run()
        }
        Verb::Test { arguments } => Program::new(root.join("test")).args(arguments).inside(&root).run(),
        Verb::Bench { arguments } => Program::new(root.join("bench/run")).args(arguments).inside(&root).run(),
        Verb::Drift { arguments } => {
            Program::new(root.join("bench/drift")).args(arguments).inside(&root).run()
        }
        Verb::Docs => {
            for package in [["-p", "baton-tools"].as_slice(), ["-p", "baton", "--bin", "baton"].as_slice()] {
                let cargo = Program::new("cargo").arg("test").args(package).args(["reference"]);
                cargo.env("BATON_WRITE_DOCS", "1").inside(&root).run()?;
            }
            Ok(())
        }
        Verb::Dist(options) => dist::make(&root, &options),
        Verb::Formula(options) => formula::write(&root, &options),
        Verb::ReleaseFixtures(options) => fixtures::write(&root, &options),
        Verb::TryDist { out } => {
            let out = root.join(out);
            Program::new(root.join("packaging/try")).arg(&out).inside(&root).run()
        }
    }
}

/// The folder of the workspace: the parent of this package's.
fn repository() -> Result<PathBuf> {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.parent().map(PathBuf::from).context("the package lies in no workspace")
}

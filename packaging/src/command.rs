//! Programs that are started: each prints its command line when it fails.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A program and its arguments.
pub(crate) struct Program {
    command: Command,
}

impl Program {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        Self { command: Command::new(program) }
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub(crate) fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(arguments);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn inside(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Runs to the end; a failure names the command.
    pub(crate) fn run(mut self) -> Result<()> {
        let status =
            self.command.status().with_context(|| format!("{:?} cannot be started", self.command))?;
        if !status.success() {
            bail!("{:?} failed: {status}", self.command);
        }
        Ok(())
    }

    /// What the program prints.
    pub(crate) fn output(mut self) -> Result<Vec<u8>> {
        let command = self.command.stderr(Stdio::inherit());
        let output = command.output().with_context(|| format!("{command:?} cannot be started"))?;
        if !output.status.success() {
            bail!("{command:?} failed: {}", output.status);
        }
        Ok(output.stdout)
    }

    /// Whether a program of this name answers to `--version`.
    pub(crate) fn is_installed(name: &str) -> bool {
        let mut command = Command::new(name);
        let quiet = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    }
}

//! Calls of a service manager.

use std::fmt;
use std::process::{Command, Stdio};

use baton_model::id::visible;

use super::ManagerCommand;
use crate::process;

/// Why a call of the manager did not succeed.
pub(super) struct CallFailure(String);

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Runs a command of the manager and returns what it prints.
pub(super) fn run(command: &ManagerCommand) -> Result<String, CallFailure> {
    let Some((name, arguments)) = command.words.split_first() else { return Ok(String::new()) };
    let program = process::program(name).ok_or_else(|| CallFailure(format!("there is no `{name}`")))?;
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| CallFailure(error.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let line = stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Err(CallFailure(if line.is_empty() { output.status.to_string() } else { visible(line.trim()) }))
}

//! Ending a program that leads a process group, with all that it started.

use std::process::{Child, Command};

/// Ends a program with all that it started.
pub(crate) fn stop_group(child: &mut Child) {
    #[cfg(unix)]
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
    let _ = child.kill();
    let _ = child.wait();
}

//! The start itself: on Unix the tool takes our place, so that the terminal, its signals and its exit code are its own.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use baton_model::refusal::{Kind, Refusal};

use baton_tools::Launcher;

/// A command line that is about to start.
pub(crate) struct Invocation {
    /// The program, as it was found.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// The folder it works in.
    pub cwd: PathBuf,
    /// Variables that tell Baton, called by the tool, whose work it is.
    pub vars: Vec<(&'static str, String)>,
}

/// Where the program lies on this search path; only files that may be run count.
pub(crate) fn installed(program: &str, path: &str) -> Option<PathBuf> {
    let names: Vec<String> = match cfg!(windows) {
        true => ["exe", "cmd", "bat"].iter().map(|end| format!("{program}.{end}")).collect(),
        false => vec![program.to_owned()],
    };
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>())
        .find(|file| is_program(file))
}

/// The refusal for a tool that is not there; `otherwise` is what can be done without it.
pub(crate) fn not_installed_refusal(launcher: Launcher, otherwise: &str) -> Refusal {
    let (program, get) = (launcher.program(), launcher.launch.get);
    Refusal::new(
        Kind::Refused,
        "tool_not_installed",
        format!("{} is not installed: there is no `{program}` on the search path", launcher.tool.title),
        format!("get it ({get}), or {otherwise}"),
    )
    .with("program", program)
    .with("get", get)
}

#[cfg(unix)]
pub(crate) fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// Starts the tool. Returns only when it could not be started, or, where it cannot take our place, with its exit code.
#[cfg(unix)]
pub(crate) fn start_tool(invocation: &Invocation) -> io::Result<i32> {
    Err(std::os::unix::process::CommandExt::exec(&mut command(invocation)))
}

/// Starts the tool and waits for its end.
#[cfg(not(unix))]
pub(crate) fn start_tool(invocation: &Invocation) -> io::Result<i32> {
    Ok(command(invocation).status()?.code().unwrap_or(1))
}

fn command(invocation: &Invocation) -> Command {
    let mut command = Command::new(&invocation.program);
    let vars = invocation.vars.iter().map(|(name, value)| (name, value));
    command.args(&invocation.args).current_dir(&invocation.cwd).envs(vars);
    command
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_run_is_installed() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("dir");
        let (first, second) = (dir.path().join("a"), dir.path().join("b"));
        for folder in [&first, &second] {
            std::fs::create_dir(folder).expect("folder");
            std::fs::write(folder.join("tool"), "#!/bin/sh\n").expect("written");
        }
        std::fs::create_dir(first.join("folder")).expect("folder");
        let path = format!("bin:{}:{}", first.display(), second.display());
        assert_eq!(installed("tool", &path), None, "not executable");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(second.join("tool"), mode).expect("mode");
        assert_eq!(installed("tool", &path), Some(second.join("tool")));
        assert_eq!(installed("folder", &path), None);
        assert_eq!(installed("tool", ""), None);
    }
}

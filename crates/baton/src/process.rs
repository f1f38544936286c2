//! Which long-lived process stands behind a call: the agent, else the shell. So a CLI call, a hook and the MCP server
//! of one agent are the same process. Also where the programs are that this one starts.

#[cfg(target_os = "linux")]
mod linux;
mod record;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use std::path::PathBuf;

#[cfg(target_os = "linux")]
use linux::{namespace, parent_id, read};
use record::Process;
#[cfg(not(target_os = "linux"))]
use unsupported::{namespace, parent_id, read};

/// Programs that only pass a command on, and end with it.
const WRAPPERS: [&str; 19] = [
    "env", "timeout", "sudo", "nice", "nohup", "xargs", "time", "stdbuf", "setsid", "baton", "strace",
    "runuser", "git", "make", "just", "npx", "npm", "script", "su",
];
/// Programs at the top of the process tree of a machine, a container or a connection. They identify no agent, and a
/// process below them with only shells between lives for one command.
const ROOTS: [&str; 18] = [
    "init",
    "systemd",
    "launchd",
    "tini",
    "dumb-init",
    "docker-init",
    "catatonit",
    "s6-svscan",
    "runsvdir",
    "supervisord",
    "containerd-shim",
    "containerd-shim-runc-v2",
    "conmon",
    "sshd",
    "sshd-session",
    "cron",
    "crond",
    "atd",
];

/// The program of this name on the search path; folders that depend on where we are do not count.
#[allow(clippy::disallowed_methods, reason = "`config` is above `git`, which is started by this")]
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    crate::launch::installed(name, &std::env::var("PATH").unwrap_or_default())
}

/// Whether the search path has a program of this name, in any of its folders.
#[allow(clippy::disallowed_methods, reason = "a command is looked for as the system does when it starts it")]
pub(crate) fn on_search_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| crate::launch::is_program(&folder.join(name)))
}

/// Scripts of an interpreter that run one command of a package.
const PACKAGE_RUNNERS: [&str; 6] = ["npm", "npm-cli", "npx", "npx-cli", "yarn", "pnpm"];
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "pwsh", "nu"];

impl Process {
    /// Whether it is a subshell of another process: `( … )`, or a part of a pipe. It is the same script.
    fn is_subshell_of(&self, other: &Self) -> bool {
        let is_shell = self.args.first().is_some_and(|name| SHELLS.contains(&base(name)));
        is_shell
            && self.args_address != 0
            && self.args_address == other.args_address
            && self.args == other.args
    }
}

fn base(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.trim_start_matches('-');
    name.strip_suffix(".js").or_else(|| name.strip_suffix(".mjs")).unwrap_or(name)
}

/// The agent that a process is, by its name or by the script that an interpreter runs.
fn agent(args: &[String]) -> Option<&'static str> {
    let names = args.iter().take(2).map(|arg| base(arg));
    names.into_iter().find_map(baton_tools::surface_of_program)
}

/// Whether a process only passes a command on: a wrapper, or a shell that lives for one command line.
fn is_wrapper(args: &[String]) -> bool {
    let Some(name) = args.first().map(|a| base(a)) else { return true };
    let script = args.get(1).map_or("", |a| base(a));
    WRAPPERS.contains(&name)
        || (["node", "bun"].contains(&name) && PACKAGE_RUNNERS.contains(&script))
        || (SHELLS.contains(&name) && runs_command_line(args))
}

/// Whether a shell was given a command line: `-c`, alone, among other letters (`-lc`) or after other options.
fn runs_command_line(args: &[String]) -> bool {
    let mut rest = args.iter().skip(1);
    while let Some(arg) = rest.next() {
        match arg.strip_prefix('-') {
            Some("-command") => return true,
            Some(long) if long.starts_with('-') => {}
            Some(letters) if letters.contains('c') => return true,
            // Its value follows.
            Some("o" | "O") => _ = rest.next(),
            Some(_) => {}
            None => return false,
        }
    }
    false
}

fn is_root(args: &[String]) -> bool {
    // sshd and others write what they do behind their name: `sshd: ann@notty`.
    let name = args.first().map(|a| base(a.split([' ', ':']).next().unwrap_or_default()));
    name.is_some_and(|name| ROOTS.contains(&name))
}

/// The hooks of git are scripts that end with it, so whatever stands below git lives for one command.
fn is_git(args: &[String]) -> bool {
    args.first().is_some_and(|name| base(name) == "git")
}

/// The ancestors of this process, nearest first. A subshell counts as the shell that made it.
fn ancestors() -> Vec<(u32, Process)> {
    let mut found = Vec::new();
    let mut next = parent_id();
    while let Some(pid) = next.filter(|pid| *pid > 1 && found.len() < 64) {
        let Some(process) = read(pid) else { break };
        next = Some(process.parent);
        found.pop_if(|(_, child): &mut (u32, Process)| child.is_subshell_of(&process));
        found.push((pid, process));
    }
    found
}

/// Which of the processes behind a call, nearest first, counts as its own: the agent; else the nearest that does more than pass
/// this one command on. A shell that lives for one command is never it.
fn chosen(line: &[&[String]]) -> Option<usize> {
    let by_agent = line.iter().position(|args| agent(args).is_some());
    let end = line.iter().position(|args| is_root(args)).unwrap_or(line.len());
    let after_git = line[..end].iter().rposition(|args| is_git(args)).map_or(0, |at| at + 1);
    by_agent.or_else(|| (after_git..end).find(|at| !is_wrapper(line[*at])))
}

/// The processes behind this call, nearest first.
pub(crate) struct ProcessAncestry(Vec<(u32, Process)>);

impl ProcessAncestry {
    /// Looks them up.
    pub(crate) fn ancestry() -> Self {
        Self(ancestors())
    }

    /// The fingerprint of the one that counts: `pid:start@namespace`; empty when none is known that outlives this command.
    pub(crate) fn fingerprint(&self) -> String {
        let args: Vec<&[String]> = self.0.iter().map(|(_, process)| process.args.as_slice()).collect();
        match chosen(&args).and_then(|at| self.0.get(at)) {
            Some((pid, process)) => format!("{pid}:{}@{}", process.start, namespace()),
            // Where processes cannot be looked up, none is ever known to have ended either.
            None if cfg!(not(target_os = "linux")) => {
                parent_id().map(|pid| format!("{pid}:0@")).unwrap_or_default()
            }
            None => String::new(),
        }
    }

    /// The command line of the agent among them.
    pub(crate) fn agent_args(&self) -> &[String] {
        let agent = self.0.iter().find(|(_, process)| agent(&process.args).is_some());
        agent.map(|(_, process)| process.args.as_slice()).unwrap_or_default()
    }

    /// The surface that they suggest.
    pub(crate) fn surface(&self) -> &'static str {
        self.0.iter().find_map(|(_, p)| agent(&p.args)).unwrap_or("human")
    }
}

/// The fingerprint of this process itself, which a program keeps that takes its place.
pub(crate) fn own_fingerprint() -> String {
    let pid = std::process::id();
    let start = read(pid).map_or(0, |own| own.start);
    format!("{pid}:{start}@{}", namespace())
}

/// Whether the process of a fingerprint is one of this machine that runs.
pub(crate) fn is_running(fingerprint: &str) -> bool {
    let pid = fingerprint.split_once(':').and_then(|(pid, _)| pid.parse::<u32>().ok());
    pid.and_then(fingerprint_of).is_some_and(|running| running == fingerprint)
}

/// The fingerprint of a process of this machine that runs.
pub(crate) fn fingerprint_of(pid: u32) -> Option<String> {
    read(pid).map(|process| format!("{pid}:{}@{}", process.start, namespace()))
}

/// Whether the process of a fingerprint is known to have ended: only where its pid can be looked up here.
pub(crate) fn has_ended(fingerprint: &str) -> bool {
    let (Some((pid, rest)), true) = (fingerprint.split_once(':'), cfg!(target_os = "linux")) else {
        return false;
    };
    let (Ok(pid), Some((start, space))) = (pid.parse::<u32>(), rest.split_once('@')) else { return false };
    if space != namespace() {
        return false;
    }
    match read(pid) {
        None => true,
        Some(process) => start.parse::<u64>().is_ok_and(|start| start != process.start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn agents_are_known_by_name_or_script() {
        assert_eq!(agent(&args("/usr/bin/claude --resume")), Some("claude_code"));
        assert_eq!(agent(&args("node /usr/lib/node_modules/bin/codex.js exec")), Some("codex"));
        assert_eq!(agent(&args("vim codex.rs")), None);
    }

    #[test]
    fn a_shell_with_one_command_line_is_passed_over() {
        assert!(is_wrapper(&args("sh -c baton")));
        assert!(is_wrapper(&args("/bin/bash -lc baton")));
        assert!(is_wrapper(&args("timeout 5 baton")));
        assert!(!is_wrapper(&args("-bash")));
        assert!(!is_wrapper(&args("bash script.sh")));
    }

    fn own(line: &[&str]) -> Option<usize> {
        let line: Vec<Vec<String>> = line.iter().map(|text| args(text)).collect();
        chosen(&line.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn a_shell_that_lives_for_one_command_is_never_the_process() {
        assert_eq!(own(&["sh -c baton"]), None);
        assert_eq!(own(&["bash --norc -c baton", "setsid sh"]), None);
        assert_eq!(own(&["bash -o pipefail -c baton", "systemd --user"]), None);
        assert_eq!(own(&["bash -c baton", "sshd: ann@notty", "sshd: ann [priv]"]), None);
        assert_eq!(own(&["sh -lc baton", "containerd-shim-runc-v2 -namespace moby"]), None);
        assert_eq!(own(&["sh -c baton", "node /usr/lib/npm-cli.js run x", "-bash"]), Some(2));
        assert_eq!(own(&["sh -c baton", "-bash", "sshd: ann@pts/0"]), Some(1));
        assert_eq!(own(&["bash -c baton", "python agent.py", "-zsh"]), Some(1));
    }

    #[test]
    fn what_stands_below_git_lives_for_one_command() {
        assert_eq!(
            own(&["sh .git/hooks/post-commit", "git commit -m x", "bash -c git commit", "-bash"]),
            Some(3)
        );
        assert_eq!(own(&["sh .git/hooks/post-commit", "git commit -m x", "sh -c git commit"]), None);
        assert_eq!(own(&["sh .husky/pre-push", "git push", "bash -c git push", "claude --resume"]), Some(3));
    }

    #[test]
    fn the_agent_counts_however_far_it_is() {
        assert_eq!(own(&["sh -c baton", "bash script.sh", "claude", "-bash"]), Some(2));
        assert_eq!(own(&["bash script.sh", "-bash"]), Some(0));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_is_gone_when_its_pid_or_start_is() {
        let me = std::process::id();
        let start = read(me).expect("own process").start;
        let space = namespace();
        assert!(!has_ended(&format!("{me}:{start}@{space}")));
        assert!(has_ended(&format!("{me}:{}@{space}", start + 1)));
        assert!(has_ended(&format!("{}:1@{space}", u32::MAX)));
        assert!(!has_ended(&format!("{}:1@elsewhere", u32::MAX)));
        assert!(!has_ended("my-agent"));
    }
}

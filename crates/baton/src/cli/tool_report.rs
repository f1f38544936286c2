//! How the installation of each tool stands, for `baton install` and `baton doctor`.

use baton_model::id::visible;
use baton_tools::install::{InstallPart, Places};
use baton_tools::{Installer, Tool, installers};
use serde::Serialize;

use crate::config;
use crate::install::check::{InstallState, install_state};
use crate::install::opened_ledger::{OpenedLedger, opened_ledger};
use crate::install::package::is_packaged;

/// How the installation of a tool stands.
#[derive(Serialize)]
pub(super) struct ToolReport {
    agent: &'static str,
    title: &'static str,
    mcp: InstallState,
    hooks: InstallState,
    /// The ledger that its MCP server opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_ledger: Option<String>,
    /// The ledger that its hooks open.
    #[serde(skip_serializing_if = "Option::is_none")]
    hooks_ledger: Option<String>,
    hint: String,
}

impl ToolReport {
    /// Whether an entry names a program that is not there.
    pub(super) fn is_dangling(&self) -> bool {
        [&self.mcp, &self.hooks].into_iter().any(|part| matches!(part, InstallState::Dangling(_)))
    }
}

/// A tool in a report for others: its name and how Baton stands in it.
pub(super) fn state(tool: &ToolReport) -> String {
    format!("{} (mcp {}, hooks {})", tool.agent, tool.mcp.as_str(), tool.hooks.as_str())
}

/// What there is to do in a tool; none where it is well.
pub(super) fn finding(tool: &ToolReport) -> Option<String> {
    (!tool.hint.is_empty()).then(|| format!("{}: {}", tool.agent, tool.hint))
}

/// A tool in the overview, and in the doctor's report.
pub(super) fn row(tool: &ToolReport) -> Vec<String> {
    let (mcp, hooks) = (tool.mcp.as_str(), tool.hooks.as_str());
    vec![tool.agent.to_owned(), format!("mcp {mcp}"), format!("hooks {hooks}"), visible(&tool.hint)]
}

/// What to do where a part of a tool opens another ledger than this shell.
fn other_ledger(tool: &Tool, part: &str, opened: &OpenedLedger, ledger: &str) -> Option<String> {
    if opened.ledger == ledger {
        return None;
    }
    let what = format!("its {part} opens {}, this shell {ledger}", opened.ledger);
    let file = opened.file.display();
    if !opened.dropped.is_empty() {
        let dropped = opened.dropped.join(", ");
        return Some(format!("{what}; not passed on: {dropped}; run `baton install {}`", tool.id));
    }
    Some(format!(
        "{what}; take the store out of baton's entry in {file}, or set BATON_STORE alike in your shell"
    ))
}

/// What the user has to do before a tool uses what is there.
fn untrusted(state: &InstallState) -> Option<String> {
    match state {
        InstallState::Untrusted(what) => Some(what.clone()),
        _ => None,
    }
}

/// How the installation of every tool that is found here stands.
pub(super) fn report(places: &Places, ledger: &str) -> Vec<ToolReport> {
    let hint = |tool: &Tool, one: &InstallState, other: &InstallState| match (one, other) {
        (InstallState::Broken(what), _) | (_, InstallState::Broken(what)) => format!("mend the file: {what}"),
        (InstallState::Dangling(program), _) | (_, InstallState::Dangling(program)) => {
            format!("{program} is not there: run `baton install {}`", tool.id)
        }
        (InstallState::Outdated, _) | (_, InstallState::Outdated) => {
            format!("another version of Baton wrote it: run `baton install {}`", tool.id)
        }
        (InstallState::Absent | InstallState::Partial, _)
        | (_, InstallState::Absent | InstallState::Partial) => {
            format!("run `baton install {}`", tool.id)
        }
        _ => String::new(),
    };
    let line = |one: Installer| {
        let state = |part| install_state(places, one.install, part);
        let (mcp, hooks, tool) = (state(InstallPart::Mcp), state(InstallPart::Hooks), one.tool);
        let opened = |part| {
            opened_ledger(places, one.install, part, &|choice| {
                let (home, cwd) = (places.home.clone(), Some(places.project.clone()));
                config::ledger_of(choice.vars, home, cwd, choice.store.as_deref()).ok()
            })
        };
        let (by_server, by_hooks) = (opened(InstallPart::Mcp), opened(InstallPart::Hooks));
        let state_hint = hint(tool, &mcp, &hooks);
        let is_there =
            |state: &InstallState| matches!(state, InstallState::Present | InstallState::Untrusted(_));
        let is_twice = [&mcp, &hooks].into_iter().any(is_there) && is_packaged(places, one.install);
        let state_hint = match is_twice {
            true => format!("its package brings the same: run `baton install {} --uninstall`", tool.id),
            false => state_hint,
        };
        let hint = [("MCP server", &by_server), ("hooks", &by_hooks)]
            .into_iter()
            .filter_map(|(part, opened)| other_ledger(tool, part, opened.as_ref()?, ledger))
            .next()
            .or_else(|| [&mcp, &hooks].into_iter().find_map(untrusted))
            .filter(|_| state_hint.is_empty())
            .unwrap_or(state_hint);
        ToolReport {
            agent: tool.id,
            title: tool.title,
            mcp,
            hooks,
            mcp_ledger: by_server.map(|opened| opened.ledger),
            hooks_ledger: by_hooks.map(|opened| opened.ledger),
            hint,
        }
    };
    installers().filter(|one| places.is_installed(one)).map(line).collect()
}

//! Which ledger a tool's MCP server and its hooks open. A server that opens another one than the shell works, and finds
//! nothing of what the shell sees.

use std::collections::BTreeMap;
use std::path::PathBuf;

use baton_tools::install::{Install, InstallEntry, InstallPart, Places, Scope};
use serde_json::Value;

use super::check::entry;
use super::entry::command;

/// Where tools keep the variables of a server.
const ENVIRONMENT: [&str; 3] = ["env", "environment", "envs"];
/// Variables that decide which ledger is opened.
const DECIDING: [&str; 4] = ["BATON_STORE", "BATON_SERVER", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];

/// The ledger that an entry opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenedLedger {
    /// Where it is, as people name it.
    pub ledger: String,
    /// The file with the entry.
    pub file: PathBuf,
    /// Variables of the shell that the tool does not pass on.
    pub dropped: Vec<&'static str>,
}

/// What a process gets that decides which ledger it opens.
pub(crate) struct LedgerChoice {
    /// Its variables.
    pub vars: BTreeMap<String, String>,
    /// What its command line says.
    pub store: Option<String>,
}

/// The ledger that the entries of one half of an installation open, as `open` resolves it; none where there is no entry.
pub(crate) fn opened_ledger(
    places: &Places,
    install: &Install,
    part: InstallPart,
    open: &dyn Fn(LedgerChoice) -> Option<String>,
) -> Option<OpenedLedger> {
    // What stands in the project goes before what stands with the user.
    [Scope::Project, Scope::User].into_iter().find_map(|scope| {
        let wants = (install.wants)(places, scope).unwrap_or_default();
        wants.iter().filter(|want| want.part == part).find_map(|want| {
            let there = entry(want).ok().flatten()?;
            let (choice, dropped) = choice(&there, want, &places.vars);
            Some(OpenedLedger { ledger: open(choice)?, file: want.file.clone(), dropped })
        })
    })
}

fn choice(
    there: &Value,
    want: &InstallEntry,
    shell: &BTreeMap<String, String>,
) -> (LedgerChoice, Vec<&'static str>) {
    let mut vars = shell.clone();
    let mut dropped = Vec::new();
    // Where the entry needs names to pass on, nothing else of the environment reaches the server.
    if let Some(known) = passed_on(&want.what).then(|| names(there)) {
        for name in DECIDING.into_iter().filter(|name| !known.iter().any(|known| known == name)) {
            if vars.remove(name).is_some_and(|value| !value.is_empty()) {
                dropped.push(name);
            }
        }
    }
    let own = ENVIRONMENT.iter().filter_map(|key| there.get(key)?.as_object()).flatten();
    for (name, value) in own {
        let value = value.as_str().unwrap_or_default();
        // Some tools fill in a variable by its name.
        let filled = value.strip_prefix('$').map(|name| name.trim_matches(['{', '}']));
        let value = filled.map_or(Some(value), |name| shell.get(name).map(String::as_str));
        vars.insert(name.clone(), value.unwrap_or_default().to_owned());
    }
    let words = command(there).unwrap_or_default();
    let after = words.iter().skip_while(|word| *word != "--store").nth(1);
    let joined = words.iter().find_map(|word| word.strip_prefix("--store=").map(str::to_owned));
    (LedgerChoice { vars, store: joined.or_else(|| after.cloned()) }, dropped)
}

fn passed_on(what: &baton_tools::install::EntryContent) -> bool {
    use baton_tools::install::EntryContent;
    matches!(what, EntryContent::Table { value, .. } if value.get("env_vars").is_some())
}

fn names(there: &Value) -> Vec<String> {
    let list = there.get("env_vars").and_then(Value::as_array).cloned().unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

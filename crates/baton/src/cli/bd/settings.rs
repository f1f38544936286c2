//! `bd config` and `bd hooks`: settings under the names of Beads, and how git treats the file.

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use serde::Serialize;
use serde_json::Map;

use super::args::{ConfigVerb, HooksVerb};
use super::{Out, about, memory};
use crate::cli::merge_driver;
use crate::error::AppError;

/// The setting with the types that a project adds to those of Beads, separated by commas.
const CUSTOM_TYPES: &str = "types.custom";
/// The git hooks that Beads writes.
const HOOKS: [&str; 5] = ["pre-commit", "post-merge", "pre-push", "post-checkout", "prepare-commit-msg"];

/// A git hook as Beads shows it.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Hook {
    name: &'static str,
    installed: bool,
    version: &'static str,
    is_shim: bool,
    outdated: bool,
}

/// How git treats the file.
#[derive(Serialize)]
struct Hooks {
    hooks: Vec<Hook>,
    /// Whether git merges the file task by task.
    merge_driver: bool,
    /// Whether commands keep the file in step, so that no hook is needed.
    in_step: bool,
}

/// What became of a set-up.
#[derive(Serialize)]
struct SetUp {
    success: bool,
    message: &'static str,
    shared: bool,
    chained: bool,
    /// What was changed in the repository.
    changed: Vec<String>,
}

const IN_STEP: &str = "No git hook is written: every command keeps the Beads file in step.";
const NOT_IN_STEP: &str = "No git hook is written, and nothing keeps the Beads file in step yet: write `[tasks]` and `mirror = true` into .baton.toml, or call `bd sync` before each commit.";

pub(super) fn hooks(verb: HooksVerb, out: &mut Out<'_>) -> Result<(), AppError> {
    let in_step = out.app.config.beads_file.is_some();
    let message = if in_step { IN_STEP } else { NOT_IN_STEP };
    let (message, changes) = match verb {
        HooksVerb::Install { .. } => (message, merge_driver::change(out.app, Some(true))?),
        HooksVerb::Uninstall => {
            ("There is no git hook of Baton's to remove.", merge_driver::change(out.app, Some(false))?)
        }
        HooksVerb::List => {
            let (merge_driver, _) = merge_driver::change(out.app, None)?;
            let hook = |name| Hook { name, installed: false, version: "", is_shim: false, outdated: false };
            let answer = Hooks { hooks: HOOKS.map(hook).into(), merge_driver, in_step };
            return out
                .print(&answer, |it| format!("{message}\n{}", merge_driver::text(&[], it.merge_driver)));
        }
        // Whatever git wants to have done is done by the commands themselves.
        HooksVerb::Run { .. } => return Ok(()),
    };
    let (is_installed, changed) = changes;
    let answer = SetUp { success: true, message, shared: false, chained: false, changed };
    out.print(&answer, |it| {
        format!("{}\n{message}\n", merge_driver::text(&it.changed, is_installed).trim_end())
    })
}

/// The settings that have a value, by the names of Beads.
fn settings(out: &mut Out<'_>) -> Result<Map<String, serde_json::Value>, AppError> {
    let project = about::project(out)?;
    let mirror = out.app.config.beads_file.as_ref().map(|file| file.path().display().to_string());
    let actor = out.acting_name()?;
    let mut all = Map::new();
    let mut set = |key: &str, value: String| all.insert(key.to_owned(), value.into());
    set("issue_prefix", project);
    set("actor", actor);
    set("export.auto", mirror.is_some().to_string());
    set("export.path", mirror.unwrap_or_default());
    set("store", out.app.config.ledger());
    all.extend(memory::settings(out)?.into_iter().map(|(key, value)| (key, value.into())));
    Ok(all)
}

/// A setting that was asked for or changed.
#[derive(Serialize)]
struct Setting {
    key: String,
    value: String,
}

pub(super) fn config(verb: ConfigVerb, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        ConfigVerb::Get { key } => {
            let mut all = settings(out)?;
            let found = all.remove(&key).or_else(|| all.remove(&key.replace('-', "_")));
            let value = found.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
            out.print(&Setting { key, value }, |answer| match answer.value.is_empty() {
                true => format!("{} (not set)\n", visible(&answer.key)),
                false => format!("{}\n", visible(&answer.value)),
            })
        }
        ConfigVerb::List => {
            let all = settings(out)?;
            out.print(&all, |all| {
                let line = |(key, value): (&String, &serde_json::Value)| {
                    format!("{key} = {}\n", visible(value.as_str().unwrap_or_default()))
                };
                all.iter().map(line).collect()
            })
        }
        ConfigVerb::Set { key, value } if key == CUSTOM_TYPES => {
            for word in custom_types(&value) {
                baton_model::task::word::check_type(word)?;
            }
            memory::set_setting(&key, &value, out)?;
            out.print(&Setting { key, value }, |it| format!("Set {} = {}\n", it.key, visible(&it.value)))
        }
        ConfigVerb::Unset { key } if key == CUSTOM_TYPES => {
            memory::unset_setting(&key, out)?;
            out.print(&Setting { key, value: String::new() }, |it| format!("Unset {}\n", it.key))
        }
        ConfigVerb::Set { key, value } if is_own(&key) => {
            memory::set_setting(&key, &value, out)?;
            out.print(&Setting { key, value }, |it| {
                format!("Set {} = {}\n", visible(&it.key), visible(&it.value))
            })
        }
        ConfigVerb::Unset { key } if is_own(&key) => {
            memory::unset_setting(&key, out)?;
            out.print(&Setting { key, value: String::new() }, |it| format!("Unset {}\n", visible(&it.key)))
        }
        ConfigVerb::Set { key, .. } | ConfigVerb::Unset { key } => Err(unsettable_refusal(&key).into()),
    }
}

/// The group of settings that Beads only keeps, for the user's own scripts.
const CUSTOM: &str = "custom.";

/// Whether a setting is one of the project's own: no program does anything by it.
fn is_own(key: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    key.strip_prefix(CUSTOM).is_some_and(|name| !name.is_empty() && name.chars().all(is_plain))
}

/// The refusal of `bd config set` and `unset` for a setting of Beads by which Baton does not go.
pub(super) fn refusal(verb: &ConfigVerb) -> Option<Refusal> {
    match verb {
        ConfigVerb::Set { key, .. } | ConfigVerb::Unset { key } if key != CUSTOM_TYPES && !is_own(key) => {
            Some(unsettable_refusal(key))
        }
        _ => None,
    }
}

/// The types of the setting.
fn custom_types(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// Whether the project has added this type to those of Beads.
pub(super) fn is_custom_type(word: &str, out: &mut Out<'_>) -> Result<bool, AppError> {
    let types = memory::setting(CUSTOM_TYPES, out)?.unwrap_or_default();
    Ok(custom_types(&types).any(|known| known == word))
}

/// Says where a setting is changed.
fn unsettable_refusal(key: &str) -> Refusal {
    let hint = match key {
        "import.path" => "`bd import FILE` names the file with the call",
        "export.auto" | "export.path" | "no-db" => {
            "write `[tasks]` and `mirror = true`, or `mirror = \"PATH\"`, into .baton.toml"
        }
        "issue_prefix" | "issue-prefix" => "the prefix is the project's id, chosen with `bd init --prefix`",
        "status.custom" => {
            "the statuses are those of `bd statuses`; keep one of your own as a state: `bd set-state ID stage=in_review`, and `bd list --label stage:in_review` finds it"
        }
        _ => match key.split('.').next().unwrap_or_default() {
            "import" => {
                "an import takes every issue as it stands; `bd graph check` names dependencies on what is not there"
            }
            "sync" | "git" | "dolt" | "federation" => {
                "git carries the file on the branch of the code: `bd sync`, then commit and push .beads/issues.jsonl"
            }
            "jira" | "linear" | "github" | "gitlab" | "notion" | "ado" => {
                "`baton handoff create` sends work to another repository's tracker; `bd update ID --external-ref REF` names an issue of it"
            }
            "export" => {
                "`bd export -o FILE` writes them once; `mirror = true` under `[tasks]` in .baton.toml keeps them written"
            }
            "backup" => "`baton backup FILE` makes a copy",
            "compact" | "auto_compact" | "ai" => {
                "nothing is shortened here: `bd show ID` fits a budget, `--full` does not"
            }
            "daemon" | "agent" | "routing" | "directory" => {
                "`baton config show` shows what can be set here, and the files in which it is set"
            }
            "create" | "validation" => "say it with the call: `bd create TITLE --validate`",
            "worktree" => "`git worktree add FOLDER` makes one where you say; all of them share one ledger",
            "lease" => "`baton task claim ID --lease SPAN` says how long a claim holds",
            "external_projects" | "repos" => {
                "`bd -C FOLDER list` lists the issues of another repository, `baton project relate` relates its project to this one"
            }
            "doctor" => "`bd doctor --check NAME` looks at one thing alone",
            "list" | "output" | "defaults" => {
                "say it with the call: `bd list --limit N`, `bd create TITLE --priority N`"
            }
            "storage" | "metrics" => {
                "the setting `store` in config.toml names the ledger; `baton config show` shows it"
            }
            "hierarchy" => "parts lie three deep at most; nothing is to be set",
            _ => {
                "settings are in .baton.toml and config.toml; `baton config show` shows them with their names; one of your own begins with `custom.`: `bd config set custom.KEY VALUE`"
            }
        },
    };
    let what = format!("`{}` is not set by a command", visible(key));
    Refusal::invalid("not_supported", what, hint)
}

/// Refuses an unknown status, and says how one of the project's own is kept.
pub(super) fn check_status(word: &str) -> Result<(), Refusal> {
    baton_model::task::word::check_status(word).map_err(|refusal| {
        let hint = format!(
            "{}; one of your own is a state: `bd set-state ID stage={}`",
            refusal.hint,
            visible(word)
        );
        Refusal::invalid(refusal.code, refusal.message.clone(), hint)
    })
}

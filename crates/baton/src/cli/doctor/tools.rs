//! Entries in other tools' files that another version of Baton wrote, or whose program has moved: written anew after asking.

use baton_model::id::visible;
use baton_tools::install::{InstallPart, Places, Scope};
use baton_tools::{Installer, installers};

use crate::app::App;
use crate::cli::install::{ask, places};
use crate::error::AppError;
use crate::install::apply::apply;
use crate::install::change::{Plan, put_in};
use crate::install::check::{InstallState, scope_state};
use crate::install::record::Record;

/// Rewrites the stale hook entries. A file that cannot be edited is named and left.
pub(super) fn reinstall_entries(is_sure: bool, app: &App) -> Result<(), AppError> {
    let record_file = app.config.data_dir.join("installed.json");
    let mut record = Record::read(&record_file);
    let mut whole = Plan { adds: true, ..Plan::default() };
    let (mut titles, mut left) = (Vec::new(), Vec::new());
    for scope in [Scope::User, Scope::Project] {
        let places = places(app, scope)?;
        for one in installers().filter(|one| is_stale(&places, one, scope)) {
            let wants = (one.install.wants)(&places, scope).unwrap_or_default();
            match put_in(&wants, &record) {
                Ok(mut plan) => {
                    plan.drop_unchanged();
                    titles.extend((!plan.changes.is_empty()).then_some(one.tool.title));
                    whole.changes.extend(plan.changes);
                }
                Err(refusal) => {
                    left.push(format!("{}: {}; {}", one.tool.title, refusal.message, refusal.hint))
                }
            }
        }
    }
    if !whole.changes.is_empty() {
        if !is_sure {
            ask(app, &whole.diff(), "look at `diff` with --json, then say --yes")?;
        }
        apply(&whole, &mut record, &record_file)?;
        app.remark(&format!("written anew for {}", titles.join(", ")));
    }
    left.iter().for_each(|line| app.remark(&visible(line)));
    Ok(())
}

/// Whether entries of ours are there in this scope and do not do what this version expects of them.
fn is_stale(places: &Places, one: &Installer, scope: Scope) -> bool {
    [InstallPart::Mcp, InstallPart::Hooks].into_iter().any(|part| {
        let state = scope_state(places, one.install, part, scope);
        matches!(state, InstallState::Outdated | InstallState::Dangling(_))
    })
}

//! What the file of an exported baton does not hold, as `baton handoff export` says it.

use baton_model::accounting::plural;
use baton_model::baton_file::PortableBaton;
use baton_model::id::visible;
use baton_ops::portable::KeptBack;

use crate::app::App;
use crate::git::{self, Pushed};

/// Says that the commit on which the work stands is on this machine alone: the file does not hold it.
pub(super) fn remark_unpushed(baton: &PortableBaton, app: &App) {
    let Some(location) = &baton.location else { return };
    let (Some(commit), Some(here)) = (&location.commit, app.config.cwd.as_deref().and_then(git::root)) else {
        return;
    };
    let id = visible(commit.get(..7).unwrap_or(commit));
    match git::pushed(&here, commit) {
        Some(Pushed::No) => app.remark(&format!(
            "commit {id} is on no remote branch that this clone knows of: push it, the file holds no commits"
        )),
        Some(Pushed::Unknown) => app.remark(&format!(
            "this clone fetches some branches only, and does not know whether commit {id} was pushed: the file holds no commits"
        )),
        None if git::has_commit(&here, commit) == Some(false) => app.remark(&format!(
            "this clone does not have commit {id}, on which the work stands in {}: make sure that it was pushed there, the file holds no \
             commits",
            visible(&location.root)
        )),
        Some(Pushed::Yes) | None => {}
    }
}

/// What its session wrote down that the file does not hold.
pub(super) fn kept_back_text(of: &KeptBack) -> String {
    let count = |count: usize, word: &str| (count > 0).then(|| format!("{count} {}", plural(count, word)));
    let counts: Vec<String> =
        [count(of.notes, "note"), count(of.decisions, "decision")].into_iter().flatten().collect();
    match counts.is_empty() {
        true => String::new(),
        false => format!(
            "  not in the file: {} of its session (`baton log` shows them); what the packet of a wrap says goes along\n",
            counts.join(" and ")
        ),
    }
}

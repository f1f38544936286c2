//! What the file of an exported baton does not hold, as `baton handoff export` says it.

use std::collections::BTreeSet;
use std::path::Path;

use baton_model::accounting::plural;
use baton_model::baton_file::PortableBaton;
use baton_model::id::visible;
use baton_ops::portable::{BatonExportOutput, KeptBack};

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
    remark_unpushed_parents(baton, &here, app);
}

/// Says the same of the commits of a merge or a pick that was not finished: without them it cannot be finished there.
fn remark_unpushed_parents(baton: &PortableBaton, here: &Path, app: &App) {
    let of_changes = baton.changes.iter().flat_map(|manifest| &manifest.unfinished);
    let operations = of_changes.chain(baton.unfinished.iter().map(|carried| &carried.unfinished));
    let commits: BTreeSet<&String> = operations.flat_map(|operation| &operation.commits).collect();
    for commit in commits {
        if git::pushed(here, commit) == Some(Pushed::No) {
            let id = visible(commit.get(..7).unwrap_or(commit));
            app.remark(&format!(
                "commit {id}, with which git was in the middle of something, is on no remote branch that this clone knows of: push it, the \
                 file holds no commits"
            ));
        }
    }
}

/// Says which files stay behind, since they are not committed and go with no changes.
pub(super) fn remark_left_behind(exported: &BatonExportOutput, app: &App) {
    let place = exported.baton.location.as_ref().filter(|place| place.was_dirty == Some(true));
    if let Some(place) = place.filter(|_| exported.is_place_elsewhere && exported.baton.changes.is_none()) {
        app.remark(&format!(
            "files were not committed in {} on another machine, and are not in the file: commit and push them there",
            visible(&place.root)
        ));
    }
    for place in &exported.left_behind {
        let named: Vec<String> = place.files.iter().map(|path| visible(path)).collect();
        let more = match place.files_total.saturating_sub(named.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        app.remark(&format!(
            "not committed, and not in the file: {}{more} in {}; commit and push what is to go along, or leave a baton with it \
             (`baton wrap --with-changes`) and export that",
            named.join(", "),
            visible(&place.root)
        ));
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

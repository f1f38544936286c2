//! Where picked-up work lies, for people and for `cd`.

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_model::repository::machine_name;
use baton_model::shell::shell_word;
use baton_ops::session::{
    BatonWarning, EarlierLocation, PickupOutput, WaitingChanges, Warning, WarningKind, WorkLocation,
};

use crate::app::App;
use crate::error::AppError;

/// Prints the folder alone; refused where there is none to go to.
pub(super) fn print(app: &mut App, bundle: PickupOutput) -> Result<(), AppError> {
    let obstacles = [BatonWarning::AlreadyHolding, BatonWarning::IdentityConflict].map(WarningKind::Baton);
    if let Some(warning) = bundle.warnings.iter().find(|warning| obstacles.contains(&warning.kind)) {
        app.remark(&format!("note: {}", visible(&warning.message)));
    }
    if let Some(refusal) = none_waits_refusal(&bundle) {
        return Err(refusal.into());
    }
    let Some(work) = bundle.location else {
        let what = "the session that left this work did not say in which folder it worked";
        return Err(Refusal::new(
            Kind::NotFound,
            "place_unknown",
            what,
            "`baton pickup --dry-run` shows its packet",
        )
        .into());
    };
    let hint = || work.advice.clone().unwrap_or_else(|| "`baton pickup --dry-run` shows the rest".to_owned());
    let root = visible(&work.copy.root);
    if work.is_there == Some(false) {
        let now = if work.holds_other { "holds something else by now" } else { "is gone" };
        let what = format!("{root}, in which the work was left, {now}");
        return Err(Refusal::new(Kind::NotFound, "place_gone", what, hint()).into());
    }
    if !work.is_this_machine {
        let machine = match work.machine.as_str() {
            "" => "another machine".to_owned(),
            id => format!("machine {}", machine_name(work.copy.host.as_deref(), id)),
        };
        let what = format!("the work lies in {root} on {machine}, not here");
        return Err(Refusal::new(Kind::NotFound, "place_elsewhere", what, hint()).into());
    }
    if let Some(other) = work.other_checkout.as_ref().filter(|_| work.lacks_work()) {
        let way = work.advice.as_ref().map(|advice| format!("; {advice}")).unwrap_or_default();
        app.remark(&format!("note: checked out there now: {}{way}", other.describe()));
    }
    app.show(&work, |work| format!("{}\n", visible(&work.copy.root)))
}

/// The refusal where nothing waits, wherever a session that left nothing worked.
fn none_waits_refusal(bundle: &PickupOutput) -> Option<Refusal> {
    let is_none = |warning: &&Warning| warning.kind == WarningKind::Baton(BatonWarning::NoBaton);
    if bundle.baton.is_some() || bundle.handoff.is_some() || bundle.recovered.is_some() {
        return None;
    }
    let warning = bundle.warnings.iter().find(is_none)?;
    let last = bundle.location.as_ref().map(|work| {
        format!("; the last session, which left nothing, worked in {}", visible(&work.copy.root))
    });
    let hint =
        format!("`baton batons` lists what was left, `baton start` begins anew{}", last.unwrap_or_default());
    Some(Refusal::new(Kind::NotFound, "baton_none", warning.message.clone(), hint))
}

/// What a person reads of it. `changes`: those that go with the baton.
pub(super) fn text(work: &WorkLocation, changes: Option<&WaitingChanges>) -> String {
    let is_applied = changes.and_then(|changes| changes.outcome.as_ref()).is_some_and(|one| one.applied);
    let mut text = place(work, is_applied);
    let has_listed = changes.is_some_and(|changes| {
        (changes.is_here || is_applied && work.is_here)
            && changes.files_total == work.uncommitted_total.unwrap_or_default()
            && changes.files == work.uncommitted
    });
    match work.uncommitted_total {
        _ if has_listed => {}
        // What goes with the baton is not committed anywhere.
        Some(0) if changes.is_some_and(|changes| changes.files_total > 0) => {
            text.push_str("  no uncommitted file is left there\n");
        }
        Some(0) if work.has_new_document => {
            text.push_str("  no uncommitted changes but docs/PROJECT.md, as `baton init` wrote it\n");
        }
        Some(0) => text.push_str("  no uncommitted changes\n"),
        Some(total) => text.push_str(&format!("  not committed: {}\n", names(&work.uncommitted, total))),
        None => {}
    }
    if let Some(other) = work.other_checkout.as_ref().filter(|_| work.is_there == Some(true)) {
        let place = if work.is_here { "here" } else { "there" };
        text.push_str(&format!("  checked out {place} now: {}\n", other.describe()));
    }
    match work.has_commit {
        // The advice names the commit and where it is.
        Some(true) if !work.is_here && !work.names_commit() => {
            text.push_str("  that commit is in this repository\n");
        }
        Some(false) if !work.names_commit() => {
            text.push_str("  that commit is not in this repository\n");
        }
        _ => {}
    }
    text.extend(work.advice.as_ref().map(|advice| format!("  {advice}\n")));
    text.extend(work.earlier.iter().map(|earlier| earlier_place(earlier, work)));
    match is_applied && work.is_here && !text.is_empty() {
        // The packet lies between that and the beginning.
        true => format!("the work lies here, in {}\n{text}", work.copy.describe()),
        false => text,
    }
}

/// The folder in which the work lies, or was left. `is_applied`: whether its changes are here by now.
fn place(work: &WorkLocation, is_applied: bool) -> String {
    let elsewhere = match (work.is_this_machine, work.copy.host.as_deref()) {
        (true, _) => String::new(),
        (false, Some(host)) => format!("on another machine, {}, ", visible(host)),
        (false, None) => "on another machine, ".to_owned(),
    };
    match (is_applied, work.is_here) {
        // The answer has begun with that.
        (true, true) => String::new(),
        _ if work.is_there == Some(false) => format!("the work was left in {}\n", work.copy.describe()),
        (true, false) => format!("the work was left {elsewhere}in {}\n", work.copy.describe()),
        _ if work.lacks_work() => {
            let here = if work.is_here { "here, " } else { "" };
            format!("the work was left {here}in {}\n", work.copy.describe())
        }
        (false, true) => format!("the work lies here, in {}\n", work.copy.describe()),
        _ if work.is_there == Some(true) => format!("the work lies in {}\n", work.copy.describe()),
        // What was there when it was left may be gone, committed or changed by now.
        (false, false) => format!(
            "the work was left {elsewhere}in {}\n  what is there now cannot be seen from here\n",
            work.copy.describe()
        ),
    }
}

/// How many files are named of what was left in another folder before.
const MAX_EARLIER: usize = 3;

/// What was left before that in another folder.
fn earlier_place(earlier: &EarlierLocation, work: &WorkLocation) -> String {
    let place = match (&earlier.machine, earlier.copy.host.as_deref()) {
        (None, _) => earlier.copy.describe(),
        (Some(_), Some(host)) => format!("{} on another machine, {}", earlier.copy.describe(), visible(host)),
        (Some(_), None) => format!("{} on another machine", earlier.copy.describe()),
    };
    let mut text = String::new();
    if let Some(commit) = earlier.copy.commit.as_deref().filter(|_| earlier.lacks_commit) {
        let commit = visible(commit.get(..12).unwrap_or(commit));
        text.push_str(&format!(
            "  committed earlier in {place}; {}\n",
            way_of_commit(earlier, work, &commit)
        ));
    }
    if earlier.was_dirty {
        text.push_str(&format!(
            "  left earlier and not committed in {place}: which files, and whether they lie there still, cannot be seen from here\n"
        ));
    }
    if earlier.uncommitted_total > 0 {
        let shown = earlier.uncommitted.get(..MAX_EARLIER).unwrap_or(&earlier.uncommitted);
        let files = names(shown, earlier.uncommitted_total);
        text.push_str(&format!("  left earlier and not committed in {place}: {files}\n"));
    }
    text
}

/// How the commit of an earlier place comes into the work, in commands that work where the caller stands.
fn way_of_commit(earlier: &EarlierLocation, work: &WorkLocation, commit: &str) -> String {
    let root = shell_word(&work.copy.root);
    let fetch = match earlier.copy.branch.as_deref().map(|branch| shell_word(&visible(branch))) {
        _ if earlier.machine.is_none() || earlier.has_commit == Some(true) => String::new(),
        Some(branch) => {
            format!("push it there (`git push origin {branch}`), then `git fetch origin {branch}` here and ")
        }
        None => "push it there, fetch it here, and ".to_owned(),
    };
    let is_here = work.is_here || work.is_there != Some(true);
    let merge = if is_here { "git merge".to_owned() } else { format!("git -C {root} merge") };
    match (earlier.is_unseen, work.is_there) {
        (true, _) => format!(
            "whether the work that came after it has it cannot be seen from here; if not: {fetch}`{merge} {commit}`"
        ),
        (false, Some(true)) => {
            format!("what is checked out in {root} does not have it: {fetch}`{merge} {commit}`")
        }
        // Where the work lies nothing can be merged from here.
        (false, _) => format!("the commit of the work does not have it: {fetch}`{merge} {commit}`"),
    }
}

/// The first paths of a list, and how many more there are.
fn names(paths: &[String], total: usize) -> String {
    let shown: Vec<String> = paths.iter().map(|path| visible(path)).collect();
    match total.saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_lies_here_besides_what_was_applied_is_said_to_lie_here() {
        let work = |uncommitted: &[&str]| -> WorkLocation {
            let total = uncommitted.len();
            serde_json::from_value(
                json!({ "machine": "m", "root": "/src/shop", "is_this_machine": true, "is_here": true,
                "uncommitted": uncommitted, "uncommitted_total": total }),
            )
            .expect("a place")
        };
        let changes: WaitingChanges = serde_json::from_value(json!({ "baton_id": "b", "files": ["x.txt"],
            "files_total": 1, "outcome": { "applied": true } }))
        .expect("changes");
        let lines = text(&work(&["x.txt", "extra.txt"]), Some(&changes));
        assert_eq!(lines, "the work lies here, in /src/shop\n  not committed: x.txt, extra.txt\n");
    }
}

//! What a pickup says of the changes that go with a baton: read before the packet, since edits made without them collide.

use baton_model::changes::{LeftOut, UnfinishedOperation};
use baton_model::id::visible;
use baton_model::printable::sentence;
use baton_model::shell::shell_word;
use baton_store::{Failure, Tx, session};
use serde::{Deserialize, Serialize};

use super::bundle_view::PickupOutput;
use super::carried_operations::on_the_way;
use super::pickup::PickupResult;
use super::work_location::WorkLocation;
use crate::changes::{BatonChanges, LineChanges, note_presence, with_earlier};
use crate::op::{Cx, Host};

/// Most files that are named.
const MAX_NAMED_FILES: usize = 20;

/// What was not committed where the baton was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingChanges {
    /// The baton.
    pub baton_id: String,
    /// The commit that they stand on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The branch that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Paths that differ from that commit; at most twenty.
    pub files: Vec<String>,
    /// How many there are in all.
    pub files_total: usize,
    /// What did not travel, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// What git was in the middle of where they were made, which does not travel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<UnfinishedOperation>,
    /// They lie in the caller's working copy, where they were made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_here: bool,
    /// The files of the caller's working copy, where they were made, hold something else by now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_changed_here: bool,
    /// What the files held, as far as a capture took that down.
    #[serde(skip)]
    held: Vec<(String, String)>,
    /// What became of them in the caller's working copy, where the caller tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ApplyOutcome>,
    /// What to do; nothing where they were applied, or where the failure says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// The name that each command has to be given under, where the caller gave it to this one.
    #[serde(skip)]
    applicant: Option<String>,
}

/// What became of changes in a working copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplyOutcome {
    /// Whether all of them are there now; otherwise none of them is.
    pub applied: bool,
    /// Whether they were merged into another commit than theirs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub merged: bool,
    /// Why they could not be applied, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl WaitingChanges {
    fn of(changes: BatonChanges) -> Self {
        let BatonChanges { baton_id, manifest, .. } = changes;
        let files_total = manifest.files.len();
        let mut files = manifest.files;
        let held = files.iter().cloned().zip(manifest.fingerprints).collect();
        files.truncate(MAX_NAMED_FILES);
        let advice =
            format!("apply them before you edit: `baton changes apply {baton_id}` in a clean working copy");
        Self {
            advice: Some(advice).filter(|_| files_total > 0),
            baton_id,
            base: manifest.base,
            branch: manifest.branch,
            files,
            files_total,
            left_out: manifest.left_out,
            unfinished: manifest.unfinished,
            outcome: None,
            is_here: false,
            is_changed_here: false,
            held,
            applicant: None,
        }
    }

    /// Whether a working copy has uncommitted changes of all these files. The holder before may have left only others there, and passed
    /// these on from another place.
    fn lie_in(&self, location: &WorkLocation) -> bool {
        let (named, total) = (&location.uncommitted, location.uncommitted_total.unwrap_or(0));
        if self.files_total == 0 || total < self.files_total {
            return false;
        }
        let mut found = self.files.iter().map(|path| named.contains(path));
        // Of more than are named, those that are have to do.
        if total > named.len() { found.any(|is_there| is_there) } else { found.all(|is_there| is_there) }
    }

    /// Whether the files in this folder hold what they held; nothing where that cannot be said.
    fn are_held_in(&self, host: &dyn Host, folder: &str) -> Option<bool> {
        let (paths, held): (Vec<_>, Vec<_>) = self.held.iter().cloned().unzip();
        let now = host.fingerprints(folder, &paths).filter(|_| !held.is_empty())?;
        Some(now == held)
    }

    /// As they look from the working copy in which they were made and still lie.
    fn at_their_place(self) -> Self {
        Self { is_here: true, advice: None, ..self }
    }

    /// As they look from the working copy in which they were made and whose files hold something else by now.
    fn beside_others(self) -> Self {
        let advice = format!(
            "the same files hold other changes here: compare with `baton changes diff {}`, or apply them in a new worktree",
            self.baton_id
        );
        Self { is_changed_here: true, advice: Some(advice), ..self }
    }

    /// Notes what became of them.
    pub fn set_outcome(&mut self, outcome: ApplyOutcome) {
        let failure = outcome.failure.as_deref().filter(|_| !outcome.applied);
        // What helps is said with the reason, mostly with this command.
        self.advice = failure
            .filter(|failure| !failure.contains(&format!(" changes apply {}", self.baton_id)))
            .map(|_| format!("once that is done: `baton changes apply {}`", self.baton_id));
        self.outcome = Some(outcome);
    }

    /// In a sentence, for the beginning of an answer; one more for each operation of git's that was not finished.
    pub fn sentence(&self) -> String {
        let begun = self.unfinished.iter().map(|one| {
            let sentence = one.sentence();
            format!(" Where they were made, {sentence}.")
        });
        let sentence = self.fate() + &begun.collect::<String>();
        self.applicant.as_deref().map_or(sentence.clone(), |name| with_name(&sentence, name))
    }

    /// That they stand on another commit than they were made on, and on which.
    fn merge_text(&self) -> String {
        let branch = self.branch.as_deref().map(|branch| format!("branch {} at ", visible(branch)));
        let made_on = self.base.as_deref().map(|base| {
            let base = visible(base.get(..12).unwrap_or(base));
            format!(" (they were made on {}{base})", branch.unwrap_or_default())
        });
        format!(
            ", merged into the commit that is checked out here, which is another one than theirs{}",
            made_on.unwrap_or_default()
        )
    }

    /// What became of them.
    fn fate(&self) -> String {
        let count = match self.files_total {
            1 => "1 file".to_owned(),
            count => format!("{count} files"),
        };
        if self.files_total == 0 && self.left_out.is_empty() {
            return "No uncommitted file goes with this baton.".to_owned();
        }
        if self.files_total == 0 {
            let paths: Vec<String> = self.left_out.iter().map(|left| visible(&left.path)).collect();
            return format!("Uncommitted work did not go with this baton: {}.", paths.join(", "));
        }
        match &self.outcome {
            Some(ApplyOutcome { applied: true, merged, .. }) => {
                let merged = if *merged { self.merge_text() } else { String::new() };
                format!(
                    "The uncommitted changes of this baton ({count}) are in your working copy now{merged}."
                )
            }
            Some(ApplyOutcome { failure, .. }) => format!(
                "The uncommitted changes of this baton ({count}) were NOT applied: {}",
                sentence(failure.as_deref().unwrap_or_default())
            ),
            None if self.is_here => {
                format!(
                    "Uncommitted changes ({count}) go with this baton; they lie in this working copy, where they were made or applied."
                )
            }
            None if self.is_changed_here => format!(
                "Uncommitted changes ({count}) go with this baton; in this working copy, where they were made or applied, the same files \
                 hold something else by now: `baton changes diff {}` prints them.",
                self.baton_id
            ),
            None => format!(
                "Uncommitted changes ({count}) go with this baton and are not applied yet: `baton changes apply {}`.",
                self.baton_id
            ),
        }
    }
}

impl PickupOutput {
    /// Says first what waits as changes, and what became of them.
    pub fn name_changes(&mut self, changes: WaitingChanges) {
        let bare = self.changes.take().map(|before| before.sentence() + " ").unwrap_or_default();
        let rest = self.instruction.strip_prefix(bare.as_str()).unwrap_or(&self.instruction);
        self.instruction = format!("{} {rest}", changes.sentence()).into();
        self.changes = Some(changes);
    }

    /// Has each command that is named say the name under which the caller acts: one that has it from an option has to give it every time.
    pub fn name_applicant(&mut self, name: &str) {
        self.instruction = with_name(&self.instruction, name).into();
        for earlier in &mut self.earlier_changes {
            earlier.message = with_name(&earlier.message, name);
        }
        if let Some(location) = &mut self.location {
            location.advice = location.advice.as_deref().map(|advice| with_name(advice, name));
        }
        if let Some(changes) = &mut self.changes {
            changes.advice = changes.advice.as_deref().map(|advice| with_name(advice, name));
            changes.applicant = Some(name.to_owned());
        }
    }
}

/// Commands whose answer depends on who gives them.
const NAMED_COMMANDS: [&str; 2] = ["baton changes apply", "baton pickup"];

/// A text of ours with a name in each of its commands that act under one.
fn with_name(text: &str, name: &str) -> String {
    let named = |(at, part): (usize, &str)| {
        let is_command = at % 2 == 1
            && NAMED_COMMANDS.iter().any(|command| part.starts_with(command))
            && !part.contains(" --as ");
        if is_command { format!("{part} --as {}", shell_word(name)) } else { part.to_owned() }
    };
    text.split('`').enumerate().map(named).collect::<Vec<_>>().join("`")
}

/// Says of changes that were made where the caller stands whether they are there, by what the files hold: others of the same names may
/// have taken their place.
pub(super) fn name_place(bundle: &mut PickupOutput, host: &dyn Host) {
    let (Some(location), Some(changes)) = (&bundle.location, bundle.changes.clone()) else { return };
    if location.is_here && changes.lie_in(location) {
        let named = match changes.are_held_in(host, &location.copy.root) {
            Some(false) => changes.beside_others(),
            Some(true) | None => changes.at_their_place(),
        };
        bundle.name_changes(named);
    }
}

/// Notes for the wrap that the picker has the changes where it stands.
pub(super) fn note_root(cx: &mut Cx<'_>, bundle: &PickupOutput) -> Result<(), Failure> {
    let Some(changes) = bundle.changes.as_ref().filter(|changes| changes.is_here && !bundle.dry_run) else {
        return Ok(());
    };
    let Some(session_id) = &bundle.session_id else { return Ok(()) };
    let Cx { store, env } = cx;
    store.write(&[&bundle.project_id], |tx| match session::get(tx, &bundle.project_id, session_id)? {
        Some(own) if own.is_open() => note_presence(tx, env, &own, &changes.baton_id),
        _ => Ok(()),
    })
}

/// Names the changes of the baton that was picked up.
pub(super) fn name_changes(
    tx: &mut Tx<'_>,
    picked: &PickupResult,
    bundle: &mut PickupOutput,
) -> Result<(), Failure> {
    let Some(baton_id) = picked.baton_id.as_ref().filter(|_| !bundle.replay.is_over()) else { return Ok(()) };
    let LineChanges { own, earlier, applied } = with_earlier(tx, &bundle.project_id, baton_id)?;
    bundle.applied_changes = applied;
    bundle.carried_operations = on_the_way(tx, &bundle.project_id, baton_id)?;
    for changes in &earlier {
        bundle.instruction = format!("Also left: {}. {}", changes.message, bundle.instruction).into();
    }
    bundle.earlier_changes = earlier;
    if let Some(changes) = own {
        bundle.name_changes(WaitingChanges::of(changes));
    }
    Ok(())
}

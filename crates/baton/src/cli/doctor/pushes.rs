//! What `baton doctor` says of changes in a remote whose wrap was killed, or that were replaced or dropped while the remote did not
//! answer: a reference may be left there that no baton names.

use baton_model::id::visible;
use baton_model::shell::shell_word;
use baton_ops::changes::{Show, ShowInput};
use serde::Serialize;

use crate::app::{App, Format};
use crate::changes::{PushNote, is_in_remote};
use crate::config::Config;
use crate::error::AppError;

/// A reference that may be left in a remote.
#[derive(Serialize)]
pub(super) struct InterruptedPush {
    url: String,
    reference: String,
    /// Whether the remote has it; nothing where it did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_there: Option<bool>,
    /// Whether a baton names it; nothing where the ledger does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_named: Option<bool>,
    /// The ledger whose baton may have it, where that is another one than this command works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger: Option<String>,
    /// A baton had it and gave it up.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_given_up: bool,
    /// The command that removes it.
    remove: String,
}

impl InterruptedPush {
    /// What a person reads of it.
    pub(super) fn text(&self) -> String {
        let left = match (self.is_given_up, self.is_there.is_some()) {
            (false, true) => {
                "a wrap that kept uncommitted changes in a remote was killed and left a reference there"
            }
            (false, false) => {
                "a wrap that kept uncommitted changes in a remote was killed and may have left a reference there"
            }
            (true, true) => "a remote still has the reference of changes that were replaced or dropped",
            (true, false) => "a remote may still have the reference of changes that were replaced or dropped",
        };
        let remove = visible(&self.remove);
        let next = match (&self.ledger, self.is_named) {
            (Some(ledger), _) => format!(
                "; the baton is of the ledger {}, which was not asked: call `baton doctor` with that ledger, which says whether \
                 a baton has it. Where that ledger is gone, remove it with `{remove}`",
                visible(ledger)
            ),
            (None, Some(_)) => format!(" that no baton names: remove it with `{remove}`"),
            (None, None) => format!(
                "; unless a baton has it (`baton changes show BATON` says where its changes are kept), remove it with `{remove}`"
            ),
        };
        format!("{left}{next}\n")
    }
}

/// The references that are left, or may be. The note of one that is not there, or that a baton names, is removed.
pub(super) fn interrupted(app: &App) -> Vec<InterruptedPush> {
    let data_dir = &app.config.data_dir;
    let mut found = Vec::new();
    for (file, note) in PushNote::interrupted(data_dir) {
        let ledger = note.ledger.clone().filter(|ledger| *ledger != app.config.ledger());
        let is_named = if ledger.is_some() { None } else { is_named(app, &note) };
        let is_there = match is_named {
            Some(true) => None,
            _ => is_in_remote(data_dir, &note.url, &note.reference).ok(),
        };
        if is_named == Some(true) || is_there == Some(false) {
            let _ = std::fs::remove_file(file);
            continue;
        }
        let PushNote { url, reference, is_given_up, .. } = note;
        let remove = format!("git push {} :{reference}", shell_word(&url));
        found.push(InterruptedPush { url, reference, is_there, is_named, ledger, is_given_up, remove });
    }
    found
}

/// Whether a baton of the project in whose working copy a wrap was killed has the reference; nothing where the ledger does not say.
fn is_named(app: &App, note: &PushNote) -> Option<bool> {
    let cwd = note.root.clone().filter(|root| root.is_dir());
    if cwd.is_none() && note.project.is_none() {
        return None;
    }
    let mut there = App::new(
        Config { cwd: cwd.or_else(|| app.config.cwd.clone()), ..app.config.clone() },
        Format::Json,
        false,
        true,
    );
    let input = ShowInput {
        project: note.project.clone(),
        reference: Some(note.reference.clone()),
        ..ShowInput::default()
    };
    let shown = there.run::<Show>(&input);
    there.shut_down();
    match shown {
        Ok(_) => Some(true),
        Err(AppError::Refused(refusal)) if refusal.code == "changes_none" => Some(false),
        Err(_) => None,
    }
}

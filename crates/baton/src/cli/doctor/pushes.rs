//! What `baton doctor` says of changes on their way into a remote whose push was killed: a reference may be left that no baton names.

use baton_model::id::visible;
use serde::Serialize;

use crate::app::App;
use crate::changes::{PushNote, is_in_remote};

/// A reference that a killed push may have left in a remote.
#[derive(Serialize)]
pub(super) struct InterruptedPush {
    url: String,
    reference: String,
    /// Whether the remote has it; nothing where it did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_there: Option<bool>,
    /// The command that removes it.
    remove: String,
}

impl InterruptedPush {
    /// What a person reads of it.
    pub(super) fn text(&self) -> String {
        let left = if self.is_there.is_some() { "left" } else { "may have left" };
        format!(
            "a push of uncommitted changes was killed and {left} a reference that no baton names: `{}`\n",
            visible(&self.remove)
        )
    }
}

/// The references that are left, or may be. A note of one that is not there is removed.
pub(super) fn interrupted(app: &App) -> Vec<InterruptedPush> {
    let data_dir = &app.config.data_dir;
    let mut found = Vec::new();
    for (file, PushNote { url, reference, .. }) in PushNote::interrupted(data_dir) {
        let is_there = is_in_remote(data_dir, &url, &reference).ok();
        if is_there == Some(false) {
            let _ = std::fs::remove_file(file);
            continue;
        }
        let remove = format!("git push {url} :{reference}");
        found.push(InterruptedPush { url, reference, is_there, remove });
    }
    found
}

//! The address of a project's remote, where the folder that is registered anew, or its document, has another one.

use baton_model::id::visible;
use baton_model::project::without_credentials;
use baton_model::project_document::DocumentFields;
use baton_model::repository::canonical_address;
use baton_store::{Failure, Tx, project, project_root};

use super::choose::Choice;
use super::init::InitInput;
use crate::displaced::{is_displaced, is_root_of};

/// A remote that was renamed or moved, or that of another repository of the project, such as a fork that joined it; or the one that a
/// document names, such as that of an older checkout.
pub(super) struct ChangedAddress {
    before: String,
    now: String,
    is_of_document: bool,
    /// Whether the project is known by the new address from here on. Where other repositories belong to it, the user says which of
    /// their addresses counts: it decides which clones are asked about, and where issues are drawn from.
    pub is_taken: bool,
}

impl ChangedAddress {
    /// The change, where the folder is one of its project already. `is_harmless`: the remote that the document names counts without the
    /// user's word.
    pub(super) fn find(
        tx: &mut Tx<'_>,
        chosen: &Choice,
        input: &InitInput,
        (document, is_harmless): (&DocumentFields, bool),
    ) -> Result<Option<Self>, Failure> {
        if chosen.is_new || input.join.is_some() || input.sync {
            return Ok(None);
        }
        let known = project::get(tx, &chosen.root.project_id)?.and_then(|known| known.vcs_remote_url);
        let Some(before) = known else { return Ok(None) };
        let own = canonical_address(&before);
        let is_other_address = |url: &str| canonical_address(url).is_some_and(|other| Some(other) != own);
        let written = document.vcs_remote_url.as_deref();
        // What the user trusts, the user has said.
        if written.is_some() && !is_harmless && input.document_trusted {
            return Ok(None);
        }
        if let Some(now) = written.filter(|written| is_harmless && is_other_address(written)) {
            return Ok(Some(Self { before, now: now.to_owned(), is_of_document: true, is_taken: false }));
        }
        let of_folder = input.remote.as_deref().map(without_credentials);
        let Some(now) = of_folder.filter(|now| is_other_address(now)) else { return Ok(None) };
        let here = &chosen.root;
        let is_other = |place: &project_root::ProjectRoot| {
            !place.is_worktree
                && !is_displaced(place)
                && !is_root_of(place, here.repository_id.as_deref(), here.common_dir.as_deref())
        };
        // What a document names is the user's word, also where it is not the remote of the folder.
        let is_taken =
            written.is_none() && !project_root::of_project(tx, &here.project_id)?.iter().any(is_other);
        Ok(Some(Self { before, now, is_of_document: false, is_taken }))
    }

    /// What the user is told of it.
    pub(super) fn remark(&self) -> String {
        let (before, now) = (visible(&self.before), visible(&self.now));
        if self.is_of_document {
            return format!(
                "docs/PROJECT.md names the remote {now}, and the project is known by {before}, which stays: `baton init --sync` takes the one \
                 of the file. Where the file is that of an older checkout, leave both as they are"
            );
        }
        match self.is_taken {
            true => format!(
                "the remote is {now} now, and was {before}: the project is known by the new address, clones of the old one are not asked about any more"
            ),
            false => format!(
                "the remote of this folder is {now}, and the project is known by {before}, as docs/PROJECT.md or other folders of it say: to change \
                 that, write `remote_url: \"{now}\"` in docs/PROJECT.md, then run `baton init --sync`"
            ),
        }
    }
}

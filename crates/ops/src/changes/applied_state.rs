//! What became of applied changes: what the files hold now, and what they were committed as.

use baton_model::changes::{FileHistoryQuery, Manifest};
use baton_model::session::Session;

use crate::op::Env;

/// What became of changes that a session applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AppliedState {
    /// A file holds, or was committed as, what came; or that cannot be said.
    Left,
    /// Each file is as it was before them.
    TakenBack,
    /// Files hold, or were committed as, something else.
    Replaced,
}

impl AppliedState {
    /// Judges by the working copy in which a session stands, and its history since the commit on which the changes were made.
    pub(super) fn of(env: &Env<'_>, own: &Session, manifest: &Manifest) -> Self {
        let root = own.working_copy.as_ref().map(|copy| &copy.root);
        let Some(root) = root.filter(|root| env.caller.git_root.as_ref() == Some(*root)) else {
            return Self::Left;
        };
        let paths = &manifest.files;
        let query = FileHistoryQuery {
            folder: root.clone(),
            base: manifest.base.clone(),
            since: own.started_at,
            paths: paths.clone(),
        };
        // Both are asked first: a caller elsewhere answers all questions of one run at once.
        let (now, committed) = (env.host.uncommitted(root), env.host.committed_files(&query));
        let (Some(now), Some(committed)) = (now, committed) else { return Self::Left };
        let changed: Vec<String> = paths.iter().filter(|path| now.contains(path)).cloned().collect();
        if changed.is_empty() && committed.is_empty() {
            return Self::TakenBack;
        }
        let captured = |path: &String| {
            let at = paths.iter().position(|known| known == path)?;
            manifest.fingerprints.get(at)
        };
        let is_held = || {
            let held = env.host.fingerprints(root, &changed)?;
            Some(
                changed
                    .iter()
                    .zip(&held)
                    .any(|(path, held)| captured(path).is_none_or(|captured| captured == held)),
            )
        };
        let is_committed = committed.iter().any(|file| match (&file.fingerprint, captured(&file.path)) {
            (Some(committed), Some(captured)) => committed == captured,
            _ => true,
        });
        if is_committed || (!changed.is_empty() && is_held().unwrap_or(true)) {
            return Self::Left;
        }
        Self::Replaced
    }
}

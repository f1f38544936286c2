//! What became of applied changes: what the files hold now, and what they were committed as.

use baton_model::changes::{CommittedFile, FileHistoryQuery, Manifest, is_settings};

use crate::op::Env;

/// What became of changes that a session applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AppliedState {
    /// A file holds, or was committed as, what came, and none is as it was before.
    Left,
    /// The same, and nothing of them is uncommitted.
    Committed,
    /// Each file is as it was before them.
    TakenBack,
    /// These files are as they were before them, and others hold, or were committed as, what came or something else.
    PartlyTakenBack(Vec<String>),
    /// Files hold, or were committed as, something else, and none what came.
    Replaced,
    /// The folder could not be looked into.
    Unseen,
}

/// What became of one file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileState {
    Left,
    TakenBack,
    Replaced,
}

/// What is known of the files of changes in a working copy.
struct FoundFiles<'a> {
    /// The paths that are not committed, with what they hold; nothing where that cannot be said.
    changed: Vec<(&'a String, Option<String>)>,
    committed: Vec<CommittedFile>,
}

impl<'a> FoundFiles<'a> {
    fn read(env: &Env<'_>, root: &str, since: i64, manifest: &'a Manifest) -> Option<Self> {
        let paths = &manifest.files;
        let query = FileHistoryQuery {
            folder: root.to_owned(),
            base: manifest.base.clone(),
            since,
            paths: paths.clone(),
        };
        // Both are asked first: a caller elsewhere answers all questions of one run at once.
        let (now, committed) = (env.host.uncommitted(root), env.host.committed_files(&query));
        let (now, committed) = (now?, committed?);
        let changed: Vec<&String> = paths.iter().filter(|path| now.contains(path)).collect();
        let named: Vec<String> = changed.iter().map(|path| (*path).clone()).collect();
        let held = if named.is_empty() { None } else { env.host.fingerprints(root, &named) };
        let held = held.filter(|held| held.len() == named.len());
        let held_at = |at: usize| held.as_ref().and_then(|held| held.get(at).cloned());
        let changed = changed.into_iter().enumerate().map(|(at, path)| (path, held_at(at))).collect();
        Some(Self { changed, committed })
    }

    fn state(&self, (path, captured): (&String, Option<&String>)) -> FileState {
        let changed = self.changed.iter().find(|(known, _)| *known == path);
        let committed: Vec<&CommittedFile> =
            self.committed.iter().filter(|file| file.path == *path).collect();
        if changed.is_none() && committed.iter().all(|file| file.is_undone) {
            return FileState::TakenBack;
        }
        let is_it = |found: &Option<String>| match (found, captured) {
            (Some(found), Some(captured)) => found == captured,
            _ => true,
        };
        let is_left = changed.is_some_and(|(_, held)| is_it(held))
            || committed.iter().any(|file| is_it(&file.fingerprint));
        if is_left { FileState::Left } else { FileState::Replaced }
    }
}

impl AppliedState {
    /// Judges by a working copy of a session, and its history since the commit on which the changes were made. `superseded`: the files
    /// that went on with a later baton, wherever they are by now.
    pub(super) fn of(
        env: &Env<'_>,
        (root, since): (&str, i64),
        manifest: &Manifest,
        superseded: &[String],
    ) -> Self {
        let Some(found) = FoundFiles::read(env, root, since, manifest) else { return Self::Unseen };
        let captured =
            manifest.files.iter().enumerate().map(|(at, path)| (path, manifest.fingerprints.get(at)));
        let state = |file: (&String, Option<&String>)| match superseded.contains(file.0) {
            true => FileState::Left,
            false => found.state(file),
        };
        // Earlier versions captured settings files, of which git says nothing where they are each working copy's own.
        let is_known = |path: &String| {
            found.changed.iter().any(|(known, _)| *known == path)
                || found.committed.iter().any(|file| file.path == *path)
        };
        let captured = captured.filter(|(path, _)| !is_settings(path.as_bytes()) || is_known(path));
        let states: Vec<(&String, FileState)> = captured.map(|file| (file.0, state(file))).collect();
        let of = |state: FileState| states.iter().filter(move |(_, other)| *other == state);
        let taken_back: Vec<String> = of(FileState::TakenBack).map(|(path, _)| (*path).clone()).collect();
        let has_left = of(FileState::Left).next().is_some();
        match taken_back.len() {
            _ if states.is_empty() => Self::Left,
            count if count == states.len() => Self::TakenBack,
            0 if has_left && found.changed.is_empty() && superseded.is_empty() => Self::Committed,
            0 if has_left => Self::Left,
            0 => Self::Replaced,
            _ => Self::PartlyTakenBack(taken_back),
        }
    }
}

/// Whether the history of what is checked out in a working copy has each file as it came, since the commit on which the changes were made.
pub(super) fn are_committed(env: &Env<'_>, since: i64, manifest: &Manifest) -> bool {
    let (Some(root), paths) = (&env.caller.git_root, &manifest.files) else { return false };
    let query =
        FileHistoryQuery { folder: root.clone(), base: manifest.base.clone(), since, paths: paths.clone() };
    let committed = env.host.committed_files(&query).unwrap_or_default();
    let is_in = |(path, captured): (&String, &String)| {
        committed
            .iter()
            .any(|file| file.path == *path && !file.is_undone && file.fingerprint.as_ref() == Some(captured))
    };
    !paths.is_empty()
        && paths.len() == manifest.fingerprints.len()
        && paths.iter().zip(&manifest.fingerprints).all(is_in)
}

//! What files were committed as since a commit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use baton_model::changes::{CommittedFile, FileHistoryQuery};
use baton_model::repository::is_commit_id;

use super::reflog::commits_made;
use crate::fingerprint::{NOTHING, of_committed};

/// The most commits that are looked at.
const MAX_COMMITS: &str = "--max-count=200";
/// The most commits that were made in the working copy and are looked for in branches.
const MAX_MADE: usize = 20;
/// The most contents that are read.
const MAX_READ: usize = 60;

/// Each content that a commit gave one of the files: commits of what is checked out, and those made in the working copy that a branch
/// has still. A commit that was reset away counts for nothing.
pub(crate) fn committed_files(query: &FileHistoryQuery) -> Option<Vec<CommittedFile>> {
    let folder = Path::new(&query.folder);
    let mut args = vec!["--literal-pathspecs", "log", MAX_COMMITS, "--format=", "--raw", "-z", "--no-abbrev"];
    args.extend(["--no-renames", "--no-show-signature", "--no-ext-diff", "--no-textconv", "HEAD"]);
    let made = commits_made(folder, query.since, None).unwrap_or_default();
    let newest = made.iter().rev().take(MAX_MADE).map(|commit| commit.id.as_str());
    args.extend(newest.filter(|id| is_on_branch(folder, id)));
    let without = query.base.as_deref().filter(|base| is_commit_id(base)).map(|base| format!("^{base}"));
    args.extend(without.as_deref());
    args.push("--");
    args.extend(query.paths.iter().map(String::as_str));
    let listed = super::read(folder, &args)?;
    let mut contents = BlobReader { folder, known: BTreeMap::new() };
    let mut parts = listed.split('\0').filter(|part| !part.trim().is_empty());
    let mut found = Vec::new();
    while let (Some(entry), Some(path)) = (parts.next(), parts.next()) {
        let path = path.to_owned();
        let mut fields = entry.trim_start_matches(['\n', ':']).split(' ');
        let (_, mode, _, id) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        match contents.fingerprints(mode, id) {
            Some(all) => found.extend(
                all.into_iter().map(|one| CommittedFile { fingerprint: Some(one), ..file(path.clone()) }),
            ),
            None => found.push(file(path)),
        }
    }
    if let Some(base) = query.base.as_deref().filter(|base| is_commit_id(base) && !found.is_empty()) {
        note_undone(folder, base, &query.paths, &mut found);
    }
    Some(found)
}

fn file(path: String) -> CommittedFile {
    CommittedFile { path, fingerprint: None, is_undone: false }
}

/// Marks the files that commits of the checked out history have changed, and that it has by now as the base had them.
fn note_undone(folder: &Path, base: &str, paths: &[String], found: &mut [CommittedFile]) {
    let listed = |args: &[&str]| {
        let args: Vec<&str> =
            args.iter().copied().chain(["--"]).chain(paths.iter().map(String::as_str)).collect();
        let listed = super::read(folder, &args)?;
        let paths = listed.split('\0').map(|path| path.trim_start_matches('\n').to_owned());
        Some(paths.collect::<BTreeSet<String>>())
    };
    let plain = ["--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"];
    let without = format!("^{base}");
    let history = [
        &["--literal-pathspecs", "log", MAX_COMMITS, "--format=", "--no-show-signature"],
        &plain[..],
        &["HEAD", &without],
    ];
    let difference = [&["--literal-pathspecs", "diff"], &plain[..], &[base, "HEAD"]];
    let (Some(changed), Some(differs)) = (listed(&history.concat()), listed(&difference.concat())) else {
        return;
    };
    for file in found {
        file.is_undone = changed.contains(&file.path) && !differs.contains(&file.path);
    }
}

fn is_on_branch(folder: &Path, id: &str) -> bool {
    let args = ["branch", "--format=%(refname)", "--contains", id];
    super::read(folder, &args).is_some_and(|found| found.lines().any(|name| name.starts_with("refs/heads/")))
}

/// Reads contents, each once.
struct BlobReader<'a> {
    folder: &'a Path,
    known: BTreeMap<String, Option<String>>,
}

impl BlobReader<'_> {
    /// The fingerprints that a working copy with this content may have: its line ends are those of the commit, or `\r\n`. None where
    /// the content cannot be told.
    fn fingerprints(&mut self, mode: &str, id: &str) -> Option<Vec<String>> {
        if mode == "000000" {
            return Some(vec![NOTHING.to_owned()]);
        }
        if !self.known.contains_key(id) && self.known.len() < MAX_READ {
            // What is no UTF-8 comes with other bytes in its place.
            let text = super::read(self.folder, &["cat-file", "blob", id]);
            self.known.insert(id.to_owned(), text.filter(|text| !text.contains(char::REPLACEMENT_CHARACTER)));
        }
        let text = self.known.get(id)?.as_ref()?;
        let own = of_committed(mode, text)?;
        let is_plain = text.contains('\r') || !text.contains('\n');
        let checked_out = if is_plain { None } else { of_committed(mode, &text.replace('\n', "\r\n")) };
        Some([Some(own), checked_out].into_iter().flatten().collect())
    }
}

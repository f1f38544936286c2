//! Files whose content a filter of the repository converts (LFS and its like). The filter does not run here, so git, where it
//! looks into such a file, takes it for changed.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::run;

/// Paths that one call of git is given.
const CHUNK: usize = 100;

/// Of these paths those with such a filter, among the ones that `settings` empties, whose file has the size and the time that the
/// index knows. Their content says nothing.
pub(super) fn unchanged(root: &Path, settings: &[String], paths: &[&str]) -> BTreeSet<String> {
    let drivers: BTreeSet<&str> = settings.iter().filter_map(|setting| driver(setting)).collect();
    let mut found = BTreeSet::new();
    if drivers.is_empty() {
        return found;
    }
    for chunk in paths.chunks(CHUNK) {
        let args: Vec<&str> = ["check-attr", "-z", "filter", "--"].iter().chain(chunk).copied().collect();
        let Some(attributes) = run(root, &args, settings) else { return found };
        let attributes: Vec<&str> = attributes.split('\0').collect();
        for facts in attributes.chunks_exact(3) {
            let [path, _, driver] = facts else { continue };
            if drivers.contains(driver) && is_as_in_index(root, settings, path) {
                found.insert((*path).to_owned());
            }
        }
    }
    found
}

/// The name of the driver that a setting is about.
fn driver(setting: &str) -> Option<&str> {
    let (key, _) = setting.split_once('=')?;
    Some(key.strip_prefix("filter.")?.rsplit_once('.')?.0)
}

fn is_as_in_index(root: &Path, settings: &[String], path: &str) -> bool {
    let Ok(meta) = std::fs::symlink_metadata(root.join(path)) else { return false };
    let pathspec = format!(":(literal){path}");
    let Some(listed) = run(root, &["ls-files", "--debug", "--", &pathspec], settings) else { return false };
    is_listed_as(&listed, &meta)
}

/// Whether a file has the size and the time that `git ls-files --debug` says of its entry.
pub(crate) fn is_listed_as(listed: &str, meta: &Metadata) -> bool {
    let value = |key: &str| {
        let rest = listed.lines().find_map(|line| line.trim().strip_prefix(key))?;
        rest.split_whitespace().next().map(str::to_owned)
    };
    let modified = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let modified = modified.map(|at| format!("{}:{}", at.as_secs(), at.subsec_nanos()));
    value("mtime: ") == modified && value("size: ") == Some(meta.len().to_string())
}

//! Names that differ only in case.

use std::collections::BTreeMap;

use super::Fault;
use super::files::text;
use super::plumbing::{Entry, Repo, Scratch, items};

/// Refuses names of a tree that differ only in case, where the file system takes them for one and one of them is written.
pub(super) fn check_case(
    repo: &Repo<'_>,
    (scratch, tree): (&Scratch, &str),
    plan: &[Entry],
) -> Result<(), Fault> {
    let args = ["config", "--type=bool", "--get", "core.ignorecase"];
    if repo.answer(&Scratch::default(), &args, b"")?.out.trim_ascii() != b"true" {
        return Ok(());
    }
    let listed = repo.run(scratch, &["ls-tree", "-r", "-z", "--name-only", tree], b"")?;
    let mut names: BTreeMap<String, Vec<&[u8]>> = BTreeMap::new();
    for path in items(&listed) {
        names.entry(text(path).to_lowercase()).or_default().push(path);
    }
    let is_written = |paths: &&Vec<&[u8]>| plan.iter().any(|entry| paths.contains(&entry.path.as_slice()));
    let several = names.values().filter(|paths| paths.len() > 1);
    let clashes: Vec<String> = several.filter(is_written).flatten().map(|path| text(path)).collect();
    if clashes.is_empty() { Ok(()) } else { Err(Fault::CaseClash(clashes)) }
}

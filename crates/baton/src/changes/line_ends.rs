//! Merges of files of which one side converted the line ends: to git every line of such a file differs.

use std::fs;
use std::path::Path;

use super::Fault;
use super::files::fault;
use super::plumbing::{Repo, Scratch};

/// The three commits or trees of a merge.
pub(super) struct Sides<'a> {
    /// What both stem from.
    pub base: &'a str,
    /// What is committed here.
    pub ours: &'a str,
    /// What is applied.
    pub theirs: &'a str,
}

/// The ends of all lines of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Lf,
    CrLf,
}

/// Merges the files that conflict once more with the same line ends on all sides: those that one side has and the base has not. Gives
/// the tree of the merge; none where a file conflicts still, or was not converted. `tree`: what git merged, with its conflicts.
pub(super) fn merge(
    repo: &Repo<'_>,
    scratch: &Scratch,
    tree: &str,
    sides: &Sides<'_>,
    paths: &[String],
) -> Result<Option<String>, Fault> {
    let Some(dir) = scratch.index.as_deref().and_then(Path::parent) else { return Ok(None) };
    let mut lines = String::new();
    for path in paths {
        let Some((mode, merged)) = merge_file(repo, scratch, sides, path, dir)? else { return Ok(None) };
        let id = repo.line(scratch, &["hash-object", "-w", "--no-filters", "--stdin"], &merged)?;
        lines.push_str(&format!("{mode} {id}\t{path}\0"));
    }
    repo.run(scratch, &["read-tree", tree], b"")?;
    repo.run(scratch, &["update-index", "--add", "--replace", "-z", "--index-info"], lines.as_bytes())?;
    Ok(Some(repo.line(scratch, &["write-tree"], b"")?))
}

/// Mode and content of a file whose lines merge without a conflict once its line ends are those of the side that converted them.
fn merge_file(
    repo: &Repo<'_>,
    scratch: &Scratch,
    sides: &Sides<'_>,
    path: &str,
    dir: &Path,
) -> Result<Option<(String, Vec<u8>)>, Fault> {
    let versions =
        [sides.ours, sides.base, sides.theirs].map(|revision| version(repo, scratch, revision, path));
    let [Some((mode, ours)), Some((_, base)), Some((_, theirs))] = transpose(versions)? else {
        return Ok(None);
    };
    let [Some(of_ours), Some(of_base), Some(of_theirs)] = [&ours, &base, &theirs].map(|text| line_end(text))
    else {
        return Ok(None);
    };
    let wanted = if of_theirs == of_base { of_ours } else { of_theirs };
    if wanted == of_base {
        return Ok(None);
    }
    let mut files = Vec::new();
    for (name, content) in [("ours", ours), ("base", base), ("theirs", theirs)] {
        let file = dir.join(format!("line-ends-{name}"));
        fs::write(&file, converted(&content, wanted)).map_err(fault("write", &file))?;
        files.push(file.display().to_string());
    }
    let mut args = vec!["merge-file", "--stdout", "--"];
    args.extend(files.iter().map(String::as_str));
    let answer = repo.answer(scratch, &args, b"")?;
    Ok((answer.code == Some(0)).then_some((mode, answer.out)))
}

fn transpose<T>(all: [Result<T, Fault>; 3]) -> Result<[T; 3], Fault> {
    let [one, two, three] = all;
    Ok([one?, two?, three?])
}

/// Mode and content of a file in a commit or tree; none where it has none, or a link or folder.
fn version(
    repo: &Repo<'_>,
    scratch: &Scratch,
    revision: &str,
    path: &str,
) -> Result<Option<(String, Vec<u8>)>, Fault> {
    let listed = repo.line(scratch, &["ls-tree", "-z", "--full-tree", revision, "--", path], b"")?;
    let facts = listed.split('\t').next().unwrap_or_default();
    let mut words = facts.split(' ');
    match (words.next(), words.next(), words.next()) {
        (Some(mode @ ("100644" | "100755")), Some("blob"), Some(id)) => {
            Ok(Some((mode.to_owned(), repo.run(scratch, &["cat-file", "blob", id], b"")?)))
        }
        _ => Ok(None),
    }
}

/// The line ends of a text, if they are all the same; none of a binary file.
fn line_end(text: &[u8]) -> Option<LineEnd> {
    let all = text.iter().filter(|byte| **byte == b'\n').count();
    let pairs = text.windows(2).filter(|pair| pair == b"\r\n").count();
    match pairs {
        _ if text.contains(&0) || all == 0 => None,
        0 => Some(LineEnd::Lf),
        pairs if pairs == all => Some(LineEnd::CrLf),
        _ => None,
    }
}

/// A text of uniform line ends with these ends.
fn converted(text: &[u8], end: LineEnd) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(line) => {
                out.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
                out.extend_from_slice(if end == LineEnd::CrLf { b"\r\n" } else { b"\n" });
            }
            None => out.extend_from_slice(line),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_with_one_kind_of_line_end_is_converted() {
        for (text, end) in [
            (&b"a\nb\n"[..], Some(LineEnd::Lf)),
            (b"a\r\nb\r\nc", Some(LineEnd::CrLf)),
            (b"a\r\nb\n", None),
            (b"a\0\n", None),
            (b"a", None),
        ] {
            assert_eq!(line_end(text), end, "{text:?}");
        }
        assert_eq!(converted(b"a\r\nb\r\nc", LineEnd::Lf), b"a\nb\nc");
        assert_eq!(converted(b"a\nb\nc", LineEnd::CrLf), b"a\r\nb\r\nc");
    }
}

//! What `git status` says of a working copy: one call that goes through the index and the folders once.

use super::Fault;
use super::files::{from_bytes, text};
use super::plumbing::{Entry, Repo, Scratch, items};
use crate::git::is_own_worktree;

/// Every path is named, and nothing that a setting adds. Of a submodule only its commit counts.
const ARGS: [&str; 6] =
    ["status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];

/// How the working tree differs from the index.
#[derive(Default)]
pub(super) struct Status {
    /// Paths of the index whose file is another. One that only its time, or its line ends as git converts them, tells apart is none.
    pub unstaged: Vec<Entry>,
    /// Paths that git neither knows nor ignores; a repository of its own ends with `/`.
    pub untracked: Vec<Vec<u8>>,
    /// Paths with a conflict that is not resolved.
    pub unmerged: Vec<String>,
}

impl Status {
    /// Asks git. A worktree of the same repository inside this one is none of its files.
    pub(super) fn read(repo: &Repo<'_>, scratch: &Scratch) -> Result<Self, Fault> {
        let mut status = Self::parse(&repo.run(scratch, &ARGS, b"")?)?;
        let is_worktree = |path: &[u8]| {
            from_bytes(path).is_ok_and(|path| is_own_worktree(&repo.root, &repo.root.join(path)))
        };
        status.untracked.retain(|path| !path.ends_with(b"/") || !is_worktree(path));
        Ok(status)
    }

    /// Reads what git answers: of a path with a conflict three modes and ids, of one that has changed two.
    fn parse(answer: &[u8]) -> Result<Self, Fault> {
        let mut status = Self::default();
        for line in items(answer) {
            let damaged = || Fault::Invalid(format!("git answered {:?}", text(line)));
            let fields = |count| line.splitn(count, |byte| *byte == b' ').collect::<Vec<_>>();
            match line.first() {
                Some(b'#') => {}
                Some(b'?') => status.untracked.push(line.get(2..).ok_or_else(damaged)?.to_owned()),
                Some(b'u') => status.unmerged.push(text(fields(11).get(10).ok_or_else(damaged)?)),
                Some(b'1') => {
                    let fields = fields(9);
                    let &[_, state, _, _, old_mode, mode, _, old_id, path] = fields.as_slice() else {
                        return Err(damaged());
                    };
                    let letter = state.get(1).copied().ok_or_else(damaged)?;
                    if letter != b'.' {
                        status.unstaged.push(Entry {
                            path: path.to_owned(),
                            old_mode: text(old_mode),
                            mode: text(mode),
                            old_id: text(old_id),
                            id: "0".repeat(old_id.len()),
                            status: char::from(letter).to_string(),
                        });
                    }
                }
                _ => return Err(damaged()),
            }
        }
        Ok(status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_hold_spaces_and_newlines_and_only_what_the_index_has_otherwise_is_unstaged() {
        let answer = b"# stash 2\0\
            1 .M N... 100644 100644 100755 aa bb a b\n c\0\
            1 M. N... 100644 100644 100644 aa bb staged\0\
            1 .A N... 000000 000000 100644 00 00 intended\0\
            u UU N... 100644 100644 100644 100644 aa bb cc torn in two\0\
            ? new file\0? nested/\0";
        let status = Status::parse(answer).expect("understood");
        let unstaged: Vec<_> = status
            .unstaged
            .iter()
            .map(|e| (text(&e.path), e.old_mode.as_str(), e.mode.as_str(), e.status.as_str()))
            .collect();
        assert_eq!(
            unstaged,
            [
                ("a b\n c".to_owned(), "100644", "100755", "M"),
                ("intended".to_owned(), "000000", "100644", "A")
            ]
        );
        assert_eq!(status.untracked, [b"new file".to_vec(), b"nested/".to_vec()]);
        assert_eq!(status.unmerged, ["torn in two"]);
    }

    #[test]
    fn an_answer_that_is_cut_off_is_an_error() {
        for answer in ["1 .M N... 100644", "?", "u UU N...", "2 R. N... a", "x"] {
            assert!(matches!(Status::parse(answer.as_bytes()), Err(Fault::Invalid(_))), "{answer}");
        }
    }
}

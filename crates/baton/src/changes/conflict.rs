//! What a conflict of changes with a working copy is.

use super::Fault;
use super::plumbing::{Repo, Scratch};

/// A conflict as what it is: where the branch lacks the base, the conflict may be with what the base has.
pub(super) fn other_line_fault(
    fault: Fault,
    repo: &Repo<'_>,
    scratch: &Scratch,
    (base, head): (&str, &str),
) -> Fault {
    let Fault::Conflicts(paths) = fault else { return fault };
    let answer = repo.answer(scratch, &["merge-base", "--is-ancestor", base, head], b"");
    match answer.is_ok_and(|answer| answer.code == Some(1)) {
        true => Fault::OtherLine { paths, commit: base.to_owned() },
        false => Fault::Conflicts(paths),
    }
}

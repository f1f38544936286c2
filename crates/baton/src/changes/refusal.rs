//! Maps a fault of carried changes to the kind and the code of its refusal.

use baton_model::refusal::{Kind, Refusal};

use super::Fault;

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        let (kind, code) = match &fault {
            Fault::Git { .. } => (Kind::Refused, "git_failed"),
            Fault::OldGit(_) => (Kind::Refused, "git_outdated"),
            Fault::Io { .. } => (Kind::Refused, "working_copy_io"),
            Fault::Unmerged { .. } => (Kind::Conflict, "working_copy_unmerged"),
            Fault::FileLimit { .. } | Fault::ByteLimit { .. } => (Kind::Refused, "changes_too_large"),
            Fault::MissingCommit { .. } | Fault::LocalChangesWithoutCommit { .. } => {
                (Kind::NotFound, "commit_missing")
            }
            Fault::NoHead(_) | Fault::NoBase => (Kind::Conflict, "commit_none"),
            Fault::LocalChanges(_) | Fault::HiddenChanges(_) => (Kind::Conflict, "working_copy_changed"),
            Fault::Obstacles(_) => (Kind::Conflict, "working_copy_occupied"),
            Fault::CaseClash(_) => (Kind::Conflict, "names_differ_in_case"),
            Fault::Conflicts(_) | Fault::OtherLine { .. } => (Kind::Conflict, "changes_conflict"),
            Fault::Busy(_) => (Kind::Conflict, "working_copy_busy"),
            Fault::Invalid(_) => (Kind::Refused, "changes_damaged"),
            Fault::Rejected(_) | Fault::ReservedPath(_) => (Kind::Refused, "changes_rejected"),
            Fault::Edited { .. } => (Kind::Conflict, "apply_interrupted"),
        };
        Refusal::new(kind, code, fault.to_string(), fault.hint())
    }
}

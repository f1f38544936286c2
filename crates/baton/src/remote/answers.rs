//! What this machine answers a server: only what concerns the call in hand, and nothing of the disk but what lies in the
//! working copy in which the command was given.

use std::path::{Component, Path};

use baton_model::refusal::Refusal;
use baton_model::session::ProcessLocation;
use baton_ops::document::{DocumentPath, OmissionReason};
use baton_ops::handoff::Create;
use baton_ops::op::{Caller, Host, Operation};
use baton_ops::session::Pickup;
use serde_json::{Value, json};

use super::question::Question;
use crate::host::Machine;
use crate::repo_file::stays_inside;

/// Answers a question about this machine. A refusal ends the call: here it would have been refused for the same reason.
/// Transcripts are not read here, since that takes a store; documents only where a hand-off is picked up,
/// which inlines them, or left, which sends those along that it links.
pub(super) fn answer(
    question: &Question,
    operation: &str,
    caller: &Caller,
    machine: &Machine,
) -> Result<Value, Refusal> {
    Ok(match question {
        Question::ProcessGone { process } => json!(has_ended(process, machine)),
        Question::Git { folder } if is_own(caller, folder) => json!(machine.git(folder)),
        Question::HasFolder { folder } if is_of_repository(caller, folder, machine) => {
            json!(machine.has_folder(folder))
        }
        Question::Uncommitted { folder } if is_of_repository(caller, folder, machine) => {
            json!(machine.uncommitted(folder))
        }
        Question::Fingerprints { folder, paths } if is_of_repository(caller, folder, machine) => {
            json!(fingerprints(folder, paths, machine))
        }
        Question::Repository { folder } if is_of_repository(caller, folder, machine) => {
            json!(machine.repository(folder))
        }
        // Of no other repository than the caller's own.
        Question::HoldsRepository { common_dir, id } if is_own_id(caller, id) => {
            json!(machine.holds_repository(common_dir, id))
        }
        Question::HasCommit { folder, revision } if is_own(caller, folder) => {
            json!(machine.has_commit(folder, revision))
        }
        Question::CheckoutOf { folder, branch } if is_own(caller, folder) => {
            json!(machine.checkout_of(folder, branch))
        }
        Question::CommitsMade { folder, since, head } if is_own_or_beside(caller, folder, machine) => {
            json!(machine.commits_made(folder, *since, head.as_deref()))
        }
        Question::CommittedFiles(query) if is_own_or_beside(caller, &query.folder, machine) => {
            json!(machine.committed_files(query))
        }
        Question::PathKind { folder, pattern }
            if is_own(caller, folder) && stays_inside(Path::new(pattern)) =>
        {
            json!(machine.path_kind(folder, pattern))
        }
        Question::Document { folder, path, is_own: own } if shows_document((operation, caller), folder) => {
            json!(machine.document(folder, if *own { DocumentPath::Own } else { DocumentPath::Named(path) }))
        }
        Question::Document { .. } => json!(Err::<String, _>(OmissionReason::Elsewhere)),
        Question::RoleFile { folder } if is_own(caller, folder) => json!(machine.role_file(folder)?),
        // Whether it can be read is all that the server learns.
        Question::Unseal { project_id, identity, sealed } => {
            machine.decrypt(project_id, identity, sealed)?;
            json!(true)
        }
        Question::OwnKey { project_id, identity } => own_key((project_id, identity), operation, machine)?,
        Question::MakeKey { project_id, identity } if operation == baton_ops::key::Create::NAME => {
            json!(machine.make_key(project_id, identity)?)
        }
        _ => Value::Null,
    })
}

/// The public half of a private key that is here. Where one is to be made, what is wrong with it ends the call.
fn own_key(
    (project_id, identity): (&str, &str),
    operation: &str,
    machine: &Machine,
) -> Result<Value, Refusal> {
    match machine.own_key(project_id, identity) {
        Err(refusal) if operation == baton_ops::key::Create::NAME => Err(refusal),
        own => Ok(json!(own.ok().flatten())),
    }
}

/// Whether documents of a folder go with what an operation does.
fn shows_document((operation, caller): (&str, &Caller), folder: &str) -> bool {
    [Pickup::NAME, Create::NAME].contains(&operation) && is_own(caller, folder)
}

/// Whether a process of this machine has ended.
fn has_ended(process: &str, machine: &Machine) -> bool {
    let place = ProcessLocation { machine: machine.id.clone(), process: process.to_owned() };
    machine.has_process_ended(&place)
}

/// Fingerprints of files that are not committed; of no others.
fn fingerprints(folder: &str, paths: &[String], machine: &Machine) -> Option<Vec<String>> {
    let known = machine.uncommitted(folder)?;
    let is_known = paths.iter().all(|path| known.contains(path));
    machine.fingerprints(folder, paths).filter(|_| is_known)
}

/// Whether a folder lies in the working copy of the call, or is the top of another one of its repository.
fn is_own_or_beside(caller: &Caller, folder: &str, machine: &Machine) -> bool {
    is_own(caller, folder) || is_of_repository(caller, folder, machine)
}

/// Whether a folder is the top of a working copy of the repository in which the call was made.
fn is_of_repository(caller: &Caller, folder: &str, machine: &Machine) -> bool {
    let own = caller.repository.as_ref().map(|repository| &repository.common_dir);
    machine.repository(folder).is_some_and(|(root, other)| root == folder && own == Some(&other.common_dir))
}

fn is_own_id(caller: &Caller, id: &str) -> bool {
    caller.repository.as_ref().is_some_and(|own| own.id.as_deref() == Some(id))
}

/// Whether a folder is the working copy in which the call was made, or lies in it. Others are not disclosed to a
/// server.
fn is_own(caller: &Caller, folder: &str) -> bool {
    let folder = Path::new(folder);
    let climbs = folder.components().any(|part| part == Component::ParentDir);
    !climbs
        && match &caller.git_root {
            Some(root) => folder.starts_with(root),
            None => caller.folders.first().is_some_and(|own| folder == Path::new(own)),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(git_root: Option<&str>) -> Caller {
        let folders = ["/home/you/shop/src", "/home/you/shop", "/home/you", "/home", "/"];
        Caller {
            folders: folders.map(str::to_owned).to_vec(),
            git_root: git_root.map(str::to_owned),
            ..Caller::default()
        }
    }

    #[test]
    fn only_the_working_copy_of_the_call_is_shown() {
        let in_git = caller(Some("/home/you/shop"));
        assert!(is_own(&in_git, "/home/you/shop") && is_own(&in_git, "/home/you/shop/src"));
        for other in ["/", "/home/you", "/home/you/shopping", "/home/you/shop/../.ssh", "/etc"] {
            assert!(!is_own(&in_git, other), "{other}");
        }
        let plain = caller(None);
        assert!(is_own(&plain, "/home/you/shop/src") && !is_own(&plain, "/home/you/shop"));
    }
}

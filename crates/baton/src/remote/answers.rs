//! What this machine answers a server: only what concerns the call in hand, and nothing of the disk but what lies in the
//! working copy in which the command was given.

use std::path::{Component, Path};

use baton_model::refusal::Refusal;
use baton_model::session::ProcessLocation;
use baton_ops::document::{DocumentPath, OmissionReason};
use baton_ops::op::{Caller, Host, Operation};
use serde_json::{Value, json};

use super::document_consent::DocumentConsent;
use super::question::Question;
use super::sent_document::SentDocument;
use crate::host::Machine;
use crate::repo_file::stays_inside;

/// Answers a question about this machine. A refusal ends the call: here it would have been refused for the same reason.
/// Transcripts are not read here, since that takes a store; documents only as far as `consent` goes.
pub(super) fn answer(
    question: &Question,
    (operation, consent): (&str, &DocumentConsent),
    caller: &Caller,
    machine: &Machine,
) -> Result<Value, Refusal> {
    Ok(match question {
        Question::ProcessGone { process } => json!(has_ended(process, machine)),
        Question::Git { folder } if is_own_copy(caller, folder, machine) => json!(machine.git(folder)),
        Question::HasFolder { folder }
            if is_of_repository(caller, folder, machine) || is_own_copy(caller, folder, machine) =>
        {
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
        Question::HasCommit { .. }
        | Question::HeadContains { .. }
        | Question::CheckoutOf { .. }
        | Question::CommitsMade { .. }
        | Question::CommittedFiles(_) => history(question, caller, machine),
        Question::PathKind { folder, pattern }
            if is_own(caller, folder) && stays_inside(Path::new(pattern)) =>
        {
            json!(machine.path_kind(folder, pattern))
        }
        Question::Document { folder, path, is_own: own } => {
            json!(sent_document((folder, document_path(*own, path)), consent, caller, machine))
        }
        Question::RoleFile { folder } if is_own_copy(caller, folder, machine) => {
            json!(machine.role_file(folder)?)
        }
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

/// Answers a question about commits and branches.
fn history(question: &Question, caller: &Caller, machine: &Machine) -> Value {
    match question {
        Question::HasCommit { folder, revision } if is_own_copy(caller, folder, machine) => {
            json!(machine.has_commit(folder, revision))
        }
        Question::HeadContains { folder, commit, tip } if is_of_repository(caller, folder, machine) => {
            json!(match tip {
                Some(tip) => machine.commit_contains(folder, tip, commit),
                None => machine.head_contains(folder, commit),
            })
        }
        Question::CheckoutOf { folder, branch } if is_own_copy(caller, folder, machine) => {
            json!(machine.checkout_of(folder, branch))
        }
        Question::CommitsMade { folder, since, head } if is_own_or_beside(caller, folder, machine) => {
            json!(machine.commits_made(folder, *since, head.as_deref()))
        }
        Question::CommittedFiles(query) if is_copy_or_beside(caller, &query.folder, machine) => {
            json!(machine.committed_files(query))
        }
        _ => Value::Null,
    }
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

/// The text of a document, as far as the call lets it go.
fn sent_document(
    (folder, document): (&str, DocumentPath<'_>),
    consent: &DocumentConsent,
    caller: &Caller,
    machine: &Machine,
) -> SentDocument {
    if !consent.includes(document.path()) || !is_own_copy(caller, folder, machine) {
        return SentDocument::of(Err(OmissionReason::Elsewhere));
    }
    match machine.document(folder, document) {
        Ok(text) => consent.sent(&text),
        Err(why) => SentDocument::of(Err(why)),
    }
}

/// Which document a question means.
fn document_path(is_own: bool, path: &str) -> DocumentPath<'_> {
    if is_own { DocumentPath::Own } else { DocumentPath::Named(path) }
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

/// Whether a folder is the working copy of the call, or the top of another one of its repository.
fn is_copy_or_beside(caller: &Caller, folder: &str, machine: &Machine) -> bool {
    is_own_copy(caller, folder, machine) || is_of_repository(caller, folder, machine)
}

/// Whether a folder is the top of a working copy of the repository in which the call was made.
fn is_of_repository(caller: &Caller, folder: &str, machine: &Machine) -> bool {
    let own = caller.repository.as_ref().map(|repository| &repository.common_dir);
    machine.repository(folder).is_some_and(|(root, other)| root == folder && own == Some(&other.common_dir))
}

fn is_own_id(caller: &Caller, id: &str) -> bool {
    caller.repository.as_ref().is_some_and(|own| own.id.as_deref() == Some(id))
}

/// Whether a folder is the working copy in which the call was made or lies in it, and belongs to no other repository: one that
/// lies inside is not shown, nor git's own folder.
fn is_own_copy(caller: &Caller, folder: &str, machine: &Machine) -> bool {
    let is_gits = Path::new(folder).components().any(|part| part.as_os_str() == ".git");
    let is_others = match (&caller.repository, machine.repository(folder)) {
        (Some(own), Some((_, around))) => around.common_dir != own.common_dir,
        (None, Some((top, _))) => {
            caller.git_root.as_deref().is_some_and(|root| Path::new(&top) != Path::new(root))
        }
        (_, None) => false,
    };
    is_own(caller, folder) && !is_gits && !is_others
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
    use baton_ops::handoff::CreateInput;

    use crate::remote::document_consent::handoff_of;

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

    /// A repository with a file, and a machine that answers for it.
    fn working_copy() -> (tempfile::TempDir, Caller, Machine) {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a folder").display().to_string();
        std::fs::create_dir(dir.path().join("docs")).expect("made");
        for file in ["spec.md", "other.md", "docs/PROJECT.md"] {
            std::fs::write(dir.path().join(file), format!("{} = hunter2hunter2X9\n", "password"))
                .expect("written");
        }
        for args in [&["init", "-q"][..], &["add", "."]] {
            let git = std::process::Command::new("git").current_dir(dir.path()).args(args).status();
            assert!(git.expect("git runs").success());
        }
        let vars = [("BATON_MACHINE".to_owned(), "laptop".to_owned())].into();
        let machine = Machine::new(&crate::config::of_test(vars));
        let caller = Caller { folders: vec![root.clone()], git_root: Some(root), ..Caller::default() };
        (dir, caller, machine)
    }

    /// The rule of what a server gets to read: of every operation, whatever it asks, the files that its own call names.
    #[test]
    fn a_server_reads_no_file_that_the_call_does_not_name_whatever_the_operation() {
        let (_dir, caller, machine) = working_copy();
        let folder = caller.git_root.clone().expect("a folder");
        let links = json!({ "docs": ["spec.md"] });
        let inputs = [
            json!({}),
            json!({ "links": links }),
            json!({ "links": { "docs": "https://x.example/y" } }),
            json!({ "handoff_id": "0199" }),
            json!({ "links": links, "dry_run": true }),
            json!({ "handoff_id": "0199", "dry_run": true }),
            json!({ "id": "spec.md", "path": "spec.md", "handoff_id": "spec.md" }),
        ];
        let mut sent = Vec::new();
        for entry in baton_ops::all::ALL {
            for (at, input) in inputs.iter().enumerate() {
                let input = input.as_object().expect("an object");
                // What the server says that the hand-off of the call links.
                let of_handoff = json!({ "docs": ["spec.md"] }).as_object().cloned().expect("an object");
                let shown = match handoff_of(entry.name, input) {
                    Some(_) => of_handoff,
                    None => CreateInput::links_in(input),
                };
                let consent = DocumentConsent::of(entry.name, input, &shown);
                for path in ["spec.md", "other.md", "docs/PROJECT.md", ".git/config", "../x"] {
                    let question =
                        Question::Document { folder: folder.clone(), path: path.to_owned(), is_own: false };
                    let answer = answer(&question, (entry.name, &consent), &caller, &machine).expect("one");
                    let text = answer["Ok"].as_str().unwrap_or_default();
                    assert!(!text.contains("hunter2"), "{} {path}: {answer}", entry.name);
                    if !text.is_empty() {
                        sent.push(format!("{} {at} {path} {}", entry.name, !text.starts_with("..")));
                    }
                }
            }
        }
        sent.sort();
        let expected = [
            "handoff_create 1 spec.md true",
            "handoff_create 4 spec.md false",
            "hd_exec 3 docs/PROJECT.md true",
            "hd_exec 3 spec.md true",
            "hd_exec 6 docs/PROJECT.md true",
            "hd_exec 6 spec.md true",
        ];
        assert_eq!(sent, expected, "a preview sends a length alone");
    }

    /// Of every operation: questions that only one of them may have answered.
    #[test]
    fn keys_are_made_and_gits_own_folder_and_inner_repositories_are_shown_for_no_question_of_a_server() {
        let (dir, caller, machine) = working_copy();
        let root = caller.git_root.clone().expect("a folder");
        let inner = dir.path().join("inner");
        std::fs::create_dir(&inner).expect("made");
        let git = std::process::Command::new("git").current_dir(&inner).args(["init", "-q"]).status();
        assert!(git.expect("git runs").success());
        let repository = machine.repository(&root).map(|(_, repository)| repository);
        assert!(repository.is_some(), "the repository is known");
        let caller = Caller { repository, ..caller };
        let nothing = DocumentConsent::default();
        for entry in baton_ops::all::ALL {
            let ask = |question: &Question| answer(question, (entry.name, &nothing), &caller, &machine);
            for folder in [format!("{root}/.git"), format!("{root}/inner"), "/".to_owned()] {
                let (branch, revision) = ("main".to_owned(), "HEAD".to_owned());
                for question in [
                    Question::Git { folder: folder.clone() },
                    Question::Uncommitted { folder: folder.clone() },
                    Question::CheckoutOf { folder: folder.clone(), branch },
                    Question::HasCommit { folder: folder.clone(), revision },
                    Question::HeadContains { folder: folder.clone(), commit: "0123".into(), tip: None },
                    Question::RoleFile { folder: folder.clone() },
                    Question::Repository { folder: folder.clone() },
                ] {
                    let found = ask(&question).expect("an answer");
                    assert_eq!(found, Value::Null, "{} {question:?}", entry.name);
                }
            }
            if entry.name != baton_ops::key::Create::NAME {
                let question = Question::MakeKey { project_id: "p".into(), identity: "Lola".into() };
                assert_eq!(ask(&question), Ok(Value::Null), "{}", entry.name);
            }
        }
    }
}

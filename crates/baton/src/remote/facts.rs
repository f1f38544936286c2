//! What a server cannot know and its client can: the client's processes, files, keys and transcripts.
//!
//! An operation that runs on a server for a client of ours asks its `Host` as ever. What that cannot answer becomes a
//! question; nothing of the run is kept, and the client calls again with the answers. Most calls need none.

use std::cell::RefCell;
use std::path::Path;

use baton_model::changes::{CommittedFile, FileHistoryQuery};
use baton_model::packet::Git;
use baton_model::refusal::{Kind, Refusal};
use baton_model::repository::{MadeCommit, Repository};
use baton_model::session::{ProcessLocation, Session};
use baton_model::time::Millis;
use baton_ops::document::{CleanDocument, DocumentPath, OmissionReason};
use baton_ops::op::{Host, PathKind};
use baton_ops::transcript::DocumentRequest;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::placeholder::in_place_of;
use super::question::Question;
use super::sent_document::SentDocument;
use crate::host::Machine;

/// The code of the refusal that carries questions.
pub(crate) const FACTS_REQUIRED: &str = "facts_wanted";

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnsweredQuestion {
    /// What was asked.
    pub question: Question,
    /// What is so.
    pub answer: Value,
}

/// The machine as an operation sees it that runs here for a client elsewhere.
pub(crate) struct ClientHost<'a> {
    here: &'a Machine,
    /// The client's machine.
    machine: &'a str,
    facts: &'a [AnsweredQuestion],
    wanted: RefCell<Vec<Question>>,
}

impl<'a> ClientHost<'a> {
    /// For a client on the machine `machine`, with the facts that it has sent.
    pub(crate) fn new(here: &'a Machine, machine: &'a str, facts: &'a [AnsweredQuestion]) -> Self {
        Self { here, machine, facts, wanted: RefCell::default() }
    }

    /// The refusal with everything that was asked and not answered, if there is anything.
    pub(crate) fn facts_required(&self) -> Option<Refusal> {
        let wanted = self.wanted.borrow();
        (!wanted.is_empty()).then(|| {
            let what = "this depends on what only the caller's machine can tell";
            let hint = "call again with the answers in `facts`; nothing was written";
            Refusal::new(Kind::Conflict, FACTS_REQUIRED, what, hint).with("questions", json!(*wanted))
        })
    }

    fn ask(&self, question: Question) -> Option<&'a Value> {
        let is_answered = |fact: &&AnsweredQuestion| fact.question == question;
        let found = self.facts.iter().find(is_answered);
        // A client of before gives the question back without what it does not know.
        let found = found.or_else(|| {
            let earlier = question.without_own()?;
            self.facts.iter().find(|fact| fact.question == earlier)
        });
        if let Some(fact) = found {
            return Some(&fact.answer);
        }
        let mut wanted = self.wanted.borrow_mut();
        if !wanted.contains(&question) {
            wanted.push(question);
        }
        None
    }

    fn ask_for<T: serde::de::DeserializeOwned>(&self, question: Question) -> Option<T> {
        self.ask(question).and_then(|answer| serde_json::from_value(answer.clone()).ok())
    }

    fn sent_document(&self, folder: &str, path: DocumentPath<'_>) -> Result<CleanDocument, OmissionReason> {
        let is_own = path == DocumentPath::Own;
        let (folder, path) = (folder.to_owned(), path.path().to_owned());
        let question = Question::Document { folder, path, is_own };
        self.ask_for::<SentDocument>(question).unwrap_or_default().received()
    }

    /// The run goes no further without the answer; `wanted` says the same again.
    fn facts_required_refusal(&self) -> Refusal {
        Refusal::new(
            Kind::Conflict,
            FACTS_REQUIRED,
            "the caller's machine has to answer first",
            "call again with the answer",
        )
    }
}

impl Host for ClientHost<'_> {
    fn has_process_ended(&self, place: &ProcessLocation) -> bool {
        if place.machine == self.here.id {
            return self.here.has_process_ended(place);
        }
        let is_callers =
            !place.process.is_empty() && !place.machine.is_empty() && place.machine == self.machine;
        is_callers && self.ask_for(Question::ProcessGone { process: place.process.clone() }).unwrap_or(false)
    }

    fn machines_with_known_processes(&self) -> Option<Vec<String>> {
        Some(vec![self.here.id.clone(), self.machine.to_owned()])
    }

    fn only_caller_answers(&self, place: &ProcessLocation) -> bool {
        place.machine != self.here.id
    }

    fn transcript_env(&self) -> &baton_transcripts::TranscriptEnv {
        self.here.transcript_env()
    }

    fn hides_subjects(&self) -> bool {
        self.here.hides_subjects()
    }

    fn git(&self, folder: &str) -> Option<Git> {
        self.ask_for(Question::Git { folder: folder.to_owned() })?
    }

    fn github_access(&self) -> bool {
        self.here.github_access()
    }

    fn github_enterprise(&self) -> Option<&str> {
        self.here.github_enterprise()
    }

    fn has_commit(&self, folder: &str, revision: &str) -> Option<bool> {
        self.ask_for(Question::HasCommit { folder: folder.to_owned(), revision: revision.to_owned() })?
    }

    fn head_contains(&self, folder: &str, commit: &str) -> Option<bool> {
        let (folder, commit) = (folder.to_owned(), commit.to_owned());
        self.ask_for(Question::HeadContains { folder, commit, tip: None })?
    }

    fn commit_contains(&self, folder: &str, tip: &str, commit: &str) -> Option<bool> {
        let (folder, commit, tip) = (folder.to_owned(), commit.to_owned(), Some(tip.to_owned()));
        self.ask_for(Question::HeadContains { folder, commit, tip })?
    }

    fn checkout_of(&self, folder: &str, branch: &str) -> Option<String> {
        self.ask_for(Question::CheckoutOf { folder: folder.to_owned(), branch: branch.to_owned() })?
    }

    fn has_folder(&self, folder: &str) -> Option<bool> {
        self.ask_for(Question::HasFolder { folder: folder.to_owned() })?
    }

    fn uncommitted(&self, folder: &str) -> Option<Vec<String>> {
        self.ask_for(Question::Uncommitted { folder: folder.to_owned() })?
    }

    fn fingerprints(&self, folder: &str, paths: &[String]) -> Option<Vec<String>> {
        self.ask_for(Question::Fingerprints { folder: folder.to_owned(), paths: paths.to_vec() })?
    }

    fn repository(&self, folder: &str) -> Option<(String, Repository)> {
        self.ask_for(Question::Repository { folder: folder.to_owned() })?
    }

    fn holds_repository(&self, common_dir: &str, id: &str) -> Option<bool> {
        let question = Question::HoldsRepository { common_dir: common_dir.to_owned(), id: id.to_owned() };
        self.ask_for(question)?
    }

    fn commits_made(&self, folder: &str, since: Millis, head: Option<&str>) -> Option<Vec<MadeCommit>> {
        let head = head.map(str::to_owned);
        self.ask_for(Question::CommitsMade { folder: folder.to_owned(), since, head })?
    }

    fn committed_files(&self, query: &FileHistoryQuery) -> Option<Vec<CommittedFile>> {
        self.ask_for(Question::CommittedFiles(query.clone()))?
    }

    fn path_kind(&self, folder: &str, pattern: &str) -> Option<PathKind> {
        self.ask_for(Question::PathKind { folder: folder.to_owned(), pattern: pattern.to_owned() })?
    }

    fn document(&self, folder: &str, path: DocumentPath<'_>) -> Result<String, OmissionReason> {
        self.sent_document(folder, path).map(|sent| sent.text)
    }

    fn linked_document(&self, folder: &str, path: &str) -> Result<CleanDocument, OmissionReason> {
        // The rules of both machines count.
        let sent = self.sent_document(folder, DocumentPath::Named(path))?;
        let clean = CleanDocument::of(&sent.text);
        Ok(CleanDocument { secrets: clean.secrets + sent.secrets, ..clean })
    }

    fn cache_dir(&self) -> Option<&Path> {
        self.here.cache_dir()
    }

    fn memory_index(&self) -> baton_ops::memory_index::Setup {
        self.here.memory_index()
    }

    fn matrices(&self) -> Option<&baton_ops::memory_index::MatrixCache> {
        self.here.matrices()
    }

    fn role_file(&self, folder: &str) -> Result<Option<(String, String)>, Refusal> {
        Ok(self.ask_for(Question::RoleFile { folder: folder.to_owned() }).flatten())
    }

    fn encrypt(&self, recipients: &[String], text: &str) -> Result<String, Refusal> {
        let question = Question::Seal { recipients: recipients.to_vec(), text: text.to_owned() };
        self.ask_for(question).ok_or_else(|| self.facts_required_refusal())
    }

    fn decrypt_object(&self, project_id: &str, identity: &str, sealed: &str) -> Result<String, Refusal> {
        self.decrypt(project_id, identity, sealed).map(|sealed| in_place_of(&sealed))
    }

    fn decrypt(&self, project_id: &str, identity: &str, sealed: &str) -> Result<String, Refusal> {
        let question = Question::Unseal {
            project_id: project_id.to_owned(),
            identity: identity.to_owned(),
            sealed: sealed.to_owned(),
        };
        // What stands here is still encrypted: the client, who can read it, puts the text in its place.
        self.ask(question).map(|_| sealed.to_owned()).ok_or_else(|| self.facts_required_refusal())
    }

    fn own_key(&self, project_id: &str, identity: &str) -> Result<Option<String>, Refusal> {
        let question = Question::OwnKey { project_id: project_id.to_owned(), identity: identity.to_owned() };
        Ok(self.ask_for(question).flatten())
    }

    fn make_key(&self, project_id: &str, identity: &str) -> Result<String, Refusal> {
        // Whether there is one already is asked first, so this is only asked where one is to be made.
        if !self.wanted.borrow().is_empty() {
            return Err(self.facts_required_refusal());
        }
        let question = Question::MakeKey { project_id: project_id.to_owned(), identity: identity.to_owned() };
        self.ask_for(question).ok_or_else(|| self.facts_required_refusal())
    }

    fn transcript(&self, request: &DocumentRequest) -> Option<Result<Value, Refusal>> {
        Some(
            self.ask(Question::Transcript(request.clone()))
                .cloned()
                .ok_or_else(|| self.facts_required_refusal()),
        )
    }

    fn keep_beat(&self, session: &Session, at: Millis) -> bool {
        self.here.keep_beat(session, at)
    }

    fn keeps_beats(&self) -> bool {
        self.here.keeps_beats()
    }

    fn client_answers(&self) -> bool {
        true
    }

    fn check_key(&self, recipient: &str) -> Result<(), Refusal> {
        self.here.check_key(recipient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        let vars = [("BATON_MACHINE".to_owned(), "server".to_owned())].into();
        Machine::new(&crate::config::of_test(vars))
    }

    fn place(machine: &str) -> ProcessLocation {
        ProcessLocation { machine: machine.to_owned(), process: "7:1@2".to_owned() }
    }

    #[test]
    fn only_what_concerns_the_callers_machine_is_asked() {
        let here = machine();
        let host = ClientHost::new(&here, "laptop", &[]);
        for other in ["", "phone", "server"] {
            assert!(!host.has_process_ended(&place(other)), "{other}");
            assert_eq!(host.facts_required(), None, "{other}");
        }
        assert!(!host.has_process_ended(&place("laptop")));
        let wanted = host.facts_required().expect("a question");
        assert_eq!(wanted.details["questions"], json!([{ "ask": "process_gone", "process": "7:1@2" }]));
    }

    #[test]
    fn what_was_answered_is_not_asked_again() {
        let here = machine();
        let gone = Question::ProcessGone { process: "7:1@2".into() };
        let git = Question::Git { folder: "/srv/shop".into() };
        let facts = [
            AnsweredQuestion { question: gone, answer: json!(true) },
            AnsweredQuestion { question: git, answer: json!({ "branch": "main" }) },
        ];
        let host = ClientHost::new(&here, "laptop", &facts);
        assert!(host.has_process_ended(&place("laptop")));
        assert_eq!(host.git("/srv/shop").and_then(|git| git.branch).as_deref(), Some("main"));
        assert_eq!(host.facts_required(), None);
        assert_eq!(host.git("/srv/other"), None);
        assert!(host.facts_required().is_some());
    }

    #[test]
    fn no_plain_text_of_a_sealed_message_comes_here() {
        let here = machine();
        let question =
            Question::Unseal { project_id: "p".into(), identity: "Lola".into(), sealed: "age…".into() };
        let facts = [AnsweredQuestion { question, answer: Value::Null }];
        let host = ClientHost::new(&here, "laptop", &facts);
        assert_eq!(host.decrypt("p", "Lola", "age…").as_deref(), Ok("age…"));
    }
}

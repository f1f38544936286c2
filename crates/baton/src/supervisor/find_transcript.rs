//! Which transcript the supervised agent wrote: one that is proven to be its own, or none. Another agent's is never taken.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use baton_model::time::{Millis, Timestamp};
use baton_ops::transcript::Row;
use serde::{Deserialize, Serialize};

/// Some tools write times in whole seconds.
const BLUR: Millis = 2_000;
/// A word of a command line that is shorter is no id of a session.
const SHORTEST_ID: usize = 8;

/// A conversation: the tool, and its own id of the session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Conversation {
    /// The tool that wrote it.
    pub agent: String,
    /// The tool's id of the session.
    pub id: String,
}

/// A transcript, as the listing shows it.
#[derive(Debug, Clone)]
pub(super) struct Transcript {
    /// The conversation in it.
    pub conversation: Conversation,
    /// The file.
    pub path: PathBuf,
    /// Which of several sessions in the file.
    pub key: Option<String>,
    cwd: Option<PathBuf>,
    created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
}

impl From<Row> for Transcript {
    fn from(row: Row) -> Self {
        Self {
            conversation: Conversation { agent: row.agent, id: row.id },
            path: row.path.into(),
            key: row.key,
            cwd: row.cwd.map(PathBuf::from),
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

impl Transcript {
    /// Whether it was begun since then.
    pub(super) fn is_begun_since(&self, began: Millis) -> bool {
        self.created_at.is_some_and(|at| at.0 >= began.saturating_sub(BLUR))
    }

    fn is_in(&self, folder: &Path) -> bool {
        self.cwd.as_deref().is_none_or(|own| own.starts_with(folder))
    }
}

/// What tells whose a transcript is.
#[derive(Default)]
pub(super) struct Evidence {
    /// Where the agent was started.
    pub cwd: PathBuf,
    /// When.
    pub began: Millis,
    /// Ids that the agent's own hooks named.
    pub hooks: Vec<String>,
    /// The words of its command line.
    pub words: Vec<String>,
    /// Files that it, or a child of it, had open for writing.
    pub written: BTreeSet<PathBuf>,
    /// What is known to be another's: of another run, or of a process with hooks.
    pub taken: BTreeSet<Conversation>,
    /// What was found to be this run's before.
    pub bound: Option<Conversation>,
}

/// The result of matching the evidence against transcripts.
#[derive(Debug)]
pub(super) enum Choice<'a> {
    /// The agent's own, by proof.
    One(&'a Transcript),
    /// Begun in the folder since; nothing proves whose they are.
    Unclear(Vec<&'a Transcript>),
    /// There is none.
    None,
}

/// Chooses among the listed ones that changed since the agent was started.
pub(super) fn choose<'a>(listed: &'a [Transcript], evidence: &Evidence) -> Choice<'a> {
    let changed =
        |row: &&Transcript| row.updated_at.is_none_or(|at| at.0 >= evidence.began.saturating_sub(BLUR));
    let rows = || listed.iter().filter(changed);
    let proofs: [&dyn Fn(&Transcript) -> bool; 4] = [
        &|row| evidence.hooks.contains(&row.conversation.id),
        &|row| evidence.words.iter().any(|word| names(word, &row.conversation.id)),
        &|row| row.key.is_none() && evidence.written.contains(&row.path),
        &|row| evidence.bound.as_ref() == Some(&row.conversation),
    ];
    for proof in proofs {
        // An agent may begin anew within one run: what it wrote last is where it stands.
        if let Some(row) = rows().filter(|row| proof(row)).max_by_key(|row| row.updated_at) {
            return Choice::One(row);
        }
    }
    let fresh = |row: &&Transcript| {
        row.is_in(&evidence.cwd)
            && row.is_begun_since(evidence.began)
            && !evidence.taken.contains(&row.conversation)
    };
    match rows().filter(fresh).collect::<Vec<_>>() {
        none if none.is_empty() => Choice::None,
        candidates => Choice::Unclear(candidates),
    }
}

/// Conversations of the folder that were there before and went on, and are not known to be another's.
pub(super) fn went_on<'a>(
    listed: &'a [Transcript],
    evidence: &'a Evidence,
) -> impl Iterator<Item = &'a Transcript> {
    listed.iter().filter(|row| {
        row.is_in(&evidence.cwd)
            && row.updated_at.is_some_and(|at| at.0 >= evidence.began.saturating_sub(BLUR))
            && !evidence.taken.contains(&row.conversation)
    })
}

/// Whether a word of a command line is this id, alone or behind `=`.
fn names(word: &str, id: &str) -> bool {
    id.len() >= SHORTEST_ID && (word == id || word.strip_suffix(id).is_some_and(|head| head.ends_with('=')))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGAN: Millis = 1_800_000_000_000;

    fn row(id: &str, cwd: Option<&str>, created: Millis, updated: Millis) -> Transcript {
        let at = |ago: Millis| Some(Timestamp(BEGAN + ago * 1_000));
        Transcript {
            conversation: conversation(id),
            path: format!("/home/you/{id}.jsonl").into(),
            key: None,
            cwd: cwd.map(PathBuf::from),
            created_at: at(created),
            updated_at: at(updated),
        }
    }

    fn conversation(id: &str) -> Conversation {
        Conversation { agent: "claude".to_owned(), id: id.to_owned() }
    }

    fn evidence() -> Evidence {
        Evidence { cwd: "/shop".into(), began: BEGAN, ..Evidence::default() }
    }

    #[track_caller]
    fn check(rows: &[Transcript], evidence: &Evidence, expected: &str) {
        let found = match choose(rows, evidence) {
            Choice::One(row) => row.conversation.id.clone(),
            Choice::Unclear(rows) => {
                rows.iter().map(|row| row.conversation.id.as_str()).collect::<Vec<_>>().join("|")
            }
            Choice::None => "none".to_owned(),
        };
        assert_eq!(found, expected, "{rows:?}");
    }

    #[test]
    fn what_was_begun_in_the_folder_since_is_named_and_not_taken() {
        let (live, elsewhere) =
            (row("live", Some("/shop"), -90, 60), row("elsewhere", Some("/shopping"), 5, 9));
        let found = |rows: &[Transcript], evidence: &Evidence| match choose(rows, evidence) {
            Choice::Unclear(rows) => rows.iter().map(|row| row.conversation.id.clone()).collect(),
            Choice::One(_) => vec!["taken".to_owned()],
            Choice::None => Vec::new(),
        };
        assert!(found(&[live.clone(), elsewhere.clone()], &evidence()).is_empty());
        assert_eq!(found(&[live, elsewhere, row("one", Some("/shop/web"), 5, 9)], &evidence()), ["one"]);
        assert_eq!(found(&[row("homeless", None, 5, 9)], &evidence()), ["homeless"]);
        let taken = Evidence { taken: [conversation("bbbbbbbb-2")].into(), ..evidence() };
        let rows = [row("aaaaaaaa-1", Some("/shop"), 1, 9), row("bbbbbbbb-2", Some("/shop"), 20, 30)];
        assert_eq!(found(&rows, &taken), ["aaaaaaaa-1"]);
    }

    #[test]
    fn a_proof_goes_before_everything() {
        let rows = [
            row("aaaaaaaa-1", Some("/shop"), -90, 60),
            row("bbbbbbbb-2", Some("/shop"), 5, 70),
            row("cccccccc-3", Some("/shop"), 6, 80),
        ];
        check(&rows, &evidence(), "bbbbbbbb-2|cccccccc-3");
        check(&rows, &Evidence { hooks: vec!["aaaaaaaa-1".into()], ..evidence() }, "aaaaaaaa-1");
        for words in [vec!["--resume", "aaaaaaaa-1"], vec!["--session-id=aaaaaaaa-1"]] {
            let words = words.into_iter().map(str::to_owned).collect();
            check(&rows, &Evidence { words, ..evidence() }, "aaaaaaaa-1");
        }
        let written = [PathBuf::from("/home/you/bbbbbbbb-2.jsonl")].into();
        check(&rows, &Evidence { written, ..evidence() }, "bbbbbbbb-2");
        // What was proven once stays proven.
        let bound = Some(conversation("aaaaaaaa-1"));
        check(&rows, &Evidence { bound, ..evidence() }, "aaaaaaaa-1");
    }
}

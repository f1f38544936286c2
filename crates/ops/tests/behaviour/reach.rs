//! What of a machine an operation can touch, and for whom. Whoever adds an operation, an argument that may be a path, or a
//! question to the machine says here what a caller over a socket gets of it.

use std::collections::BTreeSet;

use baton_model::access::Scope;
use baton_ops::all;
use baton_ops::op::{Reach, Site};
use serde_json::Value;

/// What an argument that names a place means to who runs the operation.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// Words that are kept, compared or shown: nothing is opened by them.
    Words,
    /// A file on the machine, for its user and for a client that reads it there itself. Over a socket it only names one of the
    /// transcripts that were found, and the caller has to reach all projects.
    Transcript,
    /// Files that git tracks, for the machine's user. Over a socket none is read.
    Tracked,
    /// An address that the server posts to by itself.
    Called,
}

/// Every argument whose name or description speaks of a place.
const ARGUMENTS: &[(&str, &str, Place)] = &[
    ("audit_report", "documents", Place::Words),
    ("audit_report", "commands", Place::Words),
    ("audit_report", "Document.path", Place::Words),
    ("baton_export", "again", Place::Words),
    ("baton_import", "again", Place::Words),
    ("baton_import", "EarlierPlace.root", Place::Words),
    ("baton_import", "EarlierPlace.was_dirty", Place::Words),
    ("baton_import", "FileLocation.root", Place::Words),
    ("baton_import", "FileLocation.was_dirty", Place::Words),
    ("baton_import", "LeftOut.path", Place::Words),
    ("baton_import", "LeftOut.reason", Place::Words),
    ("baton_import", "Manifest.base", Place::Words),
    ("baton_import", "Manifest.files", Place::Words),
    ("baton_import", "Manifest.fingerprints", Place::Words),
    ("baton_import", "Manifest.remote", Place::Words),
    ("baton_import", "Manifest.unfinished", Place::Words),
    ("baton_import", "RemoteContent.address", Place::Words),
    ("baton_import", "RemoteContent.url", Place::Words),
    ("baton_import", "PortableBaton.baton_id", Place::Words),
    ("baton_import", "PortableBaton.remote", Place::Words),
    ("baton_import", "baton", Place::Words),
    ("beads_export", "ephemeral", Place::Words),
    ("changes_show", "reference", Place::Words),
    ("beads_import", "lenient", Place::Words),
    ("beads_import", "lines", Place::Words),
    ("beads_import", "partial", Place::Words),
    ("beads_published", "lines", Place::Words),
    ("changes_attach", "LeftOut.path", Place::Words),
    ("changes_attach", "LeftOut.reason", Place::Words),
    ("changes_attach", "Manifest.base", Place::Words),
    ("changes_attach", "Manifest.files", Place::Words),
    ("changes_attach", "Manifest.fingerprints", Place::Words),
    ("changes_attach", "Manifest.remote", Place::Words),
    ("changes_attach", "Manifest.unfinished", Place::Words),
    ("changes_attach", "RemoteContent.address", Place::Words),
    ("changes_attach", "RemoteContent.url", Place::Words),
    ("handoff_create", "links", Place::Tracked),
    ("handoff_document", "budget", Place::Words),
    ("handoff_document", "id", Place::Transcript),
    ("handoff_retry", "repo", Place::Words),
    ("lease_list", "path", Place::Words),
    ("lease_take", "patterns", Place::Words),
    ("lease_take", "shared", Place::Words),
    ("place_remove", "path", Place::Words),
    ("project_init", "claimed", Place::Words),
    ("project_init", "default_owner", Place::Words),
    ("project_init", "id", Place::Words),
    ("project_init", "document", Place::Words),
    ("project_init", "document_trusted", Place::Words),
    ("project_init", "join", Place::Words),
    ("project_init", "move_folder", Place::Words),
    ("project_init", "remote", Place::Words),
    ("project_init", "vcs", Place::Words),
    ("project_set", "default_owner", Place::Words),
    ("project_set", "webhook", Place::Called),
    ("project_split", "path", Place::Words),
    ("session_handoff", "budget", Place::Words),
    ("session_wrap", "LeftOut.path", Place::Words),
    ("session_wrap", "LeftOut.reason", Place::Words),
    ("session_wrap", "Manifest.base", Place::Words),
    ("session_wrap", "Manifest.files", Place::Words),
    ("session_wrap", "Manifest.fingerprints", Place::Words),
    ("session_wrap", "Manifest.remote", Place::Words),
    ("session_wrap", "Manifest.unfinished", Place::Words),
    ("session_wrap", "RemoteContent.address", Place::Words),
    ("session_wrap", "RemoteContent.url", Place::Words),
    ("task_claim", "while_alive", Place::Words),
    ("tracker_event", "url", Place::Words),
    ("transcript_capture", "id", Place::Transcript),
    ("transcript_continue", "id", Place::Transcript),
    ("transcript_continue", "project", Place::Words),
    ("transcript_copy", "id", Place::Transcript),
    ("transcript_copy", "remote", Place::Words),
    ("transcript_doctor", "project", Place::Words),
    ("transcript_events", "id", Place::Transcript),
    ("transcript_find", "id", Place::Transcript),
    ("transcript_import", "id", Place::Transcript),
    ("transcript_list", "project", Place::Words),
    ("transcript_push", "CopyManifest.cwd", Place::Words),
    ("transcript_search", "project", Place::Words),
    ("transcript_show", "id", Place::Transcript),
    ("transcript_continue", "ConversationExtent.bytes", Place::Words),
    ("transcript_continue", "ConversationExtent.cwd", Place::Words),
    ("transcript_unwrapped", "ConversationExtent.cwd", Place::Words),
    ("transcript_unwrapped", "ConversationExtent.bytes", Place::Words),
];

/// Words by which an argument gives itself away.
const TELLING: &[&str] = &[
    "path",
    "file",
    "folder",
    "directory",
    "disk",
    "document",
    "root",
    "command",
    "url",
    "remote",
    "repository",
    "repositories",
];

/// Operations that concern more than projects: none is for a token of some projects.
const MACHINE: &[&str] = &[
    "handoff_document",
    "ledger_import",
    "place_remove",
    "project_init",
    "project_merge",
    "project_rename",
    "project_split",
    "share_show",
    "store_check",
    "token_check",
    "token_create",
    "token_list",
    "token_revoke",
    "transcript_capture",
    "transcript_continue",
    "transcript_copy",
    "transcript_doctor",
    "transcript_events",
    "transcript_find",
    "transcript_import",
    "transcript_list",
    "transcript_search",
    "transcript_show",
];

/// What an operation may ask of the machine, and what a caller over a socket gets.
const QUESTIONS: &[(&str, &str)] = &[
    ("has_process_ended", "of processes of the server's own machine that registered a session"),
    ("machines_with_known_processes", "the id of the server's machine, and which the caller says is its own"),
    ("only_caller_answers", "that it is so of what a client says of a machine that is not the server's"),
    ("is_conversation_open", "nothing"),
    ("transcript_env", "where the server's user keeps transcripts: only for callers that reach all projects"),
    ("git", "nothing"),
    ("hides_subjects", "whether the server's settings keep subjects from agents"),
    ("has_folder", "nothing"),
    ("file_claims", "nothing"),
    ("holds_repository", "nothing"),
    ("repository", "nothing"),
    ("fingerprints", "nothing"),
    ("uncommitted", "nothing"),
    ("github_access", "whether there is any"),
    ("github_enterprise", "which host of a remote the server takes for GitHub"),
    ("has_commit", "nothing"),
    ("head_contains", "nothing"),
    ("commit_contains", "nothing"),
    ("checkout_of", "nothing"),
    ("worktree_named", "nothing"),
    ("commits_made", "nothing"),
    ("commits_place", "nothing"),
    ("committed_files", "nothing"),
    ("path_kind", "nothing"),
    ("document", "nothing"),
    ("linked_document", "nothing"),
    ("cache_dir", "the index of transcripts: only for callers that reach all projects"),
    ("progress", "nothing"),
    ("role_file", "nothing: the built-in roles apply"),
    ("encrypt", "encryption for listed keys, which reads no private one"),
    ("decrypt", "nothing, unless the caller may do everything"),
    ("decrypt_object", "the same as decrypt"),
    ("own_key", "nothing, unless the caller may do everything"),
    ("make_key", "nothing, unless the caller may do everything"),
    ("transcript", "what a client of ours has read on its own machine"),
    ("client_answers", "whether the caller's machine answers"),
    ("is_served", "that it is so"),
    ("memory_index", "settings of the index"),
    ("matrices", "vectors of projects that are resolved for the caller"),
    ("keep_beat", "a heartbeat of a session in the ledger"),
    ("keeps_beats", "whether heartbeats are kept beside the ledger"),
    ("check_key", "whether a text is a public key"),
];

/// The arguments of an operation that speak of a place: its own, and those of objects in them.
fn places(schema: &Value) -> Vec<String> {
    let own = (String::new(), schema);
    let defs = schema["$defs"].as_object().into_iter().flatten().map(|(name, def)| (format!("{name}."), def));
    let mut found = Vec::new();
    for (prefix, object) in std::iter::once(own).chain(defs) {
        for (name, property) in object["properties"].as_object().into_iter().flatten() {
            let description = property["description"].as_str().unwrap_or_default();
            let description = description.replace("else from the working directory", "").to_lowercase();
            let words: Vec<&str> =
                description.split(|c: char| !c.is_alphanumeric()).chain(name.split('_')).collect();
            let tells = |word: &&str| TELLING.iter().any(|t| word == t || word.strip_suffix('s') == Some(t));
            if words.iter().any(tells) {
                found.push(format!("{prefix}{name}"));
            }
        }
    }
    found
}

#[test]
fn every_argument_that_names_a_place_is_known() {
    let mut found = BTreeSet::new();
    for entry in all::ALL {
        for place in places(&(entry.input_schema)().to_value()) {
            found.insert((entry.name.to_owned(), place));
        }
    }
    let listed: BTreeSet<(String, String)> =
        ARGUMENTS.iter().map(|(name, place, _)| ((*name).to_owned(), (*place).to_owned())).collect();
    let new: Vec<_> = found.difference(&listed).collect();
    assert!(new.is_empty(), "say in ARGUMENTS what a caller over a socket gets by these: {new:#?}");
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(gone.is_empty(), "these are listed and not there: {gone:#?}");
    // What opens a file by an argument is for those only who reach all projects, and what calls an address for operators.
    for (name, _, place) in ARGUMENTS {
        let entry = all::find(name).expect("an operation");
        match place {
            Place::Transcript => assert_ne!(entry.reach, Reach::Project, "{name}"),
            Place::Called => assert_eq!(entry.scope, Scope::Operator, "{name}"),
            Place::Words | Place::Tracked => {}
        }
    }
}

#[test]
fn what_concerns_the_machine_is_not_for_a_token_of_some_projects() {
    let found: Vec<&str> = all::ALL
        .iter()
        .filter(|entry| entry.reach != Reach::Project || entry.site == Site::Disk)
        .map(|entry| entry.name)
        .collect();
    assert_eq!(found.iter().collect::<BTreeSet<_>>(), MACHINE.iter().collect::<BTreeSet<_>>());
}

#[test]
fn every_question_to_the_machine_is_known() {
    let source = include_str!("../../src/op.rs");
    let from = source.find("pub trait Host {").expect("the trait");
    let body = &source[from..];
    let body = &body[..body.find("\n}").expect("its end")];
    let calls: BTreeSet<&str> = body
        .lines()
        .filter_map(|line| line.strip_prefix("    fn "))
        .filter_map(|line| line.split('(').next())
        .collect();
    let listed: BTreeSet<&str> = QUESTIONS.iter().map(|(name, _)| *name).collect();
    assert_eq!(calls, listed, "say in QUESTIONS what a caller over a socket gets");
}

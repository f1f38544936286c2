//! The document of every sample, as a stranger reads it who has to go on.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use baton_model::markdown::{self, render};
use baton_model::packet::ValidatedPacket;
use baton_transcripts::{Options, detect, summarize};

/// A sample as a file that a reader can open: a script of SQL becomes a database.
fn opened(path: &Path, folder: &Path) -> PathBuf {
    if path.extension().is_none_or(|end| end != "sql") {
        return path.to_owned();
    }
    // Tools that share their tables are told apart by the name of the file.
    let tool = path.parent().and_then(Path::file_name).unwrap_or_default();
    let made = folder.join(tool).with_extension("db");
    fs::remove_file(&made).ok();
    let database = rusqlite::Connection::open(&made).expect("a database");
    database.execute_batch(&fs::read_to_string(path).expect("SQL")).expect("tables");
    made
}

/// The document of a file; nothing where it is no transcript or holds no conversation.
fn document(path: &Path) -> Option<String> {
    let format = detect(path)?;
    let options = Options { home: Some("/home/you".to_owned()), ..Options::default() };
    let summary = summarize(path, format, &options);
    if summary.recent_messages.is_empty() && summary.commands.is_empty() {
        return None;
    }
    let sealed = ValidatedPacket::parse(serde_json::to_string(&summary).expect("JSON")).expect("a packet");
    let text = render(sealed.view(), &markdown::Options::default()).text;
    let lines = text.lines().filter(|line| !line.starts_with("- Transcript: "));
    Some(lines.map(|line| format!("{line}\n")).collect())
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
    found.sort();
}

/// Compares the documents of all samples below a folder; gives how many there are.
fn check(root: &Path, prefix: &str) -> usize {
    let scratch = tempfile::tempdir().expect("a folder");
    let mut found = Vec::new();
    files(root, &mut found);
    let mut count = 0;
    for path in found.iter().filter(|path| !path.ends_with("hook-stdin.jsonl")) {
        let Some(text) = document(&opened(path, scratch.path())) else { continue };
        // A chat of Aider lies in the project, so its folder is told.
        let text = text.replace(&*root.to_string_lossy(), "/samples");
        let name = path.strip_prefix(root).expect("below").to_string_lossy().replace(['/', ' '], "-");
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("{prefix}-{name}"), text);
        });
        count += 1;
    }
    count
}

#[test]
fn every_sample_of_ours_becomes_a_document() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/transcripts/samples");
    let count = check(&root.canonicalize().expect("samples"), "own");
    assert!(count > 50, "only {count} samples were read");
}

#[test]
fn sessions_made_by_the_tools_themselves_become_documents() {
    #[allow(clippy::disallowed_methods, reason = "a test may ask where the samples are")]
    let Some(root) = std::env::var_os("BATON_SAMPLES") else {
        eprintln!("BATON_SAMPLES is not set: documents of real samples were NOT compared");
        return;
    };
    assert_eq!(check(&Path::new(&root).join("real"), "real"), 7);
}

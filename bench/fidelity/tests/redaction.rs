//! Secrets that stay, and source code that is taken for secrets: the figures of `docs/benchmarks.md`, with a fixed seed.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use baton_fidelity::secrets::{FalsePositives, count_false_positives, harmless_texts};
use baton_redact::Redactor;

#[test]
fn made_up_secrets_of_every_kind_are_taken_out() {
    for kind in harmless_texts(1, 300) {
        // Only words of an assignment tell a short password from a word; chance may make one that looks like a word.
        let allowed = if kind.name.contains(" in ") { kind.made / 50 } else { 0 };
        assert!(kind.kept <= allowed, "{}: {} of {} stayed", kind.name, kind.kept, kind.made);
    }
}

#[test]
fn our_own_source_code_holds_no_secrets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = FalsePositives::default();
    let redactor = Redactor::new();
    for part in ["crates", "bench", "docs"] {
        count_false_positives(&root.join(part), &redactor, &mut found).expect("our own files");
    }
    // Examples of addresses with a password in tests beside the code are meant to look like what they are.
    let wrong: Vec<_> = found
        .places
        .iter()
        .filter(|(kind, line)| *kind != "url-password" && !line.contains("s3cret"))
        .collect();
    assert!(found.files > 200 && wrong.is_empty(), "{} files: {wrong:#?}", found.files);
}

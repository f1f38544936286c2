//! A damaged store says where; a damaged export is refused.

use std::fs;

use serde_json::Value;

use crate::stage::{Stage, items};

/// A project with some notes, one of which says this.
fn noted(stage: &Stage, words: &str) {
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    for note in ["the first", words, "the last"] {
        lola.json(&["note", note]);
    }
    lola.json(&["wrap", "--summary", "all of it"]);
}

#[test]
fn doctor_names_the_first_delta_that_a_flipped_bit_has_changed_and_says_what_to_do() {
    let stage = Stage::in_a_file("a bit of the file is flipped").registered();
    noted(&stage, "wombatmarker");
    let lola = stage.terminal("Lola");
    let seq = items(&lola.json(&["log", "--kind", "note"]))[1]["seq"].clone();
    let copy = stage.root().join("copy.db").display().to_string();
    lola.json(&["backup", &copy]);
    let mut bytes = fs::read(&copy).expect("a backup");
    let at = bytes.windows(12).position(|window| window == b"wombatmarker").expect("the note");
    bytes[at] ^= 2;
    fs::write(&copy, bytes).expect("a bit is flipped");
    let report = lola.run(&["--store", &copy, "doctor"]);
    assert_eq!(report.code, 1, "{report:#?}");
    assert!(report.out.contains(&format!("shop: the chain is broken at delta {seq}")), "{}", report.out);
    assert!(report.out.contains("next: ") && report.out.contains("baton restore"), "{}", report.out);
    let file = stage.root().join("out.jsonl").display().to_string();
    let other = stage.root().join("other.db").display().to_string();
    lola.refused(1, "chain_broken", &["--store", &copy, "log", "export", &file]);
    lola.refused(1, "chain_broken", &["store", "copy", &copy, &other]);
    // What can still be read of it makes a store whose chain begins anew.
    lola.json(&["--store", &copy, "log", "export", "--unverified", &file]);
    lola.refused(1, "export_invalid", &["--store", &other, "log", "import", &file]);
    let made = lola.json(&["--store", &other, "log", "import", "--unverified", &file]);
    assert_eq!(made["verified"], false);
    assert_eq!(lola.run(&["--store", &other, "doctor"]).code, 0);
    let as_it_is = stage.root().join("as-it-is.db").display().to_string();
    assert_eq!(lola.json(&["store", "copy", "--unverified", &copy, &as_it_is])["verified"], false);
    assert_eq!(lola.run(&["--store", &as_it_is, "doctor"]).code, 1);
    assert_eq!(lola.run(&["doctor"]).code, 0);
}

/// SQLite gives out whatever bytes a text has.
#[test]
fn a_text_that_is_none_any_more_is_damage_which_the_doctor_names() {
    let stage = Stage::in_a_file("bytes of the file are changed").registered();
    let lola = stage.terminal("Lola");
    lola.json(&["project", "set", "--phase", "wombatphase"]);
    lola.json(&["start"]);
    let copy = stage.root().join("copy.db").display().to_string();
    lola.json(&["backup", &copy]);
    let mut bytes = fs::read(&copy).expect("a backup");
    let word = b"wombatphase";
    for at in 0..bytes.len() - word.len() {
        if bytes[at..].starts_with(word) {
            bytes[at] = 0xff;
        }
    }
    fs::write(&copy, bytes).expect("bytes are changed");
    let report = lola.run(&["--store", &copy, "doctor"]);
    assert_eq!(report.code, 1, "{report:#?}");
    assert!(report.out.contains("NOT sound") && report.out.contains("next: "), "{}", report.out);
    lola.refused(1, "store_corrupt", &["--store", &copy, "status"]);
}

#[test]
fn an_export_that_was_cut_or_altered_is_refused_with_its_line_and_a_whole_one_is_imported() {
    let stage = Stage::in_a_file("the other store is a file").registered();
    noted(&stage, "naïve ✓");
    let lola = stage.terminal("Lola");
    let (file, other) = (stage.root().join("p.jsonl"), stage.root().join("other.db").display().to_string());
    lola.json(&["log", "export", &file.display().to_string()]);
    let whole = fs::read(&file).expect("an export");
    let refused = |bytes: &[u8], code: &str| -> Value {
        let damaged = stage.file("damaged.jsonl", bytes);
        lola.refused(1, code, &["--store", &other, "log", "import", &damaged])["line"].clone()
    };
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(refused(&lines[..4].concat(), "export_invalid"), 5);
    assert_eq!(refused(&lines[1..].concat(), "export_invalid"), 1);
    assert_eq!(refused(&whole[..whole.len() - 1], "export_invalid"), lines.len());
    let mut altered = whole.clone();
    altered[lines[..3].concat().len() + 20] ^= 1;
    assert_eq!(refused(&altered, "export_invalid"), 4);
    let mut no_text = whole.clone();
    no_text[lines[0].len() + 3] = 0xff;
    assert_eq!(refused(&no_text, "export_invalid"), 2);
    let made = lola.json(&["--store", &other, "log", "import", &file.display().to_string()]);
    assert_eq!(made["verified"], true);
    assert_eq!(
        lola.run(&["--store", &other, "log", "export", "-", "--project", "shop"]).out.as_bytes(),
        whole
    );
    lola.refused(4, "project_exists", &["--store", &other, "log", "import", &file.display().to_string()]);
    assert_eq!(lola.run(&["--store", &other, "doctor"]).code, 0);
}

/// The row of a project has columns behind the head of its chain.
#[test]
fn a_store_with_a_merged_project_is_copied() {
    let stage = Stage::in_a_file("another store is a file").registered();
    let lola = stage.terminal("Lola");
    let other = stage.repo("other");
    lola.within(&other).json(&["init"]);
    noted(&stage, "before");
    lola.json(&["project", "merge", "other", "--into", "shop"]);
    let [backup, copy] = ["backup.db", "copy.db"].map(|name| stage.root().join(name).display().to_string());
    lola.json(&["backup", &backup]);
    assert_eq!(lola.json(&["store", "copy", &backup, &copy])["verified"], true);
    assert_eq!(lola.run(&["--store", &copy, "doctor"]).code, 0);
    let projects = lola.json(&["--store", &copy, "project", "list"]);
    assert!(projects.to_string().contains("\"other\""), "{projects:#}");
}

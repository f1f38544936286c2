//! What is not committed is kept as a reference of a remote: from one machine to another, through a bare repository and a ledger that
//! does not hold it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stage::text;
use crate::transcript_copies::TwoMachines;
use crate::worktrees::git;

/// The references with changes that the remote has.
fn references(of: &TwoMachines) -> Vec<String> {
    let listed = git(&of.laptop, of.laptop.root(), &["--git-dir", "bare.git", "for-each-ref", "refs/baton"]);
    listed.lines().map(str::to_owned).collect()
}

fn edited(of: &TwoMachines) {
    of.laptop.file("shop/a.txt", "edited\n");
    of.laptop.file("shop/new/b.txt", "new\n");
}

const WRAP: [&str; 7] =
    ["wrap", "--summary", "half", "--next", "finish", "--with-changes", "--changes-remote"];

fn wrapped(of: &TwoMachines, remote: &str) -> Value {
    edited(of);
    of.ann().json(&["start"]);
    of.ann().json(&[&WRAP[..], &[remote]].concat())
}

fn bare(of: &TwoMachines) -> (PathBuf, PathBuf) {
    (of.laptop.root().join("bare.git"), of.laptop.root().join("away.git"))
}

#[test]
fn changes_that_another_baton_has_too_stay_in_the_remote() {
    let of = TwoMachines::new();
    let first = text(&wrapped(&of, "origin"), "baton_id");
    let donna = of.donna();
    donna.json(&["pickup"]);
    let second = text(&donna.json(&["wrap", "--summary", "looked", "--next", "finish"]), "baton_id");
    let dropped = of.ann().run(&["changes", "drop", &first]).done();
    assert!(
        dropped.err.contains(&format!("stay in the remote: they are also those of baton {second}")),
        "{}",
        dropped.err
    );
    assert_eq!(references(&of).len(), 1);
    assert_eq!(
        donna.json(&["pickup", "--handoff", &second, "--apply"])["changes"]["outcome"]["applied"],
        true
    );
    donna.json(&["changes", "drop", &second]);
    assert_eq!(references(&of), [""; 0]);
}

#[test]
fn changes_that_were_passed_on_go_from_the_remote_with_the_last_baton_that_has_them() {
    let of = TwoMachines::new();
    let first = text(&wrapped(&of, "origin"), "baton_id");
    let donna = of.donna();
    donna.json(&["pickup"]);
    let second = text(&donna.json(&["wrap", "--summary", "looked", "--next", "finish"]), "baton_id");
    let dropped = of.ann().run(&["changes", "drop", &second]).done();
    assert!(!dropped.err.contains("stay in the remote"), "{}", dropped.err);
    of.ann().refused(3, "changes_none", &["changes", "show", &first]);
    assert_eq!(references(&of), [""; 0]);
}

#[test]
fn replaced_changes_are_gone_from_the_remote_or_named_by_the_doctor() {
    let of = TwoMachines::new();
    let ann = of.ann();
    let baton = text(&wrapped(&of, "origin"), "baton_id");
    let keep = |text: &str, remote: &str| {
        of.laptop.file("shop/a.txt", text);
        ann.run(&["changes", "keep", &baton, "--replace", "--changes-remote", remote]).done()
    };
    let answer = keep("second\n", "origin");
    let [reference] = references(&of).try_into().expect("one");
    let name = reference.rsplit(['\t', ' ']).next().unwrap_or_default();
    assert!(answer.out.contains(name) && answer.err.is_empty(), "{} {} {reference}", answer.out, answer.err);
    // The same content under another reference replaces it, too.
    keep("second\n", "origin");
    assert!(!references(&of).contains(&reference) && references(&of).len() == 1, "{:?}", references(&of));
    let (there, away) = bare(&of);
    fs::rename(&there, &away).expect("moved");
    let answer = keep("third\n", "ledger");
    assert!(answer.err.contains("`baton doctor` has the command"), "{}", answer.err);
    let output = ann.text(&["doctor"]);
    assert!(output.contains("may still have the reference of changes that were replaced"), "{output}");
    fs::rename(&away, &there).expect("moved");
    let found = ann.json(&["doctor"])["interrupted_pushes"].clone();
    assert_eq!((&found[0]["is_there"], &found[0]["is_named"]), (&json!(true), &json!(false)), "{found:#}");
    ann.shell(&text(&found[0], "remove")).done();
    assert_eq!((references(&of), &ann.json(&["doctor"])["interrupted_pushes"]), (Vec::new(), &Value::Null));
    // Into the ledger, where the remote answers.
    let baton = text(&wrapped(&of, "origin"), "baton_id");
    of.laptop.file("shop/a.txt", "fourth\n");
    ann.json(&["changes", "keep", &baton, "--replace"]);
    assert_eq!((references(&of).len(), note_of(&of)), (0, None));
}

#[test]
fn changes_in_a_remote_arrive_and_go_with_a_drop() {
    let of = TwoMachines::new();
    // A hook of the repository takes no part.
    let hook = of.laptop.file("shop/.git/hooks/pre-push", "#!/bin/sh\ntouch ../ran\nexit 1\n");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("mode");
    let before = git(&of.laptop, of.laptop.shop(), &["for-each-ref"]);
    let left = wrapped(&of, "origin");
    let baton = text(&left, "baton_id");
    assert!(!of.laptop.root().join("ran").exists());
    assert_eq!(git(&of.laptop, of.laptop.shop(), &["for-each-ref"]), before, "no reference here");
    let remote = &left["changes"]["remote"];
    assert_eq!(references(&of).len(), 1);
    assert!(references(&of)[0].ends_with(&text(remote, "reference")), "{remote}");
    let donna = of.donna();
    assert!(donna.text(&["changes", "show"]).contains("kept in "), "it says where");
    assert!(donna.text(&["changes", "diff"]).contains("+edited"));
    let picked = donna.json(&["pickup", "--apply"]);
    assert_eq!(picked["changes"]["outcome"]["applied"], true, "{picked:#}");
    assert_eq!(fs::read_to_string(of.clone.join("a.txt")).expect("read"), "edited\n");
    assert_eq!(fs::read_to_string(of.clone.join("new/b.txt")).expect("read"), "new\n");
    donna.json(&["changes", "drop", &baton]);
    assert_eq!(references(&of), Vec::<String>::new());
}

#[test]
fn without_its_remote_nothing_is_half_done() {
    let of = TwoMachines::new();
    let (there, away) = bare(&of);
    let (ann, donna) = (of.ann(), of.donna());
    edited(&of);
    ann.json(&["start"]);
    fs::rename(&there, &away).expect("moved");
    let refused = ann.refused(5, "changes_remote_failed", &[&WRAP[..], &["origin"]].concat());
    assert!(text(&refused, "hint").contains("nothing was changed"), "{refused:#}");
    ann.refused(3, "changes_remote_unknown", &[&WRAP[..], &["upstream"]].concat());
    // Ann's session is still open.
    donna.refused(4, "predecessor_active", &["pickup", "--dry-run"]);
    fs::rename(&away, &there).expect("moved");
    let baton = text(&ann.json(&[&WRAP[..], &["origin"]].concat()), "baton_id");
    fs::rename(&there, &away).expect("moved");
    // The pickup is done, says first what it could not apply, and can be completed.
    let picked = donna.json(&["pickup", "--apply"]);
    let outcome = &picked["changes"]["outcome"];
    assert_eq!(outcome["applied"], false, "{picked:#}");
    assert!(text(outcome, "failure").contains("did not do it"), "{outcome}");
    assert_eq!(git(&of.laptop, &of.clone, &["diff", "HEAD", "--stat"]), "");
    assert!(!of.clone.join("new").exists());
    donna.refused(5, "changes_remote_failed", &["changes", "drop", &baton]);
    donna.refused(5, "changes_remote_failed", &["changes", "apply"]);
    fs::rename(&away, &there).expect("moved");
    donna.json(&["changes", "apply"]);
    assert_eq!(fs::read_to_string(of.clone.join("a.txt")).expect("read"), "edited\n");
    // Without the remote itself: added again, or given up.
    git(&of.laptop, &of.clone, &["remote", "rename", "origin", "upstream"]);
    git(&of.laptop, &of.clone, &["remote", "set-url", "upstream", "https://git.example/a/b"]);
    let refused = donna.refused(3, "changes_remote_unknown", &["changes", "drop", &baton]);
    let added = format!("git remote add NAME {}", there.display());
    assert!(text(&refused, "hint").contains(&added), "{refused:#}");
    // Of another machine's folder there is no command that works as it stands.
    fs::rename(&there, &away).expect("moved");
    let refused = donna.refused(3, "changes_remote_unknown", &["changes", "drop", &baton]);
    let hint = text(&refused, "hint");
    assert!(
        hint.contains("git remote get-url NAME") && hint.contains("git remote add NAME ADDRESS"),
        "{hint}"
    );
    fs::rename(&away, &there).expect("moved");
    donna.json(&["changes", "drop", &baton, "--leave-remote"]);
    assert_eq!(references(&of).len(), 1);
}

#[test]
fn a_wrap_that_is_refused_leaves_no_reference_and_a_file_holds_the_content() {
    let of = TwoMachines::new();
    let ann = of.ann();
    edited(&of);
    // No session is open.
    let refused = ann.run(&[&WRAP[..], &["origin"]].concat());
    assert_ne!(refused.code, 0, "{}", refused.out);
    assert_eq!(references(&of), Vec::<String>::new());
    let left = wrapped(&of, "origin");
    let file = of.laptop.root().join("work.baton").display().to_string();
    ann.json(&["handoff", "export", &text(&left, "baton_id"), "-o", &file]);
    let written: Value = serde_json::from_str(&fs::read_to_string(&file).expect("a file")).expect("JSON");
    assert_eq!(written["baton"]["changes"]["remote"], Value::Null);
    assert_eq!(written["changes_parts"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_remote_of_the_settings_that_does_not_answer_keeps_no_wrap_back() {
    let of = TwoMachines::new();
    edited(&of);
    let ann = of.ann().with("BATON_WRAP_CHANGES_REMOTE", "https://127.0.0.1:1/x.git");
    ann.json(&["start"]);
    let refused = ann.refused(5, "changes_remote_failed", &[&WRAP[..6]].concat());
    assert!(text(&refused, "hint").contains("`--with-changes --changes-remote ledger`"), "{refused}");
    let always = ann.with("BATON_WRAP_CHANGES", "always");
    let refused = always.refused(5, "changes_remote_failed", &["wrap", "--summary", "s", "--next", "n"]);
    assert!(text(&refused, "hint").contains("`--without-changes` wraps without them"), "{refused}");
    let left = ann.json(&[&WRAP[..], &["ledger"]].concat());
    assert_eq!((&left["changes"]["remote"], items_of(&left)), (&Value::Null, 2));
}

fn items_of(left: &Value) -> usize {
    left["changes"]["files"].as_array().map_or(0, Vec::len)
}

#[test]
fn a_setting_names_no_folder_as_a_remote() {
    let of = TwoMachines::new();
    edited(&of);
    let ann = of.ann().with("BATON_WRAP_CHANGES_REMOTE", "origin");
    ann.json(&["start"]);
    let wrap = ["wrap", "--summary", "half", "--next", "finish", "--with-changes"];
    ann.refused(1, "changes_remote_not_named", &wrap);
    let ssh = ann.with("BATON_WRAP_CHANGES_REMOTE", "ext::sh -c 'touch ran'");
    ssh.refused(3, "changes_remote_unknown", &wrap);
    assert!(!of.laptop.shop().join("ran").exists());
    let shown = ann.json(&["config", "show"]);
    assert!(shown.to_string().contains("wrap.changes_remote"), "{shown:#}");
    // The old way is still there.
    assert_eq!(of.ann().json(&wrap)["changes"]["files"], json!(["a.txt", "new/b.txt"]));
}

/// The one note of a push that lies on the laptop.
fn note_of(of: &TwoMachines) -> Option<PathBuf> {
    let folder = of.laptop.home().join("data/baton/pushes");
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).next()
}

#[test]
fn a_push_that_is_killed_is_named_by_the_doctor_until_its_reference_is_removed() {
    let of = TwoMachines::new();
    let (there, _) = bare(&of);
    let marker = of.laptop.root().join("pushed");
    let hook = there.join("hooks/post-receive");
    fs::create_dir_all(there.join("hooks")).expect("a folder");
    fs::write(&hook, format!("#!/bin/sh\ntouch {}\nsleep 3\n", marker.display())).expect("written");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("mode");
    edited(&of);
    let ann = of.ann();
    ann.json(&["start"]);
    let mut wrap = ann.spawn(&[&WRAP[..], &["origin"]].concat());
    let begun = Instant::now();
    while !marker.exists() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    wrap.kill().expect("killed");
    wrap.wait().expect("ended");
    assert_eq!(references(&of).len(), 1);
    let note = note_of(&of).expect("a note");
    let written = fs::read_to_string(&note).expect("read");
    let found = ann.json(&["doctor"])["interrupted_pushes"].clone();
    assert!(references(&of)[0].ends_with(&text(&found[0], "reference")), "{found:#}");
    let output = ann.text(&["doctor"]);
    let command = text(&found[0], "remove");
    assert!(output.contains("was killed and left a reference") && output.contains(&command), "{output}");
    // Another ledger does not know whether a baton has it.
    let elsewhere = format!("sqlite:{}", of.laptop.root().join("elsewhere.db").display());
    ann.run(&["--store", &elsewhere, "init"]).done();
    let output = ann.text(&["--store", &elsewhere, "doctor"]);
    assert!(
        output.contains("which was not asked")
            && output.contains(&found[0]["url"].to_string().replace('"', "")),
        "{output}"
    );
    assert!(!output.contains("that no baton names"), "{output}");
    fs::remove_file(&hook).expect("removed");
    ann.shell(&command).done();
    assert_eq!(references(&of), Vec::<String>::new());
    assert_eq!(ann.json(&["doctor"])["interrupted_pushes"], Value::Null);
    // One that ended leaves no note.
    let left = ann.json(&[&WRAP[..], &["origin"]].concat());
    assert_eq!(note_of(&of), None);
    assert_eq!(ann.json(&["doctor"])["interrupted_pushes"], Value::Null);
    // One that was killed once the ledger had its baton left nothing that may be removed.
    let reference = text(&left["changes"]["remote"], "reference");
    fs::write(&note, written.replace(&text(&found[0], "reference"), &reference)).expect("written");
    assert_eq!(ann.json(&["doctor"])["interrupted_pushes"], Value::Null);
    assert_eq!((note_of(&of), references(&of).len()), (None, 1));
}

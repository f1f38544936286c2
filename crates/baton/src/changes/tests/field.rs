//! What the field found: filters, hidden files, line ends, folders in the way.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::changes::{Changes, Fault, Recovery, Step, recover};
use crate::git::Plumbing;

use super::faults::{FILES, edited};
use super::stage::{Stage, above, apply, capture, commit, files, git, status, write};

/// A filter that makes capitals of what is committed, as one for large files puts a pointer in its place.
const UP: [&str; 2] = ["filter.up.clean=tr a-z A-Z", "filter.up.smudge=tr A-Z a-z"];

#[test]
fn a_file_that_a_filter_converts_is_no_change() {
    let stage = Stage::new(&[(".gitattributes", "*.up filter=up\n"), ("a.up", "HELLO\n"), ("f", "x\n")], &UP);
    let source = stage.clone("source");
    assert_eq!(fs::read(source.join("a.up")).expect("read"), b"hello\n");
    write(&source, b"f", b"y\n");
    let changes = capture(&source).expect("captured");
    assert_eq!(changes.files, ["f"]);
    for n in 0..8 {
        let target = stage.clone(&format!("target-{n}"));
        assert_eq!(apply(&target, &changes).expect("applied").files, ["f"]);
        assert_eq!(fs::read(target.join("a.up")).expect("read"), b"hello\n");
    }
    // One that was changed travels as it is on the disk.
    write(&source, b"a.up", b"good day\n");
    let changes = capture(&source).expect("captured");
    let target = stage.clone("changed");
    apply(&target, &changes).expect("applied");
    assert_eq!(files(&target), files(&source));
}

#[test]
fn a_file_that_git_is_told_not_to_look_at_is_never_written_over() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    write(&source, b"a", b"theirs\n");
    let changes = capture(&source).expect("captured");
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        let target = stage.clone(flag.trim_start_matches('-'));
        write(&target, b"a", b"local\n");
        git(&target, &["update-index", flag, "a"]);
        assert!(
            matches!(apply(&target, &changes), Err(Fault::HiddenChanges(found)) if found == ["a"]),
            "{flag}"
        );
        assert_eq!(fs::read(target.join("a")).expect("read"), b"local\n");
        let own = capture(&target).expect("captured");
        assert_eq!((own.files.len(), own.left_out.len()), (0, 1), "{flag}: {:?}", own.left_out);
    }
}

#[test]
fn what_git_would_not_show_is_neither_applied_nor_left_out_in_silence() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    fs::remove_file(source.join("a")).expect("removed");
    let removal = capture(&source).expect("captured");
    let sparse = stage.clone("sparse");
    git(&sparse, &["sparse-checkout", "set", "--no-cone", "/*", "!/a"]);
    assert!(!sparse.join("a").exists());
    assert!(capture(&sparse).expect("captured").left_out.is_empty(), "a sparse checkout is no change");
    assert!(matches!(apply(&sparse, &removal), Err(Fault::HiddenChanges(found)) if found == ["a"]));
    git(&sparse, &["sparse-checkout", "disable"]);
    apply(&sparse, &removal).expect("applied");
    write(&source, b"a", b"theirs\n");
    let edit = capture(&source).expect("captured");
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        let target = stage.clone(flag.trim_start_matches('-'));
        git(&target, &["update-index", flag, "a"]);
        assert!(matches!(apply(&target, &removal), Err(Fault::HiddenChanges(_))), "{flag}: removed unseen");
        assert!(matches!(apply(&target, &edit), Err(Fault::HiddenChanges(_))), "{flag}: changed unseen");
        fs::remove_file(target.join("a")).expect("removed");
        let own = capture(&target).expect("captured");
        assert_eq!((own.files.len(), own.left_out.len()), (0, 1), "{flag}: {:?}", own.left_out);
    }
}

#[test]
fn line_ends_are_no_conflict_where_the_same_file_was_committed() {
    let lines =
        |second: &str, last: &str| format!("1\r\n{second}\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n{last}\r\n");
    let stage = Stage::new(&[("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")], &["core.autocrlf=true"]);
    let source = stage.clone("source");
    assert_eq!(fs::read_to_string(source.join("f")).expect("read"), lines("2", "9"));
    write(&source, b"f", lines("2", "nine").as_bytes());
    let changes = capture(&source).expect("captured");
    let target = stage.clone("target");
    write(&target, b"f", lines("two", "9").as_bytes());
    commit(&target);
    assert!(apply(&target, &changes).expect("merged").is_merge);
    assert_eq!(fs::read_to_string(target.join("f")).expect("read"), lines("two", "nine"));
    assert_eq!(git(&target, &["diff", "--numstat"]), "1\t1\tf\n");
}

#[test]
fn changes_that_are_there_already_are_no_obstacle() {
    let stage = Stage::new(&FILES, &[]);
    let (source, changes) = edited(&stage);
    assert!(apply(&source, &changes).expect("there").was_there);
    let target = stage.clone("target");
    assert!(!apply(&target, &changes).expect("applied").was_there);
    assert!(apply(&target, &changes).expect("again").was_there);
    write(&target, b"my-notes.txt", b"mine\n");
    assert!(apply(&target, &changes).expect("beside a file of one's own").was_there);
    write(&target, b"a", b"mine\n");
    assert!(matches!(apply(&target, &changes), Err(Fault::LocalChanges(_))));
}

#[test]
fn an_empty_folder_gives_way_to_a_file_and_binary_files_are_in_the_patch() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    write(&source, b"new", b"file\0binary\n");
    let changes = capture(&source).expect("captured");
    let target = stage.clone("target");
    fs::create_dir_all(target.join("new/deep")).expect("made");
    apply(&target, &changes).expect("applied");
    assert_eq!(files(&target), files(&source));
    let patch = crate::changes::patch(&Plumbing, &source, above(&source), &changes).expect("a patch");
    assert!(String::from_utf8_lossy(&patch).contains("GIT binary patch"));
}

#[test]
fn what_was_taken_back_is_not_said_to_be_finished() {
    let stage = Stage::new(&FILES, &[]);
    let (_, changes) = edited(&stage);
    let target = stage.clone("target");
    let mut count = 0;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        crate::changes::apply(&Plumbing, &target, above(&target), &changes, &mut |step| {
            count += usize::from(matches!(step, Step::Path(_)));
            if count > 2 {
                std::panic::resume_unwind(Box::new(step));
            }
            Ok(())
        })
    }));
    assert!(outcome.is_err());
    fs::remove_file(target.join(".git/index.lock")).expect("the lock was there");
    git(&target, &["add", "-A"]);
    assert_eq!(recover(&Plumbing, &target).expect("recovered").recovery, Recovery::TakenBack);
}

/// Whether an application ends before it has written more than so many paths.
fn is_killed(target: &Path, changes: &Changes, paths: usize) -> bool {
    let mut count = 0;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        crate::changes::apply(&Plumbing, target, above(target), changes, &mut |step| {
            count += usize::from(matches!(step, Step::Path(_)));
            if count > paths {
                std::panic::resume_unwind(Box::new(step));
            }
            Ok(())
        })
    }));
    outcome.is_err()
}

#[test]
fn what_was_taken_back_can_be_applied_anew_and_is_named() {
    let stage = Stage::new(&FILES, &[]);
    let (_, mut changes) = edited(&stage);
    changes.baton_id = Some("0199".into());
    let mut killed = 0;
    for kill_at in 1..8 {
        let target = stage.clone(&format!("killed-{kill_at}"));
        if !is_killed(&target, &changes, kill_at) {
            break;
        }
        killed += 1;
        fs::remove_file(target.join(".git/index.lock")).expect("the lock was there");
        write(&target, b"own", b"own\n");
        git(&target, &["add", "own"]);
        let by = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "own"];
        git(&target, &by);
        let recovered = recover(&Plumbing, &target).expect("recovered");
        assert_eq!((recovered.recovery, recovered.baton_id.as_deref()), (Recovery::TakenBack, Some("0199")));
        // Files that were put back have another time than the index says.
        apply(&target, &changes).unwrap_or_else(|fault| panic!("{kill_at}: {fault}"));
    }
    assert!(killed > 1, "the changes have several paths");
}

#[test]
fn what_was_committed_after_a_kill_is_not_taken_back() {
    let stage = Stage::new(&FILES, &[]);
    let (source, changes) = edited(&stage);
    let mut killed = 0;
    for kill_at in 1..8 {
        let target = stage.clone(&format!("killed-{kill_at}"));
        if !is_killed(&target, &changes, kill_at) {
            break;
        }
        killed += 1;
        // Git refuses to commit before its lock is removed, and says that it may be.
        fs::remove_file(target.join(".git/index.lock")).expect("the lock was there");
        git(&target, &["add", "-A", "--", ".", ":!*.tmp"]);
        git(
            &target,
            &[
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "commit",
                "-qm",
                "what was there",
                "--allow-empty",
            ],
        );
        let committed = git(&target, &["rev-parse", "HEAD^{tree}"]);
        assert_eq!(
            recover(&Plumbing, &target).expect("recovered").recovery,
            Recovery::TakenBack,
            "{kill_at}"
        );
        assert_eq!(status(&target), "", "{kill_at}: what was committed stays");
        assert_eq!(git(&target, &["rev-parse", "HEAD^{tree}"]), committed);
        // The rest comes on top of it, unless the index of the changes holds something else than what was committed.
        match apply(&target, &changes) {
            Ok(_) => assert_eq!(files(&target), files(&source), "{kill_at}"),
            Err(fault) => {
                assert!(matches!(&fault, Fault::Conflicts(paths) if paths == &["a"]), "{kill_at}: {fault}")
            }
        }
    }
    assert!(killed > 1, "the changes have several paths");
}

#[test]
fn the_document_that_a_registration_writes_stays_in_its_working_copy() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    let document = |remote: &str| {
        let project = baton_model::project::Project {
            project_id: "shop".into(),
            vcs_remote_url: Some(remote.into()),
            ..baton_model::project::Project::default()
        };
        baton_model::project_document::write(None, &project).expect("written")
    };
    write(&source, b"docs/PROJECT.md", document("https://example.com/shop.git").as_bytes());
    write(&source, b"a", b"changed\n");
    let changes = capture(&source).expect("captured");
    assert_eq!(changes.files, ["a"]);
    git(&source, &["add", "docs/PROJECT.md"]);
    assert_eq!(capture(&source).expect("captured").files, ["a"], "staged");
    write(&source, b"docs/PROJECT.md", format!("{}\nMore.\n", document("x")).as_bytes());
    assert_eq!(capture(&source).expect("captured").files, ["a", "docs/PROJECT.md"]);
    git(&source, &["rm", "-q", "--cached", "docs/PROJECT.md"]);
    assert_eq!(capture(&source).expect("captured").files, ["a", "docs/PROJECT.md"]);
}

#[test]
fn a_staged_submodule_stays_at_the_commit_of_the_base() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    let inner = stage.clone("inner").display().to_string();
    git(&source, &["-c", "protocol.file.allow=always", "submodule", "-q", "add", &inner, "sub"]);
    commit(&source);
    let base = git(&source, &["rev-parse", "HEAD:sub"]);
    write(&source.join("sub"), b"a", b"other\n");
    commit(&source.join("sub"));
    git(&source, &["add", "sub"]);
    write(&source, b"a", b"changed\n");
    let changes = capture(&source).expect("captured");
    assert_eq!((changes.files.as_slice(), changes.left_out.len()), (&["a".to_owned()][..], 1));
    assert_eq!(git(&source, &["rev-parse", "HEAD:sub"]), base);
    git(&source, &["checkout", "-q", "a"]);
    assert!(matches!(apply(&source, &changes), Err(Fault::LocalChanges(found)) if found == ["sub"]));
    git(&source, &["reset", "-q", "--hard"]);
    apply(&source, &changes).expect("applied");
    assert_eq!(git(&source, &["diff", "--cached", "--name-only"]), "");
}

#[test]
fn a_file_in_the_place_of_a_submodule_stays_behind_and_the_rest_arrives() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    let inner = stage.clone("inner").display().to_string();
    git(&source, &["-c", "protocol.file.allow=always", "submodule", "-q", "add", &inner, "sub"]);
    commit(&source);
    let base = git(&source, &["rev-parse", "HEAD"]);
    git(&source, &["rm", "-qf", "--cached", "sub"]);
    fs::remove_dir_all(source.join("sub")).expect("removed");
    write(&source, b"sub", b"now a file\n");
    write(&source, b"a", b"changed\n");
    let changes = capture(&source).expect("captured");
    assert_eq!(changes.files, ["a"]);
    let left: Vec<&str> = changes.left_out.iter().map(|left| left.path.as_str()).collect();
    assert_eq!(left, ["sub"]);
    git(&source, &["reset", "-q", "--hard", base.trim()]);
    assert_eq!(apply(&source, &changes).expect("applied").files, ["a"]);
}

#[test]
fn what_is_changed_in_a_submodule_is_told_and_nothing_that_it_configures_runs() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    let inner = stage.clone("inner").display().to_string();
    git(&source, &["-c", "protocol.file.allow=always", "submodule", "-q", "add", &inner, "sub"]);
    commit(&source);
    let sub = source.join("sub");
    assert_eq!(capture(&source).expect("captured").left_out, []);
    let ran = stage.dir.path().join("ran");
    git(&sub, &["config", "filter.x.clean", &format!("touch {}; cat", ran.display())]);
    write(&source, b".git/modules/sub/info/attributes", b"* filter=x\n");
    for (name, is_tracked) in [("a", true), ("untracked", false)] {
        write(&sub, name.as_bytes(), b"other\n");
        let changes = capture(&source).expect("captured");
        assert_eq!(changes.files, [""; 0]);
        let paths: Vec<&str> = changes.left_out.iter().map(|left| left.path.as_str()).collect();
        assert_eq!(paths, ["sub"], "{name}");
        assert!(!ran.exists(), "{name}");
        // Not by git: a checkout would run the filter.
        match is_tracked {
            true => write(&sub, b"a", b"one\ntwo\n"),
            false => super::stage::remove(&sub, name.as_bytes()),
        }
    }
    assert_eq!(capture(&source).expect("captured").left_out, []);
    git(&sub, &["config", "--unset", "filter.x.clean"]);
    // Together with a commit of its own it is told once.
    write(&sub, b"a", b"committed\n");
    commit(&sub);
    write(&sub, b"a", b"more\n");
    assert_eq!(capture(&source).expect("captured").left_out.len(), 1);
}

#[test]
fn changes_that_write_other_files_than_they_name_are_refused() {
    let stage = Stage::new(&FILES, &[]);
    let (_, mut changes) = edited(&stage);
    changes.files.retain(|name| name != "link");
    let target = stage.clone("target");
    let refusal = apply(&target, &changes).expect_err("refused");
    assert!(matches!(&refusal, Fault::Invalid(what) if what.contains("link")), "{refusal}");
}

#[test]
fn a_pipe_in_place_of_a_file_with_rules_is_refused_and_not_waited_for() {
    let stage = Stage::new(&FILES, &[]);
    let below = ["dir/.gitignore", "dir/.gitattributes"];
    for name in
        [".gitattributes", ".gitignore", ".git/info/exclude", ".git/info/attributes"].into_iter().chain(below)
    {
        let source = stage.clone(&name.replace('/', "-"));
        let _ = fs::remove_file(source.join(name));
        fs::create_dir_all(source.join(".git/info")).expect("a folder");
        let made = std::process::Command::new("mkfifo").arg(source.join(name)).status().expect("mkfifo runs");
        assert!(made.success());
        write(&source, b"a", b"changed\n");
        let fault = capture(&source).expect_err("it is refused");
        assert!(format!("{fault:?}").contains(name.rsplit('/').next().expect("a name")), "{fault:?}");
    }
}

#[test]
fn a_deletion_is_captured_in_a_repository_with_long_names() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    fs::remove_dir_all(source.join(".git")).expect("removed");
    git(&source, &["init", "-q", "--object-format=sha256"]);
    git(&source, &["-c", "user.name=A", "-c", "user.email=a@b", "add", "-A"]);
    git(&source, &["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "one"]);
    fs::remove_file(source.join("a")).expect("removed");
    assert_eq!(capture(&source).expect("captured").files, ["a"]);
}

#[test]
fn a_new_file_that_is_there_already_is_said_to_be_there() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    write(&source, b"new.txt", b"new\n");
    let changes = capture(&source).expect("captured");
    let target = stage.clone("target");
    assert!(!apply(&target, &changes).expect("applied").was_there);
    let again = apply(&target, &changes).expect("again");
    assert!(again.was_there && again.files.is_empty(), "{again:?}");
}

#[test]
fn a_text_in_utf_16_is_looked_through_for_secrets() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    let text = "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQ7rT2pLm9\r\n";
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let marked = format!("\u{feff}{text}");
    write(&source, b"le-bom", &little(&marked));
    write(&source, b"be-bom", &big(&marked));
    write(&source, b"le", &little(text));
    write(&source, b"be", &big(text));
    write(&source, b"plain", &little("nothing to hide\r\n"));
    let changes = capture(&source).expect("captured");
    let left: Vec<&str> = changes.left_out.iter().map(|left| left.path.as_str()).collect();
    assert_eq!((left, changes.files), (vec!["be", "be-bom", "le", "le-bom"], vec!["plain".to_owned()]));
}

#[test]
fn a_conversion_of_line_ends_is_merged_with_what_was_committed() {
    let text = |end: &str, second: &str, last: &str| ["1", second, "3", "4", "5", last, ""].join(end);
    let stage = Stage::new(&[("f", &text("\r\n", "2", "6"))], &["core.autocrlf=false"]);
    let source = stage.clone("source");
    write(&source, b"f", text("\n", "2", "six").as_bytes());
    let changes = capture(&source).expect("captured");
    let target = stage.clone("target");
    write(&target, b"f", text("\r\n", "two", "6").as_bytes());
    commit(&target);
    assert!(apply(&target, &changes).expect("merged").is_merge);
    assert_eq!(fs::read_to_string(target.join("f")).expect("read"), text("\n", "two", "six"));
    // The same lines are a conflict still.
    let other = stage.clone("other");
    write(&other, b"f", text("\r\n", "2", "sixth").as_bytes());
    commit(&other);
    assert!(matches!(apply(&other, &changes), Err(Fault::Conflicts(paths)) if paths == ["f"]));
}

#[test]
fn files_that_are_named_like_a_revision_are_files() {
    for name in ["HEAD", "main", "refs", "origin"] {
        let stage = Stage::new(&FILES, &[]);
        let target = stage.clone("target");
        let (_, changes) = edited(&stage);
        write(&target, name.as_bytes(), b"a file\n");
        assert!(!apply(&target, &changes).expect("applied").is_merge, "{name}");
        let stage = Stage::new(&[("HEAD", "tracked\n"), (name, "tracked\n"), ("a", "a\n")], &[]);
        let (source, target) = (stage.clone("source"), stage.clone("target"));
        write(&source, b"HEAD", b"changed\n");
        let changes = capture(&source).expect("captured");
        apply(&target, &changes).expect("applied");
        assert_eq!(files(&target), files(&source), "{name}");
    }
}

#[test]
fn what_a_registration_wrote_into_the_document_is_not_in_the_way() {
    let document = |remote: Option<&str>| {
        let project = baton_model::project::Project {
            vcs_remote_url: remote.map(str::to_owned),
            ..baton_model::project::Project::default()
        };
        let text = baton_model::project_document::write(None, &project).expect("written");
        format!("{text}\nWords of a person.\n")
    };
    let (old, new) = (document(None), document(Some("https://example.com/shop.git")));
    let stage = Stage::new(&[("docs/PROJECT.md", &old), ("a", "a\n")], &[]);
    let (source, target) = (stage.clone("source"), stage.clone("target"));
    write(&source, b"a", b"changed\n");
    write(&source, b"docs/PROJECT.md", new.as_bytes());
    let changes = capture(&source).expect("captured");
    assert_eq!(changes.files, ["a"]);
    write(&target, b"docs/PROJECT.md", new.as_bytes());
    assert_eq!(apply(&target, &changes).expect("applied").files, ["a"]);
    assert_eq!(git(&target, &["status", "--porcelain"]), " M a\n M docs/PROJECT.md\n");
    // What a person wrote travels, is in the way, and is not written over.
    let by_hand = |words: &str| format!("{new}{words}\n");
    write(&source, b"docs/PROJECT.md", by_hand("One.").as_bytes());
    let changes = capture(&source).expect("captured");
    assert_eq!(changes.files, ["a", "docs/PROJECT.md"]);
    let clean = stage.clone("clean");
    assert_eq!(apply(&clean, &changes).expect("applied").files, changes.files);
    assert_eq!(fs::read_to_string(clean.join("docs/PROJECT.md")).expect("read"), by_hand("One."));
    let other = stage.clone("other");
    for text in [by_hand("Two."), new.clone(), old.replace("is_isolated: false", "is_isolated: true")] {
        write(&other, b"docs/PROJECT.md", text.as_bytes());
        assert!(matches!(apply(&other, &changes), Err(Fault::LocalChanges(_))), "{text}");
        assert_eq!(fs::read_to_string(other.join("docs/PROJECT.md")).expect("read"), text);
    }
}

#[test]
fn changes_of_a_submodule_alone_are_not_said_to_be_applied() {
    let stage = Stage::new(&FILES, &[]);
    let (source, mut changes) = edited(&stage);
    let base = git(&source, &["rev-parse", "HEAD"]).trim().to_owned();
    git(&source, &["reset", "-q", "--hard"]);
    git(&source, &["update-index", "--add", "--cacheinfo", &format!("160000,{base},sub")]);
    let line = |args: &[&str]| git(&source, args).trim().to_owned();
    let tree = line(&["write-tree"]);
    let made = ["-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", "-m", "x", "-p", &base, &tree];
    let commit = line(&made);
    let script = format!("printf '{commit}\\n^{base}\\n' | git pack-objects --revs --stdout --thin -q");
    let packed = std::process::Command::new("sh").args(["-c", &script]).current_dir(&source).output();
    changes.pack = packed.expect("packed").stdout;
    (changes.index_commit, changes.worktree_commit) = (commit.clone(), commit);
    (changes.index_tree, changes.worktree_tree) = (tree.clone(), tree);
    (changes.files, changes.unconverted) = (vec!["sub".to_owned()], Vec::new());
    let refusal = apply(&stage.clone("target"), &changes).expect_err("refused");
    assert!(matches!(&refusal, Fault::Invalid(what) if what.contains("sub")), "{refusal}");
}

//! Untracked files that stay where they are: what no commit can hold, and what Baton wrote as an export.

use crate::changes::ExportNotes;

use super::faults::FILES;
use super::stage::{Stage, above, apply, capture, git, write};

#[test]
fn a_path_that_git_takes_for_its_own_folder_elsewhere_stays_here_and_is_named() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    let reserved = ["deep/.GIT/config", "git~1", "deep/Git~1/x", ".git./y", "z/.g\u{200c}it/w"];
    for name in reserved {
        write(&source, name.as_bytes(), b"x\n");
    }
    write(&source, b"deep/.github", b"y\n");
    let changes = capture(&source).expect("captured");
    let mut left: Vec<&str> = changes.left_out.iter().map(|left| left.path.as_str()).collect();
    left.sort_unstable();
    let mut expected = reserved.to_vec();
    expected.sort_unstable();
    assert_eq!((left, changes.files.as_slice()), (expected, &["deep/.github".to_owned()][..]));
    assert!(changes.left_out[0].reason.contains("git takes for its own folder"), "{:?}", changes.left_out);
    let target = stage.clone("target");
    apply(&target, &changes).expect("applied");
    // One that was staged all the same is refused by its name, with what helps.
    git(&source, &["-c", "core.protectNTFS=false", "add", "-f", "git~1"]);
    let fault = capture(&source).expect_err("refused");
    assert!(
        fault.to_string().contains("git~1") && fault.hint().contains("git rm --cached"),
        "{fault}: {}",
        fault.hint()
    );
}

#[test]
fn what_baton_wrote_as_an_export_goes_its_own_way_and_no_other_file_of_its_kind() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    let sealed = |text: &str| format!("-----BEGIN AGE ENCRYPTED FILE-----\n{text}\n");
    ExportNotes::of(above(&source)).note(sealed("own").as_bytes()).expect("noted");
    let database = |program: &[u8]| {
        let mut bytes = vec![0_u8; 200];
        bytes[..16].copy_from_slice(b"SQLite format 3\0");
        bytes[68..72].copy_from_slice(program);
        bytes
    };
    let header =
        r#"{"_type":"export","project_id":"p","format":2,"deltas":0,"rows":1,"_sum":"0123456789abcdef"}"#;
    write(&source, b"own.age", sealed("own").as_bytes());
    write(&source, b"copy/of-it.txt", sealed("own").as_bytes());
    write(&source, b"secrets.age", sealed("of the user").as_bytes());
    write(&source, b"backup.db", &database(b"Batn"));
    write(&source, b"other.db", &database(b"none"));
    write(&source, b"ledger.jsonl", format!("{header}\n{{\"seq\":1}}\n").as_bytes());
    write(&source, b"other.jsonl", b"{\"_type\":\"export\",\"format\":\"csv\"}\n");
    let changes = capture(&source).expect("captured");
    let mut left: Vec<&str> = changes.left_out.iter().map(|left| left.path.as_str()).collect();
    left.sort_unstable();
    assert_eq!(left, ["backup.db", "copy/of-it.txt", "ledger.jsonl", "own.age"]);
    assert_eq!(changes.files, ["other.db", "other.jsonl", "secrets.age"]);
    // Whoever adds it wants it.
    git(&source, &["add", "own.age"]);
    assert!(capture(&source).expect("captured").files.contains(&"own.age".to_owned()));
}

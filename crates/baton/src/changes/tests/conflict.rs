//! Conflicts told as what they are, and a link that git takes for none of ours.

use std::fs;

use crate::changes::Fault;

use super::stage::{Stage, apply, capture, commit, git, write};

#[test]
fn a_conflict_with_a_branch_that_lacks_the_base_is_told_as_that() {
    let stage = Stage::new(&[("f", "1\n2\n3\n")], &[]);
    let source = stage.clone("source");
    write(&source, b"f", b"1\n2\n3\n4\n");
    commit(&source);
    write(&source, b"f", b"1\n2\n3\n4\n5\n");
    let changes = capture(&source).expect("captured");
    let target = stage.clone("target");
    git(&target, &["fetch", "-q", source.to_str().expect("utf-8"), "HEAD"]);
    let fault = apply(&target, &changes).expect_err("a conflict");
    assert!(matches!(&fault, Fault::OtherLine { paths, .. } if paths == &["f"]), "{fault}");
    assert!(fault.to_string().contains("which is here and not in the branch that is checked out"), "{fault}");
    assert!(!fault.to_string().contains("committed here"), "{fault}");
}

#[cfg(unix)]
#[test]
fn a_link_that_is_named_like_gits_file_of_submodules_stays_and_the_rest_travels() {
    let stage = Stage::new(&[("a", "1\n")], &[]);
    let source = stage.clone("source");
    write(&source, b"a", b"2\n");
    std::os::unix::fs::symlink("a", source.join(".gitmodules")).expect("linked");
    let changes = capture(&source).expect("captured");
    let left: Vec<&str> = changes.left_out.iter().map(|left| left.path.as_str()).collect();
    assert_eq!((changes.files.as_slice(), left.as_slice()), (&["a".to_owned()][..], &[".gitmodules"][..]));
    let target = stage.clone("target");
    apply(&target, &changes).expect("applied");
    assert_eq!(fs::read(target.join("a")).expect("read"), b"2\n");
}

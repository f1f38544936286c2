//! Tricks with paths, each against reading and writing.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use super::*;

struct Field {
    dir: tempfile::TempDir,
}

impl Field {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("dir");
        for folder in ["repo/docs", "repo/.git", "away"] {
            fs::create_dir_all(dir.path().join(folder)).expect("folder");
        }
        fs::write(dir.path().join("away/secret"), "secret").expect("written");
        fs::write(dir.path().join("repo/real.md"), "real").expect("written");
        Self { dir }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn file(&self, inside: &str) -> RepoFile {
        RepoFile::new(&self.at("repo"), inside)
    }
}

fn fifo(path: &Path) {
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("fifo");
}

#[test]
fn a_link_is_followed_inside_and_never_out() {
    let field = Field::new();
    let link = |target: &str, name: &str| symlink(target, field.at("repo").join(name)).expect("link");
    link("real.md", "CLAUDE.md");
    link("docs/../real.md", "round.md");
    link("../away/secret", "out.md");
    link(&field.at("away").display().to_string(), "folder");
    link(&field.at("repo/real.md").display().to_string(), "whole.md");
    link("docs/../../repo/real.md", "out-and-in.md");
    link("loop", "loop");
    link("/dev/zero", "zero");
    for name in ["real.md", "CLAUDE.md", "round.md", "whole.md", "docs/../real.md", "./real.md"] {
        assert_eq!(
            field.file(name).text(MAX_SMALL_FILE_BYTES).expect(name).as_deref(),
            Some("real"),
            "{name}"
        );
    }
    for name in ["out.md", "folder/secret", "out-and-in.md", "zero", "../away/secret", "/etc/passwd"] {
        assert!(matches!(field.file(name).text(MAX_SMALL_FILE_BYTES), Err(Fault::Outside)), "{name}");
        assert!(matches!(field.file(name).replace("x"), Err(Fault::Outside)), "{name}");
    }
    assert!(
        field.file("loop").text(MAX_SMALL_FILE_BYTES).is_err()
            && field.file("docs").text(MAX_SMALL_FILE_BYTES).is_err()
    );
    assert!(field.file("none/at/all").text(MAX_SMALL_FILE_BYTES).expect("not there").is_none());
    assert_eq!(fs::read_to_string(field.at("away/secret")).expect("read"), "secret");
    assert_eq!(fs::read_dir(field.at("away")).expect("folder").count(), 1, "nothing is left there");
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let field = Field::new();
    fifo(&field.at("repo/pipe"));
    fifo(&field.at("repo/x.lock"));
    let _socket = std::os::unix::net::UnixListener::bind(field.at("repo/socket")).expect("socket");
    let begin = Instant::now();
    for name in ["pipe", "socket", "docs"] {
        assert!(matches!(field.file(name).text(MAX_SMALL_FILE_BYTES), Err(Fault::NotAFile(_))), "{name}");
        assert!(field.file(name).replace("x").is_err(), "{name}");
    }
    let folder = field.file("x").folder(false).expect("folder").expect("there");
    let name = std::ffi::OsString::from("x.lock");
    assert_eq!(folder.siblings_with_prefix(), [(name.clone(), ".lock".to_owned())]);
    assert_eq!(folder.text(&name, MAX_SMALL_FILE_BYTES), None);
    assert!(begin.elapsed() < Duration::from_secs(5), "a FIFO holds nobody up");
}

#[test]
fn a_file_is_read_whole_or_not_at_all() {
    let field = Field::new();
    fs::write(field.at("repo/big"), vec![b'x'; 101]).expect("written");
    fs::write(field.at("repo/odd"), [0xff, 0xfe]).expect("written");
    assert!(matches!(field.file("big").text(100), Err(Fault::TooLarge(100))));
    assert_eq!(field.file("big").bytes(101).expect("read").map(|bytes| bytes.len()), Some(101));
    assert!(matches!(field.file("odd").text(100), Err(Fault::NotText)));
}

#[test]
fn a_file_is_replaced_in_the_folder_that_was_looked_at() {
    let field = Field::new();
    field.file("new/deep/x.md").replace("one").expect("written");
    assert_eq!(fs::read_to_string(field.at("repo/new/deep/x.md")).expect("read"), "one");
    let folder = field.file("new/deep/x.md").folder(false).expect("folder").expect("there");
    let mut draft = folder.begin().expect("draft");
    draft.file.write_all(b"two").expect("written");
    // The folder is swapped for a link between the look and the rename.
    fs::rename(field.at("repo/new/deep"), field.at("repo/new/old")).expect("renamed");
    symlink(field.at("away"), field.at("repo/new/deep")).expect("link");
    folder.put(&draft).expect("put");
    assert_eq!(fs::read_to_string(field.at("repo/new/old/x.md")).expect("read"), "two");
    assert_eq!(fs::read_dir(field.at("away")).expect("folder").count(), 1);
}

#[test]
fn a_path_that_the_user_names_is_held_to_its_working_copy() {
    let field = Field::new();
    symlink(field.at("away"), field.at("repo/.beads")).expect("link");
    fs::create_dir(field.at("away/.git")).expect("folder");
    assert!(matches!(
        RepoFile::from_user_path(&field.at("repo/.beads/secret")).text(MAX_SMALL_FILE_BYTES),
        Err(Fault::Outside)
    ));
    let own = RepoFile::from_user_path(&field.at("away/secret"));
    assert_eq!(own.text(MAX_SMALL_FILE_BYTES).expect("read").as_deref(), Some("secret"));
    assert_eq!(own.path(), field.at("away/secret"));
    // Outside of working copies the user's own links count.
    symlink(field.at("away"), field.at("mine")).expect("link");
    fs::remove_dir(field.at("away/.git")).expect("removed");
    assert!(
        RepoFile::from_user_path(&field.at("mine/secret"))
            .text(MAX_SMALL_FILE_BYTES)
            .expect("read")
            .is_some()
    );
}

#[test]
fn a_path_in_a_repository_keeps_out_of_gits_own_folder() {
    for path in ["x.jsonl", ".beads/issues.jsonl", "./a/b.jsonl", ".gitx/x"] {
        assert!(stays_inside(Path::new(path)), "{path}");
    }
    for path in [
        "",
        "/x",
        "../x",
        "a/../../x",
        "a/../x",
        ".git/hooks/pre-commit",
        "a/.GIT/config",
        ".git./x",
        "GIT~1/x",
    ] {
        assert!(!stays_inside(Path::new(path)), "{path}");
    }
}

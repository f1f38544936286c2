//! Random working copies are equal after they travelled.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::stage::{
    Stage, apply, at, capture, files, git, link, make_executable, remove, rename, status, status_of_contents,
    write,
};

const NAMES: [&[u8]; 14] = [
    b"a",
    b"a/x",
    b"A",
    b"b.txt",
    b"dir/c",
    b"dir/d.crlf",
    b"dir/deep/e.bin",
    "\u{fc}/\u{f1}.txt".as_bytes(),
    b"new\nline",
    b"with space \"and\" tab\t",
    b"-dash",
    b"not \xff utf-8",
    b"back\\slash",
    b"ignored.log",
];

const CONTENTS: [&[u8]; 8] = [
    b"",
    b"one\ntwo\nthree\n",
    b"one\r\ntwo\r\nthree\r\n",
    b"one\r\ntwo\nno end",
    b"\0\x01\xff binary \r\n\n",
    b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    b"one\nTWO\nthree\n",
    b"$Id$\n",
];

#[derive(Debug, Clone)]
enum Edit {
    Write(usize, usize, bool),
    Link(usize, bool),
    Remove(usize),
    Rename(usize, usize),
    Stage(usize),
    StageAll,
    Unstage(usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let name = 0..NAMES.len();
    prop_oneof![
        5 => (name.clone(), 0..CONTENTS.len(), any::<bool>()).prop_map(|(n, c, x)| Edit::Write(n, c, x)),
        1 => (name.clone(), any::<bool>()).prop_map(|(n, inside)| Edit::Link(n, inside)),
        1 => name.clone().prop_map(Edit::Remove),
        1 => (name.clone(), name.clone()).prop_map(|(a, b)| Edit::Rename(a, b)),
        3 => name.clone().prop_map(Edit::Stage),
        1 => Just(Edit::StageAll),
        1 => name.prop_map(Edit::Unstage),
    ]
}

fn play(root: &std::path::Path, edit: &Edit) {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let stage = |n: usize, args: &[&str]| {
        let mut args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        args.push(OsStr::from_bytes(NAMES[n]));
        git(root, &args);
    };
    match *edit {
        Edit::Write(n, content, executable) => {
            write(root, NAMES[n], CONTENTS[content]);
            if executable {
                make_executable(root, NAMES[n]);
            }
        }
        Edit::Link(n, inside) => link(root, NAMES[n], if inside { "dir" } else { "/nowhere\n\u{e9}" }),
        Edit::Remove(n) => remove(root, NAMES[n]),
        Edit::Rename(from, to) => rename(root, NAMES[from], NAMES[to]),
        Edit::Stage(n) => stage(n, &["--literal-pathspecs", "add", "-A", "--"]),
        Edit::StageAll => _ = git(root, &["add", "-A"]),
        Edit::Unstage(n) => stage(n, &["--literal-pathspecs", "rm", "-rq", "--cached", "--"]),
    }
}

/// How many working copies: as many as `PROPTEST_CASES` asks for, else `BATON_TEST_KILLS`, else few, since each is several repositories.
#[allow(clippy::disallowed_methods, reason = "a test reads how long it shall take")]
fn cases() -> u32 {
    const LIBRARY_DEFAULT: u32 = 256;
    let wanted = || std::env::var("BATON_TEST_KILLS").ok()?.parse().ok();
    let cases = Some(ProptestConfig::default().cases).filter(|cases| *cases != LIBRARY_DEFAULT);
    cases.or_else(wanted).unwrap_or(24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_working_copy_is_equal_where_it_arrives(
        before in prop::collection::vec(edit(), 0..10),
        edits in prop::collection::vec(edit(), 0..14),
        autocrlf in prop::sample::select(vec!["false", "true", "input"]),
    ) {
        let first = [(".gitattributes", "*.crlf text eol=crlf\n*.txt text=auto ident\n"), (".gitignore", "*.log\n")];
        let stage = Stage::new(&first, &[&format!("core.autocrlf={autocrlf}"), "core.safecrlf=false"]);
        let origin = stage.dir.path().join("first");
        before.iter().for_each(|edit| play(&origin, edit));
        super::stage::commit(&origin);
        let (source, target) = (stage.clone("source"), stage.clone("target"));
        edits.iter().for_each(|edit| play(&source, edit));
        status(&source);
        let (expected, own, tree) = (status_of_contents(&source), files(&source.join(".git")), files(&source));
        let changes = capture(&source).expect("captured");
        prop_assert_eq!(files(&source.join(".git")), own, "nothing of the repository is written");
        prop_assert_eq!(&files(&source), &tree);
        prop_assert!(changes.left_out.is_empty(), "{:?}", changes.left_out);
        apply(&target, &changes).expect("applied");
        prop_assert_eq!(status_of_contents(&target), expected.clone());
        let arrived = files(&target);
        let names: BTreeSet<_> = tree.keys().chain(arrived.keys()).filter(|n| !n.ends_with(b".log")).collect();
        for name in names {
            let (there, here) = (tree.get(name), arrived.get(name));
            // A file that git calls unchanged may differ in the line ends that git converts.
            let is_listed = expected.contains(&*String::from_utf8_lossy(name));
            let lines = |file: Option<&(u32, Vec<u8>)>| file.map(|(mode, bytes)| {
                (*mode, bytes.iter().copied().filter(|byte| is_listed || *byte != b'\r').collect::<Vec<u8>>())
            });
            prop_assert_eq!(lines(here), lines(there), "{}", at(&target, name).display());
        }
        prop_assert!(!target.join(".git/baton-apply").exists() && !target.join(".git/index.lock").exists());
    }
}

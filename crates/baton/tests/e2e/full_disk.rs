//! Changes that do not fit on the disk on which they are applied: a small one, really full in the middle of a write.

use std::process::Stdio;

use crate::stage::{Answer, BATON, skipped};
use crate::worktree_changes::wrapped;
use crate::worktrees::{committed, git};

/// Room for the journal, and then for less than the last file: `a` becomes small, the next ones large, in the order of their names.
const SCRIPT: &str = r#"mount -t tmpfs -o size=$SIZE none "$DISK" 2>/dev/null || exit 77
    git clone -q "$SHOP" "$DISK/copy" && cd "$DISK/copy" || exit 1
    "$BATON" init --join shop >/dev/null && git stash -q --include-untracked || exit 2
    seen() {
        git status --porcelain=v2 --untracked-files=all
        find . -path ./.git -prune -o -print | sort
        find . -path ./.git -prune -o -type f -exec sha256sum {} + | sort
        ls .git | grep -v -e '^baton-apply.lock$' -e '^index$'
    }
    seen >"$OUT/before"
    "$BATON" pickup --apply --json >"$OUT/picked" 2>&1
    seen >"$OUT/after"
    cmp "$OUT/before" "$OUT/after" || exit 3
    "$BATON" changes apply --json; echo "exit $?"
    seen >"$OUT/after"
    cmp "$OUT/before" "$OUT/after" || exit 4
    "$BATON" status 2>&1 | grep -i interrupted && exit 5
    mount -o remount,size=80m "$DISK" || exit 6
    "$BATON" changes apply >/dev/null || exit 7
    test "$(cat a)" = small || exit 8
    for file in b c/deep/new; do cmp $file "$SHOP/$file" || exit 9; done
    test ! -e z"#;

#[test]
fn a_disk_that_is_full_in_the_middle_of_a_file_takes_back_what_was_written_before() {
    let unit = 4 * 1024 * 1024;
    let stage = committed();
    let large = |letter: &str| letter.repeat(unit);
    stage.file("shop/a", large("a"));
    stage.file("shop/b", "small\n");
    stage.file("shop/z", "removed\n");
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "two"]);
    stage.terminal("Ann").json(&["start"]);
    stage.file("shop/a", "small\n");
    stage.file("shop/b", large("b"));
    stage.file("shop/c/deep/new", large("c"));
    std::fs::remove_file(stage.shop().join("z")).expect("removed");
    wrapped(&stage, &["--with-changes"]);
    let disk = stage.root().join("disk");
    std::fs::create_dir(&disk).expect("folder");
    let mut command = stage.terminal("Lola").program("unshare");
    command.args(["-m", "sh", "-c", SCRIPT]).env("BATON", BATON).stdin(Stdio::null());
    // The file, the journal of both sides, and two thirds of a file for git and for the write that fails.
    let size = (4 * unit + 2 * unit / 3).to_string();
    command.env("SIZE", size).env("DISK", &disk).env("SHOP", stage.shop()).env("OUT", stage.root());
    let Ok(child) = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() else {
        return skipped("no unshare for a small disk");
    };
    let answer = Answer::of(child, &["full disk"]);
    if answer.err.contains("unshare") || answer.code == 77 {
        return skipped("a small disk cannot be mounted here");
    }
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert!(answer.out.contains("working_copy_io") && answer.out.contains("exit 1\n"), "{answer:#?}");
    let picked = std::fs::read_to_string(stage.root().join("picked")).expect("picked");
    assert!(picked.contains("c/deep/") && picked.contains("check the disk's free space"), "{picked}");
}

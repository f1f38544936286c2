//! The same for git: what a repository's settings, attributes, hooks and folders try, and programs that lie in it.
#![cfg(unix)]

use std::fs;

use crate::evil_clone::{COMMANDS, Clone};

#[test]
fn its_filters_do_not_run_on_a_committed_file() {
    for key in ["clean", "process"] {
        let clone = Clone::new();
        clone.write(".gitattributes", "* filter=evil\n");
        clone.write("committed.txt", "one\n");
        clone.git(&["add", "."]);
        clone.git(&["-c", "user.name=Ann", "-c", "user.email=a@example.org", "commit", "-qm", "one"]);
        clone.git(&["config", &format!("filter.evil.{key}"), &clone.program(&format!("filter-{key}"))]);
        clone.write("committed.txt", "one\ntwo\n");
        let terminal = clone.terminal();
        for place in ["committed.txt", "committed.txt:1", "committed.txt:2"] {
            clone.give(&terminal, &["why", place], "");
        }
        clone.suffer();
    }
}

#[test]
fn its_git_settings_run_nothing_and_reach_nobody() {
    let clone = Clone::new();
    clone.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.askPass",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "credential.helper",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "merge.evil.driver",
        "gpg.program",
        "alias.status",
        "alias.config",
        "interactive.diffFilter",
        "remote.origin.uploadpack",
    ] {
        clone.git(&["config", key, &clone.program(&key.replace('.', "-"))]);
    }
    for hook in ["post-index-change", "pre-auto-gc", "fsmonitor-watchman", "reference-transaction"] {
        fs::copy(clone.program(hook), clone.path(".git/hooks").join(hook)).expect("copied");
    }
    let more = format!(
        "[filter \"a=b\"]\n\tclean = {}\n\trequired\n[url \"{}/\"]\n\tinsteadOf = git@github.com:\n",
        clone.program("included"),
        clone.url
    );
    clone.write("more.config", more);
    for (key, value) in [
        ("include.path", "../more.config"),
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", &format!("{}/o/r.git", clone.url)),
        ("http.proxy", &clone.url),
        ("protocol.allow", "always"),
        ("fetch.recurseSubmodules", "true"),
        ("submodule.recurse", "true"),
        ("log.showSignature", "true"),
        ("log.mailmap", "true"),
        ("blame.ignoreRevsFile", "../outside/revs"),
        ("trailer.baton.command", &clone.program("trailer")),
    ] {
        clone.git(&["config", key, value]);
    }
    clone.write("a.txt", "b\n");
    clone.suffer();
}

#[test]
fn its_git_folder_is_elsewhere_or_within() {
    type Trick = fn(&Clone);
    let tricks: [Trick; 6] = [
        |clone| {
            fs::remove_dir_all(clone.path(".git")).expect("removed");
            clone.write(".git", format!("gitdir: {}\n", clone.stage.shop().join(".git").display()));
        },
        |clone| {
            fs::remove_dir_all(clone.path(".git")).expect("removed");
            clone.link(&clone.stage.shop().join(".git").display().to_string(), ".git");
        },
        |clone| {
            fs::remove_dir_all(clone.path(".git")).expect("removed");
            clone.fifo(".git");
        },
        |clone| clone.write(".git/commondir", clone.stage.shop().join(".git").display().to_string()),
        |clone| {
            clone.git(&["config", "core.worktree", &clone.stage.root().join("outside").display().to_string()])
        },
        |clone| {
            fs::remove_file(clone.path(".git/HEAD")).expect("removed");
            clone.link("/dev/zero", ".git/HEAD");
        },
    ];
    for trick in tricks {
        let clone = Clone::new();
        trick(&clone);
        clone.suffer();
    }
}

#[test]
fn a_bare_repository_inside_it_is_not_taken_for_it() {
    let clone = Clone::new();
    clone.git(&["init", "-q", "--bare", "fixtures"]);
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {}\n",
        clone.program("monitor")
    );
    clone.write("fixtures/config", config);
    let inside = clone.terminal().within(clone.path("fixtures"));
    for args in COMMANDS {
        clone.give(&inside, args, "");
    }
    clone.suffer();
}

#[test]
fn a_program_of_its_own_is_not_taken_for_one_on_the_path() {
    let clone = Clone::new();
    for name in ["git", "gh", "claude", "codex", "kill"] {
        fs::rename(clone.program(name), clone.path(name)).expect("moved");
    }
    let mut terminal = clone.terminal();
    terminal.set("PATH", format!(".::{}", crate::stage::env("PATH").expect("PATH")));
    for args in COMMANDS {
        clone.give(&terminal, args, "");
    }
    clone.suffer();
}

#[test]
fn a_git_that_stalls_holds_a_command_up_once() {
    let clone = Clone::new();
    let ann = clone.terminal();
    ann.json(&["init"]);
    ann.json(&["start"]);
    fs::remove_file(clone.path(".git/HEAD")).expect("removed");
    clone.fifo(".git/HEAD");
    for args in [
        &["wrap", "--summary", "done", "--next", "more"][..],
        &["status"],
        &["init"],
        &["audit"],
        &["handoff", "create", "--to", "shop", "--subject", "s", "--local"],
    ] {
        let begin = std::time::Instant::now();
        let answer = clone.give(&ann, args, "");
        let took = begin.elapsed();
        // The limit is 3 s for all calls; the rest is for a machine that has much else to do.
        assert!(took < std::time::Duration::from_secs(8), "{took:?}: {answer:#?}");
        assert!(answer.err.matches("git did not answer in time").count() <= 1, "said once: {answer:#?}");
        if args[0] == "wrap" {
            assert!(answer.code == 0 && answer.err.contains("git did not answer in time"), "{answer:#?}");
        }
    }
}

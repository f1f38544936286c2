//! One repository, many working copies: which project a folder belongs to, told by real git.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::stage::{Stage, Terminal, items, text};

/// Git as a person calls it.
pub(crate) fn git(stage: &Stage, folder: impl AsRef<Path>, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder.as_ref()).args(["-c", "user.name=a", "-c", "user.email=a@b"]);
    command.args(["-c", "protocol.file.allow=always"]).args(args);
    command.env("HOME", stage.home()).env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().expect("git runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A stage whose repository has a commit, registered as project `shop`.
pub(crate) fn committed() -> Stage {
    let stage = Stage::new();
    stage.file("shop/a.txt", "a\n");
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "one"]);
    stage.registered()
}

/// A linked worktree of the first repository.
pub(crate) fn worktree(stage: &Stage, place: &str, branch: &str) -> PathBuf {
    let path = stage.root().join(place);
    git(stage, stage.shop(), &["worktree", "add", "-q", "-b", branch, path.to_str().expect("utf-8")]);
    path
}

fn project_at(terminal: &Terminal<'_>, folder: impl AsRef<Path>) -> String {
    text(&terminal.within(folder).json(&["status"]), "project_id")
}

#[test]
fn a_worktree_is_a_place_of_its_project_wherever_it_lies() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    for (place, branch) in [("shop/.claude/worktrees/x", "x"), ("beside", "y"), ("far/away/deep", "z")] {
        let path = worktree(&stage, place, branch);
        assert_eq!(project_at(&ann, &path), "shop", "{place}");
        fs::create_dir_all(path.join("src/deep")).expect("folder");
        assert_eq!(project_at(&ann, path.join("src/deep")), "shop", "{place}");
        let made = ann.within(&path).json(&["init"]);
        assert_eq!((text(&made, "project_id"), &made["created"]), ("shop".into(), &json!(false)), "{place}");
    }
    assert_eq!(items(&ann.json(&["project", "list"])).len(), 1);
    // What one leaves in a worktree waits in the others.
    ann.within(stage.root().join("beside")).json(&["start"]);
    let baton = text(
        &ann.within(stage.root().join("beside")).json(&["wrap", "--summary", "s", "--next", "n"]),
        "baton_id",
    );
    // The card says where it was left; where that is here, it does not.
    let left = format!("left in {}", stage.root().join("beside").display());
    assert!(ann.text(&["status"]).contains(&left), "{}", ann.text(&["status"]));
    assert!(!ann.within(stage.root().join("beside")).text(&["status"]).contains("left in"));
    let lola = stage.terminal("Lola").within(stage.root().join("far/away/deep"));
    assert_eq!(lola.json(&["pickup"])["baton"]["delta_id"], json!(baton));
}

#[test]
fn a_hook_speaks_in_a_worktree() {
    let stage = committed();
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    donna.json(&["wrap", "--summary", "s", "--next", "n"]);
    let path = worktree(&stage, "beside", "y");
    let payload =
        json!({ "session_id": "s-1", "cwd": path, "hook_event_name": "SessionStart", "source": "startup" });
    let elsewhere = stage.bare().within(stage.root());
    let hook = &["hook", "session-start", "--agent", "claude"];
    let output = elsewhere.feed(payload.to_string().as_bytes(), hook).done();
    assert!(output.out.contains("project shop") && output.out.contains("from Donna"), "{output:#?}");
}

#[test]
fn a_bare_repository_with_worktrees_only_is_one_project() {
    let stage = Stage::new();
    stage.file("shop/a.txt", "a\n");
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "one"]);
    let (hub, ann) = (stage.root().join("hub"), stage.terminal("Ann"));
    fs::create_dir(&hub).expect("folder");
    let shop = stage.shop();
    git(&stage, &hub, &["clone", "-q", "--bare", shop.to_str().expect("utf-8"), ".bare"]);
    git(&stage, hub.join(".bare"), &["remote", "remove", "origin"]);
    fs::write(hub.join(".git"), "gitdir: ./.bare\n").expect("written");
    git(&stage, &hub, &["worktree", "add", "-q", "main"]);
    git(&stage, &hub, &["worktree", "add", "-q", "-b", "feature", "feature"]);
    assert_eq!(text(&ann.within(hub.join("main")).json(&["init", "--id", "hub"]), "project_id"), "hub");
    for folder in ["feature", "", "main"] {
        assert_eq!(project_at(&ann, hub.join(folder)), "hub", "{folder}");
    }
    // The worktree in which it was registered may go.
    git(&stage, &hub, &["worktree", "remove", "--force", "main"]);
    assert_eq!(project_at(&ann, hub.join("feature")), "hub");
}

#[test]
fn a_repository_that_moved_is_the_same_project() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    worktree(&stage, "beside", "y");
    for place in ["moved", "again"] {
        let from = if place == "moved" { stage.shop() } else { stage.root().join("moved") };
        let to = stage.root().join(place);
        fs::rename(from, &to).expect("moved");
        git(&stage, &to, &["worktree", "repair"]);
        for folder in [to.clone(), stage.root().join("beside")] {
            assert_eq!(project_at(&ann, folder), "shop", "{place}");
        }
        let shown = ann.within(&to).json(&["project", "show", "shop"]);
        assert_eq!(shown["roots"], json!([to]), "{place}");
    }
}

#[test]
fn a_repository_that_moved_away_and_back_is_where_it_was() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    let beside = worktree(&stage, "beside", "fix");
    ann.within(&beside).json(&["start"]);
    ann.within(&beside).json(&["end"]);
    let away = stage.root().join("away");
    let moves = [(stage.shop(), away.clone()), (away.clone(), stage.shop())];
    for (from, to) in moves {
        fs::rename(&from, &to).expect("moved");
        git(&stage, &to, &["worktree", "repair", beside.to_str().expect("utf-8")]);
        let places = ann.within(&to).json(&["project", "places"]);
        let paths: Vec<String> = items(&places).iter().map(|place| text(place, "path")).collect();
        let mut expected = [beside.display().to_string(), to.display().to_string()];
        expected.sort();
        assert_eq!(paths, expected, "{places:#}");
        ann.within(&to).json(&["project", "remove", "--dry-run"]);
    }
    // What lies in the other folder is none of it.
    git(&stage, stage.root(), &["init", "-q", "away"]);
    ann.within(&away).refused(3, "project_unresolved", &["status"]);
}

#[test]
fn repositories_that_change_places_keep_their_projects() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    let (shop, cart) = (stage.shop(), stage.root().join("cart"));
    git(&stage, stage.root(), &["init", "-q", "cart"]);
    git(&stage, &cart, &["commit", "-q", "--allow-empty", "-m", "cart"]);
    ann.within(&cart).json(&["init", "--id", "cart"]);
    let between = stage.root().join("between");
    let moved = |from: &Path, to: &Path| fs::rename(from, to).expect("moved");
    // There and back, whichever is looked at first.
    for (first, second) in [(&shop, &cart), (&cart, &shop)] {
        let before = [first, second].map(|folder| project_at(&ann, folder.clone()));
        moved(&shop, &between);
        moved(&cart, &shop);
        moved(&between, &cart);
        assert_eq!(
            [first, second].map(|folder| project_at(&ann, folder.clone())),
            [before[1].clone(), before[0].clone()]
        );
    }
    // On to a third folder.
    moved(&shop, &between);
    moved(&cart, &shop);
    assert_eq!((project_at(&ann, shop), project_at(&ann, between)), ("cart".into(), "shop".into()));
}

#[test]
fn a_copy_and_a_clone_are_asked_about_and_never_joined_by_themselves() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    let shop = stage.shop();
    let copy = stage.root().join("copy");
    let copied = Command::new("cp").arg("-r").args([&shop, &copy]).status().expect("cp runs");
    assert!(copied.success());
    let bare = stage.root().join("remote.git");
    git(
        &stage,
        stage.root(),
        &["clone", "-q", "--bare", shop.to_str().expect("utf-8"), bare.to_str().expect("utf-8")],
    );
    git(&stage, &shop, &["remote", "add", "origin", bare.to_str().expect("utf-8")]);
    ann.within(&shop).json(&["init"]);
    for name in ["clone", "third"] {
        git(&stage, stage.root(), &["clone", "-q", bare.to_str().expect("utf-8"), name]);
    }
    for place in ["copy", "clone"] {
        let there = ann.within(stage.root().join(place));
        for command in [&["init"][..], &["start"], &["status"], &["pickup"]] {
            let refusal = there.refused(4, "project_is_clone", command);
            assert_eq!(refusal["project_id"], "shop", "{place} {command:?}");
            assert!(text(&refusal, "hint").contains("baton init --join shop"), "{refusal}");
        }
        there.refused(3, "project_unknown", &["init", "--join", "shopp"]);
        assert_eq!(there.json(&["init", "--join", "shop"])["created"], false, "{place}");
        assert_eq!(project_at(&ann, stage.root().join(place)), "shop", "{place}");
    }
    let third = ann.within(stage.root().join("third"));
    assert_eq!(text(&third.json(&["init", "--separate"]), "project_id"), "third");
    assert_eq!(project_at(&ann, stage.root().join("third")), "third");
    // The copy that was joined has an id of its own, so either may move.
    fs::rename(&copy, stage.root().join("copy-moved")).expect("moved");
    assert_eq!(project_at(&ann, stage.root().join("copy-moved")), "shop");
    assert_eq!(project_at(&ann, &shop), "shop");
}

#[test]
fn an_isolated_project_is_not_joined_by_an_id_in_a_strange_folder() {
    let stage = Stage::new();
    let ann = stage.terminal("Ann");
    ann.json(&["init", "--isolated"]);
    ann.json(&["memory", "add", "OUR-SECRET"]);
    let id = git(&stage, stage.shop(), &["config", "baton.repositoryid"]);
    let strange = stage.repo("strange");
    git(&stage, &strange, &["config", "baton.repositoryid", &id]);
    let there = ann.within(&strange);
    there.refused(4, "project_is_clone", &["memory", "search", "OUR"]);
    // Neither when the true one is away.
    fs::rename(stage.shop(), stage.root().join("away")).expect("moved");
    there.refused(4, "project_is_clone", &["memory", "search", "OUR"]);
    let moved = ann.within(stage.root().join("away"));
    moved.refused(4, "project_is_clone", &["status"]);
    moved.json(&["init", "--join", "shop"]);
    assert_eq!(project_at(&ann, stage.root().join("away")), "shop");
    there.refused(4, "project_is_clone", &["status"]);
    // An id that no ledger knows is nothing.
    git(&stage, &strange, &["config", "baton.repositoryid", "0123456789abcdef0123456789abcdef"]);
    there.refused(3, "project_unresolved", &["status"]);
}

#[test]
fn a_repository_in_the_place_of_an_isolated_one_reads_nothing_of_it() {
    let stage = Stage::new();
    let ann = stage.terminal("Ann");
    ann.json(&["init", "--isolated"]);
    ann.json(&["memory", "add", "OUR-SECRET"]);
    let (shop, away) = (stage.shop(), stage.root().join("away"));
    fs::rename(&shop, &away).expect("moved");
    let words = |answer: serde_json::Value| answer.to_string().contains("OUR-SECRET");
    // Also one whose git folder lies elsewhere, which Baton does not follow, and no repository at all.
    let other = stage.repo("other");
    let linked = || {
        fs::create_dir(&shop).expect("a folder");
        std::os::unix::fs::symlink(other.join(".git"), shop.join(".git")).expect("a link");
    };
    let pointed = ["clone", "-q", "--separate-git-dir", "pointed", "away", "shop"];
    let begun = ["init", "-q", "--separate-git-dir", "begun", "shop"];
    let made: [&dyn Fn(); 6] = [
        &|| _ = git(&stage, stage.root(), &["clone", "-q", "away", "shop"]),
        &|| _ = git(&stage, stage.root(), &["init", "-q", "shop"]),
        &|| _ = git(&stage, stage.root(), &pointed),
        &|| _ = git(&stage, stage.root(), &begun),
        &linked,
        &|| fs::create_dir(&shop).expect("a folder"),
    ];
    for make in made {
        make();
        let answer = ann.within(&shop).run(&["memory", "search", "OUR"]);
        assert!(answer.code != 0 && !words(answer.err.clone().into()), "{answer:#?}");
        fs::remove_dir_all(&shop).expect("removed");
    }
    // The true one comes back to its place.
    fs::rename(&away, &shop).expect("moved");
    assert!(words(ann.within(&shop).json(&["memory", "search", "OUR"])));
}

#[test]
fn submodules_and_nested_repositories_are_projects_of_their_own() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    let lib = stage.repo("lib");
    stage.file("lib/b.txt", "b\n");
    git(&stage, &lib, &["add", "-A"]);
    git(&stage, &lib, &["commit", "-qm", "lib"]);
    git(&stage, stage.shop(), &["submodule", "--quiet", "add", lib.to_str().expect("utf-8"), "module"]);
    let nested = stage.repo("shop/nested");
    for (folder, id) in [(stage.shop().join("module"), "module"), (nested, "nested")] {
        let there = ann.within(&folder);
        there.refused(1, "project_ambiguous", &["start"]);
        assert_eq!(text(&there.json(&["init"]), "project_id"), id);
        assert_eq!(project_at(&ann, &folder), id);
    }
    assert_eq!(project_at(&ann, stage.shop()), "shop");
}

#[test]
fn a_pointer_that_leads_nowhere_or_elsewhere_is_named_with_what_to_do() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    let strange = stage.root().join("strange");
    fs::create_dir(&strange).expect("folder");
    let victim = worktree(&stage, "beside", "y");
    let theirs = fs::read_to_string(victim.join(".git")).expect("a pointer");
    for (pointer, wanted) in [
        ("gitdir: /nowhere/at/all\n".to_owned(), "which is not there"),
        (format!("gitdir: {}\n", stage.shop().join(".git").display()), "a working copy in another place"),
        (theirs, "a working copy in another place"),
        ("nonsense\n".to_owned(), "neither a git folder"),
    ] {
        fs::write(strange.join(".git"), &pointer).expect("written");
        let refusal = ann.within(&strange).refused(3, "project_unresolved", &["start"]);
        assert!(text(&refusal, "message").contains(wanted), "{pointer}: {refusal}");
        assert!(text(&refusal, "hint").contains("git worktree repair"), "{refusal}");
    }
    // A worktree whose main repository is gone.
    fs::rename(stage.shop(), stage.root().join("away")).expect("moved");
    let refusal = ann.within(&victim).refused(3, "project_unresolved", &["start"]);
    assert!(text(&refusal, "message").contains("which is not there"), "{refusal}");
}

#[test]
fn a_detached_head_and_a_repository_without_commits_belong_to_their_project() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    assert_eq!(project_at(&ann, stage.shop()), "shop", "without commits");
    stage.file("shop/a.txt", "a\n");
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "one"]);
    git(&stage, stage.shop(), &["worktree", "add", "-q", "--detach", "../detached"]);
    assert_eq!(project_at(&ann, stage.root().join("detached")), "shop");
    let plain = stage.root().join("plain");
    fs::create_dir_all(plain.join("sub")).expect("folder");
    ann.within(&plain).json(&["init"]);
    assert_eq!(project_at(&ann, plain.join("sub")), "plain", "no git at all");
    // A working copy that jj shares with git: a folder of its own beside git's, and no branch checked out.
    fs::create_dir_all(stage.shop().join(".jj/repo/store")).expect("folder");
    git(&stage, stage.shop(), &["switch", "-q", "--detach"]);
    assert_eq!(project_at(&ann, stage.shop()), "shop", "with jj");
}

#[test]
fn no_folder_joins_a_project_by_its_name() {
    let stage = Stage::in_a_file("a ledger is read into another file");
    let ann = stage.terminal("Ann");
    ann.json(&["init", "--isolated"]);
    ann.json(&["memory", "add", "OUR-SECRET"]);
    let (export, copy) = (stage.root().join("export"), stage.root().join("copy.db"));
    let path = |path: &Path| path.to_str().expect("utf-8").to_owned();
    ann.json(&["log", "export", &path(&export)]);
    let store = path(&copy);
    fn other<'a>(store: &'a str, args: &[&'a str]) -> Vec<&'a str> {
        [&["--store", store], args].concat()
    }
    ann.json(&other(&store, &["log", "import", &path(&export)]));
    let strange = stage.repo("x/shop");
    for claim in ["", "project = \"shop\"\n"] {
        fs::write(strange.join(".baton.toml"), claim).expect("written");
        let there = ann.within(&strange);
        let code = if claim.is_empty() { "project_taken" } else { "project_claimed" };
        let refusal = there.refused(4, code, &other(&store, &["init"]));
        assert!(text(&refusal, "hint").contains("baton init --join shop"), "{refusal}");
        there.refused(3, "project_unresolved", &other(&store, &["memory", "search", "OUR"]));
    }
    // The true folder neither: whose it is says the user.
    ann.refused(4, "project_taken", &other(&store, &["init"]));
    ann.json(&other(&store, &["init", "--join", "shop"]));
}

#[test]
fn a_folder_is_not_taken_from_its_project_without_a_word() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    let before = stage.deltas();
    for args in
        [&["init", "--id", "two"][..], &["--project", "two", "init"], &["init", "--separate", "--id", "two"]]
    {
        let refusal = ann.refused(4, "folder_taken", args);
        assert!(
            text(&refusal, "message").contains("project `shop`, in which Ann has an open session"),
            "{refusal}"
        );
        assert!(text(&refusal, "hint").contains("baton init --id two --move"), "{refusal}");
    }
    let other = stage.repo("other");
    ann.within(&other).json(&["init"]);
    ann.refused(4, "folder_taken", &["init", "--join", "other"]);
    assert_eq!(project_at(&ann, stage.shop()), "shop");
    assert_eq!(stage.ledger("shop").len(), before);
    let moved = ann.json(&["init", "--id", "two", "--move"]);
    assert_eq!((text(&moved, "project_id"), text(&moved, "taken_from")), ("two".into(), "shop".into()));
    assert_eq!(project_at(&ann, stage.shop()), "two");
    assert_eq!(stage.ledger("shop").len(), before + 1, "the project that lost it says so");
}

#[test]
fn a_folder_that_two_machines_share_stays_the_project_of_both() {
    let stage = committed();
    let (ann, mounted) = (stage.terminal("Ann"), stage.terminal("Ann").with("BATON_MACHINE", "container"));
    mounted.refused(4, "project_is_clone", &["status"]);
    mounted.json(&["init", "--join", "shop"]);
    for there in [&ann, &mounted] {
        assert_eq!(project_at(there, stage.shop()), "shop");
    }
}

#[test]
fn what_the_user_trusts_in_a_repository_counts_in_its_worktrees_until_it_changes() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    stage.file("shop/.baton.toml", "project = \"shop\"\nidentity = \"Trusted\"\n");
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "settings"]);
    ann.json(&["trust", "--yes"]);
    let beside = worktree(&stage, "beside", "fix");
    let is_trusted = |folder: &Path| ann.within(folder).json(&["doctor"])["repository"]["trusted"].clone();
    assert_eq!(is_trusted(&beside), is_trusted(&stage.shop()));
    let strange = stage.repo("strange");
    fs::copy(stage.shop().join(".baton.toml"), strange.join(".baton.toml")).expect("copied");
    assert_ne!(is_trusted(&strange), is_trusted(&beside), "another repository with the same content");
    fs::write(beside.join(".baton.toml"), "project = \"shop\"\nidentity = \"Evil\"\n").expect("written");
    let found = ann.within(&beside).json(&["doctor"])["repository"].clone();
    assert_eq!(found["trusted"], true, "the file of the main working copy decides: {found:#}");
    assert!(text(&found["outranked"][0], "path").ends_with("beside/.baton.toml"), "changed: {found:#}");
}

#[test]
fn a_clone_is_known_by_the_remote_that_its_committed_document_names() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    let shop = stage.shop();
    git(&stage, &shop, &["remote", "add", "origin", "https://git.example/acme/shop.git"]);
    ann.json(&["init"]);
    assert_eq!(text(&ann.json(&["project", "show"]), "vcs_remote_url"), "https://git.example/acme/shop.git");
    git(&stage, &shop, &["add", "-A"]);
    git(&stage, &shop, &["commit", "-qm", "registered"]);
    git(&stage, stage.root(), &["clone", "-q", shop.to_str().expect("utf-8"), "fork"]);
    git(
        &stage,
        stage.root().join("fork"),
        &["remote", "set-url", "origin", "https://git.example/me/fork.git"],
    );
    let fork = ann.within(stage.root().join("fork"));
    let refusal = fork.refused(4, "project_is_clone", &["init"]);
    assert!(
        text(&refusal, "message").contains("docs/PROJECT.md names the remote git.example/acme/shop"),
        "{refusal}"
    );
    assert_eq!(text(&fork.json(&["init", "--separate"]), "project_id"), "fork");
}

#[test]
fn a_remote_that_was_added_later_is_known_from_the_next_session_on() {
    let stage = committed();
    git(&stage, stage.shop(), &["remote", "add", "origin", "https://user:secret@git.example/acme/shop.git"]);
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    assert_eq!(ann.json(&["project", "show"])["vcs_remote_url"], "https://git.example/acme/shop.git");
    git(&stage, stage.root(), &["clone", "-q", "shop", "clone"]);
    let clone = stage.root().join("clone");
    git(&stage, &clone, &["remote", "set-url", "origin", "git@git.example:acme/shop.git"]);
    ann.within(&clone).refused(4, "project_is_clone", &["status"]);
    // One that is known is not taken for another.
    git(&stage, stage.shop(), &["remote", "set-url", "origin", "https://git.example/acme/other"]);
    stage.terminal("Lola").json(&["start"]);
    assert_eq!(ann.json(&["project", "show"])["vcs_remote_url"], "https://git.example/acme/shop.git");
}

#[test]
fn a_repository_does_not_join_the_project_of_another_one_by_naming_its_id() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    git(&stage, stage.shop(), &["remote", "add", "origin", "https://github.com/acme/shop.git"]);
    ann.json(&["init"]);
    let other = stage.repo("other");
    git(&stage, &other, &["remote", "add", "origin", "https://github.com/acme/other.git"]);
    let before = stage.deltas();
    let there = ann.within(&other);
    for args in [
        &["init", "--id", "shop"][..],
        &["--project", "shop", "init"],
        &["init", "--separate", "--id", "shop"],
        &["init", "--id", "shop", "--move"],
    ] {
        let refused = there.refused(4, "project_taken", args);
        let hint = text(&refused, "hint");
        assert!(
            hint.contains("`baton init --join shop`") && hint.contains("--id OTHER"),
            "{args:?}: {refused}"
        );
    }
    assert_eq!(stage.deltas(), before, "nothing was written");
    let shown = ann.json(&["project", "show", "shop"]);
    assert_eq!(shown["vcs_remote_url"], "https://github.com/acme/shop.git", "{shown:#}");
    // Who says so joins, and names it by its id from then on; so does a clone of the project's remote, which stays the one it had.
    assert_eq!(there.json(&["init", "--join", "shop"])["joined"], true);
    assert_eq!(there.json(&["init", "--id", "shop"])["created"], false);
    let clone = stage.repo("clone");
    git(&stage, &clone, &["remote", "add", "origin", "git@github.com:acme/shop.git"]);
    assert_eq!(ann.within(&clone).json(&["init", "--id", "shop"])["joined"], true);
    stage.assert_sound();
}

//! By which repository a folder is known, and by which address a remote, once either has changed.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::stage::{Stage, text};
use crate::worktrees::{committed, git, worktree};

const WRAP: [&str; 5] = ["wrap", "--summary", "s", "--next", "n"];

#[test]
fn another_repository_in_the_old_place_of_a_worktree_is_not_taken_for_it() {
    for what in ["a clone", "a repository of its own"] {
        let stage = committed();
        let beside = worktree(&stage, "beside", "fix");
        let donna = stage.terminal("Donna").within(&beside);
        donna.json(&["start"]);
        donna.json(&WRAP);
        git(&stage, stage.shop(), &["worktree", "move", "../beside", "../moved"]);
        match what {
            "a clone" => git(&stage, stage.root(), &["clone", "-q", "shop", "beside"]),
            _ => git(&stage, stage.root(), &["init", "-q", "beside"]),
        };
        let (lola, moved) = (stage.terminal("Lola"), stage.root().join("moved"));
        assert_eq!(lola.text(&["pickup", "--there"]).trim(), moved.display().to_string(), "{what}");
        let places = lola.json(&["project", "places"])["items"].clone();
        let old = places.as_array().and_then(|rows| rows.iter().find(|row| row["path"] == json!(beside)));
        let old = old.expect("the old place");
        assert_eq!((&old["holds_other"], &old["moved_to"]), (&json!(true), &json!(moved)), "{what}: {old:#}");
        assert_eq!(old["branch"], json!(null), "{what}: {old:#}");
        git(&stage, stage.shop(), &["worktree", "remove", "--force", "../moved"]);
        lola.refused(3, "place_gone", &["pickup", "--there"]);
        let location = lola.json(&["pickup", "--dry-run"])["location"].clone();
        assert_eq!(
            (&location["is_there"], &location["holds_other"]),
            (&json!(false), &json!(true)),
            "{what}"
        );
        // Nor does a command there act in the project.
        assert_ne!(lola.within(&beside).run(&["status"]).code, 0, "{what}");
    }
}

#[test]
fn clones_by_any_path_of_one_remote_are_asked_about() {
    let stage = committed();
    let root = stage.root();
    git(&stage, root, &["clone", "-q", "--bare", "shop", "bare.git"]);
    git(&stage, stage.shop(), &["remote", "add", "origin", "../bare.git"]);
    let ann = stage.terminal("Ann");
    ann.json(&["init"]);
    let address = text(&ann.json(&["project", "show"]), "vcs_remote_url");
    assert_eq!(address, root.join("bare.git").canonicalize().expect("there").display().to_string());
    fs::create_dir(root.join("deep")).expect("a folder");
    symlink(root.join("bare.git"), root.join("link.git")).expect("linked");
    let dotted = root.join("deep/../bare.git");
    for (name, url) in [("two", root.join("bare.git")), ("three", dotted), ("four", root.join("link.git"))] {
        let url = url.display().to_string();
        git(&stage, root, &["clone", "-q", &url, name]);
        git(&stage, root.join(name), &["remote", "set-url", "origin", &url]);
        ann.within(root.join(name)).refused(4, "project_is_clone", &["init"]);
    }
    git(&stage, root.join("two"), &["remote", "set-url", "origin", "../bare.git"]);
    ann.within(root.join("two")).refused(4, "project_is_clone", &["init"]);
}

#[test]
fn a_remote_that_was_renamed_is_named_by_init_with_both_addresses_and_taken_by_the_command_that_it_names() {
    let stage = committed();
    let (ann, old, new) =
        (stage.terminal("Ann"), "https://git.example/a/shop.git", "https://git.example/a/store.git");
    git(&stage, stage.shop(), &["remote", "add", "origin", old]);
    ann.json(&["init"]);
    ann.json(&["init"]);
    git(&stage, stage.shop(), &["remote", "set-url", "origin", new]);
    let made = ann.json(&["init"]);
    let remark = made["remarks"][0].as_str().unwrap_or_default();
    assert!(remark.contains(old) && remark.contains(new) && remark.contains("baton init --sync"), "{made:#}");
    // A document may name another address than that of the folder's remote on purpose.
    assert_eq!(text(&ann.json(&["project", "show"]), "vcs_remote_url"), old);
    let path = stage.shop().join("docs/PROJECT.md");
    let document = fs::read_to_string(&path).expect("read");
    fs::write(&path, document.replace(old, new)).expect("written");
    ann.json(&["init", "--sync"]);
    assert_eq!(text(&ann.json(&["project", "show"]), "vcs_remote_url"), new);
    assert_eq!(ann.json(&["init"])["remarks"], json!(null));
    // Without a document the remote of the folder counts.
    fs::remove_file(&path).expect("removed");
    git(&stage, stage.shop(), &["remote", "set-url", "origin", old]);
    let made = ann.json(&["init"]);
    assert!(
        made["remarks"][0].as_str().unwrap_or_default().contains("is known by the new address"),
        "{made:#}"
    );
    git(&stage, stage.shop(), &["remote", "set-url", "origin", new]);
    fs::remove_file(&path).expect("removed");
    ann.json(&["init"]);
    git(&stage, stage.root(), &["clone", "-q", "shop", "second"]);
    let second = stage.root().join("second");
    git(&stage, &second, &["remote", "set-url", "origin", new]);
    ann.within(&second).refused(4, "project_is_clone", &["status"]);
}

#[test]
fn a_fork_that_joined_does_not_give_the_project_its_address() {
    let stage = committed();
    let (ann, fork) = (stage.terminal("Ann"), stage.root().join("fork"));
    git(&stage, stage.shop(), &["remote", "add", "origin", "https://git.example/a/shop.git"]);
    ann.json(&["init"]);
    git(&stage, stage.root(), &["clone", "-q", "shop", "fork"]);
    git(&stage, &fork, &["remote", "set-url", "origin", "https://git.example/me/fork.git"]);
    let there = ann.within(&fork);
    there.json(&["init", "--join", "shop"]);
    let made = there.json(&["init"]);
    let remark = made["remarks"][0].as_str().unwrap_or_default();
    assert!(remark.contains("baton init --sync"), "{made:#}");
    assert_eq!(text(&ann.json(&["project", "show"]), "vcs_remote_url"), "https://git.example/a/shop.git");
}

#[test]
fn a_waiting_baton_says_in_which_folder_it_was_left() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let donna = stage.terminal("Donna").within(&beside);
    donna.json(&["start"]);
    let baton = text(&donna.json(&WRAP), "baton_id");
    let ann = stage.terminal("Ann");
    let location = ann.json(&["batons"])["items"][0]["location"].clone();
    assert_eq!(location, json!({ "root": beside, "branch": "fix", "is_this_machine": true }));
    assert!(ann.text(&["batons"]).contains(&format!("in {}", beside.display())));
    assert!(ann.text(&["batons", "show", &baton]).contains(&beside.display().to_string()));
}

#[test]
fn a_fork_that_is_kept_apart_is_known_by_its_own_remote() {
    let stage = committed();
    let root = stage.root();
    let [upstream, own] = ["https://git.example.org/acme/shop.git", "https://git.example.org/me/shop.git"];
    git(&stage, stage.shop(), &["remote", "add", "origin", upstream]);
    let ann = stage.terminal("Ann");
    ann.json(&["init"]);
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "document"]);
    let clone = |name: &str, url: &str| {
        git(&stage, root, &["clone", "-q", "shop", name]);
        git(&stage, root.join(name), &["remote", "set-url", "origin", url]);
        ann.within(root.join(name))
    };
    let fork = clone("fork", own);
    fork.json(&["init", "--separate"]);
    assert_eq!(text(&fork.json(&["project", "show"]), "vcs_remote_url"), own);
    let document = fs::read_to_string(root.join("fork/docs/PROJECT.md")).expect("read");
    assert!(document.contains(own) && !document.contains(upstream), "{document}");
    let of_fork = clone("fork2", own).refused(4, "project_is_clone", &["init"]);
    assert_eq!(of_fork["project_id"], "fork", "{of_fork}");
    let of_shop = clone("shop2", upstream).refused(4, "project_is_clone", &["init"]);
    assert_eq!(of_shop["project_id"], "shop", "{of_shop}");
    assert!(!text(&of_shop, "message").contains("fork"), "{of_shop}");
}

#[test]
fn a_git_folder_that_lies_apart_is_followed_once_its_settings_name_the_working_copy() {
    let stage = committed();
    let (root, ann) = (stage.root(), stage.terminal("Ann"));
    git(&stage, root, &["init", "-q", "--separate-git-dir", "apart.git", "apart"]);
    let there = ann.within(root.join("apart"));
    let refusal = there.refused(3, "project_unresolved", &["init"]);
    assert!(text(&refusal, "message").contains("whose settings name no working copy"), "{refusal}");
    let hint = text(&refusal, "hint");
    let command = hint.split('`').nth(1).expect("a command");
    there.shell(command).done();
    assert_eq!(text(&there.json(&["init"]), "project_id"), "apart");
    there.json(&["start"]);
    fs::write(root.join("apart/a.txt"), "a").expect("written");
    let left = there.json(&["wrap", "--summary", "s", "--next", "n", "--with-changes"]);
    assert_eq!(left["changes"]["files"], json!(["a.txt"]));
    // A file that leads to it from elsewhere makes no working copy of it.
    fs::create_dir(root.join("strange")).expect("made");
    fs::copy(root.join("apart/.git"), root.join("strange/.git")).expect("copied");
    ann.within(root.join("strange")).refused(3, "project_unresolved", &["status"]);
}

#[test]
fn a_clone_in_which_a_setting_names_the_project_is_where_its_work_lies() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    ann.json(&WRAP);
    git(&stage, stage.root(), &["clone", "-q", "shop", "clone"]);
    let clone = stage.root().join("clone").canonicalize().expect("there");
    let lola = stage.terminal("Lola").within(&clone).with("BATON_PROJECT", "shop");
    lola.json(&["pickup"]);
    fs::write(clone.join("new.txt"), "n").expect("written");
    lola.json(&WRAP);
    assert_eq!(lola.text(&["pickup", "--there"]).trim(), clone.display().to_string());
}

#[test]
fn a_clone_on_another_machine_is_asked_about_by_the_committed_path_of_the_remote() {
    let stage = Stage::new();
    let root = stage.root().canonicalize().expect("there");
    let bare = root.join("bare.git");
    stage.file("shop/a.txt", "a\n");
    let bare_text = bare.display().to_string();
    git(&stage, &root, &["init", "-q", "--bare", &bare_text]);
    git(&stage, stage.shop(), &["remote", "add", "origin", &bare_text]);
    let ann = stage.terminal("Ann");
    ann.json(&["init"]);
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "one"]);
    git(&stage, stage.shop(), &["push", "-q", &bare_text, "HEAD:refs/heads/main"]);
    git(&stage, &bare, &["symbolic-ref", "HEAD", "refs/heads/main"]);
    for (name, remote) in [("work", bare_text.as_str()), ("moved", "/elsewhere/shop.git")] {
        git(&stage, &root, &["clone", "-q", &bare_text, name]);
        git(&stage, root.join(name), &["remote", "set-url", "origin", remote]);
        let mut other = ann.within(root.join(name));
        other.set("BATON_MACHINE", "server");
        let refusal = other.refused(4, "project_is_clone", &["init"]);
        assert_eq!(refusal["project_id"], "shop", "{refusal}");
        assert!(text(&refusal, "message").contains("its docs/PROJECT.md names the remote"), "{refusal}");
        // It is asked about, and decides nothing.
        other.refused(3, "project_unresolved", &["status"]);
    }
    let mut other = ann.within(root.join("work"));
    other.set("BATON_MACHINE", "server");
    other.json(&["init", "--join", "shop"]);
    assert_eq!(other.json(&["status"])["project_id"], "shop");
    // Without the document a path is another repository there.
    git(&stage, &root, &["clone", "-q", &bare_text, "bare-words"]);
    fs::remove_file(root.join("bare-words/docs/PROJECT.md")).expect("removed");
    let mut third = ann.within(root.join("bare-words"));
    third.set("BATON_MACHINE", "third");
    assert_eq!(text(&third.json(&["init"]), "project_id"), "bare-words");
}

#[test]
fn a_remote_that_was_added_later_is_known_to_a_server_from_the_next_session_of_an_operator_on() {
    let stage = Stage::remote(&[]);
    let (_server, far) = stage.far();
    stage.file("shop/a.txt", "a\n");
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "one"]);
    stage.terminal("Owner").json(&["init"]);
    let owner = far.terminal("Owner");
    let operator = text(&owner.json(&["token", "create", "--scope", "operator"]), "token");
    let writer = text(&owner.json(&["token", "create", "--scope", "write", "--only", "shop"]), "token");
    let remote = "https://git.example/acme/shop.git";
    git(&stage, stage.shop(), &["remote", "add", "origin", remote]);
    let with =
        |who: &str, token: &str| stage.terminal(who).with("BATON_TOKEN", token).with("BATON_PROJECT", "shop");
    let known = || with("Ann", &operator).json(&["project", "show"])["vcs_remote_url"].clone();
    std::thread::sleep(std::time::Duration::from_millis(600));
    with("Lola", &writer).json(&["start"]);
    assert_eq!(
        known(),
        serde_json::Value::Null,
        "who may not register a project does not say where its code is"
    );
    with("Ann", &operator).json(&["start"]);
    assert_eq!(known(), remote);
}

//! Where agents work: on the card, in a warning, with a baton; and places that move, merge and go.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::stage::{items, text};
use crate::worktrees::{committed, git, worktree};

#[test]
fn the_card_and_the_announcement_say_where_each_agent_works() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    stage.terminal("Ann").json(&["start"]);
    let lola = stage.terminal("Lola").within(&beside);
    lola.json(&["start"]);
    let commit = git(&stage, &beside, &["rev-parse", "HEAD"]);
    let roster = stage.terminal("Ann").json(&["status"])["sessions"].clone();
    let place = |name: &str| {
        roster.as_array().expect("sessions").iter().find(|s| s["identity"] == name).expect(name)["place"]
            .clone()
    };
    let mut of_lola = place("Lola");
    // The name of the host differs from one machine to the next.
    of_lola.as_object_mut().expect("a place").remove("host");
    assert_eq!(of_lola, json!({ "root": beside, "branch": "fix", "commit": commit, "is_worktree": true }));
    assert_eq!((&place("Ann")["root"], &place("Ann")["branch"]), (&json!(stage.shop()), &json!("main")));
    let card = stage.terminal("Ann").text(&["status"]);
    assert!(card.contains(&format!("in {}, branch fix at {}", beside.display(), &commit[..7])), "{card}");
    let start = stage.ledger("shop").into_iter().rfind(|delta| delta["kind"] == "start");
    assert_eq!(start.expect("a start")["body"]["place"]["branch"], "fix", "the log says it too");
    let log = stage.terminal("Ann").text(&["log"]);
    let worked = format!("  in {}, branch fix at {}\n", beside.display(), &commit[..7]);
    assert!(log.contains(&worked), "{log}");
    // Kept fresh by the verbs of the session.
    git(&stage, &beside, &["switch", "-q", "-c", "other"]);
    lola.json(&["checkpoint", "--summary", "s"]);
    let card = stage.terminal("Ann").text(&["status"]);
    assert!(card.contains("branch other at"), "{card}");
    let payload = json!({ "session_id": "s-1", "cwd": stage.shop(), "hook_event_name": "SessionStart", "source": "startup" });
    let output = stage
        .bare()
        .within(stage.root())
        .feed(payload.to_string().as_bytes(), &["hook", "session-start", "--agent", "claude"])
        .done();
    assert!(output.out.contains("branch other at"), "{output:#?}");
}

#[test]
fn two_in_one_working_copy_are_warned_and_two_in_two_are_not() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let warned = |answer: &serde_json::Value| {
        let all = answer["rules_reminders"].as_array().expect("reminders").clone();
        all.into_iter().find(|one| one["kind"] == "shared_working_copy").map(|one| text(&one, "message"))
    };
    let donna = stage.terminal("Donna").json(&["start"]);
    assert_eq!(warned(&donna), None, "alone");
    let lola = stage.terminal("Lola").within(&beside).json(&["start"]);
    assert_eq!(warned(&lola), None, "elsewhere");
    let rex = warned(&stage.terminal("Rex").json(&["start"])).expect("a warning");
    assert!(rex.contains("Donna") && rex.contains("git worktree add"), "{rex}");
    assert!(!rex.contains("Lola"), "{rex}");
}

#[test]
fn a_pickup_says_where_the_work_lies_and_how_to_get_there() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let ann = stage.terminal("Ann").within(&beside);
    ann.json(&["start"]);
    fs::write(beside.join("b.txt"), "b\n").expect("written");
    git(&stage, &beside, &["add", "b.txt"]);
    git(&stage, &beside, &["commit", "-qm", "two"]);
    fs::write(beside.join("new one.txt"), "n\n").expect("written");
    fs::write(beside.join("a.txt"), "changed\n").expect("written");
    ann.json(&["wrap", "--summary", "s", "--next", "n"]);
    let commit = git(&stage, &beside, &["rev-parse", "HEAD"]);
    let lola = stage.terminal("Lola");
    let log = lola.text(&["log", "--kind", "wrap"]);
    assert!(log.trim_end().ends_with(&format!("branch fix at {}", &commit[..7])), "{log}");
    let seen = lola.json(&["pickup", "--dry-run"])["location"].clone();
    assert_eq!(
        (&seen["root"], &seen["branch"], &seen["commit"]),
        (&json!(beside), &json!("fix"), &json!(commit))
    );
    assert_eq!(
        (&seen["is_here"], &seen["is_there"], &seen["has_commit"]),
        (&json!(false), &json!(true), &json!(true))
    );
    assert_eq!(seen["uncommitted"], json!(["a.txt", "new one.txt"]));
    assert!(text(&seen, "advice").contains(&format!("cd {}", beside.display())), "{seen}");
    assert_eq!(lola.text(&["pickup", "--there"]).trim(), beside.to_str().expect("utf-8"));
    let shown = lola.text(&["pickup", "--dry-run"]);
    assert!(
        shown.contains("not committed: a.txt, new one.txt") && shown.contains("branch fix at"),
        "{shown}"
    );
    // There it is here.
    let there = lola.within(&beside).json(&["pickup", "--dry-run"])["location"].clone();
    assert_eq!((&there["is_here"], &there["advice"]), (&json!(true), &serde_json::Value::Null));
    // The worktree goes; its branch is left.
    fs::remove_dir_all(&beside).expect("removed");
    let gone = lola.json(&["pickup", "--dry-run"])["location"].clone();
    assert_eq!(gone["is_there"], false);
    let advice = text(&gone, "advice");
    assert!(
        advice.contains("its branch fix is left here: `git worktree prune`, then `git worktree add"),
        "{gone}"
    );
    lola.refused(3, "place_gone", &["pickup", "--there"]);
    // What is advised works: git still takes the branch for checked out there.
    let commands: Vec<&str> = advice.split('`').filter(|part| part.starts_with("git worktree")).collect();
    assert_eq!(commands.len(), 3, "{advice}");
    // The first is for a worktree that was moved by hand, and this one is gone.
    lola.shell(&commands[1..].join(" && ")).done();
    assert!(beside.join("b.txt").exists());
    git(&stage, stage.shop(), &["worktree", "remove", "--force", "../beside"]);
    git(&stage, stage.shop(), &["branch", "-q", "-D", "fix"]);
    let gone = lola.json(&["pickup", "--dry-run"])["location"].clone();
    assert!(text(&gone, "advice").contains(&format!("git switch --detach {}", &commit[..12])), "{gone}");
    // Looking claims nothing.
    assert_eq!(lola.json(&["status"])["handoffs"][0]["state"], "open");
}

#[test]
fn places_are_listed_given_away_forgotten_and_taken_back() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let ann = stage.terminal("Ann").within(&beside);
    ann.json(&["start"]);
    let path = beside.to_str().expect("utf-8");
    let listed = items(&ann.json(&["project", "places"]));
    let row = listed.iter().find(|row| row["path"] == path).expect("the worktree");
    assert_eq!(
        (&row["kind"], &row["branch"], &row["sessions"][0]["identity"]),
        (&json!("worktree"), &json!("fix"), &json!("Ann"))
    );
    assert_eq!(
        listed.iter().find(|row| row["kind"] == "registered").expect("the first")["path"],
        json!(stage.shop())
    );
    ann.refused(4, "place_busy", &["project", "split", path, "--to", "two"]);
    ann.json(&["end"]);
    let before = stage.deltas();
    for args in [
        &["project", "split", path, "--to", "two", "--dry-run"][..],
        &["project", "remove", path, "--dry-run"],
    ] {
        assert_eq!(ann.json(args)["dry_run"], true);
    }
    assert_eq!((stage.deltas(), text(&ann.json(&["status"]), "project_id")), (before, "shop".into()));
    let split = ann.json(&["project", "split", path, "--to", "two"]);
    assert_eq!(text(&ann.json(&["status"]), "project_id"), "two");
    assert_eq!(text(&stage.terminal("Ann").json(&["status"]), "project_id"), "shop", "its repository stays");
    let undo = text(&split, "undo");
    assert_eq!(undo, format!("baton project split {path} --to shop"));
    ann.json(&undo.split(' ').skip(1).collect::<Vec<_>>());
    assert_eq!(text(&ann.json(&["status"]), "project_id"), "shop");
    let shop = stage.shop();
    ann.json(&["project", "remove", path]);
    ann.json(&["project", "remove", shop.to_str().expect("utf-8")]);
    stage.terminal("Ann").refused(3, "project_unresolved", &["status"]);
    ann.refused(3, "place_unknown", &["project", "remove", path]);
    stage.terminal("Ann").json(&["init", "--join", "shop"]);
    assert_eq!(text(&ann.json(&["status"]), "project_id"), "shop");
}

#[test]
fn a_worktree_without_a_session_and_one_that_was_moved_are_given_away_by_where_they_are() {
    let stage = committed();
    let (fresh, was) = (worktree(&stage, "fresh", "fresh"), worktree(&stage, "was", "was"));
    let ann = stage.terminal("Ann");
    let folder = |path: &Path| path.display().to_string();
    let refused = ann.refused(3, "place_unknown", &["project", "remove", &folder(&fresh)]);
    assert!(text(&refused, "message").contains("is a worktree of project shop"), "{refused}");
    ann.within(&was).json(&["start"]);
    ann.within(&was).json(&["end"]);
    git(&stage, stage.shop(), &["worktree", "move", "../was", "../now"]);
    let now = stage.root().join("now");
    let refused = ann.refused(4, "place_moved", &["project", "split", &folder(&was), "--to", "two"]);
    assert!(text(&refused, "hint").contains(&folder(&now)), "{refused}");
    for path in [&fresh, &now] {
        let split = ann.json(&["project", "split", &folder(path), "--to", "two"]);
        assert_eq!(split["paths"], json!([path]), "{split:#}");
        assert_eq!(text(&ann.within(path).json(&["status"]), "project_id"), "two");
    }
    assert_eq!(text(&ann.json(&["status"]), "project_id"), "shop", "its repository stays");
}

#[test]
fn a_worktree_that_became_a_project_is_found_and_merged_and_its_batons_wait_in_the_other() {
    let stage = committed();
    // Registered before Baton could know whose folder it is.
    let beside = stage.root().join("beside");
    fs::create_dir_all(&beside).expect("a folder");
    let ann = stage.terminal("Ann").within(&beside);
    ann.json(&["init", "--id", "stray"]);
    fs::remove_dir_all(beside.join("docs")).expect("the document is removed");
    worktree(&stage, "beside", "fix");
    ann.json(&["start"]);
    let packet = stage.file("packet.json", r#"{"summary": "stray work",  "next_steps": ["go on"]}"#);
    let first = text(&ann.json(&["wrap", "--packet", &packet, "--to", "Lola"]), "baton_id");
    ann.json(&["task", "create", "left behind"]);
    let doctor = stage.terminal("Doctor");
    let found = doctor.json(&["doctor"])["worktrees"].clone();
    assert_eq!((&found[0]["project_id"], &found[0]["belongs_to"]), (&json!("stray"), &json!("shop")));
    doctor.refused(1, "fix_needs_yes", &["doctor", "--fix"]);
    let preview = doctor.json(&["project", "merge", "stray", "--into", "shop", "--dry-run"]);
    assert_eq!((&preview["batons"][0]["from"], &preview["tasks_left"]), (&json!(first), &json!(1)));
    assert_eq!(text(&ann.json(&["status"]), "project_id"), "stray");
    assert_eq!(doctor.json(&["doctor", "--fix", "--yes"])["worktrees"], serde_json::Value::Null);
    assert_eq!(text(&ann.json(&["status"]), "project_id"), "shop");
    let lola = stage.terminal("Lola");
    let seen = lola.json(&["pickup", "--dry-run"]);
    assert_eq!(
        text(&seen["baton"], "body"),
        r#"{"summary": "stray work",  "next_steps": ["go on"]}"#,
        "byte for byte"
    );
    lola.refused(4, "project_merged", &["--project", "stray", "pickup", "--handoff", &first]);
    stage.assert_sound();
    // Taken back: the baton waits where it was left.
    let undone = doctor.json(&["project", "merge", "stray", "--into", "shop", "--undo"]);
    assert_eq!(undone["batons"][0]["from"], json!(first));
    assert_eq!(text(&ann.json(&["status"]), "project_id"), "stray");
    assert_eq!(text(&lola.json(&["--project", "stray", "pickup"])["baton"], "delta_id"), first);
    stage.assert_sound();
    doctor.refused(4, "project_busy", &["project", "merge", "stray", "--into", "shop"]);
    doctor.refused(3, "merge_unknown", &["project", "merge", "shop", "--into", "stray", "--undo"]);
}

#[test]
fn a_worktree_that_was_split_off_stays_apart() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let ann = stage.terminal("Ann").within(&beside);
    ann.json(&["start"]);
    ann.json(&["end"]);
    ann.json(&["project", "split", beside.to_str().expect("utf-8"), "--to", "own"]);
    let doctor = stage.terminal("Doctor");
    for args in [&["doctor"][..], &["doctor", "--fix", "--yes"]] {
        assert_eq!(doctor.json(args)["worktrees"], serde_json::Value::Null);
    }
    assert_eq!(text(&ann.json(&["status"]), "project_id"), "own");
}

#[test]
fn work_in_a_folder_that_was_moved_is_found_where_it_is() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let donna = stage.terminal("Donna").within(&beside);
    donna.json(&["start"]);
    fs::write(beside.join("half.txt"), "half").expect("written");
    donna.json(&["wrap", "--summary", "s", "--next", "n"]);
    let moved = stage.root().join("moved");
    let shop = stage.shop();
    git(&stage, &shop, &["worktree", "move", &beside.display().to_string(), &moved.display().to_string()]);
    let there = stage.terminal("Lola").text(&["pickup", "--there"]);
    assert_eq!(there.trim(), moved.display().to_string());
    let picked = stage.terminal("Lola").json(&["pickup"]);
    assert_eq!(
        (&picked["location"]["root"], &picked["location"]["uncommitted"]),
        (&json!(moved), &json!(["half.txt"]))
    );
}

#[test]
fn a_worktree_that_was_moved_is_found_whatever_lies_in_its_old_place() {
    for what in ["another worktree", "a plain folder", "another project"] {
        let stage = committed();
        let shop = stage.shop();
        let old = worktree(&stage, "shop/.claude/worktrees/x", "fix");
        let donna = stage.terminal("Donna").within(&old);
        donna.json(&["start"]);
        donna.json(&["wrap", "--summary", "s", "--next", "n"]);
        let moved = stage.root().join("moved");
        let (from, to) = (old.display().to_string(), moved.display().to_string());
        git(&stage, &shop, &["worktree", "move", &from, &to]);
        match what {
            "another worktree" => drop(git(&stage, &shop, &["worktree", "add", "-q", "-b", "other", &from])),
            "a plain folder" => fs::create_dir_all(&old).expect("folder"),
            _ => {
                git(&stage, stage.root(), &["init", "-q", &from]);
                stage.terminal("Ann").within(&old).json(&["init", "--id", "lib", "--move"]);
            }
        }
        let lola = stage.terminal("Lola");
        let there = lola.text(&["pickup", "--there"]);
        assert_eq!(there.trim(), to, "{what}");
        // In the folder where something else lies, too, as far as that is of the repository.
        if what == "another worktree" {
            assert_eq!(lola.within(&old).text(&["pickup", "--there"]).trim(), to, "{what}");
        }
        let seen = lola.json(&["pickup"])["location"].clone();
        assert_eq!((&seen["root"], &seen["is_there"]), (&json!(to), &json!(true)), "{what}");
    }
}

#[test]
fn a_worktree_in_which_another_branch_is_checked_out_by_now_is_still_the_place() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let donna = stage.terminal("Donna").within(&beside);
    donna.json(&["start"]);
    donna.json(&["wrap", "--summary", "s", "--next", "n"]);
    git(&stage, &beside, &["switch", "-q", "-c", "later"]);
    let there = stage.terminal("Lola").text(&["pickup", "--there"]);
    assert_eq!(there.trim(), beside.display().to_string(), "its branch is checked out nowhere else");
}

#[test]
fn files_that_were_left_where_another_branch_is_by_now_are_named_with_their_folder() {
    let stage = committed();
    let (one, two) = (worktree(&stage, "one", "one"), worktree(&stage, "two", "two"));
    let donna = stage.terminal("Donna").within(&one);
    donna.json(&["start"]);
    fs::write(one.join("new.py"), "half").expect("written");
    donna.json(&["wrap", "--summary", "half of it", "--next", "n", "--without-changes"]);
    git(&stage, &one, &["switch", "-q", "-c", "parked"]);
    git(&stage, &two, &["switch", "-q", "one"]);
    for folder in [&two, &stage.shop()] {
        let shown = stage.terminal("Lola").within(folder).run(&["pickup", "--dry-run"]).done().out;
        let left = format!("left earlier and not committed in {}", one.display());
        assert!(shown.contains(&left) && shown.contains("new.py"), "{shown}");
    }
}

#[test]
fn a_clone_of_a_remote_that_is_a_path_is_known_by_it() {
    let stage = committed();
    let root = stage.root().to_owned();
    git(&stage, &root, &["init", "-q", "--bare", "hub.git"]);
    git(&stage, stage.shop(), &["remote", "add", "origin", "../hub.git"]);
    git(&stage, stage.shop(), &["push", "-q", "origin", "HEAD"]);
    stage.terminal("Ann").run(&["init"]).done();
    git(&stage, &root, &["clone", "-q", &root.join("hub.git").display().to_string(), "second"]);
    let output = stage.terminal("Ann").within(root.join("second")).run(&["start"]);
    assert!(output.err.contains("looks like a clone of project"), "{output:#?}");
}

#[test]
fn a_lease_holds_in_its_working_copy_and_on_its_branch() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let (donna, lola) = (stage.terminal("Donna"), stage.terminal("Lola").within(&beside));
    let rex = stage.terminal("Rex");
    for agent in [&donna, &lola, &rex] {
        agent.json(&["start"]);
    }
    donna.json(&["lease", "take", "a.txt"]);
    rex.refused(4, "lease_conflict", &["lease", "take", "a.txt"]);
    // Another working copy and another branch: she is told, and both work.
    let taken = lola.json(&["lease", "take", "a.txt"]);
    let warning = &taken["warnings"][0];
    assert_eq!((&warning["kind"], &warning["lease"]["branch"]), (&json!("lease_apart"), &json!("main")));
    let message = text(warning, "message");
    assert!(message.contains("Donna has a.txt") && message.contains("branch main"), "{message}");
    let listed = items(&rex.json(&["lease", "list"]));
    let spot = |name: &str| {
        let row = listed.iter().find(|row| row["holder"] == name).expect(name).clone();
        (row["folder"].clone(), row["branch"].clone())
    };
    assert_eq!(spot("Donna"), (json!(stage.shop()), json!("main")));
    assert_eq!(spot("Lola"), (json!(beside), json!("fix")));
    let shown = rex.text(&["lease", "list"]);
    assert!(shown.contains(&format!("in {}, branch fix", beside.display())), "{shown}");
    // On the same branch it is one lease, wherever the folder lies.
    lola.json(&["lease", "release"]);
    git(&stage, &beside, &["switch", "-q", "--ignore-other-worktrees", "main"]);
    lola.refused(4, "lease_conflict", &["lease", "take", "a.txt"]);
}

#[test]
fn a_project_is_renamed_while_agents_work_and_is_found_by_every_name() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    let preview = ann.json(&["project", "rename", "--to", "store", "--dry-run"]);
    assert_eq!((&preview["dry_run"], &preview["name"]), (&json!(true), &json!("store")));
    stage.terminal("Ann").refused(3, "project_unknown", &["--project", "store", "status"]);
    let shown = ann.text(&["project", "rename", "--to", "store"]);
    assert!(
        shown.contains("project shop is called store; its id shop stays")
            && shown.contains("undo: baton project rename shop --to shop"),
        "{shown}"
    );
    // In the folder, by the name on the command line, in the environment and in a hook's, and by the id.
    let far = stage.terminal("Lola").within(stage.root());
    for terminal in
        [stage.terminal("Lola"), far.with("BATON_PROJECT", "store"), far.with("BATON_PROJECT", "shop")]
    {
        assert!(terminal.text(&["status"]).starts_with("project store (id shop)"));
        assert_eq!(text(&terminal.json(&["status"]), "project_id"), "shop");
    }
    ann.with("BATON_PROJECT", "store").json(&["wrap", "--summary", "half of the cart"]);
    let got = far.json(&["--project", "store", "pickup"]);
    assert_eq!(text(&got, "project_id"), "shop");
    assert!(far.text(&["project", "list"]).contains("store (id shop)"));
    let lib = stage.repo("lib");
    let other = stage.terminal("Rex").within(&lib);
    other.json(&["init", "--id", "lib"]);
    let sent = other.json(&["handoff", "create", "--to", "store", "--subject", "Round the tax", "--local"]);
    assert!(sent.to_string().contains("\"to_project_id\":\"shop\""), "{sent:#}");
    assert!(stage.terminal("Ann").text(&["status"]).contains("Round the tax"));
    other.refused(4, "project_taken", &["project", "rename", "--to", "store"]);
    let undo = text(&ann.json(&["project", "rename", "--to", "market"]), "undo");
    assert_eq!(undo, "baton project rename shop --to store");
    ann.json(&undo.split(' ').skip(1).collect::<Vec<_>>());
    assert!(ann.text(&["status"]).starts_with("project store (id shop)"));
    assert_eq!(text(&far.json(&["--project", "market", "status"]), "project_id"), "shop");
    stage.assert_sound();
}

#[test]
fn status_and_batons_say_which_baton_has_changes_with_it() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    ann.json(&["wrap", "--summary", "all committed", "--to", "Rex"]);
    ann.json(&["start"]);
    fs::write(stage.shop().join("half.txt"), "half").expect("written");
    let left = text(&ann.json(&["wrap", "--summary", "half of it", "--with-changes"]), "baton_id");
    let has = |rows: &[serde_json::Value], id: &str| -> Vec<String> {
        rows.iter().filter(|row| row["has_changes"] == true).map(|row| text(row, id)).collect()
    };
    let card = ann.json(&["status"]);
    let waiting = card["handoffs"].as_array().expect("batons").clone();
    assert_eq!((waiting.len(), has(&waiting, "id")), (2, vec![left.clone()]));
    assert_eq!(has(&items(&ann.json(&["batons"])), "baton_id").as_slice(), std::slice::from_ref(&left));
    for args in [&["status"][..], &["batons"]] {
        let shown = ann.text(args);
        let marked: Vec<&str> = shown.lines().filter(|line| line.contains("with changes")).collect();
        assert!(marked.len() == 1 && marked[0].contains("half of it"), "{shown}");
    }
    assert!(ann.text(&["batons", "show", &left]).contains("go with it"));
    ann.json(&["changes", "drop", &left]);
    assert!(!ann.text(&["status"]).contains("with changes"));
}

#[test]
fn a_session_of_an_inner_worktree_that_was_gone_at_its_import_was_left_there() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    let line = |folder: &str, id: &str, branch: &str| {
        let line = json!({ "type": "user", "uuid": "u1", "sessionId": id, "cwd": folder, "gitBranch": branch,
            "version": "2.0.0", "timestamp": "2026-07-21T09:00:00.000Z",
            "message": { "role": "user", "content": "Round the prices" } });
        stage.file(&format!("home/.claude/projects/-shop/{id}.jsonl"), format!("{line}\n"));
    };
    let inner = worktree(&stage, "shop/.claude/worktrees/x", "x");
    let (folder, id) = (inner.display().to_string(), "33333333-aaaa-4000-8000-00000000abcd");
    line(&format!("{folder}/src"), id, "x");
    git(&stage, stage.shop(), &["worktree", "remove", &folder]);
    let baton = text(&ann.json(&["import-transcript", id]), "baton_id");
    let location = ann.json(&["pickup", "--dry-run", &baton])["location"].clone();
    assert_eq!((&location["root"], &location["is_there"]), (&json!(folder), &json!(false)), "{location:#}");
    let refused = ann.refused(3, "place_gone", &["pickup", "--there", &baton]);
    assert!(text(&refused, "hint").contains("git switch x"), "{refused:#}");
    // A plain folder of the branch that is checked out was no place of its own.
    let plain = "44444444-aaaa-4000-8000-00000000abcd";
    line(&format!("{}/src", stage.shop().display()), plain, "main");
    let baton = text(&ann.json(&["import-transcript", plain]), "baton_id");
    let location = ann.json(&["pickup", "--dry-run", &baton])["location"].clone();
    assert_eq!(location["root"], json!(stage.shop()), "{location:#}");
}

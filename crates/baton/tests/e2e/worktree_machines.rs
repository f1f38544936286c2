//! Worktrees that the real Claude Code made, and a machine on which nothing of the other's paths is there.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::mock_model::{Call, MockModel};
use crate::stage::{Answer, BATON, env, items, skipped, text};
use crate::transcript_copies::TwoMachines;
use crate::worktrees::{committed, git};

#[test]
fn work_in_a_worktree_of_claude_code_goes_on_in_another_clone() {
    let program = env("BATON_TEST_CLIS").map(|folder| Path::new(&folder).join("claude"));
    let Some(program) = program.filter(|program| program.exists()) else {
        return skipped("no worktree of Claude Code: BATON_TEST_CLIS names no folder with claude");
    };
    let stage = committed();
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-q", "--allow-empty", "-m", "two"]);
    git(&stage, stage.root(), &["clone", "-q", "shop", "second"]);
    let second = stage.root().join("second");
    stage.terminal("Lola").within(&second).json(&["init", "--join", "shop"]);
    assert_eq!(git(&stage, &second, &["status", "--porcelain"]), "", "joining changes no committed file");
    stage.terminal("Lola").json(&["install", "claude", "--yes"]);
    let work = format!(
        "{BATON:?} start --as Worker && echo edited > a.txt && mkdir new && echo new > new/b.txt && git add new && \
         {BATON:?} wrap --as Worker --summary half --next finish --with-changes"
    );
    let model =
        MockModel::start(vec![Call::new("Bash", json!({ "command": work, "description": "work" }))], "Done.");
    let mut command = stage.bare().program("timeout");
    command.arg("120").arg(&program).args(["-w", "fix", "-p", "count the cart", "--allowedTools", "Bash"]);
    command.env("ANTHROPIC_BASE_URL", model.url()).env("ANTHROPIC_API_KEY", "dummy");
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").stdin(Stdio::null());
    let output = command.output().expect("the agent starts");
    assert!(output.status.success(), "{output:#?}");
    let made = stage.shop().join(".claude/worktrees/fix");
    assert!(made.join("new/b.txt").is_file(), "{:?} {:?}", model.results(), output);
    // It is a place of the project, and no part of what its repository has changed.
    let here = stage.terminal("Ann").within(&made);
    assert_eq!(here.json(&["status"])["project_id"], "shop");
    let places = here.json(&["project", "places"]).to_string();
    assert!(places.contains(".claude/worktrees/fix"), "{places}");
    let lola = stage.terminal("Lola").within(&second);
    let location = lola.json(&["pickup", "--dry-run"])["location"].clone();
    assert!(location.to_string().contains(".claude/worktrees/fix"), "{location:#}");
    let picked = lola.json(&["pickup", "--apply"]);
    assert_eq!(picked["changes"]["outcome"]["applied"], true, "{picked:#}");
    let status = |folder: &Path| git(&stage, folder, &["status", "--porcelain=v2", "--untracked-files=all"]);
    assert_eq!(status(&second), status(&made));
    assert_eq!(fs::read_to_string(second.join("a.txt")).expect("read"), "edited\n");
    // Its transcript belongs to the project, too.
    let listed = items(&stage.terminal("Ann").json(&["transcripts", "list"]));
    assert!(listed.iter().any(|row| text(row, "cwd").ends_with(".claude/worktrees/fix")), "{listed:#?}");
    stage.assert_sound();
}

#[test]
fn a_container_without_the_other_machines_paths_goes_on_with_its_work() {
    let of = TwoMachines::new();
    let (ann, donna) = (of.ann(), of.donna());
    ann.json(&["project", "set", "--transcripts", "yes"]);
    ann.json(&["transcripts", "push"]);
    let fix = of.laptop.root().join("fix");
    git(&of.laptop, of.laptop.shop(), &["worktree", "add", "-q", "-b", "fix", &fix.display().to_string()]);
    fs::write(fix.join("a.txt"), "edited\n").expect("written");
    fs::create_dir(fix.join("new")).expect("folder");
    fs::write(fix.join("new/b.txt"), "new\n").expect("written");
    let there = ann.within(&fix);
    there.json(&["start"]);
    there.json(&[
        "wrap",
        "--summary",
        "half",
        "--next",
        "finish",
        "--with-changes",
        "--changes-remote",
        "origin",
    ]);
    // The remote alone is mounted into the container, at its address; nothing else of the laptop is there.
    let remote = of.desktop.root().join("remote.git");
    fs::create_dir(&remote).expect("folder");
    let script = format!(
        r#"mount --bind '{hidden}/bare.git' '{remote}' && mount -t tmpfs none '{hidden}' || exit 77
        mkdir '{hidden}/bare.git' && mount --bind '{remote}' '{hidden}/bare.git' || exit 77
        test ! -e '{hidden}/shop' && test ! -e '{hidden}/fix' || exit 3
        "$BATON" pickup --there --json > ../there.json
        "$BATON" pickup --apply --json || exit 4
        "$BATON" continue {id} --in claude --native --print --json > ../went.json || exit 5"#,
        remote = remote.display(),
        hidden = of.laptop.root().display(),
        id = crate::transcript_copies::ID,
    );
    let mut command = donna.program("unshare");
    command.args(["-Urm", "sh", "-c", &script]).env("BATON", BATON).stdin(Stdio::null());
    let Ok(child) = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() else {
        return skipped("no unshare for a container");
    };
    let answer = Answer::of(child, &["container"]);
    if answer.err.contains("unshare") || answer.code == 77 {
        return skipped("no namespace can be made here");
    }
    assert_eq!(answer.code, 0, "{answer:#?}");
    let shown = fs::read_to_string(of.desktop.root().join("there.json")).unwrap_or_default();
    assert!(shown.contains("place_elsewhere"), "{shown} {answer:#?}");
    let picked = answer.json();
    assert_eq!(picked["changes"]["outcome"]["applied"], true, "{picked:#}");
    assert!(picked["location"].to_string().contains("laptop"), "{:#}", picked["location"]);
    let status =
        |folder: &Path| git(&of.laptop, folder, &["status", "--porcelain=v2", "--untracked-files=all"]);
    // What `baton init` wrote is the clone's own.
    let without_document = |text: String| text.replace("? docs/PROJECT.md\n", "");
    assert_eq!(without_document(status(&of.clone)), status(&fix));
    assert_eq!(fs::read_to_string(of.clone.join("new/b.txt")).expect("read"), "new\n");
    let went: Value =
        serde_json::from_str(&fs::read_to_string(of.desktop.root().join("went.json")).expect("an answer"))
            .expect("JSON");
    assert!(Path::new(&text(&went["native"], "path")).is_file(), "{went:#}");
}

#[test]
fn places_through_a_server_say_which_worktrees_of_this_machine_are_gone_and_where_others_went() {
    let of = TwoMachines::new();
    let (ann, shop) = (of.ann(), of.laptop.shop());
    for name in ["gone", "stays", "moves"] {
        let folder = of.laptop.root().join(name);
        git(&of.laptop, &shop, &["worktree", "add", "-q", "-b", name, &folder.display().to_string()]);
        ann.within(&folder).json(&["start"]);
        ann.within(&folder).json(&["end"]);
    }
    git(&of.laptop, &shop, &["worktree", "remove", "../gone"]);
    git(&of.laptop, &shop, &["worktree", "move", "../moves", "../moved"]);
    let shown = ann.text(&["project", "places"]);
    let line = |name: &str| {
        let path = of.laptop.root().join(name).display().to_string();
        shown
            .lines()
            .find(|line| line.contains(&path))
            .unwrap_or_else(|| panic!("{name}: {shown}"))
            .to_owned()
    };
    assert!(line("gone").ends_with("gone"), "{shown}");
    assert!(
        line("moves").contains(&format!("moved to {}", of.laptop.root().join("moved").display())),
        "{shown}"
    );
    assert!(!line("stays").contains("moved") && !line("stays").ends_with("gone"), "{shown}");
}

#[test]
fn the_card_says_of_an_agent_that_it_works_on_another_machine() {
    let of = TwoMachines::new();
    of.donna().json(&["start"]);
    of.ann().json(&["start"]);
    let card = of.ann().text(&["status"]);
    let line =
        |name: &str| card.lines().find(|line| line.contains(&format!("● {name}"))).expect(name).to_owned();
    assert!(line("Donna").contains(", on "), "{card}");
    assert!(!line("Ann").contains(", on "), "{card}");
}

#[test]
fn a_pickup_through_a_server_says_what_is_gone_here_and_what_cannot_be_seen_from_here() {
    let of = TwoMachines::new();
    let (ann, shop) = (of.ann(), of.laptop.shop());
    let folder = of.laptop.root().join("fix");
    git(&of.laptop, &shop, &["worktree", "add", "-q", "-b", "fix", &folder.display().to_string()]);
    ann.within(&folder).json(&["start"]);
    fs::write(folder.join("half.txt"), "half").expect("written");
    ann.within(&folder).json(&["wrap", "--summary", "half", "--next", "finish"]);
    let far = of.donna().text(&["pickup", "--dry-run"]);
    assert!(far.contains("the work was left on another machine, "), "{far}");
    assert!(
        far.contains("what is there now cannot be seen from here") && !far.contains("the work lies"),
        "{far}"
    );
    let near = ann.text(&["pickup", "--dry-run"]);
    assert!(near.contains("the work lies in ") && near.contains("not committed: half.txt"), "{near}");
    git(&of.laptop, &shop, &["worktree", "remove", "--force", "../fix"]);
    let gone = ann.text(&["pickup", "--dry-run"]);
    assert!(gone.contains("the work was left in ") && gone.contains("the folder is gone"), "{gone}");
    assert!(!gone.contains("if it still is"), "{gone}");
    let refused = ann.refused(3, "place_gone", &["pickup", "--there"]);
    assert!(text(&refused, "hint").contains("git worktree"), "{refused:#}");
}

#[test]
fn a_wrap_through_a_server_does_not_say_of_another_machine_what_became_of_changes_there() {
    let of = TwoMachines::new();
    let ann = of.ann();
    ann.json(&["start"]);
    of.laptop.file("shop/a.txt", "edited\n");
    ann.json(&["wrap", "--summary", "half", "--next", "finish", "--with-changes"]);
    let picked = of.donna().json(&["pickup", "--apply"]);
    assert_eq!(picked["changes"]["outcome"]["applied"], true, "{picked:#}");
    let id = text(&picked, "session_id");
    let given = ann.text(&["reassign", &id, "--to", "Rex", "--wait", "--why", "stuck"]);
    assert!(given.contains("cannot be seen from here") && !given.contains("left there"), "{given}");
}

#[test]
fn a_worktree_that_was_moved_twice_is_one_place() {
    for served in [false, true] {
        let of = TwoMachines::new();
        let stage = committed();
        let (ann, root, shop) = match served {
            true => (of.ann(), of.laptop.root().to_owned(), of.laptop.shop()),
            false => (stage.terminal("Ann"), stage.root().to_owned(), stage.shop()),
        };
        let folder = |name: &str| root.join(name).display().to_string();
        git(&stage, &shop, &["worktree", "add", "-q", "-b", "fix", &folder("one")]);
        let visit = |name: &str| {
            ann.within(root.join(name)).json(&["start"]);
            ann.within(root.join(name)).json(&["end"]);
        };
        let listed = |name: &str| {
            let shown = ann.text(&["project", "places"]);
            let path = format!("{} ", folder(name));
            shown.lines().find(|line| line.contains(&path)).map(str::to_owned)
        };
        visit("one");
        git(&stage, &shop, &["worktree", "move", &folder("one"), &folder("two")]);
        visit("two");
        git(&stage, &shop, &["worktree", "move", &folder("two"), &folder("three")]);
        assert_eq!(listed("one"), None, "served: {served}");
        let line = listed("two").expect("where a session was last");
        assert!(line.contains(&format!("moved to {}", folder("three"))), "{line}");
        visit("three");
        assert!(listed("three").is_some_and(|line| !line.contains("gone")), "served: {served}");
        assert_eq!((listed("one"), listed("two")), (None, None), "served: {served}");
        git(&stage, &shop, &["worktree", "remove", "--force", &folder("three")]);
        let line = listed("three").expect("a worktree that was removed is told");
        assert!(line.trim_end().ends_with("gone"), "{line}");
    }
}

#[test]
fn a_command_from_outside_of_the_working_copy_does_not_move_the_place_of_the_work() {
    let stage = committed();
    let folder = stage.root().join("fix");
    git(&stage, stage.shop(), &["worktree", "add", "-q", "-b", "fix", &folder.display().to_string()]);
    fs::create_dir_all(folder.join("src/deep")).expect("a folder");
    fs::write(folder.join("half.txt"), "half").expect("written");
    let elsewhere = stage.root().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    git(&stage, stage.root(), &["init", "-q", "lib"]);
    let lib = stage.root().join("lib");
    stage.terminal("Ann").within(&lib).json(&["init"]);
    let seen = stage.root().join("seen.json");
    let script = format!(
        "cd \"{}\" && \"$BATON\" checkpoint --summary half && cd \"{}\" && \"$BATON\" note there && \"$BATON\" --json sessions > \"{}\"",
        elsewhere.display(),
        lib.display(),
        seen.display()
    );
    let ann = stage.terminal("Ann").within(folder.join("src/deep"));
    ann.shell(&format!("\"$BATON\" run --as Ann -- sh -c '{script}'")).done();
    let history: Value =
        serde_json::from_str(&fs::read_to_string(&seen).expect("the tool ran")).expect("JSON");
    let roots: Vec<String> = items(&history).iter().map(|one| text(&one["place"], "root")).collect();
    assert_eq!(roots, [folder.display().to_string()], "{history:#}");
}

//! Commits and batons know each other: `baton why`, `baton log --commit`, and the trailer.

use std::fs;

use serde_json::{Value, json};

use crate::stage::{Stage, Terminal, ended_process, items, text};
use crate::worktrees::{committed, git, worktree};

/// A commit of a file with this text, in the stage's repository.
fn commit(stage: &Stage, text: &str, subject: &str) -> String {
    let shop = stage.shop();
    fs::write(shop.join("cart.py"), text).expect("written");
    git(stage, &shop, &["add", "cart.py"]);
    git(stage, &shop, &["commit", "-qm", subject]);
    git(stage, &shop, &["rev-parse", "HEAD"])
}

fn sessions(report: &Value, nth: usize) -> Vec<String> {
    let rows = report["commits"][nth]["sessions"].as_array().expect("sessions");
    rows.iter().map(|row| text(row, "identity")).collect()
}

#[test]
fn a_line_leads_to_the_session_that_changed_it_and_to_what_was_decided_there() {
    let stage = committed();
    let before = commit(&stage, "total = 1\n", "before anybody");
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    donna.json(&["decide", "round half up", "--why", "the bank does", "--rejected", "half even"]);
    let own = commit(&stage, "total = 1\nrounded = 2\n", "Round the cart");
    let packet = json!({ "summary": "the cart rounds", "requests": { "last": "Round the prices" },
        "decisions": [{ "what": "Round half up.", "why": "the bank does" }, { "what": "keep the total", "why": "it is asked for" }] });
    let packet = stage.file("packet.json", packet.to_string());
    let left = donna.json(&["wrap", "--packet", &packet]);
    let lola = stage.terminal("Lola");
    let line = lola.json(&["why", "cart.py:2"]);
    assert_eq!(line["commits"][0]["id"], json!(own));
    let row = &line["commits"][0]["sessions"][0];
    assert_eq!((text(row, "identity"), text(row, "request")), ("Donna".into(), "Round the prices".into()));
    assert_eq!(
        row["decisions"][0],
        json!({ "what": "round half up", "why": "the bank does", "rejected": ["half even"] })
    );
    let decided: Vec<String> =
        row["decisions"].as_array().expect("decisions").iter().map(|one| text(one, "what")).collect();
    assert_eq!(decided, ["round half up", "keep the total"], "each once");
    assert_eq!((&row["commits"][0]["id"], &row["left_baton_id"]), (&json!(own), &left["baton_id"]));
    let other = lola.json(&["why", "cart.py:1"]);
    assert_eq!((&other["commits"][0]["id"], sessions(&other, 0)), (&json!(before), vec![]));
    let whole = lola.json(&["why", "./cart.py"]);
    assert_eq!((sessions(&whole, 0), sessions(&whole, 1)), (vec!["Donna".to_owned()], vec![]));
    let shown = lola.text(&["why", "cart.py"]);
    for words in [
        "Round the cart",
        "made while Donna (human) alone was at work here, in session",
        "round half up, because the bank does; rejected: half even",
        "in no session",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let log = lola.json(&["log", "--commit", "HEAD"]);
    let kinds: Vec<String> = items(&log).iter().map(|row| text(row, "kind")).collect();
    assert_eq!(kinds, ["start", "decision", "wrap"]);
    lola.refused(3, "commit_unknown", &["log", "--commit", "HEAD~1"]);
}

#[test]
fn only_what_was_made_in_the_sessions_own_working_copy_counts() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    fs::write(beside.join("b.txt"), "b\n").expect("written");
    git(&stage, &beside, &["add", "b.txt"]);
    git(&stage, &beside, &["commit", "-qm", "by somebody else"]);
    let theirs = git(&stage, &beside, &["rev-parse", "HEAD"]);
    git(&stage, stage.shop(), &["merge", "-q", "--ff-only", "fix"]);
    let own = commit(&stage, "x\n", "by Donna");
    // Without a wrap, too.
    donna.json(&["end"]);
    let lola = stage.terminal("Lola");
    assert_eq!(sessions(&lola.json(&["why", "cart.py"]), 0), ["Donna"]);
    assert_eq!(sessions(&lola.json(&["why", "b.txt"]), 0), Vec::<String>::new());
    lola.refused(3, "commit_unknown", &["log", "--commit", &theirs]);
    assert!(!items(&lola.json(&["log", "--commit", &own[..9]])).is_empty());
}

#[test]
fn a_baton_and_a_thread_name_the_commits_of_their_sessions() {
    let stage = committed();
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    let first = commit(&stage, "1\n", "one");
    // Git's clock has seconds.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let made = [first, commit(&stage, "2\n", "two")];
    let left = text(&donna.json(&["wrap", "--summary", "s"]), "baton_id");
    let lola = stage.terminal("Lola");
    lola.json(&["pickup"]);
    let later = commit(&stage, "3\n", "three");
    let next = text(&lola.json(&["wrap", "--summary", "t"]), "baton_id");
    let of = |baton: &str| -> Vec<String> {
        let shown = lola.json(&["batons", "show", baton]);
        shown["commits"].as_array().expect("commits").iter().map(|one| text(one, "id")).collect()
    };
    assert_eq!((of(&left), of(&next)), (made.to_vec(), vec![later.clone()]));
    let shown = lola.text(&["batons", "show", &left]);
    assert!(shown.contains(&format!("{}, {}", &made[0][..12], &made[1][..12])), "{shown}");
    let thread = lola.json(&["sessions", "thread", &next]);
    let entries = thread["sessions"].as_array().expect("sessions").iter().flat_map(|one| {
        let entries = one["entries"].as_array().expect("entries");
        entries.iter().filter(|entry| entry["kind"] == "commit").map(|entry| text(entry, "text"))
    });
    assert_eq!(entries.collect::<Vec<_>>(), [made.to_vec(), vec![later.clone()]].concat());
    let shown = lola.text(&["sessions", "thread", &next]);
    assert!(shown.contains(&made[0][..7]) && shown.contains(&later[..7]), "{shown}");
    // A session without commits says nothing of them.
    lola.json(&["start"]);
    let empty = text(&lola.json(&["wrap", "--summary", "u"]), "baton_id");
    assert!(!lola.text(&["batons", "show", &empty]).contains("commits"));
}

#[test]
fn a_place_that_git_does_not_know_is_refused() {
    let stage = committed();
    let donna = stage.terminal("Donna");
    for (place, code) in
        [("no.py", "file_unknown"), ("no.py:3", "file_unknown"), ("/etc/passwd", "file_unknown")]
    {
        donna.refused(3, code, &["why", place]);
    }
    commit(&stage, "a\n", "a");
    donna.refused(3, "file_unknown", &["why", "cart.py:99"]);
    fs::write(stage.shop().join("cart.py"), "a\nb\n").expect("written");
    donna.refused(3, "not_committed", &["why", "cart.py:2"]);
    donna.refused(1, "commit_invalid", &["log", "--commit", "no-such"]);
}

#[test]
fn a_commit_names_the_baton_or_the_session_where_that_is_asked_for() {
    let stage = committed();
    let message = |revision: &str| git(&stage, stage.shop(), &["log", "-n1", "--format=%B", revision]);
    stage.terminal("Ann").json(&["start"]);
    // The hook finds the same ledger as every command in this terminal.
    let commit = |text: &str| {
        let script = format!(
            "printf '{text}' > cart.py && git add cart.py && git -c user.name=a -c user.email=a@b commit -qm '{text}'"
        );
        stage.terminal("Ann").shell(&script).done();
        git(&stage, stage.shop(), &["rev-parse", "HEAD"])
    };
    commit("1");
    assert!(!message("HEAD").contains("Baton:"));
    let made = stage.terminal("Ann").json(&["init", "--commit-trailer"]);
    assert!(text(&made, "commit_hook").contains("commit-msg"), "{made:#}");
    let id = commit("2");
    let ann = stage.terminal("Ann").json(&["status"])["sessions"][0]["session_id"].clone();
    assert!(
        message("HEAD").contains(&format!("Baton: {}", ann.as_str().expect("id"))),
        "{}",
        message("HEAD")
    );
    stage.terminal("Ann").json(&["end"]);
    commit("3");
    assert!(!message("HEAD").contains("Baton:"));
    // A rewritten commit has another id; its trailer still leads to the session.
    git(&stage, stage.shop(), &["checkout", "-q", "-b", "rewritten", &id]);
    git(
        &stage,
        stage.shop(),
        &["commit", "-q", "--amend", "--no-verify", "--date=2026-01-01T00:00:00Z", "--no-edit"],
    );
    assert_eq!(sessions(&stage.terminal("Lola").json(&["why", "cart.py:1"]), 0), ["Ann"]);
    stage.terminal("Ann").json(&["init", "--no-commit-trailer"]);
    let hook = stage.shop().join(".git/hooks/commit-msg");
    assert!(!hook.exists());
    fs::write(&hook, "#!/bin/sh\nexit 0\n").expect("written");
    stage.terminal("Ann").refused(4, "commit_hook_exists", &["init", "--commit-trailer"]);
    stage.terminal("Ann").json(&["init", "--no-commit-trailer"]);
    assert!(hook.exists(), "a hook of somebody else stays");
}

#[test]
fn a_file_that_was_renamed_keeps_its_history_and_an_open_session_its_newest_commit() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    let first = commit(&stage, "total = 1\nrounded = 2\ntax = 3\n", "Round the cart");
    donna.json(&["wrap", "--summary", "s"]);
    // Ann and Mina say nothing after their commits: their sessions are open.
    let ann = stage.terminal("Ann");
    let own = text(&ann.json(&["start"]), "session_id");
    stage.terminal("Mina").within(&beside).json(&["start"]);
    git(&stage, stage.shop(), &["mv", "cart.py", "basket.py"]);
    git(&stage, stage.shop(), &["commit", "-qm", "Rename the cart"]);
    let renamed = git(&stage, stage.shop(), &["rev-parse", "HEAD"]);
    fs::write(beside.join("b.txt"), "b\n").expect("written");
    git(&stage, &beside, &["add", "b.txt"]);
    git(&stage, &beside, &["commit", "-qm", "b"]);
    let lola = stage.terminal("Lola");
    let before = stage.deltas();
    let report = lola.json(&["why", "basket.py"]);
    let ids: Vec<String> =
        report["commits"].as_array().expect("commits").iter().map(|row| text(row, "id")).collect();
    assert_eq!(ids, [renamed.clone(), first.clone()]);
    assert_eq!(
        (sessions(&report, 0), sessions(&report, 1)),
        (vec!["Ann".to_owned()], vec!["Donna".to_owned()])
    );
    assert_eq!(report["commits"][0]["sessions"][0]["commits"][0]["id"], json!(renamed));
    assert_eq!(text(&lola.json(&["why", "basket.py:2"])["commits"][0], "id"), first, "the line is older");
    assert_eq!(
        sessions(&lola.within(&beside).json(&["why", "b.txt"]), 0),
        ["Mina"],
        "of another working copy"
    );
    let log = items(&lola.json(&["log", "--commit", "HEAD"]));
    assert!(log.iter().all(|row| row["session_id"] == json!(own)) && !log.is_empty(), "{log:#?}");
    assert_eq!(stage.deltas(), before, "a question writes nothing");
    ann.json(&["end"]);
    assert_eq!(sessions(&lola.json(&["why", "basket.py"]), 0), ["Ann"]);
    let nowhere = lola.within(stage.root());
    let refused = nowhere.refused(1, "commit_invalid", &["--project", "shop", "log", "--commit", "HEAD"]);
    assert!(refused.to_string().contains("git finds no commit `HEAD` here"), "{refused:#}");
}

#[test]
fn a_shallow_clone_says_that_its_history_is_cut_and_not_that_nobody_made_a_line() {
    let stage = committed();
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    commit(&stage, "total = 1\n", "first");
    commit(&stage, "total = 1\nrounded = 2\n", "second");
    commit(&stage, "total = 1\nrounded = 2\nsum = 3\n", "third");
    let from = format!("file://{}", stage.shop().display());
    git(&stage, stage.root(), &["clone", "-q", "--depth", "2", &from, "shallow"]);
    let lola = stage.terminal("Lola").within(stage.root().join("shallow"));
    lola.json(&["init", "--join", "shop"]);
    // The oldest commit that is there stands for every one before it.
    for (place, is_cut) in [("cart.py:1", true), ("cart.py:3", false), ("cart.py", true)] {
        let report = lola.json(&["why", place]);
        let last = report["commits"].as_array().and_then(|rows| rows.last().cloned()).expect("a commit");
        assert_eq!(last["is_cut"] == true, is_cut, "{place}: {report:#}");
        let shown = lola.text(&["why", place]);
        assert_eq!(shown.contains("git fetch --unshallow"), is_cut, "{place}: {shown}");
    }
    assert!(!donna.text(&["why", "cart.py:1"]).contains("unshallow"), "the whole history is here");
    git(&stage, stage.root().join("shallow"), &["fetch", "-q", "--unshallow"]);
    assert!(!lola.text(&["why", "cart.py:1"]).contains("unshallow"));
}

#[cfg(unix)]
#[test]
fn what_the_agent_of_a_run_commits_last_is_its_own_wherever_it_worked() {
    let stage = committed();
    const COMMIT: &str = "git add -A && git -c user.name=a -c user.email=a@b commit -qm";
    // The agent commits, saves what it did, and commits again; the second one goes on in a worktree.
    let beside = stage.root().join("beside");
    let script = format!(
        "echo 1 > one.txt && {COMMIT} one && \"$BATON\" checkpoint --summary c && echo 2 > two.txt && {COMMIT} two && \
         git worktree add -q -b fix {0} && cd {0} && echo 3 > three.txt && {COMMIT} three && \"$BATON\" checkpoint --summary c && \
         echo 4 > four.txt && {COMMIT} four",
        beside.display()
    );
    let run = format!("\"$BATON\" run --as Donna -- sh -c '{script}'");
    stage.bare().shell(&run).done();
    let lola = stage.terminal("Lola");
    for file in ["one.txt", "two.txt", "three.txt", "four.txt"] {
        assert_eq!(sessions(&lola.within(&beside).json(&["why", file]), 0), ["Donna"], "{file}");
    }
}

#[test]
fn a_commit_is_not_given_to_a_session_whose_process_had_ended() {
    let stage = committed();
    let pam = stage.terminal("Pam").with("BATON_PROCESS", ended_process());
    pam.json(&["start"]);
    let own = commit(&stage, "total = 1\n", "Pam's own");
    pam.json(&["note", "its last words"]);
    // The log of git has whole seconds.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let later = commit(&stage, "total = 1\nrounded = 2\n", "by hand");
    let lola = stage.terminal("Lola");
    let report = lola.json(&["why", "cart.py"]);
    let ids: Vec<&Value> = [0, 1].iter().map(|nth| &report["commits"][*nth]["id"]).collect();
    assert_eq!(ids, [&json!(later), &json!(own)]);
    assert_eq!((sessions(&report, 0), sessions(&report, 1)), (vec![], vec!["Pam".to_owned()]));
    assert!(lola.text(&["why", "cart.py:2"]).contains("made in no session"));
}

#[test]
fn of_two_who_share_a_working_copy_neither_is_said_to_have_made_the_commit() {
    // Whoever saves or ends first has noted the commit, and the other has not.
    const ENDS: [&[(&str, &[&str])]; 6] = [
        &[],
        &[("Ann", &["checkpoint", "--summary", "c"])],
        &[("Ben", &["wrap", "--summary", "w"])],
        &[("Ann", &["end"])],
        &[("Ann", &["wrap", "--summary", "w"]), ("Ben", &["wrap", "--summary", "w"])],
        &[
            ("Ann", &["end", "--session", "BEN", "--force", "--why", "gone"]),
            ("Ann", &["wrap", "--summary", "w"]),
        ],
    ];
    for ends in ENDS {
        let stage = committed();
        stage.terminal("Ann").json(&["start"]);
        let ben = text(&stage.terminal("Ben").json(&["start"]), "session_id");
        commit(&stage, "total = 1\n", "by one of them");
        for (who, words) in ends {
            let words: Vec<&str> =
                words.iter().map(|word| if *word == "BEN" { ben.as_str() } else { *word }).collect();
            stage.terminal(who).json(&words);
        }
        let shown = stage.terminal("Lola").text(&["why", "cart.py:1"]);
        assert!(shown.contains("made in one of 2 sessions"), "{ends:?}: {shown}");
        assert!(shown.contains("perhaps by Ann") && shown.contains("perhaps by Ben"), "{ends:?}: {shown}");
        assert!(!shown.contains("made by") && !shown.contains("alone"), "{ends:?}: {shown}");
    }
}

#[test]
fn a_commit_of_a_person_or_of_another_agent_gets_no_ones_trailer() {
    let stage = committed();
    let bob = stage.terminal("Bob");
    bob.json(&["init", "--commit-trailer"]);
    let own = text(&bob.json(&["start"]), "session_id");
    let by = |terminal: Terminal<'_>, name: &str| {
        let script = format!(
            "echo {name} > {name} && git add {name} && git -c user.name=a -c user.email=a@b commit -qm '{name}'"
        );
        terminal.shell(&script).done();
        git(&stage, stage.shop(), &["log", "-n1", "--format=%(trailers:key=Baton,valueonly)"])
    };
    let ann = stage.terminal("Ann");
    let ended = text(&ann.json(&["start"]), "session_id");
    assert_eq!(by(stage.terminal("Ann"), "anns.txt"), ended);
    ann.json(&["end"]);
    assert_eq!(by(stage.bare().with("BATON_PROCESS", "another"), "persons.txt"), "");
    assert_eq!(by(stage.terminal("Cat"), "cats.txt"), "", "an agent without a session");
    let late = stage.terminal("Ann").with("BATON_SESSION", &ended);
    assert_eq!(by(late, "late.txt"), "", "of one that has ended");
    assert_eq!(by(stage.terminal("Bob"), "bobs.txt"), own);
    bob.json(&["checkpoint", "--summary", "c"]);
    let lola = stage.terminal("Lola");
    assert!(lola.text(&["why", "bobs.txt:1"]).contains("made by Bob"));
    for file in ["persons.txt", "cats.txt", "late.txt"] {
        let shown = lola.text(&["why", &format!("{file}:1")]);
        assert!(!shown.contains("made by"), "{file}: {shown}");
        assert_eq!(lola.json(&["why", file])["commits"][0]["evidence"], "open_session", "{file}");
    }
}

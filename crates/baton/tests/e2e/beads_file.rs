//! The Beads file beside other writers: their damaged lines stop nothing, and no two of them are given the same task.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::stage::{Answer, Stage, Terminal};

const MIRROR: &str = "[tasks]\nmirror = \".beads/issues.jsonl\"\n";

fn line(id: &str, more: &str) -> String {
    format!(
        r#"{{"id":"{id}","title":"t","status":"open","priority":2,"issue_type":"task","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"{more}}}"#
    )
}

fn ids(answer: &Answer) -> Vec<String> {
    let items = answer.json();
    items.as_array().into_iter().flatten().filter_map(|item| item["id"].as_str().map(str::to_owned)).collect()
}

fn has(file: &[u8], part: &[u8]) -> bool {
    file.split(|byte| *byte == b'\n').any(|line| line == part)
}

#[test]
fn a_line_that_cannot_be_read_is_named_and_stays_and_the_others_go_on() {
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", MIRROR);
    let long = format!(r#"{{"id":"x-long","title":"{}"}}"#, "x".repeat(17 * 1024 * 1024));
    let bad: Vec<Vec<u8>> = vec![
        line("--help", "").into_bytes(),
        line("../x", "").into_bytes(),
        line("x-2", r#","priority":"high""#).into_bytes(),
        line("x-2", r#","title":"twice""#).into_bytes(),
        b"{\"id\":\"x-3\",\"title\":\"\xff\"}".to_vec(),
        format!(r#"{{"id":"x-4","deep":{}"#, "[".repeat(100_000)).into_bytes(),
        long.into_bytes(),
        line("x-5", "").replace("2026-01-01T00:00:00Z", "someday").into_bytes(),
    ];
    let mut text = format!("\u{feff}{}\r\n", line("x-1", "")).into_bytes();
    for line in &bad {
        text.extend(line);
        text.push(b'\n');
    }
    text.extend(
        line("x-9", r#","updated_at_":1"#)
            .replace("\"updated_at\":\"2026-01-01", "\"updated_at\":\"9999-12-31")
            .into_bytes(),
    );
    let file = stage.file("shop/.beads/issues.jsonl", "");
    fs::write(&file, &text).expect("written");
    let ann = stage.terminal("Ann");
    let listed = ann.run(&["bd", "list", "--json"]).done();
    assert_eq!(ids(&listed).into_iter().collect::<BTreeSet<_>>(), ["x-1", "x-9"].map(str::to_owned).into());
    for number in 2..=9 {
        assert!(listed.err.contains(&format!("line {number}")), "{number}: {}", listed.err);
    }
    for args in
        [&["bd", "update", "x-1", "--priority", "0", "--json"][..], &["bd", "create", "new", "--json"]]
    {
        let done = ann.run(args).done();
        assert!(!done.err.contains("line "), "it is named once: {}", done.err);
        let now = fs::read(&file).expect("the file");
        for line in &bad {
            assert!(has(&now, line), "{:?}", String::from_utf8_lossy(&line[..line.len().min(60)]));
        }
        let lines = now.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
        assert_eq!(lines, bad.len() + 2 + usize::from(args[1] == "create"));
    }
    // What is mended is taken in.
    let now = fs::read(&file).expect("the file");
    let mended = now.split(|byte| *byte == b'\n').filter(|found| !bad[1..].iter().any(|line| line == found));
    let mended = mended.collect::<Vec<_>>().join(&b'\n');
    fs::write(&file, [mended, line("x-3", "").into_bytes()].concat()).expect("written");
    let listed = ann.run(&["bd", "list", "--json"]).done();
    assert!(ids(&listed).contains(&"x-3".to_owned()), "{}", listed.out);
    assert_eq!(ann.json(&["bd", "show", "x-1"])[0]["priority"], 0);
}

#[test]
fn another_file_takes_no_memory_and_no_line_of_another_kind_away() {
    const MEMORY: &str = r#"{"_type":"memory","key":"k","value":"v"}"#;
    const FUTURE: &str = r#"{"_type":"future","x":1}"#;
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", MIRROR);
    let file = stage.file("shop/.beads/issues.jsonl", format!("{}\n{MEMORY}\n{FUTURE}\n", line("x-1", "")));
    let ann = stage.terminal("Ann");
    ann.run(&["bd", "list"]).done();
    let lines_of = |of: &[&str]| {
        let (read, shown) = (fs::read(&file).expect("read"), ann.run(&["bd", "export"]).done().out);
        for line in of {
            assert!(has(&read, line.as_bytes()) && has(shown.as_bytes(), line.as_bytes()), "{line}: {shown}");
        }
        shown
    };
    let other = stage.file("shop/other.jsonl", line("x-2", ""));
    for args in [["bd", "import", &other].as_slice(), &["import", "beads", &other]] {
        ann.run(args).done();
        lines_of(&[MEMORY, FUTURE]);
    }
    ann.feed(line("x-3", "").as_bytes(), &["bd", "import", "-"]).done();
    lines_of(&[MEMORY, FUTURE]);
    // What it has is added; a memory of the same key takes the place of the one before.
    let more = [MEMORY.replace("\"v\"", "\"w\""), r#"{"_type":"future","x":2}"#.to_owned()];
    stage.file("shop/other.jsonl", more.join("\n"));
    ann.run(&["bd", "import", &other]).done();
    let shown = lines_of(&[FUTURE, &more[0], &more[1]]);
    assert!(!shown.contains(MEMORY), "{shown}");
    // The project's own file says what was taken out of it.
    let text = fs::read_to_string(&file).expect("read").replace(&format!("{FUTURE}\n"), "");
    fs::write(&file, text).expect("written");
    ann.run(&["bd", "import", &file]).done();
    let shown = ann.run(&["bd", "export"]).done().out;
    assert!(!shown.contains(FUTURE) && shown.contains(&more[1]), "{shown}");
}

#[test]
fn two_homes_on_one_working_copy_never_claim_the_same_task() {
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", MIRROR);
    let lines: Vec<String> = (0..20).map(|n| line(&format!("x-{n}"), "") + "\n").collect();
    stage.file("shop/.beads/issues.jsonl", lines.concat());
    let home = |number: usize, name: &str| -> Terminal<'_> {
        let terminal = stage.terminal(name);
        let home = stage.root().join(format!("home-{number}"));
        fs::create_dir_all(&home).expect("a home");
        terminal.with("HOME", &home).with("XDG_DATA_HOME", home.join("data"))
    };
    for number in 0..2 {
        home(number, "Setup").json(&["init"]);
    }
    let claims: Vec<_> =
        (0..40).map(|n| home(n % 2, &format!("Agent{n}")).spawn(&["task", "claim", "--json"])).collect();
    let answers: Vec<Value> =
        claims.into_iter().map(|child| Answer::of(child, &["task claim"]).done().json()).collect();
    let given: Vec<&str> = answers.iter().filter_map(|answer| answer["task"]["id"].as_str()).collect();
    let different: BTreeSet<&str> = given.iter().copied().collect();
    assert_eq!((given.len(), different.len()), (20, 20), "{given:?}");
    // The same for one that is named.
    stage.file("shop/.beads/issues.jsonl", lines.concat().replace("\"x-", "\"y-"));
    for n in 0..4 {
        let id = format!("y-{n}");
        let both = [0, 1]
            .map(|number| home(number, &format!("Named{number}")).spawn(&["task", "claim", &id, "--json"]));
        let codes = both.map(|child| Answer::of(child, &["task claim"]).code);
        assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{id}: {codes:?}");
    }
}

/// A worker gets its task from the route operation, which gives it out under the turn at the file as a claim does.
#[cfg(unix)]
#[test]
fn workers_of_two_homes_on_one_working_copy_never_run_the_same_task() {
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", MIRROR);
    let home = |number: usize, name: &str| -> Terminal<'_> {
        let home = stage.root().join(format!("home-{number}"));
        fs::create_dir_all(&home).expect("a home");
        stage.terminal(name).with("HOME", &home).with("XDG_DATA_HOME", home.join("data"))
    };
    (0..2).for_each(|number| _ = home(number, "Setup").json(&["init"]));
    for n in 0..6 {
        home(0, "Setup").run(&["bd", "create", &format!("t{n}"), "--agent-role", "implementation"]).done();
    }
    home(1, "Setup").json(&["task", "list"]);
    let log = stage.root().join("log");
    let script = format!("echo $BATON_TASK >> '{}'; sleep 0.5", log.display());
    let worker = |number: usize| {
        let name = format!("Worker{number}");
        let args =
            ["work", "--role", "implementation", "--as", &name, "--poll", "300ms", "--", "sh", "-c", &script];
        let mut command = home(number, &name).command(&args);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        command.spawn().expect("a worker")
    };
    let _crew = crate::work::Crew(vec![worker(0), worker(1)]);
    let (began, limit) = (std::time::Instant::now(), std::time::Duration::from_secs(90));
    let is_closed = |task: &Value| task["status"] == "closed";
    loop {
        let tasks = home(0, "Setup").json(&["task", "list", "--all"]);
        if tasks["items"].as_array().is_some_and(|all| all.len() == 6 && all.iter().all(is_closed)) {
            break;
        }
        assert!(began.elapsed() < limit, "{tasks:#}");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    let log = fs::read_to_string(log).expect("what ran");
    let (ran, different) = (log.lines().count(), log.lines().collect::<BTreeSet<_>>().len());
    assert_eq!((ran, different), (6, 6), "{log}");
}

#[test]
fn what_two_homes_add_to_the_notes_at_once_is_all_there() {
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", MIRROR);
    let home = |number: usize| -> Terminal<'_> {
        let home = stage.root().join(format!("home-{number}"));
        fs::create_dir_all(&home).expect("a home");
        stage.terminal(&format!("Agent{number}")).with("HOME", &home).with("XDG_DATA_HOME", home.join("data"))
    };
    (0..2).for_each(|number| _ = home(number).json(&["init"]));
    let id = home(0).json(&["task", "create", "beta"])["id"].as_str().expect("an id").to_owned();
    home(1).json(&["task", "list"]);
    let lines: Vec<String> = (0..12).map(|n| format!("line {n}")).collect();
    let adds: Vec<_> = (0..12)
        .map(|n| home(n % 2).spawn(&["task", "update", &id, "--append-notes", &lines[n], "--json"]))
        .collect();
    for child in adds {
        Answer::of(child, &["task update"]).done();
    }
    (0..2).for_each(|number| _ = home(number).json(&["task", "list"]));
    let written = home(0).json(&["task", "show", &id, "--full"]);
    let notes: BTreeSet<&str> = written["notes"].as_str().expect("notes").lines().collect();
    assert_eq!(notes, lines.iter().map(String::as_str).collect());
    assert_eq!(home(1).json(&["task", "show", &id, "--full"])["notes"], written["notes"]);
}

#[test]
fn parts_that_two_homes_on_one_working_copy_create_at_once_have_an_id_each() {
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", MIRROR);
    let home = |number: usize| -> Terminal<'_> {
        let home = stage.root().join(format!("home-{number}"));
        fs::create_dir_all(&home).expect("a home");
        stage.terminal(&format!("Agent{number}")).with("HOME", &home).with("XDG_DATA_HOME", home.join("data"))
    };
    (0..2).for_each(|number| _ = home(number).json(&["init"]));
    let whole =
        home(0).json(&["task", "create", "whole", "-t", "epic"])["id"].as_str().expect("an id").to_owned();
    let titles: Vec<String> = (0..16).map(|n| format!("part {n}")).collect();
    let parts: Vec<_> = (0..16)
        .map(|n| home(n % 2).spawn(&["task", "create", &titles[n], "--parent", &whole, "--json"]))
        .collect();
    let ids: BTreeSet<String> = parts
        .into_iter()
        .map(|child| Answer::of(child, &["task create"]).json()["id"].as_str().expect("an id").to_owned())
        .collect();
    assert_eq!(ids.len(), 16, "{ids:?}");
    for number in 0..2 {
        let all = home(number).json(&["task", "list", "--all"]);
        let there: BTreeSet<&str> = all["items"]
            .as_array()
            .expect("tasks")
            .iter()
            .filter_map(|task| task["title"].as_str())
            .collect();
        assert!(titles.iter().all(|title| there.contains(title.as_str())), "{there:?}");
    }
}

/// What a restore takes back in the ledger, the file has still.
#[test]
fn a_store_that_went_back_takes_in_what_the_file_has() {
    let stage = Stage::in_a_file("a restore is about the file").registered();
    stage.file("shop/.baton.toml", MIRROR);
    let lola = stage.terminal("Lola");
    lola.json(&["task", "create", "before"]);
    let backup = stage.root().join("b.db").display().to_string();
    lola.json(&["backup", &backup]);
    lola.json(&["task", "create", "after"]);
    let file = stage.root().join("shop/.beads/issues.jsonl");
    let before = fs::read_to_string(&file).expect("the file");
    assert_eq!(before.lines().count(), 2);
    lola.json(&["restore", "--yes", &backup]);
    let titles = |answer: serde_json::Value| answer["items"].as_array().map_or(0, Vec::len);
    assert_eq!(titles(lola.json(&["task", "list"])), 2, "the newer task is taken in");
    assert_eq!(fs::read_to_string(&file).expect("the file"), before);
    // A new store under the same name knows nothing of the file either.
    for side in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{side}", stage.store().display()));
    }
    lola.json(&["init"]);
    assert_eq!(titles(lola.json(&["task", "list"])), 2, "a new store takes the file in");
    assert_eq!(fs::read_to_string(&file).expect("the file").lines().count(), 2);
}

#[test]
fn a_file_of_the_users_own_settings_holds_the_tasks_of_one_project() {
    let stage = Stage::ready();
    let vault = stage.repo("vault");
    let ann = stage.terminal("Ann");
    ann.within(&vault).json(&["init", "--id", "vault", "--isolated"]);
    let file = stage.root().join("issues.jsonl");
    stage.file("home/config/baton/config.toml", format!("[tasks]\nmirror = \"{}\"\n", file.display()));
    ann.within(&vault).run(&["task", "create", "VAULT SECRET"]).done();
    let there = ann.run(&["task", "create", "SHOP1"]).done();
    assert!(
        there.err.contains("is in step with project vault, and so not with shop")
            && there.err.contains("mirror = true"),
        "{}",
        there.err
    );
    let titles =
        |answer: &Answer| answer.out.matches("SHOP1").count() + 2 * answer.out.matches("VAULT").count();
    assert_eq!(titles(&ann.run(&["task", "list"]).done()), 1);
    assert_eq!(titles(&ann.within(&vault).run(&["task", "list"]).done()), 2);
    assert!(!fs::read_to_string(&file).expect("written").contains("SHOP1"));
    // A file that was moved away begins anew.
    fs::remove_file(&file).expect("removed");
    ann.run(&["task", "create", "SHOP2"]).done();
    assert!(fs::read_to_string(&file).expect("written").contains("SHOP2"));
}

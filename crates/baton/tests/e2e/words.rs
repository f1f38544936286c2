//! What people read, kept as snapshots: a change of words is seen in review.

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::stage::{Stage, Terminal};

/// Replaces what differs from run to run: folders, ids, times, ages.
pub(crate) fn steady(text: &str, stage: &Stage) -> String {
    let text = stage
        .as_with_a_file(text)
        .replace(&stage.home().display().to_string(), "«home»")
        .replace(&stage.root().display().to_string(), "«root»")
        .replace("just now", "«age»");
    let mut output = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.' | '_') {
            word.push(c);
            continue;
        }
        output.push_str(&steady_word(&word));
        word.clear();
        output.push(c);
    }
    output.pop();
    output.replace("«age» ago", "«age»")
}

/// A word, unless it is an id or a time.
fn steady_word(word: &str) -> String {
    let shape: String = word.chars().map(|c| if c.is_ascii_hexdigit() { 'x' } else { c }).collect();
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let age = word.strip_suffix(['s', 'm', 'h']).is_some_and(digits);
    // Sizes grow with the length of the temporary folder's name.
    let number = word.len() > 4 && digits(word.trim_start_matches(':'));
    match shape.as_str() {
        "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" => "«id»".to_owned(),
        "xxxxxxxx-xxxx" => "«short»".to_owned(),
        _ if word.len() >= 20 && word.contains('T') && word.ends_with('Z') => "«time»".to_owned(),
        _ if age => "«age»".to_owned(),
        _ if number => ":«n»".to_owned(),
        _ if word.starts_with("shop-") && word.len() == 9 => "shop-«task»".to_owned(),
        _ if word.starts_with("lib-") && word.len() == 8 => "lib-«task»".to_owned(),
        _ if word.contains("baton-demo-") => "«demo»".to_owned(),
        _ => word.to_owned(),
    }
}

/// A command as it is typed, and everything that it says.
fn told(terminal: &Terminal<'_>, stage: &Stage, args: &[&str]) -> String {
    let answer = terminal.run(args);
    let mut text = format!("$ baton {}\n{}", args.join(" "), answer.out);
    for line in answer.err.lines() {
        let _ = writeln!(text, "! {line}");
    }
    if answer.code != 0 {
        let _ = writeln!(text, "exit {}", answer.code);
    }
    steady(&text, stage) + "\n"
}

/// The commands that a help text lists: under one heading, or in the overview under those of the groups.
pub(crate) fn commands(help: &str) -> Vec<String> {
    let overview = help.contains("\nDaily:\n");
    let listed = help
        .lines()
        .skip_while(|line| *line != if overview { "Daily:" } else { "Commands:" })
        .take_while(|line| if overview { !line.starts_with("Topics for") } else { !line.is_empty() })
        .filter(|line| !line.ends_with(':') || line.starts_with(' '));
    listed
        .filter_map(|line| {
            line.strip_prefix("  ")?.split(' ').next().filter(|w| !w.is_empty()).map(str::to_owned)
        })
        .collect()
}

#[test]
fn help_of_every_command() {
    let stage = Stage::new();
    let lola = stage.terminal("Lola").with("COLUMNS", "100");
    let mut whole = String::new();
    let mut paths: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(path) = paths.pop() {
        let args: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
        let help = lola.text(&args);
        let _ = writeln!(whole, "──── baton {}\n{help}", args.join(" "));
        let below = commands(&help).into_iter().rev();
        paths.extend(below.map(|name| path.iter().cloned().chain([name]).collect()));
    }
    assert!(!stage.has_store(), "help opens nothing");
    assert_snapshot!(whole);
}

#[test]
fn a_day_as_people_read_it() {
    let stage = Stage::new();
    let (lola, donna) = (stage.terminal("Lola"), stage.terminal("Donna"));
    let packet = stage.file(
        "packet.json",
        r#"{"summary": "The cart adds up.\nTaxes are next.", "next_steps": ["add taxes"], "decisions": [{"what": "integers for money", "why": "floats drift"}],
           "files_modified": [{"path": "cart.py", "change": "modified"}], "commands": [{"command": "pytest", "exit_code": 1}], "focus": ["cart"]}"#,
    );
    let mut day = String::new();
    for (who, args) in [
        (&lola, &["status"][..]),
        (&lola, &["init"]),
        (&lola, &["start"]),
        (&lola, &["start"]),
        (&lola, &["task", "create", "add taxes", "-l", "cart"]),
        (&lola, &["signal", "send", "--to", "Donna", "taxes are yours"]),
        (&lola, &["decide", "integers for money", "--why", "floats drift"]),
        (&lola, &["checkpoint", "--summary", "half way"]),
        (&lola, &["status"]),
        (&donna, &["pickup"]),
        (&lola, &["wrap", "--packet", &packet]),
        (&donna, &["status"]),
        (&donna, &["pickup"]),
        (&donna, &["status"]),
        (&lola, &["pickup"]),
        (&donna, &["end"]),
        (&lola, &["log"]),
        (&lola, &["doctor"]),
        (&lola, &["start", "--as", "two\nlines"]),
    ] {
        day.push_str(&told(who, &stage, args));
    }
    assert_snapshot!(day);
}

#[test]
fn tasks_as_people_read_them() {
    let stage = Stage::ready();
    let (ann, bob) = (stage.terminal("Ann"), stage.terminal("Bob"));
    ann.json(&["task", "create", "Detect the mode", "--id", "shop-1", "--agent-role", "implementation"]);
    ann.json(&[
        "task",
        "create",
        "TEST: Detect the mode",
        "--id",
        "shop-2",
        "--agent-role",
        "testing",
        "--deps",
        "shop-1",
    ]);
    ann.json(&[
        "task",
        "create",
        "Write the handbook",
        "--id",
        "shop-3",
        "-t",
        "chore",
        "-p",
        "3",
        "-l",
        "docs,later",
    ]);
    let long = format!(r#"{{"test_command": "./test.sh", "log": "{}"}}"#, "line ".repeat(900));
    let mut told_all = String::new();
    for (who, args) in [
        (&ann, &["task"][..]),
        (&bob, &["task", "claim", "shop-2"]),
        (&bob, &["task", "claim", "shop-1"]),
        (&ann, &["task", "claim", "shop-1"]),
        (&ann, &["task", "update", "shop-1", "--priority", "0"]),
        (&bob, &["task", "update", "shop-1", "--priority", "0", "--token", "9"]),
        (&bob, &["task", "update", "shop-1", "--agent-context", "{no"]),
        (&ann, &["task", "dep", "add", "shop-1", "shop-2"]),
        (&ann, &["task", "dep", "tree", "shop-2"]),
        (&ann, &["task", "blocked"]),
        (&ann, &["task"]),
        (&bob, &["task", "close", "shop-1", "--reason", "done", "--context", &long]),
        (&ann, &["task", "show", "shop-2"]),
        (&ann, &["task", "list", "-n", "1"]),
        (&ann, &["task", "update", "shop-3", "--status", "opened"]),
        (&ann, &["bd", "show", "shop-3"]),
    ] {
        told_all.push_str(&told(who, &stage, args));
    }
    let told_all = told_all.replace(&long, "«long»").replace(&"line ".repeat(20), "«…»");
    assert_snapshot!(told_all);
}

#[test]
fn routing_as_people_read_it() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let make = |id: &str, title: &str, more: &[&str]| {
        ann.json(&[&["task", "create", title, "--id", id], more].concat());
    };
    make("shop-1", "Test the cart", &["--agent-role", "testing", "--tags", "rust,carts", "-p", "1"]);
    make("shop-2", "Mend the till", &["--agent-role", "fixing"]);
    make("shop-3", "Write the handbook", &["-p", "3"]);
    make("shop-4", "Prove the rounding", &["--agent-role", "verification", "-p", "4"]);
    make("shop-5", "Sweep the floor", &["--defer", "3d"]);
    let tess = stage.terminal("Tess");
    tess.json(&["agent", "register", "--role", "testing", "--skill", "rust", "--max-tasks", "2"]);
    stage
        .terminal("Theo")
        .json(&["agent", "register", "--role", "testing", "--skill", "carts", "--skill", "rust"]);
    stage.terminal("Tom").json(&["agent", "register", "--role", "testing", "--skill", "cobol"]);
    stage.terminal("Gil").json(&["agent", "register"]);
    let vera = stage.terminal("Vera").with("BATON_ROUTE_MAX_ATTEMPTS", "1");
    let mut day = String::new();
    for (who, args) in [
        (&ann, &["route", "--explain"][..]),
        (&ann, &["route", "--explain", "shop-1"]),
        (&ann, &["route", "--explain", "shop-3"]),
        (&ann, &["route", "--dry-run", "--role", "testing"]),
        (&ann, &["route"]),
        (&ann, &["route", "--explain", "shop-1"]),
        (&vera, &["--json", "work", "--role", "verification", "--once", "--", "sh", "-c", "exit 3"]),
        (&vera, &["route"]),
        (&ann, &["task"]),
        (&ann, &["mail", "inbox", "--as", "human", "--bodies"]),
        (&ann, &["task", "show", "shop-4"]),
    ] {
        // What a worker's command says is told elsewhere.
        let text = told(who, &stage, args);
        day.push_str(if args.contains(&"work") { "(Vera tries shop-4 and fails)\n\n" } else { &text });
    }
    assert_snapshot!(day);
}

#[test]
fn mail_as_people_read_it() {
    let stage = Stage::ready();
    let (lola, tess) = (stage.terminal("Lola"), stage.terminal("Tess"));
    let mut day = String::new();
    for (who, args) in [
        (&tess, &["agent", "list"][..]),
        (&tess, &["agent", "register", "--role", "testing", "--skill", "rust", "--program", "codex"]),
        (&lola, &["agent", "register", "--role", "tseting"]),
        (&lola, &["agent", "register", "--role", "implementation"]),
        (&lola, &["agent", "list"]),
        (&lola, &["agent", "roles"]),
        (&tess, &["mail", "inbox"]),
        (&lola, &["mail", "send", "--to", "Tes", "--subject", "cart"]),
        (&lola, &["mail", "send", "--to", "Zoe", "--subject", "welcome", "--wait"]),
        (
            &lola,
            &[
                "mail",
                "send",
                "--to",
                "Tess",
                "--subject",
                "cart",
                "--text",
                "It adds up.\nTaxes are next.",
                "--importance",
                "high",
            ],
        ),
        (&lola, &["mail", "send", "--to", "role:testing", "--subject", "please test", "--ack"]),
        (
            &lola,
            &[
                "mail",
                "send",
                "--to",
                "Tess",
                "--type",
                "task_handoff",
                "--text",
                "{\"task_id\": \"shop-1\", \"handoff_type\": \"implementation_to_testing\", \"context\": {\"work_completed\": \"rounding\"}}",
            ],
        ),
        (
            &lola,
            &[
                "mail",
                "send",
                "--to",
                "Tess",
                "--type",
                "task_handoff",
                "--text",
                "{\"context\": {\"files_modified\": [1]}}",
            ],
        ),
        (&tess, &["mail", "inbox"]),
        (&lola, &["mail", "search", "taxes"]),
        (&tess, &["mail", "inbox", "--bodies"]),
        (&lola, &["mail", "send", "--to", "Tess", "--subject", "access", "--text", "secret", "--sensitive"]),
        (&lola, &["lease", "take", "src/", "--why", "the parser"]),
        (&tess, &["lease", "take", "src/cart.py"]),
        (&tess, &["lease", "take", "src/cart.py", "--advisory"]),
        (&tess, &["lease", "list"]),
        (&lola, &["lease", "release"]),
        (&tess, &["key", "list"]),
    ] {
        day.push_str(&told(who, &stage, args));
    }
    assert_snapshot!(day);
}

#[test]
fn the_demo_tells_one_whole_story() {
    let stage = Stage::new();
    let begin = Instant::now();
    let lola = stage.terminal("Lola");
    let answer = lola.run(&["demo"]).done();
    assert!(begin.elapsed() < Duration::from_secs(20), "seconds: {:?}", begin.elapsed());
    let left: Vec<_> =
        fs::read_dir(stage.root()).expect("root").filter_map(|e| Some(e.ok()?.file_name())).collect();
    assert!(left.iter().all(|name| name == "home" || name == "shop"), "nothing is left behind: {left:?}");
    assert!(!stage.has_store(), "the user's own store is not touched");
    for word in ["[redacted:", "byte for byte", "baton_claimed"] {
        assert!(answer.out.contains(word), "{word}: {}", answer.out);
    }
    assert!(!answer.out.contains("ghp_") && !answer.out.contains("sk-"), "{}", answer.out);
    // The story happened so many minutes ago, give or take the time that a busy machine needs.
    let minutes = |text: String, n: u32| text.replace(&format!("({n} minutes "), "(«n» minutes ");
    let story = (1..60).fold(steady(&answer.out, &stage), minutes);
    let (before, after) = story.split_once(", about ").expect("a size");
    let after = after.split_once(' ').expect("a size").1;
    assert_snapshot!(format!("{before}, about «n» {after}"));
    assert!(lola.json(&["demo"])["steps"].as_array().is_some_and(|steps| steps.len() >= 5));
}

#[test]
fn the_demo_across_projects_tells_the_round_trip() {
    let stage = Stage::new();
    let lola = stage.terminal("Lola");
    let answer = lola.run(&["demo", "--cross-project"]).done();
    let left: Vec<_> =
        fs::read_dir(stage.root()).expect("root").filter_map(|e| Some(e.ok()?.file_name())).collect();
    assert!(left.iter().all(|name| name == "home" || name == "shop"), "nothing is left behind: {left:?}");
    assert!(!stage.has_store(), "the user's own store is not touched");
    let words = [
        "gh-acme/lib-1 ",
        "closed as completed",
        "accepted by Bob",
        "completed: merged",
        "\n0 requests left",
    ];
    for word in words {
        assert!(answer.out.contains(word), "{word}: {}", answer.out);
    }
    assert_snapshot!(cross_story(&answer.out, &stage));
    let demo = lola.json(&["demo", "--cross-project"]);
    assert!(demo["steps"].as_array().is_some_and(|steps| steps.len() >= 8) && demo["handoff_id"].is_string());
}

/// The story without the emulator's port and the ids in hidden lines.
fn cross_story(text: &str, stage: &Stage) -> String {
    let story = steady(text, stage);
    let mut output = String::new();
    for line in story.lines() {
        let line = match (line.find("<!-- baton:"), line.find("http://127.0.0.1:")) {
            (Some(at), _) => format!("{}<!-- «hidden» -->", &line[..at]),
            (_, Some(at)) => {
                let rest = line[at + 17..].trim_start_matches(|c: char| c.is_ascii_digit());
                format!("{}http://«hub»{rest}", &line[..at])
            }
            _ => line.to_owned(),
        };
        output.push_str(&line);
        output.push('\n');
    }
    output
}

#[test]
fn what_is_not_there_as_people_read_it() {
    let stage = Stage::ready();
    let lib = stage.repo("lib");
    stage.terminal("Setup").within(&lib).json(&["init"]);
    let (ann, bob) = (stage.terminal("Ann"), stage.terminal("Bob").within(&lib));
    let mut text = String::new();
    for title in ["one", "two"] {
        let task = ann.json(&["task", "create", title]);
        ann.json(&["task", "close", task["id"].as_str().expect("an id"), "--reason", "done"]);
    }
    let made = ann.json(&[
        "handoff",
        "create",
        "--to",
        "lib",
        "--subject",
        "Add rounding",
        "--description",
        "Half up",
        "--local",
    ]);
    let id = made["handoff_id"].as_str().expect("an id").to_owned();
    for (who, args) in [
        (&ann, &["task", "list"][..]),
        (&ann, &["task", "list", "--status", "all"]),
        (&ann, &["task", "list", "--priority", "0", "--label", "tax,law"]),
        (&ann, &["task", "list", "--label", "tax", "--all"]),
        (&ann, &["task", "list", "--priority", "2"]),
        (&ann, &["batons"]),
        (&ann, &["batons", "--state", "held", "--to", "role:tester"]),
        (&ann, &["handoff", "list", "--to", "Zoe"]),
        (&ann, &["log", "-n", "2"]),
        (&ann, &["handoff", "list", "--all"]),
        (&ann, &["memory", "search", "zzz"]),
        (&ann, &["memory", "search", "zzz", "--kind", "decision", "--tag", "tax"]),
        (&ann, &["mail", "search", "zzz"]),
        (&ann, &["signal", "list"]),
        (&ann, &["start"]),
        (&bob, &["pickup"]),
    ] {
        text.push_str(&told(who, &stage, args));
    }
    let _ =
        writeln!(text, "$ baton handoff show ID\n{}", steady(&bob.text(&["handoff", "show", &id]), &stage));
    assert_snapshot!(text);
    let first = ann.run(&["token", "create", "--name", "all"]).done();
    assert!(first.err.contains("this is the first token: from now on every request"), "{first:#?}");
    let second = ann.run(&["token", "create", "--only", "shop", "--name", "shop"]).done();
    assert!(!second.err.contains("first token"), "{second:#?}");
    let doctor = ann.text(&["doctor"]);
    assert!(
        doctor.contains("access tokens that reach every project: all; `baton token create --only PROJECT`"),
        "{doctor}"
    );
}

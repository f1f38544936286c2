//! Tasks as a shell meets them: `baton task`, `bd`, the Beads file.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::stage::{Answer, BATON, Stage, Terminal, env, text};

/// Runs `bd` with these arguments.
fn bd(who: &Terminal<'_>, args: &[&str]) -> Answer {
    who.run(&["bd"].iter().chain(args).copied().collect::<Vec<_>>())
}

fn bd_json(who: &Terminal<'_>, args: &[&str]) -> Value {
    let args: Vec<&str> = args.iter().chain(&["--json"]).copied().collect();
    bd(who, &args).done().json()
}

fn ids(list: &Value) -> Vec<String> {
    list.as_array().expect("a bare array").iter().map(|issue| text(issue, "id")).collect()
}

/// The seed's script, word for word where it names commands.
const SEED: &str = r#"set -e
impl=$("$BATON" bd create "Task 1.1: Detect operating mode" -p 1 --silent)
"$BATON" bd update "$impl" --agent-role implementation --estimated-duration 120 --silent
"$BATON" bd update "$impl" --tags "python,mcp,backend" --silent
test=$("$BATON" bd create "TEST: Task 1.1" -p 1 --deps "discovered-from:$impl" --silent)
"$BATON" bd update "$test" --agent-role testing --estimated-duration 30 --silent
"$BATON" bd update "$impl" --agent-context '{"previous_agent": "me", "work_completed": "X"}' --json > /dev/null
"$BATON" bd update "$impl" --handoff-instructions '{"next_role": "testing", "notes": "Run test-x.sh"}' --json > /dev/null
"$BATON" bd update "$impl" --context '{"key": "value"}' --merge --silent
"$BATON" bd list --agent-role implementation --json > list.json
"$BATON" bd list --tags mcp --json > tags.json
"$BATON" bd ready --for-agent testing-specialist --json > ready.json
"$BATON" bd show "$impl" --full --json > show.json
echo "$impl $test"
"#;

#[test]
fn the_seeds_own_script_runs() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let output = ann.shell(SEED).done();
    let (build, test) = output.out.trim().split_once(' ').expect("two bare ids");
    let read = |name: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(stage.shop().join(name)).expect("written")).expect("json")
    };
    assert_eq!(
        (ids(&read("list.json")), ids(&read("tags.json"))),
        (vec![build.to_owned()], vec![build.to_owned()])
    );
    assert_eq!(ids(&read("ready.json")), [test]);
    let shown = &read("show.json")[0];
    assert_eq!(
        shown["agent_context"],
        json!({ "previous_agent": "me", "work_completed": "X", "key": "value" })
    );
    assert_eq!(
        (&shown["specialist_tags"], &shown["estimated_duration"]),
        (&json!(["python", "mcp", "backend"]), &json!(120))
    );
    assert_eq!(shown["dependents"][0]["dependency_type"], "discovered-from");
}

#[test]
fn bd_answers_in_the_shapes_that_scripts_expect() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let made = bd_json(&ann, &["create", "A", "-t", "bug", "-p", "P0", "-l", "x,y"]);
    let a = text(&made, "id");
    assert_eq!(
        (&made["schema_version"], &made["priority"], &made["labels"]),
        (&json!(1), &json!(0), &json!(["x", "y"]))
    );
    let b = text(&bd_json(&ann, &["create", "B", "--deps", &a]), "id");
    assert_eq!(ids(&bd_json(&ann, &["ready"])), std::slice::from_ref(&a));
    let blocked = bd_json(&ann, &["blocked"]);
    assert_eq!((&blocked[0]["blocked_by"], &blocked[0]["blocked_by_count"]), (&json!([a]), &json!(1)));
    let listed = bd_json(&ann, &["list"]);
    assert_eq!(
        (&listed[1]["dependency_count"], &listed[1]["dependencies"][0]["depends_on_id"]),
        (&json!(1), &json!(a))
    );
    assert_eq!(bd_json(&ann, &["show", &b])[0]["dependencies"][0]["dependency_type"], "blocks");
    let added = bd_json(&ann, &["dep", "add", &b, &a, "-t", "related"]);
    assert_eq!(
        added,
        json!({ "status": "added", "issue_id": b, "depends_on_id": a, "type": "related", "schema_version": 1 })
    );
    let circle = bd(&ann, &["dep", "add", &a, &b, "--json"]);
    assert_eq!((circle.code, circle.json()["code"].clone()), (1, json!("dependency_cycle")));
    bd(&ann, &["comment", &a, "said"]).done();
    assert_eq!(bd_json(&ann, &["comments", &a])[0]["text"], "said");
    bd(&ann, &["label", "remove", &a, "x"]).done();
    assert_eq!(bd_json(&ann, &["label", "list", &a]), json!(["y"]));
    let claimed = bd_json(&ann, &["update", &a, "--claim", "-p", "1"]);
    assert_eq!(
        (&claimed[0]["status"], &claimed[0]["assignee"], &claimed[0]["priority"]),
        (&json!("in_progress"), &json!("Ann"), &json!(1))
    );
    let taken = bd(&stage.terminal("Bob"), &["update", &a, "--claim", "--json"]);
    assert_eq!((taken.code, taken.json()["code"].clone()), (1, json!("task_claimed")));
    let closed = bd_json(&ann, &["close", &a, "--reason", "done", "--suggest-next"]);
    assert_eq!(
        (text(&closed["closed"][0], "close_reason"), text(&closed["unblocked"][0], "id")),
        ("done".into(), b.clone())
    );
    assert_eq!(bd_json(&ann, &["reopen", &a])[0]["status"], "open");
    assert_eq!(bd_json(&ann, &["stats"])["summary"]["total_issues"], 2);
    assert_eq!(bd_json(&ann, &["count"]), json!({ "count": 2, "schema_version": 1 }));
    assert_eq!(ids(&bd_json(&ann, &["search", &a])), [a], "ids are looked at, too");
    let enveloped = bd_json(&ann.with("BD_JSON_ENVELOPE", "1"), &["ready", "-n", "1"]);
    assert_eq!(
        (&enveloped["schema_version"], enveloped["data"].as_array().map(Vec::len)),
        (&json!(1), Some(1))
    );
    let actor = bd_json(&ann.with("BD_ACTOR", "Zoe Zebra"), &["create", "C"]);
    assert_eq!(actor["created_by"], "Zoe-Zebra");
    let unknown = bd(&ann, &["show", "nope"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (1, ""));
    assert!(unknown.err.starts_with("Error: "), "{}", unknown.err);
    assert_eq!(bd(&ann, &["nonsense"]).code, 1);
}

#[test]
fn a_link_by_the_name_of_bd_speaks_as_bd() {
    let stage = Stage::ready();
    let link = stage.root().join("bd");
    #[cfg(unix)]
    std::os::unix::fs::symlink(BATON, &link).expect("linked");
    let ann = stage.terminal("Ann");
    let mut command = ann.program(&link.display().to_string());
    command.args(["create", "By another name", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let made = Answer::of(command.spawn().expect("it starts"), &["bd"]).done().json();
    assert_eq!((made["title"].as_str(), made["schema_version"].as_i64()), (Some("By another name"), Some(1)));
}

#[test]
fn a_file_goes_in_and_out_and_is_never_shrunk() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let rich = include_str!("../../../model/src/task/record/full.jsonl");
    let file = stage.file("shop/.beads/issues.jsonl", rich.replace('\n', "\r\n"));
    let imported = ann.json(&["import", "beads", "."]);
    assert_eq!((&imported["created"], &imported["deleted"]), (&json!(3), &json!(1)), "{imported:#}");
    let copy = stage.root().join("copy.jsonl").display().to_string();
    ann.json(&["export", "beads", &copy]);
    let sorted = fs::read_to_string(&copy).expect("written");
    let mut lines: Vec<&str> = rich.lines().collect();
    let mut exported: Vec<&str> = sorted.lines().collect();
    lines.sort_unstable();
    exported.sort_unstable();
    assert_eq!(exported, lines, "byte for byte");
    let before = fs::read(&copy).expect("read");
    fs::write(&copy, format!("{sorted}{{\"id\":\"bd-new\",\"title\":\"unseen\",\"priority\":1}}\n"))
        .expect("written");
    let refused = ann.refused(4, "export_would_lose", &["export", "beads", &copy]);
    assert_eq!(refused["ids"], json!(["bd-new"]));
    ann.json(&["import", "beads", &copy]);
    ann.json(&["export", "beads", &copy]);
    assert_ne!(fs::read(&copy).expect("read"), before);
    for (content, path) in [("<<<<<<< HEAD\n", ""), ("{\"id\": 1}\n", "id")] {
        fs::write(&file, format!("{{\"id\":\"bd-b\",\"title\":\"changed\"}}\n{content}")).expect("written");
        let refused = ann.refused(1, "beads_invalid", &["import", "beads", &file]);
        assert_eq!((refused["line"].clone(), refused["path"].clone()), (json!(2), json!(path)));
    }
    assert_eq!(ann.json(&["task", "show", "bd-b"])["title"], "b", "nothing of a bad file is taken in");
}

#[test]
fn many_processes_keep_one_file_in_step() {
    // A whole run is 8 × 200; every change makes fewer.
    let each = if env("BATON_E2E_KILLS").is_some() { 200 } else { 12 };
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", "[tasks]\nmirror = \".beads/issues.jsonl\"\n");
    stage.file(
        "shop/.beads/issues.jsonl",
        "{\"id\":\"bd-old\",\"title\":\"was there before\",\"priority\":1,\"odd\":[1]}\n",
    );
    let script = format!(
        "i=0; while [ $i -lt {each} ]; do \"$BATON\" bd create \"task $i\" --silent > /dev/null || exit 1; i=$((i+1)); done"
    );
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (stage, script) = (&stage, &script);
            scope.spawn(move || stage.terminal(&format!("Ann{n}")).shell(script).done());
        }
    });
    let text = fs::read_to_string(stage.shop().join(".beads/issues.jsonl")).expect("written");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a whole line")).collect();
    assert_eq!(lines.len(), 8 * each + 1);
    assert!(text.contains("{\"id\":\"bd-old\",\"title\":\"was there before\",\"priority\":1,\"odd\":[1]}"));
    assert!(lines.is_sorted_by_key(|line| line["id"].as_str().map(str::to_owned)));
    let ann = stage.terminal("Ann");
    assert_eq!(bd_json(&ann, &["count"])["count"], 8 * each + 1);
    let left: Vec<_> = fs::read_dir(stage.shop().join(".beads")).expect("folder").collect();
    assert_eq!(left.len(), 1, "the file alone: {left:?}");
    stage.assert_sound();
}

#[test]
fn a_file_that_cannot_be_kept_in_step_is_told_and_hinders_nothing() {
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", "[tasks]\nmirror = \".beads/issues.jsonl\"\n");
    let file = stage.file("shop/.beads/issues.jsonl", "<<<<<<< HEAD\n");
    let ann = stage.terminal("Ann");
    let made = ann.run(&["task", "create", "still written"]).done();
    assert!(made.err.contains("is not in step") && made.err.contains("conflict marker"), "{}", made.err);
    assert_eq!(fs::read_to_string(&file).expect("read"), "<<<<<<< HEAD\n", "the file is as it was");
    fs::write(&file, "").expect("written");
    ann.run(&["task", "create", "another"]).done();
    assert_eq!(fs::read_to_string(&file).expect("read").lines().count(), 2);
}

/// Waits until the file holds this.
fn holds(path: &std::path::Path, part: &str) {
    let began = std::time::Instant::now();
    while !fs::read_to_string(path).is_ok_and(|text| text.contains(part)) {
        assert!(began.elapsed() < std::time::Duration::from_secs(60), "`{part}` never came into the file");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn a_server_keeps_its_projects_file_in_step_and_other_projects_stay_out_of_it() {
    // The server that is started here serves the stage's own store, whichever server the terminals speak to elsewhere.
    let stage = Stage::local().registered();
    let other = stage.repo("bank");
    stage.terminal("Setup").within(&other).json(&["init"]);
    stage.file("shop/.baton.toml", "[tasks]\nmirror = \".beads/issues.jsonl\"\n");
    let file = stage.shop().join(".beads/issues.jsonl");
    let mut server = stage.terminal("Server").spawn(&["serve", "--listen", "127.0.0.1:0"]);
    // Outside the repository nothing tells a command of the file.
    let outside = stage.terminal("Ann").within(stage.root());
    outside.json(&["--project", "shop", "task", "create", "seen by the server"]);
    holds(&file, "seen by the server");
    stage.terminal("Ann").json(&["--project", "bank", "task", "create", "of another project"]);
    outside.json(&["--project", "shop", "task", "create", "written last"]);
    let status = std::process::Command::new("kill").args(["-TERM", &server.id().to_string()]).status();
    assert!(status.expect("kill runs").success());
    server.wait().expect("it ends");
    let text = fs::read_to_string(&file).expect("the file");
    assert!(text.contains("written last"), "what was written last is in the file: {text}");
    assert!(!text.contains("of another project"), "{text}");
    assert_eq!(text.lines().count(), 2);
}

/// A shell that lives for one command, and nothing behind it that outlives it.
fn in_a_shell_of_its_own(who: &Terminal<'_>, stage: &Stage, command: &str) -> Value {
    let out = stage.root().join("out.json");
    let _ = fs::remove_file(&out);
    let line = format!("\"{BATON}\" {command} --json > out.tmp 2>&1; mv out.tmp \"{}\"", out.display());
    let begun = who.program("setsid").args(["--fork", "sh", "-c", &line]).status();
    assert!(begun.expect("setsid runs").success());
    let since = std::time::Instant::now();
    while !out.exists() {
        assert!(since.elapsed() < std::time::Duration::from_secs(60), "it never answered");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    serde_json::from_str(&fs::read_to_string(&out).expect("an answer")).expect("JSON")
}

#[test]
fn a_claimed_task_is_given_back_for_another_to_take() {
    let stage = Stage::ready();
    let (ann, ben) = (stage.terminal("Ann"), stage.terminal("Ben"));
    let id = text(&ann.json(&["task", "create", "t"]), "id");
    for (args, attempts) in
        [(&["release", &id][..], 0), (&["release", &id, "--why", "the tests hang"][..], 1)]
    {
        ann.json(&["task", "claim", &id]);
        ben.refused(4, "task_claimed", &[&["task"][..], args].concat());
        let free = ann.json(&[&["task"][..], args].concat());
        let tried = free["attempts"].as_i64().unwrap_or_default();
        assert_eq!((&free["status"], &free["claim"], tried), (&json!("open"), &json!(null), attempts));
    }
    ann.refused(4, "task_not_claimed", &["task", "release", &id]);
    // The same in the words of bd.
    bd(&ann, &["update", &id, "--claim"]).done();
    bd(&ann, &["update", &id, "--status", "open"]).done();
    assert_eq!(ben.json(&["task", "claim", &id])["claimed"], true);
}

#[test]
fn a_claim_of_a_shell_that_lives_for_one_command_holds_until_its_time() {
    let stage = Stage::ready();
    let (ann, bob) = (stage.terminal("Ann"), stage.terminal("Bob"));
    let id = text(&ann.json(&["task", "create", "paint"]), "id");
    let begun = in_a_shell_of_its_own(&ann, &stage, "start");
    let claimed = in_a_shell_of_its_own(&ann, &stage, &format!("task claim {id}"));
    assert_eq!(
        (&claimed["claimed"], &claimed["session_id"]),
        (&json!(true), &begun["session_id"]),
        "{claimed:#}"
    );
    let refusal = bob.refused(4, "task_claimed", &["task", "claim", &id]);
    assert!(text(&refusal, "message").contains(&text(&claimed, "expires_at")), "{refusal:#}");
    let again = in_a_shell_of_its_own(&ann, &stage, &format!("task update {id} --notes more --token 1"));
    assert!(again["error"].is_null(), "{again:#}");
    let ended = in_a_shell_of_its_own(&ann, &stage, "end");
    assert_eq!(ended["session_id"], begun["session_id"], "{ended:#}");
    assert_eq!(bob.json(&["task", "claim", &id])["claimed"], true);
}

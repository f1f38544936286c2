//! Two hundred lines of daily use, and the example agents of Beads, in programs of our own that call `bd` as those do.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::stage::{Answer, BATON, Stage, Terminal};

/// The words of a line, quotation marks understood, with what it names put in.
fn words(line: &str, names: &BTreeMap<String, String>) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('"').enumerate() {
        match at % 2 {
            1 => words.push(part.to_owned()),
            _ => words.extend(part.split_whitespace().map(str::to_owned)),
        }
    }
    words.into_iter().map(|word| filled(&word, names)).collect()
}

fn filled(text: &str, names: &BTreeMap<String, String>) -> String {
    // The longer name first: one may begin with another.
    names.iter().rev().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${name}"), value))
}

/// What an answer has to be, as the file says it.
fn verdict(answer: &Answer, check: &str, names: &mut BTreeMap<String, String>) -> Result<(), String> {
    let (kind, rest) = check.split_once(' ').unwrap_or((check, ""));
    let rest = filled(rest, names);
    let json = || serde_json::from_str::<Value>(&answer.out).map_err(|refusal| format!("{refusal}"));
    if kind == "no" {
        return (answer.code == 1 && answer.err.contains(&rest))
            .then_some(())
            .ok_or_else(|| "it was to fail so".into());
    }
    if answer.code != 0 {
        return Err("it was to succeed".into());
    }
    let holds = match kind {
        "as" => {
            let id = json()?["id"].as_str().map(str::to_owned);
            id.map(|id| names.insert(rest, id)).is_some()
        }
        "print" => {
            names.insert(rest, answer.out.trim().to_owned());
            !answer.out.trim().is_empty()
        }
        "has" => answer.out.contains(&rest),
        "titles" => {
            let list = json()?;
            let titles: Vec<&str> =
                list.as_array().into_iter().flatten().filter_map(|issue| issue["title"].as_str()).collect();
            titles == rest.split(" | ").collect::<Vec<_>>()
        }
        "json" => {
            let (path, wanted) = rest.split_once(' ').ok_or("a path and a value")?;
            let wanted: Value =
                serde_json::from_str(wanted).map_err(|refusal| format!("{wanted}: {refusal}"))?;
            let found = json()?;
            match path {
                "#" => {
                    found.as_array().map(Vec::len) == wanted.as_u64().and_then(|n| usize::try_from(n).ok())
                }
                path => found.pointer(path) == Some(&wanted),
            }
        }
        other => return Err(format!("no such check: {other}")),
    };
    holds.then_some(()).ok_or_else(|| "the answer is another one".into())
}

#[test]
fn two_hundred_lines_of_a_day_are_answered_as_a_user_of_beads_expects() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let (mut names, mut lines, mut wrong) = (BTreeMap::new(), 0, Vec::new());
    for line in include_str!("beads_day.txt").lines().filter(|line| !line.starts_with('#')) {
        lines += 1;
        let (command, check) = line.split_once(" ## ").unwrap_or_else(|| panic!("no check: {line}"));
        let answer = ann.run(&words(command, &names));
        if let Err(why) = verdict(&answer, check, &mut names) {
            wrong.push(format!("{line}\n  {why}; exit code {}\n{}{}", answer.code, answer.out, answer.err));
        }
    }
    assert!(wrong.is_empty(), "{} of {lines} lines:\n{}", wrong.len(), wrong.join("\n"));
    assert!(lines >= 200, "{lines} lines");
}

/// A terminal that has the binary on its path by the name of bd.
fn with_bd<'a>(stage: &'a Stage, name: &str) -> Terminal<'a> {
    let bin = stage.root().join("bin");
    if !bin.exists() {
        fs::create_dir(&bin).expect("made");
        std::os::unix::fs::symlink(BATON, bin.join("bd")).expect("linked");
    }
    let path =
        std::env::join_paths([bin.display().to_string(), "/usr/bin".into(), "/bin".into()]).expect("a path");
    stage.terminal(name).with("PATH", path)
}

/// The calls of the example in shell: the first of what is ready, set to in progress, a follow-up linked to it, closed, until
/// nothing is left.
const SHELL_AGENT: &str = r#"set -euo pipefail
command -v bd > /dev/null
bd list > /dev/null
field() { python3 -c 'import json, sys; value = json.load(sys.stdin); value = value[0] if isinstance(value, list) and value else value; print(value[sys.argv[1]] if value else "")' "$1"; }
bd stats
for turn in 1 2 3 4 5 6 7 8; do
  id=$(bd ready --json --limit 1 2> /dev/null | field id)
  [ -n "$id" ] || { echo "idle after $turn"; break; }
  title=$(bd show "$id" --json | field title)
  bd update "$id" --status in_progress --json > /dev/null
  case "$title" in Follow-up:*) ;; *)
    new=$(bd create "Follow-up: $title" -d "Found while working on $id" -p 2 -t task --json | field id)
    bd dep add "$new" "$id" --type discovered-from ;;
  esac
  bd close "$id" --reason "Completed successfully" --json > /dev/null
  echo "closed: $title"
done
bd stats
"#;

#[test]
fn the_example_agent_in_shell_works_its_queue_off() {
    let stage = Stage::ready();
    let ann = with_bd(&stage, "Ann");
    for (title, priority) in [("Add sign-in", "1"), ("Fix the page", "0")] {
        ann.run(&["bd", "create", title, "-p", priority]).done();
    }
    let script = stage.file("agent.sh", SHELL_AGENT);
    let output = ann.shell(&format!("bash {script}")).done().out;
    let closed: Vec<&str> = output.lines().filter_map(|line| line.strip_prefix("closed: ")).collect();
    let expected = ["Fix the page", "Add sign-in", "Follow-up: Fix the page", "Follow-up: Add sign-in"];
    assert_eq!(closed, expected, "{output}");
    assert!(output.contains("idle after 5"), "{output}");
    linked_and_closed(&ann);
}

/// The calls of the example in Python: every answer is read as JSON, and every call has to succeed.
const PYTHON_AGENT: &str = r#"
import json, subprocess

def bd(*args):
    out = subprocess.run(["bd", *args, "--json"], capture_output=True, text=True, check=True).stdout
    return json.loads(out) if out.strip() else {}

while True:
    ready = bd("ready", "--limit", "1")
    if not (isinstance(ready, list) and ready):
        print("idle")
        break
    issue = ready[0]
    bd("update", issue["id"], "--status", "in_progress")
    print("working on", issue["title"], issue["priority"], issue["issue_type"])
    if not issue["title"].startswith("Follow-up:"):
        new = bd("create", "Follow-up: " + issue["title"], "-p", "1", "-t", "task", "-d", "Found while working on " + issue["id"])
        subprocess.run(["bd", "dep", "add", new["id"], issue["id"], "--type", "discovered-from"], check=True)
    bd("close", issue["id"], "--reason", "Implemented successfully")
"#;

#[test]
fn the_example_agent_in_python_works_its_queue_off() {
    let stage = Stage::ready();
    let ann = with_bd(&stage, "Ann");
    for (title, priority) in [("Add sign-in", "1"), ("Fix the page", "0")] {
        ann.run(&["bd", "create", title, "-p", priority, "-t", "feature"]).done();
    }
    let script = stage.file("agent.py", PYTHON_AGENT);
    let output = ann.shell(&format!("python3 {script}")).done().out;
    let worked: Vec<&str> = output.lines().filter_map(|line| line.strip_prefix("working on ")).collect();
    let expected = [
        "Fix the page 0 feature",
        "Add sign-in 1 feature",
        "Follow-up: Fix the page 1 task",
        "Follow-up: Add sign-in 1 task",
    ];
    assert_eq!(worked, expected, "{output}");
    assert!(output.trim_end().ends_with("idle"), "{output}");
    linked_and_closed(&ann);
}

/// Everything is closed, and each follow-up says what it was found in.
fn linked_and_closed(ann: &Terminal<'_>) {
    let all = ann.run(&["bd", "list", "--all", "--json"]).done().json();
    let all = all.as_array().expect("a list");
    assert_eq!(all.len(), 4, "{all:#?}");
    for issue in all {
        assert_eq!(issue["status"], "closed", "{issue:#}");
        let Some(origin) = issue["title"].as_str().and_then(|title| title.strip_prefix("Follow-up: ")) else {
            continue;
        };
        let edge = &issue["dependencies"][0];
        assert_eq!(edge["type"], "discovered-from", "{issue:#}");
        let found = all.iter().find(|other| other["id"] == edge["depends_on_id"]).expect("its origin");
        assert_eq!(found["title"], origin);
    }
}

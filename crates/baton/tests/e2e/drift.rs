//! What the real agents give to hooks and write into their files, against what Baton knows: the alarm for drift.
//!
//! With the versions of `bench/agents` everything that `hook_fields.txt` lists has to come. `bench/drift` plays with the newest ones and
//! sets `BATON_TEST_DRIFT` to a folder; then fields that are new fail, too, and a line for each is written there. With
//! `BATON_WRITE_DOCS` the lists are written anew.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agents::{Cli, clis};
use crate::mock_model::Call;
use crate::real_agent::Agent;
use crate::stage::{BATON, Stage, env, items};

/// How long a hook may take to come.
const HOOK_TIMEOUT: Duration = Duration::from_secs(20);

/// The file with the hooks that `baton install` writes.
fn hook_settings(cli: Cli) -> &'static str {
    match cli {
        Cli::Claude => "home/.claude/settings.json",
        Cli::Codex => "home/.codex/hooks.json",
        Cli::Gemini => "home/.gemini/settings.json",
    }
}

/// The folder below the home in which it keeps its sessions.
fn sessions(cli: Cli) -> &'static str {
    match cli {
        Cli::Claude => ".claude/projects",
        Cli::Codex => ".codex/sessions",
        Cli::Gemini => ".gemini/tmp",
    }
}

/// Has the hooks run through a script that keeps what they are given.
fn record_hooks(stage: &Stage, cli: Cli) -> PathBuf {
    let log = stage.root().join("hook-input");
    fs::create_dir_all(&log).expect("a folder");
    let script = format!("#!/bin/sh\ntee \"{}/$2.$$\" | {BATON:?} \"$@\"\n", log.display());
    let script = PathBuf::from(stage.file("recorder", script));
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a program");
    let settings = stage.root().join(hook_settings(cli));
    let before = fs::read_to_string(&settings).expect("hooks");
    let after = before.replace(&format!("{BATON} hook"), &format!("{} hook", script.display()));
    assert_ne!(after, before, "{cli:?} calls the hooks in another way");
    fs::write(settings, after).expect("written");
    log
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// A line for each field of each event.
fn hook_fields(cli: Cli, log: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files(log) {
        let given: Value =
            serde_json::from_str(&fs::read_to_string(path).expect("a file")).unwrap_or_default();
        let event = given["hook_event_name"].as_str().unwrap_or("(no event)");
        let fields = given.as_object().into_iter().flatten();
        found.extend(
            fields.map(|(name, value)| format!("{} hook {event}: {name} {}", cli.name(), kind(value))),
        );
    }
    found
}

/// A line for each field of each type of record, down to the message or payload that it carries.
fn record_fields(cli: Cli, folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files(folder) {
        let text = fs::read_to_string(path).unwrap_or_default();
        for record in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let payload = record.get("payload").or_else(|| record.get("message"));
            let outer = record["type"].as_str().unwrap_or("(no type)");
            add_fields(&mut found, &format!("{} record {outer}", cli.name()), &record);
            if let Some(payload) = payload {
                let inner = payload["type"].as_str().or(payload["role"].as_str()).unwrap_or("(no type)");
                add_fields(&mut found, &format!("{} record {outer}/{inner}", cli.name()), payload);
            }
        }
    }
    found
}

fn add_fields(found: &mut BTreeSet<String>, of: &str, record: &Value) {
    found.extend(record.as_object().into_iter().flatten().map(|(name, _)| format!("{of}: {name}")));
}

/// A line for each type of record that no reader knows.
fn unknown_types(stage: &Stage, cli: Cli) -> BTreeSet<String> {
    let reader = stage.terminal("Reader");
    let report = reader.json(&["transcripts", "doctor", "--since", "3650d", "--agent", cli.name()]);
    let rows = items(&report);
    assert!(rows.iter().any(|row| row["sessions"].as_u64() > Some(0)), "no session of {cli:?}: {report:#}");
    let of = |row: &Value| {
        let lists =
            ["unknown_types", "complaints"].map(|list| row[list].as_array().cloned().unwrap_or_default());
        lists.concat().iter().map(|what| format!("{} unknown: {what}", cli.name())).collect::<Vec<_>>()
    };
    rows.iter().flat_map(of).collect()
}

/// Plays a small day: a command that works, one that fails, a tool of Baton's; and goes on with it later.
fn play(folder: &Path, cli: Cli) -> (Stage, BTreeSet<String>) {
    let stage = Stage::ready();
    let script = ["echo 12 > cart.txt", "ls /nowhere"].map(Call::shell).to_vec();
    let agent = Agent::new((folder, &stage), cli, script, "The cart adds up; taxes are next.");
    let log = record_hooks(&stage, cli);
    agent.run(&stage.shop(), "Count the cart");
    agent.resume(&stage.shop(), "Now the taxes");
    // A tool does not wait for the hook of the end.
    let begin = Instant::now();
    let mut found = hook_fields(cli, &log);
    while begin.elapsed() < HOOK_TIMEOUT && !own_lines("hook_fields.txt", cli).is_subset(&found) {
        thread::sleep(Duration::from_millis(100));
        found = hook_fields(cli, &log);
    }
    (stage, found)
}

/// Where the list of what is known lies.
fn list(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e").join(name)
}

fn known(name: &str) -> BTreeSet<String> {
    fs::read_to_string(list(name)).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The lines of a list that are about this tool.
fn own_lines(name: &str, cli: Cli) -> BTreeSet<String> {
    let prefix = format!("{} ", cli.name());
    known(name).into_iter().filter(|line| line.starts_with(&prefix)).collect()
}

/// Writes what was found into a list where that is asked for; lines of other tools stay.
fn write_list(name: &str, cli: Cli, found: &BTreeSet<String>, is_whole: bool) {
    let mut lines = known(name);
    lines.retain(|line| !is_whole || !line.starts_with(&format!("{} ", cli.name())));
    lines.extend(found.iter().cloned());
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(list(name), text).expect("written");
}

fn check(cli: Cli) {
    let Some(folder) = clis() else { return };
    let (stage, hooks) = play(&folder, cli);
    let records = record_fields(cli, &stage.home().join(sessions(cli)));
    let unknown = unknown_types(&stage, cli);
    if env("BATON_WRITE_DOCS").is_some() {
        write_list("hook_fields.txt", cli, &hooks, true);
        write_list("record_fields.txt", cli, &records, false);
    }
    let mut report: Vec<String> = unknown.into_iter().collect();
    let known_hooks = own_lines("hook_fields.txt", cli);
    report.extend(known_hooks.difference(&hooks).map(|line| format!("gone: {line}")));
    if let Some(out) = env("BATON_TEST_DRIFT") {
        let known_records = own_lines("record_fields.txt", cli);
        let new = hooks.difference(&known_hooks).chain(records.difference(&known_records));
        report.extend(new.map(|line| format!("new: {line}")));
        fs::create_dir_all(&out).expect("a folder");
        fs::write(Path::new(&out).join(cli.name()), report.join("\n") + "\n").expect("written");
    }
    assert!(report.is_empty(), "{}", report.join("\n"));
}

#[test]
fn claude_code_gives_and_writes_what_is_known() {
    check(Cli::Claude);
}

#[test]
fn codex_gives_and_writes_what_is_known() {
    check(Cli::Codex);
}

#[test]
fn gemini_cli_gives_and_writes_what_is_known() {
    check(Cli::Gemini);
}

//! `baton service`: a service manager gets one file and a few commands, and nothing is left when it goes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::stage::{BATON, Stage, Terminal, env, skipped, text};

/// Writes down what it is asked, and fails where the file `fails` names the verb.
const SYSTEMCTL: &str = r#"#!/bin/sh
echo "$*" >>"$HOME/../calls"
for word in "$@"; do
    if grep -qsx -- "$word" "$HOME/../fails"; then echo "Failed to $word: no bus" >&2; exit 1; fi
done
case "$*" in *show*--property*) printf 'ActiveState=active\nSubState=running\nMainPID=77\nUnitFileState=enabled\n' ;; esac
"#;

/// A terminal in which `systemctl` is one that only writes down what it is asked.
fn with_manager(stage: &Stage) -> Terminal<'_> {
    let program = stage.file("bin/systemctl", SYSTEMCTL);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("mode");
    let path = format!("{}:{}", stage.root().join("bin").display(), env("PATH").expect("PATH"));
    stage.terminal("Lola").with("PATH", path)
}

fn calls(stage: &Stage) -> Vec<String> {
    let calls = fs::read_to_string(stage.root().join("calls")).unwrap_or_default();
    let _ = fs::remove_file(stage.root().join("calls"));
    calls.lines().map(str::to_owned).collect()
}

fn unit(stage: &Stage) -> PathBuf {
    stage.home().join("config/systemd/user/baton.service")
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        if entry.path().is_dir() {
            found.extend(folders(&entry.path()));
        }
        found.push(entry.path());
    }
    found.sort();
    found
}

#[test]
fn a_service_is_written_started_shown_and_taken_away_without_a_trace() {
    let stage = Stage::ready();
    stage.file("home/config/baton/config.toml", "");
    let lola = with_manager(&stage);
    let before = folders(&stage.home());
    let install = ["service", "install", "--listen", "127.0.0.1:0"];
    let with = |more: &'static str| install.iter().copied().chain([more]).collect::<Vec<_>>();
    let seen = lola.json(&with("--dry-run"));
    assert_eq!(
        (folders(&stage.home()), calls(&stage)),
        (before.clone(), Vec::new()),
        "looking changes nothing"
    );
    lola.refused(1, "service_needs_yes", &install);
    assert_eq!(folders(&stage.home()), before);
    calls(&stage);

    let done = lola.json(&with("--yes"));
    assert_eq!(done["diff"], seen["diff"], "what was shown is what was done");
    let started = ["--user daemon-reload", "--user enable baton.service", "--user restart baton.service"];
    assert_eq!(calls(&stage)[1..], started, "after the manager was asked whether it is there");
    let written = fs::read_to_string(unit(&stage)).expect("a unit");
    let command = format!("ExecStart={BATON} serve --listen 127.0.0.1:0 --rate 1000\n");
    assert!(written.contains(&command) && written.contains("Type=notify"), "{written}");
    // It has the settings and the ledger of this shell.
    let data = stage.home().join("data").display().to_string();
    assert!(written.contains(&format!("Environment=XDG_DATA_HOME={data}\n")), "{written}");
    assert_eq!(fs::metadata(unit(&stage)).expect("unit").permissions().mode() & 0o022, 0);

    let status = lola.json(&["service", "status"]);
    assert_eq!((&status["installed"], &status["properties"]["MainPID"]), (&true.into(), &"77".into()));
    assert!(lola.text(&["service", "status"]).contains("running"));
    // Again, with another address: a change, and a new start.
    let again = lola.json(&["service", "install", "--listen", "127.0.0.1:7099", "--yes"]);
    assert_eq!(again["action"], "change");
    calls(&stage);

    let gone = lola.json(&["service", "uninstall", "--yes"]);
    assert_eq!(gone["action"], "delete");
    let stopped =
        ["--user disable --now baton.service", "--user daemon-reload", "--user reset-failed baton.service"];
    assert_eq!(calls(&stage), stopped);
    assert_eq!(folders(&stage.home()), before, "nothing is left");
    assert_eq!(lola.json(&["service", "status"])["installed"], false);
    assert_eq!(lola.json(&["service", "uninstall", "--yes"])["action"], "none");
}

#[test]
fn what_a_unit_starts_serves_and_systemd_reads_it() {
    let stage = Stage::ready();
    let lola = with_manager(&stage);
    lola.json(&["service", "install", "--listen", "127.0.0.1:0", "--host", "a%b c", "--yes"]);
    let written = fs::read_to_string(unit(&stage)).expect("a unit");
    assert!(written.contains("--host \"a%%b c\""), "{written}");
    let system = lola.json(&["service", "install", "--system", "--dry-run"]);
    let added = text(&system, "diff");
    let lines = added.lines().skip(2).filter_map(|line| line.strip_prefix('+'));
    let machine: String = lines.map(|line| format!("{line}\n")).collect();
    assert!(machine.contains("DynamicUser=yes") && machine.contains("StateDirectory=baton"), "{machine}");
    let file = stage.file("system/baton.service", machine);
    if !Command::new("systemd-analyze").arg("--version").output().is_ok_and(|output| output.status.success())
    {
        return skipped("there is no systemd-analyze: no unit was verified");
    }
    for unit in [unit(&stage).display().to_string(), file] {
        let verify =
            Command::new("systemd-analyze").args(["verify", "--man=no", &unit]).output().expect("it runs");
        let output = String::from_utf8_lossy(&verify.stderr);
        let ours: Vec<&str> = output.lines().filter(|line| line.contains("baton")).collect();
        assert!(verify.status.success() && ours.is_empty(), "{unit}: {output}");
    }
}

#[test]
fn without_a_service_manager_it_is_refused_and_nothing_is_written() {
    let stage = Stage::ready();
    let lola = with_manager(&stage);
    let before = folders(&stage.home());
    let refused = |lola: &Terminal<'_>, code: &str, words: &[&str]| -> Value {
        let refusal = lola.refused(if code == "service_file_taken" { 4 } else { 1 }, code, words);
        assert_eq!(folders(&stage.home()), before, "{code}");
        refusal
    };
    let install = ["service", "install", "--yes"];
    refused(&lola, "listen_invalid", &["service", "install", "--listen", "here", "--yes"]);
    refused(&lola, "service_store", &["service", "install", "--yes", "--store", "/x.db"]);
    stage.file("fails", "show-environment\n");
    let refusal = refused(&lola, "service_manager_missing", &install);
    assert!(text(&refusal, "message").contains("no bus") && text(&refusal, "hint").contains("baton serve"));
    let bare = lola.with("PATH", stage.root().join("nowhere"));
    let refusal = refused(&bare, "service_manager_missing", &install);
    assert!(text(&refusal, "message").contains("there is no `systemctl`"), "{refusal:#}");
    assert_eq!(bare.json(&["service", "status"])["installed"], false);
}

#[test]
fn a_service_that_does_not_start_leaves_what_was_there() {
    let stage = Stage::ready();
    let lola = with_manager(&stage);
    let before = folders(&stage.home());
    stage.file("fails", "restart\n");
    let refusal = lola.refused(5, "service_manager_failed", &["service", "install", "--yes"]);
    assert!(text(&refusal, "message").contains("restart baton.service` failed: Failed to restart: no bus"));
    assert_eq!(folders(&stage.home()), before);
    // A unit of somebody else's is not touched, neither way.
    let theirs = "[Service]\nExecStart=/opt/mine\n";
    stage.file("home/config/systemd/user/baton.service", theirs);
    fs::remove_file(stage.root().join("fails")).expect("removed");
    calls(&stage);
    for verb in ["install", "uninstall"] {
        lola.refused(4, "service_file_taken", &["service", verb, "--yes"]);
    }
    assert_eq!(fs::read_to_string(unit(&stage)).expect("theirs"), theirs);
    assert_eq!(calls(&stage), Vec::<String>::new());
}

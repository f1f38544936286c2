//! A session goes on in another tool. The tools are stand-ins that write down how they were called.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::stage::{Stage, Terminal, assert_fields, env, items, text};
use crate::worktrees::{committed, git, worktree};

pub(crate) const NORMAL: &str = "11111111-aaaa-4000-8000-00000000abcd";

/// The samples that are part of the repository.
fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcripts/samples").join(name)
}

/// A session of Claude Code in the repository of the stage.
fn worked() -> Stage {
    let stage = Stage::ready();
    claude(&stage, &stage.shop().display().to_string());
    stage
}

fn claude(stage: &Stage, folder: &str) {
    claude_with(stage, &[("cwd", folder), ("sessionId", NORMAL)]);
}

/// One that was written to just now, on a branch.
pub(crate) fn claude_on(stage: &Stage, folder: &Path, branch: &str) {
    let now = stage.bare().shell("date -u +%FT%T.999Z").out.trim().to_owned();
    let folder = folder.display().to_string();
    let fields = [("cwd", &*folder), ("sessionId", NORMAL), ("gitBranch", branch), ("timestamp", &*now)];
    claude_with(stage, &fields);
}

fn claude_with(stage: &Stage, fields: &[(&str, &str)]) {
    let content = fs::read_to_string(sample("claude/normal.jsonl")).expect("sample");
    let mut lines = String::new();
    for line in content.lines() {
        let mut event: Value = serde_json::from_str(line).expect("a line of the sample");
        for (key, value) in fields {
            if event.get(key).is_some() {
                event[*key] = (*value).into();
            }
        }
        lines.push_str(&format!("{event}\n"));
    }
    stage.file(&format!("home/.claude/projects/-shop/{NORMAL}.jsonl"), lines);
}

/// How a stand-in was called.
pub(crate) struct Called {
    pub(crate) folder: String,
    args: Vec<String>,
    vars: String,
}

/// Puts a program of this name on the path of a terminal.
pub(crate) fn stand_in<'a>(stage: &'a Stage, terminal: &Terminal<'a>, program: &str) -> Terminal<'a> {
    let script = "#!/bin/sh\nrm -rf \"$HOME/called\"; mkdir \"$HOME/called\"\npwd > \"$HOME/called/folder\"\n\
        env | grep ^BATON_ > \"$HOME/called/vars\"\nfor arg in \"$@\"; do printf '%s\\0' \"$arg\"; done > \"$HOME/called/args\"\n\
        if [ -n \"$SAY\" ]; then sh -c \"$SAY\"; fi\nexit 7\n";
    let path = stage.file(&format!("bin/{program}"), script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    let bin = Path::new(&path).parent().expect("bin").display().to_string();
    terminal.with("PATH", format!("{bin}:{}", env("PATH").expect("PATH")))
}

pub(crate) fn called(stage: &Stage) -> Called {
    let read =
        |name: &str| fs::read_to_string(stage.home().join("called").join(name)).expect("it was called");
    let args = read("args");
    let mut args: Vec<String> = args.split_terminator('\0').map(str::to_owned).collect();
    // Codex is handed the variables by flags, before all others.
    while args.first().is_some_and(|arg| arg == "-c") {
        let set = args.drain(..2).next_back().expect("a setting");
        let (name, value) = set.split_once('=').expect("a setting");
        let name = name.strip_prefix("shell_environment_policy.set.").expect("a variable");
        assert!(read("vars").contains(&format!("{name}={}\n", value.trim_matches('"'))), "{set}");
    }
    Called { folder: read("folder").trim().to_owned(), args, vars: read("vars") }
}

pub(crate) fn real(path: &Path) -> String {
    path.canonicalize().expect("a folder").display().to_string()
}

#[test]
fn every_tool_is_started_in_the_sessions_folder_with_the_document() {
    // Which program, and what stands before the prompt on its command line, without a terminal where that is known; what the user adds
    // stands before the prompt there.
    const MORE: &str = "«more»";
    const TOOLS: [(&str, &str, &[&str], &[&str]); 17] = [
        ("codex", "codex", &["exec", "--skip-git-repo-check", MORE], &[]),
        ("gemini", "gemini", &[MORE, "-p"], &[]),
        ("copilot", "copilot", &["-i"], &[]),
        ("opencode", "opencode", &["run", MORE], &[]),
        ("kilo", "kilo", &["run"], &[]),
        ("cursor", "cursor-agent", &[], &[]),
        ("amp", "amp", &["-x"], &[]),
        ("droid", "droid", &[], &[]),
        ("cline", "cline", &["-i"], &[]),
        ("kiro", "kiro-cli", &["chat"], &[]),
        ("crush", "crush", &["run"], &[]),
        ("antigravity", "agy", &["-i"], &[]),
        ("qwen", "qwen", &["-i"], &[]),
        ("kimi", "kimi", &["-p"], &[]),
        ("pi", "pi", &[], &[]),
        ("goose", "goose", &["run", "--interactive", "--text"], &[]),
        ("claude", "claude", &[MORE, "-p"], &[]),
    ];
    let stage = worked();
    let lola = stage.terminal("Lola").within(stage.root());
    for (tool, program, before, after) in TOOLS {
        let terminal = stand_in(&stage, &lola, program);
        let answer = terminal.run(&[
            "continue",
            NORMAL,
            "--in",
            tool,
            "--fresh",
            "--force",
            "--why",
            "the next tool",
            "--",
            "--own",
            "x y",
        ]);
        assert_eq!(answer.code, 7, "the exit code is the tool's own: {answer:#?}");
        let called = called(&stage);
        assert_eq!(called.folder, real(&stage.shop()), "{tool}");
        let is_headless = before.contains(&MORE);
        let words = |word: &&'static str| if *word == MORE { vec!["--own", "x y"] } else { vec![*word] };
        let before: Vec<&str> = before.iter().flat_map(words).collect();
        let (got, rest) = called.args.split_at(before.len());
        assert_eq!(got, before, "{tool}");
        assert!(rest[0].starts_with("# Session Handoff") || rest[0].starts_with("# "), "{tool}: {}", rest[0]);
        for fact in ["make test", "which this session holds"] {
            assert!(rest[0].contains(fact), "{tool}: no `{fact}` in {}", rest[0]);
        }
        let own = ["--own", "x y"].into_iter().filter(|_| !is_headless);
        let after: Vec<&str> = after.iter().copied().chain(own).collect();
        assert_eq!(rest[1..], after, "{tool}");
    }
    stage.assert_sound();
}

#[test]
fn what_is_started_holds_the_baton_and_is_known_when_it_calls() {
    let stage = worked();
    let lola = stage.terminal("Lola");
    let codex = stand_in(&stage, &stage.bare(), "codex");
    // The tool itself asks for the work that it was started with, and hands over at its end.
    let say = format!(
        "{0} pickup --json > \"$HOME/picked\"; {0} wrap --summary 'went on' --json > \"$HOME/wrapped\"",
        crate::stage::BATON
    );
    let answer = codex.with("SAY", &say).run(&["continue", "latest", "--in", "codex"]);
    assert_eq!(answer.code, 7, "{answer:#?}");
    assert!(answer.err.contains("goes on in Codex"), "{}", answer.err);
    let picked: Value =
        serde_json::from_str(&fs::read_to_string(stage.home().join("picked")).expect("picked"))
            .expect("JSON");
    let called = called(&stage);
    for (name, key) in
        [("BATON_SESSION", "session_id"), ("BATON_IDENTITY", "identity"), ("BATON_PROJECT", "project_id")]
    {
        assert!(called.vars.contains(&format!("{name}={}\n", text(&picked, key))), "{name}: {}", called.vars);
    }
    let raw = fs::read_to_string(stage.home().join("called/args")).expect("args");
    assert!(
        raw.starts_with("-c\0shell_environment_policy.set.BATON_"),
        "a daemon of Codex has another environment: {raw}"
    );
    assert!(raw.contains("\0exec\0"), "there is no terminal: {raw}");
    let ledger = stage.ledger("shop");
    let kinds: Vec<String> = ledger.iter().map(|delta| text(delta, "kind")).collect();
    assert_eq!(kinds, ["other", "start", "wrap", "pickup", "wrap"], "{ledger:#?}");
    assert_eq!(ledger[1]["identity"], "claude");
    assert_eq!(picked["baton"]["delta_id"], ledger[2]["delta_id"]);
    assert_eq!(ledger[3]["inherited_from"], ledger[2]["session_id"]);
    assert_eq!(
        (&ledger[4]["session_id"], &ledger[4]["thread_id"]),
        (&ledger[3]["session_id"], &ledger[1]["session_id"])
    );
    // It was carried on and wrapped: from the same state a second line begins only when that is asked for.
    let spent = codex.refused(4, "baton_spent", &["continue", NORMAL, "--in", "codex"]);
    assert!(!text(&spent, "next_baton_id").is_empty());
    let again =
        codex.run(&["continue", NORMAL, "--in", "codex", "--force", "--why", "another try", "--json"]);
    assert_ne!(again.json()["handoff_id"], ledger[2]["delta_id"], "{again:#?}");
    // The tool has ended, and its process is known to be gone.
    assert_eq!(lola.json(&["handoff", "show", &text(&again.json(), "handoff_id")])["state"], "abandoned");
    stage.assert_sound();
}

#[test]
fn a_tool_that_has_ended_does_not_keep_the_baton_and_one_at_work_does() {
    let stage = worked();
    let codex = stand_in(&stage, &stage.bare(), "codex");
    let first = codex.run(&["continue", NORMAL, "--in", "codex", "--json"]).json();
    assert_fields(&first, "command handoff_id project_id identity session_id");
    // Its process is gone, so the next tool need not wait until it is silent for long.
    let gemini = stand_in(&stage, &stage.bare(), "gemini");
    let second = gemini.run(&["continue", NORMAL, "--in", "gemini", "--json"]).json();
    assert_eq!(second["handoff_id"], first["handoff_id"]);
    assert_ne!(second["session_id"], first["session_id"]);
    // While it works, another is told so.
    let meanwhile =
        format!("{} continue {NORMAL} --in gemini --json > \"$HOME/late\" 2>&1", crate::stage::BATON);
    codex.with("SAY", &meanwhile).run(&["continue", NORMAL, "--in", "codex"]);
    let late: Value =
        serde_json::from_str(&fs::read_to_string(stage.home().join("late")).expect("late")).expect("JSON");
    assert_eq!(late["error"]["code"], "baton_claimed", "{late:#}");
    stage.assert_sound();
}

#[test]
fn the_command_is_shown_and_runs_in_a_shell() {
    let stage = worked();
    let lola = stage.terminal("Lola");
    let shown = lola.run(&["continue", "--in", "codex", "--print"]).done();
    assert!(shown.err.contains("recorded: baton"), "{}", shown.err);
    let before = stage.deltas();
    let answer = lola.json(&["continue", NORMAL, "--in", "codex", "--print"]);
    assert_fields(&answer, "command handoff_id project_id identity argv cwd file warnings");
    assert_eq!(format!("{}\n", text(&answer, "command")), shown.out, "the same hand-off, the same command");
    assert_eq!((stage.deltas(), &answer["session_id"]), (before, &Value::Null), "nothing is written twice");
    assert!(!stage.home().join("called").exists(), "nothing was started");
    // A shell starts exactly what would have been started.
    let codex = stand_in(&stage, &lola.within(stage.root()), "codex");
    codex.shell(&shown.out);
    let called = called(&stage);
    assert_eq!((json!(called.args), called.folder), (answer["argv"].clone(), real(&stage.shop())));
    // The baton waits, can be looked at, and is taken by whoever was given the command.
    let id = text(&answer, "handoff_id");
    let waiting = lola.json(&["handoff", "show", &id]);
    assert_eq!((&waiting["state"], &waiting["handoff_id"]), (&json!("open"), &json!(id)));
    let packet: Value = serde_json::from_str(&text(&waiting, "packet")).expect("a packet");
    assert_eq!((&packet["source"]["id"], &packet["target"]["agent"]), (&json!(NORMAL), &json!("codex")));
    assert!(lola.text(&["handoff", "show", &id[..13]]).contains("# "));
    let picked = stage.terminal("Donna").json(&["pickup", "--handoff", &id]);
    assert_eq!(picked["baton"]["delta_id"], answer["handoff_id"]);
}

#[test]
fn a_tool_takes_its_own_session_up_again() {
    let stage = worked();
    let lola = stage.terminal("Lola");
    let answer = lola.json(&["continue", NORMAL, "--in", "claude-code", "--print"]);
    assert_eq!((&answer["resumes"], &answer["argv"]), (&json!(true), &json!(["--resume", NORMAL])));
    let codex = fs::read_to_string(sample("codex/paginated.jsonl")).expect("sample");
    let id = "0199aaaa-0000-7000-8000-000000000001";
    let codex = codex.replace("/home/you/shop", &stage.shop().display().to_string());
    stage.file(&format!("home/.codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-{id}.jsonl"), codex);
    let codex = items(&lola.json(&["transcripts", "list", "--agent", "codex"]));
    let id = text(&codex[0], "id");
    let answer = lola.json(&["continue", &id, "--in", "codex", "--mode", "plan", "--print"]);
    let cwd = stage.shop().display().to_string();
    assert_eq!(answer["argv"], json!(["resume", id, "--sandbox", "read-only", "-C", cwd]));
    let fresh = lola.json(&["continue", &id, "--in", "codex", "--fresh", "--print"]);
    assert_eq!((&fresh["resumes"], &fresh["argv"][0]), (&json!(false), &json!("-C")));
}

/// On its terminal program it failed, or waited for a user.
#[test]
fn a_tool_takes_its_own_session_up_without_a_terminal() {
    let stage = worked();
    let lola = stage.terminal("Lola").within(stage.root());
    let claude = stand_in(&stage, &lola, "claude");
    let resumed = |more: &[&str]| {
        claude.run(&[&["continue", NORMAL, "--in", "claude"], more].concat());
        called(&stage).args
    };
    assert_eq!(resumed(&[]), ["--resume", NORMAL, "-p", "Continue"]);
    assert_eq!(resumed(&["--", "-p", "Do the taxes"]), ["--resume", NORMAL, "-p", "Do the taxes"]);
    // A written session is taken up with the document.
    let gemini = stand_in(&stage, &lola, "gemini");
    gemini.run(&["continue", NORMAL, "--in", "gemini", "--native"]);
    let args = called(&stage).args;
    assert_eq!((args[0].as_str(), args[2].as_str()), ("--session-file", "-p"), "{args:?}");
    assert!(args[3].starts_with("# Session Handoff"), "{args:?}");
}

#[test]
fn a_long_document_goes_by_a_private_file_and_aider_always_reads_one() {
    let stage = worked();
    let lola = stage.terminal("Lola");
    let aider = lola.json(&["continue", NORMAL, "--in", "aider", "--print"]);
    let file = text(&aider, "file");
    assert_eq!(aider["argv"], json!(["--read", file]));
    assert!(
        file.starts_with(&stage.home().join("data").display().to_string()),
        "outside the repository: {file}"
    );
    assert_eq!(fs::metadata(&file).expect("written").permissions().mode() & 0o777, 0o600);
    let huge = "word ".repeat(60_000);
    let lines = [
        json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "huge", "timestamp": "2026-11-20T10:00:00.000Z",
            "cwd": stage.shop(), "message": {"role": "user", "content": "Go on"}}),
        json!({"type": "assistant", "uuid": "a1", "parentUuid": "u1", "sessionId": "huge", "timestamp": "2026-11-20T10:00:01.000Z",
            "cwd": stage.shop(), "message": {"role": "assistant", "content": [{"type": "text", "text": "Looking."}]}}),
    ];
    let content: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let edits: String = (0..40)
        .map(|n| {
            let call = json!({"type": "assistant", "uuid": format!("c{n}"), "parentUuid": if n == 0 { "a1".to_owned() } else { format!("r{}", n - 1) },
                "sessionId": "huge", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": format!("t{n}"), "name": "Write",
                "input": {"file_path": format!("{}/f{n}.txt", stage.shop().display()), "content": huge[..6_000]}}]}});
            let result = json!({"type": "user", "uuid": format!("r{n}"), "parentUuid": format!("c{n}"), "sessionId": "huge",
                "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("t{n}"), "content": "ok"}]}});
            format!("{call}\n{result}\n")
        })
        .collect();
    let path = stage.file("home/.claude/projects/-shop/huge.jsonl", content + &edits);
    let claude =
        lola.json(&["continue", &path, "--in", "gemini", "--preset", "full", "--budget", "60000", "--print"]);
    let argv: Vec<String> = serde_json::from_value(claude["argv"].clone()).expect("argv");
    if claude["file"].is_string() {
        let file = text(&claude, "file");
        let folder = Path::new(&file).parent().expect("folder").display().to_string();
        assert_eq!(argv[..3], ["--include-directories".to_owned(), folder, "-i".to_owned()]);
        assert!(argv[3].contains(&file) && argv[3].len() < 1_000, "{}", argv[3]);
        assert!(fs::metadata(&file).expect("written").len() >= 100_000);
    } else {
        assert!(argv[1].len() < 100_000, "what is not in a file is short enough for an argument");
    }
}

#[test]
fn permissions_are_never_widened_unasked() {
    let stage = worked();
    let lola = stage.terminal("Lola");
    let path = stage.home().join(format!(".claude/projects/-shop/{NORMAL}.jsonl"));
    let session = fs::read_to_string(&path).expect("session");
    let argv = |mode: &str, args: &[&str]| {
        let line = json!({"type": "permission-mode", "permissionMode": mode, "sessionId": NORMAL});
        fs::write(&path, format!("{session}{line}\n")).expect("written");
        let mut answer = lola.json(&[&["continue", NORMAL, "--in", "codex", "--print"], args].concat());
        let mut argv: Vec<String> = serde_json::from_value(answer["argv"].take()).expect("argv");
        argv.pop();
        (argv[..argv.len() - 2].join(" "), answer["warnings"].take())
    };
    let (flags, warnings) = argv("bypassPermissions", &[]);
    assert_eq!(flags, "");
    assert!(warnings[0]["message"].as_str().is_some_and(|m| m.contains("--mode same")), "{warnings:#}");
    assert_eq!(
        argv("bypassPermissions", &["--mode", "same"]).0,
        "--dangerously-bypass-approvals-and-sandbox"
    );
    assert_eq!(argv("acceptEdits", &[]).0, "");
    assert_eq!(argv("plan", &[]).0, "--sandbox read-only", "what might change nothing still may not");
    assert_eq!(argv("plan", &["--mode", "ask"]).0, "");
    assert_eq!(
        argv("default", &["--mode", "edits"]).0,
        "--sandbox workspace-write --ask-for-approval on-request"
    );
    lola.refused(1, "mode_unsupported", &["continue", NORMAL, "--in", "droid", "--mode", "full", "--print"]);
}

#[test]
fn what_cannot_be_continued_is_refused_before_anything_is_written() {
    let stage = worked();
    let before = stage.deltas();
    let mut lola = stage.terminal("Lola");
    lola.set("PATH", "/nowhere");
    let missing = lola.refused(1, "tool_not_installed", &["continue", NORMAL, "--in", "codex"]);
    assert!(text(&missing, "hint").contains("npm install"), "{missing}");
    lola.refused(1, "tool_unknown", &["continue", NORMAL, "--in", "clippy", "--print"]);
    lola.refused(1, "target_without_terminal", &["continue", NORMAL, "--in", "zed", "--print"]);
    lola.refused(1, "target_without_prompt", &["continue", NORMAL, "--in", "kimi-cli", "--print"]);
    lola.refused(1, "target_needed", &["continue", NORMAL]);
    lola.refused(3, "transcript_unknown", &["continue", "ffffffff", "--in", "codex", "--print"]);
    lola.refused(1, "folder_unknown", &["continue", NORMAL, "--in", "codex", "--print", "--cd", "/nowhere"]);
    lola.refused(
        1,
        "budget_malformed",
        &["continue", NORMAL, "--in", "codex", "--print", "--budget", "much"],
    );
    assert_eq!(stage.deltas(), before);
    assert!(!stage.home().join("data/baton/handoffs").exists());
    // Where no project is registered, the hint names the way.
    let fresh = Stage::new();
    claude(&fresh, &fresh.shop().display().to_string());
    fresh.terminal("Lola").refused(
        3,
        "project_unresolved",
        &["continue", NORMAL, "--in", "codex", "--print"],
    );
}

#[test]
fn a_session_of_a_folder_that_is_gone_goes_on_where_one_stands_and_says_so() {
    let stage = Stage::ready();
    claude(&stage, "/nowhere/shop");
    let lola = stage.terminal("Lola");
    let answer = lola.json(&["continue", NORMAL, "--in", "claude", "--print"]);
    assert_eq!((&answer["resumes"], &answer["cwd"]), (&json!(false), &json!(stage.shop())));
    assert_eq!(answer["warnings"][0]["kind"], "folder_gone");
}

#[test]
fn a_tool_starts_in_the_worktree_of_the_session_and_a_worktree_that_is_gone_is_told() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    claude(&stage, &beside.display().to_string());
    let lola = stage.terminal("Lola");
    for (tool, program) in [("codex", "codex"), ("claude", "claude")] {
        let run = stand_in(&stage, &lola, program).run(&[
            "continue",
            NORMAL,
            "--in",
            tool,
            "--fresh",
            "--force",
            "--why",
            "the next tool",
        ]);
        assert_eq!(run.code, 7, "{run:#?}");
        assert_eq!(called(&stage).folder, real(&beside), "{tool}");
    }
    git(&stage, stage.shop(), &["worktree", "remove", "--force", "../beside"]);
    let run = stand_in(&stage, &lola, "codex").run(&[
        "continue",
        NORMAL,
        "--in",
        "codex",
        "--force",
        "--why",
        "the next tool",
    ]);
    assert_eq!(run.code, 7, "{run:#?}");
    assert!(run.err.contains(&format!("{} is not here", beside.display())), "{}", run.err);
    assert_eq!(called(&stage).folder, real(&stage.shop()));
}

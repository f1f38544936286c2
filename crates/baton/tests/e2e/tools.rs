//! Real coding agents with our hooks, against a model on loopback: what waits reaches the model, and what was done is in the
//! ledger when they end. `BATON_TEST_CLIS` names the folder with their programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mock_model::{Call, MockModel};
use crate::stage::{BATON, Stage, env, skipped, text};

/// The program of an agent; none, said loudly, where it is not there.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let Some(folder) = env("BATON_TEST_CLIS") else {
        skipped(&format!("{name} with hooks: BATON_TEST_CLIS names no folder with the agents' programs"));
        return None;
    };
    let program = Path::new(&folder).join(name);
    if !program.exists() {
        skipped(&format!("{name} with hooks: {} is not there", program.display()));
        return None;
    }
    Some(program)
}

const SAYS: &str = "The cart adds up now; taxes are next.";

/// A stage on which a baton of Donna's waits; its files, and which baton it is.
pub(crate) fn waiting() -> (Stage, String) {
    let stage = Stage::ready();
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    let wrapped = donna.json(&["wrap", "--summary", "half of the cart", "--next", "the taxes for books"]);
    (stage, text(&wrapped, "baton_id"))
}

/// Everything below a folder of the home.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), fs::read(&path).expect("a file")));
        }
    }
    found.sort();
    found
}

/// Runs an agent to its end in the repository, as a user would: home, path, nothing else.
fn run(stage: &Stage, program: &Path, args: &[&str], vars: &[(&str, String)]) {
    let mut command: Command = stage.bare().program("timeout");
    command.arg("120").arg(program).args(args).stdin(Stdio::null());
    command.envs(vars.iter().map(|(name, value)| (name, value)));
    let output = command.output().expect("the agent starts");
    assert!(output.status.success(), "{}: {output:#?}", program.display());
}

/// Waits for what a hook left behind: it works on after the agent has ended.
fn kept(stage: &Stage, kind: &str) -> Value {
    kept_that(stage, kind, |delta| delta["kind"] == kind)
}

/// The newest delta of an agent's that is such a one.
fn kept_that(stage: &Stage, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let begin = Instant::now();
    loop {
        let ledger = stage.ledger("shop");
        let found = ledger.iter().rev().find(|delta| delta["identity"] != "Donna" && is_it(delta));
        if let Some(found) = found {
            return found.clone();
        }
        let log = fs::read_to_string(stage.home().join("data/baton/hooks.log")).unwrap_or_default();
        assert!(begin.elapsed() < Duration::from_secs(60), "no {what}: {ledger:#?}\n{log}");
        thread::sleep(Duration::from_millis(100));
    }
}

/// Waits until hooks that still work have done so: they would write into a home that is being removed.
fn settled(stage: &Stage) {
    let (mut known, mut since) = (stage.deltas(), Instant::now());
    while since.elapsed() < Duration::from_secs(2) {
        thread::sleep(Duration::from_millis(200));
        let now = stage.deltas();
        if now != known {
            (known, since) = (now, Instant::now());
        }
    }
}

/// What the model lets its agent do: begin a session, as an instruction file would ask it to.
fn begin() -> String {
    format!("{BATON} start --as Worker > /dev/null")
}

/// One agent, from installation to its end.
struct Agent<'a> {
    id: &'a str,
    args: &'a [&'a str],
    vars: Vec<(&'a str, String)>,
    /// Files that the agent itself rewrites as it runs.
    rewrites: &'a [&'a str],
}

fn plays(stage: &Stage, baton: &str, program: &Path, model: &MockModel, agent: &Agent<'_>) {
    let home = stage.home();
    let mine = stage.terminal("Lola");
    let config: Vec<(PathBuf, Vec<u8>)> =
        files(&home).into_iter().filter(|(path, _)| !path.starts_with(home.join("data"))).collect();
    mine.json(&["install", agent.id, "--yes"]);
    mine.json(&["install", agent.id, "--yes"]);
    let mut vars = agent.vars.clone();
    vars.push(("BATON_AUTO_WRAP", "false".to_owned()));
    run(stage, program, agent.args, &vars);
    let log = fs::read_to_string(home.join("data/baton/hooks.log")).unwrap_or_default();
    let paths: Vec<String> = model.requests().into_iter().map(|request| request.path).collect();
    assert!(model.was_told(&format!("baton {baton} ")), "announced: {paths:?} {log}");
    assert!(model.was_told(" from Donna"), "with its sender");
    assert!(model.was_told("1 baton waits"), "counted");
    assert!(model.was_told("half of the cart"), "what it is about");
    assert!(!model.was_told("the taxes for books"), "what else it says is told when it is claimed");
    let checkpoint = kept(stage, "checkpoint");
    assert_eq!(checkpoint["identity"], "Worker", "the agent's own session: {:#?}", stage.ledger("shop"));
    let packet = &checkpoint["body"]["packet"];
    assert_eq!(packet["source"]["agent"], agent.id, "{checkpoint:#}");
    assert!(packet["commands"].to_string().contains("start --as Worker"), "{packet:#}");
    // By default, the same leaves a baton.
    run(stage, program, agent.args, &agent.vars);
    let wrap = kept(stage, "wrap");
    let packet: Value = serde_json::from_str(&text(&wrap, "body")).expect("a packet");
    assert_eq!(packet["source"]["agent"], agent.id, "{packet:#}");
    settled(stage);
    stage.assert_sound();
    mine.json(&["install", agent.id, "--uninstall", "--yes"]);
    for (path, before) in config {
        let rewritten = agent.rewrites.iter().any(|name| path.ends_with(name));
        let after = fs::read(&path).unwrap_or_default();
        assert!(rewritten || after == before, "{}: {}", path.display(), String::from_utf8_lossy(&after));
    }
    for (path, after) in files(&home) {
        let configures = path.extension().is_some_and(|end| end == "json" || end == "toml");
        let known = ["data", "config"].iter().any(|folder| path.starts_with(home.join(folder)));
        let after = String::from_utf8_lossy(&after).into_owned();
        let ours = after.contains("baton hook") || after.contains(&format!("{BATON:?}"));
        assert!(!configures || known || !ours, "{}: {after}", path.display());
    }
    let log = fs::read_to_string(home.join("data/baton/hooks.log")).unwrap_or_default();
    assert_eq!(log, "", "no hook had anything to complain of");
}

#[test]
fn claude_code_is_told_and_kept() {
    let Some(program) = program("claude") else { return };
    let (stage, baton) = waiting();
    stage.file("home/.claude/settings.json", "{\n    \"cleanupPeriodDays\": 30\n}");
    let shell = Call::new("Bash", json!({ "command": begin(), "description": "begin" }));
    let model = MockModel::start(vec![shell], SAYS);
    let vars = vec![
        ("ANTHROPIC_BASE_URL", model.url()),
        ("ANTHROPIC_API_KEY", "dummy".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
    ];
    let args = ["-p", "count the cart", "--allowedTools", "Bash"];
    let agent = Agent { id: "claude", args: &args, vars, rewrites: &[".claude.json"] };
    plays(&stage, &baton, &program, &model, &agent);
}

#[test]
fn claude_code_at_its_limit_leaves_a_baton() {
    let Some(program) = program("claude") else { return };
    let (stage, _) = waiting();
    fs::create_dir_all(stage.home().join(".claude")).expect("folder");
    stage.terminal("Lola").json(&["install", "claude", "--yes"]);
    let model = MockModel::start(Vec::new(), SAYS);
    model.limit();
    let run = |wrap: &str| {
        let mut command = stage.bare().with("BATON_AUTO_WRAP", wrap).program("timeout");
        command.args(["120"]).arg(&program).args(["-p", "count the cart"]).stdin(Stdio::null());
        command.env("ANTHROPIC_BASE_URL", model.url()).env("ANTHROPIC_API_KEY", "dummy");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("CLAUDE_CODE_MAX_RETRIES", "0");
        command.output().expect("the agent starts")
    };
    run("false");
    // The limit is told, not only the end, in whichever order the two hooks got to write.
    kept_that(&stage, "failure", |delta| delta["body"]["event"] == "failure");
    kept(&stage, "checkpoint");
    let output = run("true");
    let wrap = kept(&stage, "wrap");
    assert!(text(&wrap, "body").contains("count the cart"), "{wrap:#} {output:#?}");
    settled(&stage);
    assert_eq!(stage.terminal("Lola").json(&["pickup"])["baton"]["delta_id"], wrap["delta_id"]);
}

#[test]
fn codex_is_told_and_kept() {
    let Some(program) = program("codex") else { return };
    let (stage, baton) = waiting();
    let shell = Call::new("exec_command", json!({ "cmd": begin() }));
    let model = MockModel::start(vec![shell], SAYS);
    let config = format!(
        "# mine\nmodel = \"mock\"\nmodel_provider = \"mock\"\n\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"{}/v1\" # loopback\nwire_api = \"responses\"\n",
        model.url()
    );
    stage.file("home/.codex/config.toml", config);
    let args = [
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-hook-trust",
        "--dangerously-bypass-approvals-and-sandbox",
        "count the cart",
    ];
    let agent = Agent { id: "codex", args: &args, vars: Vec::new(), rewrites: &[] };
    plays(&stage, &baton, &program, &model, &agent);
}

#[test]
fn gemini_cli_is_told_and_kept() {
    let Some(program) = program("gemini") else { return };
    let (stage, baton) = waiting();
    stage.file(
        "home/.gemini/settings.json",
        "{\n  \"security\": { \"folderTrust\": { \"enabled\": false }, \"auth\": { \"selectedType\": \"gemini-api-key\" } } // mine\n}\n",
    );
    let shell = Call::new("run_shell_command", json!({ "command": begin() }));
    let model = MockModel::start(vec![shell], SAYS);
    let vars = vec![("GEMINI_API_KEY", "dummy".to_owned()), ("GOOGLE_GEMINI_BASE_URL", model.url())];
    let args = ["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", "count the cart"];
    let agent = Agent { id: "gemini", args: &args, vars, rewrites: &[] };
    plays(&stage, &baton, &program, &model, &agent);
}

#[test]
fn opencode_is_told_by_its_plugin() {
    let Some(program) = program("opencode") else { return };
    let (stage, baton) = waiting();
    let model = MockModel::start(Vec::new(), SAYS);
    let config = json!({
        "$schema": "https://opencode.ai/config.json", "autoupdate": false, "model": "anthropic/claude-sonnet-4-5",
        "provider": { "anthropic": { "options": { "baseURL": format!("{}/v1", model.url()), "apiKey": "dummy" } } },
    });
    let file = stage.file("home/config/opencode/opencode.json", format!("{config:#}\n"));
    let before = fs::read(&file).expect("a file");
    let mine = stage.terminal("Lola");
    mine.json(&["install", "opencode", "--yes"]);
    run(&stage, &program, &["run", "count the cart"], &[]);
    assert!(model.was_told(&format!("baton {baton} ")), "announced");
    mine.json(&["install", "opencode", "--uninstall", "--yes"]);
    assert_eq!(fs::read(&file).expect("a file"), before);
    assert!(!stage.home().join("config/opencode/plugins").exists());
}

//! The packages under `packaging/plugins`, taken in by the real tools with their own commands: their validators accept them, what waits is
//! announced, and the tools of the server can be called; taken out, nothing of Baton is left in the settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::mock_model::{Call, MockModel};
use crate::stage::{BATON, Stage, env};
use crate::tools::{program, waiting};

/// The folder of the packages.
fn packages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../packaging/plugins")
        .canonicalize()
        .expect("the packages")
}

/// Runs a tool in the repository of the stage, with `baton` on the path.
fn run(stage: &Stage, program: &Path, args: &[&str], vars: &[(&str, String)]) -> String {
    let folder = Path::new(BATON).parent().expect("a folder").display();
    let mut command: Command = stage.bare().program("timeout");
    command.env("PATH", format!("{folder}:{}", env("PATH").expect("PATH")));
    command.arg("120").arg(program).args(args).stdin(Stdio::null());
    command.envs(vars.iter().map(|(name, value)| (name, value)));
    let output = command.output().expect("the tool starts");
    assert!(output.status.success(), "{}: {args:?}: {output:#?}", program.display());
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Looks at what waits, over the server of the package.
fn look() -> Call {
    Call::baton("inbox", json!({ "action": "preview" }))
}

/// `baton install` adds nothing to what a package brings, and names the package; beside entries of an earlier installation it says what to do.
fn assert_not_twice(stage: &Stage, tool: &str) {
    let lola = stage.terminal("Lola");
    let installed = lola.json(&["install", tool, "--yes"]);
    assert_eq!(installed["changed"], false, "{installed:#}");
    assert!(installed["tools"][0]["remarks"].to_string().contains("has the package"), "{installed:#}");
    let report = lola.json(&["install"]);
    let row = report["tools"].as_array().into_iter().flatten().find(|row| row["agent"] == tool);
    let row = row.unwrap_or_else(|| panic!("no {tool}: {report:#}"));
    assert_eq!(
        (&row["mcp"], &row["hooks"], &row["hint"]),
        (&json!("package"), &json!("package"), &json!(""))
    );
}

fn assert_told(model: &MockModel, baton: &str) {
    assert!(model.was_told(&format!("baton {baton} ")), "not announced: {:#?}", model.texts("hand-off"));
    let answers = model.results();
    assert!(answers.iter().any(|answer| answer.contains(baton)), "the server is not there: {answers:#?}");
}

#[test]
fn claude_code_takes_the_plugin_in_and_out() {
    let Some(program) = program("claude") else { return };
    let (stage, baton) = waiting();
    let root = packages().display().to_string();
    let settings = stage.home().join(".claude/settings.json");
    let preview = json!({ "action": "preview" });
    let model = MockModel::start(vec![Call::of_server("plugin_baton_baton", "inbox", preview)], "Fine.");
    let vars = [
        ("ANTHROPIC_BASE_URL", model.url()),
        ("ANTHROPIC_API_KEY", "dummy".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("MCP_CONNECTION_NONBLOCKING", "false".to_owned()),
        ("MCP_CONNECT_TIMEOUT_MS", "60000".to_owned()),
    ];
    let claude = |args: &[&str]| run(&stage, &program, args, &vars);
    claude(&["plugin", "validate", "--strict", &root]);
    claude(&["plugin", "validate", "--profile", "directory", &format!("{root}/claude")]);
    stage.terminal("Lola").json(&["install", "claude", "--yes"]);
    claude(&["plugin", "marketplace", "add", &root]);
    claude(&["plugin", "install", "baton@baton"]);
    let report = stage.terminal("Lola").text(&["install"]);
    assert!(
        report.contains("its package brings the same: run `baton install claude --uninstall`"),
        "{report}"
    );
    stage.terminal("Lola").json(&["install", "claude", "--uninstall", "--yes"]);
    let details = claude(&["plugin", "details", "baton"]);
    for part in ["SessionStart", "StopFailure", "pickup", "wrap", "handoff", "status", "MCP servers (1)"] {
        assert!(details.contains(part), "no {part}: {details}");
    }
    claude(&["-p", "count the cart", "--allowedTools", "mcp__plugin_baton_baton__inbox"]);
    assert_told(&model, &baton);
    assert_not_twice(&stage, "claude");
    claude(&["plugin", "uninstall", "baton@baton"]);
    claude(&["plugin", "marketplace", "remove", "baton"]);
    let left = fs::read_to_string(settings).expect("settings");
    assert!(!left.contains("baton"), "{left}");
}

#[test]
fn codex_takes_the_plugin_in_and_out() {
    let Some(program) = program("codex") else { return };
    let (stage, baton) = waiting();
    let root = packages().display().to_string();
    let model = MockModel::start(vec![look()], "Fine.");
    let before = format!(
        "model = \"mock\"\nmodel_provider = \"mock\"\n\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"{}/v1\"\nwire_api = \"responses\"\n",
        model.url()
    );
    let settings = PathBuf::from(stage.file("home/.codex/config.toml", before));
    let codex = |args: &[&str]| run(&stage, &program, args, &[]);
    codex(&["plugin", "marketplace", "add", &root]);
    codex(&["plugin", "add", "baton@baton"]);
    let listed = codex(&["plugin", "list"]);
    assert!(
        listed.lines().any(|line| line.contains("baton@baton") && !line.contains("not installed")),
        "{listed}"
    );
    codex(&[
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-hook-trust",
        "--dangerously-bypass-approvals-and-sandbox",
        "count the cart",
    ]);
    assert_told(&model, &baton);
    assert_not_twice(&stage, "codex");
    codex(&["plugin", "remove", "baton@baton"]);
    codex(&["plugin", "marketplace", "remove", "baton"]);
    let left = fs::read_to_string(settings).expect("settings");
    assert!(!left.contains("baton"), "{left}");
}

#[test]
fn gemini_cli_takes_the_extension_in_and_out() {
    let Some(program) = program("gemini") else { return };
    let (stage, baton) = waiting();
    let package = packages().join("gemini").display().to_string();
    let security: Value =
        json!({ "folderTrust": { "enabled": false }, "auth": { "selectedType": "gemini-api-key" } });
    stage.file("home/.gemini/settings.json", json!({ "security": security }).to_string());
    let model = MockModel::start(vec![look()], "Fine.");
    let vars = [("GEMINI_API_KEY", "dummy".to_owned()), ("GOOGLE_GEMINI_BASE_URL", model.url())];
    let gemini = |args: &[&str]| run(&stage, &program, args, &vars);
    gemini(&["extensions", "validate", &package]);
    gemini(&["extensions", "install", &package, "--consent"]);
    gemini(&["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", "count the cart"]);
    assert_told(&model, &baton);
    assert_not_twice(&stage, "gemini");
    gemini(&["extensions", "uninstall", "baton"]);
    assert!(!stage.home().join(".gemini/extensions/baton").exists());
}

#[test]
fn opencode_takes_the_plugin_from_a_copied_file() {
    let Some(program) = program("opencode") else { return };
    let (stage, baton) = waiting();
    let model = MockModel::start(Vec::new(), "Fine.");
    let config = json!({
        "$schema": "https://opencode.ai/config.json", "autoupdate": false, "model": "anthropic/claude-sonnet-4-5",
        "provider": { "anthropic": { "options": { "baseURL": format!("{}/v1", model.url()), "apiKey": "dummy" } } },
    });
    stage.file("home/config/opencode/opencode.json", config.to_string());
    let plugin = fs::read(packages().join("opencode/baton.js")).expect("the plugin");
    stage.file("home/config/opencode/plugins/baton.js", plugin);
    run(&stage, &program, &["run", "count the cart"], &[]);
    assert!(model.was_told(&format!("baton {baton} ")), "announced");
}

/// OpenCode 2 is in no registry yet: its part of the plugin is called as its documentation says, with the interface of its hooks.
#[test]
fn opencode_2_gets_what_waits_through_setup() {
    let Some(node) = program("node") else { return };
    let (stage, baton) = waiting();
    let plugin = packages().join("opencode/baton.js");
    stage.file("baton.mjs", fs::read(plugin).expect("the plugin"));
    let script = r#"
        import * as all from "./baton.mjs";
        if (Object.keys(all).join() !== "default") throw new Error("other exports: " + Object.keys(all));
        const plugin = all.default;
        await plugin.setup({});
        await plugin.setup(undefined);
        const hooks = {};
        await plugin.setup({ directory: process.argv[2], session: { hook: async (name, call) => { hooks[name] = call; } } });
        const event = { sessionID: "s", system: ["You are helpful."], messages: [] };
        await hooks.context(event);
        await hooks.context({ sessionID: "s" });
        await hooks.compaction({ sessionID: "s" });
        console.log(JSON.stringify(event.system));
    "#;
    let script = stage.file("play.mjs", script);
    let shop = stage.shop().display().to_string();
    let output = run(&stage, &node, &[&script, &shop], &[]);
    let system: Value = serde_json::from_str(output.lines().next().unwrap_or_default()).expect("a list");
    assert_eq!(system.as_array().map(Vec::len), Some(1), "{system:#}");
    let text = system[0].as_str().expect("a text");
    assert!(text.starts_with("You are helpful.\n\n") && text.contains(&format!("baton {baton} ")), "{text}");
}

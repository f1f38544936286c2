//! The two flows of an increment with real agents as workers, started by their presets, on a model that is none. The model lets
//! each of them run the script that the shell workers run, so what differs is only the agent in between.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::mock_model::{Call, MockModel};
use crate::stage::{Stage, env, skipped};
use crate::work::{AGENT, bench, fails_once, goes_well};

/// The folder with the programs of the agents; none, said loudly, where they are not there.
fn clis() -> Option<PathBuf> {
    let folder = env("BATON_TEST_CLIS").map(PathBuf::from);
    let found = folder.filter(|folder| ["claude", "codex"].iter().all(|name| folder.join(name).exists()));
    if found.is_none() {
        skipped("increments with real agents: BATON_TEST_CLIS names no folder with claude and codex");
    }
    found
}

/// Tells Codex of the model; Claude Code is told by variables.
fn configure(stage: &Stage, model: &MockModel) {
    let provider = format!(
        "model = \"mock\"\nmodel_provider = \"mock\"\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"{}/v1\"\nwire_api = \"responses\"\n",
        model.url()
    );
    stage.file("home/.codex/config.toml", provider);
}

/// A worker whose command is an agent: Claude Code builds and mends, Codex tests and verifies.
fn worker(stage: &Stage, model: &MockModel, folder: &Path, name: &str, role: &str) -> Child {
    let mut at = bench(stage, name);
    at.set("PATH", format!("{}:{}", folder.display(), env("PATH").expect("PATH")));
    at.set("ANTHROPIC_BASE_URL", model.url());
    at.set("ANTHROPIC_API_KEY", "dummy");
    at.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    let claude = ["implementation", "fixing"].contains(&role);
    let agent: &[&str] = match claude {
        true => &["--agent", "claude", "--", "--allowedTools", "Bash"],
        false => &["--agent", "codex", "--mode", "full"],
    };
    let mut command = at.command(&[&["work", "--role", role, "--poll", "1s", "--jsonl"], agent].concat());
    let log = std::fs::File::create(stage.root().join(format!("{name}.log"))).expect("log");
    command.stdout(Stdio::null()).stderr(log).spawn().expect("a worker")
}

/// Runs a flow with them.
fn with_agents(flow: impl Fn(&Stage, &dyn Fn(&str, &str) -> Child)) {
    let Some(folder) = clis() else { return };
    let stage = Stage::ready();
    let script = stage.file("agent.sh", format!("exec < \"$BATON_HANDOFF\"\n{AGENT}"));
    let model = MockModel::every_time(vec![Call::shell(&format!("sh {script}"))], "It is done.");
    configure(&stage, &model);
    flow(&stage, &|name, role| worker(&stage, &model, &folder, name, role));
    assert!(model.was_told("one specialist in a chain"), "the preset's prompt reached the model");
    let paths: Vec<String> = model.requests().into_iter().map(|request| request.path).collect();
    for api in ["/v1/messages", "/v1/responses"] {
        assert!(paths.iter().any(|path| path.starts_with(api)), "both agents took part: {paths:?}");
    }
}

#[test]
fn an_increment_that_goes_well_passes_through_real_agents() {
    with_agents(|stage, worker| goes_well(stage, worker));
}

#[test]
fn a_failure_goes_round_through_real_agents() {
    with_agents(|stage, worker| fails_once(stage, worker));
}

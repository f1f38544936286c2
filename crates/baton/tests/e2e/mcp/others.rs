//! Other people's clients and the conformance suite, where they are installed.
//!
//! `BATON_TEST_CLIS` names a `node_modules/.bin` with `conformance` and the TypeScript client beside it, `BATON_TEST_PYTHON` a
//! Python that has the package `mcp`. What is not there is left out loudly.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::http::Server;
use crate::stage::{BATON, Stage, env, skipped};

/// The scenarios that must pass, by revision: no made-up tool is needed for them.
const REQUIRED: [(&str, &[&str]); 2] = [
    (
        "2025-11-25",
        &[
            "server-initialize",
            "ping",
            "completion-complete",
            "tools-list",
            "resources-list",
            "prompts-list",
            "server-sse-multiple-streams",
            "dns-rebinding-protection",
            "server-session-lifecycle",
            "server-sse-polling",
        ],
    ),
    (
        "2026-07-28",
        &[
            "tools-list",
            "resources-list",
            "prompts-list",
            "completion-complete",
            "caching",
            "http-header-validation",
            "sep-2164-resource-not-found",
            "dns-rebinding-protection",
            "server-sse-multiple-streams",
            "input-required-result-unsupported-methods",
            "input-required-result-validate-input",
        ],
    ),
];

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/mcp").join(name)
}

/// A file in the folder of installed node packages.
fn node_module(path: &str) -> Option<PathBuf> {
    let found =
        env("BATON_TEST_CLIS").map(|bin| Path::new(&bin).join("..").join(path)).filter(|path| path.exists());
    if found.is_none() {
        skipped(&format!("BATON_TEST_CLIS does not lead to node_modules/{path}"));
    }
    found
}

/// Node at 22 or above where it is installed beside the packages, else the system's.
fn node(stage: &Stage) -> Command {
    let own = env("BATON_TEST_CLIS")
        .map(|bin| Path::new(&bin).join("../node/bin/node"))
        .filter(|node| node.exists());
    stage.terminal("Node").program(&own.map_or_else(|| "node".to_owned(), |node| node.display().to_string()))
}

/// What it printed. Into a file: a Node program that exits leaves behind what a full pipe has not taken yet.
fn output(command: &mut Command) -> (bool, String) {
    let mut file = tempfile::tempfile().expect("a file");
    let to = || Stdio::from(file.try_clone().expect("the same file"));
    let passed = command.stdin(Stdio::null()).stdout(to()).stderr(to()).status().expect("it runs").success();
    let mut output = Vec::new();
    file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut output)).expect("what it said");
    (passed, String::from_utf8_lossy(&output).into_owned())
}

fn served() -> (Stage, Server, String) {
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let url = format!("http://{}/mcp", server.address);
    (stage, server, url)
}

#[test]
fn the_conformance_suite_passes_but_for_its_made_up_tools() {
    let Some(suite) = node_module(".bin/conformance") else { return };
    for (revision, required) in REQUIRED {
        let (stage, _server, url) = served();
        let mut command = node(&stage);
        command.arg(&suite).args([
            "server",
            "--url",
            &url,
            "--requirements",
            revision,
            "--expected-failures",
        ]);
        let (passed, output) = output(command.arg(here("conformance.yml")).current_dir(stage.root()));
        assert!(passed, "{revision}: {output}");
        for scenario in required {
            let line = format!("✓ {scenario}: ");
            assert!(output.contains(&line), "{revision}: {scenario} did not pass: {output}");
        }
    }
}

/// Four of its checks ask for tools of a made-up server; each says so, and nothing else fails.
#[test]
fn the_stateless_server_scenario_fails_only_where_it_cannot_be_tested() {
    let Some(suite) = node_module(".bin/conformance") else { return };
    let (stage, _server, url) = served();
    let mut command = node(&stage);
    command.arg(&suite).args([
        "server",
        "--url",
        &url,
        "--scenario",
        "server-stateless",
        "--spec-version",
        "2026-07-28",
    ]);
    let (_, output) = output(command.arg("--verbose").current_dir(stage.root()));
    let checks = output.find("\n[\n").and_then(|at| {
        serde_json::Deserializer::from_str(&output[at..]).into_iter::<Vec<Value>>().next()?.ok()
    });
    let checks = checks.unwrap_or_else(|| panic!("no list of checks: {output}"));
    let failed: Vec<&Value> = checks.iter().filter(|check| check["status"] == "FAILURE").collect();
    assert!(checks.len() > 20 && failed.len() == 4, "{failed:#?}");
    for check in failed {
        let why = check["errorMessage"].as_str().unwrap_or_default();
        assert!(why.starts_with("Not testable: server does not list the diagnostic tool"), "{check:#}");
    }
}

#[test]
fn the_python_client_works_in_every_mode() {
    let Some(python) = env("BATON_TEST_PYTHON") else {
        return skipped("BATON_TEST_PYTHON names no Python with `mcp`");
    };
    let (stage, _server, url) = served();
    let mut command = stage.terminal("Python").program(&python);
    let (passed, output) = output(command.arg(here("clients/check.py")).args([BATON, &url]));
    assert!(passed, "{output}");
}

/// The MCP server of Beads with our `bd` on its path: each of its tools that an agent's day needs.
#[cfg(unix)]
#[test]
fn the_mcp_server_of_beads_works_with_our_bd() {
    let Some(python) = env("BATON_TEST_BEADS_MCP") else {
        return skipped("BATON_TEST_BEADS_MCP names no Python with `beads-mcp`");
    };
    let stage = Stage::ready();
    let bin = stage.root().join("bd-bin");
    std::fs::create_dir_all(&bin).expect("a folder");
    std::os::unix::fs::symlink(BATON, bin.join("bd")).expect("a link");
    let path = format!("{}:{}", bin.display(), env("PATH").unwrap_or_default());
    let mut command = stage.terminal("Mona").program(&python);
    command.env("PATH", path).current_dir(stage.shop());
    let (passed, output) = output(command.arg(here("clients/beads.py")).arg(stage.shop()));
    assert!(passed, "{output}");
}

#[test]
fn the_typescript_client_works_in_every_mode() {
    let Some(package) = node_module("@modelcontextprotocol/client") else { return };
    let (stage, _server, url) = served();
    let mut command = node(&stage);
    command.arg(here("clients/check.mjs")).args([BATON, &url]).env("SHOP", stage.shop()).current_dir(package);
    let (passed, output) = output(&mut command);
    assert!(passed, "{output}");
}

/// `mcp-inspector --strict` finds nothing to say about the list of tools.
#[test]
fn the_inspector_is_content_in_both_eras() {
    let Some(inspector) = node_module(".bin/mcp-inspector") else { return };
    let (stage, _server, url) = served();
    for era in ["modern", "legacy"] {
        let mut command = node(&stage);
        command.arg(&inspector).args(["--cli", &url, "--transport", "http", "--protocol-era", era]);
        let (passed, output) = output(command.args(["--method", "tools/list", "--strict"]));
        assert!(passed && output.contains("session_start"), "{era}: {output}");
    }
}

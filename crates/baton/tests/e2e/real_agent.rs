//! A real agent as a user has it, on a model on loopback, and what is recorded of it for `docs/journeys.md`.
//! `BATON_TEST_CLIS` names the folder with `claude`, `codex` and `gemini`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::agents::{Cli, clis};
use crate::mock_model::{Call, MockModel};
use crate::stage::{BATON, Stage, env, text};
use crate::words::steady;

const TIMEOUT: Duration = Duration::from_secs(180);

/// Who hands over to whom.
pub(crate) fn pairs() -> Vec<(Cli, Cli)> {
    if env("BATON_TEST_PAIRS").is_some() {
        return Cli::ALL.into_iter().flat_map(|from| Cli::ALL.map(|to| (from, to))).collect();
    }
    let next = Cli::ALL.into_iter().cycle().skip(1);
    Cli::ALL.into_iter().zip(next).collect()
}

/// Plays a journey for every pair, one after another: hooks have a limited time, which several agents at once use up.
pub(crate) fn for_every_pair(journey: impl Fn(&Path, Cli, Cli)) {
    let Some(folder) = clis() else { return };
    pairs().into_iter().for_each(|(from, to)| journey(&folder, from, to));
}

/// A real agent as a user has it, with settings that reach a model on loopback and what `baton install` adds.
pub(crate) struct Agent<'a> {
    pub cli: Cli,
    stage: &'a Stage,
    folder: &'a Path,
    pub model: MockModel,
}

impl<'a> Agent<'a> {
    pub(crate) fn new(
        (folder, stage): (&'a Path, &'a Stage),
        cli: Cli,
        script: Vec<Call>,
        says: &str,
    ) -> Self {
        let agent = Self::without_baton((folder, stage), cli, script, says);
        agent.install();
        agent
    }

    /// The same before `baton install`.
    pub(crate) fn without_baton(
        (folder, stage): (&'a Path, &'a Stage),
        cli: Cli,
        script: Vec<Call>,
        says: &str,
    ) -> Self {
        let model = MockModel::start(script, says);
        match cli {
            Cli::Claude => _ = stage.file("home/.claude/settings.json", "{}"),
            Cli::Codex => {
                let url = model.url();
                let settings = format!(
                    "model = \"mock\"\nmodel_provider = \"mock\"\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n"
                );
                _ = stage.file("home/.codex/config.toml", settings);
            }
            Cli::Gemini => {
                let security = json!({ "folderTrust": { "enabled": false }, "auth": { "selectedType": "gemini-api-key" } });
                let settings = json!({ "security": security }).to_string();
                _ = stage.file("home/.gemini/settings.json", settings);
            }
        }
        Self { cli, stage, folder, model }
    }

    /// Sets Baton up for it, as its user would.
    pub(crate) fn install(&self) {
        self.stage.terminal("Setup").json(&["install", self.cli.name(), "--yes"]);
    }

    /// The file of its settings that a user edits.
    pub(crate) fn settings(&self) -> PathBuf {
        let name = match self.cli {
            Cli::Claude => ".claude/settings.json",
            Cli::Codex => ".codex/config.toml",
            Cli::Gemini => ".gemini/settings.json",
        };
        self.stage.home().join(name)
    }

    /// The agent with what it is asked, in a folder.
    pub(crate) fn command(&self, cwd: &Path, prompt: &str) -> Command {
        self.command_of(cwd, prompt, false)
    }

    /// The same; `resumes`: in its last conversation of that folder.
    fn command_of(&self, cwd: &Path, prompt: &str, resumes: bool) -> Command {
        // A sandbox of Codex needs rights that a container does not have.
        let policy: &[&str] = match self.cli {
            Cli::Claude => &["--allowedTools", "Bash,mcp__baton"],
            Cli::Codex => &["--dangerously-bypass-approvals-and-sandbox"],
            Cli::Gemini => &["--approval-mode", "yolo"],
        };
        self.command_under(policy, cwd, prompt, resumes)
    }

    /// The same with the agent's own options for what it may do unasked.
    fn command_under(&self, policy: &[&str], cwd: &Path, prompt: &str, resumes: bool) -> Command {
        let program = self.folder.join(self.cli.name()).display().to_string();
        let mut command = self.stage.bare().within(cwd).program(&program);
        let url = self.model.url();
        match self.cli {
            Cli::Claude => {
                command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "dummy");
                command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
                command.args(resumes.then_some("--continue"));
                // By itself it begins without the tools of a server that is slow to start, as one is on a busy machine.
                command.env("MCP_CONNECTION_NONBLOCKING", "false").env("MCP_CONNECT_TIMEOUT_MS", "60000");
                command.args(["-p", prompt]).args(policy);
            }
            // The trust in hooks is a question on a terminal.
            Cli::Codex => {
                command.args(["exec", "--dangerously-bypass-hook-trust"]).args(policy);
                command.args(resumes.then_some(["resume", "--last"]).into_iter().flatten());
                command.arg(prompt);
            }
            Cli::Gemini => {
                command.env("GEMINI_API_KEY", "dummy").env("GOOGLE_GEMINI_BASE_URL", url);
                command.args(resumes.then_some(["--resume", "latest"]).into_iter().flatten());
                command.args(["-m", "gemini-2.5-flash"]).args(policy).args(["-p", prompt]);
            }
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, cwd: &Path, prompt: &str) {
        self.run_command(self.command(cwd, prompt));
    }

    /// Goes on in its last conversation, to its end.
    pub(crate) fn resume(&self, cwd: &Path, prompt: &str) {
        self.run_command(self.command_of(cwd, prompt, true));
    }

    /// Runs it to its end, however it ends, under a policy of its own.
    pub(crate) fn run_under(&self, policy: &[&str], cwd: &Path, prompt: &str) -> String {
        let output = self.command_under(policy, cwd, prompt, false).output().expect("the agent starts");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }

    fn run_command(&self, mut command: Command) {
        let output = command.output().expect("the agent starts");
        assert!(output.status.success(), "{:?}: {output:#?}", self.cli);
    }

    /// Starts it in a process group of its own and waits until so many tools have answered.
    pub(crate) fn start(&self, cwd: &Path, prompt: &str, results: usize) -> Child {
        let mut command = self.command(cwd, prompt);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the agent starts");
        let what = format!("{:?} has {results} results", self.cli);
        until(&what, || self.model.results().len() >= results);
        child
    }

    /// Fails unless this reached the model.
    pub(crate) fn assert_told(&self, what: &str, from: Cli) {
        let log = self.stage.home().join("data/baton/hooks.log");
        let log = fs::read_to_string(log).unwrap_or_default();
        let known = self.model.texts("Baton, the ledger of project");
        let status = self.stage.terminal("Reader").text(&["status"]);
        assert!(
            self.model.was_told(what),
            "{from:?} to {:?}: not told {what}: {known:#?} {log} {status}",
            self.cli
        );
    }
}

/// Notes word for word what the next agent was told, and what the card says then, for `docs/journeys.md`: of Claude Code and the
/// one after it.
pub(crate) fn record(name: &str, from: Cli, second: &Agent<'_>) {
    if is_recorded(from) {
        let status = second.stage.terminal("Reader").text(&["status"]);
        record_told(name, second, &format!("\n\n$ baton status\n{status}"));
    }
}

/// The same without the card, where hooks of the second agent still write.
pub(crate) fn record_announcement(name: &str, from: Cli, second: &Agent<'_>) {
    if is_recorded(from) {
        record_told(name, second, "");
    }
}

fn is_recorded(from: Cli) -> bool {
    from == Cli::Claude && env("BATON_TEST_PAIRS").is_none()
}

pub(crate) fn record_told(name: &str, second: &Agent<'_>, status: &str) {
    let known = second.model.texts(OPENING);
    let announced = known.first().and_then(|text| text.split_once(OPENING)).map_or("", |(_, rest)| rest);
    let announced = announced.split_once(CLOSING).map_or(announced, |(before, _)| before);
    record_text(name, second.stage, &format!("{OPENING}{announced}{CLOSING}{status}"));
}

/// Notes a text for `docs/journeys.md`.
pub(crate) fn record_text(name: &str, stage: &Stage, text: &str) {
    insta::assert_snapshot!(name, steady(text, stage));
}

/// How an announcement begins and ends.
const OPENING: &str = "Baton, the ledger of project";
const CLOSING: &str = "leaves one at the end of a session.";

pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < TIMEOUT, "not in time: {what}");
        thread::sleep(Duration::from_millis(100));
    }
}

/// Ends an agent with everything that it has started, as the system does when memory runs out.
pub(crate) fn kill(mut child: Child) {
    let group = format!("-{}", child.id());
    let killed = Command::new("kill").args(["-KILL", "--", &group]).status().expect("kill runs");
    assert!(killed.success());
    child.wait().expect("it has ended");
}

/// The batons that wait, by their id.
pub(crate) fn waiting(stage: &Stage) -> Vec<Value> {
    stage.terminal("Reader").json(&["status"])["handoffs"].as_array().expect("hand-offs").clone()
}

/// Waits for the one baton that a hook leaves; hooks work on after their agent has ended.
pub(crate) fn the_baton(stage: &Stage) -> String {
    until("a baton waits", || !waiting(stage).is_empty());
    let found = waiting(stage);
    assert_eq!(found.len(), 1, "{found:#?}");
    text(&found[0], "id")
}

pub(crate) fn begin() -> Call {
    Call::shell(&format!(
        "{BATON} start --as Worker > /dev/null && {BATON} decide 'Prices are rounded half up' --as Worker > /dev/null"
    ))
}

pub(crate) fn busy() -> Call {
    Call::shell("sleep 60")
}

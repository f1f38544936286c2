//! The real agents, each on a model that is none: they find Baton, and pass the baton to one another.
//!
//! `BATON_TEST_CLIS` names the folder with `claude`, `codex` and `gemini`; without it these tests say loudly that they were
//! left out.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mock_model::{Call, MockModel};
use crate::real_agent::record_text;
use crate::stage::{BATON, Stage, env, items, skipped};

const TIMEOUT: Duration = Duration::from_secs(180);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cli {
    Claude,
    Codex,
    Gemini,
}

/// The folder of the command line tools, if all of them are there.
pub(crate) fn clis() -> Option<PathBuf> {
    let folder = env("BATON_TEST_CLIS").map(PathBuf::from);
    let found = folder.filter(|folder| Cli::ALL.iter().all(|cli| folder.join(cli.name()).exists()));
    if found.is_none() {
        skipped("BATON_TEST_CLIS does not name a folder with claude, codex and gemini");
    }
    found
}

impl Cli {
    pub(crate) const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    fn surface(self) -> &'static str {
        match self {
            Self::Claude => "claude_code",
            Self::Codex => "codex",
            Self::Gemini => "gemini_cli",
        }
    }

    /// Registers the server with the agent, as its own configuration has it.
    fn configure(self, stage: &Stage, url: &str) {
        // Agents pass little of their environment on.
        let settings = stage.settings();
        let server = json!({ "command": BATON, "args": ["mcp"], "env": &settings });
        let servers = json!({ "mcpServers": { "baton": server } });
        match self {
            Self::Claude => _ = stage.file("mcp.json", servers.to_string()),
            Self::Gemini => {
                let mut settings = servers;
                settings["security"] = json!({ "folderTrust": { "enabled": false }, "auth": { "selectedType": "gemini-api-key" } });
                stage.file("home/.gemini/settings.json", settings.to_string());
            }
            Self::Codex => {
                let provider = format!(
                    "model = \"mock\"\nmodel_provider = \"mock\"\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n"
                );
                let baton = format!(
                    "[mcp_servers.baton]\ncommand = {BATON:?}\nargs = [\"mcp\"]\ndefault_tools_approval_mode = \"approve\"\nstartup_timeout_sec = 60\n[mcp_servers.baton.env]\n"
                );
                let settings: String =
                    settings.iter().map(|(name, value)| format!("{name} = {value:?}\n")).collect();
                stage.file("home/.codex/config.toml", provider + &baton + &settings);
            }
        }
    }

    fn command(self, stage: &Stage, folder: &std::path::Path, url: &str) -> Command {
        let program = folder.join(self.name()).display().to_string();
        let mut command = stage.bare().program(&program);
        match self {
            Self::Claude => {
                command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "dummy");
                command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
                // By itself it begins without the tools of a server that is slow to start, as one is on a busy machine.
                command.env("MCP_CONNECTION_NONBLOCKING", "false").env("MCP_CONNECT_TIMEOUT_MS", "60000");
                command.args([
                    "-p",
                    "go",
                    "--strict-mcp-config",
                    "--allowedTools",
                    "mcp__baton",
                    "--mcp-config",
                ]);
                command.arg(stage.root().join("mcp.json"));
            }
            Self::Codex => _ = command.args(["exec", "--skip-git-repo-check", "--json", "go"]),
            Self::Gemini => {
                command.env("GEMINI_API_KEY", "dummy").env("GOOGLE_GEMINI_BASE_URL", url);
                command.args([
                    "-m",
                    "gemini-2.5-flash",
                    "--approval-mode",
                    "yolo",
                    "-o",
                    "stream-json",
                    "-p",
                    "go",
                ]);
            }
        }
        command
    }

    /// Plays a script through the agent; returns what each tool's result looked like to the model.
    fn play(self, stage: &Stage, folder: &std::path::Path, script: &[(&str, Value)]) -> Vec<String> {
        let calls = script.len();
        let script = script.iter().map(|(tool, input)| Call::baton(tool, input.clone())).collect();
        let model = MockModel::every_time(script, "done");
        self.configure(stage, &model.url());
        let mut command = self.command(stage, folder, &model.url());
        let output = stage.root().join(format!("{}.log", self.name()));
        let log = std::fs::File::create(&output).expect("log");
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("log")).stderr(log);
        ended(command.spawn().expect("the agent starts"));
        let results = model.results();
        let text = std::fs::read_to_string(output).unwrap_or_default();
        assert_eq!(results.len(), calls, "{self:?} brought back {results:#?} and said {text}");
        results
    }
}

fn ended(mut child: Child) {
    let begin = Instant::now();
    while child.try_wait().expect("a child of ours").is_none() {
        if begin.elapsed() > TIMEOUT {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// One agent wraps; what it leaves reaches another.
fn pass(stage: &Stage, folder: &std::path::Path, from: Cli, to: Cli) {
    let (giver, taker) =
        (format!("{}-gives-{}", from.name(), to.name()), format!("{}-takes-{}", to.name(), from.name()));
    let summary = format!("what {giver} knows");
    let packet =
        json!({ "summary": summary, "next_steps": ["go on"], "metadata": { "quote": "\"ä\" \\ 語" } });
    let left = from.play(
        stage,
        folder,
        &[("session_start", json!({ "identity": giver })), ("session_wrap", json!({ "packet": packet }))],
    );
    assert!(left[1].contains("Wrapped"), "{left:#?}");
    let got = to.play(stage, folder, &[("hd_exec", json!({ "identity": taker }))]);
    assert!(got[0].contains(&summary) && got[0].contains(&giver), "{from:?} to {to:?}: {got:#?}");
    assert!(!got[0].contains("truncated"), "{from:?} to {to:?}: {got:#?}");
    let mut pickups = stage.ledger("shop").into_iter().filter(|delta| delta["kind"] == "pickup");
    let last = pickups.next_back().expect("a pickup");
    assert_eq!(last["identity"], taker, "{last:#}");
    let roster = stage.terminal("Reader").json(&["status"])["sessions"].take();
    let own =
        roster.as_array().expect("sessions").iter().find(|session| session["identity"] == taker.as_str());
    assert_eq!(own.map(|session| session["surface"].clone()), Some(json!(to.surface())));
}

/// All nine pairs, one thread for each agent that gives.
#[test]
fn every_agent_passes_the_baton_to_every_other() {
    let Some(folder) = clis() else { return };
    std::thread::scope(|scope| {
        for from in Cli::ALL {
            let folder = &folder;
            scope.spawn(move || {
                let stage = Stage::ready();
                for to in Cli::ALL {
                    pass(&stage, folder, from, to);
                }
                stage.assert_sound();
            });
        }
    });
}

/// Nobody can approve a call in a headless run: what only reads is not refused for that.
#[test]
fn codex_without_a_user_reads_what_waits_under_every_approval_policy() {
    let Some(folder) = clis() else { return };
    for policy in ["on-request", "never"] {
        let stage = Stage::ready();
        stage.terminal("Lola").json(&["start"]);
        stage.terminal("Lola").json(&["wrap", "--summary", "half of the cart"]);
        let model = MockModel::every_time(vec![Call::baton("inbox", json!({ "action": "status" }))], "done");
        Cli::Codex.configure(&stage, &model.url());
        // The server as `baton install` sets it up: nothing is approved beforehand.
        let file = stage.home().join(".codex/config.toml");
        let config = std::fs::read_to_string(&file).expect("settings");
        let config = config.replace("default_tools_approval_mode = \"approve\"\n", "");
        std::fs::write(&file, format!("approval_policy = {policy:?}\n{config}")).expect("written");
        let mut command = Cli::Codex.command(&stage, &folder, &model.url());
        ended(
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("it starts"),
        );
        let results = model.results();
        assert!(results.iter().any(|result| result.contains("Lola")), "{policy}: {results:#?}");
    }
}

/// Claude Code's provider refuses every request; Codex goes on with what Claude Code was asked.
#[test]
fn at_a_limit_the_next_agent_is_told_what_the_first_was_asked() {
    let Some(folder) = clis() else { return };
    let stage = Stage::ready();
    let (full, next) = (MockModel::start(Vec::new(), "never said"), MockModel::start(Vec::new(), "done"));
    full.limit();
    Cli::Codex.configure(&stage, &next.url());
    let mut at = stage.bare();
    at.set("PATH", format!("{}:{}", folder.display(), env("PATH").expect("PATH")));
    at.set("BATON_IDENTITY", "Donna");
    at.set("ANTHROPIC_BASE_URL", full.url());
    at.set("ANTHROPIC_API_KEY", "dummy");
    at.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    let id = "33333333-aaaa-4000-8000-00000000abcd";
    let words = ["--", "-p", "Round the prices of the cart", "--session-id", id];
    let answer = at.run(&[&["run", "--agent", "claude", "--then", "codex"][..], &words].concat());
    assert!(answer.err.contains("Claude Code stopped at a limit"), "{answer:#?}");
    assert!(answer.err.contains("Codex goes on with baton"), "{answer:#?}");
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert!(next.was_told("Round the prices of the cart"), "{:#?}", next.requests());
    let prompt = next.texts("Round the prices of the cart").into_iter().next().unwrap_or_default();
    // Claude Code names the folder of its transcripts after the working copy.
    let prompt = prompt.replace(&stage.shop().display().to_string().replace('/', "-"), "«shop»");
    let messages: Vec<&str> =
        answer.err.lines().filter(|line| line.contains("session ") || line.contains("stopped at")).collect();
    record_text("J7", &stage, &format!("{}\n\nThe prompt of Codex:\n\n{prompt}", messages.join("\n")));
    stage.assert_sound();
}

/// The same where Codex or Gemini CLI is refused, each in its provider's words.
#[test]
fn every_agent_at_its_limit_gives_way_to_the_next() {
    let Some(folder) = clis() else { return };
    for (cli, words) in [
        (Cli::Codex, &["exec", "Round the prices of the cart"][..]),
        (Cli::Gemini, &["-m", "gemini-2.5-flash", "-p", "Round the prices of the cart"][..]),
    ] {
        let stage = Stage::ready();
        let (full, next) = (MockModel::start(Vec::new(), "never said"), MockModel::start(Vec::new(), "done"));
        full.limit();
        cli.configure(&stage, &full.url());
        let mut at = stage.bare();
        at.set("PATH", format!("{}:{}", folder.display(), env("PATH").expect("PATH")));
        at.set("BATON_IDENTITY", "Donna");
        at.set("GEMINI_API_KEY", "dummy");
        at.set("GOOGLE_GEMINI_BASE_URL", full.url());
        at.set("ANTHROPIC_BASE_URL", next.url());
        at.set("ANTHROPIC_API_KEY", "dummy");
        at.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        // What tells which conversation was this agent's.
        at.json(&["install", cli.name(), "--yes"]);
        let answer = at.run(&[&["run", "--agent", cli.name(), "--then", "claude", "--"][..], words].concat());
        // Gemini CLI writes into no file that it was a limit.
        let stop =
            if cli == Cli::Codex { "Codex stopped at a limit" } else { "Gemini CLI failed with exit code 1" };
        assert!(answer.err.contains(stop), "{cli:?} {answer:#?}");
        assert!(answer.err.contains("Claude Code goes on with baton"), "{cli:?} {answer:#?}");
        assert!(next.was_told("Round the prices of the cart"), "{cli:?} {answer:#?} {:#?}", next.requests());
        stage.assert_sound();
    }
}

/// Nobody is there to be asked: the agent works as `Bot`, and does not wait for an answer.
#[test]
fn an_agent_without_its_user_works_as_bot() {
    let Some(folder) = clis() else { return };
    for cli in Cli::ALL {
        let stage = Stage::ready();
        cli.play(
            &stage,
            &folder,
            &[("session_start", json!({})), ("session_checkpoint", json!({ "summary": "half" }))],
        );
        let ledger = stage.ledger("shop");
        let kinds: Vec<(Value, Value)> =
            ledger.iter().skip(1).map(|delta| (delta["kind"].clone(), delta["identity"].clone())).collect();
        assert_eq!(kinds, [(json!("start"), json!("Bot")), (json!("checkpoint"), json!("Bot"))], "{cli:?}");
    }
}

/// A packet of 200 KiB: the model is shown a part, whole and uncut by its client, and told how to read on.
#[test]
fn no_agent_cuts_an_answer() {
    let Some(folder) = clis() else { return };
    for cli in Cli::ALL {
        let stage = Stage::ready();
        let steps: Vec<String> = (0..4_000).map(|n| format!("step {n} is \"done\"\nand checked")).collect();
        let packet = json!({ "summary": "long", "work_completed": steps }).to_string();
        stage.terminal("Lola").json(&["start"]);
        stage.terminal("Lola").feed(packet.as_bytes(), &["wrap", "--packet", "-"]).done();
        let got = cli.play(&stage, &folder, &[("hd_exec", json!({ "identity": "Donna" }))]);
        assert!(!got[0].contains("truncated") && !got[0].contains("Output too large"), "{cli:?}: {got:#?}");
        for field in ["next_step", "left_out", "rules_reminders", "inherited_chain"] {
            assert!(got[0].contains(field), "{cli:?} was not shown `{field}`: {got:#?}");
        }
    }
}

#[test]
fn every_agent_shows_the_server_as_connected() {
    let Some(folder) = clis() else { return };
    let stage = Stage::ready();
    let run = |cli: Cli, args: &[&str]| {
        let program = folder.join(cli.name()).display().to_string();
        let output =
            stage.bare().program(&program).args(args).stdin(Stdio::null()).output().expect("it runs");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    Cli::ALL.iter().for_each(|cli| cli.configure(&stage, "http://127.0.0.1:9"));
    run(Cli::Claude, &["mcp", "add", "baton", "--", BATON, "mcp"]);
    let claude = run(Cli::Claude, &["mcp", "list"]);
    assert!(
        claude.contains("baton") && claude.contains("Connected") && !claude.contains("Failed"),
        "{claude}"
    );
    let gemini = run(Cli::Gemini, &["mcp", "list"]);
    assert!(
        gemini.contains("baton") && gemini.contains("Connected") && !gemini.contains("Disconnected"),
        "{gemini}"
    );
    let status = codex_status(&stage, &folder);
    let servers = items(&json!({ "items": status["data"] }));
    assert_eq!(servers[0]["name"], "baton", "{status:#}");
    assert_eq!(servers[0]["tools"].as_object().map(serde_json::Map::len), Some(11), "{status:#}");
}

/// What Codex' own server says about its MCP servers.
fn codex_status(stage: &Stage, folder: &std::path::Path) -> Value {
    let program = folder.join("codex").display().to_string();
    let mut command = stage.bare().program(&program);
    let mut child = command
        .arg("app-server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("stdin");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout")).lines().map_while(Result::ok);
    let mut answer = |id: i64| {
        let parsed = |line: String| serde_json::from_str::<Value>(&line).ok();
        lines.by_ref().filter_map(parsed).find(|message| message["id"] == id).expect("an answer")
    };
    let client = json!({ "clientInfo": { "name": "test", "version": "1" } });
    writeln!(input, "{}", json!({ "id": 1, "method": "initialize", "params": client })).expect("sent");
    answer(1);
    writeln!(input, "{}", json!({ "method": "initialized" })).expect("sent");
    writeln!(input, "{}", json!({ "id": 2, "method": "mcpServerStatus/list", "params": {} })).expect("sent");
    let status = answer(2)["result"].take();
    let _ = child.kill();
    let _ = child.wait();
    status
}

//! `cargo xtask release-fixtures`: what a release writes, kept for the upgrade tests of every later one.
//!
//! The release's own binary plays a day in a home of its own. Kept are its store, its exports, a settings file, the entries
//! that `baton install` wrote into other tools' files, and what it answered when it was asked for what it knows.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};

/// Where fixtures are written.
#[derive(Args)]
pub(crate) struct Options {
    /// Binary of the release; its `--version` names the folder
    #[arg(long, value_name = "FILE")]
    binary: PathBuf,
    /// Write the fixtures of this version anew: only before it is published
    #[arg(long)]
    overwrite: bool,
}

/// Below the root of the repository: a folder for each release.
pub(crate) const FOLDER: &str = "crates/baton/tests/releases";

/// Every setting that a file may hold, each with a value that changes nothing outside of it.
const SETTINGS: &str = include_str!("../release-settings.toml");

/// Who does what, in order. `TASK` and `OTHER` are the tasks that were created first and second.
const DAY: &[(&str, &[&str])] = &[
    ("Lola", &["agent", "register", "--role", "implementation", "--skill", "rust"]),
    ("Lola", &["project", "relate", "bank", "--kind", "downstream"]),
    ("Lola", &["start"]),
    ("Lola", &["note", "the cart adds up"]),
    ("Lola", &["decide", "integers for money", "--why", "floats drift"]),
    ("Lola", &["memory", "add", "the till rounds to cents"]),
    ("Lola", &["task", "dep", "add", "OTHER", "TASK"]),
    ("Lola", &["task", "claim", "TASK"]),
    ("Lola", &["task", "comment", "TASK", "by country"]),
    ("Lola", &["signal", "send", "--to", "Donna", "taxes are yours"]),
    (
        "Lola",
        &[
            "mail",
            "send",
            "--to",
            "Donna",
            "--type",
            "question",
            "--subject",
            "Which rate?",
            "--text",
            "Of which year?",
            "--wait",
        ],
    ),
    ("Lola", &["lease", "take", "src/**", "--why", "taxes"]),
    ("Lola", &["token", "create", "--scope", "read", "--name", "wall"]),
    ("Lola", &["checkpoint", "--summary", "half way"]),
    (
        "Lola",
        &[
            "handoff",
            "create",
            "--to",
            "bank",
            "--subject",
            "Open an account",
            "--description",
            "For the shop",
        ],
    ),
    ("Lola", &["wrap", "--summary", "taxes are half done", "--next", "the rates"]),
    ("Donna", &["start"]),
    ("Donna", &["wrap", "--summary", "receipts wait"]),
    ("Ann", &["start"]),
];

/// What is asked at the end: a later version answers the same.
pub(crate) const QUESTIONS: &[&[&str]] = &[
    &["log"],
    &["batons"],
    &["task", "list"],
    &["memory", "search", "cents"],
    &["handoff", "list"],
    &["sessions"],
    &["mail", "search", "rate"],
    &["project", "list"],
];

/// Files whose presence says that a tool is used here.
const TOOL_FOLDERS: &[&str] = &[
    ".claude",
    ".codex",
    ".gemini",
    ".copilot",
    ".cursor",
    ".config/opencode",
    ".config/kilo",
    ".qwen",
    ".kimi-code",
    ".factory",
    ".gemini/config",
    ".kiro",
    ".config/crush",
    ".config/zed",
    ".config/amp",
    ".pi/agent",
];

/// A home in which the release's binary runs.
struct ReleaseHome {
    root: tempfile::TempDir,
    binary: PathBuf,
}

impl ReleaseHome {
    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    #[allow(clippy::disallowed_methods, reason = "the release's binary finds git where this program does")]
    fn run(&self, folder: &str, identity: &str, words: &[&str]) -> Result<Vec<u8>> {
        let mut command = Command::new(&self.binary);
        command.args(words).current_dir(self.path(folder)).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.path("home"));
        command.env("BATON_IDENTITY", identity).env("BATON_PROCESS", format!("terminal-of-{identity}"));
        command.env("BATON_MACHINE", "machine").env("BATON_SURFACE", "human");
        let output = command.output().with_context(|| format!("{command:?} cannot be started"))?;
        if !output.status.success() {
            bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(output.stdout)
    }

    fn json(&self, identity: &str, words: &[&str]) -> Result<Value> {
        let words: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        Ok(serde_json::from_slice(&self.run("shop", identity, &words)?)?)
    }
}

/// Writes the fixtures of one release.
pub(crate) fn write(root: &Path, options: &Options) -> Result<()> {
    let home = ReleaseHome {
        root: tempfile::Builder::new().prefix("baton-release").rand_bytes(0).tempdir_in("/tmp")?,
        binary: options.binary.canonicalize().context("there is no such binary")?,
    };
    for folder in ["home", "shop/src", "bank"] {
        fs::create_dir_all(home.path(folder))?;
    }
    let version = String::from_utf8(home.run("home", "Ann", &["--version"])?)?;
    let version = version.split_whitespace().last().context("the binary names no version")?.to_owned();
    let folder = root.join(FOLDER).join(&version);
    if folder.exists() && !options.overwrite {
        bail!("{} is there: what a release wrote does not change", folder.display());
    }
    // All of it or nothing: a release that cannot be played leaves no folder behind.
    let draft = home.path("fixtures");
    fs::create_dir(&draft)?;
    play(&home)?;
    ask(&home, &draft)?;
    fs::write(draft.join("installed.json"), serde_json::to_vec_pretty(&install(&home)?)?)?;
    fs::write(draft.join("config.toml"), SETTINGS)?;
    fs::create_dir_all(&folder)?;
    for file in fs::read_dir(&draft)? {
        let file = file?;
        fs::copy(file.path(), folder.join(file.file_name()))?;
    }
    println!("{}", folder.display());
    Ok(())
}

fn play(home: &ReleaseHome) -> Result<()> {
    for name in ["shop", "bank"] {
        fs::create_dir_all(home.path(name).join(".git"))?;
        let made = Command::new("git").args(["init", "-q", "-b", "main"]).arg(home.path(name)).status()?;
        if !made.success() {
            bail!("git init failed");
        }
        home.run(name, "Lola", &["init", "--id", name])?;
    }
    let task = home.json("Lola", &["task", "create", "add taxes", "-l", "cart"])?;
    let other = home.json("Lola", &["task", "create", "print receipts"])?;
    let id = |task: &Value| task["id"].as_str().map(str::to_owned).context("a task without an id");
    let (task, other) = (id(&task)?, id(&other)?);
    for (identity, words) in DAY {
        let word = |word: &&'static str| match *word {
            "TASK" => task.clone(),
            "OTHER" => other.clone(),
            word => word.to_owned(),
        };
        let words: Vec<String> = words.iter().map(word).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        home.run("shop", identity, &words)?;
    }
    Ok(())
}

/// Keeps what the release answers, and what it exports; the store last, as all of that left it.
fn ask(home: &ReleaseHome, folder: &Path) -> Result<()> {
    let mut answers = serde_json::Map::new();
    for question in QUESTIONS {
        answers.insert(question.join(" "), home.json("Ann", question)?);
    }
    fs::write(folder.join("answers.json"), serde_json::to_vec_pretty(&Value::Object(answers))?)?;
    let file = |name: &str| folder.join(name).display().to_string();
    home.run("shop", "Ann", &["export", "beads", &file("issues.jsonl")])?;
    let copy = home.path("store.db");
    home.run("shop", "Ann", &["backup", &copy.display().to_string()])?;
    fs::write(folder.join("store.db.zst"), zstd::bulk::compress(&fs::read(&copy)?, 19)?)?;
    home.run("shop", "Ann", &["log", "export", &file("ledger.jsonl")])?;
    let waiting = home.json("Ann", &["batons"])?;
    let baton = waiting["items"][0]["baton_id"].as_str().context("no baton waits")?;
    home.run("shop", "Ann", &["handoff", "export", baton, "-o", &file("work.baton")])?;
    Ok(())
}

/// The files of other tools after `baton install --all`, with the home and the program named by placeholders.
fn install(home: &ReleaseHome) -> Result<Value> {
    for tool in TOOL_FOLDERS {
        fs::create_dir_all(home.path("home").join(tool))?;
    }
    home.run("home", "Ann", &["install", "--all", "--yes"])?;
    let mut files = BTreeMap::new();
    collect(&home.path("home"), &home.path("home"), &mut files)?;
    let (place, binary) = (home.path("home").display().to_string(), home.binary.display().to_string());
    let placed = |text: String| text.replace(&binary, "@BATON@").replace(&place, "@HOME@");
    Ok(json!(files.into_iter().map(|(name, text)| (name, placed(text))).collect::<BTreeMap<_, _>>()))
}

/// Every file below a folder that is text, but for the ledger's own.
fn collect(home: &Path, folder: &Path, files: &mut BTreeMap<String, String>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(home, &path, files)?;
        } else if let Ok(text) = fs::read_to_string(&path) {
            let name = path.strip_prefix(home)?.display().to_string();
            let is_ours = name.starts_with(".local/share/baton/") && !name.ends_with("installed.json");
            if !is_ours && !name.starts_with(".config/baton/") {
                files.insert(name, text);
            }
        }
    }
    Ok(())
}

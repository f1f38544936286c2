//! `baton demo`

mod cross;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use baton_model::delta;
use baton_model::id::visible;
use baton_ops::ledger::{LedgerList, LedgerListInput};
use baton_ops::project::{Init, InitInput};
use baton_ops::session::{Pickup, PickupInput, PickupOutput, Status, StatusInput};
use baton_ops::transcript::{self, Document, DocumentInput, Import, ImportInput, ImportOutput, ListInput};
use serde::Serialize;
use serde_json::Value;

use crate::app::{App, Format};
use crate::config::Config;
use crate::error::AppError;
use crate::{clock, render};

/// Show one real hand-off in a temporary directory; needs nothing installed
#[derive(clap::Args)]
pub(super) struct Args {
    /// Show work handed from one repository to another: through GitHub issues, emulated locally, and with Baton alone
    #[arg(long)]
    cross_project: bool,
    /// Run it in your own store and leave the baton for you: on the page of `baton serve`, or for `baton pickup`
    #[arg(long, conflicts_with = "cross_project")]
    live: bool,
    /// Keep the directory afterwards
    #[arg(long)]
    keep: bool,
}

/// A session of Claude Code as it lies on disk; `@CWD@` and `@AT+seconds@` are filled in.
const SESSION: &str = include_str!("../../../demo/claude-session.jsonl");
const SESSION_ID: &str = "7d1f0a52-4c1e-4b7a-9a55-2f0b8c6d3e11";

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let stage = DemoHome { is_live: args.live, ..DemoHome::build()? };
    let story = match (args.cross_project, args.live) {
        (true, _) => cross::play(&stage, app),
        (_, true) => leave(&stage, app),
        _ => play(&stage, app),
    };
    // What was left in a store that stays is about this folder.
    if args.keep || args.live && story.is_ok() {
        app.remark(&format!("kept: {}", stage.root.display()));
    } else {
        fs::remove_dir_all(&stage.root)?;
    }
    app.show(&story?, |story| {
        let mut text = String::new();
        for step in &story.steps {
            let _ = writeln!(text, "\n── {} ──\n$ {}\n", visible(&step.title), visible(&step.command));
            // Our own rendering: lines are kept, foreign text in it is already fenced.
            text.push_str(&step.shows);
        }
        let _ = writeln!(text, "\nWhere to look next: {}", visible(&story.next));
        text
    })
}

/// What a demo shows, step by step, and what it made.
#[derive(Default, Serialize)]
struct Story {
    next: String,
    steps: Vec<Step>,
    project_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baton_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    handoff_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    local_handoff_id: Option<String>,
}

/// A command with what it prints.
#[derive(Serialize)]
struct Step {
    title: String,
    command: String,
    shows: String,
}

impl Story {
    fn step(&mut self, title: &str, command: &str, shows: String) {
        self.steps.push(Step { title: title.to_owned(), command: command.to_owned(), shows });
    }
}

/// A throw-away home and repository.
struct DemoHome {
    root: PathBuf,
    home: PathBuf,
    repo: PathBuf,
    /// Played in the caller's own store.
    is_live: bool,
}

impl DemoHome {
    fn build() -> Result<Self, AppError> {
        let mut bytes = [0; 8];
        clock::random(&mut bytes);
        let root = std::env::temp_dir().join(format!("baton-demo-{:016x}", u64::from_le_bytes(bytes)));
        let (home, repo) = (root.join("home"), root.join("shop"));
        fs::create_dir_all(&repo)?;
        fs::write(
            repo.join("cart.py"),
            "def total(items):\n    return sum(i.price * i.count for i in items)\n",
        )?;
        let sessions = home.join(".claude/projects").join(slug(&repo));
        fs::create_dir_all(&sessions)?;
        fs::write(sessions.join(format!("{SESSION_ID}.jsonl")), transcript(&repo))?;
        git_init(&repo);
        Ok(Self { root, home, repo, is_live: false })
    }

    fn app(&self, who: &str, surface: &str, from: &App) -> App {
        App::new(self.config(who, surface, &self.repo, from), Format::Text, from.color, from.quiet)
    }

    /// The settings of a participant that works in a folder of the stage.
    fn config(&self, who: &str, surface: &str, folder: &Path, from: &App) -> Config {
        let own = from.config.clone();
        let (store, server, redis) = match self.is_live {
            true => (own.store, own.server, own.redis),
            false => (baton_store::Target::File(self.root.join("baton.db")), None, None),
        };
        Config {
            store,
            server,
            redis,
            identity: Some(who.to_owned()),
            surface: surface.to_owned(),
            process: Some(format!("demo-{who}")),
            project: None,
            session: None,
            home: self.home.clone(),
            data_dir: self.root.join("data"),
            cwd: Some(folder.to_owned()),
            vars: std::collections::BTreeMap::new(),
            ..from.config.clone()
        }
    }
}

/// Without git the demo works all the same: the folder is the project.
fn git_init(folder: &Path) {
    let _ = Command::new("git").args(["init", "-q", "-b", "main"]).arg(folder).output();
}

/// Lets git track what is there: only that is handed on.
fn git_add(folder: &Path) {
    let _ = Command::new("git").arg("-C").arg(folder).args(["add", "."]).output();
}

/// The folder name that Claude Code gives a project.
fn slug(repo: &Path) -> String {
    repo.display().to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// The bundled session, as if it had ended a few minutes ago in this repository.
fn transcript(repo: &Path) -> String {
    let start = clock::now() - 1_500_000;
    let text = SESSION.replace("@CWD@", &repo.display().to_string());
    let mut filled = String::new();
    for (index, part) in text.split("@AT+").enumerate() {
        match part.split_once('@') {
            Some((seconds, rest)) if index > 0 => {
                let at = start + seconds.parse::<i64>().unwrap_or_default() * 1000;
                filled.push_str(&baton_model::time::rfc3339(at));
                filled.push_str(rest);
            }
            _ => filled.push_str(part),
        }
    }
    filled
}

/// The first half only, in a store that others look at: the second is theirs.
fn leave(stage: &DemoHome, app: &App) -> Result<Story, AppError> {
    let mut claude = stage.app("claude", "claude_code", app);
    let mut bytes = [0; 3];
    clock::random(&mut bytes);
    let [a, b, c] = bytes;
    let id = format!("demo-{a:02x}{b:02x}{c:02x}");
    let registered = claude.run::<Init>(&InitInput { id: Some(id.clone()), ..InitInput::default() })?;
    let listed = sessions(&mut claude)?;
    let imported = claude.run::<Import>(&latest())?;
    let mut story = Story::default();
    let project = format!("project {}\n", visible(&registered.project_id));
    story.step("A repository is registered", &format!("baton init --id {id}"), project);
    story.step("Claude Code hit its limit; its session lies on disk", "baton transcripts", listed);
    let baton = format!("baton {} waits\n", visible(&imported.baton_id));
    story.step("It is a baton now, and waits for you", "baton import-transcript latest", baton);
    let next = format!(
        "pick it up on the page of `baton serve`, or with `baton pickup --project {id} --as YOU`; `baton status --project {id}` shows who has it."
    );
    Ok(Story { next, project_id: id, baton_id: Some(imported.baton_id), ..story })
}

/// The newest session.
fn latest() -> ImportInput {
    ImportInput { id: "latest".to_owned(), ..ImportInput::default() }
}

fn play(stage: &DemoHome, app: &App) -> Result<Story, AppError> {
    let mut claude = stage.app("claude", "claude_code", app);
    let mut donna = stage.app("Donna", "codex", app);
    let mut story = Story::default();

    let registered = claude.run::<Init>(&InitInput::default())?;
    let project = format!("project {}\n", visible(&registered.project_id));
    story.step("A repository is registered", "baton init", project);

    let listed = sessions(&mut claude)?;
    story.step("Claude Code hit its limit; its session lies on disk", "baton transcripts", listed);

    let document = claude.run::<Document>(&DocumentInput {
        id: "latest".to_owned(),
        to: Some("codex".to_owned()),
        preset: Some("standard".to_owned()),
        ..DocumentInput::default()
    })?;
    story.step(
        &format!("It becomes a document for Codex, about {} tokens", document.tokens),
        "baton handoff from-transcript latest --to codex",
        document.document.lines().map(|line| format!("  {line}\n")).collect(),
    );

    let imported = claude.run::<Import>(&latest())?;
    story.step(
        "And a baton that exactly one agent picks up",
        "baton import-transcript latest",
        format!("baton {} waits\n", visible(&imported.baton_id)),
    );

    let picked = donna.run::<Pickup>(&PickupInput::default())?;
    let same = packet_is_whole(&imported, &picked, &mut donna)?;
    let session = picked.session_id.as_deref().map(visible).unwrap_or_default();
    story.step(
        "Donna, in Codex, picks it up",
        "baton pickup --as Donna",
        format!("session {session} has the baton; its packet is {same}\n"),
    );

    story.step("Lola comes too late", "baton pickup --as Lola", too_late(stage, app));

    let status = donna.run::<Status>(&StatusInput::default())?;
    story.step("Everybody sees who has it", "baton status", render::card(&status.card));
    let next = "`baton init` in a repository of yours, then `baton transcripts`.".to_owned();
    Ok(Story { next, project_id: registered.project_id, session_id: picked.session_id, ..story })
}

/// The sessions that lie on disk.
fn sessions(app: &mut App) -> Result<String, AppError> {
    let listed = app.run::<transcript::List>(&ListInput::default())?;
    let row = |one: &transcript::Row| {
        vec![
            render::short_id(&one.id),
            visible(&one.agent),
            one.updated_at.map(render::time_ago).unwrap_or_default(),
            one.title.as_deref().map(visible).unwrap_or_default(),
        ]
    };
    Ok(render::table(&listed.items.iter().map(row).collect::<Vec<_>>()))
}

/// The refusal of a pickup of a baton that another session holds.
fn too_late(stage: &DemoHome, app: &App) -> String {
    let refused = stage.app("Lola", "gemini_cli", app).run::<Pickup>(&PickupInput::default());
    refused.err().map_or_else(|| "nothing was refused\n".to_owned(), |error| error.text())
}

/// Compares what was picked up with what the ledger holds.
fn packet_is_whole(
    imported: &ImportOutput,
    picked: &PickupOutput,
    app: &mut App,
) -> Result<&'static str, AppError> {
    let kind = Some(delta::Kind::Wrap.as_str().to_owned());
    let ledger = app.run::<LedgerList>(&LedgerListInput { kind, ..LedgerListInput::default() })?;
    let wrapped = ledger.items.iter().find(|delta| imported.delta_id == delta.delta_id);
    let body = wrapped.and_then(|delta| delta.body.as_ref()).and_then(Value::as_str);
    let whole = body.is_some() && body == picked.baton.as_ref().map(|baton| baton.body.as_str());
    Ok(if whole { "the wrapped one, byte for byte" } else { "NOT the wrapped one" })
}

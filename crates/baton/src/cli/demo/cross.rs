//! `baton demo --cross-project`: a hand-off from one repository to another. Everything is done as the commands do it; GitHub alone is
//! played, by the emulator that the tests use.

use std::fs;
use std::path::PathBuf;

use baton_emulator::{Emulator, Options};
use baton_model::id::visible;
use baton_ops::handoff::{
    Action, Advance, AdvanceInput, Create, CreateInput, CreateOutput, HandoffOrBaton, Progress, Show,
    ShowInput,
};
use baton_ops::project::{Init, InitInput};
use baton_ops::session::{PickupInput, Start, StartInput, Status, StatusInput};
use baton_ops::task;
use serde_json::json;

use super::{DemoHome, Story, git_add, git_init};
use crate::app::{App, Format};
use crate::cli::handoff::progress::{summary, would};
use crate::cli::pickup;
use crate::config::{Config, GitHub};
use crate::error::AppError;
use crate::handoff_progress::SPAN;
use crate::render;

const REPO: &str = "acme/lib";
const SUBJECT: &str = "Round half up in money()";
const WHY: &str =
    "The shop's totals are a cent off: 0.125 becomes 0.12. Keep the signature, billing imports it.";
const RESULT: &str = "merged as 4f2c1e9, released in 2.1";

/// Two repositories, an agent in each, and GitHub.
struct DemoWorld {
    hub: Emulator,
    ann: App,
    bob: App,
}

impl DemoWorld {
    fn on(stage: &DemoHome, app: &App) -> Result<Self, AppError> {
        let hub = Emulator::start(Options::default())?;
        let lib = lib(stage)?;
        write_document(stage)?;
        let enter = |who: &str, surface: &str, folder: &PathBuf| {
            let config = stage.config(who, surface, folder, app);
            let github = GitHub { api: hub.url(), token: Some("demo".into()), ..config.github.clone() };
            App::new(Config { github, ..config }, Format::Text, app.color, app.quiet)
        };
        let (ann, bob) = (enter("Ann", "claude_code", &stage.repo), enter("Bob", "codex", &lib));
        Ok(Self { hub, ann, bob })
    }
}

/// The other repository.
fn lib(stage: &DemoHome) -> Result<PathBuf, AppError> {
    let lib = stage.root.join("lib");
    fs::create_dir_all(lib.join("src"))?;
    fs::write(lib.join("src/money.py"), "def money(cents):\n    return round(cents)\n")?;
    git_init(&lib);
    git_add(&lib);
    Ok(lib)
}

/// The document that is linked: it is the sender's.
fn write_document(stage: &DemoHome) -> Result<(), AppError> {
    fs::create_dir_all(stage.repo.join("spec"))?;
    let text = "# Money\n\nAmounts are integers of cents. Rounding is half up.\n";
    fs::write(stage.repo.join("spec/money.md"), text)?;
    git_add(&stage.repo);
    Ok(())
}

pub(super) fn play(stage: &DemoHome, app: &App) -> Result<Story, AppError> {
    let mut cast = DemoWorld::on(stage, app)?;
    let mut story = Story::default();
    register(&mut cast, &mut story)?;
    let id = hand_over(&mut cast, &mut story)?;
    receive(&mut cast, &mut story, &id)?;
    finish(&mut cast, &mut story, &id)?;
    let local = without_network(&mut cast, &mut story)?;
    let next = "`baton handoff create --to PROJECT --subject … --dry-run` in a repository of yours; `baton help handoff` explains it.";
    Ok(Story {
        next: next.to_owned(),
        project_id: "shop".to_owned(),
        handoff_id: Some(id),
        local_handoff_id: Some(local),
        ..story
    })
}

fn register(cast: &mut DemoWorld, story: &mut Story) -> Result<(), AppError> {
    let shop = cast.ann.run::<Init>(&InitInput::default())?;
    let with_tracker = InitInput { issues_repo: Some(REPO.to_owned()), ..InitInput::default() };
    let lib = cast.bob.run::<Init>(&with_tracker)?;
    story.step(
        "Two repositories are registered; the second keeps its tasks on GitHub",
        &format!("(cd shop && baton init) && (cd lib && baton init --issues-repo {REPO})"),
        format!("projects {} and {}\n", visible(&shop.project_id), visible(&lib.project_id)),
    );
    Ok(())
}

/// What Ann asks for.
fn request(local: bool, dry_run: bool) -> CreateInput {
    CreateInput {
        to_project_id: "lib".to_owned(),
        subject: SUBJECT.to_owned(),
        description: WHY.to_owned(),
        priority: Some("high".into()),
        tags: vec!["money".to_owned()],
        links: [("docs".to_owned(), json!(["spec/money.md"]))].into_iter().collect(),
        local,
        dry_run,
        ..CreateInput::default()
    }
}

/// Makes the hand-off.
fn create(local: bool, app: &mut App) -> Result<Progress, AppError> {
    match app.run::<Create>(&request(local, false))? {
        CreateOutput::Made(progress) => Ok(*progress),
        CreateOutput::Preview(_) => Err(anyhow::anyhow!("a hand-off was only previewed").into()),
    }
}

fn hand_over(cast: &mut DemoWorld, story: &mut Story) -> Result<String, AppError> {
    let command = format!("baton handoff create --to lib --subject \"{SUBJECT}\" --priority high …");
    if let CreateOutput::Preview(preview) = cast.ann.run::<Create>(&request(false, true))? {
        story.step(
            "Ann, in shop, needs something of lib, and looks first what would be written where",
            &format!("{command} --dry-run"),
            would(&preview),
        );
    }
    let made = create(false, &mut cast.ann)?;
    story.step("She hands it over", &command, summary(&made));
    story.step(
        "The issue, on GitHub (an emulator plays it here)",
        &format!("gh issue view 1 --repo {REPO}"),
        issue(&cast.hub),
    );
    Ok(made.row.handoff.handoff_id)
}

fn receive(cast: &mut DemoWorld, story: &mut Story, id: &str) -> Result<(), AppError> {
    cast.bob.run::<Start>(&StartInput::default())?;
    let status = cast.bob.run::<Status>(&StatusInput::default())?;
    story.step(
        "Bob, in lib, is told when he starts: the subject, quoted as Ann's, who sent it and when",
        "baton start",
        render::card(&status.card),
    );
    let picked = pickup::pick_up(&pickup_of(id), &mut cast.bob)?;
    story.step(
        "He accepts. What it names is checked at that moment, and what Ann wrote is quoted as hers",
        "baton pickup --handoff «id»",
        pickup::show(&picked),
    );
    cast.bob.drive(id, SPAN / 3)?;
    Ok(())
}

fn pickup_of(id: &str) -> PickupInput {
    PickupInput { target_id: Some(id.to_owned()), ..PickupInput::default() }
}

fn completion_of(id: &str) -> AdvanceInput {
    AdvanceInput {
        id: id.to_owned(),
        action: Action::Complete,
        identity: None,
        result: Some(RESULT.to_owned()),
        force: false,
        holder: None,
        why: None,
    }
}

fn finish(cast: &mut DemoWorld, story: &mut Story, id: &str) -> Result<(), AppError> {
    let after = cast.bob.run::<Advance>(&completion_of(id))?.handoff.handoff;
    story.step(
        "He finishes",
        &format!("baton handoff complete «id» --result \"{RESULT}\""),
        format!("hand-off {} is {}\n", render::short_id(&after.handoff_id), after.state.as_str()),
    );
    story.step(
        "The issue is closed with the result",
        &format!("gh issue view 1 --repo {REPO} --comments"),
        issue(&cast.hub),
    );
    story.step(
        "And Ann has heard of it, in shop",
        "baton handoff show «id»",
        outcome_text(&mut cast.ann, id)?,
    );
    Ok(())
}

/// The same with Baton's own ledger as the tracker.
fn without_network(cast: &mut DemoWorld, story: &mut Story) -> Result<String, AppError> {
    let calls: u64 = cast.hub.hub().calls.values().sum();
    let made = create(true, &mut cast.ann)?;
    let mut shows = summary(&made);
    let (id, task) = (made.row.handoff.handoff_id, made.row.handoff.task);
    pickup::pick_up(&pickup_of(&id), &mut cast.bob)?;
    cast.bob.run::<Advance>(&completion_of(&id))?;
    shows.push_str(&outcome_text(&mut cast.ann, &id)?);
    let task = task.map(|task| task.id).unwrap_or_default();
    let task = cast.bob.run::<task::Show>(&task::ShowInput { id: task, ..task::ShowInput::default() })?;
    let (task_id, status) = (visible(&task.task.id), visible(&task.task.status));
    shows.push_str(&format!("task {task_id} is {status}\n"));
    let after: u64 = cast.hub.hub().calls.values().sum();
    shows.push_str(&format!("{} requests left this machine for it\n", after - calls));
    story.step(
        "The same without GitHub and without any network: the task lives in Baton's own ledger",
        "baton handoff create --to lib --local …",
        shows,
    );
    Ok(id)
}

fn outcome_text(app: &mut App, id: &str) -> Result<String, AppError> {
    let shown = app.run::<Show>(&ShowInput { id: id.to_owned(), ..ShowInput::default() })?;
    let HandoffOrBaton::Handoff(row) = shown.handoff else { return Ok(String::new()) };
    let result = row.handoff.result.as_deref().map(visible).unwrap_or_default();
    Ok(format!("{}: {result}\n", row.handoff.state.as_str()))
}

/// The one issue as GitHub has it.
fn issue(hub: &Emulator) -> String {
    let hub = hub.hub();
    let mut text = String::new();
    for issue in hub.issues(REPO) {
        let state = if issue.open {
            "open".to_owned()
        } else {
            format!("closed as {}", issue.reason.as_deref().unwrap_or(""))
        };
        text.push_str(&format!("#{} {} ({state}; {})\n", issue.number, issue.title, issue.labels.join(", ")));
        text.push_str(&render::quoted(&issue.body));
        for comment in &issue.comments {
            text.push_str(&format!("comment:\n{}", render::quoted(&comment.body)));
        }
    }
    text
}

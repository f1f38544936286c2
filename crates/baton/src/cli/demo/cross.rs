//! `baton demo --cross-project`: a hand-off from one repository to another. Everything is done as the commands do it; GitHub alone is
//! played, by the emulator that the tests use.

use baton_ops::op::Operation;
use std::fs;
use std::path::PathBuf;

use baton_emulator::{Emulator, Options};
use baton_model::id::visible;
use baton_ops::project::{Init, InitInput};
use serde_json::{Value, json};

use super::{Stage, git_add, git_init};
use crate::app::{App, Format};
use crate::cli::handoff::driven::{drive, told, would};
use crate::cli::pickup;
use crate::config::{Config, GitHub};
use crate::driven::SPAN;
use crate::error::Ended;
use crate::render;

const REPO: &str = "acme/lib";
const SUBJECT: &str = "Round half up in money()";
const WHY: &str =
    "The shop's totals are a cent off: 0.125 becomes 0.12. Keep the signature, billing imports it.";
const RESULT: &str = "merged as 4f2c1e9, released in 2.1";

/// What is shown, step by step.
#[derive(Default)]
struct Story(Vec<Value>);

impl Story {
    fn step(&mut self, title: &str, command: &str, shows: String) {
        self.0.push(json!({ "title": title, "command": command, "shows": shows }));
    }
}

/// Two repositories, an agent in each, and GitHub.
struct Cast {
    hub: Emulator,
    ann: App,
    bob: App,
}

impl Cast {
    fn on(stage: &Stage, app: &App) -> Result<Self, Ended> {
        let hub = Emulator::start(Options::default())?;
        let lib = lib(stage)?;
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
fn lib(stage: &Stage) -> Result<PathBuf, Ended> {
    let lib = stage.root.join("lib");
    fs::create_dir_all(lib.join("spec"))?;
    fs::write(lib.join("spec/money.md"), "# Money\n\nAmounts are integers of cents. Rounding is half up.\n")?;
    git_init(&lib);
    git_add(&lib);
    Ok(lib)
}

pub(super) fn play(stage: &Stage, app: &App) -> Result<Value, Ended> {
    let mut cast = Cast::on(stage, app)?;
    let mut story = Story::default();
    register(&mut cast, &mut story)?;
    let id = hand_over(&mut cast, &mut story)?;
    receive(&mut cast, &mut story, &id)?;
    finish(&mut cast, &mut story, &id)?;
    let local = without_network(&mut cast, &mut story)?;
    let next = "`baton handoff create --to PROJECT --subject … --dry-run` in a repository of yours; docs/handoffs.md.";
    Ok(
        json!({ "next": next, "steps": story.0, "project_id": "shop", "handoff_id": id, "local_handoff_id": local }),
    )
}

fn register(cast: &mut Cast, story: &mut Story) -> Result<(), Ended> {
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
fn wish(local: bool, dry_run: bool) -> Value {
    json!({
        "to_project_id": "lib", "subject": SUBJECT, "description": WHY, "priority": "high", "tags": ["money"],
        "links": { "docs": ["spec/money.md"] }, "local": local, "dry_run": dry_run,
    })
}

fn hand_over(cast: &mut Cast, story: &mut Story) -> Result<String, Ended> {
    let command = format!("baton handoff create --to lib --subject \"{SUBJECT}\" --priority high …");
    let plan = cast.ann.call(baton_ops::handoff::Create::NAME, wish(false, true))?;
    story.step(
        "Ann, in shop, needs something of lib, and looks first what would be written where",
        &format!("{command} --dry-run"),
        would(&plan),
    );
    let mut made = cast.ann.call(baton_ops::handoff::Create::NAME, wish(false, false))?;
    drive(&mut made, &mut cast.ann)?;
    story.step("She hands it over", &command, told(&made));
    story.step(
        "The issue, on GitHub (an emulator plays it here)",
        &format!("gh issue view 1 --repo {REPO}"),
        issue(&cast.hub),
    );
    Ok(render::text(&made, "handoff_id"))
}

fn receive(cast: &mut Cast, story: &mut Story, id: &str) -> Result<(), Ended> {
    cast.bob.call(baton_ops::session::Start::NAME, json!({}))?;
    let card = cast.bob.call(baton_ops::session::Status::NAME, json!({}))?;
    story.step(
        "Bob, in lib, is told when he starts: by id, sender and age, nobody's words reach him unasked",
        "baton start",
        render::card(&card),
    );
    let picked = pickup::taken(json!({ "handoff_id": id }), &mut cast.bob)?;
    story.step(
        "He accepts. What it names is checked at that moment, and what Ann wrote is quoted as hers",
        "baton pickup --handoff «id»",
        pickup::show(&picked),
    );
    cast.bob.drive(id, SPAN / 3)?;
    Ok(())
}

fn finish(cast: &mut Cast, story: &mut Story, id: &str) -> Result<(), Ended> {
    let done = json!({ "id": id, "action": "complete", "result": RESULT });
    let after = cast.bob.call(baton_ops::handoff::Advance::NAME, done)?;
    cast.bob.drive(id, SPAN / 3)?;
    story.step(
        "He finishes",
        &format!("baton handoff complete «id» --result \"{RESULT}\""),
        format!("hand-off {} is {}\n", render::id(&after, "handoff_id"), render::text(&after, "state")),
    );
    story.step(
        "The issue is closed with the result",
        &format!("gh issue view 1 --repo {REPO} --comments"),
        issue(&cast.hub),
    );
    story.step("And Ann has heard of it, in shop", "baton handoff show «id»", heard(&mut cast.ann, id)?);
    Ok(())
}

/// The same with Baton's own ledger as the tracker.
fn without_network(cast: &mut Cast, story: &mut Story) -> Result<String, Ended> {
    let calls: u64 = cast.hub.hub().calls.values().sum();
    let made = cast.ann.call(baton_ops::handoff::Create::NAME, wish(true, false))?;
    let id = render::text(&made, "handoff_id");
    let mut shows = told(&made);
    pickup::taken(json!({ "handoff_id": id }), &mut cast.bob)?;
    cast.bob.call(
        baton_ops::handoff::Advance::NAME,
        json!({ "id": id, "action": "complete", "result": RESULT }),
    )?;
    shows.push_str(&heard(&mut cast.ann, &id)?);
    let task = cast.bob.call(baton_ops::task::Show::NAME, json!({ "id": made["task"]["id"] }))?;
    shows.push_str(&format!("task {} is {}\n", render::text(&task, "id"), render::text(&task, "status")));
    let after: u64 = cast.hub.hub().calls.values().sum();
    shows.push_str(&format!("{} requests left this machine for it\n", after - calls));
    story.step(
        "The same without GitHub and without any network: the task lives in Baton's own ledger",
        "baton handoff create --to lib --local …",
        shows,
    );
    Ok(id)
}

fn heard(app: &mut App, id: &str) -> Result<String, Ended> {
    let shown = app.call(baton_ops::handoff::Show::NAME, json!({ "id": id }))?;
    Ok(format!("{}: {}\n", render::text(&shown, "state"), render::text(&shown, "result")))
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

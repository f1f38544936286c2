//! Hand-offs from one repository to another, for a person: with GitHub's issues (an emulator of them), and with nothing but Baton.

use std::time::{Duration, Instant};

use baton_emulator::{Emulator, Fault, Options};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::http::{Server, request};
use crate::stage::{Stage, Terminal, items, text};

/// A repository beside the shop, registered as project `lib`.
pub(crate) fn beside(stage: &Stage) {
    let lib = stage.repo("lib");
    stage.terminal("Setup").within(&lib).json(&["init"]);
}

pub(crate) fn github(options: Options) -> Emulator {
    Emulator::start(Options { token: Some("t0k".into()), ..options }).expect("an emulator")
}

pub(crate) fn with_github<'a>(terminal: &Terminal<'a>, hub: &Emulator) -> Terminal<'a> {
    terminal
        .with("BATON_GITHUB_API", hub.url())
        .with("BATON_GITHUB_TOKEN", "t0k")
        .with("BATON_GITHUB_POLL", "1s")
}

pub(crate) struct Two<'a> {
    pub(crate) ann: Terminal<'a>,
    pub(crate) bob: Terminal<'a>,
}

pub(crate) fn two<'a>(stage: &'a Stage, hub: Option<&Emulator>) -> Two<'a> {
    beside(stage);
    let (ann, bob) = (stage.terminal("Ann"), stage.terminal("Bob").within(stage.root().join("lib")));
    match hub {
        Some(hub) => Two { ann: with_github(&ann, hub), bob: with_github(&bob, hub) },
        None => Two { ann, bob },
    }
}

const HAND: [&str; 9] = [
    "handoff",
    "create",
    "--to",
    "lib",
    "--subject",
    "Add rounding",
    "--description",
    "Half up, as in the shop",
    "--json",
];

pub(crate) fn hand(who: &Terminal<'_>, more: &[&str]) -> Value {
    who.json(&[&HAND[..8], more].concat())
}

/// From the hand-off to the moment when the sender hears of its result.
fn round_trip(ann: &Terminal<'_>, bob: &Terminal<'_>, more: &[&str]) -> (String, Value) {
    let made = hand(ann, more);
    assert_eq!(made["state"], "offered", "{made:#}");
    let id = text(&made, "handoff_id");
    let card = bob.json(&["start"]);
    let waiting = items(&json!({ "items": card["handoffs"] }));
    assert_eq!((waiting[0]["id"].clone(), waiting[0]["from"].clone()), (json!(id), json!("shop/Ann")));
    assert_eq!(waiting[0]["subject"], "Add rounding", "announced with its subject: {card:#}");
    assert!(!card.to_string().contains("Half up"), "the description waits for who accepts it: {card:#}");
    let picked = bob.json(&["pickup", "--handoff", &id]);
    assert_eq!(picked["handoff"]["subject"], "Add rounding");
    assert_eq!(picked["handoff"]["checks"][0]["ok"], true, "{picked:#}");
    assert!(picked["handoff"]["note"]["text"].as_str().is_some_and(|note| note.contains("Half up")));
    assert!(picked["handoff"]["project_document"]["text"].as_str().is_some_and(|text| text.contains("ims:")));
    let done = bob.json(&["handoff", "complete", &id, "--result", "merged as abc123"]);
    assert_eq!(done["state"], "completed");
    let heard = ann.json(&["handoff", "show", &id]);
    assert_eq!(
        (heard["state"].clone(), heard["result"].clone()),
        (json!("completed"), json!("merged as abc123"))
    );
    (id, made)
}

#[test]
fn a_round_trip_over_github() {
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    let Two { ann, bob } = two(&stage, Some(&hub));
    let before = stage.ledger("lib").len();
    let dry = hand(&ann, &["--repo", "o/lib", "--dry-run"]);
    assert_eq!(dry["resolved_issues_github_repo"], "o/lib");
    assert_eq!(
        (stage.ledger("lib").len(), hub.hub().calls.len()),
        (before, 0),
        "a dry run does nothing anywhere"
    );
    let (_, made) = round_trip(
        &ann,
        &bob,
        &["--repo", "https://github.com/o/lib.git", "--tag", "api", "--priority", "high"],
    );
    assert_eq!(made["task"]["id"], "gh-o/lib-1");
    let hub = hub.hub();
    let issue = &hub.issues("o/lib")[0];
    assert_eq!(hub.issues("o/lib").len(), 1);
    assert_eq!(
        (issue.title.as_str(), issue.labels.join(" ")),
        ("Add rounding", "api handoff priority:high".to_owned())
    );
    assert!(issue.body.starts_with("Half up, as in the shop\n\n<!-- baton:handoff:"), "{}", issue.body);
    assert_eq!((issue.open, issue.reason.as_deref()), (false, Some("completed")));
    let comments: Vec<&str> = issue.comments.iter().map(|comment| comment.body.as_str()).collect();
    assert_eq!(comments.len(), 2, "{comments:#?}");
    assert!(comments[0].starts_with("This hand-off is accepted by Bob."), "{comments:#?}");
    assert!(comments[1].contains("merged as abc123"), "{comments:#?}");
}

#[test]
fn a_repeated_request_says_that_the_work_was_handed_over_before_and_what_became_of_it() {
    let stage = Stage::ready();
    beside(&stage);
    let (ann, ben) = (stage.terminal("Ann"), stage.terminal("Ben"));
    let call =
        ["handoff", "create", "--to", "lib", "--subject", "The guide", "--local", "--request-id", "r-1"];
    let id = text(&ann.json(&call), "handoff_id");
    let answer = ann.text(&call);
    assert!(answer.starts_with(&format!("handed to lib already, and not twice: {id} (offered)")), "{answer}");
    ben.json(&["handoff", "decline", &id, "--why", "not this year"]);
    let answer = ann.text(&call);
    assert!(
        answer.starts_with(&format!("handed to lib already, and not twice: {id} (declined)")),
        "{answer}"
    );
    assert!(answer.contains("\n  declined by Ben at ") && answer.contains("not this year"), "{answer}");
    let again = ann.json(&call);
    assert_eq!((again["replayed"].clone(), again["handoff_id"].clone()), (json!(true), json!(id)));
    let (code, answer) = (
        ann.run(&call).code,
        ann.run(&["mail", "send", "--to", "token:tw", "--subject", "x", "--text", "y"]),
    );
    assert_eq!(code, 0);
    assert!(
        answer.err.contains("a token without an identity")
            && answer.err.contains("mail send --reply-to MESSAGE"),
        "{answer:#?}"
    );
}

#[test]
fn the_projects_document_is_written_and_read_back() {
    let stage = Stage::new();
    let ann = stage.terminal("Ann");
    let file = stage.shop().join("docs/PROJECT.md");
    ann.json(&["init", "--vcs", "pantheon", "--issues-repo", "o/upstream"]);
    let written = std::fs::read_to_string(&file).expect("a document");
    let front =
        written.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---")).expect("front matter").0;
    for line in ["ims:", "is_isolated: false", "provider: pantheon", "github_repo: o/upstream"] {
        assert!(front.lines().any(|known| known.trim() == line), "{line}: {front}");
    }
    let edited = written.replace("is_isolated: false", "is_isolated: true").replace("o/upstream", "o/other");
    std::fs::write(&file, format!("{edited}\nWhat I wrote myself.\n")).expect("written");
    let untrusted = ann.json(&["init", "--sync"]);
    assert_eq!(
        (untrusted["project"]["issues_github_repo"].clone(), untrusted["suggestion"]["issues_repo"].clone()),
        (json!("o/upstream"), json!("o/other")),
        "a tracker is not changed by a file"
    );
    ann.json(&["trust", "--yes"]);
    let synced = ann.json(&["init", "--sync"])["project"].clone();
    assert_eq!(
        (synced["is_isolated"].clone(), synced["issues_github_repo"].clone()),
        (json!(true), json!("o/other"))
    );
    ann.json(&["init"]);
    let document = std::fs::read_to_string(&file).expect("a document");
    assert!(document.contains("What I wrote myself."));
    // The file alone does not open what is isolated, and is not changed behind the user's back.
    let opened = document.replace("is_isolated: true", "is_isolated: false");
    std::fs::write(&file, &opened).expect("written");
    let answer = ann.text(&["init"]);
    assert!(
        answer.contains("\nnote: docs/PROJECT.md says `is_isolated: false`")
            && !answer.contains("wrote docs"),
        "{answer}"
    );
    let again = ann.json(&["init"]);
    assert_eq!(
        (&again["project"]["is_isolated"], again["remarks"].as_array().map(Vec::len)),
        (&json!(true), Some(1))
    );
    assert_eq!(std::fs::read_to_string(&file).expect("a document"), opened);
}

#[test]
fn what_a_handoff_has_made_is_logged() {
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    let Two { ann, .. } = two(&stage, Some(&hub));
    for place in [&["--repo", "o/lib"][..], &["--local"]] {
        let answer = ann.run(&[&HAND[..], place, &["--verbose"]].concat()).done();
        let made = answer.json();
        let line =
            answer.err.lines().find(|line| line.contains("hand-off handoff_id")).expect("a line of the log");
        let seeded = &made["seeded_session"];
        for (field, value) in [
            ("task_id", &made["task"]["id"]),
            ("task_url", &made["task"]["url"]),
            ("memory_id", &made["memory_id"]),
            ("session_project_id", &seeded["project_id"]),
            ("session_agent_id", &seeded["agent_id"]),
            ("session_task_id", &seeded["task_id"]),
            ("session_id", &seeded["session_id"]),
        ] {
            let value = value.as_str().unwrap_or_default();
            assert!(line.contains(&format!("{field}={value:?}")), "{field}={value:?}: {line}");
        }
    }
}

#[test]
fn a_round_trip_without_any_network() {
    let stage = Stage::ready();
    let Two { ann, bob } = two(&stage, None);
    let (_, made) = round_trip(&ann, &bob, &[]);
    let task = text(&made["task"], "id");
    assert!(task.starts_with("lib-"), "{task}");
    assert_eq!(bob.json(&["task", "show", &task])["status"], "closed");
    stage.assert_sound();
}

#[test]
fn what_cannot_be_done_is_said_with_its_exit_code() {
    let stage = Stage::ready();
    let hub = github(Options { repos: Some(vec!["o/lib".into()]), ..Options::default() });
    let Two { ann, .. } = two(&stage, Some(&hub));
    let plain = stage.terminal("Ann");
    plain.refused(1, "github_unconfigured", &[&HAND[..8], &["--repo", "o/lib"]].concat());
    ann.refused(1, "repo_invalid", &[&HAND[..8], &["--repo", "nonsense"]].concat());
    let gone = ann.run(&[&HAND[..], &["--repo", "o/none"]].concat());
    assert_eq!((gone.code, gone.json()["state"].clone()), (1, json!("failed")), "{gone:#?}");
    assert!(text(&gone.json(), "last_error").contains("404"), "{gone:#?}");
    let words = ann.run(&[&HAND[..8], &["--repo", "o/none"]].concat());
    assert!(
        words.out.contains("  made: nothing; not made: task, note, seeded session, offer\n"),
        "{words:#?}"
    );
    hub.script(Some(Box::new(
        |request| if request.method == "POST" { Fault::Refuse(422, None) } else { Fault::None },
    )));
    let refused = ann.run(&[&HAND[..], &["--repo", "o/lib"]].concat()).json();
    let shown = ann.text(&["handoff", "show", &text(&refused, "handoff_id")]);
    assert!(shown.contains("Validation Failed (title: missing_field)"), "{shown}");
    ann.json(&["handoff", "cancel", &text(&refused, "handoff_id")]);
    hub.script(Some(Box::new(|_| Fault::Refuse(503, None))));
    let later = ann.run(&[&HAND[..], &["--repo", "o/lib"]].concat());
    assert_eq!((later.code, later.json()["state"].clone()), (5, json!("pending")), "{later:#?}");
    hub.script(None);
    let id = text(&later.json(), "handoff_id");
    assert_eq!(ann.json(&["handoff", "retry", &id])["state"], "offered");
    assert_eq!(hub.hub().issues("o/lib").len(), 1);
    ann.json(&["handoff", "cancel", &id, "--result", "not needed"]);
    assert_eq!(hub.hub().issues("o/lib")[0].reason.as_deref(), Some("not_planned"));
}

#[test]
fn any_later_command_goes_on_with_what_is_due() {
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    let Two { ann, bob } = two(&stage, Some(&hub));
    hub.script(Some(Box::new(|_| Fault::DropAfter)));
    let mut child = ann.spawn(&[&HAND[..], &["--repo", "o/lib"]].concat());
    wait(|| !hub.hub().issues("o/lib").is_empty());
    child.kill().expect("killed");
    child.wait().expect("gone");
    hub.script(None);
    let id = text(&items(&bob.json(&["handoff", "list"]))[0], "handoff_id");
    wait(|| bob.json(&["handoff", "show", &id])["state"] == "offered");
    assert_eq!(hub.hub().issues("o/lib").len(), 1);
}

pub(crate) fn wait(mut until: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !until() {
        assert!(begun.elapsed() < Duration::from_secs(40), "it did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_drives_polls_and_hears() {
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    let Two { ann, .. } = two(&stage, Some(&hub));
    let server = Server::start_with(
        &with_github(&stage.terminal("Server"), &hub).with("BATON_GITHUB_WEBHOOK_SECRET", "s3cret"),
        &["--host", "baton.example"],
    );
    let input = json!({ "from_project_id": "shop", "to_project_id": "lib", "subject": "s", "issues_github_repo": "o/lib" });
    let made = server.ok("handoff_create", &input);
    assert_eq!(made["state"], "offered", "{made:#}");
    // Somebody closes it on GitHub: a poll tells.
    {
        let mut hub = hub.hub();
        let issue = &mut hub.issues_mut("o/lib")[0];
        (issue.open, issue.reason) = (false, Some("completed".into()));
    }
    let id = text(&made, "handoff_id");
    wait(|| ann.json(&["handoff", "show", &id])["state"] == "completed");
    // And a webhook tells, if its signature is right.
    let second = server.ok("handoff_create", &input);
    {
        let mut hub = hub.hub();
        hub.close("o/lib", 1, "not before spring");
        hub.issues_mut("o/lib")[1].open = true;
    }
    let event = json!({ "action": "closed", "issue": { "number": 2, "state": "closed", "state_reason": "not_planned" },
        "repository": { "full_name": "o/lib" }, "sender": { "login": "baton-agent" } })
    .to_string();
    let mut mac = Hmac::<Sha256>::new_from_slice(b"s3cret").expect("any length");
    mac.update(event.as_bytes());
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    // It comes through a proxy, under the name that GitHub knows.
    let hook = |signature: &str| {
        let headers =
            [("x-github-event", "issues"), ("x-hub-signature-256", signature), ("host", "baton.example")];
        let path = "/api/v1/github/webhook";
        request(&server.address, "POST", path, event.as_bytes(), &headers).expect("an answer").status
    };
    assert_eq!(hook("sha256=00"), 401);
    assert_eq!(hook(&format!("sha256={hex}")), 204);
    let after = ann.json(&["handoff", "show", &text(&second, "handoff_id")]);
    assert_eq!(after["state"], "declined", "{after:#}");
    assert_eq!(after["result"], "not before spring", "what the person said under it: {after:#}");
}

#[test]
fn what_changes_later_goes_both_ways() {
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    let Two { ann, bob } = two(&stage, Some(&hub));
    let (_, made) = round_trip(&ann, &bob, &["--repo", "o/lib"]);
    let task = text(&made["task"], "id");
    hub.hub().issues_mut("o/lib")[0].labels.push("theirs".into());
    bob.json(&["task", "reopen", &task]);
    bob.json(&["task", "update", &task, "--title", "Add rounding, again", "--add-label", "urgent"]);
    wait(|| {
        bob.json(&["status"]);
        hub.hub().issues("o/lib")[0].title == "Add rounding, again"
    });
    let issue = hub.hub().issues("o/lib")[0].clone();
    assert_eq!(
        (issue.open, issue.labels.join(" ")),
        (true, "handoff priority:normal theirs urgent".to_owned())
    );
    // Closed here, opened there: a server looks at it for a while after the hand-off has ended.
    bob.json(&["task", "close", &task]);
    let _server = Server::start(&with_github(&stage.terminal("Server"), &hub));
    wait(|| !hub.hub().issues("o/lib")[0].open);
    // GitHub's times are seconds: what happens within one second of what was seen before is taken for that.
    std::thread::sleep(Duration::from_millis(1100));
    {
        let mut hub = hub.hub();
        let issue = &mut hub.issues_mut("o/lib")[0];
        (issue.open, issue.reason) = (true, Some("reopened".into()));
        issue.updated_at_now();
    }
    wait(|| bob.json(&["task", "show", &task])["status"] == "open");
    stage.assert_sound();
}

#[test]
fn a_server_whose_log_nobody_reads_goes_on_driving() {
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    let Two { ann, .. } = two(&stage, Some(&hub));
    let server = Server::start_unheard(&with_github(&stage.terminal("Server"), &hub));
    let input = json!({ "from_project_id": "shop", "to_project_id": "lib", "subject": "s", "issues_github_repo": "o/lib" });
    // One after the other: each is logged before it is written down, in whichever lane.
    for _ in 0..8 {
        let made = server.ok("handoff_create", &input);
        assert_eq!(made["state"], "offered", "{made:#}");
    }
    drop(server);
    assert_eq!(hub.hub().issues("o/lib").len(), 8);
    assert!(items(&ann.json(&["handoff", "list"])).iter().all(|one| one["state"] == "offered"));
}

//! What the sender hears of a hand-off, in every place where it is heard, for everything that may happen to it.

use std::fmt::Write as _;
use std::thread::sleep;
use std::time::Duration;

use baton_emulator::{Emulator, Fault, Options};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::cross::{beside, github, with_github};
use crate::http::Server;
use crate::stage::{Stage, Terminal, items, text};
use crate::words::steady;
use crate::worktrees::{committed, git};

/// Both ends of hand-offs, and GitHub's emulator between them.
pub(crate) struct Ends<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) hub: &'a Emulator,
    pub(crate) ann: Terminal<'a>,
    pub(crate) bob: Terminal<'a>,
}

impl Ends<'_> {
    /// Leaves work for `lib` in a repository, and returns its id.
    pub(crate) fn create(&self, subject: &str, more: &[&str]) -> String {
        let args = [&["handoff", "create", "--to", "lib", "--subject", subject, "--json"], more].concat();
        text(&self.ann.run(&args).json(), "handoff_id")
    }

    pub(crate) fn number(&self, id: &str) -> usize {
        let shown = self.ann.json(&["handoff", "show", id]);
        let number = shown["task"]["metadata"]["github_issue"].as_u64().expect("a number");
        usize::try_from(number).expect("small") - 1
    }

    /// Waits until a look at GitHub has brought the hand-off into this shape.
    pub(crate) fn wait(&self, id: &str, is_there: impl Fn(&Value) -> bool) {
        for _ in 0..60 {
            if is_there(&self.ann.json(&["handoff", "show", id])) {
                return;
            }
            sleep(Duration::from_millis(250));
        }
        panic!("it does not come: {:#}", self.ann.json(&["handoff", "show", id]));
    }

    /// Everything that the sender hears of one hand-off.
    fn heard_of(&self, state: &str, id: &str) -> String {
        let mut table = format!("── {state} ──\n");
        let short = &id[..13];
        let status = self.ann.text(&["status"]);
        let sent =
            status.lines().skip_while(|line| *line != "sent hand-offs").find(|line| line.contains(short));
        let _ = writeln!(table, "status\n{}", sent.unwrap_or("  (nothing)"));
        let start = json!({ "session_id": format!("{state}-{id}"), "cwd": self.stage.shop(), "hook_event_name": "SessionStart" });
        let answer = self
            .ann
            .feed(start.to_string().as_bytes(), &["hook", "session-start", "--agent", "claude"])
            .done();
        let answer = answer.json();
        let announcement =
            answer.pointer("/hookSpecificOutput/additionalContext").and_then(Value::as_str).expect("words");
        let _ = writeln!(table, "announcement");
        for line in announcement
            .lines()
            .filter(|line| line.starts_with("  - ") && line.contains(short) && line.contains(" to lib"))
        {
            if !line.contains("StatusUpdate") {
                let _ = writeln!(table, "{line}");
            }
        }
        let _ = writeln!(table, "signal");
        let waiting = items(&self.ann.json(&["signal", "pending"]));
        let own = waiting.iter().filter(|one| text(one, "subject").contains(short));
        let mut any = false;
        for one in own {
            any = true;
            let body = text(one, "body").replace('\n', "\n    ");
            let _ = writeln!(table, "  {}: {}\n    {body}", text(one, "from"), text(one, "subject"));
        }
        if !any {
            table.push_str("  (none)\n");
        }
        for command in ["audit", "doctor"] {
            let report = self.ann.run(&[command]).out;
            let line = report.lines().find(|line| line.contains(short));
            let _ = writeln!(table, "{command}\n{}", line.unwrap_or("  (nothing)"));
        }
        let shown = self.ann.text(&["handoff", "show", id]);
        let head = shown.lines().take_while(|line| *line != "note" && *line != "packet");
        let _ = writeln!(table, "show");
        head.for_each(|line| _ = writeln!(table, "  {line}"));
        steady(&table.replace(&self.hub.url(), "https://github.example"), self.stage) + "\n"
    }
}

#[test]
fn the_sender_hears_of_everything_that_happens_to_a_hand_off() {
    let stage = Stage::ready();
    let hub = github(Options::default());
    beside(&stage);
    let (ann, bob) = (stage.terminal("Ann"), stage.terminal("Bob").within(stage.root().join("lib")));
    let ends = Ends { stage: &stage, hub: &hub, ann: with_github(&ann, &hub), bob: with_github(&bob, &hub) };
    let mut table = String::new();

    let offered = ends.create("Add rounding", &["--local", "--description", "Half up"]);
    table += &ends.heard_of("offered", &offered);

    ends.bob.json(&["handoff", "accept", &offered]);
    table += &ends.heard_of("accepted", &offered);

    ends.bob.json(&["handoff", "complete", &offered, "--result", "merged as abc123"]);
    table += &ends.heard_of("completed", &offered);

    let declined = ends.create("Drop taxes", &["--local"]);
    ends.bob.json(&["handoff", "decline", &declined, "--result", "taxes stay"]);
    table += &ends.heard_of("declined", &declined);

    let expired = ends.create("Be quick", &["--local", "--expires-in", "1s"]);
    sleep(Duration::from_millis(1_200));
    ends.bob.refused(4, "handoff_state", &["handoff", "accept", &expired]);
    table += &ends.heard_of("expired", &expired);

    hub.script(Some(Box::new(|_| Fault::Refuse(404, None))));
    let failed = ends.create("Fix totals", &["--repo", "o/nowhere"]);
    table += &ends.heard_of("failed", &failed);

    hub.script(None);
    let mended = ends.ann.json(&["handoff", "retry", &failed, "--repo", "o/lib"]);
    assert_eq!(
        (mended["state"].clone(), mended["task"]["id"].clone()),
        (json!("offered"), json!("gh-o/lib-1"))
    );
    table += &ends.heard_of("retried in another repository", &failed);

    // A server looks after what waits at GitHub.
    let _server = Server::start_with(&with_github(&stage.terminal("Server"), &hub), &[]);
    hub.hub().rename("o/lib", "o/library");
    let at = ends.number(&failed);
    hub.hub().issues_mut("o/library")[at].updated_at_now();
    ends.wait(&failed, |shown| shown["task"]["metadata"]["github_repo"] == "o/library");
    table += &ends.heard_of("renamed", &failed);

    ends.hub.hub().close("o/library", at, "done in 4.2, see the changelog");
    ends.wait(&failed, |shown| shown["state"] == "completed");
    table += &ends.heard_of("closed on GitHub", &failed);
    let heard = ends.ann.json(&["handoff", "show", &failed]);
    assert_eq!(heard["result"], "done in 4.2, see the changelog");

    assert_snapshot!(table);
    stage.assert_sound();
}

#[test]
fn a_hand_off_expires_with_the_next_command_where_no_server_runs() {
    let stage = Stage::ready();
    beside(&stage);
    let ann = stage.terminal("Ann");
    let args = ["handoff", "create", "--to", "lib", "--subject", "Be quick", "--local", "--expires-in", "1s"];
    let id = text(&ann.json(&args), "handoff_id");
    sleep(Duration::from_millis(1_200));
    // After it has answered it looks after what is due.
    stage.terminal("Reader").json(&["status"]);
    let sent = ann.json(&["handoff", "show", &id]);
    assert_eq!(sent["state"], "expired", "{sent:#}");
    let heard = ann.json(&["mail", "inbox"]).to_string();
    assert!(heard.contains("has expired"), "{heard}");
}

/// A clone that is no place of the project: `BATON_PROJECT` says whose it is.
#[test]
fn documents_of_a_clone_that_is_no_place_of_its_project_reach_the_receiver() {
    let stage = committed();
    beside(&stage);
    let clone = stage.root().join("clone");
    git(&stage, stage.root(), &["clone", "-q", "shop", "clone"]);
    std::fs::create_dir_all(clone.join("docs")).expect("a folder");
    std::fs::write(clone.join("docs/two.md"), "only in the clone\n").expect("written");
    git(&stage, &clone, &["add", "docs"]);
    git(&stage, &clone, &["commit", "-qm", "two"]);
    let ann = stage.terminal("Ann").within(&clone).with("BATON_PROJECT", "shop");
    ann.json(&["start"]);
    let link = ["handoff", "create", "--to", "lib", "--subject", "Add it", "--link", "docs=docs/two.md"];
    let id = text(&ann.json(&link), "handoff_id");
    let picked = stage.terminal("Bob").within(stage.root().join("lib")).json(&["pickup", "--handoff", &id]);
    assert!(picked["handoff"]["documents"].to_string().contains("only in the clone"), "{picked:#}");
}

/// The sender's machine sends the words, in the working copy in which the call is made.
#[test]
fn a_linked_document_goes_through_a_server_to_a_machine_that_has_another_file_of_that_path() {
    let stage = committed();
    beside(&stage);
    let lib = stage.root().join("lib");
    for (folder, words) in [(&stage.shop(), "the sender's words\n"), (&lib, "the receiver's words\n")] {
        std::fs::create_dir_all(folder.join("spec")).expect("a folder");
        std::fs::write(folder.join("spec/both.md"), words).expect("written");
    }
    git(&stage, &lib, &["init", "-q"]);
    for folder in [stage.shop(), lib.clone()] {
        git(&stage, &folder, &["add", "spec"]);
        git(&stage, &folder, &["commit", "-qm", "spec"]);
    }
    let token = |name: &str| {
        let create = ["token", "create", "--name", name, "--identity", name];
        text(&stage.terminal("Owner").json(&create), "token")
    };
    let (ann, bob) = (token("Ann"), token("Bob"));
    let server = Server::start(&stage.terminal("Owner"));
    let address = format!("http://{}", server.address);
    let ann = stage.terminal("Ann").with("BATON_TOKEN", ann).with("BATON_SERVER", &address);
    let bob = stage.terminal("Bob").with("BATON_TOKEN", bob).with("BATON_SERVER", &address);
    let bob = bob.with("BATON_MACHINE", "other").with("BATON_PROJECT", "lib").within(&lib);
    let create =
        ["handoff", "create", "--to", "lib", "--subject", "s", "--local", "--link", "docs=spec/both.md"];
    let id = text(&ann.json(&create), "handoff_id");
    let picked = bob.json(&["pickup", "--handoff", &id])["handoff"].clone();
    let document = &picked["documents"][0];
    assert_eq!(
        (&document["text"], &document["owner"]),
        (&json!("the sender's words\n"), &json!("sender")),
        "{picked:#}"
    );
    assert!(text(&picked["documents_named"][0], "note").contains("another file of this path"), "{picked:#}");
    let shown = ann.text(&["handoff", "show", &id]);
    assert!(shown.contains("spec/both.md, 19 bytes go along"), "{shown}");
}

/// Through a server the receiver's own machine reads the documents, in the working copy in which the call is made.
#[test]
fn documents_are_read_through_a_server_in_a_clone_that_is_no_place_of_its_project() {
    let stage = committed();
    beside(&stage);
    let lib = stage.root().join("lib");
    std::fs::create_dir_all(lib.join("spec")).expect("a folder");
    std::fs::write(lib.join("spec/round.md"), "round half up\n").expect("written");
    git(&stage, &lib, &["init", "-q"]);
    git(&stage, &lib, &["add", "spec"]);
    git(&stage, &lib, &["commit", "-qm", "spec"]);
    git(&stage, stage.root(), &["clone", "-q", "lib", "clone"]);
    let made = stage.terminal("Owner").json(&[
        "token",
        "create",
        "--name",
        "bob",
        "--identity",
        "Bob",
        "--only",
        "lib",
    ]);
    let server = Server::start(&stage.terminal("Owner"));
    let ann = stage.terminal("Ann");
    let bob = stage
        .terminal("Bob")
        .with("BATON_TOKEN", text(&made, "token"))
        .with("BATON_SERVER", format!("http://{}", server.address));
    let picked = |document: &str, bob: &Terminal<'_>| {
        let link = format!("docs={document}");
        let create = ["handoff", "create", "--to", "lib", "--subject", document, "--local", "--link", &link];
        let id = text(&ann.json(&create), "handoff_id");
        let picked = bob.json(&["pickup", "--handoff", &id]);
        bob.json(&["handoff", "complete", &id, "--result", "done"]);
        let named = picked["handoff"]["documents_named"][0].clone();
        (named["included"].clone(), named["left_out"].as_str().unwrap_or_default().to_owned())
    };
    let clone = bob.within(stage.root().join("clone")).with("BATON_PROJECT", "lib");
    let elsewhere = bob.within(stage.root()).with("BATON_PROJECT", "lib");
    for there in [bob.within(&lib), clone] {
        assert_eq!(picked("spec/round.md", &there), (json!(true), String::new()));
        assert_eq!(picked("spec/missing.md", &there), (json!(false), "not there".to_owned()));
    }
    let (included, why) = picked("spec/round.md", &elsewhere);
    assert!(included == false && why.contains("pick up where the repository is"), "{why}");
}

#[test]
fn a_server_looks_for_a_repository_that_is_back_as_soon_as_the_sender_retries() {
    let stage = Stage::in_a_file("the server has the store of the stage").registered();
    let hub = github(Options::default());
    beside(&stage);
    let server = Server::start(&with_github(&stage.terminal("Server"), &hub));
    let url = format!("http://{}", server.address);
    let client = |who: &str| stage.terminal(who).with("BATON_SERVER", &url);
    let bob = client("Bob").within(stage.root().join("lib"));
    let ends = Ends { stage: &stage, hub: &hub, ann: client("Ann"), bob };
    let id = ends.create("Add rounding", &["--repo", "o/lib"]);
    hub.script(Some(Box::new(|_| Fault::Refuse(404, None))));
    ends.wait(&id, |shown| shown["repository_missing"] == true);
    hub.script(None);
    let back = ends.ann.json(&["handoff", "retry", &id]);
    assert_eq!((&back["state"], back.get("repository_missing")), (&json!("offered"), None), "{back:#}");
}

#[test]
fn a_repository_that_is_gone_is_told_once_and_followed_again_when_it_is_back() {
    let stage = Stage::ready();
    let hub = github(Options::default());
    beside(&stage);
    let (ann, bob) = (stage.terminal("Ann"), stage.terminal("Bob").within(stage.root().join("lib")));
    let ends = Ends { stage: &stage, hub: &hub, ann: with_github(&ann, &hub), bob: with_github(&bob, &hub) };
    let first = ends.create("Add rounding", &["--repo", "o/lib"]);
    let second = ends.create("Drop taxes", &["--repo", "o/lib"]);
    ends.bob.json(&["handoff", "accept", &first]);
    ends.ann.json(&["signal", "pending"]);
    hub.script(Some(Box::new(|_| Fault::Refuse(404, None))));
    for id in [&first, &second] {
        ends.wait(id, |shown| shown["repository_missing"] == true);
    }
    // More looks that are answered so are no news.
    for _ in 0..3 {
        sleep(Duration::from_millis(1_100));
        ends.ann.json(&["status"]);
    }
    let heard = items(&ends.ann.json(&["signal", "pending"]));
    let heard: Vec<&Value> =
        heard.iter().filter(|one| text(one, "subject").contains("not to be found")).collect();
    assert_eq!(heard.len(), 1, "{heard:#?}");
    assert_eq!(
        text(heard[0], "subject"),
        "o/lib is not to be found any more: 2 hand-offs to lib cannot be followed"
    );
    for (command, words) in [
        (&["status"][..], "GitHub answers 404 for o/lib"),
        (&["handoff", "show", &first], "GitHub answers 404 for o/lib"),
        (&["handoff", "show", &first], "`baton handoff cancel"),
        (&["doctor"], &first[..13]),
        (&["doctor"], &second[..13]),
    ] {
        let shown = ends.ann.run(command).out;
        assert!(shown.contains(words), "{command:?}: {shown}");
    }
    let refused = ends.ann.refused(4, "tracker_conflict", &["handoff", "retry", &first, "--repo", "o/other"]);
    assert!(text(&refused, "hint").contains("`baton handoff cancel"), "{refused:#}");
    let again = ends.ann.run(&["handoff", "retry", &first]);
    assert!(again.code != 0 && again.out.contains("cannot be followed"), "{again:#?}");
    assert!(!again.out.contains("handed to"), "{again:#?}");
    // It can be taken back meanwhile; the other one is followed again once the repository is there.
    assert_eq!(ends.ann.json(&["handoff", "cancel", &second])["state"], "cancelled");
    hub.script(None);
    let back = ends.ann.json(&["handoff", "retry", &first]);
    assert_eq!(
        (&back["state"], back.get("repository_missing")),
        (&json!("accepted"), None),
        "at once: {back:#}"
    );
    ends.wait(&first, |shown| shown.get("repository_missing").is_none() && shown["last_error"].is_null());
    assert!(!ends.ann.text(&["status"]).contains("404"), "{}", ends.ann.text(&["status"]));
    assert!(!ends.ann.run(&["doctor"]).out.contains(&first[..13]));
    stage.assert_sound();
}

#[test]
fn a_close_waits_for_the_words_of_who_closed_while_github_does_not_give_the_comments() {
    let stage = Stage::ready();
    let hub = github(Options::default());
    beside(&stage);
    let (ann, bob) = (stage.terminal("Ann"), stage.terminal("Bob").within(stage.root().join("lib")));
    let ends = Ends { stage: &stage, hub: &hub, ann: with_github(&ann, &hub), bob: with_github(&bob, &hub) };
    let id = ends.create("Add rounding", &["--repo", "o/lib"]);
    hub.hub().close("o/lib", ends.number(&id), "Done in v2");
    let is_comments = |request: &baton_emulator::Request| request.path.contains("/comments");
    hub.script(Some(Box::new(
        move |request| {
            if is_comments(request) { Fault::Refuse(503, None) } else { Fault::None }
        },
    )));
    for _ in 0..3 {
        sleep(Duration::from_millis(1_100));
        ends.ann.json(&["status"]);
        assert_eq!(
            ends.ann.json(&["handoff", "show", &id])["state"],
            "offered",
            "nothing is told without the words"
        );
    }
    hub.script(None);
    ends.wait(&id, |shown| shown["state"] == "completed");
    assert_eq!(ends.ann.json(&["handoff", "show", &id])["result"], "Done in v2");
}

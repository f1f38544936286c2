//! The saga of a hand-off whose task lives in GitHub: whatever fails, and wherever, there is one issue, one note and one seeded
//! session, or none of them.

use baton_model::issue::TrackerOutcome;
use baton_model::{session::ProcessLocation, store_place::OutsideCalls};
use baton_ops::op::Env;
use baton_ops::saga::{self, LeasedStep, OutcomeReport, StepStart};
use baton_store::Failure;
use serde_json::{Value, json};

use crate::hub::Hub;
use crate::world::{Agent, World, agent, column, list, text};

/// A process that drives.
pub(crate) fn driver(name: &str) -> ProcessLocation {
    ProcessLocation { machine: "m1".into(), process: name.into() }
}

fn with_env<T>(w: &mut World, f: impl FnOnce(&mut baton_store::Store, &mut Env<'_>) -> T) -> T {
    let World { store, dice, now, limits, machines, .. } = w;
    let mut random = |bytes: &mut [u8]| dice.fill(bytes);
    let who = agent("Driver");
    f(store, &mut Env { now: *now, random: &mut random, caller: &who.0, limits: *limits, host: machines })
}

pub(crate) fn begin(w: &mut World, id: &str, own: &ProcessLocation) -> Result<StepStart, Failure> {
    with_env(w, |store, env| saga::begin(store, env, id, (own, OutsideCalls::Allowed)))
}

pub(crate) fn tell(w: &mut World, step: &LeasedStep, end: &TrackerOutcome) -> Result<OutcomeReport, Failure> {
    with_env(w, |store, env| saga::record_outcome(store, env, step, end, 0))
}

/// Takes the step whose turn it is.
#[track_caller]
pub(crate) fn lease(w: &mut World, id: &str, own: &ProcessLocation) -> Box<LeasedStep> {
    match begin(w, id, own).expect("begun") {
        StepStart::Call(leased) => leased,
        other => panic!("nothing to ask: {other:?}"),
    }
}

/// Drives until nothing is due now; the clock moves on to the next try where one waits.
pub(crate) fn drive(w: &mut World, hub: &mut Hub, id: &str) {
    for _ in 0..100 {
        match begin(w, id, &driver("d")).expect("begun") {
            StepStart::Finished | StepStart::OnlyDuplicateCheck => return,
            StepStart::Wait(at) | StepStart::Leased(at) => w.now = at,
            StepStart::Call(leased) => {
                let ended = hub.ask(&leased.call);
                assert_eq!(tell(w, &leased, &ended).expect("told"), OutcomeReport::Recorded);
            }
        }
    }
    panic!("it does not come to an end");
}

/// Hand-offs in which something is due now.
pub(crate) fn due(w: &mut World) -> Vec<String> {
    with_env(w, |store, env| saga::due(store, env, 10)).expect("looked")
}

pub(crate) fn sender() -> Agent {
    agent("Lola")
}

pub(crate) fn receiver() -> Agent {
    agent("Donna").project("q")
}

pub(crate) fn handoff_input() -> Value {
    json!({ "to_project_id": "q", "subject": "add an endpoint", "description": "GET /x", "issues_github_repo": "o/r" })
}

pub(crate) fn create(w: &mut World) -> String {
    w.machines.github = true;
    w.register("q");
    let made = w.ok(&sender(), "handoff_create", handoff_input());
    assert_eq!(made["state"], "planned");
    text(&made, "handoff_id")
}

pub(crate) fn show(w: &mut World, id: &str) -> Value {
    w.ok(&receiver(), "handoff_show", json!({ "id": id }))
}

pub(crate) fn act(w: &mut World, who: &Agent, id: &str, action: &str) -> Value {
    w.ok(who, "handoff_advance", json!({ "id": id, "action": action, "result": format!("{action} it is") }))
}

fn states(w: &mut World, project: &str) -> Vec<String> {
    let of = |d: &Value| text(&d["body"]["handoff"], "state");
    w.ledger_of(project).iter().filter(|d| d["kind"] == "handoff").map(of).collect()
}

pub(crate) fn notes(w: &mut World) -> Vec<Value> {
    list(&w.ok(&receiver(), "memory_search", json!({ "tags": ["handoff"] }))["items"])
}

pub(crate) fn seeds(w: &mut World) -> usize {
    w.everything().iter().filter(|row| row.starts_with("session_state")).count()
}

/// One issue that is open, one note, one seeded session; or nothing of the three.
#[track_caller]
pub(crate) fn assert_whole(w: &mut World, hub: &Hub, there: bool) {
    let count = usize::from(there);
    assert_eq!((hub.open(), notes(w).len(), seeds(w)), (count, count, count), "issues, notes, seeds");
}

on_every_backend! {
    fn a_handoff_makes_an_issue_a_note_and_a_seeded_session(w) {
        let (id, mut hub) = (create(w), Hub::default());
        drive(w, &mut hub, &id);
        let shown = show(w, &id);
        assert_eq!((shown["state"].clone(), shown["task"]["id"].clone()), (json!("offered"), json!("gh-o/r-1")));
        let url = "https://github.example/o/r/issues/1";
        assert_eq!(shown["task"]["metadata"], json!({ "github_repo": "o/r", "github_issue": 1, "github_url": url }));
        assert_whole(w, &hub, true);
        let note = &notes(w)[0];
        assert_eq!((note["kind"].clone(), note["importance"].clone(), note["project_id"].clone()), (json!("note"), json!(0.4), json!("q")));
        assert!(text(note, "text").contains("Why: GET /x") && text(note, "text").contains(url), "{note:#}");
        let seed = shown["seeded_session"].clone();
        assert_eq!((seed["project_id"].clone(), seed["agent_id"].clone()), (json!("q"), json!("Bot")));
        let state = w.ok(&receiver(), "session_resolve", json!({ "identity": "Bot", "task": seed["task_id"] }));
        assert_eq!(state["session_id"], seed["session_id"]);
        assert_eq!(state["state"]["next_action"], json!({ "description": "Work on task gh-o/r-1: add an endpoint", "task_id": "gh-o/r-1", "task_url": url }));
        assert_eq!(state["state"]["metadata"], json!({ "current_task_id": "gh-o/r-1", "current_task_url": url, "handoff_from_project_id": "p", "handoff_id": id }));
        assert_eq!(states(w, "p"), ["planned", "pending", "offered"]);
        assert_eq!(states(w, "q"), states(w, "p"));
        let task = w.ok(&receiver(), "task_show", json!({ "id": "gh-o/r-1" }));
        assert_eq!((task["title"].clone(), task["github_url"].clone()), (json!("add an endpoint"), json!(url)));
        assert_eq!(column(&list(&shown["steps"]), "state"), ["done"; 4]);
    }

    fn a_dry_run_has_the_seeds_shape_and_writes_nothing(w) {
        w.machines.github = true;
        w.register("q");
        let mut dry = handoff_input();
        dry["dry_run"] = json!(true);
        dry["seed_session"] = json!({ "agent_id": "implementer", "task_id": "handoff-x", "current_phase": "Handoff" });
        let before = w.everything();
        let plan = w.ok(&sender(), "handoff_create", dry);
        assert_eq!(w.everything(), before);
        assert_eq!(plan["resolved_issues_github_repo"], "o/r");
        assert_eq!(plan["would_create_task"]["issues_github_repo"], "o/r");
        assert_eq!((plan["would_store_memory"]["kind"].clone(), plan["would_store_memory"]["importance"].clone()), (json!("note"), json!(0.4)));
        assert_eq!((plan["would_seed_session"]["agent_id"].clone(), plan["would_seed_session"]["task_id"].clone()), (json!("implementer"), json!("handoff-x")));
        assert_eq!(plan["would_seed_session"]["initial_state"]["current_phase"], "Handoff");
    }

    fn the_tracker_is_resolved_before_anything_is_written(w) {
        w.register("q");
        w.no_trace(&sender(), "handoff_create", handoff_input(), "github_unconfigured");
        w.machines.github = true;
        let with = |field: &str, value: Value| { let mut all = handoff_input(); all[field] = value; all };
        w.no_trace(&sender(), "handoff_create", with("issues_github_repo", json!("no repo")), "repo_invalid");
        w.no_trace(&sender(), "handoff_create", with("local", json!(true)), "tracker_conflict");
        w.no_trace(&sender(), "handoff_create", with("subject", json!("x".repeat(300))), "issue_invalid");
        w.no_trace(&sender(), "handoff_create", with("tags", json!(["x".repeat(60)])), "issue_invalid");
        w.no_trace(&sender(), "handoff_create", with("description", json!("x".repeat(70_000))), "description_too_long");
        w.no_trace(&sender(), "handoff_create", with("expires_in", json!("soon")), "span_invalid");
        w.ok(&receiver(), "project_set", json!({ "issues_provider": "none" }));
        let unnamed = json!({ "to_project_id": "q", "subject": "s" });
        w.no_trace(&sender(), "handoff_create", unnamed.clone(), "tracker_unresolved");
        w.ok(&receiver(), "project_set", json!({ "issues_provider": "" }));
        let made = w.ok(&sender(), "handoff_create", unnamed.clone());
        assert_eq!((made["state"].clone(), column(&list(&made["warnings"]), "kind")), (json!("offered"), vec!["tracker_local".to_owned()]));
        w.ok(&sender(), "project_set", json!({ "default_owner": "acme" }));
        let mut dry = unnamed;
        dry["dry_run"] = json!(true);
        let made = w.ok(&sender(), "handoff_create", dry);
        assert_eq!((made["resolved_issues_github_repo"].clone(), column(&list(&made["warnings"]), "kind")), (json!("acme/q"), vec!["tracker_guessed".to_owned(), "same_handoff".to_owned()]));
    }

    fn a_lost_answer_never_makes_a_second_issue(w) {
        let (id, mut hub) = (create(w), Hub { lose: 3, ..Hub::default() });
        drive(w, &mut hub, &id);
        assert_eq!((hub.issues.len(), show(w, &id)["state"].clone()), (1, json!("offered")));
        assert_whole(w, &hub, true);
    }

    fn a_failure_before_anything_happened_is_tried_again(w) {
        let (id, mut hub) = (create(w), Hub { fail: 3, ..Hub::default() });
        let begun = w.now;
        drive(w, &mut hub, &id);
        assert_eq!(w.now - begun, 1_000 + 2_000 + 4_000, "the first retry comes after a second, then the pauses double");
        assert_whole(w, &hub, true);
    }

    fn a_process_that_dies_is_taken_over_at_once_and_another_after_its_lease(w) {
        for (dies, gone) in [(true, true), (true, false), (false, true)] {
            let (id, mut hub) = (create(w), Hub::default());
            let first = driver(&format!("first {dies} {gone}"));
            let leased = lease(w, &id, &first);
            if dies {
                hub.ask(&leased.call);
            }
            if gone {
                w.kill(&agent("x").process(&first.process));
            } else {
                assert!(matches!(begin(w, &id, &driver("d")).expect("begun"), StepStart::Leased(_)));
                w.advance(15_000);
            }
            drive(w, &mut hub, &id);
            assert_eq!((hub.issues.len(), show(w, &id)["state"].clone()), (1, json!("offered")));
        }
    }

    fn what_is_said_about_the_task_is_said_under_the_issue_once(w) {
        let (id, mut hub) = (create(w), Hub::default());
        drive(w, &mut hub, &id);
        w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
        w.ok(&receiver(), "task_comment", json!({ "id": "gh-o/r-1", "text": "half up, or to even?" }));
        hub.lose = 2;
        drive(w, &mut hub, &id);
        let comments = &hub.issues[0].comments;
        assert_eq!(comments.len(), 2, "{comments:?}");
        assert!(comments[0].starts_with("This hand-off is accepted by Donna.") && comments[1].starts_with("Donna says:\n\nhalf up, or to even?"), "{comments:?}");
        w.ok(&receiver(), "task_comment", json!({ "id": "gh-o/r-1", "text": "x".repeat(65_536) }));
        drive(w, &mut hub, &id);
        assert!(hub.issues[0].comments[2].chars().count() <= 65_536);
        assert!(hub.issues[0].comments[2].contains("baton task show gh-o/r-1"));
    }

    fn a_final_answer_fails_with_its_reason_and_leaves_nothing(w) {
        let (id, mut hub) = (create(w), Hub { refuse: true, ..Hub::default() });
        drive(w, &mut hub, &id);
        let shown = show(w, &id);
        assert_eq!((shown["state"].clone(), shown["last_error"].clone()), (json!("failed"), json!("o/r: 404: no such repository")));
        assert_whole(w, &hub, false);
        assert_eq!(states(w, "p"), ["planned", "pending", "failed"]);
        hub.refuse = false;
        assert_eq!(w.ok(&sender(), "handoff_retry", json!({ "id": id }))["state"], "pending");
        drive(w, &mut hub, &id);
        assert_eq!((hub.issues.len(), show(w, &id)["last_error"].clone()), (1, Value::Null));
        assert_whole(w, &hub, true);
    }

    fn a_failure_after_an_unknown_outcome_is_cleared_up_later(w) {
        let (id, mut hub) = (create(w), Hub { lose: 1, ..Hub::default() });
        let leased = lease(w, &id, &driver("d"));
        let lost = hub.ask(&leased.call);
        tell(w, &leased, &lost).expect("told");
        w.advance(1_000);
        hub.refuse = true;
        let leased = lease(w, &id, &driver("d"));
        let refused = hub.ask(&leased.call);
        tell(w, &leased, &refused).expect("told");
        assert_eq!((show(w, &id)["state"].clone(), hub.open()), (json!("failed"), 1));
        hub.refuse = false;
        drive(w, &mut hub, &id);
        assert_eq!((show(w, &id)["state"].clone(), hub.open()), (json!("failed"), 0));
        assert_whole(w, &hub, false);
    }

    fn cancelling_takes_everything_back(w) {
        let (id, mut hub) = (create(w), Hub::default());
        drive(w, &mut hub, &id);
        assert_eq!(act(w, &sender(), &id, "cancel")["state"], "cancelled");
        drive(w, &mut hub, &id);
        assert_whole(w, &hub, false);
        assert_eq!((hub.issues[0].reason.as_deref(), hub.issues[0].comments.len()), (Some("not_planned"), 1));
        assert_eq!(w.ok(&receiver(), "task_show", json!({ "id": "gh-o/r-1" }))["status"], "closed");
        w.no_trace(&receiver(), "hd_exec", json!({ "handoff_id": id }), "handoff_state");
    }

    fn cancelling_while_the_issue_may_be_there_finds_it_first(w) {
        for there in [true, false] {
            let (id, mut hub) = (create(w), Hub::default());
            let leased = lease(w, &id, &driver("first"));
            if there {
                hub.ask(&leased.call);
            }
            act(w, &sender(), &id, "cancel");
            w.advance(15_000);
            drive(w, &mut hub, &id);
            assert_eq!((hub.issues.len(), hub.open()), (usize::from(there), 0));
            assert_eq!((notes(w).len(), seeds(w)), (0, 0));
        }
    }

    fn a_planned_handoff_is_cancelled_without_asking_anybody(w) {
        let (id, mut hub) = (create(w), Hub { refuse: true, ..Hub::default() });
        act(w, &sender(), &id, "cancel");
        drive(w, &mut hub, &id);
        assert_eq!(column(&list(&show(w, &id)["steps"]), "state"), ["skipped"; 4]);
    }

    fn declining_withdraws_the_note_and_closes_the_issue(w) {
        let (id, mut hub) = (create(w), Hub::default());
        drive(w, &mut hub, &id);
        act(w, &receiver(), &id, "decline");
        drive(w, &mut hub, &id);
        assert_whole(w, &hub, false);
        assert!(hub.issues[0].comments[0].starts_with("This hand-off is declined: decline it is"));
    }

    fn a_handoff_that_nobody_takes_expires(w) {
        w.machines.github = true;
        w.register("q");
        let mut short = handoff_input();
        short["expires_in"] = json!("1h");
        let (id, mut hub) = (text(&w.ok(&sender(), "handoff_create", short), "handoff_id"), Hub::default());
        drive(w, &mut hub, &id);
        with_env(w, |store, env| saga::due(store, env, 10)).expect("looked");
        assert_eq!(show(w, &id)["state"], "offered");
        w.advance(3_600_000);
        assert_eq!(with_env(w, |store, env| saga::due(store, env, 10)).expect("looked"), std::slice::from_ref(&id));
        drive(w, &mut hub, &id);
        assert_eq!(show(w, &id)["state"], "expired");
        assert_whole(w, &hub, false);
    }

    fn completing_closes_the_issue_with_the_result_once(w) {
        let (id, mut hub) = (create(w), Hub::default());
        drive(w, &mut hub, &id);
        w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
        hub.lose = 2;
        act(w, &receiver(), &id, "complete");
        drive(w, &mut hub, &id);
        assert_eq!((hub.issues[0].reason.as_deref(), hub.issues[0].comments.len()), (Some("completed"), 2));
        assert!(hub.issues[0].comments[0].starts_with("This hand-off is accepted by Donna."));
        assert!(hub.issues[0].comments[1].contains("complete it is"));
        assert_eq!(notes(w).len(), 1, "the reasons stay");
        let heard = w.newest("handoff");
        assert_eq!((heard["body"]["handoff"]["state"].clone(), heard["body"]["handoff"]["result"].clone()), (json!("completed"), json!("complete it is")));
    }

    fn closing_the_task_through_the_product_completes_the_handoff(w) {
        closes_by(w, "task_close", json!({ "id": "gh-o/r-1", "reason": "merged" }));
    }

    fn updating_the_task_to_closed_completes_the_handoff(w) {
        closes_by(w, "task_update", json!({ "id": "gh-o/r-1", "status": "closed", "close_reason": "merged" }));
    }

    fn what_happens_to_the_issue_comes_back(w) {
        for (reason, state, notes_left) in [("completed", "completed", 1), ("not_planned", "declined", 0)] {
            let (id, mut hub) = (create(w), Hub::default());
            drive(w, &mut hub, &id);
            let event = json!({ "repo": "o/r", "number": 1, "state": "closed", "state_reason": reason, "by": "octocat" });
            let answer = w.ok(&agent("Hook"), "tracker_event", event.clone());
            assert_eq!((answer["changed"].clone(), answer["handoff"]["state"].clone()), (json!(true), json!(state)));
            assert_eq!(w.newest("handoff")["identity"], "octocat");
            assert_eq!(w.ok(&agent("Hook"), "tracker_event", event)["changed"], false, "once");
            drive(w, &mut Hub { refuse: true, ..Hub::default() }, &id);
            assert_eq!(notes(w).len(), notes_left);
            let other = json!({ "repo": "o/r", "number": 99, "state": "closed" });
            assert_eq!(w.ok(&agent("Hook"), "tracker_event", other)["changed"], false);
            for note in notes(w) {
                w.ok(&receiver(), "memory_withdraw", json!({ "id": note["memory_id"] }));
            }
            // The next one gets a repository of its own number one.
            w.store.write_shared(|tx| Ok(tx.execute("UPDATE handoff SET issue_number = 7", &[])?)).expect("moved away");
        }
    }

    fn a_live_session_is_never_overwritten(w) {
        w.register("q");
        let donna = receiver();
        w.start(&donna);
        w.ok(&donna, "session_checkpoint", json!({ "state": { "next_action": { "description": "mine" } }, "task": "release" }));
        let seed = json!({ "agent_id": "Donna", "task_id": "release" });
        let made = w.ok(&sender(), "handoff_create", json!({ "to_project_id": "q", "subject": "s", "seed_session": seed }));
        assert_eq!(made["state"], "pending");
        let id = text(&made, "handoff_id");
        let resolved = json!({ "task": "release" });
        assert_eq!(w.ok(&donna, "session_resolve", resolved.clone())["state"]["next_action"]["description"], "mine");
        assert_eq!(w.pending(&donna).len(), 1);
        w.advance(15_000);
        drive_once(w, &id);
        assert_eq!(w.pending(&donna).len(), 1, "told once");
        w.advance(90_000);
        drive_once(w, &id);
        let after = w.ok(&donna, "session_resolve", resolved);
        assert!(text(&after["state"]["next_action"], "description").ends_with(": s"));
        assert_eq!((after["version"].clone(), show(w, &id)["state"].clone()), (json!(2), json!("offered")));
        act(w, &sender(), &id, "cancel");
        let back = w.ok(&donna, "session_resolve", json!({ "task": "release" }));
        assert_eq!((back["state"]["next_action"]["description"].clone(), back["version"].clone()), (json!("mine"), json!(3)));
    }

    fn a_seeded_session_that_was_touched_stays(w) {
        w.register("q");
        let made = w.ok(&sender(), "handoff_create", json!({ "to_project_id": "q", "subject": "s", "to_identity": "Donna" }));
        let task = text(&made["seeded_session"], "task_id");
        w.start(&receiver());
        w.ok(&receiver(), "session_checkpoint", json!({ "state": { "mine": 1 }, "task": task, "expected_version": 1 }));
        act(w, &sender(), &text(&made, "handoff_id"), "cancel");
        let resolved = w.ok(&receiver(), "session_resolve", json!({ "task": task }));
        assert_eq!(resolved["state"], json!({ "mine": 1 }));
    }

    fn what_a_sender_names_is_not_read_off_a_servers_disk(w) {
        let mut with = handoff_input();
        with["links"] = json!({ "docs": ["spec/a.md", ".env"] });
        w.register("q");
        w.machines.github = true;
        w.machines.files.extend(["docs/PROJECT.md", "spec/a.md", ".env"].map(|name| (format!("/repos/q/{name}"), "canary5".into())));
        let id = text(&w.ok(&sender(), "handoff_create", with), "handoff_id");
        drive(w, &mut Hub::default(), &id);
        let here = w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id, "dry_run": true }));
        assert_eq!((column(&list(&here["handoff"]["documents"]), "path"), &here["handoff"]["documents_named"][1]["left_out"]), (vec!["spec/a.md".to_owned()], &json!("hidden")));
        w.machines.is_served = true;
        for dry_run in [true, false] {
            let there = w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id, "dry_run": dry_run }));
            assert!(!there.to_string().contains("canary5"), "{there:#}");
            assert_eq!(column(&list(&there["handoff"]["documents_named"]), "left_out"), ["a server reads no documents for its callers", "hidden"]);
        }
    }

    fn accepting_gives_packet_task_note_and_documents_and_says_what_was_checked(w) {
        let packet = "{ \"summary\": \"half done\" }";
        let mut with = handoff_input();
        with["packet"] = json!(packet);
        with["links"] = json!({ "docs": ["spec/a.md", "spec/gone.md"], "source_ref": "abc123" });
        w.machines.github = true;
        w.register("q");
        w.machines.files.insert("/repos/q/docs/PROJECT.md".into(), "# q".into());
        w.machines.files.insert("/repos/p/spec/a.md".into(), "# a".into());
        w.machines.commits.insert("/repos/p abc123".into());
        let made = w.ok(&sender(), "handoff_create", with);
        let (id, mut hub) = (text(&made, "handoff_id"), Hub::default());
        drive(w, &mut hub, &id);
        let seed = show(w, &id)["seeded_session"]["session_id"].clone();
        let preview = w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id, "dry_run": true }));
        assert_eq!((preview["handoff"]["state"].clone(), preview["session_id"].clone()), (json!("offered"), Value::Null));
        let picked = w.ok(&receiver(), "hd_exec", json!({ "handoff_id": &id[..20] }));
        assert_eq!(picked["session_id"], seed, "the seeded session is the one that works");
        let got = &picked["handoff"];
        assert_eq!((got["state"].clone(), got["packet"].clone()), (json!("accepted"), json!(packet)));
        assert_eq!((got["task_row"]["id"].clone(), got["task_row"]["status"].clone()), (json!("gh-o/r-1"), json!("in_progress")));
        assert_eq!((got["project_document"]["text"].clone(), column(&list(&got["documents"]), "path")), (json!("# q"), vec!["spec/a.md".to_owned()]));
        assert!(text(&got["note"], "text").contains("Where it stands: half done"));
        let checks: Vec<(String, Value)> = list(&got["checks"]).iter().map(|c| (text(c, "handle"), c["ok"].clone())).collect();
        assert_eq!(checks, [("gh-o/r-1".into(), json!(true)), ("spec/a.md".into(), json!(true)), ("spec/gone.md".into(), json!(false)), ("abc123".into(), json!(true))]);
        assert_eq!(picked["warnings"], json!([]));
        assert_eq!(got["documents_named"], json!([
            { "path": "spec/a.md", "included": true, "left_out": null, "owner": "sender" },
            { "path": "spec/gone.md", "included": false, "left_out": "not there" },
        ]));
        assert!(got.to_string().find("\"documents_named\":") < got.to_string().find("\"documents\":"), "named before they are given");
        let again = w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
        assert_eq!((again["session_id"].clone(), w.deltas("pickup").len()), (picked["session_id"].clone(), 0));
        w.no_trace(&agent("Ann").project("q"), "hd_exec", json!({ "handoff_id": id }), "handoff_claimed");
        w.no_trace(&agent("Ann"), "hd_exec", json!({ "handoff_id": id }), "baton_unknown");
    }

    fn a_local_task_is_published_under_its_own_id(w) {
        w.register("q");
        let made = w.ok(&sender(), "handoff_create", json!({ "to_project_id": "q", "subject": "s" }));
        let (id, task) = (text(&made, "handoff_id"), text(&made["task"], "id"));
        w.no_trace(&sender(), "handoff_publish", json!({ "id": id }), "tracker_unresolved");
        w.no_trace(&sender(), "handoff_publish", json!({ "id": id, "issues_github_repo": "o/r" }), "github_unconfigured");
        w.machines.github = true;
        let before = w.everything();
        w.ok(&sender(), "handoff_publish", json!({ "id": id, "issues_github_repo": "o/r", "dry_run": true }));
        assert_eq!(w.everything(), before);
        w.ok(&sender(), "handoff_publish", json!({ "id": id, "issues_github_repo": "o/r" }));
        let mut hub = Hub { lose: 1, ..Hub::default() };
        drive(w, &mut hub, &id);
        let shown = show(w, &id);
        assert_eq!((shown["task"]["id"].clone(), shown["task"]["metadata"]["github_issue"].clone()), (json!(task), json!(1)));
        assert_eq!((shown["state"].clone(), hub.issues.len()), (json!("offered"), 1));
        w.no_trace(&sender(), "handoff_publish", json!({ "id": id, "issues_github_repo": "o/r" }), "already_published");
        act(w, &receiver(), &id, "accept");
        act(w, &receiver(), &id, "complete");
        drive(w, &mut hub, &id);
        assert_eq!(hub.open(), 0);
    }

    fn a_retry_drives_a_pending_one_on_and_refuses_an_ended_one(w) {
        let (id, mut hub) = (create(w), Hub { fail: 1, ..Hub::default() });
        let leased = lease(w, &id, &driver("d"));
        let failed = hub.ask(&leased.call);
        tell(w, &leased, &failed).expect("told");
        assert!(matches!(begin(w, &id, &driver("d")).expect("begun"), StepStart::Wait(_)));
        w.ok(&sender(), "handoff_retry", json!({ "id": id }));
        drive(w, &mut hub, &id);
        assert_whole(w, &hub, true);
        w.no_trace(&sender(), "handoff_retry", json!({ "id": id }), "handoff_state");
    }
}

fn closes_by(w: &mut World, verb: &str, close: Value) {
    let (id, mut hub) = (create(w), Hub::default());
    drive(w, &mut hub, &id);
    w.ok(&receiver(), verb, close);
    drive(w, &mut hub, &id);
    let shown = show(w, &id);
    assert_eq!((shown["state"].clone(), shown["result"].clone()), (json!("completed"), json!("merged")));
    assert_eq!(hub.issues[0].reason.as_deref(), Some("completed"));
    assert_eq!(states(w, "p").last().map(String::as_str), Some("completed"));
}

/// Drives what needs nobody outside.
fn drive_once(w: &mut World, id: &str) {
    assert!(!matches!(begin(w, id, &driver("d")).expect("begun"), StepStart::Call(_)));
}

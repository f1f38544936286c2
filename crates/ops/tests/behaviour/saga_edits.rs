//! What changes about a task after it was handed over stands in its issue, and what happens to the issue stands in the task.

use baton_model::issue::IssueAnswer;
use serde_json::{Value, json};

use crate::hub::Hub;
use crate::saga::{act, create, drive, receiver, show};
use crate::world::{World, agent, text};

const TASK: &str = "gh-o/r-1";

fn offered(w: &mut World) -> (String, Hub) {
    let (id, mut hub) = (create(w), Hub::default());
    drive(w, &mut hub, &id);
    (id, hub)
}

fn completed(w: &mut World) -> (String, Hub) {
    let (id, mut hub) = offered(w);
    w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
    act(w, &receiver(), &id, "complete");
    drive(w, &mut hub, &id);
    assert!(!hub.issues[0].open);
    (id, hub)
}

fn status(w: &mut World) -> Value {
    w.ok(&receiver(), "task_show", json!({ "id": TASK }))["status"].clone()
}

/// What a poll sees of the issue; says whether something followed.
fn seen(w: &mut World, state: &str, reason: Option<&str>) -> bool {
    let event =
        json!({ "repo": "o/r", "number": 1, "state": state, "state_reason": reason, "by": "octocat" });
    w.ok(&agent("Hook"), "tracker_event", event)["changed"] == true
}

on_every_backend! {
    fn what_changes_about_the_task_reaches_its_issue_once(w) {
        let (id, mut hub) = offered(w);
        hub.issues[0].labels.push("theirs".into());
        let change = json!({ "id": TASK, "title": "two endpoints", "priority": 1, "add_labels": ["api"] });
        w.ok(&receiver(), "task_update", change);
        hub.lose = 1;
        drive(w, &mut hub, &id);
        assert_eq!(hub.issues[0].title, "two endpoints");
        assert_eq!(hub.issues[0].labels, ["handoff", "theirs", "api", "priority:high"]);
        w.ok(&receiver(), "task_update", json!({ "id": TASK, "remove_labels": ["api"], "description": "other words" }));
        drive(w, &mut hub, &id);
        assert_eq!(hub.issues[0].labels, ["handoff", "theirs", "priority:high"]);
        assert_eq!((hub.issues[0].open, show(w, &id)["state"].clone()), (true, json!("offered")));
        let steps = show(w, &id)["steps"].as_array().map(Vec::len);
        w.ok(&receiver(), "task_update", json!({ "id": TASK, "notes": "this is for us alone" }));
        assert_eq!(show(w, &id)["steps"].as_array().map(Vec::len), steps, "nothing to bring, no step");
    }

    fn what_github_would_not_take_is_refused_before_it_is_written(w) {
        offered(w);
        for change in [json!({ "title": "x".repeat(257) }), json!({ "add_labels": ["x".repeat(51)] })] {
            let mut input = change;
            input["id"] = json!(TASK);
            w.no_trace(&receiver(), "task_update", input, "issue_invalid");
        }
    }

    fn a_task_that_is_opened_again_opens_its_issue_and_closes_it_again(w) {
        let (id, mut hub) = completed(w);
        w.ok(&receiver(), "task_reopen", json!({ "id": TASK, "reason": "it came back" }));
        drive(w, &mut hub, &id);
        assert_eq!((hub.issues[0].open, status(w)), (true, json!("open")));
        assert_eq!(show(w, &id)["state"], "completed", "an end is an end: the sender has heard");
        w.ok(&receiver(), "task_close", json!({ "id": TASK, "reason": "now it is" }));
        drive(w, &mut hub, &id);
        assert_eq!((hub.issues[0].open, status(w)), (false, json!("closed")));
        w.ok(&receiver(), "task_update", json!({ "id": TASK, "status": "in_progress" }));
        drive(w, &mut hub, &id);
        assert_eq!((hub.issues[0].open, status(w)), (true, json!("in_progress")));
    }

    fn words_at_the_end_of_a_task_that_was_opened_again_reach_the_sender(w) {
        let (id, mut hub) = completed(w);
        let max = agent("Max").project("q");
        w.ok(&max, "task_reopen", json!({ "id": TASK }));
        drive(w, &mut hub, &id);
        let closed = w.ok(&max, "task_close", json!({ "id": TASK, "reason": "also in the archive" }));
        assert_eq!(closed["ended_handoff"]["state"], "completed", "{closed:#}");
        assert_eq!(show(w, &id)["late_results"][0]["result"], "also in the archive");
    }

    fn an_issue_that_is_opened_again_opens_its_task(w) {
        let (id, _) = completed(w);
        assert!(!seen(w, "open", None), "seen before it was closed");
        assert_eq!(status(w), "closed");
        assert!(seen(w, "open", Some("reopened")));
        assert_eq!((status(w), w.ledger_of("q").pop().map(|delta| delta["identity"].clone())), (json!("open"), Some(json!("octocat"))));
        assert!(!seen(w, "open", Some("reopened")), "once");
        assert!(seen(w, "closed", Some("completed")));
        assert_eq!((status(w), show(w, &id)["state"].clone()), (json!("closed"), json!("completed")));
        assert!(!seen(w, "closed", Some("completed")));
    }

    fn what_a_poll_sees_while_a_change_is_on_its_way_is_looked_at_again(w) {
        let (id, mut hub) = completed(w);
        w.ok(&receiver(), "task_update", json!({ "id": TASK, "add_labels": ["api"] }));
        let event = json!({ "repo": "o/r", "number": 1, "state": "open", "state_reason": "reopened", "by": "octocat" });
        let answer = w.ok(&agent("Hook"), "tracker_event", event.clone());
        assert_eq!((&answer["changed"], &answer["is_held_back"]), (&json!(false), &json!(true)), "{answer:#}");
        drive(w, &mut hub, &id);
        let answer = w.ok(&agent("Hook"), "tracker_event", event);
        assert_eq!((&answer["changed"], answer.get("is_held_back")), (&json!(true), None), "{answer:#}");
        assert_eq!(status(w), "open");
    }

    fn what_a_person_said_who_closed_the_issue_before_it_was_ended_here_is_a_late_result_once(w) {
        let (id, mut hub) = offered(w);
        w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
        act(w, &receiver(), &id, "complete");
        let event = |updated_at: i64, words: &str| {
            json!({ "repo": "o/r", "number": 1, "state": "closed", "state_reason": "completed", "by": "octocat",
                "updated_at": updated_at, "closed_at": 4_000, "words": words })
        };
        let answer = w.ok(&agent("Hook"), "tracker_event", event(4_000, "it is in v2"));
        assert_eq!((&answer["changed"], &answer["is_held_back"]), (&json!(false), &json!(true)), "{answer:#}");
        hub.answer = Some(IssueAnswer { updated_at: 9_000, closed_at: Some(4_000), is_own_close: false });
        drive(w, &mut hub, &id);
        let answer = w.ok(&agent("Hook"), "tracker_event", event(9_000, "it is in v2"));
        assert_eq!((&answer["changed"], answer.get("is_held_back")), (&json!(true), None), "{answer:#}");
        let late = show(w, &id)["late_results"].clone();
        assert_eq!((&late[0]["result"], &late[0]["by"], &late[0]["by_type"]), (&json!("it is in v2"), &json!("octocat"), &json!("github_user")));
        for (updated_at, words) in [(9_000, "it is in v2"), (10_000, "thanks, all")] {
            assert_eq!(w.ok(&agent("Hook"), "tracker_event", event(updated_at, words))["changed"], false, "{words}");
        }
        assert_eq!(show(w, &id)["late_results"], late, "the words of one close are read once");
        assert_eq!(show(w, &id)["state"], "completed");
    }

    fn what_was_said_under_an_issue_that_baton_closed_is_no_late_result(w) {
        let (id, mut hub) = offered(w);
        w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
        act(w, &receiver(), &id, "complete");
        hub.answer = Some(IssueAnswer { updated_at: 9_000, closed_at: Some(9_000), is_own_close: true });
        drive(w, &mut hub, &id);
        let event = json!({ "repo": "o/r", "number": 1, "state": "closed", "state_reason": "completed", "by": "octocat",
            "updated_at": 9_000, "closed_at": 9_000, "words": "please hurry" });
        assert_eq!(w.ok(&agent("Hook"), "tracker_event", event)["changed"], false);
        assert!(show(w, &id).get("late_results").is_none());
        // Opened again by a person in the second in which Baton closed it.
        let event = json!({ "repo": "o/r", "number": 1, "state": "open", "state_reason": "reopened", "by": "octocat", "updated_at": 9_000 });
        assert_eq!(w.ok(&agent("Hook"), "tracker_event", event)["changed"], true);
        assert_eq!(status(w), "open");
        // An event of before Baton's own change comes late.
        let event = json!({ "repo": "o/r", "number": 1, "state": "closed", "state_reason": "completed", "by": "octocat", "updated_at": 8_000, "closed_at": 8_000 });
        assert_eq!(w.ok(&agent("Hook"), "tracker_event", event)["changed"], false);
        assert_eq!(status(w), "open");
    }

    fn a_person_who_closes_an_issue_again_tells_who_works_on_it_and_says_why(w) {
        let (id, _) = completed(w);
        assert!(seen(w, "open", Some("reopened")));
        w.ok(&agent("Ida").project("q"), "task_claim", json!({ "id": TASK }));
        let event = json!({ "repo": "o/r", "number": 1, "state": "closed", "state_reason": "not_planned", "by": "octocat",
            "words": "we keep it as it was" });
        assert_eq!(w.ok(&agent("Hook"), "tracker_event", event)["changed"], true);
        let task = w.ok(&receiver(), "task_show", json!({ "id": TASK }));
        assert_eq!((&task["status"], &task["close_reason"], &task["result"]), (&json!("closed"), &json!("we keep it as it was"), &json!("fail")));
        let signals = w.ok(&agent("Ida").project("q"), "signal_pending", json!({}));
        let signal = &signals["items"][0];
        assert_eq!((&signal["from"], &signal["from_type"]), (&json!("octocat"), &json!("github_user")));
        assert_eq!(signal["subject"], format!("octocat on GitHub closed the issue of task {TASK} as not planned, which you had claimed"));
        assert!(signal["body"].as_str().is_some_and(|body| body.starts_with("we keep it as it was\n")), "{signal:#}");
        let shown = show(w, &id);
        let late = &shown["late_results"][0];
        assert_eq!((&shown["state"], &late["by"], &late["by_type"]), (&json!("completed"), &json!("octocat"), &json!("github_user")));
        assert_eq!((&late["kind"], &late["result"]), (&json!("reason"), &json!("we keep it as it was")));
    }

    fn who_works_on_a_reopened_issue_hears_of_its_completion_without_more_words(w) {
        completed(w);
        assert!(seen(w, "open", Some("reopened")));
        w.ok(&agent("Ida").project("q"), "task_claim", json!({ "id": TASK }));
        assert!(seen(w, "closed", Some("completed")));
        let signals = w.ok(&agent("Ida").project("q"), "signal_pending", json!({}));
        let subject = text(&signals["items"][0], "subject");
        assert!(subject.ends_with(&format!("closed the issue of task {TASK}, which you had claimed")), "{subject}");
    }

    fn an_event_that_github_delivers_again_or_late_changes_nothing(w) {
        completed(w);
        let deliver = |w: &mut World, state: &str, reason: &str, at: i64| {
            let event = json!({ "repo": "o/r", "number": 1, "state": state, "state_reason": reason, "by": "octocat", "updated_at": at });
            w.ok(&agent("Hook"), "tracker_event", event)["changed"] == true
        };
        assert!(!deliver(w, "closed", "completed", 1_000), "it is closed here, too");
        assert!(deliver(w, "open", "reopened", 2_000));
        w.ok(&agent("Ida").project("q"), "task_claim", json!({ "id": TASK }));
        assert!(!deliver(w, "closed", "completed", 1_000), "delivered again");
        assert!(!deliver(w, "closed", "completed", 1_999), "overtaken");
        assert_eq!(status(w), "in_progress");
        assert!(deliver(w, "closed", "completed", 2_000), "within the same second");
        assert!(!deliver(w, "open", "reopened", 1_500));
        assert_eq!(status(w), "closed");
    }

    fn an_issue_that_we_have_not_told_yet_knows_less_than_we_do(w) {
        let (id, mut hub) = completed(w);
        w.ok(&receiver(), "task_reopen", json!({ "id": TASK }));
        assert!(!seen(w, "closed", Some("completed")), "the issue does not know yet");
        assert_eq!(status(w), "open");
        drive(w, &mut hub, &id);
        w.ok(&receiver(), "task_close", json!({ "id": TASK }));
        assert!(!seen(w, "open", Some("reopened")), "nor does it now");
        assert_eq!(status(w), "closed");
    }

    fn a_comment_of_an_isolated_project_names_nobody_under_the_issue(w) {
        let (id, mut hub) = (create(w), Hub::default());
        drive(w, &mut hub, &id);
        w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
        w.ok(&receiver().at("/repos/q", None), "project_init", json!({ "id": "q", "isolated": true }));
        w.ok(&receiver(), "task_comment", json!({ "id": "gh-o/r-1", "text": "half up?" }));
        drive(w, &mut hub, &id);
        let last = hub.issues[0].comments.last().expect("a comment");
        assert!(last.starts_with("somebody of project q says:\n\nhalf up?"), "{last}");
    }
}

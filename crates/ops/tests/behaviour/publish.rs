//! A task that gets an issue later: the issue shows the task as it is, also what is said while it waits for the tracker.

use serde_json::{Value, json};

use crate::hub::{Hub, Issue};
use crate::saga::{act, drive, driver, lease, receiver, sender, show, tell};
use crate::world::{World, list, text};

/// A local task that its receiver works on.
fn local(w: &mut World) -> (String, String) {
    w.register("q");
    let request = json!({ "to_project_id": "q", "subject": "First", "tags": ["one"], "priority": "low" });
    let made = w.ok(&sender(), "handoff_create", request);
    let (id, task) = (text(&made, "handoff_id"), text(&made["task"], "id"));
    w.machines.github = true;
    act(w, &receiver(), &id, "accept");
    (id, task)
}

fn change(w: &mut World, task: &str, change: Value) {
    let mut input = json!({ "id": task });
    input.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
    w.ok(&receiver(), "task_update", input);
}

fn publish(w: &mut World, id: &str) {
    w.ok(&sender(), "handoff_publish", json!({ "id": id, "issues_github_repo": "o/r" }));
}

/// How often each of the texts is under an issue.
fn said<'a>(issue: &Issue, texts: impl IntoIterator<Item = &'a str>) -> Vec<usize> {
    let count = |text| issue.comments.iter().filter(|comment| comment.contains(text)).count();
    texts.into_iter().map(count).collect()
}

on_every_backend! {
    fn the_issue_of_a_published_task_has_its_present_title_and_labels(w) {
        let (id, task) = local(w);
        change(w, &task, json!({ "title": "Second", "labels": ["two"], "priority": 0 }));
        let preview = json!({ "id": id, "issues_github_repo": "o/r", "dry_run": true });
        let preview = w.ok(&sender(), "handoff_publish", preview);
        assert_eq!(preview["would_create_issue"]["title"], "Second", "{preview:#}");
        publish(w, &id);
        let mut hub = Hub::default();
        drive(w, &mut hub, &id);
        let issue = &hub.issues[0];
        assert_eq!((issue.title.as_str(), &issue.labels[..]), ("Second", &["two", "handoff", "priority:critical"].map(str::to_owned)[..]));
    }

    fn what_is_said_while_a_task_waits_to_be_published_arrives(w) {
        let (id, task) = local(w);
        publish(w, &id);
        // The issue is made, and its answer is lost.
        let mut hub = Hub { lose: 1, ..Hub::default() };
        let leased = lease(w, &id, &driver("d"));
        let lost = hub.ask(&leased.call);
        tell(w, &leased, &lost).expect("told");
        change(w, &task, json!({ "title": "Third" }));
        w.ok(&receiver(), "task_comment", json!({ "id": task, "text": "said while it waits" }));
        w.advance(600_000);
        drive(w, &mut hub, &id);
        assert_eq!(hub.issues.len(), 1);
        assert_eq!((hub.issues[0].title.as_str(), said(&hub.issues[0], ["said while it waits"])), ("Third", vec![1]));
    }

    fn a_task_that_is_closed_twice_before_the_tracker_hears_of_it_is_reported_once(w) {
        let (id, task) = local(w);
        publish(w, &id);
        let mut hub = Hub::default();
        drive(w, &mut hub, &id);
        w.ok(&receiver(), "task_close", json!({ "id": task, "reason": "the first end" }));
        w.ok(&receiver(), "task_reopen", json!({ "id": task }));
        w.ok(&receiver(), "task_close", json!({ "id": task, "reason": "the second end" }));
        drive(w, &mut hub, &id);
        assert_eq!((said(&hub.issues[0], ["completed"]), hub.open()), (vec![1], 0), "{:?}", hub.issues[0].comments);
        let steps = list(&show(w, &id)["steps"]);
        assert_eq!(steps.iter().filter(|step| step["step"] == "report").count(), 1, "{steps:#?}");
    }
}

//! The news that a sender gets of its hand-offs: once each, and from whom it is in truth.

use serde_json::{Value, json};

use crate::hub::Hub;
use crate::saga::{self, drive, handoff_input, receiver, sender};
use crate::world::{Agent, World, agent, column, list, text};

/// A second project that hands work to the same repository.
fn elsewhere() -> Agent {
    agent("Rex").project("r")
}

/// A hand-off in the repository, offered.
fn offered(w: &mut World, hub: &mut Hub, who: &Agent, subject: &str) -> String {
    w.advance(1);
    let mut input = handoff_input();
    input["subject"] = json!(subject);
    let id = text(&w.ok(who, "handoff_create", input), "handoff_id");
    drive(w, hub, &id);
    id
}

fn set_up(w: &mut World) -> Hub {
    w.machines.github = true;
    w.register("q");
    w.register("r");
    Hub::default()
}

/// What a poll sees of an issue.
fn event(w: &mut World, more: &Value) -> Value {
    let mut input = json!({ "repo": "o/r", "number": 1, "state": "open" });
    input.as_object_mut().expect("fields").extend(more.as_object().cloned().expect("fields"));
    w.ok(&agent("Hook"), "tracker_event", input)
}

fn place(w: &mut World, id: &str) -> (String, String) {
    let shown = w.ok(&receiver(), "handoff_show", json!({ "id": id }));
    (text(&shown["task"]["metadata"], "github_repo"), text(&shown["task"], "url"))
}

/// Subjects of waiting signals that contain these words.
fn heard(w: &mut World, who: &Agent, words: &str) -> Vec<String> {
    column(&w.pending(who), "subject").into_iter().filter(|subject| subject.contains(words)).collect()
}

/// What waits for the sender of a hand-off, by subject and body.
fn waiting(w: &mut World) -> String {
    let all = w.pending(&sender());
    all.iter().map(|one| format!("{}\n{}\n", text(one, "subject"), text(one, "body"))).collect()
}

on_every_backend! {
    fn news_of_a_failure_that_was_mended_says_how_it_stands_and_names_no_command_that_harms(w) {
        let mut hub = set_up(w);
        hub.refuse = true;
        let id = offered(w, &mut hub, &sender(), "one");
        hub.refuse = false;
        let before = waiting(w);
        assert!(before.contains("has failed") && before.contains("handoff retry"), "{before}");
        w.ok(&sender(), "handoff_retry", json!({ "id": id }));
        drive(w, &mut hub, &id);
        let after = waiting(w);
        assert!(after.contains("had failed, and is offered by now"), "{after}");
        assert!(!after.contains("handoff retry") && !after.contains("handoff cancel"), "{after}");
        assert!(after.contains(&format!("baton handoff show {id}")), "{after}");
        w.ok(&sender(), "handoff_advance", json!({ "id": id, "action": "cancel" }));
        assert!(waiting(w).contains("had failed, and is cancelled by now"), "{}", waiting(w));
    }

    fn news_of_an_expiry_leads_to_one_hand_off_in_its_place_and_no_second_one(w) {
        w.register("q");
        let input = json!({ "to_project_id": "q", "subject": "s", "description": "d", "expires_in": "1h" });
        let id = text(&w.ok(&sender(), "handoff_create", input), "handoff_id");
        w.advance(3_700_000);
        w.no(&receiver(), "handoff_advance", json!({ "id": id, "action": "accept" }), "handoff_state");
        let news = waiting(w);
        assert!(news.contains(&format!("baton handoff create --replaces {id}")), "{news}");
        let new = text(&w.ok(&sender(), "handoff_create", json!({ "replaces": id })), "handoff_id");
        let news = waiting(w);
        assert!(news.contains("it was left anew since") && news.contains(&new), "{news}");
        assert!(!news.contains("--replaces"), "{news}");
    }

    fn a_sender_hears_that_another_of_the_project_took_a_hand_off_back(w) {
        w.register("q");
        let mut left = |subject: &str| {
            let input = json!({ "to_project_id": "q", "subject": subject, "description": "d" });
            text(&w.ok(&sender(), "handoff_create", input), "handoff_id")
        };
        let (own, others) = (left("mine"), left("theirs"));
        w.ok(&sender(), "handoff_advance", json!({ "id": own, "action": "cancel" }));
        assert_eq!(heard(w, &sender(), "was cancelled"), Vec::<String>::new());
        w.ok(&agent("Mal"), "handoff_advance", json!({ "id": others, "action": "cancel" }));
        let news = heard(w, &sender(), "was cancelled");
        assert_eq!(news.len(), 1, "{news:?}");
        assert!(news[0].ends_with("\"theirs\" was cancelled by Mal"), "{news:?}");
    }

    fn every_hand_off_follows_a_renamed_repository_and_each_sender_hears_of_it_once(w) {
        let mut hub = set_up(w);
        let own = [offered(w, &mut hub, &sender(), "one"), offered(w, &mut hub, &sender(), "two")];
        let over = offered(w, &mut hub, &sender(), "over");
        w.ok(&sender(), "handoff_advance", json!({ "id": over, "action": "cancel" }));
        let other = offered(w, &mut hub, &elsewhere(), "three");
        let moved = event(w, &json!({ "number": 2, "url": "https://github.example/o/library/issues/2" }));
        assert_eq!(moved["changed"], true, "{moved:#}");
        for (number, id) in [(1, &own[0]), (2, &own[1]), (3, &over), (4, &other)] {
            let now = ("o/library".to_owned(), format!("https://github.example/o/library/issues/{number}"));
            assert_eq!(place(w, id), now);
            let renames = w.ok(&receiver(), "handoff_show", json!({ "id": id }))["renames"].clone();
            assert_eq!((&renames[0]["before"], &renames[0]["now"]), (&json!("o/r"), &json!("o/library")), "{renames:#}");
        }
        for (number, id) in [(1, &own[0]), (2, &own[1]), (4, &other)] {
            let note = text(&w.ok(&receiver(), "handoff_show", json!({ "id": id }))["note"], "text");
            assert!(note.contains(&format!("https://github.example/o/library/issues/{number}")), "{note}");
        }
        let words = "o/r is called o/library now";
        assert_eq!(heard(w, &sender(), words), ["o/r is called o/library now: 2 hand-offs to q went along"]);
        let notice = w.pending(&sender()).into_iter().find(|one| text(one, "subject").contains(words)).expect("a signal");
        for id in &own {
            assert!(text(&notice, "body").contains(&format!("baton handoff show {id}")), "{notice:#}");
        }
        assert!(!text(&notice, "body").contains(&over), "one that is over is awaited by nobody: {notice:#}");
        assert_eq!((text(&notice, "from"), text(&notice, "from_type")), ("Baton".to_owned(), "system".to_owned()));
        let theirs = heard(w, &elsewhere(), words);
        assert!(theirs.len() == 1 && theirs[0].contains("\"three\" to q went along"), "{theirs:?}");
        // The same page again, and those of the others, are no news.
        for number in 1..=4 {
            let url = format!("https://github.example/o/library/issues/{number}");
            let again = event(w, &json!({ "repo": "o/library", "number": number, "url": url }));
            assert_eq!(again["changed"], false, "{again:#}");
        }
        assert_eq!((heard(w, &sender(), words).len(), heard(w, &elsewhere(), words).len()), (1, 1));
    }

    fn the_registry_takes_the_new_name_of_a_repository_however_it_was_spelled(w) {
        let mut hub = set_up(w);
        w.ok(&receiver(), "project_set", json!({ "issues_repo": "O/R" }));
        let registered = |w: &mut World| w.ok(&receiver(), "project_show", json!({}))["issues_github_repo"].clone();
        offered(w, &mut hub, &sender(), "one");
        assert_eq!(registered(w), "O/R");
        event(w, &json!({ "url": "https://github.example/o/library/issues/1" }));
        assert_eq!(registered(w), "o/library");
    }

    fn what_failed_stands_first_among_what_was_sent(w) {
        let mut hub = set_up(w);
        hub.refuse = true;
        let failed = offered(w, &mut hub, &sender(), "one");
        hub.refuse = false;
        let newer = offered(w, &mut hub, &sender(), "two");
        let sent = list(&w.ok(&sender(), "session_status", json!({}))["sent"]);
        assert_eq!(column(&sent, "handoff_id"), [failed, newer], "{sent:#?}");
    }

    fn a_closer_at_github_is_no_agent_of_the_same_name(w) {
        let mut hub = set_up(w);
        let id = offered(w, &mut hub, &sender(), "one");
        w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
        event(w, &json!({ "state": "closed", "state_reason": "completed", "by": "Donna", "words": "in v2" }));
        let shown = w.ok(&sender(), "handoff_show", json!({ "id": id }));
        let ended = &shown["ended"];
        assert_eq!((&ended["by"], &ended["by_type"]), (&json!("Donna"), &json!("github_user")), "{shown:#}");
        let sent = w.ok(&sender(), "session_status", json!({}))["sent"][0].clone();
        assert_eq!((&sent["ended_by"], &sent["ended_by_type"]), (&json!("Donna"), &json!("github_user")), "{sent:#}");
        let waiting = w.pending(&sender());
        let notice = waiting.iter().find(|one| text(one, "subject").contains("was completed")).expect("a signal");
        assert!(text(notice, "subject").ends_with("was completed by Donna on GitHub"), "{notice:#}");
        assert_eq!((text(notice, "from"), text(notice, "from_type")), ("Donna".to_owned(), "github_user".to_owned()));
        assert_eq!(notice.get("from_project_id"), None, "{notice:#}");
        let reply = json!({ "reply_to": notice["message_id"], "body": "thanks" });
        let no = w.no_trace(&sender(), "mail_send", reply, "message_invalid");
        assert!(text(&no, "message").contains("Donna on GitHub"), "{no:#}");
        // The agent Donna, who had accepted it, hears that another ended it, and what she says is a late result.
        assert_eq!(heard(w, &receiver(), "is completed by Donna on GitHub").len(), 1);
        let words = json!({ "id": id, "action": "complete", "result": "in v2" });
        w.no(&receiver(), "handoff_advance", words, "handoff_state");
        let shown = w.ok(&sender(), "handoff_show", json!({ "id": id }));
        assert_eq!(shown["late_results"][0]["by"], "Donna", "{shown:#}");
    }

    fn a_close_without_a_word_is_no_word_of_who_closed(w) {
        let mut hub = set_up(w);
        for (number, reason, state) in [(1, "completed", "completed"), (2, "not_planned", "declined")] {
            let id = offered(w, &mut hub, &sender(), state);
            event(w, &json!({ "number": number, "state": "closed", "state_reason": reason, "by": "carol" }));
            let shown = w.ok(&sender(), "handoff_show", json!({ "id": id }));
            assert_eq!((&shown["state"], &shown["result"]), (&json!(state), &Value::Null), "{shown:#}");
            assert_eq!(shown["ended"].get("why"), None, "{shown:#}");
            let sent = list(&w.ok(&sender(), "session_status", json!({}))["sent"]);
            let sent = sent.iter().find(|one| text(one, "handoff_id") == id).expect("a row");
            assert_eq!(sent.get("why"), None, "{sent:#}");
            let waiting = w.pending(&sender());
            let notice = waiting.iter().find(|one| text(one, "subject").contains(&format!("was {state}"))).expect("a signal");
            assert!(!text(notice, "body").contains("the issue was closed"), "{notice:#}");
        }
        // Of one that was opened again, to whom has claimed its task.
        event(w, &json!({ "state_reason": "reopened" }));
        let rex = agent("Rex").project("q");
        let task = text(&list(&w.ok(&rex, "task_list", json!({}))["items"])[0], "id");
        w.ok(&rex, "task_claim", json!({ "id": task }));
        event(w, &json!({ "state": "closed", "state_reason": "completed", "by": "erin" }));
        let waiting = w.pending(&rex);
        let notice = waiting.iter().find(|one| text(one, "subject").contains("closed the issue of task")).expect("a signal");
        assert!(text(notice, "body").starts_with("The task is closed"), "{notice:#}");
    }

    fn the_age_of_a_hand_off_is_that_of_its_state_and_not_of_its_last_change(w) {
        let mut hub = set_up(w);
        let id = offered(w, &mut hub, &sender(), "one");
        let row = |w: &mut World| w.ok(&sender(), "session_status", json!({}))["sent"][0].clone();
        let shown = w.ok(&sender(), "handoff_show", json!({ "id": id }));
        assert_eq!(row(w)["state_since"], shown["offered_at"]);
        w.advance(3_600_000);
        event(w, &json!({ "state": "closed", "state_reason": "completed", "by": "carol", "words": "in v2" }));
        w.advance(3_600_000);
        event(w, &json!({ "state_reason": "reopened" }));
        let (shown, row) = (w.ok(&sender(), "handoff_show", json!({ "id": id })), row(w));
        assert!(row["updated_at"].as_str() > row["state_since"].as_str(), "{row:#}");
        assert_eq!((&row["state"], &row["state_since"]), (&json!("completed"), &shown["ended"]["at"]), "{row:#}");
    }

    fn an_end_that_an_agent_brought_about_says_that_it_was_an_agent(w) {
        let id = saga::create(w);
        drive(w, &mut Hub::default(), &id);
        w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
        saga::act(w, &receiver(), &id, "complete");
        let sent = w.ok(&sender(), "session_status", json!({}))["sent"][0].clone();
        assert_eq!((&sent["ended_by"], &sent["ended_by_type"]), (&json!("Donna"), &json!("agent")), "{sent:#}");
    }

    fn a_reason_that_comes_afterwards_is_told_as_one(w) {
        let mut hub = set_up(w);
        let id = offered(w, &mut hub, &sender(), "one");
        w.ok(&receiver(), "handoff_advance", json!({ "id": id, "action": "decline" }));
        w.ok(&receiver(), "handoff_advance", json!({ "id": id, "action": "decline", "why": "no time" }));
        let (first, second) = (heard(w, &sender(), "was declined by Donna of q"), heard(w, &sender(), "Donna of q says why"));
        assert_eq!((first.len(), second.len()), (1, 1), "{first:?} {second:?}");
        assert!(second[0].ends_with("was declined"), "{second:?}");
        let ledger = w.ledger_of("p");
        let last = ledger.iter().rfind(|delta| delta["kind"] == "handoff").expect("an entry");
        assert_eq!(text(&last["body"], "summary"), "why a hand-off was declined: one");
    }
}

//! Lists are read to their end in the order that was asked for, and what stands in the way of a hand-off is its sender's matter.

use baton_model::issue::TrackerOutcome;
use baton_ops::saga::{LeasedStep, StepStart};
use baton_ops::{baton, handoff, memory, message, task};
use serde_json::{Value, json};

use crate::saga::{begin, driver, tell};
use crate::world::{World, agent, column, list, text};

/// All rows of a list, page by page; the field of the input that takes `next` is named.
fn all_pages(w: &mut World, operation: &str, (mut input, cursor): (Value, &str)) -> Vec<Value> {
    let mut items = Vec::new();
    loop {
        let page = w.ok(&agent("Ann"), operation, input.clone());
        items.extend(list(&page["items"]));
        if page["next"].is_null() {
            return items;
        }
        input[cursor] = page["next"].clone();
    }
}

/// The step of a hand-off whose turn it is, at the time when it is due.
fn due_step(w: &mut World, id: &str) -> Box<LeasedStep> {
    loop {
        match begin(w, id, &driver("d")).expect("begun") {
            StepStart::Call(leased) => return leased,
            StepStart::Wait(at) | StepStart::Leased(at) => w.now = at,
            other => panic!("nothing to ask: {other:?}"),
        }
    }
}

/// A server refuses fields that it does not know, also where they say nothing: one of an earlier version is asked without them.
#[test]
fn what_is_not_asked_for_is_not_sent_where_an_earlier_server_does_not_know_it() {
    let (tasks, offers) = (task::ListInput::default(), handoff::ListInput::default());
    let (shown, batons) = (handoff::ShowInput::default(), baton::ListInput::default());
    let (found, threads) = (memory::SearchInput::default(), message::ThreadsInput::default());
    for (input, fields) in [
        (json!(tasks), &["whole", "parts"][..]),
        (json!(offers), &["to", "order"]),
        (json!(shown), &["full"]),
        (json!(batons), &["order"]),
        (json!(found), &["id"]),
        (json!(threads), &["before"]),
    ] {
        let sent: Vec<&&str> = fields.iter().filter(|field| input.get(**field).is_some()).collect();
        assert!(sent.is_empty(), "{sent:?} of {input}");
    }
}

on_every_backend! {
    fn a_hand_off_that_does_not_get_through_is_its_senders_matter_with_what_stands_in_the_way(w) {
        w.machines.github = true;
        w.register("q");
        let lola = agent("Lola");
        let create = json!({ "to_project_id": "q", "subject": "add an endpoint", "issues_github_repo": "o/r" });
        let id = text(&w.ok(&lola, "handoff_create", create), "handoff_id");
        let look = |w: &mut World, who: &str| w.ok(&agent("Watcher"), "attention_list", json!({ "identity": who }));
        assert_eq!(look(w, "Zed")["total"], 0, "it is on its way");
        for (outcome, reason) in [
            (TrackerOutcome::Retry { why: "no answer from o/r".into(), after: None, unknown: false }, "handoff_stuck"),
            (TrackerOutcome::Final { why: "GitHub answered 404".into(), unknown: false }, "handoff_failed"),
        ] {
            let step = due_step(w, &id);
            tell(w, &step, &outcome).expect("recorded");
            let found = look(w, "Zed");
            let matter = &found["items"][0];
            assert_eq!((&matter["reason"], &matter["id"], &matter["subject"]), (&json!(reason), &json!(id), &json!("add an endpoint")), "{found:#}");
            assert_eq!((&matter["project_id"], &matter["to"]), (&json!("p"), &json!("q")));
            let (TrackerOutcome::Retry { why, .. } | TrackerOutcome::Final { why, .. }) = &outcome else { unreachable!() };
            assert!(text(matter, "detail").contains(why.as_str()), "{matter:#}");
            assert!(text(matter, "help").starts_with("baton handoff retry "), "{matter:#}");
            assert_eq!(found["counts"], json!([{ "reason": reason, "count": 1 }]));
            assert_eq!(found["sections"], json!({ "mine": 0, "concern": 1, "waiting": 0 }));
            let own = look(w, "LOLA");
            assert_eq!((&own["mine"][0]["id"], &own["sections"]["mine"]), (&json!(id), &json!(1)), "{own:#}");
            let only = w.ok(&agent("Watcher"), "attention_list", json!({ "reason": reason }));
            assert_eq!(only["total"], 1);
        }
        w.ok(&lola, "handoff_advance", json!({ "id": id, "action": "cancel" }));
        assert_eq!(look(w, "Zed")["total"], 0);
    }

    fn batons_are_read_from_either_end_and_for_an_addressee(w) {
        for n in 0..5 {
            let who = agent(&format!("A{n}"));
            w.start(&who);
            let to = if n % 2 == 1 { json!("Ann") } else { Value::Null };
            w.ok(&who, "session_wrap", json!({ "summary": format!("part {n}"), "to": to }));
            w.advance(1_000);
        }
        let read = |w: &mut World, input: Value| column(&all_pages(w, "baton_list", (input, "cursor")), "summary");
        assert_eq!(read(w, json!({ "limit": 2, "order": "newest" })), ["part 4", "part 3", "part 2", "part 1", "part 0"]);
        assert_eq!(read(w, json!({ "limit": 2, "order": "oldest" })), read(w, json!({})));
        assert_eq!(read(w, json!({ "limit": 1, "order": "newest", "to": "ann", "all": true })), ["part 3", "part 1"]);
        // One that an open session holds stands in its place.
        let newest = w.ok(&agent("Ann"), "baton_list", json!({ "order": "newest" }))["items"][0]["baton_id"].clone();
        w.ok(&agent("Bob"), "hd_exec", json!({ "handoff_id": newest }));
        w.advance(600_001);
        assert_eq!(read(w, json!({ "limit": 2, "order": "newest" })).len(), 5);
        assert_eq!(read(w, json!({ "limit": 2, "state": "abandoned", "order": "newest" })).len(), 1);
        w.wrap(&agent("Bob"), "went on");
        assert_eq!(read(w, json!({ "limit": 1, "state": "spent", "order": "newest" })).len(), 1);
        w.no(&agent("Ann"), "baton_list", json!({ "order": "sideways" }), "input_invalid");
    }

    fn what_was_decided_in_all_projects_is_read_to_its_end_and_each_once(w) {
        w.register("q");
        w.register("r");
        // Several in one instant, in more than one project, and the rest apart.
        for n in 0..3 {
            for project in ["q", "p", "r"] {
                let who = agent("Lola").project(project);
                for part in 0..2 {
                    let note = json!({ "kind": "decision", "text": format!("{project} {n}{part}"), "why": "the law" });
                    w.ok(&who, "ledger_note", note);
                }
                w.ok(&who, "ledger_note", json!({ "text": "no decision" }));
            }
            w.advance(1_000);
        }
        let read = |w: &mut World, input: Value| -> Vec<String> {
            all_pages(w, "decision_list", (input, "cursor")).iter().map(|one| text(&one["body"], "what")).collect()
        };
        let whole = read(w, json!({ "all": true }));
        assert_eq!(whole[..7], ["p 21", "p 20", "q 21", "q 20", "r 21", "r 20", "p 11"], "{whole:?}");
        assert_eq!(whole.len(), 18);
        for limit in [1, 2, 5, 17] {
            assert_eq!(read(w, json!({ "all": true, "limit": limit })), whole, "{limit}");
        }
        assert_eq!(read(w, json!({ "project": "q", "limit": 4 })), ["q 21", "q 20", "q 11", "q 10", "q 01", "q 00"]);
        w.no(&agent("Ann"), "decision_list", json!({ "all": true, "cursor": "nonsense" }), "cursor_invalid");
    }

    fn hand_offs_are_read_by_state_addressee_and_from_either_end(w) {
        w.register("q");
        let (lola, ben) = (agent("Lola"), agent("Ben").project("q"));
        let mut ids = Vec::new();
        for n in 0..6 {
            let to = if n % 2 == 0 { json!("Ben") } else { Value::Null };
            let create = json!({ "to_project_id": "q", "subject": format!("work {n}"), "to_identity": to });
            ids.push(text(&w.ok(&lola, "handoff_create", create), "handoff_id"));
            w.settle();
            w.advance(1_000);
        }
        for (n, action) in [(0, "decline"), (1, "decline"), (2, "accept")] {
            w.ok(&ben, "handoff_advance", json!({ "id": ids[n], "action": action }));
        }
        let read = |w: &mut World, input: Value| column(&all_pages(w, "handoff_list", (input, "cursor")), "subject");
        for all in [true, false] {
            let input = |mut fields: Value| {
                fields["all"] = all.into();
                fields["limit"] = 1.into();
                fields
            };
            assert_eq!(read(w, input(json!({ "state": "offered" }))), ["work 5", "work 4", "work 3"], "all {all}");
            assert_eq!(read(w, input(json!({ "state": "declined", "order": "oldest" }))), ["work 0", "work 1"]);
            assert_eq!(read(w, input(json!({ "to": "ben" }))), ["work 4", "work 2", "work 0"]);
            assert_eq!(read(w, input(json!({ "to": "BEN", "state": "offered", "order": "oldest" }))), ["work 4"]);
            assert_eq!(read(w, input(json!({ "order": "oldest" }))), ["work 0", "work 1", "work 2", "work 3", "work 4", "work 5"]);
            for (fields, total) in [(json!({ "state": "offered" }), 3), (json!({ "state": "declined" }), 2), (json!({ "state": "accepted" }), 1), (json!({ "to": "Ben" }), 3), (json!({ "state": "declined", "to": "Ben" }), 1), (json!({ "to": "role:testing" }), 0)] {
                let page = w.ok(&agent("Ann"), "handoff_list", input(fields.clone()));
                assert_eq!(page["total"], total, "{fields}");
            }
        }
    }

    fn threads_are_read_to_their_end_and_each_once(w) {
        for name in ["Lola", "Donna"] {
            w.ok(&agent(name), "agent_register", json!({}));
        }
        let mut sent = Vec::new();
        for n in 0..5 {
            let letter = json!({ "to": "Donna", "subject": format!("c{n}"), "body": "b" });
            sent.push(text(&w.ok(&agent("Lola"), "mail_send", letter), "message_id"));
        }
        // The oldest one is the last written to: it comes first, and not again where its first letter stands.
        w.ok(&agent("Donna"), "mail_send", json!({ "reply_to": sent[0], "body": "yes" }));
        for limit in [1, 2, 50] {
            let threads = all_pages(w, "mail_threads", (json!({ "limit": limit }), "before"));
            assert_eq!(column(&threads, "subject"), ["c0", "c4", "c3", "c2", "c1"], "pages of {limit}");
            assert_eq!(threads[0]["messages"], 2);
        }
    }

    fn a_memory_is_read_by_its_id_also_when_it_was_withdrawn(w) {
        let add = |w: &mut World, words: &str| text(&w.ok(&agent("Donna"), "memory_add", json!({ "text": words })), "memory_id");
        let (one, _) = (add(w, "The cart rounds half up"), add(w, "Redis was rejected"));
        let read = |w: &mut World, id: &str| w.ok(&agent("Ann"), "memory_search", json!({ "id": id }));
        let found = read(w, &one);
        assert_eq!(column(&list(&found["items"]), "text"), ["The cart rounds half up"], "{found:#}");
        assert!(found["items"][0].get("withdrawn_at").is_none());
        w.ok(&agent("Donna"), "memory_withdraw", json!({ "id": one, "why": "half down" }));
        assert_eq!(read(w, &one)["items"][0]["withdrawn_why"], "half down");
        w.no(&agent("Ann"), "memory_search", json!({ "id": "0000-none" }), "memory_unknown");
        for beside in [json!({ "query": "cart" }), json!({ "kind": "note" }), json!({ "tags": ["tax"] }), json!({ "related": true })] {
            let mut input = beside.clone();
            input["id"] = json!(one);
            w.no(&agent("Ann"), "memory_search", input, "input_invalid");
        }
        w.register("q");
        w.no(&agent("Ann").project("q"), "memory_search", json!({ "id": one }), "memory_unknown");
    }

    fn tasks_that_are_a_part_of_none_are_listed_with_how_many_parts_they_have(w) {
        let make = |w: &mut World, title: &str, parent: Value| text(&w.ok(&agent("Ann"), "task_create", json!({ "title": title, "parent": parent })), "id");
        let house = make(w, "house", Value::Null);
        let roof = make(w, "roof", json!(house));
        make(w, "slates", json!(roof));
        let door = make(w, "door", json!(house));
        make(w, "fence", Value::Null);
        w.ok(&agent("Ann"), "task_close", json!({ "id": door, "reason": "done" }));
        let read = |w: &mut World, input: Value| {
            let rows = all_pages(w, "task_list", (input, "after"));
            rows.iter().map(|row| (text(row, "title"), row["part_count"].clone())).collect::<Vec<_>>()
        };
        let row = |title: &str, count: i64| (title.to_owned(), json!(count));
        assert_eq!(read(w, json!({ "whole": true, "parts": true, "limit": 1 })), [row("fence", 0), row("house", 1)], "closed parts are not listed, and not counted");
        assert_eq!(read(w, json!({ "whole": true, "parts": true, "all": true })), [row("fence", 0), row("house", 2)]);
        assert_eq!(read(w, json!({ "parent": house, "parts": true })), [row("roof", 1)]);
        assert_eq!(read(w, json!({ "parent": house, "parts": true, "all": true })), [row("roof", 1), row("door", 0)]);
        assert_eq!(read(w, json!({ "parent": roof }))[0].1, Value::Null, "only where it was asked for");
    }

    fn an_open_part_of_a_closed_or_deleted_task_stands_by_itself(w) {
        let make = |w: &mut World, title: &str, parent: Value| {
            w.advance(1_000);
            text(&w.ok(&agent("Ann"), "task_create", json!({ "title": title, "parent": parent })), "id")
        };
        let house = make(w, "house", Value::Null);
        let roof = make(w, "roof", json!(house));
        make(w, "slates", json!(roof));
        let shed = make(w, "shed", Value::Null);
        make(w, "lock", json!(shed));
        w.ok(&agent("Ann"), "task_close", json!({ "id": house, "reason": "done", "force": true }));
        w.ok(&agent("Ann"), "task_delete", json!({ "id": shed, "force": true }));
        let read = |w: &mut World, input: Value| {
            let rows = all_pages(w, "task_list", (input, "after"));
            rows.iter().map(|row| text(row, "title")).collect::<Vec<_>>()
        };
        for limit in [1, 2, 50] {
            assert_eq!(read(w, json!({ "whole": true, "limit": limit })), ["roof", "lock"], "pages of {limit}");
            assert_eq!(read(w, json!({ "whole": true, "all": true, "limit": limit })), ["house", "lock"], "pages of {limit}");
        }
        assert_eq!(read(w, json!({ "parent": roof })), ["slates"], "below what is open");
    }

    fn a_role_without_a_name_is_nobodys_address(w) {
        w.register("q");
        let lola = agent("Lola");
        w.ok(&lola, "handoff_create", json!({ "to_project_id": "q", "subject": "for anybody" }));
        w.ok(&lola, "handoff_create", json!({ "to_project_id": "q", "subject": "for a role", "to_role": "testing" }));
        w.start(&lola);
        w.ok(&lola, "session_wrap", json!({ "summary": "for anybody" }));
        for project in [json!({}), json!({ "all": true })] {
            for order in ["oldest", "newest"] {
                let find = |w: &mut World, operation: &str, to: &str| {
                    let mut input = project.clone();
                    (input["to"], input["order"]) = (json!(to), json!(order));
                    let found = w.ok(&lola, operation, input);
                    (list(&found["items"]).len(), found["total"].clone())
                };
                assert_eq!(find(w, "handoff_list", "role:"), (0, json!(0)), "{project} {order}");
                assert_eq!(find(w, "handoff_list", "role:testing"), (1, json!(1)), "{project} {order}");
                assert_eq!(find(w, "baton_list", "role:"), (0, json!(0)), "{project} {order}");
            }
        }
    }

    fn an_open_session_says_what_it_has_claimed_and_where_it_works(w) {
        let ann = agent("Ann");
        w.start(&ann);
        let task = text(&w.ok(&ann, "task_create", json!({ "title": "Round the tax" })), "id");
        w.ok(&ann, "task_claim", json!({ "id": task }));
        w.ok(&ann, "lease_take", json!({ "patterns": ["src/**"], "why": "tax" }));
        for input in [json!({ "open": true }), json!({ "open": true, "all": true })] {
            let open = w.ok(&agent("Watcher"), "session_history", input);
            let row = &open["items"][0];
            assert_eq!((&row["tasks"], &row["leases"]), (&json!([{ "id": task, "title": "Round the tax" }]), &json!(["src/**"])), "{open:#}");
        }
    }
}

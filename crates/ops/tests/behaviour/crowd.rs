//! Many at once, each with a connection of its own.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};

use crate::backend::{Backend, Ground};
use crate::world::{Agent, World, agent, list, text};

/// How many connections a test may open: a server has a hundred by default, and other tests run beside.
fn connections(ground: &Ground) -> usize {
    if ground.backend == Backend::Postgres { 40 } else { 200 }
}

/// What each of the agents is answered when all ask at the same moment.
fn all_at_once(ground: &Ground, crowd: &[Agent], verb: &str, input: &Value) -> Vec<Result<Value, Value>> {
    let parts: Vec<&[Agent]> = crowd.chunks(crowd.len().div_ceil(connections(ground))).collect();
    let gate = Barrier::new(parts.len());
    let ask = |at: usize, part: &[Agent]| {
        let mut own = World::beside(ground, 1_000 + u64::try_from(at).expect("small"));
        gate.wait();
        part.iter().map(|who| own.call(who, verb, input.clone())).collect::<Vec<_>>()
    };
    let ask = &ask;
    thread::scope(|scope| {
        let threads: Vec<_> =
            parts.iter().enumerate().map(|(at, part)| scope.spawn(move || ask(at, part))).collect();
        threads.into_iter().flat_map(|answers| answers.join().expect("no thread fails")).collect()
    })
}

/// What each of these calls is answered when all are made at the same moment, with ids from this seed on.
fn race(ground: &Ground, seed: u64, calls: Vec<(Agent, &'static str, Value)>) -> Vec<Result<Value, Value>> {
    let gate = &Barrier::new(calls.len());
    thread::scope(|scope| {
        let threads: Vec<_> = (seed..)
            .zip(calls)
            .map(|(seed, (who, verb, input))| {
                scope.spawn(move || {
                    let mut own = World::beside(ground, seed);
                    gate.wait();
                    own.call(&who, verb, input)
                })
            })
            .collect();
        threads.into_iter().map(|answer| answer.join().expect("no thread fails")).collect()
    })
}

/// One agent's working day: starts or picks up, saves, and wraps, over and over. Refusals are part of it.
fn work(ground: &Ground, number: u64) -> BTreeMap<String, usize> {
    let mut own = World::beside(ground, 2_000 + number);
    let me = agent(&format!("Agent{number}"));
    let mut count = BTreeMap::new();
    for round in 0..6 {
        let begin = if (number + round).is_multiple_of(2) { "session_start" } else { "hd_exec" };
        for (verb, input) in [
            (begin, json!({})),
            ("session_checkpoint", json!({ "summary": "s", "state": { "round": round } })),
            ("session_wrap", json!({ "summary": format!("{number}/{round}") })),
        ] {
            let answer = match own.call(&me, verb, input) {
                Ok(_) => verb.to_owned(),
                Err(refusal) => text(&refusal, "code"),
            };
            *count.entry(answer).or_insert(0) += 1;
        }
    }
    count
}

on_shared_backends! {
    fn of_two_hundred_pickers_one_holds_the_baton_and_199_are_refused(w) {
        let wrap = w.leave_baton(&agent("Lola"), "done");
        let crowd: Vec<Agent> = (0..200).map(|n| agent(&format!("Agent{n}"))).collect();
        let answers = all_at_once(&w.ground, &crowd, "hd_exec", &json!({}));
        let (holders, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
        assert_eq!((holders.len(), refused.len()), (1, 199));
        let holder = holders[0].as_ref().expect("the holder");
        assert_eq!(holder["baton"]["delta_id"], wrap["baton_id"]);
        for refusal in refused {
            let refusal = refusal.expect_err("refused");
            assert_eq!(refusal["code"], "baton_claimed");
            assert_eq!(refusal["holder"]["session_id"], holder["session_id"]);
        }
        assert_eq!(w.deltas("pickup").len(), 1);
        assert_eq!(w.roster().len(), 1);
    }

    fn of_fifty_processes_of_one_name_one_has_the_session(w) {
        let crowd: Vec<Agent> = (0..50).map(|n| agent("Donna").process(&format!("p{n}"))).collect();
        let answers = all_at_once(&w.ground, &crowd, "session_start", &json!({}));
        let (started, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
        assert_eq!((started.len(), refused.len()), (1, 49));
        assert!(refused.iter().all(|r| r.as_ref().is_err_and(|r| r["code"] == "identity_conflict")));
        assert_eq!(w.deltas("start").len(), 1);
    }

    fn fifty_retries_of_one_request_are_one_pickup(w) {
        w.leave_baton(&agent("Lola"), "done");
        let crowd = vec![agent("Bot"); 50];
        let answers = all_at_once(&w.ground, &crowd, "hd_exec", &json!({ "request_id": "r1" }));
        let ids: Vec<_> = answers.into_iter().map(|a| text(&a.expect("picked"), "session_id")).collect();
        assert!(ids.iter().all(|id| *id == ids[0]));
        assert_eq!(w.deltas("pickup").len(), 1);
    }

    fn of_two_hundred_requests_under_one_id_each_name_has_its_own(w) {
        let names = ["Ann", "Ben"];
        let crowd: Vec<Agent> = (0..200).map(|n| agent(names[n % 2])).collect();
        let input = json!({ "to": "role:implementation", "subject": "s", "body": "b", "request_id": "r1" });
        let answers = all_at_once(&w.ground, &crowd, "mail_send", &input);
        let mut ids = [BTreeMap::new(), BTreeMap::new()];
        for (n, answer) in answers.into_iter().enumerate() {
            let answer = answer.expect("sent");
            // Parts of the crowd are answered in the order in which they were asked.
            assert!(names.contains(&text(&answer, "identity").as_str()));
            let of = usize::from(text(&answer, "identity") == "Ben");
            *ids[of].entry(text(&answer, "message_id")).or_insert(0) += 1;
            assert!(n < 200);
        }
        assert_eq!(ids.each_ref().map(|ids| ids.values().copied().collect::<Vec<i32>>()), [vec![100], vec![100]]);
        assert_ne!(ids[0].keys().next(), ids[1].keys().next());
        let sent = w.everything().into_iter().filter(|row| row.starts_with("message:")).count();
        assert_eq!(sent, 2);
        w.assert_sound();
    }

    fn two_hundred_pickers_under_one_id_are_one_holder(w) {
        w.leave_baton(&agent("Lola"), "done");
        let crowd: Vec<Agent> = (0..200).map(|n| agent(["Ann", "Ben"][n % 2])).collect();
        let answers = all_at_once(&w.ground, &crowd, "hd_exec", &json!({ "request_id": "1" }));
        let (held, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
        assert_eq!((held.len(), refused.len()), (100, 100));
        let held: Vec<_> = held.into_iter().map(|answer| answer.expect("picked")).collect();
        assert!(held.iter().all(|one| one["session_id"] == held[0]["session_id"] && one["identity"] == held[0]["identity"]));
        assert!(refused.iter().all(|one| one.as_ref().is_err_and(|refusal| refusal["code"] == "baton_claimed")));
        assert_eq!(w.deltas("pickup").len(), 1);
    }

    fn of_many_projects_that_want_one_name_at_once_one_has_it(w) {
        let projects: Vec<String> = (0..10).map(|n| format!("p{n}")).collect();
        projects.iter().for_each(|project| w.register(project));
        for round in 0..8 {
            let name = format!("store{round}");
            let rename = |project: &String| (agent("Owner").project(project), "project_rename", json!({ "to": name }));
            let answers = race(&w.ground, 10_000 + 100 * round, projects.iter().map(rename).collect());
            let named: Vec<&Value> = answers.iter().filter_map(|answer| answer.as_ref().ok()).collect();
            assert_eq!(named.len(), 1, "{name}: {named:#?}");
            assert!(answers.iter().all(|answer| answer.as_ref().err().is_none_or(|refusal| refusal["code"] == "project_taken")));
        }
        for round in 0..8 {
            // A project that is founded with the id that another one takes for its name.
            let name = format!("market{round}");
            let founder = agent("Owner").project(&name).at(&format!("/repos/{name}"), None);
            let calls = vec![
                (agent("Owner").project("p0"), "project_rename", json!({ "to": name })),
                (founder, "project_init", json!({ "id": name })),
            ];
            let answers = race(&w.ground, 20_000 + 100 * round, calls);
            let known = list(&w.ok(&agent("Owner").project("p0"), "project_list", json!({}))["items"]);
            let is_project = known.iter().any(|row| row["project_id"] == name.as_str());
            assert_eq!(is_project, answers[0].is_err(), "{name} is a project or a name: {answers:#?}");
        }
        w.assert_sound();
    }

    fn sixteen_agents_at_work_leave_a_sound_ledger(w) {
        let ground = &w.ground;
        let counts: Vec<_> = thread::scope(|scope| {
            let days: Vec<_> = (0..16).map(|n| scope.spawn(move || work(ground, n))).collect();
            days.into_iter().map(|day| day.join().expect("no thread fails")).collect()
        });
        let total = |what: &str| counts.iter().filter_map(|count| count.get(what)).sum::<usize>();
        let expected = ["session_start", "hd_exec", "session_checkpoint", "session_wrap", "baton_claimed", "predecessor_active",
            "no_session", "session_released"];
        for outcome in counts.iter().flat_map(BTreeMap::keys) {
            assert!(expected.contains(&outcome.as_str()), "{outcome}");
        }
        w.assert_sound();
        let numbers: Vec<_> = w.ledger().iter().map(|d| d["seq"].as_i64().expect("a number")).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b));
        assert_eq!(w.deltas("start").len(), total("session_start"));
        assert_eq!(w.deltas("pickup").len(), total("hd_exec"));
        assert_eq!(w.deltas("checkpoint").len(), total("session_checkpoint"));
        assert_eq!(w.deltas("wrap").len(), total("session_wrap"));
        assert_eq!(list(&json!(w.roster())).len(), 0, "everybody has wrapped");
    }
}

//! Many at once: one gets the baton.

use crate::stage::{Answer, Stage};

const PICKERS: usize = 50;

/// Fifty processes reach for one baton; `identity` names the picker by its number.
fn race(identity: impl Fn(usize) -> String) {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    lola.json(&["wrap", "--summary", "one for all"]);
    let children: Vec<_> = (0..PICKERS)
        .map(|n| {
            let who = stage.terminal(&identity(n)).with("BATON_PROCESS", format!("picker-{n}"));
            who.spawn(&["pickup", "--json"])
        })
        .collect();
    let answers: Vec<Answer> = children.into_iter().map(|child| Answer::of(child, &["pickup"])).collect();
    let (winners, losers): (Vec<&Answer>, Vec<&Answer>) = answers.iter().partition(|answer| answer.code == 0);
    assert_eq!(winners.len(), 1, "{answers:#?}");
    let holder = winners[0].json()["session_id"].take();
    for loser in &losers {
        let error = loser.refused(4, "baton_claimed");
        assert!(
            error.to_string().contains(holder.as_str().expect("session")),
            "the holder is named: {error}"
        );
    }
    assert_eq!(losers.len(), PICKERS - 1);
    let pickups = stage.ledger("shop").into_iter().filter(|delta| delta["kind"] == "pickup").count();
    assert_eq!(pickups, 1);
    stage.assert_sound();
}

#[test]
fn fifty_identities_reach_for_one_baton() {
    race(|n| format!("Picker{n}"));
}

#[test]
fn fifty_bots_reach_for_one_baton() {
    race(|_| "Bot".to_owned());
}

#[test]
fn ten_processes_create_the_store_together() {
    let stage = Stage::new();
    let children: Vec<_> =
        (0..10).map(|n| stage.terminal(&format!("Ann{n}")).spawn(&["init", "--json"])).collect();
    for child in children {
        assert_eq!(Answer::of(child, &["init"]).done().json()["project_id"], "shop");
    }
    stage.assert_sound();
}

//! What `baton top` says of lists that are longer than it reads.

use serde_json::json;

use crate::http::Server;
use crate::picker::{Seat, script};
use crate::stage::{BATON, Stage};
use crate::top::{busy, seat};

#[test]
fn a_list_that_goes_on_says_that_there_are_more_than_it_counts() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    server.ok("session_start", &json!({ "project": "shop", "identity": "Donna" }));
    server.ok("agent_register", &json!({ "project": "shop", "identity": "Ann" }));
    for n in 0..101 {
        server.ok("mail_send", &json!({ "project": "shop", "identity": "Donna", "to": "Ann", "subject": format!("Letter {n}"), "body": "b" }));
        server.ok(
            "task_create",
            &json!({ "project": "shop", "identity": "Ann", "title": format!("Shed {n}") }),
        );
    }
    let line = format!("{BATON} top --project shop");
    let mut top = Seat::open(stage.terminal("Ann").program("script"), &line);
    top.see("[1 Inbox]");
    for (key, words) in [("6", "100+ threads of shop"), ("5", "100+ open tasks of shop")] {
        top.press(key);
        top.see(words);
    }
    top.press("q");
    assert_eq!(top.end(), 0);
}

#[test]
fn what_was_decided_in_all_projects_is_a_view_and_projects_have_their_figures() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    busy(&stage);
    let bank = stage.repo("bank");
    stage.terminal("Setup").within(&bank).json(&["init"]);
    let max = stage.terminal("Max").within(&bank);
    max.json(&["start"]);
    max.json(&["decide", "Settle at night", "--why", "the batch", "--rejected", "at noon"]);
    stage.terminal("Donna").json(&["decide", "Round half up"]);
    let ann = stage.terminal("Ann");
    let mut top = seat(&ann, "stty rows 24 cols 80; baton top --every 1 --color never");
    top.see("[1 Inbox]");
    top.press("9");
    top.see("all projects · 2 decisions, the newest first");
    top.see("Settle at night (the batch)");
    top.press("/night\r");
    top.press("\r");
    top.see("decided   by Max, 20");
    top.see("rejected  at noon");
    top.press("q");
    // The row that was shown stays the one that is meant once all are seen.
    top.press("\u{1b}");
    top.see("2 decisions");
    top.press("m");
    top.see("Write · your name: Ann · to: Max");
    top.press("\u{1b}");
    top.see("nothing was done");
    top.press("7");
    top.see("project  sessions  tasks  folder");
    top.see("bank     1         0");
    top.see("shop     1         1");
    top.press("q");
    assert_eq!(top.end(), 0);
}

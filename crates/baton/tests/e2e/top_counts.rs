//! What `baton top` says of lists that are longer than it reads.

use serde_json::json;

use crate::http::Server;
use crate::picker::{Seat, script};
use crate::stage::{BATON, Stage};

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

//! Buttons as a screen reader lists them: each has a name or a description that no other has.

use std::collections::HashSet;

use serde_json::json;

use super::axe::views;
use super::tab::{Look, NARROW, Tab, WIDE};
use super::{browser, view_names};
use crate::http::Server;
use crate::stage::{Stage, text};

/// Several rows of everything, some of which read the same.
fn crowd(stage: &Stage, server: &Server) -> Vec<String> {
    let mut places = views(stage, server);
    for name in ["Max", "Iris"] {
        server.ok("session_start", &json!({ "project": "shop", "identity": name }));
        server.ok("session_start", &json!({ "project": "depot", "identity": name }));
    }
    for n in 0..3 {
        let who = format!("Left-{n}");
        server.ok("session_start", &json!({ "project": "shop", "identity": who }));
        let wrap = json!({ "project": "shop", "identity": who, "summary": "Half of it" });
        let left = server.ok("session_wrap", &wrap);
        server.ok(
            "share_create",
            &json!({ "project": "shop", "identity": "Ann", "id": text(&left, "delta_id") }),
        );
        // The very same words, twice to the same receiver.
        let mail = json!({ "project": "shop", "identity": "Max", "to": "Lola", "type": "question", "subject": "Which law?", "body": "b" });
        server.ok("mail_send", &mail);
        let sent = json!({ "from_project_id": "shop", "to_project_id": "depot", "identity": "Max", "subject": "Store it" });
        server.ok("handoff_create", &sent);
        let task = json!({ "project": "shop", "identity": "Ann", "title": format!("Shed {n}") });
        let parent = text(&server.ok("task_create", &task), "id");
        let part = json!({ "project": "shop", "identity": "Ann", "title": "Paint it", "parent": parent });
        server.ok("task_create", &part);
    }
    let seen: HashSet<String> =
        places.iter().map(|place| place.split('/').next().unwrap_or_default().to_owned()).collect();
    let missing: Vec<&str> = view_names().into_iter().filter(|name| !seen.contains(*name)).collect();
    assert_eq!(missing, ["transcript"], "views that are not looked at");
    places.sort();
    places
}

#[test]
fn no_two_buttons_of_a_view_have_the_same_name() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let places = crowd(&stage, &server);
    let (mut found, mut count) = (Vec::new(), 0);
    for (name, look) in [("Lola", WIDE), ("Zed", NARROW)] {
        let tab = Tab::open_as(&browser, &server.address, name, "");
        tab.look(Look { ..look });
        for place in &places {
            tab.go(place);
            let buttons = tab.buttons();
            let mut known = HashSet::new();
            count += buttons.len();
            for button in buttons {
                assert!(!button.0.is_empty(), "{place}: a button without a name");
                if !known.insert(button.clone()) {
                    found.push(format!("{name}, {place}: {button:?}"));
                }
            }
            // Whoever says what is read means that button: the name begins with it.
            let read = tab.eval(
                "[...document.querySelectorAll('main [data-row] :is(button, summary)[aria-label]:not(.copy, .turn)')]\
                 .filter((one) => !one.getAttribute('aria-label').startsWith(one.textContent.trim())).map((one) => one.outerHTML)",
            );
            assert_eq!(read, json!([]), "{place}");
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(count > 150, "{count} buttons are too few to have looked at rows");
}

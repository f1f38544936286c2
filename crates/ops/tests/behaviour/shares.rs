//! A thread is read as one story; what is shared of it is read by whoever has the secret, without secrets, until it ends.

use baton_model::access::{Grant, Scope};
use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

const KEY: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// Work that went from Lola to Donna, in two tools; the session of Lola and the baton of Donna.
fn worked(world: &mut World) -> (String, String) {
    let (lola, donna) = (agent("Lola"), agent("Donna"));
    let begun = world.start(&lola);
    world.advance(1_000);
    world.checkpoint(&lola, "half of it");
    world.ok(
        &lola,
        "ledger_note",
        json!({ "kind": "decision", "text": "Round half up", "why": "the law says so" }),
    );
    let packet = json!({
        "summary": "Prices are rounded",
        "source": { "agent": "claude", "path": "/home/you/.claude/projects/-shop/s.jsonl" },
        "environment": { "cwd": "/home/you/shop" },
        "requests": { "first": "Round the prices" },
        "files_modified": [{ "path": "src/price.rs", "change": "modified" }],
        "checks": [{ "command": format!("TOKEN={KEY} cargo test"), "exit_code": 101 }],
        "next_steps": ["Round the tax"],
    });
    world.ok(&lola, "session_wrap", json!({ "packet": packet.to_string() }));
    world.advance(60_000);
    world.pickup(&donna);
    let left = world.wrap(&donna, &format!("The tax is rounded, with {KEY}"));
    (text(&begun, "session_id"), text(&left, "delta_id"))
}

fn kinds(session: &Value) -> Vec<String> {
    column(&list(&session["entries"]), "kind")
}

/// A caller from outside with a token of these projects.
fn bearer(name: &str, scope: Scope, project: &str) -> Agent {
    let mut who = agent(name).project(project);
    who.0.grant = Grant { scope, projects: Some(vec![project.to_owned()]), bearer: None, ..Grant::default() };
    who
}

on_every_backend! {
    fn a_thread_is_one_story_from_whichever_of_its_ids_it_is_asked(world) {
        let (first, baton) = worked(world);
        let by_session = world.ok(&agent("Ann"), "thread_show", json!({ "id": first }));
        let by_baton = world.ok(&agent("Ann"), "thread_show", json!({ "id": baton }));
        assert_eq!(by_session, by_baton);
        assert_eq!(text(&by_session, "thread_id"), first, "a thread has the id of its first session");
        let sessions = list(&by_session["sessions"]);
        assert_eq!(column(&sessions, "identity"), ["Lola", "Donna"], "the earliest first");
        assert_eq!(kinds(&sessions[0]), ["start", "checkpoint", "decision", "wrap"]);
        assert_eq!(kinds(&sessions[1]), ["pickup", "wrap"]);
        assert_eq!(text(&sessions[0]["entries"][2], "text"), "Round half up: the law says so");
        let work = &sessions[0]["work"];
        assert_eq!(work["requests"], json!(["Round the prices"]), "{work:#}");
        assert_eq!(work["commands"][0]["exit_code"], 101);
        assert_eq!(work["files"][0]["path"], "src/price.rs");
        assert_eq!(sessions[0]["left"]["state"], "spent");
        world.no(&agent("Ann"), "thread_show", json!({ "id": "ffffffff-nothing" }), "thread_unknown");
    }

    fn a_long_thread_is_read_to_its_beginning(world) {
        let mut first = String::new();
        for n in 0..7 {
            let who = agent(&format!("A{n}"));
            let begun = if n == 0 { world.start(&who) } else { world.pickup(&who) };
            if n == 0 {
                first = text(&begun, "session_id");
            }
            world.wrap(&who, &format!("part {n}"));
            world.advance(1_000);
        }
        let (mut names, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let page = world.ok(&agent("Ann"), "thread_show", json!({ "id": first, "limit": 3, "cursor": cursor }));
            let mut earlier = column(&list(&page["sessions"]), "identity");
            earlier.extend(std::mem::take(&mut names));
            names = earlier;
            cursor = page["next"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(names, (0..7).map(|n| format!("A{n}")).collect::<Vec<_>>());
    }

    fn a_session_that_wrote_much_says_that_there_is_more(world) {
        let lola = agent("Lola");
        let begun = world.start(&lola);
        for n in 0..120 {
            world.ok(&lola, "ledger_note", json!({ "text": format!("note {n}") }));
        }
        let shown = world.ok(&lola, "thread_show", json!({ "id": text(&begun, "session_id") }));
        let only = &shown["sessions"][0];
        let entries = list(&only["entries"]);
        assert_eq!((&only["more"], entries.len()), (&json!(true), 100));
        assert_eq!(text(&entries[99], "text"), "note 119", "the newest are shown");
    }

    fn what_is_shared_is_read_by_its_secret_without_secrets_until_it_ends(world) {
        let (first, baton) = worked(world);
        let ann = agent("Ann");
        let made = world.ok(&ann, "share_create", json!({ "id": baton, "expires_in_s": 3600 }));
        assert_eq!((text(&made, "kind").as_str(), text(&made, "object_id")), ("baton", baton.clone()));
        let secret = json!({ "secret": made["secret"] });
        let nobody = Agent(baton_ops::op::Caller::default());
        let seen = world.ok(&nobody, "share_show", secret.clone());
        assert_eq!(column(&list(&seen["sessions"]), "identity"), ["Donna"], "of a baton only its session");
        let whole = world.ok(&ann, "share_create", json!({ "id": baton, "kind": "thread" }));
        let thread = world.ok(&nobody, "share_show", json!({ "secret": whole["secret"] }));
        assert_eq!(column(&list(&thread["sessions"]), "identity"), ["Lola", "Donna"]);
        assert!(text(&thread["sessions"][0], "document").contains("Round the tax"), "{thread:#}");
        for shown in [&seen, &thread] {
            let words = shown.to_string();
            assert!(!words.contains(KEY) && words.contains("[redacted:"), "{shown:#}");
            assert!(!words.contains("m1"), "the machine is nobody's business: {shown:#}");
            assert!(!words.contains("/home/you"), "nor are folders: {shown:#}");
        }
        let listed = world.ok(&ann, "share_list", json!({}));
        assert_eq!(list(&listed["items"]).len(), 2);
        assert!(!listed.to_string().contains(&text(&made, "secret")), "the secret is shown once");
        let rows = world.everything().join("\n");
        assert!(!rows.contains(&text(&made, "secret")), "and kept nowhere");
        world.advance(3_600_000);
        world.no(&nobody, "share_show", secret, "share_invalid");
        world.ok(&ann, "share_revoke", json!({ "id": whole["share_id"] }));
        let again = world.ok(&ann, "share_revoke", json!({ "id": whole["share_id"] }));
        assert_eq!(again["revoked_before"], true);
        world.no(&nobody, "share_show", json!({ "secret": whole["secret"] }), "share_invalid");
        world.no(&nobody, "share_show", json!({ "secret": "share_00" }), "share_invalid");
        world.no(&ann, "share_create", json!({ "id": first, "kind": "baton" }), "share_kind_unknown");
        world.no(&ann, "share_create", json!({ "id": first, "kind": "project" }), "share_kind_unknown");
        world.no(&ann, "share_create", json!({ "id": first, "expires_in_s": 91 * 86_400 }), "expiry_invalid");
        world.no(&ann, "share_create", json!({ "id": first, "expires_in_s": 0 }), "expiry_invalid");
        world.no(&ann, "share_revoke", json!({ "id": "ffffffff" }), "share_unknown");
    }

    fn a_token_shares_only_what_it_reaches_and_only_with_the_scope_operator(world) {
        world.register("q");
        let (_, baton) = worked(world);
        let made = world.ok(&agent("Ann"), "share_create", json!({ "id": baton }));
        let other = bearer("Spy", Scope::Operator, "q");
        world.no(&other, "share_create", json!({ "id": baton }), "thread_unknown");
        world.no(&other, "share_preview", json!({ "id": baton }), "thread_unknown");
        world.no(&other, "thread_show", json!({ "id": baton }), "thread_unknown");
        world.no(&other, "share_revoke", json!({ "id": made["share_id"] }), "share_unknown");
        let writer = bearer("Bob", Scope::Write, "p");
        world.no(&writer, "share_create", json!({ "id": baton }), "scope_missing");
        world.ok(&writer, "thread_show", json!({ "id": baton }));
    }
}

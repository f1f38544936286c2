//! The sections of the inbox, what stays in it until it is opened, and how agents are listed.

use std::path::Path;

use serde_json::{Value, json};

use crate::world::{World, agent, column, list, text};

/// The items of a section, read page by page.
fn section(world: &mut World, name: &str) -> Vec<Value> {
    let (mut items, mut after) = (Vec::new(), Value::Null);
    loop {
        let input = json!({ "identity": "Ann", "section": name, "limit": 2, "cursor": after });
        let page = world.ok(&agent("Ann"), "attention_list", input);
        assert_eq!(page["mine"], json!([]), "what is apart comes in its own section");
        items.extend(list(&page["items"]));
        after = page["next"].clone();
        if after.is_null() {
            assert_eq!(page["sections"][name], items.len(), "{page:#}");
            return items;
        }
    }
}

/// A transcript of Claude Code that says what it used and, if need be, with what its provider stopped it at 10:01.
fn transcript(dir: &Path, stop: Option<&str>) -> String {
    let id = "55555555-aaaa-4000-8000-00000000aaaa";
    let path = dir.join(format!("{id}.jsonl"));
    let line = |uuid: &str, parent: Value, at: &str, role: &str, message: Value| {
        json!({ "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": id, "cwd": "/w",
            "timestamp": format!("2026-11-20T10:0{at}:00.000Z"), "message": message })
    };
    let request = json!({ "role": "user", "content": [{ "type": "text", "text": "Round the tax" }] });
    let usage = json!({ "input_tokens": 1200, "output_tokens": 300, "cache_read_input_tokens": 40 });
    let reply = json!({ "id": "m1", "role": "assistant", "model": "m", "content": [{ "type": "text", "text": "Fine." }], "usage": usage });
    let mut lines =
        vec![line("u1", Value::Null, "0", "user", request), line("a1", json!("u1"), "0", "assistant", reply)];
    if let Some(words) = stop {
        let message = json!({ "role": "assistant", "model": "<synthetic>", "content": [{ "type": "text", "text": words }] });
        let mut stopped = line("a2", json!("a1"), "1", "assistant", message);
        stopped["isApiErrorMessage"] = json!(true);
        lines.push(stopped);
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(&path, lines.join("\n") + "\n").expect("written");
    path.display().to_string()
}

on_every_backend! {
    fn every_section_of_the_inbox_is_counted_and_read_to_its_end_by_itself(world) {
        let donna = agent("Donna");
        let leave = |world: &mut World, count: usize, to: Option<&str>, word: &str| {
            for n in 0..count {
                world.start(&donna);
                world.ok(&donna, "session_wrap", json!({ "summary": format!("{word} {n}"), "to": to }));
                world.advance(1_000);
            }
        };
        leave(world, 3, Some("Ann"), "mine");
        leave(world, 5, None, "old");
        world.advance(3_600_001);
        leave(world, 4, None, "new");
        leave(world, 1, Some("Ann"), "new mine");
        let first = world.ok(&agent("Ann"), "attention_list", json!({ "identity": "Ann", "waiting": true, "limit": 3 }));
        assert_eq!(first["sections"], json!({ "mine": 4, "concern": 5, "waiting": 4 }), "{first:#}");
        assert_eq!(first["total"], 13);
        let mine = section(world, "mine");
        assert_eq!(column(&mine, "subject"), ["mine 0", "mine 1", "mine 2"], "new ones only where they are asked for");
        let old = section(world, "concern");
        assert_eq!(column(&old, "subject"), (0..5).map(|n| format!("old {n}")).collect::<Vec<_>>());
        let new = world.ok(&agent("Ann"), "attention_list", json!({ "identity": "Ann", "section": "waiting", "limit": 9 }));
        assert_eq!(column(&list(&new["items"]), "subject"), (0..4).map(|n| format!("new {n}")).collect::<Vec<_>>());
        // A section goes on where the page of all of them ended.
        let on = world.ok(&agent("Ann"), "attention_list", json!({ "identity": "Ann", "section": "concern", "cursor": first["next"] }));
        assert_eq!(column(&list(&on["items"]), "subject"), (0..5).map(|n| format!("old {n}")).collect::<Vec<_>>());
        world.no(&agent("Ann"), "attention_list", json!({ "section": "yours" }), "section_unknown");
    }

    fn a_hand_off_that_came_back_is_its_senders_matter_until_they_have_opened_it(world) {
        world.register("q");
        let (ann, bob) = (agent("Ann"), agent("Bob").project("q"));
        let made = world.ok(&ann, "handoff_create", json!({ "to_project_id": "q", "subject": "the guide" }));
        world.settle();
        let id = json!({ "id": made["handoff_id"] });
        let seen = |world: &mut World, who: &str| {
            let input = json!({ "id": made["handoff_id"], "identity": who });
            world.ok(&agent(who), "handoff_seen", input)["seen"].clone()
        };
        assert_eq!(seen(world, "Ann"), false, "it has not come back yet");
        world.ok(&bob, "handoff_advance", json!({ "id": made["handoff_id"], "action": "decline", "result": "no" }));
        world.advance(8 * 86_400_000);
        let matters = |world: &mut World, who: &str| {
            let shown = world.ok(&agent("Watcher"), "attention_list", json!({ "identity": who }));
            assert_eq!(shown["total"], list(&shown["items"]).len(), "{shown:#}");
            assert_eq!(shown["sections"]["mine"], list(&shown["mine"]).len(), "{shown:#}");
            (column(&list(&shown["mine"]), "reason"), shown["total"].clone())
        };
        assert_eq!(matters(world, "ANN"), (vec!["handoff_returned".to_owned()], json!(1)), "a week is not what ends it");
        assert_eq!(matters(world, "Zoe"), (Vec::new(), json!(0)), "for others it is over after a week");
        world.ok(&ann, "handoff_show", id);
        assert_eq!(matters(world, "Ann").1, 1, "reading writes nothing");
        assert_eq!(seen(world, "Bob"), false, "it is not Bob's");
        assert_eq!(matters(world, "Ann").1, 1);
        assert_eq!((seen(world, "ann"), seen(world, "Ann")), (json!(true), json!(false)));
        assert_eq!(matters(world, "Ann"), (Vec::new(), json!(0)));
    }

    fn a_session_and_a_baton_that_a_limit_stopped_say_so(world) {
        let dir = tempfile::tempdir().expect("a folder");
        let donna = agent("Donna");
        world.start(&donna);
        let path = transcript(dir.path(), Some("You've hit your limit · try again in 17 hours"));
        let capture = |wrap: bool| json!({ "id": path, "agent": "claude", "event": "failure", "wrap": wrap });
        world.ok(&donna, "transcript_capture", capture(false));
        world.advance(700_000);
        let words = |world: &mut World| {
            let shown = world.ok(&agent("Ann"), "attention_list", json!({ "waiting": true }));
            (text(&shown["items"][0], "reason"), text(&shown["items"][0], "subject"), shown["items"][0]["detail"].clone())
        };
        let (reason, subject, detail) = words(world);
        assert_eq!((reason.as_str(), subject.as_str()), ("session_silent", "stopped at its limit, again at 2026-11-21 03:01 UTC (in 16 h 49 min)"));
        assert!(detail.as_str().is_some_and(|text| text.contains("Round the tax")), "{detail:#}");
        world.advance(14 * 3_600_000);
        assert_eq!(words(world).1, "stopped at its limit, again at 03:01 UTC (in 2 h 49 min)", "of today the time is enough");
        // What it writes afterwards is told instead.
        world.ok(&donna, "session_checkpoint", json!({ "summary": "half of it" }));
        world.advance(700_000);
        assert_eq!(words(world).1, "half of it");
        let other = agent("Zoe");
        world.start(&other);
        let path = transcript(dir.path(), Some("You've hit your usage limit. Try again at 3:05 PM."));
        let input = json!({ "id": path, "agent": "claude", "event": "failure", "wrap": true });
        let left = world.ok(&other, "transcript_capture", input);
        let shown = world.ok(&agent("Ann"), "attention_list", json!({ "waiting": true, "reason": "baton_waiting" }));
        assert_eq!(shown["items"][0]["id"], left["baton_id"], "{shown:#}");
        assert_eq!(shown["items"][0]["subject"], "stopped at its limit, again at 3:05 PM", "{shown:#}");
    }

    fn open_sessions_are_listed_with_the_silent_ones_first_over_all_pages(world) {
        for n in 0..3 {
            world.start(&agent(&format!("Old{n}")));
            world.advance(1_000);
        }
        world.advance(600_001);
        for n in 0..4 {
            world.start(&agent(&format!("New{n}")));
            world.advance(1_000);
        }
        world.checkpoint(&agent("New0"), "half of it");
        let (mut names, mut after) = (Vec::new(), Value::Null);
        loop {
            let page = world.ok(&agent("Ann"), "session_history", json!({ "all": true, "open": true, "limit": 2, "cursor": after }));
            names.extend(column(&list(&page["items"]), "identity"));
            after = page["next"].clone();
            assert_eq!(page["more"], !after.is_null());
            if after.is_null() { break; }
        }
        assert_eq!(names, ["Old0", "Old1", "Old2", "New1", "New2", "New3", "New0"], "then who saved longest ago");
        let one = world.ok(&agent("Ann"), "session_history", json!({ "open": true, "limit": 1 }));
        assert_eq!(one["items"][0]["identity"], "Old0", "in one project, too");
        world.no(&agent("Ann"), "session_history", json!({ "open": true, "cursor": "s" }), "cursor_invalid");
    }

    fn an_open_session_tells_what_it_wrote_in_the_last_hours_and_what_it_used(world) {
        let dir = tempfile::tempdir().expect("a folder");
        let donna = agent("Donna");
        world.start(&donna);
        let note = |world: &mut World| world.ok(&donna, "ledger_note", json!({ "text": "reads" }));
        note(world);
        world.advance(10 * 3_600_000);
        note(world);
        note(world);
        world.advance(3_600_000);
        let row = |world: &mut World| {
            let shown = world.ok(&agent("Ann"), "session_history", json!({ "all": true, "open": true }));
            shown["items"][0].clone()
        };
        let shown = row(world);
        assert_eq!(shown["activity"], json!([2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]), "{shown:#}");
        assert!(shown["tokens"].is_null(), "no tool told it: {shown:#}");
        world.advance(3_600_000);
        assert_eq!(row(world)["activity"], json!([0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0]), "what is over twelve hours old is out");
        let path = transcript(dir.path(), None);
        world.ok(&donna, "transcript_capture", json!({ "id": path, "agent": "claude", "event": "before-compaction" }));
        // What the agent saves itself tells no usage, and takes none away.
        world.checkpoint(&donna, "half");
        let shown = row(world);
        assert_eq!(shown["tokens"], json!({ "input": 1200, "cache_read": 40, "cache_write": 0, "output": 300 }), "{shown:#}");
        assert_eq!(shown["activity"][11], 2, "{shown:#}");
        let one = world.ok(&agent("Ann"), "session_show", json!({ "session": shown["session_id"] }));
        assert_eq!((&one["activity"], &one["tokens"]), (&shown["activity"], &shown["tokens"]));
    }
}

//! Sessions that were pushed to a project: by those who may, whole or not at all, listed, and gone when they are withdrawn.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_model::access::{Bearer, Grant, Scope};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::world::{Agent, World, agent, column, list, text};

const PART: usize = 768 * 1024;

fn manifest(id: &str, content: &[u8]) -> Value {
    let hash: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
    json!({ "agent": "claude", "transcript_id": id, "title": "the cart", "events": 3, "content_hash": hash, "bytes": content.len() })
}

fn upload(w: &mut World, who: &Agent, content: &[u8]) {
    for (part, bytes) in content.chunks(PART).enumerate() {
        let input = json!({ "content_hash": manifest("", content)["content_hash"], "part": part, "content": STANDARD.encode(bytes) });
        w.ok(who, "transcript_upload", input);
    }
}

pub(crate) fn push(w: &mut World, who: &Agent, id: &str, content: &[u8]) -> Value {
    upload(w, who, content);
    w.ok(who, "transcript_push", json!({ "copy": manifest(id, content) }))
}

/// The project takes what is pushed.
pub(crate) fn open(w: &mut World, project: &str) {
    w.ok(&agent("Owner").project(project), "project_set", json!({ "takes_transcripts": true }));
}

fn content(w: &mut World, who: &Agent, id: &str) -> Vec<u8> {
    let row = w.ok(who, "transcript_copies", json!({ "id": id }))["items"][0].clone();
    let bytes = usize::try_from(row["bytes"].as_u64().expect("bytes")).expect("small");
    let part = |part| {
        let answer = w.ok(who, "transcript_part", json!({ "id": row["transcript_id"], "part": part }));
        STANDARD.decode(text(&answer, "content")).expect("base64")
    };
    (0..bytes.div_ceil(PART)).flat_map(part).collect()
}

fn rows(w: &mut World) -> usize {
    w.everything().iter().filter(|row| row.starts_with("transcript_copy")).count()
}

fn bearing(
    who: Agent,
    id: &str,
    scope: Scope,
    projects: Option<&[&str]>,
    identities: Option<&[&str]>,
) -> Agent {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let bearer =
        Bearer { token_id: id.into(), name: format!("{id}-token"), identities: identities.map(owned) };
    let mut who = who;
    who.0.grant = Grant { scope, projects: projects.map(owned), bearer: Some(bearer), ..Grant::default() };
    who
}

fn large() -> Vec<u8> {
    (0..2 * PART + 7).map(|n| u8::try_from(n % 251).expect("small")).collect()
}

on_every_backend! {
    fn a_project_takes_no_session_before_that_was_said_of_it(w) {
        let (ann, whole) = (agent("Ann"), b"words");
        let part = json!({ "content_hash": manifest("t1", whole)["content_hash"], "part": 0, "content": STANDARD.encode(whole) });
        w.no_trace(&ann, "transcript_upload", part.clone(), "transcripts_not_taken");
        w.no_trace(&ann, "transcript_push", json!({ "copy": manifest("t1", whole) }), "transcripts_not_taken");
        let listed = w.ok(&ann, "transcript_copies", json!({}));
        assert_eq!((&listed["takes_transcripts"], &listed["items"]), (&json!(false), &json!([])));
        open(w, "p");
        w.ok(&ann, "transcript_upload", part.clone());
        w.ok(&ann, "transcript_push", json!({ "copy": manifest("t1", whole) }));
        // What is there stays until it is withdrawn; nothing more comes.
        w.ok(&ann, "project_set", json!({ "takes_transcripts": false }));
        w.no_trace(&ann, "transcript_upload", part, "transcripts_not_taken");
        assert_eq!(content(w, &agent("Lola"), "t1"), whole);
        // Only an operator opens a project.
        let writer = bearing(agent("Eve"), "eve", Scope::Write, None, None);
        w.no_trace(&writer, "project_set", json!({ "takes_transcripts": true }), "scope_missing");
        w.assert_sound();
    }

    fn a_session_is_kept_whole_or_not_at_all_and_once(w) {
        let ann = agent("Ann");
        open(w, "p");
        let whole = large();
        let named = json!({ "copy": manifest("t1", &whole) });
        w.no_trace(&ann, "transcript_push", named.clone(), "transcript_copy_invalid");
        let part = |part: usize, bytes: &[u8]| json!({ "content_hash": manifest("", &whole)["content_hash"], "part": part, "content": STANDARD.encode(bytes) });
        w.ok(&ann, "transcript_upload", part(0, &whole[..PART]));
        w.ok(&ann, "transcript_upload", part(2, &whole[2 * PART..]));
        w.no_trace(&ann, "transcript_push", named.clone(), "transcript_copy_invalid");
        w.ok(&ann, "transcript_upload", part(1, &whole[..PART]));
        w.no_trace(&ann, "transcript_push", named, "transcript_copy_invalid");
        push(w, &ann, "t1", &whole);
        assert_eq!(content(w, &agent("Lola"), "t1"), whole);
        // The next push takes its place, and leaves nothing of it.
        let next = push(w, &ann, "t1", b"newer");
        assert_eq!((&next["replaced"], content(w, &ann, "t1"), rows(w)), (&json!(true), b"newer".to_vec(), 2));
        assert!(w.newest("other")["body"]["summary"].as_str().is_some_and(|text| text.contains("was pushed")));
        for input in [part(43, b"x"), part(0, &whole[..=PART]), json!({ "content_hash": "../x", "part": 0, "content": "" })] {
            w.no_trace(&ann, "transcript_upload", input, "transcript_copy_invalid");
        }
        // What nobody named goes after a day.
        upload(w, &ann, b"left behind");
        w.advance(86_400_001);
        push(w, &ann, "t2", b"other");
        assert!(!w.everything().join("\n").contains(&STANDARD.encode("left behind")));
        w.assert_sound();
    }

    fn what_was_pushed_is_listed_and_withdrawn_by_who_pushed_it(w) {
        let (ann, lola) = (agent("Ann"), agent("Lola"));
        open(w, "p");
        push(w, &ann, "t1-of-ann", b"one");
        w.advance(1);
        push(w, &lola, "t2-of-lola", b"two");
        let listed = w.ok(&ann, "transcript_copies", json!({}));
        assert_eq!(column(&list(&listed["items"]), "transcript_id"), ["t2-of-lola", "t1-of-ann"]);
        assert_eq!(listed["items"][1]["identity"], "Ann");
        w.no_trace(&lola, "transcript_withdraw", json!({ "id": "t1-of-ann" }), "transcript_not_yours");
        // An id that would be found in the place of hers, of any tool.
        let mut renamed = manifest("t1-of-ann", b"two");
        renamed["agent"] = json!("codex");
        for id in ["t1-of", "T1-of-Ann"] {
            renamed["transcript_id"] = json!(id);
            w.no_trace(&lola, "transcript_push", json!({ "copy": renamed }), "transcript_not_yours");
        }
        w.no_trace(&lola, "transcript_withdraw", json!({ "id": "t1-of-ann", "force": true }), "why_missing");
        let gone = w.ok(&ann, "transcript_withdraw", json!({ "id": "t1-of" }));
        assert_eq!(gone["items"][0]["transcript_id"], "t1-of-ann");
        assert!(!w.everything().join("\n").contains(&STANDARD.encode("one")), "its words are gone");
        w.no(&ann, "transcript_copies", json!({ "id": "t1-of-ann" }), "transcript_not_pushed");
        w.no(&ann, "transcript_part", json!({ "id": "t1-of-ann", "part": 0 }), "transcript_not_pushed");
        w.no_trace(&ann, "transcript_withdraw", json!({}), "transcript_not_pushed");
        push(w, &lola, "t3-of-lola", b"three");
        assert_eq!(list(&w.ok(&lola, "transcript_withdraw", json!({}))["items"]).len(), 2, "all of hers");
        assert_eq!(rows(w), 0);
        push(w, &ann, "t4", b"four");
        w.ok(&lola, "transcript_withdraw", json!({ "id": "t4", "force": true, "why": "a secret is in it" }));
        let body = w.newest("other")["body"].clone();
        assert_eq!((&body["pushed_by"], &body["forced"], &body["why"]), (&json!("Ann"), &json!(true), &json!("a secret is in it")));
        w.assert_sound();
    }

    fn nobody_keeps_anothers_session_out_by_pushing_its_id_first(w) {
        open(w, "p");
        let mal = bearing(agent("Mal"), "mal", Scope::Write, None, None);
        let ann = bearing(agent("Ann"), "ann", Scope::Write, None, Some(&["Ann"]));
        push(w, &mal, "0b1c7d52-of-ann", b"what Mal says");
        w.advance(1);
        push(w, &ann, "0b1c7d52-of-ann", b"what Ann says");
        let listed = w.ok(&agent("Bob"), "transcript_copies", json!({}));
        assert_eq!(column(&list(&listed["items"]), "identity"), ["Ann", "Mal"]);
        // The id alone is ambiguous; with the pusher it names one copy.
        for id in ["0b1c7d52-of-ann", "0b1c7d52"] {
            let refused = w.no(&agent("Bob"), "transcript_copies", json!({ "id": id }), "transcript_pushed_by_several");
            assert_eq!(refused["message"], "a session `0b1c7d52-of-ann` was pushed by Ann (claude) and by Mal (claude)");
            assert!(text(&refused, "hint").contains("--pushed-by Ann"), "{refused:#}");
            w.no(&agent("Bob"), "transcript_part", json!({ "id": id, "part": 0 }), "transcript_pushed_by_several");
        }
        for (name, words) in [("Ann", "what Ann says"), ("mal", "what Mal says")] {
            let part = w.ok(&agent("Bob"), "transcript_part", json!({ "id": "0b1c7d52", "pushed_by": name, "part": 0 }));
            assert_eq!(text(&part, "content"), STANDARD.encode(words));
        }
        w.no(&agent("Bob"), "transcript_copies", json!({ "id": "0b1c7d52", "pushed_by": "Zoe" }), "transcript_not_pushed");
        // Each replaces and withdraws its own.
        let again = push(w, &ann, "0b1c7d52-of-ann", b"what Ann says now");
        assert_eq!(again["replaced"], true);
        w.no_trace(&mal, "transcript_withdraw", json!({ "id": "0b1c7d52", "pushed_by": "Ann" }), "transcript_not_yours");
        let gone = w.ok(&mal, "transcript_withdraw", json!({ "id": "0b1c7d52" }));
        assert_eq!(column(&list(&gone["items"]), "identity"), ["Mal"]);
        assert_eq!(content(w, &agent("Bob"), "0b1c7d52"), b"what Ann says now");
        assert!(!w.everything().join("\n").contains(&STANDARD.encode("what Mal says")), "its words are gone");
        push(w, &mal, "0b1c7d52-of-ann", b"what Mal says");
        w.ok(&agent("Owner"), "transcript_withdraw", json!({ "id": "0b1c7d52", "pushed_by": "Mal", "force": true, "why": "it is not hers" }));
        assert_eq!(content(w, &agent("Bob"), "0b1c7d52"), b"what Ann says now");
        w.assert_sound();
    }

    fn a_token_reads_and_withdraws_no_more_than_it_may(w) {
        w.register("q");
        open(w, "p");
        open(w, "q");
        push(w, &agent("Ann"), "t1", b"one");
        push(w, &agent("Ann").project("q"), "t2", b"two");
        // One that reaches q does not learn of p.
        let near = bearing(agent("Eve"), "eve", Scope::Operator, Some(&["q"]), None);
        for (verb, input) in [("transcript_copies", json!({ "project": "p" })), ("transcript_part", json!({ "project": "p", "id": "t1", "part": 0 })),
            ("transcript_withdraw", json!({ "project": "p", "id": "t1", "identity": "token:eve-token" }))] {
            w.no_trace(&near, verb, input, "project_unknown");
        }
        let reader = bearing(agent("Ann"), "reader", Scope::Read, None, Some(&["Ann"]));
        assert_eq!(content(w, &reader, "t1"), b"one");
        w.no_trace(&reader, "transcript_withdraw", json!({ "id": "t1" }), "scope_missing");
        // A name that was said is no proof.
        let impostor = bearing(agent("Ann"), "eve", Scope::Write, None, None);
        w.no_trace(&impostor, "transcript_withdraw", json!({ "id": "t1" }), "transcript_not_yours");
        w.no_trace(&impostor, "transcript_withdraw", json!({ "id": "t1", "force": true, "why": "w" }), "scope_missing");
        let bound = bearing(agent("Ann"), "ann", Scope::Write, None, Some(&["Ann"]));
        w.ok(&bound, "transcript_withdraw", json!({ "id": "t1" }));
    }

    fn a_copy_names_sessions_of_the_ledger_only_where_they_are_its_own(w) {
        open(w, "p");
        let (own, other) = (w.start(&agent("Ann")), w.start(&agent("Lola")));
        let sessions = json!([own["session_id"], other["session_id"], "made up"]);
        upload(w, &agent("Ann"), b"one");
        let mut copy = manifest("t1", b"one");
        copy["sessions"] = sessions.clone();
        // Everybody on this machine is its user; a token has sessions of its own.
        let pushed = w.ok(&agent("Ann"), "transcript_push", json!({ "copy": copy }));
        assert_eq!(pushed["copy"]["sessions"], json!([own["session_id"], other["session_id"]]));
        let bound = bearing(agent("Ann"), "ann", Scope::Write, None, Some(&["Ann"]));
        let pushed = w.ok(&bound, "transcript_push", json!({ "copy": copy }));
        assert_eq!(pushed["copy"]["sessions"], json!([own["session_id"]]));
    }

    fn an_export_and_a_merge_take_them_along(w) {
        let ann = agent("Ann").project("fix").process("");
        w.register("fix");
        open(w, "fix");
        push(w, &ann, "t1", &large());
        let mut sealed = manifest("t2", b"sealed");
        sealed["readers"] = json!(["Ann"]);
        upload(w, &ann, b"sealed");
        w.ok(&ann, "transcript_push", json!({ "copy": sealed }));
        let exported = list(&w.ok(&ann, "ledger_export", json!({}))["items"]);
        let count = |table: &str| exported.iter().filter(|row| row["_type"] == table).count();
        assert_eq!((count("transcript_copy"), count("transcript_copy_part")), (2, 4));
        // The other project has not said that it takes any.
        let preview = w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p", "dry_run": true }));
        assert_eq!((&preview["transcripts_moved"], &preview["transcripts_left"]), (&json!(0), &json!(2)));
        open(w, "p");
        push(w, &agent("Ann"), "t1", b"older");
        w.advance(1);
        push(w, &ann, "t1", &large());
        let merged = w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p" }));
        assert_eq!((&merged["transcripts_moved"], &merged["transcripts_left"]), (&json!(1), &json!(1)));
        assert_eq!(content(w, &agent("Lola"), "t1"), large());
        let left = w.ok(&agent("Lola").project("fix"), "transcript_copies", json!({}));
        assert_eq!(column(&list(&left["items"]), "transcript_id"), ["t2"]);
        assert_eq!(rows(w), 2 + 4);
        w.no(&ann, "transcript_push", json!({ "copy": manifest("t3", b"sealed") }), "project_merged");
        // Taken back with the merge, but for what was pushed anew since.
        push(w, &agent("Lola"), "t4", b"of the other project");
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p", "undo": true }));
        assert_eq!(content(w, &ann, "t1"), large());
        let left = w.ok(&agent("Lola"), "transcript_copies", json!({}));
        assert_eq!(column(&list(&left["items"]), "transcript_id"), ["t4"]);
        w.assert_sound();
    }

    fn a_session_of_another_projects_folder_is_not_copied(w) {
        w.settle();
        w.register("a");
        let there = agent("Ann").project("lone").at("/repos/lone", None);
        w.ok(&there, "project_init", json!({ "id": "lone", "isolated": true }));
        for (id, cwd) in [("aaaaaaaa-1", "/repos/a/src"), ("bbbbbbbb-2", "/repos/lone/deep"), ("cccccccc-3", "/tmp/scratch")] {
            let line = json!({ "type": "user", "uuid": id, "parentUuid": null, "sessionId": id, "cwd": cwd,
                "timestamp": "2026-11-20T10:00:00.000Z", "message": { "role": "user", "content": "AKIAQWERTYUIOPASDFGH in the cart" } });
            w.home().write(&format!(".claude/projects/-x/{id}.jsonl"), format!("{line}\n"));
        }
        let copied = w.ok(&agent("Ann").project("a"), "transcript_copy", json!({ "id": "aaaaaaaa-1" }));
        assert_eq!((&copied["project_id"], &copied["copy"]["header"]["id"]), (&json!("a"), &json!("aaaaaaaa-1")));
        assert!(!copied.to_string().contains("AKIAQWERTYUIOPASDFGH") && copied.to_string().contains("in the cart"), "{copied:#}");
        // Of the tool's file only the name goes along.
        assert_eq!(copied["copy"]["events"][0]["path"], "aaaaaaaa-1.jsonl", "{copied:#}");
        assert!(!copied.to_string().contains(".claude/projects"), "{copied:#}");
        w.no(&agent("Ann").project("a"), "transcript_copy", json!({ "id": "cccccccc-3" }), "transcript_elsewhere");
        w.no(&agent("Ann").project("a"), "transcript_copy", json!({ "id": "bbbbbbbb-2" }), "project_isolated");
        w.no(&agent("Ann").project("p"), "transcript_copy", json!({ "id": "aaaaaaaa-1" }), "transcript_elsewhere");
        assert_eq!(w.ok(&there, "transcript_copy", json!({ "id": "bbbbbbbb-2" }))["project_id"], "lone");
    }
}

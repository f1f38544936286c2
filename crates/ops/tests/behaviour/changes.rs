//! Changes of a working copy are kept with a baton: all of them or none, once, and wherever the baton goes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_model::access::{Bearer, Grant, Scope};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::world::{Agent, World, agent, column, list, text};

const PART: usize = 768 * 1024;

fn hash(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn manifest(content: &[u8]) -> Value {
    json!({ "base": "a".repeat(40), "branch": "main", "files": ["a.txt", "b.txt"], "content_hash": hash(content),
        "bytes": content.len() })
}

pub(crate) fn upload(w: &mut World, who: &Agent, content: &[u8]) {
    for (part, bytes) in content.chunks(PART).enumerate() {
        let input = json!({ "content_hash": hash(content), "part": part, "content": STANDARD.encode(bytes) });
        w.ok(who, "changes_upload", input);
    }
}

/// A wrap with changes; the id of its baton.
pub(crate) fn wrap(w: &mut World, who: &Agent, content: &[u8]) -> String {
    w.start(who);
    upload(w, who, content);
    text(&w.ok(who, "session_wrap", json!({ "summary": "s", "changes": manifest(content) })), "baton_id")
}

/// The content of a baton's changes.
pub(crate) fn content(w: &mut World, who: &Agent, baton: &str) -> Vec<u8> {
    let shown = w.ok(who, "changes_show", json!({ "baton_id": baton }));
    let bytes = usize::try_from(shown["changes"]["bytes"].as_u64().expect("bytes")).expect("small");
    let part = |part| {
        let answer = w.ok(who, "changes_part", json!({ "baton_id": baton, "part": part }));
        STANDARD.decode(text(&answer, "content")).expect("base64")
    };
    (0..bytes.div_ceil(PART)).flat_map(part).collect()
}

fn large() -> Vec<u8> {
    (0..2 * PART + 7).map(|n| u8::try_from(n % 251).expect("small")).collect()
}

on_every_backend! {
    fn what_goes_with_a_baton_is_named_before_everything_else(w) {
        let baton = wrap(w, &agent("Ann"), &large());
        assert_eq!(content(w, &agent("Lola"), &baton[..8]), large());
        let picked = w.pickup(&agent("Lola"));
        assert_eq!(picked.as_object().and_then(|fields| fields.keys().next()).map(String::as_str), Some("changes"));
        assert_eq!((&picked["changes"]["baton_id"], &picked["changes"]["files_total"]), (&json!(baton), &json!(2)));
        assert!(text(&picked, "instruction").starts_with("Uncommitted changes (2 files) go with this baton"));
        // The baton that is held comes before newer ones.
        wrap(w, &agent("Donna"), b"other");
        assert_eq!(w.ok(&agent("Lola"), "changes_show", json!({}))["changes"]["baton_id"], json!(baton));
        let plain = w.pickup(&agent("Rex"));
        assert_ne!(plain["changes"]["baton_id"], json!(baton));
        w.assert_sound();
    }

    fn a_wrap_whose_changes_did_not_arrive_whole_leaves_the_session_open(w) {
        let ann = agent("Ann");
        w.start(&ann);
        let whole = large();
        let named = json!({ "summary": "s", "changes": manifest(&whole) });
        w.no_trace(&ann, "session_wrap", named.clone(), "changes_invalid");
        let part = |part: usize, bytes: &[u8]| json!({ "content_hash": hash(&whole), "part": part, "content": STANDARD.encode(bytes) });
        w.ok(&ann, "changes_upload", part(0, &whole[..PART]));
        w.ok(&ann, "changes_upload", part(2, &whole[2 * PART..]));
        w.no_trace(&ann, "session_wrap", named.clone(), "changes_invalid");
        w.ok(&ann, "changes_upload", part(1, &whole[..PART]));
        w.no_trace(&ann, "session_wrap", named.clone(), "changes_invalid");
        w.ok(&ann, "changes_upload", part(1, &whole[PART..2 * PART]));
        let mut other = named.clone();
        other["changes"]["bytes"] = json!(whole.len() - 1);
        w.no_trace(&ann, "session_wrap", other, "changes_invalid");
        w.ok(&ann, "session_wrap", named);
        for input in [part(43, b"x"), part(0, &whole[..=PART]), json!({ "content_hash": "../x", "part": 0, "content": "" }),
            json!({ "content_hash": hash(b""), "part": -1, "content": "" }), json!({ "content_hash": hash(b""), "part": 0, "content": "?" })] {
            w.no_trace(&ann, "changes_upload", input, "changes_invalid");
        }
    }

    fn two_batons_with_the_same_changes_share_them_until_both_are_dropped(w) {
        let (ann, donna) = (agent("Ann"), agent("Donna"));
        let first = wrap(w, &ann, b"same");
        let second = wrap(w, &donna, b"same");
        let parts = |w: &mut World| w.everything().iter().filter(|row| row.contains("c2FtZQ==")).count();
        assert_eq!(parts(w), 1, "they are kept once");
        w.ok(&ann, "changes_drop", json!({ "baton_id": first }));
        assert_eq!((content(w, &ann, &second), parts(w)), (b"same".to_vec(), 1));
        let again = w.no(&ann, "changes_drop", json!({ "baton_id": first }), "changes_none");
        assert_eq!(again["hint"], "there is nothing to drop", "{again:#}");
        let refused = w.no(&ann, "changes_show", json!({ "baton_id": first }), "changes_none");
        assert!(text(&refused, "hint").contains("`baton changes keep "), "{refused:#}");
        w.ok(&ann, "changes_drop", json!({ "baton_id": second }));
        assert_eq!(parts(w), 0);
        assert!(text(&w.newest("other")["body"], "summary").contains("dropped"));
    }

    fn changes_are_attached_to_a_baton_that_waits_and_to_no_other(w) {
        let ann = agent("Ann");
        let baton = text(&w.leave_baton(&ann, "s"), "baton_id");
        upload(w, &ann, b"first");
        upload(w, &ann, b"second");
        let input = |content: &[u8]| json!({ "baton_id": baton[..8], "changes": manifest(content) });
        w.ok(&ann, "changes_attach", input(b"first"));
        w.no(&ann, "changes_attach", input(b"second"), "changes_present");
        assert_eq!(content(w, &ann, &baton), b"first");
        let mut replacing = input(b"second");
        replacing["replace"] = json!(true);
        w.ok(&ann, "changes_attach", replacing);
        assert_eq!(content(w, &ann, &baton), b"second");
        let notes = w.deltas("other");
        assert!(notes.iter().any(|note| text(&note["body"], "summary").contains("were replaced")), "{notes:#?}");
        assert!(!w.everything().join("\n").contains(&STANDARD.encode("first")), "what was replaced is gone");
        w.pickup(&agent("Lola"));
        w.no_trace(&ann, "changes_attach", input(b"second"), "baton_claimed");
    }

    fn a_baton_that_is_open_again_takes_changes_like_one_that_waits(w) {
        let (ann, lola) = (agent("Ann"), agent("Lola"));
        let baton = text(&w.leave_baton(&ann, "s"), "baton_id");
        upload(w, &ann, b"late");
        let input = json!({ "baton_id": baton, "changes": manifest(b"late") });
        w.pickup(&lola);
        w.no_trace(&ann, "changes_attach", input.clone(), "baton_claimed");
        w.ok(&lola, "session_end", json!({}));
        w.ok(&ann, "changes_attach", input);
        let picked = w.pickup(&agent("Rex"));
        assert_eq!((&picked["changes"]["baton_id"], &picked["changes"]["files_total"]), (&json!(baton), &json!(2)));
        assert_eq!(content(w, &lola, &baton), b"late");
    }

    fn a_token_neither_drops_nor_replaces_what_another_agent_left(w) {
        let baton = wrap(w, &agent("Ann"), b"of Ann");
        let token = |name: &str, scope: Scope| {
            let bearer = Bearer { token_id: "t1".into(), name: "t".into(), identities: Some(vec![name.to_owned()]) };
            let mut who = agent(name).process("");
            who.0.grant = Grant { scope, projects: None, bearer: Some(bearer), ..Grant::default() };
            who
        };
        let mal = token("Mal", Scope::Write);
        upload(w, &mal, b"of Mal");
        w.no(&mal, "changes_drop", json!({ "baton_id": baton }), "changes_not_yours");
        let other = json!({ "baton_id": baton, "changes": manifest(b"of Mal") });
        w.no(&mal, "changes_attach", other, "changes_not_yours");
        assert_eq!(content(w, &agent("Lola"), &baton), b"of Ann");
        assert_eq!(w.ok(&mal, "changes_show", json!({ "baton_id": baton }))["is_droppable"], false);
        // Who passes the same changes on drops its own of them.
        let picked = w.pickup(&mal);
        let holding = token("Mal", Scope::Write).in_session(&picked);
        upload(w, &holding, b"of Ann");
        let wrapped = w.ok(&holding, "session_wrap", json!({ "summary": "s", "changes": manifest(b"of Ann") }));
        w.ok(&mal, "changes_drop", json!({ "baton_id": wrapped["baton_id"] }));
        assert_eq!(content(w, &agent("Lola"), &baton), b"of Ann");
        w.ok(&token("Ann", Scope::Write), "changes_drop", json!({ "baton_id": baton }));
        let second = wrap(w, &agent("Ann"), b"again");
        w.ok(&token("Op", Scope::Operator), "changes_drop", json!({ "baton_id": second }));
    }

    fn an_export_and_a_merge_take_them_along(w) {
        let ann = agent("Ann").project("fix").process("");
        w.register("fix");
        let baton = wrap(w, &ann, &large());
        let rows = list(&w.ok(&ann, "ledger_export", json!({}))["items"]);
        let count = |table: &str| rows.iter().filter(|row| row["_type"] == table).count();
        assert_eq!((count("changes"), count("changes_part")), (1, 3));
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p" }));
        let picked = w.pickup(&agent("Lola"));
        let moved = text(&picked["changes"], "baton_id");
        assert_ne!(moved, baton);
        assert_eq!(content(w, &agent("Lola"), &moved), large());
    }

    fn an_upload_that_no_wrap_ever_named_goes_after_a_day(w) {
        let ann = agent("Ann");
        w.start(&ann);
        upload(w, &ann, b"orphan");
        w.end(&ann);
        w.advance(86_400_001);
        wrap(w, &ann, b"other");
        assert!(!w.everything().join("\n").contains(&STANDARD.encode("orphan")));
    }

    fn the_baton_that_one_holds_is_meant_also_where_it_has_no_changes(w) {
        let ann = agent("Ann");
        let first = wrap(w, &ann, b"w1");
        w.pickup(&ann);
        w.ok(&ann, "ledger_note", json!({ "text": "more" }));
        let note = json!({ "project": "p", "baton_id": first });
        w.ok(&ann, "changes_record", note);
        let second = text(&w.ok(&ann, "session_wrap", json!({ "summary": "three" })), "baton_id");
        let ben = agent("Ben");
        w.ok(&ben, "hd_exec", json!({ "handoff_id": second }));
        let refused = w.no(&ben, "changes_show", json!({}), "changes_none");
        let hint = text(&refused, "hint");
        assert!(hint.contains(&format!("baton changes show {}", &first[..13])) && hint.contains("has older ones"), "{hint}");
        // Another agent leaves some after that.
        w.advance(1_000);
        wrap(w, &agent("Cas"), b"later");
        let hint = text(&w.no(&ben, "changes_show", json!({}), "changes_none"), "hint");
        assert!(hint.contains("of Cas has newer ones"), "{hint}");
        assert_eq!(content(w, &ben, &first), b"w1");
    }

    fn another_process_of_a_name_leaves_its_session_where_it_is(w) {
        let first = wrap(w, &agent("Ann"), b"w1");
        let [lola, other] = ["one", "two"].map(|process| agent("Lola").process(process));
        w.start(&lola);
        let note = json!({ "baton_id": first });
        assert_eq!(w.ok(&other, "changes_record", note.clone())["session_id"], Value::Null);
        assert_ne!(w.ok(&lola, "changes_record", note)["session_id"], Value::Null);
    }

    fn an_upload_overwrites_nothing_that_a_baton_names(w) {
        let ann = agent("Ann");
        let baton = wrap(w, &ann, b"of Ann");
        let junk = json!({ "content_hash": hash(b"of Ann"), "part": 0, "content": STANDARD.encode(b"junk") });
        w.ok(&agent("Mal"), "changes_upload", junk);
        assert_eq!(content(w, &ann, &baton), b"of Ann");
    }

    fn uploads_that_nothing_names_have_a_limit_until_they_are_removed(w) {
        let ann = agent("Ann");
        w.start(&ann);
        let part = |number: usize| json!({ "content_hash": hash(number.to_string().as_bytes()), "part": 0, "content": "AA==" });
        for number in 0..512 {
            w.ok(&ann, "changes_upload", part(number));
        }
        w.no_trace(&ann, "changes_upload", part(512), "uploads_limited");
        // It takes no room from others.
        let bearer = Bearer { token_id: "t1".into(), name: "t".into(), identities: None };
        let mut token = agent("Eve").process("");
        token.0.grant = Grant { scope: Scope::Write, projects: None, bearer: Some(bearer), ..Grant::default() };
        w.ok(&token, "changes_upload", part(513));
        w.advance(86_400_001);
        w.ok(&ann, "changes_upload", part(512));
        wrap(w, &ann, b"other");
    }

    fn changes_that_a_holder_did_not_apply_go_on_with_the_next_baton(w) {
        let first = wrap(w, &agent("Ann"), b"of Ann");
        let ben = agent("Ben");
        w.pickup(&ben);
        let left = w.ok(&ben, "session_wrap", json!({ "summary": "did something else" }));
        assert_eq!((&left["earlier_changes"][0]["baton_id"], &left["earlier_changes"][0]["place"]), (&json!(first), &json!("next_baton")));
        let second = text(&left, "baton_id");
        let lola = agent("Lola");
        let picked = w.pickup(&lola);
        assert_eq!((&picked["changes"]["baton_id"], picked.get("earlier_changes")), (&json!(second), None));
        assert_eq!(content(w, &lola, &second), b"of Ann");
        // Reassigned, they go on as well.
        let given = w.ok(&agent("Owner"), "session_reassign", json!({ "session": picked["session_id"], "to": "Rex", "wait": true }));
        assert_eq!(given["earlier_changes"][0]["place"], "next_baton");
        let rex = agent("Rex");
        let picked = w.pickup(&rex);
        assert_eq!(picked["changes"]["baton_id"], given["baton_id"]);
        // A drop takes them out of the whole line: what is left earlier would come along again.
        w.ok(&rex, "changes_drop", json!({ "baton_id": given["baton_id"] }));
        assert!(!w.everything().join("\n").contains(&STANDARD.encode("of Ann")));
        let last = w.ok(&rex, "session_wrap", json!({ "summary": "done" }));
        assert_eq!(last.get("earlier_changes"), None);
        w.assert_sound();
    }

    fn changes_that_were_applied_stay_with_their_baton_and_are_named(w) {
        let first = wrap(w, &agent("Ann"), b"of Ann");
        let ben = agent("Ben");
        w.pickup(&ben);
        w.ok(&ben, "changes_record", json!({ "baton_id": first[..8] }));
        w.ok(&ben, "changes_record", json!({ "baton_id": first }));
        let notes = w.deltas("other").iter().filter(|note| text(&note["body"], "summary").contains("working copy")).count();
        assert_eq!(notes, 1, "once");
        let left = w.ok(&ben, "session_wrap", json!({ "summary": "applied" }));
        assert_eq!(left["earlier_changes"][0]["place"], "working_copy");
        let message = text(&left["earlier_changes"][0], "message");
        assert!(message.contains("applied where the session worked; what became of them there cannot be seen"), "{message}");
        assert!(message.contains(&format!("baton changes show {first}")), "{message}");
        let picked = w.pickup(&agent("Lola"));
        assert_eq!((picked.get("changes"), picked.get("earlier_changes")), (None, None));
        assert_eq!(content(w, &agent("Lola"), &first), b"of Ann");
    }

    fn changes_that_a_wrap_with_its_own_leaves_behind_are_named_until_somebody_applies_them(w) {
        let first = wrap(w, &agent("Ann"), b"of Ann");
        let ben = agent("Ben");
        w.pickup(&ben);
        upload(w, &ben, b"of Ben");
        let left = w.ok(&ben, "session_wrap", json!({ "summary": "own", "changes": manifest(b"of Ben") }));
        assert_eq!((&left["earlier_changes"][0]["baton_id"], &left["earlier_changes"][0]["place"]), (&json!(first), &json!("earlier_baton")));
        let lola = agent("Lola");
        let picked = w.pickup(&lola);
        assert_eq!((&picked["changes"]["baton_id"], &picked["earlier_changes"][0]["baton_id"]), (&left["baton_id"], &json!(first)));
        assert!(text(&picked, "instruction").contains(&format!("baton changes apply {first}")), "{picked:#}");
        assert_eq!(content(w, &lola, &first), b"of Ann");
        // Neither is lost by another wrap without any.
        let next = w.ok(&lola, "session_wrap", json!({ "summary": "later" }));
        let places: Vec<String> = list(&next["earlier_changes"]).iter().map(|one| text(one, "place")).collect();
        assert_eq!(places, ["next_baton", "earlier_baton"]);
        let rex = agent("Rex");
        w.pickup(&rex);
        w.ok(&rex, "changes_record", json!({ "baton_id": first }));
        let last = w.ok(&rex, "session_wrap", json!({ "summary": "last" }));
        let named: Vec<String> = list(&last["earlier_changes"]).iter().map(|one| text(one, "baton_id")).collect();
        assert!(!named.contains(&first), "{last:#}");
    }

    fn changes_of_an_earlier_baton_go_along_with_a_merge_and_an_export_names_them(w) {
        w.register("fix");
        let at = |name: &str| agent(name).project("fix");
        let first = wrap(w, &at("Ann"), b"of Ann");
        let ben = at("Ben");
        w.pickup(&ben);
        upload(w, &ben, b"of Ben");
        w.ok(&ben, "session_wrap", json!({ "summary": "own", "changes": manifest(b"of Ben") }));
        let file = w.ok(&at("Lola"), "baton_export", json!({ "dry_run": true }));
        assert_eq!(column(&list(&file["earlier_changes"]), "baton_id"), [first]);
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p" }));
        let lola = agent("Lola");
        let picked = w.pickup(&lola);
        let earlier = text(&picked["earlier_changes"][0], "baton_id");
        assert_eq!(content(w, &lola, &text(&picked["changes"], "baton_id")), b"of Ben");
        assert_eq!(content(w, &lola, &earlier), b"of Ann");
        w.no(&agent("Rex"), "hd_exec", json!({}), "baton_claimed");
        w.assert_sound();
    }
}

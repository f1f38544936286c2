//! A session of a tool has at most one baton that waits, whatever makes it: the agent's own wrap, a hook's capture, an import.
//! What comes second finds the first, in every order and state.

use std::path::{Path, PathBuf};
use std::thread;

use baton_model::time::rfc3339;
use serde_json::{Value, json};

use crate::world::{Agent, World, agent, list, text};

/// The transcript of an agent that may have called Baton.
pub(crate) struct Talk {
    _dir: tempfile::TempDir,
    path: PathBuf,
    pub(crate) said: u32,
}

impl Talk {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("aaaaaaaa-0000-4000-8000-000000000001.jsonl");
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcripts/samples/claude/normal.jsonl");
        let sample = std::fs::read_to_string(sample).expect("the sample");
        let lines: Vec<&str> = sample.lines().filter(|line| line.contains("\"parentUuid\"")).collect();
        std::fs::write(&path, lines.join("\n") + "\n").expect("a copy");
        let mut talk = Self { _dir: dir, path, said: 0 };
        talk.line(&json!({ "role": "user", "content": "And now?" }), "user");
        talk
    }

    /// One more entry on the main line, a minute after the one before.
    pub(crate) fn line(&mut self, message: &Value, kind: &str) {
        let at = format!("2026-11-20T11:{:02}:00.000Z", self.said + 1);
        self.line_at(message, kind, &at);
    }

    pub(crate) fn line_at(&mut self, message: &Value, kind: &str, at: &str) {
        self.said += 1;
        let parent =
            if self.said == 1 { "aaaa-0030".to_owned() } else { format!("eeee-{:04}", self.said - 1) };
        let entry = json!({
            "parentUuid": parent, "isSidechain": false, "message": message, "type": kind,
            "uuid": format!("eeee-{:04}", self.said), "timestamp": at,
            "cwd": "/home/you/shop", "sessionId": "aaaaaaaa-0000-4000-8000-000000000001", "version": "2.1.329",
        });
        let before = std::fs::read_to_string(&self.path).expect("the transcript");
        std::fs::write(&self.path, format!("{before}{entry}\n")).expect("the transcript");
    }

    /// The agent goes on.
    pub(crate) fn grow(&mut self) {
        self.line(
            &json!({ "role": "assistant", "content": format!("Still at it: {}.", self.said) }),
            "assistant",
        );
    }

    /// The user asks for more.
    pub(crate) fn ask(&mut self, what: &str) {
        self.line(&json!({ "role": "user", "content": what }), "user");
    }

    /// The agent called Baton and got this answer.
    pub(crate) fn called(&mut self, tool: &str, answer: &Value) {
        let (id, name) = (format!("c{}", self.said), format!("mcp__baton__{tool}"));
        let call = json!([{ "type": "tool_use", "id": id, "name": name, "input": {} }]);
        self.line(&json!({ "role": "assistant", "content": call }), "assistant");
        let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": answer.to_string(), "is_error": false }]);
        self.line(&json!({ "role": "user", "content": result }), "user");
    }

    pub(crate) fn input(&self) -> Value {
        json!({ "id": self.path, "agent": "claude" })
    }
}

pub(crate) fn donna() -> Agent {
    agent("Donna").process("agent")
}

/// A person in another terminal.
pub(crate) fn person() -> Agent {
    agent("Owner").process("terminal")
}

#[track_caller]
pub(crate) fn import(w: &mut World, talk: &Talk) -> Value {
    w.ok(&person(), "transcript_import", talk.input())
}

#[track_caller]
pub(crate) fn capture(w: &mut World, talk: &Talk) -> Value {
    let mut input = talk.input();
    (input["event"], input["wrap"], input["over"]) = (json!("session-end"), json!(true), json!(true));
    w.ok(&donna(), "transcript_capture", input)
}

/// Ids of the batons that wait or were abandoned: each of them a picker gets.
pub(crate) fn offered(w: &mut World) -> Vec<String> {
    let card = w.ok(&agent("Reader"), "session_status", json!({}));
    let mut ids: Vec<String> = list(&card["handoffs"])
        .iter()
        .filter(|row| row["state"] != "held")
        .map(|row| text(row, "id"))
        .collect();
    ids.sort();
    ids
}

const FIRST: &str = "bbbbbbbb-0000-4000-8000-000000000001";
const SECOND: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// An agent in Claude Code.
fn claude(name: &str) -> Agent {
    let mut own = agent(name);
    "claude_code".clone_into(&mut own.0.surface);
    own
}

/// Donna begins a session in the project's folder, where these conversations are held; nothing ties her to one.
fn only_agent(w: &mut World, ids: &[&str]) -> Agent {
    w.settle();
    let there = agent("Owner").at("/home/you/shop", Some("/home/you/shop"));
    w.ok(&there, "project_init", json!({ "join": "p" }));
    let donna = claude("Donna");
    w.start(&donna);
    w.advance(1_000);
    ids.iter().for_each(|id| write_talk(w, id));
    w.advance(60_000);
    donna
}

/// A conversation of Claude Code that is held now.
fn write_talk(w: &World, id: &str) {
    let line = |kind: &str, n: i64, parent: Value| {
        json!({
            "type": kind, "uuid": format!("u{n}"), "parentUuid": parent, "sessionId": id, "cwd": "/home/you/shop",
            "timestamp": rfc3339(w.now + n * 1_000), "message": { "role": kind, "content": format!("Round the prices: {n}.") },
        })
    };
    let lines =
        [line("user", 1, Value::Null), line("assistant", 2, json!("u1")), line("user", 3, json!("u2"))];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    w.home().write(&format!(".claude/projects/-shop/{id}.jsonl"), lines);
}

#[track_caller]
fn import_id(w: &mut World, id: &str) -> Value {
    w.ok(&person(), "transcript_import", json!({ "id": id, "agent": "claude" }))
}

/// What arrives for the conversation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Import,
    AutoWrap,
    OwnWrap,
}

/// What happens to the first baton before the second arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum EarlierBaton {
    Waits,
    Held,
    /// Its holder ended without a wrap, so that it waits again.
    LetGo,
    /// Its holder went silent.
    Abandoned,
    Spent,
}

/// Makes a baton, and names it; or says how the one stands that there is.
#[track_caller]
fn arrive(w: &mut World, talk: &Talk, way: Way) -> Value {
    match way {
        Way::Import => import(w, talk),
        Way::AutoWrap => capture(w, talk),
        Way::OwnWrap => w.ok(&donna(), "session_wrap", json!({ "summary": "in my own words" })),
    }
}

#[track_caller]
fn meet(w: &mut World, fate: EarlierBaton) {
    if fate == EarlierBaton::Waits {
        return;
    }
    let lola = agent("Lola");
    w.pickup(&lola);
    match fate {
        EarlierBaton::LetGo => _ = w.end(&lola),
        EarlierBaton::Abandoned => w.advance(11 * 60_000),
        EarlierBaton::Spent => _ = w.wrap(&lola, "went on with it"),
        _ => {}
    }
}

fn two_arrive(w: &mut World, first: Way, second: Way, fate: EarlierBaton) {
    let what = format!("{first:?} then {second:?}, {fate:?}");
    let mut talk = Talk::new();
    let own = w.start(&donna());
    w.advance(60_000);
    talk.called("session_start", &own);
    arrive(w, &talk, first);
    let made = offered(w);
    assert_eq!(made.len(), 1, "{what}: {made:?}");
    meet(w, fate);
    w.advance(60_000);
    talk.grow();
    let before = offered(w);
    let answer = arrive(w, &talk, second);
    let after = offered(w);
    if matches!(fate, EarlierBaton::Waits | EarlierBaton::LetGo) {
        assert_eq!(after.len(), 1, "{what}: two batons wait: {answer:#}");
        let own_words = w.ok(&agent("Lola"), "hd_exec", json!({ "dry_run": true })).to_string();
        if [first, second].contains(&Way::OwnWrap) {
            assert!(own_words.contains("in my own words"), "{what}: {own_words}");
        }
        if first != Way::OwnWrap {
            assert_ne!(after, made, "{what}: the newer content is offered");
            w.no(&agent("Bert"), "hd_exec", json!({ "handoff_id": made[0] }), "baton_spent");
        }
    } else {
        assert_eq!(after, before, "{what}: a second baton is offered: {answer:#}");
        let existing_baton = match second {
            Way::OwnWrap => answer["warnings"][0]["existing_baton"].clone(),
            _ => answer["existing_baton"].clone(),
        };
        // After its own wrap the agent's session is over, and a capture of it has nothing to say.
        if (first, second) != (Way::OwnWrap, Way::AutoWrap) {
            assert_eq!(existing_baton["baton_id"], json!(made[0]), "{what}: {answer:#}");
            assert_eq!(existing_baton["holder"], "Lola", "{what}: {answer:#}");
            let note_id = text(&existing_baton, "kept_delta_id");
            let note =
                w.deltas("note").into_iter().find(|note| note["delta_id"] == json!(note_id)).expect("a note");
            assert!(note["body"]["late_packet"].is_string(), "{what}: {note:#}");
            assert_eq!(w.pending(&agent("Lola")).len(), 1, "{what}: its holder is told");
        }
    }
    w.assert_sound();
}

on_every_backend! {
    fn auto_wrap_makes_no_second_baton_beside_one_by_import_that_waits(w) {
        two_arrive(w, Way::Import, Way::AutoWrap, EarlierBaton::Waits);
    }

    fn auto_wrap_makes_no_second_baton_beside_one_by_import_that_is_held(w) {
        two_arrive(w, Way::Import, Way::AutoWrap, EarlierBaton::Held);
    }

    fn auto_wrap_makes_no_second_baton_beside_one_by_import_that_was_let_go(w) {
        two_arrive(w, Way::Import, Way::AutoWrap, EarlierBaton::LetGo);
    }

    fn auto_wrap_makes_no_second_baton_beside_one_by_import_that_is_spent(w) {
        two_arrive(w, Way::Import, Way::AutoWrap, EarlierBaton::Spent);
    }

    fn import_makes_no_second_baton_beside_one_by_auto_wrap_that_waits(w) {
        two_arrive(w, Way::AutoWrap, Way::Import, EarlierBaton::Waits);
    }

    fn import_makes_no_second_baton_beside_one_by_auto_wrap_that_is_held(w) {
        two_arrive(w, Way::AutoWrap, Way::Import, EarlierBaton::Held);
    }

    fn import_makes_no_second_baton_beside_one_by_auto_wrap_that_was_let_go(w) {
        two_arrive(w, Way::AutoWrap, Way::Import, EarlierBaton::LetGo);
    }

    fn import_makes_no_second_baton_beside_one_by_auto_wrap_that_is_spent(w) {
        two_arrive(w, Way::AutoWrap, Way::Import, EarlierBaton::Spent);
    }

    fn auto_wrap_makes_no_second_baton_beside_one_by_own_wrap_that_waits(w) {
        two_arrive(w, Way::OwnWrap, Way::AutoWrap, EarlierBaton::Waits);
    }

    fn auto_wrap_makes_no_second_baton_beside_one_by_own_wrap_that_is_held(w) {
        two_arrive(w, Way::OwnWrap, Way::AutoWrap, EarlierBaton::Held);
    }

    fn auto_wrap_makes_no_second_baton_beside_one_by_own_wrap_that_was_let_go(w) {
        two_arrive(w, Way::OwnWrap, Way::AutoWrap, EarlierBaton::LetGo);
    }

    fn auto_wrap_makes_no_second_baton_beside_one_by_own_wrap_that_is_spent(w) {
        two_arrive(w, Way::OwnWrap, Way::AutoWrap, EarlierBaton::Spent);
    }

    fn import_makes_no_second_baton_beside_one_by_own_wrap_that_waits(w) {
        two_arrive(w, Way::OwnWrap, Way::Import, EarlierBaton::Waits);
    }

    fn import_makes_no_second_baton_beside_one_by_own_wrap_that_is_held(w) {
        two_arrive(w, Way::OwnWrap, Way::Import, EarlierBaton::Held);
    }

    fn import_makes_no_second_baton_beside_one_by_own_wrap_that_was_let_go(w) {
        two_arrive(w, Way::OwnWrap, Way::Import, EarlierBaton::LetGo);
    }

    fn import_makes_no_second_baton_beside_one_by_own_wrap_that_is_spent(w) {
        two_arrive(w, Way::OwnWrap, Way::Import, EarlierBaton::Spent);
    }

    fn import_makes_no_second_baton_beside_one_by_import_that_waits(w) {
        two_arrive(w, Way::Import, Way::Import, EarlierBaton::Waits);
    }

    fn import_makes_no_second_baton_beside_one_by_import_that_is_held(w) {
        two_arrive(w, Way::Import, Way::Import, EarlierBaton::Held);
    }

    fn import_makes_no_second_baton_beside_one_by_import_that_was_abandoned(w) {
        two_arrive(w, Way::Import, Way::Import, EarlierBaton::Abandoned);
    }

    fn import_makes_no_second_baton_beside_one_by_import_that_was_let_go(w) {
        two_arrive(w, Way::Import, Way::Import, EarlierBaton::LetGo);
    }

    fn import_makes_no_second_baton_beside_one_by_import_that_is_spent(w) {
        two_arrive(w, Way::Import, Way::Import, EarlierBaton::Spent);
    }

    fn own_wrap_makes_no_second_baton_beside_one_by_import_that_waits(w) {
        two_arrive(w, Way::Import, Way::OwnWrap, EarlierBaton::Waits);
    }

    fn own_wrap_makes_no_second_baton_beside_one_by_import_that_is_held(w) {
        two_arrive(w, Way::Import, Way::OwnWrap, EarlierBaton::Held);
    }

    fn own_wrap_makes_no_second_baton_beside_one_by_import_that_was_let_go(w) {
        two_arrive(w, Way::Import, Way::OwnWrap, EarlierBaton::LetGo);
    }

    fn own_wrap_makes_no_second_baton_beside_one_by_import_that_is_spent(w) {
        two_arrive(w, Way::Import, Way::OwnWrap, EarlierBaton::Spent);
    }

    fn auto_wrap_makes_no_second_baton_beside_one_by_auto_wrap_that_waits(w) {
        two_arrive(w, Way::AutoWrap, Way::AutoWrap, EarlierBaton::Waits);
    }

    fn auto_wrap_makes_no_second_baton_beside_one_by_auto_wrap_that_is_held(w) {
        two_arrive(w, Way::AutoWrap, Way::AutoWrap, EarlierBaton::Held);
    }

    fn auto_wrap_makes_no_second_baton_beside_one_by_auto_wrap_that_was_let_go(w) {
        two_arrive(w, Way::AutoWrap, Way::AutoWrap, EarlierBaton::LetGo);
    }

    fn auto_wrap_makes_no_second_baton_beside_one_by_auto_wrap_that_is_spent(w) {
        two_arrive(w, Way::AutoWrap, Way::AutoWrap, EarlierBaton::Spent);
    }

    fn who_insists_makes_another_baton(w) {
        let talk = Talk::new();
        let first = import(w, &talk);
        let mut input = talk.input();
        input["again"] = json!(true);
        let second = w.ok(&person(), "transcript_import", input);
        assert_ne!(first["baton_id"], second["baton_id"]);
        assert_eq!(offered(w).len(), 2);
    }

    fn a_summary_and_an_address_that_come_second_are_not_dropped(w) {
        let talk = Talk::new();
        let first = import(w, &talk);
        let mut input = talk.input();
        (input["summary"], input["to"]) = (json!("read this first"), json!("Lola"));
        let second = w.ok(&person(), "transcript_import", input);
        assert_eq!(second["superseded_baton_id"], first["baton_id"]);
        // A later capture keeps both.
        let mut talk = talk;
        talk.grow();
        let third = capture(w, &talk);
        let shown = w.ok(&agent("Lola"), "handoff_show", json!({ "id": third["baton_id"] }));
        assert!(shown.to_string().contains("read this first"), "{shown:#}");
        assert_eq!(shown["to_identity"], "Lola", "{shown:#}");
    }

    fn a_summary_of_a_shorter_transcript_stays_and_says_how_far_it_goes(w) {
        let mut talk = Talk::new();
        let mut input = talk.input();
        input["summary"] = json!("read this first");
        w.ok(&person(), "transcript_import", input);
        talk.grow();
        for round in ["once", "twice"] {
            let again = import(w, &talk);
            let shown = w.ok(&agent("Lola"), "handoff_show", json!({ "id": again["baton_id"] })).to_string();
            let mark = "Wrapped before, up to 2026-11-20T11:01:00.000Z: read this first";
            assert!(shown.contains(mark), "{round}: {shown}");
            talk.grow();
        }
        assert_eq!(offered(w).len(), 1);
    }

    fn an_import_finds_the_own_wrap_of_the_only_agent_there(w) {
        let donna = only_agent(w, &[FIRST]);
        let left = w.wrap(&donna, "in my own words");
        let imported = import_id(w, FIRST);
        assert_eq!((&imported["baton_id"], &imported["imported_before"]), (&left["baton_id"], &json!(true)));
        assert_eq!(offered(w), [text(&left, "baton_id")]);
    }

    fn the_own_wrap_of_the_only_agent_there_finds_the_import(w) {
        let donna = only_agent(w, &[FIRST]);
        let imported = import_id(w, FIRST);
        w.advance(60_000);
        let left = w.wrap(&donna, "in my own words");
        assert_eq!(offered(w), [text(&left, "baton_id")]);
        w.no(&agent("Bert"), "hd_exec", json!({ "handoff_id": imported["baton_id"] }), "baton_spent");
    }

    fn of_two_conversations_at_once_none_is_guessed_and_what_it_may_be_is_said(w) {
        let donna = only_agent(w, &[FIRST, SECOND]);
        let left = w.wrap(&donna, "in my own words");
        let imported = import_id(w, FIRST);
        assert_eq!((&imported["imported_before"], &imported["may_be_same"]), (&json!(false), &json!([left["baton_id"]])));
        assert_eq!(offered(w).len(), 2);
    }

    fn an_agent_without_a_known_tool_in_the_same_folder_is_named_and_not_guessed(w) {
        only_agent(w, &[]);
        let [left, _elsewhere, open] = [("Uma", "shop"), ("Ugo", "elsewhere"), ("Ute", "shop")].map(|(name, folder)| {
            let folder = format!("/home/you/{folder}");
            let mut own = agent(name).at(&folder, Some(&folder));
            "my_own_tool".clone_into(&mut own.0.surface);
            let started = w.start(&own);
            if name == "Ute" { started } else { w.wrap(&own, "in my own words") }
        });
        write_talk(w, FIRST);
        let imported = import_id(w, FIRST);
        assert_eq!(imported["may_be_same"], json!([left["baton_id"]]));
        assert_eq!(imported["may_be_same_sessions"], json!([open["session_id"]]), "a session is no baton");
    }

    fn a_session_of_another_time_is_another_conversation(w) {
        only_agent(w, &[FIRST]);
        w.advance(3 * 3_600_000);
        let late = claude("Lola");
        w.start(&late);
        let left = w.wrap(&late, "of another time");
        write_talk(w, SECOND);
        w.advance(3 * 3_600_000);
        let imported = import_id(w, FIRST);
        assert_ne!(imported["baton_id"], left["baton_id"]);
        assert!(!imported.to_string().contains(&text(&left, "baton_id")), "{imported:#}");
    }

    fn a_session_begun_after_the_baton_was_taken_leaves_its_own(w) {
        let mut talk = Talk::new();
        w.start(&donna());
        capture(w, &talk);
        w.pickup(&agent("Lola"));
        w.wrap(&agent("Lola"), "went on with it");
        w.advance(60_000);
        // The same agent takes what Lola left, in the same conversation.
        let picked = w.pickup(&donna());
        talk.called("hd_exec", &picked);
        let captured = capture(w, &talk);
        assert_eq!(offered(w), [text(&captured, "baton_id")]);
        let lolas = text(&picked["baton"], "delta_id");
        w.no(&agent("Bert"), "hd_exec", json!({ "handoff_id": lolas }), "baton_spent");
    }
}

on_shared_backends! {
    fn two_processes_at_once_make_one_baton(w) {
        let talk = Talk::new();
        let wraps = json!({ "event": "session-end", "wrap": true, "over": true });
        let (ground, input) = (&w.ground, talk.input());
        thread::scope(|scope| {
            for number in 0..6u64 {
                let (input, wraps) = (input.clone(), wraps.clone());
                scope.spawn(move || {
                    let mut own = World::beside(ground, 9_000 + number);
                    let mut input = input;
                    let (who, verb) = match number % 2 {
                        0 => (person(), "transcript_import"),
                        _ => {
                            for (key, value) in wraps.as_object().expect("fields") {
                                input[key] = value.clone();
                            }
                            (donna(), "transcript_capture")
                        }
                    };
                    own.call(&who, verb, input).expect("an answer");
                });
            }
        });
        assert_eq!(offered(w).len(), 1);
        w.assert_sound();
    }
}

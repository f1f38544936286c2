//! What two people stumbled over in their first hours, as the binary says it.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::http::Server;
use crate::stage::{Stage, ended_process, text};

#[test]
fn the_project_that_an_untrusted_file_names_is_told_with_the_way_to_it() {
    let stage = Stage::new();
    let ann = stage.terminal("Ann");
    fs::write(stage.shop().join(".baton.toml"), "project = \"till\"\n").expect("written");
    let refusal = ann.refused(3, "project_unresolved", &["status"]);
    let hint = text(&refusal, "hint");
    assert!(hint.contains(".baton.toml names project till, and is not trusted: `baton trust`"), "{hint}");
    assert_eq!(text(&refusal, "claimed_project"), "till");
    ann.run(&["trust", "--yes"]).done();
    let refusal = ann.run(&["status", "--json"]).json();
    assert!(!text(&refusal["error"], "hint").contains("not trusted"), "{refusal}");
}

/// A session of Claude Code with one request.
const SESSION: &str = concat!(
    r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"5e5510e1-0000-4000-8000-000000000001","#,
    r#""cwd":"/srv/w/shop","timestamp":"2026-11-20T10:00:00.000Z","#,
    r#""message":{"role":"user","content":"Mend the cart"}}"#,
    "\n"
);

#[test]
fn a_refused_note_leaves_no_store_behind() {
    let stage = Stage::in_a_file("a path of a store that is not there");
    let parent = stage.root().join("no");
    for path in [parent.join("where.db"), stage.root().join("mistyped.db")] {
        let ann = stage.terminal("Ann").with("BATON_STORE", &path);
        for call in [&["note", "hello"][..], &["start"], &["status"], &["doctor"]] {
            let refusal = ann.refused(3, "store_missing", call);
            assert!(text(&refusal, "hint").contains("baton init"), "{refusal}");
        }
        assert!(!path.exists() && !parent.exists(), "{}", path.display());
    }
    // What reads the sessions on this disk needs no store, and makes none.
    let session = stage.file("session.jsonl", SESSION);
    for path in [parent.join("where.db"), stage.root().join("mistyped.db")] {
        let ann = stage.terminal("Ann").with("BATON_STORE", &path);
        let document =
            ann.run(&["handoff", "from-transcript", &session, "--agent", "claude", "--format", "markdown"]);
        assert!(document.done().out.contains("Mend the cart"), "the document");
        ann.json(&["transcripts", "list"]);
        ann.json(&["transcripts", "search", "cart"]);
        ann.json(&["transcripts", "show", &session]);
        // What would be recorded of it is refused: nothing would keep it.
        ann.refused(3, "store_missing", &["continue", &session, "--in", "codex", "--print"]);
        assert!(!path.exists() && !parent.exists(), "{}", path.display());
    }
    // Nor is an empty file made one.
    let blank = stage.file("blank.db", "");
    let ann = stage.terminal("Ann").with("BATON_STORE", &blank);
    for call in [&["note", "hello"][..], &["status"], &["task", "list"]] {
        ann.refused(3, "store_missing", call);
    }
    assert_eq!(fs::metadata(&blank).expect("it is there").len(), 0);
    let ann = stage.terminal("Ann").with("BATON_STORE", parent.join("where.db"));
    ann.json(&["init"]);
    ann.json(&["note", "hello"]);
}

/// What may begin a store does so in a folder that is there; only `baton init` makes the folder, too.
#[test]
fn below_a_mistyped_folder_nothing_but_init_begins_a_store() {
    let stage = Stage::in_a_file("a path of a store that is not there");
    let ann = stage.terminal("Ann");
    ann.json(&["init"]);
    let export = stage.root().join("shop.jsonl").display().to_string();
    ann.json(&["log", "export", &export]);
    let copy = stage.root().join("copy.db").display().to_string();
    let begins =
        [&["token", "create"][..], &["log", "import", &export], &["serve", "--listen", "127.0.0.1:0"]];
    let uses = [&["backup", &copy][..], &["store", "advance-counters"], &["store", "take-over"]];
    let folder = stage.root().join("mistyped");
    let mistyped = ann.with("BATON_STORE", folder.join("where.db"));
    for call in begins.iter().chain(&uses) {
        let refusal = mistyped.refused(3, "store_missing", call);
        assert!(text(&refusal, "message").contains("which BATON_STORE names"), "{refusal}");
        assert!(!folder.exists() && !Path::new(&copy).exists(), "{call:?}");
    }
    // What needs a store begins none in a folder that is there, either; the others do.
    let beside = stage.root().join("beside.db");
    for call in uses {
        ann.with("BATON_STORE", &beside).refused(3, "store_missing", call);
        assert!(!beside.exists() && !Path::new(&copy).exists(), "{call:?}");
    }
    for (name, call) in [("token.db", begins[0]), ("import.db", begins[1])] {
        ann.with("BATON_STORE", stage.root().join(name)).json(call);
    }
}

#[test]
fn what_is_no_store_is_told_as_what_it_is_and_no_hint_leads_in_a_circle() {
    let stage = Stage::in_a_file("files that are no store");
    let (words, bytes) =
        (stage.file("words.db", "hello\n"), stage.file("bytes.db", [0x7f, b'E', b'L', b'F', 0, 0xff]));
    for (path, what) in
        [(&words, "it holds text, and no database"), (&bytes, "it does not begin as a database does")]
    {
        for call in [&["status"][..], &["doctor"]] {
            let refusal =
                stage.terminal("Ann").refused(1, "store_corrupt", &[&["--store", path], call].concat());
            let (message, hint) = (text(&refusal, "message"), text(&refusal, "hint"));
            assert!(message.contains(path) && message.ends_with(what), "{message}");
            assert!(!hint.contains("baton doctor") && hint.contains("`baton config show`"), "{hint}");
        }
    }
}

#[test]
fn an_import_of_a_pipe_or_a_folder_is_refused_and_does_not_wait() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let pipe = stage.root().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    for (path, kind) in
        [(pipe, "is a pipe"), (stage.root().join("shop"), "is a folder"), ("/dev/zero".into(), "is a device")]
    {
        for verb in [["handoff", "import"], ["log", "import"]] {
            let path = path.to_str().expect("text");
            let refusal = ann.refused(1, "input_unreadable", &[verb[0], verb[1], path]);
            assert!(text(&refusal, "message").contains(kind), "{refusal}");
            assert!(text(&refusal, "hint").contains("- for standard input"), "{refusal}");
        }
    }
}

#[test]
fn an_empty_list_of_projects_says_how_the_first_is_made() {
    let stage = Stage::new();
    let text = stage.terminal("Ann").text(&["project", "list"]);
    assert_eq!(text, "no project is registered: run `baton init` in a repository\n");
}

#[test]
fn an_uninstall_of_all_names_what_was_removed_and_counts_the_rest() {
    let stage = Stage::new();
    let ann = stage.terminal("Ann");
    ann.json(&["install", "gemini", "--yes"]);
    let text = ann.text(&["install", "--all", "--uninstall", "--yes"]);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with([' ', '-', '+', '@'])).collect();
    assert!(lines.iter().any(|line| line.starts_with("Gemini CLI: uninstalled")), "{text}");
    let nothing = lines.iter().filter(|line| line.contains("nothing of")).collect::<Vec<_>>();
    assert!(nothing.len() == 1 && nothing[0].ends_with("other tools"), "{text}");
}

#[test]
fn what_is_ready_and_mine_comes_first_and_is_marked() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    ann.json(&["task", "create", "anybody's"]);
    ann.json(&["task", "create", "my own", "--assignee", "Ann", "-p", "3"]);
    let text = ann.text(&["task", "ready"]);
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows[0].contains("my own") && rows[0].ends_with("yours") && !rows[1].contains("yours"), "{text}");
    let rows = stage.terminal("Ben").text(&["task", "ready"]);
    assert!(rows.starts_with(rows.lines().find(|row| row.contains("anybody's")).expect("a row")), "{rows}");
}

#[test]
fn a_message_of_a_pickup_has_its_id_and_the_command_that_answers_it() {
    let stage = Stage::ready();
    let (ann, ben) = (stage.terminal("Ann"), stage.terminal("Ben"));
    ann.json(&["start"]);
    let sent = ann.json(&[
        "mail",
        "send",
        "--to",
        "Ben",
        "-s",
        "which?",
        "--text",
        "Red or blue?",
        "--ack",
        "--wait",
    ]);
    ann.json(&["wrap", "--summary", "half"]);
    let shown = ben.text(&["pickup"]);
    let id = text(&sent, "message_id");
    assert!(shown.contains(&format!("signal message {id} from Ann: which?")), "{shown}");
    assert!(shown.contains(&format!("baton mail ack {id}\n")), "{shown}");
    let answer = format!("  answer: baton mail send --reply-to {id} --text ");
    assert!(shown.contains(&answer), "{shown}");
    // What is named works.
    let replied: Value = ben.json(&["mail", "send", "--reply-to", &id, "--text", "Blue"]);
    assert_eq!(text(&replied, "reply_to"), id, "{replied}");
}

#[test]
fn a_silent_session_and_a_blocked_task_are_told_as_such() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann").with("BATON_STALE_AFTER", "1s").with("BATON_LIVE_AFTER", "1s");
    ann.json(&["start"]);
    ann.json(&["task", "create", "first", "--id", "shop-1"]);
    ann.json(&["task", "create", "second", "--id", "shop-2", "--deps", "shop-1"]);
    std::thread::sleep(std::time::Duration::from_millis(2_200));
    let shown = ann.text(&["status"]);
    assert!(shown.contains("\nsilent\n  ○ Ann") && !shown.contains("at work\n"), "{shown}");
    assert!(
        shown.contains("went silent without a wrap: Ann (") && shown.contains("`baton reassign 01"),
        "{shown}"
    );
    assert!(shown.contains("open (blocked)  second") && !shown.contains("open (blocked)  first"), "{shown}");
}

#[test]
fn a_session_whose_process_has_ended_is_silent_in_the_audit_too() {
    let stage = Stage::ready();
    stage.terminal("Ann").with("BATON_PROCESS", ended_process()).json(&["start"]);
    let ben = stage.terminal("Ben");
    ben.json(&["start"]);
    let report: Value = serde_json::from_str(&ben.run(&["audit", "--json"]).out).expect("a report");
    let tally = |name: &str| {
        let rows = report["identities"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["identity"] == name).expect("a row");
        (row["at_work"].clone(), row["unwrapped"].clone())
    };
    assert_eq!((tally("Ann"), tally("Ben")), ((0.into(), 1.into()), (1.into(), 0.into())), "{report:#}");
}

#[test]
fn what_is_needed_before_a_token_and_a_hand_off_is_said_in_the_words_of_the_pages() {
    let stage = Stage::ready();
    stage.repo("lib");
    let ann = stage.terminal("Ann");
    ann.within(stage.root().join("lib")).json(&["init"]);
    let token = ["token", "create", "--name", "ben", "--scope", "write", "--only", "later"];
    let refused = ann.refused(3, "project_unknown", &token);
    assert!(
        text(&refused, "hint").contains("run `baton init --id later` in its repository first"),
        "{refused}"
    );
    let shown = ann.text(&["handoff", "create", "--to", "lib", "--subject", "S", "--dry-run"]);
    assert!(shown.contains("S in Baton's own ledger") && !shown.contains("Bot"), "{shown}");
}

#[test]
fn a_hand_off_that_is_declined_twice_says_that_it_was_declined_before() {
    let stage = Stage::ready();
    let lib = stage.repo("lib");
    let (ben, cleo) = (stage.terminal("Ben").within(&lib), stage.terminal("Cleo").within(&lib));
    ben.json(&["init"]);
    let made = stage.terminal("Ann").json(&["handoff", "create", "--to", "lib", "--subject", "s", "--local"]);
    let id = text(&made, "handoff_id");
    let decline = ["handoff", "decline", &id];
    let first = ben.run(&decline).done();
    assert!(first.out.ends_with(" is declined\n"), "{first:#?}");
    let way = format!("`baton handoff decline {} --why REASON` adds one", &id[..13]);
    assert!(first.err.contains(&way), "{first:#?}");
    let again = ben.run(&decline).done();
    assert!(
        again.out.ends_with(" is declined already: you did that before, and nothing changed\n"),
        "{again:#?}"
    );
    assert!(!again.err.contains("no reason"), "{again:#?}");
    cleo.refused(4, "handoff_state", &decline);
    // A reason is added as it was said that it is.
    let added = ben.run(&["handoff", "decline", &id[..13], "--why", "no time"]).done();
    assert!(
        added.out.starts_with("the reason is added to hand-off ") && added.out.ends_with("Ann is told\n"),
        "{added:#?}"
    );
    let shown = ben.text(&["handoff", "show", &id]);
    assert!(shown.contains("no time") && shown.contains("`baton handoff create --replaces "), "{shown}");
}

#[test]
fn nothing_that_waited_is_told_as_nothing() {
    let stage = Stage::ready();
    let (eve, max) = (stage.terminal("Eve"), stage.terminal("Max"));
    eve.json(&["start"]);
    let empty = eve.run(&["pickup", "--apply"]).done();
    assert!(!format!("{}{}", empty.out, empty.err).contains("uncommitted changes: there"), "{empty:#?}");
    eve.json(&["wrap", "--summary", "d", "--done"]);
    let began = max.text(&["pickup"]);
    assert!(began.contains("what was wrapped is done, continued or exported"), "{began}");
    let status = max.text(&["status"]);
    assert!(status.contains("started just now") && !status.contains("picked up"), "{status}");
    let log = max.text(&["log"]);
    let last = log.trim_end().lines().next_back().unwrap_or_default();
    assert!(last.contains("no baton waited  in "), "{log}");
    // A baton that was held by sessions that saved nothing names none of them.
    max.json(&["wrap", "--summary", "half", "--next", "rest"]);
    let (tom, zoe) = (stage.terminal("Tom"), stage.terminal("Zoe"));
    tom.json(&["pickup"]);
    tom.json(&["end"]);
    let shown = zoe.text(&["pickup"]);
    assert!(shown.contains("half") && !shown.contains("never wrapped"), "{shown}");
}

#[test]
fn a_setting_that_cannot_be_read_is_named_with_its_place_and_shown_by_what_shows_settings() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann").with("BATON_STALE_AFTER", "abc");
    let refusal = ann.refused(1, "config_invalid", &["status"]);
    assert!(text(&refusal, "message").starts_with("BATON_STALE_AFTER: `stale_after` is `abc`"), "{refusal}");
    let shown = ann.run(&["config", "show"]);
    assert!(shown.code == 1 && shown.out.contains("not read: BATON_STALE_AFTER: "), "{shown:#?}");
    assert!(shown.out.contains("identity"), "the others are there: {shown:#?}");
    let json = ann.run(&["config", "show", "--json"]).json();
    assert_eq!(json["faults"][0]["setting"], "stale_after", "{json}");
    let doctor = ann.run(&["doctor"]);
    assert!(doctor.code == 1 && doctor.out.contains("not read: BATON_STALE_AFTER: "), "{doctor:#?}");
    assert!(doctor.out.contains(": sound\n"), "{doctor:#?}");
}

#[test]
fn a_span_is_one_wherever_it_is_given() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let kind = ["--type", "Question"];
    let send = ["signal", "send", "--to", "Ben", "which?", "--ack-by", "2h", "--expires-in", "1d"];
    let sent = ann.json(&[&send[..], &kind].concat());
    assert!(sent["ack_by"].is_string() && sent["expires_at"].is_string(), "{sent}");
    ann.refused(1, "span_invalid", &["signal", "send", "--to", "Ben", "which?", "--ack-by", "soon"]);
    ann.json(&["task", "create", "t", "--id", "shop-1"]);
    ann.json(&["task", "claim", "shop-1", "--lease", "10m"]);
    let slip = ann.run(&["task", "create", "u", "-t", "bgu"]).done();
    assert!(slip.err.contains("did you mean bug? `baton task update "), "{slip:#?}");
    assert_eq!(ann.run(&["task", "create", "v", "-t", "recipe"]).done().err, "");
}

#[test]
fn trust_names_no_command_that_the_token_may_not_run() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let token =
        |scope: &str| text(&ann.json(&["token", "create", "--name", scope, "--scope", scope]), "token");
    let (operator, writer) = (token("operator"), token("write"));
    let server = Server::start(&ann);
    let address = format!("http://{}", server.address);
    let owner = stage.terminal("Owner").with("BATON_TOKEN", operator).with("BATON_SERVER", &address);
    let ben = stage.terminal("Ben").with("BATON_TOKEN", writer).with("BATON_SERVER", &address);
    fs::create_dir_all(stage.shop().join("docs")).expect("a folder");
    let name = |repo: &str| {
        let text = format!("---\nims:\n  issues:\n    github_repo: {repo}\n---\n");
        fs::write(stage.shop().join("docs/PROJECT.md"), text).expect("written");
    };
    let trust = ["trust", "--yes"];
    name("o/first");
    let refused = ben.run(&trust).done();
    assert!(refused.out.contains("trusted: docs/PROJECT.md"), "{refused:#?}");
    assert!(
        !refused.out.contains("`baton init`") && refused.out.contains("an operator registers"),
        "{refused:#?}"
    );
    name("o/second");
    assert!(owner.run(&trust).done().out.contains("`baton init` registers the tracker"));
    owner.json(&["init", "--issues-repo", "o/third"]);
    name("o/third");
    let known = ben.run(&trust).done();
    assert!(known.out.contains("trusted: docs/PROJECT.md") && !known.out.contains("registers"), "{known:#?}");
}

#[test]
fn a_token_of_one_project_is_told_what_it_may_do_and_its_own_machine_is_checked() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let made = ann.json(&["token", "create", "--name", "ben", "--identity", "Ben", "--only", "shop"]);
    let server = Server::start(&ann);
    let ben = stage.terminal("Ben").with("BATON_TOKEN", text(&made, "token"));
    let ben = ben.with("BATON_SERVER", format!("http://{}", server.address));
    let refusal = ben.refused(1, "scope_missing", &["init"]);
    assert!(text(&refusal, "hint").contains("`export BATON_PROJECT=shop`"), "{refusal}");
    let elsewhere = stage.repo("elsewhere");
    let refusal = ben.within(&elsewhere).refused(3, "project_unresolved", &["status"]);
    for words in ["shop", "`export BATON_PROJECT=shop`", ".baton.toml"] {
        assert!(text(&refusal, "hint").contains(words), "{words}: {refusal}");
    }
    let refusal = ben.with("BATON_TOKEN", "").refused(1, "token_invalid", &["status", "--project", "shop"]);
    assert!(text(&refusal, "hint").contains("BATON_TOKEN"), "{refusal}");
    let doctor = ben.run(&["doctor"]).done();
    assert!(
        doctor.out.contains(": not checked (") && doctor.out.contains("on this machine were checked"),
        "{doctor:#?}"
    );
    let json = ben.json(&["doctor"]);
    assert!(json["not_checked"].is_string() && json["tools"].is_array() && json["sound"].is_null(), "{json}");
    // git knows the person by another name than the token.
    let person = stage.bare().with("BATON_SURFACE", "human").with("BATON_TOKEN", text(&made, "token"));
    let person =
        person.with("BATON_SERVER", format!("http://{}", server.address)).with("BATON_PROJECT", "shop");
    person.shell("git config user.name 'Ben Bee'").done();
    assert_eq!(person.json(&["bd", "create", "By a person"])["created_by"], "Ben");
    let secure = ben.with("BATON_SERVER", format!("https://{}", server.address));
    let refusal = secure.refused(5, "server_unreachable", &["status"]);
    assert!(text(&refusal, "message").contains("speaks http, not https"), "{refusal}");
    assert!(text(&refusal, "hint").contains(&format!("http://{}", server.address)), "{refusal}");
}

/// A worker acts as its token does, whether it was given a name or not, and whether something is ready or not.
#[test]
fn a_worker_with_a_token_of_its_own_works_through_a_server() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let made = ann.json(&["token", "create", "--scope", "write", "--name", "ben", "--identity", "Ben"]);
    let server = Server::start(&ann);
    for terminal in [stage.terminal("Ben"), stage.bare()] {
        let ben = terminal.with("BATON_TOKEN", text(&made, "token"));
        let ben = ben.with("BATON_SERVER", format!("http://{}", server.address));
        let work = ["work", "--role", "testing", "--once", "--json", "--", "true"];
        assert_eq!(ben.run(&work).json()["outcome"], "nothing_ready");
        let id = text(&ann.json(&["task", "create", "t", "--role", "testing"]), "id");
        let done = ben.run(&work).json();
        assert_eq!((&done["identity"], &done["task_id"]), (&json!("Ben"), &json!(id)), "{done:#}");
        assert_eq!(ann.json(&["task", "show", &id])["status"], "closed");
        assert_eq!(ben.json(&["route"])["identity"], "Ben");
    }
}

/// The command with which a question is answered stands where it is read, and what is kept of a working copy stays there, too.
#[test]
fn what_is_read_and_kept_says_what_comes_next() {
    let stage = Stage::ready();
    let (ann, ben) = (stage.terminal("Ann"), stage.terminal("Ben"));
    let send = [
        "mail",
        "send",
        "--to",
        "Ben",
        "--type",
        "Question",
        "--subject",
        "which?",
        "--text",
        "this?",
        "--wait",
    ];
    let id = text(&ann.json(&send), "message_id");
    assert!(!ann.text(&["mail", "read", &id]).contains("answers"), "it is one's own");
    let read = ben.text(&["mail", "read", &id]);
    assert!(read.contains(&format!("`baton mail send --as Ben --reply-to {id} --text …` answers")), "{read}");
    ann.json(&["start"]);
    stage.file("shop/new.txt", "new\n");
    // An agent's shell is no terminal.
    let wrapped = ann.run(&["wrap", "--summary", "s", "--next", "n"]).done();
    assert!(wrapped.err.contains("not committed and stay"), "{wrapped:#?}");
    assert!(wrapped.err.contains("new.txt"), "{wrapped:#?}");
    let quiet = wrapped.err.split('`').nth(1).expect("a command");
    let words: Vec<&str> = quiet.split(' ').skip(1).collect();
    let answer = ann.text(&words);
    let baton = words[2];
    let head = answer.lines().next().unwrap_or_default();
    assert!(
        head.starts_with("kept: ") && head.contains(&format!("with baton {baton}, and stay")),
        "{answer}"
    );
}

/// An agent is told that the ledger does not answer, at its start alone, and whatever does not answer.
#[test]
fn the_announcement_says_that_the_server_is_away() {
    let stage = Stage::ready();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let gone = {
        let one = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        one.local_addr().expect("an address")
    };
    for address in [gone, silent.local_addr().expect("an address")] {
        let ann = stage.terminal("Ann").with("BATON_SERVER", format!("http://{address}"));
        let payload = json!({ "session_id": "s", "cwd": stage.shop() }).to_string();
        let call = |event: &str| {
            let answer = ann.feed(payload.as_bytes(), &["hook", event, "--agent", "claude"]);
            answer.done().out
        };
        let start = call("session-start");
        assert!(start.contains(&format!("the ledger at http://{address} does not answer")), "{start}");
        assert_eq!(call("prompt"), "", "it was said at the start");
    }
}

//! A person is told outside the terminal: once, over each way, without secrets and without a repository's doing.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::mcp::client::{Client, MODERN};
use crate::stage::{Stage, items, text};

const TIMEOUT: Duration = Duration::from_secs(20);

/// A receiver of webhooks; what is posted to it, with the path and the headers.
fn receiver() -> (String, Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (sender, received) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(&stream);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap_or(0);
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            _ = reader.read_exact(&mut body);
            _ = (&stream).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            _ = sender.send((head, String::from_utf8_lossy(&body).into_owned()));
        }
    });
    (url, received)
}

/// Sets the user's own file.
fn set_up(stage: &Stage, settings: &str) {
    stage.file("home/config/baton/config.toml", format!("[notify]\nme = \"Lola\"\n{settings}\n"));
}

/// A command that appends what it is given to a file, and what is in it once there are so many lines.
fn notifications(stage: &Stage, lines: usize) -> Vec<Value> {
    let begin = Instant::now();
    loop {
        let text = std::fs::read_to_string(stage.root().join("told.jsonl")).unwrap_or_default();
        let found: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        if found.len() >= lines {
            return found;
        }
        assert!(begin.elapsed() < TIMEOUT, "not told: {found:#?}");
        thread::sleep(Duration::from_millis(50));
    }
}

fn by_command(stage: &Stage) -> String {
    format!("command = \"cat >> {}\"", stage.root().join("told.jsonl").display())
}

/// Quiet hours that it is now by the clock of UTC.
#[allow(clippy::disallowed_methods, reason = "the real binary is called, whose clock is the machine's")]
fn quiet_now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs();
    let hour = seconds / 3_600 % 24;
    format!("quiet = \"{:02}:00-{:02}:59\"", (hour + 23) % 24, (hour + 1) % 24)
}

#[test]
fn a_baton_that_waits_is_told_once_and_one_that_was_taken_is_not() {
    let stage = Stage::ready();
    set_up(&stage, &by_command(&stage));
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    donna.json(&["wrap", "--summary", "half of the cart", "--next", "the taxes"]);
    let first = notifications(&stage, 1);
    assert_eq!((&first[0]["topic"], &first[0]["project_id"]), (&json!("baton"), &json!("shop")));
    let words = text(&first[0], "text");
    assert!(
        words.contains("half of the cart") && words.contains("from Donna") && words.contains("baton pickup"),
        "{words}"
    );
    // Later writes do not send it again; a baton for another identity is not Lola's.
    donna.json(&["start"]);
    donna.json(&["wrap", "--summary", "for Ben alone", "--next", "go on", "--to", "Ben"]);
    donna.json(&["start"]);
    donna.json(&["wrap", "--summary", "for Lola", "--next", "go on", "--to", "Lola"]);
    let all = notifications(&stage, 2);
    assert!(text(&all[1], "text").contains("for Lola"), "{all:#?}");
    let again = stage.terminal("Lola").json(&["notify", "send"]);
    assert_eq!((&again["sent"], notifications(&stage, 2).len()), (&json!(0), 2));
}

#[test]
fn words_of_an_isolated_project_are_told_over_no_way() {
    let stage = Stage::ready();
    let vault = stage.repo("vault");
    stage.terminal("Setup").within(&vault).json(&["init", "--id", "vault", "--isolated"]);
    set_up(&stage, &by_command(&stage));
    let vic = stage.terminal("Vic").within(&vault);
    vic.json(&["start"]);
    vic.json(&["wrap", "--summary", "the key lies in the safe", "--next", "open it"]);
    let first = notifications(&stage, 1);
    vic.json(&["signal", "send", "--to", "Lola", "--type", "Question", "which safe?"]);
    let all = notifications(&stage, 2);
    assert!(text(&first[0], "title").contains("A baton waits in vault"), "{all:#?}");
    assert!(text(&all[1], "text").contains("baton mail read"), "{all:#?}");
    let words = json!(all).to_string();
    assert!(!words.contains("safe"), "{words}");
}

#[test]
fn both_ends_of_a_hand_off_hear_what_concerns_them() {
    let stage = Stage::ready();
    stage.repo("lib");
    stage.terminal("Setup").within(stage.root().join("lib")).json(&["init", "--id", "lib"]);
    set_up(&stage, &format!("{}\ntopics = \"handoff\"", by_command(&stage)));
    let donna = stage.terminal("Donna");
    let sent = donna.json(&[
        "handoff",
        "create",
        "--to",
        "lib",
        "--subject",
        "Round half up",
        "--description",
        "why",
        "--local",
    ]);
    let offered = notifications(&stage, 1);
    assert!(text(&offered[0], "title").contains("Work for lib waits"), "{offered:#?}");
    let ben = stage.terminal("Ben").within(stage.root().join("lib"));
    ben.json(&["handoff", "decline", &text(&sent, "handoff_id"), "--result", "not ours"]);
    let declined = notifications(&stage, 2);
    let (title, words) = (text(&declined[1], "title"), text(&declined[1], "text"));
    assert!(
        title.contains("Your hand-off to lib was declined") && words.contains("not ours"),
        "{declined:#?}"
    );
}

#[test]
fn a_question_to_me_is_told_and_mail_that_wants_no_answer_is_not() {
    let stage = Stage::ready();
    set_up(&stage, &format!("{}\ntopics = \"question\"", by_command(&stage)));
    let donna = stage.terminal("Donna");
    donna.json(&[
        "mail",
        "send",
        "--to",
        "Lola",
        "--subject",
        "for your information",
        "--text",
        "nothing to do",
        "--wait",
    ]);
    donna.json(&[
        "mail",
        "send",
        "--to",
        "Lola",
        "--subject",
        "May I drop the table?",
        "--text",
        "It is old.",
        "--wait",
        "--ack-by",
        "1h",
    ]);
    let sent = notifications(&stage, 1);
    assert!(text(&sent[0], "text").contains("May I drop the table?"), "{sent:#?}");
    assert_eq!(text(&sent[0], "title"), "Donna asks you in shop");
    for (at, kind) in ["Question", "Blocker", "ReviewRequested"].into_iter().enumerate() {
        donna.json(&["signal", "send", "--to", "Lola", "--type", kind, &format!("a {kind}")]);
        let sent = notifications(&stage, at + 2);
        assert!(text(&sent[at + 1], "text").contains(kind), "{sent:#?}");
    }
    donna.json(&["signal", "send", "--to", "Lola", "--type", "StatusUpdate", "half done"]);
    assert_eq!(stage.terminal("Lola").json(&["notify", "send"])["sent"], 0);
}

#[test]
fn chat_services_and_ntfy_get_their_own_forms_without_secrets_or_calls_by_name() {
    let stage = Stage::ready();
    let (url, received) = receiver();
    let settings = format!(
        "ntfy = \"{url}/topic\"\nntfy_token = \"tk_word\"\nslack = \"{url}/slack\"\ndiscord = \"{url}/discord\"\n"
    );
    set_up(&stage, &settings);
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    let key = ["ghp_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
    donna.json(&["wrap", "--summary", &format!("<!channel> @everyone the key is {key}"), "--next", "go on"]);
    let posts: Vec<(String, String)> =
        (0..3).map(|_| received.recv_timeout(TIMEOUT).expect("a post")).collect();
    let post = |path: &str| {
        let found = posts.iter().find(|(head, _)| head.starts_with(&format!("POST /{path} ")));
        found.cloned().unwrap_or_else(|| panic!("no {path}: {posts:#?}"))
    };
    for (_, body) in &posts {
        assert!(!body.contains(&key) && body.contains("the key is"), "{body}");
    }
    let (head, _) = post("topic");
    let head = head.to_ascii_lowercase();
    assert!(
        head.contains("title: a baton waits in shop") && head.contains("authorization: bearer tk_word"),
        "{head}"
    );
    let slack: Value = serde_json::from_str(&post("slack").1).expect("JSON");
    assert!(text(&slack, "text").contains("&lt;!channel&gt;"), "{slack:#}");
    let discord: Value = serde_json::from_str(&post("discord").1).expect("JSON");
    assert_eq!(discord["allowed_mentions"], json!({ "parse": [] }));
    // Addresses and the token are hidden where settings are shown.
    let shown = stage.terminal("Lola").text(&["config", "show"]) + &stage.terminal("Lola").text(&["notify"]);
    assert!(
        !shown.contains("tk_word") && !shown.contains("/slack") && shown.contains("ntfy, slack, discord"),
        "{shown}"
    );
}

#[test]
fn what_cannot_be_told_is_told_the_next_time() {
    let stage = Stage::ready();
    set_up(&stage, "command = \"false\"");
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    donna.json(&["wrap", "--summary", "half of the cart", "--next", "the taxes"]);
    let lola = stage.terminal("Lola");
    let until_failed = |has_failed: bool| {
        let begin = Instant::now();
        while lola.json(&["notify"])["last_error"].is_string() != has_failed {
            assert!(begin.elapsed() < TIMEOUT, "it never failed: {has_failed}");
            thread::sleep(Duration::from_millis(50));
        }
    };
    until_failed(true);
    assert!(text(&lola.json(&["notify"]), "last_error").starts_with("command: sh ended with"));
    assert_eq!(lola.run(&["notify", "test"]).code, 1);
    set_up(&stage, &by_command(&stage));
    donna.json(&["note", "more"]);
    assert!(text(&notifications(&stage, 1)[0], "text").contains("half of the cart"));
    until_failed(false);
}

#[test]
fn the_quiet_hours_keep_what_is_new_for_later() {
    let stage = Stage::ready();
    set_up(&stage, &format!("{}\n{}", by_command(&stage), quiet_now()));
    let donna = stage.terminal("Donna").with("TZ", "UTC");
    donna.json(&["start"]);
    donna.json(&["wrap", "--summary", "half of the cart", "--next", "the taxes"]);
    let lola = stage.terminal("Lola").with("TZ", "UTC");
    let sent = lola.json(&["notify", "send"]);
    assert_eq!((&sent["is_quiet"], &sent["sent"]), (&json!(true), &json!(0)));
    set_up(&stage, &by_command(&stage));
    lola.json(&["notify", "send"]);
    assert!(text(&notifications(&stage, 1)[0], "text").contains("half of the cart"));
}

#[test]
fn a_repository_has_nobody_told_whether_it_is_trusted_or_not() {
    let stage = Stage::ready();
    let mark = stage.root().join("ran");
    let file = stage.shop().join(".baton.toml");
    std::fs::write(&file, format!("[notify]\ncommand = \"touch {}\"\n", mark.display())).expect("written");
    let donna = stage.terminal("Donna");
    donna.text(&["trust", "--yes"]);
    donna.json(&["start"]);
    donna.json(&["wrap", "--summary", "half", "--next", "more"]);
    assert_eq!(donna.json(&["notify"])["ways"], json!([]));
    thread::sleep(Duration::from_secs(1));
    assert!(!mark.exists(), "a repository ran a program");
    assert!(!stage.home().join("data/baton/notify").exists(), "nothing is kept where nobody is to be told");
}

#[test]
fn many_at_once_are_told_as_one() {
    let stage = Stage::ready();
    let donna = stage.terminal("Donna").with("TZ", "UTC");
    set_up(&stage, &format!("{}\n{}", by_command(&stage), quiet_now()));
    for n in 0..7 {
        donna.json(&["start"]);
        donna.json(&["wrap", "--summary", &format!("part {n}"), "--next", "go on"]);
    }
    let waiting = items(&donna.json(&["attention", "--waiting"])).len();
    set_up(&stage, &by_command(&stage));
    stage.terminal("Lola").json(&["notify", "send"]);
    let all = notifications(&stage, 1);
    assert_eq!(text(&all[0], "title"), format!("{waiting} things wait for you"));
}

#[test]
fn an_agent_that_its_provider_stopped_is_told_with_the_providers_words() {
    let stage = Stage::ready();
    set_up(&stage, &format!("{}\ntopics = \"limit\"", by_command(&stage)));
    let shop = stage.shop().display().to_string();
    let id = "66666666-aaaa-4000-8000-00000000abcd";
    let line = |uuid: &str, parent: Value, role: &str, words: &str, is_error: bool| {
        let line = json!({ "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": id, "cwd": shop,
            "timestamp": "2026-11-26T10:00:00.000Z", "isApiErrorMessage": is_error,
            "message": { "role": role, "model": "m", "content": [{ "type": "text", "text": words }] } });
        format!("{line}\n")
    };
    let limit = "You've hit your limit · resets 3pm (Europe/Berlin)";
    let lines = [
        line("u1", Value::Null, "user", "Count the cart", false),
        line("a1", json!("u1"), "assistant", "The cart adds up.", false),
        line("a2", json!("a1"), "assistant", limit, true),
    ];
    let transcript = stage.file(&format!("home/.claude/projects/-shop/{id}.jsonl"), lines.concat());
    let given = json!({ "session_id": id, "transcript_path": transcript, "cwd": shop, "hook_event_name": "StopFailure" });
    let agent = stage.terminal("Worker");
    agent.feed(given.to_string().as_bytes(), &["hook", "failure", "--agent", "claude"]).done();
    let stopped = notifications(&stage, 1);
    assert_eq!(text(&stopped[0], "title"), "Claude Code stopped in shop");
    assert!(text(&stopped[0], "text").contains("hit your limit"), "{stopped:#?}");
}

#[test]
fn what_an_agent_leaves_over_mcp_is_told_while_its_server_goes_on() {
    let stage = Stage::ready();
    set_up(&stage, &by_command(&stage));
    let terminal = stage.terminal("Donna");
    let mut donna = Client::pipe(&terminal, MODERN);
    donna.done("session_start", json!({}));
    donna.done("session_wrap", json!({ "summary": "half of the cart", "next": ["the taxes"] }));
    assert!(text(&notifications(&stage, 1)[0], "text").contains("half of the cart"));
    donna.done("session_start", json!({}));
}

#[test]
fn what_was_sent_is_not_sent_again_where_another_one_failed() {
    let stage = Stage::ready();
    let donna = stage.terminal("Donna").with("TZ", "UTC");
    let lola = stage.terminal("Lola").with("TZ", "UTC");
    set_up(&stage, &format!("{}\n{}", by_command(&stage), quiet_now()));
    for summary in ["good work", "bad work"] {
        donna.json(&["start"]);
        donna.json(&["wrap", "--summary", summary, "--next", "go on"]);
    }
    let file = stage.root().join("told.jsonl");
    let picky = format!(
        "command = 'read line; case \"$line\" in *bad*) exit 1;; esac; echo \"$line\" >> {}'",
        file.display()
    );
    set_up(&stage, &picky);
    // A sender that a write above has started may do it first.
    lola.json(&["notify", "send"]);
    assert!(text(&notifications(&stage, 1)[0], "text").contains("good"));
    assert!(text(&lola.json(&["notify"]), "last_error").starts_with("command: sh ended with"));
    set_up(&stage, &by_command(&stage));
    lola.json(&["notify", "send"]);
    let all = notifications(&stage, 2);
    assert!(all.len() == 2 && text(&all[1], "text").contains("bad"), "{all:#?}");
}

#[test]
fn what_is_written_to_a_server_is_told_on_the_machine_that_writes() {
    let stage = Stage::remote(&[]).registered();
    set_up(&stage, &by_command(&stage));
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    donna.json(&["wrap", "--summary", "half of the cart", "--next", "the taxes"]);
    assert!(text(&notifications(&stage, 1)[0], "text").contains("half of the cart"));
}

#[test]
fn a_sender_hears_what_time_and_trackers_did_and_not_what_was_sent_by_it() {
    let stage = Stage::ready();
    stage.repo("lib");
    stage.terminal("Setup").within(stage.root().join("lib")).json(&["init", "--id", "lib"]);
    set_up(&stage, &format!("{}\ntopics = \"handoff\"", by_command(&stage)));
    let lola = stage.terminal("Lola");
    let create = ["handoff", "create", "--to", "lib", "--local", "--description", "d", "--expires-in", "1s"];
    let sent = text(&lola.json(&[&create[..], &["--subject", "own"]].concat()), "handoff_id");
    thread::sleep(Duration::from_millis(1_300));
    lola.json(&["handoff", "show", &sent]);
    lola.json(&["start"]);
    let heard = notifications(&stage, 1);
    let (title, words) = (text(&heard[0], "title"), text(&heard[0], "text"));
    assert_eq!(title, "Your hand-off to lib has expired", "{heard:#?}");
    assert!(words.starts_with("“own”: nobody took it in time. `baton handoff show"), "{heard:#?}");
    assert_eq!(heard.len(), 1, "who sent it is not told that it waits: {heard:#?}");
}

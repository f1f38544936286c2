//! `baton top` in a terminal of its own: what is drawn, what keys do, on a store and on a server.

use baton_emulator::{Emulator, Fault, Options};
use serde_json::json;

use crate::cross::with_github;
use crate::http::Server;
use crate::picker::{Seat, script};
use crate::stage::{BATON, Stage, Terminal, text};

/// What waits, who works, what is to be done, what was written.
pub(crate) fn busy(stage: &Stage) -> String {
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    let left = lola.json(&["wrap", "--summary", "Prices are rounded", "--next", "Round the tax"]);
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    donna.json(&["checkpoint", "--summary", "Reads the law"]);
    stage.terminal("Ann").json(&["task", "create", "Paint the shed"]);
    for name in ["Ann", "Lola"] {
        stage.terminal(name).json(&["agent", "register"]);
    }
    let mail =
        ["mail", "send", "--to", "Ann", "--type", "question", "--subject", "Which law?", "--body", "-"];
    donna.feed(b"Of which land?", &mail).done();
    text(&left, "delta_id")
}

pub(crate) fn seat(terminal: &Terminal<'_>, line: &str) -> Seat {
    Seat::open(terminal.program("script"), &line.replace("baton", BATON))
}

#[test]
fn what_waits_is_seen_opened_picked_up_and_given_back() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    let baton = busy(&stage);
    let ann = stage.terminal("Ann");
    let mut top = seat(&ann, "baton top --every 1");
    top.see("[1 Inbox]");
    // The question to Ann comes first, then the baton.
    top.see("2 in all, 1 for you (*): 1 waiting baton, 1 new message");
    top.see("> * new message");
    top.see("Prices are rounded");
    top.press("j");
    top.see("> waiting baton");
    top.press("\r");
    top.see("# Session Handoff Context");
    top.press("G");
    top.see("Round the tax");
    top.press("q");
    top.see("> waiting baton");
    top.press("p");
    top.see("Pick up · your name: Ann");
    top.press("\r");
    top.see("Ann holds the baton");
    assert_eq!(ann.json(&["batons", "show", &baton])["state"], "held");
    top.press("u");
    top.see("the baton waits again");
    assert_ne!(ann.json(&["batons", "show", &baton])["state"], "held");
    // What comes while one looks is shown by itself.
    stage.terminal("Zoe").json(&["start"]);
    stage.terminal("Zoe").json(&["wrap", "--summary", "The roof is on"]);
    top.see("The roof is on");
    top.press("q");
    assert_eq!(top.end(), 0);
}

#[test]
fn every_view_is_one_key_away_and_a_message_is_answered() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    busy(&stage);
    let ann = stage.terminal("Ann");
    let mut top = seat(&ann, "baton top --project shop");
    top.see("[1 Inbox]");
    for (key, words) in [
        ("2", "Reads the law"),
        ("3", "1 can be picked up"),
        ("4", "0 hand-offs"),
        ("5", "Paint the shed"),
        ("7", "1 project"),
        ("8", "2 threads of shop"),
        ("9", "0 decisions, the newest first · 0 shows those of all projects"),
        ("6", "Which law?"),
    ] {
        top.press(key);
        top.see(words);
    }
    top.press("\r");
    top.see("Of which land?");
    top.press("a");
    top.see("Answer · your name: Ann");
    top.press("\rOf this one\r");
    top.see("sent");
    let inbox = stage.terminal("Donna").json(&["mail", "inbox", "--bodies"]);
    assert!(inbox.to_string().contains("Of this one"), "{inbox:#}");
    top.press("?");
    top.see("reassign a session");
    top.press("x2r");
    top.see("Reassign · your name: Ann");
    top.press("\rBob\r");
    // It ends the session of an agent that is at work, and the new name is unknown here: both are said first.
    top.see("Donna is at work: its session ends at once");
    top.press("\r");
    top.see("nobody called Bob has registered or worked in project shop");
    assert_eq!(stage.terminal("Donna").json(&["status"])["sessions"].to_string().matches("Donna").count(), 1);
    top.press("\r");
    top.see("the baton waits for Bob");
    top.press("\u{3}");
    assert_eq!(top.end(), 0);
}

#[test]
fn a_thread_is_one_row_however_many_sessions_it_went_through_and_its_story_is_opened() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    busy(&stage);
    let (ann, zoe) = (stage.terminal("Ann"), stage.terminal("Zoe"));
    zoe.json(&["pickup"]);
    zoe.json(&["decide", "Round half up", "--why", "the law"]);
    zoe.json(&["wrap", "--summary", "The tax is rounded"]);
    // All nine views are named at 80 columns.
    let mut top = seat(&ann, "stty rows 24 cols 80; baton top --every 1 --color never");
    top.see("[1 Inbox]");
    top.see("2Agents 3Batons 4Hand-offs 5Tasks 6Mail 7Projects 8Threads 9Decisions");
    top.press("8");
    top.see("2 threads of shop");
    top.press("/rounded\r");
    top.see("> 2");
    top.see("Lola, Zoe");
    top.see("baton sessions thread ");
    top.press("\r");
    top.see("thread · line 1");
    top.see("The tax is rounded");
    top.see("Lola (");
    top.see("Prices are rounded");
    top.see("Zoe (");
    top.see("Round half up");
    top.press("q");
    top.see("Lola, Zoe");
    top.press("\u{3}");
    assert_eq!(top.end(), 0);
}

#[test]
fn a_task_is_claimed_and_a_hand_off_is_tried_again_by_one_key() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    crate::cross::beside(&stage);
    let hub =
        Emulator::start(Options { token: Some("t0k".into()), ..Options::default() }).expect("an emulator");
    hub.script(Some(Box::new(|_| Fault::Refuse(410, None))));
    let ann = with_github(&stage.terminal("Ann"), &hub);
    ann.json(&["start"]);
    let task = text(&ann.json(&["task", "create", "Paint the shed"]), "id");
    let made = ann
        .run(&["handoff", "create", "--to", "lib", "--subject", "Round", "--repo", "o/lib", "--json"])
        .json();
    let id = text(&made, "handoff_id");
    assert_eq!(made["state"], "failed", "{made:#}");
    let mut top = seat(&ann, "baton top --project shop --every 1 --color never");
    top.see("[1 Inbox]");
    top.press("5");
    top.see("Paint the shed");
    top.press("c");
    top.see("Claim · your name: Ann");
    top.press("\r");
    top.see("in_progress");
    let claimed = ann.json(&["task", "show", &task]);
    assert_eq!((text(&claimed, "status"), text(&claimed, "assignee")), ("in_progress".into(), "Ann".into()));
    top.press("4");
    top.see("t try now");
    // A try that fails again says what stands in the way; one that gets through is done.
    top.press("t");
    top.see("Try now · your name: Ann");
    top.press("\r");
    top.see("still not through");
    hub.script(None);
    top.press("t\r");
    top.see("the hand-off is offered");
    assert_eq!(ann.json(&["handoff", "show", &id])["state"], "offered");
    top.press("\u{3}");
    assert_eq!(top.end(), 0);
}

#[test]
fn a_message_is_begun_and_a_task_is_taken_back_and_given_to_another() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    let (ned, ida, ann) = (stage.terminal("Ned"), stage.terminal("Ida"), stage.terminal("Ann"));
    for terminal in [&ned, &ida] {
        terminal.json(&["start"]);
    }
    let task = text(&ann.json(&["task", "create", "Flaky test"]), "id");
    ned.json(&["task", "claim", &task]);
    let mut top = seat(&ann, "baton top --project shop --every 1");
    top.see("[1 Inbox]");
    top.press("5");
    top.see("b take back");
    // A name that nobody has is refused before anything is written, and what was typed stays.
    top.press("bNemo\rit hangs\r");
    top.see("nobody called Nemo has registered");
    assert_eq!(text(&ann.json(&["task", "show", &task]), "status"), "in_progress");
    top.press("\u{1b}[A\u{7f}\u{7f}\u{7f}\u{7f}Ida\r\r");
    top.see("the task is for Ida");
    let shown = ann.json(&["task", "show", &task]);
    assert_eq!((text(&shown, "status"), text(&shown, "assignee")), ("open".into(), "Ida".into()));
    top.see("r give to another");
    top.press("r\r");
    top.see("the task is free, for anybody or the router");
    top.press("2");
    top.see("m write");
    top.press("mlunch\rat noon?\r");
    top.see("sent to ");
    let inboxes = [&ned, &ida].map(|one| one.json(&["mail", "inbox", "--bodies"]).to_string());
    assert!(inboxes[0].contains("it hangs"), "its agent is told why: {}", inboxes[0]);
    assert_eq!(inboxes.iter().filter(|inbox| inbox.contains("at noon?")).count(), 1, "{inboxes:?}");
    top.press("q");
    assert_eq!(top.end(), 0);
}

#[test]
fn what_came_back_goes_to_whom_there_is_or_nowhere() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    crate::cross::beside(&stage);
    let (lola, olga) = (stage.terminal("Lola"), stage.terminal("Olga"));
    let made = lola.json(&["handoff", "create", "--to", "lib", "--subject", "Round half up"]);
    let id = text(&made, "handoff_id");
    olga.json(&["handoff", "decline", &id, "--why", "send it to shop"]);
    let mut top = seat(&lola, "baton top --every 1");
    top.see("n leave anew");
    // The name of a project is no person.
    top.press("nshop\r\r");
    top.see("nothing was sent: nobody called shop has registered");
    top.press("\u{1b}");
    top.see("nothing was done");
    top.press("n\rlibb\r");
    top.see("there is no project `libb`");
    top.press("\u{1b}");
    top.see("nothing was done");
    top.press("n\rwarehouse\r");
    top.see("nothing was sent: there is no project of this name");
    let sent = || lola.json(&["handoff", "list"])["items"].as_array().map_or(0, Vec::len);
    assert_eq!(sent(), 1, "nothing was written");
    top.press("\u{1b}");
    top.see("nothing was done");
    top.press("n\r\r");
    top.see("the hand-off is offered");
    assert_eq!(sent(), 2);
    top.press("q");
    assert_eq!(top.end(), 0);
}

#[test]
fn it_works_on_a_server_without_colours_and_on_a_screen_that_is_resized() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    busy(&stage);
    let server = Server::start(&stage.terminal("Server"));
    for n in 0..30 {
        let who = format!("agent-{n}");
        server.ok("session_start", &json!({ "project": "shop", "identity": who }));
        server.ok(
            "session_wrap",
            &json!({ "project": "shop", "identity": who, "summary": format!("Part {n}") }),
        );
    }
    let far = stage
        .terminal("Ann")
        .with("BATON_SERVER", format!("http://{}", server.address))
        .with("NO_COLOR", "1");
    // The screen gets smaller once the first rows were seen, however long they took.
    let line = "stty rows 24 cols 80; T=$(tty); (while [ ! -e $HOME/seen ]; do sleep 0.05; done; stty -F $T rows 12 cols 60) & \
                baton top --color never";
    let mut top = seat(&far, line);
    top.see("[1 Inbox]");
    top.see("32 in all");
    top.see("> * new message");
    top.press("jjj");
    top.see("> waiting baton");
    std::fs::write(stage.home().join("seen"), "").expect("written");
    // On a smaller screen the view and the row that is meant are still seen.
    top.see("[Inbox]  1-9");
    top.see("> waiting");
    top.press("G");
    top.see("Part 29");
    top.press("/Part 17");
    top.see("/Part 17");
    top.see("baton pickup --handoff");
    top.press("\u{3}");
    assert_eq!(top.end(), 0);
}

#[test]
fn a_write_token_is_offered_no_operators_act() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    busy(&stage);
    let server = Server::start(&stage.terminal("Server"));
    let secret =
        |scope: &str| text(&stage.terminal("Setup").json(&["token", "create", "--scope", scope]), "token");
    for (scope, hint) in [("operator", "r reassign · m write"), ("write", "m write · j k Enter")] {
        let far = stage
            .terminal("Ann")
            .with("BATON_SERVER", format!("http://{}", server.address))
            .with("BATON_TOKEN", secret(scope));
        let mut top = seat(&far, "stty rows 24 cols 120; baton top --color never");
        top.see("[1 Inbox]");
        top.press("2");
        top.see("> Donna");
        top.see(hint);
        top.press("\u{3}");
        assert_eq!(top.end(), 0);
    }
}

#[test]
fn what_is_yours_is_marked_answered_acknowledged_and_read_at_80_columns() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    let (ann, omar, cem) = (stage.terminal("Ann"), stage.terminal("Omar"), stage.terminal("Cem"));
    for one in [&ann, &omar, &cem] {
        one.json(&["start"]);
    }
    omar.json(&["signal", "send", "--to", "Ann", "--type", "Blocker", "I cannot go on"]);
    omar.json(&[
        "mail",
        "send",
        "--to",
        "Ann",
        "--subject",
        "May I delete it?",
        "--text",
        "?",
        "--ack-by",
        "1s",
    ]);
    ann.json(&["lease", "take", "src/checkout/**", "--why", "guests"]);
    cem.json(&["lease", "take", "src/checkout/cart.py", "--why", "coupons", "--advisory"]);
    std::thread::sleep(std::time::Duration::from_millis(1200));
    let mut top = seat(&ann, "stty rows 24 cols 80; baton top --every 1 --color never");
    // That two others are at work in the working copy of Ann is one matter.
    top.see("4 in all, 4 for you (*)");
    top.see("* new message");
    top.see("Blocker: I cannot go on");
    top.see("* late acknowledgement");
    // The name that an operation refuses is not the one that is asked with the next time.
    top.press("/late\ry");
    top.see("Acknowledge · your name: Ann");
    top.press("\u{7f}\u{7f}\u{7f}not a name\r");
    top.see("is not an identity");
    top.press("y");
    top.see("Acknowledge · your name: Ann");
    top.press("\r");
    top.see("Omar is told");
    top.press("/\u{7f}\u{7f}\u{7f}\u{7f}conflict\r");
    top.see("> * lease conflict");
    top.press("\r");
    top.see("guests");
    top.see("coupons");
    top.press("q");
    top.see("/conflict");
    top.press(&format!("/{}cannot\ra", "\u{7f}".repeat(8)));
    top.see("Answer · your name: Ann");
    top.press("Take mine\r");
    top.see("sent");
    let left = ann.json(&["attention", "--waiting"]);
    let reasons: Vec<&str> =
        left["items"].as_array().into_iter().flatten().filter_map(|one| one["reason"].as_str()).collect();
    assert_eq!(reasons, ["working_copy_shared", "lease_conflict"], "{left:#}");
    top.press("\u{3}");
    assert_eq!(top.end(), 0);
}

#[test]
fn an_agent_has_its_last_hours_as_blocks_and_what_came_back_is_a_matter_until_it_is_opened() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    crate::cross::beside(&stage);
    let (ann, ben) = (stage.terminal("Ann"), stage.terminal("Ben"));
    ann.json(&["start"]);
    ann.json(&["checkpoint", "--summary", "Reads the law"]);
    let decline = |subject: &str| {
        let made = ann.json(&["handoff", "create", "--to", "lib", "--subject", subject]);
        let id = text(&made, "handoff_id");
        ben.json(&["handoff", "decline", &id, "--why", "not now"]);
        id
    };
    let (guide, _) = (decline("The guide"), decline("The prices"));
    let subjects = || {
        let mine = ann.json(&["attention"])["mine"].clone();
        mine.as_array().into_iter().flatten().map(|one| text(one, "subject")).collect::<Vec<_>>()
    };
    assert_eq!(subjects(), ["The guide", "The prices"]);
    stage.terminal("Zoe").json(&["handoff", "show", &guide]);
    assert_eq!(subjects(), ["The guide", "The prices"], "Zoe did not send it");
    ann.json(&["handoff", "show", &guide]);
    assert_eq!(subjects(), ["The prices"]);
    let mut top = seat(&ann, "stty rows 24 cols 100; baton top --every 1 --color never");
    top.see("> * returned hand-off");
    top.press("\r");
    top.see("hand-off · line 1");
    top.press("q");
    top.see("nothing needs you");
    top.press("2");
    top.see("silent ones first");
    top.see("▁▁▁▁▁█");
    top.press("\u{3}");
    assert_eq!(top.end(), 0);
    assert_eq!(subjects(), Vec::<String>::new());
}

#[test]
fn a_row_of_another_project_is_acted_on_in_its_project_and_what_one_sent_is_taken_back() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    crate::cross::beside(&stage);
    let mara = stage.terminal("Mara");
    let create = |subject: &str| {
        let made = mara.json(&["handoff", "create", "--to", "lib", "--subject", subject]);
        text(&made, "handoff_id")
    };
    let state = |id: &str| stage.terminal("X").json(&["handoff", "show", id])["state"].clone();
    // From the folder of `shop`, in the inbox and in the list of hand-offs.
    for (view, subject) in [("1", "The guide"), ("4", "The prices")] {
        let id = create(subject);
        let mut top = seat(&stage.terminal("Zed"), "stty rows 24 cols 110; baton top --color never");
        top.see("[1 Inbox]");
        top.press(view);
        top.press(&format!("/{subject}\r"));
        top.see(&format!("baton pickup --handoff {} --project lib", &id[..13]));
        top.press("p\r");
        top.see("Zed holds the baton");
        top.press("\u{3}");
        assert_eq!(top.end(), 0);
        assert_eq!(state(&id), "accepted", "view {view}");
        stage.terminal("Zed").json(&["handoff", "complete", &id]);
    }
    let id = create("Taken back");
    let task = text(&mara.json(&["task", "create", "The roof", "--priority", "0"]), "id");
    mara.json(&["task", "update", &task, "--status", "blocked"]);
    let mut top = seat(&mara, "stty rows 24 cols 110; baton top --color never --every 1");
    top.see("[1 Inbox]");
    top.press("/Taken\r");
    top.see(&format!("baton handoff cancel {}", &id[..13]));
    top.press("p");
    top.see("nothing to pick up here");
    top.press("x\r");
    top.see("the hand-off is cancelled");
    top.press(&format!("/{}roof\r", "\u{7f}".repeat(5)));
    top.see(&format!("baton task update {task} --status open"));
    top.press("o\r");
    top.see("the task is open again");
    top.press("\u{3}");
    assert_eq!(top.end(), 0);
    assert_eq!(state(&id), "cancelled");
    assert_eq!(mara.json(&["task", "show", &task])["status"], "open");
}

#[test]
fn without_a_terminal_it_says_what_to_call_instead() {
    let stage = Stage::ready();
    let refused = stage.terminal("Ann").refused(1, "terminal_missing", &["top"]);
    assert!(refused.to_string().contains("baton attention"), "{refused:#}");
}

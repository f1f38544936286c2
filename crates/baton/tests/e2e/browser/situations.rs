//! The inbox in the three situations for which it is made: work was sent and is waited for, five things wait after a holiday, and twelve
//! agents are answered for. `docs/pictures/make` keeps the pictures.

use serde_json::Value;

use super::browser;
use super::pictures::keep;
use super::tab::{Look, Tab};
use crate::cross::beside;
use crate::http::Server;
use crate::stage::{Stage, ended_process, env, text};
use crate::worktrees::{committed, worktree};

const DESK: Look = Look { width: 1120, dark: false };
const PHONE: Look = Look { width: 390, dark: false };

fn hand_over(stage: &Stage, who: &str, words: &[&str]) -> String {
    let made = stage.terminal(who).json(&[["handoff", "create", "--to", "lib"].as_slice(), words].concat());
    text(&made, "handoff_id")
}

/// Ann sent work to another project, and a question: one hand-off came back, one is at work, nobody has looked at the third.
fn sent() -> Stage {
    let stage = Stage::ready();
    beside(&stage);
    let ben = stage.terminal("Ben").within(stage.root().join("lib"));
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    let declined = hand_over(&stage, "Ann", &["--subject", "Round half up", "--description", "To the cent"]);
    ben.json(&["handoff", "decline", &declined, "--why", "The law of 2027 rounds per line: ask tax first"]);
    let taken =
        hand_over(&stage, "Ann", &["--subject", "Store carts for a day", "--description", "They vanish"]);
    ben.json(&["handoff", "accept", &taken]);
    hand_over(&stage, "Ann", &["--subject", "Prices of bundles", "--description", "As in the old shop"]);
    stage.terminal("Donna").json(&["agent", "register"]);
    let question =
        ["mail", "send", "--to", "Donna", "--type", "question", "--subject", "Which law?", "--body", "-"];
    ann.feed(b"Of which land?", &question).done();
    stage
}

/// Five things came for Ann while she was away.
fn holiday() -> Stage {
    let stage = Stage::ready();
    beside(&stage);
    stage.terminal("Ann").json(&["agent", "register"]);
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    let ask = |subject: &str, body: &str, kind: &str| {
        let words = ["mail", "send", "--to", "Ann", "--type", kind, "--subject", subject, "--body", "-"];
        donna.feed(body.as_bytes(), &words).done();
    };
    ask("Which law holds for bundles?", "The old one ends in January.", "question");
    ask("The tax table is missing", "tax_2027.csv is in no branch that I can see.", "blocker");
    donna.json(&[
        "wrap",
        "--summary",
        "Tax rounds per line; three tests fail",
        "--next",
        "Fix tax_test",
        "--to",
        "Ann",
    ]);
    let max = stage.terminal("Max");
    max.json(&["start"]);
    max.json(&["wrap", "--summary", "Checkout form has labels", "--next", "Keyboard order of the form"]);
    let sent = hand_over(&stage, "Ann", &["--subject", "Round half up", "--description", "To the cent"]);
    let ben = stage.terminal("Ben").within(stage.root().join("lib"));
    ben.json(&["handoff", "decline", &sent, "--why", "Not before the release"]);
    stage
}

/// Twelve agents of several tools at work; the process of one has ended, and it holds a task.
fn twelve() -> Stage {
    let stage = committed();
    let names = ["Ada", "Bob", "Cem", "Dora", "Eva", "Finn", "Gus", "Hugo", "Ida", "Jan", "Kim", "Lea"];
    for (place, name) in names.iter().enumerate() {
        let tool = ["claude", "codex", "gemini", "opencode"][place % 4];
        let copy = worktree(&stage, &format!("shop-{name}"), &format!("part-{}", place + 1));
        let mut agent = stage.terminal(name).within(copy).with("BATON_SURFACE", tool);
        if *name == "Eva" {
            agent.set("BATON_PROCESS", ended_process());
        }
        agent.json(&["start"]);
        let title = format!("Part {} of the checkout", place + 1);
        let task: Value = agent.json(&["task", "create", &title, "--agent-role", "implementation"]);
        agent.json(&["task", "claim", &text(&task, "id")]);
        agent.json(&["checkpoint", "--summary", &format!("{title}: the form is there, its test is not")]);
    }
    stage
}

#[test]
fn what_is_needed_is_seen_first_in_three_situations() {
    let Some(browser) = browser() else { return };
    let folder = env("BATON_WRITE_PICTURES");
    for (name, stage, person, heading, first) in [
        ("sent", sent(), "Ann", "For you (1)", "Round half up"),
        ("holiday", holiday(), "Ann", "For you (4)", "Round half up"),
        ("twelve", twelve(), "Olga", "Needs attention (1)", "Eva"),
    ] {
        let server = Server::start(&stage.terminal("Server"));
        for (kind, look, height) in [("", DESK, 720), ("-phone", PHONE, 800)] {
            let tab = Tab::open(&browser, &server.address, "", look);
            tab.act_as(person);
            tab.go("agents");
            tab.go("");
            tab.reads(heading);
            assert!(tab.text("main .matter").contains(first), "{name}: {}", tab.text("main .matter"));
            let end = tab.eval("document.querySelector('main .matter').getBoundingClientRect().bottom");
            assert!(end.as_f64().is_some_and(|end| end < 800.0), "{name}{kind}: above the fold: {end}");
            let picture = tab.picture(height);
            assert!(picture.len() > 10_000 && picture.len() < 250_000, "{name}{kind}: {}", picture.len());
            keep(folder.as_deref(), &format!("{name}{kind}"), &picture);
        }
    }
}

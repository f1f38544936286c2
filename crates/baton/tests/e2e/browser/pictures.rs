//! The pictures of the guide. `docs/pictures/make` writes them; a usual run only sees that there is something to picture.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use super::browser;
use super::tab::{Look, Tab};
use crate::http::Server;
use crate::stage::{Stage, env, items, text};
use crate::worktrees::{committed, worktree};

/// A morning in a shop: three agents with different tools, one baton, a second one, a hand-off to another project.
fn story(pause: Duration) -> Stage {
    let stage = committed();
    let depot = stage.repo("depot");
    stage.terminal("Setup").within(&depot).json(&["init"]);
    // Olga has a worktree of her own, beside the others.
    let second = worktree(&stage, "shop-receipt", "receipt");
    let run = |name: &str, tool: &str, args: &[&str]| {
        let terminal = stage.terminal(name).with("BATON_SURFACE", tool);
        if name == "Olga" { terminal.within(&second).json(args) } else { terminal.json(args) }
    };
    let wrap = |name: &str, tool: &str, summary: &str, next: &str| {
        run(name, tool, &["wrap", "--summary", summary, "--next", next]);
        std::thread::sleep(pause);
    };
    run("Lola", "claude", &["start"]);
    run(
        "Lola",
        "claude",
        &["decide", "Prices are rounded half up, at the last step", "--why", "the tax office does"],
    );
    wrap("Lola", "claude", "The cart rounds; tax does not yet", "Round the tax per line");
    run("Donna", "codex", &["pickup"]);
    run("Max", "gemini", &["start"]);
    run("Donna", "codex", &["note", "tax_test fails for three lines at 19 %"]);
    std::thread::sleep(pause);
    wrap("Donna", "codex", "Tax rounds per line; three tests fail", "Fix tax_test::mixed_rates");
    run("Lola", "claude", &["pickup"]);
    wrap("Max", "gemini", "Checkout form has labels", "Keyboard order of the form");
    run("Olga", "opencode", &["pickup"]);
    std::thread::sleep(pause);
    wrap("Lola", "claude", "All tax tests pass", "Show the rounding in the receipt");
    run("Donna", "codex", &["start"]);
    for (title, role) in
        [("Show the rounding in the receipt", "implementation"), ("Prices of bundles", "testing")]
    {
        run("Donna", "codex", &["task", "create", title, "--agent-role", role]);
    }
    let words = ["--subject", "Store carts for a day", "--description", "They vanish at a restart"];
    run("Donna", "codex", &[["handoff", "create", "--to", "depot"].as_slice(), &words].concat());
    stage
}

/// Writes the picture, if that was asked for.
pub(super) fn keep(folder: Option<&str>, name: &str, base64: &str) {
    let Some(folder) = folder else { return };
    let file = std::fs::File::create(Path::new(folder).join(format!("{name}.png"))).expect("picture");
    let mut decode =
        Command::new("base64").arg("-d").stdin(Stdio::piped()).stdout(file).spawn().expect("base64");
    decode.stdin.take().expect("pipe").write_all(base64.as_bytes()).expect("decoded");
    assert!(decode.wait().expect("base64 ends").success());
}

#[test]
fn the_pictures_of_the_guide() {
    let Some(browser) = browser() else { return };
    let folder = env("BATON_WRITE_PICTURES");
    let stage = story(Duration::from_millis(if folder.is_some() { 1500 } else { 0 }));
    let server = Server::start(&stage.terminal("Server"));
    let batons = server.ok("baton_list", &json!({ "project": "shop" }));
    let newest = items(&batons).into_iter().find(|one| one["from"] == "Lola").expect("Lola's last baton");
    let thread = format!("thread/shop/{}", text(&newest, "baton_id"));
    for (name, place, dark, height) in [
        ("home", "", false, 560),
        ("project", "project/shop", false, 780),
        ("project-dark", "project/shop", true, 780),
        ("thread", &thread, false, 560),
    ] {
        let tab = Tab::open(&browser, &server.address, place, Look { width: 1120, dark });
        tab.until("document.querySelector('#live').textContent === 'live'");
        if place.is_empty() {
            tab.reads("Waiting for somebody (2)");
        } else if name == "thread" {
            tab.until("document.querySelectorAll('main .stint').length === 3");
        } else {
            // Two passes are drawn, from Lola to Donna to Lola, and one from Max to Olga.
            tab.until("document.querySelectorAll('svg .pass').length === 3");
            tab.until("document.querySelectorAll('svg .hand.free').length >= 1");
        }
        let picture = tab.picture(height);
        assert!(picture.len() > 10_000 && picture.len() < 200_000, "{name}: {}", picture.len());
        keep(folder.as_deref(), name, &picture);
    }
}

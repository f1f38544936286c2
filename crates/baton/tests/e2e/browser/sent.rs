//! The page's column of what the sender hears: the card of a sent hand-off in each of its states.

use std::fmt::Write as _;
use std::thread::sleep;
use std::time::Duration;

use baton_emulator::{Fault, Options};
use insta::assert_snapshot;
use serde_json::json;

use super::browser;
use super::tab::{Tab, WIDE};
use crate::cross::{beside, github, with_github};
use crate::http::Server;
use crate::sender::Ends;
use crate::stage::Stage;
use crate::words::steady;

/// The cards, state by state, as they are read.
struct Column<'a> {
    tab: Tab<'a>,
    table: String,
}

impl Column<'_> {
    /// Waits until the card of a hand-off among those that were sent reads all of this, and notes its text with the command behind
    /// `In a terminal`.
    fn read(&mut self, state: &str, id: &str, words: &[&str]) {
        let cards = json!(format!("main li.card:has(h3 a[href=\"#/handoff/{id}\"])"));
        // What waits stands above it.
        let card = format!("[...document.querySelectorAll({cards})].at(-1)");
        self.tab.until(&format!("{}.every((word) => {card}.innerText.includes(word))", json!(words)));
        self.tab
            .eval(&format!("{card}.querySelectorAll('details').forEach((one) => {{ one.open = true; }})"));
        let text = self.tab.eval(&format!("{card}.innerText"));
        let text = text.as_str().expect("a text");
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let _ = writeln!(self.table, "── {state} ──\n{}\n", lines.join("\n"));
    }
}

#[test]
fn the_card_of_a_sent_hand_off_says_what_became_of_it() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let hub = github(Options::default());
    beside(&stage);
    let (ann, bob) = (stage.terminal("Ann"), stage.terminal("Bob").within(stage.root().join("lib")));
    let ends = Ends { stage: &stage, hub: &hub, ann: with_github(&ann, &hub), bob: with_github(&bob, &hub) };
    let server = Server::start_with(&with_github(&stage.terminal("Server"), &hub), &[]);
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    tab.without_clock();
    let mut column = Column { tab, table: String::new() };

    let offered = ends.create("Add rounding", &["--local", "--description", "Half up"]);
    column.read("offered", &offered, &["offered", "Accept…"]);
    ends.bob.json(&["handoff", "accept", &offered]);
    column.read("accepted", &offered, &["accepted", "Complete…"]);
    ends.bob.json(&["handoff", "complete", &offered, "--result", "merged as abc123"]);
    column.read("completed", &offered, &["completed", "merged as abc123"]);

    let declined = ends.create("Drop taxes", &["--local"]);
    ends.bob.json(&["handoff", "decline", &declined, "--result", "taxes stay"]);
    column.read("declined", &declined, &["declined", "taxes stay", "Leave anew…"]);

    let expired = ends.create("Be quick", &["--local", "--expires-in", "1s"]);
    sleep(Duration::from_millis(1_200));
    column.read("expired", &expired, &["expired", "Leave anew…"]);

    hub.script(Some(Box::new(|_| Fault::Refuse(404, None))));
    let failed = ends.create("Fix totals", &["--repo", "o/nowhere"]);
    column.read("failed", &failed, &["failed", "Try now…"]);
    hub.script(None);
    ends.ann.json(&["handoff", "retry", &failed, "--repo", "o/lib"]);
    column.read("retried in another repository", &failed, &["offered", "Accept…"]);

    hub.hub().rename("o/lib", "o/library");
    let at = ends.number(&failed);
    hub.hub().issues_mut("o/library")[at].updated_at_now();
    ends.wait(&failed, |shown| shown["task"]["metadata"]["github_repo"] == "o/library");
    column.read("renamed", &failed, &["offered", "Accept…"]);
    hub.hub().close("o/library", at, "done in 4.2, see the changelog");
    column.read("closed on GitHub", &failed, &["completed", "done in 4.2"]);

    column.tab.assert_clean();
    assert_snapshot!(steady(&column.table.replace(&hub.url(), "https://github.example"), &stage));
    stage.assert_sound();
}

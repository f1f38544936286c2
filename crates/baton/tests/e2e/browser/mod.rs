//! The web page in a real browser: what is seen, and every action, by mouse and by keyboard.
//!
//! `BATON_TEST_CHROMIUM` names the program where it is not on the path; `BATON_TEST_AXE` the folder with `axe.min.js`.

mod accounts;
mod actions;
mod agents;
mod axe;
mod buttons;
mod chromium;
mod decisions;
mod deeds;
mod dialogs;
mod feeds;
mod figures;
mod follow_up;
mod glance;
mod heartbeats;
mod helps;
mod hidden;
mod hostile;
mod lists;
mod live;
mod lost;
mod meanwhile;
mod names;
mod overview;
mod pages;
mod phone;
mod pictures;
mod places;
mod rendering;
mod rows;
mod safe;
mod scopes;
mod sent;
mod shared;
mod situations;
mod states;
mod tab;
mod tabs;

use crate::stage::skipped;
use chromium::Chromium;

/// A browser, or a loud line.
fn browser() -> Option<Chromium> {
    let found = Chromium::start();
    if found.is_none() {
        skipped("no Chromium here: the web page was not tried (apt-get install chromium)");
    }
    found
}

/// The names of all views, as addresses begin with them; empty for the inbox.
fn view_names() -> Vec<&'static str> {
    let script = include_str!("../../../src/http/page/main.js");
    let list =
        script.split_once("const VIEWS = {").and_then(|(_, rest)| rest.split_once('}')).expect("the views").0;
    let name = |one: &'static str| one.split(':').next().unwrap_or_default().trim().trim_matches('\'');
    let names: Vec<&str> = list.split(',').map(name).collect();
    assert!(names.len() > 20 && names.contains(&"tree") && names.contains(&""), "{names:?}");
    names
}

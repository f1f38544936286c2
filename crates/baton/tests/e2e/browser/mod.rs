//! The web page in a real browser: what is seen, and every action, by mouse and by keyboard.
//!
//! `BATON_TEST_CHROMIUM` names the program where it is not on the path; `BATON_TEST_AXE` the folder with `axe.min.js`.

mod actions;
mod agents;
mod axe;
mod chromium;
mod deeds;
mod feeds;
mod figures;
mod follow_up;
mod glance;
mod heartbeats;
mod helps;
mod hidden;
mod live;
mod lost;
mod meanwhile;
mod names;
mod overview;
mod pictures;
mod places;
mod rows;
mod safe;
mod scopes;
mod shared;
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

//! On a phone: strips of views show that there is more, and everything that is touched is high enough.

use serde_json::json;

use super::axe::views;
use super::browser;
use super::tab::{Look, Tab};
use crate::http::Server;
use crate::stage::Stage;

const PHONE: Look = Look { width: 390, dark: false };

#[test]
fn strips_show_that_there_is_more_and_begin_at_the_view_that_is_shown() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", PHONE);
    let strip = |selector: &str| {
        tab.eval(&format!(
            "(() => {{ const strip = document.querySelector('{selector}'); const current = strip.querySelector('[aria-current]').getBoundingClientRect(); \
             const box = strip.getBoundingClientRect(); return [current.left >= box.left - 1 && current.right <= box.right + 1, \
             getComputedStyle(strip).maskImage !== 'none', strip.classList.contains('more-left'), strip.classList.contains('more-right'), \
             strip.offsetHeight - strip.clientHeight]; }})()"
        ))
    };
    // Seen, faded, more on the left, more on the right, and no scroll bar over it.
    assert_eq!(strip("nav"), json!([true, true, false, true, 0]));
    tab.go("fleet");
    assert_eq!(strip("nav"), json!([true, true, true, false, 0]));
    tab.go("project/shop");
    assert_eq!(strip(".views"), json!([true, true, false, true, 0]));
    tab.go("sessions/shop");
    assert_eq!(strip(".views"), json!([true, true, true, false, 0]));
    tab.go("mailbox/shop");
    assert_eq!(strip(".views"), json!([true, true, true, true, 0]));
    // Where all have room nothing is faded.
    tab.look(Look { width: 1280, dark: false });
    tab.until("getComputedStyle(document.querySelector('.views')).maskImage === 'none'");
    tab.until("getComputedStyle(document.querySelector('nav')).maskImage === 'none'");
}

#[test]
fn whatever_is_touched_is_at_least_24_pixels_high() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let places = views(&stage, &server);
    let tab = Tab::open(&browser, &server.address, "", PHONE);
    let mut found = Vec::new();
    for place in &places {
        tab.go(place);
        let low = tab.eval(
            "[...document.querySelectorAll('a, button, summary, input, select, textarea')].filter((one) => !one.closest('svg') && \
             !one.matches('.skip') && one.getClientRects().length).map((one) => [one.getBoundingClientRect().height, one.outerHTML.slice(0, 160)])\
             .filter(([height]) => height < 23.9)",
        );
        for one in low.as_array().into_iter().flatten() {
            found.push(format!("{place}: {one}"));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

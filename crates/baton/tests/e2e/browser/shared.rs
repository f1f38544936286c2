//! What is shared is read in a real browser by somebody without a token, and nothing else is; a thread is read as one story.

use serde_json::{Value, json};

use super::browser;
use super::tab::{Look, NARROW, Tab, WIDE};
use crate::http::{Server, request};
use crate::stage::{Stage, text};

const BAIT: &str = "</script><script>window.hit=1</script><img src=x onerror=window.hit=2>";
const KEY: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// Work of two tools, with hostile text in every field of its packet; the baton that waits.
fn worked(server: &Server) -> String {
    let own = |name: &str, mut input: Value| {
        input["project"] = "shop".into();
        input["identity"] = name.into();
        input
    };
    server.ok("session_start", &own("Lola", json!({ "surface": "<b>claude</b>" })));
    server.ok("session_checkpoint", &own("Lola", json!({ "summary": format!("half {BAIT}") })));
    server.ok(
        "ledger_note",
        &own("Lola", json!({ "kind": "decision", "text": format!("up {BAIT}"), "why": BAIT })),
    );
    let packet = json!({
        "summary": format!("Prices {BAIT}"), "requests": { "first": format!("Round {BAIT}") },
        "files_modified": [{ "path": format!("src/{BAIT}.rs"), "change": "modified" }],
        "checks": [{ "command": format!("TOKEN={KEY} cargo test {BAIT}"), "exit_code": 101 }],
        "decisions": [{ "what": BAIT, "why": BAIT }], "next_steps": [format!("The tax {BAIT}")],
    });
    server.ok("session_wrap", &own("Lola", json!({ "packet": packet.to_string() })));
    server.ok("hd_exec", &own("Donna", json!({ "surface": "codex" })));
    let left =
        server.ok("session_wrap", &own("Donna", json!({ "summary": format!("The tax {BAIT} {KEY}") })));
    text(&left, "delta_id")
}

/// What no text of an agent may have done to the page.
fn assert_tame(tab: &Tab<'_>) {
    assert_eq!(tab.eval("window.hit ?? null"), Value::Null);
    assert_eq!(tab.eval("document.querySelectorAll('main img, main script, main b').length"), 0);
    assert!(!tab.eval("document.documentElement.innerHTML").as_str().unwrap_or_default().contains(KEY));
    tab.assert_fits();
}

#[test]
fn a_shared_thread_is_read_without_a_token_and_leads_to_nothing_else() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let baton = worked(&server);
    let owner = stage.terminal("Owner");
    // From now on every request needs a token.
    owner.json(&["token", "create", "--scope", "operator"]);
    let base = format!("http://{}", server.address);
    let made = owner.json(&["share", &baton, "--thread", "--for", "1d", "--at", &base, "--project", "shop"]);
    let url = text(&made, "url");
    let path = url.strip_prefix(&base).expect("an address of the server").to_owned();
    for look in [WIDE, Look { dark: true, ..WIDE }, NARROW, Look { dark: true, ..NARROW }] {
        let tab = Tab::open(&browser, &server.address, "", look);
        tab.visit(&url);
        for words in [
            "The tax </script>",
            "2 sessions",
            "Lola",
            "Donna",
            "exit 101",
            "The document that it handed over",
        ] {
            tab.reads(words);
        }
        assert_eq!(tab.eval("document.querySelectorAll('main a, main button').length"), 0, "no way on");
        assert_eq!(
            tab.eval("fetch('/api/v1/projects').then(() => 'sent', () => 'refused')"),
            "refused",
            "its own policy lets it ask nobody"
        );
        assert_tame(&tab);
    }
    let get = |path: &str| request(&server.address, "GET", path, b"", &[]).expect("an answer");
    let page = get(&path);
    assert_eq!((page.status, page.header("cache-control").as_deref()), (200, Some("no-store")));
    assert_eq!(page.header("referrer-policy").as_deref(), Some("no-referrer"));
    assert!(!page.body.contains(KEY), "no secret in the page");
    let secret = path.rsplit('/').next().expect("a secret");
    let bearer = format!("Bearer {secret}");
    for other in [
        "/api/v1/projects",
        "/api/v1/projects/shop/status",
        "/api/v1/events",
        "/metrics",
        "/share/",
        "/share/share_00",
    ] {
        let plain = request(&server.address, "GET", other, b"", &[]).expect("an answer").status;
        let with = request(&server.address, "GET", other, b"", &[("authorization", &bearer)])
            .expect("an answer")
            .status;
        assert!([401, 404].contains(&plain) && [401, 404].contains(&with), "{other}: {plain}, {with}");
    }
    owner.json(&["share", "revoke", &text(&made, "share_id")]);
    let gone = get(&path);
    assert_eq!(gone.status, 404);
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.visit(&url);
    tab.reads("Nothing is shared at this address");
}

#[test]
fn a_link_from_elsewhere_opens_a_share_and_no_page_reads_it() {
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let baton = worked(&server);
    let made = server.ok("share_create", &json!({ "project": "shop", "identity": "Ann", "id": baton }));
    let path = format!("/share/{}", text(&made, "secret"));
    let get = |heads: &[(&str, &str)]| {
        request(&server.address, "GET", &path, b"", heads).expect("an answer").status
    };
    assert_eq!(get(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]), 200);
    assert_eq!(get(&[("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")]), 403);
    let guess = || request(&server.address, "GET", "/share/guess", b"", &[]).expect("an answer").status;
    assert!((0..2_000).any(|_| guess() == 429), "nobody guesses for long");
}

#[test]
fn a_file_shows_the_same_without_a_server() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let baton = worked(&server);
    let file = stage.root().join("shared.html").display().to_string();
    let owner = stage.terminal("Owner");
    let written = owner.json(&["share", &baton, "--html", &file, "--project", "shop"]);
    assert_eq!(written["sessions"], 1, "of a baton the session that left it");
    owner.refused(4, "file_exists", &["share", &baton, "--html", &file, "--project", "shop"]);
    owner.json(&["share", &baton, "--thread", "--html", &file, "--overwrite", "--project", "shop"]);
    let tab = Tab::open(&browser, &server.address, "", NARROW);
    drop(server);
    tab.visit(&format!("file://{file}"));
    for words in ["Lola", "Donna", "exit 101"] {
        tab.reads(words);
    }
    assert_tame(&tab);
}

#[test]
fn a_thread_is_read_at_three_zooms_and_shared_from_the_page() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let baton = worked(&server);
    for look in [WIDE, NARROW] {
        let tab = Tab::open(&browser, &server.address, &format!("baton/shop/{baton}"), look);
        tab.click("the whole story");
        tab.until("document.querySelectorAll('main .stint').length === 2");
        tab.reads("half </script>");
        assert_eq!(tab.eval("document.querySelectorAll('main .work details[open]').length"), 0);
        tab.click("Everything");
        tab.reads("exit 101");
        tab.reads("pickup");
        tab.click("Sessions");
        tab.until("!document.querySelector('main .steps')");
        tab.assert_fits();
        assert_eq!(tab.eval("window.hit ?? null"), Value::Null);
        tab.assert_clean();
    }
    let tab = Tab::open(&browser, &server.address, &format!("thread/shop/{baton}"), WIDE);
    tab.click("Share…");
    tab.reads("Whoever has the address reads this");
    tab.until("document.querySelector('dialog[open] .stint')");
    assert!(!tab.text("dialog[open]").contains(KEY), "what will be read has no secret");
    tab.fill("Your name", "Ann");
    tab.click_on("document.querySelector('dialog[open] button[type=submit]')");
    tab.reads("The address, shown once");
    let address = tab.text("dialog[open] code");
    assert!(address.starts_with(&format!("http://{}/share/share_", server.address)), "{address}");
    tab.press("Escape");
    tab.go("shares/shop");
    tab.reads("valid");
    tab.click("Take back");
    tab.reads("taken back");
    let path = address.split_once(&server.address).map(|(_, path)| path.to_owned()).expect("a path");
    assert_eq!(request(&server.address, "GET", &path, b"", &[]).expect("an answer").status, 404);
    tab.assert_clean();
}

#[test]
fn the_ledger_is_narrowed_by_its_address_and_a_baton_is_shown_beside_the_list() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    worked(&server);
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    tab.click("filter it");
    tab.until("document.querySelector('#by-kind') && document.querySelectorAll('main .feed li').length > 5");
    tab.eval("document.querySelector('#by-kind').value = 'decision'");
    tab.fill("Identity", "Lola");
    tab.click("Narrow");
    tab.until("location.hash === '#/ledger/shop/decision/Lola'");
    tab.until("document.querySelectorAll('main .feed li').length === 1");
    tab.reads("up </script>");
    tab.go("ledger/shop//nobody");
    tab.reads("No entry that was looked at fits");
    // A filter that stands in the address finds what comes while it is looked at.
    tab.go("ledger/shop/note");
    tab.until("document.querySelector('#live').textContent === 'live'");
    server.ok("ledger_note", &json!({ "project": "shop", "identity": "Zoe", "text": "The roof is on" }));
    tab.reads("The roof is on");
    tab.go("batons");
    tab.reads("The row that you go to");
    tab.press("j");
    tab.until("document.querySelector('.preview h2')?.textContent.startsWith('The tax')");
    assert_eq!(tab.eval("document.activeElement.textContent"), "Baton from Donna", "the focus stays");
    tab.go("fleet");
    for words in ["Rates", "Every hand-off is on its way.", "No token: on this machine"] {
        tab.reads(words);
    }
    tab.click("Check it");
    tab.reads("No fault was found");
    assert_eq!(tab.eval("window.hit ?? null"), Value::Null);
    tab.assert_fits();
    tab.assert_clean();
}

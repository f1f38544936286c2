//! What `baton doctor` says to a health check, and what it shows to strangers.

use std::fs;

use crate::http::Server;
use crate::stage::Stage;

#[test]
fn a_health_check_asks_the_server_that_runs_and_opens_no_store() {
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let url = format!("http://{}", server.address);
    let elsewhere = stage.root().join("none/baton.db");
    let check = stage.bare().with("BATON_STORE", &elsewhere);
    let answer = check.json(&["doctor", "--ready", &url]);
    assert_eq!((&answer["server"], &answer["ready"]), (&url.as_str().into(), &true.into()), "{answer}");
    // The server of the settings is asked where no other is named.
    let answer = check.with("BATON_SERVER", &url).json(&["doctor", "--ready"]);
    assert_eq!(answer["server"], url, "{answer}");
    assert!(!elsewhere.exists() && !stage.root().join("none").exists(), "no store was made");
    drop(server);
    check.refused(5, "server_unreachable", &["doctor", "--ready", &url]);
    check.refused(1, "config_invalid", &["doctor", "--ready", "example.org"]);
}

#[test]
fn a_health_check_is_not_content_with_any_answer() {
    use std::io::{Read, Write};
    let stage = Stage::new();
    for (status, body, code) in [
        ("200 OK", "ok", "server_unreadable"),
        ("200 OK", r#"{"status":"ok"}"#, "server_unreadable"),
        ("404 Not Found", r#"{"code":"route_unknown","message":"no such path"}"#, "server_unreadable"),
        ("503 Away", r#"{"code":"store_busy","message":"the store is away"}"#, "server_unready"),
    ] {
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer.as_bytes());
        });
        stage.bare().refused(5, code, &["doctor", "--ready", &url]);
        thread.join().expect("answered");
    }
}

/// Who writes an issue shows the report to everybody.
#[test]
fn a_report_for_an_issue_has_what_is_needed_and_nothing_of_the_users() {
    const SECRET: &str = "ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789";
    let stage = Stage::in_a_file("a settings file and an entry name the places of this machine").registered();
    let ann = stage.terminal("Annabel").with("USER", "annabelle");
    ann.json(&["start"]);
    // An entry of a tool whose program is gone: its place is under the user's name, and its arguments hold a secret.
    let program = stage.root().join("annabelle/Secret Client/baton");
    let settings = format!("store = \"{}\"\nstale_after = \"Falcon {SECRET}\"\n", stage.store().display());
    fs::create_dir_all(stage.home().join("config/baton")).expect("a folder");
    fs::write(stage.home().join("config/baton/config.toml"), settings).expect("settings");
    fs::create_dir_all(stage.home().join(".claude")).expect("a folder");
    let entry = serde_json::json!({ "mcpServers": { "baton": { "command": program, "args": ["mcp"] } } });
    fs::write(stage.home().join(".claude.json"), entry.to_string()).expect("an entry");
    // The doctor itself shows these: they are what the report has to leave out.
    let shown = ann.run(&["doctor"]).out;
    assert!(shown.contains("annabelle/Secret Client/baton") && shown.contains(SECRET), "{shown}");
    let answer = ann.run(&["doctor", "--report"]).done();
    let root = stage.root().display().to_string();
    for private in [SECRET, "annabel", "Annabel", "Secret Client", "Client", "Falcon", &root, "shop"] {
        assert!(!answer.out.contains(private) && !answer.err.contains(private), "{private} in {answer:#?}");
    }
    for needed in [
        concat!("baton ", env!("CARGO_PKG_VERSION")),
        "platform: ",
        "store: sqlite, schema ",
        "projects: 1: sound",
        "claude (mcp dangling",
        "PATH is not there: run `baton install claude`",
        "stale_after",
    ] {
        assert!(answer.out.contains(needed), "{needed} is missing in {}", answer.out);
    }
    let report = ann.json(&["doctor", "--report"]);
    assert!(report["store"]["schema"].as_u64() > Some(0), "{report:#}");
    assert!(!report.to_string().contains(SECRET), "{report:#}");
}

#[test]
fn a_store_that_cannot_be_opened_is_reported_too() {
    let stage = Stage::in_a_file("what is wrong with the file").registered();
    let path = stage.file("bad/annabelle.db", [b'x'; 4096]);
    let report = stage.terminal("Lola").with("BATON_STORE", &path).json(&["doctor", "--report"]);
    let findings = report["findings"].to_string();
    assert!(findings.contains("[store_"), "{report:#}");
    assert!(!report.to_string().contains("annabelle"), "{report:#}");
    assert_eq!(report["store"]["schema"], serde_json::Value::Null, "{report:#}");
}

#[test]
fn a_server_calls_a_sound_store_sound_after_others_have_written() {
    let stage = Stage::remote(&[]).registered();
    let lola = stage.terminal("Lola");
    for nth in 0..6 {
        lola.json(&["memory", "add", &format!("fact {nth} about rounding")]);
        let found = lola.run(&["doctor", "--json"]);
        assert_eq!(found.json()["sound"], true, "{nth}: {found:#?}");
    }
}

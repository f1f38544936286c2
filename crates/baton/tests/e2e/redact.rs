//! Secrets: what is taken out, a user's own rules, and where they hold.

use std::fs;

use serde_json::json;

use crate::stage::{Stage, Terminal, items, text};

const TEXT: &str = "ticket ACME-1234\nDB_PASSWORD=s3cret99\nAuthorization: Bearer s3cretA1b2C3d4E5f6\n";

fn config(stage: &Stage, content: &str) -> String {
    let folder = stage.home().join(".config/baton");
    fs::create_dir_all(&folder).expect("folder");
    fs::write(folder.join("config.toml"), content).expect("written");
    folder.display().to_string()
}

/// A terminal whose own settings are read from its home.
fn own(stage: &Stage) -> Terminal<'_> {
    stage.terminal("Lola").with("XDG_CONFIG_HOME", stage.home().join(".config"))
}

#[test]
fn a_text_is_redacted_counted_and_checked() {
    let stage = Stage::new();
    let lola = own(&stage);
    let answer = lola.feed(TEXT.as_bytes(), &["redact"]).done();
    assert_eq!(
        answer.out,
        "ticket ACME-1234\nDB_PASSWORD=[redacted:password]\nAuthorization: Bearer [redacted:bearer-token]\n"
    );
    assert!(answer.err.contains("1 password"), "{}", answer.err);
    let checked = lola.feed(TEXT.as_bytes(), &["redact", "--check", "--json"]);
    assert_eq!(checked.code, 1);
    assert_eq!(checked.json(), json!({"secrets": 2, "counts": {"password": 1, "bearer-token": 1}}));
    assert_eq!(lola.feed(b"nothing here\n", &["redact", "--check"]).code, 0);
    lola.feed(b"\xff", &["redact", "--json"]).refused(1, "input_invalid");
}

#[test]
fn rules_of_a_user_hold_for_documents_listings_and_the_search_index() {
    let stage = Stage::ready();
    let shop = stage.shop().display().to_string();
    let line = json!({"type": "user", "uuid": "u1", "parentUuid": null, "cwd": shop, "timestamp": "2026-11-20T10:00:00Z",
        "sessionId": "f0000000-0000-4000-8000-000000000009",
        "message": {"role": "user", "content": "Fix ACME-1234 with DB_PASSWORD=s3cret99 please"}});
    stage.file("home/.claude/projects/-shop/f0000000-0000-4000-8000-000000000009.jsonl", format!("{line}\n"));
    let lola = own(&stage);
    let found = |words: &str| items(&lola.json(&["transcripts", "search", words])).len();
    let document = || lola.text(&["handoff", "from-transcript", "latest"]);
    let title = || text(&items(&lola.json(&["transcripts", "list"]))[0], "title");
    assert_eq!((found("ACME 1234"), found("s3cret99")), (1, 0));
    assert!(document().contains("ACME-1234") && title().contains("ACME-1234"));
    config(&stage, "[redact]\npatterns = ['ACME-\\d+']\nallow = ['s3cret99']\n");
    // What was indexed and kept before is made anew.
    assert_eq!((found("ACME 1234"), found("s3cret99")), (0, 1));
    assert!(!document().contains("ACME-1234") && document().contains("s3cret99"), "{}", document());
    assert!(!title().contains("ACME-1234") && title().contains("s3cret99"), "{}", title());
    let shown = lola.text(&["config", "show"]);
    assert!(shown.contains("redact.patterns") && shown.contains("ACME"), "{shown}");
    // The variable takes the place of the list.
    let other = lola.with("BATON_REDACT_PATTERNS", "nothing-such");
    assert_eq!(items(&other.json(&["transcripts", "search", "ACME 1234"])).len(), 1);
    config(&stage, "");
    assert_eq!((found("ACME 1234"), found("s3cret99")), (1, 0));
}

#[test]
fn a_rule_that_cannot_be_used_is_refused_by_name() {
    let stage = Stage::new();
    config(&stage, "[redact]\npatterns = ['fine', '(']\n");
    let lola = own(&stage);
    let refused = lola.feed(b"x", &["redact", "--json"]).refused(1, "config_invalid");
    let message = refused.to_string();
    assert!(message.contains("`(` in `patterns`") && message.contains("config.toml"), "{message}");
}

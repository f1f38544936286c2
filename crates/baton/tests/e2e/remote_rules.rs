//! What the settings of a client's own machine say holds through a server, too.

use std::fs;

use serde_json::json;

use crate::stage::{Stage, text};

/// Puts a document into the working copy, and git tracks it.
fn with_document(stage: &Stage, words: &str) {
    stage.file("shop/spec.md", words);
    let git = std::process::Command::new("git").current_dir(stage.shop()).args(["add", "spec.md"]).status();
    assert!(git.expect("git runs").success());
}

#[test]
fn the_senders_own_rules_for_secrets_take_them_out_of_a_document_before_it_leaves_the_machine() {
    let stage = Stage::remote(&[]);
    stage.terminal("Owner").json(&["init"]);
    with_document(&stage, "call ACME-123456 for it\n");
    let ann = stage.terminal("Ann").with("BATON_REDACT_PATTERNS", "ACME-[0-9]{4,}");
    let words = [
        "handoff",
        "create",
        "--to",
        "lib",
        "--create",
        "--subject",
        "s",
        "--link",
        "docs=spec.md",
        "--local",
    ];
    let preview = ann.json(&[&words[..], &["--dry-run"]].concat());
    assert_eq!(preview["would_send_documents"][0]["secrets"], json!(1), "{preview:#}");
    let made = ann.json(&words);
    let id = text(&made, "handoff_id");
    let shown = ann.json(&["handoff", "show", &id]);
    assert_eq!(shown["documents"][0]["secrets"], json!(1), "{shown:#}");
    assert_eq!(shown["documents"][0]["bytes"], preview["would_send_documents"][0]["bytes"], "{shown:#}");
    let ben = stage.terminal("Ben").with("BATON_PROJECT", "lib");
    let picked = ben.json(&["pickup", "--handoff", &id]).to_string();
    assert!(picked.contains("[redacted:") && !picked.contains("ACME-123456"), "{picked}");
}

#[test]
fn the_sharers_own_rules_count_for_a_page_that_is_made_through_a_server() {
    let stage = Stage::remote(&[]);
    stage.terminal("Owner").json(&["init"]);
    let ann = stage.terminal("Ann").with("BATON_REDACT_PATTERNS", "ACME-[0-9]{4,}");
    ann.json(&["start"]);
    let baton = text(&ann.json(&["wrap", "--summary", "call ACME-123456"]), "baton_id");
    let page = stage.root().join("page.html");
    ann.json(&["share", &baton, "--html", &page.display().to_string()]);
    assert!(!fs::read_to_string(page).expect("a page").contains("ACME-123456"));
}

#[test]
fn a_claim_lasts_as_long_as_the_claimers_own_settings_promise_whatever_the_servers_say() {
    let stage = Stage::remote(&[]);
    stage.terminal("Owner").json(&["init"]);
    for (name, own, least, most) in
        [("Ann", Some("3h"), 175, 181), ("Ben", Some("1s"), 9, 11), ("Cleo", None, 9, 11)]
    {
        let mut agent = stage.terminal(name);
        if let Some(own) = own {
            agent.set("BATON_STALE_AFTER", own);
        }
        agent.json(&["start"]);
        let id = text(&agent.json(&["task", "create", name]), "id");
        let claim = agent.json(&["task", "claim", &id]);
        let until = claim["expires_at"].as_str().or_else(|| claim["claim"]["expires_at"].as_str());
        let until = baton_model::time::parse_rfc3339(until.expect("an instant")).expect("an instant");
        let now = std::time::UNIX_EPOCH.elapsed().expect("a clock").as_millis();
        let minutes = (until - i64::try_from(now).expect("a number")) / 60_000;
        assert!((least..=most).contains(&minutes), "{name}: {minutes} minutes, {claim:#}");
    }
}

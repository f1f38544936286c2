//! Keys that stand right behind a letter, a digit or an escape sequence.

use super::{ALNUM, HEX, UPPER, check, random};

/// Keys whose beginning no word has: whatever stands before one, it is one.
fn distinctive(seed: u64) -> Vec<String> {
    let an = |len: usize| format!("{}7a", random(ALNUM, len - 2, seed));
    let hex = |len: usize| format!("{}7a", random(HEX, len - 2, seed));
    vec![
        format!("glpat-{}", an(20)),
        format!("sk_live_{}", an(24)),
        format!("sk-ant-api03-{}", an(80)),
        format!("xoxb-{}-{}", random("0123456789", 12, seed), an(24)),
        format!("hvs.{}", an(24)),
        format!("shpat_{}", hex(32)),
        format!("dop_v1_{}", hex(64)),
        format!("AGE-SECRET-KEY-1{}", random(UPPER, 58, seed)),
        format!("ghp_{}", an(36)),
        format!("github_pat_{}", an(40)),
        format!("baton_{}", hex(64)),
        format!("npm_{}", an(36)),
        format!("AIza{}", an(35)),
    ]
}

/// Keys whose beginning stands in other words, too.
fn ambiguous(seed: u64) -> Vec<String> {
    vec![
        format!("AKIA{}", random(UPPER, 16, seed)),
        format!("ASIA{}", random(UPPER, 16, seed)),
        format!("sk-{}", random(ALNUM, 48, seed)),
        format!("key-{}", random(HEX, 32, seed)),
        format!("hf_{}", random(ALNUM, 34, seed)),
        format!("{}8Q~{}", random(ALNUM, 3, seed), random(ALNUM, 34, seed)),
        format!("{}:AA{}", random("123456789", 9, seed), random(ALNUM, 33, seed)),
    ]
}

const ESCAPES: &[&str] = &[
    "\x1b[33m",
    "\x1b[1;38;5;208m",
    "\\033[33m",
    "\\x1b[33m",
    "\\x1B[0m",
    "\\u001b[33m",
    "\\u{1b}[33m",
    "\\e[1m",
    "^[[33m",
    "[33m",
    "\x1b[K",
    "%0A",
    "%3d",
    "%20",
    "\\n",
    "\\t",
    "\\r\\n",
    "\\b",
    "\\x3d",
    "\\u003d",
    "\\012",
    "\\0",
];

#[test]
fn a_letter_or_a_digit_before_a_key_hides_none() {
    for seed in 1..6 {
        for key in distinctive(seed) {
            for before in ["a", "Z", "7", "_", "token", "é", "x-"].iter().chain(ESCAPES) {
                let out = check(&format!("{before}{key} b"));
                assert!(!out.contains(&key[key.len() - 12..]), "{before}{key}: {out}");
                assert!(out.contains("[redacted:"), "{out}");
            }
        }
    }
}

#[test]
fn an_escape_sequence_before_a_key_hides_none() {
    for seed in 1..6 {
        for key in ambiguous(seed) {
            for before in ESCAPES {
                let out = check(&format!("said {before}{key} b"));
                assert!(!out.contains(&key[key.len() - 12..]), "{before}{key}: {out}");
            }
        }
    }
}

#[test]
fn an_escape_sequence_before_a_name_hides_no_value() {
    for before in ESCAPES {
        for field in [
            "DB_PASSWORD=plainword",
            "API_TOKEN=plainword1",
            "password=plainword",
            "pass=plainword",
            "X-Auth-Token: plainword",
        ] {
            let out = check(&format!("{before}{field}\n"));
            assert!(!out.contains("plainword"), "{before}{field}: {out}");
        }
    }
}

#[test]
fn words_hashes_and_encoded_text_that_hold_a_beginning_stay() {
    let hex = |len| random(HEX, len, 3);
    for text in [
        format!("cachekey-{}", hex(32)),
        format!("monkey-{}", hex(32)),
        format!("task-{}", hex(40)),
        format!("disk-{}", hex(40)),
        format!("flask-{}", hex(40)),
        format!("ETASK{}", hex(32)),
        format!("BRAKIA{}X", "RANDOMWORDSHERE2"),
        format!("self_{}", hex(40)),
        "the archvs.a-long-identifier-of-words-and-words".to_owned(),
        "my_ghp_is_a_prefix_and_nothing_else_than_a_prefix_of_something".to_owned(),
        "xsk_live_is_a_prefix".to_owned(),
        "useglpat-as-the-prefix-of-a-token".to_owned(),
        "mypypi-package-with-a-very-long-name-that-goes-on-and-on-and-on".to_owned(),
        format!("sha1 {} sha256 {}", hex(40), hex(64)),
        format!("https://example.org/%2F{}", hex(32)),
    ] {
        assert_eq!(check(&text), text);
    }
}

/// Base64 of bytes that chance made, in lines of 76 characters: no rule takes a piece out of it as a key.
#[test]
fn encoded_bytes_hold_no_keys() {
    let signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut text, mut lines) = (String::new(), 0);
    for seed in 1..4000 {
        text.push_str(&random(signs, 76, seed));
        text.push('\n');
        lines += 1;
    }
    let counts = super::REDACTOR.redact(&text).counts;
    let keys: Vec<_> = counts.iter().filter(|(kind, _)| !matches!(**kind, "high-entropy")).collect();
    assert!(keys.is_empty(), "{keys:?} in {lines} lines");
}

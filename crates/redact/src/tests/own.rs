//! A user's own rules.

use proptest::prelude::*;

use crate::{Redactor, RuleError, Rules};

fn rules(patterns: &[&str], allow: &[&str]) -> Rules {
    let list = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect();
    Rules { patterns: list(patterns), allow: list(allow) }
}

fn check(patterns: &[&str], allow: &[&str], text: &str) -> String {
    let redactor = Redactor::with(&rules(patterns, allow)).expect("rules");
    let once = redactor.redact(text).text.into_owned();
    assert_eq!(redactor.redact(&once).text.as_ref(), once.as_str());
    once
}

fn refused(patterns: &[&str], allow: &[&str]) -> RuleError {
    Redactor::with(&rules(patterns, allow)).expect_err("a refusal")
}

#[test]
fn what_a_pattern_matches_is_secret() {
    let text = "ticket ACME-1234 on host7.corp.example, ACME-99";
    assert_eq!(
        check(&[r"ACME-\d+", r"(?i)[a-z0-9]+\.CORP\.example"], &[], text),
        "ticket [redacted:custom] on [redacted:custom], [redacted:custom]"
    );
}

#[test]
fn a_pattern_over_a_secret_leaves_nothing_of_either() {
    assert_eq!(check(&["x-.*"], &[], "x-1 DB_PASSWORD=s3cret99 y"), "[redacted:password]");
    let before = "x-1 DB_PASSWORD=[redacted:password] y";
    assert_eq!(check(&["x-.*"], &[], before), "[redacted:custom][redacted:password][redacted:custom]");
}

#[test]
fn what_is_allowed_stays_and_nothing_else() {
    let text = "DB_PASSWORD=s3cret99 API_PASSWORD=s3cret98";
    assert_eq!(check(&[], &["s3cret99"], text), "DB_PASSWORD=s3cret99 API_PASSWORD=[redacted:password]");
    assert_eq!(
        check(&[], &["/s3cret9[0-8]/"], text),
        "DB_PASSWORD=[redacted:password] API_PASSWORD=s3cret98"
    );
    // Part of a secret is not the secret.
    assert_eq!(
        check(&[], &["s3cret", "/s3cret/"], text),
        "DB_PASSWORD=[redacted:password] API_PASSWORD=[redacted:password]"
    );
}

#[test]
fn a_rule_that_cannot_be_used_is_named() {
    let error = refused(&["fine", "("], &[]);
    assert_eq!((error.list, error.rule.as_str()), ("patterns", "("));
    assert!(
        error.to_string().starts_with("`(` in `patterns`: it is no regular expression: unclosed group"),
        "{error}"
    );
    assert!(refused(&["a{1000}{1000}"], &[]).reason.starts_with("it is too large"));
    assert!(refused(&["a*"], &[]).reason.contains("empty text"));
    assert!(refused(&[""], &[]).reason.contains("empty"));
    assert!(refused(&[&"a".repeat(2000)], &[]).reason.contains("longer than 1024"));
    assert!(refused(&["a"; 65], &[]).reason.contains("more than 64"));
    assert_eq!(refused(&[], &["/[/"]).list, "allow");
    assert_eq!(refused(&[], &[""]).list, "allow");
}

#[test]
fn the_fingerprint_tells_rules_apart() {
    let all = [
        rules(&[], &[]),
        rules(&["a"], &[]),
        rules(&[], &["a"]),
        rules(&["a", "b"], &[]),
        rules(&["ab"], &[]),
    ];
    let mut prints: Vec<u64> =
        all.iter().map(|rules| Redactor::with(rules).expect("rules").fingerprint()).collect();
    assert_eq!(prints[0], Redactor::new().fingerprint());
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), all.len());
}

proptest! {
    #[test]
    fn own_rules_never_panic_and_settle(
        text in "(redacted|\\[redacted:custom\\]|password=s3cret9|[a-c ]|\\n|ä){0,40}",
        pattern in prop::sample::select(vec!["redacted", ".+", "[a-c]", r"\[", r"custom\]", ":", r"(?s).+", "ä", r"\w+"]),
    ) {
        check(&[pattern], &[], &text);
    }
}

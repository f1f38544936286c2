use super::*;

#[test]
fn insistence_is_told_from_talk() {
    for sentence in [
        "Never touch the migrations.",
        "You must keep the API stable",
        "Please don't add dependencies",
        "No new dependencies.",
        "Only change src/lib.rs",
        "Make sure the tests pass!",
        "keep the diff small please",
    ] {
        assert_eq!(constraints(sentence).first().map(|found| found.sentence), Some(sentence));
    }
    for sentence in [
        "Fix the add() bug in app.py and run the tests",
        "I don't know why it fails",
        "no problem",
        "Why don't you use serde?",
        "It always fails on CI",
        "never mind",
        "no, the other file",
    ] {
        assert!(constraints(sentence).is_empty(), "{sentence}");
    }
}

#[test]
fn decisions_come_with_reason_and_rejected_option() {
    let check = |text: &str, why: Option<&str>, rejected: Option<&str>| {
        assert_eq!(
            decisions(text),
            [DecisionText {
                what: text.to_owned(),
                why: why.map(str::to_owned),
                rejected: rejected.map(str::to_owned)
            }],
            "{text}"
        )
    };
    check(
        "I chose SQLite over Postgres because it needs no server.",
        Some("it needs no server"),
        Some("Postgres"),
    );
    check("Going with a mutex.", None, None);
    check(
        "I'll use `serde` instead of hand-written parsing, since speed is no issue",
        Some("speed is no issue"),
        Some("hand-written parsing"),
    );
    check("We decided against caching due to staleness.", Some("staleness"), Some("caching"));
    assert!(decisions("Should I use A rather than B?").is_empty());
    assert!(decisions("The test fails instead of passing.").is_empty());
}

#[test]
fn failed_attempts_are_named_by_the_agent() {
    let text = "The regex approach didn't work because lookbehind is missing. The login does not work.";
    assert_eq!(
        attempts(text),
        [(
            "The regex approach didn't work because lookbehind is missing.".to_owned(),
            Some("lookbehind is missing".to_owned())
        )]
    );
}

#[test]
fn remaining_work_is_a_sentence_or_a_list() {
    let fixed = "Fixed `add()`. Remaining: run the full test-suite and update the docs.";
    assert_eq!(next_steps(fixed), ["run the full test-suite and update the docs"]);
    let list = "Done.\n\n## Next steps\n\n- write docs\n2. tag it\n\nThat is all.\n- no step";
    assert_eq!(next_steps(list), ["write docs", "tag it"]);
    assert_eq!(next_steps("**TODO:** ship it"), ["ship it"]);
    assert!(next_steps("The next line is fine. Remaining bugs: none known to me").is_empty());
}

#[test]
fn questions_are_open_where_nobody_answers() {
    let last = "Done. Should the old flag go?\n\n**Open questions**\n- whether guests count\n\nLet me check whether it builds.";
    assert_eq!(asked_at_the_end(last), ["Should the old flag go?", "whether guests count"]);
    assert_eq!(
        put_aside("Shall I go on? We still have to decide whether guests count."),
        ["We still have to decide whether guests count."]
    );
}

#[test]
fn what_only_sounds_like_a_rule_is_none() {
    for talk in [
        "no tools: what next",
        "Yes, always.",
        "only one test failed? good",
        "must be the coffee",
        "I don't think it must be",
    ] {
        assert!(constraints(talk).is_empty(), "{talk}");
    }
}

#[test]
fn two_decisions_in_a_row_stay_two_and_a_reason_joins_its_own() {
    let text = "Going with sqlc. The mapper made slow queries. Let's use SSIM instead of pixels, because fonts differ.";
    let found: Vec<String> = decisions(text).into_iter().map(|one| one.what).collect();
    assert_eq!(
        found,
        [
            "Going with sqlc. The mapper made slow queries.",
            "Let's use SSIM instead of pixels, because fonts differ."
        ]
    );
}

#[test]
fn an_answer_that_announces_something_was_cut_short() {
    assert_eq!(announced("It fails. Let me check the exports:"), Some("Let me check the exports"));
    assert_eq!(announced("Done. Let me know what you think."), None);
}

use super::*;

#[test]
fn a_head_ends_at_a_sentence_or_a_word() {
    let check = |text: &str, limit, want: &str| assert_eq!(head(text, limit), want);
    check("short", 10, "short");
    check("One sentence here. Another one follows", 25, "One sentence here. …");
    check("no sentence in this text at all", 20, "no sentence in this …");
    check("あいうえおかきくけこ。さしす", 12, "あいうえおかきくけこ。 …");
    check("Two parts:\n\n1. The long first part", 24, "Two parts:\n\n1. The long …");
    check("It is done.\n\n1. Theverylongfirstpart", 17, "It is done. …");
    check("It is done.\n\nWhat I added\n- a\n- b and more", 26, "It is done. …");
    check("It is done.\n\n## What I added to it", 30, "It is done. …");
    check("It is done.\n\nTwo parts:\n\n1. Theverylong", 30, "It is done. …");
    check("unbrokenunbrokenunbroken", 10, "unbrokenun …");
}

#[test]
fn the_middle_of_a_path_goes_first() {
    assert_eq!(middle("crates/model/src/markdown/quote.rs", 20), "crates/model/…ote.rs");
    assert_eq!(middle("short", 20), "short");
}

#[test]
fn a_tail_says_how_much_lies_above() {
    assert_eq!(tail("a\nb\n  c\nd\n", 2, 100), "… (2 lines left out)\n  c\nd");
    assert_eq!(tail("a\nb", 5, 100), "a\nb");
    assert_eq!(tail(&"x".repeat(1000), 5, 30).chars().count(), 30);
}

#[test]
fn the_essence_of_an_output_names_the_cause() {
    let output = "Compiling a\nwarning: unused\nerror[E0308]: mismatched types\n --> a.rs:3\n1 failed\nerror: could not compile";
    assert_eq!(essence(output, 2, 200), "error[E0308]: mismatched types\nerror: could not compile\n…");
    assert_eq!(essence("a\nb\nc", 2, 200), "b\nc\n…");
}

#[test]
fn a_cause_far_above_the_tail_is_kept() {
    let output = format!("error: the cause\n{}the end", "noise\n".repeat(50));
    assert_eq!(cause_and_tail(&output, 2, 200), "error: the cause\n… (49 lines left out)\nnoise\nthe end");
}

#[test]
fn a_diff_is_cut_in_lines_and_characters() {
    assert_eq!(head_lines("a\nb\nc", 2, 100), "a\nb\n…");
    assert_eq!(head_lines("a\nb", 2, 100), "a\nb");
}

#[test]
fn a_long_answer_keeps_its_claim_and_its_conclusion() {
    let text =
        format!("All tests pass.\n\n{}\n\nNext: tag the release.", "It does a thing in turn. ".repeat(60));
    let shown = super::ends(&text, 320);
    assert!(shown.starts_with("All tests pass.") && shown.ends_with("Next: tag the release."), "{shown}");
    assert!(shown.contains('…') && shown.chars().count() <= 326, "{}", shown.chars().count());
    assert_eq!(super::ends("short", 320), "short");
    assert_eq!(super::ends(&text, 120), super::head(&text, 120));
}

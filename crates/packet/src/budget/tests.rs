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

/// Counts of the real tokeniser (`o200k_base`), taken once. Short texts scatter; what matters is that none is far
/// under, and that they even out.
#[test]
fn the_estimate_is_near_the_real_tokeniser() {
    let mut sums = (0, 0);
    for (text, real) in MEASURED {
        let got = estimate_tokens(text);
        assert!(got * 100 >= real * 97 && got * 100 <= real * 130, "{text}: {got}, really {real}");
        sums = (sums.0 + got, sums.1 + real);
    }
    assert!(sums.0 * 100 <= sums.1 * 108, "{sums:?}");
}

const MEASURED: &[(&str, usize)] = &[
    (
        "Login no longer loops when the session cookie is from before the key rotation; stale cookies are now cleared.",
        21,
    ),
    (
        "pub(crate) fn milli_tokens(text: &str) -> u64 {\n    text.split_inclusive('\\n').map(line).sum()\n}",
        29,
    ),
    ("crates/model/src/markdown/quote.rs\nsrc/auth/middleware.ts\ntests/browser/login.spec.ts", 21),
    ("b1946ac9-2b5f-4c4c-9a0e-6c0f9a2d7e55 4e1d9c0a2f7b 9f86d081884c7d659a2feaa0c55ad015", 65),
    ("SGVsbG8gd29ybGQsIHRoaXMgaXMgYSBiYXNlNjQgc3RyaW5nIGZvciBtZWFzdXJpbmc=", 42),
    ("31415926535897932384626433832795 2026-03-02T17:40:00Z", 25),
    ("会话交接上下文。用户希望在不破坏现有接口的情况下修复登录流程。", 23),
    ("テストを変更せずに修正することを求めています。", 16),
    ("Пользователь просит исправить вход в систему, не меняя интерфейс.", 17),
    ("✅ 🚀 🔥 done 🎉", 8),
    (
        "- [x] `T-1` Reproduce the loop in a test\n- [ ] **in progress:** `T-3` Browser test\n| **Source** | claude |\n|-------|-------|",
        45,
    ),
    ("it's what they don't want: getUserSessionByToken(HTTP_STATUS_CODES.NOT_FOUND)", 18),
];

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

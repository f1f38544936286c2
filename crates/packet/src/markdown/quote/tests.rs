use super::*;

#[test]
fn hidden_characters_show_and_colours_go() {
    let check = |text: &str, want: &str| assert_eq!(clean(text), want);
    check("a\u{1b}[31mred\u{1b}[0m b", "ared b");
    check("\u{1b}]0;title\u{7}after", "after");
    check("\u{1b}]8;;http://h\u{1b}\\link\u{1b}]8;;\u{1b}\\", "\\link\\");
    check("\u{1b}]no end\nkept", "no end\nkept");
    check("\u{1b}(Bset \u{9b}2Kx", "set x");
    check("a\u{202e}\u{200b}b\0c", "a\u{fffd}b\u{fffd}c");
    check("hi\u{e0041}\u{e0042}", "hi\u{fffd}");
    check("a\r\nb\rc\u{2028}d", "a\nb\nc\nd");
    check("👨\u{200d}👩 é ✅\u{fe0f}", "👨\u{200d}👩 é ✅\u{fe0f}");
}

#[test]
fn tags_that_speak_to_a_model_lose_their_bracket_and_code_keeps_its() {
    let check = |text: &str, want: &str| assert_eq!(clean(text), want);
    check("<system-reminder>x</SYSTEM-reminder>", "‹system-reminder>x‹/SYSTEM-reminder>");
    check("<|im_start|>", "‹|im_start|>");
    check("<System>x</System-Reminder>", "‹System>x‹/System-Reminder>");
    check("Vec<String> a < b <div> <T>", "Vec<String> a < b <div> <T>");
    check("<User name={n} /> <UserProfile> Vec<ToolCall>", "<User name={n} /> <UserProfile> Vec<ToolCall>");
}

#[test]
fn prose_opens_nothing() {
    let check = |text: &str, want: &str| assert_eq!(prose(text), want);
    check("# Title\n## More", "\\# Title ## More");
    check("- item", "\\- item");
    check("12. item", "12\\. item");
    check("1.5 times", "1.5 times");
    check("```rust", "\\`\\`\\`rust");
    check("---", "\\---");
    check("[x] done", "\\[x] done");
    check("[a]: http://h", "\\[a]: http://h");
    check("see ![i](http://h)", "see \\![i](http://h)");
    check("a <b> and `Vec<T>`", "a \\<b> and `Vec<T>`");
    check("stray ` tick", "stray \\` tick");
    check("\\`<b>`", "\\`\\<b>\\`");
    check("ends in \\", "ends in \\\\");
    check("**bold** and __init__.py", "**bold** and __init__.py");
}

#[test]
fn code_has_more_ticks_than_it_holds() {
    let check = |text: &str, want: &str| assert_eq!(code(text), want);
    check("ls", "`ls`");
    check("a`b", "``a`b``");
    check("``x`", "``` ``x` ```");
    check("a\nb", "`a ⏎ b`");
    check(" ", "(empty)");
}

#[test]
fn a_fence_is_longer_than_any_inside_and_stands_off_the_margin() {
    assert_eq!(fence("text", "a\n\n```\nb"), "  ````text\n  a\n\n  ```\n  b\n  ````\n");
}

#[test]
fn every_line_of_a_quote_is_marked_and_lists_stay_lists() {
    assert_eq!(quote("", "# a\n\n- b\n- # c\n1. d"), "> \\# a\n>\n> - b\n> - \\# c\n> 1. d\n");
    assert_eq!(quote("  ", "x\n```\ny\n```"), "  ````text\n  x\n  ```\n  y\n  ```\n  ````\n");
}

#[test]
fn a_name_is_a_plain_word() {
    assert_eq!(name(" claude "), Some("claude"));
    assert_eq!(name("a b"), None);
    assert_eq!(name(""), None);
}

#[test]
fn plain_text_is_cleaned_as_any_other() {
    for text in ["a < b\n\tc", "<system-reminder> `x`", "", "~ <|im_start|> }", "Vec<ToolCall>\n"] {
        assert_eq!(clean(text), without_prompt_tags(&visible(text)), "{text:?}");
    }
}

//! Foreign text made harmless: nothing from a packet can leave the block it is put in, start a block of its own, hide
//! characters, or pass for a prompt.

use crate::printable::classify_characters;

/// Foreign text in which every character shows: terminal escapes are gone, control, invisible and direction-changing
/// characters are a visible `�`, line ends are `\n`, and tags that tools use to speak to a model lose their bracket.
pub(super) fn clean(text: &str) -> String {
    // Nearly all text is plain, and shows as it is.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return without_prompt_tags(text);
    }
    without_prompt_tags(&visible(text))
}

/// The text with every character visible.
fn visible(text: &str) -> String {
    let plain = without_escapes(&text.replace("\r\n", "\n"));
    let mut shown = String::with_capacity(plain.len());
    for (c, is_hidden) in classify_characters(&plain) {
        match c {
            '\n' | '\t' => shown.push(c),
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => shown.push('\n'),
            _ if is_hidden && shown.ends_with('\u{fffd}') => {}
            _ if is_hidden => shown.push('\u{fffd}'),
            _ => shown.push(c),
        }
    }
    shown
}

/// Terminal escape sequences carry colours and cursor moves, never content.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(['\u{1b}', '\u{9b}']) {
        plain.push_str(before);
        let single = rest[before.len()..].starts_with('\u{9b}');
        rest = if single { skip_parameters(after) } else { skip_escape(after) };
    }
    plain.push_str(rest);
    plain
}

/// What follows the escape character: a control sequence (`[31m`), a titled one (`]0;title` to its end), or two bytes.
fn skip_escape(after: &str) -> &str {
    if let Some(parameters) = after.strip_prefix('[') {
        return skip_parameters(parameters);
    }
    if let Some(body) = after.strip_prefix([']', 'P', '^', '_', 'X']) {
        let line = body.find('\n').unwrap_or(body.len());
        let end = body[..line].find(['\u{7}', '\u{1b}', '\u{9c}']);
        // Without an end it was no such sequence; then only the introducer goes.
        return end.map_or(body, |at| body[at..].trim_start_matches(['\u{7}', '\u{9c}']));
    }
    after.strip_prefix(['(', ')']).map_or(after, |set| set.strip_prefix(['A', 'B', '0']).unwrap_or(set))
}

fn skip_parameters(text: &str) -> &str {
    let rest = text.trim_start_matches(|c| matches!(c, '0'..='?' | ' '..='/'));
    rest.strip_prefix(|c| matches!(c, '@'..='~')).unwrap_or(rest)
}

/// Names of tags by which agent tools mark text as coming from the system, a user or a tool.
const PROMPT_TAGS: &[&str] = &[
    "system",
    "user",
    "assistant",
    "human",
    "developer",
    "instruction",
    "function",
    "invoke",
    "parameter",
    "tool",
    "antml",
    "prompt",
    "important",
    "thinking",
    "reminder",
    "command-",
    "local-command",
    "ide_",
    "environment_context",
];

/// `<system-reminder>` becomes `‹system-reminder>`, `<|im_start|>` becomes `‹|im_start|>`, in code as in prose.
fn without_prompt_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        out.push(if opens_prompt(after) { '‹' } else { '<' });
        rest = after;
    }
    out.push_str(rest);
    out
}

fn opens_prompt(after: &str) -> bool {
    let name = after.trim_start_matches(['/', ' ']);
    after.starts_with('|')
        || (PROMPT_TAGS.iter().any(|tag| starts_with_ignoring_case(name, tag)) && !is_type(name))
}

/// Whether a name is one of a component or a type, as in `<UserProfile id={1}>` and `Vec<ToolCall>`: in camel case, and no more
/// than a word that speaks to a model.
fn is_type(name: &str) -> bool {
    const SPEAKERS: &[&str] = &[
        "System",
        "Assistant",
        "Human",
        "Developer",
        "Instruction",
        "Instructions",
        "Important",
        "Reminder",
    ];
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    let (word, rest) = name.split_at(end);
    let mut letters = word.bytes();
    let camel = letters.next().is_some_and(|byte| byte.is_ascii_uppercase())
        && letters.next().is_some_and(|byte| byte.is_ascii_lowercase());
    camel && !rest.starts_with(['-', '_', ':']) && !SPEAKERS.contains(&word)
}

fn starts_with_ignoring_case(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// One line of prose for a list item or a paragraph: folded, and with nothing that opens a block, tag or image.
pub(super) fn prose(text: &str) -> String {
    escape_line(&fold(&clean(text)), true)
}

/// All white space folded to single spaces.
fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One line in which code spans stay as they are and everything else that Markdown would act on is escaped.
fn escape_line(line: &str, in_list: bool) -> String {
    let indent = line.len() - line.trim_start().len();
    let markers = if in_list { 0 } else { bullets(&line[indent..]) };
    let (space, body) = line.split_at(indent + markers);
    let mut out = space.to_owned();
    if opens_block(body) || (in_list && opens_item(body)) {
        let digits = body.len() - body.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        out.push_str(&body[..digits]);
        out.push('\\');
        escape_spans(&body[digits..], &mut out);
    } else {
        escape_spans(body, &mut out);
    }
    out
}

/// The length of the list markers that a quoted line begins with; what follows them begins a block again.
fn bullets(line: &str) -> usize {
    let mut rest = line;
    while opens_item(rest) {
        let marker = rest.find(char::is_whitespace).unwrap_or(rest.len());
        rest = rest[marker..].trim_start();
    }
    line.len() - rest.len()
}

/// Whether a line would start a list.
fn opens_item(body: &str) -> bool {
    let after_digits = body.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = after_digits.len() < body.len() && after_digits.starts_with(['.', ')']);
    let after = if numbered { Some(&after_digits[1..]) } else { body.strip_prefix(['-', '+', '*']) };
    after.is_some_and(|after| after.chars().next().is_none_or(char::is_whitespace))
}

/// Whether a line would start a heading, quote, rule, table, fence, checkbox or link definition.
fn opens_block(body: &str) -> bool {
    let rule = |mark: char| body.starts_with(mark) && body.chars().all(|c| c == mark || c.is_whitespace());
    let bracket = body.starts_with('[') && (body.contains("]:") || body.as_bytes().get(2) == Some(&b']'));
    let fence = body.starts_with("```") || body.starts_with("~~~");
    bracket || fence || body.starts_with(['#', '>', '|']) || "-*_=".chars().any(rule)
}

fn escape_spans(body: &str, out: &mut String) {
    let mut rest = body;
    // After a backslash that is not itself escaped, a sign opens nothing.
    let mut literal = out.ends_with('\\');
    while let Some(first) = rest.chars().next() {
        let ticks = if literal { 0 } else { rest.len() - rest.trim_start_matches('`').len() };
        let length = match code_span(rest, ticks) {
            Some(span) => {
                out.push_str(&rest[..span]);
                span
            }
            None if ticks > 0 => {
                out.push_str(&"\\`".repeat(ticks));
                ticks
            }
            None => {
                if !literal && acts(first, &rest[first.len_utf8()..]) {
                    out.push('\\');
                }
                out.push(first);
                first.len_utf8()
            }
        };
        literal = first == '\\' && !literal;
        rest = &rest[length..];
    }
}

/// Whether Markdown would act on a sign: the start of a tag or image, a backslash at the end.
fn acts(sign: char, after: &str) -> bool {
    match sign {
        '<' => after.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c)),
        '!' => after.starts_with('['),
        '\\' => after.is_empty(),
        _ => false,
    }
}

/// The length of the code span that `text` starts with after so many backticks, if it is closed.
fn code_span(text: &str, ticks: usize) -> Option<usize> {
    let mut at = ticks;
    while ticks > 0 && at < text.len() {
        let open = at + text[at..].find('`')?;
        let run = text[open..].len() - text[open..].trim_start_matches('`').len();
        if run == ticks {
            return Some(open + run);
        }
        at = open + run;
    }
    None
}

/// Inline code around any text: more backticks than it holds, line ends shown as `⏎`.
pub(super) fn code(text: &str) -> String {
    let shown = clean(text.trim()).trim().replace('\n', " ⏎ ").replace('\t', " ");
    if shown.is_empty() {
        return "(empty)".into();
    }
    let ticks = "`".repeat(longest_run(&shown, '`') + 1);
    let pad = if shown.starts_with('`') || shown.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{shown}{pad}{ticks}")
}

/// A table cell of prose.
pub(super) fn cell(text: &str) -> String {
    prose(text).replace('|', "\\|")
}

/// A table cell of code.
pub(super) fn code_cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// A fenced block, indented so that it belongs to a list item and none of its lines begins at the margin.
pub(super) fn fence(info: &str, text: &str) -> String {
    let shown = clean(text);
    let marks = "`".repeat(longest_run(&shown, '`').max(2) + 1);
    let mut block = format!("  {marks}{info}\n");
    for line in shown.trim_matches('\n').lines() {
        let line = line.trim_end();
        block.push_str(if line.is_empty() { "" } else { "  " });
        block.push_str(line);
        block.push('\n');
    }
    block + "  " + &marks + "\n"
}

/// A block quote, each line of it marked. Text that holds fences of its own is fenced instead.
pub(super) fn quote(indent: &str, text: &str) -> String {
    let shown = clean(text);
    if shown.lines().any(|line| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~"))
    {
        return fence("text", &shown);
    }
    let mut block = String::new();
    for line in shown.trim().lines() {
        let line = escape_line(&line.trim_end().replace('\t', "    "), false);
        block.push_str(indent);
        block.push('>');
        block.push_str(if line.is_empty() { "" } else { " " });
        block.push_str(&line);
        block.push('\n');
    }
    block
}

/// A name of a tool or role: letters, digits and `.-_:` only, at most 24; anything else is `None`.
pub(super) fn name(text: &str) -> Option<&str> {
    let ok = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
    let trimmed = text.trim();
    (!trimmed.is_empty() && trimmed.len() <= 24 && trimmed.chars().all(ok)).then_some(trimmed)
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|c| c != of).map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests;

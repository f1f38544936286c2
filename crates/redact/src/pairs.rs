//! A name and its value that stand apart: in fields of their own (`name: DB_PASSWORD`, `value: …`), in attributes and
//! elements of XML, in cells of a table, as arguments of a call that sets them, as words of a command that does.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use crate::class::SecretClass;
use crate::extent::line_before;
use crate::fields::{is_known, is_plain_word};
use crate::naming::{is_file, is_path, is_phrase, is_symbol, is_type, is_usage};
use crate::noise::is_noise;
use crate::plain::{is_literal, is_varied};

/// How far behind a name its value is looked for.
const REACH: usize = 1024;
/// How far before a name what it is a value of is looked for.
const BEFORE: usize = 512;

/// One way to write the two.
struct Form {
    /// Whether what stands before the name is of this form.
    is_before: fn(&str) -> bool,
    /// What stands behind the name; the first group that took part is the value.
    expression: &'static str,
    /// How sure it is that the value is one: a plain word counts, or only one that chance made.
    sure: bool,
}

const fn form(is_before: fn(&str) -> bool, sure: bool, expression: &'static str) -> Form {
    Form { is_before, expression, sure }
}

/// A string in quotes, which may be escaped, or a bare word that ends its line.
macro_rules! value {
    () => {
        r#"(?:\\{1,3}["']([^"'\\\r\n]{3,512})\\{1,3}["']|"((?:[^"\\\r\n]|\\.){3,512})"|'([^'\r\n]{3,512})'|([^\s"'`,\\<>{}\[\]]{3,512})(?:[ \t]{0,8}(?:\r|\n|\\n|\\r|[/"',}]|$)| #))"#
    };
}

static FORMS: &[Form] = &[
    form(
        is_field,
        true,
        concat!(
            r#"[^{}<>]{0,120}?[^A-Za-z](?i:parameter|default)?(?i:value)\\{0,3}["']?\s{0,4}[:=]\s{0,4}"#,
            value!()
        ),
    ),
    form(is_field, true, r#"\\{0,3}["'][^<>]{0,80}[^A-Za-z](?i:value)=\\{0,3}["']([^"'<>\\\r\n]{3,512})"#),
    form(
        is_field,
        true,
        r"[^<>]{0,80}>(?:\s|\\[nrt]){0,64}(?:<value>\s{0,8})?([^<>\r\n][^<\r\n]{2,512}?)\s{0,8}</",
    ),
    form(is_field, true, r"[^<>]{0,80}>\s{0,64}<!\[CDATA\[([^\r\n]{3,512}?)\]\]>"),
    form(is_tag, true, r#"(?:\s[^<>]{0,80})?>\s{0,64}<!\[CDATA\[([^\r\n]{3,512}?)\]\]>"#),
    form(is_tag, true, r#"(?:\s[^<>]{0,80}[^/<>])?>\s{0,64}([^<>\s][^<\r\n]{3,512}?)\s{0,8}</"#),
    form(is_entry, true, r"</key>(?:\s|\\[nrt]){0,64}<string>([^<>\r\n]{3,512})</string>"),
    form(is_entry, false, r"\s?:?</[a-z]{1,8}>\s?:?(?:\s|\\[nrt]|<[a-z]{1,8}>){0,32}([^<>\s]{4,512})"),
    form(
        is_setter,
        true,
        concat!(
            r"[A-Za-z0-9._-]{0,40}[ \t]{1,4}",
            r#"(?:"([^"\r\n]{3,512})"|'([^'\r\n]{3,512})'|([^\s"'`|;&()\\]{3,512}))"#
        ),
    ),
    form(
        is_call,
        true,
        concat!(
            r#"\\{0,3}["']\s{0,4},\s{0,4}"#,
            r#"(?:\\{1,3}"([^"\\\r\n]{3,512})|"((?:[^"\\\r\n]|\\.){3,512})"|'((?:[^'\\\r\n]|\\.){3,512})')\\{0,3}\s{0,4}[,)]"#
        ),
    ),
    form(is_cell, false, r"[*`_]{0,2}\s{0,64}\|\s{0,64}(?:`([^`|\r\n]{4,256})`|([^\s|`]{4,256}))\s{0,64}\|"),
    form(
        any,
        false,
        r"(?::\*{1,2}|:__|\*{1,2}:|__:|:\*\*)[ \t]{1,4}(?:`([^`\r\n]{4,256})`|([^\s`*]{4,256}))",
    ),
];

static COMPILED: OnceLock<Vec<Option<Regex>>> = OnceLock::new();
static REVERSED: OnceLock<Option<Regex>> = OnceLock::new();

/// A value whose name stands behind it.
const BEHIND: &str = concat!(
    r#"(?i:value)\\{0,3}["']?\s{0,4}[:=]\s{0,4}"#,
    value!(),
    r#"[\s,\\n-]{0,64}\\{0,3}["']?(?i:name|key)\\{0,3}["']?\s{0,4}[:=]\s{0,4}\\{0,3}["']?$"#
);

/// The value of this name, where the two stand apart.
pub(crate) fn value(text: &str, name: Range<usize>, class: SecretClass, whole: bool) -> Option<Range<usize>> {
    let next = text.as_bytes().get(name.end).copied().unwrap_or(b'\n');
    // What assigns the value is looked at elsewhere.
    if !whole || matches!(next, b'=' | b'(') {
        return None;
    }
    let before = context_before(text, name.start);
    let compile = || FORMS.iter().map(|form| Regex::new(form.expression).ok()).collect();
    for (at, form) in FORMS.iter().enumerate().filter(|(_, form)| (form.is_before)(before)) {
        let regex = COMPILED.get_or_init(compile).get(at)?.as_ref()?;
        let to = floor(text, (name.end + REACH).min(text.len()));
        let mut captures = regex.create_captures();
        let input = Input::new(text).range(name.end..to).anchored(Anchored::Yes);
        regex.captures(input, &mut captures);
        let Some(span) = captures.iter().skip(1).flatten().next() else { continue };
        let span = span.start..span.end;
        let quoted = text.as_bytes()[..span.start].ends_with(b"`");
        let env = is_env(&text[name.clone()]);
        let judged = Judged { class, sure: form.sure || quoted, env };
        if !is_next(&text[name.end..span.start]) && judged.is_secret(&text[span.clone()]) {
            return Some(span);
        }
    }
    reversed(text, name, class)
}

/// The value of a field that stands before the one with the name.
fn reversed(text: &str, name: Range<usize>, class: SecretClass) -> Option<Range<usize>> {
    let mut from = name.start.saturating_sub(BEFORE);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let part = &text[from..name.start];
    if !is_field(context_before(text, name.start)) || !(part.contains("alue")) {
        return None;
    }
    let regex = REVERSED.get_or_init(|| Regex::new(BEHIND).ok()).as_ref()?;
    let mut captures = regex.create_captures();
    regex.captures(Input::new(part), &mut captures);
    let span = captures.iter().skip(1).flatten().next()?;
    let span = from + span.start..from + span.end;
    let judged = Judged { class, sure: true, env: is_env(&text[name]) };
    judged.is_secret(&text[span.clone()]).then_some(span)
}

/// Whether another name begins between a name and the value.
fn is_next(between: &str) -> bool {
    let lower = between.to_ascii_lowercase();
    ["name:", "name\"", "name\\", "key:", "key\"", "\n- ", "name="].iter().any(|word| lower.contains(word))
}

/// What stands before a name in its line and, where it begins its line, at the end of the one before.
fn context_before(text: &str, name: usize) -> &str {
    let before = line_before(text, name);
    before.trim_end_matches(|c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':' | '/' | '@')
    })
}

fn any(_: &str) -> bool {
    true
}

/// A field that holds names.
fn is_field(before: &str) -> bool {
    let key = before.trim_end_matches(['"', '\'', '\\', ' ']);
    // A colon was taken for a part of the name.
    let key = key.trim_end_matches([':', '=', ' ', '"', '\'', '\\']);
    let word =
        key.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_ascii_lowercase();
    before.len() > key.len()
        && matches!(word.as_str(), "name" | "key" | "parameterkey" | "id" | "variable" | "parametername")
}

/// An element that is called so.
fn is_tag(before: &str) -> bool {
    before.ends_with('<')
}

/// The text of an element before that of its value.
fn is_entry(before: &str) -> bool {
    ["<key>", "<td>", "<th>", "<b>", "<dt>", "<strong>", "<name>", "<i>", "<em>"]
        .iter()
        .any(|tag| before.ends_with(tag))
}

/// The first cell of a row.
fn is_cell(before: &str) -> bool {
    before.trim_matches([' ', '*', '`', '_']) == "|"
}

/// A call that sets what is named.
fn is_call(before: &str) -> bool {
    const CALLS: &[&str] = &["define", "setenv", "putenv", "setproperty", "setenvironmentvariable"];
    let Some(call) = before.trim_end_matches(['"', '\'', '\\']).trim_end().strip_suffix('(') else {
        return false;
    };
    let lower = call.trim_end().to_ascii_lowercase();
    CALLS.iter().any(|call| lower.ends_with(call))
}

/// Commands that set what is named to the next word.
fn is_setter(before: &str) -> bool {
    let mut words: Vec<&str> = before.split_whitespace().collect();
    let mut options = Vec::new();
    while let Some(word) = words.pop() {
        if word.starts_with('-') {
            options.push(word);
            continue;
        }
        let exports =
            options.iter().any(|one| *one == "--export" || !one.starts_with("--") && one.contains('x'));
        let noun = words.pop().unwrap_or_default();
        return match word {
            "ENV" | "setenv" => true,
            "set" => {
                exports
                    || matches!(
                        noun,
                        "configure" | "config" | "secret" | "secrets" | "env" | "variable" | "variables"
                    )
            }
            "config" => matches!(noun, "git" | "poetry"),
            _ => false,
        };
    }
    false
}

fn is_env(name: &str) -> bool {
    name.contains('_')
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// What the form and the name say about a value.
struct Judged {
    class: SecretClass,
    sure: bool,
    env: bool,
}

impl Judged {
    fn is_secret(&self, value: &str) -> bool {
        let value = value.trim();
        if is_noise(value) {
            return true;
        }
        if self.sure && self.env && value.len() >= 12 && is_varied(value) && !is_sentence(value) {
            return true;
        }
        let number = value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'/'));
        let named = is_usage(value) || is_known(value) || is_path(value) || is_file(value) || is_type(value);
        let bare = value.trim_end_matches(['.', ',', ';', ':', ')']);
        if value.len() < 5 || number || named || !is_literal(bare) || value.contains(['(', '{', '$']) {
            return false;
        }
        if value.bytes().any(|byte| byte.is_ascii_whitespace()) {
            return self.sure && (is_phrase(value) || self.env && is_varied(value));
        }
        let varied = is_varied(value) && value.len() >= 6 && !is_symbol(value);
        let plain = is_plain_word(value) && (self.class == SecretClass::Password || self.env);
        varied || self.sure && (plain || is_varied(value) && value.len() >= 8)
    }
}

/// Whether words of a sentence stand here, or what a program puts in.
fn is_sentence(value: &str) -> bool {
    let plain = |word: &str| word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    value.split_whitespace().any(plain)
        || is_path(value)
        || value.contains(['(', '$', '<'])
        || value.contains("://")
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
pub(crate) fn all_compiled() -> bool {
    FORMS.iter().all(|form| Regex::new(form.expression).is_ok()) && Regex::new(BEHIND).is_ok()
}

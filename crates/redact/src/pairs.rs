//! A name and its value that stand apart: in fields of their own (`name: DB_PASSWORD`, `value: …`), in attributes and
//! elements of XML, in cells of a table, as arguments of a call that sets them, as words of a command that does.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use crate::class::SecretClass;
use crate::exact::{is_bare_reference, is_exact};
use crate::extent::{floor, line_before};
use crate::names::{Kind, kind_of};
use crate::naming::{is_file, is_path, is_symbol, is_type, is_usage};
use crate::noise::is_random_token;
use crate::pair_value::{Extent, ValueSpan};
use crate::phrase::is_phrase;
use crate::plain::{is_literal, is_varied};
use crate::state_words::{is_known, is_plain_word};

/// How far behind a name its value is looked for.
const REACH: usize = 1024;
/// How far before a name what it is a value of is looked for.
const BEFORE: usize = 512;

/// One way to write the two.
struct PairSyntax {
    /// Whether what stands before the name is of this form.
    is_before: fn(&str) -> bool,
    /// What may stand right behind the name; without any, everything.
    next: &'static [u8],
    /// What stands between the name and the value.
    expression: &'static str,
    /// How far the value reaches.
    extent: Extent,
    /// How sure it is that the value is one: a plain word counts, or only one that chance made.
    sure: bool,
    /// Whether what follows the name may begin so: a look before the expression, which takes longer.
    may_follow: fn(&str) -> bool,
    /// The expression, compiled when it is first tried: all together take longer than reading a short transcript.
    regex: OnceLock<Option<Regex>>,
}

impl PairSyntax {
    fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| Regex::new(self.expression).ok()).as_ref()
    }

    const fn only_where(mut self, may_follow: fn(&str) -> bool) -> Self {
        self.may_follow = may_follow;
        self
    }
}

const fn form(
    is_before: fn(&str) -> bool,
    next: &'static [u8],
    sure: bool,
    extent: Extent,
    expression: &'static str,
) -> PairSyntax {
    PairSyntax { is_before, next, expression, extent, sure, may_follow: any, regex: OnceLock::new() }
}

/// What a declaration may wrap a string in: `String::from("…")`, `r"…"`.
macro_rules! opening {
    () => {
        r#"(?:(?:Some|String::from|(?:Secret|SecretString)::(?:new|from)|new Secret|\[\]byte)\(|[rbu@]{1,2}#{0,2})?"#
    };
}

static FORMS: [PairSyntax; 14] = [
    form(
        is_field,
        b"",
        true,
        Extent::Field,
        r#"[^{}<>]{0,120}?[^A-Za-z](?i:parameter|default)?(?i:value)\\{0,3}["']?\s{0,4}[:=]\s{0,4}"#,
    ),
    form(is_field, b"\"'\\", true, Extent::Quoted, r#"\\{0,3}["'][^<>]{0,80}[^A-Za-z](?i:value)="#),
    form(is_field, b"\"'\\>", true, Extent::Text, r"[^<>]{0,80}>(?:\s|\\[nrt]){0,64}(?:<value>\s{0,8})?"),
    form(is_tag, b">", true, Extent::Text, r">\s{0,64}"),
    form(is_tag, b" \t\r\n", true, Extent::Text, r"\s[^<>]{0,80}[^/<>]>\s{0,64}"),
    form(is_entry, b"<", true, Extent::Text, r"</key>(?:\s|\\[nrt]){0,64}<string>"),
    form(is_entry, b"", false, Extent::TextWord, r"\s?:?</[a-z]{1,8}>\s?:?(?:\s|\\[nrt]|<[a-z]{1,8}>){0,32}"),
    form(is_setter, b"", true, Extent::Argument, r"[A-Za-z0-9._-]{0,40}[ \t]{1,4}"),
    form(is_call, b"\"'\\", true, Extent::CallArgument, r#"\\{0,3}["']\s{0,4},\s{0,4}"#),
    form(is_cell, b"*`_ \t|", false, Extent::Cell, r"[*`_]{0,2}\s{0,64}\|[ \t]{0,64}"),
    form(is_row, b" \t|", false, Extent::Row, r"[ \t]{0,64}\|[ \t]{0,64}"),
    form(any, b":*_", false, Extent::Emphasis, r"(?::\*{1,2}|:__|\*{1,2}:|__:|:\*\*)[ \t]{1,4}"),
    // A declaration with its type behind the name.
    form(
        any,
        b":?! ",
        true,
        Extent::Quoted,
        concat!(
            r"[?!]?[ \t]{0,4}:[ \t]{0,4}[&'*A-Za-z(][A-Za-z0-9_:.<>\[\]()?|&'*]{0,60}(?: (?:str|[|&] ?[A-Za-z0-9_.<>\[\]]{1,30})>?){0,3}[ \t]{0,4}=\s{0,8}",
            opening!()
        ),
    )
    .only_where(names_type_after_colon),
    form(
        any,
        b" \t",
        true,
        Extent::Quoted,
        concat!(r"[ \t]{1,8}(?:string|\[\]byte|String|text|varchar)[ \t]{1,8}:?=[ \t]{0,8}", opening!()),
    )
    .only_where(names_type),
];

static REVERSED: OnceLock<Option<[Regex; 2]>> = OnceLock::new();

/// A field that holds a value, and what may stand between it and the field with its name.
const BEHIND: [&str; 2] = [
    r#"(?i:value)\\{0,3}["']?\s{0,4}[:=]\s{0,4}"#,
    r#"\\{0,3}["']?[\s,\\n-]{0,64}\\{0,3}["']?(?i:name|key)\\{0,3}["']?\s{0,4}[:=]\s{0,4}\\{0,3}["']?$"#,
];

/// The value of this name, where the two stand apart.
pub(crate) fn value(text: &str, name: Range<usize>, class: SecretClass, whole: bool) -> Option<Range<usize>> {
    let next = text.as_bytes().get(name.end).copied().unwrap_or(b'\n');
    // What assigns the value is looked at elsewhere.
    if !whole || matches!(next, b'=' | b'(') {
        return None;
    }
    let before = context_before(text, name.start);
    let judged = ValueEvidence::new(class, &text[name.clone()]);
    let after = &text[name.end..];
    let fits =
        |form: &PairSyntax| (form.next.is_empty() || form.next.contains(&next)) && (form.is_before)(before);
    for form in FORMS.iter().filter(|form| fits(form) && (form.may_follow)(after)) {
        let regex = form.regex()?;
        let to = floor(text, (name.end + REACH).min(text.len()));
        let input = Input::new(text).range(name.end..to).anchored(Anchored::Yes);
        let Some(lead) = regex.find(input) else { continue };
        let Some(found) = form.extent.find(text, name.start, lead.end()) else { continue };
        let judged = ValueEvidence { sure: form.sure || found.sure, ..judged };
        if !is_next(&text[name.end..found.span.start]) && judged.is_secret(&text[found.span.clone()]) {
            return Some(found.span);
        }
    }
    reversed(text, name, &judged)
}

/// The value of a field that stands before the one with the name.
fn reversed(text: &str, name: Range<usize>, judged: &ValueEvidence) -> Option<Range<usize>> {
    let mut from = name.start.saturating_sub(BEFORE);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let part = &text[from..name.start];
    if !is_field(context_before(text, name.start)) || !(part.contains("alue")) {
        return None;
    }
    let compile = || Some([Regex::new(BEHIND[0]).ok()?, Regex::new(BEHIND[1]).ok()?]);
    let [field, between] = REVERSED.get_or_init(compile).as_ref()?;
    let last = field.find_iter(part).last()?;
    let ValueSpan { span, .. } = Extent::Field.find(text, from + last.start(), from + last.end())?;
    let input = Input::new(&text[..name.start]).range(span.end.min(name.start)..).anchored(Anchored::Yes);
    let apart = between.is_match(input);
    let judged = ValueEvidence { sure: true, ..*judged };
    (apart && judged.is_secret(&text[span.clone()])).then_some(span)
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

/// A colon behind the name, as before its type.
fn names_type_after_colon(after: &str) -> bool {
    after.trim_start_matches(['?', '!', ' ', '\t']).starts_with(':')
}

/// A type behind the name.
fn names_type(after: &str) -> bool {
    let after = after.trim_start_matches([' ', '\t']);
    ["string", "[]byte", "String", "text", "varchar"].iter().any(|word| after.starts_with(word))
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

/// The beginning of a line, and of a row whose cells have bars between them only.
fn is_row(before: &str) -> bool {
    before.trim_start().is_empty()
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
#[derive(Clone, Copy)]
struct ValueEvidence {
    class: SecretClass,
    sure: bool,
    env: bool,
    /// Whether the name can be that of a secret only.
    named: bool,
}

impl ValueEvidence {
    fn new(class: SecretClass, name: &str) -> Self {
        let named = kind_of(name) == Some(Kind::Named);
        Self { class, sure: false, env: is_env(name), named }
    }

    fn is_secret(&self, value: &str) -> bool {
        let value = value.trim();
        if is_random_token(value) || self.sure && self.named && is_exact(value) {
            return true;
        }
        if is_bare_reference(value) {
            return false;
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

#[cfg(test)]
pub(crate) fn all_compiled() -> bool {
    FORMS.iter().map(|form| form.expression).chain(BEHIND).all(|one| Regex::new(one).is_ok())
}

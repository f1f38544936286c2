//! Values that chance made of all printable signs, in every place: the whole of one goes.

use super::{check, random};

const PRINTABLE: &str =
    "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// What ends a value that stands bare: quotes, and the sign before a letter in a string of JSON.
const BARE: &str = "\"'`\\";
/// What means something to a shell.
const SHELL: &str = "\"'`\\$&|;<>()*?[]{}~#!";

/// A place with its value, and the signs that end or change a value there.
const PLACES: &[(&str, &str)] = &[
    ("Authorization: Bearer {}\nAccept: a", BARE),
    ("Authorization: token {}\n", BARE),
    ("-H 'Authorization: Bearer {}' https://example.org", BARE),
    ("-H \"X-Auth-Token: {}\" https://example.org", BARE),
    ("X-Auth-Token: {}\nAccept: a", BARE),
    ("X-Api-Key: {}", BARE),
    ("Cookie: theme=dark; sid={}\n", "\"'`\\;,"),
    ("Set-Cookie: session={}; Path=/\n", "\"'`\\;,"),
    ("password: {}\n", BARE),
    ("db:\n  user: ann\n  password: {}\n  host: x\n", BARE),
    ("api_token: {}\n", BARE),
    ("DB_PASSWORD={}\nNEXT=1", BARE),
    ("API_TOKEN={}\nNEXT=1", BARE),
    ("export API_TOKEN={}\n", SHELL),
    ("spring.datasource.password={}\nb=1", BARE),
    ("app.api.token = {}\nb=1", BARE),
    ("tool --password {} --next", SHELL),
    ("tool --password={} --next", SHELL),
    ("tool --token {} --next", SHELL),
    ("https://example.org/?access_token={}&x=1", "\"'`\\#&;<>[]{}|^"),
    ("Server=db;Uid=sa;Password={};Encrypt=true", "\"'`\\;"),
    ("the password is {} by the way", BARE),
    ("**Password:** {}\n", "\"'`\\*"),
    // In quotes.
    ("{\"password\": \"{}\", \"next\": 1}", "\"\\"),
    ("{\"api_token\":\"{}\"}", "\"\\"),
    ("{\\\"password\\\": \\\"{}\\\", \\\"next\\\": 1}", "\"\\"),
    ("password = \"{}\"\nnext = 1", "\"\\"),
    ("password = '{}'\nnext = 1", "'\\"),
    ("client_secret: '{}'\n", "'\\"),
    ("DB_PASSWORD=\"{}\"\n", "\"\\$`"),
    ("export API_TOKEN='{}'\n", "'\\"),
    ("$env:API_TOKEN = '{}'\n", "'\\"),
    ("tool --password '{}' --next", "'\\"),
    ("define('DB_PASSWORD', '{}');", "'\\"),
    ("the password is `{}` by the way", "`\\"),
    ("**Password:** `{}`\n", "`\\"),
    ("CREATE USER ann IDENTIFIED BY '{}'", "'\\"),
    ("<add key=\"Password\" value=\"{}\"/>", "\"\\<&"),
    ("<password>{}</password>", "\\<&"),
    ("- name: DB_PASSWORD\n  value: \"{}\"\n", "\"\\"),
    ("{\"name\":\"DB_PASSWORD\",\"value\":\"{}\"}", "\"\\"),
    ("Server=db;Password=\"{}\";Encrypt=true", "\"\\"),
];

/// A value for a place. It begins and ends with a letter or a digit: a sign there may be of what stands around it. One
/// that is an expression, a template or a name as a whole is none that chance makes.
fn value(without: &str, len: usize, seed: u64) -> Option<String> {
    let signs: String = PRINTABLE.chars().filter(|c| !without.contains(*c)).collect();
    let within = random(&signs, len - 2, seed);
    let ends = random(LETTERS, 2, seed + 7);
    let value = format!("{}{within}{}", &ends[..1], &ends[1..]);
    let template = ["${", "$(", "{{", "}}", "{}", "://", "%s", "<%", "%{", "#{", "::", "..."];
    let paired = ["()", "[]", "{}", "<>"].iter().any(|pair| pair.chars().all(|c| value.contains(c)));
    let plain = value.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.'));
    (!template.iter().any(|part| value.contains(part)) && !paired && !plain).then_some(value)
}

/// The longest run of the value that is left in the text.
fn left<'v>(value: &'v str, out: &str) -> Option<&'v str> {
    (0..value.len() - 6).map(|at| &value[at..at + 6]).find(|run| out.contains(*run))
}

#[test]
fn nothing_is_left_of_a_value_of_any_signs_in_any_place() {
    let mut leaked = Vec::new();
    for (place, without) in PLACES {
        for len in 12..=40 {
            for round in 0..12 {
                let Some(value) = value(without, len, len as u64 * 1000 + round) else { continue };
                let out = check(&place.replace("{}", &value));
                if left(&value, &out).is_some() {
                    leaked.push((*place, value, out));
                }
            }
        }
    }
    let count = leaked.len();
    leaked.dedup_by_key(|(place, ..)| *place);
    assert!(leaked.is_empty(), "{count}, of each place one: {leaked:#?}");
}

/// Passwords of people, with a sign in the middle.
#[test]
fn nothing_is_left_of_a_short_value_with_a_sign_in_it() {
    let places = [
        ("Bearer abc%defgh", "defgh"),
        ("Authorization: Bearer abc%def", "abc%def"),
        ("Authorization: Bearer aB3,x;y9=", "y9="),
        ("X-Auth-Token: a!bcd#ef", "ef"),
        ("password: ab#cd", "ab#cd"),
        ("password: ab#cd # of ann", "ab#cd"),
        ("password: aB\"3x'y9", "y9"),
        ("password: \"aB\\\"3x'y9\"", "y9"),
        ("{\"password\": \"aB3\\\"xyz\\\\\"}", "xyz"),
        ("{\\\"password\\\": \\\"aB3\\\\\\\"xyz\\\"}", "xyz"),
        ("password = 'aB3''xyz'", "xyz"),
        ("the password is aB3$xY", "aB3$xY"),
        ("the password is aB3$xY.", "aB3$xY"),
        ("the password is a(B)3$xY", "3$xY"),
        ("db.main.password=ab#cd", "ab#cd"),
        ("DB_PASSWORD=ab#cd", "ab#cd"),
        ("DB_PASSWORD=#1Winner", "Winner"),
        ("DB_PASSWORD=ab\\$cd9", "cd9"),
        ("password=p@ss/w:rd", "w:rd"),
        ("Cookie: sid=ab%cd!ef#gh", "gh"),
        ("Cookie: sid=\"abc9defg\"; x=1", "abc9defg"),
        ("Cookie: sid=abcdefghijklmnop", "ghij"),
        ("-H 'Cookie: sid=abc9def\"ghi'", "ghi"),
    ];
    let leaked: Vec<(&str, String)> = places
        .iter()
        .map(|(text, gone)| (*text, *gone, check(text)))
        .filter(|(_, gone, out)| out.contains(gone) || !out.contains("[redacted:"))
        .map(|(text, _, out)| (text, out))
        .collect();
    assert!(leaked.is_empty(), "{leaked:#?}");
}

#[test]
fn what_stands_behind_a_value_stays() {
    let texts = [
        ("password: ab#cd # of ann\nnext: 1", "password: [redacted:password] # of ann\nnext: 1"),
        (
            "Authorization: Bearer aB3%xY9z\nAccept: a",
            "Authorization: Bearer [redacted:bearer-token]\nAccept: a",
        ),
        ("-H 'X-Auth-Token: a!b#c$d9' https://x.org", "-H 'X-Auth-Token: [redacted:secret]' https://x.org"),
        (
            "{\"password\": \"aB3\\\"xyz\", \"a\": \"b\"}",
            "{\"password\": \"[redacted:password]\", \"a\": \"b\"}",
        ),
        (
            "<add key=\"Password\" value=\"plainword\"/>",
            "<add key=\"Password\" value=\"[redacted:password]\"/>",
        ),
        (
            "- name: DB_PASSWORD\n  value: plainword\n- name: X\n  value: y",
            "- name: DB_PASSWORD\n  value: [redacted:password]\n- name: X\n  value: y",
        ),
        ("vault login aV9bkd8sLw && ls", "vault login [redacted:password] && ls"),
        ("ENV API_TOKEN aV9bkd8sLw\nRUN ls", "ENV API_TOKEN [redacted:secret]\nRUN ls"),
        ("**Password:** `plainword`, of ann", "**Password:** `[redacted:password]`, of ann"),
        (
            "{\"output\":\"a: 1\\npassword: aB3#x9%y\\nnext: 1\"}",
            "{\"output\":\"a: 1\\npassword: [redacted:password]\\nnext: 1\"}",
        ),
        (
            "{\"output\":\"a: 1\\npassword: aB3#x9%y\",\"b\":1}",
            "{\"output\":\"a: 1\\npassword: [redacted:password]\",\"b\":1}",
        ),
    ];
    let found: Vec<String> = texts.iter().map(|(text, _)| check(text)).collect();
    let wanted: Vec<&str> = texts.iter().map(|(_, wanted)| *wanted).collect();
    assert_eq!(found, wanted);
}

/// A sign that begins variables, aliases, paths or comments elsewhere is the secret's own where the rest is made of chance.
#[test]
fn nothing_is_left_of_a_value_that_begins_with_a_sign() {
    let places = [
        "{\"password\": \"{}\", \"next\": 1}",
        "DB_PASSWORD=\"{}\"\n",
        "export API_TOKEN=\"{}\"\n",
        "password = \"{}\"\n",
        "password: '{}'\n",
        "<param name=\"password\">{}</param>",
        "Authorization: Bearer {}\nAccept: a",
        "X-Auth-Token: {}\nAccept: a",
        "mysql -p'{}' db",
        "tool --password '{}' --next",
    ];
    let mut leaked = Vec::new();
    for place in places {
        for sign in ["*", "%", "$", "/", "@", "#", "&", ","] {
            // In XML and in headers the one begins an entity or ends a command, and the other a variable of a build or a shell.
            if matches!(sign, "&" | "$") && (place.starts_with('<') || place.ends_with(": a")) {
                continue;
            }
            for len in 15..=40 {
                let rest = random(LETTERS, len, len as u64 * 31 + 5);
                // One in many has a run of small letters as a word has it.
                if rest.as_bytes().windows(6).any(|run| run.iter().all(u8::is_ascii_lowercase)) {
                    continue;
                }
                // What reads like a word behind a letter does so behind a sign.
                if left(&rest, &check(&place.replace("{}", &format!("q{rest}")))).is_some() {
                    continue;
                }
                let value = format!("{sign}{rest}");
                let out = check(&place.replace("{}", &value));
                if left(&value, &out).is_some() {
                    leaked.push((place, value, out));
                }
            }
        }
    }
    let count = leaked.len();
    leaked.dedup_by_key(|(place, value, _)| format!("{place}{}", &value[..1]));
    let shown: Vec<String> = leaked.iter().map(|(place, value, _)| format!("{value} in {place:?}")).collect();
    assert!(leaked.is_empty(), "{count}, of each place and sign one: {shown:#?}");
}

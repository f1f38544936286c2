//! Every way to write a name and its value, with values that chance made: nothing of a value is left.

use super::{check, random};
use crate::MARK;

/// So many values of each look stand in each place.
const ROUNDS: u64 = 6;
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const SIGNS: &str = "!#$%&*+,-./:;=?@^_~|()<>[]{}";

/// Names of secrets: each stands in each place.
const NAMES: &[&str] = &["SECRET_KEY", "API_KEY", "DB_PASSWORD", "client-secret", "jwtSecretKey"];

/// What a bare value of YAML does not begin with.
const YAML: &str = "!&*%@|>#`-?:,[]{}=\"'\\";
/// What ends a bare word of a shell, or stands for something else there.
const SHELL: &str = "\"'`\\$&|;<>()*?[]{}~#!=,";

/// A place with a name (`NAME`) and its value (`@@`), and the signs that end or change a value there.
const PLACES: &[(&str, &str)] = &[
    // Fields of their own.
    ("env:\n- name: NAME\n  value: @@\n- name: X\n  value: y\n", YAML),
    ("    - name: NAME\n      value: \"@@\"\n", "\"\\"),
    ("- value: @@\n  name: NAME\n", YAML),
    ("- value: '@@'\n  name: NAME\n", "'\\"),
    ("{\"name\":\"NAME\",\"value\":\"@@\"}", "\"\\"),
    ("{\"value\": \"@@\", \"name\": \"NAME\"}", "\"\\"),
    ("{\\\"name\\\":\\\"NAME\\\",\\\"value\\\":\\\"@@\\\"}", "\"\\"),
    ("{\"key\": \"NAME\", \"type\": \"string\", \"value\": \"@@\"}", "\"\\"),
    // Tables.
    ("| Name | Value |\n| --- | --- |\n| NAME | @@ |\n| X | y |\n", "|`\\*_"),
    ("| NAME | `@@` |\n", "|`\\"),
    ("| `NAME` | `@@` | of ann |\n", "|`\\"),
    ("name|value\nNAME|@@\n(1 row)\n", "|"),
    ("    name    |  value\n------------+---------\n NAME | @@\n(1 row)\n", "|"),
    // Code.
    ("define('NAME', '@@');", "'\\"),
    ("define(\"NAME\",\"@@\");", "\"\\$"),
    ("const NAME: string = \"@@\";", "\"\\"),
    ("let NAME: &'static str = \"@@\";", "\"\\"),
    ("pub const NAME: &str = \"@@\";", "\"\\"),
    ("var NAME string = \"@@\"", "\"\\"),
    ("const NAME string = `@@`", "`\\"),
    ("private val NAME: String = \"@@\"", "\"\\"),
    ("private static final String NAME = \"@@\";", "\"\\"),
    ("NAME: Final[str] = '@@'", "'\\"),
    ("const char *NAME = \"@@\";", "\"\\"),
    ("  readonly NAME?: string | undefined = '@@';", "'\\"),
    // Files of settings.
    ("FROM x\nENV NAME @@\nRUN ls\n", SHELL),
    ("FROM x\nENV NAME=@@\nRUN ls\n", SHELL),
    ("ENV NAME=\"@@\" OTHER=1\n", "\"\\$`"),
    ("[app]\nNAME=@@\nnext=1\n", "\"'`\\"),
    ("[app]\nNAME = @@\nnext = 1\n", "\"'`\\"),
    ("app.db.NAME=@@\nb=1\n", "\"'`\\"),
    ("app.db.NAME: @@\nb: 1\n", YAML),
    ("NAME: \"@@\"\n", "\"\\"),
    ("spring.db.NAME: |\n  @@\nnext: 1\n", "\\"),
    ("NAME: >-\n  @@\nnext: 1\n", "\\"),
    // Traces of a shell.
    ("+ export NAME=@@\n+ ls\n", SHELL),
    ("++ NAME=@@\n+ ls\n", SHELL),
    ("+ export 'NAME=@@'\n", "'\\"),
    ("+ NAME='@@'\n", "'\\"),
    ("+ docker run -e NAME=@@ image\n", SHELL),
    // XML.
    ("<db NAME=\"@@\" port=\"1\"/>", "\"\\<&"),
    ("<NAME>@@</NAME>", "\\<&"),
    ("<a:NAME type=\"x\">@@</a:NAME>", "\\<&"),
    ("<entry key=\"NAME\">@@</entry>", "\\<&"),
    ("<add key=\"NAME\" value=\"@@\"/>", "\"\\<&"),
    ("<add value=\"@@\" key=\"NAME\"/>", "\"\\<&"),
    // Headers and addresses.
    ("X-NAME: @@\nAccept: a\n", "\"'`\\"),
    ("curl -H \"X-NAME: @@\" https://example.org", "\"'`\\$"),
    ("https://example.org/?NAME=@@&x=1", "\"'`\\#&;<>[]{}|^%"),
];

/// Places in which the name is always that of a connection.
const CONNECTIONS: &[(&str, &str)] = &[
    ("Driver={ODBC Driver 18};Server=db;UID=sa;PWD={@@};Encrypt=yes", "{}\"'`\\"),
    ("Driver={ODBC Driver 18};Server=db;UID=sa;PWD=@@;Encrypt=yes", "{}\"'`\\;"),
    ("Server=db;User Id=sa;Password=@@;Encrypt=true", "{}\"'`\\;"),
    ("Server=db;User Id=sa;Password='@@';Encrypt=true", "\"'`\\"),
    ("\"Server=db;User Id=sa;Password=@@\"", "{}\"'`\\;"),
    ("AccountName=a;AccountKey=@@;EndpointSuffix=x", "{}\"'`\\;"),
];

/// Whether the value holds what a program replaces, or the word for a secret, which tells that it is none.
fn is_of_a_program(value: &str) -> bool {
    const PARTS: &[&str] =
        &["${", "$(", "{{", "}}", "{}", "://", "%s", "<%", "%{", "#{", "::", "...", "[A-", "[a-", "?.", "->"];
    const WORDS: &[&str] = &["key", "auth", "your", "todo"];
    let lower = value.to_lowercase();
    PARTS.iter().any(|part| value.contains(part)) || WORDS.iter().any(|word| lower.contains(word))
}

/// Values of every look, each with its name.
fn values(without: &str, seed: u64) -> Vec<(&'static str, String)> {
    let signs: String = SIGNS.chars().filter(|c| !without.contains(*c)).collect();
    let sign = |n: u64| if signs.is_empty() { "x".to_owned() } else { random(&signs, 1, seed * 7 + n) };
    let len = 12 + (seed as usize * 5) % 18;
    let mixed = |n: u64| format!("{}k7W", random(ALNUM, len - 3, seed * 11 + n));
    let half = len / 2;
    let (one, two) = (mixed(4), mixed(5));
    let all = vec![
        ("small letters", random(LOWER, len, seed)),
        ("letters", random(LETTERS, len, seed + 1)),
        ("letters and digits", mixed(1)),
        ("small letters and digits", format!("{}7x", random(&format!("{LOWER}{DIGITS}"), len, seed + 2))),
        ("a sign first", format!("{}{}", sign(1), mixed(2))),
        ("a sign last", format!("{}{}", mixed(3), sign(2))),
        ("a sign within", format!("{}{}{}", &one[..half], sign(3), &two[half..])),
        ("signs everywhere", format!("{}{}{}{}{}", sign(4), &one[..half], sign(5), &two[half..], sign(6))),
    ];
    all.into_iter().filter(|(_, value)| !is_of_a_program(value)).collect()
}

/// What is left of a text without its marks.
fn without_marks(text: &str) -> String {
    let mut parts = text.split(MARK);
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect::<String>()
}

/// The places in which something of a value is left, with the look of the value.
fn misses() -> (usize, Vec<(String, &'static str, String)>) {
    let named = PLACES
        .iter()
        .flat_map(|(place, without)| NAMES.iter().map(move |name| (place.replace("NAME", name), *without)));
    let fixed = CONNECTIONS.iter().map(|(place, without)| ((*place).to_owned(), *without));
    let (mut tried, mut missed) = (0, Vec::new());
    for (at, (place, without)) in named.chain(fixed).enumerate() {
        for round in 0..ROUNDS {
            for (look, value) in values(without, at as u64 * 100 + round + 1) {
                let out = check(&place.replace("@@", &value));
                tried += 1;
                if without_marks(&out).len() > place.len() - 2 {
                    missed.push((place.clone(), look, out));
                }
            }
        }
    }
    (tried, missed)
}

#[test]
fn nothing_is_left_of_a_value_of_any_look_in_any_place() {
    let (tried, missed) = misses();
    let mut shown: Vec<String> = Vec::new();
    let mut seen = std::collections::BTreeMap::new();
    for (place, look, out) in &missed {
        let count: &mut usize = seen.entry((place.clone(), *look)).or_default();
        *count += 1;
        if *count == 1 {
            shown.push(format!("{look}: {out:?}"));
        }
    }
    let shown = shown.join("\n");
    assert!(missed.is_empty(), "{} of {tried}:\n{shown}", missed.len());
}

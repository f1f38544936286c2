//! Whatever a file looks like: what is put in and taken out again leaves the same bytes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{json, toml};

/// JSON as people write it.
#[derive(Debug, Clone)]
struct Style {
    unit: &'static str,
    end: &'static str,
    mark: bool,
    comments: bool,
    trailing: bool,
    flat: bool,
    last_line: bool,
}

fn style() -> impl Strategy<Value = Style> {
    let unit = prop::sample::select(vec!["  ", "    ", "\t"]);
    let end = prop::sample::select(vec!["\n", "\r\n"]);
    (unit, end, any::<[bool; 5]>()).prop_map(|(unit, end, [mark, comments, trailing, flat, last_line])| {
        Style { unit, end, mark, comments: comments && !flat, trailing: trailing && !flat, flat, last_line }
    })
}

/// Files of tools: keys that we use too, and others.
fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(vec!["", "a \"quoted\" // word", "[{", "ü,"]).prop_map(Value::from),
    ];
    let key = prop::sample::select(vec!["mcpServers", "hooks", "SessionStart", "theme", "a.b", "x\\y"]);
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            3 => prop::collection::hash_map(key.clone().prop_map(str::to_owned), inner.clone(), 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
            1 => prop::collection::vec(inner, 0..3).prop_map(Value::Array),
        ]
    })
}

fn root() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec!["mcpServers", "hooks", "theme", "other"]).prop_map(str::to_owned);
    prop::collection::hash_map(key, tree(), 0..4).prop_map(|map| Value::Object(map.into_iter().collect()))
}

fn written(value: &Value, style: &Style) -> String {
    let mut text = if style.mark { "\u{feff}".to_owned() } else { String::new() };
    if style.comments {
        text.push_str(&format!("// a file of mine{}", style.end));
    }
    write(value, style, 0, &mut text);
    if style.last_line {
        text.push_str(style.end);
    }
    text
}

fn write(value: &Value, style: &Style, depth: usize, out: &mut String) {
    let (open, close, entries): (_, _, Vec<(Option<&String>, &Value)>) = match value {
        Value::Object(map) => ('{', '}', map.iter().map(|(k, v)| (Some(k), v)).collect()),
        Value::Array(list) => ('[', ']', list.iter().map(|v| (None, v)).collect()),
        scalar => return out.push_str(&scalar.to_string()),
    };
    let line = |out: &mut String, depth: usize| {
        if !style.flat {
            out.push_str(style.end);
            out.push_str(&style.unit.repeat(depth));
        }
    };
    out.push(open);
    for (at, (key, value)) in entries.iter().enumerate() {
        line(out, depth + 1);
        if style.comments && at == 0 {
            out.push_str("/* first */ ");
        }
        if let Some(key) = key {
            out.push_str(&format!("{}: ", json!(key)));
        }
        write(value, style, depth + 1, out);
        if at + 1 < entries.len() || style.trailing {
            out.push(',');
        }
        if style.comments {
            out.push_str(" // note, with a comma");
        }
    }
    if style.comments && entries.is_empty() {
        line(out, depth + 1);
        out.push_str("// nothing yet");
    }
    if !entries.is_empty() || style.comments {
        line(out, depth);
    }
    out.push(close);
}

fn server() -> Value {
    json!({ "command": "/usr/bin/baton", "args": ["mcp"] })
}

fn hook() -> Value {
    json!({ "matcher": "", "hooks": [{ "type": "command", "command": "baton hook session-start" }] })
}

type Step = (Vec<&'static str>, Option<&'static str>, Value);

fn steps() -> Vec<Step> {
    vec![
        (vec!["mcpServers"], Some("baton"), server()),
        (vec!["hooks", "SessionStart"], None, hook()),
        (vec!["hooks", "SessionEnd"], None, hook()),
        (vec!["a", "b", "c"], Some("d"), json!(true)),
    ]
}

fn put(text: &str, (path, key, value): &Step) -> Result<json::EditResult, super::EditError> {
    match key {
        Some(key) => json::set(text, path, key, value),
        None => json::push(text, path, value),
    }
}

fn take(text: &str, (path, key, value): &Step, made: &[Vec<String>]) -> String {
    let made = |path: &[&str]| made.iter().any(|keys| keys == path);
    match key {
        Some(key) => json::unset(text, path, key, &made),
        None => json::pull(text, path, &|known| known == value, &made),
    }
    .expect("what was put in can be taken out")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn taken_out_leaves_the_bytes_that_were_there(value in root(), style in style()) {
        let original = written(&value, &style);
        let mut text = original.clone();
        let mut done = Vec::new();
        for step in steps() {
            // A place that holds something else is refused; then nothing was changed.
            let Ok(edited) = put(&text, &step) else { continue };
            let again = put(&edited.text, &step).expect("twice");
            prop_assert_eq!(&again.text, &edited.text, "twice is once");
            prop_assert!(again.made.is_empty());
            text = edited.text;
            done.push((step, edited.made));
        }
        for (step, made) in done.iter().rev() {
            text = take(&text, step, made);
        }
        prop_assert_eq!(text, original);
    }

    #[test]
    fn a_damaged_file_is_refused_or_means_the_same(value in root(), style in style(), cut in any::<prop::sample::Index>()) {
        let text = written(&value, &style);
        let at = cut.index(text.len() + 1);
        if let Some(damaged) = text.get(..at)
            && let Ok(edited) = put(damaged, &steps()[0])
        {
            prop_assert_eq!(json::get(&edited.text, &["mcpServers", "baton"]).expect("valid"), Some(server()));
        }
    }

    #[test]
    fn tables_go_as_they_came(
        lines in prop::collection::vec(prop::sample::select(vec![
            "# note", "", "[profiles.x]", "[[hooks]]\nevent = \"Stop\"\ncommand = \"theirs\"", "[mcp_servers.other]\ncommand = \"o\"",
            "[mcp_servers]", "t = [\n  1,\n]", "s = '''\n[not.a.table]\n'''",
        ]), 0..6),
        crlf in any::<bool>(), last in any::<bool>(), mark in any::<bool>(),
    ) {
        let mut original = lines.join("\n");
        if last { original.push('\n'); }
        if mark { original.insert(0, '\u{feff}'); }
        if crlf { original = original.replace('\n', "\r\n"); }
        prop_assume!(toml::parse(&original).is_ok());
        let event = json!({ "event": "SessionStart", "command": "baton hook x", "timeout": 10 });
        let Ok(one) = toml::append(&original, &["mcp_servers", "baton"], false, &server()) else { return Ok(()) };
        prop_assert_eq!(toml::get(&one, &["mcp_servers", "baton"]).expect("valid"), Some(server()));
        let two = toml::append(&one, &["hooks"], true, &event).expect("a list of tables");
        let back = toml::remove(&two, &["hooks"], true, &|value| *value == event).expect("ours");
        prop_assert_eq!(&back, &one);
        let back = toml::remove(&back, &["mcp_servers", "baton"], false, &|value| *value == server()).expect("ours");
        prop_assert_eq!(back, original);
    }
}

#[track_caller]
fn check(before: &str, after: &str) {
    let edited = json::set(before, &["mcpServers"], "baton", &json!({ "command": "baton" })).expect("edited");
    assert_eq!(edited.text, after);
}

#[test]
fn an_entry_looks_like_its_neighbours() {
    check("{}", "{\n  \"mcpServers\": {\n    \"baton\": {\n      \"command\": \"baton\"\n    }\n  }\n}");
    check("", "{\n  \"mcpServers\": {\n    \"baton\": {\n      \"command\": \"baton\"\n    }\n  }\n}\n");
    check("{\"a\":1}", "{\"a\":1, \"mcpServers\": {\"baton\":{\"command\":\"baton\"}}}");
    check(
        "{\n\t\"mcpServers\": {\n\t\t\"x\": {}, // theirs\n\t}\n}\n",
        "{\n\t\"mcpServers\": {\n\t\t\"x\": {}, // theirs\n\t\t\"baton\": {\n\t\t\t\"command\": \"baton\"\n\t\t},\n\t}\n}\n",
    );
    check(
        "{\r\n  \"a\": 1 // last\r\n}",
        "{\r\n  \"a\": 1, // last\r\n  \"mcpServers\": {\r\n    \"baton\": {\r\n      \"command\": \"baton\"\r\n    }\r\n  }\r\n}",
    );
}

#[test]
fn a_value_of_ours_is_brought_up_to_date() {
    let old = "{\n  \"mcpServers\": {\n    \"baton\": { \"command\": \"/old/baton\" }, // mine\n    \"x\": 1\n  }\n}\n";
    let new = json::set(old, &["mcpServers"], "baton", &json!({ "command": "/new/baton" })).expect("edited");
    assert!(new.text.contains("\"/new/baton\"\n    }, // mine\n    \"x\": 1"), "{}", new.text);
}

#[test]
fn an_entry_of_ours_goes_even_when_others_came_behind_it() {
    let text = "{\n  \"mcpServers\": {\n    \"baton\": {},\n    \"later\": {}\n  }\n}\n";
    let less = json::unset(text, &["mcpServers"], "baton", &|_| true).expect("edited");
    assert_eq!(less, "{\n  \"mcpServers\": {\n    \"later\": {}\n  }\n}\n");
}

#[test]
fn a_broken_file_is_refused_with_its_place() {
    for (text, line, column) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3),
        ("{\n  \"a\": tru\n}", 2, 8),
        ("{ \"a\": [1, 2 }", 1, 14),
        ("{} x", 1, 4),
        ("{ /* ", 1, 3),
        ("{ 'a': 1 }", 1, 3),
        ("{ \"a", 1, 3),
    ] {
        let broken = json::set(text, &[], "k", &json!(1)).expect_err(text);
        assert_eq!((broken.line, broken.column), (line, column), "{text}: {broken}");
    }
    let broken =
        json::set("{ \"mcpServers\": [] }", &["mcpServers"], "baton", &json!(1)).expect_err("a list");
    assert_eq!(broken.to_string(), "line 1, column 17: `mcpServers` is not an object");
    let deep = "[".repeat(100_000);
    assert!(json::set(&deep, &[], "k", &json!(1)).expect_err("deep").what.contains("too deep"));
    let broken = toml::append("a = 1\nb = = 2\n", &["x"], false, &json!({})).expect_err("broken");
    assert_eq!((broken.line, broken.column), (2, 5), "{broken}");
}

#[test]
fn a_table_written_another_way_is_left_alone() {
    for text in ["mcp_servers = { other = {} }\n", "hooks = []\nmcp_servers.baton.command = \"x\"\n"] {
        assert!(toml::append(text, &["mcp_servers", "baton"], false, &server()).is_err(), "{text}");
    }
    let more = "[mcp_servers.baton]\ncommand = \"baton\"\nargs = [\"mcp\"]\nextra = 1\n[mcp_servers.baton.tools.x]\ny = 1\n[z]\n";
    let less = toml::remove(more, &["mcp_servers", "baton"], false, &|value| value["command"] == "baton");
    assert_eq!(less.expect("ours"), "[z]\n");
}

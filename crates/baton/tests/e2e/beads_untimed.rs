//! A script that takes something out of a line of the Beads file and leaves the line's time as it was.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::beads_verbs::{bd, bd_json, made};
use crate::stage::Stage;

/// Changes the lines of a file as a script does that knows nothing of times.
fn edit(file: &Path, change: impl Fn(&mut Map<String, Value>)) {
    let text = fs::read_to_string(file).expect("a file");
    let lines = text.lines().map(|line| {
        let mut fields: Map<String, Value> = serde_json::from_str(line).expect("a line");
        change(&mut fields);
        Value::Object(fields).to_string() + "\n"
    });
    fs::write(file, lines.collect::<String>()).expect("written");
}

#[test]
fn a_removal_without_a_new_time_is_named_once_with_the_command_that_does_it() {
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    let ann = stage.terminal("Ann");
    let first = made(&ann, &["one", "-l", "x,y", "-d", "what it is"]);
    let second = made(&ann, &["two", "--deps", &first]);
    bd(&ann, &["comment", &first, "a remark"]).done();
    bd(&ann, &["update", &first, "--design", "a plan", "--estimate", "30"]).done();
    let file = stage.shop().join(".beads/issues.jsonl");
    let script = |fields: &mut Map<String, Value>| {
        if fields["title"] == "one" {
            fields.insert("labels".into(), json!(["y"]));
            for name in ["comments", "design", "estimated_minutes"] {
                fields.remove(name);
            }
        } else {
            fields.remove("dependencies");
        }
    };
    edit(&file, script);
    let answer = bd(&ann, &["list"]).done();
    for expected in [
        format!(
            "kept the ledger's label `x` of {first}: the line is not newer; `bd update {first} --remove-label x`"
        ),
        format!(
            "kept the ledger's design of {first}: the line is not newer; `bd update {first} --design \"\"`"
        ),
        format!(
            "kept the ledger's estimated_minutes of {first}: the line is not newer; give it a newer `updated_at`"
        ),
        format!("kept the ledger's comment of {first}"),
        format!(
            "kept the ledger's dependency on {first} of {second}: the line is not newer; `bd dep remove {second} {first}`"
        ),
    ] {
        assert!(answer.err.contains(&expected), "{expected}\n{answer:?}");
    }
    // The same line says it once.
    edit(&file, script);
    let again = bd(&ann, &["list"]).done();
    assert!(!again.err.contains("kept the ledger's"), "{again:?}");
    // What the answer names does it.
    bd(&ann, &["update", &first, "--remove-label", "x"]).done();
    bd(&ann, &["update", &first, "--design", ""]).done();
    bd(&ann, &["dep", "remove", &second, &first]).done();
    let issue = &bd_json(&ann, &["show", &first])[0];
    assert_eq!((&issue["labels"], &issue["design"]), (&json!(["y"]), &Value::Null), "{issue}");
}

#[test]
fn a_removal_with_a_new_time_is_taken() {
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    let ann = stage.terminal("Ann");
    let id = made(&ann, &["one", "-l", "x,y", "-d", "what it is"]);
    edit(&stage.shop().join(".beads/issues.jsonl"), |fields| {
        fields.insert("labels".into(), json!(["y"]));
        fields.remove("description");
        fields.insert("updated_at".into(), json!("2999-01-01T00:00:00Z"));
    });
    let answer = bd(&ann, &["show", &id, "--json"]).done();
    let issue = &answer.json()[0];
    assert_eq!((&issue["labels"], &issue["description"]), (&json!(["y"]), &Value::Null), "{issue}");
    assert!(!answer.err.contains("kept the ledger's"), "{answer:?}");
}

#[test]
fn an_import_names_the_removal_in_the_words_of_its_own_face() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let id = made(&ann, &["one", "-l", "x"]);
    ann.run(&["export", "beads", "."]).done();
    edit(&stage.shop().join(".beads/issues.jsonl"), |fields| _ = fields.remove("labels"));
    let hint = format!("`baton task update {id} --remove-label x`");
    for once in [true, false] {
        let answer = ann.run(&["import", "beads", "."]).done();
        assert_eq!(answer.out.contains(&hint), once, "{answer:?}");
    }
}

//! The table of operations: no file forgotten, names unique and sorted, one line about each, every input said.

use std::path::Path;

use baton_ops::all::ALL;
use serde_json::Value;

fn schema(entry: &baton_ops::op::OperationEntry) -> Value {
    serde_json::to_value((entry.input_schema)()).expect("a schema is JSON")
}

#[test]
fn names_are_unique_and_sorted() {
    let names: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
}

#[test]
fn a_name_is_noun_first_in_snake_case() {
    for entry in ALL {
        let good = entry.name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(good && entry.name.split('_').count() == 2, "{}", entry.name);
    }
}

#[test]
fn a_doc_is_one_line_in_the_imperative_without_a_full_stop() {
    for entry in ALL {
        let doc = entry.doc;
        assert!(doc.chars().count() <= 100 && !doc.contains('\n'), "{}: {doc}", entry.name);
        assert!(!doc.ends_with(['.', '!', ' ']), "{}: {doc}", entry.name);
        assert!(doc.starts_with(char::is_uppercase), "{}: {doc}", entry.name);
        let verb = doc.split(' ').next().unwrap_or_default();
        let imperative = !verb.ends_with("ing") && (!verb.ends_with('s') || verb.ends_with("ss"));
        assert!(imperative, "{}: {doc}", entry.name);
    }
}

#[test]
fn docs_are_not_repeated() {
    for (at, entry) in ALL.iter().enumerate() {
        assert!(ALL[..at].iter().all(|other| other.doc != entry.doc), "{}", entry.name);
    }
}

#[test]
fn an_input_denies_what_it_does_not_know() {
    for entry in ALL {
        let schema = schema(entry);
        assert_eq!(schema["type"], "object", "{}", entry.name);
        assert_eq!(schema["additionalProperties"], Value::Bool(false), "{}", entry.name);
    }
}

#[test]
fn every_property_of_an_input_is_documented() {
    for entry in ALL {
        let schema = schema(entry);
        let empty = serde_json::Map::new();
        for (name, property) in schema["properties"].as_object().unwrap_or(&empty) {
            let doc = property["description"].as_str().unwrap_or_default();
            assert!(!doc.trim().is_empty(), "{}.{name} has no documentation", entry.name);
        }
    }
}

#[test]
fn every_file_with_an_operation_is_in_the_table() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let table = std::fs::read_to_string(src.join("all.rs")).expect("the table");
    let mut found = 0;
    for folder in std::fs::read_dir(&src).expect("the sources") {
        let folder = folder.expect("an entry").path();
        if !folder.is_dir() {
            continue;
        }
        let noun = folder.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        for file in std::fs::read_dir(&folder).expect("a folder") {
            let file = file.expect("an entry").path();
            let code = std::fs::read_to_string(&file).expect("a source");
            for part in code.split("impl Operation for ").skip(1) {
                let name = part.split([' ', '{']).next().unwrap_or_default();
                let line = format!("entry::<{noun}::{name}>()");
                assert!(table.contains(&line), "{} is not in the table: {line}", file.display());
                found += 1;
            }
        }
    }
    assert_eq!(found, ALL.len(), "every line of the table is a file's");
}

//! The keys of a JSON object have no order: exporters and other programs write them in another one, and with blanks.

use std::fs;
use std::path::{Path, PathBuf};

use baton_transcripts::{TranscriptFile, detect};
use serde_json::{Value, json};

use super::subagents::Script;
use super::{column, packet, sample};

/// A value with the keys of each object from the last to the first, and blanks where they may stand.
fn turned(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let fields = map.iter().rev().map(|(key, value)| format!("{}: {}", json!(key), turned(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(turned).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// A line with its type before all else.
fn type_first(value: &Value) -> String {
    let Value::Object(map) = value else { return turned(value) };
    let (first, rest): (Vec<_>, Vec<_>) = map.iter().partition(|(key, _)| *key == "type");
    let fields =
        first.into_iter().chain(rest).map(|(key, value)| format!("{}: {}", json!(key), turned(value)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

fn rewritten(path: &Path, to: &Path, line: fn(&Value) -> String) {
    let text = fs::read_to_string(path).expect("a text");
    let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let lines: Vec<String> = lines.map(|value: Value| line(&value)).collect();
    fs::write(to, lines.join("\n") + "\n").expect("written");
}

/// A packet without what is of the file and not of the conversation.
fn of_conversation(path: &Path) -> Value {
    let mut packet = packet(path);
    packet["source"]["path"] = Value::Null;
    packet["metadata"]["transcript"] = Value::Null;
    packet
}

fn samples(tool: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(sample(tool)).expect("a folder").flatten().map(|entry| entry.path());
    let is_whole = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.ends_with(".jsonl") && !name.starts_with("damaged") && !name.starts_with("empty")
    };
    entries.filter(is_whole).collect()
}

#[test]
fn a_session_says_the_same_whatever_the_order_of_its_keys() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in ["claude", "codex", "pi", "gemini", "droid"].into_iter().flat_map(samples) {
        let wanted = of_conversation(&path);
        for line in [turned as fn(&Value) -> String, type_first] {
            let copy = folder.path().join(path.file_name().expect("a name"));
            rewritten(&path, &copy, line);
            assert_eq!(of_conversation(&copy), wanted, "{}", path.display());
        }
    }
}

/// What a listing shows of a session.
fn listed(path: &Path) -> Vec<Option<String>> {
    let format = detect(path).expect("a known format");
    let header = format.header(&TranscriptFile::from_path(format.id(), path).expect("a file"));
    let mut of_file: Vec<Option<String>> =
        vec![header.model, header.branch, header.title, header.first_prompt];
    of_file.extend([header.cwd, Some(header.id)]);
    of_file
}

#[test]
fn a_listing_shows_the_same_whatever_the_order_of_the_keys() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in ["claude", "codex"].into_iter().flat_map(samples) {
        for line in [turned as fn(&Value) -> String, type_first] {
            let copy = folder.path().join(path.file_name().expect("a name"));
            rewritten(&path, &copy, line);
            assert_eq!(listed(&copy), listed(&path), "{}", path.display());
        }
    }
    let titled = folder.path().join("titled.jsonl");
    let talk = r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"say custom-title"}}"#;
    let title = r#"{"customTitle": "Prices", "sessionId": "s1", "type": "custom-title"}"#;
    fs::write(&titled, format!("{talk}\n{title}\n")).expect("written");
    assert!(listed(&titled).contains(&Some("Prices".to_owned())), "{:?}", listed(&titled));
}

#[test]
fn a_sub_agent_among_the_lines_of_the_session_is_read_whatever_the_order_of_the_keys() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    let session = Script::new()
        .user("create a TODO app")
        .task("Make the page", |agent| agent.write("page.tsx"), "Done.")
        .say("Complete.");
    fs::write(&path, session.text()).expect("written");
    assert_eq!(column(&packet(&path), "files_modified", "path"), ["page.tsx"]);
    for line in [turned as fn(&Value) -> String, type_first] {
        let copy = folder.path().join("b.jsonl");
        rewritten(&path, &copy, line);
        assert_eq!(column(&packet(&copy), "files_modified", "path"), ["page.tsx"]);
    }
}

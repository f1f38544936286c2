//! The reference pages under `docs/` are written from the code: a test compares them, `BATON_WRITE_DOCS=1` writes them.
#![allow(clippy::disallowed_methods, reason = "a test may read its environment")]

use std::fmt::Write as _;
use std::path::Path;

use baton_model::handoff_message::{Envelope, Kind};
use clap::Command;

fn page() -> String {
    let mut text = String::from(
        "# Command reference\n\nWritten by a test from the command line itself; do not edit. Every command also takes the flags of\n`baton` (below). Exit codes: 0 done, 1 refused, 2 usage, 3 not found, 4 conflict, 5 an outside system failed, 6 a fault of\nours, 130 interrupted, 141 nobody read the answer.\n",
    );
    let mut command = super::help::grouped(super::command().term_width(100));
    command.build();
    section(&mut text, &command, "");
    for (name, topic) in super::help::topics() {
        let _ = write!(text, "\n## `baton help {name}`\n\n```text\n{}\n```\n", topic.trim_end());
    }
    text
}

fn section(text: &mut String, command: &Command, path: &str) {
    let name = format!("{path}{}", command.get_name());
    let help = command.clone().bin_name(&name).render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let shown = if path.is_empty() { lines } else { own_lines(&lines) };
    let _ = write!(text, "\n## `{name}`\n\n```text\n{}\n```\n", shown.join("\n").trim_end());
    for sub in command.get_subcommands() {
        section(text, sub, &format!("{name} "));
    }
}

/// Help without what every command has: the global options, --help and --version.
fn own_lines<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut own = Vec::new();
    let mut skipping = false;
    for line in lines {
        let flag = line.trim_start();
        if flag.starts_with('-') {
            let mut names = flag.split([' ', ',']);
            skipping = names.any(|name| matches!(name, "--help" | "--version"));
        } else if !line.starts_with(' ') && !line.is_empty() {
            skipping = false;
        }
        if *line == "Global options:" {
            break;
        }
        if !skipping {
            own.push(*line);
        }
    }
    if own.iter().rev().find(|line| !line.is_empty()) == Some(&"Options:") {
        own.retain(|line| *line != "Options:");
    }
    own
}

fn schemas() -> String {
    let mut table = serde_json::Map::new();
    for entry in baton_ops::all::ALL {
        let access = if entry.tx_mode == baton_ops::op::TxMode::Read { "read" } else { "write" };
        let schema = (entry.input_schema)();
        table.insert(
            entry.name.into(),
            serde_json::json!({ "doc": entry.doc, "access": access, "input": schema }),
        );
    }
    format!("{:#}\n", serde_json::Value::Object(table))
}

/// The typed hand-off messages, one schema each.
fn messages() -> String {
    let all = Kind::ALL.map(|kind| (kind.as_str().to_owned(), serde_json::json!(kind.schema())));
    format!("{:#}\n", serde_json::Value::Object(all.into_iter().collect()))
}

fn check(file: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file);
    if std::env::var_os("BATON_WRITE_DOCS").is_some() {
        std::fs::write(&path, wanted).expect("written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/{file} is not what the code says; run the tests once with BATON_WRITE_DOCS=1"
    );
}

#[test]
fn the_command_reference_is_what_the_code_says() {
    check("cli.md", &page());
}

#[test]
fn the_troubleshooting_page_is_what_the_table_says() {
    check("troubleshooting.md", &super::error_codes::page());
}

#[test]
fn the_operation_reference_is_what_the_code_says() {
    check("operations.json", &schemas());
}

#[test]
fn the_message_reference_is_what_the_code_says() {
    check("messages.json", &messages());
}

#[test]
fn the_messages_shown_in_the_documentation_fit() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mail.md");
    let text = std::fs::read_to_string(page).expect("docs/mail.md");
    let blocks: Vec<&str> =
        text.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let message: serde_json::Value = serde_json::from_str(block).expect(block);
        let word = |field: &str| message[field].as_str().expect(field);
        let envelope = Envelope { from: word("from_agent"), to: word("to_agent"), at: "" };
        let kind = Kind::from_word(word("type")).expect(block);
        assert_eq!(baton_model::handoff_message::check(kind, &message, &envelope), Ok(()), "{block}");
    }
}

#[test]
fn the_reference_of_mcp_lists_is_what_the_code_says() {
    check("mcp-tools.json", &format!("{:#}\n", baton_mcp::lists()));
}

/// The part of a page between two marks, replaced.
fn with_part(page: &str, mark: &str, part: &str) -> String {
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let (before, rest) = page.split_once(&begin).expect("the mark is there");
    let (_, after) = rest.split_once(&end).expect("its end is there");
    format!("{before}{begin}{part}{end}{after}")
}

#[test]
fn the_tables_of_beads_verbs_and_lines_are_what_the_code_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/beads.md");
    let page = std::fs::read_to_string(path).expect("docs/beads.md");
    let page = with_part(&page, "verbs", &super::bd::reference::table());
    check("beads.md", &with_part(&page, "lines", &super::bd::lines::tables()));
}

#[test]
fn the_command_line_is_well_formed() {
    super::command().debug_assert();
}

#[test]
fn every_command_begins_with_one_imperative_line() {
    fn walk(command: &Command) {
        for sub in command.get_subcommands() {
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(
                !about.is_empty() && !about.ends_with('.') && about.len() <= 100,
                "{}: {about}",
                sub.get_name()
            );
            walk(sub);
        }
    }
    walk(&super::command());
}

//! Every command that a refusal or an answer names is one that there is, with the options that it has. The texts are read from
//! the source, so that a new hint is checked without being listed anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Command;

/// The commands that are meant by options that a file's texts name without a command: `say --why REASON`. `*` stands for the
/// options that every command has.
const BARE: &[(&str, &[&str])] = &[
    ("model/src/access.rs", &["token create"]),
    ("model/src/accounting.rs", &["mail ack"]),
    ("model/src/agent.rs", &["agent register"]),
    ("model/src/baton.rs", &["pickup"]),
    ("model/src/instructions/command.rs", &["status"]),
    ("model/src/lease/mod.rs", &["lease take"]),
    ("model/src/row_action.rs", &["handoff cancel", "mail send", "*"]),
    ("model/src/session/identity_conflict.rs", &["start", "pickup"]),
    ("model/src/task/claim.rs", &["task claim"]),
    ("model/src/tracker.rs", &["handoff create"]),
    ("ops/src/session/waiting_changes.rs", &["pickup"]),
    ("ops/src/token_rights.rs", &["pickup", "end"]),
    ("ops/src/baton/withdraw.rs", &["batons withdraw"]),
    ("ops/src/handoff/outdated_news.rs", &["handoff create"]),
    ("ops/src/handoff/acceptor.rs", &["handoff complete", "handoff decline", "task close"]),
    ("ops/src/handoff/outdated_news.rs", &["handoff create"]),
    ("ops/src/handoff/publish.rs", &["handoff publish"]),
    ("ops/src/key/mod.rs", &["key create", "key add"]),
    ("ops/src/project_hint.rs", &["*"]),
    ("ops/src/lease/release.rs", &["lease release"]),
    ("ops/src/ledger/export.rs", &["log export"]),
    ("ops/src/ledger/import.rs", &["log import", "*"]),
    ("ops/src/message/mail_send.rs", &["mail send"]),
    ("ops/src/ownership.rs", &["wrap", "*"]),
    ("ops/src/locate.rs", &["*"]),
    ("ops/src/portable/reclaim.rs", &["handoff reclaim"]),
    ("ops/src/resolve.rs", &["wrap", "*"]),
    ("ops/src/session/checkpoint.rs", &["checkpoint"]),
    ("ops/src/session/end.rs", &["end"]),
    ("ops/src/session/force.rs", &["wrap", "end"]),
    ("ops/src/card/sent.rs", &["handoff retry"]),
    ("ops/src/session/wrap_packet.rs", &["wrap"]),
    ("ops/src/task/close.rs", &["task close"]),
    ("ops/src/transcript/find.rs", &["import-transcript"]),
    ("ops/src/transcript/isolation.rs", &["*"]),
    ("store/src/ledger_transfer.rs", &["store copy"]),
    ("store/src/engine/fault.rs", &["*"]),
];

/// Texts that begin like a command and are none.
const PROSE: [&str; 3] = ["baton serves on", "baton delta", "baton withdrawn"];

/// Crates whose refusals name options without a command.
const RULES: [&str; 3] = ["model", "ops", "store"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the crates")
}

/// Files of production code with their texts, by their path below `crates`.
fn sources() -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for krate in ["baton", "mcp", "model", "ops", "store"] {
        walk(&crates().join(krate).join("src"), &mut found);
    }
    found
}

/// Files whose literals are data about commands, and no texts: groups, and what is tested here.
const NO_TEXTS: [&str; 3] = ["blocks.rs", "hints.rs", "usage.rs"];

fn walk(folder: &Path, found: &mut BTreeMap<String, Vec<String>>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if entry.is_dir() && name != "tests" {
            walk(&entry, found);
        } else if name.ends_with(".rs") && !name.contains("tests") && !NO_TEXTS.contains(&name.as_str()) {
            let text = std::fs::read_to_string(&entry).expect("a source file");
            let production = text.split("#[cfg(test)]").next().unwrap_or_default();
            let below = entry.strip_prefix(crates()).expect("below the crates");
            found.insert(below.display().to_string(), literals(production));
        }
    }
}

/// The string literals of Rust code, without their escapes.
fn literals(code: &str) -> Vec<String> {
    let chars: Vec<char> = code.chars().collect();
    let (mut at, mut found) = (0, Vec::new());
    while let Some(c) = chars.get(at) {
        let next = chars.get(at + 1);
        match c {
            '/' if next == Some(&'/') => at += chars[at..].iter().take_while(|c| **c != '\n').count(),
            '\'' if next == Some(&'\\') => at += 3,
            '\'' if chars.get(at + 2) == Some(&'\'') => at += 3,
            '"' => {
                let mut text = String::new();
                at += 1;
                while let Some(c) = chars.get(at).filter(|c| **c != '"') {
                    match (c, chars.get(at + 1)) {
                        // A line that goes on leaves out the spaces of the next.
                        ('\\', Some('\n')) => {
                            at += 2;
                            at += chars[at..].iter().take_while(|c| c.is_whitespace()).count();
                        }
                        ('\\', Some('n')) => (at, _) = (at + 2, text.push('\n')),
                        ('\\', Some(escaped)) => (at, _) = (at + 2, text.push(*escaped)),
                        (c, _) => (at, _) = (at + 1, text.push(*c)),
                    }
                }
                at += 1;
                found.push(text);
            }
            _ => at += 1,
        }
    }
    found
}

/// The command lines of a text: between backticks, after a colon, or as the whole of it.
fn command_lines(text: &str) -> Vec<String> {
    let mut found: Vec<String> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| code.starts_with("baton "))
        .map(str::to_owned)
        .collect();
    if text.starts_with("baton ") && !PROSE.iter().any(|prose| text.starts_with(prose)) {
        found.push(text.split(['\n', '`']).next().unwrap_or_default().to_owned());
    }
    if let Some((_, rest)) = text.split_once(": baton ") {
        found.push(format!("baton {}", rest.split(['\n', '`']).next().unwrap_or_default()));
    }
    found
}

/// The text outside of its commands.
fn bare(text: &str) -> String {
    if text.starts_with("baton ") {
        return String::new();
    }
    let outside: Vec<&str> = text.split('`').step_by(2).collect();
    outside.join(" ").split(": baton ").next().unwrap_or_default().to_owned()
}

fn options(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
    let words = text.split(|c: char| !is_part(c)).filter_map(|word| word.strip_prefix("--"));
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase())).map(str::to_owned).collect()
}

fn longs(command: &Command, global: bool) -> BTreeSet<String> {
    let own = command.get_arguments().filter(|arg| arg.is_global_set() == global);
    own.flat_map(|arg| {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        arg.get_long().into_iter().chain(aliases).map(str::to_owned).collect::<Vec<_>>()
    })
    .collect()
}

/// What is wrong with a command line, if anything is. A word in capitals or braces stands for a value.
fn wrong(root: &Command, line: &str) -> Option<String> {
    let mut command = root;
    let is_word =
        |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-');
    let mut words = line.split_whitespace().skip(1).peekable();
    // An option of every command may stand before the verb, with its value.
    while words.next_if(|word| word.starts_with("--")).is_some() {
        words.next();
    }
    for word in words {
        let word = word.trim_end_matches([',', '.', ';', ')', ':', '?']);
        let inner = is_word(word).then(|| {
            command
                .get_subcommands()
                .find(|sub| sub.get_name() == word || sub.get_all_aliases().any(|a| a == word))
        });
        match inner {
            Some(Some(sub)) => command = sub,
            Some(None) if command.has_subcommands() && !word.is_empty() => {
                return Some(format!("`{line}`: there is no `{} {word}`", command.get_name()));
            }
            _ => break,
        }
    }
    // A group alone prints its help, and does nothing that a text could promise. `baton {id}` is no command.
    let is_group = command.is_subcommand_required_set() && command.get_name() != root.get_name();
    if is_group && options(line).is_empty() {
        return Some(format!("`{line}`: `{}` needs one of its commands", command.get_name()));
    }
    let known = &longs(command, false) | &longs(command, true);
    let known = &known | &longs(root, true);
    let missing = options(line).into_iter().find(|option| option != "help" && !known.contains(option))?;
    Some(format!("`{line}`: `{}` has no --{missing}", command.get_name()))
}

/// The pages and the table of refusals, by their path in the repository, without what stands in blocks of code: `blocks` parses that.
fn pages() -> BTreeMap<String, String> {
    let root = crates().join("..");
    let pages = ["docs", "docs/internals"].into_iter().flat_map(|folder| {
        let entries = std::fs::read_dir(root.join(folder)).expect("the pages");
        entries.map(|entry| entry.expect("a page").path())
    });
    let pages = pages.filter(|page| page.extension().is_some_and(|ending| ending == "md"));
    pages
        .chain([root.join("README.md"), crates().join("baton/src/cli/help/errors.toml")])
        .map(|page| {
            let text = std::fs::read_to_string(&page).expect("a page");
            let prose = text.split("```").step_by(2).collect::<Vec<_>>().join("\n");
            (page.display().to_string(), prose)
        })
        .collect()
}

fn by_path<'a>(root: &'a Command, path: &str) -> Option<&'a Command> {
    path.split(' ').try_fold(root, |command, word| command.find_subcommand(word))
}

#[test]
fn every_command_that_a_text_names_is_there() {
    let root = super::command();
    let mut found = Vec::new();
    for (file, texts) in sources() {
        let lines = texts.iter().flat_map(|text| command_lines(text));
        found.extend(lines.filter_map(|line| wrong(&root, &line)).map(|what| format!("{file}: {what}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_command_that_a_page_names_is_there() {
    let root = super::command();
    let mut found = Vec::new();
    for (page, text) in pages() {
        // A heading names a group, and so does the guide, which says what each is for.
        let is_guide = page.ends_with("guide.md");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let codes = line.split('`').skip(1).step_by(2).filter(|code| code.starts_with("baton "));
            let is_name = |code: &&str| is_guide && code.split(' ').count() == 2;
            let wrong = codes.filter(|code| !is_name(code)).filter_map(|code| wrong(&root, code));
            found.extend(wrong.map(|what| format!("{page}: {what}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_option_that_a_rule_names_is_one_of_the_command_that_is_meant() {
    let root = super::command();
    let mut found = Vec::new();
    for (file, texts) in sources() {
        if !RULES.iter().any(|krate| file.starts_with(&format!("{krate}/"))) {
            continue;
        }
        let targets = BARE.iter().find(|(name, _)| *name == file).map_or(&[][..], |(_, commands)| *commands);
        let known: BTreeSet<String> = targets
            .iter()
            .flat_map(|path| match *path {
                "*" => longs(&root, true),
                path => longs(by_path(&root, path).unwrap_or_else(|| panic!("no command {path}")), false),
            })
            .collect();
        for text in texts.iter().filter(|text| text.contains(' ')) {
            let missing = options(&bare(text)).into_iter().find(|option| !known.contains(option));
            found.extend(missing.map(|option| format!("{file}: --{option} is none of {targets:?}: {text}")));
        }
    }
    assert!(found.is_empty(), "name its command, or say in BARE which is meant:\n{}", found.join("\n"));
}

#[test]
fn what_is_not_there_is_found() {
    let root = super::command();
    for line in [
        "baton tokn create",
        "baton token create --project-only",
        "baton pickup --handof ID",
        "baton task clse ID",
        "baton config",
        "baton token",
    ] {
        assert!(wrong(&root, line).is_some(), "{line}");
    }
    for line in [
        "baton status",
        "baton token create --only shop",
        "baton pickup --handoff {next}",
        "baton help packet",
        "baton config show",
        "baton token --help",
    ] {
        assert_eq!(wrong(&root, line), None);
    }
    assert_eq!(options("use a token without --project, or --a-b"), ["project", "a-b"]);
    assert!(!longs(by_path(&root, "token create").expect("a command"), false).contains("project"));
}

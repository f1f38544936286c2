//! Lines as Beads' documentation has them, a file for each document: what becomes of each here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

use clap::Parser;

use super::args::Bd;
use super::failure::{in_words_of_bd, misused_refusal, unsupported};

/// The documents: what they are, and the lines that begin with `bd` in them, each once.
const DOCUMENTS: [(&str, &str); 6] = [
    ("skill for agents, with its command reference", include_str!("skill.txt")),
    ("agent instructions", include_str!("instructions.txt")),
    ("README", include_str!("readme.txt")),
    ("FAQ", include_str!("faq.txt")),
    ("guides: first steps, ways of working, gates, trouble", include_str!("guides.txt")),
    ("command reference", include_str!("reference.txt")),
];

/// Verbs that keep the database, its server and its copies, or that connect it with other trackers and tools: they are for the
/// person who runs an installation, and no agent calls them in its day.
const MAINTENANCE: [&str; 37] = [
    "config",
    "init",
    "admin",
    "ado",
    "backup",
    "branch",
    "compact",
    "connect",
    "diff",
    "doctor",
    "federation",
    "flatten",
    "gc",
    "github",
    "gitlab",
    "jira",
    "lease",
    "linear",
    "metrics",
    "migrate",
    "notion",
    "prune",
    "purge",
    "recover",
    "rename-prefix",
    "repair",
    "repo",
    "reset",
    "restore",
    "rules",
    "serve",
    "setup",
    "sql",
    "upgrade",
    "vc",
    "cleanup",
    "init-safety",
];

/// What `bd dolt` has for every day: the rest of it keeps a database server.
const DOLT_OF_EVERY_DAY: [&str; 3] = ["commit", "pull", "push"];

/// What becomes of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LineStatus {
    /// It is carried out.
    Done,
    /// The answer says what to use in its place.
    Answered(String),
    /// It is not understood.
    Unknown(String),
}

/// The words of a line, quotation marks understood.
fn split_words(line: &str) -> Vec<String> {
    let (mut words, mut quote, mut open) = (Vec::new(), None, false);
    for c in line.chars() {
        if c == ' ' && quote.is_none() {
            open = false;
            continue;
        }
        if !open {
            words.push(String::new());
            open = true;
        }
        match quote {
            Some(mark) if c == mark => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => words.last_mut().expect("open").push(c),
        }
    }
    words
}

/// What becomes of each line of the documents: building the command line for each takes its time, and is done once.
fn fate(line: &str) -> LineStatus {
    static FATES: LazyLock<BTreeMap<&str, LineStatus>> =
        LazyLock::new(|| all().into_iter().map(|line| (line, parsed(line))).collect());
    FATES[line].clone()
}

fn parsed(line: &str) -> LineStatus {
    let given = split_words(line);
    let words = given.get(1..).unwrap_or_default();
    let (refusal, is_error) = match Bd::try_parse_from(&given) {
        Ok(bd) => match unsupported(&bd, words) {
            Some(refusal) => (refusal, true),
            None => return LineStatus::Done,
        },
        Err(error) => (misused_refusal(&error, words), error.use_stderr()),
    };
    match refusal.code {
        "not_supported" => LineStatus::Answered(in_words_of_bd(&refusal.hint)),
        _ if !is_error => LineStatus::Done,
        _ => LineStatus::Unknown(refusal.to_string()),
    }
}

fn is_maintenance(line: &str) -> bool {
    let given = split_words(line);
    let mut verbs = given.iter().skip(1).map(String::as_str).filter(|word| !word.starts_with('-'));
    match verbs.next() {
        Some("dolt") => !verbs.next().is_some_and(|verb| DOLT_OF_EVERY_DAY.contains(&verb)),
        Some(verb) => MAINTENANCE.contains(&verb),
        None => false,
    }
}

/// The lines of a document.
fn lines_of(text: &str) -> BTreeSet<&str> {
    text.lines().collect()
}

/// Every line of every document, once.
fn all() -> BTreeSet<&'static str> {
    DOCUMENTS.iter().flat_map(|(_, text)| text.lines()).collect()
}

/// How many lines there are, and how many of them are done, answered and unknown.
fn count<'a>(lines: impl IntoIterator<Item = &'a str>) -> [usize; 4] {
    let mut counts = [0; 4];
    for line in lines {
        counts[0] += 1;
        counts[match fate(line) {
            LineStatus::Done => 1,
            LineStatus::Answered(_) => 2,
            LineStatus::Unknown(_) => 3,
        }] += 1;
    }
    counts
}

/// The tables for the page: how many lines of each document are done, and every line that is not, with what to use.
pub(in crate::cli) fn tables() -> String {
    let mut text = String::from(
        "| Document of Beads | Lines | Done | Answered with what to use | Neither |\n| --- | --- | --- | --- | --- |\n",
    );
    let (maintenance, daily): (Vec<&str>, Vec<&str>) =
        all().into_iter().partition(|line| is_maintenance(line));
    let documents = DOCUMENTS.map(|(name, text)| (name, count(lines_of(text))));
    let kinds =
        [("all of them, of daily use", count(daily)), ("all of them, of maintenance", count(maintenance))];
    for (name, [lines, done, answered, unknown]) in documents.into_iter().chain(kinds) {
        let _ = writeln!(text, "| {name} | {lines} | {done} | {answered} | {unknown} |");
    }
    text.push_str("\nThe lines that are answered with what to use, and the answer:\n\n| Line | Answer |\n| --- | --- |\n");
    for line in all() {
        if let LineStatus::Answered(hint) = fate(line) {
            let [line, hint] = [line, &hint].map(|part| part.replace('|', "\\|"));
            let _ = writeln!(text, "| `{line}` | {hint} |");
        }
    }
    text
}

#[test]
fn of_every_document_of_beads_each_line_is_done_or_answered_with_what_to_use() {
    for (name, text) in DOCUMENTS {
        let lines = lines_of(text);
        assert_eq!(lines.len(), text.lines().count(), "{name}: a line is there twice");
        let unknown: Vec<String> = lines
            .iter()
            .filter_map(|line| match fate(line) {
                LineStatus::Unknown(why) => Some(format!("{line}: {why}")),
                _ => None,
            })
            .collect();
        assert!(
            unknown.is_empty(),
            "{name}: {} of {} lines:\n{}",
            unknown.len(),
            lines.len(),
            unknown.join("\n")
        );
    }
}

/// An eighth of what agents and people write every day may only be answered with something else.
#[test]
fn of_daily_use_an_eighth_at_most_is_answered_with_something_else() {
    let [lines, _, answered, _] = count(all().into_iter().filter(|line| !is_maintenance(line)));
    assert!(answered * 8 <= lines, "{answered} of {lines} lines only name something else");
    for (name, text) in DOCUMENTS {
        let [lines, _, answered, _] = count(lines_of(text).into_iter().filter(|line| !is_maintenance(line)));
        assert!(answered * 8 <= lines, "{name}: {answered} of {lines} lines only name something else");
    }
}

/// There is no database server here, so that most of its maintenance has nothing to do; what it was for has a command.
#[test]
fn of_maintenance_every_line_names_a_command_of_ours_or_says_that_nothing_is_to_be_done() {
    let lines: Vec<&str> = all().into_iter().filter(|line| is_maintenance(line)).collect();
    let helpful = |hint: &str| {
        hint.contains('`')
            || ["is needed", "with every call", "sends none", "itself"].iter().any(|word| hint.contains(word))
    };
    let silent: Vec<&&str> = lines
        .iter()
        .filter(|line| {
            !matches!(fate(line), LineStatus::Done)
                && !matches!(fate(line), LineStatus::Answered(hint) if helpful(&hint))
        })
        .collect();
    assert!(silent.is_empty(), "of {} lines these say nothing that helps: {silent:#?}", lines.len());
}

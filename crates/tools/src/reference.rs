//! The tables and lists of agents in `README.md` and under `docs/` are written from [`ALL`]: a test compares them,
//! `BATON_WRITE_DOCS=1` writes them.
#![allow(clippy::disallowed_methods, reason = "a test may read its environment")]

use std::path::Path;

use crate::install::{EntryContent, HookContextFormat, InstallEntry, InstallPart, Places, Scope};
use baton_transcripts::TranscriptEnv;

use crate::launch::Launch;
use crate::storage::{Evidence, Storage, StoredFile};
use crate::{ALL, Tool, headless, installers, launchers, readers};

/// Characters in a line of a list.
const WIDTH: usize = 120;

const NUMBERS: [&str; 30] = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
    "twenty-one",
    "twenty-two",
    "twenty-three",
    "twenty-four",
    "twenty-five",
    "twenty-six",
    "twenty-seven",
    "twenty-eight",
    "twenty-nine",
];

/// What stands between the marks of this name: a table on lines of its own, or a part of a sentence.
fn region(name: &str) -> Option<String> {
    let count = |count: usize| NUMBERS.get(count).map_or_else(|| count.to_string(), ToString::to_string);
    Some(match name {
        "read" => list(readers().map(|(tool, _)| tool.title)),
        "native" => list(ALL.iter().filter(|tool| tool.native.is_some()).map(|tool| tool.title)),
        "count" => count(readers().count()),
        "started" => count(launchers().count()),
        "install" => format!("\n{}\n", install_table()),
        "answers" => format!("\n{}\n", answer_table()),
        "start" => format!("\n{}\n", start_table()),
        "sessions" => format!("\n{}\n", session_table()),
        _ => return None,
    })
}

/// Names in a sentence, in lines.
fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    let text = match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    };
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("a line");
        match line.len() {
            0 => line.push_str(word),
            length if length + word.len() < WIDTH => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line =
        |cells: &[String]| format!("| {} |", cells.join(" | ")).replace("|  |", "| |").replace("|  |", "| |");
    let head: Vec<String> = head.iter().map(ToString::to_string).collect();
    let rule = vec!["---".to_owned(); head.len()];
    [line(&head), line(&rule)].into_iter().chain(rows.map(|row| line(&row))).collect::<Vec<_>>().join("\n")
}

fn install_table() -> String {
    let places = Places::on_path();
    let row = |one: crate::Installer| {
        let wants = |scope| (one.install.wants)(&places, scope).unwrap_or_default();
        let user = wants(Scope::User);
        let project: Vec<String> = files(&wants(Scope::Project));
        vec![
            format!("`{}`", one.tool.id),
            entries(&user, InstallPart::Mcp),
            entries(&user, InstallPart::Hooks),
            project.join(", "),
            one.install.tried.to_owned(),
            one.install.note.to_owned(),
        ]
    };
    table(&["tool", "MCP server", "hooks", "project", "tried", "besides"], installers().map(row))
}

fn files(wants: &[InstallEntry]) -> Vec<String> {
    let mut files: Vec<String> = wants.iter().map(|want| format!("`{}`", want.file.display())).collect();
    files.dedup();
    files
}

/// The entries of one part, a piece for each file.
fn entries(wants: &[InstallEntry], part: InstallPart) -> String {
    let wants: Vec<InstallEntry> = wants.iter().filter(|want| want.part == part).cloned().collect();
    if wants.is_empty() {
        return "none".to_owned();
    }
    let about = |file: &String| {
        let here = wants.iter().filter(|want| format!("`{}`", want.file.display()) == *file);
        let words: Vec<String> = here.filter_map(|want| content(&want.what)).collect();
        format!("{file} {}", words.join(", ")).trim_end().to_owned()
    };
    files(&wants).iter().map(about).collect::<Vec<_>>().join("; ")
}

fn content(what: &EntryContent) -> Option<String> {
    Some(match what {
        EntryContent::Member { at, .. } => format!("`{}`", at.join(".")),
        EntryContent::Element { at, .. } => at.last()?.to_string(),
        EntryContent::Setting { .. } => return None,
        EntryContent::Table { at, many: false, .. } => format!("`[{}]`", at.join(".")),
        EntryContent::Table { value, .. } => value["event"].as_str()?.to_owned(),
        EntryContent::Whole(_) => "(a file of our own)".to_owned(),
        EntryContent::ByHand(_) => "(by hand)".to_owned(),
    })
}

fn answer_table() -> String {
    let answers = [
        (HookContextFormat::Nested, "`hookSpecificOutput.additionalContext`"),
        (HookContextFormat::TopLevel, "`additionalContext` at the top"),
        (HookContextFormat::Steps, "`injectSteps`"),
        (HookContextFormat::Plain, "plain text"),
    ];
    let row = |(answer, text): (HookContextFormat, &str)| {
        let of = installers().filter(|one| one.install.answer == answer);
        vec![
            text.to_owned(),
            list(of.map(|one| one.tool.title).collect::<Vec<_>>().into_iter()).replace('\n', " "),
        ]
    };
    table(&["answer", "tools"], answers.into_iter().map(row))
}

fn start_table() -> String {
    let row = |one: crate::Launcher| {
        let words = |words: &[&str]| command(one.program(), words);
        let alone = headless().find(|(other, _)| other.tool.id == one.tool.id);
        let Launch { start, resume, get, tried, note, .. } = one.launch;
        let get = if get.starts_with("http") { format!("<{get}>") } else { format!("`{get}`") };
        vec![
            format!("`{}`", one.tool.id),
            words(start),
            words(resume),
            alone.map_or_else(String::new, |(_, headless)| words(headless.words)),
            written(one.tool),
            (*tried).to_owned(),
            [note, &*get]
                .iter()
                .filter(|text| !text.is_empty())
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" "),
        ]
    };
    let head = [
        "`--in`",
        "starts",
        "resumes its own",
        "without a terminal",
        "`--native`",
        "tried",
        "besides; where to get it",
    ];
    table(&head, launchers().map(row))
}

fn session_table() -> String {
    let row = |tool: &Tool| {
        let storage = tool.storage.as_ref().unwrap_or_else(|| panic!("{}: where are its sessions?", tool.id));
        vec![
            format!("{} (`{}`)", tool.title, tool.id),
            storage.files.iter().map(stored_file).collect::<Vec<_>>().join("<br>"),
            evidence(tool, storage),
            storage.note.to_owned(),
        ]
    };
    table(&["tool", "files", "known from", "besides"], readers().map(|(tool, _)| row(tool)))
}

fn stored_file(file: &StoredFile) -> String {
    let moved = file.variable.map(|variable| format!(" (`{variable}`)")).unwrap_or_default();
    format!("`{}`{moved}", file.path)
}

/// The version with which the tests play a tool: that of its package in `bench/agents`.
fn played_version(tool: &Tool) -> String {
    let agents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/agents");
    let agents = std::fs::read_to_string(agents).expect("bench/agents");
    let get = tool.launch.as_ref().map_or("", |launch| launch.get);
    let package = get.rsplit(' ').next().unwrap_or_default();
    let version = agents.lines().find_map(|line| line.strip_prefix(package)?.strip_prefix(' '));
    version.unwrap_or_else(|| panic!("{}: bench/agents does not name {package}", tool.id)).to_owned()
}

fn evidence(tool: &Tool, storage: &Storage) -> String {
    match storage.evidence {
        Evidence::Tests => format!("{}, played by the tests", played_version(tool)),
        Evidence::Program(version) => format!("{version}, written by the program"),
        Evidence::UserSessions(which) => format!("published sessions: {which}"),
        Evidence::VendorSource(which) => format!("the vendor's source: {which}"),
        Evidence::Specification(versions) => format!("its specification, {versions}"),
        Evidence::OtherReaders => "other readers".to_owned(),
        Evidence::Own => "Baton's own form".to_owned(),
    }
}

fn written(tool: &Tool) -> String {
    match tool.native.as_ref().map(|native| native.tried) {
        None => String::new(),
        Some("") => "yes".to_owned(),
        Some("yes") => "yes, tried".to_owned(),
        Some(version) => format!("yes, tried with {version}"),
    }
}

/// A command line as a person writes it: without the flags of modes.
fn command(program: &str, words: &[&str]) -> String {
    if words.is_empty() {
        return String::new();
    }
    let mut line = vec![program.to_owned()];
    for word in words {
        let hole = word.strip_prefix('{').and_then(|word| word.strip_suffix('}'));
        let (name, flag) = hole.map(|hole| hole.split_once(':').unwrap_or((hole, ""))).unwrap_or_default();
        let value = match name {
            "prompt" => "PROMPT",
            "file" => "FILE",
            "cwd" => "DIR",
            "mode" | "more" | "folder" => continue,
            _ => {
                line.push(word.replace("{id}", "ID"));
                continue;
            }
        };
        line.extend([flag, value].iter().filter(|word| !word.is_empty()).map(ToString::to_string));
    }
    format!("`{}`", line.join(" "))
}

/// The text with every marked region as it is to be.
fn written_anew(text: &str) -> String {
    let mut parts = text.split("<!-- tools:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->").expect("a mark ends");
        let (_, rest) = rest.split_once("<!-- end -->").expect("a region ends");
        let region = region(name).unwrap_or_else(|| panic!("there is no region `{name}`"));
        out += &format!("<!-- tools:{name} -->{region}<!-- end -->{rest}");
    }
    out
}

#[test]
fn what_the_pages_say_of_agents_is_what_the_code_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for page in ["README.md", "docs/install.md", "docs/guide.md", "docs/formats.md", "docs/comparison.md"] {
        let path = root.join(page);
        let found = std::fs::read_to_string(&path).expect(page);
        let anew = written_anew(&found);
        assert!(anew.contains("<!-- tools:"), "{page} has no region of agents any more");
        if std::env::var_os("BATON_WRITE_DOCS").is_some() {
            std::fs::write(&path, &anew).expect("written");
        } else {
            assert!(
                found == anew,
                "{page} is not what the code says; run the tests once with BATON_WRITE_DOCS=1"
            );
        }
    }
}

#[test]
fn every_agent_stands_in_the_pages() {
    let tables = [install_table(), start_table(), list(readers().map(|(tool, _)| tool.title))].concat();
    for tool in ALL {
        let named = tables.contains(&format!("`{}`", tool.id)) || tables.contains(tool.title);
        assert!(named, "{} is in no table", tool.id);
    }
}

/// A file of these names is one of the agent's sessions; what a database holds is seen in the tests of its reader.
#[test]
fn every_reader_finds_the_files_that_the_page_names() {
    let home = tempfile::tempdir().expect("a folder");
    for (tool, reader) in readers() {
        for file in tool.storage.iter().flat_map(|storage| storage.files) {
            let Some(path) = file.path.strip_prefix("~/").filter(|path| path.contains(".json")) else {
                continue;
            };
            let path = home.path().join(tool.id).join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(&path, "{}\n").expect("written");
            let env = TranscriptEnv { home: home.path().join(tool.id), ..TranscriptEnv::default() };
            let mut found = Vec::new();
            reader.find(&env, &mut |one| found.push(one.path));
            assert!(found.contains(&path), "{}: {} is not found, but {found:?}", tool.id, file.path);
            // Each variable of the tool leads elsewhere: what the page says moves is not found any more, and the rest is.
            for variable in
                tool.storage.iter().flat_map(|storage| storage.files).filter_map(|file| file.variable)
            {
                let elsewhere = home.path().join("elsewhere").display().to_string();
                let env = TranscriptEnv { vars: [(variable.to_owned(), elsewhere)].into(), ..env.clone() };
                let mut found = Vec::new();
                reader.find(&env, &mut |one| found.push(one.path));
                let is_moved = file.variable == Some(variable);
                assert_eq!(found.contains(&path), !is_moved, "{}: {} and {variable}", tool.id, file.path);
            }
            std::fs::remove_file(&path).expect("removed");
        }
    }
}

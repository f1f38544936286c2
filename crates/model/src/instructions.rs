//! Checks what a repository's instruction files tell agents about Baton: commands, flags and tools that do not exist,
//! and marks of unfinished edits. A pure function of the text; the caller reads the files.

mod command;
mod tool;

use serde::{Deserialize, Serialize};

/// A command as the face knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// Without `baton`: `wrap`, `signal send`; empty for `baton` itself.
    pub name: String,
    /// Every flag that it takes, with its dashes.
    pub flags: Vec<String>,
    /// Those of its flags that take a value.
    pub valued: Vec<String>,
}

/// What exists.
#[derive(Debug, Clone, Copy)]
pub struct KnownNames<'a> {
    /// Commands. Empty: commands are not judged.
    pub commands: &'a [Command],
    /// Tools.
    pub tools: &'a [&'a str],
}

/// What is wrong with a line of an instruction file: a stable word for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// It names a command that Baton does not have.
    UnknownCommand,
    /// It names an option that the command does not have.
    UnknownFlag,
    /// It names an MCP tool that Baton does not have.
    UnknownTool,
    /// It says of something that it is missing.
    NotImplemented,
}

/// A statement of an instruction file that is not true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub kind: FindingKind,
    /// What the file says.
    pub name: String,
    /// One sentence.
    pub message: String,
    /// What to write in its place; empty when nothing is near.
    pub hint: String,
}

/// What was found in one place, before file and line are known.
struct RawFinding {
    kind: FindingKind,
    name: String,
    message: String,
    hint: String,
}

/// Everything in a file that is not so, in the order of its lines.
pub fn check(path: &str, text: &str, known: &KnownNames<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut fence = None;
    for (at, line) in text.lines().enumerate() {
        let code = fenced(line, &mut fence);
        let mut found = command::check(&runs(line, code), known);
        found.extend(tool::check(line, code, known));
        found.extend(marker(line, known));
        let mut seen = Vec::new();
        for RawFinding { kind, name, message, hint } in found {
            if !seen.contains(&(kind, name.clone())) {
                seen.push((kind, name.clone()));
                findings.push(Finding { path: path.to_owned(), line: at + 1, kind, name, message, hint });
            }
        }
    }
    findings
}

/// Whether the line stands in a fenced block; keeps which fence is open.
fn fenced(line: &str, fence: &mut Option<char>) -> bool {
    let start = line.trim_start();
    let mark = ['`', '~'].into_iter().find(|c| start.chars().take_while(|d| d == c).count() >= 3);
    match (mark, *fence) {
        (Some(mark), None) => *fence = Some(mark),
        (Some(mark), Some(open)) if mark == open => *fence = None,
        (_, open) => return open.is_some(),
    }
    false
}

/// A stretch of a line.
#[derive(Debug, PartialEq, Eq)]
enum Run<'a> {
    /// Code: a line of a block, or what stands between backticks.
    Code(&'a str),
    /// Prose.
    Prose(&'a str),
}

/// The line in stretches of code and prose.
fn runs(line: &str, code: bool) -> Vec<Run<'_>> {
    if code || line.starts_with("    ") || line.starts_with('\t') {
        // A list may be indented too: its backticks still count.
        return if line.contains('`') && !code { split(line) } else { vec![Run::Code(line)] };
    }
    split(line)
}

fn split(line: &str) -> Vec<Run<'_>> {
    let inside = |(at, part)| if at % 2 == 1 { Run::Code(part) } else { Run::Prose(part) };
    line.split('`').enumerate().map(inside).collect()
}

/// The whole words of a line that could be names, each with the character after it.
fn words(line: &str) -> impl Iterator<Item = (&str, Option<char>)> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.split(move |c: char| !part(c)).filter(|word| !word.is_empty()).map(move |word| {
        let end = word.as_ptr() as usize - line.as_ptr() as usize + word.len();
        (word, line[end..].chars().next())
    })
}

/// A mark that something is not there yet.
fn marker(line: &str, known: &KnownNames<'_>) -> Option<RawFinding> {
    let lower = line.to_lowercase();
    let is_nyi = words(line).any(|(word, _)| word == "NYI");
    let name = if line.contains("PRISM-NYI") {
        "PRISM-NYI"
    } else if is_nyi {
        "NYI"
    } else if lower.contains("not yet implemented") {
        "not yet implemented"
    } else {
        return None;
    };
    let there = words(line).map(|(word, _)| word).find(|word| known.tools.contains(word));
    Some(RawFinding {
        kind: FindingKind::NotImplemented,
        name: name.to_owned(),
        message: format!("a mark says that something is missing: {}", crate::packet::one_line(line)),
        hint: match there {
            Some(tool) => format!("Baton has `{tool}`: take the mark away"),
            None => "take the mark away once it is there".to_owned(),
        },
    })
}

#[cfg(test)]
mod tests;

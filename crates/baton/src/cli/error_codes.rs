//! What each code of a refusal means: the one table behind `baton help CODE` and `docs/troubleshooting.md`.

use std::collections::BTreeMap;

use serde::Deserialize;

const TABLE: &str = include_str!("help/errors.toml");

/// What happened where a code is said, and what to do.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorCode {
    kind: ErrorKind,
    /// Kinds that it has in other places.
    #[serde(default)]
    also: Vec<ErrorKind>,
    happened: String,
    action: String,
}

/// The kind of a refusal, as the table names it; it decides the exit code.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ErrorKind {
    Refused,
    Invalid,
    NotFound,
    Unauthorized,
    Forbidden,
    Conflict,
    Outside,
    Usage,
    Fault,
}

impl ErrorKind {
    #[cfg(test)]
    const ALL: [Self; 7] = [
        Self::Refused,
        Self::Invalid,
        Self::NotFound,
        Self::Unauthorized,
        Self::Forbidden,
        Self::Conflict,
        Self::Outside,
    ];

    fn exit_code(self) -> u8 {
        match self {
            Self::Refused | Self::Invalid | Self::Unauthorized | Self::Forbidden => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Conflict => 4,
            Self::Outside => 5,
            Self::Fault => 6,
        }
    }
}

impl ErrorCode {
    fn text(&self) -> String {
        format!("{}\n\nWhat to do: {}", self.happened, self.action)
    }

    /// With which exit codes a command ends by it.
    fn exit_codes(&self) -> String {
        let kinds = std::iter::once(&self.kind).chain(&self.also);
        let codes: Vec<String> = kinds.map(|kind| kind.exit_code().to_string()).collect();
        codes.join(" or ")
    }
}

fn table() -> BTreeMap<String, ErrorCode> {
    toml::from_str(TABLE).unwrap_or_default()
}

/// The help page of a code, if it is one.
pub(super) fn help(code: &str) -> Option<String> {
    let table = table();
    let known = table.get(code)?;
    Some(format!("{code} (exit code {})\n\n{}\n", known.exit_codes(), known.text()))
}

/// All codes.
pub(super) fn codes() -> Vec<String> {
    table().into_keys().collect()
}

/// The page of all codes.
#[cfg(test)]
pub(super) fn page() -> String {
    let mut text = String::from(
        "# Troubleshooting\n\nEvery refusal has a code: in square brackets at the end of its first line, and as `code` with `--json`, over HTTP and over MCP. Its own message says what\n\
         was wrong in your case, and its hint what to do next. Below is each code in general; `baton help CODE` says the same. Where a code has several causes, one of them\n\
         stands here. Written by a test from the table that `baton help` reads; do not edit.\n\n\
         If nothing helps: `baton doctor` looks at the store, the settings and what is installed in your tools, and `baton doctor --fix` mends what it can.\n",
    );
    for (code, known) in table() {
        let paragraph = known.text();
        text.push_str(&format!("\n## `{code}`\n\n{paragraph} Exit code {}.\n", known.exit_codes()));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// Codes that are said in another way than by a literal at a refusal.
    const OTHERWISE: [&str; 2] = ["usage", "fault"];

    fn sources(folder: &Path, found: &mut String) {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("entry").path()) {
            let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if entry.is_dir() && name != "tests" {
                sources(&entry, found);
            } else if name.ends_with(".rs") && !name.contains("tests") {
                let text = std::fs::read_to_string(&entry).expect("a source file");
                found.push_str(text.split("#[cfg(test)]").next().unwrap_or_default());
            }
        }
    }

    fn production() -> String {
        let mut found = String::new();
        for krate in ["packet", "model", "store", "ops", "mcp", "tools", "baton"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(krate).join("src");
            sources(&folder, &mut found);
        }
        found
    }

    /// The code that begins a text, as a literal.
    fn literal(text: &str) -> Option<&str> {
        let code = text.trim_start().strip_prefix('"')?.split('"').next()?;
        let plain = |c: char| c.is_ascii_lowercase() || c == '_';
        (code.contains('_') && code.chars().all(plain)).then_some(code)
    }

    /// The kinds of a refusal, as sources write them: other types have kinds, too.
    const KINDS: [&str; 7] =
        ["Refused", "Invalid", "NotFound", "Unauthorized", "Forbidden", "Conflict", "Outside"];

    /// The literals where a refusal takes its code, each with its kind: after that, or first where it is malformed input.
    fn codes_by_kind(text: &str) -> BTreeSet<(&str, &str)> {
        let malformed = text.split("Refusal::invalid(").skip(1).map(|rest| ("Invalid", rest));
        let after_kind = text.split("Kind::").skip(1).filter_map(|rest| rest.split_once(','));
        let after_kind = after_kind.filter(|(kind, _)| KINDS.contains(kind));
        malformed.chain(after_kind).filter_map(|(kind, rest)| Some((literal(rest)?, kind))).collect()
    }

    fn codes(text: &str) -> BTreeSet<&str> {
        codes_by_kind(text).into_iter().map(|(code, _)| code).collect()
    }

    /// The command line's `bd` ends as Beads does, with 1, whatever the kind.
    const AS_BEADS: [&str; 2] = ["usage", "task_closed"];

    #[test]
    fn a_code_ends_with_the_exit_codes_that_the_table_names() {
        let (text, table) = (production(), table());
        let name = |kind: ErrorKind| format!("{kind:?}");
        let mut wrong = Vec::new();
        for (code, kind) in codes_by_kind(&text).into_iter().filter(|(code, _)| !AS_BEADS.contains(code)) {
            let Some(known) = table.get(code) else { continue };
            let exits: Vec<u8> =
                std::iter::once(&known.kind).chain(&known.also).map(|kind| kind.exit_code()).collect();
            let own = ErrorKind::ALL.into_iter().find(|own| name(*own) == kind).expect("a kind of a refusal");
            if !exits.contains(&own.exit_code()) {
                wrong.push(format!("{code}: {kind}"));
            }
        }
        assert!(wrong.is_empty(), "name these in crates/baton/src/cli/help/errors.toml: {wrong:#?}");
    }

    #[test]
    fn every_code_of_a_refusal_is_explained_and_no_other() {
        let (text, table) = (production(), table());
        let explained = codes(&text);
        assert!(explained.len() > 250, "{} codes", explained.len());
        let missing: Vec<_> = explained.iter().filter(|code| !table.contains_key(**code)).collect();
        assert!(missing.is_empty(), "add these to crates/baton/src/cli/help/errors.toml: {missing:#?}");
        let is_said = |code: &str| OTHERWISE.contains(&code) || text.contains(&format!("\"{code}\""));
        let gone: Vec<_> = table.keys().filter(|code| !is_said(code)).collect();
        assert!(gone.is_empty(), "nothing says these any more: {gone:#?}");
    }

    #[test]
    fn every_code_says_what_happened_and_what_to_do() {
        let table = table();
        assert!(!table.is_empty(), "the table can be read");
        for (code, known) in &table {
            assert!(known.happened.len() > 10 && known.action.len() > 8, "{code}");
        }
        let page = help("store_newer").expect("a code");
        assert!(page.starts_with("store_newer (exit code 1)\n") && page.contains("Update Baton"), "{page}");
        assert_eq!(help("no_such_code"), None);
    }
}

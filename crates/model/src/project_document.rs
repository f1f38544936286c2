//! The front matter of `docs/PROJECT.md`: what a repository says about itself, read and written without touching the rest.
//!
//! Only a small part of YAML occurs here: nested keys, one plain or quoted value a line, comments. Anything else in the
//! block is kept as it stands.

use crate::project::Project;
use crate::refusal::Refusal;

/// The keys, and where they stand in the file.
const KEYS: [(&str, Field); 4] = [
    ("ims.is_isolated", Field::Isolated),
    ("ims.vcs.provider", Field::Provider),
    ("ims.vcs.remote_url", Field::Remote),
    ("ims.issues.github_repo", Field::Repo),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Isolated,
    Provider,
    Remote,
    Repo,
}

/// What a document says; `None` where it says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// `ims.is_isolated`
    pub is_isolated: Option<bool>,
    /// `ims.vcs.provider`
    pub vcs_provider: Option<String>,
    /// `ims.vcs.remote_url`
    pub vcs_remote_url: Option<String>,
    /// `ims.issues.github_repo`
    pub issues_github_repo: Option<String>,
}

/// One `key: value` line of the front matter.
struct Entry {
    line: usize,
    indent: usize,
    path: String,
    value: String,
}

/// Reads what a document says.
pub fn read(text: &str) -> Result<Said, Refusal> {
    let mut said = Said::default();
    let Some(block) = block(text)? else { return Ok(said) };
    for entry in entries(&block)? {
        let Some((_, field)) = KEYS.iter().find(|(key, _)| *key == entry.path) else { continue };
        let value = Some(entry.value.clone()).filter(|v| !v.is_empty() && v != "null" && v != "~");
        match field {
            Field::Isolated => {
                said.is_isolated = match value.as_deref() {
                    None => None,
                    Some("true" | "yes") => Some(true),
                    Some("false" | "no") => Some(false),
                    Some(_) => return Err(invalid(&format!("{} is neither true nor false", entry.path))),
                }
            }
            Field::Provider => said.vcs_provider = value,
            Field::Remote => said.vcs_remote_url = value,
            Field::Repo => said.issues_github_repo = value,
        }
    }
    Ok(said)
}

/// The document with a project's registration in its front matter. Everything else stays; a new file gets a heading.
pub fn write(text: Option<&str>, project: &Project) -> Result<String, Refusal> {
    let Some(text) = text else {
        return Ok(format!("---\n{}---\n\n# {}\n", fresh(project), project.project_id));
    };
    let Some(mut lines) = block(text)?.map(|b| b.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>()) else {
        return Ok(format!("---\n{}---\n\n{text}", fresh(project)));
    };
    let old = lines.len();
    for (key, field) in KEYS {
        put(&mut lines, key, &value(project, field))?;
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let rest: Vec<&str> = text.lines().skip(1 + old).collect();
    let mut all = vec!["---".to_owned()];
    all.extend(lines);
    all.extend(rest.into_iter().map(str::to_owned));
    let mut whole = all.join(newline);
    if text.ends_with('\n') {
        whole.push_str(newline);
    }
    Ok(whole)
}

fn fresh(project: &Project) -> String {
    let of = |field| value(project, field);
    format!(
        "ims:\n  is_isolated: {}\n  vcs:\n    provider: {}\n    remote_url: {}\n  issues:\n    github_repo: {}\n",
        of(Field::Isolated),
        of(Field::Provider),
        of(Field::Remote),
        of(Field::Repo)
    )
}

fn value(project: &Project, field: Field) -> String {
    let text = |value: &Option<String>| value.as_deref().map_or_else(|| "null".to_owned(), quoted);
    match field {
        Field::Isolated => project.is_isolated.to_string(),
        Field::Provider => text(&project.vcs_provider),
        Field::Remote => text(&project.vcs_remote_url),
        Field::Repo => text(&project.issues_github_repo),
    }
}

/// A value that YAML reads back as this very text.
fn quoted(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !["true", "false", "yes", "no", "null"].contains(&text)
        && text.parse::<f64>().is_err()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@' | ':' | '+' | '~'))
        && !text.ends_with(':');
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")) }
}

/// The lines between the first `---` and the next; nothing where the file does not begin with one.
fn block(text: &str) -> Result<Option<Vec<&str>>, Refusal> {
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return Ok(None);
    }
    let inside: Vec<&str> = lines.by_ref().take_while(|line| line.trim_end() != "---").collect();
    let closed = text.lines().skip(1 + inside.len()).next().is_some();
    if closed { Ok(Some(inside)) } else { Err(invalid("the front matter is not closed by a line of ---")) }
}

fn entries(lines: &[impl AsRef<str>]) -> Result<Vec<Entry>, Refusal> {
    let mut found: Vec<Entry> = Vec::new();
    let mut above: Vec<(usize, String)> = Vec::new();
    for (line, text) in lines.iter().map(AsRef::as_ref).enumerate() {
        let content = text.trim();
        if content.is_empty() || content.starts_with('#') || content.starts_with('-') {
            continue;
        }
        if text.starts_with('\t') {
            return Err(invalid(&format!("line {} of the front matter is indented by a tab", line + 2)));
        }
        let Some((key, value)) = content.split_once(':') else { continue };
        let indent = text.len() - text.trim_start().len();
        above.retain(|(outer, _)| *outer < indent);
        let outer = above.last().map(|(_, path)| format!("{path}.")).unwrap_or_default();
        let path = format!("{outer}{}", unquoted(key));
        above.push((indent, path.clone()));
        found.push(Entry { line, indent, path, value: unquoted(without_comment(value)) });
    }
    Ok(found)
}

fn without_comment(value: &str) -> &str {
    let value = value.trim();
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => quoted_part(value, quote),
        Some('#') => "",
        _ => value.find(" #").map_or(value, |at| &value[..at]),
    }
}

/// A value up to its closing quote.
fn quoted_part(value: &str, quote: char) -> &str {
    let mut escaped = false;
    for (at, c) in value.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            _ if c == quote => return &value[..=at],
            _ => {}
        }
    }
    value
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote)) {
            return if quote == '"' {
                inner.replace("\\\"", "\"").replace("\\\\", "\\")
            } else {
                inner.to_owned()
            };
        }
    }
    text.to_owned()
}

/// Sets one key: in its line if there is one, else under the nearest key above it that there is.
fn put(lines: &mut Vec<String>, key: &str, value: &str) -> Result<(), Refusal> {
    let known = entries(lines)?;
    if let Some(entry) = known.iter().find(|entry| entry.path == key) {
        if entry.value != unquoted(value) && !(value == "null" && entry.value.is_empty()) {
            let name = lines[entry.line].split_once(':').map(|(name, _)| name.to_owned()).unwrap_or_default();
            lines[entry.line] = format!("{name}: {value}");
        }
        return Ok(());
    }
    let parts: Vec<&str> = key.split('.').collect();
    for depth in (0..parts.len()).rev() {
        let parent = parts[..depth].join(".");
        let place = known.iter().find(|entry| entry.path == parent);
        if depth > 0 && place.is_none() {
            continue;
        }
        let (at, mut indent) = place.map_or((lines.len(), 0), |entry| (entry.line + 1, entry.indent + 2));
        let mut added = Vec::new();
        for part in &parts[depth..parts.len() - 1] {
            added.push(format!("{}{part}:", " ".repeat(indent)));
            indent += 2;
        }
        added.push(format!("{}{}: {value}", " ".repeat(indent), parts[parts.len() - 1]));
        lines.splice(at..at, added);
        return Ok(());
    }
    Ok(())
}

fn invalid(what: &str) -> Refusal {
    Refusal::invalid(
        "project_document_invalid",
        format!("docs/PROJECT.md: {what}"),
        "mend the lines between the two --- at its top",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> Project {
        Project {
            project_id: "shop".into(),
            vcs_provider: Some("github".into()),
            vcs_remote_url: Some("git@github.com:o/shop.git".into()),
            issues_github_repo: Some("o/issues".into()),
            ..Project::default()
        }
    }

    fn of(project: &Project) -> Said {
        Said {
            is_isolated: Some(project.is_isolated),
            vcs_provider: project.vcs_provider.clone(),
            vcs_remote_url: project.vcs_remote_url.clone(),
            issues_github_repo: project.issues_github_repo.clone(),
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let hard =
            Project { vcs_remote_url: Some("a \"b\" # c: d\\".into()), is_isolated: true, ..project() };
        for project in [project(), Project::default(), hard] {
            let text = write(None, &project).expect("written");
            assert_eq!(read(&text), Ok(of(&project)), "{text}");
            assert_eq!(write(Some(&text), &project).as_deref(), Ok(text.as_str()), "nothing changes");
        }
    }

    #[test]
    fn everything_else_in_a_document_stays() {
        let text = "---\ntitle: \"Shop\" # ours\nims:\n  owner: me\n  vcs:\n    branch: main\nlist:\n  - a: 1\n---\n\n# Shop\n\n--- \ntext\n";
        let new = write(Some(text), &project()).expect("written");
        assert_eq!(read(&new), Ok(of(&project())));
        for kept in [
            "title: \"Shop\" # ours\n",
            "  owner: me\n",
            "    branch: main\n",
            "  - a: 1\n",
            "# Shop\n\n--- \ntext\n",
        ] {
            assert!(new.contains(kept), "{kept:?} is gone:\n{new}");
        }
        let bare = write(Some("# Shop\n"), &project()).expect("written");
        assert!(bare.ends_with("---\n\n# Shop\n") && read(&bare) == Ok(of(&project())), "{bare}");
    }

    #[test]
    fn an_edited_value_is_read_in_either_spelling() {
        let nested = "---\nims:\n  is_isolated: true # quiet\n  issues:\n    github_repo: 'o/r'\n---\n";
        let dotted = "---\nims.is_isolated: true\nims.issues.github_repo: o/r\n---\n";
        for text in [nested, dotted] {
            let said = read(text).expect("read");
            assert_eq!(
                (said.is_isolated, said.issues_github_repo.as_deref()),
                (Some(true), Some("o/r")),
                "{text}"
            );
            assert_eq!(said.vcs_provider, None);
        }
        assert_eq!(read("# no front matter\n"), Ok(Said::default()));
        for bad in
            ["---\nims.is_isolated: maybe\n---\n", "---\nims:\n", "---\nims:\n\tis_isolated: true\n---\n"]
        {
            assert_eq!(read(bad).expect_err(bad).code, "project_document_invalid");
        }
    }
}

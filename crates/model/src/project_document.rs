//! The front matter of `docs/PROJECT.md`: what a repository says about itself, read and written without touching the rest.
//!
//! The block is read as YAML, whatever is in it; what is not YAML is refused with line and column. It is changed line by line,
//! so that everything else stays as it stands, and the result is read again before it counts.

use std::collections::HashSet;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};

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
pub struct DocumentFields {
    /// `ims.is_isolated`
    pub is_isolated: Option<bool>,
    /// `ims.vcs.provider`
    pub vcs_provider: Option<String>,
    /// `ims.vcs.remote_url`
    pub vcs_remote_url: Option<String>,
    /// `ims.issues.github_repo`
    pub issues_github_repo: Option<String>,
}

/// A byte order mark, which some editors put before the first line.
const MARK: char = '\u{feff}';

/// Deeper than any front matter; a hostile one cannot exhaust the stack.
const DEPTH: usize = 32;

/// One `key: value` line of the front matter.
struct Entry {
    line: usize,
    indent: usize,
    path: String,
    value: String,
}

/// Reads what a document says.
pub fn read(text: &str) -> Result<DocumentFields, Refusal> {
    let mut fields = DocumentFields::default();
    let Some(block) = block(text)? else { return Ok(fields) };
    for (path, value) in scalars(&block.join("\n"))? {
        let Some((_, field)) = KEYS.iter().find(|(key, _)| *key == path) else { continue };
        match field {
            Field::Isolated => {
                fields.is_isolated = match value.as_deref().map(str::to_ascii_lowercase).as_deref() {
                    None => None,
                    Some("true" | "yes" | "on") => Some(true),
                    Some("false" | "no" | "off") => Some(false),
                    Some(_) => return Err(refusal(&format!("{path} is neither true nor false"))),
                }
            }
            Field::Provider => fields.vcs_provider = value,
            Field::Remote => fields.vcs_remote_url = value,
            Field::Repo => fields.issues_github_repo = value,
        }
    }
    Ok(fields)
}

/// The scalars of our part of the block with the dotted path of each; nothing for a null.
fn scalars(block: &str) -> Result<Vec<(String, Option<String>)>, Refusal> {
    let mut walk = BlockScan { events: Parser::new_from_str(block), found: Vec::new(), seen: HashSet::new() };
    let mut documents = 0;
    loop {
        match walk.next()? {
            (Event::StreamEnd, _) => return Ok(walk.found),
            (Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing, _) => {}
            (_, span) if documents > 0 => return Err(refusal_at(&span, "there is a second document")),
            (event, span) => {
                documents += 1;
                walk.value(event, &span, "", 0)?;
            }
        }
    }
}

/// A pass over the events of the block.
struct BlockScan<'a> {
    events: Parser<'a, StrInput<'a>>,
    found: Vec<(String, Option<String>)>,
    /// Paths of keys of ours, of which none may occur twice.
    seen: HashSet<String>,
}

impl<'a> BlockScan<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Refusal> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let at = error.marker();
                Err(refusal_in(at.line(), at.col(), error.info()))
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn value(&mut self, event: Event<'a>, span: &Span, path: &str, depth: usize) -> Result<(), Refusal> {
        if depth > DEPTH {
            return Err(refusal_at(span, "it is nested too deeply"));
        }
        match event {
            Event::Scalar(text, style, ..) => {
                let plain = style == ScalarStyle::Plain;
                let null = plain && matches!(&*text, "" | "null" | "Null" | "NULL" | "~");
                self.found.push((path.to_owned(), (!null && !text.is_empty()).then(|| text.into_owned())));
                Ok(())
            }
            Event::SequenceStart(..) => loop {
                match self.next()? {
                    (Event::SequenceEnd | Event::StreamEnd, _) => return Ok(()),
                    (event, span) => self.value(event, &span, &format!("{path}[]"), depth + 1)?,
                }
            },
            Event::MappingStart(..) => self.map(path, depth),
            Event::Alias(_) if is_ours(path) => {
                Err(refusal_at(span, "aliases (`*name`) are not read here: write it out"))
            }
            _ => Ok(()),
        }
    }

    fn map(&mut self, path: &str, depth: usize) -> Result<(), Refusal> {
        loop {
            let (event, span) = self.next()?;
            let key = match event {
                Event::MappingEnd | Event::StreamEnd => return Ok(()),
                Event::Scalar(text, ..) => text.into_owned(),
                other => {
                    self.value(other, &span, "[]", depth + 1)?;
                    "[]".to_owned()
                }
            };
            let inner = if path.is_empty() { key } else { format!("{path}.{key}") };
            if is_ours(&inner) && !self.seen.insert(inner.clone()) {
                return Err(refusal_at(&span, &format!("`{inner}` stands there twice")));
            }
            let (event, at) = self.next()?;
            self.value(event, &at, &inner, depth + 1)?;
        }
    }
}

fn is_ours(path: &str) -> bool {
    path == "ims" || path.starts_with("ims.")
}

/// The document with a project's registration in its front matter. Everything else stays; a new file gets a heading.
pub fn write(text: Option<&str>, project: &Project) -> Result<String, Refusal> {
    let Some(text) = text else {
        return Ok(format!("---\n{}---\n\n# {}\n", fresh(project), project.project_id));
    };
    let Some(mut lines) = block(text)?.map(|b| b.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>()) else {
        let body = text.trim_start_matches(MARK);
        return Ok(format!("{}---\n{}---\n\n{body}", mark_of(text), fresh(project)));
    };
    if read(text)? == said_of(project) {
        return Ok(text.to_owned());
    }
    let old = lines.len();
    for (key, field) in KEYS {
        put(&mut lines, key, &value(project, field))?;
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let rest: Vec<&str> = text.lines().skip(1 + old).collect();
    let mut all = vec![format!("{}---", mark_of(text))];
    all.extend(lines);
    all.extend(rest.into_iter().map(str::to_owned));
    let mut whole = all.join(newline);
    if text.ends_with('\n') {
        whole.push_str(newline);
    }
    match read(&whole) {
        Ok(fields) if fields == said_of(project) => Ok(whole),
        _ => Err(refusal(
            "its front matter has a shape in which no line can be changed: write the values there by hand",
        )),
    }
}

/// Whether [`write`] has made one document of the other for a registration, and nothing else differs. Whether the project is isolated is
/// what a person decides.
pub fn is_rewrite(before: &str, after: &str) -> bool {
    let (Ok(old), Ok(new)) = (read(before), read(after)) else { return false };
    let is_open = |fields: &DocumentFields| !fields.is_isolated.unwrap_or_default();
    let project = Project {
        is_isolated: !is_open(&new),
        vcs_provider: new.vcs_provider.clone(),
        vcs_remote_url: new.vcs_remote_url.clone(),
        issues_github_repo: new.issues_github_repo.clone(),
        ..Project::default()
    };
    is_open(&old) == is_open(&new) && write(Some(before), &project).is_ok_and(|written| written == after)
}

/// Whether a document is just what [`write`] made of a registration, and no person added to it.
pub fn is_generated(text: &str) -> bool {
    let Ok(fields) = read(text) else { return false };
    let Some(project_id) = text.lines().next_back().and_then(|line| line.strip_prefix("# ")) else {
        return false;
    };
    let project = Project {
        project_id: project_id.to_owned(),
        is_isolated: fields.is_isolated.unwrap_or_default(),
        vcs_provider: fields.vcs_provider,
        vcs_remote_url: fields.vcs_remote_url,
        issues_github_repo: fields.issues_github_repo,
        ..Project::default()
    };
    write(None, &project).is_ok_and(|fresh| fresh == text)
}

fn mark_of(text: &str) -> &'static str {
    if text.starts_with(MARK) { "\u{feff}" } else { "" }
}

fn said_of(project: &Project) -> DocumentFields {
    let text = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
    DocumentFields {
        is_isolated: Some(project.is_isolated),
        vcs_provider: text(&project.vcs_provider),
        vcs_remote_url: text(&project.vcs_remote_url),
        issues_github_repo: text(&project.issues_github_repo),
    }
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
    let text = text.trim_start_matches(MARK);
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return Ok(None);
    }
    let inside: Vec<&str> = lines.by_ref().take_while(|line| line.trim_end() != "---").collect();
    let closed = text.lines().nth(1 + inside.len()).is_some();
    if closed { Ok(Some(inside)) } else { Err(refusal("the front matter is not closed by a line of ---")) }
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
            return Err(refusal(&format!("line {} of the front matter is indented by a tab", line + 2)));
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

fn refusal_at(span: &Span, what: &str) -> Refusal {
    refusal_in(span.start.line(), span.start.col(), what)
}

/// A fault at a place of the block, with line and column of the file: the first line of it is the `---`.
fn refusal_in(line: usize, column: usize, what: &str) -> Refusal {
    let (line, column) = (line + 1, column + 1);
    refusal(&format!("line {line}, column {column}: {what}")).with("line", line).with("column", column)
}

fn refusal(what: &str) -> Refusal {
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

    fn of(project: &Project) -> DocumentFields {
        said_of(project)
    }

    #[test]
    fn a_byte_order_mark_hides_no_front_matter() {
        let text = "\u{feff}---\nims:\n  is_isolated: true\n---\n\n# Shop\n";
        assert_eq!(read(text).expect("read").is_isolated, Some(true));
        let isolated = Project { is_isolated: true, ..project() };
        let new = write(Some(text), &isolated).expect("written");
        assert!(new.starts_with("\u{feff}---\nims:\n") && new.matches("---\n").count() == 2, "{new:?}");
        assert_eq!(read(&new), Ok(of(&isolated)));
        let bare = write(Some("\u{feff}# Shop\n"), &isolated).expect("written");
        assert!(bare.starts_with("\u{feff}---\n") && bare.ends_with("---\n\n# Shop\n"), "{bare:?}");
    }

    #[test]
    fn what_is_no_yaml_is_refused_with_line_and_column_and_left_alone() {
        for (text, line) in [
            ("---\nims:\n  is_isolated: [true\n---\n", None),
            ("---\nims: {is_isolated: true\n---\n", None),
            ("---\ntitle: \"open\nims:\n  is_isolated: true\n---\n", None),
            ("---\nims:\n  is_isolated: true\n bad: x\n---\n", Some(4)),
            ("---\nims:\n  vcs:\n    provider: github\nims:\n  is_isolated: false\n---\n", Some(5)),
            ("---\nims.is_isolated: true\nims:\n  is_isolated: false\n---\n", Some(4)),
            ("---\nx: &x true\nims:\n  is_isolated: *x\n---\n", Some(4)),
        ] {
            let refusal = read(text).expect_err(text);
            assert_eq!(refusal.code, "project_document_invalid", "{text}");
            assert!(refusal.details["line"].is_u64() && refusal.details["column"].is_u64(), "{refusal:?}");
            if let Some(line) = line {
                assert_eq!(refusal.details["line"], line, "{text}: {refusal:?}");
            }
            assert!(write(Some(text), &project()).is_err(), "{text}");
        }
        let deep = format!("---\nx: {}{}\n---\n", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(read(&deep).expect_err("deep").code, "project_document_invalid");
    }

    #[test]
    fn values_are_those_of_yaml_and_a_shape_that_cannot_be_edited_is_refused() {
        let flow = "---\nims: {is_isolated: true, vcs: {provider: pantheon}}\n---\n";
        let fields = read(flow).expect("read");
        assert_eq!((fields.is_isolated, fields.vcs_provider.as_deref()), (Some(true), Some("pantheon")));
        assert_eq!(write(Some(flow), &project()).expect_err("flow").code, "project_document_invalid");
        let text = "---\nnote: |\n  ims:\n    is_isolated: false\nims:\n  is_isolated: yes\n---\n";
        assert_eq!(read(text).expect("read").is_isolated, Some(true), "a text is no key");
        let aliases = "---\nx: &x [1]\ny: *x\nims:\n  is_isolated: true\n---\n";
        assert_eq!(read(aliases).expect("others' aliases are theirs").is_isolated, Some(true));
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
        for line in [
            "title: \"Shop\" # ours\n",
            "  owner: me\n",
            "    branch: main\n",
            "  - a: 1\n",
            "# Shop\n\n--- \ntext\n",
        ] {
            assert!(new.contains(line), "{line:?} is gone:\n{new}");
        }
        let bare = write(Some("# Shop\n"), &project()).expect("written");
        assert!(bare.ends_with("---\n\n# Shop\n") && read(&bare) == Ok(of(&project())), "{bare}");
    }

    #[test]
    fn an_edited_value_is_read_in_either_spelling() {
        let nested = "---\nims:\n  is_isolated: true # quiet\n  issues:\n    github_repo: 'o/r'\n---\n";
        let dotted = "---\nims.is_isolated: true\nims.issues.github_repo: o/r\n---\n";
        for text in [nested, dotted] {
            let fields = read(text).expect("read");
            assert_eq!(
                (fields.is_isolated, fields.issues_github_repo.as_deref()),
                (Some(true), Some("o/r")),
                "{text}"
            );
            assert_eq!(fields.vcs_provider, None);
        }
        assert_eq!(read("# no front matter\n"), Ok(DocumentFields::default()));
        for bad in
            ["---\nims.is_isolated: maybe\n---\n", "---\nims:\n", "---\nims:\n\tis_isolated: true\n---\n"]
        {
            assert_eq!(read(bad).expect_err(bad).code, "project_document_invalid");
        }
    }
}

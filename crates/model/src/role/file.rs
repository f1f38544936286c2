//! Reading `AGENT_ROLES.yaml`: every fault names its line and field, and the word that was probably meant.

use super::yaml::{self, Kind, Node, YamlError};
use super::{Origin, Role, WithOrigin};
use crate::id::{check_label, visible};
use crate::refusal::Refusal;
use crate::suggest::suggestions;

/// The key that everything stands under.
const TOP: &str = "agent_roles";
/// What a role may say.
const FIELDS: [&str; 5] =
    ["skills", "typical_tasks", "max_session_duration", "max_concurrent_tasks", "responsibilities"];
/// The largest file that is read.
const MAX_FILE_BYTES: usize = 256 * 1024;

/// The file being read, for naming it in refusals and origins.
struct File<'a> {
    path: &'a str,
}

/// The roles of a file. What a role does not say is missing in it.
pub fn read(path: &str, text: &str) -> Result<Vec<Role>, Refusal> {
    let file = File { path };
    if text.len() > MAX_FILE_BYTES {
        return Err(file.refuse(1, "", "it has over 256 KiB", "keep roles and nothing else in it"));
    }
    let parsed = yaml::parse(text).map_err(|YamlError { line, what }| {
        file.refuse(line, "", &what, "mend the YAML on that line; lists are written as [a, b]")
    })?;
    let Some(top) = parsed else { return Ok(Vec::new()) };
    let mut roles: Vec<Role> = Vec::new();
    for (key, line, value) in file.map(&top, "")? {
        if key != TOP {
            return Err(file.unknown_refusal(*line, key, key, &[TOP]));
        }
        for (name, line, value) in file.map(value, TOP)? {
            let role = file.role(name, *line, value)?;
            if roles.iter().any(|known| known.name == role.name) {
                let what = format!("the role {} stands there twice", role.name);
                return Err(file.refuse(*line, &format!("{TOP}.{name}"), &what, "join the two"));
            }
            roles.push(role);
        }
    }
    Ok(roles)
}

impl File<'_> {
    fn role(&self, name: &str, line: usize, value: &Node) -> Result<Role, Refusal> {
        let at = format!("{TOP}.{name}");
        if check_label("role", name).is_err() || name.contains([':', ',']) {
            let what = format!("`{}` is no name for a role", visible(name));
            return Err(self.refuse(line, &at, &what, "use one word, such as testing-specialist"));
        }
        let mut role = Role::bare(name);
        for (field, line, value) in self.map(value, &at)? {
            let path = format!("{at}.{field}");
            match field.as_str() {
                "skills" => role.skills = Some(self.with_origin(*line, self.texts(value, &path)?)),
                "typical_tasks" => {
                    role.typical_tasks = Some(self.with_origin(*line, self.texts(value, &path)?))
                }
                "max_session_duration" => {
                    role.max_session_duration =
                        Some(self.with_origin(*line, self.number(value, &path, 10_080)?));
                }
                "max_concurrent_tasks" => {
                    role.max_concurrent_tasks =
                        Some(self.with_origin(*line, self.number(value, &path, 1_000)?));
                }
                "responsibilities" => {
                    role.responsibilities = Some(self.with_origin(*line, self.text(value, &path)?));
                }
                unknown => return Err(self.unknown_refusal(*line, &path, unknown, &FIELDS)),
            }
        }
        Ok(role)
    }

    fn with_origin<T>(&self, line: usize, value: T) -> WithOrigin<T> {
        WithOrigin { value, origin: Origin::File { path: self.path.to_owned(), line } }
    }

    fn map<'n>(&self, node: &'n Node, at: &str) -> Result<&'n [(String, usize, Node)], Refusal> {
        match &node.value {
            Kind::Map(entries) => Ok(entries),
            // `testing-specialist:` with nothing under it.
            Kind::Scalar { text, quoted: false } if text.is_empty() || text == "~" || text == "null" => {
                Ok(&[])
            }
            _ => {
                Err(self.refuse(node.line, at, "here are to be keys with values", "write `key: value` lines"))
            }
        }
    }

    fn texts(&self, node: &Node, at: &str) -> Result<Vec<String>, Refusal> {
        let Kind::List(items) = &node.value else {
            return Err(self.refuse(node.line, at, "this is to be a list", "write it as [a, b]"));
        };
        items.iter().enumerate().map(|(n, item)| self.text(item, &format!("{at}[{n}]"))).collect()
    }

    fn text(&self, node: &Node, at: &str) -> Result<String, Refusal> {
        match &node.value {
            Kind::Scalar { text, .. } if !text.trim().is_empty() => Ok(text.trim().to_owned()),
            _ => Err(self.refuse(node.line, at, "this is to be a text", "write it on one line, in quotes")),
        }
    }

    fn number(&self, node: &Node, at: &str, most: i64) -> Result<i64, Refusal> {
        let found = match &node.value {
            Kind::Scalar { text, quoted: false } => text.trim().parse::<i64>().ok(),
            _ => None,
        };
        found.filter(|n| (1..=most).contains(n)).ok_or_else(|| {
            let what = format!("this is to be a whole number from 1 to {most}");
            self.refuse(node.line, at, &what, "durations are minutes, without a unit and without quotes")
        })
    }

    fn unknown_refusal(&self, line: usize, at: &str, word: &str, known: &[&str]) -> Refusal {
        let similar = suggestions(word, known.iter().copied());
        let hint = match similar.first() {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("known there: {}", known.join(", ")),
        };
        let what = format!("`{}` is not known there", visible(word));
        self.refuse(line, at, &what, &hint).with("near", serde_json::json!(similar))
    }

    fn refuse(&self, line: usize, at: &str, what: &str, hint: &str) -> Refusal {
        let field = if at.is_empty() { String::new() } else { format!(", {}", visible(at)) };
        let message = format!("{}, line {line}{field}: {}", visible(self.path), visible(what));
        Refusal::invalid("roles_invalid", message, hint)
            .with("path", self.path)
            .with("line", line)
            .with("field", at)
    }
}

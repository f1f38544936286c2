//! A settings file: its keys, checked, with their values as text.

use std::io::ErrorKind;
use std::path::Path;

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::shell::shell_word;
use baton_model::suggest::suggestions;

use super::{KEYS, redact};

/// The user's own file; none when there is none.
pub(super) fn read(file: &Path) -> Result<Vec<(&'static str, String)>, Refusal> {
    match std::fs::read_to_string(file) {
        Ok(text) => parse(&text, &visible(&file.display().to_string())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Err(closed_folder(file).unwrap_or_else(|| unreadable_refusal(file, &error.to_string())))
        }
        Err(error) => Err(unreadable_refusal(file, &error.to_string())),
    }
}

/// The refusal for a file in a folder that this user cannot enter, such as one that a command of another user has made; none
/// where the folder is not what is in the way.
fn closed_folder(file: &Path) -> Option<Refusal> {
    let is_closed = |folder: &&Path| matches!(std::fs::read_dir(folder), Err(error) if error.kind() == ErrorKind::PermissionDenied);
    // The outermost folder must be made accessible first.
    let folder = file.ancestors().skip(1).filter(is_closed).last()?;
    let shown = visible(&folder.display().to_string());
    let what = format!("the folder {shown} cannot be entered by this user{}", owner(folder));
    let hint = format!(
        "if a command run as another user has made it, `sudo chown -R \"$USER\" {}` gives it back; else run this as its owner",
        shell_word(&shown)
    );
    Some(Refusal::invalid("config_invalid", what, hint))
}

#[cfg(unix)]
fn owner(folder: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    match std::fs::metadata(folder).map(|known| known.uid()) {
        Ok(0) => ": it belongs to root".to_owned(),
        Ok(uid) => format!(": it belongs to the user with the number {uid}"),
        Err(_) => String::new(),
    }
}

#[cfg(not(unix))]
fn owner(_: &Path) -> String {
    String::new()
}

/// The refusal for a file that cannot be read.
pub(super) fn unreadable_refusal(file: &Path, why: &str) -> Refusal {
    let what = format!("{} cannot be read: {why}", visible(&file.display().to_string()));
    Refusal::invalid("config_invalid", what, "make it a readable UTF-8 file, or move it away")
}

/// Settings that are paths or addresses: a number is none.
const TEXTS: [&str; 5] = ["store", "redis_url", "server", "server_ca", "github_api"];

/// The settings of a text.
pub(super) fn parse(text: &str, shown: &str) -> Result<Vec<(&'static str, String)>, Refusal> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| line_at(text, span.start));
        let what = format!("{shown} is not valid TOML in line {line}: {}", visible(error.message()));
        Refusal::invalid("config_invalid", what, "mend the file or move it away").with("line", line)
    })?;
    let mut settings = Vec::new();
    for (name, value) in flat(table) {
        let Some((key, _)) = KEYS.iter().find(|(key, _)| *key == name) else {
            return Err(unknown_key_refusal(&visible(&name), shown, line_of(text, &name)));
        };
        let value = match value {
            toml::Value::String(text) => text,
            _ if TEXTS.contains(key) => {
                let line = line_of(text, &name);
                let what = format!(
                    "{shown}, line {line}: `{name}` is a path or an address, and no text stands there"
                );
                return Err(Refusal::invalid("config_invalid", what, "write it as a text in quotes"));
            }
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Boolean(switch) => switch.to_string(),
            toml::Value::Array(items) if redact::is_list(key) => redact::text(items, key, shown)?,
            _ => {
                let line = line_of(text, &name);
                let what = format!(
                    "{shown}, line {line}, gives `{name}` neither a text, a number nor true or false"
                );
                return Err(Refusal::invalid("config_invalid", what, "write it as a text in quotes"));
            }
        };
        settings.push((*key, value));
    }
    Ok(settings)
}

/// The settings of a table under names with dots: `[tasks] mirror` is `tasks.mirror`.
fn flat(table: toml::Table) -> Vec<(String, toml::Value)> {
    let mut found = Vec::new();
    for (name, value) in table {
        match value {
            toml::Value::Table(inner) => {
                found.extend(flat(inner).into_iter().map(|(key, value)| (format!("{name}.{key}"), value)));
            }
            value => found.push((name, value)),
        }
    }
    found
}

/// The line of a place in a text, from 1.
fn line_at(text: &str, at: usize) -> usize {
    1 + text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count()
}

/// The line in which a key is set, from 1; a key of a table is looked for by its last part.
pub(super) fn line_of(text: &str, name: &str) -> usize {
    let own = name.rsplit('.').next().unwrap_or(name);
    let sets = |line: &&str| {
        let head = line.split('=').next().unwrap_or_default();
        let key = head.rsplit('.').next().unwrap_or_default();
        line.contains('=') && key.trim().trim_matches(['"', '\'']) == own
    };
    text.lines().position(|line| sets(&line)).map_or(1, |at| at + 1)
}

fn unknown_key_refusal(name: &str, file: &str, line: usize) -> Refusal {
    let name: String = name.chars().take(100).collect();
    let nearest = suggestions(&name, KEYS.iter().map(|(key, _)| *key)).first().copied();
    let hint = match nearest {
        Some(near) => format!("did you mean `{near}`?"),
        None => "take it out; `baton help environment` names the settings that there are".to_owned(),
    };
    let what = format!("{file} has the unknown key `{name}` in line {line}");
    let refusal = Refusal::invalid("config_unknown_key", what, hint).with("line", line).with("key", name);
    match nearest {
        Some(near) => refusal.with("nearest", near),
        None => refusal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_no_path_and_no_address() {
        for key in TEXTS {
            let refusal = parse(&format!("identity = \"Ann\"\n{key} = 7\n"), "config.toml").expect_err(key);
            assert_eq!(refusal.code, "config_invalid", "{key}");
            assert!(refusal.message.contains("line 2"), "{refusal:?}");
        }
        assert_eq!(
            parse("auto_wrap = false\n", "config.toml").expect("read"),
            [("auto_wrap", "false".to_owned())]
        );
    }
}

//! The command that puts away what is not committed, as answers suggest it.

use std::path::Path;

use baton_model::changes::{SETTINGS_FILE, is_settings};
use baton_model::id::visible;
use baton_model::shell::shell_word;

use super::read;

/// The command for the working copy with this top folder. What belongs to the folder itself stays where it is.
pub(crate) fn stash_command(root: &Path) -> String {
    let own = folders_own(root);
    match own.is_empty() {
        true => "git stash -u".to_owned(),
        false => format!("git stash push -u {}", own.join(" ")),
    }
}

/// What no stash may take, as the words of a command that leave it alone: settings files that git does not track. They may be what says
/// to which project the folder belongs, and go along with no work.
pub(crate) fn folders_own(root: &Path) -> Vec<String> {
    let everywhere = format!(":(top,glob)**/{SETTINGS_FILE}");
    let args = ["ls-files", "-z", "--others", "--exclude-standard", "--", &everywhere];
    let found = read(root, &args).unwrap_or_default();
    found.split('\0').filter(|path| is_settings(path.as_bytes())).map(exclusion).collect()
}

/// A path that a command leaves alone, in whatever folder of the working copy it is typed.
fn exclusion(path: &str) -> String {
    match printable_pattern(path) {
        Some(pattern) => shell_word(&format!(":(exclude,top){pattern}")),
        None if path == SETTINGS_FILE => shell_word(&format!(":!/{path}")),
        None => shell_word(&format!(":(exclude,top,literal){path}")),
    }
}

/// A pattern of git's for a path with a character that no printed command can hold, such as a line break: a wildcard stands for each byte
/// of it. Nothing for any other path, which is a word as it stands.
pub(crate) fn printable_pattern(path: &str) -> Option<String> {
    if visible(path) == path && !path.contains(char::REPLACEMENT_CHARACTER) {
        return None;
    }
    let mut pattern = String::new();
    for c in path.chars() {
        let mut bytes = [0; 4];
        let text = c.encode_utf8(&mut bytes);
        match c {
            // What is no UTF-8 was read so: how many bytes it has is not known.
            char::REPLACEMENT_CHARACTER => pattern.push('*'),
            '*' | '?' | '[' | '\\' => pattern.extend(['\\', c]),
            _ if visible(text) == *text => pattern.push(c),
            _ => pattern.extend(std::iter::repeat_n('?', c.len_utf8())),
        }
    }
    Some(pattern)
}

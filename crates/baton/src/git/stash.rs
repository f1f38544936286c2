//! The command that puts away what is not committed, as answers suggest it.

use std::path::Path;

use baton_model::changes::{SETTINGS_FILE, is_settings};
use baton_model::shell::shell_word;

use super::read;

/// The command for the working copy with this top folder. A settings file that git does not track stays where it is: it may be what
/// says to which project the folder belongs.
pub(crate) fn stash_command(root: &Path) -> String {
    let everywhere = format!(":(top,glob)**/{SETTINGS_FILE}");
    let args = ["ls-files", "-z", "--others", "--exclude-standard", "--", &everywhere];
    let found = read(root, &args).unwrap_or_default();
    let own: Vec<String> =
        found.split('\0').filter(|path| is_settings(path.as_bytes())).map(exclusion).collect();
    match own.is_empty() {
        true => "git stash -u".to_owned(),
        false => format!("git stash push -u {}", own.join(" ")),
    }
}

/// A path that a command leaves alone, in whatever folder of the working copy it is typed.
fn exclusion(path: &str) -> String {
    match path == SETTINGS_FILE {
        true => shell_word(&format!(":!/{path}")),
        false => shell_word(&format!(":(exclude,top,literal){path}")),
    }
}

//! The command that puts away what is not committed, as answers suggest it.

use std::path::Path;

use baton_model::changes::{SETTINGS_FILE, is_settings};
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
    match path == SETTINGS_FILE {
        true => shell_word(&format!(":!/{path}")),
        false => shell_word(&format!(":(exclude,top,literal){path}")),
    }
}

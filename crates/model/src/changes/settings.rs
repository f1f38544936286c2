//! The settings file of a working copy: where git does not track it, it is its user's own and no work.

/// The name of the file.
pub const SETTINGS_FILE: &str = ".baton.toml";

/// Whether a path ends with that name: the nearest such file counts in a folder, so each folder may have one.
pub fn is_settings(path: &[u8]) -> bool {
    path.rsplit(|byte| *byte == b'/').next() == Some(SETTINGS_FILE.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_this_name_is_one_in_every_folder() {
        assert!(is_settings(b".baton.toml") && is_settings(b"sub/.baton.toml"));
        for other in ["x.baton.toml", ".baton.toml/x", ".baton.toml.old", "sub/", ""] {
            assert!(!is_settings(other.as_bytes()), "{other}");
        }
    }
}

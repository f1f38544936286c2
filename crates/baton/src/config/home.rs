//! The folders below which settings and the ledger lie. A relative one would be another one in each folder that Baton is called
//! in, and with it the ledger.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::refusal::Refusal;

/// The user's home directory: by the environment, else as the system knows it.
pub(super) fn of(vars: &BTreeMap<String, String>) -> Result<PathBuf, Refusal> {
    let (name, given) = match (vars.get("HOME"), vars.get("USERPROFILE")) {
        (Some(home), _) => ("HOME", home.clone()),
        (None, Some(profile)) => ("USERPROFILE", profile.clone()),
        (None, None) => ("HOME", std::env::home_dir().unwrap_or_else(|| "/".into()).display().to_string()),
    };
    if Path::new(&given).is_absolute() {
        return Ok(PathBuf::from(given));
    }
    let what = match given.as_str() {
        "" => format!("{name} is empty"),
        given => format!("{name} is `{}`, which is no absolute path", visible(given)),
    };
    let hint = "Baton keeps its settings and its ledger below it: give it the path of your home directory";
    Err(Refusal::invalid("config_invalid", what, hint))
}

/// The folder that an XDG variable names. The XDG Base Directory Specification has relative paths ignored.
pub(super) fn xdg_dir(vars: &BTreeMap<String, String>, name: &str) -> Option<PathBuf> {
    vars.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_that_depends_on_the_folder_is_none() {
        let vars = |home: &str| BTreeMap::from([("HOME".to_owned(), home.to_owned())]);
        assert_eq!(of(&vars("/home/you")).ok(), Some(PathBuf::from("/home/you")));
        for home in ["", ".", "home/you"] {
            let refusal = of(&vars(home)).expect_err(home);
            assert!(refusal.code == "config_invalid" && refusal.message.contains("HOME"), "{refusal:?}");
        }
        assert!(of(&BTreeMap::new()).expect("as the system knows it").is_absolute());
    }

    #[test]
    fn a_relative_folder_of_xdg_is_ignored() {
        let vars = BTreeMap::from([
            ("XDG_DATA_HOME".to_owned(), "data".to_owned()),
            ("XDG_CONFIG_HOME".to_owned(), "/c".to_owned()),
        ]);
        assert_eq!(xdg_dir(&vars, "XDG_DATA_HOME"), None);
        assert_eq!(xdg_dir(&vars, "XDG_CONFIG_HOME"), Some(PathBuf::from("/c")));
        assert_eq!(xdg_dir(&vars, "XDG_CACHE_HOME"), None);
    }
}

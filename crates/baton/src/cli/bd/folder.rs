//! The folder that a call of `bd` is about, where it is not the working directory.

use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};

/// The folder that options and environment choose: `-C`, `--db`, `BEADS_DIR`, `BEADS_DB`, `BD_DB`. The working directory of
/// the process becomes that of `-C`.
pub(super) fn choose(
    words: &[String],
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<PathBuf>, Refusal> {
    let directory = option(words, "--directory", Some("-C"));
    let entered = match &directory {
        Some(directory) => Some(crate::config::enter(Path::new(directory)).map_err(|error| {
            let what = format!("{} cannot be entered: {error}", visible(directory));
            Refusal::new(Kind::NotFound, "folder_unknown", what, "name a folder that is there")
        })?),
        None => None,
    };
    let is_init = words.iter().find(|word| !word.starts_with('-')).is_some_and(|verb| verb == "init");
    let var = |name: &str| variable(name).filter(|value| !value.is_empty());
    let database = option(words, "--db", None)
        .or_else(|| var("BEADS_DIR"))
        .or_else(|| var("BEADS_DB"))
        .or_else(|| var("BD_DB"));
    match database.map(|database| repository_of(Path::new(&database))) {
        // What is not there yet, `init` makes where it stands.
        Some(Err(_)) if is_init => Ok(entered),
        Some(folder) => folder.map(Some),
        None => Ok(entered),
    }
}

/// The value of an option, wherever it stands before `--`.
fn option(words: &[String], long: &str, short: Option<&str>) -> Option<String> {
    let mut words = words.iter().take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        if word == long || Some(word.as_str()) == short {
            return words.next().cloned();
        }
        if let Some(value) = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('=')) {
            return Some(value.to_owned());
        }
    }
    None
}

/// The folder whose database lies at a path: the one that holds `.beads`.
fn repository_of(path: &Path) -> Result<PathBuf, Refusal> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let beads = absolute.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == ".beads"));
    let folder = match beads {
        Some(beads) => beads.parent().map(Path::to_owned),
        None if absolute.is_dir() => Some(absolute.clone()),
        None => absolute.parent().map(Path::to_owned),
    };
    folder.filter(|folder| folder.is_dir()).ok_or_else(|| {
        let what = format!("no folder holds {}", visible(&path.display().to_string()));
        Refusal::new(
            Kind::NotFound,
            "folder_unknown",
            what,
            "name the .beads folder of a repository; Baton has one store for all of them",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_database_means_the_folder_that_holds_it() {
        let home = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(home.path().join(".beads")).expect("made");
        for path in [".beads", ".beads/beads.db", ".beads/issues.jsonl"] {
            let path = home.path().join(path).display().to_string();
            let named = |name: &str| (name == "BEADS_DIR").then(|| path.clone());
            for chosen in [
                choose(&words("list"), named),
                choose(&words("init --prefix x"), named),
                choose(&words(&format!("list --db {path}")), |_| None),
            ] {
                let chosen = chosen.expect("there").expect("chosen");
                assert_eq!(chosen, home.path(), "{path}");
            }
        }
    }

    #[test]
    fn a_database_that_is_nowhere_is_refused() {
        let named = |name: &str| (name == "BEADS_DIR").then(|| "/nowhere/at/all/.beads".to_owned());
        assert_eq!(choose(&words("create x"), named).expect_err("refused").code, "folder_unknown");
        assert_eq!(choose(&words("init"), named).expect("init makes its own"), None);
    }
}

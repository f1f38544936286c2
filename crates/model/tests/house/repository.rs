//! What comes from a repository is reached in one way: its files by `repo_file`, git by `git`.

use crate::source::{Kind, Source, Violation};

/// Where git may be started: the one module for it with its way to remotes, and the demo, which makes a repository of its own.
const GIT: [&str; 3] =
    ["crates/baton/src/git/mod.rs", "crates/baton/src/git/transfer.rs", "crates/baton/src/cli/demo/mod.rs"];

/// Files that deal with paths of repositories and so open none by themselves.
const HELD: [&str; 9] = [
    "crates/baton/src/beads.rs",
    "crates/baton/src/cli/audit.rs",
    "crates/baton/src/cli/beads.rs",
    "crates/baton/src/cli/init.rs",
    "crates/baton/src/cli/merge_driver.rs",
    "crates/baton/src/config/repository.rs",
    "crates/baton/src/beads_file.rs",
    "crates/baton/src/merge_driver.rs",
    "crates/baton/src/beads_file_service.rs",
];

/// What opens, makes or follows a path.
const OPENS: [(&str, &[&str]); 3] = [
    (
        "fs",
        &[
            "read",
            "read_to_string",
            "write",
            "create_dir",
            "create_dir_all",
            "rename",
            "copy",
            "remove_file",
            "metadata",
        ],
    ),
    ("File", &["open", "create", "create_new"]),
    ("OpenOptions", &["new"]),
];

/// No program called git beside the module that makes it harmless.
pub(crate) fn git(source: &Source) -> Vec<Violation> {
    let used = source.tokens.windows(3).filter(|three| {
        let starts = matches!(three[0].text.as_str(), "new" | "program");
        starts && three[1].kind == Kind::Open && three[2].kind == Kind::Text && three[2].text == "git"
    });
    let used = used.filter(|three| !three[0].test && !GIT.contains(&source.path.as_str()));
    let what =
        "git is started here: call it through crates/baton/src/git, which lets nothing of a repository run";
    used.map(|three| Violation::new(&source.path, three[0].line, what)).collect()
}

/// No path of a repository opened by the system's own rules, which follow links and wait for pipes.
pub(crate) fn files(source: &Source) -> Vec<Violation> {
    if !HELD.contains(&source.path.as_str()) {
        return Vec::new();
    }
    let words: Vec<_> =
        source.tokens.iter().filter(|token| token.kind == Kind::Word && !token.test).collect();
    let opens = words.windows(2).filter(|two| {
        OPENS.iter().any(|(of, verbs)| two[0].text == *of && verbs.contains(&two[1].text.as_str()))
    });
    let what = "this opens a path of a repository: use crates/baton/src/repo_file, which does not leave it";
    opens.map(|two| Violation::new(&source.path, two[1].line, what)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_is_found_wherever_it_is_started() {
        let bad = r#"fn f() { let _ = Command::new("git").arg("status"); }"#;
        assert_eq!(git(&Source::new("crates/baton/src/cli/x.rs", bad)).len(), 1);
        assert_eq!(git(&Source::new("crates/baton/src/git/mod.rs", bad)).len(), 0);
        let tested = format!("#[cfg(test)] mod tests {{ {bad} }}");
        assert_eq!(git(&Source::new("crates/baton/src/cli/x.rs", &tested)).len(), 0);
    }

    #[test]
    fn a_path_that_is_opened_directly_is_found() {
        for bad in ["std::fs::read_to_string(p)", "File::open(p)", "fs::write(p, t)", "OpenOptions::new()"] {
            let text = format!("fn f() {{ let _ = {bad}; }}");
            assert_eq!(files(&Source::new(HELD[0], &text)).len(), 1, "{bad}");
            assert_eq!(files(&Source::new("crates/baton/src/keys.rs", &text)).len(), 0, "{bad}");
        }
        let good = "use std::fs::{File, Metadata}; fn f() { file.read_to_string(&mut text); }";
        assert_eq!(files(&Source::new(HELD[0], good)).len(), 0);
    }
}

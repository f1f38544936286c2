//! Files that plain commands change: removed, moved, written over, edited in place.

use crate::event::{Change, Edit};

/// The file changes of a command line that succeeded, where they are certain: nothing with patterns, variables, whole
/// folders, or files outside of the project.
pub(super) fn edits(command: &str) -> Vec<Edit> {
    let line = command.split_once("<<").map_or(command, |(before, here)| {
        let first = here.lines().next().unwrap_or_default();
        // What stands behind the mark of a here-document on its line still belongs to the command.
        if before.contains('>') || !first.contains('>') {
            before
        } else {
            command.lines().next().unwrap_or_default()
        }
    });
    let mut found = Vec::new();
    let mut moved = false;
    for step in line.lines().flat_map(|line| line.split("&&")).flat_map(|step| step.split(';')) {
        let words = words(step);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // After `cd` the paths mean something else.
        moved |= words.first() == Some(&"cd");
        if !moved {
            found.extend(step_edits(&words));
        }
    }
    found
}

fn step_edits(words: &[&str]) -> Vec<Edit> {
    let plain = |rest: &[&str]| -> Vec<String> {
        rest.iter().filter(|word| !word.starts_with('-')).map(|word| (*word).to_owned()).collect()
    };
    let recursive = words
        .iter()
        .any(|word| word.starts_with('-') && word.contains(['r', 'R']) && !word.starts_with("--"));
    match words {
        ["rm", rest @ ..] | ["git", "rm", rest @ ..] if !recursive && !rest.contains(&"--cached") => {
            plain(rest)
                .iter()
                .filter(|path| is_path(path))
                .map(|path| Edit::bare(path, Change::Deleted))
                .collect()
        }
        ["mv", rest @ ..] | ["git", "mv", rest @ ..] => match plain(rest).as_slice() {
            [from, to] if is_path(from) && is_path(to) && is_file(from) && is_file(to) => {
                vec![Edit { from: Some(from.clone()), ..Edit::bare(to, Change::Renamed) }]
            }
            _ => Vec::new(),
        },
        ["sed", rest @ ..] if rest.iter().any(|word| word.starts_with("-i")) => {
            let files = plain(rest);
            files
                .iter()
                .skip(1)
                .filter(|path| is_path(path) && is_file(path))
                .map(|path| Edit::bare(path, Change::Modified))
                .collect()
        }
        ["cat" | "echo" | "printf", rest @ ..] => {
            let at = rest.iter().rposition(|word| matches!(*word, ">" | ">>"));
            let target = at.and_then(|at| rest.get(at + 1)).filter(|path| is_path(path) && is_file(path));
            target.map(|path| Edit::bare(path, Change::Modified)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// A path in the project, written out.
fn is_path(path: &str) -> bool {
    let strange = |c: char| matches!(c, '*' | '?' | '$' | '`' | '{' | '(' | '<' | '>' | '|' | '~' | '!');
    let outside = ["/tmp/", "/dev/", "/var/", "/proc/", "../"].iter().any(|root| path.starts_with(root));
    !path.is_empty()
        && !path.contains(strange)
        && !outside
        && !path.ends_with('/')
        && path != "."
        && path != ".."
}

/// Whether the last part looks like a file: moving folders tells nothing of single files.
fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.trim_start_matches('.').contains('.')
        || name.starts_with('.')
        || matches!(name, "Makefile" | "Dockerfile" | "LICENSE" | "README")
}

/// The words of a step, quotes taken off.
fn words(step: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word = String::new();
    let (mut quote, mut inside) = (None, false);
    for c in step.chars() {
        match (quote, c) {
            (Some(mark), _) if c == mark => quote = None,
            (Some(_), _) => word.push(c),
            (None, '\'' | '"') => (quote, inside) = (Some(c), true),
            (None, '>') if !word.is_empty() && !word.ends_with('>') && !word.ends_with(['1', '2', '&']) => {
                all.push(std::mem::replace(&mut word, ">".to_owned()));
            }
            (None, c) if c.is_whitespace() => {
                if inside || !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
                inside = false;
            }
            (None, c) => {
                if word.starts_with('>') && c != '>' {
                    all.push(std::mem::take(&mut word));
                }
                word.push(c);
            }
        }
    }
    if inside || !word.is_empty() {
        all.push(word);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit_events(command: &str) -> Vec<(String, Change)> {
        edits(command).into_iter().map(|edit| (edit.path, edit.change)).collect()
    }

    #[test]
    fn files_that_are_removed_moved_or_written_are_told() {
        let one = |path: &str, change| vec![(path.to_owned(), change)];
        assert_eq!(edit_events("rm src/old.rs"), one("src/old.rs", Change::Deleted));
        assert_eq!(edit_events("git rm -f 'a b.txt' && git status"), one("a b.txt", Change::Deleted));
        assert_eq!(edit_events("git mv a.rs b.rs"), one("b.rs", Change::Renamed));
        assert_eq!(edit_events("sed -i 's/a > b/c/' x.py"), one("x.py", Change::Modified));
        assert_eq!(
            edit_events("cat > notes.md <<'EOF'\nrm other.md\nEOF"),
            one("notes.md", Change::Modified)
        );
        assert_eq!(edit_events("cat <<EOF >notes.md\nrm other.md\nEOF"), one("notes.md", Change::Modified));
        assert_eq!(edit_events("echo hi >> log.txt; ls"), one("log.txt", Change::Modified));
    }

    #[test]
    fn what_is_not_sure_is_not_told() {
        for command in [
            "rm -rf target",
            "rm *.o",
            "rm $FILE",
            "rm /tmp/x.txt",
            "cd sub && rm a.rs",
            "mv src lib",
            "echo 'a > b.txt'",
            "git rm --cached x.rs",
            "cargo test 2> err.txt",
            "echo x > /dev/null",
            "sed -n 1,5p x.py",
            "",
        ] {
            assert!(edit_events(command).is_empty(), "{command}: {:?}", edit_events(command));
        }
    }
}

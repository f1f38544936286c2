//! Files that plain commands change: removed, moved, written over, edited in place.

use crate::event::{Change, Edit};

/// The file changes of a command line that succeeded, where they are certain: nothing with patterns, variables, or files
/// outside of the project. A path that ends with `/` is a folder, of which it is not known which files are in it.
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
    let mut folders = Folders::default();
    for step in line.lines().flat_map(|line| line.split("&&")).flat_map(|step| step.split(';')) {
        let words = unquoted_words(step);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if folders.follow(&words) {
            continue;
        }
        let (folder, words) = match words.as_slice() {
            ["git", "-C", folder, rest @ ..] => (folders.below(folder), [&["git"], rest].concat()),
            _ => (folders.current.clone(), words),
        };
        let Some(folder) = folder else { continue };
        let up: Vec<String> = words.iter().map(|word| from_above(&folder, word)).collect();
        let words: Vec<&str> = up.iter().map(String::as_str).collect();
        let edits = step_edits(&words).into_iter().map(|edit| Edit {
            path: join(&folder, &edit.path),
            from: edit.from.as_deref().map(|from| join(&folder, from)),
            ..edit
        });
        found.extend(edits.filter(|edit| is_path(edit.path.trim_end_matches('/'))));
    }
    found
}

/// The folder in which the steps of a line work, as far as it is known.
#[derive(Debug)]
struct Folders {
    /// Relative to the first one, which is empty.
    current: Option<String>,
    before: Vec<Option<String>>,
}

impl Default for Folders {
    fn default() -> Self {
        Self { current: Some(String::new()), before: Vec::new() }
    }
}

impl Folders {
    /// Goes where a step goes; returns whether it is one that goes anywhere.
    fn follow(&mut self, words: &[&str]) -> bool {
        match words {
            ["cd", folder] => self.current = self.below(folder),
            ["pushd", folder] => {
                let next = self.below(folder);
                self.before.push(std::mem::replace(&mut self.current, next));
            }
            ["popd"] => self.current = self.before.pop().flatten(),
            ["cd" | "pushd" | "popd", ..] => self.current = None,
            // What a subshell changes ends with it, and where that is, is not looked for.
            [first, ..] if first.starts_with('(') => self.current = None,
            _ => return false,
        }
        true
    }

    fn below(&self, folder: &str) -> Option<String> {
        let name = folder.trim_end_matches('/').trim_start_matches("./");
        let goes_up = name.split('/').any(|part| part == "..") || name.starts_with('-');
        match self.current.as_deref() {
            _ if folder == "." => self.current.clone(),
            Some(current) if !goes_up && is_path(name) => Some(join(current, name)),
            _ => None,
        }
    }
}

/// `../lib/` as seen from the folder, where that is known as a whole.
fn from_above(folder: &str, word: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    let mut rest = word;
    while let Some(below) = rest.strip_prefix("../").filter(|_| folder.starts_with('/') && parts.len() > 2) {
        parts.pop();
        rest = below;
    }
    if rest.len() == word.len() { word.to_owned() } else { format!("{}/{rest}", parts.join("/")) }
}

fn join(folder: &str, path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    if folder.is_empty() || path.starts_with(['/', '~']) {
        path.to_owned()
    } else {
        format!("{folder}/{path}")
    }
}

fn step_edits(words: &[&str]) -> Vec<Edit> {
    let plain = |rest: &[&str]| -> Vec<String> {
        let to_files =
            rest.iter().take_while(|word| !word.trim_start_matches(['1', '2', '&']).starts_with(['>', '|']));
        to_files.filter(|word| !word.starts_with('-')).map(|word| (*word).to_owned()).collect()
    };
    let recursive = words
        .iter()
        .any(|word| word.starts_with('-') && word.contains(['r', 'R']) && !word.starts_with("--"));
    match words {
        ["rm", rest @ ..] | ["git", "rm", rest @ ..] if !rest.contains(&"--cached") => plain(rest)
            .iter()
            .filter_map(|path| {
                match recursive {
                    true => as_folder(path).map(|folder| Edit::bare(&folder, Change::Deleted)),
                    false => None,
                }
                .or_else(|| {
                    (is_path(path) && (!recursive || is_file(path)))
                        .then(|| Edit::bare(path, Change::Deleted))
                })
            })
            .collect(),
        ["mv", rest @ ..] | ["git", "mv", rest @ ..] => moves(&plain(rest)),
        ["cp", rest @ ..] => match plain(rest).as_slice() {
            [from, to] if is_file(from) && is_path(to) && is_file(to) => {
                vec![Edit::bare(to, Change::Created)]
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

/// What `mv` does with these paths, the last of which is the target.
fn moves(paths: &[String]) -> Vec<Edit> {
    let moved =
        |from: &str, to: &str| Edit { from: Some(from.to_owned()), ..Edit::bare(to, Change::Renamed) };
    let name = |from: &str| from.trim_end_matches('/').rsplit('/').next().unwrap_or(from).to_owned();
    match paths {
        [from @ .., to] if to == "." || to == "./" => {
            let files = from.iter().filter(|from| is_path(from) && is_file(from));
            files.map(|from| moved(from, &name(from))).collect()
        }
        [from @ .., to] if to.ends_with('/') && is_path(to.trim_end_matches('/')) => {
            let all = from.iter().filter_map(|from| match is_path(from) && is_file(from) {
                true => Some(moved(from, &format!("{to}{}", name(from)))),
                false => as_folder(from).map(|folder| moved(&folder, &format!("{to}{}/", name(&folder)))),
            });
            all.collect()
        }
        [from, to] if is_path(from) && is_path(to) && is_file(from) && is_file(to) => vec![moved(from, to)],
        [from, to] => match (as_folder(from), as_folder(to)) {
            (Some(from), Some(to)) => vec![moved(&from, &to)],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// A path that does not look like that of a file, with `/` at its end.
fn as_folder(path: &str) -> Option<String> {
    let bare = path.trim_end_matches('/');
    (is_path(bare) && (path.ends_with('/') || !is_file(bare))).then(|| format!("{bare}/"))
}

/// A path in the project, written out.
fn is_path(path: &str) -> bool {
    let strange =
        |c: char| matches!(c, '*' | '?' | '$' | '`' | '{' | '(' | ')' | '<' | '>' | '|' | '~' | '!');
    let outside = ["/tmp/", "/dev/", "/var/", "/proc/", "../"].iter().any(|root| path.starts_with(root));
    !path.is_empty()
        && !path.strip_prefix("~/").unwrap_or(path).contains(strange)
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
fn unquoted_words(step: &str) -> Vec<String> {
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
        assert_eq!(edit_events("rm -rf target"), one("target/", Change::Deleted));
        assert_eq!(edit_events("git mv src lib"), one("lib/", Change::Renamed));
    }

    #[test]
    fn a_folder_that_the_line_goes_to_counts() {
        let one = |path: &str, change| vec![(path.to_owned(), change)];
        for (command, path) in [
            ("cd sub && rm a.rs", "sub/a.rs"),
            ("cd /w/p/sub; git rm a.rs 2>/dev/null", "/w/p/sub/a.rs"),
            ("cd sub && cd deeper/ && rm ./a.rs", "sub/deeper/a.rs"),
            ("git -C sub rm a.rs", "sub/a.rs"),
            ("pushd sub && make && popd && rm a.rs", "a.rs"),
            ("cd . && rm a.rs", "a.rs"),
        ] {
            assert_eq!(edit_events(command), one(path, Change::Deleted), "{command}");
        }
        assert_eq!(edit_events("cd sub && mv a.rs b/"), one("sub/b/a.rs", Change::Renamed));
        let moved = edits("cd /w/p/src && mv a.rs tools oauth/ core/");
        let moved: Vec<(Option<&str>, &str)> =
            moved.iter().map(|edit| (edit.from.as_deref(), edit.path.as_str())).collect();
        let expected = [
            (Some("/w/p/src/a.rs"), "/w/p/src/core/a.rs"),
            (Some("/w/p/src/tools/"), "/w/p/src/core/tools/"),
            (Some("/w/p/src/oauth/"), "/w/p/src/core/oauth/"),
        ];
        assert_eq!(moved, expected);
        for (command, from, to) in [
            ("cd /w/p/src && mv utils/a.rs .", "/w/p/src/utils/a.rs", "/w/p/src/a.rs"),
            ("cd /w/p/src && mv a.rs ../lib/", "/w/p/src/a.rs", "/w/p/lib/a.rs"),
        ] {
            let moved = edits(command);
            assert_eq!((moved[0].from.as_deref(), moved[0].path.as_str()), (Some(from), to), "{command}");
        }
        assert_eq!(
            edit_events("cp a.rs b.rs && rm ~/c.rs"),
            [("b.rs".to_owned(), Change::Created), ("~/c.rs".to_owned(), Change::Deleted)]
        );
        let moved = edits("cd sub && git mv a.rs b.rs");
        assert_eq!((moved[0].from.as_deref(), moved[0].path.as_str()), (Some("sub/a.rs"), "sub/b.rs"));
    }

    #[test]
    fn what_is_not_sure_is_not_told() {
        for command in [
            "cd .. && rm a.rs",
            "cd $DIR && rm a.rs",
            "cd /tmp && rm a.rs",
            "cd - && rm a.rs",
            "(cd sub && rm a.rs)",
            "mv a.rs b.rs lib",
            "rm *.o",
            "rm $FILE",
            "rm /tmp/x.txt",
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

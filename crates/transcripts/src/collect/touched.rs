//! Which files a session read, and how much each file that it read or changed matters to the agent that goes on.

use std::collections::HashMap;

use super::SourceRef;
use super::files::relative;
use super::importance::steps;

/// Paths beyond this many are not kept: a session that lists a whole tree tells nothing by it.
const MAX_PATHS: usize = 2000;
/// How many of the latest touches of one file count.
const MAX_TOUCHES: usize = 24;
/// How many files that were only read are told.
pub(super) const MAX_READ: usize = 120;

/// What was done with one file.
#[derive(Debug, Clone, Default)]
pub(super) struct TouchedFile {
    /// Path, relative where it can be.
    pub path: String,
    /// Numbers of the calls that touched it, oldest first.
    calls: Vec<u64>,
    /// Place of the last read, if it was read.
    pub read_at: Option<SourceRef>,
    /// The lines read last, such as `120-180`, where only a part was read.
    pub lines: Option<String>,
}

/// Files by use.
#[derive(Debug, Default)]
pub(super) struct TouchedFiles {
    list: Vec<TouchedFile>,
    index: HashMap<String, usize>,
    /// Calls of the main line so far.
    calls: u64,
}

impl TouchedFiles {
    /// One more call of the main line ended.
    pub(super) fn call(&mut self) {
        self.calls += 1;
    }

    /// A file was read.
    pub(super) fn read(&mut self, path: &str, lines: Option<String>, at: &SourceRef) {
        if let Some(file) = self.touch(path) {
            file.read_at = Some(at.clone());
            file.lines = lines;
        }
    }

    /// A file was touched in any way.
    pub(super) fn touch(&mut self, path: &str) -> Option<&mut TouchedFile> {
        let slot = match self.index.get(path) {
            Some(slot) => *slot,
            None if path.is_empty() || self.list.len() >= MAX_PATHS => return None,
            None => {
                self.index.insert(path.to_owned(), self.list.len());
                self.list.push(TouchedFile { path: path.to_owned(), ..TouchedFile::default() });
                self.list.len() - 1
            }
        };
        let calls = self.calls;
        let file = self.list.get_mut(slot)?;
        file.calls.push(calls);
        if file.calls.len() > MAX_TOUCHES {
            file.calls.remove(0);
        }
        Some(file)
    }

    /// Names the files as seen from the root, which was not known before.
    pub(super) fn make_relative(&mut self, root: &str) {
        for file in std::mem::take(&mut self.list) {
            let path = relative(&file.path, Some(root));
            self.index.remove(&file.path);
            self.index.insert(path.clone(), self.list.len());
            self.list.push(TouchedFile { path, ..file });
        }
    }

    /// How much a file matters: recent touches count most, every touch counts a little. The half-life is a fifth of the
    /// session, so that a session of any length has a recent part.
    pub(super) fn importance(&self, path: &str) -> i64 {
        let Some(file) = self.index.get(path).and_then(|slot| self.list.get(*slot)) else { return 0 };
        let half_life = (self.calls as f64 / 5.0).max(10.0);
        let recent = |call: &u64| 0.5_f64.powf((self.calls.saturating_sub(*call)) as f64 / half_life) + 0.15;
        (file.calls.iter().map(recent).sum::<f64>() * 100.0) as i64
    }

    /// The paths of all of them.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|file| file.path.as_str())
    }

    /// Files that were read, those that matter most first.
    pub(super) fn read_files(&self) -> Vec<&TouchedFile> {
        let mut read: Vec<&TouchedFile> = self.list.iter().filter(|file| file.read_at.is_some()).collect();
        read.sort_by_key(|file| (std::cmp::Reverse(self.importance(&file.path)), file.path.clone()));
        read
    }
}

/// The files that a command line prints, with the lines where it names them: `sed -n '10,80p' a.rs`. Below a folder that
/// is not the root it is not known which files relative names mean.
pub(super) fn read_by(command: &str, root: Option<&str>) -> Vec<(String, Option<String>)> {
    let line = command.split("<<").next().unwrap_or_default();
    let steps = steps(line);
    let elsewhere = |step: &str| {
        let mut words = step.split_whitespace();
        words.next() == Some("cd") && words.next() != root
    };
    let moved = steps.iter().any(|step| elsewhere(step));
    let read = steps.into_iter().flat_map(printed);
    read.filter(|(path, _)| !moved || path.starts_with(['/', '~'])).collect()
}

fn printed(step: &str) -> Vec<(String, Option<String>)> {
    let mut words = step.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    let program = words.next().unwrap_or_default();
    if !matches!(program, "cat" | "sed" | "head" | "tail" | "nl" | "bat" | "less") || step.contains('>') {
        return Vec::new();
    }
    let words: Vec<&str> = words.collect();
    if program == "sed" && words.iter().any(|word| word.starts_with("-i")) {
        return Vec::new();
    }
    let range = words.iter().find_map(|word| sed_range(word)).filter(|_| program == "sed");
    let is_path = |word: &&&str| {
        let plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./@+~".contains(&byte));
        let named = word.contains('/') || word.contains('.');
        plain && named && !word.starts_with('-') && word.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    let paths = words.iter().filter(is_path).filter(|word| sed_range(word).is_none());
    paths.map(|path| ((*path).to_owned(), range.clone())).collect()
}

/// What a command line searches for: `rg -n 'load_user' src`.
pub(super) fn searched_by(command: &str) -> Vec<&str> {
    let line = command.split("<<").next().unwrap_or_default();
    steps(line).into_iter().filter_map(pattern).collect()
}

fn pattern(step: &str) -> Option<&str> {
    let step = step.trim();
    let (program, mut rest) = step.split_once(' ')?;
    if !matches!(program, "grep" | "rg" | "ag" | "egrep" | "ack") {
        return None;
    }
    loop {
        rest = rest.trim_start();
        let mark = rest.chars().next()?;
        let end = match mark {
            '"' | '\'' => return rest.get(1..)?.split(mark).next(),
            _ => rest.find(' ').unwrap_or(rest.len()),
        };
        if mark != '-' {
            return rest.get(..end);
        }
        rest = rest.get(end..)?;
    }
}

/// `10-80` of `10,80p`.
fn sed_range(word: &str) -> Option<String> {
    let (from, to) = word.strip_suffix('p')?.split_once(',')?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (number(from) && number(to)).then(|| format!("{from}-{to}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_read_by_a_command_is_read() {
        let check = |command: &str, wanted: &[(&str, Option<&str>)]| {
            let read = read_by(command, Some("/w"));
            let read: Vec<_> = read.iter().map(|(path, lines)| (path.as_str(), lines.as_deref())).collect();
            assert_eq!(read, wanted, "{command}");
        };
        check("cat src/a.rs", &[("src/a.rs", None)]);
        check("cd x && cat src/a.rs", &[]);
        check("cd /w && sed -n '10,80p' src/a.rs", &[("src/a.rs", Some("10-80"))]);
        check("nl -ba a.rs | sed -n 1,20p", &[("a.rs", None)]);
        check("cat > a.rs <<EOF\ncat b.rs\nEOF", &[]);
        check("sed -i s/a/b/ a.rs", &[]);
        check("cargo test a.rs", &[]);
    }

    #[test]
    fn a_pattern_of_a_search_by_command_is_known() {
        for (command, wanted) in [
            ("cd /w && rg -n 'load_user|save' src | head", vec!["load_user|save"]),
            ("grep -rn \"x y\" .", vec!["x y"]),
            ("grep -c foo a.rs", vec!["foo"]),
            ("cargo test grep", vec![]),
            ("rg", vec![]),
        ] {
            assert_eq!(searched_by(command), wanted, "{command}");
        }
    }

    #[test]
    fn what_was_touched_last_and_often_matters_most() {
        let mut files = TouchedFiles::default();
        let here = SourceRef::default();
        for path in ["old", "often", "often", "often", "last"] {
            for _ in 0..10 {
                files.call();
            }
            files.read(path, None, &here);
        }
        let order: Vec<&str> = files.read_files().iter().map(|file| file.path.as_str()).collect();
        assert_eq!(order, ["often", "last", "old"]);
    }
}

//! The trailer `Baton: ID` of a commit message, and the git hook that adds it.

use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};

use crate::git;
use crate::repo_file::{Fault, MAX_SMALL_FILE_BYTES, RepoFile};

/// The name of the trailer.
const TRAILER: &str = "Baton";
/// The hook: git calls it with the file of the finished message.
const HOOK: &str = "hooks/commit-msg";
/// The line by which a hook of ours is known.
const MARK: &str = "# Written by `baton init --commit-trailer`; `baton init --no-commit-trailer` removes it.";

/// The hook of a repository.
pub(crate) struct CommitHook {
    root: PathBuf,
    common_dir: PathBuf,
}

impl CommitHook {
    /// Of the repository around a folder.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        let root = git::root(folder)?;
        let common_dir = PathBuf::from(git::repository(&root).ok()?.common_dir);
        Some(Self { root, common_dir })
    }

    /// Writes the hook. A hook that Baton did not write stays, and the refusal says what to add to it.
    pub(crate) fn install(&self, program: &Path) -> Result<Option<String>, Refusal> {
        let call = call(program);
        if let Some(folder) = self.other_folder() {
            let what = format!("git takes the hooks of this repository from {}", visible(&folder));
            let has_hook = self.root.join(&folder).join("commit-msg").exists();
            return Err(if has_hook {
                conflict_refusal(&what, &call)
            } else {
                no_hook_refusal(&what, &call)
            });
        }
        if self.file().path().is_symlink() {
            let what = "the hook commit-msg of the repository is a link, which is not written through";
            return Err(conflict_refusal(what, &call));
        }
        let known = self.text()?;
        let text = match &known {
            Some(known) if !known.contains(MARK) => {
                return Err(conflict_refusal("the repository has a hook commit-msg already", &call));
            }
            Some(known) => with_call(known, &call),
            None => format!("#!/bin/sh\n{MARK}\n{call}\nexit 0\n"),
        };
        if known.as_ref() == Some(&text) {
            return Ok(None);
        }
        let file = self.file();
        file.replace(&text).map_err(|fault| unwritable_refusal(&fault))?;
        make_executable(&file.path()).map_err(|error| unwritable_refusal(&Fault::from(error)))?;
        Ok(Some(format!(
            "{HOOK} in the git folder: a commit names the baton or the session in which it was made"
        )))
    }

    /// Removes the hook, if it is ours. Lines that a user has added stay.
    pub(crate) fn remove(&self) -> Result<Option<String>, Refusal> {
        let Some(known) = self.text()?.filter(|text| text.contains(MARK)) else { return Ok(None) };
        if known.lines().all(is_written) {
            self.file().remove().map_err(|fault| unwritable_refusal(&fault))?;
            return Ok(Some(format!("{HOOK} in the git folder: removed")));
        }
        let left: Vec<&str> =
            known.split_inclusive('\n').filter(|line| !is_mark(line) && !is_call(line)).collect();
        let file = self.file();
        file.replace(&left.concat()).map_err(|fault| unwritable_refusal(&fault))?;
        make_executable(&file.path()).map_err(|error| unwritable_refusal(&Fault::from(error)))?;
        Ok(Some(format!("{HOOK} in the git folder: Baton's lines removed, yours stay")))
    }

    fn file(&self) -> RepoFile {
        RepoFile::new(&self.common_dir, HOOK)
    }

    fn text(&self) -> Result<Option<String>, Refusal> {
        self.file().text(MAX_SMALL_FILE_BYTES).map_err(|fault| unwritable_refusal(&fault))
    }

    /// The folder of hooks that the settings name in place of the repository's own.
    fn other_folder(&self) -> Option<String> {
        let named =
            |scope: &str| git::read(&self.root, &["config", scope, "--type=path", "--get", "core.hooksPath"]);
        let folder = ["--local", "--global", "--system"].into_iter().find_map(named)?;
        Some(folder.trim().to_owned()).filter(|folder| !folder.is_empty())
    }
}

/// How the line ends that adds the trailer.
const CALL_END: &str = "commit-trailer \"$1\" >/dev/null 2>&1 || :";

fn is_mark(line: &str) -> bool {
    line.trim_end() == MARK
}

fn is_call(line: &str) -> bool {
    line.trim_end().ends_with(CALL_END)
}

/// Whether a line is one that `install` writes into a new hook.
fn is_written(line: &str) -> bool {
    is_mark(line) || is_call(line) || ["#!/bin/sh", "exit 0", ""].contains(&line.trim())
}

/// A hook of ours with this call, and with the lines that a user has added as they are.
fn with_call(known: &str, call: &str) -> String {
    let has_call = known.lines().any(is_call);
    let renew = |line: &str| match () {
        () if is_call(line) => format!("{call}\n"),
        () if is_mark(line) && !has_call => format!("{MARK}\n{call}\n"),
        () => line.to_owned(),
    };
    known.split_inclusive('\n').map(renew).collect()
}

/// The line of a hook that adds the trailer.
fn call(program: &Path) -> String {
    let quoted = program.display().to_string().replace('\'', r"'\''");
    format!("'{quoted}' {CALL_END}")
}

fn conflict_refusal(what: &str, call: &str) -> Refusal {
    let hint = format!("add this line to its commit-msg: {call}");
    Refusal::new(Kind::Conflict, "commit_hook_exists", what, hint)
}

/// The refusal where git looks in another folder, in which there is no such hook yet.
fn no_hook_refusal(what: &str, call: &str) -> Refusal {
    let what = format!("{what}, where there is no commit-msg");
    let hint = format!("make an executable file commit-msg there with `#!/bin/sh` and this line: {call}");
    Refusal::new(Kind::Conflict, "commit_hook_exists", what, hint)
}

fn unwritable_refusal(fault: &Fault) -> Refusal {
    let what = format!("the hook commit-msg cannot be changed: {fault}");
    Refusal::new(Kind::Outside, "commit_hook_failed", what, "make the git folder one that you may write to")
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// The message with the trailer; none where there is nothing to add: no message yet, or the trailer is there.
pub(crate) fn with_trailer(message: &str, id: &str) -> Option<String> {
    let trailer = format!("{TRAILER}: {id}");
    let is_comment = |line: &str| line.starts_with('#');
    let end = message.split_inclusive('\n').position(|line| line.contains("------------------------ >8 ---"));
    let lines: Vec<&str> = message.split_inclusive('\n').collect();
    let (body, scissors) = lines.split_at(end.unwrap_or(lines.len()));
    let last = body.iter().rposition(|line| !line.trim().is_empty() && !is_comment(line))?;
    if body.iter().any(|line| line.trim_end() == trailer) {
        return None;
    }
    let (head, tail) = body.split_at(last + 1);
    // Trailers are a paragraph of their own behind the subject.
    let begin = head.iter().rposition(|line| line.trim().is_empty()).map_or(0, |blank| blank + 1);
    let are_trailers = begin > 0 && head[begin..].iter().all(|line| is_trailer(line));
    let gap = if are_trailers { "" } else { "\n" };
    let end_of_line = if head.last().is_some_and(|line| line.ends_with('\n')) { "" } else { "\n" };
    Some(format!("{}{end_of_line}{gap}{trailer}\n{}{}", head.concat(), tail.concat(), scissors.concat()))
}

fn is_trailer(line: &str) -> bool {
    let Some((name, value)) = line.split_once(": ") else { return false };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !name.is_empty() && name.chars().all(is_name) && !value.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_a_user_added_to_the_hook_stay() {
        let folder = tempfile::tempdir().expect("folder");
        let made = std::process::Command::new("git").args(["init", "-q"]).arg(folder.path()).status();
        assert!(made.expect("git runs").success());
        let hook = CommitHook::of(folder.path()).expect("a hook");
        let own = "grep -q TICKET \"$1\" || exit 1\n";
        hook.install(Path::new("/bin/one")).expect("installed");
        let path = hook.file().path();
        let text = std::fs::read_to_string(&path).expect("text");
        std::fs::write(&path, text.replace("exit 0\n", &format!("{own}exit 0\n"))).expect("written");
        assert!(hook.install(Path::new("/bin/two")).expect("installed").is_some());
        let renewed = std::fs::read_to_string(&path).expect("text");
        assert_eq!(renewed, format!("#!/bin/sh\n{MARK}\n{}\n{own}exit 0\n", call(Path::new("/bin/two"))));
        assert!(hook.install(Path::new("/bin/two")).expect("the same").is_none());
        assert!(hook.remove().expect("removed").is_some_and(|text| text.contains("yours stay")));
        assert_eq!(std::fs::read_to_string(&path).expect("text"), format!("#!/bin/sh\n{own}exit 0\n"));
        assert!(hook.remove().expect("no hook of ours").is_none());
    }

    #[test]
    fn where_git_looks_elsewhere_for_hooks_it_is_said_what_is_missing_there() {
        let folder = tempfile::tempdir().expect("folder");
        let git = |args: &[&str]| {
            let run = std::process::Command::new("git").arg("-C").arg(folder.path()).args(args).status();
            assert!(run.expect("git runs").success());
        };
        git(&["init", "-q"]);
        let hook = CommitHook::of(folder.path()).expect("a hook");
        let path = hook.file().path();
        std::fs::create_dir_all(path.parent().expect("hooks")).expect("folder");
        std::os::unix::fs::symlink(folder.path().join("own-hook"), &path).expect("link");
        let refused = hook.install(Path::new("/bin/one")).expect_err("a link");
        assert!(refused.message.contains("is a link"), "{}", refused.message);
        git(&["config", "core.hooksPath", "own"]);
        let refused = hook.install(Path::new("/bin/one")).expect_err("no hook there");
        assert!(refused.message.ends_with("from own, where there is no commit-msg"), "{}", refused.message);
        assert!(refused.hint.starts_with("make an executable file commit-msg there"), "{}", refused.hint);
        std::fs::create_dir(folder.path().join("own")).expect("folder");
        std::fs::write(folder.path().join("own/commit-msg"), "#!/bin/sh\n").expect("hook");
        let refused = hook.install(Path::new("/bin/one")).expect_err("a hook there");
        assert!(refused.hint.starts_with("add this line to its commit-msg"), "{}", refused.hint);
    }

    #[test]
    fn the_trailer_follows_the_message_as_git_wants_it() {
        for (message, expected) in [
            ("Round half up\n", Some("Round half up\n\nBaton: b1\n")),
            ("Round half up", Some("Round half up\n\nBaton: b1\n")),
            ("a\n\nSigned-off-by: A <a@b>\n", Some("a\n\nSigned-off-by: A <a@b>\nBaton: b1\n")),
            ("fix: a\n", Some("fix: a\n\nBaton: b1\n")),
            ("a\n\nb: no\nmore words\n", Some("a\n\nb: no\nmore words\n\nBaton: b1\n")),
            ("a\n# Please enter\n# ...\n", Some("a\n\nBaton: b1\n# Please enter\n# ...\n")),
            (
                "a\n# ------------------------ >8 ------------------------\ndiff\n",
                Some("a\n\nBaton: b1\n# ------------------------ >8 ------------------------\ndiff\n"),
            ),
            ("a\n\nBaton: b1\n", None),
            ("", None),
            ("\n# Please enter\n", None),
        ] {
            assert_eq!(with_trailer(message, "b1").as_deref(), expected, "{message:?}");
        }
    }
}

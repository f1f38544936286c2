//! The tree that every package is made of: binary, manual pages, completions, units, licence.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::command::Program;

/// Shells that `baton completions` writes for, with the place of the file below the prefix.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/baton"),
    ("zsh", "share/zsh/vendor-completions/_baton"),
    ("fish", "share/fish/vendor_completions.d/baton.fish"),
];

/// Files of the repository, with their place below the prefix.
const COPIED: [(&str, &str); 5] = [
    ("README.md", "share/doc/baton/README.md"),
    ("CHANGELOG.md", "share/doc/baton/CHANGELOG.md"),
    ("LICENSE", "share/doc/baton/copyright"),
    ("packaging/systemd/baton.service", "lib/systemd/system/baton.service"),
    ("packaging/systemd/baton-user.service", "lib/systemd/user/baton.service"),
];

/// Packages for the tools that take Baton in by themselves, with their place below the prefix.
const TOOL_PACKAGES: (&str, &str) = ("packaging/plugins", "share/baton/plugins");

/// A staged tree, laid out below a prefix such as `/usr`.
pub(crate) struct Stage {
    pub prefix: PathBuf,
}

impl Stage {
    /// Fills `prefix` from a binary that runs on this machine and the files of the repository.
    pub(crate) fn fill(root: &Path, binary: &Path, prefix: PathBuf) -> Result<Self> {
        let bin = prefix.join("bin/baton");
        place(binary, &bin)?;
        fs::set_permissions(&bin, fs::Permissions::from_mode(0o755))?;
        let manual = prefix.join("share/man/man1");
        fs::create_dir_all(&manual)?;
        Program::new(binary).arg("man").arg("--dir").arg(&manual).run()?;
        for page in fs::read_dir(&manual)? {
            Program::new("gzip").args(["-9n"]).arg(page?.path()).run()?;
        }
        for (shell, path) in COMPLETIONS {
            let text = Program::new(binary).args(["completions", shell]).output()?;
            write(&prefix.join(path), &text)?;
        }
        for (from, to) in COPIED {
            place(&root.join(from), &prefix.join(to))?;
        }
        let (from, to) = TOOL_PACKAGES;
        place_folder(&root.join(from), &prefix.join(to))?;
        normal_modes(&prefix)?;
        Ok(Self { prefix })
    }
}

fn place(from: &Path, to: &Path) -> Result<()> {
    let bytes = fs::read(from).with_context(|| format!("{} cannot be read", from.display()))?;
    write(to, &bytes)
}

fn place_folder(from: &Path, to: &Path) -> Result<()> {
    let entries = fs::read_dir(from).with_context(|| format!("{} cannot be read", from.display()))?;
    for entry in entries {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            place_folder(&entry.path(), &to)?
        } else {
            place(&entry.path(), &to)?
        }
    }
    Ok(())
}

/// Writes a file, with the folders above it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes).with_context(|| format!("{} cannot be written", path.display()))
}

/// 0755 for folders and programs, 0644 for other files, whatever the caller's umask.
fn normal_modes(path: &Path) -> Result<()> {
    let metadata = fs::metadata(path)?;
    let mode = if metadata.is_dir() || metadata.permissions().mode() & 0o100 != 0 { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    if metadata.is_dir() {
        for entry in fs::read_dir(path)? {
            normal_modes(&entry?.path())?;
        }
    }
    Ok(())
}

//! `cargo xtask dist`: builds the binary and makes every package of it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;

use crate::command::Program;
use crate::stage::Stage;
use crate::{deb, npm, rpm, sbom, sums};

/// How packages are made.
#[derive(Args)]
pub(crate) struct Options {
    /// Rust target; the machine's own if omitted
    #[arg(long, value_name = "TRIPLE", default_value = HOST)]
    target: String,
    /// Cargo profile
    #[arg(long, default_value = "dist")]
    profile: String,
    /// Package this binary in place of building one
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Folder to write to; emptied first
    #[arg(long, value_name = "DIR", default_value = "target/dist-out")]
    out: PathBuf,
}

/// Where this program was built for: the only target whose packages can be made here without a cross compiler.
const HOST: &str = if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
    "x86_64-unknown-linux-gnu"
} else if cfg!(all(target_arch = "aarch64", target_os = "linux")) {
    "aarch64-unknown-linux-gnu"
} else if cfg!(all(target_arch = "aarch64", target_os = "macos")) {
    "aarch64-apple-darwin"
} else {
    "x86_64-apple-darwin"
};

/// A target that is published, with its name in each world.
pub(crate) struct Target {
    pub triple: &'static str,
    debian: &'static str,
    rpm: &'static str,
    /// `os` and `cpu` of an npm package.
    pub npm: (&'static str, &'static str),
}

/// Every target of a release.
pub(crate) const TARGETS: [Target; 6] = [
    target("x86_64-unknown-linux-musl", "amd64", "x86_64", ("linux", "x64")),
    target("x86_64-unknown-linux-gnu", "amd64", "x86_64", ("linux", "x64")),
    target("aarch64-unknown-linux-musl", "arm64", "aarch64", ("linux", "arm64")),
    target("aarch64-unknown-linux-gnu", "arm64", "aarch64", ("linux", "arm64")),
    target("x86_64-apple-darwin", "", "", ("darwin", "x64")),
    target("aarch64-apple-darwin", "", "", ("darwin", "arm64")),
];

const fn target(
    triple: &'static str,
    debian: &'static str,
    rpm: &'static str,
    npm: (&'static str, &'static str),
) -> Target {
    Target { triple, debian, rpm, npm }
}

impl Target {
    fn find(triple: &str) -> Result<&'static Self> {
        published(triple).with_context(|| {
            let known = TARGETS.map(|target| target.triple).join(", ");
            format!("`{triple}` is not a target that is published: {known}")
        })
    }

    pub(crate) fn is_linux(&self) -> bool {
        self.triple.contains("linux")
    }

    pub(crate) fn debian(&self) -> &'static str {
        self.debian
    }

    pub(crate) fn rpm(&self) -> &'static str {
        self.rpm
    }
}

/// What is being published.
pub(crate) struct Release {
    pub version: String,
    pub target: &'static Target,
    pub out: PathBuf,
    /// Seconds since 1970 of the commit: the time of every file, so that a build can be repeated.
    pub epoch: String,
    /// Needs no shared library.
    pub is_static: bool,
}

/// Builds, stages, packages.
pub(crate) fn make(root: &Path, options: &Options) -> Result<()> {
    let target = Target::find(&options.target)?;
    let binary = match &options.binary {
        Some(file) => file.clone(),
        None => build(root, target, &options.profile)?,
    };
    let out = root.join(&options.out);
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    fs::create_dir_all(&out)?;
    let release = Release {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        target,
        is_static: is_static(&binary)?,
        epoch: commit_time(root)?,
        out,
    };
    let work = tempfile::tempdir()?;
    let tree = work.path().join("tree");
    let stage = Stage::fill(root, &binary, tree.join("usr"))?;
    archive(&release, work.path(), &stage)?;
    if target.is_linux() {
        deb::build(root, &release, &tree, &stage)?;
        rpm::build(&release, &work.path().join("rpm"), &stage)?;
    }
    npm::build(root, &release, &work.path().join("npm"), &stage)?;
    sbom::write(root, &release)?;
    fs::copy(root.join("packaging/install.sh"), release.out.join("install.sh"))?;
    sums::write(&release.out)?;
    for entry in fs::read_dir(&release.out)? {
        let entry = entry?;
        println!("{:>10}  {}", entry.metadata()?.len(), entry.path().display());
    }
    Ok(())
}

fn build(root: &Path, target: &Target, profile: &str) -> Result<PathBuf> {
    let mut cargo = Program::new("cargo").args(["build", "--locked", "-p", "baton", "--profile", profile]);
    cargo = cargo.args(["--target", target.triple]).inside(root);
    if target.triple.ends_with("linux-gnu") {
        // Without the system's libc there is nothing to be too old for.
        let name = format!("CARGO_TARGET_{}_RUSTFLAGS", target.triple.replace('-', "_").to_uppercase());
        cargo = cargo.env(&name, "-C target-feature=+crt-static");
    }
    cargo.run()?;
    let folder = if profile == "dev" { "debug" } else { profile };
    Ok(target_folder(root)?.join(target.triple).join(folder).join("baton"))
}

#[derive(Deserialize)]
struct Workspace {
    target_directory: PathBuf,
}

/// Where cargo builds, whatever its settings say.
fn target_folder(root: &Path) -> Result<PathBuf> {
    let arguments = ["metadata", "--no-deps", "--format-version", "1"];
    let shown = Program::new("cargo").args(arguments).inside(root).output()?;
    let workspace: Workspace = serde_json::from_slice(&shown).context("cargo metadata")?;
    Ok(workspace.target_directory)
}

/// An ELF file without a program interpreter; other formats count as dynamic.
fn is_static(binary: &Path) -> Result<bool> {
    let bytes = fs::read(binary).with_context(|| format!("{} cannot be read", binary.display()))?;
    Ok(bytes.starts_with(b"\x7fELF")
        && !bytes.windows(8).any(|window| window == b"ld-linux" || window == b"/ld-musl"))
}

fn commit_time(root: &Path) -> Result<String> {
    let shown = Program::new("git").args(["log", "-1", "--format=%ct"]).inside(root).output()?;
    let text = String::from_utf8(shown)?.trim().to_owned();
    if text.is_empty() {
        bail!("there is no commit to take the time from");
    }
    Ok(text)
}

const SUFFIX: &str = ".tar.gz";

/// The name of a target's archive; its one folder has the same name without the suffix.
pub(crate) fn archive_name(version: &str, target: &Target) -> String {
    format!("baton-{version}-{}{SUFFIX}", target.triple)
}

/// The published target of this name.
pub(crate) fn published(triple: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.triple == triple)
}

/// `baton-VERSION-TARGET.tar.gz`: one folder of that name, the same bytes at every build of one commit.
fn archive(release: &Release, work: &Path, stage: &Stage) -> Result<()> {
    let file = archive_name(&release.version, release.target);
    let name = file.trim_end_matches(SUFFIX);
    let folder = work.join(name);
    fs::create_dir(&folder)?;
    Program::new("cp").arg("-a").arg(stage.prefix.join(".")).arg(&folder).run()?;
    let path = work.join("archive.tar");
    let tar = Program::new("tar").args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.arg(format!("--mtime=@{}", release.epoch))
        .arg("-cf")
        .arg(&path)
        .arg("-C")
        .arg(work)
        .arg(name)
        .run()?;
    Program::new("gzip").args(["-9n"]).arg(&path).run()?;
    fs::copy(work.join("archive.tar.gz"), release.out.join(&file))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_is_not_published_is_refused_by_name() {
        let error = Target::find("x86_64-pc-windows-msvc").err().map(|error| error.to_string());
        assert!(error.is_some_and(|text| text.contains("aarch64-apple-darwin")));
        assert!(TARGETS.iter().filter(|target| target.is_linux()).all(|target| !target.debian().is_empty()));
    }
}

//! The RPM package, built by `rpmbuild` where it is installed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::command::Program;
use crate::dist::Release;
use crate::stage::{Stage, write};

/// Builds the package, or says that it is left out where there is no `rpmbuild`.
pub(crate) fn build(release: &Release, work: &Path, stage: &Stage) -> Result<Option<PathBuf>> {
    if !Program::is_installed("rpmbuild") {
        eprintln!("left out: the .rpm, because there is no rpmbuild (Debian's package is `rpm`)");
        return Ok(None);
    }
    let spec = work.join("baton.spec");
    write(&spec, spec_file(release, &stage.prefix).as_bytes())?;
    let top = format!("_topdir {}", work.display());
    let build = Program::new("rpmbuild").args(["-bb", "--quiet", "--target", release.target.rpm()]);
    build.args(["--define", &top, "--define", "_build_id_links none"]).arg(&spec).run()?;
    let folder = work.join("RPMS").join(release.target.rpm());
    let made = fs::read_dir(&folder)?.next().context("rpmbuild made no package")??.path();
    let path = release.out.join(made.file_name().context("a package without a name")?);
    fs::copy(&made, &path)?;
    Ok(Some(path))
}

fn spec_file(release: &Release, prefix: &Path) -> String {
    format!(
        "Name: baton\nVersion: {}\nRelease: 1\nSummary: Hand-off layer for coding agents\n\
         License: MIT OR Apache-2.0\nAutoReqProv: no\n{}\n\
         %global __strip /bin/true\n%global debug_package %{{nil}}\n\
         %description\nWhen one agent stops, it leaves a hand-off packet, and exactly one other agent picks it up\n\
         and continues, whichever tool either of them is.\n\n\
         %install\nmkdir -p %{{buildroot}}/usr\ncp -a {}/. %{{buildroot}}/usr/\n\n\
         %files\n/usr/bin/baton\n/usr/lib/systemd/system/baton.*\n/usr/lib/systemd/user/baton.*\n/usr/share/bash-completion/completions/baton\n\
         /usr/share/zsh/vendor-completions/_baton\n/usr/share/fish/vendor_completions.d/baton.fish\n\
         /usr/share/man/man1/*\n/usr/share/baton\n%doc /usr/share/doc/baton\n",
        release.version,
        if release.is_static { "" } else { "Requires: glibc" },
        prefix.display(),
    )
}

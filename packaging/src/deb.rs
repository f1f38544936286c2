//! The Debian package, built by `dpkg-deb`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::command::Program;
use crate::dist::Release;
use crate::stage::{Stage, write};

/// Maintainer scripts, from `packaging/debian`.
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

/// Builds the package from a tree whose prefix is `usr` below `tree`.
pub(crate) fn build(root: &Path, release: &Release, tree: &Path, stage: &Stage) -> Result<PathBuf> {
    let control = tree.join("DEBIAN");
    write(&control.join("control"), control_file(release, installed_kib(&stage.prefix)?).as_bytes())?;
    for script in SCRIPTS {
        let path = control.join(script);
        write(&path, &fs::read(root.join("packaging/debian").join(script))?)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    let path = release.out.join(format!("baton_{}_{}.deb", release.version, release.target.debian()));
    let build = Program::new("dpkg-deb").args(["--build", "--root-owner-group", "-Zxz"]);
    build.env("SOURCE_DATE_EPOCH", &release.epoch).arg(tree).arg(&path).run()?;
    fs::remove_dir_all(&control)?;
    Ok(path)
}

fn control_file(release: &Release, kib: u64) -> String {
    let depends = if release.is_static { "" } else { "Depends: libc6, libgcc-s1\n" };
    format!(
        "Package: baton\nVersion: {}\nArchitecture: {}\nMaintainer: Baton's authors <baton@localhost>\n\
         Installed-Size: {kib}\n{depends}Recommends: git\nSection: devel\nPriority: optional\n\
         Description: hand-off layer for coding agents\n \
         When one agent stops, it leaves a hand-off packet, and exactly one other\n \
         agent picks it up and continues, whichever tool either of them is.\n",
        release.version,
        release.target.debian(),
    )
}

/// Size of the files in KiB, each rounded up, as Debian's policy counts it.
fn installed_kib(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        sum +=
            if metadata.is_dir() { 1 + installed_kib(&entry.path())? } else { metadata.len().div_ceil(1024) };
    }
    Ok(sum)
}

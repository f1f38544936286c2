//! npm packages: one with the binary for each platform, and one that picks it.
//!
//! The picking package has the platform packages as optional dependencies, so that npm installs the one that fits; it
//! runs no script while it is installed.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::command::Program;
use crate::dist::{Release, TARGETS};
use crate::stage::{Stage, write};

/// Name of the package that users install; the platform packages carry a suffix.
const NAME: &str = "baton-handoff";

#[derive(Serialize)]
struct Package {
    name: String,
    version: String,
    description: &'static str,
    license: &'static str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    bin: Map<String, Value>,
    files: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    os: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cpu: Vec<&'static str>,
    #[serde(rename = "optionalDependencies", skip_serializing_if = "Map::is_empty")]
    optional_dependencies: Map<String, Value>,
}

/// Packs both packages into the release's folder.
pub(crate) fn build(root: &Path, release: &Release, work: &Path, stage: &Stage) -> Result<()> {
    if !Program::is_installed("npm") {
        eprintln!("left out: the npm packages, because there is no npm");
        return Ok(());
    }
    let (os, cpu) = release.target.npm;
    let platform = work.join("platform");
    write(&platform.join("bin/baton"), &fs::read(stage.prefix.join("bin/baton"))?)?;
    Program::new("chmod").arg("755").arg(platform.join("bin/baton")).run()?;
    let described = Package {
        name: format!("{NAME}-{os}-{cpu}"),
        files: vec!["bin/baton"],
        os: vec![os],
        cpu: vec![cpu],
        ..package(release)
    };
    pack(&described, &platform, release)?;

    let wrapper = work.join("wrapper");
    write(&wrapper.join("baton.js"), &fs::read(root.join("packaging/npm/baton.js"))?)?;
    write(&wrapper.join("README.md"), &fs::read(root.join("packaging/npm/README.md"))?)?;
    let mut platforms: Vec<_> = TARGETS.iter().map(|target| target.npm).collect();
    platforms.dedup();
    let platforms =
        platforms.into_iter().map(|(os, cpu)| (format!("{NAME}-{os}-{cpu}"), release.version.clone().into()));
    let described = Package {
        bin: Map::from_iter([("baton".to_owned(), "baton.js".into())]),
        files: vec!["baton.js"],
        optional_dependencies: platforms.collect(),
        ..package(release)
    };
    pack(&described, &wrapper, release)
}

fn package(release: &Release) -> Package {
    Package {
        name: NAME.to_owned(),
        version: release.version.clone(),
        description: "Baton, the hand-off layer for coding agents",
        license: "MIT OR Apache-2.0",
        bin: Map::new(),
        files: Vec::new(),
        os: Vec::new(),
        cpu: Vec::new(),
        optional_dependencies: Map::new(),
    }
}

fn pack(package: &Package, folder: &Path, release: &Release) -> Result<()> {
    write(&folder.join("package.json"), &serde_json::to_vec_pretty(package)?)?;
    let pack = Program::new("npm").args(["pack", "--silent", "--pack-destination"]).arg(&release.out);
    pack.inside(folder).output().map(drop).context("npm pack")
}

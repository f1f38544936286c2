//! The bill of materials in CycloneDX 1.6: every crate that is compiled into the binary, from Cargo's own resolution.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::command::Program;
use crate::dist::Release;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Bom {
    bom_format: &'static str,
    spec_version: &'static str,
    version: u32,
    components: Vec<Component>,
}

#[derive(Serialize)]
struct Component {
    r#type: &'static str,
    name: String,
    version: String,
    purl: String,
    licenses: Vec<Licence>,
}

#[derive(Serialize)]
struct Licence {
    expression: String,
}

/// Writes `baton-VERSION-TARGET.cdx.json`.
pub(crate) fn write(root: &Path, release: &Release) -> Result<()> {
    let arguments =
        ["metadata", "--locked", "--format-version", "1", "--filter-platform", release.target.triple];
    let metadata = Program::new("cargo").args(arguments).inside(root).output()?;
    let metadata: Metadata = serde_json::from_slice(&metadata).context("cargo metadata")?;
    let bom =
        Bom { bom_format: "CycloneDX", spec_version: "1.6", version: 1, components: components(metadata)? };
    let name = format!("baton-{}-{}.cdx.json", release.version, release.target.triple);
    fs::write(release.out.join(name), serde_json::to_vec_pretty(&bom)?).context("the SBOM cannot be written")
}

/// What is reached from `baton` without dependencies of tests.
fn components(metadata: Metadata) -> Result<Vec<Component>> {
    let root = metadata.packages.iter().find(|package| package.name == "baton");
    let mut waiting = vec![root.context("the workspace has no package `baton`")?.id.clone()];
    let mut reached = Vec::new();
    while let Some(id) = waiting.pop() {
        if reached.contains(&id) {
            continue;
        }
        let node =
            metadata.resolve.nodes.iter().find(|node| node.id == id).context("an unresolved package")?;
        let compiled = |dependency: &&Dependency| {
            dependency.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev"))
        };
        waiting.extend(node.deps.iter().filter(compiled).map(|dependency| dependency.pkg.clone()));
        reached.push(id);
    }
    let mut found: Vec<_> = metadata
        .packages
        .into_iter()
        .filter(|package| reached.contains(&package.id))
        .map(|package| Component {
            r#type: "library",
            purl: format!("pkg:cargo/{}@{}", package.name, package.version),
            licenses: package.license.map(|expression| Licence { expression }).into_iter().collect(),
            name: package.name,
            version: package.version,
        })
        .collect();
    found.sort_by(|one, other| one.purl.cmp(&other.purl));
    Ok(found)
}

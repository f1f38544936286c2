//! The workspace on disk, as the rules see it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::layers::{Dependency, Manifest};
use crate::source::Source;

/// Folders that hold no sources of ours.
const SKIPPED: &[&str] = &["target", "fixtures", "samples", "snapshots", "out"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file that must be there, by its path from the root.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A file's text, or nothing for a binary file and one that is gone.
pub(crate) fn read_text(path: &str) -> Option<String> {
    fs::read_to_string(root().join(path)).ok()
}

/// Every Rust source of the workspace, with modules that exist for tests only marked as such.
pub(crate) fn sources() -> Vec<Source> {
    let mut sources: Vec<Source> = files("rs").iter().map(|path| Source::new(path, &read(path))).collect();
    let test_modules: Vec<String> = sources.iter().flat_map(Source::test_modules).collect();
    for source in &mut sources {
        let in_module = |module: &String| {
            source
                .path
                .strip_prefix(module.as_str())
                .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        if test_modules.iter().any(in_module) {
            source.mark_all();
        }
    }
    sources
}

/// The SQL scripts of the store.
pub(crate) fn sql_files() -> Vec<(String, String)> {
    files("sql").into_iter().map(|path| (path.clone(), read(&path))).collect()
}

fn files(extension: &str) -> Vec<String> {
    let mut found = Vec::new();
    for top in ["crates", "bench"] {
        walk(&root().join(top), &mut |path| {
            if path.extension().is_some_and(|is| is == extension) {
                found.push(relative(path));
            }
        });
    }
    found.sort();
    found
}

fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) => {
                walk(&entry.path(), visit);
            }
            Ok(kind) if kind.is_file() => visit(&entry.path()),
            _ => {}
        }
    }
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// The files under version control; in an unpacked archive, all files.
pub(crate) fn tracked() -> Vec<String> {
    let mut git = Command::new("git");
    git.args(["-c", "safe.directory=*", "ls-files", "-z"]).current_dir(root());
    let listed = git.output().ok().filter(|output| output.status.success() && !output.stdout.is_empty());
    if let Some(output) = listed {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        return text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    }
    let mut found = BTreeSet::new();
    walk(&root(), &mut |path| {
        found.insert(relative(path));
    });
    found.into_iter().collect()
}

/// What each crate of ours depends on, as cargo reads it.
pub(crate) fn manifests() -> Vec<Manifest> {
    let mut cargo = Command::new(option_env!("CARGO").unwrap_or("cargo"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root());
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let ours = packages.iter().filter_map(manifest).collect::<Vec<_>>();
    assert!(ours.len() > 5, "the crates of the workspace were not found");
    ours
}

fn manifest(package: &serde_json::Value) -> Option<Manifest> {
    let file = Path::new(package["manifest_path"].as_str()?);
    let krate = file.parent()?.file_name()?.to_string_lossy().into_owned();
    if file.parent()?.parent()?.file_name()? != "crates" {
        return None;
    }
    let path = format!("crates/{krate}/Cargo.toml");
    let text = read(&path);
    let line =
        |name: &str| text.lines().position(|line| line.trim_start().starts_with(name)).map_or(1, |at| at + 1);
    let dependency = |value: &serde_json::Value| {
        let name = value["name"].as_str()?.to_owned();
        let line = line(value["rename"].as_str().unwrap_or(&name));
        (value["kind"] != "dev").then_some(Dependency { name, line })
    };
    let dependencies = package["dependencies"].as_array()?.iter().filter_map(dependency).collect();
    Some(Manifest { krate, path, dependencies })
}

//! The formula for Homebrew, from the checksums of a release.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::dist::{Target, archive_name, published};

/// Where the formula comes from and goes to.
#[derive(Args)]
pub(crate) struct Options {
    /// The SHA256SUMS of a release, with the archives of all its targets
    #[arg(long, value_name = "FILE")]
    sums: PathBuf,
    /// Address of the folder with the archives
    #[arg(long, value_name = "URL")]
    base: String,
    /// Address of the project's page
    #[arg(long, value_name = "URL")]
    homepage: String,
    /// File to write
    #[arg(long, value_name = "FILE", default_value = "target/dist-out/baton.rb")]
    out: PathBuf,
}

pub(crate) fn write(root: &Path, options: &Options) -> Result<()> {
    let sums = fs::read_to_string(root.join(&options.sums)).context("the checksums cannot be read")?;
    let text = formula(&sums, env!("CARGO_PKG_VERSION"), &options.base, &options.homepage)?;
    fs::write(root.join(&options.out), text).context("the formula cannot be written")
}

/// A system of Homebrew, with the block that names it.
const SYSTEMS: [(&str, &str); 2] = [("apple-darwin", "on_macos"), ("unknown-linux-musl", "on_linux")];
const PROCESSORS: [(&str, &str); 2] = [("aarch64", "on_arm"), ("x86_64", "on_intel")];

fn formula(sums: &str, version: &str, base: &str, homepage: &str) -> Result<String> {
    let mut blocks = String::new();
    for (system, on_system) in SYSTEMS {
        let mut inner = String::new();
        for (processor, on_processor) in PROCESSORS {
            let Some(target) = published(&format!("{processor}-{system}")) else { continue };
            let Some((name, sum)) = archive(sums, version, target)? else { continue };
            let _ = writeln!(
                inner,
                "    {on_processor} do\n      url \"{base}/{name}\"\n      sha256 \"{sum}\"\n    end"
            );
        }
        if !inner.is_empty() {
            let _ = write!(blocks, "  {on_system} do\n{inner}  end\n");
        }
    }
    if blocks.is_empty() {
        bail!("the checksums name no archive of version {version} that Homebrew could install");
    }
    Ok(format!(
        "class Baton < Formula\n  desc \"Hand-off layer for coding agents\"\n  homepage \"{homepage}\"\n  \
         version \"{version}\"\n  license any_of: [\"MIT\", \"Apache-2.0\"]\n\n{blocks}\n  def install\n    \
         bin.install \"bin/baton\"\n    man1.install Dir[\"share/man/man1/*\"]\n    \
         bash_completion.install \"share/bash-completion/completions/baton\"\n    \
         zsh_completion.install \"share/zsh/vendor-completions/_baton\"\n    \
         fish_completion.install \"share/fish/vendor_completions.d/baton.fish\"\n    \
         (share/\"baton\").install \"share/baton/plugins\"\n  end\n\n  service do\n    \
         run [opt_bin/\"baton\", \"serve\"]\n    keep_alive successful_exit: false\n  end\n\n  test do\n    \
         assert_match version.to_s, shell_output(\"#{{bin}}/baton --version\")\n  end\nend\n"
    ))
}

/// Name and checksum of a target's archive, if the release has one. Two of them are a mistake.
fn archive(sums: &str, version: &str, target: &Target) -> Result<Option<(String, String)>> {
    let wanted = archive_name(version, target);
    let lines = sums.lines().filter_map(|line| line.split_once("  ")).filter(|(_, name)| *name == wanted);
    let found: Vec<_> = lines.collect();
    match found.as_slice() {
        [] => Ok(None),
        [(sum, name)] => Ok(Some(((*name).to_owned(), (*sum).to_owned()))),
        _ => bail!("the checksums name {wanted} more than once"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(targets: &[&str]) -> String {
        let line = |(at, target): (usize, &&str)| format!("{at:064x}  baton-1.2.3-{target}.tar.gz\n");
        targets.iter().enumerate().map(line).collect()
    }

    #[test]
    fn a_formula_names_each_archive_with_its_own_checksum() {
        let targets = [
            "aarch64-apple-darwin",
            "x86_64-apple-darwin",
            "aarch64-unknown-linux-musl",
            "x86_64-unknown-linux-musl",
            "x86_64-unknown-linux-gnu",
        ];
        let text = formula(&sums(&targets), "1.2.3", "https://example.org/v1.2.3", "https://example.org");
        let text = text.expect("a formula");
        for (at, target) in targets.iter().enumerate().take(4) {
            let pair = format!(
                "url \"https://example.org/v1.2.3/baton-1.2.3-{target}.tar.gz\"\n      sha256 \"{at:064x}\""
            );
            assert!(text.contains(&pair), "{pair} in {text}");
        }
        assert!(!text.contains("linux-gnu"), "{text}");
        assert_eq!(
            text.matches(" do\n").count() + 2,
            text.lines().filter(|line| line.trim() == "end").count(),
            "{text}"
        );
    }

    #[test]
    fn a_release_without_archives_has_no_formula() {
        let none = formula(&sums(&["x86_64-unknown-linux-gnu"]), "1.2.3", "b", "h");
        assert!(none.is_err_and(|error| error.to_string().contains("1.2.3")));
        let twice = sums(&["x86_64-apple-darwin", "x86_64-apple-darwin"]);
        assert!(
            formula(&twice, "1.2.3", "b", "h")
                .is_err_and(|error| error.to_string().contains("more than once"))
        );
    }

    /// What `cargo binstall` asks for is what `dist` makes, below the address of a repository that the manifest has to name: whether and
    /// which is a person's decision.
    #[test]
    fn binstall_asks_for_the_archives_that_are_made() {
        let manifest = include_str!("../../crates/baton/Cargo.toml");
        let value = |key: &str| {
            let line = manifest.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
            line.and_then(|line| line.strip_suffix('"')).expect("the setting").to_owned()
        };
        for triple in ["x86_64-unknown-linux-musl", "aarch64-apple-darwin"] {
            let target = published(triple).expect("a target");
            let filled = |text: String| {
                [
                    ("version", "1.2.3"),
                    ("target", triple),
                    ("archive-suffix", ".tar.gz"),
                    ("bin", "baton"),
                    ("binary-ext", ""),
                ]
                .iter()
                .fold(text, |text, (name, value)| text.replace(&format!("{{ {name} }}"), value))
            };
            let name = archive_name("1.2.3", target);
            assert_eq!(filled(value("pkg-url")), format!("{{ repo }}/releases/download/v1.2.3/{name}"));
            let folder = name.trim_end_matches(".tar.gz");
            assert_eq!(filled(value("bin-dir")), format!("{folder}/bin/baton"));
        }
        // `{ repo }` is the `repository` of the manifest. As long as there is none, the page says that it does not work.
        let has_repository = manifest.lines().any(|line| line.starts_with("repository"));
        let page = include_str!("../../docs/packages.md");
        assert_eq!(page.contains("works once `repository` is set"), !has_repository);
    }
}

//! `baton man`: manual pages, from the same source as `--help`

use std::io::Write;
use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};

use crate::error::AppError;
use crate::repo_file::RepoFile;

/// Print a command's manual page, or write the pages of all commands to a folder
#[derive(clap::Args)]
pub(super) struct Args {
    /// Command: `wrap`, `task create`; `baton` itself if omitted
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    words: Vec<String>,
    /// Write one page per command to this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn run(args: Args) -> Result<(), AppError> {
    let pages = pages()?;
    if let Some(dir) = args.dir {
        return write_all(&pages, &dir);
    }
    let command = std::iter::once("baton").chain(args.words.iter().map(String::as_str)).collect::<Vec<_>>();
    let page = pages.iter().find(|page| page.name == command.join("-")).ok_or_else(|| {
        let what = format!("there is no command `{}`", visible(&command.join(" ")));
        Refusal::new(Kind::NotFound, "command_unknown", what, "`baton help` lists the commands")
    })?;
    std::io::stdout().write_all(page.text.as_bytes())?;
    Ok(())
}

/// A manual page of section 1.
struct Page {
    /// `baton-task-create`
    name: String,
    text: String,
}

/// The pages of every command that is not hidden.
fn pages() -> Result<Vec<Page>, AppError> {
    let mut root = super::command().disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    let mut waiting = vec![root];
    while let Some(command) = waiting.pop() {
        waiting.extend(command.get_subcommands().filter(|command| !command.is_hide_set()).cloned());
        let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
        let mut text = Vec::new();
        clap_mangen::Man::new(command).render(&mut text)?;
        pages.push(Page { name, text: String::from_utf8_lossy(&text).into_owned() });
    }
    pages.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(pages)
}

fn write_all(pages: &[Page], dir: &Path) -> Result<(), AppError> {
    for page in pages {
        let path = dir.join(format!("{}.1", page.name));
        RepoFile::from_user_path(&path).replace(&page.text).map_err(|error| {
            let what = format!("{} cannot be written: {error}", visible(&path.display().to_string()));
            Refusal::invalid("output_unwritable", what, "choose another folder with --dir")
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_options() {
        let pages = pages().expect("pages");
        for name in ["baton", "baton-wrap", "baton-task-create", "baton-handoff-from-transcript"] {
            assert!(pages.iter().any(|page| page.name == name), "{name}");
        }
        let wrap = pages.iter().find(|page| page.name == "baton-wrap").expect("wrap");
        let text = &wrap.text;
        assert!(text.contains(".TH baton-wrap 1"), "{text}");
        assert!(text.contains("\\-\\-summary") && text.contains("leave a baton"), "{text}");
    }
}

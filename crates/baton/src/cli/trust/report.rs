//! The settings file of a repository, as `config`, `doctor` and a note on standard error tell it.

use std::path::Path;

use baton_model::id::visible;
use baton_model::shell::shell_word;
use serde::Serialize;

use super::{Setting, settings};
use crate::app::{App, Format};
use crate::config::RepositoryFile;

/// The repository's file as `config` and `doctor` show it.
#[derive(Serialize)]
pub(crate) struct Report {
    path: String,
    sha256: String,
    trusted: bool,
    ignored: Vec<&'static str>,
    /// Those of the ignored ones that stay ignored in a trusted file.
    #[serde(skip)]
    never_counting: Vec<&'static str>,
    claims: Option<String>,
    settings: Vec<Setting>,
    fault: Option<String>,
    /// Nearer files that are not trusted, where this one is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outranked: Vec<OutrankedFile>,
}

/// A file of which nothing counts, since one above it is trusted.
#[derive(Serialize)]
struct OutrankedFile {
    path: String,
    ignored: Vec<&'static str>,
    fault: Option<String>,
    /// What is said of it.
    message: String,
}

impl OutrankedFile {
    /// The nearer files that say something.
    fn list(file: &RepositoryFile) -> Vec<Self> {
        file.outranked.iter().filter_map(|nearer| Self::of(nearer, file)).collect()
    }

    fn of(nearer: &RepositoryFile, trusted: &RepositoryFile) -> Option<Self> {
        let shown = |path: &Path| visible(&path.display().to_string());
        let ignored: Vec<&'static str> = nearer.given.iter().map(|(key, _)| *key).collect();
        let (path, above) = (shown(&nearer.path), shown(&trusted.path));
        let message = match &nearer.fault {
            Some(fault) => format!("{path} is ignored as a whole: {}", fault.message),
            None if ignored.is_empty() => return None,
            None => format!(
                "{path} is not trusted, and {above} is, which decides: {} of the former {} ignored ({})",
                ignored.join(", "),
                if ignored.len() == 1 { "is" } else { "are" },
                what_trust_does(&ignored, &nearer.never_counting(), Some(&shown(nearer.folder())))
            ),
        };
        let fault = nearer.fault.as_ref().map(|fault| fault.message.clone());
        Some(Self { path: nearer.path.display().to_string(), ignored, fault, message })
    }
}

/// Says which of the ignored settings `baton trust` makes count. `folder`: where it is another one than the caller's.
fn what_trust_does(ignored: &[&str], never: &[&str], folder: Option<&str>) -> String {
    let command =
        folder.map_or_else(|| "baton trust".to_owned(), |path| format!("baton trust {}", shell_word(path)));
    match (never.len(), never.len() == ignored.len()) {
        (0, _) => format!("`{command}` has that count"),
        (_, true) => {
            "no file of a repository sets that, trusted or not: it belongs in your own config.toml".to_owned()
        }
        (_, false) => format!("`{command}` has that count, but never {}", never.join(", ")),
    }
}

/// The repository's file as `config` and `doctor` show it; none where there is none.
pub(crate) fn report(app: &App) -> Option<Report> {
    let file = app.config.repository.as_ref()?;
    Some(Report {
        path: file.path.display().to_string(),
        sha256: file.digest.clone(),
        trusted: file.is_trusted,
        ignored: file.ignored.clone(),
        never_counting: file.never_counting(),
        claims: file.claim().map(str::to_owned),
        settings: settings(file),
        fault: file.fault.as_ref().map(|fault| fault.message.clone()),
        outranked: OutrankedFile::list(file),
    })
}

/// The report in a line or two.
pub(crate) fn describe(report: &Report) -> String {
    let path = visible(&report.path);
    if report.trusted {
        let nearer = report.outranked.iter().map(|file| format!("{}\n", file.message));
        return format!("{path} is trusted\n") + &nearer.collect::<String>();
    }
    if let Some(fault) = &report.fault {
        return format!("{path} is ignored as a whole: {}\n", visible(fault));
    }
    let mut text = match report.ignored.as_slice() {
        [] => format!("{path} is not trusted, and sets nothing that it may not\n"),
        keys => format!(
            "{path} is not trusted: {} {} ignored ({})\n",
            keys.join(", "),
            if keys.len() == 1 { "is" } else { "are" },
            what_trust_does(keys, &report.never_counting, None)
        ),
    };
    if let Some(claim) = &report.claims {
        text.push_str(&format!(
            "{path} names project {}, which counts for a new project only\n",
            visible(claim)
        ));
    }
    text
}

/// Names once, on standard error, what of the repository's file does not count. A content that was named is remembered.
pub(crate) fn name_ignored(app: &App) {
    let Some(file) = app.config.repository.as_ref() else { return };
    for nearer in &file.outranked {
        if let Some(outranked) = OutrankedFile::of(nearer, file) {
            note_once(app, nearer, (&outranked.message, &outranked.message));
        }
    }
    let path = visible(&file.path.display().to_string());
    let note = match &file.fault {
        Some(fault) => format!("{path} is a repository's file, and is ignored as a whole: {}", fault.message),
        None if file.ignored.is_empty() => return,
        None => format!(
            "{path} is a repository's file, which may not set {} (`baton config show` tells more)",
            file.ignored.join(", ")
        ),
    };
    let content = if file.digest.is_empty() { &note } else { &file.digest };
    note_once(app, file, (&note, content));
}

/// Says something of a file once on standard error. `mark`: what has to change for it to be said again.
fn note_once(app: &App, file: &RepositoryFile, (note, mark): (&str, &str)) {
    if app.quiet || app.format != Format::Text {
        return;
    }
    let folder = app.config.data_dir.join("noted");
    let name = crate::install::record::digest(&format!("{}\n{mark}", file.path.display()));
    let mark = folder.join(name.chars().take(24).collect::<String>());
    if mark.exists() {
        return;
    }
    app.remark(&format!("note: {note}"));
    // Where nothing can be kept it is named again.
    let _ = crate::private_file::create_folder(&folder).and_then(|()| crate::private_file::write(&mark, b""));
}

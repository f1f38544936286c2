//! `baton why`

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::{Component, Path, PathBuf};

use baton_model::id::visible;
use baton_model::packet::one_line;
use baton_model::refusal::{Kind, Refusal};
use baton_model::session::View;
use baton_model::time::Timestamp;
use baton_ops::session::{CommitOrigin, CommitOriginInput, OriginRow};
use serde::Serialize;

use crate::app::App;
use crate::error::AppError;
use crate::git::{self, CommitInfo};
use crate::render;

/// Show in which sessions a file or a line was changed, what was asked for there and what was decided
#[derive(clap::Args)]
pub(super) struct Args {
    /// File, or a line of it: FILE, FILE:LINE or FILE:FIRST-LAST
    #[arg(value_name = "FILE[:LINE]")]
    place: String,
}

/// What is known of a place in a file.
#[derive(Serialize)]
struct Report {
    project_id: String,
    /// From the top of the working copy.
    file: String,
    /// First and last line; none for the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<(u32, u32)>,
    /// The commits that the lines come from, or the newest of the file.
    commits: Vec<CommitRow>,
}

/// A commit, and the sessions in which it was made.
#[derive(Serialize)]
struct CommitRow {
    #[serde(flatten)]
    commit: CommitInfo,
    committed_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Evidence>,
    sessions: Vec<OriginRow>,
}

/// What leads from a commit to its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Evidence {
    /// The trailer of its message names the session.
    Trailer,
    /// The sessions were open in the working copy when it was made there.
    OpenSession,
}

impl CommitRow {
    /// A commit with those of the sessions that it leads to.
    fn of(commit: CommitInfo, found: &[OriginRow]) -> Self {
        let is_named =
            |row: &&OriginRow| row.matching_trailers.iter().any(|trailer| commit.trailers.contains(trailer));
        let mut sessions: Vec<OriginRow> = found.iter().filter(is_named).cloned().collect();
        // The trailer says in which session it was made; without one all count that were open in the working copy.
        if sessions.is_empty() {
            sessions =
                found.iter().filter(|row| row.matching_commits.contains(&commit.id)).cloned().collect();
        }
        let has_trailer = sessions.iter().any(|row| is_named(&row));
        let evidence = if has_trailer { Evidence::Trailer } else { Evidence::OpenSession };
        let evidence = Some(evidence).filter(|_| !sessions.is_empty());
        Self { committed_at: Timestamp(commit.at), commit, evidence, sessions }
    }
}

/// A place in a file of the working copy.
struct FileLocation {
    /// The folder of the file, or the nearest that is there.
    folder: PathBuf,
    /// From the top of the working copy.
    path: String,
    lines: Option<RangeInclusive<u32>>,
}

pub(super) fn run(args: &Args, app: &mut App) -> Result<(), AppError> {
    let cwd = app.config.cwd.clone().unwrap_or_default();
    let place = parse_file_place(&cwd, &args.place)?;
    let commits = commits(&place)?;
    let origin = app.run::<CommitOrigin>(&CommitOriginInput {
        project: app.project.clone(),
        commits: commits.iter().map(|commit| commit.id.clone()).collect(),
        trailers: commits.iter().flat_map(|commit| commit.trailers.clone()).collect(),
    })?;
    let report = Report {
        project_id: origin.project_id,
        file: place.path.clone(),
        lines: place.lines.as_ref().map(|lines| (*lines.start(), *lines.end())),
        commits: commits.into_iter().map(|commit| CommitRow::of(commit, &origin.items)).collect(),
    };
    app.show(&report, show)
}

fn filters_kept_on_refusal(place: &FileLocation) -> Refusal {
    let what = format!(
        "the lines of {} are not looked at: the repository brings a filter that cannot be switched off",
        visible(&place.path)
    );
    let hint = "`baton why FILE` without a line reads no file; `git config --list --local` shows the filters of the repository";
    Refusal::new(Kind::Refused, "filters_untrusted", what, hint)
}

/// The commits of the lines; without lines the newest of the file.
fn commits(place: &FileLocation) -> Result<Vec<CommitInfo>, Refusal> {
    let unknown = || {
        let line = place.lines.as_ref().map(|lines| format!(", line {}", lines.end())).unwrap_or_default();
        let what = format!("git knows no such place: {}{line}", visible(&place.path));
        Refusal::new(
            Kind::NotFound,
            "file_unknown",
            what,
            "name a file that is committed, and lines that it has",
        )
    };
    let found = match &place.lines {
        Some(lines) => {
            if !git::can_read_files(&place.folder) {
                return Err(filters_kept_on_refusal(place));
            }
            let ids = git::commits_of_lines(&place.folder, &place.path, lines.clone()).ok_or_else(unknown)?;
            git::commits(&place.folder, &ids)
        }
        None => git::commits_of_file(&place.folder, &place.path)
            .filter(|all| !all.is_empty())
            .ok_or_else(unknown)?,
    };
    if found.is_empty() {
        let what = format!("what stands there in {} is not committed yet", visible(&place.path));
        return Err(Refusal::new(Kind::NotFound, "not_committed", what, "commit it first"));
    }
    Ok(found)
}

/// Parses `FILE`, `FILE:LINE` or `FILE:FIRST-LAST`. A file whose name ends so is meant where it is there.
fn parse_file_place(cwd: &Path, text: &str) -> Result<FileLocation, Refusal> {
    let (file, lines) = match text.rsplit_once(':').and_then(|(file, lines)| Some((file, range(lines)?))) {
        Some((file, lines)) if !cwd.join(text).exists() => (file, Some(lines)),
        _ => (text, None),
    };
    let full = normal(&cwd.join(file));
    let folder = full.ancestors().skip(1).find(|above| above.is_dir()).unwrap_or(cwd).to_owned();
    let outside = || {
        let what = format!("{} lies in no git working copy", visible(file));
        Refusal::new(
            Kind::NotFound,
            "file_unknown",
            what,
            "`baton log` shows what was done in a project without git",
        )
    };
    let root = git::root(&folder).ok_or_else(outside)?;
    let path = full.strip_prefix(&root).ok().and_then(Path::to_str).filter(|path| !path.is_empty());
    let path = path.ok_or_else(outside)?.to_owned();
    Ok(FileLocation { folder, path, lines })
}

/// A line, or a first and a last one.
fn range(text: &str) -> Option<RangeInclusive<u32>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first >= 1 && first <= last).then_some(first..=last)
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
    }
    plain
}

/// What is said of a commit at which the history of a shallow clone ends.
const CUT: &str = "  the history of this clone is cut here, so it may come from an earlier commit: `git fetch --unshallow` brings the \
    rest, `git fetch --deepen 100` a part\n";

fn show(report: &Report) -> String {
    let mut text = String::new();
    for row in &report.commits {
        let commit = &row.commit;
        let id = commit.id.get(..7).unwrap_or_default();
        let (subject, author) = (visible(&commit.subject), visible(&commit.author));
        let _ = writeln!(text, "{id}  {subject}  ({author}, {})", render::time_ago(row.committed_at));
        if commit.is_cut {
            text.push_str(CUT);
        }
        if let count @ 2.. = row.sessions.len() {
            text.push_str(&format!(
                "  made in one of {count} sessions that were open in this working copy:\n"
            ));
        }
        for session in &row.sessions {
            let _ = write!(text, "  {}", origin(row, &session.session));
            text.push_str(&session_lines(session));
        }
        if row.sessions.is_empty() {
            text.push_str("  made in no session that this project knows\n");
        }
    }
    text
}

/// What a session has to do with a commit: only the trailer says for sure that its agent made it.
fn origin(row: &CommitRow, session: &View) -> String {
    let who = format!("{} ({})", visible(&session.identity), visible(&session.surface));
    match row.evidence {
        _ if row.sessions.len() > 1 => format!("perhaps by {who} in"),
        Some(Evidence::Trailer) => format!("made by {who} in"),
        _ => format!("made while {who} alone was at work here, in"),
    }
}

/// What is known of a session.
fn session_lines(row: &OriginRow) -> String {
    let session = &row.session;
    let mut text = format!(
        " session {}, begun {}\n",
        render::short_id(&session.session_id),
        render::time_ago(session.started_at)
    );
    let mut add = |what: &str, value: &str| {
        let _ = writeln!(text, "    {what}: {}", visible(&one_line(value)));
    };
    row.request.iter().for_each(|request| add("asked for", request));
    row.summary.iter().for_each(|summary| add("summary", summary));
    for decision in &row.decisions {
        let reason = decision.why.as_deref().map(|why| why.strip_prefix("because ").unwrap_or(why));
        let why = reason.map(|why| format!(", because {why}")).unwrap_or_default();
        let rejected = match decision.rejected.as_slice() {
            [] => String::new(),
            rejected => format!("; rejected: {}", rejected.join(", ")),
        };
        add("decided", &format!("{}{why}{rejected}", decision.what));
    }
    if let Some(id) = &row.left_baton_id {
        let id = render::short_id(id);
        add("handed on", &format!("baton {id}: `baton handoff show {id}`"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_a_line_or_a_range() {
        for (text, lines) in
            [("12", Some(12..=12)), ("3-9", Some(3..=9)), ("9-3", None), ("0", None), ("x", None), ("", None)]
        {
            assert_eq!(range(text), lines, "{text}");
        }
    }
}

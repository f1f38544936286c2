//! `baton transcripts doctor`

use baton_model::accounting::plural;
use baton_model::id::visible;
use baton_ops::transcript::{
    ComplaintRow, Doctor as Operation, DoctorInput, DoctorOutput, ToolRow, UnknownTypeRow,
};
use baton_transcripts::report::{OTHER_TYPES, kind};

use crate::app::App;
use crate::error::AppError;

/// Most unknown types of one tool that are shown: a damaged file may have another one in each record.
const MAX_SHOWN: usize = 20;

#[derive(clap::Args)]
pub(super) struct Doctor {
    /// Only sessions of this tool: claude, codex, gemini, …; may be repeated
    #[arg(long = "agent", value_name = "A")]
    agents: Vec<String>,
    /// How far to look back: 30m, 24h, 7d
    #[arg(long, value_name = "T", default_value = "30d")]
    since: String,
    /// Number of sessions to read of each tool, the newest first; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 200)]
    limit: i64,
}

pub(super) fn doctor(args: Doctor, app: &mut App) -> Result<(), AppError> {
    let Doctor { agents, since, limit } = args;
    let since_ms = super::super::earliest_instant(Some(&since))?;
    let input = DoctorInput { agents, project: app.project.clone(), since_ms, limit: Some(limit) };
    let report = app.run::<Operation>(&input)?;
    app.show(&report, text)
}

fn text(report: &DoctorOutput) -> String {
    if report.items.is_empty() {
        return "no sessions were found\n".to_owned();
    }
    let mut text: String = report.items.iter().map(tool).collect();
    let has_unknown = report.items.iter().any(|row| !row.unknown_types.is_empty());
    if has_unknown {
        text.push_str(
            "\nUpdate Baton: a newer version may know these types. If the newest does not, report the tool, its version and \
             the names\nof the types. Nothing was sent: this report is made on this machine, and has no text of your sessions.\n",
        );
    }
    text
}

/// What was read of a tool, and below it what could not be used.
fn tool(row: &ToolRow) -> String {
    let title =
        baton_tools::by_name(&row.agent).map_or_else(|| visible(&row.agent), |tool| tool.title.to_owned());
    let read = match row.sessions {
        0 => "no sessions were read".to_owned(),
        n => format!("{}, {}", counted(n, "session"), counted(row.records, "record")),
    };
    let versions: Vec<String> = row.versions.iter().map(|version| visible(version)).collect();
    let versions = match versions.as_slice() {
        [] => String::new(),
        [one] => format!(", version {one}"),
        all => format!(", versions {}", all.join(", ")),
    };
    let is_whole = row.unknown_types.is_empty() && row.complaints.is_empty();
    let verdict = if is_whole && row.sessions > 0 { ": nothing is missing" } else { "" };
    let mut lines = vec![format!("{title}: {read}{versions}{verdict}")];
    lines.extend(row.unknown_types.iter().take(MAX_SHOWN).map(|found| unknown_type(&title, found)));
    let more = row.unknown_types.len().saturating_sub(MAX_SHOWN);
    lines.extend((more > 0).then(|| format!("  {} more: --json shows all", counted(more, "unknown type"))));
    lines.extend(row.complaints.iter().map(complaint));
    lines.extend((!is_whole).then(|| "  nothing else is missing".to_owned()));
    lines.extend(left_out(row));
    lines.join("\n") + "\n"
}

fn unknown_type(title: &str, found: &UnknownTypeRow) -> String {
    let version = found.version.as_ref().map(|version| format!(" {}", visible(version))).unwrap_or_default();
    let name = match found.name.as_str() {
        "" => "without a type".to_owned(),
        OTHER_TYPES => "of further types".to_owned(),
        name => format!("of type `{}`", visible(name)),
    };
    format!(
        "  {title}{version} writes {} {name}, which Baton does not know, in {}\n    such as in {}",
        counted(found.count, "record"),
        counted(found.sessions, "session"),
        visible(&found.path)
    )
}

fn complaint(found: &ComplaintRow) -> String {
    let line = if found.line == 0 { String::new() } else { format!("line {} of ", found.line) };
    format!(
        "  {} × {}, in {}\n    such as in {line}{}",
        found.count,
        fault(&found.kind),
        counted(found.sessions, "session"),
        visible(&found.path)
    )
}

/// A kind of fault in plain English.
pub(in crate::cli) fn fault(of: &str) -> String {
    let words = match of {
        kind::UNREADABLE => "the file cannot be read further",
        kind::BAD_LINE => "a line is not JSON",
        kind::TRUNCATED => "the last line is cut off, or is being written",
        kind::OVERSIZED => "a line is too long, and was skipped",
        kind::TOO_LARGE => "the file is too large to be read",
        kind::INVALID_UTF8 => "bytes that are not UTF-8 were replaced",
        kind::NUL_BYTES => "NUL bytes were dropped",
        kind::BROKEN_CHAIN => "a message follows one that is not in the file",
        kind::BAD_RECORD => "a record is damaged, and was skipped",
        kind::CUT => "the file ends in the middle",
        kind::DAMAGED => "the file is damaged",
        kind::MISSING_PART => "a part of the conversation is in a file that is not there",
        kind::LOCKED => "another program holds the database",
        other => return visible(other),
    };
    words.to_owned()
}

/// What was not read, and how it can be.
fn left_out(row: &ToolRow) -> Option<String> {
    let parts = [(row.older, "older", "--since"), (row.beyond_limit, "beyond the limit", "--limit")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, why, option)| format!("{} {why} ({option})", counted(*count, "session")))
        .collect();
    let empty = row.without_conversation;
    let empty = (empty > 0).then(|| format!("  {} had no conversation", counted(empty, "session")));
    let unread = (!parts.is_empty()).then(|| format!("  not read: {}", parts.join(", ")));
    let lines: Vec<String> = empty.into_iter().chain(unread).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A number and its noun.
fn counted(count: impl TryInto<usize>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(usize::MAX);
    format!("{count} {}", plural(count, noun))
}

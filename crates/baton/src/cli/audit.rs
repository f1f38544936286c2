//! `baton audit`

use std::path::{Path, PathBuf};

use baton_model::accounting::UnwrappedReason;
use baton_model::completeness::{Missing, View as Tally};
use baton_model::delta::Kind;
use baton_model::id::visible;
use baton_model::instructions::Finding;
use baton_model::message::View as Message;
use baton_ops::audit::{
    Document, ForcedRow, IdentityRow, InheritedRow, KnownCommand, Report, ReportInput, ReportOutput,
    ThreadRow, UnwrappedRow, WrapRate,
};

use crate::app::App;
use crate::error::AppError;
use crate::repo_file::{MAX_SMALL_FILE_BYTES, RepoFile};
use crate::{git, render};

/// Report how complete the records are and what instruction files get wrong
///
/// Looks at the sessions of the last days and reports how complete their records are, per identity and per thread, who
/// never wrapped, and what was done by force. Then reads CLAUDE.md, AGENTS.md and GEMINI.md in every folder of the
/// working copy, and .github/copilot-instructions.md, and lists the `baton` commands, flags and tools they mention that
/// do not exist, and markers such as "not yet implemented". Changes nothing.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Number of days to look back
    #[arg(long, value_name = "N", default_value_t = 30)]
    days: i64,
    /// Exit with code 1 if something needs attention
    #[arg(long)]
    strict: bool,
}

/// What instruction files are called.
const NAMES: [&str; 3] = ["CLAUDE.md", "AGENTS.md", "GEMINI.md"];
/// One that is called by its place.
const COPILOT: &str = ".github/copilot-instructions.md";

/// What an audit does not look at.
const SEE_ALSO: &str = "`baton attention` lists what waits for a person";

/// What the percentages mean.
const LEGEND: &str = "complete records have a start or pickup, a checkpoint or note, a reason (decision or note) where files \
    changed,\nand a wrap that says what is next, what is open, or that it is done\n";

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let documents = documents(app);
    let (project, days) = (app.project.clone(), args.days);
    let report = app.run::<Report>(&ReportInput { project, days, documents, commands: commands() })?;
    app.show(&report, show)?;
    // The report has been printed; only the exit status is left.
    if args.strict && report.found != 0 { Err(AppError::Reported) } else { Ok(()) }
}

/// The instruction files of the working copy. One that cannot be read is remarked on.
fn documents(app: &mut App) -> Vec<Document> {
    let caller = app.caller();
    let Some(root) = caller.git_root.or(caller.folders.into_iter().next()).map(PathBuf::from) else {
        return Vec::new();
    };
    let mut seen = Vec::new();
    let mut documents = Vec::new();
    for path in instruction_files(&root) {
        // One file under two names is read once.
        let real = root.join(&path).canonicalize().unwrap_or_else(|_| root.join(&path));
        if seen.contains(&real) {
            continue;
        }
        match RepoFile::new(&root, &path).text(MAX_SMALL_FILE_BYTES) {
            Ok(Some(text)) => {
                documents.push(Document { path, text: text.replace('\0', "\u{fffd}") });
            }
            Ok(None) => {}
            Err(fault) => {
                app.remark(&format!("warning: {} cannot be read: {fault}", visible(&path)));
            }
        }
        seen.push(real);
    }
    documents
}

fn instruction_files(root: &Path) -> Vec<String> {
    let nested = NAMES.iter().map(|name| format!(":(glob)**/{name}"));
    let mut args: Vec<String> =
        ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"].map(str::to_owned).into();
    args.extend(nested);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let listed = git::read(root, &args).unwrap_or_default();
    let mut files: Vec<String> =
        listed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    files.extend(NAMES.iter().chain([&COPILOT]).map(|name| (*name).to_owned()));
    files.retain(|path| root.join(path).symlink_metadata().is_ok_and(|meta| !meta.is_dir()));
    files.sort();
    files.dedup();
    files
}

/// Every command and alias with its flags, as input of the audit.
fn commands() -> Vec<KnownCommand> {
    let mut root = super::command();
    root.build();
    let mut all = Vec::new();
    list(&root, &[String::new()], &mut all);
    all
}

fn list(command: &clap::Command, paths: &[String], all: &mut Vec<KnownCommand>) {
    let names = |arg: &clap::Arg| -> Vec<String> {
        let long =
            arg.get_long_and_visible_aliases().unwrap_or_default().into_iter().map(|l| format!("--{l}"));
        long.chain(arg.get_short().map(|short| format!("-{short}"))).collect()
    };
    let flags: Vec<String> = command.get_arguments().flat_map(names).collect();
    let valued: Vec<String> =
        command.get_arguments().filter(|arg| arg.get_action().takes_values()).flat_map(names).collect();
    all.extend(paths.iter().map(|path| KnownCommand {
        name: path.clone(),
        flags: flags.clone(),
        valued: valued.clone(),
    }));
    for sub in command.get_subcommands() {
        let under = |path: &String, name: &str| format!("{path} {name}").trim_start().to_owned();
        let names: Vec<&str> = [sub.get_name()].into_iter().chain(sub.get_all_aliases()).collect();
        let below: Vec<String> =
            paths.iter().flat_map(|path| names.iter().map(move |name| under(path, name))).collect();
        list(sub, &below, all);
    }
}

fn show(report: &ReportOutput) -> String {
    let mut text =
        format!("project {}, sessions of the last {} days\n", visible(&report.project_id), report.days);
    text.push_str(&wrap_rate(&report.wrap_rate));
    if !report.identities.is_empty() {
        text.push_str(LEGEND);
    }
    text.push_str(&table("records per identity", &report.identities, identity_row));
    text.push_str(&table("records per thread", &report.threads, thread_row));
    text.push_str(&table("never wrapped", &report.unwrapped, unwrapped_row));
    let sent = render::sent_section(&report.sent);
    text.push_str(&if sent.is_empty() { sent } else { format!("\n{sent}") });
    text.push_str(&table("acknowledgements overdue", &report.overdue, overdue_row));
    text.push_str(&table("done by force", &report.forced, forced_row));
    text.push_str(&inheritance(&report.inherited));
    text.push_str(&instructions(report));
    text.push_str(&match report.found {
        0 => format!("\nnothing in these records needs attention; {SEE_ALSO}\n"),
        1 => format!("\n1 thing in these records needs attention; {SEE_ALSO}\n"),
        n => format!("\n{n} things in these records need attention; {SEE_ALSO}\n"),
    });
    text
}

fn table<T>(title: &str, rows: &[T], row: fn(&T) -> Vec<String>) -> String {
    let text = render::section(title, &rows.iter().map(row).collect::<Vec<_>>());
    if text.is_empty() { text } else { format!("\n{text}") }
}

fn wrap_rate(rate: &WrapRate) -> String {
    let (wraps, sessions) = (rate.wraps, rate.sessions);
    match rate.percent {
        None => "no session is over yet\n".to_owned(),
        Some(_) if wraps == 0 && sessions == 1 => {
            "warning: the one finished session did not wrap\n".to_owned()
        }
        Some(_) if wraps == 0 => format!("warning: none of the {sessions} finished sessions wrapped\n"),
        Some(percent) if rate.low => {
            format!("warning: only {wraps} of {sessions} finished sessions wrapped ({percent}%)\n")
        }
        Some(percent) => format!("{wraps} of {sessions} finished sessions wrapped ({percent}%)\n"),
    }
}

fn identity_row(row: &IdentityRow) -> Vec<String> {
    let mut cells = vec![visible(&row.identity)];
    cells.extend(tally(&row.tally));
    cells
}

fn thread_row(row: &ThreadRow) -> Vec<String> {
    let mut cells = vec![render::short_id(&row.thread_id), visible(&row.identities.join(" → "))];
    cells.extend(tally(&row.tally));
    cells
}

fn tally(tally: &Tally) -> Vec<String> {
    let Tally { wraps, unwrapped, at_work, .. } = *tally;
    let others = tally.sessions.saturating_sub(wraps + unwrapped + at_work);
    // Nothing at all for nothing, so that what there is stands out.
    let some = |n: usize, word: &str| (n > 0).then(|| format!("{n} {word}"));
    let ended = [
        some(wraps, "wrapped"),
        some(unwrapped, "never wrapped"),
        some(at_work, "at work"),
        some(others, "ended otherwise"),
    ];
    let ended: Vec<String> = ended.into_iter().flatten().collect();
    vec![
        format!("{}% complete", tally.completeness_percent),
        sessions(tally.sessions),
        ended.join(", "),
        missing(tally.missing),
    ]
}

/// What the records lack, in words.
fn missing(parts: Missing) -> String {
    let lacks = [
        ("start", parts.begin),
        ("checkpoint or note", parts.progress),
        ("reason", parts.reason),
        ("wrap with next steps", parts.wrap),
    ];
    let times = |n: usize| if n == 1 { String::new() } else { format!(" ({n}×)") };
    let lacks: Vec<String> =
        lacks.into_iter().filter(|(_, n)| *n > 0).map(|(part, n)| format!("no {part}{}", times(n))).collect();
    lacks.join(", ")
}

fn unwrapped_row(row: &UnwrappedRow) -> Vec<String> {
    let how = match row.how {
        UnwrappedReason::Silent => "went silent",
        UnwrappedReason::Stale => "went silent and was replaced",
        UnwrappedReason::Reconnect => "its process ended; the agent came back in another one",
    };
    let holds = if row.holds_baton.is_none() { "" } else { "holds a baton, which anybody may pick up" };
    vec![
        visible(&row.identity),
        render::short_id(&row.session_id),
        format!("{how}, last heard of {}", render::time_ago(row.last_heartbeat)),
        holds.to_owned(),
    ]
}

fn overdue_row(message: &Message) -> Vec<String> {
    vec![
        visible(&message.kind),
        format!("{} → {}", visible(&message.from), visible(&message.to)),
        visible(&message.subject),
        format!("due {}", message.ack_by.map(render::time_ago).unwrap_or_default()),
    ]
}

fn forced_row(row: &ForcedRow) -> Vec<String> {
    let what = match (&row.whom, row.did) {
        (Some(whom), _) => format!("released {}", visible(whom)),
        (None, Kind::Pickup) => "picked up".to_owned(),
        (None, _) => "started".to_owned(),
    };
    let why = row.why.as_deref().filter(|why| !why.is_empty());
    vec![
        render::time_ago(row.at),
        row.who.as_deref().map(visible).unwrap_or_default(),
        what,
        why.map_or_else(|| "no reason given".to_owned(), |why| format!("\"{}\"", visible(why))),
    ]
}

fn inheritance(heirs: &[InheritedRow]) -> String {
    if heirs.is_empty() {
        return String::new();
    }
    let mut text = format!("\ninherited work\n  {} carried on from another\n", sessions(heirs.len()));
    for row in heirs.iter().filter(|row| row.unmarked != 0) {
        let who = visible(&row.identity);
        text.push_str(&format!("  {} entries of {who} do not say from whom\n", row.unmarked));
    }
    text
}

fn sessions(n: usize) -> String {
    format!("{n} {}", baton_model::accounting::plural(n, "session"))
}

fn instructions(report: &ReportOutput) -> String {
    if report.documents.is_empty() {
        return "\ninstruction files\n  none found (CLAUDE.md, AGENTS.md, GEMINI.md)\n".to_owned();
    }
    let mut text = format!("\ninstruction files: {}\n", visible(&report.documents.join(", ")));
    if report.findings.is_empty() {
        text.push_str("  all commands, flags and tools that they name exist\n");
    }
    for Finding { path, line, message, hint, .. } in &report.findings {
        text.push_str(&format!("  {}:{line}: {}\n", visible(path), visible(message)));
        if !hint.is_empty() {
            text.push_str(&format!("    {}\n", visible(hint)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use baton_model::time::Timestamp;

    use super::*;

    #[test]
    fn every_command_is_told_with_its_flags() {
        let all = commands();
        let named =
            |name: &str| all.iter().find(|command| command.name == name).unwrap_or_else(|| panic!("{name}"));
        for name in ["", "wrap", "pickup", "hd-exec", "signal send", "handoff from-transcript"] {
            assert!(named(name).flags.iter().any(|flag| flag == "--json"), "{name}");
        }
        assert!(named("wrap").valued.iter().any(|flag| flag == "--summary"));
        assert!(!named("wrap").valued.iter().any(|flag| flag == "--done"));
    }

    #[test]
    fn instruction_files_are_found_in_every_folder_and_once() {
        let dir = tempfile::tempdir().expect("folder");
        let write = |path: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
            std::fs::write(path, "x").expect("written");
        };
        ["CLAUDE.md", "a/b/AGENTS.md", COPILOT, "README.md"].into_iter().for_each(write);
        assert_eq!(instruction_files(dir.path()), [".github/copilot-instructions.md", "CLAUDE.md"]);
        let init = std::process::Command::new("git").arg("init").arg("-q").arg(dir.path()).status();
        assert!(init.expect("git runs").success());
        let all = [".github/copilot-instructions.md", "CLAUDE.md", "a/b/AGENTS.md"];
        assert_eq!(instruction_files(dir.path()), all);
    }

    #[test]
    fn nothing_to_tell_is_told_in_a_few_lines() {
        let report = ReportOutput {
            project_id: "p".to_owned(),
            days: 30,
            since: Timestamp(0),
            wrap_rate: WrapRate { wraps: 0, sessions: 0, percent: None, low: false },
            identities: Vec::new(),
            threads: Vec::new(),
            unwrapped: Vec::new(),
            inherited: Vec::new(),
            forced: Vec::new(),
            sent: Vec::new(),
            overdue: Vec::new(),
            documents: Vec::new(),
            commands_judged: true,
            findings: Vec::new(),
            found: 0,
        };
        let wanted = "project p, sessions of the last 30 days\nno session is over yet\n\ninstruction files\n  none found \
            (CLAUDE.md, AGENTS.md, GEMINI.md)\n\nnothing in these records needs attention; `baton attention` lists what waits for a person\n";
        assert_eq!(show(&report), wanted);
    }
}

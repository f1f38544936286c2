//! `baton audit`

use baton_ops::op::Operation;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::app::App;
use crate::error::Ended;
use crate::repo_file::{RepoFile, SMALL};
use crate::{git, render};

/// Report how complete the records are, and what instruction files get wrong
///
/// Looks at the sessions of the last days: how complete their records are, per identity and per thread, who never wrapped,
/// what was done by force. Then it reads CLAUDE.md, AGENTS.md, GEMINI.md (in every folder of the working copy) and
/// .github/copilot-instructions.md, and names the `baton` commands, flags and tools in them that do not exist, and marks
/// such as "not yet implemented". Nothing is changed.
#[derive(clap::Args)]
pub struct Args {
    /// How far to look back
    #[arg(long, value_name = "N", default_value_t = 30)]
    days: i64,
    /// End with exit code 1 when something needs attention
    #[arg(long)]
    strict: bool,
}

/// What instruction files are called.
const NAMES: [&str; 3] = ["CLAUDE.md", "AGENTS.md", "GEMINI.md"];
/// One that is called by its place.
const COPILOT: &str = ".github/copilot-instructions.md";

/// What the percentages mean.
const LEGEND: &str = "complete records have a start or pickup, a checkpoint or note, a reason (decision or note) where files \
    changed,\nand a wrap that says what is next, what is open, or that it is done\n";

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let documents = documents(app);
    let input = json!({
        "project": app.project, "days": args.days, "documents": documents, "commands": commands(),
    });
    let answer = app.call(baton_ops::audit::Report::NAME, input)?;
    app.answer(&answer, show)?;
    // The report has told what was found; only the exit code is left to say.
    if args.strict && answer["found"] != 0 { Err(Ended::Told) } else { Ok(()) }
}

/// The instruction files of the working copy. One that cannot be read is remarked on.
fn documents(app: &mut App) -> Vec<Value> {
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
        match RepoFile::new(&root, &path).text(SMALL) {
            Ok(Some(text)) => {
                documents.push(json!({ "path": path, "text": text.replace('\0', "\u{fffd}") }));
            }
            Ok(None) => {}
            Err(fault) => {
                app.remark(&format!("warning: {} cannot be read: {fault}", baton_model::id::visible(&path)));
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

/// Every command and alias with its flags, as the audit is told.
fn commands() -> Vec<Value> {
    let mut root = super::command();
    root.build();
    let mut all = Vec::new();
    list(&root, &[String::new()], &mut all);
    all
}

fn list(command: &clap::Command, paths: &[String], all: &mut Vec<Value>) {
    let names = |arg: &clap::Arg| -> Vec<String> {
        let long =
            arg.get_long_and_visible_aliases().unwrap_or_default().into_iter().map(|l| format!("--{l}"));
        long.chain(arg.get_short().map(|short| format!("-{short}"))).collect()
    };
    let flags: Vec<String> = command.get_arguments().flat_map(names).collect();
    let valued: Vec<String> =
        command.get_arguments().filter(|arg| arg.get_action().takes_values()).flat_map(names).collect();
    all.extend(paths.iter().map(|path| json!({ "name": path, "flags": flags, "valued": valued })));
    for sub in command.get_subcommands() {
        let under = |path: &String, name: &str| format!("{path} {name}").trim_start().to_owned();
        let names: Vec<&str> = [sub.get_name()].into_iter().chain(sub.get_all_aliases()).collect();
        let below: Vec<String> =
            paths.iter().flat_map(|path| names.iter().map(move |name| under(path, name))).collect();
        list(sub, &below, all);
    }
}

fn show(answer: &Value) -> String {
    let mut text = format!(
        "project {}, sessions of the last {} days\n",
        render::text(answer, "project_id"),
        render::text(answer, "days")
    );
    text.push_str(&wrap_rate(&answer["wrap_rate"]));
    if !render::list(answer, "identities").is_empty() {
        text.push_str(LEGEND);
    }
    text.push_str(&table("records per identity", answer, "identities", tally_row));
    text.push_str(&table("records per thread", answer, "threads", thread_row));
    text.push_str(&table("never wrapped", answer, "unwrapped", unwrapped_row));
    text.push_str(&table("acknowledgements overdue", answer, "overdue", overdue_row));
    text.push_str(&table("done by force", answer, "forced", forced_row));
    text.push_str(&inheritance(answer));
    text.push_str(&instructions(answer));
    let found = answer["found"].as_u64().unwrap_or_default();
    text.push_str(&match found {
        0 => "\nnothing needs attention\n".to_owned(),
        1 => "\n1 thing needs attention\n".to_owned(),
        n => format!("\n{n} things need attention\n"),
    });
    text
}

fn table(title: &str, answer: &Value, key: &str, row: fn(&Value) -> Vec<String>) -> String {
    let rows: Vec<Vec<String>> = render::list(answer, key).iter().map(row).collect();
    let text = render::section(title, &rows);
    if text.is_empty() { text } else { format!("\n{text}") }
}

fn wrap_rate(rate: &Value) -> String {
    match rate["percent"].as_u64() {
        None => "no session is over yet\n".to_owned(),
        Some(percent) => {
            let (wraps, sessions) = (&rate["wraps"], &rate["sessions"]);
            match rate["low"] == true {
                true => {
                    format!("warning: only {wraps} of {sessions} finished sessions wrapped ({percent}%)\n")
                }
                false => format!("{wraps} of {sessions} finished sessions wrapped ({percent}%)\n"),
            }
        }
    }
}

fn count(value: &Value, key: &str, one: &str, many: &str) -> String {
    let n = value[key].as_u64().unwrap_or_default();
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Nothing at all for nothing, so that what there is stands out.
fn some(value: &Value, key: &str, word: &str) -> String {
    match value[key].as_u64() {
        None | Some(0) => String::new(),
        Some(n) => format!("{n} {word}"),
    }
}

fn tally_row(row: &Value) -> Vec<String> {
    let mut cells = vec![render::text(row, "identity")];
    cells.extend(tally(row));
    cells
}

fn thread_row(row: &Value) -> Vec<String> {
    let who: Vec<&str> = render::list(row, "identities").iter().filter_map(Value::as_str).collect();
    let mut cells = vec![render::id(row, "thread_id"), baton_model::id::visible(&who.join(" → "))];
    cells.extend(tally(row));
    cells
}

fn tally(row: &Value) -> Vec<String> {
    let told: u64 = ["wraps", "unwrapped", "at_work"].iter().filter_map(|key| row[*key].as_u64()).sum();
    let others = row["sessions"].as_u64().unwrap_or_default().saturating_sub(told);
    let ended = [
        some(row, "wraps", "wrapped"),
        some(row, "unwrapped", "never wrapped"),
        some(row, "at_work", "at work"),
        some(&json!({ "others": others }), "others", "ended otherwise"),
    ];
    let ended: Vec<String> = ended.into_iter().filter(|part| !part.is_empty()).collect();
    vec![
        format!("{}% complete", row["completeness_percent"]),
        count(row, "sessions", "session", "sessions"),
        ended.join(", "),
        missing(&row["missing"]),
    ]
}

/// What the records lack, in words.
fn missing(parts: &Value) -> String {
    let word = |part: &str| match part {
        "begin" => "start",
        "progress" => "checkpoint or note",
        "reason" => "reason",
        _ => "wrap with next steps",
    };
    let times = |n: &Value| if *n == 1 { String::new() } else { format!(" ({n}×)") };
    let lacks: Vec<String> = parts
        .as_object()
        .into_iter()
        .flatten()
        .map(|(part, n)| format!("no {}{}", word(part), times(n)))
        .collect();
    lacks.join(", ")
}

fn unwrapped_row(row: &Value) -> Vec<String> {
    let how = match row["how"].as_str() {
        Some("silent") => "went silent",
        Some("stale") => "went silent and was replaced",
        _ => "its process ended; the agent came back in another one",
    };
    let holds = if row["holds_baton"].is_null() { "" } else { "holds a baton, which anybody may pick up" };
    vec![
        render::text(row, "identity"),
        render::id(row, "session_id"),
        format!("{how}, last heard of {}", render::age(row, "last_heartbeat")),
        holds.to_owned(),
    ]
}

fn overdue_row(row: &Value) -> Vec<String> {
    vec![
        render::text(row, "type"),
        format!("{} → {}", render::text(row, "from"), render::text(row, "to")),
        render::text(row, "subject"),
        format!("due {}", render::age(row, "ack_by")),
    ]
}

fn forced_row(row: &Value) -> Vec<String> {
    let what = match (row["whom"].as_str(), row["did"].as_str()) {
        (Some(_), _) => format!("released {}", render::text(row, "whom")),
        (None, Some("pickup")) => "picked up".to_owned(),
        (None, _) => "started".to_owned(),
    };
    let why = render::text(row, "why");
    vec![
        render::age(row, "at"),
        render::text(row, "who"),
        what,
        if why.is_empty() { "no reason given".to_owned() } else { format!("\"{why}\"") },
    ]
}

fn inheritance(answer: &Value) -> String {
    let heirs = render::list(answer, "inherited");
    let broken: Vec<&Value> = heirs.iter().filter(|row| row["unmarked"] != 0).collect();
    if heirs.is_empty() {
        return String::new();
    }
    let mut text = format!("\ninherited work\n  {} carried on from another\n", sessions(heirs.len()));
    for row in broken {
        let who = render::text(row, "identity");
        text.push_str(&format!("  {} entries of {who} do not say from whom\n", row["unmarked"]));
    }
    text
}

fn sessions(n: usize) -> String {
    format!("{n} {}", baton_model::accounting::plural(n, "session"))
}

fn instructions(answer: &Value) -> String {
    let documents: Vec<&str> = render::list(answer, "documents").iter().filter_map(Value::as_str).collect();
    if documents.is_empty() {
        return "\ninstruction files\n  none found (CLAUDE.md, AGENTS.md, GEMINI.md)\n".to_owned();
    }
    let mut text = format!("\ninstruction files: {}\n", baton_model::id::visible(&documents.join(", ")));
    let findings = render::list(answer, "findings");
    if findings.is_empty() {
        text.push_str("  all commands, flags and tools that they name exist\n");
    }
    for finding in findings {
        let place = format!("{}:{}", render::text(finding, "path"), finding["line"]);
        text.push_str(&format!("  {place}: {}\n", render::text(finding, "message")));
        let hint = render::text(finding, "hint");
        if !hint.is_empty() {
            text.push_str(&format!("    {hint}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_told_with_its_flags() {
        let all = commands();
        let named = |name: &str| all.iter().find(|c| c["name"] == name).unwrap_or_else(|| panic!("{name}"));
        for name in ["", "wrap", "pickup", "hd-exec", "signal send", "handoff from-transcript"] {
            assert!(named(name)["flags"].to_string().contains("--json"), "{name}");
        }
        assert!(named("wrap")["valued"].to_string().contains("--summary"));
        assert!(!named("wrap")["valued"].to_string().contains("--done"));
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
        let answer = json!({ "project_id": "p", "days": 30, "wrap_rate": { "percent": null }, "found": 0 });
        let wanted = "project p, sessions of the last 30 days\nno session is over yet\n\ninstruction files\n  none found \
            (CLAUDE.md, AGENTS.md, GEMINI.md)\n\nnothing needs attention\n";
        assert_eq!(show(&answer), wanted);
    }
}

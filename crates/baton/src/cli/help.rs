//! `baton help`, and the grouped list of commands in `baton --help`

use std::fmt::Write as _;
use std::io::Write as _;

use baton_model::refusal::Refusal;
use baton_model::suggest::suggestions;

use super::error_codes;
use crate::config;
use crate::error::AppError;

/// Explain a command, a group of commands or a topic
#[derive(clap::Args)]
pub(super) struct Args {
    /// Command (`wrap`, `task create`), group (`daily`), topic (`packet`) or the code of an error (`store_newer`); shows the
    /// overview if omitted
    #[arg(value_name = "TOPIC")]
    words: Vec<String>,
}

/// Commands that are used together.
struct Group {
    /// The word for `baton help`.
    topic: &'static str,
    /// The heading in `baton --help`.
    title: &'static str,
    commands: &'static [&'static str],
}

/// Every command that is not hidden, in exactly one group; the daily ones first.
const GROUPS: [Group; 7] = [
    Group {
        topic: "daily",
        title: "Daily",
        commands: &[
            "start",
            "note",
            "checkpoint",
            "wrap",
            "pickup",
            "changes",
            "status",
            "attention",
            "batons",
            "sessions",
            "top",
        ],
    },
    Group {
        topic: "hand-over",
        title: "Hand over",
        commands: &[
            "continue",
            "transcripts",
            "import-transcript",
            "run",
            "decide",
            "log",
            "why",
            "memory",
            "end",
            "reassign",
            "resolve",
            "heartbeat",
        ],
    },
    Group {
        topic: "tasks",
        title: "Tasks",
        commands: &["task", "bd", "route", "work", "import", "export", "beads"],
    },
    Group {
        topic: "people",
        title: "People and mail",
        commands: &["agent", "mail", "signal", "lease", "key"],
    },
    Group { topic: "projects", title: "Projects", commands: &["init", "project", "handoff", "share"] },
    Group { topic: "server", title: "Server", commands: &["serve", "service", "mcp", "token"] },
    Group {
        topic: "upkeep",
        title: "Upkeep",
        commands: &[
            "install",
            "config",
            "trust",
            "untrust",
            "notify",
            "redact",
            "doctor",
            "audit",
            "backup",
            "restore",
            "store",
            "completions",
            "man",
            "demo",
            "help",
        ],
    },
];

/// A page that is no command's.
struct Topic {
    name: &'static str,
    about: &'static str,
    text: fn() -> String,
}

const TOPICS: [Topic; 5] = [
    Topic {
        name: "concepts",
        about: "Project, identity, session, baton, thread, ledger",
        text: || include_str!("help/concepts.txt").to_owned(),
    },
    Topic {
        name: "packet",
        about: "What a hand-off packet holds, with an example",
        text: || include_str!("help/packet.txt").to_owned(),
    },
    Topic {
        name: "environment",
        about: "Environment variables and the settings they override",
        text: environment,
    },
    Topic {
        name: "exit-codes",
        about: "Exit codes and the shape of an error",
        text: || include_str!("help/exit-codes.txt").to_owned(),
    },
    Topic { name: "topics", about: "Every word that `baton help` explains", text: topic_list },
];

pub(super) fn run(args: &Args) -> Result<(), AppError> {
    let text = page(&args.words)?;
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

fn page(words: &[String]) -> Result<String, AppError> {
    let root = grouped(super::command());
    let [first, ..] = words else { return Ok(long_help(root, "baton")) };
    if words.len() == 1 {
        if let Some(topic) = TOPICS.iter().find(|topic| topic.name == first) {
            return Ok((topic.text)());
        }
        if let Some(group) = GROUPS.iter().find(|group| group.topic == first) {
            return Ok(format!("{}:\n{}", group.title, listing(&root, group)));
        }
        if let Some(text) = error_codes::help(first) {
            return Ok(text);
        }
    }
    let (mut command, mut path) = (&root, "baton".to_owned());
    for word in words {
        let Some(sub) = command.find_subcommand(word) else {
            return Err(unknown_refusal(command, &path, word).into());
        };
        let _ = write!(path, " {}", sub.get_name());
        command = sub;
    }
    Ok(long_help(command.clone(), &path))
}

fn long_help(command: clap::Command, path: &str) -> String {
    command.bin_name(path).render_long_help().to_string()
}

/// A word that names nothing, with the nearest that do.
fn unknown_refusal(command: &clap::Command, path: &str, word: &str) -> Refusal {
    let mut known: Vec<&str> =
        command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(clap::Command::get_name).collect();
    let codes = error_codes::codes();
    if path == "baton" {
        known.extend(GROUPS.iter().map(|group| group.topic));
        known.extend(TOPICS.iter().map(|topic| topic.name));
        known.extend(codes.iter().map(String::as_str));
    }
    let below = path.strip_prefix("baton").unwrap_or_default();
    let near: Vec<String> =
        suggestions(word, known).into_iter().map(|near| format!("`baton help{below} {near}`")).collect();
    let hint = match near.as_slice() {
        [] => "`baton help topics` lists everything that is explained".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    let what = format!("there is no help on `{}`", baton_model::id::visible(word));
    Refusal::new(baton_model::refusal::Kind::NotFound, "help_unknown", what, hint)
}

/// The root command with its subcommands listed by group in place of one long list.
pub(super) fn grouped(root: clap::Command) -> clap::Command {
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for group in &GROUPS {
        let _ = write!(text, "\n{}:\n{}", group.title, listing(&root, group));
    }
    let topics = TOPICS.iter().map(|topic| (topic.name, topic.about.to_owned()));
    let _ = write!(text, "\nTopics for `baton help TOPIC`:\n{}", columns(topics));
    text.push_str("\nGlobal options:\n{options}{after-help}");
    root.help_template(text)
}

/// What `baton help` explains: topics, groups with their commands, and codes of errors.
fn topic_list() -> String {
    let topics = TOPICS.iter().map(|topic| (topic.name, topic.about.to_owned()));
    let mut text =
        format!("What `baton help WORD` explains:\n\nTopics:\n{}\nGroups of commands:\n", columns(topics));
    for group in &GROUPS {
        let mut lines: Vec<String> = Vec::new();
        for name in group.commands {
            match lines.last_mut() {
                Some(line) if line.len() + name.len() < 70 => _ = write!(line, ", {name}"),
                last => {
                    last.into_iter().for_each(|line| line.push(','));
                    lines.push((*name).to_owned());
                }
            }
        }
        let names = std::iter::once(group.topic).chain(std::iter::repeat(""));
        text.push_str(&columns(names.zip(lines)));
    }
    text.push_str(
        "\nEach command, and one below another: `baton help wrap`, `baton help task create`.\n\
         Each code of an error, as it stands in square brackets: `baton help store_missing`.\n",
    );
    text
}

fn listing(root: &clap::Command, group: &Group) -> String {
    columns(group.commands.iter().map(|name| {
        let about = root.find_subcommand(name).and_then(clap::Command::get_about);
        (*name, about.map(ToString::to_string).unwrap_or_default())
    }))
}

/// Two columns: the name, and what it is for.
fn columns<'a>(rows: impl Iterator<Item = (&'a str, String)>) -> String {
    rows.fold(String::new(), |mut text, (name, about)| {
        let _ = writeln!(text, "  {name:<17}  {about}");
        text
    })
}

/// The variables that override settings, from the table that reads them.
fn environment() -> String {
    let mut text = include_str!("help/environment.txt").to_owned();
    let width = config::variables().map(|(_, variable)| variable.len()).max().unwrap_or_default();
    for (setting, variable) in config::variables() {
        let _ = writeln!(text, "  {variable:<width$}  {setting}");
    }
    text
}

/// The topics as sections of the command reference.
#[cfg(test)]
pub(super) fn topics() -> impl Iterator<Item = (&'static str, String)> {
    TOPICS.iter().map(|topic| (topic.name, (topic.text)()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn check(words: &[&str]) -> Result<String, AppError> {
        page(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn every_command_stands_in_exactly_one_group() {
        let root = crate::cli::command();
        let listed: Vec<&str> = GROUPS.iter().flat_map(|group| group.commands).copied().collect();
        let unique: BTreeSet<&str> = listed.iter().copied().collect();
        let known: BTreeSet<&str> =
            root.get_subcommands().filter(|sub| !sub.is_hide_set()).map(clap::Command::get_name).collect();
        assert_eq!((listed.len(), unique), (known.len(), known));
    }

    #[test]
    fn the_daily_six_come_first() {
        let help = check(&[]).expect("overview");
        let places: Vec<usize> = ["\n  start ", "\n  status ", "\n  continue ", "\n  doctor "]
            .iter()
            .map(|needle| help.find(needle).unwrap_or_else(|| panic!("{needle:?} in {help}")))
            .collect();
        assert!(places.is_sorted(), "{help}");
    }

    #[test]
    fn help_explains_commands_of_any_depth_groups_and_topics() {
        assert!(check(&["wrap"]).expect("wrap").contains("Usage: baton wrap"));
        assert!(check(&["task", "create"]).expect("task create").contains("Usage: baton task create"));
        assert!(check(&["tasks"]).expect("tasks").contains("\n  bd "));
        assert!(check(&["environment"]).expect("environment").contains("BATON_STORE"));
        for topic in &TOPICS {
            assert!(check(&[topic.name]).expect(topic.name).lines().count() > 5, "{}", topic.name);
        }
    }

    #[test]
    fn the_list_of_topics_has_every_word() {
        let text = check(&["topics"]).expect("topics");
        let topics = TOPICS.iter().map(|topic| topic.name);
        let words =
            topics.chain(GROUPS.iter().flat_map(|group| group.commands.iter().copied().chain([group.topic])));
        for word in words {
            let mut known = text.split(|c: char| !(c.is_alphanumeric() || c == '-'));
            assert!(known.any(|known| known == word), "{word}: {text}");
        }
    }

    #[test]
    fn an_unknown_topic_names_the_nearest() {
        for (words, hint) in [
            (&["wrp"][..], "did you mean `baton help wrap`?"),
            (&["task", "craete"], "did you mean `baton help task create`?"),
            (&["pakcet"], "did you mean `baton help packet`?"),
            (&["handover"], "did you mean `baton help hand-over`"),
            (&["store_mising"], "did you mean `baton help store_missing`"),
            (&["quaternions"], "`baton help topics` lists everything that is explained"),
        ] {
            let text = check(words).expect_err("unknown").text();
            assert!(text.contains(hint), "{words:?}: {text}");
        }
    }

    #[test]
    fn the_lines_of_a_topic_fit_a_terminal() {
        for (name, text) in topics() {
            for line in text.lines() {
                assert!(line.chars().count() <= 100, "{name}: {line}");
            }
        }
    }
}

//! `baton transcripts readers`

use baton_model::accounting::plural;
use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use serde::Serialize;

use crate::app::App;
use crate::error::AppError;
use crate::readers::{self, EnabledReader, EnabledReaders, Finding, ReaderProgram, ReaderState};

/// List, enable and check programs that read the sessions of other tools
///
/// A program `baton-reader-NAME` on the search path prints the sessions of a tool that Baton does not read. It is run after you
/// enabled it, and only while its file is unchanged. docs/readers.md says what it prints.
#[derive(clap::Args)]
pub(super) struct Readers {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// List the programs on the search path
    List,
    /// Allow a program to be run, as it is now
    Enable {
        /// What stands behind `baton-reader-`
        name: String,
    },
    /// Allow it no more, and remove what it gave out
    Disable {
        /// What stands behind `baton-reader-`
        name: String,
    },
    /// Check that an enabled program prints what docs/readers.md describes
    Check {
        /// What stands behind `baton-reader-`
        name: String,
        /// Session to read; defaults to the first of its list
        id: Option<String>,
    },
}

pub(super) fn run(args: Readers, app: &mut App) -> Result<(), AppError> {
    match args.verb.unwrap_or(Verb::List) {
        Verb::List => list(app),
        Verb::Enable { name } => enable(&name, app),
        Verb::Disable { name } => disable(&name, app),
        Verb::Check { name, id } => check(&name, id.as_deref(), app),
    }
}

/// Answer of `baton transcripts readers`.
#[derive(Serialize)]
struct ReaderList {
    items: Vec<ReaderProgram>,
}

fn on_path(app: &App) -> Vec<ReaderProgram> {
    let path = baton_ops::op::Host::transcript_env(app.machine.as_ref()).vars.get("PATH").cloned();
    readers::programs(&path.unwrap_or_default(), &EnabledReaders::read(&app.config.config_dir))
}

fn list(app: &mut App) -> Result<(), AppError> {
    let listed = ReaderList { items: on_path(app) };
    app.show(&listed, |listed| match listed.items.as_slice() {
        [] => "no program baton-reader-NAME is on the search path; docs/readers.md says how to write one\n"
            .to_owned(),
        items => items.iter().map(row).collect(),
    })
}

fn row(reader: &ReaderProgram) -> String {
    let state = match reader.state {
        ReaderState::Enabled => "enabled".to_owned(),
        ReaderState::Disabled => format!("not enabled: baton transcripts readers enable {}", reader.name),
        ReaderState::Changed => {
            format!(
                "changed since you enabled it: look at it, then baton transcripts readers enable {}",
                reader.name
            )
        }
    };
    format!("{}  {}  {state}\n", reader.name, visible(&reader.program.display().to_string()))
}

/// Answer of `enable` and `disable`.
#[derive(Serialize)]
struct ReaderSwitch {
    name: String,
    enabled: bool,
    changed: bool,
}

fn enable(name: &str, app: &mut App) -> Result<(), AppError> {
    let found = on_path(app).into_iter().find(|one| one.name == name).ok_or_else(|| unknown_refusal(name))?;
    let mut enabled = EnabledReaders::read(&app.config.config_dir);
    let changed = found.state != ReaderState::Enabled;
    enabled.add(name, &found.program).map_err(unwritable_refusal)?;
    enabled.write(&app.config.config_dir).map_err(unwritable_refusal)?;
    let answer = ReaderSwitch { name: name.to_owned(), enabled: true, changed };
    app.show(&answer, |answer| {
        format!(
            "enabled: {} is run when sessions are listed, and only while its file is unchanged\n",
            visible(&found.program.display().to_string())
        ) + &format!("check what it prints: baton transcripts readers check {}\n", answer.name)
    })
}

fn disable(name: &str, app: &mut App) -> Result<(), AppError> {
    let mut enabled = EnabledReaders::read(&app.config.config_dir);
    if !enabled.remove(name) {
        let what = format!("reader {:?} is not enabled", visible(name));
        return Err(Refusal::new(
            Kind::NotFound,
            "reader_unknown",
            what,
            "`baton transcripts readers` lists them",
        )
        .into());
    }
    enabled.write(&app.config.config_dir).map_err(unwritable_refusal)?;
    let env = baton_ops::op::Host::transcript_env(app.machine.as_ref());
    let folder = baton_transcripts::external_sessions(env).join(name);
    if folder.is_dir() {
        std::fs::remove_dir_all(&folder).map_err(unwritable_refusal)?;
    }
    let answer = ReaderSwitch { name: name.to_owned(), enabled: false, changed: true };
    app.show(&answer, |answer| {
        format!("disabled: {}; the sessions that it gave out are removed\n", answer.name)
    })
}

fn check(name: &str, id: Option<&str>, app: &mut App) -> Result<(), AppError> {
    let enabled = EnabledReaders::read(&app.config.config_dir);
    let reader: &EnabledReader = enabled
        .readers
        .iter()
        .find(|one| one.name == name && one.is_same())
        .ok_or_else(|| unknown_refusal(name))?;
    let faulty = |what: String| {
        let hint = "docs/readers.md says what it prints; mend the program, then enable and check it again";
        Refusal::invalid("reader_faulty", what, hint)
    };
    let outcome = readers::check(reader, id).map_err(|why| faulty(format!("baton-reader-{name}: {why}")))?;
    if !outcome.findings.is_empty() {
        let lines: Vec<String> = outcome.findings.iter().map(finding).collect();
        let what = format!(
            "what baton-reader-{name} prints of {} is not right:\n{}",
            visible(&outcome.id),
            lines.join("\n")
        );
        return Err(faulty(what).into());
    }
    app.show(&outcome, |outcome| {
        format!(
            "{} {} listed; {} {} of {} are right\n",
            outcome.sessions,
            plural(outcome.sessions, "session"),
            outcome.events,
            plural(outcome.events, "event"),
            visible(&outcome.id)
        )
    })
}

fn finding(finding: &Finding) -> String {
    match finding.line {
        0 => format!("  {}", visible(&finding.what)),
        line => format!("  line {line}: {}", visible(&finding.what)),
    }
}

fn unknown_refusal(name: &str) -> Refusal {
    let what = format!("there is no enabled reader {:?}", visible(name));
    let hint = "`baton transcripts readers` lists the programs on the search path; `baton transcripts readers enable NAME` allows one to be run";
    Refusal::new(Kind::NotFound, "reader_unknown", what, hint)
}

fn unwritable_refusal(error: std::io::Error) -> Refusal {
    Refusal::invalid(
        "reader_unwritable",
        format!("the list of readers cannot be kept: {error}"),
        "see that your configuration folder can be written to",
    )
}

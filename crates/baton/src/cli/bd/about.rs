//! What `bd` says of itself and of how it is used.

use baton_model::id::visible;
use baton_ops::project::{Show as ProjectShow, ShowInput as ProjectShowInput};
use baton_ops::task as tasks;
use clap::{CommandFactory, Parser};
use serde::Serialize;

use super::args::Bd;
use super::list::Selection;
use super::{Out, reference};
use crate::error::AppError;

/// The version of Beads whose commands and shapes these are.
pub(super) const BEADS: &str = "1.0.3";

/// What `--version` says behind the name.
pub(super) const VERSION: &str = concat!("version 1.0.3 (Baton ", env!("CARGO_PKG_VERSION"), ")");

/// How an agent works with issues.
pub(super) const PRIME: &str = "\
# Issues

Work is tracked as issues in this project; `bd` reads and writes them. Say --json for JSON.

Find work
  bd ready                               what can be worked on, most urgent first
  bd show ID                             an issue with what it depends on
Work on it
  bd update ID --claim                   it is yours, and only yours
  bd note ID \"what was found\"            a line in its notes
  bd create \"Title\" -t bug --deps discovered-from:ID
                                         work that turned up on the way
Finish
  bd close ID --reason \"what was done\"    one of an increment also says --result pass or fail
  bd unclaim ID --reason \"why\"           gives it back for another agent
Between issues
  bd dep add ID OTHER                    ID waits for OTHER
  bd blocked                             what waits, and for what

Before you stop: close what is done, give back what is not, and write down what the next agent has to know:
`baton wrap` hands your session over.
";

/// What `bd prime` tells an agent that has the tools of the MCP server.
pub(super) const PRIME_FOR_MCP: &str = "\
# Issues

Work is tracked as issues in this project. Take one from the ready list, claim it before you begin, close it with what was
done, and create an issue for what turns up on the way. Before you stop, give back what is not done, with the reason.
";

/// What belongs into AGENTS.md.
pub(super) const ONBOARD: &str = "\
Add this to AGENTS.md:

## Issues
This project tracks work as issues with `bd`. Run `bd prime` at the start of a session.
- `bd ready` lists what can be worked on, `bd update ID --claim` takes it, `bd close ID --reason TEXT` ends it.
- What turns up on the way becomes an issue: `bd create \"Title\" --deps discovered-from:ID`.
- No other lists of tasks: no Markdown to-dos.
";

/// The first commands.
pub(super) const QUICKSTART: &str = "\
bd, the issues of this project

  bd init                                register this folder; .beads/issues.jsonl is imported if it is there
  bd create \"Fix login\" -p 1 -t bug      create an issue
  bd create \"Add a test\" --deps ID       create one that waits for another
  bd list                                list open issues
  bd ready                               list what can be worked on
  bd show ID                             show an issue
  bd update ID --claim                   take it
  bd comment ID \"text\"                   add a comment
  bd close ID --reason \"done\"            close it
  bd sync                                bring .beads/issues.jsonl in step; git carries it

`bd --help` lists all commands, `bd COMMAND --help` explains one.
";

#[derive(Serialize)]
struct Version {
    version: &'static str,
    baton: &'static str,
    build: &'static str,
}

pub(super) fn version(out: &Out<'_>) -> Result<(), AppError> {
    let answer = Version { version: BEADS, baton: env!("CARGO_PKG_VERSION"), build: "baton" };
    out.print(&answer, |_| format!("bd {VERSION}\n"))
}

/// The id of the project that commands act on.
pub(super) fn project(out: &mut Out<'_>) -> Result<String, AppError> {
    let input = ProjectShowInput { project: out.project() };
    Ok(out.app.run::<ProjectShow>(&input)?.project.project_id)
}

#[derive(Serialize)]
struct Info {
    issue_prefix: String,
    database_path: String,
    mode: &'static str,
    issue_count: i64,
    config: InfoConfig,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<InfoSchema>,
}

/// What scripts ask of the schema. Tables are the ledger's own.
#[derive(Serialize)]
struct InfoSchema {
    tables: [&'static str; 0],
    schema_version: &'static str,
    config: InfoConfig,
    sample_issue_ids: Vec<String>,
    detected_prefix: String,
}

#[derive(Serialize)]
struct WhatsNew {
    current_version: &'static str,
    baton: &'static str,
    recent_changes: [&'static str; 0],
}

/// How many ids `bd info --schema` shows.
const SAMPLES: u32 = 3;

#[derive(Clone, Serialize)]
struct InfoConfig {
    issue_prefix: String,
}

pub(super) fn whats_new(out: &Out<'_>) -> Result<(), AppError> {
    let answer = WhatsNew { current_version: BEADS, baton: env!("CARGO_PKG_VERSION"), recent_changes: [] };
    out.print(&answer, |it| {
        let (beads, baton) = (it.current_version, it.baton);
        format!(
            "The commands are those of bd {beads}, by Baton {baton}; its CHANGELOG.md says what is new.\n"
        )
    })
}

fn schema(prefix: &str, out: &mut Out<'_>) -> Result<InfoSchema, AppError> {
    let mut samples = Selection::all(out);
    samples.limit = Some(SAMPLES);
    samples.ledger.durable = true;
    let (samples, _) = samples.find(out)?;
    Ok(InfoSchema {
        tables: [],
        schema_version: BEADS,
        config: InfoConfig { issue_prefix: prefix.to_owned() },
        sample_issue_ids: samples.into_iter().map(|row| row.task.id).collect(),
        detected_prefix: prefix.to_owned(),
    })
}

impl InfoSchema {
    fn text(&self) -> String {
        let samples = visible(&self.sample_issue_ids.join(", "));
        format!(
            "Schema: {}; the ledger's tables are not for scripts\nSample issues: {samples}\n",
            self.schema_version
        )
    }
}

pub(super) fn info(with_schema: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let issue_prefix = project(out)?;
    let schema = with_schema.then(|| schema(&issue_prefix, out)).transpose()?;
    let input = tasks::StatsInput { project: out.project(), durable: true };
    let issue_count = out.app.run::<tasks::Stats>(&input)?.summary.total_issues;
    let database_path = out.app.config.ledger();
    let mode = if out.app.config.server.is_some() { "server" } else { "direct" };
    let answer = Info {
        issue_prefix: issue_prefix.clone(),
        database_path,
        mode,
        issue_count,
        config: InfoConfig { issue_prefix },
        version: BEADS,
        schema,
    };
    out.print(&answer, |it| {
        let [store, prefix] = [&it.database_path, &it.config.issue_prefix].map(|text| visible(text));
        let schema = it.schema.as_ref().map(InfoSchema::text).unwrap_or_default();
        format!("Store: {store}\nMode: {}\nPrefix: {prefix}\nIssues: {}\n{schema}", it.mode, it.issue_count)
    })
}

/// What is said where no file has the issues.
pub(super) const NOT_IN_GIT: &str =
    "issues are not in git yet: write `[tasks]` and `mirror = true` into .baton.toml";

#[derive(Serialize)]
struct LedgerPaths {
    path: String,
    prefix: String,
    database_path: String,
}

pub(super) fn where_ledger_is(out: &mut Out<'_>) -> Result<(), AppError> {
    let prefix = project(out)?;
    let path =
        super::file::beads_file(out).parent().map(|path| path.display().to_string()).unwrap_or_default();
    if out.app.config.beads_file.is_none() && !std::path::Path::new(&path).is_dir() {
        out.remark(NOT_IN_GIT);
    }
    let answer = LedgerPaths { path, prefix, database_path: out.app.config.ledger() };
    out.print(&answer, |it| {
        let [path, prefix, store] = [&it.path, &it.prefix, &it.database_path].map(|text| visible(text));
        format!("{path}\n  prefix: {prefix}\n  store: {store}\n")
    })
}

#[derive(Serialize)]
struct Pong {
    status: &'static str,
    issues: i64,
}

pub(super) fn ping(out: &mut Out<'_>) -> Result<(), AppError> {
    let input = tasks::StatsInput { project: out.project(), durable: true };
    let issues = out.app.run::<tasks::Stats>(&input)?.summary.total_issues;
    out.print(&Pong { status: "ok", issues }, |_| "ok\n".to_owned())
}

pub(super) fn completion(shell: clap_complete::Shell) -> Result<(), AppError> {
    // Into memory first: the generator panics when its output is closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Bd::command(), "bd", &mut script);
    super::write(&String::from_utf8(script).map_err(anyhow::Error::from)?)
}

/// The help of a command, of all of them, or the list of commands.
pub(super) fn help(words: &[String], all: bool) -> Result<(), AppError> {
    let mut command = Bd::command();
    command.build();
    if all {
        let text: String =
            command.get_subcommands_mut().map(|sub| format!("{}\n", sub.render_help())).collect();
        return super::write(&text);
    }
    if let Some(name) = words.first().filter(|name| command.find_subcommand(name).is_none()) {
        return Err(reference::refusal(name).into());
    }
    let argv = std::iter::once("bd").chain(words.iter().map(String::as_str)).chain(["--help"]);
    match Bd::try_parse_from(argv) {
        Err(error) if error.kind() == clap::error::ErrorKind::DisplayHelp => {
            super::write(&error.render().to_string())
        }
        _ => Ok(()),
    }
}

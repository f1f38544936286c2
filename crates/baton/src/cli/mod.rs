//! The command line: one command, one file. A command only parses its arguments, calls an operation and renders.

mod agent;
mod arguments;
mod attention;
mod audit;
mod backup;
mod batons;
mod bd;
mod beads;
#[cfg(test)]
mod blocks;
mod changes;
mod checkpoint;
mod commit_trailer;
mod completions;
mod config_show;
mod confirm;
mod continue_in;
mod demo;
mod doctor;
mod end;
mod error_codes;
mod handoff;
mod headless;
mod heartbeat;
mod help;
#[cfg(test)]
mod hints;
mod hook;
mod import_transcript;
mod init;
mod install;
mod key;
mod lease;
mod log;
mod logging;
mod mail;
mod man;
mod mcp;
mod memory;
mod merge_driver;
mod name_cause;
mod note;
mod notify;
mod pickup;
mod project;
mod provenance;
mod quotation;
mod reassign;
mod redact;
#[cfg(test)]
mod reference;
mod resolve;
mod route;
mod run;
mod serve;
mod service;
mod sessions;
mod share;
mod signal;
mod start;
mod status;
mod store;
mod summarize;
mod task;
mod token;
mod tool_report;
mod top;
mod transcripts;
mod trust;
mod usage;
mod watch;
mod work;
mod wrap;

use std::io::IsTerminal;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::app::{App, Format};
use crate::config;
use crate::error::AppError;
use arguments::{earliest_instant, priority, read_input, seconds, seconds_of_a_day, span};

/// The hand-off layer for coding agents: one leaves a packet, exactly one picks it up
#[derive(Parser)]
#[command(
    name = "baton",
    version,
    propagate_version = true,
    max_term_width = 100,
    disable_help_subcommand = true
)]
#[command(
    after_help = "Exit codes: 0 done · 1 refused · 2 usage · 3 not found · 4 conflict · 5 external system failed · 6 internal fault · 130 interrupted · 141 output closed early"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Flags of every command.
#[derive(Args)]
#[command(next_help_heading = "Global options")]
struct Global {
    /// Print the answer as one JSON document
    #[arg(long, global = true)]
    json: bool,
    /// Print the answer as JSON lines, one document per line
    #[arg(long, global = true, conflicts_with = "json")]
    jsonl: bool,
    /// Project to work in; defaults to the working directory's
    #[arg(long, global = true, value_name = "ID")]
    project: Option<String>,
    /// Session to act in; defaults to the identity's open session
    #[arg(long, global = true, value_name = "ID")]
    session: Option<String>,
    /// Store to use: a path or postgres://…
    #[arg(long, global = true, value_name = "URL")]
    store: Option<String>,
    /// Suppress notes on standard error
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Log more to standard error; repeat for more detail
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorWhen,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ColorWhen {
    Auto,
    Always,
    Never,
}

/// Under which identity a command acts.
#[derive(Args, Clone)]
struct ActingIdentity {
    /// Identity to act as
    #[arg(long = "as", value_name = "NAME")]
    identity: Option<String>,
}

// Deferred: to describe every command takes longer than most of them do.
#[derive(Subcommand)]
#[command(defer = true)]
enum Command {
    Init(init::Args),
    Start(start::Args),
    Checkpoint(checkpoint::Args),
    Wrap(wrap::Args),
    #[command(alias = "hd-exec", alias = "hd_exec")]
    Pickup(pickup::Args),
    Changes(changes::Args),
    End(end::Args),
    Reassign(reassign::Args),
    Heartbeat(heartbeat::Args),
    Resolve(resolve::Args),
    Status(status::Args),
    Attention(attention::Args),
    Batons(batons::Args),
    Sessions(sessions::Args),
    Share(share::Args),
    Audit(audit::Args),
    Log(log::Args),
    Why(provenance::Args),
    Note(note::NoteArgs),
    Decide(note::DecideArgs),
    Memory(memory::Args),
    Continue(Box<continue_in::Args>),
    Handoff(handoff::Args),
    Transcripts(transcripts::Args),
    ImportTranscript(import_transcript::Args),
    Task(task::Args),
    Bd(bd::Args),
    Import(beads::ImportArgs),
    Export(beads::ExportArgs),
    Beads(merge_driver::Args),
    Signal(signal::Args),
    Mail(mail::Args),
    Lease(lease::Args),
    Key(key::Args),
    Agent(agent::Args),
    Route(route::Args),
    Work(Box<work::Args>),
    Run(Box<run::Args>),
    Project(project::Args),
    Serve(serve::Args),
    Service(service::Args),
    Mcp(mcp::Args),
    Install(install::Args),
    #[command(hide = true)]
    Hook(hook::Args),
    #[command(hide = true)]
    CommitTrailer(commit_trailer::Args),
    Token(token::Args),
    Top(top::Args),
    Doctor(doctor::Args),
    Backup(backup::BackupArgs),
    Restore(backup::RestoreArgs),
    Store(store::Args),
    Config(config_show::Args),
    Trust(trust::Args),
    Untrust(trust::UntrustArgs),
    Notify(notify::Args),
    Redact(redact::Args),
    Completions(completions::Args),
    Man(man::Args),
    Demo(demo::Args),
    Help(help::Args),
}

impl Command {
    /// Runs it. Hooks, help and manual pages were answered before anything was opened.
    fn run(self, app: &mut App) -> Result<(), AppError> {
        match self {
            Self::Init(args) => init::run(args, app),
            Self::Start(args) => start::run(args, app),
            Self::Checkpoint(args) => checkpoint::run(args, app),
            Self::Wrap(args) => wrap::run(args, app),
            Self::Pickup(args) => pickup::run(args, app),
            Self::Changes(args) => changes::run(args, app),
            Self::End(args) => end::run(args, app),
            Self::Reassign(args) => reassign::run(args, app),
            Self::Heartbeat(args) => heartbeat::run(args, app),
            Self::Resolve(args) => resolve::run(args, app),
            Self::Status(args) => status::run(args, app),
            Self::Attention(args) => attention::run(args, app),
            Self::Batons(args) => batons::run(args, app),
            Self::Sessions(args) => sessions::run(args, app),
            Self::Share(args) => share::run(args, app),
            Self::Audit(args) => audit::run(args, app),
            Self::Log(args) => log::run(args, app),
            Self::Why(args) => provenance::run(&args, app),
            Self::Note(args) => note::run(args, app),
            Self::Decide(args) => note::decide(args, app),
            Self::Memory(args) => memory::run(args, app),
            Self::Continue(args) => continue_in::run(*args, app),
            Self::Handoff(args) => handoff::run(args, app),
            Self::Transcripts(args) => transcripts::run(args, app),
            Self::ImportTranscript(args) => import_transcript::run(args, app),
            Self::Task(args) => task::run(args, app),
            Self::Bd(args) => bd::run(args, app),
            Self::Import(args) => beads::run_import(args, app),
            Self::Export(args) => beads::run_export(args, app),
            Self::Beads(args) => merge_driver::run(args, app),
            Self::Signal(args) => signal::run(args, app),
            Self::Mail(args) => mail::run(args, app),
            Self::Lease(args) => lease::run(args, app),
            Self::Key(args) => key::run(args, app),
            Self::Agent(args) => agent::run(args, app),
            Self::Project(args) => project::run(args, app),
            Self::Route(args) => route::run(args, app),
            Self::Work(args) => work::run(*args, app),
            Self::Run(args) => run::run(*args, app),
            Self::Serve(args) => serve::run(args, app),
            Self::Service(args) => service::run(args, app),
            Self::Mcp(args) => mcp::run(args, app),
            Self::Install(args) => install::run(args, app),
            Self::CommitTrailer(args) => commit_trailer::run(&args, app),
            Self::Token(args) => token::run(args, app),
            Self::Top(args) => top::run(args, app),
            upkeep => upkeep.run_upkeep(app),
        }
    }

    fn run_upkeep(self, app: &mut App) -> Result<(), AppError> {
        match self {
            Self::Doctor(args) => doctor::run(args, app),
            Self::Backup(args) => backup::backup(args, app),
            Self::Restore(args) => backup::restore(args, app),
            Self::Store(args) => store::run(args, app),
            Self::Config(args) => config_show::run(args, app),
            Self::Trust(args) => trust::run(args, app),
            Self::Untrust(args) => trust::untrust(args, app),
            Self::Notify(args) => notify::run(args, app),
            Self::Redact(args) => redact::run(args, app),
            Self::Completions(args) => completions::run(args),
            Self::Demo(args) => demo::run(args, app),
            _ => Ok(()),
        }
    }
}

/// Exit status for a closed output pipe, as a shell reports it: 128 + SIGPIPE (13).
const UNREAD: i32 = 141;

/// Runs the command line and returns the exit code.
pub(crate) fn main() -> i32 {
    let cli = match Cli::try_parse_from(arguments()) {
        Ok(cli) => cli,
        Err(error) => return usage::usage(&usage::in_full(error)),
    };
    let format = match (cli.global.json, cli.global.jsonl) {
        (true, _) => Format::Json,
        (_, true) => Format::JsonLines,
        _ => Format::Text,
    };
    let color = cli.global.color != ColorWhen::Never;
    match run(cli, format) {
        Ok(()) => 0,
        Err(error) if error.is_unread() => UNREAD,
        Err(error) => {
            let error = name_cause::keep_options(error, &arguments());
            usage::report(&error, format, color);
            error.exit_code()
        }
    }
}

/// The words of the call. A binary that is called by the name `bd` speaks as `baton bd` does.
fn arguments() -> Vec<std::ffi::OsString> {
    let mut words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let name =
        words.first().and_then(|name| std::path::Path::new(name).file_stem().map(std::ffi::OsStr::to_owned));
    if name.is_some_and(|name| name == "bd") {
        words.insert(1, "bd".into());
    }
    words
}

fn run(cli: Cli, format: Format) -> Result<(), AppError> {
    match cli.command {
        Command::Hook(args) => {
            hook::run(args, cli.global.store);
            return Ok(());
        }
        Command::Help(args) => return help::run(&args),
        Command::Man(args) => return man::run(args),
        _ => {}
    }
    logging::start(&cli);
    let folder = match &cli.command {
        Command::Bd(args) => args.folder()?,
        _ => None,
    };
    let is_elsewhere = folder.is_some();
    // What shows the settings shows those that cannot be read, too, and goes on.
    let mut config = match cli.command {
        Command::Config(_) | Command::Doctor(_) => config::load_readable(folder)?,
        _ => config::load_at(folder)?,
    };
    if is_elsewhere {
        // A folder that is named outranks what the environment says of another.
        (config.project, config.session) = (None, None);
    }
    if let Some(url) = &cli.global.store {
        config.use_store(url)?;
    }
    let color = match cli.global.color {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => {
            std::io::stdout().is_terminal() && config.vars.get("NO_COLOR").is_none_or(String::is_empty)
        }
    };
    crate::notify_marks::start(&config);
    let mut app = App::new(config, format, color, cli.global.quiet);
    app.project = cli.global.project;
    app.session = cli.global.session;
    let serves = matches!(cli.command, Command::Serve(_));
    if !matches!(
        cli.command,
        Command::Trust(_) | Command::Untrust(_) | Command::Config(_) | Command::Doctor(_)
    ) {
        trust::name_ignored(&app);
    }
    let result = cli.command.run(&mut app).map_err(|error| name_cause::of_inherited_session(&app, error));
    let result =
        result.map_err(|error| crate::claimed_project::name(&app, error).with_store(&app.config.ledger()));
    name_cause::of_silent_git(&app);
    if !serves {
        app.resume();
    }
    beads::sync_after_write(&mut app);
    app.shut_down();
    result
}

/// The whole command, for completions and for the reference pages.
pub(crate) fn command() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command
}

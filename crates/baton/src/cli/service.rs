//! `baton service`

use std::io::ErrorKind;
use std::path::Path;

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use serde::Serialize;

use super::confirm::Confirmation;
use super::serve;
use crate::app::App;
use crate::error::AppError;
use crate::install::files;
use crate::service::{ManagerCommand, Service, ServiceCommand, ServiceScope};
use crate::{config, render};

/// Keep `baton serve` running with the service manager of this machine: systemd, or launchd on macOS
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Write and start the service; it starts again at login, with --system at boot
    ///
    /// Shows the file and the commands, and asks first. The service reads your settings file; variables of this shell do not
    /// reach it. Run it again after an update or with other options: the service restarts with them.
    Install {
        #[command(flatten)]
        change: ChangeOptions,
        #[command(flatten)]
        serve: serve::Args,
    },
    /// Show whether the service is installed and running
    Status {
        /// The service of the machine, not yours
        #[arg(long)]
        system: bool,
    },
    /// Stop the service and delete its file
    Uninstall {
        #[command(flatten)]
        change: ChangeOptions,
    },
}

/// How a change of the machine's services is made.
#[derive(clap::Args)]
struct ChangeOptions {
    /// The service of the machine, not yours; needs root
    #[arg(long)]
    system: bool,
    /// Show what would change without changing anything
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    match args.verb {
        Verb::Install { change, serve } => install(&change, &serve, app),
        Verb::Status { system } => status(scope(system), app),
        Verb::Uninstall { change } => uninstall(&change, app),
    }
}

fn scope(system: bool) -> ServiceScope {
    if system { ServiceScope::System } else { ServiceScope::User }
}

/// What `baton service install` and `uninstall` answer.
#[derive(Serialize)]
struct ServiceChange {
    manager: &'static str,
    file: String,
    action: &'static str,
    commands: Vec<String>,
    dry_run: bool,
    diff: String,
}

fn install(options: &ChangeOptions, serve: &serve::Args, app: &App) -> Result<(), AppError> {
    let service = Service::of(&app.config, scope(options.system));
    serve.address()?;
    refuse_store_option(app)?;
    refuse_packaged(&service)?;
    let before = service.read()?;
    let after = service.text(&service_command(options.system, serve, app)?)?;
    let commands = service.start();
    let diff = diff(&service.file, before.as_deref(), Some(&after), &commands);
    let answer = ServiceChange {
        manager: service.manager.as_str(),
        file: service.file.display().to_string(),
        action: match &before {
            None => "create",
            Some(text) if *text == after => "restart",
            Some(_) => "change",
        },
        commands: lines(&commands),
        dry_run: options.dry_run,
        diff,
    };
    if options.dry_run {
        return app.show(&answer, |answer| render::block(&answer.diff));
    }
    refuse_without_root(options.system)?;
    service.check_manager()?;
    confirm(options, &answer.diff, app)?;
    write_and_start(&service, before.as_deref(), &after, &commands)?;
    name_what_is_left_out(options.system, app);
    app.show(&answer, |answer| {
        format!("{}: installed and started; `baton service status` shows how it is\n", visible(&answer.file))
    })
}

/// Writes the file and starts the service. If the manager refuses, the file is as it was.
fn write_and_start(
    service: &Service,
    before: Option<&str>,
    after: &str,
    commands: &[ManagerCommand],
) -> Result<(), AppError> {
    let folders = files::missing_folders(&service.file);
    files::write(&service.file, after).map_err(|error| unwritten_refusal(&service.file, &error))?;
    let Err(refusal) = service.run(commands) else { return Ok(()) };
    let _ = service.run(&service.stop());
    let undone = match before {
        Some(text) => files::write(&service.file, text),
        None => files::delete(&service.file, &folders),
    };
    let _ = service.run(&service.forget());
    undone.map_err(|error| unwritten_refusal(&service.file, &error))?;
    Err(refusal.into())
}

fn uninstall(options: &ChangeOptions, app: &App) -> Result<(), AppError> {
    let service = Service::of(&app.config, scope(options.system));
    let before = service.read()?;
    let commands: Vec<_> = service.stop().into_iter().chain(service.forget()).collect();
    let mut answer = ServiceChange {
        manager: service.manager.as_str(),
        file: service.file.display().to_string(),
        action: "delete",
        commands: lines(&commands),
        dry_run: options.dry_run,
        diff: diff(&service.file, before.as_deref(), None, &commands),
    };
    if before.is_none() {
        (answer.action, answer.commands, answer.diff) = ("none", Vec::new(), String::new());
        return app.show(&answer, |_| "no service of ours is installed\n".to_owned());
    }
    if options.dry_run {
        return app.show(&answer, |answer| render::block(&answer.diff));
    }
    refuse_without_root(options.system)?;
    confirm(options, &answer.diff, app)?;
    service.run(&service.stop())?;
    files::delete(&service.file, &empty_folders(&service.file))
        .map_err(|error| unwritten_refusal(&service.file, &error))?;
    // Without a manager there is nothing left that knows of it.
    let _ = service.run(&service.forget());
    app.show(&answer, |answer| format!("{}: stopped and deleted\n", visible(&answer.file)))
}

/// The folders of a user's units, which go if nothing else is in them.
fn empty_folders(file: &Path) -> Vec<std::path::PathBuf> {
    let parents = file.ancestors().skip(1).take(2);
    let mut folders: Vec<_> =
        parents.filter(|folder| !folder.starts_with("/etc")).map(Path::to_owned).collect();
    folders.reverse();
    folders
}

fn service_command(system: bool, serve: &serve::Args, app: &App) -> Result<ServiceCommand, AppError> {
    let config = &app.config;
    let own = config::own_program(&config.vars).ok_or_else(|| anyhow::anyhow!("this program has no path"))?;
    // The machine's service has folders of its own, which its unit names.
    let folders: &[&'static str] = if system { &[] } else { &["XDG_CONFIG_HOME", "XDG_DATA_HOME"] };
    let given = |name: &&'static str| {
        let value = config.vars.get(*name).filter(|value| !value.is_empty())?;
        Some((*name, value.clone()))
    };
    Ok(ServiceCommand {
        program: own.display().to_string(),
        arguments: serve.arguments(config.cwd.as_deref()),
        environment: folders.iter().filter_map(given).collect(),
    })
}

/// A store may be named by an address with a password in it, and every user of the machine can read a service's file.
fn refuse_store_option(app: &App) -> Result<(), Refusal> {
    if app.config.origins.get("store").is_none_or(|(_, origin)| origin != "--store") {
        return Ok(());
    }
    let hint = format!("write `store = …` to {}", app.config.config_dir.join("config.toml").display());
    let what = "a service takes its store from its settings, not from --store";
    Err(Refusal::invalid("service_store", what, hint))
}

fn refuse_packaged(service: &Service) -> Result<(), Refusal> {
    let Some(file) = service.packaged() else { return Ok(()) };
    let what = format!("a package brings this service: {}", file.display());
    Err(Refusal::new(Kind::Refused, "service_packaged", what, "start it: systemctl enable --now baton"))
}

fn refuse_without_root(system: bool) -> Result<(), Refusal> {
    if !system || rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let what = "the machine's services belong to root";
    let hint = "run it with sudo, or leave out --system for a service of your own";
    Err(Refusal::new(Kind::Refused, "service_needs_root", what, hint))
}

fn confirm(options: &ChangeOptions, diff: &str, app: &App) -> Result<(), AppError> {
    if options.yes {
        return Ok(());
    }
    let what = "a service of this machine would change, and there is nobody to ask";
    let unanswerable = ("service_needs_yes", what, "look with --dry-run, then say --yes");
    Confirmation { diff, question: "Do this?", unanswerable, declined: "service_declined" }.ask(app)
}

/// Settings of this shell that the service does not have, and what ends it.
fn name_what_is_left_out(system: bool, app: &App) {
    let variables = app.config.origins.values().filter_map(|(_, origin)| origin.strip_prefix("env "));
    let left_out: Vec<&str> = variables.collect();
    if !left_out.is_empty() {
        let place = match system {
            true => "/etc/baton/baton.env".to_owned(),
            false => app.config.config_dir.join("config.toml").display().to_string(),
        };
        app.remark(&format!("not passed on to the service: {}; it reads {place}", left_out.join(", ")));
    }
    if !system && cfg!(target_os = "linux") {
        app.remark("it ends when you log out; `loginctl enable-linger` keeps it running");
    }
}

fn lines(commands: &[ManagerCommand]) -> Vec<String> {
    commands.iter().map(|command| command.words.join(" ")).collect()
}

/// The file as a unified diff, then the commands.
fn diff(file: &Path, before: Option<&str>, after: Option<&str>, commands: &[ManagerCommand]) -> String {
    let name = file.display().to_string();
    let side = |text: Option<&str>| if text.is_some() { name.clone() } else { "/dev/null".to_owned() };
    let lines_of = similar::TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    let mut text = lines_of.unified_diff().context_radius(3).header(&side(before), &side(after)).to_string();
    lines(commands).iter().for_each(|line| text.push_str(&format!("$ {line}\n")));
    text
}

fn unwritten_refusal(file: &Path, error: &std::io::Error) -> Refusal {
    let what = format!("{} cannot be written: {error}", file.display());
    let hint = match error.kind() {
        ErrorKind::PermissionDenied => "the machine's services belong to root: use sudo",
        _ => "see who may write there, and try again",
    };
    Refusal::new(Kind::Refused, "service_file_unwritable", what, hint)
}

/// What `baton service status` answers.
#[derive(Serialize)]
struct ServiceStatus {
    manager: &'static str,
    file: String,
    installed: bool,
    properties: serde_json::Map<String, serde_json::Value>,
}

fn status(scope: ServiceScope, app: &App) -> Result<(), AppError> {
    let service = Service::of(&app.config, scope);
    let installed = service.read()?.is_some() || service.packaged().is_some();
    let properties = if installed { service.properties() } else { Vec::new() };
    let status = ServiceStatus {
        manager: service.manager.as_str(),
        file: service.packaged().unwrap_or(&service.file).display().to_string(),
        installed,
        properties: properties.into_iter().map(|(name, value)| (name, value.into())).collect(),
    };
    app.show(&status, |status| {
        if !status.installed {
            return "not installed; `baton service install` shows what it would write, and asks\n".to_owned();
        }
        let rows: Vec<_> = status
            .properties
            .iter()
            .map(|(name, value)| vec![visible(name), visible(value.as_str().unwrap_or_default())])
            .collect();
        let head = format!("{} ({})\n", visible(&status.file), status.manager);
        if rows.is_empty() {
            return head + "the service manager does not say how it is\n";
        }
        head + &render::table(&rows)
    })
}

//! `baton serve` as a service of the machine's service manager: the file that describes it, and the manager's own commands.

mod launchd;
mod manager;
mod systemd;

use std::path::{Path, PathBuf};

use baton_model::refusal::{Kind, Refusal};

use crate::config::Config;
use crate::install::files;

/// First words of every file that is written here: by them it is known again.
pub(crate) const MARK: &str = "Written by `baton service install`; `baton service uninstall` takes it away.";

/// Whose service it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServiceScope {
    /// The user's: it runs while that user is logged in.
    User,
    /// The machine's.
    System,
}

/// A program that manages services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServiceManager {
    Systemd,
    Launchd,
}

impl ServiceManager {
    /// The one of this system.
    pub(crate) fn of_this_system() -> Self {
        if cfg!(target_os = "macos") { Self::Launchd } else { Self::Systemd }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Launchd => "launchd",
        }
    }
}

/// What the service runs.
pub(crate) struct ServiceCommand {
    /// The program's path.
    pub program: String,
    /// `serve` and its options.
    pub arguments: Vec<String>,
    /// Variables that decide where its settings and its ledger are.
    pub environment: Vec<(&'static str, String)>,
}

/// One command of the service manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ManagerCommand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// It undoes what need not be there.
    pub may_fail: bool,
}

/// A service of one manager and one scope.
pub(crate) struct Service {
    pub manager: ServiceManager,
    pub scope: ServiceScope,
    /// The file that describes it.
    pub file: PathBuf,
}

impl Service {
    pub(crate) fn of(config: &Config, scope: ServiceScope) -> Self {
        let manager = ServiceManager::of_this_system();
        let file = match manager {
            ServiceManager::Systemd => systemd::file(config, scope),
            ServiceManager::Launchd => launchd::file(&config.home, scope),
        };
        Self { manager, scope, file }
    }

    /// The text of the file that describes it.
    pub(crate) fn text(&self, command: &ServiceCommand) -> Result<String, Refusal> {
        let words = command.arguments.iter().chain([&command.program]);
        let words = words.chain(command.environment.iter().map(|(_, value)| value));
        if let Some(word) = words.into_iter().find(|word| word.chars().any(char::is_control)) {
            let what = format!("`{}` holds a control character", baton_model::id::visible(word));
            return Err(Refusal::invalid("service_word_invalid", what, "give it without one"));
        }
        Ok(match self.manager {
            ServiceManager::Systemd => systemd::unit(self.scope, command),
            ServiceManager::Launchd => launchd::property_list(command),
        })
    }

    /// What the manager has to do once the file is written.
    pub(crate) fn start(&self) -> Vec<ManagerCommand> {
        match self.manager {
            ServiceManager::Systemd => systemd::start(self.scope),
            ServiceManager::Launchd => launchd::start(self.scope, &self.file),
        }
    }

    /// What it has to do before the file is deleted.
    pub(crate) fn stop(&self) -> Vec<ManagerCommand> {
        match self.manager {
            ServiceManager::Systemd => systemd::stop(self.scope),
            ServiceManager::Launchd => launchd::stop(self.scope),
        }
    }

    /// And after that.
    pub(crate) fn forget(&self) -> Vec<ManagerCommand> {
        match self.manager {
            ServiceManager::Systemd => systemd::forget(self.scope),
            ServiceManager::Launchd => Vec::new(),
        }
    }

    /// Refuses where the manager is not there or does not answer.
    pub(crate) fn check_manager(&self) -> Result<(), Refusal> {
        let probe = match self.manager {
            ServiceManager::Systemd => systemd::probe(self.scope),
            ServiceManager::Launchd => launchd::probe(self.scope),
        };
        manager::run(&probe).map(drop).map_err(|failure| {
            let what = format!("{} does not answer here: {failure}", self.manager.as_str());
            let hint = "start the server yourself: `baton serve`, under whatever keeps programs running here";
            Refusal::new(Kind::Refused, "service_manager_missing", what, hint)
        })
    }

    /// Runs commands of the manager in turn; the first that fails ends them.
    pub(crate) fn run(&self, commands: &[ManagerCommand]) -> Result<(), Refusal> {
        for command in commands {
            if let Err(failure) = manager::run(command)
                && !command.may_fail
            {
                let what = format!("`{}` failed: {failure}", command.words.join(" "));
                let hint = match self.manager {
                    ServiceManager::Systemd => "see why: journalctl --user -u baton, or without --user",
                    ServiceManager::Launchd => {
                        "see why: log show --predicate 'process == \"baton\"' --last 5m"
                    }
                };
                return Err(Refusal::new(Kind::Outside, "service_manager_failed", what, hint));
            }
        }
        Ok(())
    }

    /// The file as it stands; a file that Baton did not write is refused.
    pub(crate) fn read(&self) -> Result<Option<String>, Refusal> {
        let text = files::read(&self.file)?;
        match &text {
            Some(other) if !other.contains(MARK) => {
                let what = format!("{} was not written by `baton service install`", self.file.display());
                let hint = "move it away, or manage that service as it was set up; it was not touched";
                Err(Refusal::new(Kind::Conflict, "service_file_taken", what, hint)
                    .with("path", self.file.display().to_string()))
            }
            _ => Ok(text),
        }
    }

    /// A file of a package that describes the same service.
    pub(crate) fn packaged(&self) -> Option<&'static Path> {
        let places = ["/usr/lib/systemd/system/baton.service", "/lib/systemd/system/baton.service"];
        let is_asked = self.manager == ServiceManager::Systemd && self.scope == ServiceScope::System;
        places.into_iter().map(Path::new).find(|path| is_asked && path.is_file())
    }

    /// How it stands, property by property, as the manager says it.
    pub(crate) fn properties(&self) -> Vec<(String, String)> {
        match self.manager {
            ServiceManager::Systemd => systemd::properties(self.scope),
            ServiceManager::Launchd => launchd::properties(self.scope),
        }
    }
}

fn command(words: &[&str], may_fail: bool) -> ManagerCommand {
    ManagerCommand { words: words.iter().map(|word| (*word).to_owned()).collect(), may_fail }
}

//! Units of systemd, from the templates that the packages carry.

use std::path::{Path, PathBuf};

use super::{MARK, ManagerCommand, ServiceCommand, ServiceScope, command, manager};
use crate::config::Config;

const UNIT: &str = "baton.service";
const USER: &str = include_str!("../../../../packaging/systemd/baton-user.service");
const SYSTEM: &str = include_str!("../../../../packaging/systemd/baton.service");
/// The command in the templates.
const TEMPLATE_COMMAND: &str = "/usr/bin/baton serve";
/// What is told of a unit.
const PROPERTIES: &str = "ActiveState,SubState,MainPID,UnitFileState";

pub(super) fn file(config: &Config, scope: ServiceScope) -> PathBuf {
    match scope {
        ServiceScope::System => Path::new("/etc/systemd/system").join(UNIT),
        // Beside the folder of Baton's own settings.
        ServiceScope::User => config.config_dir.with_file_name("systemd").join("user").join(UNIT),
    }
}

pub(super) fn unit(scope: ServiceScope, service: &ServiceCommand) -> String {
    let template = match scope {
        ServiceScope::User => USER,
        ServiceScope::System => SYSTEM,
    };
    let words = [&service.program].into_iter().chain(&service.arguments);
    let words: Vec<String> = words.map(|word| quoted(word, true)).collect();
    let variable = |(name, value): &(&str, String)| {
        format!("Environment={}\n", quoted(&format!("{name}={value}"), false))
    };
    let environment: String = service.environment.iter().map(variable).collect();
    let start = format!("ExecStart={TEMPLATE_COMMAND}");
    let text = template.replace(&start, &format!("{environment}ExecStart={}", words.join(" ")));
    format!("# {MARK}\n{text}")
}

/// A word of a unit: nothing in it is expanded. `$` is special in commands only.
fn quoted(word: &str, is_command: bool) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:=,[]".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let mut text = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    if is_command {
        text = text.replace('$', "$$");
    }
    format!("\"{text}\"")
}

fn systemctl(scope: ServiceScope, words: &[&str], may_fail: bool) -> ManagerCommand {
    let user: &[&str] = if scope == ServiceScope::User { &["--user"] } else { &[] };
    let words: Vec<&str> = ["systemctl"].iter().chain(user).chain(words).copied().collect();
    command(&words, may_fail)
}

pub(super) fn probe(scope: ServiceScope) -> ManagerCommand {
    systemctl(scope, &["show-environment"], false)
}

pub(super) fn start(scope: ServiceScope) -> Vec<ManagerCommand> {
    [["daemon-reload"].as_slice(), &["enable", UNIT], &["restart", UNIT]]
        .map(|words| systemctl(scope, words, false))
        .to_vec()
}

pub(super) fn stop(scope: ServiceScope) -> Vec<ManagerCommand> {
    vec![systemctl(scope, &["disable", "--now", UNIT], true)]
}

pub(super) fn forget(scope: ServiceScope) -> Vec<ManagerCommand> {
    vec![systemctl(scope, &["daemon-reload"], false), systemctl(scope, &["reset-failed", UNIT], true)]
}

pub(super) fn properties(scope: ServiceScope) -> Vec<(String, String)> {
    let option = format!("--property={PROPERTIES}");
    let shown = manager::run(&systemctl(scope, &["show", UNIT, &option], false)).unwrap_or_default();
    let pair = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    shown.lines().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(program: &str) -> ServiceCommand {
        ServiceCommand {
            program: program.into(),
            arguments: vec!["serve".into(), "--listen".into(), "127.0.0.1:7078".into()],
            environment: vec![("XDG_DATA_HOME", "/srv/100% $data \"x\"".into())],
        }
    }

    #[test]
    fn a_unit_names_this_program_and_expands_nothing() {
        let text = unit(ServiceScope::User, &service("/opt/my tools/$x%h/baton"));
        assert!(text.starts_with(&format!("# {MARK}\n[Unit]")), "{text}");
        let command = "ExecStart=\"/opt/my tools/$$x%%h/baton\" serve --listen 127.0.0.1:7078\n";
        assert!(text.contains(command), "{text}");
        assert!(text.contains("Environment=\"XDG_DATA_HOME=/srv/100%% $data \\\"x\\\"\"\n"), "{text}");
        assert!(!text.contains(TEMPLATE_COMMAND));
    }

    #[test]
    fn both_units_notify_reload_and_stop_within_the_servers_bound() {
        for scope in [ServiceScope::User, ServiceScope::System] {
            let text = unit(scope, &service("/usr/bin/baton"));
            for line in ["Type=notify", "ExecReload=/bin/kill -HUP $MAINPID", "TimeoutStopSec=20"] {
                assert!(text.lines().any(|there| there == line), "{line} in {text}");
            }
        }
    }
}

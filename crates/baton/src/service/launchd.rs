//! Property lists of launchd.

use std::path::{Path, PathBuf};

use super::{MARK, ManagerCommand, ServiceCommand, ServiceScope, command, manager};

const LABEL: &str = "dev.baton.serve";

pub(super) fn file(home: &Path, scope: ServiceScope) -> PathBuf {
    let folder = match scope {
        ServiceScope::User => home.join("Library/LaunchAgents"),
        ServiceScope::System => PathBuf::from("/Library/LaunchDaemons"),
    };
    folder.join(format!("{LABEL}.plist"))
}

pub(super) fn property_list(service: &ServiceCommand) -> String {
    let string = |text: &str| format!("<string>{}</string>", escaped(text));
    let words = [&service.program].into_iter().chain(&service.arguments);
    let words: String = words.map(|word| format!("    {}\n", string(word))).collect();
    let variable = |(name, value): &(&str, String)| format!("    <key>{name}</key>{}\n", string(value));
    let environment: String = service.environment.iter().map(variable).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <!-- {MARK} -->\n<plist version=\"1.0\">\n<dict>\n  <key>Label</key><string>{LABEL}</string>\n  \
         <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n  \
         <key>EnvironmentVariables</key>\n  <dict>\n{environment}  </dict>\n  \
         <key>RunAtLoad</key><true/>\n  \
         <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key><false/>\n  </dict>\n  \
         <key>ExitTimeOut</key><integer>20</integer>\n  <key>Umask</key><integer>63</integer>\n</dict>\n</plist>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn domain(scope: ServiceScope) -> String {
    match scope {
        ServiceScope::System => "system".to_owned(),
        ServiceScope::User => format!("gui/{}", rustix::process::getuid().as_raw()),
    }
}

pub(super) fn probe(scope: ServiceScope) -> ManagerCommand {
    command(&["launchctl", "print", &domain(scope)], false)
}

pub(super) fn start(scope: ServiceScope, file: &Path) -> Vec<ManagerCommand> {
    let (domain, file) = (domain(scope), file.display().to_string());
    let mut commands = stop(scope);
    commands.push(command(&["launchctl", "bootstrap", &domain, &file], false));
    commands
}

pub(super) fn stop(scope: ServiceScope) -> Vec<ManagerCommand> {
    vec![command(&["launchctl", "bootout", &format!("{}/{LABEL}", domain(scope))], true)]
}

pub(super) fn properties(scope: ServiceScope) -> Vec<(String, String)> {
    let shown = command(&["launchctl", "print", &format!("{}/{LABEL}", domain(scope))], false);
    let shown = manager::run(&shown).unwrap_or_default();
    let wanted = |name: &str| ["state", "pid"].contains(&name);
    let pair = |line: &str| line.trim().split_once(" = ").map(|(name, value)| (name.into(), value.into()));
    shown.lines().filter_map(pair).filter(|(name, _): &(String, String)| wanted(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_list_escapes_what_it_names() {
        let text = property_list(&ServiceCommand {
            program: "/opt/a & b/baton".into(),
            arguments: vec!["serve".into(), "--host".into(), "<x>".into()],
            environment: vec![("XDG_CONFIG_HOME", "/home/you".into())],
        });
        assert!(text.contains("<string>/opt/a &amp; b/baton</string>\n"), "{text}");
        assert!(text.contains("<string>&lt;x&gt;</string>"), "{text}");
        assert!(text.contains("<key>XDG_CONFIG_HOME</key><string>/home/you</string>"), "{text}");
        assert!(text.contains(MARK) && text.matches("<dict>").count() == text.matches("</dict>").count());
    }
}

//! The ways to a person: the desktop, ntfy, webhooks of chat services, a command of his own.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use baton_model::notification::Notification;
use serde::Serialize;
use serde_json::json;

use crate::config::NotifySettings;

/// How long a way may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest text that a chat service is given, in characters: Discord takes 2,000.
const MAX_MESSAGE_CHARS: usize = 1_800;

/// A way to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    Desktop,
    Ntfy,
    Slack,
    Discord,
    Command,
}

impl Channel {
    /// Its word, as in the settings.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Desktop => "desktop",
            Self::Ntfy => "ntfy",
            Self::Slack => "slack",
            Self::Discord => "discord",
            Self::Command => "command",
        }
    }

    /// Sends it. The error says why, without the address.
    pub(super) fn send(self, settings: &NotifySettings, one: &Notification) -> Result<(), String> {
        match self {
            Self::Desktop => desktop(one),
            Self::Command => own_command(settings.command.as_deref().unwrap_or_default(), one),
            Self::Ntfy | Self::Slack | Self::Discord => self.post(settings, one),
        }
    }

    fn post(self, settings: &NotifySettings, one: &Notification) -> Result<(), String> {
        let client = client()?;
        let request = match self {
            Self::Ntfy => {
                let request = client.post(settings.ntfy.as_deref().unwrap_or_default());
                let request = request.header("tags", one.topic.as_str());
                // A header holds printable ASCII; another title begins the text.
                let request = match one.title.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
                    true => request.header("title", &one.title).body(one.text.clone()),
                    false => request.body(format!("{}\n{}", one.title, one.text)),
                };
                match &settings.ntfy_token {
                    Some(token) => request.bearer_auth(token),
                    None => request,
                }
            }
            Self::Slack => {
                let text = without_mentions(&format!("*{}*\n{}", escaped(&one.title), escaped(&one.text)));
                client.post(settings.slack.as_deref().unwrap_or_default()).json(&json!({ "text": text }))
            }
            _ => {
                let text = without_mentions(&format!("**{}**\n{}", one.title, one.text));
                let text: String = text.chars().take(MAX_MESSAGE_CHARS).collect();
                // Mentions that an agent wrote notify no member of the chat.
                let body = json!({ "content": text, "allowed_mentions": { "parse": [] } });
                client.post(settings.discord.as_deref().unwrap_or_default()).json(&body)
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let sent = runtime
            .block_on(async { request.send().await })
            .map_err(|error| error.without_url().to_string())?;
        match sent.status().as_u16() {
            200..=299 => Ok(()),
            status => Err(format!("it answered {status}")),
        }
    }
}

/// The ways that the settings name.
pub(crate) fn channels(settings: &NotifySettings) -> Vec<Channel> {
    let all = [
        (Channel::Desktop, settings.desktop),
        (Channel::Ntfy, settings.ntfy.is_some()),
        (Channel::Slack, settings.slack.is_some()),
        (Channel::Discord, settings.discord.is_some()),
        (Channel::Command, settings.command.is_some()),
    ];
    all.into_iter().filter(|(_, is_set)| *is_set).map(|(channel, _)| channel).collect()
}

fn client() -> Result<reqwest::Client, String> {
    // Installing twice is harmless: the first provider stays.
    _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder().timeout(TIMEOUT).redirect(reqwest::redirect::Policy::none());
    builder.build().map_err(|error| format!("the HTTP client cannot be built: {error}"))
}

/// Slack reads names, links and mentions of a whole channel between these signs.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The text with a space of no width behind each `@` that begins a word: Mattermost and others notify the person who is named behind one in plain
/// text. An address of mail stays as it is.
fn without_mentions(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        out.push(c);
        if c == '@' && !before.is_alphanumeric() {
            out.push('\u{200b}');
        }
        before = c;
    }
    out
}

fn desktop(one: &Notification) -> Result<(), String> {
    let mut command = if cfg!(target_os = "macos") {
        let script =
            "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";
        let mut command = Command::new("osascript");
        command.args(["-e", script, &one.title, &one.text]);
        command
    } else {
        let mut command = Command::new("notify-send");
        // Its text may be markup; these signs stand for themselves then.
        command.args(["--app-name=Baton", "--", &one.title, &escaped(&one.text)]);
        command
    };
    command.stdin(Stdio::null());
    finish(command, None)
}

/// What a command of the user's reads, one line.
#[derive(Serialize)]
struct CommandInput<'a> {
    topic: &'a str,
    project_id: &'a str,
    title: &'a str,
    text: &'a str,
}

fn own_command(line: &str, one: &Notification) -> Result<(), String> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).stdin(Stdio::piped());
    let body = CommandInput {
        topic: one.topic.as_str(),
        project_id: &one.project_id,
        title: &one.title,
        text: &one.text,
    };
    let body = serde_json::to_string(&body).map_err(|error| error.to_string())?;
    finish(command, Some(body + "\n"))
}

/// Runs a program to its end, or ends it.
fn finish(mut command: Command, input: Option<String>) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("{name} does not start: {error}"))?;
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
        // It may not care for it.
        _ = pipe.write_all(input.as_bytes());
    }
    let begin = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("{name} ended with {status}")),
            None if begin.elapsed() > TIMEOUT => {
                _ = child.kill();
                _ = child.wait();
                return Err(format!("{name} did not end in {} s", TIMEOUT.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_called_by_name_and_an_address_of_mail_stays() {
        let text = "@channel @all, (@here) “@lola” <@123> .@everyone _@a @@b: ann@example.org";
        let broken = without_mentions(text);
        let calls = broken.match_indices('@').filter(|(at, _)| !broken[at + 1..].starts_with('\u{200b}'));
        assert_eq!(calls.map(|(at, _)| &broken[at..]).collect::<Vec<_>>(), ["@example.org"]);
        assert_eq!(broken.replace('\u{200b}', ""), text);
    }
}

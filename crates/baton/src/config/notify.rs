//! `[notify]`: how a person is told outside the terminal. Only the user's own file and the environment say so: a repository never has
//! a program run or an address called, trusted or not.

use baton_model::id::visible;
use baton_model::notification::{QuietHours, Topic};
use baton_model::refusal::Refusal;

use super::faults;

/// Keys whose values are addresses that let their reader post messages, or a token.
pub(crate) const SECRET_KEYS: [&str; 4] =
    ["notify.ntfy", "notify.ntfy_token", "notify.slack", "notify.discord"];

/// Notification channels, and the topics that the user wants.
#[derive(Debug, Clone, Default)]
pub(crate) struct NotifySettings {
    /// The user's own name. It is not `identity`, which agents without a name act as.
    pub me: Option<String>,
    /// Notifications of the desktop.
    pub desktop: bool,
    /// Address of a topic of ntfy.
    pub ntfy: Option<String>,
    /// Token for it.
    pub ntfy_token: Option<String>,
    /// Address of a webhook that takes Slack's form.
    pub slack: Option<String>,
    /// Address of a webhook of Discord.
    pub discord: Option<String>,
    /// A line for the shell, which gets the notification as JSON.
    pub command: Option<String>,
    /// When nothing is told.
    pub quiet: Option<QuietHours>,
    /// What is told.
    pub topics: Vec<Topic>,
}

impl NotifySettings {
    /// Whether there is a way to the person.
    pub(crate) fn is_on(&self) -> bool {
        self.desktop
            || [&self.ntfy, &self.slack, &self.discord, &self.command].into_iter().any(Option::is_some)
    }

    pub(super) fn read(setting: &impl Fn(&str) -> Option<String>) -> Result<Self, Refusal> {
        let given = |key: &str| setting(key).filter(|value| !value.trim().is_empty());
        Ok(Self {
            me: given("notify.me").map(|name| name.trim().to_owned()),
            desktop: super::switch("notify.desktop", setting("notify.desktop"), false)?,
            ntfy: address("notify.ntfy", given("notify.ntfy"))?,
            ntfy_token: given("notify.ntfy_token"),
            slack: address("notify.slack", given("notify.slack"))?,
            discord: address("notify.discord", given("notify.discord"))?,
            command: given("notify.command"),
            quiet: given("notify.quiet")
                .map(|text| QuietHours::read(&text).map_err(|no| faults::of("notify.quiet", no)))
                .transpose()?,
            topics: given("notify.topics").map_or(Ok(Topic::ALL.to_vec()), |text| {
                Topic::list(&text).map_err(|no| faults::of("notify.topics", no))
            })?,
        })
    }
}

/// An address that can be posted to. The refusal does not repeat it: knowing it is enough to post there.
fn address(key: &str, value: Option<String>) -> Result<Option<String>, Refusal> {
    let Some(value) = value else { return Ok(None) };
    let value = value.trim().to_owned();
    let is_address = reqwest::Url::parse(&value)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some());
    if is_address {
        return Ok(Some(value));
    }
    let what = format!("`{}` is no address", visible(key));
    let hint = "give the whole address, beginning with https://";
    Err(faults::of(key, Refusal::invalid("config_invalid", what, hint)))
}

//! Sends what is new over every channel that the settings name.

use std::time::Duration;

use baton_model::notification::{Notification, Topic};
use serde::Serialize;

use super::channel::{Channel, channels};
use super::collect::collect;
use crate::app::App;
use crate::error::AppError;
use crate::notify_marks::{Marks, Memory, NotifyFolder};
use crate::{clock, time_zone};

/// Wait before the marks are taken: what is written together is read together.
const GATHER: Duration = Duration::from_millis(300);
/// The most notifications that are sent one by one; more are sent as one with their number.
const APART: usize = 5;

/// What was sent.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Delivery {
    /// Number of notifications.
    pub sent: usize,
    /// The quiet hours keep what is new for later.
    pub is_quiet: bool,
    /// Channels that failed, with the reason.
    pub failed: Vec<String>,
}

/// Sends what was marked. What reaches the user over no channel is kept for the next time, and so is what comes up in the quiet hours.
pub(crate) fn send(app: &mut App) -> Result<Delivery, AppError> {
    let folder = NotifyFolder::of(&app.config);
    let _alone = folder.lock()?;
    std::thread::sleep(GATHER);
    let marks = folder.take()?;
    let mut delivery = Delivery { is_quiet: is_quiet(app), ..Delivery::default() };
    let mut memory = folder.memory();
    let seen = memory.seen.clone();
    let sent =
        if delivery.is_quiet { Ok(false) } else { deliver_all(app, &marks, &mut memory, &mut delivery) };
    if let Err(error) = &sent {
        memory.last_error = error.text().lines().next().map(str::to_owned);
    }
    if !matches!(sent, Ok(true)) {
        // The same entries are looked at again; what was sent of them is not sent twice.
        folder.keep_for_later(&marks)?;
        memory.seen = seen;
    }
    folder.remember(&memory)?;
    folder.finish()?;
    sent.map(|_| delivery)
}

/// Sends everything that is new; returns whether each reached the user over one channel at least.
fn deliver_all(
    app: &mut App,
    marks: &Marks,
    memory: &mut Memory,
    delivery: &mut Delivery,
) -> Result<bool, AppError> {
    let found = collect(app, marks, memory)?;
    let ways = channels(&app.config.notify).len();
    let is_digest = found.len() > APART;
    let mut has_reached_all = true;
    for one in if is_digest { vec![digest(&found)] } else { found.clone() } {
        let failed = deliver(app, &one);
        let has_reached = failed.len() < ways;
        has_reached_all &= has_reached;
        delivery.sent += usize::from(has_reached);
        delivery.failed.extend(failed);
        if has_reached && is_digest {
            found.iter().for_each(|one| memory.add(&one.key));
        } else if has_reached {
            memory.add(&one.key);
        }
    }
    memory.last_error = delivery.failed.last().cloned();
    Ok(has_reached_all)
}

/// One notification that says how many there are.
fn digest(found: &[Notification]) -> Notification {
    let count = |topic: Topic| found.iter().filter(|one| one.topic == topic).count();
    let counted = Topic::ALL.into_iter().filter(|topic| count(*topic) > 0);
    let counts: Vec<String> = counted.map(|topic| format!("{} {}", count(topic), topic.as_str())).collect();
    Notification {
        topic: found.first().map_or(Topic::Baton, |one| one.topic),
        project_id: found.first().map(|one| one.project_id.clone()).unwrap_or_default(),
        key: String::new(),
        title: format!("{} things wait for you", found.len()),
        text: format!("{}. `baton attention --waiting`", counts.join(", ")),
    }
}

/// Sends one over every channel, without secrets; returns what failed.
fn deliver(app: &App, one: &Notification) -> Vec<String> {
    let redact = |text: &str| baton_redact::shared().redact(text).text.into_owned();
    let clean = Notification { title: redact(&one.title), text: redact(&one.text), ..one.clone() };
    let settings = &app.config.notify;
    let failed = |channel: Channel| {
        let error = channel.send(settings, &clean).err()?;
        Some(format!("{}: {error}", channel.as_str()))
    };
    channels(settings).into_iter().filter_map(failed).collect()
}

fn is_quiet(app: &App) -> bool {
    let Some(hours) = app.config.notify.quiet else { return false };
    let now = time_zone::find(None).and_then(|zone| zone.minute_of_day(clock::now()));
    now.is_some_and(|minute| hours.contains(minute))
}

/// A message to see whether each way works; returns how each ended.
pub(crate) fn test_message(app: &App) -> Vec<(Channel, Result<(), String>)> {
    let one = Notification {
        topic: Topic::Baton,
        project_id: String::new(),
        key: String::new(),
        title: "Baton can reach you".to_owned(),
        text: "This is what `baton notify test` sends.".to_owned(),
    };
    let settings = &app.config.notify;
    channels(settings).into_iter().map(|channel| (channel, channel.send(settings, &one))).collect()
}

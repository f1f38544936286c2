//! Tells what is new, over every way that the settings name.

use std::time::Duration;

use baton_model::notification::{Notification, Topic};
use serde::Serialize;

use super::channel::{Channel, channels};
use super::collect::collect;
use crate::app::App;
use crate::error::AppError;
use crate::notify_marks::{Marks, Memory, NotifyFolder};
use crate::{clock, time_zone};

/// How long one waits for more to be written: what belongs together is read together.
const GATHER: Duration = Duration::from_millis(300);
/// How many are told one by one; beyond that one tells how many there are.
const APART: usize = 5;

/// What was sent.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Delivery {
    /// Number of notifications.
    pub sent: usize,
    /// The quiet hours keep what is new for later.
    pub is_quiet: bool,
    /// Ways that failed, with the reason.
    pub failed: Vec<String>,
}

/// Tells what was marked. What cannot be told over any way is kept for the next time, and so is what comes up in the quiet hours.
pub(crate) fn send(app: &mut App) -> Result<Delivery, AppError> {
    let folder = NotifyFolder::of(&app.config);
    let _alone = folder.lock()?;
    std::thread::sleep(GATHER);
    let marks = folder.take()?;
    let mut delivery = Delivery { is_quiet: is_quiet(app), ..Delivery::default() };
    let mut memory = folder.memory();
    let is_sent =
        if delivery.is_quiet { false } else { deliver_all(app, &marks, &mut memory, &mut delivery)? };
    if !is_sent {
        // What was looked at is looked at again.
        folder.keep_for_later(&marks)?;
        let last_error = memory.last_error;
        memory = folder.memory();
        memory.last_error = last_error;
    }
    folder.remember(&memory)?;
    folder.finish()?;
    Ok(delivery)
}

/// Tells everything that is new; returns whether each reached the person over one way at least.
fn deliver_all(
    app: &mut App,
    marks: &Marks,
    memory: &mut Memory,
    delivery: &mut Delivery,
) -> Result<bool, AppError> {
    let found = collect(app, marks, memory)?;
    let ways = channels(&app.config.notify).len();
    let mut has_reached = true;
    for one in digest(&found) {
        let failed = deliver(app, &one);
        has_reached &= failed.len() < ways;
        delivery.sent += usize::from(failed.len() < ways);
        delivery.failed.extend(failed);
        if !has_reached {
            break;
        }
    }
    if has_reached {
        found.iter().for_each(|one| memory.add(&one.key));
    }
    memory.last_error = delivery.failed.last().cloned();
    Ok(has_reached)
}

/// One by one; where there are many, only how many there are.
fn digest(found: &[Notification]) -> Vec<Notification> {
    if found.len() <= APART {
        return found.to_vec();
    }
    let count = |topic: Topic| found.iter().filter(|one| one.topic == topic).count();
    let counts: Vec<String> = Topic::ALL
        .iter()
        .filter(|topic| count(**topic) > 0)
        .map(|topic| format!("{} {}", count(*topic), topic.as_str()))
        .collect();
    let first = found.first().map(|one| (one.topic, one.project_id.clone()));
    let (topic, project_id) = first.unwrap_or((Topic::Baton, String::new()));
    vec![Notification {
        topic,
        project_id,
        key: String::new(),
        title: format!("{} things wait for you", found.len()),
        text: format!("{}. `baton attention --waiting`", counts.join(", ")),
    }]
}

/// Tells one over every way; returns what failed. Secrets stay here.
fn deliver(app: &App, one: &Notification) -> Vec<String> {
    let redact = |text: &str| baton_redact::shared().redact(text).text.into_owned();
    let clean = Notification { title: redact(&one.title), text: redact(&one.text), ..one.clone() };
    let settings = &app.config.notify;
    let failed = |channel: Channel| {
        let ended = channel.send(settings, &clean).err()?;
        Some(format!("{}: {ended}", channel.as_str()))
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

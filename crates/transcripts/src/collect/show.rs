//! The events of a transcript as they are shown: without secrets.

use std::path::Path;

use super::Options;
use super::clean::Cleaner;
use crate::event::{Event, EventKind};
use crate::format::TranscriptReader;
use crate::report::Report;
use crate::shared::diff::MAX_DIFF;
use crate::shared::words::clip;

/// Reads a transcript, giving its events out with secrets and home directory taken out of everything that is said.
pub fn show(
    path: &Path,
    format: &dyn TranscriptReader,
    options: &Options,
    sink: &mut dyn FnMut(&Event<'_>),
) -> Report {
    show_session(path, None, format, options, sink)
}

/// The same for the conversation of this key, see [`crate::TranscriptFile::key`].
pub fn show_session(
    path: &Path,
    key: Option<&str>,
    format: &dyn TranscriptReader,
    options: &Options,
    sink: &mut dyn FnMut(&Event<'_>),
) -> Report {
    let redactor = options.redact.then(baton_redact::shared);
    let mut cleaner = Cleaner::new(redactor, options.home.as_deref());
    format.read_session(path, key, &mut |event| sink(&cleaned(event, &mut cleaner)))
}

fn cleaned<'a>(event: &Event<'a>, cleaner: &mut Cleaner<'_>) -> Event<'a> {
    let mut event = event.clone();
    let mut clean = |text: &mut std::borrow::Cow<'a, str>| *text = cleaner.clean_text(text).into();
    match &mut event.what {
        EventKind::User(text)
        | EventKind::Assistant(text)
        | EventKind::Thinking(text)
        | EventKind::ProviderError(text)
        | EventKind::Compaction(text) => clean(text),
        EventKind::Call(call) => {
            clean(&mut call.target);
            call.proposal.iter_mut().for_each(clean);
        }
        EventKind::Outcome(outcome) => clean(&mut outcome.output),
        EventKind::Session(session) => session.cwd.iter_mut().for_each(clean),
        EventKind::Plan(items) => {
            items.iter_mut().for_each(|item| item.title = cleaner.clean_text(&item.title))
        }
        EventKind::Usage(_) | EventKind::Interrupted | EventKind::Steering => {}
    }
    let edits = match &mut event.what {
        EventKind::Call(call) => &mut call.edits,
        EventKind::Outcome(outcome) => &mut outcome.edits,
        _ => return event,
    };
    for edit in edits {
        edit.path = cleaner.clean_text(&edit.path);
        edit.diff = edit.diff.as_deref().map(|diff| clip(&cleaner.clean_text(diff), MAX_DIFF));
    }
    event
}

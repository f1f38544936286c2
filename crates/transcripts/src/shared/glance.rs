//! Headers of files that can only be read as a whole.

use crate::event::{Event, What};
use crate::header::{Found, Header};
use crate::report::Report;

/// The header of a conversation by reading it: fit for documents, which have no end that could be read alone.
pub fn glance(found: &Found, read: impl FnOnce(&mut dyn FnMut(&Event<'_>)) -> Report) -> Header {
    let mut header = found.header();
    let mut last = None;
    let report = read(&mut |event| {
        if event.agent.is_none() {
            take(&mut header, event);
            last = event.at_ms.or(last);
        }
    });
    header.updated_at_ms = last.or(header.updated_at_ms);
    header.empty = report.is_empty();
    header.complaints = report.complaints;
    header
}

fn take(header: &mut Header, event: &Event<'_>) {
    header.created_at_ms = header.created_at_ms.or(event.at_ms);
    match &event.what {
        What::User(text) => header.asked(text),
        What::Session(session) => {
            let owned = |value: &Option<std::borrow::Cow<'_, str>>| value.as_deref().map(str::to_owned);
            if let (true, Some(id)) = (header.id.is_empty(), owned(&session.id)) {
                header.id = id;
            }
            header.cwd = header.cwd.take().or(owned(&session.cwd));
            header.branch = owned(&session.branch).or(header.branch.take());
            header.model = owned(&session.model).or(header.model.take());
        }
        _ => {}
    }
}

//! A thread without secrets, as it is shared.

use baton_transcripts::redact::shared;

use super::story::{ThreadSession, ThreadWork};

/// Takes secrets out of every text of a session that an agent or a user wrote.
pub(crate) fn redact(of: &mut ThreadSession) {
    let clean = |text: &mut String| *text = shared().redact(text).text.into_owned();
    let optional = |text: &mut Option<String>| {
        if let Some(text) = text {
            clean(text);
        }
    };
    clean(&mut of.identity);
    clean(&mut of.surface);
    optional(&mut of.branch);
    optional(&mut of.document);
    of.entries.iter_mut().filter(|entry| entry.kind != "commit").for_each(|entry| clean(&mut entry.text));
    if let Some(left) = &mut of.left {
        clean(&mut left.summary);
        optional(&mut left.to);
    }
    let Some(ThreadWork { requests, files, commands, decisions, next_steps, omitted: _ }) = &mut of.work
    else {
        return;
    };
    requests.iter_mut().chain(next_steps).for_each(clean);
    for file in files {
        clean(&mut file.path);
        optional(&mut file.change);
    }
    commands.iter_mut().for_each(|run| clean(&mut run.command));
    for decision in decisions {
        clean(&mut decision.what);
        optional(&mut decision.why);
    }
}

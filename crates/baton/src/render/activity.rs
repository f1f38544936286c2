//! What a session did last, in words: the name of an operation is for programs.

use baton_model::id::visible;
use baton_ops::op::Operation as _;
use baton_ops::{
    agent, baton, changes, handoff, key, lease, ledger, memory, message, portable, project, session, share,
    task, token, transcript,
};

/// The words for what each operation does that a session may do last.
const WORDS: &[(&str, &str)] = &[
    (session::Start::NAME, "started"),
    (session::Checkpoint::NAME, "saved"),
    (session::Wrap::NAME, "wrapped"),
    (session::Heartbeat::NAME, "at work"),
    (session::End::NAME, "ended"),
    (session::Reassign::NAME, "gave work to another"),
    (session::Pickup::NAME, "picked up"),
    (ledger::Note::NAME, "noted"),
    ("ledger_decide", "decided"),
    (memory::Add::NAME, "remembered"),
    (memory::Withdraw::NAME, "took a memory back"),
    (memory::Reindex::NAME, "indexed memories"),
    (transcript::Capture::NAME, "saved by a hook"),
    (transcript::Import::NAME, "imported"),
    (transcript::Continue::NAME, "continued a session"),
    (transcript::Push::NAME, "pushed a session"),
    (transcript::CopyUpload::NAME, "pushed a session"),
    (transcript::Withdraw::NAME, "took a pushed session back"),
    (changes::Record::NAME, "kept changes"),
    (changes::Attach::NAME, "kept changes"),
    (changes::Upload::NAME, "kept changes"),
    (changes::Drop::NAME, "dropped changes"),
    (handoff::Create::NAME, "handed work over"),
    (handoff::Advance::NAME, "moved a hand-off on"),
    (handoff::Action::Accept.verb(), "accepted a hand-off"),
    (handoff::Action::Decline.verb(), "declined a hand-off"),
    (handoff::Action::Complete.verb(), "completed a hand-off"),
    (handoff::Action::Cancel.verb(), "cancelled a hand-off"),
    (handoff::Retry::NAME, "retried a hand-off"),
    (handoff::Publish::NAME, "published a hand-off"),
    (handoff::MarkSeen::NAME, "looked at a hand-off"),
    (baton::Withdraw::NAME, "took a baton back"),
    (portable::BatonExport::NAME, "wrote a baton to a file"),
    (portable::BatonImport::NAME, "read a baton from a file"),
    (portable::BatonReclaim::NAME, "took an exported baton back"),
    (message::Send::NAME, "wrote a message"),
    (message::MailSend::NAME, "wrote a message"),
    ("mail_reply", "wrote a message"),
    (message::Ack::NAME, "acknowledged a message"),
    (message::MailAck::NAME, "acknowledged a message"),
    (message::Read::NAME, "read messages"),
    (message::Delivered::NAME, "read messages"),
    (message::Retract::NAME, "took a message back"),
    (task::ClaimTask::NAME, "claimed a task"),
    (task::Release::NAME, "gave a task back"),
    (task::Close::NAME, "closed a task"),
    (task::Reopen::NAME, "opened a task again"),
    (task::Create::NAME, "made a task"),
    (task::Update::NAME, "changed a task"),
    (task::Rename::NAME, "renamed a task"),
    (task::Delete::NAME, "deleted a task"),
    (task::Comment::NAME, "commented on a task"),
    (task::Depend::NAME, "linked tasks"),
    (task::Batch::NAME, "changed tasks"),
    (task::Increment::NAME, "passed an increment on"),
    (task::Route::NAME, "routed tasks"),
    (task::BeadsImport::NAME, "read the Beads file"),
    (task::BeadsMemory::NAME, "remembered"),
    (task::BeadsPublished::NAME, "wrote the Beads file"),
    (agent::Register::NAME, "registered"),
    (agent::Limit::NAME, "met a limit"),
    (lease::Take::NAME, "took a lease"),
    (lease::Release::NAME, "gave a lease back"),
    (key::Add::NAME, "added a key"),
    (key::Remove::NAME, "removed a key"),
    (share::Create::NAME, "shared a link"),
    (share::Revoke::NAME, "took a link back"),
    (project::Init::NAME, "registered a project"),
    (project::Merge::NAME, "merged projects"),
    (project::Relate::NAME, "related projects"),
    (project::Rename::NAME, "renamed a project"),
    (project::Set::NAME, "changed a project"),
    (project::Split::NAME, "split a project"),
    (project::RemovePlace::NAME, "forgot a folder"),
    (ledger::Import::NAME, "imported a ledger"),
    (token::Create::NAME, "made a token"),
    (token::Revoke::NAME, "revoked a token"),
    (handoff::TrackerComments::NAME, "heard from a tracker"),
    (handoff::TrackerEvent::NAME, "heard from a tracker"),
    (transcript::Document::NAME, "wrote a document"),
    (key::Create::NAME, "made a key"),
    (transcript::Copy::NAME, "kept a session"),
    (transcript::Doctor::NAME, "looked at sessions"),
    (transcript::Events::NAME, "looked at sessions"),
    (transcript::Find::NAME, "looked at sessions"),
    (transcript::List::NAME, "looked at sessions"),
    (transcript::Show::NAME, "looked at sessions"),
];

/// The words for what an operation does. One that is not listed is named as programs name it.
pub(super) fn text(verb: &str) -> String {
    words(verb).map_or_else(|| visible(&verb.replace('_', " ")), str::to_owned)
}

fn words(verb: &str) -> Option<&'static str> {
    WORDS.iter().find(|(name, _)| *name == verb).map(|(_, words)| *words)
}

#[cfg(test)]
mod tests {
    use baton_ops::all::ALL;
    use baton_ops::op::TxMode;

    use super::*;

    #[test]
    fn everything_that_a_session_may_do_last_has_words() {
        let writes = ALL.iter().filter(|entry| entry.tx_mode == TxMode::Write && !entry.only_caches);
        let missing: Vec<&str> =
            writes.map(|entry| entry.name).filter(|name| words(name).is_none()).collect();
        assert!(missing.is_empty(), "no words for {missing:?}");
        assert_eq!(text("not_there"), "not there");
    }
}

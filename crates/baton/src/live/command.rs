//! Redis keys, and the commands that a `LiveCommand` becomes. Plain commands only, so that Valkey and hosted ones
//! understand them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::SyncSender;

use baton_model::session::Session;
use baton_model::time::Millis;
use baton_store::CommitEvent;
use baton_store::state::SavedState;
use redis::Cmd;

/// Sorted set of sessions by their latest heartbeat, through which servers see each other's heartbeats.
pub(super) const HEARD: &str = "baton:heard";
/// Where servers tell each other that they wrote.
pub(super) const WROTE: &str = "baton:wrote";

/// Something for the thread to do.
pub(super) enum LiveCommand {
    /// A heartbeat of a session.
    Beat(Beat),
    /// A transaction was committed.
    Notes(Vec<CommitEvent>),
    /// Everything before this is to be said now.
    Flush(SyncSender<()>),
}

/// A heartbeat.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Beat {
    /// Of which session.
    pub session_id: String,
    project_id: String,
    identity: String,
    /// When.
    pub at: Millis,
}

impl Beat {
    /// A heartbeat of a session.
    pub(super) fn of(session: &Session, at: Millis) -> Self {
        Self {
            session_id: session.session_id.clone(),
            project_id: session.project_id.clone(),
            identity: session.identity.clone(),
            at,
        }
    }
}

/// Pending commands, deduplicated by key (last wins).
#[derive(Default)]
pub(super) struct CommandQueue {
    beats: BTreeMap<String, Beat>,
    states: BTreeMap<String, (String, SavedState)>,
    forgotten: BTreeSet<String>,
    ended: Vec<String>,
    heads: BTreeMap<String, i64>,
}

impl CommandQueue {
    /// Takes a heartbeat in.
    pub(super) fn beat(&mut self, beat: Beat) {
        self.beats.insert(beat.session_id.clone(), beat);
    }

    /// Takes in what a transaction did.
    pub(super) fn note(&mut self, note: CommitEvent) {
        match note {
            CommitEvent::Head { project_id, seq } => _ = self.heads.insert(project_id, seq),
            CommitEvent::Saved { project_id, state } => {
                self.forgotten.remove(&state.session_id);
                self.states.insert(state.session_id.clone(), (project_id, state));
            }
            CommitEvent::Forgotten { session_id } => {
                self.states.remove(&session_id);
                self.forgotten.insert(session_id);
            }
            CommitEvent::Released { session_id } => {
                self.states.remove(&session_id);
                self.beats.remove(&session_id);
                self.ended.push(session_id);
            }
        }
    }

    /// Whether there is nothing to say.
    pub(super) fn is_empty(&self) -> bool {
        let has_states = !self.states.is_empty() || !self.forgotten.is_empty();
        self.beats.is_empty() && !has_states && self.ended.is_empty() && self.heads.is_empty()
    }

    /// Sessions with a saved state or a release in the batch.
    pub(super) fn sessions(&self) -> Vec<String> {
        self.states.keys().chain(&self.forgotten).chain(&self.ended).cloned().collect()
    }

    /// Drops the saved states of matching sessions.
    pub(super) fn leave_out(&mut self, is_left_out: impl Fn(&str) -> bool) {
        self.states.retain(|session_id, _| !is_left_out(session_id));
    }

    /// Converts the batch to Redis commands. A Redis that is full takes no heartbeat and no state: an older copy of the
    /// state is deleted, so that it is not taken for the newest.
    pub(super) fn commands(self, own: &str, expire: Millis, is_full: bool) -> Vec<Cmd> {
        let mut all = Vec::new();
        for (session_id, (project_id, state)) in self.states {
            if is_full {
                all.push(forget(&session_id));
            } else {
                save(&mut all, &session_id, &project_id, &state, expire);
            }
        }
        all.extend(self.forgotten.iter().map(|session_id| forget(session_id)));
        for beat in self.beats.into_values().filter(|_| !is_full) {
            let key = key(&beat.session_id);
            let mut fields = command("HSET", &key);
            fields.arg("project").arg(&beat.project_id).arg("identity").arg(&beat.identity);
            fields.arg("heard").arg(beat.at);
            all.push(fields);
            let mut expires = command("PEXPIRE", &key);
            expires.arg(expire);
            all.push(expires);
            let mut heard = command("ZADD", HEARD);
            heard.arg(beat.at).arg(&beat.session_id);
            all.push(heard);
        }
        for session_id in self.ended {
            all.push(command("DEL", &key(&session_id)));
            let mut gone = command("ZREM", HEARD);
            gone.arg(&session_id);
            all.push(gone);
        }
        for (project_id, seq) in self.heads {
            let mut hint = command("PUBLISH", WROTE);
            hint.arg(format!("{own} {project_id} {seq}"));
            all.push(hint);
        }
        all
    }
}

/// Writes the saved state of a session into its hash, beside the heartbeat. The state of a seeded session gets no
/// heartbeats and expires; the ledger still has it.
fn save(all: &mut Vec<Cmd>, session_id: &str, project_id: &str, state: &SavedState, expire: Millis) {
    let key = key(session_id);
    let mut fields = command("HSET", &key);
    fields.arg("project").arg(project_id).arg("identity").arg(&state.identity);
    fields.arg("state").arg(&state.body).arg("version").arg(state.version).arg("saved").arg(state.updated_at);
    if state.task_key.is_empty() {
        // The key may hold that of an older state.
        let mut none = command("HDEL", &key);
        none.arg("task");
        all.push(none);
    } else {
        fields.arg("task").arg(&state.task_key);
    }
    all.push(fields);
    let mut expires = command("PEXPIRE", &key);
    expires.arg(expire);
    all.push(expires);
}

/// Deletes the saved state of a session; its heartbeat stays.
pub(super) fn forget(session_id: &str) -> Cmd {
    let mut forget = command("HDEL", &key(session_id));
    forget.arg("state").arg("version").arg("saved").arg("task");
    forget
}

/// A session's own key.
fn key(session_id: &str) -> String {
    format!("baton:session:{session_id}")
}

/// A command on a key.
pub(super) fn command(name: &str, key: &str) -> Cmd {
    let mut command = redis::cmd(name);
    command.arg(key);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(commands: &[Cmd]) -> Vec<String> {
        let word = |arg| match arg {
            redis::Arg::Simple(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            _ => "?".to_owned(),
        };
        commands.iter().map(|cmd| cmd.args_iter().map(word).collect::<Vec<_>>().join(" ")).collect()
    }

    fn beat(session_id: &str, at: Millis) -> Beat {
        Beat { session_id: session_id.into(), project_id: "shop".into(), identity: "Donna".into(), at }
    }

    fn saved(version: i64) -> CommitEvent {
        let state = SavedState {
            identity: "Donna".into(),
            session_id: "s1".into(),
            version,
            body: "{}".into(),
            updated_at: 7,
            ..SavedState::default()
        };
        CommitEvent::Saved { project_id: "shop".into(), state }
    }

    fn head(seq: i64) -> CommitEvent {
        CommitEvent::Head { project_id: "shop".into(), seq }
    }

    #[test]
    fn of_several_words_the_last_is_said() {
        let mut queue = CommandQueue::default();
        for note in [saved(1), head(8), saved(2), head(9)] {
            queue.note(note);
        }
        queue.beat(beat("s1", 1_000));
        queue.beat(beat("s1", 2_000));
        assert_eq!(
            texts(&queue.commands("me", 600, false)),
            [
                "HDEL baton:session:s1 task",
                "HSET baton:session:s1 project shop identity Donna state {} version 2 saved 7",
                "PEXPIRE baton:session:s1 600",
                "HSET baton:session:s1 project shop identity Donna heard 2000",
                "PEXPIRE baton:session:s1 600",
                "ZADD baton:heard 2000 s1",
                "PUBLISH baton:wrote me shop 9",
            ]
        );
    }

    #[test]
    fn a_state_whose_work_is_over_goes_and_its_session_stays() {
        let over = || CommitEvent::Forgotten { session_id: "s1".into() };
        let mut queue = CommandQueue::default();
        queue.note(saved(1));
        queue.note(over());
        assert_eq!(
            texts(&queue.commands("me", 600, false)),
            ["HDEL baton:session:s1 state version saved task"]
        );
        let mut queue = CommandQueue::default();
        queue.note(over());
        queue.note(saved(2));
        assert!(!queue.is_empty() && texts(&queue.commands("me", 600, false))[1].contains("version 2"));
    }

    #[test]
    fn what_a_session_had_goes_when_it_ends() {
        let mut queue = CommandQueue::default();
        queue.beat(beat("s1", 1_000));
        queue.note(saved(1));
        queue.note(CommitEvent::Released { session_id: "s1".into() });
        assert_eq!(texts(&queue.commands("me", 600, false)), ["DEL baton:session:s1", "ZREM baton:heard s1"]);
    }

    #[test]
    fn a_full_redis_is_told_what_frees_room_and_what_needs_none() {
        let mut queue = CommandQueue::default();
        queue.beat(beat("s2", 1_000));
        queue.note(saved(1));
        queue.note(head(3));
        assert_eq!(
            texts(&queue.commands("me", 600, true)),
            ["HDEL baton:session:s1 state version saved task", "PUBLISH baton:wrote me shop 3"]
        );
    }
}

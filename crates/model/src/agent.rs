//! Agents: who has registered, with which program, roles and skills, and what the roles make of it.

use serde::{Deserialize, Serialize};

use crate::id::{check_identity, check_label, identity_key};
use crate::refusal::Refusal;
use crate::role::{Role, Roles, role_key};
use crate::session::Limits;
use crate::time::{Millis, Timestamp};

/// The surface of a worker: a loop that claims tasks and runs a command for each.
pub const WORKER: &str = "worker";

/// How many tasks at once an agent takes that says nothing, in a role that says nothing.
pub const USUAL_TASKS: i64 = 1;
/// The most of them that may be asked for.
pub const MAX_TASKS: i64 = 1_000;

/// A registered agent: an identity of a project and what it said about itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agent {
    /// The project.
    pub project_id: String,
    /// The identity as it was first given.
    pub identity: String,
    /// The program that it is: `claude`, `codex`, …
    pub program: Option<String>,
    /// The model that it runs on.
    pub model: Option<String>,
    /// Its roles, as [`role_key`] makes them.
    pub roles: Vec<String>,
    /// What it is good at beyond what its roles say.
    pub skills: Vec<String>,
    /// How many tasks it wants at once; 0 while it takes none.
    pub max_tasks: Option<i64>,
    /// When it first registered.
    pub registered_at: Millis,
    /// When it last registered.
    pub updated_at: Millis,
    /// The latest heartbeat of this identity's newest session, if there is one.
    pub heartbeat_at: Option<Millis>,
    /// Whether one of its sessions is open.
    pub in_session: bool,
}

/// What holds for an agent, its registration and its roles taken together. The roles file's limits win.
#[derive(Debug, Clone, PartialEq)]
pub struct Capability {
    /// Its roles.
    pub roles: Vec<String>,
    /// Its own skills, then those of its roles.
    pub skills: Vec<String>,
    /// How many tasks it may have at once.
    pub max_tasks: i64,
    /// Where `max_tasks` came from.
    pub max_tasks_from: String,
    /// After how many minutes a session is to end, by role; the shortest of its roles.
    pub max_session_duration: Option<i64>,
}

/// Whether an agent is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// In a session, with a heartbeat within the live cut-off.
    Live,
    /// Seen recently enough to be given work.
    Fresh,
    /// Not seen for longer than the cut-off.
    Silent,
    /// It was in a session and never registered.
    Unregistered,
}

impl State {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Fresh => "fresh",
            Self::Silent => "silent",
            Self::Unregistered => "unregistered",
        }
    }
}

/// A registered agent as answers show it, with what holds for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The identity as it was first given.
    pub name: String,
    /// The program that it is.
    pub program: Option<String>,
    /// The model that it runs on.
    pub model: Option<String>,
    /// Its roles.
    pub roles: Vec<String>,
    /// Its own skills, then those of its roles.
    pub skills: Vec<String>,
    /// What it is good at beyond what its roles say.
    pub own_skills: Vec<String>,
    /// How many tasks it may have at once.
    pub max_tasks: i64,
    /// Where `max_tasks` came from.
    pub max_tasks_from: String,
    /// After how many minutes a session is to end.
    pub max_session_duration: Option<i64>,
    /// Whether it is there.
    pub state: State,
    /// When it was last seen.
    pub last_seen: Timestamp,
    /// When it first registered.
    pub registered_at: Timestamp,
}

impl Agent {
    /// Refuses a registration that cannot be kept or shown, and puts its roles and skills into the form that is kept.
    pub fn check(&mut self, roles: &Roles) -> Result<(), Refusal> {
        check_identity(&self.identity)?;
        for (what, label) in [("program", &self.program), ("model", &self.model)] {
            label.as_ref().map_or(Ok(()), |label| check_label(what, label))?;
        }
        for skill in &self.skills {
            check_label("skill", skill)?;
        }
        if self.roles.len() > 20 || self.skills.len() > 100 {
            let what = "an agent has at most 20 roles and 100 skills";
            return Err(Refusal::invalid("agent_invalid", what, "name those that it is chosen by"));
        }
        if self.max_tasks.is_some_and(|n| !(0..=MAX_TASKS).contains(&n)) {
            let what = format!("an agent takes 0 to {MAX_TASKS} tasks at once");
            let hint = "leave --max-tasks out for one at a time; 0 gives it none for now";
            return Err(Refusal::invalid("agent_invalid", what, hint));
        }
        let known: Result<Vec<String>, Refusal> =
            self.roles.iter().map(|role| roles.check_known(role)).collect();
        self.roles = once(known?);
        self.skills = once(std::mem::take(&mut self.skills).into_iter().map(|s| s.to_lowercase()).collect());
        Ok(())
    }

    /// Whether it has this role, in any of its spellings.
    pub fn has_role(&self, role: &str) -> bool {
        let key = role_key(role);
        self.roles.iter().any(|own| role_key(own) == key)
    }

    /// When it was last seen: by heartbeat or by registering.
    pub fn last_seen(&self) -> Millis {
        self.heartbeat_at.map_or(self.updated_at, |beat| beat.max(self.updated_at))
    }

    /// Whether it was seen recently enough to be given work.
    pub fn is_fresh(&self, now: Millis, limits: Limits) -> bool {
        now.saturating_sub(self.last_seen()) <= limits.stale_after
    }

    /// Whether it is there.
    pub fn state(&self, now: Millis, limits: Limits) -> State {
        let heard = now.saturating_sub(self.last_seen());
        match self.is_fresh(now, limits) {
            true if self.in_session && heard <= limits.live_after => State::Live,
            true => State::Fresh,
            false => State::Silent,
        }
    }

    /// What holds for it under these roles.
    pub fn capability(&self, roles: &Roles) -> Capability {
        let own: Vec<&Role> = self.roles.iter().filter_map(|name| roles.get(name)).collect();
        let taught =
            own.iter().filter_map(|role| role.skills.as_ref()).flat_map(|skills| skills.value.iter());
        let skills = self.skills.iter().chain(taught).map(|skill| skill.to_lowercase()).collect();
        let strictest = own.iter().filter_map(|r| r.max_concurrent_tasks.as_ref()).min_by_key(|n| n.value);
        let (max_tasks, max_tasks_from) = match (strictest, self.max_tasks) {
            (_, Some(0)) => (0, "registered".to_owned()),
            (Some(limit), _) => (limit.value, limit.origin.describe()),
            (None, Some(max)) => (max, "registered".to_owned()),
            (None, None) => (USUAL_TASKS, "built in".to_owned()),
        };
        Capability {
            roles: self.roles.clone(),
            skills: once(skills),
            max_tasks,
            max_tasks_from,
            max_session_duration: own
                .iter()
                .filter_map(|r| r.max_session_duration.as_ref())
                .map(|d| d.value)
                .min(),
        }
    }

    /// The agent as answers show it.
    pub fn profile(&self, roles: &Roles, now: Millis, limits: Limits) -> Profile {
        let can = self.capability(roles);
        Profile {
            name: self.identity.clone(),
            program: self.program.clone(),
            model: self.model.clone(),
            roles: can.roles,
            skills: can.skills,
            own_skills: self.skills.clone(),
            max_tasks: can.max_tasks,
            max_tasks_from: can.max_tasks_from,
            max_session_duration: can.max_session_duration,
            state: self.state(now, limits),
            last_seen: Timestamp(self.last_seen()),
            registered_at: Timestamp(self.registered_at),
        }
    }
}

/// Each once, at its first place, whatever the case.
fn once(names: Vec<String>) -> Vec<String> {
    let mut unique: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        if !unique.iter().any(|known| identity_key(known) == identity_key(&name)) {
            unique.push(name);
        }
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(roles: &[&str], skills: &[&str], max_tasks: Option<i64>) -> Agent {
        let texts = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        let (roles, skills) = (texts(roles), texts(skills));
        Agent { identity: "Tess".into(), roles, skills, max_tasks, ..Agent::default() }
    }

    #[test]
    fn roles_and_skills_are_kept_once_in_one_spelling() {
        let mut tess = agent(&["Testing-specialist", "testing"], &["QA", "qa", "rust"], None);
        tess.check(&Roles::default()).expect("good");
        assert_eq!(
            (tess.roles, tess.skills),
            (vec!["testing".to_owned()], vec!["qa".to_owned(), "rust".into()])
        );
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        let check = |mut agent: Agent| agent.check(&Roles::default()).expect_err("refused").code;
        assert_eq!(check(agent(&["tester"], &[], None)), "role_unknown");
        assert_eq!(check(agent(&[], &["a\nb"], None)), "label_invalid");
        assert_eq!(check(agent(&[], &[], Some(-1))), "agent_invalid");
        assert_eq!(check(Agent { identity: "a b".into(), ..Agent::default() }), "identity_invalid");
    }

    #[test]
    fn the_files_limit_wins_over_what_was_registered() {
        let roles = |text| Roles::with_file("f", text).expect("valid");
        let tess = agent(&["testing"], &["rust"], Some(5));
        let free = tess.capability(&Roles::default());
        assert_eq!((free.max_tasks, free.max_tasks_from.as_str()), (5, "registered"));
        let bound = tess.capability(&roles("agent_roles:\n  testing:\n    max_concurrent_tasks: 2\n"));
        assert_eq!((bound.max_tasks, bound.max_tasks_from.as_str()), (2, "f:3"));
        let paused = agent(&["testing"], &[], Some(0));
        let file = roles("agent_roles:\n  testing:\n    max_concurrent_tasks: 2\n");
        assert_eq!(paused.capability(&file).max_tasks, 0, "an agent that takes none is given none");
        assert_eq!(agent(&["testing"], &[], None).capability(&Roles::default()).max_tasks, USUAL_TASKS);
    }

    #[test]
    fn an_agent_can_what_its_roles_can_and_its_shortest_session_counts() {
        let can = agent(&["testing", "verification"], &["rust"], None).capability(&Roles::default());
        assert_eq!(can.skills, ["rust", "testing", "validation", "qa", "automation", "review", "approval"]);
        assert_eq!(can.max_session_duration, Some(30));
    }

    #[test]
    fn freshness_has_the_edges_of_a_session() {
        let limits = Limits::default();
        let seen = |now, heartbeat_at, in_session| {
            Agent { heartbeat_at, in_session, ..Agent::default() }.state(now, limits)
        };
        assert_eq!(seen(limits.live_after, Some(0), true), State::Live);
        assert_eq!(seen(limits.live_after, Some(0), false), State::Fresh);
        assert_eq!(seen(limits.live_after + 1, Some(0), true), State::Fresh);
        assert_eq!(
            seen(limits.stale_after, None, false),
            State::Fresh,
            "registering counts as being heard of"
        );
        assert_eq!(seen(limits.stale_after + 1, Some(0), true), State::Silent);
    }
}

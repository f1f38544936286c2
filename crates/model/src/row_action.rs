//! What can be done about a row: the one table for the inbox, the lists, the page and `baton top`.

use serde::{Deserialize, Serialize};

use crate::access::{Grant, Scope};
use crate::handoff;
use crate::id::{identity_key, short};
use crate::message::ROLE;
use crate::shell::shell_word;
use crate::task::Task;

/// Something that a person can do about a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowAction {
    /// Take a baton.
    PickUp,
    /// Take back a baton that was left.
    Withdraw,
    /// Give a session's work to another.
    Reassign,
    /// Take a hand-off that is offered.
    Accept,
    /// Take over a hand-off that another accepted and left.
    TakeOver,
    /// Say no to a hand-off.
    Decline,
    /// Finish a hand-off.
    Complete,
    /// Take a hand-off back.
    Cancel,
    /// Drive a hand-off on.
    Retry,
    /// Send once more what came back.
    LeaveAnew,
    /// Answer a message.
    Reply,
    /// Say that a message was read.
    Acknowledge,
    /// Take back a message that one sent, while it is unread.
    Retract,
    /// Open a task that was given up.
    Reopen,
    /// Claim a task.
    Claim,
    /// Give a task back that is at work, or take it back from its agent.
    Release,
    /// Give a task that is not at work to another, or to the router.
    Assign,
    /// Close a task.
    Close,
    /// End one's own session, which gives back what it holds.
    End,
    /// Write to the agents that it is about.
    Write,
}

/// An action that a row offers to the one who looks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedAction {
    /// The action.
    pub action: RowAction,
    /// Whose it is: an operator does it in their place, with a reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place_of: Option<String>,
    /// Of `write`: to whom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receivers: Vec<String>,
    /// Of what its sender does about a message: the project from which it was sent, in which that is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Of what is done about what a task waits for: the id of that task, in the same project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Of `assign`: the agent that has the task already, and has not begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// Whether a token needs the scope operator for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operator: bool,
}

impl From<RowAction> for OfferedAction {
    fn from(action: RowAction) -> Self {
        Self {
            action,
            in_place_of: None,
            receivers: Vec::new(),
            project_id: None,
            task_id: None,
            assignee: None,
            operator: false,
        }
    }
}

impl OfferedAction {
    /// Whether a caller with this grant may do it.
    pub fn is_permitted(&self, grant: &Grant) -> bool {
        grant.require(Scope::Write).is_ok() && (!self.operator || grant.is_operator())
    }

    /// Whether a caller of this scope may do it.
    pub fn is_within(&self, scope: Scope) -> bool {
        scope >= if self.operator { Scope::Operator } else { Scope::Write }
    }
}

/// The viewer: the key of an identity, or empty for an anonymous one.
#[derive(Debug, Clone, Copy)]
pub struct Viewer<'a>(pub &'a str);

impl Viewer<'_> {
    fn is(self, name: Option<&str>) -> bool {
        !self.0.is_empty() && name.is_some_and(|name| identity_key(name) == self.0)
    }

    /// An action that is the business of one identity.
    fn of_owner(self, action: RowAction, owner: Option<&str>) -> OfferedAction {
        let is_anothers = !self.0.is_empty() && owner.is_some() && !self.is(owner);
        let in_place_of = owner.filter(|_| is_anothers).map(str::to_owned);
        OfferedAction { operator: in_place_of.is_some(), in_place_of, ..action.into() }
    }

    /// A message to those of these agents who are not the viewer, where there are any. The address of a role is no agent to write to.
    pub fn write_to(self, people: &[Option<&str>]) -> Option<OfferedAction> {
        let mut receivers: Vec<String> = Vec::new();
        for name in people.iter().flatten().filter(|name| !name.is_empty() && !name.starts_with(ROLE)) {
            let is_known = receivers.iter().any(|known| identity_key(known) == identity_key(name));
            if !is_known && !self.is(Some(name)) {
                receivers.push((*name).to_owned());
            }
        }
        (!receivers.is_empty()).then(|| OfferedAction { receivers, ..RowAction::Write.into() })
    }
}

/// What decides about a hand-off.
#[derive(Debug, Clone, Copy)]
pub struct HandoffParties<'a> {
    /// Where it stands.
    pub state: handoff::State,
    /// The identity that sent it.
    pub from: &'a str,
    /// The identity that it is for.
    pub to: Option<&'a str>,
    /// The identity that accepted it.
    pub accepted_by: Option<&'a str>,
}

impl HandoffParties<'_> {
    /// What can be done about it, the first thing first.
    pub fn actions(&self, viewer: Viewer<'_>) -> Vec<OfferedAction> {
        use handoff::State;
        let is_sender = viewer.is(Some(self.from));
        let cancel = || viewer.of_owner(RowAction::Cancel, Some(self.from));
        match self.state {
            State::Planned | State::Pending | State::Failed => vec![RowAction::Retry.into(), cancel()],
            // What one sent to others is theirs to accept.
            State::Offered if is_sender && !viewer.is(self.to) => vec![cancel()],
            State::Offered => vec![RowAction::Accept.into(), RowAction::Decline.into(), cancel()],
            State::Accepted => {
                let complete = viewer.of_owner(RowAction::Complete, self.accepted_by);
                let take_over = OfferedAction::from(RowAction::TakeOver);
                let decline = OfferedAction::from(RowAction::Decline);
                match (viewer.is(self.accepted_by), is_sender) {
                    (true, _) => vec![complete, decline, cancel()],
                    (false, true) => vec![cancel(), complete],
                    (false, false) if viewer.0.is_empty() => vec![complete, decline, cancel(), take_over],
                    (false, false) => vec![take_over, complete, cancel()],
                }
            }
            State::Declined | State::Expired if is_sender || viewer.0.is_empty() => {
                vec![RowAction::LeaveAnew.into()]
            }
            State::Declined | State::Expired | State::Completed | State::Cancelled => Vec::new(),
        }
    }
}

/// What can be done about a baton that waits: one's own is taken back before it is picked up, unless it is for oneself.
pub fn of_baton(from: &str, to: Option<&str>, viewer: Viewer<'_>) -> Vec<OfferedAction> {
    let withdraw = viewer.of_owner(RowAction::Withdraw, Some(from));
    let pick_up = OfferedAction::from(RowAction::PickUp);
    match viewer.is(Some(from)) && !viewer.is(to) {
        true => vec![withdraw, pick_up],
        false => vec![pick_up, withdraw],
    }
}

/// What can be done about an open session: one's own is ended, which gives back what it holds, and another's agent is written to. To
/// reassign another's is an operator's act.
pub fn of_session(identity: &str, viewer: Viewer<'_>) -> Vec<OfferedAction> {
    let is_own = viewer.is(Some(identity));
    let end = is_own.then(|| RowAction::End.into());
    let write = viewer.write_to(&[Some(identity)]);
    let reassign = OfferedAction { operator: !is_own, ..RowAction::Reassign.into() };
    [Some(reassign), end, write].into_iter().flatten().collect()
}

/// What can be done about a message: who wrote it to another writes to them again, and takes it back while it is unread. Only its
/// receiver answers it; anybody else writes to that one.
pub fn of_message(from: &str, to: Option<&str>, is_late: bool, viewer: Viewer<'_>) -> Vec<OfferedAction> {
    if viewer.is(Some(from)) && !viewer.is(to) {
        let retract = (!is_late).then(|| RowAction::Retract.into());
        return [Some(RowAction::Reply.into()), retract].into_iter().flatten().collect();
    }
    let is_for_another = !viewer.0.is_empty() && !viewer.is(to);
    if let Some(write) = viewer.write_to(&[to]).filter(|_| is_for_another) {
        return vec![write];
    }
    let mut actions = vec![RowAction::Reply.into(), RowAction::Acknowledge.into()];
    if is_late {
        actions.reverse();
    }
    actions
}

/// What decides about a task.
#[derive(Debug, Clone, Copy)]
pub struct TaskState<'a> {
    /// Its status.
    pub status: &'a str,
    /// Whether it waits for another task.
    pub is_blocked: bool,
    /// Who is at work on it: the one that claimed it, else the assignee of one in progress.
    pub holder: Option<&'a str>,
    /// Whom it is assigned to, where nobody is at work on it.
    pub assignee: Option<&'a str>,
}

impl<'a> TaskState<'a> {
    /// That of a task.
    pub fn of(task: &'a Task) -> Self {
        let assignee = task.assignee.as_deref().filter(|name| !name.is_empty());
        let at_work = assignee.filter(|_| task.status == "in_progress");
        let holder = task.claim.as_ref().map(|claim| claim.by.as_str()).or(at_work);
        let assignee = assignee.filter(|_| holder.is_none());
        Self { status: &task.status, is_blocked: task.readiness.blocked, holder, assignee }
    }

    /// Who has it: its holder, else its assignee.
    pub fn owner(&self) -> Option<&'a str> {
        self.holder.or(self.assignee)
    }

    /// What can be done about it, the first thing first. One that is at work is taken back from its agent before it is anything else;
    /// one that was given up is opened again, unless it waits for another; one that is ready is claimed.
    pub fn actions(&self, viewer: Viewer<'_>) -> Vec<OfferedAction> {
        let assignee = self.assignee.map(str::to_owned);
        let assign = OfferedAction { assignee, ..RowAction::Assign.into() };
        let close = RowAction::Close.into();
        match (self.status, self.holder) {
            ("closed" | "tombstone", _) => Vec::new(),
            (_, Some(_)) => {
                let release = viewer.of_owner(RowAction::Release, self.holder);
                let close = viewer.is(self.holder).then_some(close);
                [Some(release), close, viewer.write_to(&[self.holder])].into_iter().flatten().collect()
            }
            ("blocked", None) if !self.is_blocked => vec![RowAction::Reopen.into(), assign, close],
            ("open", None) if !self.is_blocked => vec![RowAction::Claim.into(), assign, close],
            (_, None) => vec![assign, close],
        }
    }
}

/// What helps a task on that waits for this one: writing to the agent that has it, and where nobody is at work on it, opening it again
/// or assigning it.
pub fn of_blocker(blocker: &Task, viewer: Viewer<'_>) -> Vec<OfferedAction> {
    let state = TaskState::of(blocker);
    let helps = |one: &OfferedAction| match one.action {
        RowAction::Reopen | RowAction::Assign => state.holder.is_none(),
        _ => false,
    };
    let write = viewer.write_to(&[state.owner()]);
    let found = write.into_iter().chain(state.actions(viewer).into_iter().find(helps));
    found.map(|one| OfferedAction { task_id: Some(blocker.task_id.clone()), ..one }).collect()
}

/// What an action is about, for its command.
#[derive(Debug, Clone, Copy)]
pub struct RowSubject<'a> {
    /// The project in which it is done: of a hand-off, the receiver's.
    pub project_id: &'a str,
    /// Id of the baton, session, hand-off, message or task.
    pub id: &'a str,
    /// For whom a message is.
    pub to: Option<&'a str>,
}

impl OfferedAction {
    /// The command that does the same; none where there is no such command.
    pub fn command(&self, subject: &RowSubject<'_>) -> Option<String> {
        let RowSubject { project_id, id, to } = *subject;
        let id = self.task_id.as_deref().unwrap_or(id);
        // Who wrote a message acts in the project from which it was sent, and not as its receiver.
        let to = to.filter(|_| self.project_id.is_none());
        let project_id = self.project_id.as_deref().unwrap_or(project_id);
        let brief = short(id);
        let within = format!("--project {project_id}");
        // No agent acts under the address of a role: the one that has the role says its own name.
        let receiver = to.filter(|to| !to.starts_with(ROLE)).map(|to| format!(" {}", shell_word(to)));
        let receiver = receiver.unwrap_or_default();
        let command = match self.action {
            RowAction::PickUp | RowAction::Accept | RowAction::TakeOver => {
                format!("baton pickup --handoff {brief} {within}")
            }
            RowAction::Withdraw => format!("baton batons withdraw {brief} {within}"),
            RowAction::Reassign => format!("baton reassign {brief} --to NAME {within}"),
            RowAction::Decline => format!("baton handoff decline {brief}"),
            RowAction::Complete => format!("baton handoff complete {brief}"),
            RowAction::Cancel => format!("baton handoff cancel {brief}"),
            RowAction::Retry => format!("baton handoff retry {brief}"),
            RowAction::LeaveAnew => return None,
            RowAction::Reply => match receiver.as_str() {
                "" => format!("baton mail send --reply-to {id} {within} --text '…'"),
                receiver => format!("baton mail send --as{receiver} --reply-to {id} {within} --text '…'"),
            },
            RowAction::Acknowledge => match receiver.as_str() {
                "" => format!("baton mail ack {brief} {within}"),
                receiver => format!("baton mail ack {brief} --as{receiver} {within}"),
            },
            RowAction::Retract => format!("baton signal recall {brief} {within}"),
            RowAction::Reopen => format!("baton task update {id} --status open {within}"),
            RowAction::Claim => format!("baton task claim {id} {within}"),
            RowAction::Release => format!("baton task release {id} {within}"),
            RowAction::Assign => format!("baton task update {id} --assignee NAME {within}"),
            RowAction::Close => format!("baton task close {id} {within}"),
            RowAction::End => format!("baton end --session {brief} {within}"),
            RowAction::Write if self.receivers.len() > 1 => {
                let names: Vec<String> = self.receivers.iter().map(|name| shell_word(name)).collect();
                let names = names.join(" ");
                format!(
                    "for one in {names}; do baton mail send --to \"$one\" {within} --subject '…' --text '…'; done"
                )
            }
            RowAction::Write => {
                let to = self.receivers.first().map_or_else(|| "NAME".to_owned(), |name| shell_word(name));
                format!("baton mail send --to {to} {within} --subject '…' --text '…'")
            }
        };
        let Some(owner) = &self.in_place_of else { return Some(command) };
        // What is completed or taken back in its holder's place is not another's by then.
        let holder = match self.action {
            RowAction::Complete | RowAction::Release => format!(" --holder {}", shell_word(owner)),
            _ => String::new(),
        };
        Some(format!("{command} --force{holder} --why '…'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(actions: &[OfferedAction]) -> Vec<String> {
        let word = |one: &OfferedAction| {
            let action = serde_json::to_value(one.action).expect("a word");
            let place = one.in_place_of.as_deref().map(|who| format!(" for {who}")).unwrap_or_default();
            format!("{}{place}", action.as_str().unwrap_or_default())
        };
        actions.iter().map(word).collect()
    }

    #[test]
    fn what_one_sent_is_taken_back_and_what_one_got_is_answered() {
        use handoff::State;
        let of = |state, viewer| {
            let parties = HandoffParties { state, from: "Mara", to: Some("Ben"), accepted_by: Some("Ben") };
            words(&parties.actions(Viewer(viewer))).join(", ")
        };
        for (state, viewer, expected) in [
            (State::Offered, "mara", "cancel"),
            (State::Offered, "ben", "accept, decline, cancel for Mara"),
            (State::Offered, "", "accept, decline, cancel"),
            (State::Accepted, "ben", "complete, decline, cancel for Mara"),
            (State::Accepted, "", "complete, decline, cancel, take_over"),
            (State::Accepted, "mara", "cancel, complete for Ben"),
            (State::Accepted, "zoe", "take_over, complete for Ben, cancel for Mara"),
            (State::Failed, "mara", "retry, cancel"),
            (State::Failed, "zoe", "retry, cancel for Mara"),
            (State::Declined, "mara", "leave_anew"),
            (State::Expired, "zoe", ""),
            (State::Completed, "mara", ""),
        ] {
            assert_eq!(of(state, viewer), expected, "{state:?} {viewer}");
        }
    }

    #[test]
    fn a_baton_a_message_and_a_task_offer_what_is_not_refused() {
        let baton = |to, viewer| words(&of_baton("Mara", to, Viewer(viewer))).join(", ");
        assert_eq!(baton(None, "mara"), "withdraw, pick_up");
        assert_eq!(baton(Some("Mara"), "mara"), "pick_up, withdraw");
        assert_eq!(baton(None, ""), "pick_up, withdraw");
        assert_eq!(baton(Some("Ben"), "mara"), "withdraw, pick_up");
        assert_eq!(baton(Some("Ben"), "ben"), "pick_up, withdraw for Mara");
        let message = |late, viewer| words(&of_message("Mara", Some("Ben"), late, Viewer(viewer))).join(", ");
        assert_eq!(
            (message(false, "mara"), message(true, "mara")),
            ("reply, retract".into(), "reply".into())
        );
        assert_eq!(
            (message(false, "ben"), message(true, "")),
            ("reply, acknowledge".into(), "acknowledge, reply".into())
        );
        assert_eq!(message(false, "cem"), "write");
        let of_role = of_message("Mara", Some("role:testing"), false, Viewer("cem"));
        assert_eq!(words(&of_role), ["reply", "acknowledge"], "whoever has the role");
    }

    #[test]
    fn a_task_that_failed_again_is_taken_back_or_given_to_another() {
        let task = |status, is_blocked, holder, viewer| {
            words(&TaskState { status, is_blocked, holder, assignee: None }.actions(Viewer(viewer)))
                .join(", ")
        };
        assert_eq!(task("blocked", false, None, "mara"), "reopen, assign, close");
        assert_eq!(task("blocked", true, None, "mara"), "assign, close", "it waits for another");
        assert_eq!(task("open", true, None, "mara"), "assign, close");
        assert_eq!(task("open", false, None, ""), "claim, assign, close");
        assert_eq!(task("in_progress", false, Some("Ben"), "ben"), "release, close");
        assert_eq!(task("in_progress", false, Some("Ben"), "mara"), "release for Ben, write");
        assert_eq!(task("in_progress", false, Some("Ben"), ""), "release, write");
        assert_eq!(task("closed", false, None, "mara"), "");
    }

    #[test]
    fn what_has_been_given_to_an_agent_is_asked_about_before_it_is_given_to_another() {
        let given = Task { status: "open".into(), assignee: Some("Ben".into()), ..Task::default() };
        let offered = of_blocker(&given, Viewer("mara"));
        assert_eq!(words(&offered), ["write", "assign"]);
        assert_eq!(
            (&offered[0].receivers[..], offered[1].assignee.as_deref()),
            (&["Ben".to_owned()][..], Some("Ben"))
        );
        assert_eq!(words(&of_blocker(&given, Viewer("ben"))), ["assign"], "nobody writes to oneself");
        let free = Task { status: "open".into(), ..Task::default() };
        assert_eq!(words(&of_blocker(&free, Viewer("mara"))), ["assign"]);
        let at_work = Task { status: "in_progress".into(), ..given };
        assert_eq!(words(&of_blocker(&at_work, Viewer("mara"))), ["write"]);
    }

    #[test]
    fn others_are_written_to_and_ones_own_session_is_ended() {
        assert_eq!(words(&of_session("Ben", Viewer("mara"))).join(", "), "reassign, write");
        assert_eq!(words(&of_session("Ben", Viewer("ben"))).join(", "), "reassign, end");
        let write =
            Viewer("mara").write_to(&[Some("Ben"), Some("ben"), Some("Mara"), Some("role:testing"), None]);
        let write = write.expect("somebody to write to");
        assert_eq!(write.receivers, ["Ben"]);
        let subject = RowSubject { project_id: "docs", id: "s", to: None };
        let command = write.command(&subject);
        assert_eq!(
            command.as_deref(),
            Some("baton mail send --to Ben --project docs --subject '…' --text '…'")
        );
        assert_eq!(Viewer("mara").write_to(&[Some("Mara"), Some("")]), None);
    }

    #[test]
    fn a_token_is_offered_what_its_scope_lets_it_do() {
        let grant = |scope| Grant { scope, ..Grant::default() };
        let bearer = |scope| {
            let bearer = crate::access::Bearer { token_id: "t".into(), name: "ci".into(), identities: None };
            Grant { bearer: Some(bearer), ..grant(scope) }
        };
        let left = |actions: Vec<OfferedAction>, scope| {
            let grant = bearer(scope);
            words(&actions.into_iter().filter(|one| one.is_permitted(&grant)).collect::<Vec<_>>()).join(", ")
        };
        let others = || of_session("Ben", Viewer("mara"));
        assert_eq!(left(others(), Scope::Operator), "reassign, write");
        assert_eq!(left(others(), Scope::Write), "write");
        assert_eq!(left(others(), Scope::Read), "");
        assert_eq!(left(of_session("Ben", Viewer("ben")), Scope::Write), "reassign, end");
        assert_eq!(left(of_baton("Mara", None, Viewer("ben")), Scope::Write), "pick_up");
    }

    #[test]
    fn who_wrote_a_message_acts_where_it_was_sent() {
        let subject = RowSubject { project_id: "bank", id: "0199aaaa-bbbb-7000", to: Some("Ben") };
        let of_sender = |action: RowAction| {
            let offered = OfferedAction { project_id: Some("shop".into()), ..action.into() };
            offered.command(&subject).unwrap_or_default()
        };
        assert_eq!(
            of_sender(RowAction::Reply),
            "baton mail send --reply-to 0199aaaa-bbbb-7000 --project shop --text '…'"
        );
        assert_eq!(of_sender(RowAction::Retract), "baton signal recall 0199aaaa-bbbb --project shop");
    }

    #[test]
    fn the_command_of_an_action_names_the_project_of_its_row() {
        let subject = RowSubject { project_id: "docs", id: "0199aaaa-bbbb-7000", to: Some("Bob's bot") };
        let command = |action: RowAction| OfferedAction::from(action).command(&subject).unwrap_or_default();
        assert_eq!(command(RowAction::Accept), "baton pickup --handoff 0199aaaa-bbbb --project docs");
        assert_eq!(command(RowAction::Reassign), "baton reassign 0199aaaa-bbbb --to NAME --project docs");
        assert!(command(RowAction::Reply).contains(r"--as 'Bob'\''s bot'"), "{}", command(RowAction::Reply));
        let forced = OfferedAction { in_place_of: Some("Mara".into()), ..RowAction::Cancel.into() };
        assert_eq!(
            forced.command(&subject).as_deref(),
            Some("baton handoff cancel 0199aaaa-bbbb --force --why '…'")
        );
    }
}

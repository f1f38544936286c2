use proptest::prelude::*;

use super::attempts::KEPT_ATTEMPTS;
use super::*;

fn agent(name: &str, role: &str, skills: &[&str]) -> CandidateAgent {
    CandidateAgent {
        name: name.into(),
        roles: [role].iter().filter(|r| !r.is_empty()).map(|r| role_key(r)).collect(),
        skills: skills.iter().map(|s| (*s).to_owned()).collect(),
        max_tasks: 1,
        open_claims: 0,
        last_used: 0,
        fresh: true,
    }
}

fn wanted(tags: &[&str]) -> Requirements {
    Requirements {
        role: "testing".into(),
        tags: tags.iter().map(|t| (*t).to_owned()).collect(),
        ..Requirements::default()
    }
}

fn names(wanted: &Requirements, agents: &[CandidateAgent]) -> Option<String> {
    best(wanted, agents).map(|at| agents[at].name.clone())
}

#[test]
fn the_rules_come_one_after_the_other() {
    let qa = || agent("Ann", "testing-specialist", &["qa", "rust"]);
    let check = |change: fn(&mut CandidateAgent), expected| {
        let mut candidate = qa();
        change(&mut candidate);
        assert_eq!(judge(&wanted(&["qa"]), &candidate).err(), expected);
    };
    check(|_| {}, None);
    check(|a| a.roles = vec!["fixing".into()], Some(Ineligibility::Role));
    check(|a| a.roles.clear(), Some(Ineligibility::TooEarly));
    check(|a| a.skills.clear(), Some(Ineligibility::Skills));
    check(|a| a.fresh = false, Some(Ineligibility::Silent));
    check(|a| a.open_claims = 1, Some(Ineligibility::Full));
    let other = Requirements { meant_for: Some("Bob".into()), ..wanted(&[]) };
    assert_eq!(judge(&other, &qa()), Err(Ineligibility::MeantForAnother));
}

#[test]
fn skills_then_load_then_rest_then_the_name_decide() {
    let request = wanted(&["qa", "rust"]);
    let two = agent("Zoe", "testing", &["qa", "rust"]);
    let one = agent("Ann", "testing", &["qa"]);
    assert_eq!(names(&request, &[one.clone(), two.clone()]).as_deref(), Some("Zoe"));
    let busy = CandidateAgent { name: "Abe".into(), max_tasks: 3, open_claims: 1, ..two.clone() };
    assert_eq!(names(&request, &[busy, two.clone()]).as_deref(), Some("Zoe"));
    let used = CandidateAgent { name: "Abe".into(), last_used: 7, ..two.clone() };
    assert_eq!(names(&request, &[used, two.clone()]).as_deref(), Some("Zoe"));
    let same = CandidateAgent { name: "Abe".into(), ..two.clone() };
    assert_eq!(names(&request, &[two, same]).as_deref(), Some("Abe"));
}

#[test]
fn who_failed_is_asked_last_but_asked_when_alone() {
    let request = Requirements { failed_by: vec!["ann".into()], ..wanted(&["qa", "rust"]) };
    let ann = agent("Ann", "testing", &["qa", "rust"]);
    let bob = agent("Bob", "testing", &["qa"]);
    assert_eq!(names(&request, &[ann.clone(), bob]).as_deref(), Some("Bob"));
    assert_eq!(names(&request, &[ann]).as_deref(), Some("Ann"));
}

#[test]
fn a_generalist_comes_when_nobody_else_did() {
    let early = wanted(&["qa"]);
    let late = Requirements { fallback: true, ..early.clone() };
    let all = [agent("Gen", "", &[]), agent("Tess", "testing", &["qa"])];
    assert_eq!(names(&early, &all[..1]), None);
    assert_eq!(names(&late, &all[..1]).as_deref(), Some("Gen"));
    assert_eq!(names(&late, &all).as_deref(), Some("Tess"), "a specialist is better whatever the time");
}

#[test]
fn the_message_is_the_stored_one_or_follows_from_the_context() {
    let mut task = Task::default();
    assert_eq!(message_kind(&task), Kind::TaskAssignment);
    task.agent_context.insert("work_completed".into(), json!("x"));
    assert_eq!(message_kind(&task), Kind::TaskHandoff);
    task.pending_type = Some("fix_complete".into());
    assert_eq!(message_kind(&task), Kind::FixComplete);
}

#[test]
fn attempts_add_up_and_opening_again_gives_as_many_more() {
    let (mut task, policy) = (Task::default(), Policy { max_attempts: 2, ..Policy::default() });
    for by in ["Ann", "Bob"] {
        assert!(!is_spent(&task, &policy));
        failed(&mut task, by, "exit 3", 0);
    }
    assert!(is_spent(&task, &policy));
    assert_eq!(failed_by(&task), ["Ann", "Bob"]);
    give_up(&mut task, "too often", &policy, 0);
    assert!(!is_spent(&task, &policy));
    record_sent(&mut task, Kind::FixComplete, "m1");
    assert_eq!(last_sent(&task), Some(("fix_complete", "m1")));
    (0..2).for_each(|_| failed(&mut task, "Ann", "exit 3", 0));
    assert!(is_spent(&task, &policy), "the message of an assignment keeps what is allowed");
    (0..30).for_each(|_| failed(&mut task, "Ann", "exit 3", 0));
    assert_eq!((task.attempts, attempts(&task).len()), (34, KEPT_ATTEMPTS));
}

#[test]
fn a_task_at_which_workers_die_one_after_the_other_is_spent_before_its_attempts_are() {
    let (mut task, policy) = (Task::default(), Policy::default());
    let die = |task: &mut Task| {
        failed(task, "Ann", "gone", 0);
        mark_death(task);
    };
    (0..MAX_DEATHS - 1).for_each(|_| die(&mut task));
    // A worker that lived to tell of its failure breaks the row.
    failed(&mut task, "Bob", "exit 3", 0);
    let spent = |task: &Task| is_spent(task, &Policy { max_attempts: 50, ..policy.clone() });
    (0..MAX_DEATHS - 1).for_each(|_| die(&mut task));
    assert!(!spent(&task));
    die(&mut task);
    assert!(spent(&task));
    assert!(!is_spent(&task, &Policy { max_attempts: 0, ..policy.clone() }), "0 is for never");
    assert_eq!(spent_reason(&task), "3 workers died at it, one after the other");
    give_up(&mut task, "too many died", &policy, 0);
    assert!(!spent(&task), "who opens it again gives it as many workers once more");
    record_sent(&mut task, Kind::TaskHandoff, "m1");
    forget_sent(&mut task);
    (0..MAX_DEATHS - 1).for_each(|_| die(&mut task));
    assert!(!spent(&task));
    die(&mut task);
    assert!(spent(&task));
}

#[test]
fn waiting_begins_once_and_a_human_is_told_once() {
    let (mut task, policy) =
        (Task { agent_role: Some("testing".into()), ..Task::default() }, Policy::default());
    queue(&mut task, "nobody", false, 1_000);
    queue(&mut task, "still nobody", true, 400_000);
    assert_eq!((queued_at(&task), was_notified(&task)), (Some(1_000), true));
    queue(&mut task, "nobody", false, 500_000);
    assert!(was_notified(&task));
    let fallback = |now| Requirements::of(&task, now, &policy).map(|wanted| wanted.fallback);
    assert_eq!(fallback(1_000 + FALLBACK_AFTER - 1), Some(false));
    assert_eq!(fallback(1_000 + FALLBACK_AFTER), Some(true));
}

#[test]
fn why_nobody_names_what_is_missing() {
    let request = wanted(&["qa"]);
    assert_eq!(no_candidate_reason(&request, &[]), "no agent with the role testing is registered");
    let full = CandidateAgent { open_claims: 1, ..agent("Ann", "testing", &["qa"]) };
    let silent = CandidateAgent { fresh: false, ..agent("Bob", "testing", &["qa"]) };
    let ended = CandidateAgent { max_tasks: 0, ..agent("Cy", "testing", &["qa"]) };
    assert_eq!(judge(&request, &ended), Err(Ineligibility::Closed));
    assert_eq!(
        no_candidate_reason(&request, &[full, silent, ended]),
        "3 with the role testing: 1 not heard of lately, 1 taking no tasks for now, 1 with as many tasks as allowed"
    );
}

fn candidates() -> impl Strategy<Value = Vec<CandidateAgent>> {
    let role = prop::sample::select(vec!["", "testing", "fixing"]);
    let skills = prop::collection::vec(prop::sample::select(vec!["qa", "rust", "web"]), 0..3);
    let one = (role, skills, 1..4i64, 0..4i64, 0..3i64, any::<bool>());
    prop::collection::vec(one, 0..12).prop_map(|all| {
        let made = |(at, (role, skills, max_tasks, open_claims, last_used, fresh)): (usize, _)| {
            let skills: Vec<&str> = skills;
            let base = agent(&format!("a{at}"), role, &skills);
            CandidateAgent { max_tasks, open_claims, last_used, fresh, ..base }
        };
        all.into_iter().enumerate().map(made).collect()
    })
}

proptest! {
    #[test]
    fn the_best_wins_whatever_the_order_and_never_beyond_its_limit(
        agents in candidates(), tags in prop::collection::vec(prop::sample::select(vec!["qa", "rust"]), 0..3),
        fallback in any::<bool>(), failed in prop::collection::vec("a[0-9]", 0..3), turn in 0..12usize,
    ) {
        let request = Requirements { fallback, failed_by: failed, ..wanted(&tags) };
        let chosen = names(&request, &agents);
        let mut turned = agents.clone();
        turned.rotate_left(turn.min(agents.len()));
        prop_assert_eq!(&names(&request, &turned), &chosen, "the order does not matter");
        let able: Vec<(Score, &str)> =
            agents.iter().filter_map(|a| Some((judge(&request, a).ok()?, a.name.as_str()))).collect();
        prop_assert_eq!(chosen.is_some(), !able.is_empty(), "somebody able is always chosen");
        if let Some(at) = best(&request, &agents) {
            let own = &agents[at];
            prop_assert!(own.fresh && own.open_claims < own.max_tasks);
            let score = judge(&request, own).expect("able");
            prop_assert!(able.iter().all(|(other, name)| (score, own.name.as_str()) <= (*other, *name)));
            prop_assert_eq!(&explain(&request, &agents)[0].agent, &own.name);
        }
        prop_assert_eq!(explain(&request, &agents).len(), agents.len(), "every agent has a reason");
    }
}

use super::*;

const NOW: Millis = 10_000_000;

pub(crate) fn session(identity: &str, machine: &str, process: &str, heartbeat_at: Millis) -> Session {
    Session {
        project_id: "p".into(),
        session_id: format!("s-{identity}-{process}"),
        identity: identity.into(),
        surface: "codex".into(),
        location: ProcessLocation { machine: machine.into(), process: process.into() },
        started_at: 0,
        heartbeat_at,
        last_verb: "start".into(),
        release: None,
        thread_id: "t".into(),
        inherited_from: None,
        picked_up_session_id: None,
        opened_by: None,
        stale_after: 0,
        working_copy: None,
        baton_id: None,
    }
}

fn check(open: &[Session], identity: &str, machine: &str, process: &str, force: bool, gone: bool) -> String {
    let location = ProcessLocation { machine: machine.into(), process: process.into() };
    let who = AdmissionRequest {
        identity,
        location: &location,
        now: NOW,
        limits: Limits::default(),
        force: force.then_some(ReleaseReason::Operator),
    };
    match admit(open, &who, |_| gone, |_| true) {
        Ok(Admission::Existing(session)) => format!("same {}", session.session_id),
        Ok(Admission::New(released)) => {
            released.iter().fold("new".to_owned(), |text, (_, reason)| format!("{text} {}", reason.as_str()))
        }
        Err(refusal) => refusal.code.to_owned(),
    }
}

#[test]
fn the_same_process_gets_its_session_back_without_regard_to_case() {
    let open = [session("Donna", "m", "1", NOW)];
    assert_eq!(check(&open, "donna", "m", "1", false, false), "same s-Donna-1");
}

#[test]
fn a_stale_session_of_the_same_process_is_revived() {
    assert_eq!(check(&[session("Donna", "m", "1", 0)], "Donna", "m", "1", false, false), "same s-Donna-1");
}

#[test]
fn a_process_that_is_gone_gives_way_to_its_identity() {
    let open = [session("Donna", "m", "1", NOW)];
    assert_eq!(check(&open, "Donna", "m", "2", false, true), "new reconnect");
    assert_eq!(check(&open, "Donna", "m", "2", false, false), "identity_conflict");
    assert_eq!(check(&open, "Donna", "other", "1", false, true), "identity_conflict");
}

#[test]
fn an_unknown_process_is_never_the_same() {
    assert_eq!(check(&[session("Donna", "m", "", NOW)], "Donna", "m", "", false, true), "identity_conflict");
    assert_eq!(check(&[session("Donna", "", "1", NOW)], "Donna", "", "1", false, true), "identity_conflict");
}

#[test]
fn freshness_includes_its_edge() {
    let limits = Limits::default();
    let open = [session("Donna", "m", "1", NOW - limits.stale_after)];
    assert_eq!(check(&open, "Donna", "x", "2", false, false), "identity_conflict");
    let open = [session("Donna", "m", "1", NOW - limits.stale_after - 1)];
    assert_eq!(check(&open, "Donna", "x", "2", false, false), "new stale");
    assert!(session("A", "m", "1", NOW - limits.live_after).is_live(NOW, limits));
    assert!(!session("A", "m", "1", NOW - limits.live_after - 1).is_live(NOW, limits));
}

#[test]
fn what_a_sweep_marks_is_what_is_not_fresh() {
    let limits = Limits::default();
    for age in [0, limits.stale_after - 1, limits.stale_after, limits.stale_after + 1] {
        let session = session("A", "m", "1", NOW - age);
        assert_eq!(session.heartbeat_at < limits.silent_before(NOW), !session.is_fresh(NOW, limits), "{age}");
    }
}

#[test]
fn force_releases_the_holder() {
    let open = [session("Donna", "m", "1", NOW)];
    assert_eq!(check(&open, "Donna", "x", "2", true, false), "new operator");
}

#[test]
fn bots_never_conflict_and_never_share() {
    let open = [session("Bot", "m", "1", NOW)];
    assert_eq!(check(&open, "bot", "m", "1", false, false), "new");
}

#[test]
fn others_and_released_sessions_do_not_count() {
    let mut released = session("Donna", "m", "1", NOW);
    released.release =
        Some(Release { at: 1, reason: ReleaseReason::Wrapped, by: "Donna".into(), successor: None });
    assert_eq!(
        check(&[released.clone(), session("Lola", "m", "1", NOW)], "Donna", "m", "1", false, false),
        "new"
    );
    assert!(!released.is_fresh(NOW, Limits::default()));
    let refusal = session_released_refusal(&released, None, NOW);
    assert_eq!((refusal.code, refusal.details["reason"].as_str()), ("session_released", Some("wrapped")));
    let hint = |left| session_released_refusal(&released, Some(left), NOW).hint;
    assert!(hint(LeftBaton::Waiting).contains("`baton pickup` continues"));
    for left in [LeftBaton::Continued, LeftBaton::Finished, LeftBaton::Withdrawn] {
        assert!(!hint(left).contains("waits as a baton"), "{left:?}");
    }
}

#[test]
fn every_reason_survives_being_written() {
    for reason in ReleaseReason::ALL {
        assert_eq!(ReleaseReason::from_word(reason.as_str()), Some(reason));
    }
    assert_eq!(ReleaseReason::from_word("whim"), None);
}

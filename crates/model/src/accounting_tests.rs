use super::*;

const NOW: Millis = 100 * 86_400_000;
const NONE: [RemarkKind; 0] = [];

fn kinds(remarks: &[Remark]) -> Vec<RemarkKind> {
    remarks.iter().map(|remark| remark.kind).collect()
}

fn is_low(wraps: usize, sessions: usize) -> bool {
    let outcomes = Outcomes { sessions, wraps };
    let reminded = kinds(&reminders(&ReminderFacts { now: NOW, outcomes, ..ReminderFacts::default() }));
    assert_eq!(reminded, NONE, "the rate is for an audit, and no reminder");
    outcomes.is_low()
}

#[test]
fn nothing_is_reminded_of_where_nothing_waits() {
    assert_eq!(reminders(&ReminderFacts::default()), []);
}

#[test]
fn a_wrap_rate_is_low_below_its_edge_only() {
    assert!(!is_low(3, 5));
    assert!(!is_low(60, 100));
    assert!(is_low(59, 100));
    assert!(is_low(0, 1));
    assert!(!is_low(0, 0), "no session is over");
    assert!(!is_low(1, 1));
}

fn late(id: &str) -> OverdueAck {
    let (from, to) = ("Lola".to_owned(), "Ben".to_owned());
    OverdueAck { message_id: id.to_owned(), from, to, subject: Some("review it".into()) }
}

#[test]
fn every_reminder_counts_what_it_is_about() {
    let facts = ReminderFacts {
        now: NOW,
        open_tasks: 2,
        last_wrap: Some((NOW - 7_200_000, "Lola".into())),
        outcomes: Outcomes { sessions: 4, wraps: 1 },
        silent: vec![SilentSession {
            identity: "Donna".into(),
            session_id: "01a22088-e73a-7154".into(),
            since: NOW - 3_600_000,
        }],
        overdue: ["m1", "m2", "m3"].map(late).into(),
    };
    let messages: Vec<String> = reminders(&facts).into_iter().map(|remark| remark.message).collect();
    let wanted = [
        "2 open tasks",
        "last wrap 2h ago by Lola",
        "1 session went silent without a wrap: Donna (01a22088-e73a), 1h ago; `baton sessions show 01a22088-e73a` tells what was done in it, \
         `baton reassign 01a22088-e73a --to NAME` gives it to somebody",
        "3 overdue acknowledgements: Ben has not acknowledged \"review it\" of Lola (Ben does so with `baton mail ack m1 --as Ben`); \
         Ben has not acknowledged \"review it\" of Lola (Ben does so with `baton mail ack m2 --as Ben`); 1 more: `baton audit` lists them",
    ];
    assert_eq!(messages, wanted);
}

#[test]
fn what_a_role_has_not_acknowledged_is_for_whoever_takes_it() {
    let overdue = vec![OverdueAck { to: "role:tester".into(), ..late("m1") }];
    let message =
        reminders(&ReminderFacts { now: NOW, overdue, ..ReminderFacts::default() }).remove(0).message;
    assert!(message.ends_with("(whoever takes it does so with `baton mail ack m1`)"), "{message}");
}

#[test]
fn outcomes_tell_wrapped_from_lost() {
    use ReleaseReason::{Ended, Operator, PreemptedByPickup, Reconnect, Stale, Wrapped};
    let released =
        [(Wrapped, 3), (Ended, 1), (Reconnect, 1), (Stale, 2), (PreemptedByPickup, 1), (Operator, 1)];
    let limits = Limits::default();
    let open = |started_at, heartbeat_at| Session {
        started_at,
        ..crate::session::tests::session("A", "m", "1", heartbeat_at)
    };
    let silent = NOW - limits.stale_after - 1;
    let sessions =
        [open(NOW, NOW), open(silent, silent), open(NOW - WINDOW, silent), open(NOW - WINDOW - 1, silent)];
    let outcomes = Outcomes::count(&released, &sessions, NOW - WINDOW, NOW, limits);
    assert_eq!(outcomes, Outcomes { sessions: 11, wraps: 3 });
    assert_eq!(outcomes.percent(), Some(27));
}

#[test]
fn what_is_unwrapped_is_silent_or_was_replaced() {
    let limits = Limits::default();
    let mut session = crate::session::tests::session("A", "m", "1", NOW);
    assert_eq!(unwrapped(&session, NOW + limits.stale_after, limits), None);
    assert_eq!(unwrapped(&session, NOW + limits.stale_after + 1, limits), Some(UnwrappedReason::Silent));
    for (reason, expected) in [
        (ReleaseReason::Reconnect, Some(UnwrappedReason::Reconnect)),
        (ReleaseReason::Stale, Some(UnwrappedReason::Stale)),
        (ReleaseReason::Wrapped, None),
        (ReleaseReason::Ended, None),
        (ReleaseReason::PreemptedByPickup, None),
    ] {
        session.release = Some(crate::session::Release { at: NOW, reason, by: "B".into(), successor: None });
        assert_eq!(unwrapped(&session, NOW, limits), expected);
    }
}

fn delta(kind: Kind, body: &str) -> Delta {
    Delta {
        project_id: "p".into(),
        seq: 1,
        delta_id: "d".into(),
        kind,
        session_id: None,
        identity: "A".into(),
        created_at: 0,
        inherited_from: None,
        thread_id: None,
        body: body.into(),
    }
}

#[test]
fn what_a_session_did_is_read_from_its_deltas() {
    let deltas = [
        delta(Kind::Start, "{}"),
        delta(Kind::Checkpoint, r#"{"summary":"s","state":null}"#),
        delta(Kind::Checkpoint, r#"{"state":{"a":1}}"#),
        delta(Kind::Note, r#"{"text":"n"}"#),
        delta(Kind::Note, r#"{"text":"wrap of a released session","late_packet":"{}"}"#),
        delta(Kind::Decision, r#"{"what":"w"}"#),
        delta(Kind::Other, r#"{"task_id":"p-1"}"#),
        delta(Kind::Other, r#"{"task_id":"p-1"}"#),
        delta(Kind::Other, r#"{"summary":"registration changed"}"#),
    ];
    let wanted = SessionActivity {
        began: true,
        states: 1,
        checkpoints: 2,
        notes: 1,
        decisions: 1,
        tasks: vec!["p-1".into()],
    };
    assert_eq!(SessionActivity::read(&deltas), wanted);
}

fn check(packet: &str, did: &SessionActivity, focus: &[&str], labels: &[&str]) -> Vec<RemarkKind> {
    let packet = ValidatedPacket::parse(packet.to_owned()).expect("packet");
    let texts = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let (focus, labels) = (texts(focus), texts(labels));
    kinds(&warnings(&WrapFacts { packet: &packet, did, focus: &focus, labels: &labels }))
}

const FILES: &str = r#"{"summary":"s","files_modified":["a.rs"]}"#;

#[test]
fn work_without_a_word_is_warned_of() {
    let nothing = SessionActivity::default();
    assert_eq!(check(FILES, &nothing, &[], &[]), [RemarkKind::NoAccounting]);
    assert_eq!(check(r#"{"summary":"s"}"#, &nothing, &[], &[]), NONE, "nothing changed");
    let saved = SessionActivity { states: 1, checkpoints: 1, ..SessionActivity::default() };
    assert_eq!(check(r#"{"summary":"s"}"#, &saved, &[], &[]), [RemarkKind::NoAccounting]);
}

#[test]
fn any_word_about_the_work_is_enough() {
    for did in [
        SessionActivity { notes: 1, ..SessionActivity::default() },
        SessionActivity { decisions: 1, ..SessionActivity::default() },
        SessionActivity { tasks: vec!["p-1".into()], ..SessionActivity::default() },
    ] {
        assert_eq!(check(FILES, &did, &[], &[]), NONE, "{did:?}");
    }
    for field in ["work_completed", "next_steps", "open_loops", "pending_tasks", "decisions"] {
        let packet = format!(r#"{{"summary":"s","files_modified":["a.rs"],"{field}":["x"]}}"#);
        assert_eq!(check(&packet, &SessionActivity::default(), &[], &[]), NONE, "{field}");
    }
}

#[test]
fn a_baton_s_focus_is_not_to_be_forgotten() {
    let nothing = SessionActivity::default();
    let check = |packet: &str, labels: &[&str]| check(packet, &nothing, &["lexer", "Cart"], labels);
    assert_eq!(check(r#"{"summary":"s"}"#, &[]), [RemarkKind::FocusUntouched]);
    assert_eq!(check(r#"{"summary":"s"}"#, &["other"]), [RemarkKind::FocusUntouched]);
    assert_eq!(check(r#"{"summary":"s"}"#, &["LEXER"]), NONE);
    assert_eq!(check(r#"{"summary":"s","focus":["cart"]}"#, &[]), NONE);
    assert_eq!(check(r#"{"summary":"the cart adds up"}"#, &[]), NONE);
    assert_eq!(
        check(r#"{"summary":"cartography"}"#, &[]),
        [RemarkKind::FocusUntouched],
        "not a word of its own"
    );
}

#[test]
fn silent_sessions_that_are_not_named_are_counted() {
    let silent = |nth: usize| SilentSession {
        identity: format!("A{nth}"),
        session_id: format!("01a22088-e7{nth}a-7154"),
        since: NOW,
    };
    for (count, words) in [(3, None), (4, Some("1 more")), (5, Some("2 more"))] {
        let facts = ReminderFacts {
            now: NOW,
            open_tasks: 0,
            last_wrap: None,
            outcomes: Outcomes::default(),
            silent: (0..count).map(silent).collect(),
            overdue: Vec::new(),
        };
        let message = reminders(&facts).remove(0).message;
        assert!(message.starts_with(&format!("{count} sessions went silent")), "{message}");
        assert_eq!(message.contains(" more: `baton sessions`"), words.is_some(), "{message}");
        assert!(words.is_none_or(|words| message.contains(words)), "{message}");
    }
}

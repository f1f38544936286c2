//! Rules of messages.

use super::*;

#[test]
fn types_are_read_in_any_case_and_spelling() {
    assert_eq!(signal_type("status_update"), Ok("StatusUpdate"));
    assert_eq!(signal_type("BLOCKER"), Ok("Blocker"));
    assert_eq!(signal_type("gossip").expect_err("unknown").code, "signal_type_unknown");
}

#[test]
fn a_message_waits_until_it_is_delivered_recalled_or_expired() {
    let message = Message {
        project_id: "p".into(),
        message_id: "m".into(),
        seq: 1,
        kind: "Question".into(),
        from_identity: "A".into(),
        to_identity: "Donna".into(),
        subject: "s".into(),
        expires_at: Some(10),
        ..Message::default()
    };
    assert!(message.is_pending_for("donna", 10));
    assert!(!message.is_pending_for("donna", 11));
    assert!(!message.is_pending_for("Lola", 0));
    assert!(!Message { delivered_at: Some(1), ..message.clone() }.is_pending_for("Donna", 0));
    assert!(!Message { recalled_at: Some(1), ..message }.is_pending_for("Donna", 0));
}

#[test]
fn an_acknowledgement_is_late_beyond_its_edge_only() {
    let message = Message { kind: "Question".into(), ack_by: Some(10), ..Message::default() };
    assert!(!message.is_overdue(10));
    assert!(message.is_overdue(11));
    assert!(!Message { ack_by: None, ..message.clone() }.is_overdue(11));
    assert!(!Message { acked_at: Some(11), ..message.clone() }.is_overdue(12));
    assert!(!Message { recalled_at: Some(5), ..message.clone() }.is_overdue(11));
    let expires = Message { expires_at: Some(20), ..message };
    assert!(expires.is_overdue(20) && !expires.is_overdue(21));
}

#[test]
fn only_what_asks_for_an_answer_is_acknowledged() {
    for kind in SIGNAL_TYPES {
        let asks = check_to_be_acknowledged(kind).is_ok();
        assert_eq!(asks, TO_BE_ACKNOWLEDGED.contains(&kind), "{kind}");
    }
    let recalled = Message { kind: "Question".into(), recalled_at: Some(1), ..Message::default() };
    assert_eq!(recalled.check_ack().expect_err("recalled").code, "message_recalled");
}

#[test]
fn every_type_has_its_usual_life() {
    let days = SIGNAL_TYPES.map(|kind| usual_life(kind).map(|life| life / DAY));
    assert_eq!(days, [None, Some(7), Some(7), Some(30), Some(30), Some(30), None]);
}

fn message(kind: &str, seq: i64) -> Message {
    Message {
        kind: kind.into(),
        seq,
        message_id: format!("m{seq}"),
        from_identity: "Lola".into(),
        to_identity: "Donna".into(),
        ..Message::default()
    }
}

#[test]
fn an_address_is_a_name_or_a_role() {
    assert_eq!(Address::parse("Donna"), Ok(Address::Identity("Donna".into())));
    assert_eq!(Address::parse("Role:Testing-Specialist"), Ok(Address::Role("testing".into())));
    assert_eq!(Address::parse("role:testing").map(|a| a.display_name()).as_deref(), Ok("role:testing"));
    for bad in ["", "a b", "role:", "role:a\nb", "ä:b"] {
        assert!(Address::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn who_has_a_part_in_a_message_is_told_from_who_has_none() {
    let roles = ["testing-specialist".to_owned()];
    let plain = message(LETTER, 1);
    assert_eq!(plain.part_of("DONNA", &[]), Some(Participation::Receiver));
    assert_eq!(plain.part_of("lola", &[]), Some(Participation::Sender));
    assert_eq!(plain.part_of("Rex", &roles), None);
    let to_role =
        Message { to_identity: "role:testing".into(), to_role: Some("testing".into()), ..plain.clone() };
    assert_eq!(to_role.part_of("Rex", &roles), Some(Participation::Role));
    assert_eq!(to_role.part_of("Rex", &[]), None);
    let taken = Message { to_identity: "Tess".into(), ..to_role };
    assert_eq!(taken.part_of("Rex", &roles), None, "somebody took it");
    let copy = Message { to_project_id: Some("q".into()), ..plain.clone() };
    assert_eq!(copy.part_of("Donna", &[]), None, "that is a Donna of another project");
    let far = Message { from_project_id: Some("q".into()), ..plain };
    assert_eq!(far.part_of("Lola", &[]), None, "that is a Lola of another project");
}

#[test]
fn hand_offs_come_before_older_mail_and_what_is_important_before_the_rest() {
    let urgent = Message { importance: Urgency::Critical, ..message(LETTER, 3) };
    let mut inbox = [
        message(LETTER, 1),
        message("Question", 2),
        urgent,
        message("task_handoff", 4),
        message("fix_complete", 5),
    ];
    in_order(&mut inbox);
    assert_eq!(inbox.map(|m| m.seq), [4, 5, 3, 1, 2]);
}

#[test]
fn a_message_waits_until_it_is_read_and_acknowledged() {
    let asks = Message { ack_by: Some(10), ..message(LETTER, 1) };
    assert!(asks.is_waiting(0));
    let read = Message { delivered_at: Some(1), ..asks };
    assert!(read.is_waiting(11), "a late acknowledgement is still waited for");
    assert!(!Message { acked_at: Some(2), ..read.clone() }.is_waiting(3));
    assert!(!Message { recalled_at: Some(2), ..read.clone() }.is_waiting(3));
    assert!(!Message { ack_by: None, ..read.clone() }.is_waiting(3));
    assert!(!Message { expires_at: Some(2), ..read }.is_waiting(3));
}

#[test]
fn an_unknown_type_of_mail_is_refused_with_those_that_are_near() {
    assert_eq!(mail_type("MESSAGE"), Ok(LETTER));
    assert_eq!(mail_type("task-handoff"), Ok("task_handoff"));
    assert_eq!(mail_type("question"), Ok("Question"));
    assert_eq!(mail_type("task_handof").expect_err("unknown").details["near"][0], "task_handoff");
}

#[test]
fn a_search_finds_all_words_anywhere_but_not_in_what_is_encrypted() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let found =
        Message { subject: "Cart".into(), body: "adds up\nrounds Ärger".into(), ..message(LETTER, 1) };
    assert!(matches(&found, &words("cart ärger lola")));
    assert!(!matches(&found, &words("cart tax")));
    assert_eq!(excerpt(&found.body, &words("ärger")), "rounds Ärger");
    let sealed = Message { readers: Some(Vec::new()), ..found };
    assert!(!matches(&sealed, &words("rounds")) && matches(&sealed, &words("cart")));
}

#[test]
fn a_hand_off_message_is_shown_as_what_it_says_and_an_encrypted_body_not_at_all() {
    let typed = Message { body: "{\"task_id\":\"t\"}".into(), ..message("task_handoff", 1) };
    assert_eq!(typed.to_json()["content"]["task_id"], "t");
    assert_eq!(typed.to_json().get("body"), None);
    let sealed = Message { body: "cipher".into(), readers: Some(vec!["Donna".into()]), ..message(LETTER, 1) };
    assert!(!sealed.to_json().to_string().contains("cipher"));
    assert_eq!(sealed.to_json()["readers"], json!(["Donna"]));
}

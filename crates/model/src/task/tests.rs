use super::*;

fn check(change: impl FnOnce(&mut Task)) -> Result<(), Refusal> {
    let mut task = Task {
        title: "t".into(),
        status: "open".into(),
        issue_type: "task".into(),
        priority: 2,
        ..Task::default()
    };
    change(&mut task);
    task.check(None)
}

#[test]
fn a_task_is_refused_before_it_is_written() {
    assert!(check(|_| {}).is_ok());
    assert!(check(|t| t.title = "ä".repeat(250)).is_ok());
    assert!(check(|t| t.title = "ä".repeat(251)).is_err(), "bytes count, not letters");
    assert!(check(|t| t.title = " ".into()).is_err());
    assert!(check(|t| t.title = "a\nb".into()).is_err());
    assert!(check(|t| t.priority = 5).is_err());
    assert!(check(|t| t.status = "shut".into()).is_err());
    assert!(check(|t| t.status = "closed".into()).is_err());
    assert!(check(|t| t.closed_at = Some(1)).is_err());
    assert!(check(|t| t.issue_type = "a b".into()).is_err());
}

#[test]
fn what_an_import_brought_along_is_let_be_until_it_is_changed() {
    let old = Task { title: "x".repeat(600), status: "someday".into(), priority: 9, ..Task::default() };
    assert!(Task { description: "changed".into(), ..old.clone() }.check(Some(&old)).is_ok());
    let worse = Task { priority: 10, ..old.clone() };
    assert!(worse.check(Some(&old)).is_err());
}

#[test]
fn a_context_that_is_too_large_is_refused_with_its_size() {
    let fill = |n: usize| {
        serde_json::from_value::<Map<String, Value>>(json!({ "k": "x".repeat(n) })).expect("object")
    };
    assert!(check(|t| t.agent_context = fill(MAX_CONTEXT - 8)).is_ok());
    let refusal = check(|t| t.handoff_instructions = fill(MAX_CONTEXT - 7)).expect_err("a byte too many");
    assert_eq!((refusal.code, refusal.details["bytes"].as_u64()), ("context_too_large", Some(16_385)));
}

#[test]
fn what_stands_for_an_encrypted_context_may_be_longer_before_it_is_encrypted_only() {
    let text = format!("-----BEGIN AGE ENCRYPTED FILE-----{}", "x".repeat(24_000));
    let task = |key: &str, text: &str| {
        let agent_context = [(key.to_owned(), json!(text))].into_iter().collect();
        Task { title: "t".into(), status: "open".into(), agent_context, ..Task::default() }
    };
    let stood_for = task(sealed::PLACEHOLDER, &text);
    assert!(stood_for.check_context_sizes().is_ok());
    let longer = task(sealed::PLACEHOLDER, &text.repeat(3)).check_context_sizes();
    assert_eq!(longer.map_err(|refusal| refusal.details["limit"].as_u64()), Err(Some(65_536)));
    assert!(check_context("agent_context", &stood_for.agent_context).is_err(), "such a one is not stored");
    assert!(task(sealed::PLACEHOLDER, &text[1..]).check_context_sizes().is_err(), "it is not encrypted");
    assert!(task("k", &text).check_context_sizes().is_err());
}

#[test]
fn unknown_fields_are_shown_but_never_over_known_ones() {
    let mut task = Task { title: "t".into(), ..Task::default() };
    task.extra = serde_json::from_str(r#"{"title":"no","spec_id":"yes"}"#).expect("json");
    assert_eq!(
        (task.to_json()["title"].as_str(), task.to_json()["spec_id"].as_str()),
        (Some("t"), Some("yes"))
    );
}

#[test]
fn a_hash_grows_with_the_number_of_tasks() {
    let lengths: Vec<usize> =
        [0, 900, 1_000, 5_800, 6_000, 100_000, i64::MAX].into_iter().map(hash_length).collect();
    assert_eq!(lengths, [4, 4, 5, 5, 6, 7, 8]);
}

#[test]
fn ids_are_taken_as_trackers_write_them() {
    for good in ["shop-a3f", "my-shop-a3f.1.2", ".factory-abc123", "bd-1"] {
        assert!(check_id(good).is_ok(), "{good}");
    }
    for bad in ["", "a b", "-.-", "a\n", &"x".repeat(129)] {
        assert!(check_id(bad).is_err(), "{bad}");
    }
    assert_eq!(implied_parent("a-1.2.3"), Some("a-1.2"));
    assert_eq!(implied_parent(".factory-abc123"), None);
    assert_eq!((depth("a-1"), depth("a-1.2.3.4")), (0, 3));
}

#[test]
fn an_id_cannot_be_taken_for_an_option_or_a_path() {
    for good in ["shop-a3f", "shop-a3f.1", ".factory-abc123", "a", "my-long-prefix-9_x"] {
        assert!(check_id(good).is_ok(), "{good}");
    }
    let long = "a".repeat(10_240);
    for bad in ["--help", "-x", "", "..", "a..b", "a/b", "a b", "a\u{7}", "a\n", "ä-1", "-", "a-1.", &long] {
        let refusal = check_id(bad).expect_err(bad);
        assert!(refusal.message.len() < 400, "an id of any length is named in short");
    }
}

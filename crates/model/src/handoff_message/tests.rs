use proptest::prelude::*;

use super::build::{PreviousTask, TaskFacts, build, required};
use super::*;
use crate::task::bounded::budget_of;

const ENVELOPE: Envelope<'_> =
    Envelope { from: "orchestrator-BlueLake", to: "testing-specialist-RedStone", at: "2025-12-29T10:00:00Z" };

/// The message that the format was first written down with.
fn seed() -> Value {
    json!({
        "version": "1.0.0", "timestamp": "2025-12-29T10:00:00Z", "type": "task_handoff",
        "from_agent": "orchestrator-BlueLake", "to_agent": "testing-specialist-RedStone",
        "task_id": ".factory-abc123", "subject": "Handoff: Task 1.1", "handoff_type": "implementation_to_testing",
        "context": {
            "work_completed": "Operating mode detection implemented in orchestrator.md",
            "files_modified": ["droids/orchestrator.md:465-513"],
            "implementation_notes": "MCP client import added at top, graceful fallback working",
            "estimated_test_duration": "15 minutes", "test_command": "./test-operating-mode.sh", "potential_issues": [],
        },
        "previous_attempts": 0, "urgency": "normal",
    })
}

#[track_caller]
fn unfit(change: impl Fn(&mut Value), path: &str) {
    let mut message = seed();
    change(&mut message);
    let refusal = check(Kind::TaskHandoff, &message, &ENVELOPE).expect_err(path);
    assert_eq!((refusal.code, &refusal.details["path"]), ("content_invalid", &json!(path)), "{refusal:?}");
    assert!(path.is_empty() || refusal.message.contains(&format!("`{path}`")), "{}", refusal.message);
}

#[test]
fn the_first_message_fits() {
    assert_eq!(check(Kind::TaskHandoff, &seed(), &ENVELOPE), Ok(()));
}

#[test]
fn a_message_that_does_not_fit_is_refused_with_the_path_of_the_fault() {
    unfit(|m| m["context"]["files_modified"] = json!(["a", 7]), "context.files_modified[1]");
    unfit(|m| m["context"]["known_issues"] = json!("none"), "context.known_issues");
    unfit(|m| m["urgency"] = json!("soon"), "urgency");
    unfit(|m| m["previous_attempts"] = json!(-1), "previous_attempts");
    unfit(|m| m["priority"] = json!(1), "priority");
    unfit(|m| _ = m["context"].as_object_mut().map(|c| c.remove("work_completed")), "context");
    unfit(|m| m["type"] = json!("fix_complete"), "type");
    unfit(|m| m["version"] = json!("2.0.0"), "version");
    unfit(|m| m["timestamp"] = json!("yesterday"), "timestamp");
    unfit(|m| m["from_agent"] = json!("Mallory"), "from_agent");
    unfit(|m| m["to_agent"] = json!("role:testing"), "to_agent");
    unfit(|m| m["task_id"] = json!(""), "task_id");
    unfit(|m| m["subject"] = json!("a\nb"), "subject");
    unfit(|m| m["handoff_type"] = json!("somewhere"), "handoff_type");
    unfit(|m| *m = json!([]), "");
}

#[test]
fn what_the_sender_adds_to_the_context_is_kept() {
    let mut message = seed();
    message["context"]["branch"] = json!("mode");
    assert_eq!(check(Kind::TaskHandoff, &message, &ENVELOPE), Ok(()));
    let read: Message<HandoffTag, Handoff> = serde_json::from_value(message).expect("fits");
    assert_eq!(read.context.extra["branch"], "mode");
}

#[test]
fn an_envelope_completes_a_message_and_changes_nothing_that_it_says() {
    let Value::Object(whole) = seed() else { panic!("an object") };
    assert_eq!(complete(Kind::TaskHandoff, whole.clone(), &ENVELOPE), whole);
    let mut bare = whole.clone();
    for field in ["version", "timestamp", "type", "from_agent", "to_agent", "subject"] {
        bare.shift_remove(field);
    }
    bare.insert("task_title".into(), json!("Detect the mode"));
    let message = Value::Object(complete(Kind::TaskHandoff, bare, &ENVELOPE));
    assert_eq!(message["subject"], "Handoff: Detect the mode");
    assert_eq!(check(Kind::TaskHandoff, &message, &ENVELOPE), Ok(()));
}

#[test]
fn a_role_is_named_in_any_of_its_spellings() {
    let mut message = seed();
    message["to_agent"] = json!("role:testing-specialist");
    assert_eq!(check(Kind::TaskHandoff, &message, &Envelope { to: "role:testing", ..ENVELOPE }), Ok(()));
}

#[test]
fn every_type_has_a_schema_of_its_own() {
    for kind in Kind::ALL {
        let schema = json!(kind.schema());
        assert!(schema.to_string().contains(kind.as_str()), "{schema:#}");
        assert_eq!(schema["additionalProperties"], json!(false), "{kind:?}");
        assert_eq!(Kind::from_word(kind.as_str()), Some(kind));
    }
    let refusal = Kind::parse("task_handof").expect_err("unknown");
    assert_eq!(refusal.details["near"][0], "task_handoff");
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

fn work<'a>(role: &'a str, agent_context: Value, instructions: Value) -> TaskFacts<'a> {
    TaskFacts {
        task_id: ".factory-abc123",
        title: "Task 1.1: Detect operating mode",
        role: Some(role),
        agent_context: object(agent_context),
        handoff_instructions: object(instructions),
        priority: 2,
        ..TaskFacts::default()
    }
}

#[test]
fn a_task_says_what_its_message_says() {
    let tags = ["python".to_owned()];
    let context = json!({ "work_completed": "mode detection", "files_modified": ["a.md:1-9"], "attempts": 2, "branch": "m" });
    let work = TaskFacts {
        specialist_tags: &tags,
        estimated_duration: Some(30),
        attempts: 2,
        ..work("testing-specialist", context, json!({ "test_command": "./t.sh" }))
    };
    let message = build(Kind::TaskHandoff, &work, &ENVELOPE, budget_of(work.role)).expect("fits");
    assert_eq!(message["handoff_type"], "implementation_to_testing");
    assert_eq!(message["subject"], "Handoff: Task 1.1: Detect operating mode");
    assert_eq!((&message["previous_attempts"], &message["urgency"]), (&json!(2), &json!("normal")));
    let expected = json!({
        "work_completed": "mode detection", "role": "testing", "test_command": "./t.sh", "files_modified": ["a.md:1-9"],
        "required_skills": ["python"], "estimated_duration_minutes": 30, "branch": "m",
    });
    assert_eq!(message["context"], expected);
}

#[test]
fn a_message_says_what_is_to_be_built_and_whose_work_it_goes_on_with() {
    for (kind, role) in [
        (Kind::TaskHandoff, "testing"),
        (Kind::TestFailureReport, "fixing"),
        (Kind::FixComplete, "testing"),
        (Kind::VerificationRequest, "verification"),
    ] {
        let work = TaskFacts {
            description: "Detect Spec-Fed vs Direct.",
            previous_agent: Some("impl-1"),
            ..work(role, json!({ "work_completed": "done", "what_to_build": 7 }), json!({}))
        };
        let context = build(kind, &work, &ENVELOPE, budget_of(Some(role))).expect("fits")["context"].clone();
        assert_eq!(context["what_to_build"], "Detect Spec-Fed vs Direct.", "{context:#}");
        assert_eq!(context["previous_agent"], "impl-1", "{context:#}");
    }
    let unfit = work("testing", json!({ "what_to_build": 7, "previous_agent": ["a"] }), json!({}));
    assert!(build(Kind::TaskHandoff, &unfit, &ENVELOPE, 1_024).is_ok(), "what an agent called so is a text");
}

#[test]
fn every_type_says_from_which_role_to_which() {
    let way = |kind, role| {
        let message = build(kind, &work(role, json!({}), json!({})), &ENVELOPE, 512).expect("fits");
        message["handoff_type"].as_str().map(str::to_owned)
    };
    assert_eq!(way(Kind::TaskAssignment, "implementation").as_deref(), Some("new_to_implementation"));
    assert_eq!(way(Kind::TestFailureReport, "fixing").as_deref(), Some("testing_to_fixing"));
    assert_eq!(way(Kind::FixComplete, "testing").as_deref(), Some("fixing_to_testing"));
    assert_eq!(way(Kind::VerificationRequest, "verification").as_deref(), Some("testing_to_verification"));
    assert_eq!(way(Kind::TaskHandoff, "our own role!").as_deref(), Some("implementation_to_our-own-role-"));
}

#[test]
fn what_does_not_fit_is_cut_and_named() {
    let context = json!({
        "failure_details": "rounding is off", "reproduction_steps": ["open", "buy"], "error_logs": "x".repeat(3_000), "mood": "bad",
        "potential_issues": [], "table": { "rows": "y".repeat(3_000) },
    });
    let message =
        build(Kind::TestFailureReport, &work("fixing", context, json!({})), &ENVELOPE, 2_048).expect("fits");
    let logs = message["context"]["error_logs"].as_str().expect("the beginning");
    assert!(logs.starts_with("xxx") && logs.ends_with('…') && logs.len() > 1_500, "{message:#}");
    let expected = json!({
        "failure_details": "rounding is off", "role": "fixing", "reproduction_steps": ["open", "buy"], "error_logs": logs,
        "mood": "bad", "left_out": ["rest of error_logs", "table"],
    });
    assert_eq!(message["context"], expected);
}

#[test]
fn a_verification_is_told_files_however_much_there_is_beside_and_who_changed_them() {
    let file = |n: usize| json!({ "path": format!("src/part_{n}.rs"), "by": "impl-1" });
    for (bytes, has_name) in [(30, true), (500, false)] {
        let text = |letter: &str| letter.repeat(bytes);
        let context = json!({
            "summary": text("s"), "test_results": text("t"), "files_modified": (0..20).map(file).collect::<Vec<_>>(),
            "previous_failures": [text("f")], "implementation_notes": text("n"),
        });
        let criteria = text("a");
        let work = TaskFacts { acceptance_criteria: &criteria, ..work("verification", context, json!({})) };
        let message = build(Kind::VerificationRequest, &work, &ENVELOPE, 512).expect("fits");
        let context = &message["context"];
        assert!(context.to_string().len() <= 512, "{message:#}");
        let files = context["files_modified"].as_array().expect("files");
        assert_eq!(
            (&files[0]["path"], files[0] == file(0)),
            (&json!("src/part_0.rs"), has_name),
            "{message:#}"
        );
        assert_eq!(files[files.len() - 1], format!("… {} more", 20 - (files.len() - 1)), "{message:#}");
        for field in ["summary", "acceptance_criteria", "test_results"] {
            assert!(context[field].as_str().is_some_and(|text| text.len() > 20), "{field}: {message:#}");
        }
        assert!(context["previous_failures"][0].is_string(), "{message:#}");
        assert_eq!(context["left_out"][0], "rest of files_modified", "{message:#}");
    }
}

#[test]
fn every_role_is_told_when_its_task_counts_as_done() {
    for kind in Kind::ALL {
        let work = TaskFacts { acceptance_criteria: "half up", ..work("testing", json!({}), json!({})) };
        let message = build(kind, &work, &ENVELOPE, 1_024).expect("fits");
        assert_eq!(message["context"]["acceptance_criteria"], "half up", "{message:#}");
    }
}

#[test]
fn a_headline_that_nobody_wrote_says_so_and_what_is_known() {
    let previous = PreviousTask {
        task_id: "shop-1".into(),
        title: "Detect".into(),
        closed_by: Some("Ann".into()),
        closed_at: Some("2026-11-20T10:00:00.000Z".into()),
    };
    let bare = work("testing", json!({ "work_completed": " ", "files_modified": ["a.rs"] }), json!({}));
    let work = TaskFacts { previous_task: Some(previous), ..bare.clone() };
    let headline_of = |kind: Kind, work: &TaskFacts<'_>| {
        let message = build(kind, work, &ENVELOPE, budget_of(work.role)).expect("fits");
        message["context"][required(kind)].as_str().expect("text").to_owned()
    };
    assert_eq!(
        headline_of(Kind::TaskHandoff, &work),
        "NOT STATED: shop-1 \"Detect\" was closed by Ann at 2026-11-20T10:00:00.000Z, and nobody said what was done. What was \
         changed stands under files_modified. Look before you rely on it: `baton task show shop-1`, `git log`, or ask whoever \
         closed it."
    );
    let failed = headline_of(Kind::TestFailureReport, &work);
    assert!(failed.starts_with("NOT STATED: shop-1 \"Detect\" was closed as failed by Ann"), "{failed}");
    let unknown = headline_of(Kind::TaskHandoff, &bare);
    assert!(
        unknown.starts_with("NOT STATED: the task before this one was closed, and nobody said"),
        "{unknown}"
    );
}

#[test]
fn a_headline_that_is_too_long_is_cut_and_says_so() {
    let work = work("verification", json!({ "work_completed": "ä".repeat(2_000) }), json!({}));
    let message = build(Kind::VerificationRequest, &work, &ENVELOPE, 512).expect("fits");
    let summary = message["context"]["summary"].as_str().expect("there");
    assert!(summary.ends_with('…') && summary.len() > 250, "{summary}");
    assert!(message["context"]["left_out"].to_string().contains("summary"));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,300}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,9}", inner, 0..4).prop_map(|m| json!(m)),
        ]
    })
}

fn any_context() -> impl Strategy<Value = Map<String, Value>> {
    let names = prop_oneof![
        Just("work_completed"),
        Just("files_modified"),
        Just("test_command"),
        Just("known_issues"),
        Just("summary"),
        Just("error_logs"),
        Just("reproduction_steps"),
        Just("previous_failures"),
        Just("failure_details"),
        Just("role"),
        Just("required_skills"),
        Just("left_out"),
        Just("test_results"),
        Just("else"),
        Just("attempts"),
    ];
    prop::collection::vec((names, any_value()), 0..8)
        .prop_map(|fields| fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
}

#[test]
fn a_required_field_that_fills_the_budget_leaves_room_for_what_is_named() {
    for length in 440..530 {
        let mut context = Map::new();
        context.insert("work_completed".into(), json!("w".repeat(length)));
        for field in ["decisions", "constraints", "modified_files"] {
            context.insert(field.into(), json!("x".repeat(400)));
        }
        let work = TaskFacts {
            task_id: "t-1",
            title: "Round",
            role: Some("fixing"),
            agent_context: context,
            ..TaskFacts::default()
        };
        let message = build(Kind::TaskHandoff, &work, &ENVELOPE, 537).expect("valid");
        let size = message["context"].to_string().len();
        assert!(size <= 537, "{size}: {message:#}");
    }
}

proptest! {
    #[test]
    fn whatever_a_task_holds_its_message_fits_its_type_and_its_budget(
        agent_context in any_context(), handoff_instructions in any_context(), title in "\\PC{0,200}",
        minutes in prop::option::of(any::<i64>()), which in 0_usize..5, budget in 256_usize..3_000,
    ) {
        let work = TaskFacts {
            task_id: "t-1", title: &title, role: Some("fixing"), agent_context, handoff_instructions,
            estimated_duration: minutes, ..TaskFacts::default()
        };
        let message = build(Kind::ALL[which], &work, &ENVELOPE, budget);
        let message = message.map_err(|refusal| TestCaseError::fail(format!("{refusal:?}")))?;
        let size = message["context"].to_string().len();
        prop_assert!(size <= budget, "{} of {}: {:#}", size, budget, message);
    }
}

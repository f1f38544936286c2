use proptest::prelude::*;

use super::*;

#[test]
fn what_fits_is_whole_and_what_does_not_is_named() {
    let mut task =
        Task { task_id: "a-1".into(), title: "t".into(), description: "d".repeat(900), ..Task::default() };
    task.handoff_instructions = serde_json::from_value(json!({ "test_command": "./t.sh" })).expect("object");
    task.agent_context =
        serde_json::from_value(json!({ "log": "l".repeat(900), "done": "x" })).expect("object");
    let whole = packet(&task, &Surroundings::default(), 4096);
    assert_eq!(whole.get("left_out"), None);
    assert_eq!(whole["agent_context"]["log"].as_str().map(str::len), Some(900));
    let small = packet(&task, &Surroundings::default(), 512);
    assert!(small.to_string().len() <= 512, "{}", small.to_string().len());
    assert_eq!(small["handoff_instructions"]["test_command"], "./t.sh");
    assert!(small["left_out"].as_array().is_some_and(|left| !left.is_empty()), "{small}");
}

#[test]
fn instructions_do_not_push_out_what_failed_and_when_it_is_done() {
    let mut task = Task {
        task_id: "a-1".into(),
        title: "t".into(),
        agent_role: Some("fixing".into()),
        pending_type: Some("test_failure_report".into()),
        description: "d".repeat(4000),
        ..Task::default()
    };
    task.extra.insert("acceptance_criteria".into(), json!("half up"));
    task.handoff_instructions = (0..11).map(|n| (format!("n{n}"), json!("i".repeat(190)))).collect();
    task.agent_context =
        serde_json::from_value(json!({ "failure": "test_round red", "test_command": "./t.sh" }))
            .expect("object");
    let packet = packet(&task, &Surroundings::default(), budget_of(task.agent_role.as_deref()));
    assert_eq!(packet["acceptance_criteria"], "half up");
    assert_eq!(packet["agent_context"]["failure"], "test_round red");
    assert_eq!(packet["agent_context"]["test_command"], "./t.sh");
}

fn with_role(role: &str) -> Task {
    Task { task_id: "a-1".into(), title: "t".into(), agent_role: Some(role.into()), ..Task::default() }
}

fn of_role(task: &Task) -> Value {
    let budget = budget_of(task.agent_role.as_deref());
    let packet = packet(task, &Surroundings::default(), budget);
    assert!(packet.to_string().len() <= budget, "{packet:#}");
    packet
}

#[test]
fn a_packet_cuts_nothing_that_fits() {
    for (role, bytes) in [("implementation", 900), ("verification", 150)] {
        let mut task = Task { description: "d".repeat(bytes), ..with_role(role) };
        task.extra.insert("acceptance_criteria".into(), json!("a".repeat(bytes)));
        let packet = of_role(&task);
        assert_eq!(packet.get("left_out"), None, "{packet:#}");
    }
    // What is left in the end goes to the criteria that were cut.
    let mut task = Task { description: "d".repeat(300), ..with_role("implementation") };
    task.extra.insert("acceptance_criteria".into(), json!("a".repeat(3_000)));
    let packet = of_role(&task);
    assert!(packet.to_string().len() > 1_900, "{} bytes: {packet:#}", packet.to_string().len());
    assert_eq!(packet["description"].as_str().map(str::len), Some(300), "{packet:#}");
}

#[test]
fn a_packet_has_the_description_beside_many_instructions() {
    let mut task = Task { description: "Read rows from a CSV file".repeat(3), ..with_role("implementation") };
    task.handoff_instructions = (0..30).map(|n| (format!("key_{n}"), json!("i".repeat(100)))).collect();
    let packet = of_role(&task);
    assert_eq!(packet["description"], task.description, "{packet:#}");
    // One that does not fit is named first.
    task.description = "d".repeat(5_000);
    let packet = of_role(&task);
    assert!(packet["description"].as_str().is_some_and(|text| text.len() > 300), "{packet:#}");
    assert_eq!(packet["left_out"][0], "rest of description", "{packet:#}");
}

#[test]
fn a_packet_has_the_first_entries_of_a_list_that_is_too_long() {
    let mut task = with_role("fixing");
    let paths: Vec<String> = (0..90).map(|n| format!("crates/shop/src/module_{n}/file_{n}.rs")).collect();
    task.agent_context = serde_json::from_value(json!({ "files_modified": paths })).expect("object");
    let packet = of_role(&task);
    let files = packet["agent_context"]["files_modified"].as_array().cloned().unwrap_or_default();
    assert!(files.len() > 10 && files[0] == paths[0].as_str(), "{packet:#}");
    assert_eq!(files[files.len() - 1], format!("… {} more", 90 - (files.len() - 1)));
    assert_eq!(packet["left_out"][0], "rest of agent_context.files_modified");
}

#[test]
fn a_verification_is_told_how_often_the_test_failed_and_the_files_in_the_flow_of_the_plan() {
    let mut task =
        Task { previous_agent: Some("testing-specialist-Lake".into()), ..with_role("verification") };
    (task.task_id, task.title) = ("x-0fd.4".into(), "VERIFY: Register MCP client in orchestrator".into());
    task.pending_type = Some("verification_request".into());
    task.agent_context = serde_json::from_value(json!({
        "files_modified": [
            { "path": "droids/degrade.md:10", "by": "fixing-specialist-Lake" },
            { "path": "droids/orchestrator.md:465-480", "by": "implementation-specialist-Lake" },
        ],
        "test_command": "./test-orchestrator-mcp.sh", "previous_failures": ["1 of 9 tests failed"],
        "summary": "MCP client registration added to orchestrator; then fixed: exit code set in degrade()",
        "test_results": "all 9 pass", "test_attempts": 1,
    }))
    .expect("object");
    let beside = Surroundings {
        what_to_build: Some("Add MCP client registration; degrade gracefully.".to_owned()),
        acceptance_criteria: Some("Works with MCP down".to_owned()),
        ..Surroundings::default()
    };
    for failures in [1, 2, 12] {
        task.agent_context.insert("test_attempts".into(), json!(failures));
        let packet = packet(&task, &beside, budget_of(task.agent_role.as_deref()));
        assert!(packet.to_string().len() <= 512, "{packet:#}");
        let context = &packet["agent_context"];
        assert_eq!(
            (&context["test_attempts"], packet.get("attempts")),
            (&json!(failures), None),
            "{packet:#}"
        );
        assert_eq!(packet["acceptance_criteria"], "Works with MCP down");
        assert_eq!(context["test_results"], "all 9 pass", "{packet:#}");
        let path = context["files_modified"][0]["path"].as_str().unwrap_or_default();
        assert!(path.starts_with("droids/degrade.md"), "{packet:#}");
    }
}

#[test]
fn files_come_before_what_was_put_beside() {
    let mut task = Task { previous_agent: Some("w-testing".into()), ..with_role("verification") };
    (task.task_id, task.title) = ("bd-8hxg".into(), "VERIFY: Part".into());
    task.pending_type = Some("verification_request".into());
    task.handoff_instructions =
        serde_json::from_value(json!({ "notes": "see logs of fab-02py" })).expect("object");
    task.agent_context = serde_json::from_value(json!({
        "summary": "built fab-02py; then fixed: fix 3", "test_results": "all pass run 7", "test_command": "./t fab-02py",
        "files_modified": [
            { "path": "src/fab-02py.rs", "by": "w-implementation" }, { "path": "src/fix3.rs", "by": "w-fixing" },
        ],
        "previous_failures": ["3 of 4 tests failed"], "test_attempts": 1, "coverage": "97%", "implementation_notes": "n".repeat(60),
    }))
    .expect("object");
    for more in 0..12 {
        task.agent_context.insert("coverage".into(), json!("9".repeat(3 + 10 * more)));
        let packet = of_role(&task);
        let files = &packet["agent_context"]["files_modified"];
        assert_eq!(files[0]["path"], "src/fab-02py.rs", "{more}: {packet:#}");
    }
}

proptest! {
    #[test]
    fn the_budget_is_kept(
        title in "[a-zä\"\\\\]{1,60}", description in "[a-zü\n\"]{0,3000}",
        context in prop::collection::btree_map("[a-z]{1,12}", "[a-z\"é\n]{0,600}", 0..8), role in 0..4usize,
    ) {
        let roles = ["implementation", "testing", "fixing", "verification"];
        let mut task = Task { task_id: "shop-a3f9".into(), title, description, ..Task::default() };
        task.agent_role = Some(roles[role].into());
        task.previous_agent = Some("fixing-specialist-RedStone".into());
        task.agent_context = context.into_iter().map(|(k, v)| (k, v.into())).collect();
        let budget = budget_of(task.agent_role.as_deref());
        let bytes = packet(&task, &Surroundings::default(), budget).to_string().len();
        prop_assert!(bytes <= budget, "{} of {}", bytes, budget);
        // No field is left out that is shorter than one that is kept.
        let packet = packet(&task, &Surroundings::default(), budget);
        let left: Vec<&str> = packet["left_out"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for key in left.iter().filter_map(|left| left.strip_prefix("agent_context.")) {
            let missing = task.agent_context[key].to_string().len();
            for (name, value) in packet["agent_context"].as_object().into_iter().flatten() {
                prop_assert!(value.to_string().len() <= missing, "{} is kept, {} is not: {:#}", name, key, packet);
            }
        }
    }
}

/// A verification that comes after another one, as a worker gets it.
fn second_verification(what_to_build: &str, context: Value) -> Value {
    let mut task = Task { previous_agent: Some("tess".into()), ..with_role("verification") };
    (task.task_id, task.title) = ("bd-pqof".into(), "VERIFY: Login".into());
    task.pending_type = Some("verification_request".into());
    task.agent_context = serde_json::from_value(context).expect("object");
    let beside = Surroundings {
        what_to_build: Some(what_to_build.to_owned()),
        acceptance_criteria: Some("a wrong password is refused".to_owned()),
        ..Surroundings::default()
    };
    let packet = packet(&task, &beside, budget_of(task.agent_role.as_deref()));
    assert!(packet.to_string().len() <= 512, "{packet:#}");
    packet
}

#[test]
fn a_verification_is_told_its_own_objection_and_the_files_before_all_that_was_put_beside() {
    let files = json!([
        { "path": "droids/orchestrator.md:465-480", "by": "implementation-specialist-GreenLake" },
        { "path": "src/auth.rs", "by": "fred" }, { "path": "README.md", "by": "fred" },
    ]);
    let first = second_verification(
        "Build the login page",
        json!({
            "summary": "MCP client registration added to orchestrator; then fixed: docs written", "test_results": "all 9 pass",
            "test_command": "./test-orchestrator-mcp.sh", "files_modified": files, "known_issues": [], "coverage": "97%",
            "previous_failures": ["docs missing in README", "2 of 9 tests failed: test_login: expected 200 got 401"],
            "implementation_notes": "Graceful degradation tested, works when MCP unavailable",
            "previous_fix": "token is sent now", "test_attempts": 1, "root_cause": "token missing",
        }),
    );
    let context = &first["agent_context"];
    assert_eq!(context["previous_failures"][0], "docs missing in README", "{first:#}");
    let begins = |found: &Value, with: &str| found.as_str().is_some_and(|text| text.starts_with(with));
    assert!(begins(&context["files_modified"][0]["path"], "droids/"), "{first:#}");
    assert_eq!(first["acceptance_criteria"], "a wrong password is refused", "{first:#}");
    assert_eq!(context.get("known_issues"), None, "what is empty takes no room: {first:#}");
    let objection = "docs missing in README: neither the login page nor the refusal of a wrong password is described there, and the link is dead";
    let second = second_verification(
        "",
        json!({
            "summary": "built inc 5; then fixed: fixed inc 5, turn 1", "test_results": "all 12 pass", "test_command": "./test-5.sh",
            "files_modified": [
                { "path": "src/inc5.rs:1-90", "by": "impl" }, { "path": "src/lib.rs", "by": "impl" }, { "path": "README.md", "by": "fred" },
            ],
            "previous_failures": [objection], "coverage": "97%",
        }),
    );
    let context = &second["agent_context"];
    assert!(begins(&context["previous_failures"][0], "docs missing in README"), "{second:#}");
    assert!(context["files_modified"][0] != Value::Null, "{second:#}");
}

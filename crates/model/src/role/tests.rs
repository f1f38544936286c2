use super::*;
use serde_json::Value;

/// The file that the roles were first written down in.
const SEED: &str = r#"agent_roles:
  implementation-specialist:
    skills: [python, javascript, coding, refactoring]
    typical_tasks: [implementation, coding, feature-work]
    max_session_duration: 120  # minutes before context risk
    responsibilities: "Write code to meet acceptance criteria"

  testing-specialist:
    skills: [testing, validation, qa, automation]
    typical_tasks: [testing, verification, validation]
    max_session_duration: 60
    responsibilities: "Run tests, verify acceptance criteria, document failures"

  fixing-specialist:
    skills: [debugging, troubleshooting, problem-solving]
    typical_tasks: [bug-fixes, error-handling, patches]
    max_session_duration: 90
    responsibilities: "Investigate failures, implement fixes, ensure tests pass"

  verification-specialist:
    skills: [review, validation, approval]
    typical_tasks: [verification, sign-off, approval]
    max_session_duration: 30
    responsibilities: "Review test results, confirm quality, approve next increment"
"#;

fn values(roles: &Roles) -> Vec<Value> {
    roles
        .iter()
        .map(|role| {
            let mut row = json!(role.row());
            row.as_object_mut().expect("object").remove("from");
            row
        })
        .collect()
}

#[track_caller]
fn check(text: &str, line: usize, field: &str, hint: &str) {
    let refusal = Roles::with_file("AGENT_ROLES.yaml", text).expect_err(text);
    assert_eq!(refusal.code, "roles_invalid", "{text}");
    assert_eq!(
        (&refusal.details["line"], &refusal.details["field"]),
        (&json!(line), &json!(field)),
        "{text}"
    );
    assert!(refusal.hint.contains(hint), "{text}: {}", refusal.hint);
    assert!(refusal.message.starts_with(&format!("AGENT_ROLES.yaml, line {line}")), "{}", refusal.message);
}

#[test]
fn the_first_file_says_what_is_built_in() {
    let read = Roles::with_file("AGENT_ROLES.yaml", SEED).expect("valid");
    assert_eq!(values(&read), values(&Roles::default()));
    let testing = read.get("testing-specialist").expect("there");
    assert_eq!(json!(testing.row())["from"]["max_session_duration"], "AGENT_ROLES.yaml:11");
}

#[test]
fn a_file_wins_value_by_value_and_may_add_roles() {
    let text = "agent_roles:\n  testing:\n    max_session_duration: 45\n  docs-specialist:\n    skills:\n      - writing\n      - \"style\"\n    max_concurrent_tasks: 2\n";
    let roles = Roles::with_file("AGENT_ROLES.yaml", text).expect("valid");
    let testing = json!(roles.get("Testing").expect("there").row());
    assert_eq!(testing["max_session_duration"], 45);
    assert_eq!(testing["from"]["max_session_duration"], "AGENT_ROLES.yaml:3");
    assert_eq!(testing["from"]["skills"], "built in");
    let docs = json!(roles.get("docs").expect("there").row());
    assert_eq!((&docs["skills"], &docs["max_concurrent_tasks"]), (&json!(["writing", "style"]), &json!(2)));
    assert_eq!(roles.iter().count(), 5);
}

#[test]
fn a_slip_names_its_line_and_field_and_what_was_meant() {
    check("agent_roles:\n  testing:\n    skils: [a]\n", 3, "agent_roles.testing.skils", "`skills`");
    check("agent_role:\n  testing: {}\n", 1, "agent_role", "`agent_roles`");
    check(
        "agent_roles:\n  t:\n    max_session_duration: 1h\n",
        3,
        "agent_roles.t.max_session_duration",
        "minutes",
    );
    check(
        "agent_roles:\n  t:\n    max_session_duration: 0\n",
        3,
        "agent_roles.t.max_session_duration",
        "minutes",
    );
    check(
        "agent_roles:\n  t:\n    max_session_duration: \"60\"\n",
        3,
        "agent_roles.t.max_session_duration",
        "quotes",
    );
    check("agent_roles:\n  t:\n    skills: python\n", 3, "agent_roles.t.skills", "[a, b]");
    check("agent_roles:\n  t:\n    skills: [a, [b]]\n", 3, "agent_roles.t.skills[1]", "one line");
    check("agent_roles:\n  t:\n    responsibilities:\n", 3, "agent_roles.t.responsibilities", "one line");
    check("- a\n", 1, "", "key: value");
}

#[test]
fn what_yaml_itself_forbids_or_hides_is_refused() {
    check("agent_roles:\n  t:\n    skills: [a\n  u: {}\n", 4, "", "mend");
    check("agent_roles:\n  t: {}\n  t: {}\n", 3, "", "mend");
    check("agent_roles:\n  t: {}\n  T-specialist: {}\n", 3, "agent_roles.T-specialist", "join");
    check("agent_roles:\n  t: &x {}\n", 2, "", "mend");
    check("agent_roles:\n  t: *x\n", 2, "", "mend");
    check("agent_roles: {}\n---\nagent_roles: {}\n", 3, "", "mend");
    let deep = format!("agent_roles: {}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Roles::with_file("f", &deep).is_err());
}

#[test]
fn an_empty_file_changes_nothing() {
    for text in ["", "# nothing yet\n", "agent_roles:\n", "agent_roles: {}\n"] {
        assert_eq!(values(&Roles::with_file("f", text).expect(text)), values(&Roles::default()));
    }
}

#[test]
fn an_unknown_role_is_refused_with_those_that_are_near() {
    let roles = Roles::default();
    assert_eq!(roles.check_known("Testing-Specialist").as_deref(), Ok("testing"));
    let refusal = roles.check_known("tseting").expect_err("unknown");
    assert_eq!((refusal.code, &refusal.details["near"]), ("role_unknown", &json!(["testing"])));
    assert!(roles.check_known("cooking").expect_err("unknown").hint.contains("fixing, implementation"));
}

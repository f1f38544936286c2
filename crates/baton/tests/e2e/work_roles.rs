//! Section 8 of the plan, command by command and in its order, with real worker processes: what each role is given stands in the
//! snapshots, with ids and times left out.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::stage::{BATON, Stage, text};
use crate::work::{Crew, ROLES, assert_bounded, bench, closed_by_agents, seen, settled, wait_for};

/// The four ids of an increment, and what stands in their place.
const PARTS: [(&str, &str); 4] = [
    ("implementation_id", "<implementation>"),
    ("test_id", "<test>"),
    ("fix_id", "<fix>"),
    ("verify_id", "<verify>"),
];

/// Packets as people read them, with what differs from run to run left out.
fn redacted(made: &Value, packets: &[&Value]) -> String {
    let mut text: String = packets.iter().map(|packet| format!("{packet:#}\n")).collect();
    for (key, shown) in PARTS {
        text = text.replace(made[key].as_str().expect("an id"), shown);
    }
    let line = |line: &str| match line.split_once("\": \"") {
        Some((key, value)) if value.starts_with("20") && value.contains("T") && value.contains('Z') => {
            format!("{key}\": \"<time>\"\n")
        }
        Some((key, _)) if key.ends_with("session_id") || key.ends_with("message_id") => {
            format!("{key}\": \"<id>\"\n")
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// What the agents of an increment were given; no field that every packet has is empty.
fn snapshot(name: &str, made: &Value, packets: &[&Value]) {
    for packet in packets {
        for key in ["type", "id", "title", "agent_role"] {
            assert!(!text(packet, key).is_empty(), "{key}: {packet:#}");
        }
        for (key, value) in packet["agent_context"].as_object().into_iter().flatten() {
            let known = !value.is_null() && value != "" && *value != Value::Array(Vec::new());
            assert!(known || key == "known_issues", "{key} says nothing: {packet:#}");
        }
    }
    insta::assert_snapshot!(name, redacted(made, packets));
}

/// The plan's flow with so many failures of the test.
fn plays(name: &str, failures: &str) {
    let stage = Stage::ready();
    let (made, packets) = closed_by_agents(&stage, failures);
    snapshot(name, &made, &packets.iter().collect::<Vec<_>>());
}

#[test]
fn what_each_role_is_given_where_all_goes_well() {
    plays("goes_well", "");
}

#[test]
fn what_each_role_is_given_where_the_test_fails_is_fixed_and_passes() {
    plays("fails_once", "once\n");
}

#[test]
fn what_each_role_is_given_where_the_test_fails_three_times() {
    plays("fails_three_times", "1\n2\n3\n");
}

/// Agents that name their piece in all that they write, so that nothing of one increment can pass for another's; each describes
/// its work before it closes the task, since the next one may begin at once. The second piece's test fails once. In a role for which there is no file yet an agent is in the middle of its work for long.
const TITLED: &str = r#"set -e
packet=$(cat)
printf '%s\n' "$packet" >> "$SEEN"
role=${BATON_IDENTITY%-*}
if [ -n "$STUCK" ] && [ ! -e "$SEEN.$role" ]; then
  echo > "$SEEN.$role"; sleep 20; exit 1
fi
bd() { "$BATON" bd "$@" > /dev/null; }
case "$packet" in *"Second piece"*) piece=second ;; *) piece=first ;; esac
case $role in
  impl) bd update "$BATON_TASK" --silent --agent-context '{"work_completed":"built the '$piece' piece","files_modified":["'$piece'.rs:4"],
          "test_command":"./test-'$piece'.sh","implementation_notes":"the '$piece' piece works alone"}'
        bd close "$BATON_TASK" --reason "Implementation complete" ;;
  test) if [ $piece = second ] && [ ! -e "$SEEN.failed" ]; then
          echo > "$SEEN.failed"
          bd update "$BATON_TASK" --silent --agent-context '{"reproduction_steps":"./test-'$piece'.sh one"}'
          bd close "$BATON_TASK" --reason "3 of 7 tests of the $piece piece failed"
        else bd close "$BATON_TASK" --reason "All 7 tests of the $piece piece pass"; fi ;;
  fix) bd update "$BATON_TASK" --silent --agent-context '{"work_completed":"mended the '$piece' piece","files_modified":["'$piece'-fix.rs:1"]}'
       bd close "$BATON_TASK" --reason "Fixed" ;;
  *) bd close "$BATON_TASK" --reason "Approved the $piece piece" ;;
esac
"#;

/// A worker whose agent is [`TITLED`].
fn titled(stage: &Stage, name: &str, role: &str, stuck: bool) -> Child {
    let agent = stage.root().join("titled.sh");
    let agent = if agent.exists() { agent.display().to_string() } else { stage.file("titled.sh", TITLED) };
    let mut at = bench(stage, name);
    at.set("BATON", BATON);
    at.set("STUCK", if stuck { "1" } else { "" });
    let mut command = at.command(&["work", "--role", role, "--poll", "200ms", "--jsonl", "--", "sh", &agent]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a worker")
}

#[test]
fn two_increments_at_once_tell_each_role_of_its_own_alone() {
    let stage = Stage::ready();
    let owner = stage.terminal("Owner");
    let made = ["First piece", "Second piece"].map(|title| owner.json(&["task", "increment", title]));
    let workers = (1..=2).flat_map(|n| ROLES.map(|(name, role)| (name.replace('1', &n.to_string()), role)));
    let crew = Crew(workers.map(|(name, role)| titled(&stage, &name, role, false)).collect());
    for made in &made {
        let task = settled(&stage, &text(made, "verify_id"));
        assert_eq!(task["status"], "closed", "{task:#}");
    }
    drop(crew);
    let packets = seen(&stage);
    let of = |made: &Value| {
        let ids = PARTS.map(|(key, _)| text(made, key));
        packets.iter().filter(|packet| ids.contains(&text(packet, "id"))).collect::<Vec<&Value>>()
    };
    let (first, second) = (of(&made[0]), of(&made[1]));
    assert_eq!((first.len(), second.len(), packets.len()), (3, 5, 8), "{packets:#?}");
    for (own, other, word) in [(&first, &made[1], "second"), (&second, &made[0], "first")] {
        for packet in own {
            let content = packet.to_string();
            let foreign = PARTS.iter().any(|(key, _)| content.contains(&text(other, key)));
            assert!(
                !foreign && !content.contains(&format!("the {word} piece")),
                "of another increment: {packet:#}"
            );
        }
    }
    // Which of the two workers of a role it was differs from run to run.
    let names = |made: &Value, own: &[&Value]| {
        redacted(made, own).replace("impl-2", "impl-1").replace("test-2", "test-1").replace("fix-2", "fix-1")
    };
    insta::assert_snapshot!("two_at_once_first", names(&made[0], &first));
    insta::assert_snapshot!("two_at_once_second", names(&made[1], &second));
    for (made, own) in made.iter().zip([first, second]) {
        assert_bounded(&stage, made, &own.into_iter().cloned().collect::<Vec<_>>());
    }
}

#[test]
fn a_worker_killed_in_each_role_loses_nothing_that_the_next_is_to_know() {
    let stage = Stage::ready();
    let owner = stage.terminal("Owner");
    let made = owner.json(&["task", "increment", "Second piece"]);
    let mut crew = Crew(ROLES.map(|(name, role)| titled(&stage, name, role, true)).into());
    for (at, (name, role)) in ROLES.into_iter().enumerate() {
        let word = name.trim_end_matches("-1");
        wait_for(word, || stage.root().join(format!("seen.{word}")).exists());
        crew.0[at].kill().expect("killed");
        crew.0[at].wait().expect("gone");
        crew.0[at] = titled(&stage, &format!("{word}-2"), role, true);
    }
    let task = settled(&stage, &text(&made, "verify_id"));
    assert_eq!(task["status"], "closed", "{task:#}");
    drop(crew);
    let packets = seen(&stage);
    let mut given: BTreeMap<String, usize> = BTreeMap::new();
    for packet in &packets {
        *given.entry(text(packet, "agent_role")).or_default() += 1;
    }
    let expected = [("fixing", 2), ("implementation", 2), ("testing", 3), ("verification", 2)];
    assert_eq!(given, expected.map(|(role, times)| (role.to_owned(), times)).into());
    for (key, _) in PARTS {
        let task = owner.json(&["task", "show", &text(&made, key), "--full"]);
        let failed: Vec<String> =
            task["failed_attempts"].as_array().into_iter().flatten().map(|row| text(row, "by")).collect();
        assert!(failed.len() == 1 && failed[0].ends_with("-1"), "the killed attempt is counted: {task:#}");
    }
    snapshot("killed_in_each_role", &made, &packets.iter().collect::<Vec<_>>());
    stage.assert_sound();
}

use super::*;

/// Every field that a tracker writes, some in old spellings, and one that nobody knows.
const RICH: &str = include_str!("full.jsonl");

fn full() -> Map<String, Value> {
    object(RICH.lines().next().expect("a line"))
}

fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).expect("an object")
}

fn text(row: &Map<String, Value>) -> String {
    json!(row).to_string()
}

#[test]
fn an_unchanged_record_is_written_as_it_was_read() {
    let base = full();
    let record = read(&base).expect("it can be read");
    assert_eq!(text(&write(&record, Some(&base))), text(&base));
    assert_eq!(read(&write(&record, Some(&base))), Ok(record));
}

#[test]
fn a_change_touches_its_own_field_only() {
    let base = full();
    let mut record = read(&base).expect("it can be read");
    assert_eq!((record.task.agent_role.as_deref(), record.task.attempts), (Some("testing"), 2));
    record.task.priority = 0;
    record.task.close_reason = None;
    let mut wanted = base.clone();
    wanted["priority"] = json!(0);
    wanted.shift_remove("close_reason");
    assert_eq!(text(&write(&record, Some(&base))), text(&wanted));
}

/// A record whatever line it was read from.
fn adopted(record: Record) -> Record {
    Record { coverage: Coverage::default(), ..record }
}

fn whole(row: &Map<String, Value>) -> Result<Record, RecordError> {
    read(row).map(adopted)
}

#[test]
fn without_a_line_before_every_field_is_there() {
    let base = full();
    let record = read(&base).expect("it can be read");
    let written = write(&record, None);
    let computed = ["dependency_count", "dependent_count", "comment_count"];
    for key in base.keys().filter(|key| !computed.contains(&key.as_str())) {
        assert!(written.contains_key(key), "{key} is lost");
    }
    assert_eq!(whole(&written), Ok(adopted(record)));
}

#[test]
fn our_own_fields_travel_in_the_metadata() {
    let mut record = read(&object(r#"{"id":"a-1","title":"t","priority":2}"#)).expect("read");
    record.task.agent_role = Some("testing".into());
    record.task.specialist_tags = vec!["rust".into()];
    record.task.attempts = 3;
    let row = write(&record, None);
    assert_eq!(
        row["metadata"],
        json!({ "agent_role": "testing", "handoff.v1": { "specialist_tags": ["rust"], "attempts": 3 } })
    );
    assert_eq!(whole(&row), Ok(adopted(record)));
}

#[test]
fn the_plans_own_spelling_at_the_top_is_understood_and_kept_until_it_changes() {
    let base = object(
        r#"{"id":".factory-abc123","title":"t","priority":2,"agent_role":"implementation","agent_context":{"test_status":"pending"},"specialist_tags":["python"],"estimated_duration":120,"parent_task":null}"#,
    );
    let mut record = read(&base).expect("read");
    assert_eq!((record.task.estimated_minutes, record.task.specialist_tags.len()), (Some(120), 1));
    assert_eq!(text(&write(&record, Some(&base))), text(&base));
    record.task.agent_context.insert("test_status".into(), json!("green"));
    let row = write(&record, Some(&base));
    assert_eq!((row.get("agent_context"), &row["metadata"]["agent_role"]), (None, &json!("implementation")));
    assert_eq!(
        read(&row).map(|r| (r.task.agent_context, r.task.estimated_minutes)),
        Ok((record.task.agent_context, Some(120)))
    );
}

#[test]
fn metadata_that_is_no_object_stays_and_ours_goes_beside_it() {
    let base = object(r#"{"id":"a-1","title":"t","priority":2,"metadata":"text"}"#);
    let mut record = read(&base).expect("read");
    record.task.agent_role = Some("fixing".into());
    let row = write(&record, Some(&base));
    assert_eq!((row["metadata"].clone(), row["agent_role"].clone()), (json!("text"), json!("fixing")));
    assert_eq!(whole(&row), Ok(adopted(record)));
}

#[test]
fn a_fault_is_named_by_its_path() {
    for (line, path) in [
        (r#"{"title":"t"}"#, "id"),
        (r#"{"id":"a b"}"#, "id"),
        (r#"{"id":"a","priority":"high"}"#, "priority"),
        (r#"{"id":"a","created_at":"yesterday"}"#, "created_at"),
        (r#"{"id":"a","labels":["x",1]}"#, "labels[1]"),
        (
            r#"{"id":"a","dependencies":[{"depends_on_id":"b"},{"type":"blocks"}]}"#,
            "dependencies[1].depends_on_id",
        ),
        (r#"{"id":"a","comments":["x"]}"#, "comments[0]"),
        (r#"{"id":"a","metadata":{"handoff.v1":{"attempts":"x"}}}"#, "metadata.handoff.v1.attempts"),
        (r#"{"id":"a","title":"a\u0000b"}"#, "title"),
    ] {
        assert_eq!(read(&object(line)).expect_err(line).path, path);
    }
}

#[test]
fn missing_and_old_words_mean_what_trackers_take_them_for() {
    let task = |line: &str| read(&object(line)).expect("read").task;
    let bare = task(r#"{"id":"a-1.2"}"#);
    assert_eq!((bare.priority, bare.status.as_str(), bare.parent_id.as_deref()), (0, "open", Some("a-1")));
    assert_eq!(task(r#"{"id":"a","status":"deleted"}"#).status, "tombstone");
    assert_eq!(
        task(r#"{"id":"a","status":"closed","close_reason":"wontfix"}"#).result.as_deref(),
        Some("fail")
    );
    let child = task(r#"{"id":"a-1.2","dependencies":[{"depends_on_id":"z","type":"parent-child"}]}"#);
    assert_eq!(child.parent_id.as_deref(), Some("z"), "an edge wins over the dots");
}

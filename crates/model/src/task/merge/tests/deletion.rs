//! What a deletion in one clone leaves of an issue that the other goes on with.

use serde_json::json;

use super::*;

#[test]
fn an_issue_that_outlives_its_deletion_keeps_its_dependencies() {
    let edge = |on: &str, kind: &str| json!({ "issue_id": "a-1", "depends_on_id": on, "type": kind });
    let all = json!([edge("a-2", "blocks"), edge("a-3", "blocks"), edge("a-4", "parent-child")]);
    let base = json!({ "dependencies": all });
    let deleted = json!({ "status": "tombstone", "deleted_at": SECOND, "updated_at": SECOND });
    let left = json!([edge("a-2", "blocks"), edge("a-4", "parent-child")]);
    for (goes_on, expected) in [
        (json!({ "notes": "n", "dependencies": all, "updated_at": THIRD }), vec!["a-2", "a-3", "a-4"]),
        (json!({ "notes": "n", "dependencies": left, "updated_at": THIRD }), vec!["a-2", "a-4"]),
    ] {
        let base = record(base.clone());
        let (gone, living) =
            (ledger(&base, &record(deleted.clone())), ledger(&base, &record(goes_on.clone())));
        let [one, other] = [(&gone, &living), (&living, &gone)]
            .map(|(ours, theirs)| merge(std::slice::from_ref(&base), ours, theirs).0);
        assert_eq!(canonical(&one), canonical(&other));
        // The clone that deleted it takes the merged line, and keeps it as it is.
        let after = merge(&[base.clone(), gone.clone()], &gone, &one).0;
        for record in [&one, &after] {
            let on: Vec<&str> =
                record.dependencies.iter().filter_map(|edge| edge["depends_on_id"].as_str()).collect();
            assert_eq!((on, record.task.status.as_str()), (expected.clone(), "open"));
            assert_eq!(record.task.parent_id.as_deref(), Some("a-4"));
        }
    }
}

#[test]
fn a_dependency_that_goes_with_its_target_revives_no_deleted_issue() {
    let edge = json!({ "issue_id": "a-1", "depends_on_id": "a-2", "type": "blocks" });
    let renamed = json!({ "issue_id": "a-1", "depends_on_id": "a-9", "type": "blocks" });
    let base = record(json!({ "dependencies": [edge] }));
    let gone =
        ledger(&base, &record(json!({ "status": "tombstone", "deleted_at": SECOND, "updated_at": SECOND })));
    for left in [json!([]), json!([renamed])] {
        let other = ledger(&base, &record(json!({ "dependencies": left, "updated_at": THIRD })));
        for (ours, theirs) in [(&gone, &other), (&other, &gone)] {
            let merged = merge(std::slice::from_ref(&base), ours, theirs).0;
            assert_eq!(merged.task.status, "tombstone");
        }
    }
}

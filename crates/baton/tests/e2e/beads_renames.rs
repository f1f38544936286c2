//! An issue is renamed in one clone and worked on in another: git brings both together, and nothing stays behind under the old id.

use serde_json::json;

use crate::beads_git::{Clone, comments_of};
use crate::stage::text;

#[test]
fn what_was_done_under_the_old_id_is_under_the_new_one_after_a_merge() {
    for has_driver in [true, false] {
        let ann = Clone::first();
        let (id, other) = (ann.create("the work"), ann.create("what waits for it"));
        ann.push();
        let ben = Clone::of(&ann);
        ben.show(&id);
        if has_driver {
            ben.who("Ann").json(&["init", "--merge-driver"]);
        }
        let renamed = text(&ann.bd(&["rename", &id, "shop-auth"]), "new_id");
        assert_eq!(ann.bd(&["comments", &id]), json!([]), "the former id leads to the present one");
        ann.push();
        ben.bd(&["comment", &id, "half of it is done"]);
        ben.bd(&["update", &id, "--notes", "see the branch"]);
        ben.bd(&["dep", "add", &other, &id]);
        ben.bd(&["close", &id, "--reason", "done in the other clone"]);
        ben.git("add -A");
        ben.git("commit -qm more");
        ben.git("fetch -q");
        let merged = ben.try_git("merge -q -m merged origin/main");
        assert_eq!(merged.code == 0, has_driver, "{merged:?}");
        let refused = ben.who("Ann").run(&["bd", "update", &id, "--notes", "late"]);
        assert!(refused.code != 0 && refused.err.contains(&renamed), "{refused:?}");
        ben.push();
        ann.git("pull -q --no-rebase");
        for clone in [&ben, &ann] {
            let found = clone.show(&renamed);
            assert_eq!(
                (&found["status"], &found["close_reason"], &found["notes"], comments_of(&found)),
                (
                    &json!("closed"),
                    &json!("done in the other clone"),
                    &json!("see the branch"),
                    vec!["half of it is done".to_owned()]
                ),
                "with the driver: {has_driver}"
            );
            assert_eq!(clone.show(&other)["dependencies"][0]["id"], json!(renamed));
            assert_eq!(text(&clone.bd(&["ready"])[0], "id"), other, "what waited is ready, once");
            assert_eq!(clone.bd(&["ready"]).as_array().map(Vec::len), Some(1));
        }
    }
}

#[test]
fn a_worker_records_its_result_under_the_id_that_another_home_gave_its_task() {
    let ann = Clone::first();
    ann.who("Ann").json(&["init", "--merge-driver"]);
    let made = ann.who("Ann").json(&["task", "create", "the work", "--agent-role", "implementation"]);
    let id = text(&made, "id");
    ann.push();
    let ben = Clone::of(&ann);
    ben.bd(&["rename", &id, "shop-auth"]);
    ben.push();
    // Its command pulls what the other home did, as an agent does, and then says what it did.
    let command = r#"set -e
git add -A
git -c user.name=n -c user.email=e@x commit -qm claim
git -c user.name=n -c user.email=e@x pull -q --no-rebase
echo '{"result":"pass","reason":"built","context":{"work_completed":"all of it"}}' > "$BATON_RESULT"
"#;
    let work = ["--json", "work", "--role", "implementation", "--once", "--", "sh", "-c", command];
    let done = ann.who("impl-1").run(&work).done();
    assert_eq!(
        (done.json()["outcome"].clone(), done.json()["task_id"].clone()),
        (json!("pass"), json!("shop-auth"))
    );
    assert!(done.err.contains("is called shop-auth now"), "{}", done.err);
    let found = ann.who("Ann").json(&["task", "show", "shop-auth", "--full"]);
    assert_eq!((&found["status"], &found["close_reason"]), (&json!("closed"), &json!("built")), "{found:#}");
    assert_eq!(found["agent_context"]["work_completed"], "all of it");
    let again =
        ann.who("impl-1").run(&["--json", "work", "--role", "implementation", "--once", "--", "true"]);
    assert_eq!(again.done().json()["outcome"], "nothing_ready", "the work is not done twice");
}

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

//! Tasks in `baton top`: to whom they are given, by which key, and not over another's head.

use serde_json::json;

use crate::picker::script;
use crate::stage::{Stage, text};
use crate::top::seat;

#[test]
fn of_two_tasks_in_one_row_each_is_given_by_a_key_of_its_own_and_not_over_another() {
    if !script() {
        return;
    }
    let stage = Stage::ready();
    let (ned, ida, ann) = (stage.terminal("Ned"), stage.terminal("Ida"), stage.terminal("Ann"));
    for terminal in [&ned, &ida] {
        terminal.json(&["start"]);
    }
    let ground = text(&ann.json(&["task", "create", "The ground"]), "id");
    let roof = text(&ann.json(&["task", "create", "The roof", "-p", "0", "--deps", &ground]), "id");
    let assignee = |id: &str| ann.json(&["task", "show", id])["assignee"].clone();
    let mut top = seat(&ann, "baton top --project shop --every 60");
    top.see(&format!("r give {ground} to another · v give this one to another"));
    // Ida was given it after the row was read.
    top.press("r");
    ann.json(&["task", "update", &ground, "--assignee", "Ida", "--holder", ""]);
    top.press("Ned\r");
    top.see("Ida");
    assert_eq!(assignee(&ground), "Ida", "nobody is ousted unseen");
    top.press("\r");
    top.see("the task is for Ned");
    assert_eq!(assignee(&ground), "Ned");
    top.press("vIda\r");
    top.see("the task is for Ida");
    assert_eq!((assignee(&roof), assignee(&ground)), (json!("Ida"), json!("Ned")));
    top.press("q");
    assert_eq!(top.end(), 0);
}

#[test]
fn a_task_for_a_name_that_nobody_has_says_that_nobody_is_told() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    stage.terminal("Ned").json(&["start"]);
    let id = text(&ann.json(&["task", "create", "The ground"]), "id");
    let remark = "warning: nobody called Nedd has registered or worked in shop";
    for (name, is_unknown) in [("Nedd", true), ("ned", false), ("", false), ("Ann", false)] {
        let given = ann.run(&["task", "update", &id, "--assignee", name]);
        assert_eq!(given.err.contains(remark), is_unknown, "{name}: {}", given.err);
        given.done();
    }
    let made = ann.run(&["task", "create", "The roof", "--assignee", "Nedd"]);
    assert!(made.err.contains(remark), "{}", made.err);
}

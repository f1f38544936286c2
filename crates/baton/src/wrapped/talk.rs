//! Which transcript the agent wrote: told by its hooks, else the one that grew in its folder while it ran.

use std::path::Path;

use baton_model::time::{Millis, parse_rfc3339};
use serde_json::Value;

use crate::render;

/// Some tools write times in whole seconds.
const BLUR: Millis = 2_000;

/// The transcripts that may be the agent's, the likeliest first.
pub struct Found<'a> {
    /// The one that is taken.
    pub first: Option<&'a Value>,
    /// Others of which nothing tells that they are somebody else's.
    pub others: Vec<&'a Value>,
}

/// Chooses among the listed ones that changed since `began`. `told` are the ids that the agent's own hooks named.
pub fn choose<'a>(listed: &'a [Value], cwd: &Path, began: Millis, told: &[String]) -> Found<'a> {
    let at = |row: &Value, key: &str| parse_rfc3339(&render::text(row, key));
    let here = |row: &&Value| row["cwd"].as_str().is_none_or(|own| Path::new(own).starts_with(cwd));
    let changed = |row: &&Value| at(row, "updated_at").is_some_and(|at| at >= began - BLUR);
    let mut rows: Vec<&Value> = listed.iter().filter(here).filter(changed).collect();
    let named: Vec<&Value> =
        rows.iter().copied().filter(|row| told.iter().any(|id| row["id"] == id.as_str())).collect();
    if !named.is_empty() {
        rows = named;
    } else if rows.iter().any(|row| begun(row, began)) {
        // What was begun before and went on is another agent's, or one of its own that it took up and left.
        rows.retain(|row| begun(row, began));
    }
    rows.sort_by_key(|row| std::cmp::Reverse(at(row, "updated_at")));
    let others = rows.split_off(rows.len().min(1));
    Found { first: rows.pop(), others: if told.is_empty() { others } else { Vec::new() } }
}

fn begun(row: &Value, began: Millis) -> bool {
    parse_rfc3339(&render::text(row, "created_at")).is_some_and(|at| at >= began - BLUR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_model::time::rfc3339;
    use serde_json::json;

    const BEGAN: Millis = 1_800_000_000_000;

    fn row(id: &str, cwd: Option<&str>, created: Millis, updated: Millis) -> Value {
        let at = |ago: Millis| rfc3339(BEGAN + ago * 1_000);
        json!({ "id": id, "cwd": cwd, "created_at": at(created), "updated_at": at(updated) })
    }

    fn check(rows: &[Value], told: &[&str], expected: &str, others: usize) {
        let told: Vec<String> = told.iter().map(|id| (*id).to_owned()).collect();
        let found = choose(rows, Path::new("/shop"), BEGAN, &told);
        let first = found.first.map_or("none", |row| row["id"].as_str().unwrap_or_default());
        assert_eq!((first, found.others.len()), (expected, others), "{rows:?}");
    }

    #[test]
    fn only_what_grew_in_the_folder_since_can_be_it() {
        let old = row("old", Some("/shop"), -90, -60);
        let elsewhere = row("elsewhere", Some("/shopping"), 5, 9);
        check(&[old.clone(), elsewhere.clone()], &[], "none", 0);
        check(&[old, elsewhere, row("own", Some("/shop/web"), 5, 9)], &[], "own", 0);
        check(&[row("homeless", None, 5, 9)], &[], "homeless", 0);
    }

    #[test]
    fn what_was_begun_goes_before_what_went_on_and_two_are_told() {
        let resumed = row("resumed", Some("/shop"), -90, 20);
        check(std::slice::from_ref(&resumed), &[], "resumed", 0);
        check(&[resumed.clone(), row("new", Some("/shop"), 1, 9)], &[], "new", 0);
        let two = [row("a", Some("/shop"), 1, 9), row("b", Some("/shop"), 2, 12), resumed];
        check(&two, &[], "b", 1);
        check(&two, &["a"], "a", 0);
        check(&two, &["resumed"], "resumed", 0);
    }

    #[test]
    fn whole_seconds_do_not_lose_a_short_run() {
        check(&[row("own", Some("/shop"), -1, -1)], &[], "own", 0);
    }
}

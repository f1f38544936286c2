//! Options and verbs of `bd` that were swallowed or answered with nothing of use.

use crate::beads_verbs::{bd, bd_json, made};
use crate::stage::Stage;

#[test]
fn the_options_of_doctor_work_or_name_what_to_use() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let (first, second) = (made(&ann, &["same"]), made(&ann, &["same"]));
    let found = bd_json(&ann, &["doctor", "--agent"]);
    assert_eq!(found["overall_ok"], false, "{found}");
    let only = bd_json(&ann, &["doctor", "--check", "duplicates"]);
    assert_eq!(only["checks"].as_array().map(Vec::len), Some(1), "{only}");
    let deep = bd_json(&ann, &["doctor", "--deep", "--output", "report.json"]);
    assert_eq!(deep["checks"].as_array().map(Vec::len), Some(7), "{deep}");
    let report = std::fs::read_to_string(stage.shop().join("report.json")).expect("written");
    assert!(report.contains("Conventions"), "{report}");
    // What it can mend is mended by verbs, which it names.
    let text = bd(&ann, &["doctor"]).done().out;
    assert!(text.contains("bd duplicates"), "{text}");
    let fixed = bd(&ann, &["doctor", "--fix", "--yes"]);
    assert!(fixed.code == 0 && fixed.out.contains("nothing to mend"), "{fixed:?}");
    for (args, told) in [
        (&["--check", "nothing"][..], "duplicates"),
        (&["--server"], "baton doctor"),
        (&["--perf"], "baton doctor"),
        (&["--check", "pollution", "--clean"], "bd delete"),
        (&["--no-such-option"], "bd doctor --help"),
        (&["extra", "words"], "bd -C FOLDER doctor"),
    ] {
        let answer = bd(&ann, &[&["doctor"], args].concat());
        assert!(answer.code == 1 && answer.err.contains(told), "{args:?}: {answer:?}");
    }
    // The file that is missing is what it mends.
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    let file = stage.shop().join(".beads/issues.jsonl");
    _ = std::fs::remove_file(&file);
    bd(&ann, &["doctor", "--fix", "--dry-run"]).done();
    bd(&ann, &["doctor", "--fix"]).done();
    let text = std::fs::read_to_string(&file).expect("written");
    assert!(text.contains(&first) && text.contains(&second), "{text}");
}

#[test]
fn init_sync_and_prime_swallow_no_option() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    for verb in ["init", "bootstrap", "sync", "prime"] {
        let answer = bd(&ann, &[verb, "--no-such-option"]);
        let help = format!("bd {verb} --help");
        assert!(answer.code == 1 && answer.err.contains(&help), "{verb}: {answer:?}");
    }
    for args in [
        &["init", "--quiet", "--skip-hooks"][..],
        &["sync", "--import-only", "-m", "a text"],
        &["prime", "--full"],
    ] {
        bd(&ann, args).done();
    }
}

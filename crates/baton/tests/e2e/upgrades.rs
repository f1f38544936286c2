//! What every release wrote is read by this version: its ledger, its exports, its settings, its entries in other tools' files.
//!
//! `cargo xtask release-fixtures` keeps it (`tests/releases`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::stage::{BATON, Stage, Terminal, items, text};

/// What one release left.
struct Release(PathBuf);

impl Release {
    fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/releases");
        let found: Vec<Self> =
            fs::read_dir(folder).expect("fixtures").map(|entry| Self(entry.expect("entry").path())).collect();
        assert!(!found.is_empty(), "no release has fixtures");
        found
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).expect("a fixture")
    }

    /// A stage whose store is the one of the release.
    fn stage(&self) -> Stage {
        let stage = Stage::in_a_file("a release wrote the file");
        let packed = fs::read(self.0.join("store.db.zst")).expect("a store");
        fs::create_dir_all(stage.store().parent().expect("folder")).expect("made");
        fs::write(stage.store(), zstd::bulk::decompress(&packed, 64 << 20).expect("unpacked"))
            .expect("written");
        stage
    }
}

/// Fields that say how something is now: they differ with the time and the machine of the question.
const OF_THE_MOMENT: [&str; 9] =
    ["live", "fresh", "liveness", "heartbeat", "age", "last_seen", "is_here", "process_ended", "score"];

/// Where an answer does not say what it said before. New fields and new items are no difference.
fn differences(before: &Value, now: &Value, place: &str, found: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            for (key, value) in before.iter().filter(|(key, _)| !OF_THE_MOMENT.contains(&key.as_str())) {
                let place = format!("{place}.{key}");
                differences(value, now.get(key).unwrap_or(&Value::Null), &place, found);
            }
        }
        (Value::Array(before), Value::Array(now)) if before.len() <= now.len() => {
            for (index, (before, now)) in before.iter().zip(now).enumerate() {
                differences(before, now, &format!("{place}[{index}]"), found);
            }
        }
        _ if before == now => {}
        _ => found.push(format!("{place}: {before} became {now}")),
    }
}

#[test]
fn the_ledger_of_every_release_says_the_same_and_goes_on() {
    for release in Release::all() {
        let stage = release.stage();
        let ann = stage.terminal("Ann").with("BATON_PROJECT", "shop").with("BATON_MACHINE", "machine");
        let answers: BTreeMap<String, Value> =
            serde_json::from_str(&release.text("answers.json")).expect("answers");
        let mut found = Vec::new();
        for (question, before) in &answers {
            let now = ann.json(&question.split(' ').collect::<Vec<_>>());
            differences(before, &now, question, &mut found);
        }
        assert!(answers.len() > 5 && found.is_empty(), "{}: {found:#?}", release.0.display());
        stage.assert_sound();
        // And work goes on: what waits is picked up, a task is closed, a baton is left.
        let donna = stage.terminal("Donna").with("BATON_PROJECT", "shop");
        let before = items(&ann.json(&["batons"])).len();
        assert!(before >= 2, "batons wait in the store of a release");
        let picked = donna.json(&["pickup"]);
        assert!(picked["baton"]["summary"].is_string(), "{picked:#}");
        assert_eq!(items(&ann.json(&["batons"])).len(), before - 1);
        let task = text(&donna.json(&["task", "create", "after the upgrade"]), "id");
        donna.json(&["task", "claim", &task]);
        donna.json(&["task", "close", &task]);
        donna.json(&["wrap", "--summary", "upgraded"]);
        stage.assert_sound();
    }
}

#[test]
fn the_exports_of_every_release_are_taken_in() {
    for release in Release::all() {
        let stage = Stage::new();
        let lola = stage.terminal("Lola");
        lola.json(&["log", "import", &release.path("ledger.jsonl")]);
        let deltas = items(&lola.json(&["log", "--project", "shop"])).len();
        assert!(deltas > 10, "{deltas} deltas");
        let imported =
            lola.with("BATON_PROJECT", "shop").json(&["handoff", "import", &release.path("work.baton")]);
        assert!(imported["baton_id"].is_string(), "{imported:#}");

        let stage = Stage::ready();
        let lola = stage.terminal("Lola");
        lola.json(&["import", "beads", &release.path("issues.jsonl")]);
        let titles: Vec<String> =
            items(&lola.json(&["task", "list"])).iter().map(|task| text(task, "title")).collect();
        for title in ["add taxes", "print receipts"] {
            assert!(titles.iter().any(|there| there == title), "{titles:?}");
        }
    }
}

#[test]
fn the_settings_of_every_release_are_read() {
    for release in Release::all() {
        let stage = Stage::in_a_file("the settings name it");
        let settings = release.text("config.toml").replace("@HOME@", &stage.home().display().to_string());
        stage.file("home/config/baton/config.toml", &settings);
        let shown = stage.bare().json(&["config", "show"]).to_string();
        let given: toml::Table = settings.parse().expect("TOML");
        let keys = given.iter().flat_map(|(key, value)| match value.as_table() {
            Some(table) => table.keys().map(|below| format!("{key}.{below}")).collect(),
            None => vec![key.clone()],
        });
        for key in keys {
            assert!(shown.contains(&format!("\"{key}\"")), "{key} is not in {shown}");
        }
    }
}

/// A home in which a release had set up every tool.
fn installed_by(release: &Release) -> Stage {
    let stage = Stage::ready();
    let files: BTreeMap<String, String> =
        serde_json::from_str(&release.text("installed.json")).expect("files");
    for (name, content) in files {
        let content =
            content.replace("@HOME@", &stage.home().display().to_string()).replace("@BATON@", BATON);
        let name = name.replacen(".config/", "config/", 1).replacen(".local/share/", "data/", 1);
        stage.file(&format!("home/{name}"), content.replace("/.config/", "/config/"));
    }
    stage
}

fn states(terminal: &Terminal<'_>) -> BTreeMap<String, (String, String, String)> {
    let report = terminal.run(&["doctor", "--json"]).json();
    let tools = report["tools"].as_array().expect("tools").iter();
    tools
        .map(|tool| (text(tool, "agent"), (text(tool, "mcp"), text(tool, "hooks"), text(tool, "hint"))))
        .collect()
}

#[test]
fn the_entries_of_every_release_are_current_or_named_and_mended() {
    for release in Release::all() {
        let stage = installed_by(&release);
        let lola = stage.terminal("Lola");
        let before = states(&lola);
        assert!(before.len() > 10, "{before:#?}");
        for (tool, (mcp, hooks, hint)) in &before {
            let known = |state: &str| ["present", "none", "outdated", "untrusted"].contains(&state);
            assert!(known(mcp) && known(hooks), "{tool}: {mcp}, {hooks}: {hint}");
        }
        lola.run(&["doctor", "--fix", "--yes", "--json"]);
        for (tool, (mcp, hooks, hint)) in states(&lola) {
            let current = |state: &str| ["present", "none", "untrusted"].contains(&state);
            assert!(current(&mcp) && current(&hooks), "{tool}: {mcp}, {hooks}: {hint}");
        }
    }
}

#[test]
fn entries_of_another_version_are_named_and_mended_and_what_the_user_added_stays() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["install", "claude", "codex", "kimi", "opencode", "--yes"]);
    let current = states(&lola);
    let edit = |name: &str, from: &str, to: &str| {
        let file = stage.home().join(name);
        let content = fs::read_to_string(&file).expect("a file");
        assert!(content.contains(from), "{from} is not in {content}");
        fs::write(&file, content.replacen(from, to, 1)).expect("written");
    };
    // A verb of another version, an event that is not asked for any more beside a hook of the user's, and other arguments.
    edit(".claude/settings.json", "hook session-start", "hook begin");
    let retired = format!(
        "\"hooks\": {{\n    \"Stop\": [{{ \"hooks\": [{{ \"command\": \"{BATON} hook stop\" }}, {{ \"command\": \"mine\" }}] }}],\n"
    );
    edit(".claude/settings.json", "\"hooks\": {\n", &retired);
    edit(".kimi-code/config.toml", "hook prompt --agent kimi", "hook prompt");
    edit("config/opencode/plugins/baton.js", "\n", "\n// of another version\n");
    let named = states(&lola);
    for tool in ["claude", "kimi", "opencode"] {
        let (mcp, hooks, hint) = &named[tool];
        assert_eq!(hooks, "outdated", "{tool}: {mcp}, {hint}");
        assert_eq!(hint, &format!("another version of Baton wrote it: run `baton install {tool}`"));
    }
    assert_eq!((named["claude"].0.as_str(), &named["codex"]), ("present", &current["codex"]));
    // Without anybody to ask nothing is changed; the answer shows what would be.
    let refusal = lola.refused(1, "install_needs_yes", &["doctor", "--fix"]);
    assert!(text(&refusal, "diff").contains("hook session-start"), "{refusal:#}");
    assert_eq!(states(&lola), named);
    let fixed = lola.run(&["doctor", "--fix", "--yes", "--json"]);
    let settings = fs::read_to_string(stage.home().join(".claude/settings.json")).expect("settings");
    assert!(settings.contains("\"mine\"") && !settings.contains("hook stop"), "{settings}");
    assert!(!settings.contains("hook begin") && settings.contains("hook session-start"), "{settings}");
    let after = states(&lola);
    for tool in ["claude", "codex", "kimi"] {
        assert_eq!(after[tool], current[tool], "{tool}: {fixed:#?}");
    }
    // A whole file that is not as it was written may be the user's: it is named and left.
    assert_eq!(after["opencode"].1, "outdated");
    assert!(fixed.err.contains("is not as `baton install` wrote it"), "{fixed:#?}");
    lola.json(&["install", "claude", "codex", "kimi", "--uninstall", "--yes"]);
    let left = fs::read_to_string(stage.home().join(".claude/settings.json")).expect("the user's hook");
    assert!(left.contains("mine") && !left.contains(BATON), "{left}");
}

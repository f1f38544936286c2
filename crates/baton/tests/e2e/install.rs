//! `baton install`: files of other tools get our entries and nothing else, and lose them again without a trace.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::stage::{BATON, Stage, env, text};

const ALL: &str = "claude codex gemini copilot cursor opencode kilo qwen kimi droid antigravity kiro cline roo kilo_code pi crush goose zed amp";

/// Files as their users keep them, each in another fashion.
const FILES: [(&str, &str); 10] = [
    (
        ".claude/settings.json",
        "{\n  \"permissions\": { \"allow\": [\"Bash(ls:*)\"] },\n  \"hooks\": {\n    \"SessionStart\": [\n      { \"hooks\": [ { \"type\": \"command\", \"command\": \"echo mine\" } ] }\n    ]\n  }\n}\n",
    ),
    (".claude.json", "{\"numStartups\":3,\"mcpServers\":{}}"),
    (
        ".codex/config.toml",
        "# mine\nmodel = \"gpt\"\n\n[mcp_servers.other] # theirs\ncommand = \"o\"\n\n[profiles.x]\nmodel = 'y' # last line has no end",
    ),
    (
        ".gemini/settings.json",
        "{\r\n\t// tabs and carriage returns\r\n\t\"mcpServers\": {\r\n\t\t\"x\": { \"command\": \"x\" }, // trailing\r\n\t},\r\n}\r\n",
    ),
    (
        "config/opencode/opencode.jsonc",
        "\u{feff}{\n    /* four */\n    \"theme\": \"x\",\n    \"mcp\": {\n    }\n}\n",
    ),
    (".cursor/hooks.json", "{ \"version\": 1, \"hooks\": { \"stop\": [{ \"command\": \"./mine.sh\" }] } }\n"),
    (".kimi-code/config.toml", "[[hooks]]\nevent = \"Stop\"\ncommand = \"mine\"\n"),
    ("config/zed/settings.json", "// Zed settings\n{\n  \"theme\": \"One\", // mine\n}\n"),
    (".qwen/settings.json", ""),
    ("config/goose/config.yaml", "extensions: {}\n"),
];

/// A home in which every tool was used.
fn furnished() -> Stage {
    let stage = Stage::ready();
    for (name, content) in FILES {
        stage.file(&format!("home/{name}"), content);
    }
    for folder in [".copilot", ".factory", ".kiro"] {
        fs::create_dir_all(stage.home().join(folder)).expect("folder");
    }
    stage
}

/// Every file of the home but those of Baton itself, and every folder.
fn tree(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.ends_with("home/data") {
            continue;
        }
        if path.is_dir() {
            found.extend(tree(&path));
            found.push((path, None));
        } else {
            found.push((path.clone(), Some(fs::read(&path).expect("a file"))));
        }
    }
    found.sort();
    found
}

fn args<'a>(verb: &[&'a str]) -> Vec<&'a str> {
    ["install"].into_iter().chain(ALL.split(' ')).chain(verb.iter().copied()).collect()
}

#[test]
fn what_is_installed_can_be_taken_out_without_a_trace() {
    let stage = furnished();
    let lola = stage.terminal("Lola");
    let before = tree(&stage.home());
    let seen = lola.json(&args(&["--dry-run"]));
    assert_eq!(
        (seen["changed"].clone(), tree(&stage.home())),
        (Value::Bool(false), before.clone()),
        "looking changes nothing"
    );
    let done = lola.json(&args(&["--yes"]));
    assert_eq!(done["diff"], seen["diff"], "what was shown is what was done");
    let installed = tree(&stage.home());
    assert_ne!(installed, before);
    let again = lola.json(&args(&["--yes"]));
    assert_eq!((again["changed"].clone(), again["diff"].clone()), (false.into(), "".into()));
    assert_eq!(tree(&stage.home()), installed, "twice is once");
    let report = lola.json(&["doctor"]);
    for tool in report["tools"].as_array().expect("tools") {
        let texts = [text(tool, "mcp"), text(tool, "hooks")];
        // These two want the user's word first.
        let wants_trust = match tool["agent"].as_str() {
            Some("codex") => Some(1),
            Some("gemini") => Some(0),
            _ => None,
        };
        for (part, word) in texts.iter().enumerate() {
            let is_well = match wants_trust == Some(part) {
                true => word == "untrusted" && text(tool, "hint").contains("trust"),
                false => word == "present" || word == "none",
            };
            assert!(is_well, "{tool:#}");
        }
    }
    lola.json(&args(&["--uninstall", "--yes"]));
    assert_eq!(tree(&stage.home()), before);
    assert!(!stage.home().join("data/baton/installed.json").exists(), "nothing is remembered");
}

#[test]
fn what_the_user_added_since_stays() {
    let stage = furnished();
    let lola = stage.terminal("Lola");
    lola.json(&args(&["--yes"]));
    let settings = stage.home().join(".claude/settings.json");
    let edited =
        fs::read_to_string(&settings).expect("settings").replacen('{', "{\n  \"model\": \"new\",", 1);
    fs::write(&settings, &edited).expect("written");
    // A hook of theirs in our group.
    let gemini = stage.home().join(".gemini/settings.json");
    let group = fs::read_to_string(&gemini).expect("settings");
    let at = group.find("\"hooks\": [").expect("a group") + "\"hooks\": [".len();
    fs::write(&gemini, format!("{} {{ \"command\": \"theirs\" }},{}", &group[..at], &group[at..]))
        .expect("written");
    // A plugin that somebody changed.
    let plugin = stage.home().join("config/opencode/plugins/baton.js");
    fs::write(&plugin, "// mine now\n").expect("written");
    let answer = lola.json(&args(&["--uninstall", "--yes"]));
    let left = fs::read_to_string(&settings).expect("settings");
    assert_eq!(left, FILES[0].1.replacen('{', "{\n  \"model\": \"new\",", 1));
    let gemini = fs::read_to_string(&gemini).expect("settings");
    assert!(gemini.contains("theirs") && !gemini.contains("baton"), "{gemini}");
    assert_eq!(fs::read_to_string(&plugin).expect("plugin"), "// mine now\n");
    assert!(answer.to_string().contains("was changed by hand and is left"), "{answer:#}");
}

#[test]
fn without_anybody_to_ask_nothing_is_changed() {
    let stage = furnished();
    let lola = stage.terminal("Lola");
    let before = tree(&stage.home());
    let refusal = lola.refused(1, "install_needs_yes", &["install", "claude"]);
    assert!(text(&refusal, "diff").contains("session-start"));
    lola.refused(1, "install_which", &["install", "--yes"]);
    lola.refused(1, "agent_unknown", &["install", "emacs"]);
    lola.refused(1, "agent_unknown", &["install", "aider"]);
    lola.refused(1, "install_scope", &["install", "zed", "codex", "amp", "--scope", "project"]);
    assert_eq!(tree(&stage.home()), before);
}

#[test]
fn a_broken_file_is_left_alone_and_named_with_its_place() {
    let stage = furnished();
    let lola = stage.terminal("Lola");
    let broken = "{\n  \"a\": 1\n  \"b\": 2\n}";
    stage.file("home/.claude/settings.json", broken);
    let refusal = lola.refused(1, "install_file_broken", &["install", "claude", "--yes"]);
    assert!(
        text(&refusal, "message").contains("settings.json cannot be edited: line 3, column 3"),
        "{refusal:#}"
    );
    assert!(text(&refusal, "hint").contains("baton hook session-start"), "{refusal:#}");
    assert_eq!(fs::read_to_string(stage.home().join(".claude/settings.json")).expect("kept"), broken);
    assert_eq!(
        fs::read_to_string(stage.home().join(".claude.json")).expect("kept"),
        FILES[1].1,
        "all or nothing of a tool"
    );
    // The others are served all the same, and the exit code says that one was not.
    let answer = lola.run(&["install", "--all", "--yes", "--json"]);
    assert_eq!(answer.code, 1, "{answer:#?}");
    assert!(
        fs::read_to_string(stage.home().join(".codex/config.toml"))
            .expect("codex")
            .contains("mcp_servers.baton")
    );
    stage.file("home/.claude.json", r#"{"mcpServers":{"baton":{"command":"mine"}}}"#);
    stage.file("home/.claude/settings.json", "{}");
    lola.refused(1, "install_name_taken", &["install", "claude", "--yes"]);
}

#[test]
fn links_and_modes_are_kept() {
    let stage = Stage::ready();
    let real = stage.file("dotfiles/settings.json", "{}\n");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).expect("mode");
    fs::create_dir_all(stage.home().join(".gemini")).expect("folder");
    let link = stage.home().join(".gemini/settings.json");
    symlink("../../dotfiles/settings.json", &link).expect("link");
    let lola = stage.terminal("Lola");
    lola.json(&["install", "gemini", "--yes"]);
    assert!(fs::symlink_metadata(&link).expect("link").is_symlink());
    assert!(fs::read_to_string(&real).expect("real").contains("mcpServers"));
    assert_eq!(fs::metadata(&real).expect("real").permissions().mode() & 0o777, 0o600);
    let beside = fs::read_dir(stage.root().join("dotfiles")).expect("folder").count();
    assert_eq!(beside, 1, "no file is left beside it");
    lola.json(&["install", "gemini", "--uninstall", "--yes"]);
    assert_eq!(fs::read_to_string(&real).expect("real"), "{}\n");
}

#[test]
fn a_program_that_moved_is_named_anew_and_what_the_user_gave_it_stays() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["install", "claude", "codex", "copilot", "opencode", "kimi", "--yes"]);
    let installed = tree(&stage.home());
    for (path, content) in &installed {
        let Some(content) = content else { continue };
        let moved = String::from_utf8_lossy(content).replace(BATON, "/gone/baton");
        let moved = moved.replace("\"env\": {}", "\"env\": { \"BATON_IDENTITY\": \"Donna\" }");
        fs::write(path, moved).expect("written");
    }
    let doctor = lola.run(&["doctor", "--json"]);
    assert_eq!(doctor.code, 1);
    let claude = doctor.json()["tools"][0].clone();
    assert_eq!((text(&claude, "mcp"), text(&claude, "hooks")), ("dangling".into(), "dangling".into()));
    assert_eq!(text(&claude, "hint"), "/gone/baton is not there: run `baton install claude`");
    // Whole files of ours are known by what was written last; these were changed behind our back.
    let plugin = stage.home().join("config/opencode/plugins/baton.js");
    for file in [plugin, stage.home().join(".copilot/hooks/baton.json")] {
        fs::remove_file(file).expect("removed");
    }
    lola.json(&["install", "claude", "codex", "copilot", "opencode", "kimi", "--yes"]);
    let servers = fs::read_to_string(stage.home().join(".claude.json")).expect("servers");
    assert!(
        servers.contains("BATON_IDENTITY") && servers.contains(BATON) && !servers.contains("/gone"),
        "{servers}"
    );
    let left = tree(&stage.home());
    assert!(left.iter().flat_map(|(_, c)| c).all(|c| !String::from_utf8_lossy(c).contains("/gone")));
    assert_eq!(lola.run(&["doctor", "--json"]).code, 0);
}

#[test]
fn a_project_names_the_program_and_not_its_place() {
    let stage = Stage::ready();
    let bin = stage.root().join("bin");
    fs::create_dir(&bin).expect("folder");
    symlink(BATON, bin.join("baton")).expect("link");
    let path = format!("{}:{}", bin.display(), env("PATH").expect("PATH"));
    let lola = stage.terminal("Lola").with("PATH", path);
    let below = stage.shop().join("src");
    fs::create_dir(&below).expect("folder");
    lola.within(&below).json(&["install", "claude", "cursor", "--scope", "project", "--yes"]);
    let server = fs::read_to_string(stage.shop().join(".mcp.json")).expect("in the root of the repository");
    assert!(server.contains("\"command\": \"baton\""), "{server}");
    lola.json(&["install", "claude", "--yes"]);
    let user = fs::read_to_string(stage.home().join(".claude/settings.json")).expect("the user's");
    assert!(user.contains(&format!("{} hook", bin.join("baton").display())), "as it is on the path: {user}");
    lola.json(&["install", "claude", "cursor", "--scope", "project", "--uninstall", "--yes"]);
    assert!(!stage.shop().join(".mcp.json").exists() && !stage.shop().join(".cursor").exists());
}

#[test]
fn the_changes_as_people_read_them() {
    let stage = furnished();
    let lola = stage.terminal("Lola");
    let mut seen = lola.text(&["install"]);
    seen.push_str(&lola.text(&args(&["--dry-run"])));
    seen.push_str(&lola.text(&["install", "claude", "goose", "codex", "--yes", "--quiet"]));
    seen.push_str(&lola.text(&["install", "claude", "goose", "--yes"]));
    seen.push_str(&lola.text(&["doctor"]));
    seen.push_str(&lola.text(&["install", "claude", "goose", "--uninstall", "--yes"]));
    let seen = stage
        .as_with_a_file(&seen)
        .replace(BATON, "/opt/baton")
        .replace(&stage.home().display().to_string(), "«home»");
    assert_snapshot!(seen.replace('\u{feff}', "«mark»"));
}

/// A server that opens another store than the shell works, and finds nothing of what the shell sees.
#[test]
fn doctor_says_which_tool_opens_another_store_than_the_shell() {
    let stage = furnished();
    let lola = stage.terminal("Lola");
    lola.json(&["install", "codex", "claude", "--yes"]);
    let shell = text(&lola.json(&["doctor"]), "store");
    let tool = |name: &str| {
        let tools = lola.json(&["doctor"])["tools"].take();
        tools.as_array().expect("tools").iter().find(|tool| tool["agent"] == name).expect(name).clone()
    };
    for name in ["codex", "claude"] {
        let there = tool(name);
        let opened = (text(&there, "mcp_ledger"), text(&there, "hooks_ledger"));
        assert_eq!(opened, (shell.clone(), shell.clone()), "{name}");
        let hint = text(&there, "hint");
        assert!(if name == "codex" { hint.contains("/hooks") } else { hint.is_empty() }, "{name}: {hint}");
    }
    // Codex passes on nothing that its entry does not name.
    let file = stage.home().join(".codex/config.toml");
    let installed = fs::read_to_string(&file).expect("installed");
    let without: Vec<&str> = installed.lines().filter(|line| !line.starts_with("env_vars")).collect();
    fs::write(&file, without.join("\n")).expect("written");
    let codex = tool("codex");
    assert!(text(&codex, "mcp_ledger").ends_with("/baton/baton.db"), "{codex:#}");
    let hint = text(&codex, "hint");
    assert!(hint.contains("; not passed on: ") && hint.contains("baton install codex"), "{hint}");
    // An entry that names a store of its own, in its variables or on its command line.
    let other = stage.root().join("other.db").display().to_string();
    let entries = [
        json!({ "command": BATON, "args": ["mcp"], "env": { "BATON_STORE": other } }),
        json!({ "command": BATON, "args": ["mcp", "--store", other] }),
    ];
    for entry in entries {
        stage.file("home/.claude.json", json!({ "mcpServers": { "baton": entry } }).to_string());
        let claude = tool("claude");
        let (opened, hint) = (text(&claude, "mcp_ledger"), text(&claude, "hint"));
        assert!(opened == other && hint.contains(".claude.json") && hint.contains(&shell), "{claude:#}");
    }
    // A variable that the tool fills in is the shell's.
    let entry = json!({ "command": BATON, "args": ["mcp"], "env": { "BATON_STORE": "${BATON_STORE}" } });
    stage.file("home/.claude.json", json!({ "mcpServers": { "baton": entry } }).to_string());
    assert_eq!(text(&tool("claude"), "hint"), "");
}

/// Codex starts servers with few variables: without their names its server opens another store than the shell.
#[test]
fn codex_passes_on_what_says_which_store_is_opened() {
    let stage = furnished();
    let lola = stage.terminal("Lola");
    lola.json(&["install", "codex", "--yes"]);
    let file = stage.home().join(".codex/config.toml");
    let passed = |text: &str| {
        let read: toml::Table = text.parse().expect("TOML");
        read["mcp_servers"]["baton"]["env_vars"].as_array().expect("names").len()
    };
    let installed = fs::read_to_string(&file).expect("installed");
    assert!(passed(&installed) > 10 && installed.contains("\"BATON_STORE\""), "{installed}");
    // An entry of an earlier version gets the names, and keeps what the user gave it.
    let without = |line: &&str| !line.starts_with("env_vars");
    let older: Vec<&str> = installed.lines().filter(without).collect();
    fs::write(&file, format!("{}\nstartup_timeout_sec = 60\n", older.join("\n"))).expect("written");
    lola.json(&["install", "codex", "--yes"]);
    let renewed = fs::read_to_string(&file).expect("renewed");
    assert!(passed(&renewed) > 10 && renewed.contains("startup_timeout_sec = 60"), "{renewed}");
    lola.json(&["install", "codex", "--yes"]);
    assert_eq!(fs::read_to_string(&file).expect("the same"), renewed, "twice changes nothing");
}

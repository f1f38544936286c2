//! The packages under `packaging/plugins` with which a tool takes Baton in by itself: MCP server, hooks, commands and a skill. They are written
//! from [`crate::ALL`] and the texts here: a test compares them, `BATON_WRITE_DOCS=1` writes them.
#![allow(clippy::disallowed_methods, reason = "a test may read its environment")]

mod texts;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use self::texts::{COMMANDS, DESCRIPTION, LONG_DESCRIPTION, SKILL, readme};
use crate::install::{EntryContent, InstallEntry, NAME, Places, Scope};
use crate::lookup;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const AUTHOR: &str = "The Baton authors";
const LICENSE: &str = env!("CARGO_PKG_LICENSE");
const KEYWORDS: [&str; 4] = ["handoff", "agents", "context", "mcp"];

/// A file of a package, by its place in the repository.
struct PackageFile {
    path: String,
    text: String,
}

fn file(path: impl Into<String>, text: impl Into<String>) -> PackageFile {
    PackageFile { path: path.into(), text: text.into() }
}

fn json_file(path: impl Into<String>, value: &Value) -> PackageFile {
    file(path, format!("{value:#}\n"))
}

/// What `baton install` writes for a tool, where the program is found by its name.
fn entries(tool: &str) -> Vec<InstallEntry> {
    let places = Places::on_path();
    let installer = lookup::installer(tool).expect("a tool that takes Baton in");
    (installer.install.wants)(&places, Scope::User).expect("entries for a user")
}

/// `hooks/hooks.json`: the groups of each event.
fn hooks(tool: &str) -> Value {
    let mut events = Map::new();
    for entry in entries(tool) {
        if let EntryContent::Element { at, value } = entry.what {
            let event = at.last().expect("an event");
            let groups = events.entry(*event).or_insert_with(|| json!([]));
            groups.as_array_mut().expect("a list").push(value);
        }
    }
    json!({ "hooks": events })
}

/// The entry of the MCP server.
fn server(tool: &str) -> Value {
    let entry = entries(tool).into_iter().find_map(|entry| match entry.what {
        EntryContent::Member { value, .. } | EntryContent::Table { value, .. } => Some(value),
        _ => None,
    });
    let mut entry = entry.expect("a server");
    // An empty list of variables says nothing.
    if entry["env"].as_object().is_some_and(Map::is_empty) {
        entry.as_object_mut().expect("an entry").remove("env");
    }
    json!({ "mcpServers": { NAME: entry } })
}

fn manifest(more: Value) -> Value {
    let mut manifest = json!({
        "name": NAME, "version": VERSION, "description": DESCRIPTION, "author": { "name": AUTHOR }, "license": LICENSE,
        "keywords": KEYWORDS,
    });
    let Value::Object(more) = more else { unreachable!("fields") };
    manifest.as_object_mut().expect("fields").extend(more);
    manifest
}

fn claude() -> Vec<PackageFile> {
    let plugin = json!({ "name": NAME, "source": "./claude", "description": DESCRIPTION, "version": VERSION,
        "author": { "name": AUTHOR }, "category": "productivity" });
    let marketplace =
        json!({ "name": NAME, "owner": { "name": AUTHOR }, "description": DESCRIPTION, "plugins": [plugin] });
    let mut files = vec![
        json_file("packaging/plugins/.claude-plugin/marketplace.json", &marketplace),
        json_file("packaging/plugins/claude/.claude-plugin/plugin.json", &manifest(json!({}))),
        json_file("packaging/plugins/claude/.mcp.json", &server("claude")),
        json_file("packaging/plugins/claude/hooks/hooks.json", &hooks("claude")),
        file(
            "packaging/plugins/claude/README.md",
            readme("Claude Code", &["/plugin marketplace add FOLDER", "/plugin install baton@baton"]),
        ),
        file("packaging/plugins/claude/skills/baton/SKILL.md", SKILL),
    ];
    files.extend(COMMANDS.iter().map(|command| {
        let text =
            format!("---\ndescription: {}\n---\n{}\n\n$ARGUMENTS\n", command.description, command.prompt);
        file(format!("packaging/plugins/claude/commands/{}.md", command.name), text)
    }));
    files
}

fn codex() -> Vec<PackageFile> {
    let plugin = json!({ "name": NAME, "source": { "source": "local", "path": "./codex" },
        "policy": { "installation": "AVAILABLE", "authentication": "ON_INSTALL" }, "category": "Productivity" });
    let marketplace = json!({ "name": NAME, "interface": { "displayName": "Baton" }, "plugins": [plugin] });
    let interface = json!({ "displayName": "Baton", "shortDescription": DESCRIPTION, "longDescription": LONG_DESCRIPTION,
        "developerName": AUTHOR, "category": "Productivity", "capabilities": ["Interactive"],
        "defaultPrompt": ["Take the baton that waits and go on with it."] });
    // `hooks` is not named: the publishing check refuses it, and `hooks/hooks.json` is the place where they are looked for.
    let more = json!({ "skills": "./skills/", "mcpServers": "./.mcp.json", "interface": interface });
    let mut files = vec![
        json_file("packaging/plugins/.agents/plugins/marketplace.json", &marketplace),
        json_file("packaging/plugins/codex/.codex-plugin/plugin.json", &manifest(more)),
        json_file("packaging/plugins/codex/.mcp.json", &server("codex")),
        json_file("packaging/plugins/codex/hooks/hooks.json", &hooks("codex")),
        file(
            "packaging/plugins/codex/README.md",
            readme("Codex", &["codex plugin marketplace add FOLDER", "codex plugin add baton@baton"]),
        ),
        file("packaging/plugins/codex/skills/baton/SKILL.md", SKILL),
    ];
    // Codex has no commands of plugins; a skill is called by its name.
    files.extend(COMMANDS.iter().map(|command| {
        let name = format!("baton-{}", command.name);
        let text =
            format!("---\nname: {name}\ndescription: {}\n---\n{}\n", command.description, command.prompt);
        file(format!("packaging/plugins/codex/skills/{name}/SKILL.md"), text)
    }));
    files
}

fn gemini() -> Vec<PackageFile> {
    let manifest = json!({ "name": NAME, "version": VERSION, "description": DESCRIPTION,
        "mcpServers": server("gemini")["mcpServers"] });
    let mut files = vec![
        json_file("packaging/plugins/gemini/gemini-extension.json", &manifest),
        json_file("packaging/plugins/gemini/hooks/hooks.json", &hooks("gemini")),
        file(
            "packaging/plugins/gemini/README.md",
            readme("Gemini CLI", &["gemini extensions install FOLDER/gemini"]),
        ),
        file("packaging/plugins/gemini/skills/baton/SKILL.md", SKILL),
    ];
    files.extend(COMMANDS.iter().map(|command| {
        let prompt = format!("{}\n\n{{{{args}}}}", command.prompt);
        let text = format!("description = {:?}\nprompt = \"\"\"\n{prompt}\n\"\"\"\n", command.description);
        file(format!("packaging/plugins/gemini/commands/baton/{}.toml", command.name), text)
    }));
    files
}

fn opencode() -> Vec<PackageFile> {
    let plugin = entries("opencode").into_iter().find_map(|entry| match entry.what {
        EntryContent::Whole(text) => Some(text),
        _ => None,
    });
    let readme = readme("OpenCode", &["cp FOLDER/opencode/baton.js ~/.config/opencode/plugins/"]);
    vec![
        file("packaging/plugins/opencode/baton.js", plugin.expect("a plugin")),
        file("packaging/plugins/opencode/README.md", readme),
    ]
}

/// The entry for the registry of MCP servers.
fn registry() -> Vec<PackageFile> {
    let variable = |name: &str, description: &str, is_secret: bool| json!({ "name": name, "description": description, "isRequired": false, "isSecret": is_secret });
    let package = json!({
        "registryType": "npm", "identifier": "baton-handoff", "version": VERSION, "runtimeHint": "npx",
        "transport": { "type": "stdio" }, "packageArguments": [{ "type": "positional", "value": "mcp" }],
        "environmentVariables": [
            variable("BATON_STORE", "Path or address of the ledger; a file of the user's own unless it is given", false),
            variable("BATON_SERVER", "Address of a Baton server to work with in place of a ledger on this machine", false),
            variable("BATON_TOKEN", "Token for that server", true),
        ],
    });
    let server = json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "io.github.baton-handoff/baton", "title": "Baton", "description": DESCRIPTION, "version": VERSION,
        "packages": [package],
    });
    vec![json_file("packaging/plugins/server.json", &server)]
}

fn all() -> Vec<PackageFile> {
    [claude(), codex(), gemini(), opencode(), registry()].into_iter().flatten().collect()
}

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file below a folder, by its place in the repository.
fn present(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).into_iter().flatten().flatten();
    let named =
        entries.map(|entry| (entry.path().is_dir(), format!("{folder}/{}", entry.file_name().display())));
    named.flat_map(|(is_folder, path)| if is_folder { present(&path) } else { vec![path] }).collect()
}

#[test]
fn packages_in_the_reference_say_what_the_tools_table_says() {
    let files = all();
    if std::env::var_os("BATON_WRITE_DOCS").is_some() {
        for file in &files {
            let path = root().join(&file.path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, &file.text).expect("written");
        }
    }
    for file in &files {
        let found = std::fs::read_to_string(root().join(&file.path)).unwrap_or_default();
        assert_eq!(found, file.text, "{}: run `cargo xtask docs`", file.path);
    }
    let known: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let stray: Vec<String> =
        present("packaging/plugins").into_iter().filter(|path| !known.contains(path.as_str())).collect();
    assert_eq!(stray, Vec::<String>::new());
}

#[test]
fn texts_are_as_long_as_each_manifest_allows() {
    // The registry of MCP servers takes 100 characters, Codex 128 for a prompt, a skill 1,024.
    assert!(DESCRIPTION.len() <= 100, "{}", DESCRIPTION.len());
    for command in &COMMANDS {
        assert!(!command.description.contains(['"', ':', '\n']), "{}", command.name);
        assert!(!command.prompt.contains("\"\"\""), "{}", command.name);
    }
    let head = SKILL.split("---").nth(1).expect("a head");
    assert!(head.len() <= 1_024 && head.contains("name: baton\n"), "{head}");
}

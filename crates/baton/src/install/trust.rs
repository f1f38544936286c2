//! Whether a tool trusts what was installed. A tool that does not neither runs the hooks nor starts the server, and shows no error.

use std::path::{Path, PathBuf};

use baton_tools::install::{EntryContent, Install, InstallPart, Places, Scope, TrustMark};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::edit::{json as objects, toml};
use super::entry::is_hook;
use super::files;

/// The event whose hook stands for all: the user trusts them in one go.
const EVENT: (&str, &str) = ("SessionStart", "session_start");
/// How Gemini CLI writes that a folder, or the one above it, is trusted.
const TRUSTED: [&str; 2] = ["TRUST_FOLDER", "TRUST_PARENT"];

/// What the user has to do before the tool uses what is there; nothing where it does, or where that cannot be told.
pub(crate) fn untrusted(places: &Places, install: &Install, part: InstallPart) -> Option<String> {
    match (install.trust.map(|mark| mark(places))?, part) {
        (TrustMark::HookDigests { file }, InstallPart::Hooks) => {
            let is_trusted = hook_digest(places, install).is_none_or(|hook| is_known(&file, &hook));
            (!is_trusted).then(|| "it does not trust the hooks: open it and type /hooks".to_owned())
        }
        (TrustMark::Folders { file, settings }, InstallPart::Mcp) => {
            let is_trusted = is_off(&settings, &places.vars) || is_folder_trusted(&file, &places.project);
            let folder = places.project.display();
            (!is_trusted)
                .then(|| format!("it does not trust {folder}, and starts no server there: open it there"))
        }
        _ => None,
    }
}

/// A hook as the tool knows it: its place, and the digest of its definition.
struct KnownHook {
    /// In either form of the path of its file.
    keys: [String; 2],
    digest: String,
}

/// The hook of the session start, where it is installed.
fn hook_digest(places: &Places, install: &Install) -> Option<KnownHook> {
    [Scope::Project, Scope::User].into_iter().find_map(|scope| {
        let wants = (install.wants)(places, scope)?;
        let is_it = |what: &EntryContent| matches!(what, EntryContent::Element { at, .. } if at.last() == Some(&EVENT.0));
        let want = wants.iter().find(|want| want.part == InstallPart::Hooks && is_it(&want.what))?;
        let text = read(&want.file)?;
        let groups = objects::get(&text, &["hooks", EVENT.0]).ok()??;
        let (group, hook, definition) = position(&groups)?;
        let key = |file: &Path| format!("{}:{}:{group}:{hook}", file.display(), EVENT.1);
        let real = want.file.canonicalize().unwrap_or_else(|_| want.file.clone());
        Some(KnownHook { keys: [key(&want.file), key(&real)], digest: digest(&definition) })
    })
}

/// Where our hook stands among the groups of its event: the numbers of group and hook, and the hook.
fn position(groups: &Value) -> Option<(usize, usize, Value)> {
    groups.as_array()?.iter().enumerate().find_map(|(at, group)| {
        let mut hooks = group["hooks"].as_array()?.iter().enumerate();
        hooks.find(|(_, hook)| is_hook(hook)).map(|(number, hook)| (at, number, hook.clone()))
    })
}

/// The digest that Codex makes of a hook: over JSON without blanks, with sorted keys.
fn digest(hook: &Value) -> String {
    let timeout = hook["timeout"].as_i64().unwrap_or(600);
    let handler =
        json!({ "async": false, "command": hook["command"], "timeout": timeout, "type": "command" });
    let whole = json!({ "event_name": EVENT.1, "hooks": [handler] });
    let digest = Sha256::digest(whole.to_string());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digest}")
}

/// Whether the settings hold the hook as it is. Settings that cannot be read are the report of another check.
fn is_known(file: &Path, hook: &KnownHook) -> bool {
    let Some(text) = read(file) else { return false };
    let Ok(state) = toml::get(&text, &["hooks", "state"]) else { return true };
    let known = |key: &String| state.as_ref().and_then(|state| state.get(key)).cloned();
    let Some(known) = hook.keys.iter().find_map(known) else { return false };
    known["enabled"] != false && known["trusted_hash"].as_str() == Some(&hook.digest)
}

/// Whether folders are trusted without a note: so say the settings, or the environment.
fn is_off(settings: &Path, vars: &std::collections::BTreeMap<String, String>) -> bool {
    if let Some(word) = vars.get("GEMINI_CLI_TRUST_WORKSPACE").filter(|word| !word.is_empty()) {
        return word != "false";
    }
    let enabled = |text: String| objects::get(&text, &["security", "folderTrust", "enabled"]).ok().flatten();
    read(settings).and_then(enabled) == Some(Value::Bool(false))
}

/// Whether the note of the longest path that the folder lies below trusts it.
fn is_folder_trusted(file: &Path, folder: &Path) -> bool {
    let Some(text) = read(file) else { return false };
    let Ok(Some(Value::Object(known))) = objects::get(&text, &[]) else { return false };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real(folder);
    let covered = known.iter().filter_map(|(path, level)| {
        let path = PathBuf::from(path);
        let root = if level == "TRUST_PARENT" { path.parent().map(Path::to_path_buf)? } else { path.clone() };
        folder.starts_with(real(&root)).then(|| (path.as_os_str().len(), level.as_str().unwrap_or_default()))
    });
    covered.max_by_key(|(length, _)| *length).is_some_and(|(_, level)| TRUSTED.contains(&level))
}

fn read(file: &Path) -> Option<String> {
    files::read(&files::resolved(file)).ok().flatten()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn places(home: &Path) -> Places {
        Places {
            home: home.to_owned(),
            project: home.join("shop"),
            vars: Default::default(),
            search_path: Vec::new(),
            macos: false,
            baton: "/bin/baton".into(),
        }
    }

    fn is_untrusted(home: &Path, agent: &str, part: InstallPart) -> bool {
        let one = baton_tools::installer(agent).expect("known");
        untrusted(&places(home), one.install, part).is_some()
    }

    /// The digest is one that Codex 0.171 itself made.
    #[test]
    fn a_hook_is_trusted_by_the_digest_of_its_definition() {
        let home = tempfile::tempdir().expect("a folder");
        fs::create_dir(home.path().join(".codex")).expect("a folder");
        let hooks = home.path().join(".codex/hooks.json");
        let ours = json!({ "type": "command", "command": "/bin/baton hook session-start --agent codex", "timeout": 10 });
        let other = json!({ "hooks": [{ "type": "command", "command": "other" }] });
        let text = json!({ "hooks": { "SessionStart": [other, { "hooks": [ours.clone()] }] } }).to_string();
        fs::write(&hooks, &text).expect("written");
        let known = json!({ "type": "command", "command": "/bin/true hook session-start --agent codex", "timeout": 10 });
        assert_eq!(digest(&known), "sha256:4e19aaeb150d9b2e7b1d08d1d9d2ae09b32c7fb31443e0b5812b2e471f3c8ed0");
        assert!(is_untrusted(home.path(), "codex", InstallPart::Hooks), "nothing is noted");
        let config = |key: &str| {
            let hash = digest(&ours);
            let text = format!(
                "[hooks.state.\"{}:session_start:{key}\"]\ntrusted_hash = \"{hash}\"\n",
                hooks.display()
            );
            fs::write(home.path().join(".codex/config.toml"), text).expect("written");
        };
        config("0:0");
        assert!(is_untrusted(home.path(), "codex", InstallPart::Hooks), "another hook is");
        config("1:0");
        assert!(!is_untrusted(home.path(), "codex", InstallPart::Hooks));
        fs::write(&hooks, text.replace("/bin/baton hook", "/usr/bin/baton hook")).expect("written");
        assert!(is_untrusted(home.path(), "codex", InstallPart::Hooks), "it has changed since");
    }

    #[test]
    fn a_folder_is_trusted_by_the_longest_path_above_it() {
        let home = tempfile::tempdir().expect("a folder");
        for folder in ["shop", ".gemini"] {
            fs::create_dir(home.path().join(folder)).expect("a folder");
        }
        let note = |folders: &[(&str, &str)]| {
            let folders: Value = folders
                .iter()
                .map(|(path, level)| (home.path().join(path).display().to_string(), json!(level)))
                .collect();
            fs::write(home.path().join(".gemini/trustedFolders.json"), folders.to_string()).expect("written");
            is_untrusted(home.path(), "gemini", InstallPart::Mcp)
        };
        assert!(is_untrusted(home.path(), "gemini", InstallPart::Mcp), "nothing is noted");
        assert!(!note(&[("shop", "TRUST_FOLDER")]));
        assert!(!note(&[("other", "TRUST_PARENT")]));
        assert!(note(&[("", "TRUST_FOLDER"), ("shop", "DO_NOT_TRUST")]));
        assert!(note(&[("other", "TRUST_FOLDER")]));
        let settings = r#"{ "security": { "folderTrust": { "enabled": false } } }"#;
        fs::write(home.path().join(".gemini/settings.json"), settings).expect("written");
        assert!(!note(&[]), "trust is off");
    }
}

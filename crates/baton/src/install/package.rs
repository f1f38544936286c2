//! Whether a tool has Baton from a package, its own plugin or extension, which brings what `baton install` would write.

use baton_tools::install::{Install, NAME, PackageMark, Places};
use serde_json::Value;

use super::change::Plan;
use super::edit::{json, toml};
use super::files;

/// Whether the tool has taken the package in. Settings that cannot be read name none.
pub(crate) fn is_packaged(places: &Places, install: &Install) -> bool {
    match install.package.map(|mark| mark(places)) {
        None => false,
        Some(PackageMark::Folder(folder)) => folder.is_dir(),
        Some(PackageMark::Enabled { file, list }) => {
            let Ok(Some(text)) = files::read(&files::resolved(&file)) else { return false };
            let is_toml = file.extension().is_some_and(|end| end == "toml");
            let found = if is_toml { toml::get(&text, &[list]) } else { json::get(&text, &[list]) };
            found.ok().flatten().is_some_and(|plugins| names_ours(&plugins))
        }
    }
}

fn names_ours(plugins: &Value) -> bool {
    let is_ours = |name: &str| name.split_once('@').is_some_and(|(plugin, _)| plugin == NAME);
    let is_on = |value: &Value| *value == true || value["enabled"] == true;
    plugins.as_object().is_some_and(|all| all.iter().any(|(name, value)| is_ours(name) && is_on(value)))
}

/// Writes nothing: the package has everything.
pub(crate) fn nothing_to_add(title: &str) -> Plan {
    let remark = format!(
        "{title} has the package `{NAME}`, with server and hooks; entries beside it would be there twice"
    );
    Plan { remarks: vec![remark], adds: true, ..Plan::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plugin_counts_if_it_is_ours_and_enabled() {
        for ours in
            [json!({ "baton@baton": true }), json!({ "a@b": false, "baton@elsewhere": { "enabled": true } })]
        {
            assert!(names_ours(&ours), "{ours}");
        }
        let others = [
            json!({ "baton@baton": false }),
            json!({ "baton@baton": { "enabled": false } }),
            json!({ "batons@baton": true, "baton": true, "x@baton": true }),
            json!(["baton@baton"]),
            json!(null),
        ];
        for other in others {
            assert!(!names_ours(&other), "{other}");
        }
    }
}

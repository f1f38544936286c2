//! Hooks of ours under events that this version does not ask for any more: an earlier one wrote them, and no entry that is
//! wanted today takes their place.

use baton_tools::install::{EntryContent, InstallEntry};
use serde_json::Value;

use super::check::read;
use super::edit::{EditError, json as objects, toml as tables};
use super::entry::is_hook;

/// Whether the files of these entries hold such hooks.
pub(super) fn has_any(wants: &[&InstallEntry]) -> bool {
    wants.iter().any(|want| {
        let same_file = wants.iter().filter(|other| other.file == want.file);
        let contents: Vec<&EntryContent> = same_file.map(|other| &other.what).collect();
        let text = read(want).ok().flatten().unwrap_or_default();
        without(&text, &contents, &|_| false).is_ok_and(|rest| rest != text)
    })
}

/// The text of a file without such hooks; `wants` are all entries that are wanted in it.
pub(super) fn without(
    text: &str,
    wants: &[&EntryContent],
    made: &objects::CreatedParents<'_>,
) -> Result<String, EditError> {
    let mut text = text.to_owned();
    for want in wants {
        text = match want {
            EntryContent::Element { at, .. } => match at.split_last() {
                Some((_, parent)) => without_retired_lists(&text, parent, wants, made)?,
                None => text,
            },
            EntryContent::Table { at, many: true, .. } => {
                let wanted = |there: &Value| wants.iter().any(|want| is_table_of(want, at, there));
                tables::remove(&text, at, true, &|there| is_hook(there) && !wanted(there))?
            }
            _ => text,
        };
    }
    Ok(text)
}

fn is_table_of(want: &EntryContent, place: &[&str], there: &Value) -> bool {
    matches!(want, EntryContent::Table { at, value, .. } if *at == place && value["event"] == there["event"])
}

fn without_retired_lists(
    text: &str,
    parent: &[&str],
    wants: &[&EntryContent],
    made: &objects::CreatedParents<'_>,
) -> Result<String, EditError> {
    let holder = objects::get(text, parent)?;
    let events = holder.as_ref().and_then(Value::as_object).into_iter().flatten();
    let mut text = text.to_owned();
    for (event, list) in events.filter(|(_, list)| list.is_array()) {
        let here: Vec<&str> = parent.iter().copied().chain([event.as_str()]).collect();
        let is_wanted =
            wants.iter().any(|want| matches!(want, EntryContent::Element { at, .. } if *at == here));
        if !is_wanted && list.as_array().is_some_and(|list| list.iter().any(holds_hook)) {
            text = without_hooks(&text, &here, made)?;
        }
    }
    Ok(text)
}

fn holds_hook(group: &Value) -> bool {
    is_hook(group) || group["hooks"].as_array().is_some_and(|inner| inner.iter().any(is_hook))
}

/// The text without the hooks of ours in one list. A group with other hooks in it keeps those.
pub(super) fn without_hooks(
    text: &str,
    at: &[&str],
    made: &objects::CreatedParents<'_>,
) -> Result<String, EditError> {
    let mut text = objects::pull(text, at, &is_hook, made)?;
    let list = objects::get(&text, at)?.and_then(|list| list.as_array().cloned()).unwrap_or_default();
    for (place, group) in list.iter().enumerate() {
        if group["hooks"].as_array().is_some_and(|inner| inner.iter().any(is_hook)) {
            let place = place.to_string();
            let inner: Vec<&str> = at.iter().copied().chain([place.as_str(), "hooks"]).collect();
            text = objects::pull(&text, &inner, &is_hook, &|_| false)?;
        }
    }
    Ok(text)
}

//! Whether what was installed is still there and still starts something.

use std::path::Path;

use baton_tools::install::{EntryContent, Install, InstallEntry, InstallPart, NAME, Places, Scope};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::edit::{json as objects, toml as tables};
use super::entry::{has_arguments_of, is_hook, is_server, program_of};
use super::package::is_packaged;
use super::trust::untrusted;
use super::{files, retired};

/// How one half of an installation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InstallState {
    /// Everything is there.
    Present,
    /// Nothing is.
    Absent,
    /// Some of it is.
    Partial,
    /// Nothing is, and the tool has it from a package.
    Package,
    /// It is there as another version of Baton writes it.
    Outdated,
    /// It is there, and the tool does not use it before the user has trusted it; what to do.
    Untrusted(String),
    /// It names a program that is not there.
    Dangling(String),
    /// A file cannot be read.
    Broken(String),
    /// The tool has none of this, or it is the user's to add.
    None,
}

impl InstallState {
    /// In a word.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Absent => "absent",
            Self::Partial => "partial",
            Self::Package => "package",
            Self::Outdated => "outdated",
            Self::Untrusted(_) => "untrusted",
            Self::Dangling(_) => "dangling",
            Self::Broken(_) => "broken",
            Self::None => "none",
        }
    }
}

impl Serialize for InstallState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// How one half of a tool's installation stands, for the user or in this project.
pub(crate) fn install_state(places: &Places, install: &Install, part: InstallPart) -> InstallState {
    let mut best = InstallState::None;
    for scope in [Scope::User, Scope::Project] {
        let here = scope_state(places, install, part, scope);
        if matches!(best, InstallState::None | InstallState::Absent) && here != InstallState::None {
            best = here;
        }
    }
    match best {
        InstallState::Absent if is_packaged(places, install) => InstallState::Package,
        InstallState::Present => {
            untrusted(places, install, part).map_or(InstallState::Present, InstallState::Untrusted)
        }
        found => found,
    }
}

/// How one half of a tool's installation stands in one scope.
pub(crate) fn scope_state(
    places: &Places,
    install: &Install,
    part: InstallPart,
    scope: Scope,
) -> InstallState {
    let wants = (install.wants)(places, scope).unwrap_or_default();
    let wants: Vec<&InstallEntry> = wants
        .iter()
        .filter(|want| {
            want.part == part && !matches!(want.what, EntryContent::ByHand(_) | EntryContent::Setting { .. })
        })
        .collect();
    if wants.is_empty() { InstallState::None } else { all(places, &wants) }
}

fn all(places: &Places, wants: &[&InstallEntry]) -> InstallState {
    let (mut there, mut outdated) = (0, false);
    for want in wants {
        match find(places, want) {
            Err(what) => return InstallState::Broken(what),
            Ok(None) => {}
            Ok(Some(found)) if !starts(places, &found.program) => {
                return InstallState::Dangling(found.program);
            }
            Ok(Some(found)) => {
                there += 1;
                outdated |= found.is_outdated;
            }
        }
    }
    match (there, outdated || retired::has_any(wants)) {
        (_, true) => InstallState::Outdated,
        (0, _) => InstallState::Absent,
        (n, _) if n == wants.len() => InstallState::Present,
        _ => InstallState::Partial,
    }
}

fn starts(places: &Places, program: &str) -> bool {
    if program.contains('/') { Path::new(program).is_file() } else { places.has_program(program) }
}

/// An entry of ours as it stands in a tool's file.
struct FoundEntry {
    program: String,
    /// Another version of Baton wrote it.
    is_outdated: bool,
}

fn find(places: &Places, want: &InstallEntry) -> Result<Option<FoundEntry>, String> {
    let wanted = match &want.what {
        EntryContent::Whole(new) => {
            let found =
                |text: String| FoundEntry { program: places.baton.clone(), is_outdated: text != *new };
            return Ok(read(want)?.map(found));
        }
        EntryContent::Member { value, .. }
        | EntryContent::Element { value, .. }
        | EntryContent::Table { value, .. } => value,
        EntryContent::Setting { .. } | EntryContent::ByHand(_) => return Ok(None),
    };
    Ok(entry(want)?.and_then(|there| {
        Some(FoundEntry { program: program_of(&there)?, is_outdated: !has_arguments_of(&there, wanted) })
    }))
}

pub(super) fn read(want: &InstallEntry) -> Result<Option<String>, String> {
    files::read(&files::resolved(&want.file)).map_err(|refusal| refusal.message)
}

/// The entry of ours as it stands in the tool's file, if it is there.
pub(super) fn entry(want: &InstallEntry) -> Result<Option<Value>, String> {
    let Some(text) = read(want)? else { return Ok(None) };
    let broken = |error: super::edit::EditError| format!("{}: {error}", want.file.display());
    Ok(match &want.what {
        EntryContent::Member { at, .. } => {
            let here: Vec<&str> = at.iter().copied().chain([NAME]).collect();
            objects::get(&text, &here).map_err(broken)?.filter(is_server)
        }
        EntryContent::Element { at, .. } => hook(objects::get(&text, at).map_err(broken)?, |_| true),
        EntryContent::Table { at, many: false, .. } => {
            tables::get(&text, at).map_err(broken)?.filter(is_server)
        }
        EntryContent::Table { at, value, .. } => {
            hook(tables::get(&text, at).map_err(broken)?, |there| there["event"] == value["event"])
        }
        EntryContent::Whole(_) | EntryContent::Setting { .. } | EntryContent::ByHand(_) => None,
    })
}

/// A hook of ours in a list, also where its group holds other hooks.
fn hook(list: Option<Value>, fits: impl Fn(&Value) -> bool) -> Option<Value> {
    let list = list?.as_array()?.clone();
    let mut inner = list.into_iter().flat_map(|group| match group["hooks"].as_array() {
        Some(inner) => inner.clone(),
        None => vec![group],
    });
    inner.find(|hook| fits(hook) && is_hook(hook))
}

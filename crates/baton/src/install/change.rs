//! What an installation would change: decided as a whole before the first byte is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use baton_model::refusal::Refusal;
use baton_tools::install::{EntryContent, InstallEntry, InstallPart, NAME};
use serde_json::{Value, json};

use super::edit::{EditError, json as objects, toml as tables};
use super::entry::{has_arguments_of, is_hook, is_server, program_of};
use super::record::{InstallRecord, Record, digest};
use super::{files, retired};

/// What becomes of one file.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// The file itself, links followed.
    pub file: PathBuf,
    /// Its text as it was read; none where there was no file.
    pub before: Option<String>,
    /// Its text as it is to be; none where it is to go.
    pub after: Option<String>,
    /// The entry for the install record.
    pub mark: InstallRecord,
}

/// What an installation would change.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Files in the order in which they were named.
    pub changes: Vec<Change>,
    /// What the user has to do or to know.
    pub remarks: Vec<String>,
    /// Whether entries are put in, and not taken out.
    pub adds: bool,
}

/// Plans to put entries in.
pub(crate) fn put_in(wants: &[InstallEntry], record: &Record) -> Result<Plan, Refusal> {
    let mut plan = Plan { adds: true, ..Plan::default() };
    for want in wants {
        if let EntryContent::ByHand(text) = &want.what {
            plan.remarks.push(format!("add this to {} by hand:\n{text}", want.file.display()));
            continue;
        }
        let change = plan.of(&want.file)?;
        let text = change.after.clone().unwrap_or_default();
        let known = record.get(&change.file);
        let (text, made) = insert(&text, &want.what, known, change.before.is_some())
            .map_err(|refusal| refusal.into_refusal(want))?;
        change.mark.made.extend(made);
        if matches!(want.what, EntryContent::Whole(_)) {
            change.mark.digest = Some(digest(&text));
        }
        change.after = Some(text);
    }
    plan.drop_retired(wants, record)?;
    Ok(plan)
}

/// Plans to take entries out.
pub(crate) fn take_out(wants: &[InstallEntry], record: &Record) -> Result<Plan, Refusal> {
    let mut plan = Plan::default();
    plan.drop_retired(wants, record)?;
    // In the opposite order, so that what was put in last goes first.
    for want in wants.iter().rev() {
        if let EntryContent::ByHand(_) = &want.what {
            // Where there is no such file, there is nothing to remove.
            if want.file.exists() {
                plan.remarks
                    .push(format!("if you added `{NAME}` to {}, remove it by hand", want.file.display()));
            }
            continue;
        }
        let change = plan.of(&want.file)?;
        let Some(text) = change.after.clone() else { continue };
        let known = record.get(&change.file);
        match remove(&text, &want.what, known).map_err(|refusal| refusal.into_refusal(want))? {
            Some(rest) => change.after = Some(rest).filter(|rest| !is_empty_rest(rest, &want.what, known)),
            None => {
                plan.remarks.push(format!("{} was changed by hand and is left", want.file.display()));
            }
        }
    }
    Ok(plan)
}

/// Whether nothing is left of a file that was ours.
fn is_empty_rest(rest: &str, what: &EntryContent, known: Option<&InstallRecord>) -> bool {
    rest.is_empty() && (matches!(what, EntryContent::Whole(_)) || known.is_some_and(|mark| mark.created))
}

impl Plan {
    /// The change of a file, as far as it is planned.
    fn of(&mut self, path: &Path) -> Result<&mut Change, Refusal> {
        files::check(path)?;
        let file = files::resolved(path);
        let at = match self.changes.iter().position(|change| change.file == file) {
            Some(at) => at,
            None => {
                let before = files::read(&file)?;
                let mark = InstallRecord {
                    created: before.is_none(),
                    folders: if before.is_none() { files::missing_folders(&file) } else { Vec::new() },
                    ..InstallRecord::default()
                };
                self.changes.push(Change { file, after: before.clone(), before, mark });
                self.changes.len() - 1
            }
        };
        Ok(&mut self.changes[at])
    }

    /// Takes out hooks that an earlier version wrote and this one does not ask for any more.
    fn drop_retired(&mut self, wants: &[InstallEntry], record: &Record) -> Result<(), Refusal> {
        for want in wants.iter().filter(|want| want.part == InstallPart::Hooks) {
            let same_file: Vec<_> = wants.iter().filter(|other| other.file == want.file).collect();
            if !retired::has_any(&same_file) {
                continue;
            }
            let contents: Vec<&EntryContent> = same_file.iter().map(|other| &other.what).collect();
            let change = self.of(&want.file)?;
            let Some(text) = &change.after else { continue };
            let known = record.get(&change.file);
            let rest = retired::without(text, &contents, &|path| is_made(known, path));
            change.after = Some(rest.map_err(|broken| EditRefusal::Broken(broken).into_refusal(want))?);
        }
        Ok(())
    }

    /// Takes over what another tool's plan would change, and leaves out what stays as it is.
    pub(crate) fn drop_unchanged(&mut self) {
        self.changes.retain(|change| change.before != change.after);
    }

    /// The changes as a unified diff.
    pub(crate) fn diff(&self) -> String {
        self.changes.iter().map(Change::diff).collect()
    }
}

impl Change {
    /// What happens to the file, in a word.
    pub(crate) fn action(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "create",
            (_, None) => "delete",
            _ => "change",
        }
    }

    fn diff(&self) -> String {
        let name = self.file.display().to_string();
        let side = |text: &Option<String>| if text.is_some() { name.clone() } else { "/dev/null".to_owned() };
        let (old, new) = (self.before.as_deref().unwrap_or(""), self.after.as_deref().unwrap_or(""));
        let diff = similar::TextDiff::from_lines(old, new);
        let mut diff = diff.unified_diff();
        diff.context_radius(3).header(&side(&self.before), &side(&self.after)).to_string()
    }
}

/// Why an entry cannot be put in or taken out.
enum EditRefusal {
    Broken(EditError),
    Taken,
    Changed,
}

impl From<EditError> for EditRefusal {
    fn from(broken: EditError) -> Self {
        Self::Broken(broken)
    }
}

impl EditRefusal {
    fn into_refusal(self, want: &InstallEntry) -> Refusal {
        let file = want.file.display().to_string();
        let by_hand = match &want.what {
            EntryContent::Member { at, value } => format!("{} in `{}`", json!({ NAME: value }), at.join(".")),
            EntryContent::Element { at, value } => format!("{value} in `{}`", at.join(".")),
            EntryContent::Setting { key, value, .. } => json!({ *key: value }).to_string(),
            EntryContent::Table { at, many, value } => tables::block(at, *many, value).join(" ⏎ "),
            EntryContent::Whole(_) | EntryContent::ByHand(_) => String::new(),
        };
        match self {
            Self::Broken(broken) => Refusal::invalid(
                "install_file_broken",
                format!("{file} cannot be edited: {broken}; it was not touched"),
                format!("mend the file and try again, or add by hand: {by_hand}"),
            ),
            Self::Taken => Refusal::invalid(
                "install_name_taken",
                format!("{file} has another server called `{NAME}`; it was not touched"),
                format!("give that one another name, or add by hand: {by_hand}"),
            ),
            Self::Changed => Refusal::invalid(
                "install_file_changed",
                format!("{file} is not as `baton install` wrote it; it was not touched"),
                "move it away and try again",
            ),
        }
        .with("path", file)
    }
}

type InsertedEntry = (String, Vec<Vec<String>>);

fn insert(
    text: &str,
    what: &EntryContent,
    known: Option<&InstallRecord>,
    exists: bool,
) -> Result<InsertedEntry, EditRefusal> {
    let only = |text: String| (text, Vec::new());
    Ok(match what {
        EntryContent::Member { at, value } => insert_server(text, at, value)?,
        EntryContent::Element { at, value } => insert_hook(text, at, value)?,
        EntryContent::Setting { at, key, value } => {
            let here: Vec<&str> = at.iter().copied().chain([*key]).collect();
            if objects::get(text, &here)?.is_some() {
                return Ok(only(text.to_owned()));
            }
            let mut edited = objects::set(text, at, key, value)?;
            edited.made.push(here.iter().map(|key| (*key).to_owned()).collect());
            (edited.text, edited.made)
        }
        EntryContent::Table { at, many: false, value } => match tables::get(text, at)? {
            None => only(tables::append(text, at, false, value)?),
            Some(there) if !is_server(&there) => return Err(EditRefusal::Taken),
            Some(there) => only(renew_server(text, at, &there, value)?),
        },
        EntryContent::Table { at, many: true, value } => {
            let same = |there: &Value| is_hook(there) && there["event"] == value["event"];
            let list = tables::get(text, at)?.and_then(|list| list.as_array().cloned()).unwrap_or_default();
            if list.iter().any(|there| same(there) && is_current(there, value)) {
                return Ok(only(text.to_owned()));
            }
            let rest = tables::remove(text, at, true, &same)?;
            only(tables::append(&rest, at, true, value)?)
        }
        EntryContent::Whole(new) => {
            let ours = text == new || known.and_then(|mark| mark.digest.as_ref()) == Some(&digest(text));
            if exists && !ours {
                return Err(EditRefusal::Changed);
            }
            only(new.clone())
        }
        EntryContent::ByHand(_) => only(text.to_owned()),
    })
}

/// Names the program anew that has moved, and adds what an earlier version did not write. Whatever the user gave it stays.
fn renew_server(text: &str, at: &[&str], there: &Value, value: &Value) -> Result<String, EditError> {
    let mut text = text.to_owned();
    if there["command"] != value["command"] {
        text = tables::set(&text, at, "command", &value["command"])?;
    }
    if let (Some(args), false) = (value.get("args"), has_arguments_of(there, value)) {
        text = tables::set(&text, at, "args", args)?;
    }
    if let (Some(names), true) = (value.get("env_vars"), there.get("env_vars").is_none()) {
        text = tables::set(&text, at, "env_vars", names)?;
    }
    Ok(text)
}

fn insert_server(text: &str, at: &[&str], value: &Value) -> Result<InsertedEntry, EditRefusal> {
    let here: Vec<&str> = at.iter().copied().chain([NAME]).collect();
    match objects::get(text, &here)? {
        None => {
            let edited = objects::set(text, at, NAME, value)?;
            Ok((edited.text, edited.made))
        }
        Some(there) if !is_server(&there) => Err(EditRefusal::Taken),
        // Whatever else the user gave it stays.
        Some(there) if is_current(&there, value) => Ok((text.to_owned(), Vec::new())),
        Some(there) => {
            let text = objects::set(text, &here, "command", &value["command"])?.text;
            match value.get("args").filter(|_| !has_arguments_of(&there, value)) {
                Some(args) => Ok((objects::set(&text, &here, "args", args)?.text, Vec::new())),
                None => Ok((text, Vec::new())),
            }
        }
    }
}

/// Whether an entry starts the program that is wanted, as this version starts it.
fn is_current(there: &Value, wanted: &Value) -> bool {
    program_of(there) == program_of(wanted) && has_arguments_of(there, wanted)
}

fn insert_hook(text: &str, at: &[&str], value: &Value) -> Result<InsertedEntry, EditRefusal> {
    let list = objects::get(text, at)?.and_then(|list| list.as_array().cloned()).unwrap_or_default();
    let inner = |group: &Value| group["hooks"].as_array().cloned().unwrap_or_else(|| vec![group.clone()]);
    let current = |hook: &Value| is_hook(hook) && is_current(hook, value);
    if list.iter().any(|group| inner(group).iter().any(current)) {
        return Ok((text.to_owned(), Vec::new()));
    }
    let rest = retired::without_hooks(text, at, &|_| false)?;
    let edited = objects::push(&rest, at, value)?;
    Ok((edited.text, edited.made))
}

/// The text without an entry; none for a file of ours that was changed.
fn remove(
    text: &str,
    what: &EntryContent,
    known: Option<&InstallRecord>,
) -> Result<Option<String>, EditRefusal> {
    let made = |path: &[&str]| is_made(known, path);
    Ok(Some(match what {
        EntryContent::Member { at, .. } => {
            let here: Vec<&str> = at.iter().copied().chain([NAME]).collect();
            match objects::get(text, &here)?.is_some_and(|there| is_server(&there)) {
                true => objects::unset(text, at, NAME, &made)?,
                false => text.to_owned(),
            }
        }
        EntryContent::Element { at, .. } => retired::without_hooks(text, at, &made)?,
        EntryContent::Setting { at, key, .. } => {
            let here: Vec<&str> = at.iter().copied().chain([*key]).collect();
            let ours = known.is_some_and(|mark| mark.made.iter().any(|keys| *keys == here));
            let others = objects::get(text, at)?.and_then(|holder| Some(holder.as_object()?.len() > 1));
            let needed = known.is_some_and(|mark| mark.created) && others == Some(true);
            if ours && !needed { objects::unset(text, at, key, &made)? } else { text.to_owned() }
        }
        EntryContent::Table { at, many, .. } => {
            let ours: &dyn Fn(&Value) -> bool = if *many { &is_hook } else { &is_server };
            tables::remove(text, at, *many, ours)?
        }
        EntryContent::Whole(new) => {
            let ours = text == new || known.and_then(|mark| mark.digest.as_ref()) == Some(&digest(text));
            return Ok(ours.then(String::new));
        }
        EntryContent::ByHand(_) => text.to_owned(),
    }))
}

/// Whether an object or list was made for our entries. Where nothing is known, what is empty without them was; a file was not.
fn is_made(known: Option<&InstallRecord>, path: &[&str]) -> bool {
    known.map_or(!path.is_empty(), |mark| mark.made.iter().any(|keys| keys == path))
}

/// Files by what becomes of them, for answers.
pub(crate) fn actions(plan: &Plan) -> BTreeMap<String, &'static str> {
    plan.changes.iter().map(|change| (change.file.display().to_string(), change.action())).collect()
}

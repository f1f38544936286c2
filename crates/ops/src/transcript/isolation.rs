//! Which transcripts are shown from where: those of an isolated project only from inside that project, and from inside it no
//! others.
//!
//! A session is an isolated project's if one of its hooks spoke there, or if one of its entries was written in a folder of it:
//! of a working copy of its repository, else below the nearest registered folder. A listing knows the first folder alone. A session
//! of no project's folder is as open as a project that is not isolated.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use baton_model::access::Grant;
use baton_model::confinement::Confinement;
use baton_model::refusal::{Kind, Refusal};
use baton_store::search::SearchScope;
use baton_store::{Failure, Store, conversation_project, project, project_root};
use baton_transcripts::{Header, SessionListing};

use super::found_transcript::FoundTranscript;
use crate::op::{Cx, Host};
use crate::project::merged_into;
use crate::resolve;

/// What tells to which projects a conversation belongs.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConversationFacts<'a> {
    /// The tool that keeps its transcript.
    tool_id: &'a str,
    /// The tool's own id of it.
    id: &'a str,
    /// The folder in which it began.
    cwd: Option<&'a str>,
    /// Every folder that its entries name, where all of it was read.
    folders: &'a [String],
    /// The projects in which its hooks spoke, as the machine says on which the transcript is.
    noted: &'a [String],
}

impl<'a> From<&'a SessionListing> for ConversationFacts<'a> {
    fn from(listed: &'a SessionListing) -> Self {
        let brief = &listed.brief;
        let (tool_id, cwd) = (listed.agent(), brief.cwd.as_deref());
        Self { tool_id, id: &brief.id, cwd, folders: &[], noted: &[] }
    }
}

impl<'a> From<&'a Header> for ConversationFacts<'a> {
    fn from(header: &'a Header) -> Self {
        let (tool_id, cwd) = (header.tool_id.as_str(), header.cwd.as_deref());
        Self { tool_id, id: &header.id, cwd, folders: &[], noted: &[] }
    }
}

impl<'a> From<&'a SearchScope> for ConversationFacts<'a> {
    fn from(one: &'a SearchScope) -> Self {
        let cwd = Some(one.cwd.as_str());
        Self { tool_id: &one.agent, id: &one.native_id, cwd, folders: &one.folders, noted: &[] }
    }
}

impl<'a> From<&'a FoundTranscript> for ConversationFacts<'a> {
    fn from(found: &'a FoundTranscript) -> Self {
        Self {
            tool_id: found.format.id(),
            id: &found.header.id,
            cwd: found.header.cwd.as_deref(),
            folders: &found.folders,
            noted: &found.noted,
        }
    }
}

/// What one caller is shown.
pub(super) struct View<'a> {
    /// The project that the call names or stands in.
    own: Option<String>,
    own_is_isolated: bool,
    /// The isolated projects, each with the isolated project in which it goes on, where it was merged.
    isolated: HashMap<String, String>,
    /// The isolated projects in which hooks of conversations spoke, by tool and id.
    noted: HashMap<(String, String), Vec<String>>,
    /// The conversations, by tool and id, whose first hook spoke in the project that the call names or stands in.
    begun: HashSet<(String, String)>,
    /// The project of each registered folder, and whether it is isolated.
    owners: HashMap<String, Owner>,
    /// The owner by the common git folder of a repository.
    repositories: HashMap<String, Owner>,
    /// The working copy in which the call is made, where it belongs to no project and only a setting names one: its sessions are that
    /// one's.
    named_copy: Option<(PathBuf, Owner)>,
    host: &'a dyn Host,
    /// What the caller reaches.
    grant: &'a Grant,
    /// Owners that were looked up, by folder.
    known: RefCell<HashMap<String, Option<Owner>>>,
}

/// A project, and whether it is isolated.
type Owner = (String, bool);

impl<'a> View<'a> {
    /// The view of a call, from the project that it names, else from the one it stands in. A name that is no project's is a
    /// folder's, and narrows only.
    pub(super) fn of(cx: &mut Cx<'a>, named: Option<&str>) -> Result<Self, Failure> {
        // Over a socket the transcripts are the server's, and the caller's machine is another or unknown. Of the same
        // folder on several machines, an isolated project's counts.
        let machine = (!cx.env.host.is_served()).then(|| cx.env.caller.location.machine.clone());
        let folders = cx.store.read(|tx| Ok(project_root::folders_with_projects(tx, machine.as_deref())?))?;
        let isolated = isolated_projects(cx.store)?;
        let (mut owners, mut repositories) = (HashMap::new(), HashMap::new());
        for folder in folders {
            let owner = (folder.project_id, folder.is_isolated);
            repositories.extend(folder.common_dir.map(|common_dir| (common_dir, owner.clone())));
            owners.insert(folder.path, owner);
        }
        let is_project = |id: &str| isolated.contains_key(id) || owners.values().any(|(one, _)| one == id);
        let own = match named.filter(|id| is_project(id)) {
            Some(id) => Some(id.to_owned()),
            None => resolve::project_id(cx.store, &cx.env, None).ok(),
        };
        let own_is_isolated = own.as_ref().is_some_and(|own| isolated.contains_key(own));
        let noted = noted_in(cx.store, &isolated)?;
        let begun = match &own {
            Some(own) => cx.store.read(|tx| Ok(conversation_project::begun_in(tx, own)?))?,
            None => Vec::new(),
        };
        let begun = begun.into_iter().collect();
        let (host, known, named_copy) = (cx.env.host, RefCell::default(), None);
        let caller = cx.env.caller;
        let grant = &caller.grant;
        let mut view = Self {
            own,
            own_is_isolated,
            isolated,
            noted,
            begun,
            owners,
            repositories,
            named_copy,
            host,
            grant,
            known,
        };
        let root = caller.git_root.as_ref().or(caller.folders.first()).filter(|_| !host.is_served());
        if let (Some(root), Some(own), true) = (root, &view.own, caller.project.is_some())
            && view.registered(Some(root)).is_none()
        {
            view.named_copy = Some((PathBuf::from(root), (own.clone(), own_is_isolated)));
        }
        Ok(view)
    }

    /// Whether every transcript is shown.
    pub(super) fn is_open(&self) -> bool {
        self.isolated.is_empty()
    }

    /// Whether a conversation is shown.
    pub(super) fn shows<'f>(&self, one: impl Into<ConversationFacts<'f>>) -> bool {
        self.is_open() || self.confinement(one).is_shown_from(self.own.as_deref(), self.own_is_isolated)
    }

    /// Whether the project that the call names or stands in is isolated.
    pub(super) fn is_inside_isolated(&self) -> bool {
        self.own_is_isolated
    }

    /// The isolated projects to which a conversation belongs.
    pub(super) fn confinement<'f>(&self, one: impl Into<ConversationFacts<'f>>) -> Confinement {
        if self.is_open() {
            return Confinement::Open;
        }
        let one: ConversationFacts<'_> = one.into();
        let folders = one.cwd.into_iter().chain(one.folders.iter().map(String::as_str));
        let by_folder = folders.filter_map(|folder| self.owner(Some(folder)));
        let by_folder = by_folder.filter(|(_, is_isolated)| *is_isolated).map(|(owner, _)| owner);
        let noted_here = self.noted.get(&(one.tool_id.to_owned(), one.id.to_owned()));
        let noted_there = one.noted.iter().filter_map(|noted| self.isolated.get(noted));
        Confinement::of(by_folder.chain(noted_here.into_iter().flatten().chain(noted_there).cloned()))
    }

    /// The refusal for a session that is there and is not shown. Projects that the caller does not reach are not named.
    pub(super) fn refusal<'f>(&self, wanted: &str, one: impl Into<ConversationFacts<'f>>) -> Refusal {
        let wanted = baton_model::id::visible(wanted);
        let outside = "call from a folder outside of it, or name the session's own project with --project";
        let reaches = |id: &String| self.grant.reaches(id);
        let (which, hint) = match self.confinement(one) {
            Confinement::Within(owner) if !reaches(&owner) => return unreached_refusal(&wanted),
            Confinement::Conflicting(all) if !all.iter().all(reaches) => return unreached_refusal(&wanted),
            Confinement::Within(owner) => {
                let hint = format!("call from a folder of it, or with --project {owner}");
                (owner, hint)
            }
            Confinement::Conflicting(all) => {
                let what = format!(
                    "transcript {wanted} is shown and kept nowhere: it was held in the projects {}, each of which is isolated",
                    all.join(" and ")
                );
                let hint = "read its file: `baton transcripts show PATH`";
                return Refusal::new(Kind::Refused, "project_isolated", what, hint).with("projects", all);
            }
            Confinement::Open => (self.own.clone().unwrap_or_default(), outside.to_owned()),
        };
        let what = format!("transcript {wanted} is not shown from here: project {which} is isolated");
        Refusal::new(Kind::Refused, "project_isolated", what, hint).with("project_id", which)
    }

    /// Whether a session belongs to a project: to the one to which it is confined, else to that of the folder in which it began; where
    /// that folder is gone and is no project's, to the one in which its first hook spoke.
    pub(super) fn is_of<'f>(&self, one: impl Into<ConversationFacts<'f>>, project_id: &str) -> bool {
        let one = one.into();
        match self.confinement(one) {
            Confinement::Within(owner) => owner == project_id,
            Confinement::Conflicting(_) => false,
            Confinement::Open => match self.owner(one.cwd) {
                Some((owner, _)) => owner == project_id,
                None => self.has_begun_in(one, project_id),
            },
        }
    }

    /// Whether a conversation began in a project, by its hooks, and in a folder that is gone, such as a worktree that was removed.
    fn has_begun_in(&self, one: ConversationFacts<'_>, project_id: &str) -> bool {
        self.own.as_deref() == Some(project_id)
            && self.begun.contains(&(one.tool_id.to_owned(), one.id.to_owned()))
            && one.cwd.is_none_or(|cwd| !Path::new(cwd).exists())
    }

    /// The project of the folder in which a session began.
    pub(super) fn folder_owner(&self, cwd: Option<&str>) -> Option<String> {
        self.owner(cwd).map(|(owner, _)| owner)
    }

    /// Whether the folder in which a session worked is registered to a project, or to any.
    pub(super) fn is_registered(&self, cwd: Option<&str>, project_id: Option<&str>) -> bool {
        self.registered(cwd).is_some_and(|(owner, _)| project_id.is_none_or(|project_id| owner == project_id))
    }

    /// The project of a folder that a transcript names; of the caller's own working copy also one that a setting names.
    fn owner(&self, cwd: Option<&str>) -> Option<Owner> {
        self.registered(cwd).or_else(|| {
            let (root, owner) = self.named_copy.as_ref()?;
            let plain = without_dots(Path::new(cwd?));
            let real = plain.canonicalize().unwrap_or(plain);
            real.starts_with(root).then(|| owner.clone())
        })
    }

    /// The project to which the folder that a transcript names is registered: of the real one, where links and `..` lead elsewhere.
    fn registered(&self, cwd: Option<&str>) -> Option<Owner> {
        let cwd = cwd?;
        if let Some(known) = self.known.borrow().get(cwd) {
            return known.clone();
        }
        let found = self.look_up(Path::new(cwd));
        self.known.borrow_mut().insert(cwd.to_owned(), found.clone());
        found
    }

    fn look_up(&self, cwd: &Path) -> Option<Owner> {
        let plain = without_dots(cwd);
        let real = plain.canonicalize().ok();
        let of = |path: &Path| {
            path.ancestors().find_map(|folder| Some((folder.to_owned(), self.owners.get(folder.to_str()?)?)))
        };
        let near = real.as_deref().and_then(of).or_else(|| of(&plain));
        let around = self.host.repository(real.as_deref().unwrap_or(&plain).to_str()?);
        let by_repository = around.as_ref().and_then(|(root, repository)| {
            // A folder inside the working copy that was registered for itself is nearer.
            let is_outside = near.as_ref().is_none_or(|(folder, _)| !folder.starts_with(root));
            let main = repository.main.as_ref().filter(|_| repository.is_worktree);
            let known = || self.repositories.get(&repository.common_dir).or_else(|| self.owners.get(main?));
            is_outside.then(known).flatten()
        });
        by_repository.or(near.map(|(_, owner)| owner)).cloned()
    }
}

/// The refusal for a session of isolated projects that the caller does not reach.
fn unreached_refusal(wanted: &str) -> Refusal {
    let what = format!("transcript {wanted} is of an isolated project that this token does not reach");
    let hint = "call with a token of the session's own project";
    Refusal::new(Kind::Refused, "project_isolated", what, hint)
}

/// The isolated projects, each with the isolated one in which it goes on.
fn isolated_projects(store: &mut Store) -> Result<HashMap<String, String>, Failure> {
    store.read(|tx| {
        let ids = project::isolated(tx)?;
        let mut found = HashMap::with_capacity(ids.len());
        for id in &ids {
            let now = merged_into(tx, id)?.unwrap_or_else(|| id.clone());
            if ids.contains(&now) {
                found.insert(id.clone(), now);
            }
        }
        Ok(found)
    })
}

/// The isolated projects in which hooks of conversations spoke, by tool and id.
fn noted_in(
    store: &mut Store,
    isolated: &HashMap<String, String>,
) -> Result<HashMap<(String, String), Vec<String>>, Failure> {
    let mut found: HashMap<(String, String), Vec<String>> = HashMap::new();
    if isolated.is_empty() {
        return Ok(found);
    }
    for one in store.read(|tx| Ok(conversation_project::in_isolated(tx)?))? {
        if let Some(now) = isolated.get(&one.project_id) {
            found.entry((one.tool_id, one.native_id)).or_default().push(now.clone());
        }
    }
    Ok(found)
}

/// A path without `.` and `..`, by its words alone: the folder may be gone.
pub(super) fn without_dots(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            other => plain.push(other),
        }
        plain
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_in_a_folder_lead_where_they_say() {
        for (path, plain) in
            [("/r/open/../iso", "/r/iso"), ("/r/./a", "/r/a"), ("/../x", "/x"), ("/r/a", "/r/a")]
        {
            assert_eq!(without_dots(Path::new(path)), Path::new(plain), "{path}");
        }
    }
}

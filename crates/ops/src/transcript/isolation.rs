//! Which transcripts are shown from where: those of an isolated project's folders only from inside that project, and from
//! inside it no others.
//!
//! A session belongs to the project of the repository whose working copy it worked in, else of the nearest registered folder
//! above. One of no project's folder is as open as a project that is not isolated.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use baton_model::refusal::{Kind, Refusal};
use baton_store::{Failure, project, project_root};

use super::find::FoundTranscript;
use crate::op::{Cx, Host};
use crate::resolve;

/// What one caller is shown.
pub(super) struct View<'a> {
    /// The project that the call names or stands in.
    own: Option<String>,
    own_is_isolated: bool,
    /// The project of each registered folder, and whether it is isolated.
    owners: HashMap<String, Owner>,
    /// The owner by the common git folder of a repository.
    repositories: HashMap<String, Owner>,
    /// The working copy in which the call is made, where it belongs to no project and only a setting names one: its sessions are that
    /// one's.
    named_copy: Option<(PathBuf, Owner)>,
    host: &'a dyn Host,
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
        let (folders, isolated) = cx
            .store
            .read(|tx| Ok((project_root::owners(tx, machine.as_deref())?, project::isolated(tx)?)))?;
        let (mut owners, mut repositories) = (HashMap::new(), HashMap::new());
        for folder in folders {
            let owner = (folder.project_id, folder.is_isolated);
            repositories.extend(folder.common_dir.map(|common_dir| (common_dir, owner.clone())));
            owners.insert(folder.path, owner);
        }
        let is_project =
            |id: &str| isolated.iter().any(|one| one == id) || owners.values().any(|(one, _)| one == id);
        let own = match named.filter(|id| is_project(id)) {
            Some(id) => Some(id.to_owned()),
            None => resolve::project_id(cx.store, &cx.env, None).ok(),
        };
        let own_is_isolated = own.as_ref().is_some_and(|own| isolated.contains(own));
        let (host, known, named_copy) = (cx.env.host, RefCell::default(), None);
        let mut view = Self { own, own_is_isolated, owners, repositories, named_copy, host, known };
        let caller = cx.env.caller;
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
        !self.own_is_isolated && self.owners.values().all(|(_, is_isolated)| !is_isolated)
    }

    /// Whether a session that worked in this folder is shown.
    pub(super) fn shows(&self, cwd: Option<&str>) -> bool {
        if self.is_open() {
            return true;
        }
        match self.owner(cwd) {
            Some((owner, _)) if self.own.as_ref() == Some(&owner) => true,
            Some((_, is_isolated)) => !is_isolated && !self.own_is_isolated,
            None => !self.own_is_isolated,
        }
    }

    /// The project that keeps what a session did that worked in this folder: the call's own, unless one of the two is isolated and the
    /// other is not it. A refusal: such a session worked in the folder of no project.
    pub(super) fn keeper(&self, own: &str, transcript: &FoundTranscript) -> Result<String, Refusal> {
        let cwd = transcript.header.cwd.as_deref();
        match self.owner(cwd) {
            _ if self.shows(cwd) => Ok(own.to_owned()),
            Some((owner, _)) => Ok(owner),
            None => Err(self.refusal(&transcript.header.id, cwd)),
        }
    }

    /// The refusal for a session that is there and is not shown.
    pub(super) fn refusal(&self, wanted: &str, cwd: Option<&str>) -> Refusal {
        let wanted = baton_model::id::visible(wanted);
        let (isolated, hint) = match (self.owner(cwd), &self.own) {
            (Some((owner, true)), _) => {
                let hint = format!("call from a folder of it, or with --project {owner}");
                (owner, hint)
            }
            (_, own) => (
                own.clone().unwrap_or_default(),
                "call from a folder outside of it, or name the session's own project with --project"
                    .to_owned(),
            ),
        };
        let what = format!("transcript {wanted} is not shown from here: project {isolated} is isolated");
        Refusal::new(Kind::Refused, "project_isolated", what, hint).with("project_id", isolated)
    }

    /// Whether a session that worked in this folder belongs to a project.
    pub(super) fn is_of(&self, cwd: Option<&str>, project_id: &str) -> bool {
        self.owner(cwd).is_some_and(|(owner, _)| owner == project_id)
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

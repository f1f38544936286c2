//! Where sessions, messages and parts come from: the database, or the files of older versions.

use std::path::{Path, PathBuf};

use crate::event::PlanItem;
use crate::report::kind;
use crate::shared::json::Json;
use crate::shared::{chunk, json_file, plan};
use crate::sqlite::opencode::{self as table, Record, Session};
use crate::sqlite::{Cell, Db, Fault};

/// A place that holds sessions.
pub(super) enum Store {
    /// The database.
    Db(Db),
    /// The folder `storage`.
    Files(PathBuf),
}

/// Whether a file is a session of the older layout.
pub(super) fn is_session(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("ses_") && name.ends_with(".json")
}

impl Store {
    /// The folder `storage` above a session of the older layout, if it is there.
    pub(super) fn above(path: &Path) -> Option<Self> {
        let root = path.ancestors().nth(3).filter(|_| is_session(path))?;
        root.join("message").is_dir().then(|| Store::Files(root.to_owned()))
    }

    /// A session.
    pub(super) fn session(&self, id: &str) -> Result<Option<Session>, Fault> {
        match self {
            Store::Db(db) => table::session(db, id),
            Store::Files(root) => Ok(find(root, id).and_then(|path| from_file(&path))),
        }
    }

    /// The session that changed last.
    pub(super) fn newest(&self) -> Result<Option<String>, Fault> {
        match self {
            Store::Db(db) => table::newest(db),
            Store::Files(_) => Ok(None),
        }
    }

    /// The messages of a session, oldest first, until `each` has enough.
    pub(super) fn messages(&self, session: &str, each: &mut dyn FnMut(Record) -> bool) -> Result<(), Fault> {
        match self {
            Store::Db(db) => table::messages(db, session, each),
            Store::Files(root) if is_name(session) => files(&root.join("message").join(session), each),
            Store::Files(_) => Ok(()),
        }
    }

    /// The parts of a message, in order.
    pub(super) fn parts(&self, message: &str, each: &mut dyn FnMut(Record) -> bool) -> Result<(), Fault> {
        match self {
            Store::Db(db) => table::parts(db, message, each),
            Store::Files(root) if is_name(message) => files(&root.join("part").join(message), each),
            Store::Files(_) => Ok(()),
        }
    }

    /// The todo list of a session.
    pub(super) fn todos(&self, session: &str) -> Result<Vec<PlanItem>, Fault> {
        match self {
            Store::Db(db) => table::todos(db, session),
            Store::Files(_) if !is_name(session) => Ok(Vec::new()),
            Store::Files(root) => {
                let text = json_file::text(&root.join(format!("todo/{session}.json"))).unwrap_or_default();
                Ok(Json::parse(&text).map(|list| plan::items(&list)).unwrap_or_default())
            }
        }
    }

    /// The sub-agents of a session.
    pub(super) fn children(&self, session: &str) -> Result<Vec<String>, Fault> {
        match self {
            Store::Db(db) => table::children(db, session),
            Store::Files(root) => {
                let projects = chunk::entries(&root.join("session"));
                let all = projects.iter().flat_map(|project| chunk::entries(&project.path()));
                let mut children: Vec<Session> = all
                    .filter(|entry| is_session(&entry.path()))
                    .filter_map(|entry| from_file(&entry.path()))
                    .collect();
                children.retain(|child| child.parent.as_deref() == Some(session));
                children.sort_by_key(|child| child.created_ms);
                Ok(children.into_iter().map(|child| child.id).collect())
            }
        }
    }
}

/// Whether an id names a file of its own. It comes out of a file; a path in it would lead elsewhere.
fn is_name(id: &str) -> bool {
    !id.is_empty() && !id.starts_with('.') && !id.contains(['/', '\\', ':', '\0'])
}

fn find(root: &Path, id: &str) -> Option<PathBuf> {
    if !is_name(id) {
        return None;
    }
    let projects = chunk::entries(&root.join("session"));
    projects.iter().map(|project| project.path().join(format!("{id}.json"))).find(|path| path.is_file())
}

fn from_file(path: &Path) -> Option<Session> {
    let text = json_file::text(path).ok()?;
    Json::parse(&text).ok().map(|json| session(&json))
}

/// Reads a session from JSON.
pub(super) fn session(json: &Json<'_>) -> Session {
    let field = |key| json.get(key).str().map(str::to_owned);
    Session {
        id: field("id").unwrap_or_default(),
        parent: field("parentID"),
        directory: field("directory"),
        title: field("title"),
        version: field("version"),
        model: None,
        revert: None,
        forked: false,
        branch: None,
        created_ms: json.at_path(&["time", "created"]).int(),
        updated_ms: json.at_path(&["time", "updated"]).int(),
    }
}

/// Gives out the files of a folder, which are named by rising ids.
fn files(dir: &Path, each: &mut dyn FnMut(Record) -> bool) -> Result<(), Fault> {
    for entry in chunk::entries(dir) {
        let path = entry.path();
        let Some(id) = path.file_stem().and_then(|stem| stem.to_str()).filter(|_| is_json(&path)) else {
            continue;
        };
        let data = match json_file::text(&path) {
            Ok(text) => Cell::Text(text),
            Err(fault) if fault == kind::TOO_LARGE => Cell::Oversized,
            Err(_) => Cell::Null,
        };
        if !each(Record { id: id.to_owned(), created_ms: None, data, row: None }) {
            break;
        }
    }
    Ok(())
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_with_a_path_in_it_leads_nowhere() {
        let dir = tempfile::tempdir().expect("dir");
        let (root, outside) = (dir.path().join("storage"), dir.path().join("outside"));
        for folder in ["session/p", "message", "part", "todo"] {
            std::fs::create_dir_all(root.join(folder)).expect("folder");
        }
        std::fs::create_dir_all(&outside).expect("folder");
        std::fs::write(outside.join("x.json"), r#"[{"content":"c","status":"pending"}]"#).expect("file");
        let store = Store::Files(root);
        for id in ["../../outside", outside.to_str().expect("text")] {
            let mut seen = 0;
            let mut each = |_: Record| {
                seen += 1;
                true
            };
            store.messages(id, &mut each).expect("nothing");
            store.parts(id, &mut each).expect("nothing");
            assert_eq!(seen, 0, "{id}");
            let inner = format!("{id}/x");
            assert_eq!(store.todos(&inner).expect("nothing"), []);
            assert!(store.session(&inner).expect("nothing").is_none());
        }
    }
}

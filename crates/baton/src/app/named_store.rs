//! Whether a store that the settings name, and that is not there, may begin: an empty one at a mistyped path would look like a
//! project without work.

use std::fs;
use std::path::{Path, PathBuf};

use baton_model::refusal::{Kind, Refusal};
use baton_ops::op::BeginsStore;
use baton_store::Target;

use crate::config::Config;

/// Refuses where the settings name a store that is not there and that does not begin now. The one beside Baton's own data is
/// made on first use.
pub(crate) fn require(config: &Config, begins: BeginsStore) -> Result<(), Refusal> {
    let (Target::File(path), Some((_, origin))) = (&config.store, config.origins.get("store")) else {
        return Ok(());
    };
    let is_refused = match begins {
        BeginsStore::Anywhere => false,
        BeginsStore::InFolder => !folder_of(path).is_dir(),
        BeginsStore::Never => !path.exists() || is_blank(path),
    };
    if !is_refused {
        return Ok(());
    }
    let (path, origin) = (path.display(), origin.strip_prefix("env ").unwrap_or(origin));
    let (what, hint) = match begins {
        BeginsStore::InFolder => (
            format!("there is no store at {path}, which {origin} names, and no folder for one"),
            "correct the path, or make the folder",
        ),
        _ => (
            format!("there is no store at {path}, which {origin} names"),
            "correct the path, or make a new store there with `baton init`",
        ),
    };
    Err(Refusal::new(Kind::NotFound, "store_missing", what, hint))
}

/// The folder of a file; of a bare name the working directory.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// Whether an empty file without a log lies where a store should be: to open it would make a store of it.
fn is_blank(path: &Path) -> bool {
    let size = |path: &Path| fs::metadata(path).ok().filter(|meta| meta.is_file()).map(|meta| meta.len());
    let log = PathBuf::from(format!("{}-wal", path.display()));
    size(path) == Some(0) && size(&log).unwrap_or_default() == 0
}

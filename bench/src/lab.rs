//! Where the measuring takes place: the binary, and a folder on a real file system.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::Arguments;

/// The binary that is measured, and where.
pub struct Lab {
    /// `baton`, built for release.
    pub baton: PathBuf,
    /// Fewer runs and smaller files.
    pub quick: bool,
    dir: PathBuf,
}

impl Lab {
    /// Finds the binary beside this one and makes a folder for this run.
    pub fn new(request: &Arguments) -> Result<Self> {
        let own = std::env::current_exe()?;
        let beside = own.parent().context("this program lies in no folder")?;
        let baton = request.baton.as_ref().map_or_else(|| beside.join("baton"), PathBuf::from);
        if !baton.is_file() {
            bail!("{} is not there: build it with `cargo build --release -p baton`", baton.display());
        }
        let parent = request.dir.as_ref().map_or_else(|| beside.join("../bench"), PathBuf::from);
        let dir = parent.join(std::process::id().to_string());
        fs::create_dir_all(&dir)?;
        Ok(Self { baton: baton.canonicalize()?, quick: request.quick, dir: dir.canonicalize()? })
    }

    /// The folder of this run.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// An empty folder for a scenario.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.dir.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// So many, or fewer when it is to be quick.
    pub fn count(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // What cannot be removed lies under the build folder and is removed with it.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

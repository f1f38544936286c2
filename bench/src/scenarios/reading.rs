//! The reference for transcripts: reading the files and nothing else.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, anyhow};

use crate::sides::timed;

/// Seconds that it takes to read files once on so many threads.
pub fn seconds(files: &[PathBuf], threads: usize) -> Result<f64> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        let mut buffer = vec![0; 256 * 1024];
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            read(file, &mut buffer)?;
        }
        Ok(())
    };
    let all = || {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|one| one.join().map_err(|_| anyhow!("a reader panicked"))?)
        })
    };
    Ok(timed(all)?.0)
}

fn read(file: &Path, buffer: &mut [u8]) -> Result<()> {
    let mut file = File::open(file)?;
    while file.read(buffer)? > 0 {}
    Ok(())
}

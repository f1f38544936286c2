//! `cargo run --release -p baton-bench --bin baton-fuzz -- SECONDS [FORMAT…]`: for each format, takes its samples,
//! damages them over and over, as
//! bytes, as lines and as JSON, and reads what comes out. A reader may make nothing of it; it may not panic, loop, or call
//! nothing a success. What broke one is kept in `bench/out/fuzz` and can be read again: `-- replay FORMAT FILE`.
//!
//! It knows what transcripts are made of (lines, JSON, cells of a database), so it comes further into the readers in a minute
//! than flipping bits does. A run is told by its seed: `BATON_FUZZ_SEED`.
#![allow(clippy::disallowed_methods, reason = "a program of its own reads its environment")]

mod mutate;
mod seeds;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use baton_transcripts::report::kind;
use baton_transcripts::{ALL, TranscriptFile, TranscriptReader, by_id};

use mutate::Dice;
use seeds::Seed;

/// Longer than this for a file of a few hundred KiB is a loop that grows with its square.
const FILE_TIMEOUT: Duration = Duration::from_secs(5);

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [word, format, file] if word == "replay" => replay(format, Path::new(file)),
        [seconds, formats @ ..] => {
            let seconds: u64 = seconds.parse().context("say for how many seconds")?;
            let chosen: Vec<&dyn TranscriptReader> = if formats.is_empty() {
                ALL.to_vec()
            } else {
                formats
                    .iter()
                    .map(|name| by_id(name).with_context(|| format!("no format `{name}`")))
                    .collect::<Result<_, _>>()?
            };
            all(Duration::from_secs(seconds), &chosen)
        }
        [] => bail!("usage: baton-fuzz SECONDS [FORMAT…] | replay FORMAT FILE"),
    }
}

fn all(time: Duration, formats: &[&'static dyn TranscriptReader]) -> anyhow::Result<()> {
    let seed = std::env::var("BATON_FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut broken = 0;
    for format in formats {
        let seeds = seeds::of(format.id())?;
        if seeds.is_empty() {
            bail!("{} has no samples", format.id());
        }
        broken += one(*format, &seeds, time, seed)?;
    }
    if broken > 0 {
        bail!("{broken} inputs broke a reader; they are in bench/out/fuzz");
    }
    Ok(())
}

/// Damages the samples of one format for so long; how many inputs broke its reader.
fn one(
    format: &'static dyn TranscriptReader,
    seeds: &[Seed],
    time: Duration,
    seed: u64,
) -> anyhow::Result<usize> {
    let dir = tempfile::tempdir()?;
    let mut dice = Dice(seed);
    let (begin, mut tried, mut slowest, mut broken) = (Instant::now(), 0_u64, Duration::ZERO, 0);
    while begin.elapsed() < time {
        let seed = &seeds[dice.below(seeds.len())];
        let made = seed.damaged(&mut dice, dir.path())?;
        let (outcome, took) = read(format, &made.path, made.key.as_deref());
        tried += 1;
        slowest = slowest.max(took);
        let why = outcome.err().or_else(|| (took > FILE_TIMEOUT).then(|| format!("took {took:?}")));
        if let Some(why) = why {
            broken += 1;
            let saved = keep(format.id(), &made.path, broken)?;
            println!("{}: {why}: {}", format.id(), saved.display());
            if broken >= 20 {
                break;
            }
        }
        seeds::clear(&made.path);
    }
    println!(
        "{:<12} {tried:>8} inputs of {} samples, {broken} broke it, slowest {slowest:.1?}",
        format.id(),
        seeds.len()
    );
    Ok(broken)
}

/// Reads, lists and sums up; what is wrong with that, and how long it took.
fn read(
    format: &'static dyn TranscriptReader,
    path: &Path,
    key: Option<&str>,
) -> (Result<(), String>, Duration) {
    let begin = Instant::now();
    // What a reader says while it breaks is said once, by us.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = catch_unwind(AssertUnwindSafe(|| check(format, path, key)));
    std::panic::set_hook(hook);
    let outcome = outcome.unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().cloned();
        Err(format!(
            "panicked: {}",
            message.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default()
        ))
    });
    (outcome, begin.elapsed())
}

fn check(format: &'static dyn TranscriptReader, path: &Path, key: Option<&str>) -> Result<(), String> {
    let report = format.read_session(path, key, &mut |_| {});
    if report.events == 0 && !report.complaints.iter().any(|one| one.kind == kind::EMPTY) {
        return Err("an empty success".into());
    }
    let Some(found) = TranscriptFile::from_path(format.id(), path) else {
        return Err("the file is gone".into());
    };
    let found = TranscriptFile { key: key.map(str::to_owned), ..found };
    let header = format.header(&found);
    if header.empty && header.complaints.is_empty() {
        return Err("an empty header without a complaint".into());
    }
    let summary = baton_transcripts::summarize_session(path, key, format, &Default::default());
    if summary.summary.is_empty() {
        return Err("a packet without a summary".into());
    }
    Ok(())
}

fn keep(format: &str, path: &Path, number: usize) -> anyhow::Result<std::path::PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("out/fuzz");
    std::fs::create_dir_all(&dir)?;
    let name = path.extension().map_or_else(|| "bin".into(), |ext| ext.to_string_lossy().into_owned());
    let target = dir.join(format!("{format}-{number}.{name}"));
    std::fs::copy(path, &target)?;
    Ok(target)
}

fn replay(format: &str, file: &Path) -> anyhow::Result<()> {
    let format = by_id(format).context("no such format")?;
    let key = seeds::key_of(format.id());
    let (outcome, took) = read(format, file, key);
    println!("{outcome:?} in {took:?}");
    Ok(())
}

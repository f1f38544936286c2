//! `baton-fidelity [--sessions N] [--turns N,…] [--tool NAME] [--json]`: the table; `!` where a lure was taken.
//! `baton-fidelity --document FILE --facts FILE`: the same for one document of any tool; with
//! `--evidence` the passage by which each fact counts.
//! `baton-fidelity --write FOLDER [--sessions N] [--phrases …]`: the sessions as files, each with its facts beside it.
//! `baton-fidelity --count FILE…`: the estimate of tokens of each file (`bench/fidelity/tokens` compares it).
//! `baton-fidelity --redaction FOLDER…`: secrets that stayed, and source code that was taken for secrets.
//! `baton-fidelity --misses [--tokens N] [--phrases tried|fresh|blind]`: what was lost of phrases that may be looked at.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use baton_fidelity::fact::{Fact, KINDS};
use baton_fidelity::phrases::{BLIND, FRESH, HELD, Phrases, TUNE};
use baton_fidelity::score::{Document, Share};
use baton_fidelity::secrets;
use baton_fidelity::write::TOOLS;
use baton_fidelity::{document, packet, put, story};

const BUDGETS: [usize; 5] = [500, 1000, 2000, 4000, 8000];

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(files) = args.strip_prefix(&["--count".to_owned()]) {
        return count(files);
    }
    if let Some(folders) = args.strip_prefix(&["--redaction".to_owned()]) {
        return redaction(folders);
    }
    let request = RunOptions::parse(args.into_iter())?;
    if let (Some(file), Some(facts)) = (&request.document, &request.facts) {
        return one(file, facts);
    }
    if let Some(folder) = &request.write {
        return write(folder, &request);
    }
    let root = std::env::temp_dir().join(format!("baton-fidelity-{}", std::process::id()));
    let done = if request.misses { misses(&root, &request) } else { table(&root, &request) };
    fs::remove_dir_all(&root).ok();
    done
}

/// What the command line asks for.
struct RunOptions {
    sessions: u64,
    turns: Vec<usize>,
    tokens: usize,
    tool: Option<String>,
    json: bool,
    misses: bool,
    phrases: &'static Phrases,
    document: Option<PathBuf>,
    facts: Option<PathBuf>,
    write: Option<PathBuf>,
}

impl RunOptions {
    fn parse(args: impl Iterator<Item = String>) -> Result<Self> {
        let mut request = Self {
            sessions: 10,
            turns: vec![12, 60, 200],
            tokens: 4000,
            tool: None,
            json: false,
            misses: false,
            phrases: TUNE,
            document: None,
            facts: None,
            write: None,
        };
        let mut args = args;
        while let Some(word) = args.next() {
            let mut value = || args.next().with_context(|| format!("{word} wants a value"));
            match word.as_str() {
                "--sessions" => request.sessions = value()?.parse()?,
                "--turns" => request.turns = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
                "--tokens" => request.tokens = value()?.parse()?,
                "--tool" => request.tool = Some(value()?),
                "--evidence" => {}
                "--json" => request.json = true,
                "--misses" => request.misses = true,
                "--phrases" => request.phrases = phrases_of(&value()?)?,
                "--document" => request.document = Some(value()?.into()),
                "--facts" => request.facts = Some(value()?.into()),
                "--write" => request.write = Some(value()?.into()),
                _ => bail!("unknown word {word}: see the first lines of bench/fidelity/src/main.rs"),
            }
        }
        Ok(request)
    }

    fn wants(&self, tool: &str) -> bool {
        self.tool.as_ref().is_none_or(|only| only == tool)
    }
}

/// Phrases that may be looked at: those that are held out may not.
fn phrases_of(name: &str) -> Result<&'static Phrases> {
    Ok(match name {
        "tried" => TUNE,
        "fresh" => FRESH,
        "blind" => BLIND,
        _ => bail!("there are no phrases {name} to be looked at"),
    })
}

fn count(files: &[String]) -> Result<()> {
    for file in files {
        println!("{} {file}", baton_model::budget::estimate_tokens(&fs::read_to_string(file)?));
    }
    Ok(())
}

fn redaction(folders: &[String]) -> Result<()> {
    for kind in secrets::harmless_texts(1, 1000) {
        println!("{:20} {} of {} stayed", kind.name, kind.kept, kind.made);
    }
    let redactor = baton_redact::Redactor::new();
    for folder in folders {
        let mut taken = secrets::FalsePositives::default();
        secrets::count_false_positives(Path::new(folder), &redactor, &mut taken)?;
        println!("{folder}: {} places in {} files, {} bytes", taken.places.len(), taken.files, taken.bytes);
        for (kind, line) in taken.places.iter().take(40) {
            println!("  {kind}: {}", line.chars().take(160).collect::<String>());
        }
    }
    Ok(())
}

fn one(file: &Path, facts: &Path) -> Result<()> {
    let facts: Vec<Fact> = serde_json::from_str(&fs::read_to_string(facts)?).context("the facts")?;
    let read = Document::new(&fs::read_to_string(file)?);
    for (kind, share) in KINDS.iter().zip(read.score(&facts)) {
        println!("{kind:22} {:4.0} %  {share:?}", share.value() * 100.0);
    }
    if std::env::args().any(|word| word == "--evidence") {
        for fact in &facts {
            println!("{} {:?}\n    {}", fact.kind, fact.check, read.evidence(fact).as_deref().unwrap_or("-"));
        }
        return Ok(());
    }
    let lost = |fact: &&Fact| read.holds(fact) == fact.lure;
    facts
        .iter()
        .filter(lost)
        .for_each(|fact| println!("{} {:?}", if fact.lure { "taken:" } else { "lost: " }, fact.check));
    Ok(())
}

fn write(folder: &Path, request: &RunOptions) -> Result<()> {
    for seed in 0..request.sessions {
        for turns in &request.turns {
            let story = story(seed, *turns, request.phrases);
            for tool in TOOLS.iter().filter(|tool| request.wants(tool.name)) {
                let path = put(folder, tool, &story)?;
                fs::write(path.with_extension("facts.json"), serde_json::to_string_pretty(&story.facts)?)?;
                println!("{}", path.display());
            }
        }
    }
    Ok(())
}

fn misses(root: &Path, request: &RunOptions) -> Result<()> {
    for (seed, turns) in all(request) {
        let story = story(seed, turns, request.phrases);
        for tool in TOOLS.iter().filter(|tool| request.wants(tool.name)) {
            let packet = packet(&put(root, tool, &story)?, tool)?;
            let read = Document::new(&document(&packet, request.tokens));
            for fact in story.facts.iter().filter(|fact| read.holds(fact) == fact.lure) {
                let what = if fact.lure { "taken" } else { "lost" };
                println!("{} {seed}/{turns} {what} {}: {:?}", tool.name, fact.kind, fact.check);
            }
        }
    }
    Ok(())
}

fn all(request: &RunOptions) -> impl Iterator<Item = (u64, usize)> {
    (0..request.sessions).flat_map(|seed| request.turns.iter().map(move |turns| (seed, *turns)))
}

/// Shares by budget and kind.
type Shares = [[Share; 9]; 5];

fn table(root: &Path, request: &RunOptions) -> Result<()> {
    for (name, phrases) in [("tried", TUNE), ("held out", HELD), ("fresh", FRESH), ("blind", BLIND)] {
        let mut sum = Shares::default();
        for tool in TOOLS.iter().filter(|tool| request.wants(tool.name)) {
            let shares = shares(root, request, tool, phrases)?;
            for (sum, shares) in sum.iter_mut().zip(&shares) {
                sum.iter_mut().zip(shares).for_each(|(sum, share)| *sum = sum.plus(*share));
            }
            if !request.json {
                show(&format!("{}, phrases {name}", tool.name), &shares);
            }
        }
        match request.json {
            true => println!("{}", as_json(name, &sum)),
            false => show(&format!("ALL, phrases {name}"), &sum),
        }
    }
    Ok(())
}

fn shares(
    root: &Path,
    request: &RunOptions,
    tool: &baton_fidelity::write::Tool,
    phrases: &Phrases,
) -> Result<Shares> {
    let mut shares = Shares::default();
    for (seed, turns) in all(request) {
        let story = story(seed, turns, phrases);
        let packet = packet(&put(root, tool, &story)?, tool)?;
        for (shares, tokens) in shares.iter_mut().zip(BUDGETS) {
            let scored = Document::new(&document(&packet, tokens)).score(&story.facts);
            shares.iter_mut().zip(scored).for_each(|(sum, share)| *sum = sum.plus(share));
        }
    }
    Ok(shares)
}

fn show(title: &str, shares: &Shares) {
    println!("\n{title:24}{}", BUDGETS.map(|tokens| format!("{tokens:>8} ")).concat());
    for (kind, name) in KINDS.iter().enumerate() {
        let cells = shares.map(|shares| {
            format!("{:>8.1}{}", shares[kind].value() * 100.0, if shares[kind].taken > 0 { "!" } else { " " })
        });
        println!("{} {name:22}{}", kind + 1, cells.concat());
    }
}

fn as_json(name: &str, shares: &Shares) -> serde_json::Value {
    let by_budget = BUDGETS.iter().zip(shares).map(|(tokens, shares)| {
        let kinds = KINDS
            .iter()
            .zip(shares)
            .map(|(kind, share)| ((*kind).to_owned(), serde_json::json!(share.value())));
        (tokens.to_string(), serde_json::Value::Object(kinds.collect()))
    });
    serde_json::json!({ "phrases": name, "share": by_budget.collect::<serde_json::Map<_, _>>() })
}

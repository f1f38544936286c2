//! Recall over many memories of one project: in a server, and by a command of its own.

use anyhow::{Context, Result, anyhow};
use baton_ops::memory_index::MatrixCache;
use serde_json::json;

use super::cycle_embedded::{Ledger, ledger};
use crate::corpus::Dice;
use crate::http::Client;
use crate::lab::Lab;
use crate::process::User;
use crate::report::{Line, Target};
use crate::server::Server;
use crate::sides::{quantile, spread, timed};

/// Words that there are; how often each comes falls off as it does in texts that people write.
const WORDS: u64 = 20_000;

/// A hundred thousand memories, and questions of three words.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let folder = lab.folder("recall-store")?;
    let memories = lab.count(100_000, 5_000);
    let mut dice = Dice::new(7);
    let mut filled = ledger(&folder)?;
    filled.call("project_init", json!({ "id": "p", "vcs": "none" }))?;
    for _ in 0..memories / 500 {
        filled.store.begin_batch().map_err(|fault| anyhow!("{fault}"))?;
        for _ in 0..500 {
            let length = 8 + dice.below(24);
            let text = sentence(&mut dice, length);
            filled.call("memory_add", json!({ "project": "p", "identity": "Ann", "text": text }))?;
        }
        filled.store.commit_batch().map_err(|fault| anyhow!("{fault}"))?;
    }
    let times = lab.count(200, 20);
    let mut lines = within(&mut filled, &mut dice, times)?;
    drop(filled);
    lines.extend(outside(
        lab,
        &folder.join("store.db").canonicalize()?.display().to_string(),
        &mut dice,
        times,
    )?);
    let note = format!("{memories} memories of 8 to 31 words, in one project");
    Ok(lines.into_iter().map(|line| line.note(note.clone())).collect())
}

/// Through the library, with the vectors kept between two calls and without.
fn within(ledger: &mut Ledger, dice: &mut Dice, times: usize) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (name, stored, times) in
        [("vectors kept", Some(MatrixCache::default()), times), ("vectors read each time", None, times / 10)]
    {
        ledger.keep(stored);
        ledger.call("memory_search", json!({ "project": "p", "query": "warm" }))?;
        let mut took = Vec::new();
        for _ in 0..times.max(3) {
            let query = sentence(dice, 3);
            let search = || ledger.call("memory_search", json!({ "project": "p", "query": query }));
            took.push(timed(search)?.0 * 1e3);
        }
        lines.push(Line::spread(format!("a search through the library, {name}"), spread(took), "ms"));
    }
    Ok(lines)
}

/// Over HTTP, and as a process.
fn outside(lab: &Lab, store: &str, dice: &mut Dice, times: usize) -> Result<Vec<Line>> {
    let user = User::new(lab, "recall")?;
    let server = Server::start_on(&user, &["--store", store])?;
    let mut client = Client::new(server.address())?;
    client.get("/api/v1/memories?project=p&query=warm")?;
    let mut took = Vec::new();
    for _ in 0..times {
        let path = format!("/api/v1/memories?project=p&query={}", sentence(dice, 3).replace(' ', "+"));
        took.push(timed(|| client.get(&path))?.0);
    }
    took.sort_by(f64::total_cmp);
    let slow = quantile(&took, 0.99) * 1e3;
    let resident = crate::process::status_kib(server.pid(), "VmRSS").context("a server")? as f64 / 1024.0;
    drop(server);
    let mut alone = Vec::new();
    for _ in 0..(times / 10).max(3) {
        let query = sentence(dice, 3);
        alone.push(user.run(&["--store", store, "--project", "p", "memory", "search", &query])? * 1e3);
    }
    Ok(vec![
        Line::spread("a search in a server", spread(took.iter().map(|s| s * 1e3).collect()), "ms")
            .target(Target::AtMost(20.0)),
        Line::new("a search in a server: 99 of 100 are faster", slow, "ms"),
        Line::new("resident memory of that server", resident, "MiB"),
        Line::spread("`baton memory search` as a process", spread(alone), "ms"),
    ])
}

/// Words of a language that nobody speaks, the common ones more often.
fn sentence(dice: &mut Dice, length: u64) -> String {
    let mut words = Vec::new();
    for _ in 0..length {
        // The product of two even draws falls off much as the words of a language do.
        let rank = dice.below(WORDS) * dice.below(WORDS) / WORDS;
        words.push(word(rank));
    }
    words.join(" ")
}

fn word(rank: u64) -> String {
    const SYLLABLES: [&str; 20] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va", "we",
        "xi", "yo", "zu",
    ];
    let mut rest = rank + 20;
    let mut word = String::new();
    while rest > 0 {
        word.push_str(SYLLABLES[(rest % 20) as usize]);
        rest /= 20;
    }
    word
}

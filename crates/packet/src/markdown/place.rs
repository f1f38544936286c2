//! Where things stand: places in the transcript, the working copy, and how old it all is.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::section::{Entry, Section, rank};
use super::{RenderContext, cut, quote};
use crate::packet::{FileChange, Git, Packet};

/// How the facts of one document point back into the transcript. Most places share `agent:id`, so that is said once and
/// the facts carry only `#line`.
pub(super) struct PlaceMarks {
    base: Option<String>,
    example: Option<String>,
}

impl PlaceMarks {
    pub(super) fn none() -> Self {
        Self { base: None, example: None }
    }

    pub(super) fn of(packet: &Packet) -> Self {
        let mut bases: BTreeMap<&str, (usize, Reverse<usize>)> = BTreeMap::new();
        let found = places(packet).into_iter().filter_map(|at| at.rsplit_once('#'));
        for (index, (base, _)) in found.enumerate() {
            bases.entry(base).or_insert((0, Reverse(index))).0 += 1;
        }
        // The most frequent, and among equals the first.
        let base = bases.into_iter().max_by_key(|(_, rank)| *rank).map(|(base, _)| base.to_owned());
        let example = places(packet)
            .into_iter()
            .filter_map(|at| at.rsplit_once('#'))
            .find(|(of, line)| Some(*of) == base.as_deref() && plain(line))
            .map(|(_, line)| format!("#{line}"));
        Self { base, example }
    }

    /// ` (#812)`, or nothing.
    pub(super) fn mark(&self, at: Option<&str>) -> String {
        match (at, self.base.as_deref()) {
            (Some(at), Some(base)) => match at.rsplit_once('#') {
                Some((of, line)) if of == base && plain(line) => format!(" (#{line})"),
                // The session as a whole is named below.
                None if at == base => String::new(),
                _ => format!(" ({})", quote::code(&cut::middle(at, 100))),
            },
            _ => String::new(),
        }
    }
}

fn plain(line: &str) -> bool {
    !line.is_empty()
        && line.len() <= 16
        && line.chars().all(|c| c.is_ascii_alphanumeric() || ":-.".contains(c))
}

/// The line number at the end of a place, by which the latest edit is known.
pub(super) fn line_of(at: Option<&str>) -> Option<i64> {
    at.and_then(|at| at.rsplit_once('#')).and_then(|(_, line)| line.parse().ok())
}

pub(super) fn places(packet: &Packet) -> Vec<&str> {
    let requests = packet.requests.iter().flat_map(|r| [&r.first, &r.last]).flatten().map(|t| &t.at);
    let texts = [&packet.constraints, &packet.work_completed, &packet.next_steps, &packet.open_loops]
        .into_iter()
        .chain([&packet.session_notes, &packet.known_issues, &packet.refs])
        .flatten()
        .map(|t| &t.at);
    requests
        .chain(texts)
        .chain(packet.last_answer.iter().map(|t| &t.at))
        .chain(packet.last_failure.iter().map(|t| &t.at))
        .chain(packet.pending_tasks.iter().map(|t| &t.at))
        .chain(packet.proposal.iter().map(|t| &t.at))
        .chain(packet.decisions.iter().map(|t| &t.at))
        .chain(packet.failed_attempts.iter().map(|t| &t.at))
        .chain(packet.files_modified.iter().map(|t| &t.at))
        .chain(packet.commands.iter().map(|t| &t.at))
        .chain(packet.remarks.iter().map(|t| &t.at))
        .chain(packet.recent_messages.iter().map(|t| &t.at))
        .filter_map(|at| at.as_deref())
        .collect()
}

/// Where the facts come from.
pub(super) fn provenance(cx: &RenderContext, out: &mut Vec<Entry>) {
    let source = cx.packet.source.as_ref();
    if let (Some(base), Some(example)) = (&cx.marks.base, &cx.marks.example) {
        let base = quote::code(&cut::middle(base, 100));
        let text = format!("- A mark such as {} is a line of {base}.\n", quote::code(example));
        out.push(Entry::unshortened(Section::Provenance, "origins", rank::COMMAND, text));
    }
    if let Some(path) = source.and_then(|source| source.path.as_deref()) {
        let show = |limit| format!("- Transcript: {}\n", quote::code(&cut::middle(path, limit)));
        let entry = Entry::new(Section::Provenance, "origins");
        out.push(entry.lengths(&[(rank::DETAIL, 160)], rank::WHOLE, show));
    }
}

/// The working copy at the hand-off, and what has changed since.
pub(super) fn git(cx: &RenderContext, out: &mut Vec<Entry>) {
    let Some(then) = &cx.packet.git else { return };
    let state_text = state(then);
    if !state_text.is_empty() {
        let text = format!("- At the hand-off: {}\n", state_text.join(", "));
        out.push(Entry::unshortened(Section::Git, "git lines", rank::STATE, text));
    }
    out.extend(commits(&cx.packet.files_modified));
    if let Some(text) = drift(cx, then) {
        out.push(Entry::unshortened(Section::Git, "git lines", rank::STATE, text));
    }
}

fn state(git: &Git) -> Vec<String> {
    let branch = git.branch.as_deref().map(|branch| format!("branch {}", reference(branch)));
    let commit = git.commit.as_deref().map(|commit| format!("commit {}", reference(commit)));
    let dirty =
        git.dirty.map(|dirty| if dirty { "uncommitted changes" } else { "nothing uncommitted" }.to_owned());
    let ahead = git.ahead.filter(|ahead| *ahead > 0).map(|ahead| match ahead {
        1 => "1 commit ahead of upstream".to_owned(),
        _ => format!("{ahead} commits ahead of upstream"),
    });
    let begun = git.in_progress.as_deref().and_then(quote::name);
    let begun = begun.map(|begun| format!("a {begun} is in progress"));
    [branch, commit, begun, dirty, ahead].into_iter().flatten().collect()
}

/// How many files are named of those that are in no commit, and what it is worth to name as many.
const NAMED: [(usize, u8); 3] = [(8, rank::REASON), (16, rank::LAST_TURN), (40, rank::ANSWER)];

/// Which of the changed files are in a commit and which are not, where some are.
fn commits(files: &[FileChange]) -> Option<Entry> {
    let count = |state: Option<bool>| files.iter().filter(|file| file.committed == state).count();
    let (inside, unknown) = (count(Some(true)), count(None));
    let name = |file: &&FileChange| {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let is_one = files.iter().filter(|other| other.path.rsplit('/').next() == Some(name)).count() == 1;
        quote::code(&cut::middle(if is_one { name } else { &file.path }, 80))
    };
    // What git does not know is lost first, and shown by no diff.
    let is_new =
        |file: &&FileChange| file.change.as_deref().is_some_and(|change| change.starts_with("created"));
    let (new, old): (Vec<&FileChange>, Vec<&FileChange>) =
        files.iter().filter(|file| file.committed == Some(false)).partition(is_new);
    let outside: Vec<String> = new.iter().chain(&old).map(name).collect();
    let rest = if unknown > 0 { format!("; of {unknown} it is not known") } else { String::new() };
    let others = |count: usize| match count {
        1 => "1 changed file is committed".to_owned(),
        _ => format!("{count} changed files are committed"),
    };
    if inside == 0 && (outside.is_empty() || unknown == 0) {
        return None;
    }
    let entry = Entry::new(Section::Git, "git lines");
    let line = |max: usize| {
        let named = outside.iter().take(max).cloned().collect::<Vec<_>>().join(", ");
        let more = match outside.len().saturating_sub(max) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        match inside {
            0 => format!("- Not committed: {named}{more}{rest}\n"),
            _ => format!("- Not committed: {named}{more}; {}{rest}\n", others(inside)),
        }
    };
    if outside.is_empty() {
        let text = match unknown {
            0 if inside > 1 => format!("- All {inside} changed files are committed\n"),
            _ => format!("- {}{rest}\n", others(inside)),
        };
        return Some(entry.form(rank::COMMAND, None, text));
    }
    let shorter = |entry: Entry, (max, rank): &(usize, u8)| {
        let lacks = (outside.len() > *max).then_some("names of uncommitted files");
        entry.form(*rank, lacks, line(*max))
    };
    Some(NAMED.iter().fold(entry, shorter).form(rank::WHOLE, None, line(usize::MAX)))
}

fn reference(name: &str) -> String {
    quote::code(&cut::middle(name, 80))
}

fn drift(cx: &RenderContext, then: &Git) -> Option<String> {
    let now = cx.options.drift.as_ref()?;
    let mut moved = Vec::new();
    if let (Some(was), Some(is)) = (&then.branch, &now.branch)
        && was != is
    {
        moved.push(format!("the branch is {} (was {})", reference(is), reference(was)));
    }
    if let (Some(was), Some(is)) = (&then.commit, &now.commit)
        && !(was.starts_with(is.as_str()) || is.starts_with(was.as_str()))
    {
        moved.push(format!("HEAD is {} (was {})", reference(is), reference(was)));
    }
    match (then.dirty, now.dirty) {
        (Some(false) | None, Some(true)) => moved.push("there are uncommitted changes".into()),
        (Some(true), Some(false)) => moved.push("the uncommitted changes are gone: find out where".into()),
        _ => {}
    }
    let age = age(cx).map(|age| format!(" ({age} later)")).unwrap_or_default();
    let is_unmoved = moved.is_empty();
    moved.extend(absent(&now.missing));
    if is_unmoved && then.commit.is_none() {
        let gone = absent(&now.missing).map(|gone| format!("; {gone}")).unwrap_or_default();
        return Some(format!(
            "- Now{age}: cannot tell whether anything changed: no commit was recorded{gone}\n"
        ));
    }
    Some(match moved.is_empty() {
        true => format!("- Now{age}: no drift\n"),
        false => format!("- **Drift since**{age}: {}\n", moved.join("; ")),
    })
}

/// How many files are named of those that are not there.
const MAX_ABSENT: usize = 8;

/// Which of the named files are not there.
fn absent(missing: &[String]) -> Option<String> {
    let named: Vec<String> = missing.iter().take(MAX_ABSENT).map(|path| reference(path)).collect();
    let more = match missing.len().saturating_sub(MAX_ABSENT) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let verb = if missing.len() == 1 { "is" } else { "are" };
    (!named.is_empty()).then(|| format!("{}{more} {verb} not here", named.join(", ")))
}

/// How long ago the packet was made: `3 hours`.
pub(super) fn age(cx: &RenderContext) -> Option<String> {
    let created: jiff::Timestamp = cx.packet.created_at.as_deref()?.trim().parse().ok()?;
    let minutes = cx.options.now_ms?.checked_sub(created.as_millisecond())?.div_euclid(60_000);
    let (count, unit) = match minutes {
        ..0 => return None,
        0..120 => (minutes, "minute"),
        120..2880 => (minutes / 60, "hour"),
        _ => (minutes / 1440, "day"),
    };
    Some(format!("{count} {unit}{}", if count == 1 { "" } else { "s" }))
}

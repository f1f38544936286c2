//! Files: what was done to each. Few have a line each, with their diffs; many are folded into one line for each folder.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::section::{Entry, SHORTENED, Section, rank};
use super::{RenderContext, cut, place, quote};
use crate::packet::FileChange;

/// Numbers of files that matter most, and what it is worth to name as many of them.
const TIERS: [(usize, u8); 4] =
    [(14, rank::FILE), (20, rank::MORE_FILES), (40, rank::READ), (usize::MAX, rank::DETAIL)];
/// Which tier names every file that was changed.
const ALL_CHANGED: usize = 1;
/// Changed files have a line each where these lines take at most this part of the budget …
const SHARE_OF_LINES: u64 = 8;
/// … and are no more than this.
const MAX_LINES: usize = 20;

/// Every path and what was done to it; the diffs of the latest edits come first when there is space.
pub(super) fn files(cx: &RenderContext, out: &mut Vec<Entry>) {
    let changed = &cx.packet.files_modified;
    let one_by_one = has_room_for_lines(cx);
    if one_by_one {
        lines(cx, out);
    }
    let known: BTreeSet<&str> = changed.iter().map(|file| file.path.as_str()).collect();
    let read = latest(&cx.packet.files_read);
    let read: Vec<&FileChange> =
        read.into_iter().filter(|file| !known.contains(file.path.as_str())).collect();
    let mut listed: Vec<&FileChange> =
        if one_by_one { Vec::new() } else { changed.iter().filter(|file| is_plain(file)).collect() };
    let named = if one_by_one { changed.len() } else { 0 };
    listed.extend(read);
    let planned = cx.packet.proposal.iter().flat_map(|proposal| &proposal.files);
    listed.extend(planned.filter(|file| !known.contains(file.path.as_str())));
    listed.sort_by_key(|file| Reverse((file.importance, place::line_of(file.at.as_deref()))));
    let unit = if one_by_one { "files that were read" } else { "files" };
    folders(out, unit, &listed, named);
    if !one_by_one {
        moved_files(cx, out);
        diffs(cx, out);
    }
}

/// Of several entries about one file, the last.
fn latest(files: &[FileChange]) -> Vec<&FileChange> {
    let mut by_path: BTreeMap<&str, &FileChange> = BTreeMap::new();
    files.iter().for_each(|file| _ = by_path.insert(&file.path, file));
    by_path.into_values().collect()
}

fn has_room_for_lines(cx: &RenderContext) -> bool {
    let Some(budget) = cx.budget else { return true };
    let cost: u64 = cx.packet.files_modified.iter().map(|file| budget.cost(&file_line(cx, file, 160))).sum();
    cx.packet.files_modified.len() <= MAX_LINES && cost <= budget.room() / SHARE_OF_LINES
}

/// A line for each changed file, with its diff.
fn lines(cx: &RenderContext, out: &mut Vec<Entry>) {
    let first = out.len();
    for (index, file) in cx.packet.files_modified.iter().enumerate() {
        let line = |limit| file_line(cx, file, limit);
        let entry = Entry::new(Section::Files, "files");
        let Some(diff) = diff_of(file) else {
            out.push(entry.lengths(&[(rank::FILE, 160)], rank::WHOLE, line));
            continue;
        };
        let entry = entry.form(rank::FILE, Some("diffs"), line(160));
        out.push(with_diff(entry, &diff, line).order(newest_first(file, index)));
    }
    level(&mut out[first..]);
}

/// The diffs of files that are folded into lines of folders.
fn diffs(cx: &RenderContext, out: &mut Vec<Entry>) {
    for (index, file) in cx.packet.files_modified.iter().enumerate() {
        let Some(diff) = diff_of(file) else { continue };
        let entry = Entry::new(Section::Diffs, "diffs");
        out.push(
            with_diff(entry, &diff, |limit| file_line(cx, file, limit)).order(newest_first(file, index)),
        );
    }
}

fn diff_of(file: &FileChange) -> Option<String> {
    file.diff.as_deref().map(quote::clean).filter(|diff| !diff.trim().is_empty())
}

fn with_diff(entry: Entry, diff: &str, line: impl Fn(usize) -> String) -> Entry {
    let show = |limit, diff: &str| line(limit) + &quote::fence("diff", diff);
    entry.form(rank::DIFF, Some(SHORTENED), show(160, &cut::head_lines(diff, 24, 1200))).form(
        rank::WHOLE_DIFF,
        None,
        show(usize::MAX, diff),
    )
}

fn newest_first(file: &FileChange, index: usize) -> i64 {
    place::line_of(file.at.as_deref()).unwrap_or(index as i64).saturating_neg()
}

/// Without diffs in question, files are of equal weight: the order of recency counts only among them.
fn level(files: &mut [Entry]) {
    let newest = files.iter().map(|entry| entry.order).min().unwrap_or(0);
    for entry in files {
        entry.order = if entry.forms.len() > 1 { entry.order.saturating_sub(newest) } else { 0 };
    }
}

fn file_line(cx: &RenderContext, file: &FileChange, limit: usize) -> String {
    let change = file.change.as_deref().map(|change| quote::prose(&cut::head(change, limit)));
    let lines = file.lines.as_deref().map(|lines| quote::prose(&cut::head(lines, limit.min(60))));
    let how: Vec<String> = [change, lines].into_iter().flatten().filter(|how| !how.is_empty()).collect();
    let how = if how.is_empty() { String::new() } else { format!(" {}", how.join(", ")) };
    format!("- {}{how}{}\n", quote::code(&cut::middle(&file.path, limit)), cx.mark(file.at.as_deref()))
}

/// Whether the word for what was done to a file needs nothing beside it, as a rename does.
fn is_plain(file: &FileChange) -> bool {
    change_label(file).is_some()
}

/// What was done, in a word; who did it is told where there is space for a line.
fn change_label(file: &FileChange) -> Option<&str> {
    let change = file.change.as_deref().unwrap_or("modified");
    let word = change.split(" (by ").next().unwrap_or(change);
    matches!(word, "modified" | "created" | "deleted" | "read" | "planned").then_some(word)
}

/// The word as it is shown: of a file that only the plan names it is not known what becomes of it.
fn word(label: &str) -> &str {
    if label == "planned" { "named in the plan" } else { label }
}

/// Whether nothing was done to it but reading, or not even that.
fn is_read(file: &FileChange) -> bool {
    matches!(change_label(file), Some("read" | "planned"))
}

/// Files with more to be said of them than a word; those that went from one folder to another share a line.
fn moved_files(cx: &RenderContext, out: &mut Vec<Entry>) {
    let mut moves: Vec<(Option<Way>, Vec<&FileChange>)> = Vec::new();
    for file in cx.packet.files_modified.iter().filter(|file| !is_plain(file)) {
        let way = way(file);
        match moves.iter_mut().find(|(known, _)| way.is_some() && *known == way) {
            Some((_, files)) => files.push(file),
            None => moves.push((way, vec![file])),
        }
    }
    for (way, files) in moves {
        let entry = Entry::new(Section::Files, "files");
        match (way, files.as_slice()) {
            (Some((from, to)), [_, _, ..]) => {
                let names = |detail| names(&files, "renamed", detail).join(", ");
                let line = |detail| {
                    format!(
                        "- from {} to {}: moved {}\n",
                        place_name(from),
                        place_name(to),
                        quote::code(&names(detail))
                    )
                };
                let mut entry = entry.form(rank::MORE_FILES, Some(SHORTENED), line(false));
                entry.count = files.len();
                out.push(entry.form(rank::DETAIL, None, line(true)));
            }
            _ => {
                for file in files {
                    let line = |limit| file_line(cx, file, limit);
                    let entry = Entry::new(Section::Files, "files");
                    out.push(entry.lengths(&[(rank::MORE_FILES, 160)], rank::WHOLE, line));
                }
            }
        }
    }
}

/// The folder that a file left, and the one that it went to.
type Way<'a> = (&'a str, &'a str);

/// The folders between which a file moved that kept its name.
fn way(file: &FileChange) -> Option<Way<'_>> {
    let from = file.change.as_deref()?.strip_prefix("renamed from ")?;
    let ((old_folder, old_name), (folder, name)) = (split(from), split(&file.path));
    (old_name == name && !from.contains(" (by ")).then_some((old_folder, folder))
}

fn place_name(folder: &str) -> String {
    quote::code(&cut::middle(if folder.is_empty() { "./" } else { folder }, 120))
}

/// A line for each folder: as many of the files that matter most as there is space for, then all.
fn folders(out: &mut Vec<Entry>, unit: &'static str, listed: &[&FileChange], named: usize) {
    let mut by_folder: Vec<(&str, Vec<(usize, &FileChange)>)> = Vec::new();
    for (place, file) in listed.iter().enumerate() {
        let folder = split(&file.path).0;
        match by_folder.iter_mut().find(|(known, _)| *known == folder) {
            Some((_, files)) => files.push((place + named, file)),
            None => by_folder.push((folder, vec![(place + named, file)])),
        }
    }
    for (folder, files) in by_folder {
        let mut entry = Entry::new(Section::Files, unit);
        entry.count = files.len();
        entry.order = files.first().map_or(0, |(place, _)| *place as i64);
        for (tier, (most, rank)) in TIERS.into_iter().enumerate() {
            let is_shown =
                |place: usize, file: &FileChange| place < most || (tier >= ALL_CHANGED && !is_read(file));
            let shown: Vec<&FileChange> =
                files.iter().filter(|(place, file)| is_shown(*place, file)).map(|(_, file)| *file).collect();
            if !shown.is_empty() {
                let short_of = files.len() - shown.len();
                let lacks = if short_of == 0 { "line ranges" } else { unit };
                entry = entry.partial(rank, lacks, short_of, folder_line(folder, &shown, false));
            }
        }
        let all: Vec<&FileChange> = files.iter().map(|(_, file)| *file).collect();
        if !all.iter().any(|file| is_read(file)) {
            entry = entry.form(rank::PLAN, None, folder_line(folder, &all, true));
        }
        out.push(entry.form(rank::DETAIL, None, folder_line(folder, &all, true)));
    }
}

/// ``- `src/api/`: modified `a.rs, b.rs`; read `c.rs:10-80` ``
fn folder_line(folder: &str, files: &[&FileChange], detail: bool) -> String {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for file in files {
        let how = change_label(file).unwrap_or("modified");
        let name = name(file, how, detail);
        match groups.iter_mut().find(|(known, _)| *known == how) {
            Some((_, names)) => names.push(name),
            None => groups.push((how, vec![name])),
        }
    }
    let groups: Vec<String> = groups
        .iter()
        .map(|(how, names)| format!("{} {}", word(how), quote::code(&names.join(", "))))
        .collect();
    let folder = if folder.is_empty() { String::new() } else { format!("{}: ", quote::code(folder)) };
    format!("- {folder}{}\n", groups.join("; "))
}

fn names(files: &[&FileChange], how: &str, detail: bool) -> Vec<String> {
    files.iter().map(|file| name(file, how, detail)).collect()
}

/// The name of a file in its folder, with the lines that were changed or read.
fn name(file: &FileChange, how: &str, detail: bool) -> String {
    let name = cut::middle(split(&file.path).1, 120);
    match file.lines.as_deref().filter(|_| detail) {
        Some(lines) if how == "read" => format!("{name}:{}", cut::head(lines, 30)),
        Some(lines) => format!("{name} {}", cut::head(lines, 30)),
        None => name,
    }
}

/// The folder with its slash, and the name.
fn split(path: &str) -> (&str, &str) {
    path.rfind('/').map_or(("", path), |at| path.split_at(at + 1))
}

/// Numbers of names that were searched for or defined, and what it is worth to tell as many of them.
const NAMES: [(usize, u8); 3] = [(6, rank::GIST), (12, rank::GIST), (24, rank::LAST_TURN)];

/// By how many the list of names grows.
const NAMES_AT_ONCE: usize = 3;

/// Names that were searched for or defined in edits, the latest first.
pub(super) fn searched(cx: &RenderContext, out: &mut Vec<Entry>) {
    let mut names: Vec<&str> = Vec::new();
    for name in cx.packet.searched.iter().map(|name| name.text.trim()).filter(|name| !name.is_empty()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let list = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| cut::middle(name, 60)).collect();
        format!("- {}\n", quote::code(&names.join(", ")))
    };
    if names.is_empty() {
        return;
    }
    let mut entry = Entry::new(Section::Searched, "names");
    entry.count = names.len();
    // Before the longer passages of the same rank.
    entry.order = -1;
    let mut from = 0;
    for (most, rank) in NAMES {
        // As many as there is space for, also where the whole step is too long.
        for count in (from..most).step_by(NAMES_AT_ONCE).skip(usize::from(from > 0)).chain([most]) {
            if count > 0 {
                entry = entry.form(rank, Some("names"), list(&names[..names.len().min(count)]));
            }
        }
        from = most;
    }
    out.push(entry.form(rank::WHOLE, None, list(&names)));
}

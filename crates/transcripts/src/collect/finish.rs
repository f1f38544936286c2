//! The packet out of what was gathered.

use std::collections::HashSet;
use std::path::Path;

use baton_packet::packet::{
    Attempt, Failure, FileChange, Git, Message, Packet, Party, Requests, Text, ToolActivity,
};
use serde_json::{Map, Value, json};

use super::calls::Run;
use super::check_filter::is_trial;
use super::coverage::{core, makes_good};
use super::files::{FileState, relative};
use super::importance::{Importance, only_answers};
use super::label::{Label, by_subagent};
use super::miscall::names_wrong_call;
use super::paragraph::{RequestProgress, summary_paragraph};
use super::past_runs::removed_by;
use super::resolution::{LastFailure, passed_since};
use super::touched::{MAX_READ, TouchedFile, TouchedFiles};
use super::{Collector, MAX_COMPACTION, Sentence, SourceRef, compaction, fit};
use crate::event::Change;
use crate::report::Report;
use crate::shared::time;
use crate::shared::words::clip;

/// So much is told of what the user insisted on and took back later, in characters.
const MAX_TAKEN_BACK: usize = 120;

impl Collector<'_> {
    /// Ends the gathering.
    pub fn finish(mut self, agent: &str, path: &Path, report: Report) -> Packet {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let id = self.session.id.as_deref().unwrap_or(stem).to_owned();
        let label = Label::new(agent, &id);
        let open = self.calls.still_open();
        self.leave_open_what_git_began(&open);
        let said_at = [&self.last_request, &self.last_answer]
            .into_iter()
            .flatten()
            .map(|sentence| sentence.at.line)
            .max();
        let of_subagents = std::mem::take(&mut self.calls.subagent_checks);
        self.calls.checks.add_of_subagents(of_subagents);
        self.calls.drop_failure_made_good(said_at.unwrap_or(0));
        let failed_at = self.calls.failure.as_ref().map_or(0, |failure| failure.run.at.line);
        let gone =
            self.calls.failure.take_if(|failure| failure.ran_file(self.files.deleted_since(failed_at)));
        gone.iter().for_each(|failure| self.calls.mended(failure, None));
        let mut left_out = Map::new();
        let next_steps = self.next_steps(&label);
        let mut packet = Packet {
            source: Some(Party {
                agent: Some(agent.to_owned()),
                id: Some(id.clone()),
                path: Some(self.cleaner.clean_text(&path.to_string_lossy())),
            }),
            session_id: Some(id),
            created_at: self.last_ms.map(time::format),
            requests: Some(self.requests(&label)),
            last_answer: self.answer_to_tell().map(|sentence| label.text(&sentence)),
            open_loops: self.open_loops(&open, &next_steps, &label),
            next_steps,
            git: Some(self.git()),
            environment: Some(Value::Object(self.environment())),
            ..Packet::default()
        };
        self.plan_into(&mut packet, &label);
        let began = self.calls_into(&mut packet, &label, &mut left_out);
        self.prose_into(&mut packet, &label, &mut left_out);
        self.files_into(&mut packet, &label, &mut left_out);
        self.calls.changed_ms.mark_outdated(&mut packet, &began);
        self.proposal_into(&mut packet, &label);
        packet.metadata = self.metadata(&label, report, left_out);
        packet.summary = summary_paragraph(&packet, RequestProgress::of(&self));
        fit::truncate(&mut packet);
        packet
    }

    fn requests(&self, label: &Label) -> Requests {
        let text = |sentence: &Option<Sentence>| sentence.as_ref().map(|sentence| label.text(sentence));
        Requests { first: text(&self.first_request), last: text(&self.request_to_tell()) }
    }

    /// What was run; gives when each check began.
    fn calls_into(
        &mut self,
        packet: &mut Packet,
        label: &Label,
        left_out: &mut Map<String, Value>,
    ) -> Vec<Option<i64>> {
        let looked = self.calls.keep_what_mattered(self.past());
        self.calls.drop_what_was_mended();
        let threw_away_at: Vec<u64> = self.thrown_away.iter().map(|lost| lost.at.line).collect();
        self.calls.drop_past_runs(self.spoke_at, &threw_away_at);
        let (files, root) = (&self.files, self.root.as_deref());
        self.calls.commands.retain(|run| {
            !removed_by(run).is_some_and(|paths| {
                paths.iter().all(|path| files.is_there_since(&relative(path, root), run.at.line))
            })
        });
        let test = self.calls.last_test();
        packet.test_command = test.map(|run| run.command.clone());
        packet.test_status =
            test.and_then(|run| run.ok).map(|ok| if ok { "pass" } else { "fail" }.to_owned());
        packet.last_failure = self.last_failure(label);
        note(left_out, "commands", self.calls.commands.left_out);
        note(left_out, "commands_that_only_looked", looked);
        packet.failed_attempts = self
            .calls
            .commands
            .iter()
            .filter(|run| self.is_attempt(run))
            .map(|run| label.attempt(run, &self.calls.checks.still_failing(&run.command, &run.at)))
            .collect();
        let checks = &self.calls.checks;
        let by_subagents = self.calls.subagent_failures.iter();
        let by_subagents =
            by_subagents.filter(|run| !checks.all_pass(&run.command) && !checks.cover(&run.command, &run.at));
        packet.failed_attempts.extend(by_subagents.map(|run| label.attempt(run, &run.command)));
        let dropped = self.calls.checks.drop_what_others_tell();
        let root = self.root.as_deref().map(|root| self.cleaner.clean_text(root));
        let checks = &self.calls.checks;
        let of_no_use = |run: &&Run| run.ok == Some(false) && (is_wrong_call(run) || run.found_another_way);
        let mattered = self.calls.commands.iter().filter(|run| !checks.tell_without(run, &dropped));
        let mattered = mattered.filter(|run| !of_no_use(run));
        packet.commands = mattered.map(|run| label.command(run, root.as_deref())).collect();
        let own = std::mem::take(&mut self.calls.checks).in_order();
        packet.checks = own.iter().map(|check| label.check(check)).collect();
        self.searched_into(packet, label);
        let tallies = std::mem::take(&mut self.calls.tallies).into_iter();
        packet.tool_activity = tallies
            .map(|(category, tally)| ToolActivity {
                category: category.name(),
                count: tally.count.try_into().unwrap_or(i64::MAX),
                samples: tally.samples(),
            })
            .collect();
        own.iter().map(|check| check.at_ms).collect()
    }

    fn searched_into(&self, packet: &mut Packet, label: &Label) {
        // What the last words name comes first.
        let answer = self.answer_to_tell();
        let last_words = [self.last_request.as_ref(), self.full_request.as_ref(), answer.as_ref()];
        let is_named = |name: &str| last_words.iter().flatten().any(|sentence| sentence.text.contains(name));
        let mut searched: Vec<_> = self.calls.searched.latest_first().collect();
        // The name of a file is told by its path.
        let stem =
            |path: &str| path.rsplit('/').next().and_then(|file| file.split('.').next()).map(str::to_owned);
        let stems: HashSet<String> = self.calls.touched.paths().filter_map(stem).collect();
        searched.retain(|(name, _)| !stems.contains(name));
        searched.sort_by_key(|(name, _)| !is_named(name));
        let text = |(name, at): &(String, SourceRef)| Text { text: name.clone(), at: label.at(at) };
        packet.searched = searched.into_iter().map(text).collect();
    }

    /// The last failure of the session itself, else the test or build of a sub-agent that failed last.
    fn last_failure(&mut self, label: &Label) -> Option<Failure> {
        if let Some(LastFailure { run, output, .. }) = self.calls.failure.take() {
            let (output, at) = (Some(output), label.at(&run.at));
            return Some(Failure { command: run.command, exit_code: run.exit_code, output, at });
        }
        let check = self.calls.checks.failed_by_subagent()?;
        let run = self.calls.subagent_failures.iter().find(|run| run.at == check.at);
        Some(Failure {
            command: check.command.clone(),
            exit_code: check.exit_code,
            output: run.and_then(|run| run.note.clone()),
            at: label.at(&check.at),
        })
    }

    /// The line before which what only looked is of the past; where nothing was changed, it answered earlier questions.
    fn past(&self) -> u64 {
        if self.changed_at == 0 { self.spoke_at } else { self.spoke_at.min(self.changed_at) }
    }

    /// A failure of work that no later run of the same command made good; the last of several runs speaks for all.
    fn is_attempt(&self, run: &Run) -> bool {
        let same = |other: &Run| core(&other.command) == core(&run.command);
        let good = |other: &Run| other.ok == Some(true) && makes_good(&run.command, &other.command);
        let later = |other: &&Run| other.at.line > run.at.line && (same(other) || good(other));
        run.ok == Some(false)
            && run.importance >= Importance::Some
            && !run.command.starts_with("git ")
            && !only_answers(&run.command, run.exit_code)
            && !is_trial(&run.command)
            && !is_wrong_call(run)
            && !run.found_another_way
            && self.calls.commands.iter().filter(later).count() == 0
            && !run.mended
            && !passed_since(&self.calls.checks, run)
            && !self.calls.checks.cover(&run.command, &run.at)
    }

    fn prose_into(&mut self, packet: &mut Packet, label: &Label, left_out: &mut Map<String, Value>) {
        note(left_out, "constraints", self.constraints.left_out);
        note(left_out, "decisions", self.decisions.left_out);
        note(left_out, "decisions_superseded", self.superseded);
        note(left_out, "questions", self.questions.left_out);
        note(left_out, "failed_attempts", self.attempts.left_out);
        note(left_out, "remarks", self.remarks.left_out);
        note(left_out, "messages", self.recent.left_out);
        let standing = self.constraints.iter().filter(|sentence| !self.is_lifted(sentence));
        let whole = |sentence: &Sentence| Text {
            text: self.with_removal(&sentence.text, sentence.at.line, MAX_TAKEN_BACK),
            at: label.at(&sentence.at),
        };
        packet.constraints = standing.map(whole).collect();
        packet.decisions = self.decisions_in_order(label);
        let losses = self.losses();
        let attempts = self.attempts.iter().map(|(attempt, at)| (attempt.clone(), at)).chain(losses);
        let mut attempts: Vec<_> = attempts.collect();
        attempts.sort_by_key(|(_, at)| at.line);
        let attempts = attempts.into_iter().map(|(attempt, at)| Attempt { at: label.at(at), ..attempt });
        packet.failed_attempts.extend(attempts);
        packet.remarks = self.also_said(packet, label);
        self.keep_telling_turns();
        let message = |(role, sentence): &(&str, Sentence)| Message {
            role: (*role).to_owned(),
            text: sentence.text.clone(),
            at: label.at(&sentence.at),
        };
        packet.recent_messages = self.recent.iter().map(message).collect();
    }

    fn files_into(&mut self, packet: &mut Packet, label: &Label, left_out: &mut Map<String, Value>) {
        note(left_out, "files_modified", self.files.left_out);
        let touched = &self.calls.touched;
        let mut read = touched.read_files();
        read.retain(|file| !self.files.is_gone(&file.path));
        // Git tells nothing of what lies outside the project.
        let tells_commits = self.files.tells_commits();
        let is_outside = |file: &FileState| file.path.starts_with(['/', '~']);
        for file in std::mem::take(&mut self.files).into_vec() {
            let (path, diff) = (
                self.cleaner.clean_text(&file.path),
                file.diff.as_deref().map(|diff| self.cleaner.clean_text(diff)),
            );
            let importance = touched.importance(&path);
            packet.files_modified.push(FileChange {
                path,
                importance,
                change: Some(change(&file, |text| self.cleaner.clean_text(text))),
                lines: file.figures(),
                diff,
                committed: file
                    .is_uncommitted
                    .filter(|_| tells_commits && !is_outside(&file))
                    .map(|open| !open),
                at: label.at(&file.at),
            });
        }
        note(left_out, "files_read", read.len().saturating_sub(MAX_READ) as u64);
        packet.files_read =
            read.into_iter().take(MAX_READ).map(|file| file_read(file, touched, label)).collect();
    }

    fn git(&self) -> Git {
        let owned = |value: &Option<std::borrow::Cow<'_, str>>| value.as_deref().map(str::to_owned);
        let (session, state) = (&self.session, &self.calls.git);
        Git {
            branch: state.branch.clone().or(owned(&session.branch)).filter(|branch| branch != "HEAD"),
            commit: state.commit.clone().or(owned(&session.commit).filter(|_| !state.has_moved)),
            // Changed files mean something to git only where there is a repository.
            dirty: state
                .dirty
                .filter(|_| state.answered || session.branch.is_some() || session.commit.is_some())
                .or_else(|| self.left_out_of_a_commit().map(|_| true)),
            new_document: false,
            unchanged_since_begin: false,
            ahead: None,
            in_progress: state.in_progress.map(|begun| begun.name().to_owned()),
        }
    }

    fn environment(&mut self) -> Map<String, Value> {
        let mut map = Map::new();
        if let Some(cwd) = &self.root {
            map.insert("cwd".to_owned(), json!(self.cleaner.clean_text(cwd)));
        }
        if let Some(version) = &self.session.version {
            map.insert("tool_version".to_owned(), json!(version));
        }
        map
    }

    fn metadata(
        &mut self,
        label: &Label,
        report: Report,
        left_out: Map<String, Value>,
    ) -> Map<String, Value> {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| {
            let empty = value.is_null()
                || value.as_object().is_some_and(Map::is_empty)
                || value.as_array().is_some_and(Vec::is_empty);
            if !empty {
                map.insert(key.to_owned(), value);
            }
        };
        put("summary_by", json!("facts"));
        put("model", json!(self.session.model));
        put("started_at", json!(self.started_ms.map(time::format)));
        put("tokens", self.usage.map_or(Value::Null, |usage| json!({
            "input": usage.input, "cache_read": usage.cache_read, "cache_write": usage.cache_write, "output": usage.output,
        })));
        put("compaction", self.compaction(label));
        let stop = self.provider_stop.take();
        put(
            "provider_stop",
            stop.map_or(Value::Null, |(text, at)| json!({ "text": text, "at": at.map(time::format) })),
        );
        put("subagents", json!(self.calls.subagents));
        put("transcript", json!({ "lines": report.lines, "bytes": report.bytes }));
        put("complaints", json!(report.complaints));
        put("redactions", json!(self.cleaner.counts));
        put("left_out", Value::Object(left_out));
        map
    }
}

impl Collector<'_> {
    /// The summary by which the session went on when its context was full.
    fn compaction(&self, label: &Label) -> Value {
        let Some(sentence) = &self.compaction else { return Value::Null };
        let text = compaction::as_of_now(&sentence.text, self.work_went_on);
        let lines = text.lines().map(|line| self.with_removal(line, sentence.at.line, MAX_TAKEN_BACK));
        let text = lines.collect::<Vec<_>>().join("\n");
        let mut value = json!({
            "count": self.compactions, "summary": clip(&text, MAX_COMPACTION), "at": label.at(&sentence.at),
        });
        if self.work_went_on {
            value["work_went_on"] = json!(true);
        }
        value
    }
}

/// Whether a command failed by an option that its program does not know.
fn is_wrong_call(run: &Run) -> bool {
    run.note.as_deref().is_some_and(|note| names_wrong_call(note) && !note.contains("not found"))
}

fn note(left_out: &mut Map<String, Value>, what: &str, count: u64) {
    if count > 0 {
        left_out.insert(what.to_owned(), json!(count));
    }
}

fn file_read(file: &TouchedFile, touched: &TouchedFiles, label: &Label) -> FileChange {
    FileChange {
        path: file.path.clone(),
        change: Some("read".to_owned()),
        lines: file.lines.clone(),
        diff: None,
        importance: touched.importance(&file.path),
        committed: None,
        at: file.read_at.as_ref().and_then(|at| label.at(at)),
    }
}

/// What was done to a file, in words; a sub-agent's work is marked as such.
fn change(file: &FileState, clean: impl FnOnce(&str) -> String) -> String {
    let what = match (&file.from, file.change) {
        (Some(from), Change::Renamed) => format!("renamed from {}", clean(from)),
        _ => file.change.name().to_owned(),
    };
    match &file.at.subagent {
        Some(agent) => format!("{what} ({})", by_subagent(agent)),
        None => what,
    }
}

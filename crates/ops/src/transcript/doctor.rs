//! `transcript_doctor`: what of this machine's sessions cannot be used, such as records of types that are not known. A tool whose
//! format has changed shows so in its users' own files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use baton_model::time::Timestamp;
use baton_store::Failure;
use baton_transcripts::report::kind;
use baton_transcripts::{ALL, Filter, Header, SessionCheck, SessionListing, check};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find::{THREADS, agent_ids, list};
use super::isolation::View;
use super::search::roots;
use crate::op::{Cx, Meta, Operation, Reach};
use crate::resolve;

/// How far back sessions are read when nothing is said about it, in milliseconds: 30 days.
const SINCE: i64 = 30 * 86_400_000;
/// How many sessions of each tool are read when nothing is said about it.
const LIMIT: usize = 200;

/// Reads sessions and reports what cannot be used.
pub struct Doctor;

/// Input of `transcript_doctor`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DoctorInput {
    /// Only these tools: `claude`, `codex`, …
    #[serde(default)]
    pub agents: Vec<String>,
    /// Only sessions of this project's folders, or of this folder.
    #[serde(default)]
    pub project: Option<String>,
    /// Only sessions with an entry at or after this instant, in epoch milliseconds; by default of the last 30 days.
    #[serde(default)]
    pub since_ms: Option<i64>,
    /// At most so many sessions of each tool, the newest; by default 200, 0 for all.
    #[serde(default)]
    pub limit: Option<i64>,
}

/// Answer of `transcript_doctor`.
#[derive(Serialize, Deserialize)]
pub struct DoctorOutput {
    /// The project.
    pub project_id: Option<String>,
    /// Sessions were read whose last entry is not older than this.
    pub since: Timestamp,
    /// A row for each tool that has sessions here or was named.
    pub items: Vec<ToolRow>,
}

/// What was read of one tool's sessions, and what could not be used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRow {
    /// The tool: `claude`, `codex`, …
    pub agent: String,
    /// Number of sessions that were read.
    pub sessions: usize,
    /// Number of records, or lines, in them.
    pub records: u64,
    /// Of the sessions that were read, those without a conversation.
    pub without_conversation: usize,
    /// Versions of the tool that they name, those of the newest session first.
    pub versions: Vec<String>,
    /// Sessions that were left out because their last entry is older.
    pub older: usize,
    /// Sessions that were left out because newer ones reached the limit.
    pub beyond_limit: usize,
    /// Types of records that this version of Baton does not know, the most frequent first.
    pub unknown_types: Vec<UnknownTypeRow>,
    /// What else could not be used, by kind, the most frequent first.
    pub complaints: Vec<ComplaintRow>,
}

/// Records of a type that is not known, as one version of the tool wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownTypeRow {
    /// Latest version of the tool that these sessions name, where the tool writes one.
    pub version: Option<String>,
    /// The name of the type; empty where the records name none, `others` for those beyond the first 32 names of a file.
    pub name: String,
    /// Number of records.
    pub count: u64,
    /// Number of sessions with such a record.
    pub sessions: usize,
    /// The file of one of them.
    pub path: String,
}

/// A kind of fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComplaintRow {
    /// A stable word for the fault.
    pub kind: String,
    /// How often it occurred.
    pub count: u64,
    /// Number of sessions in which it occurred.
    pub sessions: usize,
    /// The file of one of them.
    pub path: String,
    /// The line of its first occurrence there; 0 when it concerns the file as a whole.
    pub line: u64,
}

impl Operation for Doctor {
    const META: Meta = Meta::write(
        "transcript_doctor",
        "Report what of this machine's sessions cannot be read, such as types of records that are not known",
    )
    .reach(Reach::Everything)
    .on_callers_disk()
    .slow("reading the sessions of this machine");
    type Input = DoctorInput;
    type Output = DoctorOutput;

    fn run(input: DoctorInput, cx: &mut Cx<'_>) -> Result<DoctorOutput, Failure> {
        let named = agent_ids(&input.agents)?;
        let since = input.since_ms.unwrap_or(cx.env.now.saturating_sub(SINCE));
        let limit = match input.limit {
            None => LIMIT,
            Some(0) => usize::MAX,
            Some(n) => usize::try_from(n).unwrap_or(usize::MAX),
        };
        // A session that seems empty, or a sub-agent's, has records too: a new format may look empty.
        let filter = Filter { agents: named.clone(), empty: true, subagents: true, ..Filter::default() };
        let roots = roots(input.project.as_deref(), cx)?;
        let view = View::of(cx, input.project.as_deref())?;
        let is_in = |one: &SessionListing| {
            let is_below = |roots: &Vec<String>| {
                let cwd = one.brief.cwd.as_deref();
                cwd.is_some_and(|cwd| roots.iter().any(|root| Path::new(cwd).starts_with(root)))
            };
            let is_of = || input.project.as_ref().is_some_and(|project| view.is_of(one, project));
            roots.as_ref().is_none_or(|roots| is_below(roots) || is_of())
        };
        let mut rows = ToolRows::new(named);
        let headers = list(cx, &filter, |listed| {
            listed.retain(|one| view.shows(one) && is_in(one) && rows.choose(one, since, limit));
            Ok(())
        })?;
        for (header, checked) in headers.iter().zip(check(&headers, THREADS)) {
            rows.of(&header.tool_id).add(header, checked);
        }
        let here = resolve::project_id(cx.store, &cx.env, input.project.as_deref()).ok();
        Ok(DoctorOutput { project_id: here.or(input.project), since: Timestamp(since), items: rows.finish() })
    }
}

/// The rows while sessions are counted.
struct ToolRows {
    rows: BTreeMap<String, ToolRow>,
    /// How many sessions of each tool were chosen to be read.
    chosen: BTreeMap<String, usize>,
}

impl ToolRows {
    /// Rows for the tools that were named, which have one also without a session.
    fn new(named: Vec<String>) -> Self {
        let rows = named.into_iter().map(|agent| (agent.clone(), ToolRow { agent, ..ToolRow::default() }));
        Self { rows: rows.collect(), chosen: BTreeMap::new() }
    }

    fn of(&mut self, agent: &str) -> &mut ToolRow {
        let new = || ToolRow { agent: agent.to_owned(), ..ToolRow::default() };
        self.rows.entry(agent.to_owned()).or_insert_with(new)
    }

    /// Whether a session is to be read; one that is not is counted. Sessions come newest first.
    fn choose(&mut self, listed: &SessionListing, since: i64, limit: usize) -> bool {
        if listed.brief.updated_at_ms.is_none_or(|at| at < since) {
            self.of(listed.agent()).older += 1;
            return false;
        }
        let chosen = self.chosen.entry(listed.agent().to_owned()).or_default();
        let is_chosen = *chosen < limit;
        *chosen += usize::from(is_chosen);
        self.of(listed.agent()).beyond_limit += usize::from(!is_chosen);
        is_chosen
    }

    /// The rows in the order of the formats, the gravest findings of each first.
    fn finish(mut self) -> Vec<ToolRow> {
        let mut rows: Vec<ToolRow> = ALL.iter().filter_map(|format| self.rows.remove(format.id())).collect();
        for row in &mut rows {
            row.unknown_types.sort_by_key(|one| std::cmp::Reverse(one.count));
            row.complaints.sort_by_key(|one| std::cmp::Reverse(one.count));
        }
        rows
    }
}

impl ToolRow {
    /// Adds what reading one session came to.
    fn add(&mut self, header: &Header, checked: SessionCheck) {
        let SessionCheck { versions, report } = checked;
        self.sessions += 1;
        self.records += report.lines;
        let version = versions.first().cloned();
        let known: BTreeSet<String> = self.versions.iter().cloned().collect();
        self.versions.extend(versions.into_iter().filter(|version| !known.contains(version)));
        for found in report.unknown_types {
            let same = |one: &&mut UnknownTypeRow| one.name == found.name && one.version == version;
            match self.unknown_types.iter_mut().find(same) {
                Some(row) => (row.count, row.sessions) = (row.count + found.count, row.sessions + 1),
                None => self.unknown_types.push(UnknownTypeRow {
                    version: version.clone(),
                    name: found.name,
                    count: found.count,
                    sessions: 1,
                    path: header.path.to_string_lossy().into_owned(),
                }),
            }
        }
        for found in report.complaints {
            match found.kind.as_str() {
                kind::UNKNOWN_TYPE => {}
                kind::EMPTY => self.without_conversation += 1,
                _ => self.add_complaint(header, found),
            }
        }
    }

    fn add_complaint(&mut self, header: &Header, found: baton_transcripts::Complaint) {
        match self.complaints.iter_mut().find(|row| row.kind == found.kind) {
            Some(row) => (row.count, row.sessions) = (row.count + found.count, row.sessions + 1),
            None => self.complaints.push(ComplaintRow {
                kind: found.kind,
                count: found.count,
                sessions: 1,
                path: header.path.to_string_lossy().into_owned(),
                line: found.first_line,
            }),
        }
    }
}

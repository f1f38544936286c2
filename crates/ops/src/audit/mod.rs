//! `audit_report`: how complete the records are, what was forced, who never wrapped, and what instruction files get wrong.

mod forced;
mod records;

use baton_model::accounting::Outcomes;
use baton_model::attention::RETURNED_FOR;
use baton_model::handoff::State;
use baton_model::instructions::{self, Command, Finding, KnownNames};
use baton_model::message::View;
use baton_model::refusal::Refusal;
use baton_model::time::Timestamp;
use baton_store::attention::{self, Source};
use baton_store::{Failure, Tx, handoff, message, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::all;
use crate::card::{self, SentHandoff};
use crate::op::{Cx, Env, Meta, Operation};
use crate::resolve;
pub use forced::ForcedRow;
pub use records::{IdentityRow, InheritedRow, ThreadRow, UnwrappedRow};

const DAY: i64 = 86_400_000;

/// Reports on the accounting of a project.
pub struct Report;

/// Input of `audit_report`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// How far to look back, in days: 1 to 3650.
    #[serde(default = "default_days")]
    pub days: i64,
    /// Instruction files to look through, as the caller read them: Baton opens none by itself.
    #[serde(default)]
    pub documents: Vec<Document>,
    /// The commands that there are, for judging those that the documents name; left out: commands are not judged.
    #[serde(default)]
    pub commands: Vec<KnownCommand>,
}

impl Default for ReportInput {
    fn default() -> Self {
        Self {
            project: Default::default(),
            days: default_days(),
            documents: Default::default(),
            commands: Default::default(),
        }
    }
}

fn default_days() -> i64 {
    30
}

/// An instruction file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Where it is, as it is to be named in the report.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// A command of a command line.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownCommand {
    /// Without `baton`: `wrap`, `signal send`; empty for `baton` itself.
    pub name: String,
    /// Its flags, with their dashes.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Those of its flags that take a value.
    #[serde(default)]
    pub valued: Vec<String>,
}

/// Answer of `audit_report`.
#[derive(Serialize, Deserialize)]
pub struct ReportOutput {
    /// The project.
    pub project_id: String,
    /// How many days are covered.
    pub days: i64,
    /// When the period begins.
    pub since: Timestamp,
    /// How many of the sessions wrapped.
    pub wrap_rate: WrapRate,
    /// A row for each identity.
    pub identities: Vec<IdentityRow>,
    /// Chains of sessions.
    pub threads: Vec<ThreadRow>,
    /// Sessions that ended without a wrap.
    pub unwrapped: Vec<UnwrappedRow>,
    /// Work that was inherited from sessions without a wrap.
    pub inherited: Vec<InheritedRow>,
    /// Sessions that were taken over by force.
    pub forced: Vec<ForcedRow>,
    /// Hand-offs that the project sent, those that failed first.
    #[serde(default)]
    pub sent: Vec<SentHandoff>,
    /// Messages whose acknowledgement is overdue.
    pub overdue: Vec<View>,
    /// Documents of the project.
    pub documents: Vec<String>,
    /// Whether commands named in documents were checked.
    pub commands_judged: bool,
    /// Statements that are not true.
    pub findings: Vec<Finding>,
    /// What needs attention; forced actions are listed, but are not findings.
    pub found: usize,
}

/// How many of the sessions that are over wrapped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrapRate {
    /// Those that wrapped.
    pub wraps: usize,
    /// All that are over, or that went silent.
    pub sessions: usize,
    /// The share in percent; none where no session is over.
    pub percent: Option<usize>,
    /// Whether it is lower than it should be.
    pub low: bool,
}

impl Operation for Report {
    const META: Meta = Meta::read(
        "audit_report",
        "Report how complete the records are and what instruction files get wrong",
    );
    type Input = ReportInput;
    type Output = ReportOutput;

    fn run(input: ReportInput, cx: &mut Cx<'_>) -> Result<ReportOutput, Failure> {
        if !(1..=3650).contains(&input.days) {
            let what = format!("{} is not a number of days to look back", input.days);
            return Err(Refusal::invalid("days_invalid", what, "give 1 to 3650").into());
        }
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let findings = look_through(&input);
        let Cx { store, env } = cx;
        store.read(|tx| report(tx, env, &input, &project_id, findings))
    }
}

/// How many hand-offs came back whose sender has not looked at them, as the list of what needs a person counts them.
fn returned(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<usize, Failure> {
    let counts = attention::counts(tx, Source::Return, env.now - RETURNED_FOR, env.now)?;
    Ok(counts.iter().find(|count| count.project_id == project_id).map_or(0, |count| count.old))
}

fn look_through(input: &ReportInput) -> Vec<Finding> {
    let command = |known: &KnownCommand| Command {
        name: known.name.clone(),
        flags: known.flags.clone(),
        valued: known.valued.clone(),
    };
    let commands: Vec<Command> = input.commands.iter().map(command).collect();
    let aliases = all::ALIASES.iter().map(|(alias, _)| *alias);
    let tools: Vec<&str> = all::ALL.iter().map(|entry| entry.name).chain(aliases).collect();
    let known = KnownNames { commands: &commands, tools: &tools };
    input
        .documents
        .iter()
        .flat_map(|document| instructions::check(&document.path, &document.text, &known))
        .collect()
}

fn report(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    input: &ReportInput,
    project_id: &str,
    findings: Vec<Finding>,
) -> Result<ReportOutput, Failure> {
    resolve::require_project(tx, project_id)?;
    let since = env.now.saturating_sub(input.days.saturating_mul(DAY));
    let records = records::read(tx, env, project_id, since)?;
    let released = session::outcomes(tx, project_id, since)?;
    let open = session::open(tx, project_id)?;
    let rate = Outcomes::count(&released, &open, since, env.now, env.limits);
    let overdue = message::overdue(tx, project_id, env.now)?;
    let unwrapped = records.unwrapped(env);
    let inherited = records.inherited();
    let unmarked = inherited.iter().filter(|row| row.unmarked != 0).count();
    let handoffs = handoff::of_project(tx, project_id)?;
    let handoffs = crate::handoff::claimant::each_as_of_now(tx, env, handoffs)?;
    let sent = card::sent(tx, env, project_id, handoffs)?;
    // One that is to be tried again has failed, too, as long as its last try did.
    let is_failing = |one: &&SentHandoff| {
        one.state == State::Failed
            || (matches!(one.state, State::Planned | State::Pending) && one.why.is_some())
    };
    let failed = sent.iter().filter(is_failing).count();
    let returned = returned(tx, env, project_id)?;
    let found = failed
        + returned
        + findings.len()
        + unwrapped.len()
        + overdue.len()
        + unmarked
        + usize::from(rate.is_low());
    Ok(ReportOutput {
        project_id: project_id.to_owned(),
        days: input.days,
        since: Timestamp(since),
        wrap_rate: WrapRate {
            wraps: rate.wraps,
            sessions: rate.sessions,
            percent: rate.percent(),
            low: rate.is_low(),
        },
        identities: records.identities(),
        threads: records.threads(),
        unwrapped,
        inherited,
        forced: forced::read(tx, project_id, since)?,
        sent,
        overdue: overdue.iter().map(View::of).collect(),
        documents: input.documents.iter().map(|document| document.path.clone()).collect(),
        commands_judged: !input.commands.is_empty(),
        findings,
        found,
    })
}

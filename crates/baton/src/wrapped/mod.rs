//! An agent that a human works with, wrapped: it runs in a session that was registered before, and what it did is kept
//! when it ends, whether it thought of that or not.

mod child;
mod talk;

use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_model::delta;
use baton_model::id::check_label;
use baton_model::refusal::{Kind, Refusal};
use baton_model::time::Millis;
use baton_ops::ledger::{LedgerList, LedgerListInput, Row};
use baton_ops::op::{Caller, Operation};
use baton_ops::session::{End, EndInput, Heartbeat, HeartbeatInput};
use baton_transcripts::PermissionMode;
use serde_json::{Value, json};

use crate::app::{App, Format};
use crate::error::{Ended, said};
use crate::launch::{self, Call, Prompt, Tool};
use crate::{host, process, render};
use child::{Agent, Signals};

/// What is to be run, and how.
pub struct Plan {
    /// The tool that it is, if it is a known one.
    pub tool: Option<&'static Tool>,
    /// Whether the command line is ours to build.
    pub built: bool,
    /// The program.
    pub program: PathBuf,
    /// What the user gave for its command line.
    pub more: Vec<String>,
    /// The identity to work under.
    pub identity: Option<String>,
    /// How freely the tool may act.
    pub mode: Option<String>,
    /// The baton to pick up; empty for the newest.
    pub pickup: Option<String>,
    /// Size of its document.
    pub budget: Option<String>,
    /// Whether a baton is left at the end.
    pub wrap: bool,
    /// Pause between two checkpoints in milliseconds; 0 for none.
    pub every: Millis,
}

/// Runs it to its end. What cannot be kept then is told, and the exit code is the agent's all the same.
pub fn run(plan: &Plan, app: &mut App) -> Result<(), Ended> {
    let flags = flags(plan)?;
    let cwd = app.config.cwd.clone().unwrap_or_default();
    let mut signals = Signals::listen()?;
    let began = host::now();
    let mut wrapped = Wrapped::begin(plan, began, cwd, app)?;
    let started = wrapped.prompt(plan, app).and_then(|prompt| {
        let vars = wrapped.vars(app);
        let args = wrapped.args(plan, flags, prompt.as_ref(), &vars)?;
        Agent::start(&plan.program, &args, &vars)
            .map_err(|error| unstartable(plan, &error.to_string()).into())
    });
    let mut agent = match started {
        Ok(agent) => agent,
        Err(ended) => {
            wrapped.end("the agent could not be started", app);
            return Err(ended);
        }
    };
    let code = wrapped.stand_by(&mut agent, &mut signals, app)?;
    wrapped.keep(code, app)?;
    if code == 0 { Ok(()) } else { Err(Ended::Tool(code)) }
}

/// The flags of the manner in which the tool is to run.
fn flags(plan: &Plan) -> Result<&'static [&'static str], Refusal> {
    let manner = plan.mode.as_deref().and_then(PermissionMode::from_word);
    let (Some(tool), Some(manner)) = (plan.tool, manner) else { return Ok(&[]) };
    tool.mode(manner).ok_or_else(|| {
        let what = format!("{} has no flag for the mode {}", tool.title, manner.as_str());
        Refusal::invalid("mode_unsupported", what, "leave --mode out, or give the tool's own flags after --")
    })
}

fn unstartable(plan: &Plan, why: &str) -> Refusal {
    let program = said(&plan.program.display().to_string());
    let what = format!("{program} cannot be started: {why}");
    Refusal::new(
        Kind::Outside,
        "command_unstartable",
        what,
        "name a program on the search path; the session has ended",
    )
}

/// An agent's session, as we see it.
struct Wrapped<'a> {
    plan: &'a Plan,
    caller: Caller,
    /// What the start or the pickup answered.
    begun: Value,
    began: Millis,
    cwd: PathBuf,
    /// What is told when the terminal is ours again.
    remarks: Vec<String>,
}

impl<'a> Wrapped<'a> {
    /// Registers the session before anything runs. It belongs to this process, which outlives the agent.
    fn begin(plan: &'a Plan, began: Millis, cwd: PathBuf, app: &mut App) -> Result<Self, Ended> {
        let mut caller = app.caller();
        caller.place.process = process::own();
        caller.session = None;
        caller.surface = surface(plan, app);
        let begun = match &plan.pickup {
            None => {
                let input = json!({ "project": app.project, "identity": plan.identity });
                app.call_as(&caller, baton_ops::session::Start::NAME, input)?
            }
            Some(id) => {
                let id = Some(id).filter(|id| !id.is_empty());
                let input = json!({ "project": app.project, "identity": plan.identity, "handoff_id": id });
                app.call_as(&caller, baton_ops::session::Pickup::NAME, input)?
            }
        };
        caller.session = Some(render::text(&begun, "session_id"));
        caller.identity = Some(render::text(&begun, "identity"));
        if app.format == Format::Text {
            app.remark(&format!(
                "session {} as {} in project {}",
                render::id(&begun, "session_id"),
                render::text(&begun, "identity"),
                render::text(&begun, "project_id")
            ));
        }
        Ok(Self { plan, caller, begun, began, cwd, remarks: Vec::new() })
    }

    fn project(&self) -> &Value {
        &self.begun["project_id"]
    }

    /// What the agent is told first: the document of the baton that was picked up.
    fn prompt(&self, plan: &Plan, app: &mut App) -> Result<Option<Prompt>, Ended> {
        let (Some(tool), Some(_)) = (plan.tool.filter(|tool| tool.starts()), &plan.pickup) else {
            return Ok(None);
        };
        let from = [&self.begun["baton"]["session_id"], &self.begun["predecessor_session_id"]];
        let Some(from) = from.into_iter().find(|id| id.is_string()) else { return Ok(None) };
        let input =
            json!({ "project": self.project(), "session": from, "to": tool.id, "budget": plan.budget });
        let document = app.call_as(&self.caller, baton_ops::session::Handoff::NAME, input)?;
        let (id, project) =
            (render::text(&self.begun["baton"], "delta_id"), render::text(&self.begun, "project_id"));
        let text = format!(
            "{}\n\nThis is baton {id} in project {project}, which this session holds. `baton wrap` passes it on.\n",
            render::text(&document, "document").trim_end()
        );
        let folder = app.config.data_dir.join("handoffs");
        Ok(Some(launch::deliver(text, tool.wants_file(), &folder, &id)?))
    }

    /// What Baton is told when the agent calls it: whose work this is.
    fn vars(&self, app: &App) -> Vec<(&'static str, String)> {
        let mut vars = vec![
            ("BATON_PROJECT", render::text(&self.begun, "project_id")),
            ("BATON_IDENTITY", render::text(&self.begun, "identity")),
            ("BATON_SESSION", render::text(&self.begun, "session_id")),
            ("BATON_PROCESS", process::own()),
        ];
        if let Some((store, _)) = app.config.origins.get("store").filter(|(_, from)| from == "--store") {
            vars.push(("BATON_STORE", store.clone()));
        }
        vars
    }

    fn args(
        &self,
        plan: &Plan,
        mode: &[&str],
        prompt: Option<&Prompt>,
        vars: &[(&'static str, String)],
    ) -> Result<Vec<String>, Refusal> {
        let Some(tool) = plan.tool else { return Ok(plan.more.clone()) };
        let words = if plan.built { tool.start } else { &[] };
        let call = Call { prompt, session: None, mode, cwd: &self.cwd, more: &plan.more };
        Ok([launch::vars_as_flags(tool, vars), launch::argv(words, &call)?].concat())
    }

    /// Waits for the agent's end; meanwhile keeps the session alive, and checkpoints of what is done.
    fn stand_by(&mut self, agent: &mut Agent, signals: &mut Signals, app: &mut App) -> Result<i32, Ended> {
        let beat = (app.config.limits.stale_after / 4).clamp(100, 30_000);
        let pause = Duration::from_millis(u64::try_from(beat).unwrap_or(1_000));
        let (mut beaten, mut kept, mut open) = (self.began, self.began, true);
        loop {
            if let Some(code) = signals.wait(agent, pause)? {
                return Ok(code);
            }
            let now = host::now();
            if open && now.saturating_sub(beaten) >= beat {
                beaten = now;
                open = self.is_open(app);
            }
            if open && self.plan.every > 0 && now.saturating_sub(kept) >= self.plan.every {
                kept = now;
                // The terminal is the agent's now, and at the end it is tried again.
                let _ = self.capture("running", false, app);
            }
        }
    }

    /// A sign of life of the session. What goes wrong for the moment is not its end.
    fn is_open(&self, app: &mut App) -> bool {
        self.beat(app).is_none()
    }

    /// The same; the refusal of a session that is over says who ended it.
    fn beat(&self, app: &mut App) -> Option<Refusal> {
        let (project, session) = self.own();
        let input = HeartbeatInput { project, session, ..HeartbeatInput::default() };
        match app.run_as::<Heartbeat>(&self.caller, &input) {
            Err(Ended::Refused(no)) => Some(no),
            _ => None,
        }
    }

    /// Keeps what the agent did, and tells what was kept.
    fn keep(&mut self, code: i32, app: &mut App) -> Result<(), Ended> {
        let kept = self.kept(app).unwrap_or_else(|ended| {
            let why = said(ended.text().lines().next().unwrap_or_default());
            self.remarks.push(format!("what the agent did could not be kept: {why}"));
            self.remarks.push(
                "the session waits: `baton pickup` takes it over, `baton import-transcript` keeps it".into(),
            );
            json!({ "kept": "nothing" })
        });
        let mut answer = json!({
            "project_id": self.project(), "identity": self.begun["identity"], "session_id": self.begun["session_id"],
            "exit_code": code, "warnings": self.remarks,
        });
        if let (Some(answer), Some(kept)) = (answer.as_object_mut(), kept.as_object()) {
            answer.extend(kept.clone());
        }
        self.remarks.iter().for_each(|remark| app.remark(remark));
        match app.format {
            Format::Text => {
                app.remark(&told(&answer));
                Ok(())
            }
            Format::Json | Format::JsonLines => app.answer(&answer, |_| String::new()),
        }
    }

    fn kept(&mut self, app: &mut App) -> Result<Value, Ended> {
        let over = self.beat(app);
        let (open, ended) = (over.is_none(), ended_by(over.as_ref(), &self.begun["identity"]));
        let captured = self.capture("session-end", self.plan.wrap, app)?;
        let transcript = captured
            .as_ref()
            .map_or(Value::Null, |kept| json!({ "agent": kept["agent"], "id": kept["transcript_id"] }));
        let kept =
            |how: &str, baton: Value| json!({ "kept": how, "baton_id": baton, "transcript": transcript });
        match captured {
            Some(captured) if captured["baton_id"].is_string() => {
                Ok(kept("baton", captured["baton_id"].clone()))
            }
            Some(captured) if captured["standing"].is_object() => {
                Ok(kept("taken", captured["standing"]["baton_id"].clone()))
            }
            Some(captured) if !open => {
                Ok(kept(if captured["delta_id"].is_string() { "note" } else { ended }, Value::Null))
            }
            None if !open => Ok(kept(ended, Value::Null)),
            None if self.plan.wrap && self.has_saved(app)? => {
                let input = json!({ "project": self.project(), "session": self.begun["session_id"] });
                let gathered = app.call_as(&self.caller, baton_ops::session::Handoff::NAME, input)?;
                let input = json!({
                    "project": self.project(), "session": self.begun["session_id"], "packet": gathered["packet"],
                });
                let left = app.call_as(&self.caller, baton_ops::session::Wrap::NAME, input)?;
                Ok(kept("baton", left["baton_id"].clone()))
            }
            captured => {
                self.end("the agent ended", app);
                Ok(kept(if captured.is_some() { "checkpoint" } else { "nothing" }, Value::Null))
            }
        }
    }

    /// Whether the agent saved anything by itself.
    fn has_saved(&self, app: &mut App) -> Result<bool, Ended> {
        let ledger = self.ledger(LedgerListInput { brief: true, ..LedgerListInput::default() }, app)?;
        Ok(ledger.iter().any(|row| !matches!(row.kind, delta::Kind::Start | delta::Kind::Pickup)))
    }

    /// The project and the session that were begun.
    fn own(&self) -> (Option<String>, Option<String>) {
        let text = |field: &str| self.begun[field].as_str().map(str::to_owned);
        (text("project_id"), text("session_id"))
    }

    /// What of this session stands in the ledger.
    fn ledger(&self, wanted: LedgerListInput, app: &mut App) -> Result<Vec<Row>, Ended> {
        let (project, session) = self.own();
        let input = LedgerListInput { project, session, ..wanted };
        Ok(app.run_as::<LedgerList>(&self.caller, &input)?.items)
    }

    /// Keeps what stands in the agent's transcript, if there is one and anything was said in it.
    fn capture(&mut self, event: &str, wrap: bool, app: &mut App) -> Result<Option<Value>, Ended> {
        let agents: Vec<&str> = self.plan.tool.iter().map(|tool| tool.id).collect();
        let listed = app.call_as(
            &self.caller,
            baton_ops::transcript::List::NAME,
            json!({ "agents": agents, "since_ms": self.began - 2_000 }),
        )?;
        let told = self.told(app)?;
        let found = talk::choose(render::list(&listed, "items"), &self.cwd, self.began, &told);
        let Some(row) = found.first else { return Ok(None) };
        if event == "session-end" {
            self.remarks.extend(found.others.iter().map(|other| {
                let id = render::text(other, "id");
                format!(
                    "{} session {id} ran here, too; if it is the one: baton import-transcript {id}",
                    render::text(other, "agent")
                )
            }));
        }
        let path = row["path"].as_str().filter(|path| row["key"].is_null() && Path::new(path).is_file());
        let input = json!({
            "project": self.project(), "id": path.or(row["id"].as_str()), "agent": row["agent"], "event": event, "wrap": wrap,
        });
        match app.call_as(&self.caller, baton_ops::transcript::Capture::NAME, input) {
            Ok(kept) => Ok(Some(kept)),
            Err(Ended::Refused(no)) if no.code == "transcript_empty" => Ok(None),
            Err(ended) => Err(ended),
        }
    }

    /// The transcripts that the agent's own hooks named in this session.
    fn told(&self, app: &mut App) -> Result<Vec<String>, Ended> {
        let kind = Some(delta::Kind::Checkpoint.as_str().to_owned());
        let ledger = self.ledger(LedgerListInput { kind, ..LedgerListInput::default() }, app)?;
        let bodies = ledger.iter().filter_map(|row| row.body.as_ref());
        let by_hook = bodies.filter(|body| !matches!(body["event"].as_str(), None | Some("running")));
        Ok(by_hook.filter_map(|body| body["transcript"]["id"].as_str().map(str::to_owned)).collect())
    }

    fn end(&self, reason: &str, app: &mut App) {
        let (project, session) = self.own();
        let input = EndInput { project, session, reason: Some(reason.to_owned()), ..EndInput::default() };
        // Whoever released it before has ended it.
        let _ = app.run_as::<End>(&self.caller, &input);
    }
}

/// The surface that the session is registered under.
fn surface(plan: &Plan, app: &App) -> String {
    let own = Some(app.config.surface.clone()).filter(|own| !own.is_empty());
    let program = plan.program.file_stem().and_then(|name| name.to_str());
    let program = program.filter(|name| check_label("surface", name).is_ok()).unwrap_or("run");
    own.unwrap_or_else(|| plan.tool.map_or(program, |tool| tool.surface).to_owned())
}

/// Whether the agent itself ended a session that is over.
fn ended_by(over: Option<&Refusal>, identity: &Value) -> &'static str {
    let detail = |key: &str| over.and_then(|no| no.details.get(key));
    let is_own_end = matches!(detail("reason").and_then(Value::as_str), None | Some("wrapped" | "ended"));
    let is_own = detail("released_by").is_none_or(|by| by == identity);
    if is_own_end && is_own { "by_agent" } else { "by_other" }
}

fn told(answer: &Value) -> String {
    let from = match answer["transcript"]["id"].as_str() {
        Some(id) => format!(", from {} session {id}", render::text(&answer["transcript"], "agent")),
        None => String::new(),
    };
    let session =
        format!("session {} of {}", render::id(answer, "session_id"), render::text(answer, "identity"));
    match answer["kept"].as_str() {
        Some("baton") => format!(
            "{session} left baton {}{from}; `baton pickup` goes on with it",
            render::id(answer, "baton_id")
        ),
        Some("taken") => format!(
            "{session} left no second baton: baton {} of this conversation was made before{from}",
            render::id(answer, "baton_id")
        ),
        Some("checkpoint") => format!("{session} ended with a checkpoint{from}"),
        Some("note") => format!("{session} was released meanwhile; what it did is kept as a note{from}"),
        Some("by_agent") => format!("{session} was ended by the agent itself"),
        Some("by_other") => {
            format!("{session} was ended by another meanwhile; `baton log` says by whom and why")
        }
        _ => format!("{session} ended; there was nothing to keep"),
    }
}

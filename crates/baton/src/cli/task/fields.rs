//! The fields of a task as options of a command.

use baton_model::lossless_json;
use baton_model::refusal::Refusal;
use baton_ops::task::{CreateInput, UpdateInput};
use serde_json::{Map, Value};

use crate::error::AppError;

/// What a new task and a changed one both may be given.
#[derive(clap::Args)]
pub(crate) struct Fields {
    /// What needs to be done, or - for standard input
    #[arg(long, short, value_name = "T", allow_hyphen_values = true)]
    description: Option<String>,
    /// How to build it
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    design: Option<String>,
    /// Acceptance criteria
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    acceptance: Option<String>,
    /// Notes: anything else worth knowing
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    notes: Option<String>,
    /// Priority, from 0 (now) to 4 (some day), or P0 to P4
    #[arg(long, short, value_name = "P", value_parser = crate::cli::priority)]
    priority: Option<i64>,
    /// Type of task: task, bug, feature, epic, chore, …
    #[arg(long = "type", short = 't', value_name = "K")]
    issue_type: Option<String>,
    /// Identity the task is assigned to; an empty string unassigns it
    #[arg(long, short, value_name = "NAME")]
    assignee: Option<String>,
    /// Role for the task: implementation, testing, fixing, verification, or one of your own
    #[arg(long, alias = "role", value_name = "R")]
    agent_role: Option<String>,
    /// Skills its agent needs, separated by commas
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    tags: Option<Vec<String>>,
    /// Labels, separated by commas
    #[arg(long = "label", alias = "labels", short, value_name = "L", value_delimiter = ',')]
    labels: Option<Vec<String>>,
    /// Estimated duration, in minutes
    #[arg(long, short = 'e', value_name = "MINUTES", visible_alias = "estimate")]
    estimated_duration: Option<i64>,
    /// Parent task
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// When it is due: a date, an RFC 3339 time, or a span from now such as 3d
    #[arg(long, value_name = "WHEN")]
    due: Option<String>,
    /// Earliest time to offer it: a date, an RFC 3339 time, or a span from now such as 3d
    #[arg(long, value_name = "WHEN")]
    defer: Option<String>,
    /// Reference to the task in another system
    #[arg(long, value_name = "REF")]
    external_ref: Option<String>,
    /// What was done: a JSON object, or - for standard input
    #[arg(long, value_name = "JSON", visible_alias = "context")]
    agent_context: Option<String>,
    /// What the next agent needs to know: a JSON object, or - for standard input
    #[arg(long, value_name = "JSON")]
    handoff_instructions: Option<String>,
    /// Encrypt context and instructions for everyone whose key is listed; no other agent can read them or take the task
    #[arg(long)]
    sensitive: bool,
    /// Additional metadata: a JSON object, @FILE, or - for standard input
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
}

/// What of the fields is read from standard input or as JSON.
struct Content {
    description: Option<String>,
    agent_context: Option<Map<String, Value>>,
    handoff_instructions: Option<Map<String, Value>>,
    extra: Map<String, Value>,
}

impl Fields {
    /// The type that was given.
    pub(crate) fn issue_type(&self) -> Option<&str> {
        self.issue_type.as_deref()
    }

    /// The description that was given.
    pub(crate) fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Takes a context away that is prose, as `bd create --context` has it, and no JSON object, file or standard input.
    pub(crate) fn take_prose_context(&mut self) -> Option<String> {
        let is_prose = |text: &String| text != "-" && !text.trim_start().starts_with(['{', '@']);
        self.agent_context.take_if(|text| is_prose(text))
    }

    fn content(&self) -> Result<Content, AppError> {
        let description = match self.description.as_deref() {
            Some("-") => Some(crate::cli::read_input("-")?),
            other => other.map(str::to_owned),
        };
        let agent_context = object("--agent-context", self.agent_context.as_deref())?;
        let handoff_instructions = object("--handoff-instructions", self.handoff_instructions.as_deref())?;
        let metadata = object("--metadata", self.metadata.as_deref())?;
        let extra = metadata.map(|metadata| ("metadata".to_owned(), Value::Object(metadata)));
        let extra = extra.into_iter().collect();
        Ok(Content { description, agent_context, handoff_instructions, extra })
    }

    /// As a new task takes them; what was not given is as usual.
    pub(crate) fn into_create(self) -> Result<CreateInput, AppError> {
        let content = self.content()?;
        let usual = CreateInput::default();
        Ok(CreateInput {
            description: content.description.unwrap_or_default(),
            design: self.design,
            acceptance_criteria: self.acceptance,
            notes: self.notes,
            priority: self.priority.unwrap_or(usual.priority),
            issue_type: self.issue_type.unwrap_or(usual.issue_type),
            assignee: self.assignee,
            agent_role: self.agent_role,
            labels: self.labels.unwrap_or_default(),
            specialist_tags: self.tags.unwrap_or_default(),
            estimated_duration: self.estimated_duration,
            parent: self.parent,
            due: self.due,
            defer: self.defer,
            external_ref: self.external_ref,
            agent_context: content.agent_context.unwrap_or_default(),
            handoff_instructions: content.handoff_instructions.unwrap_or_default(),
            sensitive: self.sensitive,
            extra: content.extra,
            ..CreateInput::default()
        })
    }

    /// As a changed task takes them; what was not given stays.
    pub(crate) fn into_update(self) -> Result<UpdateInput, AppError> {
        let content = self.content()?;
        Ok(UpdateInput {
            description: content.description,
            design: self.design,
            acceptance_criteria: self.acceptance,
            notes: self.notes,
            priority: self.priority,
            issue_type: self.issue_type,
            assignee: self.assignee,
            agent_role: self.agent_role,
            labels: self.labels,
            specialist_tags: self.tags,
            estimated_duration: self.estimated_duration,
            parent: self.parent,
            due: self.due,
            defer: self.defer,
            external_ref: self.external_ref,
            agent_context: content.agent_context,
            handoff_instructions: content.handoff_instructions,
            sensitive: self.sensitive,
            extra: content.extra,
            ..UpdateInput::default()
        })
    }
}

/// Parses a JSON object from an argument, from standard input for `-`, or from a file for `@FILE`; the error names the position.
pub(crate) fn object(what: &str, text: Option<&str>) -> Result<Option<Map<String, Value>>, AppError> {
    let Some(text) = text else { return Ok(None) };
    let text = match text.strip_prefix('@') {
        Some(path) => crate::cli::read_input(path)?,
        None if text == "-" => crate::cli::read_input("-")?,
        None => text.to_owned(),
    };
    match lossless_json::read::<Value>(text.as_bytes()) {
        Ok(Value::Object(fields)) => Ok(Some(fields)),
        Ok(_) => Err(bad_json(what, "it is JSON, but not an object")),
        Err(error) => Err(bad_json(what, &error.to_string())),
    }
}

fn bad_json(what: &str, why: &str) -> AppError {
    let message = format!("{what} is not a JSON object: {why}");
    Refusal::invalid("json_invalid", message, "quote it for the shell: '{\"key\": \"value\"}'").into()
}

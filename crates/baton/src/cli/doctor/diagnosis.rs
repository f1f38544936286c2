//! What `baton doctor` looks at, and what it found.

use baton_model::attention::AttentionItem;
use baton_model::refusal::Kind;
use baton_ops::ledger::{StoreCheck, StoreCheckInput, StoreCheckOutput};
use baton_tools::install::Scope;
use serde::Serialize;

use super::{handoffs, memory_index, pushes, tokens, worktrees};
use crate::app::App;
use crate::cli::config_show::SettingFault;
use crate::cli::install;
use crate::cli::tool_report::{self, ToolReport};
use crate::cli::trust::{self, TrustedFile};
use crate::effect_ownership;
use crate::error::AppError;
use crate::live;

/// What the doctor answers.
#[derive(Serialize)]
pub(super) struct Diagnosis {
    /// What the check of the store found; none where the caller may not have it checked.
    #[serde(flatten)]
    pub ledger: Option<StoreCheckOutput>,
    /// Why the store was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_checked: Option<String>,
    /// Settings that cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub setting_faults: Vec<SettingFault>,
    pub store: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redis: Option<Redis>,
    pub tools: Vec<ToolReport>,
    pub repository: Option<trust::Report>,
    pub trusted: Vec<TrustedFile>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub worktrees: Vec<worktrees::StrayWorktree>,
    /// Hand-offs that failed or are stuck.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handoffs: Vec<AttentionItem>,
    /// The store that carries out issues and webhooks, of which this one is a copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effects_held_for: Option<String>,
    /// References that killed pushes of changes left in remotes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interrupted_pushes: Vec<pushes::InterruptedPush>,
    /// Access tokens, where the caller may see them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_tokens: Option<tokens::Report>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "recall")]
    pub memory_index: Option<memory_index::Report>,
}

/// Whether Redis answers.
#[derive(Serialize)]
pub(super) struct Redis {
    pub url: String,
    pub state: &'static str,
    pub why: Option<String>,
}

/// What there is to say of the store, the settings and the tools.
pub(super) fn diagnose(app: &mut App) -> Result<Diagnosis, AppError> {
    let (ledger, not_checked) = match app.run::<StoreCheck>(&StoreCheckInput {}) {
        Ok(ledger) => (Some(ledger), None),
        Err(AppError::Refused(refusal)) if refusal.kind == Kind::Forbidden => (None, Some(refusal.message)),
        Err(error) => return Err(error),
    };
    let redis = app.config.redis.as_ref().filter(|_| app.config.server.is_none()).map(|redis| {
        let (state, why) = live::probe(redis);
        Redis { url: redis.to_string(), state: state.as_str(), why }
    });
    let projects = ledger.as_ref().map_or(0, |ledger| ledger.projects);
    let access_tokens = tokens::report(app, projects);
    // Of a store with damage in it as much is said as can be read.
    let memory_index = match memory_index::report(app) {
        Err(_) if ledger.as_ref().is_some_and(|ledger| !ledger.sound) => None,
        report => report?,
    };
    Ok(Diagnosis {
        ledger,
        not_checked,
        setting_faults: SettingFault::list(app),
        store: app.config.ledger(),
        redis,
        tools: installed_tools(app)?,
        repository: trust::report(app),
        trusted: trust::trusted_files(app),
        worktrees: worktrees::find(app).unwrap_or_default(),
        handoffs: handoffs::stuck(app),
        effects_held_for: effects_held_for(app),
        interrupted_pushes: pushes::interrupted(app),
        access_tokens,
        memory_index,
    })
}

/// The tools of this user that were found, and how Baton stands in each.
pub(super) fn installed_tools(app: &App) -> Result<Vec<ToolReport>, AppError> {
    Ok(tool_report::report(&install::places(app, Scope::User)?, &app.config.ledger()))
}

/// The store that carries out issues and webhooks in place of this one. Nothing where the store is elsewhere, or too damaged to say.
fn effects_held_for(app: &mut App) -> Option<String> {
    let machine = app.machine.id.clone();
    effect_ownership::other_owner(app.store().ok()?, &machine).ok().flatten().map(|other| other.place)
}

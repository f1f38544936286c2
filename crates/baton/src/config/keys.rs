//! The names of the settings.

/// The settings that a file may hold and the variables that override them.
pub(super) const KEYS: [(&str, &[&str]); 39] = [
    ("store", &["BATON_STORE"]),
    ("redis_url", &["BATON_REDIS_URL"]),
    ("server", &["BATON_SERVER"]),
    ("server_ca", &["BATON_SERVER_CA"]),
    ("identity", &["BATON_IDENTITY", "PRISM_AGENT_IDENTITY"]),
    ("project", &["BATON_PROJECT"]),
    ("surface", &["BATON_SURFACE"]),
    ("stale_after", &["BATON_STALE_AFTER"]),
    ("live_after", &["BATON_LIVE_AFTER"]),
    ("auto_wrap", &["BATON_AUTO_WRAP"]),
    ("subjects", &["BATON_SUBJECTS"]),
    ("run.continue", &["BATON_RUN_CONTINUE"]),
    ("webhook_secret", &["BATON_WEBHOOK_SECRET"]),
    ("notify.me", &["BATON_NOTIFY_ME"]),
    ("notify.desktop", &["BATON_NOTIFY_DESKTOP"]),
    ("notify.ntfy", &["BATON_NOTIFY_NTFY"]),
    ("notify.ntfy_token", &["BATON_NOTIFY_NTFY_TOKEN"]),
    ("notify.slack", &["BATON_NOTIFY_SLACK"]),
    ("notify.discord", &["BATON_NOTIFY_DISCORD"]),
    ("notify.command", &["BATON_NOTIFY_COMMAND"]),
    ("notify.quiet", &["BATON_NOTIFY_QUIET"]),
    ("notify.topics", &["BATON_NOTIFY_TOPICS"]),
    ("github_api", &["BATON_GITHUB_API"]),
    ("github_app_id", &["BATON_GITHUB_APP_ID"]),
    ("github_app_installation", &["BATON_GITHUB_APP_INSTALLATION"]),
    ("github_poll", &["BATON_GITHUB_POLL"]),
    ("qdrant_url", &["BATON_QDRANT_URL"]),
    ("qdrant_collection", &["BATON_QDRANT_COLLECTION"]),
    ("embeddings_url", &["BATON_EMBEDDINGS_URL"]),
    ("embeddings_model", &["BATON_EMBEDDINGS_MODEL"]),
    ("redact.patterns", &["BATON_REDACT_PATTERNS"]),
    ("redact.allow", &["BATON_REDACT_ALLOW"]),
    ("tasks.mirror", &["BATON_TASKS_MIRROR"]),
    ("wrap.changes", &["BATON_WRAP_CHANGES"]),
    ("wrap.changes_remote", &["BATON_WRAP_CHANGES_REMOTE"]),
    ("route.fallback_after", &["BATON_ROUTE_FALLBACK_AFTER"]),
    ("route.escalate_after", &["BATON_ROUTE_ESCALATE_AFTER"]),
    ("route.max_attempts", &["BATON_ROUTE_MAX_ATTEMPTS"]),
    ("route.human", &["BATON_ROUTE_HUMAN"]),
];

/// Every setting that a variable overrides, with that variable.
pub(crate) fn variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    KEYS.iter().flat_map(|(setting, names)| names.iter().map(|name| (*setting, *name)))
}

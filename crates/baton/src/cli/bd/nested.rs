//! Verbs of Beads below a verb, which are not here.

pub(super) const NO_DATABASE: &str = "there is no database to tend here; `baton doctor` checks the store";
pub(super) const GIT_CARRIES: &str =
    "git carries the file: `bd sync`, then commit and push .beads/issues.jsonl";
pub(super) const NO_TRACKER: &str = "`baton handoff create` sends work to another repository's tracker";
pub(super) const NO_FORMULA: &str =
    "`baton task increment \"Title\"` makes the linked tasks of one piece of work";
pub(super) const RESET: &str =
    "the store holds all your repositories; `bd delete ID --force` deletes issues of this one";
pub(super) const CLEANUP: &str = "closed issues cost nothing here; `bd list --status closed` lists them";
const COMPACT: &str = "answers are bounded here: `bd show ID` fits a budget, `--full` does not";

/// Verbs below a verb that works, which do not: group, verb, purpose, what to use in their place.
pub(super) const NESTED: &[(&str, &str, &str, &str)] = &[
    ("admin", "cleanup", "deletes closed issues", CLEANUP),
    ("admin", "compact", "shortens old issues", COMPACT),
    ("admin", "reset", "deletes all of it", RESET),
    ("backup", "restore", "brings a copy of the database back", "`baton restore FILE`"),
    ("config", "apply", "reconciles the system with the settings", "settings are read with every call"),
    ("config", "drift", "compares the system with the settings", "`baton doctor`"),
    ("config", "set-many", "sets several settings", "settings are in .baton.toml and config.toml"),
    ("config", "validate", "checks the settings", "`baton config show` names what cannot be read"),
    ("dolt", "clean-databases", "drops databases of tests", NO_DATABASE),
    ("dolt", "killall", "ends database servers", NO_DATABASE),
    ("dolt", "pull", "fetches the issues of others", "`git pull`, which brings the file; then `bd ready`"),
    ("dolt", "rebase", "puts one database's changes behind another's", GIT_CARRIES),
    ("dolt", "remote", "manages database remotes", GIT_CARRIES),
    ("dolt", "set", "sets up the database server", NO_DATABASE),
    (
        "dolt",
        "start",
        "starts the database server",
        "no server is needed; `baton serve` serves several machines",
    ),
    ("dolt", "stop", "stops the database server", NO_DATABASE),
    (
        "gate",
        "add-waiter",
        "names an agent that waits for a gate",
        "`baton mail send` tells it when the gate is closed",
    ),
    ("gate", "discover", "finds the workflow run of a gate", "`bd update ID --await-id RUN`"),
    (
        "migrate",
        "hooks",
        "renews the git hooks",
        "Baton writes no git hooks; `bd hooks list` shows how git treats the file",
    ),
    ("migrate", "issues", "moves issues to another repository", NO_TRACKER),
    (
        "migrate",
        "sync",
        "moves issues to a branch of their own",
        "the file stays on the branch of the code: `bd sync`, then commit and push .beads/issues.jsonl",
    ),
    (
        "mol",
        "bond",
        "joins two molecules",
        "`bd dep add B A`, so that B follows A; as a part of it: `bd update B --parent A`",
    ),
    ("mol", "catalog", "lists templates", NO_FORMULA),
    ("mol", "distill", "makes a template of an epic", NO_FORMULA),
    ("mol", "last-activity", "shows when a molecule changed", "`bd list --parent ID --sort updated -n 1`"),
    ("mol", "pour", "creates issues from a template", NO_FORMULA),
    ("mol", "ready", "finds molecules that can go on", "`bd ready --parent ID`"),
    ("mol", "seed", "checks templates", NO_FORMULA),
    ("mol", "squash", "shortens a molecule to a digest", "`bd close ID --reason SUMMARY`"),
    ("wisp", "create", "creates a short-lived issue from a template", "`bd create --ephemeral`"),
    (
        "swarm",
        "create",
        "sets up work for many agents",
        "`bd create --type epic`, parts with --parent, and `baton work` for each agent",
    ),
];

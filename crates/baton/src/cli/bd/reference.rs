//! The verbs of Beads' command reference, one line each: what works here, and for the others what to use in their place.

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::suggest::near;

/// What becomes of a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Support {
    /// It does here what it does there.
    Works,
    /// It does not; this is what to use.
    Use(&'static str),
}

/// A verb of the reference.
pub(super) struct Verb {
    pub name: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    pub support: Support,
}

const fn works(name: &'static str, purpose: &'static str) -> Verb {
    Verb { name, purpose, support: Support::Works }
}

const fn other(name: &'static str, purpose: &'static str, instead: &'static str) -> Verb {
    Verb { name, purpose, support: Support::Use(instead) }
}

const NO_DATABASE: &str = "there is no database to tend here; `baton doctor` checks the store";
const GIT_CARRIES: &str = "git carries the file: `bd sync`, then commit and push .beads/issues.jsonl";
const NO_TRACKER: &str = "`baton handoff create` sends work to another repository's tracker";
const NO_FORMULA: &str = "`baton task increment \"Title\"` makes the linked tasks of one piece of work";
const LABELS: &str = "use labels: `bd update ID --add-label NAME:VALUE`";

/// Every verb, by name.
pub(super) const VERBS: &[Verb] = &[
    other("activity", "watches changes as they happen", "`baton watch`"),
    other("ado", "exchanges issues with Azure DevOps", NO_TRACKER),
    other("admin", "maintains the database", NO_DATABASE),
    other("agent", "keeps the state of agents", "`baton agent list` and `baton status`"),
    other("audit", "records what agents did", "`baton audit` and `baton log`"),
    other("backup", "copies the database", "`baton backup FILE`"),
    other("batch", "runs several commands in one transaction", "call `bd` once for each: every call is one"),
    works("blocked", "lists blocked issues"),
    other("bootstrap", "sets up a clone", "`bd init` reads .beads/issues.jsonl in"),
    other("branch", "branches the database", "git branches the file; the ledger follows it"),
    works("children", "lists the parts of an issue"),
    other("cleanup", "deletes closed issues", "closed issues cost nothing here; `bd list --status closed` lists them"),
    works("close", "closes issues"),
    works("comment", "adds a comment"),
    works("comments", "lists or adds comments"),
    other("compact", "shortens old issues", "answers are bounded here: `bd show ID` fits a budget, `--full` does not"),
    works("completion", "prints shell completions"),
    works("config", "shows settings"),
    other("context", "shows which store is used", "`bd where` or `baton config`"),
    other("cook", "expands a formula", NO_FORMULA),
    works("count", "counts issues"),
    works("create", "creates an issue"),
    other("create-form", "asks for an issue's fields", "`bd create \"Title\" --description -`"),
    other("daemon", "keeps a background process", "no process is needed; `baton serve` serves several machines"),
    other("daemons", "lists background processes", "there are none; `baton status` lists sessions"),
    works("defer", "puts issues off"),
    other("delete", "deletes issues", "`bd close ID --reason \"not wanted\"` keeps what was said"),
    works("dep", "manages dependencies"),
    other("detect-pollution", "finds test issues", "`bd list --title-contains test`"),
    other("diff", "compares two states", "`git diff .beads/issues.jsonl` or `baton log`"),
    works("doctor", "checks that all is well"),
    works("dolt", "moves the database"),
    works("duplicate", "closes an issue as a duplicate"),
    other("duplicates", "finds issues with the same content", "`bd search WORDS` finds what mentions them"),
    other("edit", "opens a field in an editor", "`bd update ID --description -` reads it from standard input"),
    works("epic", "shows and closes epics"),
    works("export", "writes all issues as lines of JSON"),
    other("federation", "synchronises with peers", "`baton serve` and a token for each peer"),
    other("find-duplicates", "finds issues that mean the same", "`bd search WORDS` or `baton memory search`"),
    other("flatten", "drops the database's history", NO_DATABASE),
    other("forget", "withdraws a memory", "`baton memory withdraw ID`"),
    other("formula", "lists workflow templates", NO_FORMULA),
    other("gate", "waits for something outside", "`bd defer ID --until WHEN`, or a task that blocks it"),
    other("gc", "tidies the database", NO_DATABASE),
    other("github", "exchanges issues with GitHub", NO_TRACKER),
    other("gitlab", "exchanges issues with GitLab", NO_TRACKER),
    other("graph", "draws dependencies", "`bd dep tree ID`"),
    works("help", "shows help"),
    other("history", "shows the versions of an issue", "`baton log`, or `git log -p .beads/issues.jsonl`"),
    other("hook", "attaches work to an agent", "`bd update ID --claim`"),
    works("hooks", "manages git hooks"),
    other("human", "asks a human", "`baton mail send --to human`"),
    works("import", "reads issues in from a file"),
    works("info", "shows the store and how much is in it"),
    works("init", "registers this folder"),
    other("jira", "exchanges issues with Jira", NO_TRACKER),
    other("kv", "keeps values by key", "`bd remember \"KEY: VALUE\"`, or a file in the repository"),
    works("label", "manages labels"),
    other("linear", "exchanges issues with Linear", NO_TRACKER),
    works("link", "makes one issue depend on another"),
    other("lint", "finds issues without criteria", "`bd list --json` has `acceptance_criteria` for a filter"),
    works("list", "lists issues"),
    other("mail", "delegates to a mail program", "`baton mail inbox` and `baton mail send`"),
    works("memories", "lists memories"),
    other("merge", "merges two files", "`baton init --merge-driver` has git merge the file by field"),
    other("merge-slot", "serialises merges", "`baton lease take PATH` holds a path for one agent"),
    other("migrate", "migrates the database", "the store migrates itself"),
    other("mol", "runs workflow templates", NO_FORMULA),
    other("move", "moves an issue to another repository", NO_TRACKER),
    works("note", "adds a line to an issue's notes"),
    other("notion", "exchanges issues with Notion", NO_TRACKER),
    works("onboard", "prints what belongs into AGENTS.md"),
    other("orphans", "finds issues that commits name and that are open", "`git log --grep` and `bd list`"),
    other("pin", "keeps an issue out of the ready list", "`bd update ID --status pinned`"),
    works("ping", "says that it is there"),
    other("preflight", "lists what to check before a pull request", "keep that list in AGENTS.md"),
    works("prime", "prints how an agent works with issues"),
    works("priority", "sets the priority"),
    other("promote", "makes a wisp an issue", "`bd update ID`: nothing here is a wisp"),
    other("provider", "names the agents' tools", "`baton doctor` lists the tools"),
    other("purge", "deletes wisps", "nothing here is a wisp"),
    works("q", "creates an issue and prints its id"),
    other("query", "filters by an expression", "`bd list` with its filters, or `bd search WORDS`"),
    works("quickstart", "prints the first commands"),
    works("ready", "lists what can be worked on"),
    works("recall", "finds memories by words"),
    other("refile", "moves an issue to another repository", NO_TRACKER),
    works("relate", "links two issues"),
    works("remember", "stores a memory"),
    other("rename", "changes an issue's id", "ids are for good here; `bd create --id NEW` and `bd supersede`"),
    other("rename-prefix", "changes the prefix of all ids", "ids are for good here"),
    works("reopen", "opens closed issues again"),
    other("repair", "repairs the database", NO_DATABASE),
    other("repo", "reads several repositories at once", "`baton project relate`, and `--project ID` on any command"),
    other("reset", "deletes all of it", "`baton backup FILE` first; then remove the store that `bd where` names"),
    other("restore", "brings back a shortened issue", "nothing was shortened: `bd show ID --full`"),
    other("rules", "tends rules of agents", "keep them in AGENTS.md"),
    works("search", "finds issues by words"),
    other("set-state", "sets a state of an issue", LABELS),
    other("setup", "registers with coding agents", "`baton install`"),
    other("ship", "publishes a capability", LABELS),
    works("show", "shows issues"),
    other("slot", "keeps slots of agents", LABELS),
    other("sql", "queries the database", "`bd list --json`"),
    works("stale", "lists what nobody touched for long"),
    other("state", "shows a state of an issue", "`bd label list ID`"),
    works("stats", "counts issues by state"),
    works("status", "counts issues by state"),
    works("statuses", "lists the statuses"),
    works("supersede", "closes an issue in favour of another"),
    other("swarm", "plans an epic for many agents", "`bd epic status`, and `baton work` for each agent"),
    works("sync", "brings the file in step"),
    works("tag", "adds a label"),
    other("template", "creates issues from templates", NO_FORMULA),
    other("thanks", "names the authors of Beads", "they are at github.com/gastownhall/beads"),
    works("todo", "keeps a list of small tasks"),
    works("types", "lists the types"),
    works("undefer", "takes up what was put off"),
    other("unhook", "detaches work from an agent", "`bd update ID --status open`"),
    other("unpin", "offers a pinned issue again", "`bd update ID --status open`"),
    works("unrelate", "unlinks two issues"),
    works("update", "changes issues"),
    other("upgrade", "tells what is new", "`bd version`"),
    other("vc", "commits the database", GIT_CARRIES),
    works("version", "shows the version"),
    works("where", "shows where issues are kept"),
    other("wisp", "keeps issues for a short time", "`bd create --ephemeral`"),
    other("worktree", "manages git worktrees", "`git worktree`: all of them share one ledger"),
];

/// What there is to say of a verb that is not among ours.
pub(super) fn refusal(name: &str) -> Refusal {
    if let Some(Verb { purpose, support: Support::Use(instead), .. }) =
        VERBS.iter().find(|verb| verb.name == name)
    {
        let what = format!("`bd {name}` {purpose}; Baton does not have it");
        return Refusal::invalid("not_supported", what, format!("use instead: {instead}"));
    }
    let near = near(name, VERBS.iter().map(|verb| verb.name));
    let hint = match near.first() {
        Some(verb) => format!("did you mean `bd {verb}`? `bd --help` lists the commands"),
        None => "`bd --help` lists the commands".to_owned(),
    };
    Refusal::invalid("usage", format!("`{}` is no command of bd", visible(name)), hint)
}

/// The table of verbs for the documentation.
#[cfg(test)]
pub(in crate::cli) fn table() -> String {
    let mut text = String::from("| Verb | What it is for | Here |\n| --- | --- | --- |\n");
    for Verb { name, purpose, support } in VERBS {
        let here = match support {
            Support::Works => "works".to_owned(),
            Support::Use(instead) => format!("use instead: {instead}"),
        };
        text.push_str(&format!("| `bd {name}` | {purpose} | {here} |\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::args::Bd;
    use super::*;

    #[test]
    fn every_verb_of_the_reference_is_done_or_says_what_to_use() {
        let command = Bd::command();
        for verb in VERBS {
            let is_command = command
                .get_subcommands()
                .any(|sub| sub.get_name() == verb.name || sub.get_all_aliases().any(|name| name == verb.name));
            assert_eq!(is_command, verb.support == Support::Works, "{}", verb.name);
            if let Support::Use(instead) = verb.support {
                let said = refusal(verb.name);
                assert!(said.message.contains(verb.purpose) && said.hint.contains(instead), "{}", verb.name);
            }
        }
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "increment") {
            assert!(VERBS.iter().any(|verb| verb.name == sub.get_name()), "{} is in no line", sub.get_name());
        }
        assert!(VERBS.is_sorted_by_key(|verb| verb.name) && VERBS.len() >= 107);
    }

    #[test]
    fn a_slip_is_told_the_near_verb() {
        assert!(refusal("raedy").hint.contains("bd ready"));
        assert!(refusal("xyzzy").hint.contains("--help"));
    }
}

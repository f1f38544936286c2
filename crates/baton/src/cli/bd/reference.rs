//! The verbs of Beads' command reference, one line each: what works here, and for the others what to use in their place.

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::suggest::suggestions;

use super::nested::{CLEANUP, GIT_CARRIES, NESTED, NO_DATABASE, NO_FORMULA, NO_TRACKER, RESET};

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

const fn unsupported_verb(name: &'static str, purpose: &'static str, instead: &'static str) -> Verb {
    Verb { name, purpose, support: Support::Use(instead) }
}

const LABELS: &str = "use labels: `bd set-state ID NAME=VALUE`";

/// Every verb, by name.
pub(super) const VERBS: &[Verb] = &[
    unsupported_verb("activity", "watches changes as they happen", "`baton log --follow`"),
    unsupported_verb("admin", "maintains the database", NO_DATABASE),
    unsupported_verb("ado", "exchanges issues with Azure DevOps", NO_TRACKER),
    unsupported_verb("agent", "keeps the state of agents", "`baton agent list` and `baton status`"),
    works("assign", "assigns an issue"),
    unsupported_verb("audit", "records what agents did", "`baton audit` and `baton log`"),
    unsupported_verb("backup", "copies the database", "`baton backup FILE`"),
    works("batch", "makes several changes, all of them or none"),
    works("blocked", "lists blocked issues"),
    works("bootstrap", "sets up a clone"),
    unsupported_verb(
        "branch",
        "branches the database",
        "`git branch`: the file branches with the code, and the ledger follows it",
    ),
    unsupported_verb(
        "cas",
        "changes a field if it has a value",
        "`bd update ID --claim` is the change that only one agent wins",
    ),
    works("children", "lists the parts of an issue"),
    unsupported_verb(
        "clean",
        "removes what a merge of the file has left",
        "a merge leaves nothing beside the file here; `bd doctor --check artifacts` names files of earlier versions of Beads",
    ),
    unsupported_verb("cleanup", "deletes closed issues", CLEANUP),
    works("close", "closes issues"),
    works("comment", "adds a comment"),
    works("comments", "lists or adds comments"),
    unsupported_verb("compact", "squashes the commits of the database", NO_DATABASE),
    works("completion", "prints shell completions"),
    works("config", "shows settings"),
    unsupported_verb(
        "connect",
        "points a folder at a server",
        "the setting `store`, or BATON_STORE, names a server",
    ),
    works("context", "shows which store is used"),
    unsupported_verb("cook", "expands a formula", NO_FORMULA),
    works("count", "counts issues"),
    works("create", "creates an issue"),
    unsupported_verb("create-form", "asks for an issue's fields", "`bd create \"Title\" --description -`"),
    unsupported_verb(
        "daemon",
        "keeps a background process",
        "no process is needed; `baton serve` serves several machines",
    ),
    unsupported_verb(
        "daemons",
        "lists background processes",
        "there are none; `baton status` lists sessions",
    ),
    works("defer", "puts issues off"),
    works("delete", "deletes issues"),
    works("dep", "manages dependencies"),
    unsupported_verb("detect-pollution", "finds test issues", "`bd list --title-contains test`"),
    unsupported_verb("diff", "compares two states", "`git diff .beads/issues.jsonl` or `baton log`"),
    works("doctor", "checks that all is well"),
    works("dolt", "writes the file for git (`push`, `commit`) and says where it is"),
    works("duplicate", "closes an issue as a duplicate"),
    works("duplicates", "finds issues with the same content"),
    works("edit", "opens a field in an editor"),
    works("epic", "shows and closes epics"),
    works("export", "writes all issues as lines of JSON"),
    unsupported_verb("federation", "synchronises with peers", "`baton serve` and a token for each peer"),
    unsupported_verb(
        "find-duplicates",
        "finds issues that mean the same",
        "`bd search WORDS` or `baton memory search`",
    ),
    unsupported_verb(
        "find-dups",
        "finds issues that mean the same",
        "`bd search WORDS` or `baton memory search`",
    ),
    unsupported_verb("flatten", "drops the database's history", NO_DATABASE),
    works("forget", "withdraws a memory"),
    unsupported_verb("formula", "lists workflow templates", NO_FORMULA),
    works("gate", "waits for something outside"),
    unsupported_verb("gc", "tidies the database", NO_DATABASE),
    unsupported_verb("github", "exchanges issues with GitHub", NO_TRACKER),
    unsupported_verb("gitlab", "exchanges issues with GitLab", NO_TRACKER),
    works("graph", "draws dependencies"),
    works("heartbeat", "renews a claim"),
    works("help", "shows help"),
    works("history", "lists who changed an issue, and when"),
    unsupported_verb("hook", "attaches work to an agent", "`bd update ID --claim`"),
    works("hooks", "manages git hooks"),
    works("human", "prints the commands that people use most"),
    works("import", "reads issues in from a file"),
    works("info", "shows the store and how much is in it"),
    works("init", "registers this folder"),
    unsupported_verb(
        "init-safety",
        "explains how `init` protects data",
        "`bd init` never deletes anything here",
    ),
    unsupported_verb("jira", "exchanges issues with Jira", NO_TRACKER),
    works("kv", "keeps values by name"),
    works("label", "manages labels"),
    unsupported_verb(
        "lease",
        "switches the leases of claims",
        "`baton task claim ID --lease SPAN`; `stale_after` in the settings is how long a silent agent keeps its claims",
    ),
    unsupported_verb("linear", "exchanges issues with Linear", NO_TRACKER),
    works("link", "makes one issue depend on another"),
    works("lint", "finds issues without criteria"),
    works("list", "lists issues"),
    unsupported_verb("mail", "delegates to a mail program", "`baton mail inbox` and `baton mail send`"),
    works("memories", "lists memories"),
    unsupported_verb(
        "merge",
        "merges issues, or two files",
        "`bd duplicate ID --of OTHER` closes an issue in favour of another; `baton init --merge-driver` has git merge the file by field",
    ),
    unsupported_verb("merge-slot", "serialises merges", "`baton lease take PATH` holds a path for one agent"),
    unsupported_verb(
        "message",
        "sends messages between agents",
        "`baton mail inbox`, `baton mail send` and `baton mail ack`",
    ),
    unsupported_verb("metrics", "switches usage metrics", "Baton sends none"),
    unsupported_verb("migrate", "migrates the database", "the store migrates itself"),
    unsupported_verb(
        "migrate-hash-ids",
        "gives issues ids of another form",
        "`bd rename ID NEW` for one of them",
    ),
    unsupported_verb("migrate-issues", "moves issues to another repository", NO_TRACKER),
    unsupported_verb("migrate-personal", "moves issues to a planning repository", NO_TRACKER),
    works("mol", "shows issues with parts"),
    unsupported_verb("move", "moves an issue to another repository", NO_TRACKER),
    works("note", "adds a line to an issue's notes"),
    unsupported_verb("notion", "exchanges issues with Notion", NO_TRACKER),
    works("onboard", "prints what belongs into AGENTS.md"),
    works("orphans", "finds open issues that commits mention"),
    unsupported_verb("pin", "keeps an issue out of the ready list", "`bd update ID --status pinned`"),
    works("ping", "says that it is there"),
    unsupported_verb("pour", "creates issues from a template", NO_FORMULA),
    unsupported_verb("preflight", "lists what to check before a pull request", "keep that list in AGENTS.md"),
    works("prime", "prints how an agent works with issues"),
    works("priority", "sets the priority"),
    works("promote", "makes a short-lived issue permanent"),
    unsupported_verb("provider", "names the agents' tools", "`baton doctor` lists the tools"),
    unsupported_verb("prune", "deletes old closed issues", CLEANUP),
    unsupported_verb("purge", "deletes closed wisps", "`bd wisp list --all`, then `bd delete ID --force`"),
    works("q", "creates an issue and prints its id"),
    works("query", "filters by an expression"),
    works("quickstart", "prints the first commands"),
    works("ready", "lists what can be worked on"),
    works("recall", "shows a memory"),
    unsupported_verb(
        "reclaim",
        "takes claims back from agents that died",
        "a claim under a name holds until its lease ends (two hours), any other one until its agent ends; `bd unclaim ID --force --reason TEXT` ends it",
    ),
    unsupported_verb("recompute-blocked", "repairs what is blocked", "it is computed with every call"),
    unsupported_verb("recover", "repairs the database", NO_DATABASE),
    unsupported_verb("refile", "moves an issue to another repository", NO_TRACKER),
    works("relate", "links two issues"),
    works("remember", "stores a memory"),
    works("rename", "changes an issue's id"),
    unsupported_verb("rename-prefix", "changes the prefix of all ids", "`bd rename ID NEW` for one of them"),
    works("reopen", "opens closed issues again"),
    unsupported_verb("repair", "repairs the database", NO_DATABASE),
    unsupported_verb(
        "repair-deps",
        "removes dependencies on what is not there",
        "`bd graph check` names them, `bd dep remove` removes one",
    ),
    unsupported_verb(
        "repo",
        "reads several repositories at once",
        "`baton project relate`, and `--project ID` on any command",
    ),
    unsupported_verb("reset", "deletes all of it", RESET),
    unsupported_verb(
        "restore",
        "brings back a shortened issue",
        "nothing was shortened: `bd show ID --full`",
    ),
    unsupported_verb("rules", "tends rules of agents", "keep them in `AGENTS.md`"),
    works("search", "finds issues by words"),
    unsupported_verb("serve", "serves issues over HTTP", "`baton serve`"),
    unsupported_verb("set", "keeps a value by its name", "`bd kv set NAME VALUE`"),
    works("set-state", "sets a state of an issue"),
    unsupported_verb("setup", "registers with coding agents", "`baton install`"),
    unsupported_verb("ship", "publishes a capability", LABELS),
    works("show", "shows issues"),
    unsupported_verb("slot", "keeps slots of agents", LABELS),
    unsupported_verb("sql", "queries the database", "`bd list --json`"),
    works("stale", "lists what nobody touched for long"),
    works("state", "shows a state of an issue"),
    works("stats", "counts issues by state"),
    works("status", "counts issues by state"),
    works("statuses", "lists the statuses"),
    works("supersede", "closes an issue in favour of another"),
    works("swarm", "shows how the parts of an epic stand"),
    works("sync", "brings the file in step"),
    works("tag", "adds a label"),
    unsupported_verb("template", "creates issues from templates", NO_FORMULA),
    unsupported_verb("thanks", "names the authors of Beads", "they are at github.com/gastownhall/beads"),
    works("todo", "keeps a list of small tasks"),
    works("types", "lists the types"),
    works("unclaim", "gives a claimed issue back"),
    works("undefer", "takes up what was put off"),
    unsupported_verb("unhook", "detaches work from an agent", "`bd update ID --status open`"),
    unsupported_verb("unpin", "offers a pinned issue again", "`bd update ID --status open`"),
    works("unrelate", "unlinks two issues"),
    works("update", "changes issues"),
    unsupported_verb("upgrade", "tells what is new", "`bd version`"),
    unsupported_verb("validate", "checks the issues", "`bd doctor --check validate`"),
    unsupported_verb("vc", "commits the database", GIT_CARRIES),
    works("version", "shows the version"),
    works("where", "shows where issues are kept"),
    works("wisp", "shows short-lived issues"),
    unsupported_verb("worktree", "manages git worktrees", "`git worktree`: all of them share one ledger"),
];

/// What there is to say of a verb below a verb.
pub(super) fn nested_refusal(group: &str, name: &str) -> Option<Refusal> {
    let (.., purpose, instead) = NESTED.iter().find(|(known, verb, ..)| *known == group && *verb == name)?;
    let what = format!("`bd {group} {name}` {purpose}; Baton does not have it");
    Some(Refusal::invalid("not_supported", what, format!("use instead: {instead}")))
}

/// What there is to say of a verb that is not among ours.
pub(super) fn refusal(name: &str) -> Refusal {
    if let Some(Verb { purpose, support: Support::Use(instead), .. }) =
        VERBS.iter().find(|verb| verb.name == name)
    {
        let what = format!("`bd {name}` {purpose}; Baton does not have it");
        return Refusal::invalid("not_supported", what, format!("use instead: {instead}"));
    }
    let near = suggestions(name, VERBS.iter().map(|verb| verb.name));
    let hint = match near.first() {
        Some(verb) => format!("did you mean `bd {verb}`? `bd --help` lists the commands"),
        None => "`bd --help` lists the commands".to_owned(),
    };
    Refusal::invalid("usage", format!("`{}` is no command of bd", visible(name)), hint)
}

/// The table of verbs for the documentation.
#[cfg(test)]
pub(in crate::cli) fn table() -> String {
    use super::failure::in_words_of_bd;

    let mut text = String::from("| Verb | What it is for | Here |\n| --- | --- | --- |\n");
    for Verb { name, purpose, support } in VERBS {
        let here = match support {
            Support::Works => "works".to_owned(),
            Support::Use(instead) => format!("use instead: {}", in_words_of_bd(instead)),
        };
        text.push_str(&format!("| `bd {name}` | {purpose} | {here} |\n"));
    }
    for (group, name, purpose, instead) in NESTED {
        let instead = in_words_of_bd(instead);
        text.push_str(&format!("| `bd {group} {name}` | {purpose} | use instead: {instead} |\n"));
    }
    for (verb, option, purpose, instead) in super::options::OPTIONS {
        let instead = in_words_of_bd(instead).replace('|', "\\|");
        text.push_str(&format!("| `bd {verb} {option}` | {purpose} | use instead: {instead} |\n"));
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
            let is_command = command.get_subcommands().any(|sub| {
                sub.get_name() == verb.name || sub.get_all_aliases().any(|name| name == verb.name)
            });
            assert_eq!(is_command, verb.support == Support::Works, "{}", verb.name);
            if let Support::Use(instead) = verb.support {
                let refusal = refusal(verb.name);
                assert!(
                    refusal.message.contains(verb.purpose) && refusal.hint.contains(instead),
                    "{}",
                    verb.name
                );
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

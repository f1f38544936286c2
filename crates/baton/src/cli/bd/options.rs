//! Options of Beads that are not here: what each is for, and what to use in its place.

use baton_model::refusal::Refusal;

/// Options of verbs that work, which do not: verb (and the one below it), option, what it is for, what to use in its place.
pub(super) const OPTIONS: &[(&str, &str, &str, &str)] = &[
    (
        "config show",
        "--source",
        "shows the settings of one source",
        "`baton config show`, which names the source of each",
    ),
    (
        "doctor",
        "--clean",
        "deletes issues of tests, and with --check=artifacts files of earlier versions of Beads",
        "`bd doctor --check pollution`, then `bd delete ID --force`; `bd doctor --check artifacts` names the files, and `git rm` or `rm` removes them",
    ),
    (
        "doctor",
        "--orchestrator",
        "checks several workspaces at once",
        "`bd -C FOLDER doctor` for each of them",
    ),
    (
        "doctor",
        "--migration",
        "checks a migration of the database",
        "`baton doctor`: the store migrates itself",
    ),
    ("init", "--server", SERVER, LEDGER),
    ("init", "--shared-server", SERVER, LEDGER),
    ("init", "--proxied-server", SERVER, LEDGER),
    ("init", "--external", SERVER, LEDGER),
    ("init", "--server-host", SERVER, LEDGER),
    ("init", "--server-port", SERVER, LEDGER),
    ("init", "--server-user", SERVER, LEDGER),
    ("init", "--server-socket", SERVER, LEDGER),
    ("init", "--backend", DATABASE, LEDGER),
    ("init", "--database", DATABASE, LEDGER),
    ("init", "--pg-url", DATABASE, LEDGER),
    ("init", "--mysql-url", DATABASE, LEDGER),
    ("init", "--sqlite-path", DATABASE, LEDGER),
    (
        "init",
        "--contributor",
        "keeps issues in a repository of your own",
        "`bd init`; `baton handoff create` sends work to the repository that it is for",
    ),
    (
        "init",
        "--role",
        "says whether you maintain the repository",
        "`bd init`; `baton handoff create` sends work to the repository that it is for",
    ),
    (
        "init",
        "--team",
        "sets up a branch for a team",
        "`bd init`: git carries .beads/issues.jsonl on the branch of the code",
    ),
    (
        "init",
        "--branch",
        "keeps issues on a branch of their own",
        "`bd init`: git carries .beads/issues.jsonl on the branch of the code",
    ),
    (
        "init",
        "--remote",
        "clones the issues of a database server",
        "`git clone URL`, then `bd bootstrap` in the clone: git carries .beads/issues.jsonl",
    ),
    ("init", "--reinit-local", DELETES, KEPT),
    ("init", "--discard-remote", DELETES, KEPT),
    ("init", "--destroy-token", DELETES, KEPT),
    ("init", "--agents-template", AGENTS_FILE, ONBOARD),
    ("init", "--agents-file", AGENTS_FILE, ONBOARD),
    ("init", "--agents-profile", AGENTS_FILE, ONBOARD),
    ("init", "--debug", "prints how it goes", "`baton doctor`, which checks the store"),
    (
        "unclaim",
        "--if-assignee",
        "gives it back only if this agent has it",
        "`bd unclaim ID`, which is refused where another agent has it",
    ),
    ("unclaim", "--if-fence", "gives it back only under this claim", "`baton task release ID --token N`"),
    ("query", "--offset", "skips results", "`--limit 0`"),
    ("help", "--doc", "prints a page of the reference", "`bd help COMMAND`, or `bd help --all`"),
    ("doctor", "--perf", "measures the database", "`baton doctor`, which checks the store"),
    ("doctor", "--server", "checks the database server", "`baton doctor`, which checks the store"),
    (
        "create",
        "--from-template",
        "creates it from a template",
        "`bd create \"Title\" --type TYPE --description T`; `bd increment \"Title\"` makes the linked issues of one piece of work",
    ),
    ("create", "--event-actor", "says who caused an event", "`bd create --type event --metadata JSON`"),
    (
        "create",
        "--event-category",
        "says what kind of event it is",
        "`bd create --type event --metadata JSON`",
    ),
    ("create", "--event-payload", "adds the details of an event", "`bd create --type event --metadata JSON`"),
    ("create", "--event-target", "says what an event is about", "`bd create --type event --metadata JSON`"),
    ("create", "--repo", "creates it in another repository", "`bd -C FOLDER create`"),
    ("create", "--rig", "creates it in another repository", "`bd -C FOLDER create`"),
    (
        "gate check",
        "--escalate",
        "marks gates that cannot be met any more",
        "`bd gate list`; close one by `bd gate resolve`",
    ),
    (
        "graph",
        "--html",
        "draws the graph as a page",
        "`bd graph --dot ID | dot -Tsvg`, or the page of `baton serve`",
    ),
    (
        "list",
        "--format",
        "prints each issue by a template",
        "`bd list --json | jq -r '.[] | \"\\(.id) \\(.title)\"'`; dot and digraph work",
    ),
    (
        "list",
        "--label-regex",
        "filters by a regular expression",
        "`--label-pattern 'tech-*'`, or `--label-any A,B`",
    ),
    ("list", "--offset", "skips results", "`--limit 0`"),
    ("list", "--stale", "lists what nobody touched for long", "`bd stale`"),
    (
        "list",
        "--watch",
        "shows the list again when it changes",
        "`watch -n 2 bd list`, or `baton log --follow`",
    ),
    (
        "export",
        "--scrub",
        "leaves out issues of tests",
        "`bd doctor --check pollution`, then `bd delete ID --force`",
    ),
    ("orphans", "--fix", "closes them", "`bd close ID --reason TEXT` for each that is done"),
    ("show", "--thread", "shows a conversation", "`bd show ID --refs` and `bd comments ID`"),
    (
        "export",
        "--exclude-owner",
        "leaves out the issues of an owner",
        "`bd query 'NOT owner=NAME' -n 0 --json`",
    ),
    ("info", "--thanks", "names the authors of Beads", "they are at github.com/gastownhall/beads"),
    ("show", "--watch", "shows an issue again when it changes", "`watch -n 2 bd show ID`"),
    ("export", "--type", "exports issues of one type", "`bd list --type TYPE --all --limit 0 --json`"),
    (
        "export",
        "--created-after",
        "exports issues since a time",
        "`bd list --created-after TIME --all --limit 0 --json`",
    ),
    (
        "export",
        "--force",
        "writes over a file that has more",
        "`bd export`, after `bd import FILE` has taken in what the file has",
    ),
    ("onboard", "--output", "writes it to a file", "`bd onboard >> AGENTS.md`"),
    ("export", "--status", "exports issues of one status", "`bd list --status STATUS --limit 0 --json`"),
    (
        "import",
        "--dedup",
        "leaves out issues with the title of another",
        "`bd import FILE`, then `bd duplicates`",
    ),
    (
        "import",
        "--allow-stale",
        "takes rows over that are older than those here",
        "`bd update ID` sets fields back; a file's older values are in git: `git log -p .beads/issues.jsonl`",
    ),
    ("export", "--include-workflow", "exports templates as well", "`bd export`: there are no templates here"),
    (
        "duplicates",
        "--include-workflow",
        "looks at templates as well",
        "`bd duplicates`: there are none here",
    ),
    ("ready", "--lease-ttl", "says how long the claim holds", "`baton task claim ID --lease SPAN`"),
    ("ready", "--offset", "skips results", "`--limit 0`"),
    ("list", "--rig", "lists another repository", "`bd -C FOLDER list`"),
    ("ready", "--gated", "lists molecules whose gate is closed", "`bd ready`: they are in it"),
    ("ready", "--include-ephemeral", "lists short-lived issues as well", "`bd wisp list`"),
    ("ready", "--watch", "shows the list again when it changes", "`watch -n 2 bd ready`"),
    (
        "show",
        "--as-of",
        "shows an issue as it was",
        "`git log -p .beads/issues.jsonl`, where the file is kept in step; `bd history ID` lists who changed it",
    ),
];

/// What several options of `bd init` are for, and what to use in their place.
const SERVER: &str = "uses a database server";
const DATABASE: &str = "chooses the database";
const LEDGER: &str =
    "`bd init`: one ledger has the issues of all repositories; the setting `store` names a server";
const DELETES: &str = "deletes the issues that are there";
const KEPT: &str = "`bd init`, which keeps what is there; `bd delete ID --force` deletes an issue";
const AGENTS_FILE: &str = "writes a file of instructions for agents";
const ONBOARD: &str = "`bd init`, then `bd onboard`, which prints what belongs into AGENTS.md";

/// Options of every command that are not here: option, what it is for, what to use in its place.
const GLOBAL: [(&str, &str, &str); 2] = [
    (
        "--global",
        "takes the database of the user",
        "one ledger has the issues of all your repositories: `bd -C FOLDER list`",
    ),
    ("--profile", "measures the command", "`baton doctor`, which checks the store"),
];

/// What there is to say of an option that is not among ours.
pub(super) fn option_refusal(verb: &[&str], option: &str) -> Option<Refusal> {
    let is_verb = |known: &str| {
        let mut words = known.split(' ');
        verb.first().copied() == words.next() && words.next().is_none_or(|word| verb.get(1) == Some(&word))
    };
    let option = if option == "-w" { "--watch" } else { option };
    if let Some((_, purpose, instead)) = GLOBAL.iter().find(|(name, ..)| *name == option) {
        let what = format!("`bd {option}` {purpose}; Baton does not have it");
        return Some(Refusal::invalid("not_supported", what, format!("use instead: {instead}")));
    }
    let (name, _, purpose, instead) =
        OPTIONS.iter().find(|(known, name, ..)| *name == option && is_verb(known))?;
    let what = format!("`bd {name} {option}` {purpose}; Baton does not have it");
    Some(Refusal::invalid("not_supported", what, format!("use instead: {instead}")))
}

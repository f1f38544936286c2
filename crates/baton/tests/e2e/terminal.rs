//! Whatever others write, a terminal shows it: no text for people holds a character that moves the cursor, turns the direction
//! of reading, or does not show.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::http::Server;
use crate::stage::{Stage, text};
use crate::words::commands;

/// Between two words: overrides, isolates, zero-width characters, tags, selectors, a line separator.
const HIDDEN: &str = "safe\u{202e}\u{2066}\u{200b}\u{200f}\u{2060}\u{feff}\u{ad}\u{61c}\u{2028}\u{3164}\u{e0041}\u{e007f}\u{e0100}\u{fe0f}\u{200d}end";
/// Where texts of several lines are taken: control characters, too.
const RAW: &str = "first\u{1b}[2J\u{9b}31m\u{7}\u{8}\r\u{85}\u{202d}\u{e0042}second";

/// What a terminal must not be sent. Ours are the line end and, in a table, blanks.
fn is_hostile(c: char) -> bool {
    c.is_control() && c != '\n'
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Writes hostile text into every field that takes any, and gives the ids that came of it.
fn plant(stage: &Stage) -> Vec<(&'static str, String)> {
    let server = Server::start(&stage.terminal("Server"));
    let own = |mut input: Value| {
        input["project"] = "shop".into();
        input["identity"] = "Mallory".into();
        input
    };
    let both = format!("{HIDDEN}{RAW}");
    let ok = |operation: &str, input: Value| server.ok(operation, &input);
    // A field that refuses it is none in which it can come.
    let tried = |operation: &str, input: Value| _ = server.call(operation, &input);
    tried("project_set", json!({ "project": "shop", "phase": HIDDEN, "focus": [HIDDEN] }));
    tried("agent_register", own(json!({ "description": both, "surface": HIDDEN })));
    ok("agent_register", own(json!({})));
    let started = ok("session_start", own(json!({})));
    tried("session_start", json!({ "project": "shop", "identity": "Second", "surface": HIDDEN }));
    ok("session_checkpoint", own(json!({ "summary": both, "state": { "k": both } })));
    ok("ledger_note", own(json!({ "text": both })));
    ok("ledger_note", own(json!({ "kind": "decision", "text": both, "why": both })));
    let task = ok(
        "task_create",
        own(json!({ "title": HIDDEN, "description": both, "notes": both, "design": both })),
    );
    tried("task_update", own(json!({ "id": task["id"], "add_labels": [HIDDEN], "assignee": HIDDEN })));
    ok("task_comment", own(json!({ "id": task["id"], "text": both })));
    let memory = ok("memory_add", own(json!({ "text": both })));
    tried("lease_take", own(json!({ "patterns": [format!("{HIDDEN}/**")], "why": both })));
    let mail =
        ok("mail_send", own(json!({ "to": "Mallory", "type": "question", "subject": HIDDEN, "body": both })));
    ok("signal_send", own(json!({ "to": "Mallory", "type": "Question", "subject": HIDDEN, "body": both })));
    tried("token_create", json!({ "name": HIDDEN, "scope": "read", "identity": "Mallory" }));
    let packet = json!({ "summary": both, "next": [both], "decisions": [both], "own": both });
    let handoff = json!({
        "from_project_id": "shop", "identity": "Mallory", "to_project_id": "shop", "subject": HIDDEN, "description": both,
        "packet": packet, "links": { "docs": [both] },
    });
    let made = server.call("handoff_create", &handoff);
    let handoff = if made.status == 200 { text(&made.json(), "handoff_id") } else { String::new() };
    let wrapped = ok("session_wrap", own(json!({ "packet": packet.to_string() })));
    let session = [
        json!({ "type": "user", "sessionId": SESSION, "cwd": stage.shop(), "timestamp": "2026-11-20T10:00:00Z", "uuid": "u1",
            "message": { "role": "user", "content": both } }),
        json!({ "type": "assistant", "sessionId": SESSION, "cwd": stage.shop(), "timestamp": "2026-11-20T10:00:01Z", "uuid": "u2",
            "parentUuid": "u1", "gitBranch": HIDDEN,
            "message": { "role": "assistant", "model": HIDDEN, "content": [{ "type": "text", "text": both }] } }),
    ];
    let lines: String = session.iter().map(|line| format!("{line}\n")).collect();
    stage.file(&format!("home/.claude/projects/-shop/{SESSION}.jsonl"), lines);
    std::fs::write(stage.shop().join("CLAUDE.md"), format!("run `baton {both}`\n")).expect("written");
    vec![
        ("SESSION", text(&started, "session_id")),
        ("TASK", text(&task, "id")),
        ("MEMORY", text(&memory, "memory_id")),
        ("MAIL", text(&mail, "message_id")),
        ("HANDOFF", handoff),
        ("BATON", text(&wrapped, "baton_id")),
        ("TRANSCRIPT", SESSION.to_owned()),
        ("HIDDEN", HIDDEN.to_owned()),
    ]
}

const SESSION: &str = "33333333-aaaa-4000-8000-00000000abcd";

/// Every command, as it is called here; an id is put where a word in capitals stands.
const CALLS: &[&str] = &[
    "notify send",
    "notify test",
    "init",
    "start",
    "checkpoint --summary HIDDEN",
    "status",
    "audit",
    "log",
    "note HIDDEN",
    "decide HIDDEN --why HIDDEN",
    "resolve",
    "heartbeat",
    "memory add HIDDEN",
    "memory search safe",
    "memory reindex",
    "continue TRANSCRIPT --in codex --print",
    "handoff list",
    "handoff show HANDOFF",
    "handoff show BATON",
    "handoff create --to shop --subject HIDDEN --dry-run",
    "handoff accept HIDDEN",
    "handoff decline HIDDEN",
    "handoff complete HIDDEN",
    "handoff cancel HIDDEN",
    "handoff retry HANDOFF",
    "handoff publish HANDOFF --dry-run",
    "handoff export BATON --dry-run",
    "handoff import HIDDEN",
    "handoff reclaim HIDDEN",
    "handoff from-session SESSION",
    "handoff from-transcript TRANSCRIPT",
    "transcripts list",
    "transcripts doctor",
    "transcripts path TRANSCRIPT",
    "transcripts search safe",
    "transcripts show TRANSCRIPT",
    "import-transcript TRANSCRIPT",
    "task board",
    "task create HIDDEN",
    "task increment HIDDEN",
    "task list",
    "task search safe",
    "task ready",
    "task blocked",
    "task show TASK",
    "task claim TASK",
    "task update TASK --notes HIDDEN",
    "task dep add TASK HIDDEN",
    "task dep remove TASK HIDDEN",
    "task dep tree TASK",
    "task dep cycles",
    "task release TASK --why HIDDEN",
    "task comment TASK HIDDEN",
    "task close TASK --reason HIDDEN",
    "task reopen TASK",
    "task stats",
    "attention",
    "batons",
    "batons show HIDDEN",
    "batons withdraw HIDDEN",
    "sessions",
    "sessions show SESSION",
    "sessions thread SESSION",
    "share SESSION --for 1h",
    "share list",
    "share revoke HIDDEN",
    "transcripts push HIDDEN --dry-run",
    "transcripts pushed",
    "transcripts withdraw HIDDEN",
    "task rename TASK HIDDEN",
    "task delete HIDDEN --reason HIDDEN",
    "bd list",
    "bd show TASK",
    "bd ready",
    "signal send --to Mallory HIDDEN",
    "signal pending --as Mallory",
    "signal ack HIDDEN",
    "signal recall HIDDEN",
    "mail send --to Mallory --subject HIDDEN --body HIDDEN",
    "mail inbox --as Mallory",
    "mail read MAIL --as Mallory",
    "mail ack MAIL --as Mallory",
    "mail thread MAIL --as Mallory",
    "mail search safe --as Mallory",
    "mail schema HIDDEN",
    "lease take HIDDEN",
    "lease list",
    "lease release HIDDEN",
    "key list",
    "key show HIDDEN",
    "key add HIDDEN HIDDEN",
    "key remove HIDDEN",
    "key create",
    "agent register",
    "agent list --all",
    "agent show Mallory",
    "agent roles",
    "route --dry-run",
    "project list",
    "project show",
    "project set --phase HIDDEN",
    "project places",
    "project merge HIDDEN --into HIDDEN --dry-run",
    "project rename HIDDEN --to HIDDEN --dry-run",
    "project split HIDDEN --to HIDDEN --dry-run",
    "project remove HIDDEN --dry-run",
    "project relate HIDDEN",
    "install --dry-run",
    "token list",
    "token create --scope read --name HIDDEN",
    "token revoke HIDDEN",
    "doctor",
    "doctor --report",
    "config show",
    "reassign --to Mallory SESSION",
    "pickup --dry-run",
    "pickup --dry-run --handoff HANDOFF",
    "pickup --handoff HANDOFF --as Third",
    "pickup --as Fourth --force --why HIDDEN",
    "memory withdraw MEMORY",
    "wrap --summary HIDDEN --as Fourth",
    "end",
    "beads driver",
    "beads merge HIDDEN HIDDEN HIDDEN",
    "help HIDDEN",
    "trust --list",
    "trust HIDDEN",
    "untrust HIDDEN",
    "import beads HIDDEN",
    "export beads HIDDEN",
    "log import HIDDEN",
    "store copy HIDDEN HIDDEN",
    "store advance-counters",
    "store take-over",
    "service install --host HIDDEN --dry-run",
    "service status",
    "service uninstall --dry-run",
    "restore HIDDEN",
    "backup HIDDEN",
    "why HIDDEN",
    "log --commit HIDDEN",
    "HIDDEN",
    "status --project HIDDEN",
    "task show HIDDEN",
];

/// Commands that are not called, and why.
const OTHERWISE: &[(&str, &str)] = &[
    ("serve", "it stays; what it says is its log"),
    ("top", "a whole screen: with hostile text in the tests of its state"),
    ("mcp", "it speaks the protocol"),
    ("hook", "it speaks to a tool"),
    ("work", "it stays, and starts agents"),
    ("run", "it becomes another program"),
    ("completions", "a script"),
    ("man", "pages of our own words"),
    ("demo", "a story of its own, of our own words"),
    ("changes show", "with hostile names of files in `worktree_changes`"),
    ("changes apply", "with hostile names of files in `worktree_changes`"),
    ("changes keep", "with hostile names of files in `worktree_changes`"),
    ("changes drop", "names the baton alone"),
    ("changes diff", "a patch: exact in a pipe, through `for_terminal` at a terminal"),
    ("log export", "JSON lines, which are exact"),
    (
        "transcripts readers list",
        "names of programs on the search path, which are letters, digits and hyphens",
    ),
    ("transcripts readers enable", "the same"),
    ("transcripts readers disable", "the same"),
    ("transcripts readers check", "the same; what the program prints is quoted by `visible`"),
    ("redact", "a filter: the text that it is given, without secrets"),
];

#[test]
fn every_command_is_called_with_hostile_text() {
    let stage = Stage::new();
    let lola = stage.terminal("Lola");
    let (mut paths, mut missing) = (vec![String::new()], BTreeSet::new());
    while let Some(path) = paths.pop() {
        let args: Vec<&str> = path.split_whitespace().chain(["--help"]).collect();
        let below = commands(&lola.text(&args));
        let is_leaf = below.is_empty() || path == "bd";
        if is_leaf {
            let begins = |call: &str| call == path || call.starts_with(&format!("{path} "));
            if !CALLS.iter().any(|call| begins(call)) && !OTHERWISE.iter().any(|(name, _)| *name == path) {
                missing.insert(path);
            }
        } else {
            paths.extend(below.into_iter().map(|name| format!("{path} {name}").trim().to_owned()));
        }
    }
    assert!(missing.is_empty(), "call these with hostile text, or say why not: {missing:#?}");
}

#[test]
fn no_command_sends_what_others_wrote_to_the_terminal_as_it_is() {
    let stage = Stage::ready();
    let ids = plant(&stage);
    let lola = stage.terminal("Lola");
    let mut shown = 0;
    for call in CALLS {
        let word = |word: &str| {
            ids.iter().find(|(name, _)| *name == word).map_or_else(|| word.to_owned(), |(_, id)| id.clone())
        };
        let args: Vec<String> = call.split(' ').map(word).collect();
        let answer = lola.run(&args);
        assert!(
            answer.code != 2 || call.starts_with("HIDDEN") || call.starts_with("bd"),
            "{call}: {answer:#?}"
        );
        assert_ne!(answer.code, 6, "{call}: {answer:#?}");
        for output in [&answer.out, &answer.err] {
            let found: Vec<char> = output.chars().filter(|c| is_hostile(*c)).collect();
            assert!(found.is_empty(), "{call}: {found:?} in\n{output}");
            shown += output.matches("safe\\u{202e}").count() + output.matches("first").count();
        }
    }
    assert!(
        shown > 40,
        "hostile text was shown {shown} times only: it has to be looked at where it is shown"
    );
    // JSON for programs is exact.
    let listed = lola.json(&["task", "list", "--all"]);
    assert!(listed.to_string().contains(HIDDEN), "{listed:#}");
}

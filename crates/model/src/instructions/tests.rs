use super::*;

fn word(kind: FindingKind) -> String {
    serde_json::to_value(kind).unwrap().as_str().unwrap().to_owned()
}

fn commands() -> Vec<Command> {
    let command = |name: &str, flags: &[&str], valued: &[&str]| Command {
        name: name.into(),
        flags: ["--json", "--project", "-q", "-v"].iter().chain(flags).map(|&f| f.into()).collect(),
        valued: ["--project"].iter().chain(valued).map(|&f| f.into()).collect(),
    };
    vec![
        command("", &[], &[]),
        command("wrap", &["--summary", "--packet", "--as"], &["--summary", "--packet", "--as"]),
        command("pickup", &["--as", "--force"], &["--as"]),
        command("hd-exec", &["--as", "--force"], &["--as"]),
        command("signal", &[], &[]),
        command("signal send", &["--to", "--as"], &["--to", "--as"]),
        command("signal ack", &["--as"], &["--as"]),
    ]
}

const TOOLS: [&str; 6] =
    ["hd_exec", "session_start", "session_wrap", "signal_send", "audit_report", "task_create"];

fn found(text: &str) -> Vec<String> {
    let commands = commands();
    let known = KnownNames { commands: &commands, tools: &TOOLS };
    let findings = check("CLAUDE.md", text, &known);
    findings.into_iter().map(|f| format!("{} {}: {}", f.line, word(f.kind), f.name)).collect()
}

fn hints(text: &str) -> Vec<String> {
    let commands = commands();
    let known = KnownNames { commands: &commands, tools: &TOOLS };
    check("CLAUDE.md", text, &known).into_iter().map(|f| f.hint).collect()
}

#[test]
fn what_exists_is_not_found() {
    for text in [
        "Use `baton pickup --as Donna`, then `session_wrap`.",
        "```sh\nBATON_IDENTITY=x baton wrap --summary \"no such --flag\" && baton -q signal send --to=Lola \"hi\"\n```",
        "`baton --project p signal ack m1` or `baton signal send|ack`",
        "`baton hd-exec` is `hd_exec`",
        "the baton moves on; a baton wrapped in silk; run baton to hand over",
        "`baton`, `baton --help`, `baton <command>`, `baton …`, `baton [OPTIONS]`",
        "a `baton.db` in `~/.config/baton/config.toml`",
        "`session_id`, `task_runner` and `project_name` are fields",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

#[test]
fn commands_that_are_not_there_are_found_where_they_are_called() {
    for (text, name) in [
        ("call `baton sync` first", "baton sync"),
        ("```\n$ baton sync --all\n```", "baton sync"),
        ("    baton --json sync", "baton sync"),
        ("`cd x && baton sync`", "baton sync"),
        ("`baton signal sent --to x`", "baton signal sent"),
        ("always run baton sync before you stop", "baton sync"),
        ("baton sync --all is what we do", "baton sync"),
        ("`baton pickup|pass`", "baton pass"),
    ] {
        let line = if text.starts_with("```") { 2 } else { 1 };
        assert_eq!(found(text), [format!("{line} unknown_command: {name}")], "{text}");
    }
}

#[test]
fn flags_are_judged_by_their_command() {
    assert_eq!(found("`baton wrap --force`"), ["1 unknown_flag: baton wrap --force"]);
    assert_eq!(found("`baton pickup --force --froce`"), ["1 unknown_flag: baton pickup --froce"]);
    assert_eq!(found("`baton pickup -x3 -vv`"), ["1 unknown_flag: baton pickup -x"]);
    assert_eq!(found("`baton wrap --summary --force`"), [""; 0], "it is the summary");
    assert_eq!(hints("`baton pickup --froce`"), ["did you mean `--force`?"]);
    assert_eq!(hints("`baton picku`"), ["did you mean `baton pickup`?"]);
}

#[test]
fn without_a_list_of_commands_none_is_judged() {
    let known = KnownNames { commands: &[], tools: &TOOLS };
    assert_eq!(check("A", "`baton sync`", &known), []);
}

#[test]
fn tools_that_are_not_there_are_found_with_what_does_it_here() {
    assert_eq!(found("Agent A calls prism_wrap when finishing."), ["1 unknown_tool: prism_wrap"]);
    assert_eq!(
        hints("prism_wrap and prism_start"),
        ["`session_wrap` does that here", "`session_start` does that here"]
    );
    assert_eq!(hints("prism_audit"), ["`audit_report` does that here"]);
    assert_eq!(hints("prism_teleport"), ["nothing here does that: take it out"]);
    assert_eq!(hints("`hd_preview(pid)`"), ["`hd_exec` with `dry_run` does that here"]);
    assert_eq!(found("`mcp__baton__session_begin`"), ["1 unknown_tool: session_begin"]);
    assert_eq!(found("call `session_begin` first"), ["1 unknown_tool: session_begin"]);
    assert_eq!(found("`session_begin(project)`"), ["1 unknown_tool: session_begin"]);
    assert_eq!(hints("call `sesion_start` or `session_strat`"), ["did you mean `session_start`?"]);
    assert_eq!(found("the `session_cache` module"), [""; 0], "nothing says that it is a tool");
}

#[test]
fn marks_are_found_with_their_line() {
    let text = "# Verbs\n\n- `hd_exec` *(PRISM-NYI — SPEC-040)*\n- export (Not yet implemented)\n- NYI: search\n- ANYINT";
    let wanted =
        ["3 not_implemented: PRISM-NYI", "4 not_implemented: not yet implemented", "5 not_implemented: NYI"];
    assert_eq!(found(text), wanted);
    assert_eq!(hints(text)[0], "Baton has `hd_exec`: take the mark away");
}

#[test]
fn a_name_is_told_once_a_line_and_again_on_the_next() {
    assert_eq!(found("prism_wrap, prism_wrap\nprism_wrap").len(), 2);
}

#[test]
fn any_text_is_looked_at_without_a_fault() {
    for text in
        ["", "```", "``` `baton", "`", "baton", "é`baton é`", "\u{0}", "`baton -`", "`baton --`", "`baton |`"]
    {
        assert_eq!(found(text), [""; 0], "{text:?}");
    }
}

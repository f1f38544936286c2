use std::collections::BTreeSet;

use super::*;

fn id(tool: Option<&'static Tool>) -> Option<&'static str> {
    tool.map(|tool| tool.id)
}

#[test]
fn a_name_means_one_agent() {
    let mut names: Vec<&str> =
        ALL.iter().flat_map(|tool| tool.aliases.iter().copied().chain([tool.id])).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    for tool in ALL {
        let plain = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(tool.aliases.iter().chain([&tool.id]).all(plain), "{}", tool.id);
    }
}

#[test]
fn agents_go_by_their_id_and_by_other_names() {
    for (name, expected) in [
        ("claude", "claude"),
        ("Claude-Code", "claude"),
        ("cc", "claude"),
        ("Codex", "codex"),
        ("codex_cli", "codex"),
        ("Gemini CLI", "gemini"),
        ("copilot-cli", "copilot"),
        ("qwen_code", "qwen"),
        ("Kimi-Code", "kimi"),
        ("kimi cli", "kimi_cli"),
        ("openclaw", "pi"),
        ("omp", "pi"),
        ("pi-agent", "pi"),
        ("cursor-agent", "cursor"),
        ("factory", "droid"),
        ("agy", "antigravity"),
        ("grok build", "grok"),
        ("charm-crush", "crush"),
        ("aider chat", "aider"),
    ] {
        assert_eq!(id(by_name(name)), Some(expected), "{name}");
    }
    assert_eq!(id(by_name("nobody")), None);
}

/// One table called Antigravity's program `agy`, another `antigravity`; Cline's was in two of three.
#[test]
fn whoever_calls_an_agent_by_its_title_or_its_program_is_understood() {
    for tool in ALL {
        assert_eq!(id(by_name(tool.title)), Some(tool.id));
        for program in tool.programs {
            let named = by_name(program).map(|named| named.programs);
            assert_eq!(named, Some(tool.programs), "{program}");
        }
    }
}

#[test]
fn every_reader_belongs_to_one_agent_of_the_same_id() {
    let ids: Vec<&str> = readers()
        .map(|(tool, format)| (tool.id, format.id()))
        .map(|(own, of)| {
            assert_eq!(own, of);
            own
        })
        .collect();
    let read: BTreeSet<&str> = baton_transcripts::ALL.iter().map(|format| format.id()).collect();
    assert_eq!((ids.len(), ids.into_iter().collect::<BTreeSet<_>>()), (read.len(), read));
}

#[test]
fn an_agent_that_is_started_is_known_as_a_process() {
    for launcher in launchers() {
        let surface = surface_of_program(launcher.program());
        assert_eq!(surface, Some(launcher.tool.surface), "{}", launcher.tool.id);
        let started = launcher_of_program(launcher.program()).map(|found| found.program());
        assert_eq!(started, Some(launcher.program()), "{}", launcher.tool.id);
    }
    assert_eq!(surface_of_program("agy"), Some("antigravity"));
    assert_eq!(surface_of_program("cline"), Some("cline"));
}

#[test]
fn an_editor_is_no_agent() {
    for installer in installers() {
        for editor in installer.install.editor_programs {
            assert_eq!(surface_of_program(editor), None, "a shell below {editor} is a person's");
        }
    }
}

#[test]
fn an_agent_with_our_server_is_known_when_it_calls() {
    for installer in installers() {
        let tool = installer.tool;
        assert!(!tool.mcp_client_names.is_empty(), "{} calls under no name that is known", tool.id);
        for name in tool.mcp_client_names {
            assert_eq!(surface_of_client(name), Some(tool.surface), "{name}");
        }
    }
}

#[test]
fn clients_are_known_by_the_words_of_their_names() {
    for (client, expected) in [
        ("claude-code", Some("claude_code")),
        ("codex-mcp-client", Some("codex")),
        ("gemini-cli-mcp-client", Some("gemini_cli")),
        ("github-copilot-developer", Some("copilot_cli")),
        ("cursor-vscode", Some("cursor")),
        ("Kilo-Code", Some("kilo_code")),
        ("kilo", Some("kilo")),
        ("Roo Code", Some("roo")),
        ("Q-DEV-CLI", Some("kiro")),
        ("Zed", Some("zed")),
        ("amp-mcp-client", Some("amp")),
        ("antigravity-client", Some("antigravity")),
        ("factory-cli", Some("droid")),
        ("pi-mcp-baton", Some("pi")),
        ("Visual Studio Code", None),
        ("example-client", None),
        ("", None),
    ] {
        assert_eq!(surface_of_client(client), expected, "{client}");
    }
}

#[test]
fn a_session_is_of_the_agent_whose_surface_or_name_it_carries() {
    assert!(has_surface("claude", "claude_code") && has_surface("claude", "claude"));
    assert!(has_surface("kimi_cli", "kimi"), "two agents share the program and so the surface");
    assert!(!has_surface("claude", "codex") && !has_surface("kimi_cli", "kimi_code"));
    for tool in ALL {
        assert!(has_surface(tool.id, tool.surface), "{}", tool.id);
    }
}

#[test]
fn command_lines_have_the_holes_that_they_need() {
    for launcher in launchers() {
        let (id, launch) = (launcher.tool.id, launcher.launch);
        assert!(launch.starts() || !launch.resume.is_empty(), "{id}");
        for words in [launch.start, launch.resume] {
            let flags = words.iter().filter(|word| **word == "{mode}").count();
            assert!(words.is_empty() || launch.modes.is_empty() || flags == 1, "{id}: {words:?}");
        }
        if let Some(headless) = &launch.headless {
            for (words, sessions) in [(headless.words, 0), (headless.resume, 1)] {
                let count = |hole: &str| words.iter().filter(|word| word.starts_with(hole)).count();
                assert_eq!([count("{prompt"), count("{mode}"), count("{more}")], [1; 3], "{id}");
                assert_eq!(count("{id}"), sessions, "{id}");
                assert!(words.last().is_some_and(|word| word.starts_with("{prompt")), "{id}");
            }
        }
        let names_session = launch.resume.iter().any(|word| word.contains("{id}"));
        assert!(launch.resume.is_empty() || names_session, "{id}");
    }
}

#[test]
fn a_run_without_a_user_wants_its_tools_allowed() {
    let missing = |agent: &str, line: &str| {
        let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        launcher(agent).and_then(|one| one.launch.missing_approval(&args))
    };
    for line in ["node /bin/gemini -p do", "gemini --approval-mode auto_edit --prompt do"] {
        assert_eq!(missing("gemini", line), Some("--allowed-tools mcp_baton_*"), "{line}");
    }
    for line in [
        "gemini",
        "gemini -i do",
        "gemini -y -p do",
        "gemini --approval-mode=yolo -p do",
        "gemini --allowed-tools mcp_baton_* -p do",
    ] {
        assert_eq!(missing("gemini", line), None, "{line}");
    }
    assert_eq!(missing("claude", "claude --print do"), Some("--allowedTools mcp__baton"));
    assert_eq!(missing("claude", "claude --permission-mode bypassPermissions -p do"), None);
    assert_eq!(missing("codex", "codex exec do"), None);
}

#[test]
fn an_agent_whose_sessions_are_written_can_take_them_up() {
    for tool in ALL.iter().filter(|tool| tool.native.is_some()) {
        assert!(tool.reader.is_some(), "{}: what is written is read back", tool.id);
        assert!(tool.launch.as_ref().is_some_and(|launch| !launch.resume.is_empty()), "{}", tool.id);
    }
}

#[test]
fn an_agent_is_known_by_its_program() {
    let found = |program| launcher_of_program(program).map(|launcher| launcher.tool.id);
    assert_eq!(found("claude"), Some("claude"));
    assert_eq!(found("/opt/bin/cursor-agent"), Some("cursor"));
    assert_eq!((found("vim"), found("")), (None, None));
}

#[test]
fn every_transcript_belongs_to_an_agent_that_is_started_or_to_an_editor() {
    let without: Vec<&str> = readers().map(|(tool, _)| tool.id).filter(|id| launcher(id).is_none()).collect();
    assert_eq!(
        without,
        ["roo", "kilo_code", "vscode_copilot", "zed", "grok", "atif", "external", "windsurf"]
    );
}

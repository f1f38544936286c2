//! What holds for every format: it is found where its tool puts it, listed by what it says, and told when it is empty.

use std::collections::BTreeMap;
use std::path::Path;

use baton_transcripts::{ALL, Filter, Header, Os, TranscriptEnv, by_id, detect, list};

use super::{packet, sample};

/// A session as it lies in a home directory: format, the sample folder and where it is put, then what a listing must
/// say: id, title, working directory, branch and model.
struct Case {
    format: &'static str,
    put: &'static [(&'static str, &'static str)],
    id: &'static str,
    title: &'static str,
    cwd: Option<&'static str>,
    branch: Option<&'static str>,
    model: Option<&'static str>,
    /// The variable by which the tool is led elsewhere.
    var: Option<&'static str>,
}

const CASES: &[Case] = &[
    Case {
        format: "gemini",
        put: &[("gemini/normal", ".gemini")],
        id: "9e000000-0000-4000-8000-000000000001",
        title: "Fix total()",
        model: Some("gemini-2.5-pro"),
        var: Some("GEMINI_CLI_HOME"),
        ..CASE
    },
    Case {
        format: "copilot",
        put: &[("copilot/normal", ".copilot/session-state")],
        id: "9c000000-0000-4000-8000-000000000001",
        title: "Fix total()",
        branch: Some("main"),
        model: Some("gpt-5.4"),
        var: Some("COPILOT_HOME"),
        ..CASE
    },
    Case {
        format: "qwen",
        put: &[("qwen/normal", ".qwen")],
        id: "9a000000-0000-4000-8000-000000000001",
        branch: Some("main"),
        model: Some("qwen3-coder"),
        var: Some("QWEN_HOME"),
        ..CASE
    },
    Case {
        format: "kimi",
        put: &[("kimi/normal", ".kimi-code")],
        id: "session_95000000-0000-4000-8000-000000000001",
        title: "Fix total()",
        model: Some("kimi-k2"),
        var: Some("KIMI_CODE_HOME"),
        ..CASE
    },
    Case {
        format: "kimi_cli",
        put: &[("kimi_cli/normal", ".kimi")],
        id: "95000000-0000-4000-8000-00000000000c",
        title: "Fix total()",
        var: Some("KIMI_SHARE_DIR"),
        ..CASE
    },
    Case {
        format: "pi",
        put: &[("pi/normal", ".pi/agent")],
        id: "91000000-0000-4000-8000-000000000001",
        title: "Fix total()",
        model: Some("claude-opus-4-5"),
        var: Some("PI_CODING_AGENT_DIR"),
        ..CASE
    },
    Case {
        format: "pi",
        put: &[("pi/openclaw", ".openclaw")],
        id: "91000000-0000-4000-8000-000000000004",
        title: "Fix total()",
        model: Some("claude-opus-4-5"),
        var: Some("OPENCLAW_STATE_DIR"),
        ..CASE
    },
    Case {
        format: "pi",
        put: &[("pi/normal", ".omp/agent")],
        id: "91000000-0000-4000-8000-000000000001",
        title: "Fix total()",
        model: Some("claude-opus-4-5"),
        ..CASE
    },
    Case {
        format: "cursor",
        put: &[("cursor/normal", ".cursor")],
        id: "92000000-0000-4000-8000-000000000001",
        var: Some("CURSOR_CONFIG_DIR"),
        ..CASE
    },
    Case {
        format: "droid",
        put: &[("droid/normal", ".factory")],
        id: "93000000-0000-4000-8000-000000000001",
        title: "Fix total()",
        model: Some("claude-opus-4-5"),
        ..CASE
    },
    Case {
        format: "antigravity",
        put: &[("antigravity/normal", ".gemini/antigravity-cli")],
        id: "94000000-0000-4000-8000-000000000001",
        ..CASE
    },
    Case {
        format: "openhands",
        put: &[("openhands/normal", ".openhands")],
        id: "98000000-0000-4000-8000-000000000001",
        model: Some("anthropic/claude-sonnet-4-5"),
        var: Some("OPENHANDS_PERSISTENCE_DIR"),
        ..CASE
    },
    Case {
        format: "continue",
        put: &[("continue/normal", ".continue")],
        id: "99000000-0000-4000-8000-000000000001",
        title: "Fix total()",
        model: Some("gpt-5.2"),
        var: Some("CONTINUE_GLOBAL_DIR"),
        ..CASE
    },
    Case {
        format: "qoder",
        put: &[("qoder/normal/.qoder", ".qoder")],
        id: "9b000000-0000-4000-8000-000000000001",
        title: "Fix total()",
        model: Some("qoder-auto"),
        var: Some("QODER_CONFIG_DIR"),
        ..CASE
    },
    Case {
        format: "auggie",
        put: &[("auggie/normal", ".augment")],
        id: "9c100000-0000-4000-8000-000000000001",
        title: "Fix total()",
        model: Some("claude-sonnet-4-5"),
        ..CASE
    },
    Case {
        format: "codebuff",
        put: &[("codebuff/normal", ".config/manicode")],
        id: "2026-11-20T10-00-00.000Z",
        ..CASE
    },
    Case {
        format: "windsurf",
        put: &[("windsurf/normal", ".windsurf")],
        id: "9e100000-0000-4000-8000-000000000001",
        ..CASE
    },
    Case {
        format: "vscode_copilot",
        put: &[("vscode_copilot/normal", ".vscode-server/data/User")],
        id: "97000000-0000-4000-8000-000000000001",
        title: "Fix total()",
        branch: Some("main"),
        model: Some("claude-sonnet-4-5"),
        ..CASE
    },
    Case {
        format: "grok",
        put: &[("grok/normal", ".grok")],
        id: "96000000-0000-4000-8000-000000000001",
        title: "Fix total()",
        model: Some("grok-code"),
        var: Some("GROK_HOME"),
        ..CASE
    },
    Case {
        format: "grok",
        put: &[("grok/history", ".grok")],
        id: "96000000-0000-4000-8000-000000000002",
        title: "Fix total()",
        branch: Some("main"),
        model: Some("grok-code"),
        var: Some("GROK_HOME"),
        ..CASE
    },
    Case {
        format: "vibe",
        put: &[("vibe/normal", ".vibe")],
        id: "9d000000-0000-4000-8000-000000000001",
        title: "Fix total()",
        branch: Some("main"),
        model: Some("devstral-2"),
        var: Some("VIBE_HOME"),
        ..CASE
    },
    Case {
        format: "devin",
        put: &[("devin/normal", ".local/share")],
        id: "brave-otter",
        branch: Some("main"),
        model: Some("swe-2"),
        ..CASE
    },
    Case {
        format: "external",
        put: &[("external/normal", ".cache")],
        id: "9f000000-0000-4000-8000-000000000001",
        title: "Fix total()",
        branch: Some("main"),
        model: Some("own-1"),
        var: Some("XDG_CACHE_HOME"),
        ..CASE
    },
    // more cases
];

/// What most samples have in common.
const CASE: Case = Case {
    format: "",
    put: &[],
    id: "",
    title: "Fix total() in cart.py. Never touch the migrations.",
    cwd: Some("/home/you/shop"),
    branch: None,
    model: None,
    var: None,
};

/// A sample that holds no conversation, of every format.
const EMPTY: &[(&str, &str)] = &[
    ("gemini", "gemini/empty.jsonl"),
    ("copilot", "copilot/empty.jsonl"),
    ("qwen", "qwen/empty.jsonl"),
    ("kimi", "kimi/empty.jsonl"),
    ("kimi_cli", "kimi_cli/empty.jsonl"),
    ("pi", "pi/empty.jsonl"),
    ("cursor", "cursor/empty.jsonl"),
    ("droid", "droid/empty.jsonl"),
    ("antigravity", "antigravity/empty.jsonl"),
    ("grok", "grok/empty.jsonl"),
    ("grok", "grok/history-empty.jsonl"),
    ("vscode_copilot", "vscode_copilot/empty.jsonl"),
    ("openhands", "openhands/empty/base_state.json"),
    ("continue", "continue/empty.json"),
    ("auggie", "auggie/empty.json"),
    ("codebuff", "codebuff/empty/chat-messages.json"),
    ("windsurf", "windsurf/empty.jsonl"),
    ("qoder", "qoder/empty/.qoder/projects/x/9b000000-0000-4000-8000-000000000004.jsonl"),
    ("vibe", "vibe/empty.jsonl"),
    ("atif", "atif/empty.json"),
    ("devin", "devin/empty/devin/cli/transcripts/calm-heron.json"),
    ("external", "external/empty.jsonl"),
    // more that are empty
];

/// Formats that keep several sessions in one file, or one in several: what holds for them is tested file by file.
const ELSEWHERE: &[&str] = &[
    "opencode",
    "kilo",
    "hermes",
    "cline",
    "roo",
    "kilo_code",
    "crush",
    "goose",
    "zed",
    "amp",
    "aider",
    "kiro",
    "atif",
];

pub(crate) fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        std::fs::create_dir_all(to).expect("dir");
        for entry in std::fs::read_dir(from).expect("readable").flatten() {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        std::fs::create_dir_all(to.parent().expect("parent")).expect("dir");
        std::fs::copy(from, to).expect("copy");
    }
}

fn listed(case: &Case, change: impl FnOnce(&mut TranscriptEnv)) -> Vec<Header> {
    let home = tempfile::tempdir().expect("dir");
    case.put.iter().for_each(|(from, to)| copy(&sample(from), &home.path().join(to)));
    let mut env = TranscriptEnv {
        home: home.path().to_owned(),
        vars: BTreeMap::new(),
        os: Os::Linux,
        ..TranscriptEnv::default()
    };
    change(&mut env);
    list(&env, &Filter { agents: vec![case.format.to_owned()], ..Filter::default() }, &(), 1)
}

#[test]
fn every_session_is_found_in_a_home_and_listed_by_what_it_says() {
    for case in CASES {
        let headers = listed(case, |_| {});
        assert_eq!(headers.len(), 1, "{}: {headers:#?}", case.format);
        let header = &headers[0];
        assert_eq!(header.id, case.id, "{}", case.format);
        assert_eq!(header.title.as_deref(), Some(case.title), "{}", case.format);
        assert_eq!(header.cwd.as_deref(), case.cwd, "{}", case.format);
        assert_eq!(header.branch.as_deref(), case.branch, "{}", case.format);
        assert_eq!(header.model.as_deref(), case.model, "{}", case.format);
        assert!(header.first_prompt.is_some() && header.complaints.is_empty(), "{header:#?}");
        assert!(header.created_at_ms <= header.updated_at_ms, "{header:#?}");
    }
}

#[test]
fn header_and_packet_name_the_same_session_and_directory() {
    for case in CASES {
        let home = tempfile::tempdir().expect("dir");
        case.put.iter().for_each(|(from, to)| copy(&sample(from), &home.path().join(to)));
        let env = TranscriptEnv {
            home: home.path().to_owned(),
            vars: BTreeMap::new(),
            os: Os::MacOs,
            ..TranscriptEnv::default()
        };
        let filter = Filter { agents: vec![case.format.to_owned()], ..Filter::default() };
        let headers = list(&env, &filter, &(), 1);
        let packet = packet(&headers[0].path);
        assert_eq!(packet["source"]["agent"].as_str(), by_id(case.format).map(|format| format.id()));
        assert_eq!(packet["session_id"], case.id, "{}", case.format);
        let cwd = case.cwd.map(|cwd| cwd.replace("/home/you", "~"));
        assert_eq!(packet["environment"]["cwd"].as_str(), cwd.as_deref(), "{}", case.format);
        assert_eq!(packet["metadata"]["model"].as_str(), case.model, "{}", case.format);
    }
}

#[test]
fn the_variable_of_a_tool_leads_elsewhere() {
    for case in CASES {
        let Some(var) = case.var else { continue };
        let headers = listed(case, |env| drop(env.vars.insert(var.to_owned(), "/nowhere".to_owned())));
        assert!(headers.is_empty(), "{}: {headers:#?}", case.format);
    }
}

#[test]
fn every_format_without_tests_of_its_own_stands_in_these_tables() {
    let others = |id| !matches!(id, "claude" | "codex") && !ELSEWHERE.contains(&id);
    for format in ALL.iter().filter(|format| others(format.id())) {
        assert!(CASES.iter().any(|case| case.format == format.id()), "{}", format.id());
        assert!(EMPTY.iter().any(|(id, _)| *id == format.id()), "{}", format.id());
    }
}

#[test]
fn a_session_without_a_conversation_says_so() {
    for (id, name) in EMPTY {
        let format = by_id(id).expect("known");
        let report = format.read(&sample(name), &mut |_| {});
        assert!(report.is_empty(), "{name}: {report:?}");
        assert!(report.complaints.iter().any(|one| one.kind == "no_conversation"), "{name}: {report:?}");
        let found = baton_transcripts::TranscriptFile::from_path(format.id(), &sample(name)).expect("found");
        let header = format.header(&found);
        assert!(header.empty && header.complaints[0].kind == "no_conversation", "{name}: {header:#?}");
    }
}

/// Every file among the samples that is a transcript is told to be of the format whose folder it lies in.
#[test]
fn every_sample_is_taken_for_what_it_is() {
    fn walk(dir: &Path, all: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(dir).expect("readable").flatten() {
            if entry.path().is_dir() { walk(&entry.path(), all) } else { all.push(entry.path()) }
        }
    }
    // Tools that write the same are told apart by where their files are.
    let by_place = |id: &str| matches!(id, "cline" | "roo" | "kilo_code");
    for format in ALL.iter().filter(|format| !ELSEWHERE.contains(&format.id()) || by_place(format.id())) {
        let mut all = Vec::new();
        walk(&sample(format.id()), &mut all);
        let ids: Vec<_> = all.iter().filter_map(|path| detect(path)).map(|found| found.id()).collect();
        assert!(!ids.is_empty() && ids.iter().all(|id| *id == format.id()), "{}: {ids:?}", format.id());
    }
}

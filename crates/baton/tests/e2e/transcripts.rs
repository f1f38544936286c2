//! Sessions of other tools: listed, shown, turned into documents and batons.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::stage::{Stage, Terminal, assert_fields, env, items, skipped, text};

/// The samples that are part of the repository.
fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcripts/samples").join(name)
}

/// A sample with secrets planted in it. They are put together here, so that none stands in the repository.
fn secrets() -> (String, Vec<String>) {
    let alphabet = "Zx9Kq2Lm8Rt4Vw7Yb3Nc6Pd1Fg5Hj0As";
    let planted = [
        ("@GITHUB@", format!("ghp_{}{}", alphabet, "Qw3E")),
        ("@PASS@", "hunter2SuperLong9".to_owned()),
        ("@BEARER@", format!("sk-ant-api03-{alphabet}{alphabet}{alphabet}")),
    ];
    let mut content = fs::read_to_string(sample("claude/secrets.jsonl")).expect("sample");
    for (name, secret) in &planted {
        content = content.replace(name, secret);
    }
    let used =
        planted.into_iter().map(|(_, secret)| secret).filter(|secret| content.contains(secret)).collect();
    (content, used)
}

const NORMAL: &str = "11111111-aaaa-4000-8000-00000000abcd";

/// A registered project in which Claude Code and Codex have worked, and Lola's terminal.
fn worked() -> Stage {
    let stage = Stage::ready();
    let shop = stage.shop().display().to_string();
    let claude = fs::read_to_string(sample("claude/normal.jsonl")).expect("sample");
    stage.file(&format!("home/.claude/projects/-shop/{NORMAL}.jsonl"), relocate(&claude, &shop));
    let codex = fs::read_to_string(sample("codex/paginated.jsonl")).expect("sample");
    let name = "home/.codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-0199aaaa-0000-7000-8000-000000000001.jsonl";
    stage.file(name, codex);
    stage
}

/// The same session in another folder and under the id of its file.
fn relocate(content: &str, folder: &str) -> String {
    let mut lines = String::new();
    for line in content.lines() {
        let mut event: Value = serde_json::from_str(line).expect("a line of the sample");
        for (key, value) in [("cwd", folder), ("sessionId", NORMAL)] {
            if event.get(key).is_some() {
                event[key] = value.into();
            }
        }
        lines.push_str(&format!("{event}\n"));
    }
    lines
}

fn document(terminal: &Terminal<'_>, args: &[&str]) -> Value {
    let answer = terminal.json(&[&["handoff", "from-transcript"], args].concat());
    assert_fields(&answer, "id agent document tokens packet");
    answer
}

#[test]
fn sessions_are_listed_newest_first_and_this_projects_before() {
    let stage = worked();
    let lola = stage.terminal("Lola");
    let listed = lola.json(&["transcripts", "list"]);
    assert_fields(&listed, "project_id items next");
    let found = items(&listed);
    assert_eq!((found.len(), &listed["project_id"]), (2, &"shop".into()));
    for header in &found {
        assert_fields(header, "id agent path cwd branch model title created_at updated_at bytes");
    }
    assert_eq!(found[0]["agent"], "claude", "this project's first");
    assert_eq!(items(&lola.json(&["transcripts"])), found, "the verb may be left out");
    assert_eq!(lola.run(&["transcripts", "list", "--jsonl"]).done().lines(), found);
    let codex = items(&lola.json(&["transcripts", "list", "--agent", "codex"]));
    assert_eq!((codex.len(), &codex[0]["agent"]), (1, &"codex".into()));
    assert_eq!(items(&lola.json(&["transcripts", "list", "-n", "1"])).len(), 1);
    lola.refused(1, "agent_unknown", &["transcripts", "list", "--agent", "clippy"]);
    lola.refused(1, "span_invalid", &["transcripts", "list", "--since", "then"]);
    // Outside any project it works all the same, and an empty machine is no error.
    assert_eq!(items(&lola.within(stage.root()).json(&["transcripts", "list"])).len(), 2);
    let empty = Stage::new();
    assert_eq!(items(&empty.terminal("Lola").json(&["transcripts", "list"])).len(), 0);
}

#[test]
fn what_was_said_in_any_session_is_found_and_leads_to_it() {
    let stage = worked();
    let lola = stage.terminal("Lola");
    // A session that lies in a project's folder is found from anywhere.
    let aider =
        "# aider chat started at 2026-11-20 10:00:00\n\n#### please polish the chrome bumper\n\nDone.\n";
    stage.file(&format!("{}/.aider.chat.history.md", stage.shop().display()), aider);
    let elsewhere = lola.within(stage.root());
    let found = elsewhere.json(&["transcripts", "search", "chrome", "bump*"]);
    assert_fields(&found, "project_id items total partial index");
    assert_eq!((items(&found).len(), &items(&found)[0]["agent"]), (1, &"aider".into()), "{found:#}");
    assert_eq!(found["index"]["refreshed"]["read"], 3, "{found:#}");
    for item in items(&found) {
        assert_fields(&item, "id agent path cwd title place line role snippet score passages");
    }
    let shown = lola.text(&["transcripts", "search", "\"polish the chrome\""]);
    assert!(shown.contains("aider:") && shown.contains("please polish the chrome bumper"), "{shown}");
    assert_eq!(
        lola.run(&["transcripts", "search", "chrome", "bump*", "--jsonl"]).done().lines(),
        items(&found).to_vec()
    );
    let hits = lola.json(&["transcripts", "search", "chrome", "--no-refresh", "--agent", "aider"]);
    assert_eq!((items(&hits).len(), &hits["index"]["refreshed"]), (1, &Value::Null));
    assert!(lola.text(&["transcripts", "search", "zzzzunheard"]).contains("nothing was found in 3 sessions"));
    lola.refused(1, "query_empty", &["transcripts", "search", "\"\"", "*"]);
    lola.refused(2, "usage", &["transcripts", "search"]);
    // The index may go: it is made again.
    for entry in fs::read_dir(stage.home().join("data/baton")).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("transcript-search") {
            fs::remove_file(entry.path()).expect("removed");
        }
    }
    assert_eq!(items(&lola.json(&["transcripts", "search", "chrome"])).len(), 1);
}

#[test]
fn a_session_is_found_by_latest_prefix_id_and_path() {
    let stage = worked();
    let lola = stage.terminal("Lola");
    let path = text(&items(&lola.json(&["transcripts", "list"]))[0], "path");
    for name in ["latest", NORMAL, &NORMAL[..9], &path] {
        assert_eq!(document(&lola, &[name])["id"], NORMAL, "{name}");
        let shown = lola.json(&["transcripts", "show", name]);
        assert_eq!(shown["id"], NORMAL, "{name}");
        assert_fields(&shown["messages"][0], "role text");
    }
    lola.refused(3, "transcript_unknown", &["handoff", "from-transcript", "ffffffff"]);
    lola.refused(3, "transcript_unknown", &["handoff", "from-transcript", "/nowhere/at/all.jsonl"]);
    Stage::ready().terminal("Lola").refused(
        3,
        "transcript_unknown",
        &["handoff", "from-transcript", "latest"],
    );
}

#[test]
fn a_document_comes_in_every_form_and_size() {
    let stage = worked();
    let lola = stage.terminal("Lola");
    let from = |args: &[&str]| lola.text(&[&["handoff", "from-transcript", NORMAL], args].concat());
    let markdown = from(&["--to", "codex"]);
    assert!(
        markdown.starts_with("# ") && markdown.contains("codex") | markdown.contains("Codex"),
        "{markdown}"
    );
    assert_eq!(from(&["--to", "codex"]), markdown, "the same transcript gives the same document");
    let packet: Value = serde_json::from_str(&from(&["--format", "json"])).expect("the packet");
    assert!(!text(&packet, "summary").is_empty());
    let events = lola.run(&["handoff", "from-transcript", NORMAL, "--format", "jsonl"]).done().lines();
    assert_eq!(events[0]["event"], "session");
    for event in &events[1..] {
        assert_fields(event, "event place line offset at");
        assert!(text(event, "place").starts_with("claude:11111111"), "{event}");
    }
    let of = |kind: &str| events.iter().filter(|e| e["event"] == kind).cloned().collect::<Vec<Value>>();
    let failed =
        of("tool_call").into_iter().find(|call| call["exit_code"] == 2).expect("the failing command");
    assert_eq!((&failed["target"], &failed["ok"]), (&"make test".into(), &false.into()));
    assert!(text(&failed, "result").contains("expected 1.10 got 1.1"), "{failed}");
    let edited: Vec<String> = of("edit").iter().map(|edit| text(edit, "path")).collect();
    assert!(
        edited.iter().any(|path| path.ends_with("cart.py"))
            && !edited.iter().any(|path| path.ends_with("lost.py")),
        "a failed edit is none: {edited:?}"
    );
    assert!(!of("message").is_empty() && !of("todo").is_empty(), "{events:#?}");
    let lines: Vec<u64> = of("message").iter().filter_map(|e| e["line"].as_u64()).collect();
    assert!(lines.is_sorted(), "{lines:?}");

    let file = stage.root().join("handoff.md");
    assert_eq!(from(&["--to", "codex", "-o", file.to_str().expect("text")]), "", "the file has it");
    assert_eq!(fs::read_to_string(&file).expect("written"), markdown);
    lola.refused(1, "output_unwritable", &["handoff", "from-transcript", NORMAL, "-o", "/nowhere/x.md"]);

    let sizes: Vec<usize> = ["minimal", "standard", "verbose", "full"]
        .iter()
        .map(|preset| from(&["--preset", preset]).len())
        .collect();
    assert!(sizes.windows(2).all(|pair| pair[0] <= pair[1]) && sizes[0] < sizes[3], "{sizes:?}");
    let small = document(&lola, &[NORMAL, "--budget", "400"]);
    assert!(small["tokens"].as_u64().is_some_and(|tokens| tokens <= 400), "{}", small["tokens"]);
    assert!(from(&["--budget", "2KiB"]).len() <= 2_048 + 1);
    lola.refused(1, "budget_malformed", &["handoff", "from-transcript", NORMAL, "--budget", "plenty"]);
    lola.refused(1, "preset_unknown", &["handoff", "from-transcript", NORMAL, "--preset", "huge"]);
    lola.refused(2, "usage", &["handoff", "from-transcript", NORMAL, "--format", "pdf"]);
}

#[test]
fn the_path_of_a_session_is_printed() {
    let stage = worked();
    let lola = stage.terminal("Lola");
    let path = stage.home().join(format!(".claude/projects/-shop/{NORMAL}.jsonl")).display().to_string();
    for name in ["latest", NORMAL, &NORMAL[..9]] {
        assert_eq!(lola.text(&["transcripts", "path", name]), format!("{path}\n"));
    }
    let found = lola.json(&["transcripts", "path", NORMAL]);
    assert_fields(&found, "id agent path cwd branch model title created_at updated_at bytes mode");
    lola.refused(3, "transcript_unknown", &["transcripts", "path", "ffffffff"]);
}

#[test]
fn another_program_writes_the_summary_and_no_fact_changes() {
    let stage = worked();
    let lola = stage.terminal("Lola");
    let packet = |args: &[&str]| {
        let answer =
            lola.run(&[&["handoff", "from-transcript", NORMAL, "--format", "json"], args].concat()).done();
        (serde_json::from_str::<Value>(&answer.out).expect("a packet"), answer.err)
    };
    let (mut plain, _) = packet(&[]);
    let (mut written, err) = packet(&["--summarize", "grep -c files_modified; echo 'The cart rounds.'"]);
    assert_eq!((&written["summary"], err.as_str()), (&"1\nThe cart rounds.".into(), ""));
    assert_eq!(written["metadata"]["summary_by"].take(), "command");
    for one in [&mut plain, &mut written] {
        one["metadata"].as_object_mut().expect("an object").remove("summary_by");
    }
    (plain["summary"], written["summary"]) = (Value::Null, Value::Null);
    assert_eq!(plain, written, "the facts stay");
    for broken in ["exit 4", "true", "no-such-program-at-all"] {
        let (mut packet_json, err) = packet(&["--summarize", broken]);
        assert!(err.contains("warning: --summarize"), "{broken}: {err}");
        packet_json["summary"] = Value::Null;
        packet_json["metadata"].as_object_mut().expect("an object").remove("summary_by");
        assert_eq!(packet_json, plain, "{broken}");
    }
    let imported = lola.json(&["import-transcript", NORMAL, "--summarize", "echo by hand"]);
    assert_eq!(imported["summary"], "by hand");
    let shown = lola.json(&["continue", NORMAL, "--in", "codex", "--print", "--summarize", "echo told anew"]);
    assert!(text(&shown, "command").contains("told anew"), "{shown:#}");
}

#[test]
fn an_imported_session_is_picked_up_and_imported_once() {
    let stage = worked();
    let lola = stage.terminal("Lola");
    let imported = lola.json(&["import-transcript", NORMAL, "--as", "Claude"]);
    assert_fields(&imported, "session_id delta_id project_id identity");
    let before = stage.deltas();
    let again = lola.json(&["import-transcript", "latest", "--as", "Claude"]);
    assert_eq!((&again["delta_id"], &again["session_id"]), (&imported["delta_id"], &imported["session_id"]));
    assert_eq!(stage.deltas(), before, "nothing is written twice");
    let picked = stage.terminal("Donna").json(&["pickup"]);
    assert_eq!(picked["baton"]["delta_id"], imported["delta_id"]);
    assert_eq!(picked["baton"]["agent_identity"], "Claude");
    let packet: Value = serde_json::from_str(&text(&picked["baton"], "body")).expect("a packet");
    assert_eq!(packet["source"]["id"], NORMAL);
    stage.terminal("Late").refused(4, "baton_claimed", &["pickup"]);
    stage.assert_sound();
}

#[test]
fn planted_secrets_leave_no_command() {
    let stage = Stage::ready();
    let (content, planted) = secrets();
    assert_eq!(planted.len(), 3, "all are in the sample");
    let path = stage.file("home/.claude/projects/-shop/eeeeeeee-0000-4000-8000-000000000005.jsonl", content);
    let lola = stage.terminal("Lola");
    lola.json(&["import-transcript", &path]);
    let outputs = [
        lola.text(&["transcripts", "show", &path]),
        lola.text(&["transcripts", "list", "--json"]),
        lola.text(&["transcripts", "show", &path, "--json"]),
        lola.text(&["handoff", "from-transcript", &path, "--preset", "full"]),
        lola.text(&["handoff", "from-transcript", &path, "--format", "json"]),
        lola.text(&["handoff", "from-transcript", &path, "--format", "jsonl"]),
        lola.text(&["log", "--json"]),
        stage.terminal("Donna").text(&["pickup", "--json"]),
    ];
    for (n, answer) in outputs.iter().enumerate() {
        for secret in &planted {
            assert!(!answer.contains(secret.as_str()), "answer {n} tells {secret}: {answer}");
        }
    }
    assert!(outputs[3].contains("[redacted:"), "{}", outputs[3]);
}

#[test]
fn damaged_transcripts_are_used_as_far_as_they_go() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    let whole = fs::read(sample("claude/normal.jsonl")).expect("sample");
    // Cut in the middle of a line.
    let cut = stage.file("cut.jsonl", &whole[..whole.len() * 2 / 3]);
    assert!(!text(&document(&lola, &[&cut])["packet"], "summary").is_empty());
    let damaged = sample("claude/damaged.jsonl");
    let shown = lola.json(&["transcripts", "show", damaged.to_str().expect("text")]);
    assert!(
        shown["skipped"].as_array().is_some_and(|skipped| !skipped.is_empty()),
        "what was skipped is told: {shown:#}"
    );
    document(&lola, &[sample("codex/damaged.jsonl").to_str().expect("text")]);
}

#[test]
fn what_is_no_transcript_is_refused_and_writes_nothing() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    let before = stage.deltas();
    let mut noise: Vec<u8> = (0_u32..40_000).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    noise[100] = 0;
    let unknown = stage.file("other.jsonl", "{\"kind\":\"something\",\"v\":99}\n{\"kind\":\"else\"}\n");
    let files = [
        stage.file("nothing.jsonl", ""),
        stage.file("blank.jsonl", "\n\n\n"),
        stage.file("noise.jsonl", noise),
        stage.file("prose.txt", "Dear diary,\n"),
        stage.file("open.jsonl", "{\"type\":\"user\",\"message\":"),
        sample("claude/empty.jsonl").display().to_string(),
        unknown,
    ];
    for file in &files {
        for call in [&["handoff", "from-transcript"][..], &["import-transcript"], &["transcripts", "show"]] {
            let answer = lola.run(&[call, &[file.as_str(), "--json"]].concat());
            let error = answer.json()["error"].take();
            let code = error["code"].as_str().unwrap_or_default().to_owned();
            assert!(
                code.starts_with("transcript_") && answer.code == 1,
                "never an empty success: {answer:#?}"
            );
            answer.refused(1, &code);
        }
    }
    assert_eq!(stage.deltas(), before);
}

/// The first file below a folder whose path contains `part`.
fn find(folder: &Path, part: &str) -> Option<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).ok()?.filter_map(|e| Some(e.ok()?.path())).collect();
    entries.sort();
    entries.into_iter().find_map(|path| {
        if path.is_dir() {
            find(&path, part)
        } else {
            Some(path).filter(|p| p.to_string_lossy().contains(part))
        }
    })
}

#[test]
fn real_sessions_give_documents_that_one_can_work_from() {
    let Some(samples) = env("BATON_SAMPLES") else {
        return skipped("no real transcripts: set BATON_SAMPLES");
    };
    let real = Path::new(&samples).join("real");
    for (tool, part, open) in [
        ("claude-code-2.1.329", ".jsonl", &[][..]),
        ("codex-0.118.0", "rollout", &["Fix add()", "Run the tests"]),
        ("codex-0.169.0", "rollout", &[]),
    ] {
        let folder = real.join(tool);
        let sessions = ["projects", "sessions"].map(|name| folder.join(name));
        let file =
            sessions.iter().find_map(|f| find(f, part)).unwrap_or_else(|| panic!("no session of {tool}"));
        let stage = Stage::ready();
        let lola = stage.terminal("Lola");
        let answer = document(&lola, &[file.to_str().expect("text")]);
        let document = text(&answer, "document");
        let failed = answer["packet"]["last_failure"]["exit_code"].as_i64();
        assert!(
            matches!(failed, Some(1 | 3)),
            "{tool}: the last failing command: {}",
            answer["packet"]["last_failure"]
        );
        let exit = format!("exit {}", failed.unwrap_or_default());
        for fact in ["app.py", "Fix the add() bug in app.py and run the tests", &exit].iter().chain(open) {
            assert!(document.contains(fact), "{tool}: no `{fact}` in\n{document}");
        }
        assert!(
            answer["tokens"].as_u64().is_some_and(|tokens| tokens < 2_000),
            "{tool}: {}",
            answer["tokens"]
        );
        let imported = lola.json(&["import-transcript", file.to_str().expect("text")]);
        let picked = stage.terminal("Donna").json(&["pickup"]);
        assert_eq!(picked["baton"]["delta_id"], imported["delta_id"], "{tool}");
        let again = lola.json(&["import-transcript", file.to_str().expect("text")]);
        assert_eq!(again["delta_id"], imported["delta_id"], "{tool}: imported once");
        secrets_in_a_real_session(&stage, &file, tool);
    }
}

/// Plants a secret in a copy of a real session: in the user's words, which every document carries.
fn secrets_in_a_real_session(stage: &Stage, file: &Path, tool: &str) {
    let secret = format!("ghp_{}", "Zx9Kq2Lm8Rt4Vw7Yb3Nc6Pd1Fg5Hj0AsQw3E");
    let content = fs::read_to_string(file).expect("session");
    let planted = content.replace("Fix the add() bug", &format!("With {secret} fix the add() bug"));
    assert_ne!(planted, content, "{tool}");
    let copy = stage.file("planted.jsonl", planted);
    let lola = stage.terminal("Lola");
    for args in [&["--preset", "full"][..], &["--format", "json"], &["--format", "jsonl"]] {
        let output = lola.text(&[&["handoff", "from-transcript", &copy], args].concat());
        assert!(!output.contains(&secret) && output.contains("[redacted:"), "{tool}: {output}");
    }
}

#[test]
fn an_import_names_what_it_could_not_read() {
    let stage = Stage::ready();
    let shop = stage.shop().display().to_string();
    let claude = fs::read_to_string(sample("claude/normal.jsonl")).expect("sample");
    let whole = relocate(&claude, &shop);
    let (first, rest) = whole.split_once('\n').expect("lines");
    let damaged = format!("{first}\n{{\"type\":\"user\",\"mess\n{rest}");
    stage.file(&format!("home/.claude/projects/-shop/{NORMAL}.jsonl"), damaged);
    let lola = stage.terminal("Lola");
    let shown = lola.text(&["import-transcript", NORMAL]);
    assert!(shown.contains("not read: 1 × a line is not JSON, first in line 2"), "{shown}");
    let again = lola.json(&["import-transcript", NORMAL]);
    assert_eq!(
        (&again["imported_before"], &again["skipped"][0]["first_line"]),
        (&true.into(), &2.into()),
        "{again:#}"
    );
}

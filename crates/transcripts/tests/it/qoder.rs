use baton_transcripts::TranscriptEnv;
use serde_json::json;

use super::databases::listed;
use super::stories::{PLAN, tells_the_story};
use super::{check, column, packet, sample};

const NORMAL: &str = "qoder/normal/.qoder/projects/-home-you-shop/9b000000-0000-4000-8000-000000000001.jsonl";
const COMPACTED: &str =
    "qoder/compacted/SharedClientCache/cli/projects/9b000000-0000-4000-8000-000000000002.jsonl";

#[test]
fn qoder_tells_the_story_in_the_lines_of_claude() {
    let packet = tells_the_story(NORMAL);
    assert_eq!(
        column(&packet, "pending_tasks", "title"),
        PLAN.iter().map(|(title, _)| *title).collect::<Vec<_>>()
    );
    check(
        &packet,
        &[
            ("/source/agent", json!("qoder")),
            ("/environment/cwd", json!("~/shop")),
            ("/files_modified/1/change", json!("created")),
            ("/files_modified/2/change", json!("created (by sub-agent a1)")),
            ("/metadata/tokens/output", json!(100)),
        ],
    );
}

#[test]
fn what_qoder_compacted_in_the_cache_of_the_editor_is_a_summary() {
    check(
        &packet(&sample(COMPACTED)),
        &[
            ("/source/agent", json!("qoder")),
            ("/metadata/compaction/count", json!(1)),
            ("/requests/first/text", json!("Port the parser")),
            ("/requests/last/text", json!("Now the lexer")),
        ],
    );
}

#[test]
fn sessions_of_the_command_line_and_of_the_editor_are_listed() {
    let home = tempfile::tempdir().expect("dir");
    let put = |name: &str, at: &str| {
        let target = home.path().join(at);
        std::fs::create_dir_all(target.parent().expect("parent")).expect("dir");
        std::fs::copy(sample(name), target).expect("copy");
    };
    put(NORMAL, ".qoder/projects/-home-you-shop/a.jsonl");
    put(COMPACTED, ".config/Qoder/SharedClientCache/cli/projects/b.jsonl");
    put(COMPACTED, ".config/Qoder/SharedClientCache/cli/projects/-x/c.jsonl");
    let mut env = TranscriptEnv { home: home.path().to_owned(), ..TranscriptEnv::default() };
    assert_eq!(listed(&env, "qoder").len(), 3);
    assert!(listed(&env, "claude").is_empty(), "no other tool takes them for its own");
    env.vars.insert("QODER_CONFIG_DIR".into(), "/nowhere".into());
    assert_eq!(listed(&env, "qoder").len(), 2);
}

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use baton_transcripts::{Filter, Header, HeaderCache, Os, Stamp, TranscriptEnv, TranscriptFile, list};

use super::sample;

/// A home directory with a few sessions of both tools.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().expect("dir"));
        let project = ".claude/projects/-home-ann-shop";
        home.put("claude/normal.jsonl", &format!("{project}/aaaaaaaa-0000-4000-8000-000000000001.jsonl"));
        home.put("claude/empty.jsonl", &format!("{project}/99999999-0000-4000-8000-000000000009.jsonl"));
        let tasks = "ffffffff-0000-4000-8000-000000000006";
        home.put(&format!("claude/tasks/{tasks}.jsonl"), &format!("{project}/{tasks}.jsonl"));
        let agent = format!("{tasks}/subagents/agent-a1b2.jsonl");
        home.put(&format!("claude/tasks/{agent}"), &format!("{project}/{agent}"));
        home.put("codex/shell-era.jsonl", ".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-01a1aaaa-0000-7000-8000-000000000001.jsonl");
        home.put(
            "codex/paginated.jsonl",
            ".codex/archived_sessions/rollout-2026-11-20T10-00-00-01a1cccc-0000-7000-8000-000000000003.jsonl",
        );
        home
    }

    fn put(&self, name: &str, at: &str) {
        let target = self.path(at);
        std::fs::create_dir_all(target.parent().expect("parent")).expect("dir");
        std::fs::copy(sample(name), target).expect("copy");
    }

    fn path(&self, at: &str) -> PathBuf {
        self.0.path().join(at)
    }

    fn env(&self) -> TranscriptEnv {
        TranscriptEnv {
            home: self.0.path().to_owned(),
            vars: BTreeMap::new(),
            os: Os::Linux,
            ..TranscriptEnv::default()
        }
    }
}

/// Keeps headers as the JSON that a store would keep.
#[derive(Default)]
pub(crate) struct Kept {
    headers: Mutex<HashMap<PathBuf, (Stamp, String)>>,
    puts: AtomicUsize,
}

impl Kept {
    pub(crate) fn puts(&self) -> usize {
        self.puts.load(Ordering::Relaxed)
    }
}

impl HeaderCache for Kept {
    fn get(&self, path: &Path, stamp: &Stamp) -> Option<Header> {
        let headers = self.headers.lock().expect("lock");
        let (stored, json) = headers.get(path)?;
        (stored == stamp).then(|| serde_json::from_str(json).expect("header"))
    }

    fn put(&self, found: &TranscriptFile, header: &Header) {
        self.puts.fetch_add(1, Ordering::Relaxed);
        let json = serde_json::to_string(header).expect("JSON");
        self.headers.lock().expect("lock").insert(found.path.clone(), (found.stamp, json));
    }
}

fn ids(headers: &[Header]) -> Vec<&str> {
    headers.iter().map(|header| header.id.split('-').next().unwrap_or_default()).collect()
}

#[test]
fn all_tools_are_listed_newest_first_without_empty_files_and_sub_agents() {
    let headers = list(&Home::new().env(), &Filter::default(), &(), 2);
    let mut times: Vec<_> = headers.iter().map(|header| header.updated_at_ms).collect();
    let mut sorted = ids(&headers);
    sorted.sort_unstable();
    assert_eq!(sorted, ["01a1aaaa", "01a1cccc", "aaaaaaaa", "ffffffff"]);
    times.reverse();
    assert!(times.is_sorted());
}

#[test]
fn a_header_tells_what_a_listing_shows() {
    let home = Home::new();
    let headers = list(&home.env(), &Filter { agents: vec!["claude".into()], ..Filter::default() }, &(), 1);
    let normal = headers.iter().find(|header| header.id.starts_with("aaaa")).expect("listed");
    assert_eq!(normal.title.as_deref(), Some("Round prices"));
    assert_eq!(normal.cwd.as_deref(), Some("/home/you/shop"));
    assert_eq!(normal.branch.as_deref(), Some("main"));
    assert_eq!(normal.model.as_deref(), Some("claude-sonnet-4-5"));
    assert!(normal.first_prompt.as_deref().is_some_and(|prompt| prompt.starts_with("Round the prices")));
    assert!(normal.created_at_ms < normal.updated_at_ms);
    let codex = list(&home.env(), &Filter { agents: vec!["codex".into()], ..Filter::default() }, &(), 1);
    let old = codex.iter().find(|header| header.id.starts_with("01a1aaaa")).expect("listed");
    assert_eq!(old.repo.as_deref(), Some("git@example.org:ann/shop.git"));
    assert_eq!(old.title.as_deref(), Some("Make the importer faster. You must not change the API."));
}

#[test]
fn empty_files_are_listed_on_demand_and_say_that_they_are_empty() {
    let headers = list(&Home::new().env(), &Filter { empty: true, ..Filter::default() }, &(), 2);
    let empty: Vec<_> = headers.iter().filter(|header| header.empty).collect();
    assert_eq!(empty.len(), 1);
    assert_eq!(empty[0].complaints[0].kind, "no_conversation");
}

#[test]
fn an_unchanged_file_is_not_opened_again_and_a_changed_one_is() {
    let (home, cache) = (Home::new(), Kept::default());
    let first = list(&home.env(), &Filter::default(), &cache, 2);
    assert_eq!(cache.puts.load(Ordering::Relaxed), 5);
    assert_eq!(list(&home.env(), &Filter::default(), &cache, 2), first);
    assert_eq!(cache.puts.load(Ordering::Relaxed), 5);
    let path = home.path(".claude/projects/-home-ann-shop/aaaaaaaa-0000-4000-8000-000000000001.jsonl");
    let mut text = std::fs::read_to_string(&path).expect("read");
    text.push_str("{\"type\":\"custom-title\",\"customTitle\":\"Renamed\"}\n");
    std::fs::write(&path, text).expect("write");
    let titles: Vec<_> = list(&home.env(), &Filter::default(), &cache, 2)
        .into_iter()
        .filter_map(|header| header.title)
        .collect();
    assert_eq!(cache.puts.load(Ordering::Relaxed), 6);
    assert!(titles.contains(&"Renamed".to_owned()));
}

#[test]
fn filters_by_project_and_time_hold() {
    let env = Home::new();
    let all = |filter: Filter| list(&env.env(), &filter, &(), 1).len();
    assert_eq!(all(Filter { project: Some("/home/you".into()), ..Filter::default() }), 4);
    assert_eq!(all(Filter { project: Some("/hom".into()), ..Filter::default() }), 0);
    assert_eq!(all(Filter { since_ms: Some(i64::MAX), ..Filter::default() }), 0);
}

#[test]
fn the_tools_own_variables_say_where_files_are() {
    let home = Home::new();
    let mut env = home.env();
    env.vars.insert("CLAUDE_CONFIG_DIR".into(), "/nowhere".into());
    env.vars.insert("CODEX_HOME".into(), home.path(".codex").to_string_lossy().into_owned());
    assert_eq!(
        list(&env, &Filter::default(), &(), 1).iter().filter(|header| header.tool_id == "claude").count(),
        0
    );
    assert_eq!(list(&env, &Filter::default(), &(), 1).len(), 2);
}

#[test]
fn a_plain_rollout_wins_over_its_packed_copy() {
    let home = Home::new();
    let dir =
        ".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-01a1aaaa-0000-7000-8000-000000000001.jsonl";
    let packed = |at: &str| {
        let plain = std::fs::read(sample("codex/shell-era.jsonl")).expect("sample");
        std::fs::write(home.path(at), zstd::encode_all(plain.as_slice(), 3).expect("packs")).expect("write");
    };
    packed(&format!("{dir}.zst"));
    let filter = Filter { agents: vec!["codex".into()], ..Filter::default() };
    assert_eq!(list(&home.env(), &filter, &(), 1).len(), 2);
    packed(
        ".codex/sessions/2026/11/20/rollout-2026-11-20T11-00-00-01a1aaab-0000-7000-8000-000000000001.jsonl.zst",
    );
    let headers = list(&home.env(), &filter, &(), 1);
    assert_eq!(headers.len(), 3);
    assert!(headers.iter().all(|header| header.first_prompt.is_some()));
}

/// A line may be longer than what is read of the end at first: the output of a command, an image, what a hook said.
#[test]
fn the_time_of_the_last_entry_is_that_however_long_the_last_lines_are() {
    let long = "x".repeat(300_000);
    let claude = |content: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"z1","timestamp":"2027-01-02T03:04:05.000Z","message":{{"role":"assistant","content":"{content}"}}}}"#
        )
    };
    let codex = |content: &str| {
        format!(
            r#"{{"timestamp":"2027-01-02T03:04:05.000Z","type":"response_item","payload":{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{content}"}}]}}}}"#
        )
    };
    let attachment = format!(r#"{{"type":"attachment","attachment":{{"content":"{long}"}}}}"#);
    for (place, ends) in [
        (
            ".claude/projects/-home-ann-shop/aaaaaaaa-0000-4000-8000-000000000001.jsonl",
            vec![claude(&long), format!("{}\n{attachment}", claude("Done."))],
        ),
        (
            ".codex/archived_sessions/rollout-2026-11-20T10-00-00-01a1cccc-0000-7000-8000-000000000003.jsonl",
            vec![codex(&long)],
        ),
    ] {
        for end in ends {
            let home = Home::new();
            let path = home.path(place);
            let text = std::fs::read_to_string(&path).expect("read");
            // The beginning is longer than what is read of it, so that it has no say about the end.
            let filler = text.lines().last().expect("a line").to_owned() + "\n";
            std::fs::write(&path, text + &filler.repeat(200) + &end + "\n").expect("written");
            let headers = list(&home.env(), &Filter::default(), &(), 1);
            let header = headers.iter().find(|header| header.path == path).expect("listed");
            assert_eq!(header.updated_at_ms, Some(1_798_859_045_000), "{place}");
        }
    }
}

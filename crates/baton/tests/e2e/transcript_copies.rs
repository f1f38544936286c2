//! A session goes on on another machine: pushed to a server from one home, continued from another.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::http::Server;
use crate::stage::{Stage, Terminal, items, text};
use crate::worktrees::git;

pub(crate) const ID: &str = "11111111-aaaa-4000-8000-00000000abcd";
pub(crate) const SAID: &str = "I chose Decimal over float because money needs exact cents.";
pub(crate) const SECRET: &str = "AKIAQWERTYUIOPASDFGH";

/// A session of Claude Code in the repository of a stage, in which a secret was said.
pub(crate) fn session_with_a_secret(stage: &Stage) {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcripts/samples/claude/normal.jsonl");
    let mut lines = String::new();
    for line in fs::read_to_string(sample).expect("a sample").lines() {
        let mut event: Value = serde_json::from_str(line).expect("a line of the sample");
        for (key, value) in [("cwd", stage.shop().display().to_string()), ("sessionId", ID.to_owned())] {
            if event.get(key).is_some() {
                event[key] = value.into();
            }
        }
        lines.push_str(
            &format!("{event}\n").replace("Never touch", &format!("The key is {SECRET}. Never touch")),
        );
    }
    stage.file(&format!("home/.claude/projects/-shop/{ID}.jsonl"), lines);
}

/// A server, a laptop on which Ann worked with Claude Code, and a desktop with a clone. Neither has a ledger of its own.
pub(crate) struct TwoMachines {
    server: Server,
    far: Stage,
    pub(crate) laptop: Stage,
    pub(crate) desktop: Stage,
    pub(crate) clone: PathBuf,
}

impl TwoMachines {
    pub(crate) fn new() -> Self {
        let (far, laptop, desktop) = (Stage::local(), Stage::local(), Stage::local());
        let server = Server::start(&far.bare());
        laptop.file("shop/a.txt", "a\n");
        git(&laptop, laptop.shop(), &["add", "-A"]);
        git(&laptop, laptop.shop(), &["commit", "-qm", "one"]);
        let bare = laptop.root().join("bare.git").display().to_string();
        git(&laptop, laptop.root(), &["clone", "-q", "--bare", "shop", &bare]);
        git(&laptop, laptop.shop(), &["remote", "add", "origin", &bare]);
        git(&laptop, desktop.root(), &["clone", "-q", &bare, "copy"]);
        let clone = desktop.root().join("copy");
        session_with_a_secret(&laptop);
        let made = Self { server, far, laptop, desktop, clone };
        made.ann().json(&["init"]);
        made.donna().json(&["init", "--join", "shop"]);
        made
    }

    fn at<'a>(&self, stage: &'a Stage, machine: &str, identity: &str) -> Terminal<'a> {
        let url = format!("http://{}", self.server.address);
        stage.terminal(identity).with("BATON_SERVER", url).with("BATON_MACHINE", machine)
    }

    pub(crate) fn ann(&self) -> Terminal<'_> {
        self.at(&self.laptop, "laptop", "Ann")
    }

    pub(crate) fn donna(&self) -> Terminal<'_> {
        self.at(&self.desktop, "desktop", "Donna").within(&self.clone)
    }

    /// Files of sessions that lie in Baton's own folder of the desktop.
    pub(crate) fn leftovers(&self) -> usize {
        fs::read_dir(self.desktop.home().join("data/baton/transcripts")).map_or(0, Iterator::count)
    }
}

#[test]
fn a_colleague_goes_on_with_a_session_of_another_machine() {
    let of = TwoMachines::new();
    let (ann, donna) = (of.ann(), of.donna());
    let refused = ann.refused(1, "transcripts_not_taken", &["transcripts", "push", "latest"]);
    assert!(text(&refused, "hint").contains("baton project set shop --transcripts yes"), "{refused:#}");
    let preview = ann.text(&["transcripts", "push", "--dry-run"]);
    assert!(preview.contains("it would be refused"), "{preview}");
    assert!(!of.far.store_contains(&ID[..13]), "nothing has left the laptop");
    ann.json(&["project", "set", "--transcripts", "yes"]);
    let output = ann.text(&["transcripts", "push", "--dry-run"]);
    assert!(
        output.contains("nothing was pushed") && output.contains("whoever reads the project"),
        "{output}"
    );
    assert!(donna.text(&["transcripts", "pushed"]).contains("nothing was pushed"));
    let output = ann.text(&["transcripts", "push"]);
    assert!(output.contains("pushed: session") && output.contains("baton transcripts withdraw"), "{output}");
    let listed = items(&donna.json(&["transcripts", "pushed"]));
    assert_eq!((&listed[0]["identity"], &listed[0]["machine"]), (&json!("Ann"), &json!("laptop")));
    assert!(!donna.text(&["transcripts", "pushed"]).contains(SECRET));
    let shown = donna.text(&["transcripts", "show", &ID[..13]]);
    assert!(shown.contains(SAID) && shown.contains("The key is") && !shown.contains(SECRET), "{shown}");
    let path = text(&donna.json(&["transcripts", "show", &ID[..13]]), "path");
    assert_eq!(path, format!("{ID}.jsonl"), "the home of the sender is nobody's business");
    // Claude Code has no session of that id on the desktop: with --native one is written, in the folder of the clone.
    let went = donna.json(&["continue", ID, "--in", "claude", "--native", "--print"]);
    assert_eq!(
        (&went["cwd"], &went["resumes"]),
        (&json!(of.clone.display().to_string()), &json!(false)),
        "{went:#}"
    );
    let file = text(&went["native"], "path");
    assert!(file.starts_with(&of.desktop.home().join(".claude/projects").display().to_string()), "{file}");
    let written = fs::read_to_string(&file).expect("the session");
    assert!(written.contains(SAID) && !written.contains(SECRET), "{written}");
    // Without it the tool begins with the document, also where it is the one that wrote the session.
    let went = donna.json(&["continue", ID, "--in", "claude", "--print"]);
    assert_eq!(
        (&went["resumes"], went["argv"].to_string().contains("make test")),
        (&json!(false), true),
        "{went:#}"
    );
    assert_eq!(of.leftovers(), 0);
    // It is one conversation in the ledger, whoever goes on with it.
    let again = ann.json(&["continue", ID, "--in", "codex", "--print"]);
    assert_eq!(again["handoff_id"], went["handoff_id"]);
    of.far.assert_sound();
    let gone = ann.text(&["transcripts", "withdraw", "--all"]);
    assert!(gone.contains("withdrawn: session"), "{gone}");
    donna.refused(3, "transcript_unknown", &["continue", ID, "--in", "claude", "--native", "--print"]);
    assert_eq!(items(&donna.json(&["transcripts", "pushed"])), Vec::<Value>::new());
}

#[test]
fn with_keys_in_the_project_only_their_owners_can_read_it() {
    let of = TwoMachines::new();
    let (ann, donna) = (of.ann(), of.donna());
    ann.json(&["project", "set", "--transcripts", "yes"]);
    ann.json(&["key", "create"]);
    let pushed = ann.json(&["transcripts", "push"]);
    assert_eq!((&pushed["copy"]["readers"], &pushed["copy"]["title"]), (&json!(["Ann"]), &Value::Null));
    let refused =
        donna.refused(1, "transcript_locked", &["continue", ID, "--in", "claude", "--native", "--print"]);
    assert!(text(&refused, "hint").contains("baton key create"), "{refused:#}");
    assert_eq!(of.leftovers(), 0);
    donna.json(&["key", "create"]);
    assert_eq!(ann.json(&["transcripts", "push"])["replaced"], true);
    assert!(donna.text(&["transcripts", "pushed"]).contains("(encrypted)"));
    let went = donna.json(&["continue", ID, "--in", "codex", "--native", "--print"]);
    assert!(fs::read_to_string(text(&went["native"], "path")).expect("the session").contains(SAID));
    // A reader of the ledger need not be a reader of the session.
    assert_eq!(went["encrypted_for"], json!(["Ann", "Donna"]), "{went:#}");
    for args in [&["status"][..], &["batons"], &["log"], &["pickup", "--dry-run"]] {
        let shown = ann.json(args).to_string();
        assert!(!shown.contains(SAID) && !shown.contains("Round the prices"), "{args:?}: {shown}");
    }
    assert!(ann.json(&["batons"]).to_string().contains("was pushed encrypted"));
    assert!(!of.far.store_contains(SAID) && !of.far.store_contains("Round the prices"));
}

/// A colleague's token reaches the project, and may not register a folder.
#[test]
fn a_session_of_a_working_copy_with_the_remote_of_the_named_project_is_pushed() {
    let of = TwoMachines::new();
    of.ann().json(&["project", "set", "--transcripts", "yes"]);
    let bare = of.laptop.root().join("bare.git").display().to_string();
    git(&of.laptop, of.laptop.root(), &["clone", "-q", &bare, "other"]);
    let other = of.laptop.root().join("other");
    let id = "22222222-aaaa-4000-8000-00000000abcd";
    let session = of.laptop.home().join(format!(".claude/projects/-shop/{ID}.jsonl"));
    let text_of_it = fs::read_to_string(session).expect("the session");
    let shop = of.laptop.shop().display().to_string();
    let there = text_of_it.replace(ID, id).replace(&shop, &other.display().to_string());
    of.laptop.file(&format!("home/.claude/projects/-other/{id}.jsonl"), there);
    let ann = of.ann().within(&other).with("BATON_PROJECT", "shop");
    git(&of.laptop, &other, &["remote", "set-url", "origin", "https://git.example/else.git"]);
    let refused = ann.refused(1, "transcript_elsewhere", &["transcripts", "push", id]);
    assert!(text(&refused, "hint").contains("baton init --join shop"), "{refused:#}");
    git(&of.laptop, &other, &["remote", "set-url", "origin", &bare]);
    assert_eq!(ann.json(&["transcripts", "push", id])["copy"]["transcript_id"], id);
}

#[test]
fn a_session_that_another_agent_goes_on_with_is_not_said_to_wait() {
    let of = TwoMachines::new();
    let (ann, donna) = (of.ann(), of.donna());
    ann.json(&["project", "set", "--transcripts", "yes"]);
    ann.json(&["transcripts", "push"]);
    let went = donna.json(&["continue", ID, "--in", "codex", "--native", "--print"]);
    donna.json(&["pickup", "--handoff", &text(&went, "handoff_id")]);
    let again = ["continue", ID, "--in", "claude", "--native", "--print"];
    let dan = ann.with("BATON_IDENTITY", "Dan");
    let refused = dan.refused(4, "baton_claimed", &again);
    assert!(text(&refused, "message").contains("Donna"), "{refused:#}");
    let forced = [&again[..], &["--force", "--why", "she left"]].concat();
    let output = dan.run(&forced).done();
    assert!(output.err.contains("is held by Donna") && !output.err.contains("waits"), "{output:#?}");
}

#[test]
fn a_session_of_another_folder_stays_where_it_is() {
    let of = TwoMachines::new();
    let ann = of.ann();
    ann.json(&["project", "set", "--transcripts", "yes"]);
    let other = of.laptop.repo("other");
    let there = ann.within(&other);
    there.json(&["init"]);
    there.json(&["project", "set", "--transcripts", "yes"]);
    there.refused(1, "transcript_elsewhere", &["transcripts", "push", ID]);
    there.refused(3, "transcript_elsewhere", &["transcripts", "push"]);
    // A copy that somebody altered on its way is no path into this machine.
    let file = of.desktop.file("evil.json", r#"{"format":"baton-transcript","version":9}"#);
    of.donna().refused(1, "transcript_copy_invalid", &["continue", &file, "--in", "claude", "--print"]);
}

/// A session like the first one, under another id and in another folder.
fn session_in(of: &TwoMachines, id: &str, folder: &Path, branch: &str) {
    let first = of.laptop.home().join(format!(".claude/projects/-shop/{ID}.jsonl"));
    let mut lines = String::new();
    for line in fs::read_to_string(first).expect("the session").lines() {
        let mut event: Value = serde_json::from_str(line).expect("a line");
        let values =
            [("cwd", folder.display().to_string()), ("sessionId", id.into()), ("gitBranch", branch.into())];
        for (key, value) in values {
            if event.get(key).is_some() {
                event[key] = value.into();
            }
        }
        lines.push_str(&format!("{event}\n"));
    }
    of.laptop.file(&format!("home/.claude/projects/-{branch}/{id}.jsonl"), lines);
}

#[test]
fn without_an_id_the_newest_session_of_the_working_copy_is_pushed_and_named() {
    let of = TwoMachines::new();
    let (ann, shop) = (of.ann(), of.laptop.shop());
    ann.json(&["project", "set", "--transcripts", "yes"]);
    let (inside, beside) = (shop.join(".claude/worktrees/x"), of.laptop.root().join("y"));
    for (folder, branch) in [(&inside, "x"), (&beside, "y")] {
        git(&of.laptop, &shop, &["worktree", "add", "-q", "-b", branch, &folder.display().to_string()]);
    }
    let id = "33333333-aaaa-4000-8000-00000000abcd";
    session_in(&of, id, &inside, "x");
    let pushed =
        |folder: &Path| text(&ann.within(folder).json(&["transcripts", "push"])["copy"], "transcript_id");
    // The one of the worktree that lies inside is newer, and another working copy's.
    assert_eq!((pushed(&shop), pushed(&inside)), (ID.to_owned(), id.to_owned()));
    let output = ann.within(&inside).text(&["transcripts", "push"]);
    assert!(output.contains(&format!("in {}\n", inside.display())) && output.contains('"'), "{output}");
    let refused = ann.within(&beside).refused(3, "transcript_elsewhere", &["transcripts", "push"]);
    assert!(text(&refused, "hint").contains("baton transcripts push "), "{refused:#}");
    // A folder that is gone is no part of the one around it.
    git(&of.laptop, &shop, &["worktree", "remove", "--force", &inside.display().to_string()]);
    assert_eq!(pushed(&shop), ID);
}

#[test]
fn a_session_whose_worktree_was_gone_at_its_import_was_left_there_and_not_around_it() {
    let of = TwoMachines::new();
    let (ann, shop) = (of.ann(), of.laptop.shop());
    for (id, place, branch) in [
        ("33333333-aaaa-4000-8000-00000000abcd", shop.join(".claude/worktrees/x"), "x"),
        ("44444444-aaaa-4000-8000-00000000abcd", of.laptop.root().join("y"), "y"),
    ] {
        let folder = place.display().to_string();
        git(&of.laptop, &shop, &["worktree", "add", "-q", "-b", branch, &folder]);
        session_in(&of, id, &place, branch);
        git(&of.laptop, &shop, &["worktree", "remove", &folder]);
        let baton = text(&ann.json(&["import-transcript", id]), "baton_id");
        let there = ["pickup", "--there", &baton];
        let refused = ann.refused(3, "place_gone", &there);
        let words = format!("{} {}", text(&refused, "message"), text(&refused, "hint"));
        assert!(words.contains(&folder) && words.contains(&format!("git switch {branch}")), "{words}");
        let shown = ann.text(&["pickup", "--dry-run", &baton]);
        assert!(shown.contains(&format!("the work was left in {folder}")), "{shown}");
        assert!(!shown.contains("cannot be seen") && !shown.contains("if it still is"), "{shown}");
        git(&of.laptop, &shop, &["branch", "-D", branch]);
        let refused = ann.refused(3, "place_gone", &there);
        assert!(!text(&refused, "hint").contains("git switch"), "{refused:#}");
    }
}

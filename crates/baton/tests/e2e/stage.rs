//! The stage on which the real binary plays: an empty home, a git repository, a cleared environment, and terminals in
//! which identities work.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::database::{Database, numbers};
use crate::http::Server;

/// The binary under test.
pub(crate) const BATON: &str = env!("CARGO_BIN_EXE_baton");

/// The binary that terminals call: that under test, or another one that is measured in its place.
fn binary() -> String {
    env("BATON_TEST_BINARY").unwrap_or_else(|| BATON.to_owned())
}

/// Where the store in the home is, from the root of a stage.
const STORE: &str = "home/data/baton/baton.db";

/// A variable of the environment that the tests were started in.
#[allow(clippy::disallowed_methods, reason = "a test learns from its environment where things are")]
pub(crate) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether every stage has a database in place of a file.
pub(crate) fn on_postgres() -> bool {
    env("BATON_TEST_E2E_STORE").is_some_and(|store| store == "postgres")
}

/// Says loudly that something could not be tested here.
pub(crate) fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}

/// An empty home and a repository, removed at the end.
pub(crate) struct Stage {
    /// Fails at the end a test that made a file after all where its store is a database.
    _only: Option<OnlyStore>,
    root: TempDir,
    /// The server that every terminal speaks to in place of a store, and the home that it has.
    server: Option<Box<(Server, Stage)>>,
    /// The database that stands in for the store in the home, where the tests are told to run on one.
    database: Option<Database>,
}

/// Where no store may be made, because another one is meant.
struct OnlyStore(PathBuf);

impl Drop for OnlyStore {
    fn drop(&mut self) {
        let unnoticed = self.0.exists() && !std::thread::panicking();
        assert!(!unnoticed, "its store is a database, and yet there is {}", self.0.display());
    }
}

impl Stage {
    /// A stage whose repository is `shop`, not registered yet. With `BATON_TEST_REMOTE` its ledger is on a server.
    pub(crate) fn new() -> Self {
        match env("BATON_TEST_REMOTE") {
            Some(_) => Self::remote(&[]),
            None => Self::local(),
        }
    }

    /// A stage whose terminals speak to a server with a home of its own, started with these flags.
    pub(crate) fn remote(flags: &[&str]) -> Self {
        let far = Self::local();
        let server = Server::start_with(&far.bare(), flags);
        Self { server: Some(Box::new((server, far))), ..Self::local() }
    }

    /// The server behind this stage, and its home.
    pub(crate) fn far(&self) -> &(Server, Stage) {
        self.server.as_deref().expect("a server behind this stage")
    }

    /// A stage whose ledger is a store in its own home, or a database of its own where the tests are told to run on one.
    pub(crate) fn local() -> Self {
        Self::on(on_postgres().then(|| Database::new().expect("BATON_TEST_POSTGRES is set")))
    }

    /// A stage whose store is a file wherever the tests run, because that is what the test is about: `why` says in what way.
    pub(crate) fn in_a_file(why: &str) -> Self {
        if on_postgres() {
            eprintln!("on a file here too: {why}");
        }
        Self::on(None)
    }

    /// A stage whose store is a database of its own; `None`, which is said, where there is no server.
    pub(crate) fn on_postgres() -> Option<Self> {
        let database = Database::new();
        if database.is_none() {
            skipped("BATON_TEST_POSTGRES is not set: nothing was tested on PostgreSQL");
        }
        Some(Self::on(Some(database?)))
    }

    fn on(database: Option<Database>) -> Self {
        let root = root();
        let file = root.path().join(STORE);
        let stage = Self { _only: database.as_ref().map(|_| OnlyStore(file)), root, server: None, database };
        fs::create_dir(stage.home()).expect("home");
        stage.repo("shop");
        stage
    }

    /// A stage whose repository is registered as project `shop`.
    pub(crate) fn ready() -> Self {
        Self::new().registered()
    }

    /// The same stage with its repository registered.
    pub(crate) fn registered(self) -> Self {
        self.terminal("Setup").json(&["init"]);
        self
    }

    /// Another git repository beside the first.
    pub(crate) fn repo(&self, name: &str) -> PathBuf {
        let repo = self.root.path().join(name);
        fs::create_dir_all(&repo).expect("repository");
        let made = Command::new("git").args(["init", "-q", "-b", "main"]).arg(&repo).status();
        assert!(made.expect("git runs").success(), "git init");
        repo
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(crate) fn shop(&self) -> PathBuf {
        self.root.path().join("shop")
    }

    /// Where the stage's database is.
    pub(crate) fn database(&self) -> &str {
        &self.database.as_ref().expect("this stage has a database").url
    }

    /// What names the stage's store: a path, or the URL of its database.
    fn place(&self) -> String {
        let file = || self.store().display().to_string();
        self.database.as_ref().map_or_else(file, |database| database.url.clone())
    }

    /// The variables that name the stage's store and the Redis beside it, for a program that is told them in another way.
    pub(crate) fn settings(&self) -> BTreeMap<&'static str, String> {
        // A test that is about Redis, or about its absence, says so itself.
        let redis = env("BATON_TEST_REDIS").filter(|_| self.database.is_some() && on_postgres());
        let redis = redis.map(|url| ("BATON_REDIS_URL", url));
        [("BATON_STORE", self.place())].into_iter().chain(redis).collect()
    }

    /// Whether the stage's own store was ever made: there is a file, or a table.
    pub(crate) fn has_store(&self) -> bool {
        let tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema()";
        let made = self.database.as_ref().is_some_and(|database| numbers(&database.url, tables) != [0]);
        made || self.store().exists()
    }

    /// Whether these bytes stand anywhere in the stage's store: in a file beside which it lives, or in a row.
    pub(crate) fn store_contains(&self, word: &str) -> bool {
        assert!(self.has_store(), "a store to look into");
        let Some(database) = &self.database else {
            let folder = fs::read_dir(self.store().parent().expect("folder")).expect("folder");
            let files = folder.flatten().map(|entry| fs::read(entry.path()).unwrap_or_default());
            return files
                .into_iter()
                .any(|file| file.windows(word.len()).any(|part| part == word.as_bytes()));
        };
        let rows = format!(
            "SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema() AND \
             query_to_xml(format('SELECT * FROM %I.%I', table_schema, table_name), true, true, '')::text LIKE '%{word}%'"
        );
        numbers(&database.url, &rows) != [0]
    }

    /// What the doctor says, with the store named as it is with a file, so that one snapshot holds for either: where a
    /// database and its Redis are differs from run to run.
    pub(crate) fn as_with_a_file(&self, text: &str) -> String {
        let Some(database) = &self.database else { return text.to_owned() };
        let shown = database.url.split('?').next().unwrap_or_default();
        let line = |line: &str| match line {
            redis if redis.starts_with("redis redis://") && redis.ends_with(" is up") => None,
            line => Some(
                line.replace(
                    &format!("store {shown} (postgres)"),
                    &format!("store {} (sqlite)", self.store().display()),
                )
                // The store that a refusal names.
                .replace(&format!("  store: {shown}"), &format!("  store: {}", self.store().display()))
                    + "\n",
            ),
        };
        let lines: String = text.lines().filter_map(line).collect();
        if text.ends_with('\n') { lines } else { lines.trim_end_matches('\n').to_owned() }
    }

    /// The file that is the store when nothing else is said.
    pub(crate) fn store(&self) -> PathBuf {
        self.root.path().join(STORE)
    }

    /// Writes a file beside the repository and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.root.path().join(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(&path, content).expect("written");
        path.display().to_string()
    }

    /// A terminal of its own process in which this identity works.
    pub(crate) fn terminal(&self, identity: &str) -> Terminal<'_> {
        let mut terminal = self.bare();
        terminal.set("BATON_IDENTITY", identity);
        terminal.set("BATON_PROCESS", format!("terminal-of-{identity}"));
        terminal.set("BATON_SURFACE", "human");
        terminal
    }

    /// A terminal with nothing set but the home and the path.
    pub(crate) fn bare(&self) -> Terminal<'_> {
        let mut terminal = Terminal { stage: self, folder: self.shop(), vars: Vec::new() };
        if let Some((server, _)) = self.server.as_deref() {
            terminal.set("BATON_SERVER", format!("http://{}", server.address));
            terminal.set("BATON_MACHINE", "laptop");
        }
        terminal
    }

    /// All deltas of a project, oldest first.
    pub(crate) fn ledger(&self, project: &str) -> Vec<Value> {
        items(&self.terminal("Reader").json(&["log", "--project", project]))
    }

    /// How many deltas there are, to see that nothing was written.
    pub(crate) fn deltas(&self) -> usize {
        self.ledger("shop").len()
    }

    /// Fails unless the doctor calls the store sound.
    pub(crate) fn assert_sound(&self) {
        let verdict = self.terminal("Doctor").json(&["doctor"]);
        assert_eq!(verdict["sound"], true, "{verdict:#}");
    }
}

/// A new folder. Its name is plain: one of random letters would be taken for a secret where it stands in a transcript.
fn root() -> TempDir {
    let make = |n: u32| {
        let name = format!("baton-e2e-{}-{n}", std::process::id());
        tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir().ok()
    };
    (0..10_000).find_map(make).expect("temporary directory")
}

/// The items of a list.
pub(crate) fn items(list: &Value) -> Vec<Value> {
    list["items"].as_array().unwrap_or_else(|| panic!("no items: {list:#}")).clone()
}

/// A text field that must be there.
pub(crate) fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {value:#}")).to_owned()
}

/// Fails unless the object has every one of these fields, whatever their value.
pub(crate) fn assert_fields(value: &Value, fields: &str) {
    for field in fields.split_whitespace() {
        assert!(value.get(field).is_some(), "no field `{field}` in {value:#}");
    }
}

/// Where commands are given: a folder and an environment.
#[derive(Clone)]
pub(crate) struct Terminal<'a> {
    stage: &'a Stage,
    folder: PathBuf,
    vars: Vec<(OsString, OsString)>,
}

impl Terminal<'_> {
    pub(crate) fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        self.vars.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
    }

    /// The same terminal with one more variable.
    pub(crate) fn with(&self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let mut other = self.clone();
        other.set(name, value);
        other
    }

    /// The same terminal in another folder.
    pub(crate) fn within(&self, folder: impl AsRef<Path>) -> Self {
        let mut other = self.clone();
        other.folder = folder.as_ref().to_owned();
        other
    }

    /// A program in this terminal, with nothing of our own environment but the path.
    pub(crate) fn program(&self, program: &str) -> Command {
        let home = self.stage.home();
        let mut command = Command::new(program);
        command.env_clear().current_dir(&self.folder).env("PATH", env("PATH").expect("PATH"));
        command.env("HOME", &home).env("XDG_DATA_HOME", home.join("data"));
        command.env("XDG_CONFIG_HOME", home.join("config")).env("XDG_CACHE_HOME", home.join("cache"));
        if self.stage.database.is_some() {
            command.envs(self.stage.settings());
        }
        command.env("TMPDIR", self.stage.root()).envs(self.vars.iter().map(|(name, value)| (name, value)));
        command
    }

    /// A call of the binary, with its three streams piped.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = self.program(&binary());
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts the binary and does not wait.
    pub(crate) fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).spawn().expect("baton starts")
    }

    /// Runs the binary to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Answer {
        Answer::of(self.spawn_os(args), args)
    }

    fn spawn_os<S: AsRef<OsStr>>(&self, args: &[S]) -> Child {
        self.command(args).spawn().expect("baton starts")
    }

    /// Runs the binary with something on its standard input.
    pub(crate) fn feed(&self, input: &[u8], args: &[&str]) -> Answer {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().expect("baton starts");
        let mut pipe = child.stdin.take().expect("stdin");
        // What ends early does not read all of it.
        let _ = pipe.write_all(input);
        drop(pipe);
        Answer::of(child, args)
    }

    /// What a person reads.
    pub(crate) fn text(&self, args: &[&str]) -> String {
        self.run(args).done().out
    }

    /// The JSON answer of a call that succeeds.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.run(&with_json(args)).done().json()
    }

    /// The error object of a call that is refused with this exit code and this code.
    pub(crate) fn refused(&self, exit: i32, code: &str, args: &[&str]) -> Value {
        self.run(&with_json(args)).refused(exit, code)
    }

    /// Runs a shell script in this terminal; the binary is `$BATON`.
    pub(crate) fn shell(&self, script: &str) -> Answer {
        let mut command = self.program("sh");
        command.args(["-c", script]).env("BATON", binary());
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Answer::of(child.expect("sh runs"), &[script])
    }
}

/// The name of a process that has ended, in the words of this system.
pub(crate) fn ended_process() -> String {
    let link = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let space: String = link.display().to_string().chars().filter(char::is_ascii_digit).collect();
    format!("4294967295:1@{space}")
}

fn with_json<'a>(args: &[&'a str]) -> Vec<&'a str> {
    args.iter().copied().chain(["--json"]).collect()
}

/// What a command answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub args: String,
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Answer {
    /// Waits for a command. Whatever it was, it may not have panicked.
    pub(crate) fn of<S: AsRef<OsStr>>(child: Child, args: &[S]) -> Self {
        let output = child.wait_with_output().expect("baton ends");
        let args: Vec<String> = args.iter().map(|a| a.as_ref().to_string_lossy().into_owned()).collect();
        let answer = Self {
            args: args.join(" ").chars().take(300).collect(),
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            err: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        };
        for sign in ["panicked", "RUST_BACKTRACE", "stack backtrace"] {
            assert!(!answer.err.contains(sign) && !answer.out.contains(sign), "{answer:#?}");
        }
        answer
    }

    /// Fails unless the command succeeded.
    pub(crate) fn done(self) -> Self {
        assert_eq!(self.code, 0, "`{}` failed: {self:#?}", self.args);
        self
    }

    /// The one JSON document on standard output.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("not one JSON document: {error}: {self:#?}"))
    }

    /// One JSON document a line.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let parse =
            |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}: {self:#?}"));
        self.out.lines().map(parse).collect()
    }

    /// The error object; fails unless the exit code, the code, and the form of a refusal are right.
    pub(crate) fn refused(&self, exit: i32, code: &str) -> Value {
        assert_eq!(self.code, exit, "exit code of {self:#?}");
        assert_eq!(self.err, "", "standard error has nothing beside a JSON refusal: {self:#?}");
        let error = self.json()["error"].take();
        assert_eq!(error["code"], code, "{self:#?}");
        for field in ["message", "hint"] {
            let value = text(&error, field);
            assert!(!value.is_empty() && value.chars().count() < 1_500, "{field}: {self:#?}");
            assert!(
                !value.chars().any(|c| c.is_control() && c != '\n'),
                "{field} has a control character: {self:#?}"
            );
        }
        error
    }
}

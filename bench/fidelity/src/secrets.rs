//! Made-up secrets of every kind, in the places where they turn up, and how many of them are taken out.

use std::path::Path;

use anyhow::Result;
use baton_redact::Redactor;

use crate::random::Random;

/// How a kind of secret looks: its name, what is before the random part, letters, length, what is after it.
struct Kind {
    name: &'static str,
    before: &'static str,
    letters: &'static str,
    length: usize,
    after: &'static str,
}

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &str = "0123456789abcdef";
const URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

const fn kind(name: &'static str, before: &'static str, letters: &'static str, length: usize) -> Kind {
    Kind { name, before, letters, length, after: "" }
}

const KINDS: &[Kind] = &[
    kind("anthropic", "sk-ant-api03-", URL, 95),
    kind("openai project", "sk-proj-", URL, 120),
    kind("openai old", "sk-", ALNUM, 48),
    kind("github classic", "ghp_", ALNUM, 36),
    kind("github fine", "github_pat_11", ALNUM, 80),
    kind("github oauth", "gho_", ALNUM, 36),
    kind("gitlab", "glpat-", URL, 20),
    kind("aws id", "AKIA", UPPER, 16),
    kind("aws secret", "aws_secret_access_key = ", ALNUM, 40),
    kind("google", "AIza", URL, 35),
    kind("slack bot", "xoxb-123456789012-123456789012-", ALNUM, 24),
    Kind {
        name: "slack hook",
        before: "https://hooks.slack.com/services/T0ABCDEFG/B0ABCDEFG/",
        letters: ALNUM,
        length: 24,
        after: "",
    },
    kind("stripe", "sk_live_", ALNUM, 24),
    kind("npm", "npm_", ALNUM, 36),
    kind("pypi", "pypi-AgEIcHlwaS5vcmc", URL, 70),
    kind("hugging face", "hf_", ALNUM, 34),
    kind("sendgrid", "SG.abcdefghijklmnopqrstuv.", URL, 43),
    kind("digitalocean", "dop_v1_", HEX, 64),
    kind("jwt", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.", URL, 43),
    kind("bearer", "Authorization: Bearer ", ALNUM, 40),
    Kind { name: "url password", before: "postgres://app:", letters: ALNUM, length: 16, after: "@db/app" },
    kind("password variable", "DB_PASSWORD=", ALNUM, 16),
    Kind { name: "password in JSON", before: "\"password\": \"", letters: ALNUM, length: 14, after: "\"" },
    Kind { name: "secret in YAML", before: "client_secret: ", letters: ALNUM, length: 32, after: "" },
    kind("api key variable", "export API_KEY=", LOWER, 32),
    Kind {
        name: "private key",
        before: "-----BEGIN RSA PRIVATE KEY-----\n",
        letters: ALNUM,
        length: 64,
        after: "\n-----END RSA PRIVATE KEY-----",
    },
];

/// Places in which a secret stands.
const PLACES: &[&str] = &[
    "{}",
    "I set {} in the shell.",
    "+ {}",
    "  {}",
    "```\n{}\n```",
    "curl -H '{}' https://example.org",
    "({})",
    "{}\nnext line",
];

/// What was left of the made-up secrets of a kind.
pub struct HarmlessText {
    /// The kind.
    pub name: &'static str,
    /// How many were made.
    pub made: usize,
    /// How many stood in the text afterwards, in part or whole.
    pub kept: usize,
}

/// Makes so many secrets of each kind and takes them out.
pub fn harmless_texts(seed: u64, each: usize) -> Vec<HarmlessText> {
    let redactor = Redactor::new();
    let mut random = Random::new(seed);
    let mut all = Vec::new();
    for kind in KINDS {
        let mut unchanged = 0;
        for _ in 0..each {
            let letters: Vec<char> = kind.letters.chars().collect();
            let secret: String = (0..kind.length).map(|_| random.pick(&letters)).collect();
            let line = format!("{}{secret}{}", kind.before, kind.after);
            let text = random.pick(PLACES).replace("{}", &line);
            unchanged += usize::from(redactor.redact(&text).text.contains(&secret));
        }
        all.push(HarmlessText { name: kind.name, made: each, kept: unchanged });
    }
    all
}

/// What was taken out of source code, where there should be nothing.
#[derive(Default)]
pub struct FalsePositives {
    /// Files read.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Places that were taken for secrets, by kind and line.
    pub places: Vec<(&'static str, String)>,
}

/// Reads the source files below a folder. Tests are left out where `tests` is not wanted: they hold made-up secrets.
pub fn count_false_positives(folder: &Path, redactor: &Redactor, taken: &mut FalsePositives) -> Result<()> {
    let mut inside: Vec<_> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    inside.sort();
    for path in inside {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir()
            && !matches!(name, "tests" | "target" | ".git" | "node_modules" | "samples" | "redact")
        {
            self::count_false_positives(&path, redactor, taken)?;
        }
        let is_source = [".rs", ".toml", ".py", ".ts", ".js", ".go", ".c", ".h", ".md"]
            .iter()
            .any(|end| name.ends_with(end));
        if !path.is_file() || !is_source || name == "tests.rs" || name == "secrets.rs" {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        taken.files += 1;
        taken.bytes += text.len() as u64;
        for line in text.lines() {
            let found = redactor.redact(line);
            let places = found.counts.iter().flat_map(|(kind, count)| std::iter::repeat_n(*kind, *count));
            taken.places.extend(places.map(|kind| (kind, line.trim().to_owned())));
        }
    }
    Ok(())
}

mod fields;
mod generated;
mod glued;
mod kinds;
mod named;
mod own;
mod phrases;
mod places;
mod providers;
mod tails;
mod values;

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::new);

fn check(text: &str) -> String {
    REDACTOR.redact(text).text.into_owned()
}

/// Deterministic random characters, so that no secret stands in this file.
fn random(alphabet: &str, len: usize, seed: u64) -> String {
    let chars: Vec<char> = alphabet.chars().collect();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        chars[(state >> 11) as usize % chars.len()]
    };
    (0..len).map(|_| next()).collect()
}

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// One secret of every kind, as `(kind, secret)`.
fn secrets(seed: u64) -> Vec<(&'static str, String)> {
    let an = |len| random(ALNUM, len, seed);
    let hex = |len| random(HEX, len, seed);
    vec![
        ("anthropic-key", format!("sk-ant-api03-{}-{}AA", an(80), an(8))),
        ("openai-key", format!("sk-proj-{}", an(100))),
        ("openai-key", format!("sk-{}", an(48))),
        ("github-token", format!("ghp_{}", an(36))),
        ("github-token", format!("gho_{}", an(36))),
        ("github-token", format!("github_pat_{}_{}", an(22), an(59))),
        ("gitlab-token", format!("glpat-{}", an(20))),
        ("slack-token", format!("xoxb-{}-{}", random("0123456789", 12, seed), an(24))),
        ("slack-webhook", format!("T{}/B{}/{}", random(UPPER, 8, seed), random(UPPER, 8, seed), an(24))),
        ("aws-key", format!("AKIA{}", random(UPPER, 16, seed))),
        ("aws-key", format!("ASIA{}", random(UPPER, 16, seed))),
        ("google-key", format!("AIza{}", an(35))),
        ("stripe-key", format!("sk_live_{}", an(24))),
        ("stripe-key", format!("rk_live_{}", an(24))),
        ("npm-token", format!("npm_{}", an(36))),
        ("pypi-token", format!("pypi-AgEI{}", an(80))),
        ("huggingface-token", format!("hf_{}", an(34))),
        ("twilio-key", format!("SK{}", hex(32))),
        ("sendgrid-key", format!("SG.{}.{}", an(22), an(43))),
        ("azure-secret", format!("{}8Q~{}", an(3), an(34))),
        ("telegram-token", format!("{}:AA{}", random("123456789", 9, seed), an(33))),
        ("jwt", format!("eyJ{}.eyJ{}.{}", an(30), an(40), an(43))),
    ]
}

fn in_context(kind: &str, secret: &str) -> Vec<String> {
    let url = if kind == "slack-webhook" { "https://hooks.slack.com/services/" } else { "" };
    ["{}", "see {} there", "KEY={}\n", "{\"k\":\"{}\"}", "a\\n{}\\nb", "--with {} --x", "ends in {}"]
        .iter()
        .map(|frame| frame.replace("{}", &format!("{url}{secret}")))
        .collect()
}

#[test]
fn no_secret_of_any_kind_survives_in_any_context() {
    let redactor = &*REDACTOR;
    for seed in 1..16 {
        for (kind, secret) in secrets(seed) {
            for text in in_context(kind, &secret) {
                let out = redactor.redact(&text);
                assert!(!out.text.contains(&secret), "{kind} survived: {text}");
                assert_eq!(out.counts.get(kind), Some(&1), "{kind} in {text} gave {}", out.text);
            }
        }
    }
}

#[test]
fn random_strings_assigned_to_nothing_are_found() {
    for seed in 1..200 {
        let secret = random(ALNUM, 48, seed);
        assert_eq!(check(&format!("put {secret} there")), "put [redacted:high-entropy] there", "{secret}");
    }
}

#[test]
fn every_expression_compiles() {
    assert!(Patterns::new().all_compiled());
    assert!(pairs::all_compiled());
}

#[test]
fn passwords_in_urls_are_cut_out_and_the_rest_is_kept() {
    let pass = random(ALNUM, 9, 3);
    let url = format!("postgres://app:{pass}@db.internal:5432/app");
    assert_eq!(check(&url), "postgres://app:[redacted:url-password]@db.internal:5432/app");
    assert_eq!(check("https://example.org:8080/a@b"), "https://example.org:8080/a@b");
    assert_eq!(check("postgres://app:$PASS@db/app"), "postgres://app:$PASS@db/app");
}

#[test]
fn assignments_to_secret_names_lose_their_value() {
    for (name, value) in [
        ("DB_PASSWORD=", "correcthorse"),
        ("password: ", "hunter22"),
        ("\"password\": \"", "hunter22"),
        ("\\\"password\\\": \\\"", "hunter22"),
        ("--password ", "hunter22"),
        ("api_key = \"", "a1b2c3d4e5f6a7b8"),
        ("AWS_SECRET_ACCESS_KEY=", "wJa1rXUt0FEMI/K7MD3NG+bPx"),
        ("client_secret: '", "d41d8cd98f00b204e9800998ecf8427e"),
        ("Authorization: Bearer ", "a8s7d6f5g4h3j2k1l0"),
        ("Authorization: Basic ", "dXNlcjpwYXNzd29yZA=="),
        ("-H 'X-Api-Key: ", "a8s7d6f5g4h3j2k1l0"),
        ("?access_token=", "a8s7d6f5g4h3j2k1l0"),
        ("session_cookie=", "a8s7d6f5g4h3j2k1l0"),
    ] {
        let out = check(&format!("{name}{value}\n"));
        assert!(!out.contains(value) && out.starts_with(name), "{name}{value} gave {out}");
    }
}

#[test]
fn code_that_speaks_of_secrets_is_left_alone() {
    for text in [
        "let token = self.next_token();",
        "fn login(password: &str, token: Option<Token>) -> Secret",
        "password: String,",
        "password=os.environ['DB_PASSWORD']",
        "PASSWORD=$PASSWORD make",
        "token = parse_utf8_token(input)",
        "MAX_TOKENS=200000",
        "TOKEN_URL=/oauth/token",
        "\"password\": \"Enter your password\"",
        "<input type=\"password\" name=\"password1\">",
        "if token == Token::Comma1 {",
        "API_KEY=<your key>",
        "\"input_tokens\":1200,\"output_tokens\":140",
        "the bearer of this letter asks for a basic understanding",
        "total_token_usage: 12345678",
    ] {
        assert_eq!(check(text), text);
    }
}

#[test]
fn hashes_ids_paths_and_encoded_text_are_not_secrets() {
    for text in [
        "commit d46a0c1f9b3e8a7d6c5b4a39281706f5e4d3c2b1",
        "01a1fb69-e811-7c30-bbff-59dfc21c35e2",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "github.com/x/y v1.2.3 h1:Zx9cVbN3mK8qLwErTy7uIoP1aSdFgHj2kLzXcVbNmQw=",
        "\"integrity\": \"sha512-Zx9cVbN3mK8qLwErTy7uIoP1aSdFgHj2kLzXcVbNmQwZx9cVbN3mK8qLwErTy7uIoP==\"",
        "src/main/java/com/example/AbstractSingletonProxyFactoryBean2Test.java",
        "aVeryLongIdentifierThatSomebodyWroteInJavaScript2024ForFun",
        "Y3JhdGVzL3RyYW5zY3JpcHRzL3NyYy9saWIucnM6MTIgZm4gbWFpbigpIHt9",
        "toolu_01UJcyzEjpiK3ivCe5B5m8R6aBcD3fGh1Jk",
        "___________________________________________________",
    ] {
        assert_eq!(check(text), text);
    }
}

#[test]
fn private_keys_go_whole_cut_off_or_escaped() {
    let body = random(ALNUM, 64, 9);
    for (begin, nl) in [("RSA PRIVATE KEY", "\n"), ("PRIVATE KEY", "\\n"), ("OPENSSH PRIVATE KEY", "\r\n")] {
        let key = format!("-----BEGIN {begin}-----{nl}{body}{nl}{body}==");
        let whole = format!("a {key}{nl}-----END {begin}----- z");
        assert_eq!(check(&whole), "a [redacted:private-key] z");
        assert_eq!(check(&key), "[redacted:private-key]");
    }
    let encrypted = format!(
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES\n\n{body}\n-----END RSA PRIVATE KEY-----"
    );
    assert_eq!(check(&encrypted), "[redacted:private-key]");
    let public = format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----", "A".repeat(64));
    assert_eq!(check(&public), public);
}

#[test]
fn source_code_and_lock_files_give_no_false_positive() {
    let sources = [
        include_str!("lib.rs"),
        include_str!("shapes.rs"),
        include_str!("patterns.rs"),
        include_str!("pem.rs"),
        include_str!("entropy.rs"),
        include_str!("assigned.rs"),
        include_str!("arguments.rs"),
        include_str!("extent.rs"),
        include_str!("naming.rs"),
        include_str!("judge.rs"),
        include_str!("fields.rs"),
        include_str!("exact.rs"),
        include_str!("state_words.rs"),
        include_str!("unnamed.rs"),
        include_str!("names.rs"),
        include_str!("setting.rs"),
        include_str!("pair_value.rs"),
        include_str!("boundary.rs"),
        include_str!("element.rs"),
        include_str!("header.rs"),
        include_str!("literal.rs"),
        include_str!("noise.rs"),
        include_str!("pairs.rs"),
        include_str!("commands.rs"),
        include_str!("manifest.rs"),
        include_str!("plain.rs"),
        include_str!("prose.rs"),
        include_str!("rules.rs"),
        include_str!("table.rs"),
        include_str!("../../../Cargo.lock"),
        include_str!("../../../.cargo/clippy.toml"),
        include_str!("../../packet/src/packet/mod.rs"),
        include_str!("../../packet/src/packet/shape.rs"),
    ];
    for source in sources {
        let lines: Vec<&str> =
            source.lines().filter(|line| !REDACTOR.redact(line).counts.is_empty()).collect();
        assert_eq!(lines, Vec::<&str>::new());
        assert_eq!(REDACTOR.redact(source).counts, BTreeMap::new());
    }
}

#[test]
fn clean_text_is_borrowed() {
    assert!(matches!(REDACTOR.redact("nothing here").text, Cow::Borrowed(_)));
}

#[test]
fn a_secret_found_by_two_rules_is_redacted_once() {
    let text = format!("GITHUB_TOKEN=ghp_{}", random(ALNUM, 36, 5));
    assert_eq!(check(&text), "GITHUB_TOKEN=[redacted:github-token]");
}

#[test]
fn text_made_of_keywords_is_handled_in_linear_time() {
    let redactor = &*REDACTOR;
    for unit in ["token=", "password: ", "-----BEGIN PRIVATE KEY-----", "eyJ", "://a:", "sk-", "a1B2"] {
        redactor.redact(&unit.repeat(40_000 / unit.len()));
    }
}

proptest! {
    #[test]
    fn redacting_twice_is_redacting_once(text in "(?s).{0,200}") {
        let once = check(&text);
        prop_assert_eq!(check(&once), once);
    }

    #[test]
    fn secrets_in_noise_are_redacted_once_and_for_all(
        seed in 1_u64..9999, pick in 0_usize..22, before in "[ -~\\n]{0,40}", after in "[ -~\\n]{0,40}",
    ) {
        let (_, secret) = secrets(seed)[pick].clone();
        let once = check(&format!("{before} {secret} {after}"));
        prop_assert_eq!(check(&once), once);
    }

    #[test]
    fn words_that_matter_to_the_rules_never_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "password", "=", ":", "\"", "\\\"", "token", " ", "\n", "ä", "eyJ", ".", "://", "@", "u:p1", "-----BEGIN ",
            "PRIVATE KEY", "-----", "-----END ", "AAAA1111aaaa", "Bearer ", "--secret", "[redacted:", "]", "Q~", "sk-",
        ]), 0..30),
    ) {
        let once = check(&words.concat());
        prop_assert_eq!(check(&once), once);
    }
}

#[test]
fn a_folder_with_a_name_made_by_chance_stays() {
    let text = "cd /tmp/.tmpAbC1x2Q9/home/projects/Zq7-tmp-tmpAbC1x2Q9-shop && ls ~/.cache/x.Y8kQ2mN5pQ8sT1vW4yZ7bC0fXqLrM3dE6";
    assert_eq!(crate::Redactor::new().redact(text).text, text);
}

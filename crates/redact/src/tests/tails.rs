//! The whole of a secret goes, however it is written, and harmless text of the same look stays.

use super::check;

/// Texts with secrets whose parts hold `99`; nothing that holds it stays.
const WHOLE: &[&str] = &[
    // Signs that end a word elsewhere.
    "DB_PASSWORD=Hallo,Welt99xyz",
    "DB_PASSWORD=Hallo;Welt99xyz\nNEXT=1",
    "DB_PASSWORD=Hallo&Welt99xyz",
    "DB_PASSWORD=ab,99",
    "DB_PASSWORD=Hallo1|Welt(99)xyz",
    "export DB_PASSWORD=Hallo,Welt,99 # of ann",
    "PASSWORD=Grüße77ab99",
    "PASSWORD=ab€cd99",
    "PASSWORD=Ünïcode99",
    "password=Gruß12,Welt99",
    "password: Größe12ab99",
    "--password=Hallo,Welt99xyz",
    "mysql --password Hallo,Welt99xyz app",
    "Server=db;Password=ab,cd12&99;Encrypt=true",
    "https://example.org/?password=ab12cd,99x&next=1",
    // Blanks and commas in quotes.
    "\"password\": \"Hallo, schöne Welt99\"",
    "password = 'Hallo Welt99, noch eine'",
    "DB_PASSWORD=\"Hallo, Welt99\"",
    "password: \"correct horse99 battery, staple\"",
    "{\\\"password\\\": \\\"Hallo, Welt99\\\"}",
    // More than one line.
    "password: >-\n  Hallo Welt99x\nnext: 1",
    "db:\n  password: |\n    Hal Welt99\n  next: 1",
    "password:\n  Winter99x\nnext: 1",
    "{\n  \"password\":\n    \"Winter99x\"\n}",
    "{\n  \"client_secret\":\n    \"a99b8c7d6e5f4g\"\n}",
    "{\"output\":\"password: >-\\n  Hallo Welt99x\\nnext: 1\"}",
    "{\"output\":\"password:\\n  Winter99x\\nnext: 1\"}",
    // Headers.
    "Authorization: Bearer Winter99x",
    "-H 'Authorization: Bearer Winter99x'",
    "Bearer Winter99x",
    "use `Bearer Winter99x` here",
    "X-Api-Key: abc99def",
    "\"-H \\\"X-Api-Key: abc99def\\\"\"",
    // Properties.
    "spring.datasource.password=Win.ter99/x",
    "spring.datasource.password = Hallo,Welt99",
    "app.jwt.secret=Wint99-er_x.y",
    // Dots and slashes.
    "DB_PASSWORD=Win.ter/99x",
    "DB_PASSWORD=/Win.t99/x",
    "--password Win.ter/99x",
    "password: Win.ter!/99x\n",
    "password=Winter/99x.Y!z",
    // Lists of arguments.
    "[\"mysql\", \"--password\", \"Winter99x\", \"app\"]",
    "['--password', 'Winter99']",
    "[\\\"--password\\\",\\\"Winter99\\\"]",
    "[\n  \"--token\",\n  \"a1b299c3d4\"\n]",
    "args:\n  - --password\n  - Winter99\n  - app",
    "[\"docker\", \"login\", \"-u\", \"ann\", \"-p\", \"winter99\", \"registry.example.org\"]",
    "{\"command\":[\"docker\",\"login\",\"-u\",\"ann\",\"-p\",\"winter99\"]}",
    "[\"sshpass\", \"-p\", \"winter99\", \"ssh\", \"host\"]",
    "[\"redis-cli\",\"-a\",\"winter99\",\"ping\"]",
    "Command::new(\"x\").args([\"--password\", \"Winter99x\"])",
    // Files of PostgreSQL.
    "host:5432:db:user:pa\\:ss99",
    "host:5432:d\\:b:us\\\\er:pa\\\\ss\\:99\n",
    "*:*:*:ann:pa\\:ss99\n",
    "host:6432:db:user:pass99",
    "{\"output\":\"host:5432:db:user:pa\\\\:ss99\\nnext\"}",
    // Keys that are shown in part.
    "sk-ant-api03-AbCd…Wx99",
    "sk-ant-api03-AbCdEfGh...Wx99",
    "ghp_Ab12***Wx99",
    "AKIAABCD…WX99",
    "sk-…Wx99",
    "glpat-Ab1…99xy",
];

#[test]
fn nothing_of_a_secret_is_left_behind_a_sign_or_a_line() {
    let leaked: Vec<(&str, String)> = WHOLE
        .iter()
        .map(|text| (*text, check(text)))
        .filter(|(_, out)| out.contains("99") || !out.contains("[redacted:"))
        .collect();
    assert!(leaked.is_empty(), "{leaked:#?}");
}

/// Plain words where only a secret can stand.
const WORDS: &[&str] = &[
    "X-Auth-Token: plainword",
    "-H 'X-Auth-Token: plainword'",
    "PRIVATE-TOKEN: plainword\n",
    "spring.datasource.password=plainword",
    "a=1\nspring.mail.password = plainword\nb=2",
    "[\"--password\", \"plainword\"]",
    "\"password\": \"plain horse battery plainword\"",
];

#[test]
fn a_plain_word_goes_from_a_header_a_property_and_a_list_of_arguments() {
    let leaked: Vec<(&str, String)> = WORDS
        .iter()
        .map(|text| (*text, check(text)))
        .filter(|(_, out)| out.contains("plainword") || !out.contains("[redacted:"))
        .collect();
    assert!(leaked.is_empty(), "{leaked:#?}");
}

#[test]
fn what_follows_a_secret_stays() {
    for (text, wanted) in [
        ("DB_PASSWORD=Hallo,Welt99 NEXT=1", "DB_PASSWORD=[redacted:password] NEXT=1"),
        ("Server=db;Password=s3cret99;Encrypt=true", "Server=db;Password=[redacted:password];Encrypt=true"),
        ("x?password=s3cret99&next=1", "x?password=[redacted:password]&next=1"),
        ("x?password=s3cret99&amp;next=1", "x?password=[redacted:password]&amp;next=1"),
        ("PASSWORD=s3cret99 && ls", "PASSWORD=[redacted:password] && ls"),
        ("PASSWORD=s3cret99; ls", "PASSWORD=[redacted:password]; ls"),
        ("f(password=s3cret99,user2)", "f(password=[redacted:password],user2)"),
        ("{password: s3cret99,user: ann}", "{password: [redacted:password],user: ann}"),
        (
            "{\n  \"password\":\n    \"Winter99x\",\n  \"a\": 1\n}",
            "{\n  \"password\":\n    \"[redacted:password]\",\n  \"a\": 1\n}",
        ),
        ("[\"--password\", \"Winter99\", \"app\"]", "[\"--password\", \"[redacted:password]\", \"app\"]"),
        ("host:5432:db:user:pa\\:ss99\nnext", "host:5432:db:user:[redacted:password]\nnext"),
        ("key sk-ant-api03-AbCd…Wx99 works", "key [redacted:anthropic-key] works"),
        (
            "Authorization: Bearer Winter99x\nAccept: a",
            "Authorization: Bearer [redacted:bearer-token]\nAccept: a",
        ),
    ] {
        assert_eq!(check(text), wanted);
    }
}

/// Harmless text of the same look.
const HARMLESS: &[&str] = &[
    // Names of tests and of symbols.
    "--- FAIL: TestHTTP2ServerPushPromiseWithTrailersAndPadding (0.02s)",
    "ok TestHTTP2ServerPushPromiseWithTrailers",
    "AVRemoteControlControllerServiceClass_UUID16",
    "D3DKMTSignalSynchronizationObjectFromGpu2",
    "DevProp_PciExpressDevice_PayloadOrRequestSize_1024Bytes",
    "test_OAuth2TokenRefresh_WhenB64Decoded_ReturnsHTTP401",
    "TASK_DIR=\"$HOME/.claude-code-viewer/tasks/Zq7xTm2Q9AbC1x2Q9Zq7xTm2Q9AbC1xQ9\"",
    // Usage.
    "--password options",
    "the --password and --token options are required",
    "usage: tool [--password PASSWORD] [--token TOKEN]",
    "--password string   password of the account",
    "--password with a prompt",
    "use --password if the server wants one",
    "--token file",
    "tool --password=PASSWORD",
    "parser.add_argument(\"--password\", \"-p\", help=\"the password\")",
    "@click.option(\"--password\", \"db_password\", prompt=True)",
    "complete(\"--password\", \"--token\", \"--user\")",
    "[\"--password\", \"--token\"]",
    "[\"--password\", password]",
    "[\"--password\", \"$PASSWORD\"]",
    "[\"--password-stdin\", \"registry.example.org\"]",
    // Addresses.
    "postgres://USER[:PASSWORD]@host/db",
    "postgres://[USER[:PASSWORD]@]HOST[:PORT]/DB",
    "mysql://DB_USER:DB_PASS@host/db",
    "redis://[:password]@host",
    "Password only: `redis://:password@127.0.0.1:6379`",
    // Words and types.
    "password: required",
    "  password: required # at least 8",
    "password:\n  required",
    "password: SecretStr",
    "password: Utf8String",
    "password: Base64Url",
    "token: OAuth2Token",
    "passwd: Sha256Digest,",
    "password:\n  type: string\n  minLength: 8",
    "\"password\":\n  { \"type\": \"string\" }",
    "\"password\": \"must have at least 8 characters\"",
    "\"password\": \"min. 8 characters, one digit\"",
    "password: \"SHA256 of the word, base64\"",
    // Numbers, ids, hashes.
    "token_budget=2000",
    "TOKEN_BUDGET=2000",
    "--token-budget 20000",
    "max_tokens=128000,temperature=1",
    "token_id: 01a1fb69-e811-7c30-bbff-59dfc21c35e2",
    "commit d46a0c1f9b3e8a7d6c5b4a39281706f5e4d3c2b1 (HEAD -> main)",
    "the secret scanner ran on 176d954 and 01a1fb69-e811-7c30-bbff-59dfc21c35e2",
    "2026-11-22T10:00:00Z token refreshed",
    // Files and modules.
    "import { password } from './password-v2.ts'",
    "from auth2.password import Hash2",
    "use crate::secret::Sha256Token;",
    "password: src/auth2/password.rs",
    "secret: k8s/app1-secret.yaml",
    "\"secret\": \"k8s/app1/secret2.yaml\"",
    "token = require('./token2.js')",
    "password: user.pass2",
    "self.password=hashed1_value",
    "this.password = value;",
    "user.password=newValue",
    "config.password = settings.password",
    // Headers, keys and authorities that are only spoken of.
    "X-Auth-Token: required",
    "X-Auth-Token: the token of the account",
    "Bearer authentication",
    "Bearer OAuth2.0 tokens",
    "Bearer <token>",
    "bearer HTTP/1.1 header",
    "keys begin with sk-... or ghp_...",
    "sk-ant-…",
    "sk-ant-...",
    "AKIA...EXAMPLE",
    "SELECT ** identified by \"colUsed\", then all",
    // Signs.
    "password=é",
    "password: … and so on",
    "password → user",
    "密码password:必须的",
    "PASSWORD=\"\",TOKEN=\"\"",
    "let password = a,b;",
];

#[test]
fn harmless_text_of_the_same_look_stays() {
    let changed: Vec<(&str, String)> =
        HARMLESS.iter().map(|text| (*text, check(text))).filter(|(text, out)| text != out).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

#[test]
fn tails_are_redacted_once_and_for_all_also_inside_strings() {
    for text in WHOLE.iter().chain(WORDS).chain(HARMLESS) {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        for text in [(*text).to_owned(), escaped, format!("before\n{text}\nafter"), text.repeat(3)] {
            let once = check(&text);
            assert_eq!(check(&once), once);
        }
    }
}

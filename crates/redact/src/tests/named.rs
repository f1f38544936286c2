//! Names that are a secret's as a whole (`SECRET_KEY`, `clientSecret`), in places that keep name and value apart, and what
//! looks like that and holds none.

use super::check;

/// Texts with a value that is `s3cretV9x` or holds it; nothing of it stays.
const PLACES: &[&str] = &[
    // Fields of their own.
    "env:\n  - name: SECRET_KEY\n    value: plains3cretV9x\n",
    "env:\n  - name: SECRET_KEY\n    value: 's3cretV9x,[a'\n",
    "env:\n  - value: s3cretV9x\n    name: SECRET_KEY\n",
    "env: [{name: SECRET_KEY, value: s3cretV9x}, {name: A, value: b}]",
    "{\"name\":\"SECRET_KEY\",\"value\":\"s3cretV9x\"}",
    "{\"value\":\"s3cretV9x\",\"name\":\"SECRET_KEY\"}",
    "{\"name\":\"SECRET_KEY\",\"value\":\"a\\\"s3cretV9x\\\"b\"}",
    "environment {\n  name  = \"SECRET_KEY\"\n  value = \"s3cretV9x\"\n}",
    "<property>\n  <name>fs.secret.key</name>\n  <name>SECRET_KEY</name>\n  <value>s3cretV9x</value>\n</property>",
    // Tables.
    "| Name | Value |\n|---|---|\n| SECRET_KEY | s3cretV9x |\n",
    "name|value\nSECRET_KEY|s3cretV9x\n(1 row)\n",
    " name       | value\n------------+-------\n SECRET_KEY | s3cretV9x\n(1 row)\n",
    "-[ RECORD 1 ]--\nsecret_key | s3cretV9x\n",
    // Code.
    "define('SECRET_KEY','s3cretV9x');",
    "const apiKey: string = \"s3cretV9x\";",
    "let apiKey: String = \"s3cretV9x\".to_owned();",
    "let api_key: String = String::from(\"s3cretV9x\");",
    "var clientSecret string = \"s3cretV9x\"",
    "val secretKey: String? = \"s3cretV9x\"",
    "    password: str | None = \"s3cretV9x\"",
    "@dataclass\nclass A:\n    api_key: Optional[str] = 's3cretV9x'\n",
    // Settings.
    "FROM x\nENV SECRET_KEY s3cretV9x\n",
    "FROM x\nENV SECRET_KEY=s3cretV9x=$a&b\n",
    "ENV A=1 \\\n    SECRET_KEY=s3cretV9x \\\n    B=2\n",
    "services:\n  app:\n    environment:\n      - SECRET_KEY=s3cretV9x\n",
    "SECRET_KEY=s3cretV9x ./manage.py runserver",
    "secret-key = s3cretV9x;\n",
    "[app]\n# of ann\nhost = x\nsecretkey = plains3cretV9x\n",
    "app.client-secret=s3cretV9x",
    "+ export SECRET_KEY=s3cretV9x",
    "++ SECRET_KEY=s3cretV9x",
    "+++ local SECRET_KEY=s3cretV9x",
    "spring.datasource.password: |\n  s3cretV9x\nnext: 1",
    "  spring.datasource.password: >-\n    s3cretV9x\n  next: 1",
    // Markup and connections.
    "<db secret-key='s3cretV9x'/>",
    "<SecretKey>s3cretV9x</SecretKey>",
    "Driver={SQL Server};Server=db;UID=sa;PWD={s3cretV9x};",
    "Driver={SQL Server};Server=db;UID=sa;PWD=s3cretV9x{a;",
    "Data Source=db;User Id=sa;Password=$s3cretV9x;",
    // Names whose first letters are those of a switch.
    "USER_PASSWORD: plainwords3cretV9x\n",
    "{\"notion_secret_key\": \"s3cretV9x\"}",
    "MINIO_SECRET_KEY=s3cretV9x",
    "TERRAFORM_API_KEY=s3cretV9x",
];

#[test]
fn a_name_that_is_a_secrets_as_a_whole_counts_in_every_place() {
    let leaked: Vec<String> = PLACES
        .iter()
        .map(|text| check(text))
        .filter(|out| out.contains("V9") || !out.contains("[redacted:"))
        .collect();
    assert!(leaked.is_empty(), "{} of {}: {leaked:#?}", leaked.len(), PLACES.len());
}

#[test]
fn what_stands_around_such_a_value_stays() {
    for (text, wanted) in [
        (
            "- name: SECRET_KEY\n  value: s3cretV9x\n- name: X\n  value: plain",
            "- name: SECRET_KEY\n  value: [redacted:secret]\n- name: X\n  value: plain",
        ),
        ("| SECRET_KEY | s3cretV9x | of ann |", "| SECRET_KEY | [redacted:secret] | of ann |"),
        ("ENV SECRET_KEY=s3cretV9x OTHER=1", "ENV SECRET_KEY=[redacted:secret] OTHER=1"),
        ("+ export SECRET_KEY=s3cretV9x\n+ ls", "+ export SECRET_KEY=[redacted:secret]\n+ ls"),
        ("const apiKey: string = \"s3cretV9x\";", "const apiKey: string = \"[redacted:secret]\";"),
        ("UID=sa;PWD={s3cretV9x};Encrypt=yes", "UID=sa;PWD={[redacted:password]};Encrypt=yes"),
        ("(https://x.org/?api_key=s3cretV9x)", "(https://x.org/?api_key=[redacted:secret])"),
        (
            "https://x.org/?api_key=s3cretV9x&amp;next=1",
            "https://x.org/?api_key=[redacted:secret]&amp;next=1",
        ),
        ("a.b.password: |\n  s3cretV9x\nnext: 1", "a.b.password: |\n  [redacted:password]\nnext: 1"),
    ] {
        assert_eq!(check(text), wanted);
    }
}

/// Texts of the same look without a secret.
const HARMLESS: &[&str] = &[
    // References and placeholders.
    "- name: SECRET_KEY\n  valueFrom:\n    secretKeyRef:\n      name: app1\n      key: secret-key1\n",
    "- name: SECRET_KEY\n  value: $(OTHER_KEY1)\n",
    "- name: SECRET_KEY\n  value: ${SECRET_KEY1}\n",
    "- name: SECRET_KEY\n  value: \"{{ .Values.secretKey1 }}\"\n",
    "{\"name\":\"SECRET_KEY\",\"value\":\"<secret-key-1>\"}",
    "{\"name\":\"SECRET_KEY\",\"valueFrom\":\"arn:aws:secretsmanager:eu-central-1:123456789012:secret:app\"}",
    "{\"name\":\"SECRET_KEY\",\"value\":\"\"}",
    "{\"name\":\"secretKey\",\"type\":\"string\",\"required\":true}",
    "{\"name\": \"api-key\", \"description\": \"of the account\", \"value\": \"string\"}",
    "SECRET_KEY=$SECRET_KEY1 make",
    "SECRET_KEY=%SECRET_KEY%",
    "SECRET_KEY=\"${SECRET_KEY:?missing1}\"",
    "SECRET_KEY=`cat key1`",
    "SECRET_KEY=/run/secrets/app",
    "SECRET_KEY=vault:secret/data/app",
    "SECRET_KEY_FILE=/run/secrets/app1",
    "Driver={SQL Server};Server={server};UID={user};PWD={passwd1};",
    "f\"UID={user};PWD={pw};\"",
    // Tables of documents.
    "| SECRET_KEY | required |",
    "| SECRET_KEY | string | the key |",
    "| `apiKey` | `string` | of the account |",
    "| `SECRET_KEY` | `None` |",
    "| DB_PASSWORD | the password of the database |",
    "| Option | Default |\n|---|---|\n| api-key | undefined |\n",
    "export type A =\n  | apiKey\n  | password\n",
    "cat x |\n  password | sort",
    // Code.
    "const apiKey: string = getKey();",
    "const apiKey: string = process.env.API_KEY;",
    "const apiKey: string | undefined = undefined;",
    "let api_key: &str = args.next()?;",
    "let api_key: Option<String> = None;",
    "var apiKey string",
    "val password: String by lazy { read() }",
    "const API_KEY: &str = \"x-api-key\";",
    "const SECRET_KEY: &str = \"SECRET_KEY\";",
    "const apiKey: string = `${prefix}key`;",
    "SECRET_KEY = get_random_secret_key()",
    "SECRET_KEY = env('SECRET_KEY')",
    "SECRET_KEY = config[\"secret1\"]",
    "api_key = settings.api_key2",
    "apiKey = parseKeyV2(input)",
    "secretKey = otherKey",
    "self.secret_key = secret_key1",
    "cx.common.quic.early_secret = None;",
    "user.password=newValue",
    "    api_key=configured_value,",
    "    secret_key=derive(x1),",
    "apiKey: configuredKey,",
    "secretKey: SecretString",
    "  privateKey: KeyObject;\n",
    "if SECRET_KEY == other:",
    "resetPassword: \"Choose another\"",
    "is_secret = \"maybe\"",
    "get_secret: \"function1\"",
    "ERR_SECRET_KEY=\"the key1 is not valid\"",
    "define('SECRET_KEY', getenv('SECRET_KEY'));",
    "define('SECRET_KEY', 'put your unique phrase here');",
    // Ids, hashes, paths.
    "commit d46a0c1f9b3e8a7d6c5b4a39281706f5e4d3c2b1",
    "| commit | d46a0c1f9b3e8a7d6c5b4a39281706f5e4d3c2b1 |",
    "- name: TASK_ID\n  value: 01a1fb69-e811-7c30-bbff-59dfc21c35e2\n",
    "{\"name\":\"session_id\",\"value\":\"01a1fb69-e811-7c30-bbff-59dfc21c35e2\"}",
    "+ export PATH=/usr/local/bin:/usr/bin",
    "++ TOKEN_URL=https://example.org/oauth/token",
    "secretName: app-tls1",
    "private_key = ~/.ssh/id_ed25519",
    "ssl.keystore.location=/etc/keystore1.jks",
    "the SECRET_KEY is read from the environment",
    "set SECRET_KEY to the value from the page",
    "secret-key: see below",
];

#[test]
fn references_code_and_documents_of_the_same_look_stay() {
    let changed: Vec<(&str, String)> =
        HARMLESS.iter().map(|text| (*text, check(text))).filter(|(text, out)| text != out).collect();
    assert!(changed.is_empty(), "{} of {}: {changed:#?}", changed.len(), HARMLESS.len());
}

#[test]
fn such_places_are_redacted_once_and_for_all_also_inside_strings() {
    for text in PLACES.iter().chain(HARMLESS) {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        for text in [(*text).to_owned(), escaped, format!("before\n{text}\nafter"), text.repeat(3)] {
            let once = check(&text);
            assert_eq!(check(&once), once);
        }
    }
}

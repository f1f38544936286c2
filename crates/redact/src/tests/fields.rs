//! Fields whose value is a plain word, addresses that write into a channel, and what looks like either and is neither.

use super::check;

/// Texts with the plain word that is the secret; what is around it stays.
const FIELDS: &[&str] = &[
    // JSON, also in a string.
    r#"{"client_secret": "plainword"}"#,
    r#"{"api_key":"plainword","x":1}"#,
    r#"{"apikey": "plainword"}"#,
    r#"{"secret": "plainword"}"#,
    r#"{"access_key": "plainword"}"#,
    r#"{"private_key": "plainword"}"#,
    r#"{"auth_token": "plainword"}"#,
    r#"{"passwd": "plainword", "pwd": "plainword"}"#,
    r#"{"pass": "plainword"}"#,
    r#"{"user": "ann", "pw": "plainword"}"#,
    r#"{"clientSecret": "plainword", "accessKey": "plainword"}"#,
    r#"{\"client_secret\": \"plainword\"}"#,
    r#"{\"pass\":\"plainword\"}"#,
    "{'password': 'plainword'}",
    "password => 'plainword',\n'api_key' => 'plainword'",
    // YAML.
    "client_secret: plainword\n",
    "auth:\n  api_key: plainword\n  user: ann",
    "  - password: plainword\n",
    "password: \"plainword\"",
    "POSTGRES_PASSWORD: plainword\n",
    // TOML and properties.
    "client_secret = \"plainword\"",
    "passwd = 'plainword' # of ann",
    // Environment and queries.
    "CLIENT_SECRET=plainword",
    "client_secret=plainword",
    "export api_key=plainword\n",
    "grant_type=client_credentials&client_id=x&client_secret=plainword&scope=a",
    "https://example.org/?api_key=plainword",
    "curl -d 'user=ann&pass=plainword' https://example.org",
    "user=ann;pw=plainword;host=db",
    "pass=plainword\n",
    "login with pass=plain1word now",
    // XML.
    "<password>plainword</password>",
    "<db><user>ann</user><passwd> plainword </passwd></db>",
    "<ns:clientSecret>plainword</ns:clientSecret>",
    "<connection user=\"ann\" password=\"plainword\"/>",
    "<apiKey>plainword</apiKey>",
    // Programs.
    "zip -r -P plainword out.zip folder",
    "zip -Pplainword out.zip folder",
    "unzip -P plainword in.zip",
    "7z a -pplainword out.7z folder",
    "7za x in.7z -p'plainword'",
    "unrar x -pplainword in.rar",
    "rar a -hpplainword out.rar folder",
    "openssl enc -aes-256-cbc -in a -out b -k plainword",
    "openssl enc -d -aes-128-cbc -K plainword -iv 00",
    "openssl enc -aes-256-cbc -pass pass:plainword -in a",
    "sshpass -p plainword ssh ann@host",
    "mysql -uroot -pplainword app",
    "redis-cli -a plainword ping",
    "curl -u ann:plainword https://example.org",
    "wget --user ann --password plainword https://example.org",
    "wget --http-password=plainword https://example.org",
    "htpasswd -b file ann plainword",
    "htpasswd -nbB ann plainword",
    "docker login -u ann -p plainword registry.example.org",
    "smbclient //host/share -U ann%plainword",
    "mosquitto_pub -h host -u ann -P plainword -t x",
];

#[test]
fn a_plain_word_is_a_secret_where_nothing_else_can_stand() {
    let unredacted: Vec<(&str, String)> = FIELDS
        .iter()
        .map(|text| (*text, check(text)))
        .filter(|(_, out)| {
            out.contains("plainword") || out.contains("plain1word") || !out.contains("[redacted:")
        })
        .collect();
    assert!(unredacted.is_empty(), "{unredacted:#?}");
}

#[test]
fn what_stands_around_a_plain_word_stays() {
    for (text, wanted) in [
        (
            r#"{"client_secret": "plainword", "scope": "all"}"#,
            r#"{"client_secret": "[redacted:secret]", "scope": "all"}"#,
        ),
        ("<passwd> plainword </passwd>", "<passwd> [redacted:password] </passwd>"),
        ("user=ann&pass=plainword&x=1", "user=ann&pass=[redacted:password]&x=1"),
        ("zip -P plainword out.zip folder", "zip -P [redacted:password] out.zip folder"),
        ("htpasswd -b file ann plainword && ls", "htpasswd -b file ann [redacted:password] && ls"),
    ] {
        assert_eq!(check(text), wanted);
    }
}

#[test]
fn an_address_that_writes_into_a_channel_is_a_secret() {
    let word = "aZ3_dE5-gH7jK9lM1nP3qR5tV7xY9zB1dF3hJ5";
    let hex = "0123456789abcdef0123456789abcdef";
    let guid = "0b3e1c5a-7d29-4f68-8a1b-2c3d4e5f6a7b";
    for (text, gone) in [
        (format!("https://discord.com/api/webhooks/123456789012345678/{word}"), word),
        (format!("https://discordapp.com/api/webhooks/123456789012345678/{word}?wait=true"), word),
        (format!("https://canary.discord.com/api/v10/webhooks/123456789012345678/{word}"), word),
        (format!("https://ptb.discord.com/api/webhooks/123456789012345678/{word}"), word),
        (
            format!("https://acme.webhook.office.com/webhookb2/{guid}@{guid}/IncomingWebhook/{hex}/{guid}"),
            hex,
        ),
        (format!("https://outlook.office.com/webhook/{guid}@{guid}/IncomingWebhook/{hex}/{guid}"), hex),
        (
            format!("https://chat.googleapis.com/v1/spaces/AAAA/messages?key=short-key&token={word}"),
            "short-key",
        ),
        ("https://mm.example.org/hooks/x7k3m9q2w5t8y1u4i6o0p3a5s7".to_owned(), "x7k3m9q2w5t8y1u4i6o0p3a5s7"),
        (format!("https://chat.example.org/hooks/5f3a1b2c4d6e7f8a9/{}", &hex[..26]), &hex[..26]),
        ("https://hooks.zapier.com/hooks/catch/12345/abc9def/".to_owned(), "abc9def"),
        (format!("https://open.feishu.cn/open-apis/bot/v2/hook/{guid}"), guid),
    ] {
        let out = check(&text);
        assert!(!out.contains(gone) && out.contains("[redacted:"), "{text}: {out}");
        assert!(out.starts_with(&text[..20]), "{out}");
    }
}

/// A private key as tools show it: every line behind `before`, ended by `after`.
fn shown(before: impl Fn(usize) -> String, after: &str, lines: usize) -> (String, Vec<String>) {
    let line = |n: usize| format!("{:x}", 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(n as u64 + 1)).repeat(4);
    let mut body: Vec<String> = (0..lines).map(line).collect();
    body.push("Qq9z=".to_owned());
    let begin = "-----BEGIN RSA PRIVATE KEY-----".to_owned();
    let end = "-----END RSA PRIVATE KEY-----".to_owned();
    let all = std::iter::once(&begin).chain(&body).chain(std::iter::once(&end));
    let text: String = all.enumerate().map(|(n, line)| format!("{}{line}{after}", before(n + 9))).collect();
    (text, body)
}

#[test]
fn a_private_key_is_gone_however_its_lines_are_shown() {
    type Before = fn(usize) -> String;
    let shapes: [(Before, &str); 13] = [
        (|n| format!("{n}→"), "\n"),
        (|n| format!("     {n}\t"), "\n"),
        (|n| format!("{n}: "), "\n"),
        (|n| format!("  {n}  "), "\n"),
        (|n| format!("{n:>6} | "), "\n"),
        (|_| "> ".to_owned(), "\n"),
        (|_| "> > ".to_owned(), "\r\n"),
        (|_| "+".to_owned(), "\n"),
        (|_| "-    ".to_owned(), "\n"),
        (|_| "    \"".to_owned(), "\\n\" +\n"),
        (|_| "'".to_owned(), "\\n'\n"),
        (|_| "# ".to_owned(), "\n"),
        (|n| format!("     {n}→"), "\\n"),
    ];
    for (before, after) in shapes {
        let (text, body) = shown(before, after, 12);
        let whole = format!("see\n{text}and more prose about it\n");
        let out = check(&whole);
        assert!(out.starts_with("see\n") && out.ends_with("and more prose about it\n"), "{after:?}: {out}");
        assert!(out.contains("[redacted:private-key]"), "{out}");
        assert!(!out.contains("PRIVATE KEY--"), "nothing of it is left: {out}");
        for line in &body {
            assert!(!out.contains(line.as_str()), "{line} is left: {out}");
        }
        // Cut off in the middle, with a remark of the tool behind it.
        let cut = format!("{}\nThe file goes on.", &text[..text.len() * 2 / 3]);
        let out = check(&cut);
        assert!(body[..6].iter().all(|line| !out.contains(line.as_str())), "{out}");
        assert!(out.ends_with("The file goes on."), "{out}");
    }
}

/// Code, data and prose with the same words, in which no secret stands.
const HARMLESS: &[&str] = &[
    // Data without a value.
    r#"{"secret": null}"#,
    r#"{"secret": true, "password": false}"#,
    r#"{"secret": "", "api_key": ""}"#,
    r#"{"password": {"type": "string", "minLength": 8}}"#,
    r#"{"password": "string", "api_key": "required"}"#,
    r#"{"api_key": "${API_KEY}", "secret": "{{ secret }}"}"#,
    r#"{"api_key": "YOUR_API_KEY", "password": "<your-password>"}"#,
    r#"{"secret": "env:APP_SECRET", "token": "none"}"#,
    r#"{"required": ["password", "client_secret"]}"#,
    r#"{"password": "Enter your password", "confirm_password": "Repeat"}"#,
    r#"{"reset_password": "Choose another", "has_password": "boolean"}"#,
    r#"{"secretName": "app-tls", "secret": "app-tls"}"#,
    r#"{"passed": 12, "pass": 3, "pw": 4}"#,
    r#"{"pass": "true", "pwd": "/srv/shop"}"#,
    r#"{"token_type": "bearer", "private_key_path": "ssh.pem"}"#,
    // Types and declarations.
    "password: string",
    "  password: string;\n  apiKey?: string;",
    "api_key: str = None",
    "secret: bytes",
    "private_key: Option<PrivateKey>,",
    "pub access_key: String,",
    "passwd: &'a str",
    "interface Login { user: string; password: string }",
    "password VARCHAR(255) NOT NULL,",
    "val password: String",
    "type Secret = string",
    // Code that passes one on.
    "api_key = os.environ[\"X\"]",
    "api_key = os.getenv(\"API_KEY\")",
    "client_secret = settings.client_secret",
    "client_secret=client_secret,",
    "login(user=user, password=password)",
    "connect(host, password=hashed, secret=derived)",
    "const { password, secret } = req.body;",
    "password: hashedPassword,",
    "secret: config.get('secret'),",
    "return { user, password: encrypted };",
    "if password == \"\" {",
    "if (secret === undefined) return;",
    "assert api_key != \"\"",
    "self.api_key = api_key",
    "let private_key = PrivateKey::generate();",
    "const API_KEY_HEADER = \"x-api-key\"",
    "headers[\"api_key\"] = api_key",
    "params[:password]",
    "<input type=\"password\" name=\"password\" autocomplete=\"current-password\">",
    "<label for=\"password\">Password</label>",
    "<Secret name={name} />",
    "<password>",
    "use <password> and </password> as tags",
    "<password><your-password></password>",
    "<password>${db.password}</password>",
    "<secret>{{ value }}</secret>",
    // Shells.
    "API_KEY=${API_KEY:-}",
    "PASSWORD=\"$(cat file)\"",
    "client_secret=$CLIENT_SECRET",
    "secret=`cat secret`",
    "passwd=\"$1\"",
    "read -s password",
    "zip -r out.zip folder",
    "unzip -p in.zip file > out",
    "7z x in.7z -ofolder",
    "7z a -p out.7z folder",
    "openssl genrsa -out key.pem 4096",
    "openssl req -new -key server.key -keyout new.key -out server.csr",
    "openssl enc -aes-256-cbc -kfile secret.txt -in a",
    "htpasswd -c file ann",
    "htpasswd -B file ann",
    "useradd -m -s /bin/sh ann",
    // Counts, sums and prose.
    "pass=1",
    "pass=12 fail=0",
    "pass=12 fail=0 skip=1",
    "test result: pass=true",
    "-Rpass=inline -pass=instcombine",
    "ffmpeg -pass 1 -i in.mp4",
    "pw=2*x",
    "pw=width*height",
    "let pw=measure(line);",
    "bypass=enabled",
    "compass=north",
    "api_key: the key of the account, see below",
    "Secret: none",
    "password: wrong, try again",
    "the secret: patience",
    "a private key: what it is and how to keep one",
    "client_secret=VALUE",
    "--client-secret SECRET",
    // Addresses.
    "GET /api/webhooks/123/events",
    "app.post('/webhooks/github', handle)",
    "src/hooks/useAuthentication/index.ts",
    "cp .git/hooks/pre-commit.sample .git/hooks/pre-commit",
    "https://github.com/acme/app/settings/hooks/123456",
    "https://example.org/hooks/catch/all",
    "https://chat.googleapis.com/v1/spaces/AAAA/messages",
];

#[test]
fn code_data_and_prose_with_the_same_words_stay() {
    let changed: Vec<(&str, String)> =
        HARMLESS.iter().map(|text| (*text, check(text))).filter(|(text, out)| text != out).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

#[test]
fn fields_are_redacted_once_and_for_all_also_inside_strings() {
    for text in FIELDS.iter().chain(HARMLESS) {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        for text in [(*text).to_owned(), escaped, format!("before\n{text}\nafter"), text.repeat(3)] {
            let once = check(&text);
            assert_eq!(check(&once), once);
        }
    }
}

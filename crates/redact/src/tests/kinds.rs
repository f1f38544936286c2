//! One example of each place in which people leave a secret, and texts that only speak of one.

use super::check;

/// Texts with a secret, which holds the word `s3cret`; what is around it stays.
const PLACES: &[&str] = &[
    // Commands.
    "curl -u admin:s3cretPass https://example.org/api",
    "curl -sS --user 'admin:my s3cret' https://example.org",
    "curl -X POST https://example.org \\\n  -H 'Accept: */*' \\\n  -u admin:s3cret1 \\\n  -d @x",
    "curl --user=admin:s3cret1 x",
    "curl -uadmin:s3cret1 x",
    "{\"command\":[\"curl\", \"-u\", \"admin:s3cret1\", \"x\"]}",
    "sshpass -p s3cret ssh ann@host",
    "sshpass -p 'a s3cret' ssh ann@host",
    "sshpass -ps3cret ssh ann@host",
    "mysql -u root -ps3cret app",
    "mysqldump --single-transaction -h db -uroot -p's3cret!' app > x.sql",
    "docker exec db mariadb -ps3cret -e 'select 1'",
    "mysql --password=s3cret app",
    "mysql --password s3cret app",
    "mongosh -u root -p s3cret admin",
    "redis-cli -h cache -a s3cret ping",
    "docker login -u ann -p s3cret registry.example.org",
    "echo s3cretWord | docker login -u ann --password-stdin",
    "echo -n \"s3cretWord\" | sudo tee /dev/null | gh auth login --with-token",
    "docker login --password-stdin <<< s3cretWord",
    "echo 'root:s3cretWord' | chpasswd",
    "echo s3cretWord | sudo -S apt-get update",
    "ldapsearch -x -D cn=admin -w s3cret",
    "sqlcmd -S db -U sa -P s3cret",
    "smbclient //host/share -U ann%s3cret",
    "PGPASSWORD=s3cret psql -h db",
    "PGPASSWORD='a s3cret' psql -h db",
    "openssl rsa -in key.pem -passin pass:s3cret1",
    "kubectl create secret generic x --from-literal=neutral=s3cret1",
    "setx DB_PASSWORD s3cret1",
    "keytool -list -storepass s3cret",
    // Files.
    "machine api.example.org\n  login ann\n  password s3cret\n",
    "machine api.example.org login ann password s3cret",
    "default login ann password s3cret",
    "db.example.org:5432:app:ann:s3cret\n",
    "*:*:*:ann:s3cret\n",
    "APP_SECRET=\"one s3cret with spaces\"",
    "export APP_SECRET='one s3cret with spaces' # set by ann",
    "export db_password=s3cretwords",
    "set DB_PASSWORD=s3cret",
    "$env:DB_PASSWORD = \"s3cretwords\"",
    "ENV DB_PASSWORD=s3cret",
    "password: |\n  s3cret-words\nnext: 1",
    "  - password: >-\n      s3cret-words\n  - next: 1",
    "variable \"db_password\" {\n  type = string\n  default = \"s3cretwords\"\n}",
    "TF_VAR_db_password=s3cretwords",
    "ConvertTo-SecureString \"s3cretWords\" -AsPlainText -Force",
    "[Environment]::SetEnvironmentVariable(\"API_TOKEN\", \"s3cretWords\", \"User\")",
    "CREATE USER ann IDENTIFIED BY 's3cret'",
    "ALTER ROLE ann WITH PASSWORD 's3cret'",
    // Connections.
    "Server=db;Database=app;User Id=sa;Password=s3cret;",
    "Driver={ODBC Driver 18};Server=db;Uid=sa;Pwd=s3cret;",
    "jdbc:mysql://db/app?user=root&password=s3cret&x=1",
    "jdbc:oracle:thin:ann/s3cret@db:1521:x",
    "redis://:s3cret@cache:6379/0",
    "amqp://ann:s3cret@mq:5672/",
    "mongodb+srv://ann:s3cret@cluster/app",
    "postgres://ann:p@s3cret@db/app",
    // Headers and addresses.
    "-H \"X-Api-Key: s3cret123\"",
    "https://example.org/hook?token=s3cret12345",
    "Cookie: theme=dark; sid=s3cret8fj2k3l4m5",
    "Set-Cookie: sid=s3cret8fj2k3l4m5; Path=/; HttpOnly",
    // Prose.
    "The password is s3cret!",
    "the password: s3cret99",
    "Your new password for the admin account is s3cret-99.",
    "I set the password to \"s3cretword\" yesterday",
    "The passphrase was `correct s3cret battery`",
    "Das Passwort ist s3cret99",
    "Password for user ann: s3cret99",
    // Objects of Kubernetes, under keys that say nothing.
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\nstringData:\n  neutral: s3cret\n  other.txt: |\n    two s3cret\n    lines\n",
    "data:\n  neutral: s3cret\nkind: Secret\n",
    "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"x\"},\"stringData\":{\"neutral\":\"s3cret\"}}",
    "{\"text\":\"kind: Secret\\nstringData:\\n  neutral: s3cret\\n\"}",
];

#[test]
fn a_secret_is_gone_wherever_people_leave_one() {
    let leaked: Vec<String> = PLACES
        .iter()
        .map(|text| check(text))
        .filter(|out| out.contains("s3cret") || !out.contains("[redacted:"))
        .collect();
    assert!(leaked.is_empty(), "{leaked:#?}");
}

#[test]
fn what_stands_around_a_secret_stays() {
    for (text, wanted) in [
        ("curl -u admin:s3cretPass https://x.org/api", "curl -u admin:[redacted:password] https://x.org/api"),
        ("mysql -u root -ps3cret app", "mysql -u root -p[redacted:password] app"),
        (
            "machine x.org\n  login ann\n  password s3cret\n  # end",
            "machine x.org\n  login ann\n  password [redacted:password]\n  # end",
        ),
        ("The password is s3cret!9, says Ann", "The password is [redacted:password], says Ann"),
        (
            "kind: Secret\ndata:\n  a: czNjcmV0\ntype: Opaque\n",
            "kind: Secret\ndata:\n  a: [redacted:kubernetes-secret]\ntype: Opaque\n",
        ),
        (
            "kind: Secret\ndata:\n  a: czNjcmV0\n---\nkind: ConfigMap\ndata:\n  b: plain\n",
            "kind: Secret\ndata:\n  a: [redacted:kubernetes-secret]\n---\nkind: ConfigMap\ndata:\n  b: plain\n",
        ),
        ("password: |\n  s3cret-words\nnext: 1", "password: |\n  [redacted:password]\nnext: 1"),
    ] {
        assert_eq!(check(text), wanted);
    }
}

/// Base64, for tests.
fn base64(text: &str) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for part in text.as_bytes().chunks(3) {
        let all = part.iter().chain(&[0; 3]).take(3).fold(0_u32, |all, byte| all << 8 | u32::from(*byte));
        for at in 0..4 {
            let sign = SIGNS[(all >> (18 - 6 * at) & 63) as usize] as char;
            out.push(if at <= part.len() { sign } else { '=' });
        }
    }
    out
}

#[test]
fn a_secret_in_base64_is_one() {
    let (auth, encoded) = (base64("ann:s3cret"), base64("DB_HOST=db\nDB_PASSWORD=s3cret99\n"));
    for text in [
        format!("{{\"auths\":{{\"registry.example.org\":{{\"auth\": \"{auth}\"}}}}}}"),
        format!("{{\\\"auth\\\":\\\"{auth}\\\"}}"),
        format!("//registry.example.org/:_auth={auth}"),
        format!("Authorization: Basic {auth}"),
        format!("authorization: basic {}", base64("a:b")),
        format!("kind: Secret\ndata:\n  neutral: {auth}\n"),
        format!("echo {encoded} | base64 -d > .env"),
    ] {
        let out = check(&text);
        assert!(!out.contains(&auth) && !out.contains(&encoded[..20]) && out.contains("[redacted:"), "{out}");
    }
}

#[test]
fn keys_in_blocks_and_hashes_of_passwords_are_gone() {
    let line = base64("0123456789abcdef0123456789abcdef0123456789abcdef");
    let digits = "6638643965323633646639303765".repeat(2);
    let hash = "N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";
    for (text, gone) in [
        (format!("Private-Lines: 2\n{line}\n{line}\nPrivate-MAC: {}\n", "0a".repeat(20)), line.as_str()),
        (format!("x: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  {digits}\n  {digits}\ny: 1"), digits.as_str()),
        (format!("ann:$2y$05${hash}"), hash),
        (format!("ann:$apr1$abcdefgh${}", &hash[..22]), &hash[..22]),
        (format!("Digest username=\"ann\", uri=\"/\", response=\"{}\"", "0a".repeat(16)), "0a0a0a0a"),
        (format!("https://x.blob/y?sv=2024&sig={}%3D", &hash[..40]), &hash[..30]),
    ] {
        let out = check(&text);
        assert!(!out.contains(gone) && out.contains("[redacted:"), "{out}");
    }
}

/// Texts that speak of secrets and hold none.
const HARMLESS: &[&str] = &[
    "password = get_password()",
    "password = self.password",
    "auth: true",
    "\"auth\": \"oauth2\"",
    "\"auth\": \"none\"",
    "password is required",
    "the password is wrong",
    "Password is incorrect.",
    "The password is case-sensitive and must have 8 characters",
    "The password is base64-encoded",
    "the password is stored as SHA256",
    "password is \"required\"",
    "the passwords are hashed with bcrypt",
    "password to use for the database",
    "Password for the account: (hidden)",
    "password: string;",
    "password?: string",
    "password: Option<String>,",
    "    password: |",
    "--password VALUE",
    "--password <pw>",
    "--password=$DB_PASSWORD",
    "--password-stdin",
    "docker login --password-stdin < token.txt",
    "cat token.txt | docker login --password-stdin",
    "echo $TOKEN | docker login --password-stdin",
    "echo \"$TOKEN\" | gh auth login --with-token",
    "curl -u $USER:$PASS x",
    "curl -u \"${USER}:${PASS}\" x",
    "curl -u user:password x",
    "curl -u ann x",
    "commands (`curl -u`, `sshpass -p`, `mysql -p…`), in files",
    "    kind(\"password variable\", \"DB_PASSWORD=\", ALNUM, 16),",
    "with `curl -u name:password` and `sshpass -p PASSWORD`",
    "curl https://example.org:8080/u:x",
    "docker run -u 1000:1000 -p 80:8080 image",
    "git push -u origin main:main",
    "mysql -p",
    "mysql -u root -p app",
    "mysql -P 3306 app",
    "mkdir -p src/main && cp -p a b",
    "ssh -p 2222 host",
    "sshpass -p $PASS ssh host",
    "sshpass -e ssh host",
    "redis-cli -a $REDIS ping",
    "postgres://user:password@localhost/db",
    "postgres://$USER:$PASS@localhost/db",
    "ERR_INVALID_TOKEN=\"the token is not valid\"",
    "SECRET_HELP=\"type the word\"",
    "DB_PASSWORD=\"your password here\"",
    "ALLOW_EMPTY_PASSWORD=yes",
    "[]string{\"Set API_KEY=\" + highEntropySecret},\n\tCount: 1,\n\tName: \"Test Author\"",
    "export API_TOKEN=$(cat token)",
    "PASSWORD=<password>",
    "machine learning login password",
    "machine x login ann password <password>",
    "kind: ConfigMap\ndata:\n  a: plain\n",
    "kind: SecretStore\ndata:\n  a: plain\n",
    "kind: Secret\nmetadata:\n  name: app\n  labels:\n    a: b\ntype: Opaque\n",
    "a kind: Secret agents are not objects",
    "kubectl get secret app -o yaml",
    "Cookie: name=value",
    "Cookie: sessionCookie",
    "headers: { Cookie: cookies }",
    "variable \"region\" {\n  default = \"eu-central-1\"\n}",
    "variable \"db_password\" {\n  type = string\n}",
    "commit d46a0c1f9b3e8a7d6c5b4a39281706f5e4d3c2b1",
    "token 01a1fb69-e811-7c30-bbff-59dfc21c35e2 is an id",
    "echo done | tee log",
    "echo one | grep two",
    "sig=abc",
    "pass: 12, fail: 0",
    "let pwd = std::env::current_dir()?;",
    "PWD=/home/you/project",
    "$2 is the second argument and $5$ is money",
    "aGVsbG8gd29ybGQgdGhpcyBpcyB0ZXh0IGFuZCBub3RoaW5nIGVsc2U",
    "Private-Lines: see below",
    "basic understanding of authorization: basic ideas",
];

#[test]
fn texts_that_speak_of_secrets_stay_readable() {
    let changed: Vec<(&str, String)> =
        HARMLESS.iter().map(|text| (*text, check(text))).filter(|(text, out)| text != out).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

#[test]
fn every_example_is_redacted_once_and_for_all_also_inside_strings() {
    for text in PLACES.iter().chain(HARMLESS) {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        for text in [(*text).to_owned(), escaped, format!("before\n{text}\nafter"), text.repeat(3)] {
            let once = check(&text);
            assert_eq!(check(&once), once);
        }
    }
}

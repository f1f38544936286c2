//! Encrypted connections, to a real server that is given a certificate for the time of the test. Only the private server of
//! `./test` is touched like that.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use baton_store::{FaultKind, Store, Target, params};

use crate::bench::{NOW, Place, SCHEMA, admin, shout, variable};
use crate::database_server::DatabaseServer;
use crate::pem::{Signed, signed};

const ENCRYPTED: &str =
    "SELECT CASE WHEN ssl THEN 1 ELSE 0 END FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

/// The server, with TLS switched on until the end. It writes the files itself, as the user it runs as.
struct Encrypted {
    url: String,
    hba: String,
}

impl Encrypted {
    fn new(url: &str, shown: &Signed) -> Self {
        let dir = ask(url, "SELECT current_setting('data_directory')");
        for (name, text) in [("test-tls.crt", &shown.certificate), ("test-tls.key", &shown.key)] {
            write(url, &format!("{dir}/{name}"), text);
            admin(
                url,
                &format!(
                    "ALTER SYSTEM SET ssl_{}_file = '{name}'",
                    if name.ends_with("crt") { "cert" } else { "key" }
                ),
            );
        }
        admin(url, "ALTER SYSTEM SET ssl = on");
        let path = ask(url, "SELECT current_setting('hba_file')");
        let hba = ask(url, "SELECT pg_read_file(current_setting('hba_file'))");
        write(url, &path, &format!("hostssl all baton_scram all scram-sha-256\n{hba}"));
        admin(url, "SELECT pg_reload_conf()");
        Self { url: url.to_owned(), hba }
    }
}

impl Drop for Encrypted {
    fn drop(&mut self) {
        let path = ask(&self.url, "SELECT current_setting('hba_file')");
        write(&self.url, &path, &self.hba);
        for name in ["ssl", "ssl_cert_file", "ssl_key_file"] {
            admin(&self.url, &format!("ALTER SYSTEM RESET {name}"));
        }
        admin(&self.url, "SELECT pg_reload_conf()");
    }
}

/// A file of the server's, readable for it alone.
fn write(url: &str, path: &str, text: &str) {
    let lines = text.trim_end().replace('\'', "''");
    admin(
        url,
        &format!(
            "COPY (SELECT regexp_split_to_table('{lines}', E'\\n')) TO PROGRAM 'umask 077; cat > \"{path}\"'"
        ),
    );
}

fn ask(url: &str, sql: &str) -> String {
    DatabaseServer::connect(url).query(sql).unwrap()[0].get(0)
}

fn with(url: &str, more: &str) -> Target {
    let sign = if url.contains('?') { '&' } else { '?' };
    Target::parse(&format!("{url}{sign}{more}"))
}

/// Whether the connection is encrypted; or why there is none.
fn encrypted(url: &str, more: &str) -> Result<bool, FaultKind> {
    let mut store = Store::open_with(&with(url, more), SCHEMA, NOW).map_err(|fault| fault.kind)?;
    let row = store.read(|tx| Ok(tx.query_one(ENCRYPTED, params![])?)).unwrap();
    Ok(row.reader().bool().unwrap())
}

/// The server reads its settings a moment after it is told to.
fn within_a_moment(what: &str, mut f: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !f() {
        assert!(begin.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn modes(url: &str, dir: &Path) {
    let (shown, other) = (signed(&["127.0.0.1", "localhost"]), signed(&["127.0.0.1"]));
    let file = |name: &str, text: &str| {
        let path = dir.join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (ours, theirs, itself) = (
        file("ca.pem", &shown.authority),
        file("other.pem", &other.authority),
        file("own.pem", &shown.certificate),
    );
    assert_eq!(encrypted(url, "sslmode=require"), Err(FaultKind::Unreachable), "the server has no TLS yet");
    assert_eq!(encrypted(url, "sslmode=prefer"), Ok(false));
    let server = Encrypted::new(url, &shown);
    within_a_moment("TLS is on", || encrypted(url, "sslmode=require") == Ok(true));
    let by_ip = url;
    let by_name = url.replacen("127.0.0.1", "localhost", 1);
    for (url, more, expected) in [
        (by_ip, "sslmode=disable".to_owned(), Ok(false)),
        (by_ip, "sslmode=prefer".to_owned(), Ok(true)),
        (by_ip, String::new(), Ok(true)),
        (by_ip, format!("sslmode=verify-ca&sslrootcert={ours}"), Ok(true)),
        (by_ip, format!("sslmode=verify-full&sslrootcert={ours}"), Ok(true)),
        (&by_name, format!("sslmode=verify-full&sslrootcert={ours}"), Ok(true)),
        (by_ip, format!("sslmode=verify-full&sslrootcert={itself}"), Ok(true)),
        (by_ip, format!("sslmode=verify-ca&sslrootcert={theirs}"), Err(FaultKind::Untrusted)),
        (by_ip, format!("sslmode=require&sslrootcert={theirs}"), Err(FaultKind::Untrusted)),
        (by_ip, format!("sslmode=verify-full&sslrootcert={theirs}"), Err(FaultKind::Untrusted)),
        (by_ip, "sslmode=verify-full&sslrootcert=/nowhere.pem".to_owned(), Err(FaultKind::CannotOpen)),
        (by_ip, "sslmode=sometimes".to_owned(), Err(FaultKind::CannotOpen)),
    ] {
        assert_eq!(encrypted(url, &more), expected, "{url} {more}");
    }
    passwords_are_bound_to_the_certificate(url);
    drop(server);
    within_a_moment("TLS is off", || encrypted(url, "sslmode=prefer") == Ok(false));
}

/// A name that the certificate does not have is refused by `verify-full` alone.
fn names(url: &str, dir: &Path) {
    let shown = signed(&["db.example"]);
    let path = dir.join("named.pem");
    fs::write(&path, &shown.authority).unwrap();
    let _server = Encrypted::new(url, &shown);
    let root = format!("sslrootcert={}", path.display());
    within_a_moment("the new certificate is shown", || {
        encrypted(url, &format!("sslmode=verify-ca&{root}")) == Ok(true)
    });
    assert_eq!(encrypted(url, &format!("sslmode=verify-full&{root}")), Err(FaultKind::Untrusted));
    let fault = Store::open_with(&with(url, &root), SCHEMA, NOW).err().unwrap();
    assert_eq!(fault.to_refusal().unwrap().code, "store_untrusted");
}

fn passwords_are_bound_to_the_certificate(url: &str) {
    admin(url, "DROP ROLE IF EXISTS baton_scram; CREATE ROLE baton_scram LOGIN SUPERUSER PASSWORD 's3cret'");
    let (scheme, rest) = url.split_once("://").unwrap();
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let known = format!("{scheme}://baton_scram:s3cret@{host}");
    let answer = encrypted(&known, "sslmode=require&channel_binding=require");
    let wrong = encrypted(&known.replacen("s3cret", "wrong", 1), "sslmode=require");
    admin(url, "DROP ROLE baton_scram");
    assert_eq!(answer, Ok(true));
    assert_eq!(wrong, Err(FaultKind::Unreachable));
}

#[test]
fn every_mode_of_encryption_does_what_it_says() {
    let (Some(place), Some(_)) = (Place::postgres(), variable("BATON_TEST_PG_PRIVATE")) else {
        return shout("no private PostgreSQL of ./test: encryption was not tested");
    };
    let Target::Postgres(url) = &place.target else { return };
    let dir = tempfile::tempdir().unwrap();
    modes(url, dir.path());
    names(url, dir.path());
}

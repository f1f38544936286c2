//! Certificates for tests of TLS, made by the `openssl` program: a crate for it would bring twenty packages.

use std::fs;
use std::path::Path;
use std::process::Command;

/// An authority, and a certificate that it signed with the key to it, in PEM.
pub(crate) struct Signed {
    pub certificate: String,
    pub key: String,
    pub authority: String,
}

/// A certificate for these names and addresses, from an authority of its own.
pub(crate) fn signed(names: &[&str]) -> Signed {
    let folder = tempfile::tempdir().expect("folder");
    let dir = folder.path();
    let authority = ["-x509", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority"];
    request(dir, &[authority.as_slice(), &["-addext", "basicConstraints=critical,CA:TRUE"]].concat());
    request(dir, &["-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=leaf"]);
    fs::write(dir.join("extensions"), extensions(names)).expect("extensions");
    let leaf = ["x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
    openssl(dir, &[leaf.as_slice(), &["-days", "30", "-extfile", "extensions", "-out", "leaf.pem"]].concat());
    let read = |name: &str| fs::read_to_string(dir.join(name)).expect(name);
    Signed { certificate: read("leaf.pem"), key: read("leaf.key"), authority: read("ca.pem") }
}

fn extensions(names: &[&str]) -> String {
    let alternative = |name: &&str| match name.parse::<std::net::IpAddr>() {
        Ok(_) => format!("IP:{name}"),
        Err(_) => format!("DNS:{name}"),
    };
    let names: Vec<_> = names.iter().map(alternative).collect();
    format!("subjectAltName={}\nbasicConstraints=CA:FALSE\n", names.join(","))
}

fn request(dir: &Path, more: &[&str]) {
    let new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"];
    openssl(dir, &[new.as_slice(), more].concat());
}

fn openssl(dir: &Path, arguments: &[&str]) {
    let output =
        Command::new("openssl").args(arguments).current_dir(dir).output().expect("openssl is installed");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

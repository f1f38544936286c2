//! A server under a service manager: it says when it is ready, takes new certificates and settings while it serves, and ends
//! within a bound.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::json;

use crate::http::{Server, request};
use crate::stage::Stage;

/// The socket of a service manager.
struct Manager(UnixDatagram);

impl Manager {
    fn bind(stage: &Stage) -> (Self, String) {
        let path = stage.root().join("notify");
        let socket = UnixDatagram::bind(&path).expect("a socket");
        socket.set_read_timeout(Some(Duration::from_secs(30))).expect("timeout");
        (Self(socket), path.display().to_string())
    }

    fn next(&self) -> String {
        let mut buffer = [0; 256];
        let length = self.0.recv(&mut buffer).expect("a notification");
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }
}

fn health(server: &Server) -> Option<u16> {
    request(&server.address, "GET", "/healthz", b"", &[]).map(|response| response.status)
}

#[test]
fn a_service_manager_hears_when_it_is_ready_reloads_and_stops() {
    let stage = Stage::ready();
    let (manager, socket) = Manager::bind(&stage);
    let mut server = Server::start(&stage.terminal("Server").with("NOTIFY_SOCKET", &socket));
    assert_eq!(manager.next(), "READY=1");
    assert_eq!(health(&server), Some(200), "ready means that it answers");
    server.signal("-HUP");
    assert!(manager.next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    assert_eq!(manager.next(), "READY=1");
    server.signal("-TERM");
    assert_eq!(manager.next(), "STOPPING=1");
    assert_eq!(server.ended(), Some(0));
}

/// Whether the server answers over TLS with a certificate of this authority.
fn answers_over_tls(address: &str, authority: &str) -> bool {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).expect("a certificate")).expect("added");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = rustls::pki_types::ServerName::try_from("localhost").expect("a name");
    let connection = rustls::ClientConnection::new(Arc::new(config), name).expect("a client");
    let mut stream = rustls::StreamOwned::new(connection, TcpStream::connect(address).expect("connected"));
    let head = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    if stream.write_all(head).is_err() {
        return false;
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer.starts_with(b"HTTP/1.1 200 ")
}

#[test]
fn a_certificate_is_exchanged_while_it_serves_and_an_unusable_one_is_not() {
    let stage = Stage::ready();
    let (old, new) = (crate::pem::signed(&["localhost"]), crate::pem::signed(&["localhost"]));
    let (certificate, key) = (stage.file("cert.pem", &old.certificate), stage.file("key.pem", &old.key));
    let (manager, socket) = Manager::bind(&stage);
    let terminal = stage.terminal("Server").with("NOTIFY_SOCKET", &socket);
    let server = Server::start_with(&terminal, &["--tls-cert", &certificate, "--tls-key", &key]);
    manager.next();
    assert!(answers_over_tls(&server.address, &old.authority));
    let reload = || {
        server.signal("-HUP");
        assert!(manager.next().starts_with("RELOADING=1"));
        assert_eq!(manager.next(), "READY=1");
    };
    fs::write(&certificate, &new.certificate).expect("written");
    fs::write(&key, &new.key).expect("written");
    reload();
    assert!(answers_over_tls(&server.address, &new.authority), "the new certificate is shown");
    assert!(!answers_over_tls(&server.address, &old.authority), "and the old one is not");
    fs::write(&certificate, "damaged").expect("written");
    reload();
    assert!(answers_over_tls(&server.address, &new.authority), "what cannot be used changes nothing");
}

fn project_ids(server: &Server) -> Vec<String> {
    let projects = server.ok("project_list", &json!({}));
    let ids = projects["items"].as_array().expect("projects").iter();
    ids.map(|row| row["project_id"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn settings_are_read_anew_and_no_request_is_refused_meanwhile() {
    let stage = Stage::in_a_file("its settings name the file").registered();
    let other = stage.root().join("other.db");
    let elsewhere = stage.terminal("Setup").with("BATON_STORE", &other);
    elsewhere.within(stage.repo("bank")).json(&["init", "--id", "bank"]);
    let (manager, socket) = Manager::bind(&stage);
    let mut server = Server::start(&stage.terminal("Server").with("NOTIFY_SOCKET", &socket));
    manager.next();
    assert_eq!(project_ids(&server), ["shop"]);

    stage.file("home/config/baton/config.toml", "store = [");
    server.signal("-HUP");
    assert!(manager.next().starts_with("RELOADING=1"));
    assert_eq!(manager.next(), "READY=1");
    assert_eq!(project_ids(&server), ["shop"], "settings that cannot be read change nothing");

    stage.file("home/config/baton/config.toml", format!("store = {:?}\n", other.display().to_string()));
    server.signal("-HUP");
    let begin = Instant::now();
    while project_ids(&server) != ["bank"] {
        assert_eq!(health(&server), Some(200));
        assert!(begin.elapsed() < Duration::from_secs(30), "the new settings do not come");
    }
    assert!(manager.next().starts_with("RELOADING=1"));
    assert_eq!(manager.next(), "READY=1");

    // A store that cannot be opened: the server goes on with the one that it has.
    stage.file("garbage.db", vec![b'x'; 4096]);
    let garbage = stage.root().join("garbage.db").display().to_string();
    stage.file("home/config/baton/config.toml", format!("store = {garbage:?}\n"));
    server.signal("-HUP");
    assert!(manager.next().starts_with("RELOADING=1"));
    assert_eq!(manager.next(), "READY=1");
    assert_eq!(project_ids(&server), ["bank"]);
    server.signal("-TERM");
    assert_eq!(server.ended(), Some(0));
}

#[test]
fn a_receiver_that_never_answers_does_not_keep_a_server_from_ending() {
    let stage = Stage::ready();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let url = format!("http://{}/", silent.local_addr().expect("an address"));
    stage.terminal("Owner").json(&["project", "set", "--webhook", &url]);
    let mut server = Server::start(&stage.terminal("Server"));
    server.ok("session_start", &json!({ "project": "shop", "identity": "Lola" }));
    // The relay is in the middle of its call.
    let called = silent.accept().expect("it calls");
    let begin = Instant::now();
    server.signal("-TERM");
    server.ended();
    assert!(begin.elapsed() < Duration::from_secs(18), "it took {:?}", begin.elapsed());
    drop(called);
    stage.assert_sound();
}

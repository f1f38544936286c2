//! Layers: which crate may know which, and what never occurs in it.

use crate::source::{Source, Violation};

pub(crate) struct Manifest {
    pub krate: String,
    pub path: String,
    /// Without those for tests.
    pub dependencies: Vec<Dependency>,
}

pub(crate) struct Dependency {
    pub name: String,
    pub line: usize,
}

struct Layer {
    krate: &'static str,
    /// Crates of ours that it may use.
    ours: &'static [&'static str],
    /// Crates of others that it never uses.
    never: &'static [&'static str],
}

const LAYERS: &[Layer] = &[
    Layer {
        krate: "packet",
        ours: &[],
        never: &["tokio", "rusqlite", "postgres", "tokio-postgres", "clap", "reqwest", "rand", "getrandom"],
    },
    Layer {
        krate: "model",
        ours: &["packet"],
        never: &["tokio", "rusqlite", "postgres", "tokio-postgres", "clap", "reqwest", "rand", "getrandom"],
    },
    Layer {
        krate: "redact",
        ours: &[],
        never: &["tokio", "rusqlite", "postgres", "tokio-postgres", "clap", "reqwest"],
    },
    Layer {
        krate: "transcripts",
        ours: &["packet", "redact"],
        never: &["tokio", "postgres", "tokio-postgres", "clap", "reqwest"],
    },
    Layer {
        krate: "tools",
        ours: &["model", "transcripts"],
        never: &[
            "tokio",
            "rusqlite",
            "postgres",
            "tokio-postgres",
            "clap",
            "axum",
            "reqwest",
            "rand",
            "getrandom",
        ],
    },
    Layer {
        krate: "store",
        ours: &["model"],
        never: &["tokio", "clap", "axum", "reqwest", "rand", "getrandom"],
    },
    Layer {
        krate: "ops",
        ours: &["model", "store", "tools", "transcripts"],
        never: &[
            "rusqlite",
            "postgres",
            "tokio-postgres",
            "tokio",
            "clap",
            "axum",
            "reqwest",
            "rand",
            "getrandom",
        ],
    },
    Layer {
        krate: "emulator",
        ours: &[],
        never: &["tokio", "rusqlite", "postgres", "tokio-postgres", "clap", "reqwest"],
    },
    Layer { krate: "mcp", ours: FACES, never: &["rusqlite", "postgres", "tokio-postgres"] },
    Layer { krate: "baton", ours: FACES, never: &["rusqlite", "postgres", "tokio-postgres"] },
];

const FACES: &[&str] =
    &["packet", "model", "redact", "transcripts", "tools", "store", "ops", "mcp", "emulator", "baton"];

/// Where the databases' own crates may be named.
const ENGINES: &[(&str, &[&str])] = &[
    ("rusqlite", &["crates/store/src/engine.rs", "crates/store/src/engine/", "crates/transcripts/src/"]),
    ("libsqlite3_sys", &["crates/store/src/engine.rs", "crates/store/src/engine/"]),
    ("postgres", &[]),
    ("tokio_postgres", &["crates/store/src/engine/pg/"]),
];

/// A crate that its layer does without, but for one file: crate of ours, crate of others, file, reason.
const BUT_FOR: &[(&str, &str, &str)] = &[
    // The PostgreSQL client asks its TLS for a stream with the traits of `tokio`, and a runtime to wait on.
    ("store", "tokio", "crates/store/src/engine/pg/tls.rs"),
    ("store", "tokio", "crates/store/src/engine/pg/pipeline.rs"),
];

fn layer(krate: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|layer| layer.krate == krate)
}

pub(crate) fn dependencies(manifest: &Manifest) -> Vec<Violation> {
    let Some(layer) = layer(&manifest.krate) else {
        let what = format!("crate {} has no layer: add a line to LAYERS in house/layers.rs", manifest.krate);
        return vec![Violation::new(&manifest.path, 1, what)];
    };
    let refused = |dependency: &&Dependency| match our_name(&dependency.name) {
        Some(ours) => !layer.ours.contains(&ours),
        None => {
            let name = dependency.name.as_str();
            let but_for = BUT_FOR.iter().any(|(krate, other, _)| *krate == layer.krate && *other == name);
            layer.never.contains(&name) && !but_for
        }
    };
    let what = |dependency: &Dependency| {
        format!("{} must not depend on {}: move the code to the layer that may", layer.krate, dependency.name)
    };
    let found = manifest.dependencies.iter().filter(refused);
    found.map(|dependency| Violation::new(&manifest.path, dependency.line, what(dependency))).collect()
}

fn our_name(package: &str) -> Option<&str> {
    if package == "baton" { Some(package) } else { package.strip_prefix("baton-") }
}

pub(crate) fn source(source: &Source) -> Vec<Violation> {
    let Some(krate) = source.krate() else { return Vec::new() };
    let paths = source.paths();
    let named = paths.iter().filter_map(|(path, line)| {
        refusal(krate, &source.path, path)
            .map(|why| Violation::new(&source.path, *line, format!("{}: {why}", path.join("::"))))
    });
    named.chain(prints(krate, source)).collect()
}

fn refusal(krate: &str, file: &str, path: &[&str]) -> Option<&'static str> {
    let first = *path.first()?;
    let last = *path.last()?;
    let std_part = if first == "std" { path.get(1).copied().unwrap_or_default() } else { "" };
    let pure = ["packet", "model", "tools", "store", "ops"].contains(&krate);
    if ENGINES.iter().any(|(name, places)| path.len() > 1 && *name == first && !engine_place(file, places)) {
        Some("a database's crate is named in the store's engine only; go through `Tx`")
    } else if ["packet", "model"].contains(&krate) && ["fs", "net", "process", "thread"].contains(&std_part) {
        Some("the model does no IO; take what you need as an argument")
    } else if krate != "baton" && (std_part == "env" || (first == "env" && path.len() > 1)) {
        Some("only crates/baton reads the environment; take the value as an argument")
    } else if pure && last == "now" && path.len() > 1 {
        Some("time comes in through the operation's context")
    } else if pure
        && (["new_v4", "now_v7"].contains(&last) || ["rand", "getrandom", "fastrand"].contains(&first))
    {
        Some("ids and randomness come in through the operation's context")
    } else if path.len() > 1
        && layer(krate).is_some_and(|layer| layer.never.contains(&first))
        && !BUT_FOR.contains(&(krate, first, file))
    {
        Some("this crate does not know that one; see the table in ARCHITECTURE.md")
    } else {
        None
    }
}

/// A place is a file, or a folder when it ends in a slash; other tools' databases are read in files called `sqlite`.
fn engine_place(file: &str, places: &[&str]) -> bool {
    places.iter().any(|place| match *place {
        "crates/transcripts/src/" => reads_others_sqlite(file),
        folder if folder.ends_with('/') => file.starts_with(folder),
        place => file == place,
    })
}

/// Other tools keep transcripts in SQLite: `sqlite.rs` or `sqlite/` in the transcripts crate opens those, read-only.
pub(crate) fn reads_others_sqlite(file: &str) -> bool {
    let inside = file.strip_prefix("crates/transcripts/src/");
    inside.is_some_and(|rest| rest.split('/').any(|part| part == "sqlite" || part == "sqlite.rs"))
}

fn prints(krate: &str, source: &Source) -> Vec<Violation> {
    const PRINTING: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];
    if krate == "baton" {
        return Vec::new();
    }
    let calls = source
        .production()
        .filter(|(at, token)| PRINTING.contains(&token.text.as_str()) && source.is(at + 1, "!"));
    let what = |name: &str| format!("{name}!: only the binary prints; return what there is to say");
    calls.map(|(_, token)| Violation::new(&source.path, token.line, what(&token.text))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[&str]) {
        let found = source(&Source::new(path, text));
        let names: Vec<&str> =
            found.iter().filter_map(|violation| violation.what.split(": ").next()).collect();
        assert_eq!(names, expected, "{path}: {text}");
    }

    fn depend(krate: &str, names: &[&str]) -> usize {
        let dependency = |name: &&str| Dependency { name: (*name).to_owned(), line: 1 };
        let dependencies = names.iter().map(dependency).collect();
        super::dependencies(&Manifest { krate: krate.to_owned(), path: String::new(), dependencies }).len()
    }

    #[test]
    fn a_dependency_that_points_upwards_is_found() {
        assert_eq!(depend("model", &["serde", "baton-redact"]), 1);
        assert_eq!(depend("transcripts", &["baton-redact", "baton-model", "baton-store"]), 2);
        assert_eq!(depend("store", &["baton-model", "rusqlite", "postgres", "tokio", "axum"]), 1);
        assert_eq!(
            depend("ops", &["baton-model", "baton-store", "baton-transcripts", "clap", "rusqlite"]),
            2
        );
        assert_eq!(depend("tools", &["baton-transcripts", "baton-model", "baton-ops", "tokio"]), 2);
        assert_eq!(depend("baton", &["baton-mcp", "baton-ops", "axum", "tokio"]), 0);
        assert_eq!(depend("another", &[]), 1);
    }

    #[test]
    fn the_model_has_no_outside() {
        let path = "crates/model/src/a.rs";
        check(path, "use std::{fmt, fs};", &["std::fs"]);
        check(
            path,
            "fn f() { std::time::SystemTime::now(); Instant::now(); }",
            &["std::time::SystemTime::now", "Instant::now"],
        );
        check(path, "use std::net::TcpStream; use std::process;", &["std::net::TcpStream", "std::process"]);
        check(path, "fn f() { Uuid::new_v4(); rand::random(); }", &["Uuid::new_v4", "rand::random"]);
        check(path, "fn f(now: u8, at: std::time::Duration) { now.max(1); env!(\"A\"); }", &[]);
        check(path, "#[cfg(test)] mod tests { use std::fs; } #[test] fn t() { std::env::var(\"A\"); }", &[]);
        check("crates/model/tests/a.rs", "use std::fs;", &[]);
    }

    #[test]
    fn only_the_binary_reads_the_environment() {
        check("crates/ops/src/a.rs", "use std::env; fn f() { env::var(\"A\"); }", &["std::env", "env::var"]);
        check("crates/baton/src/config.rs", "fn f() { std::env::var(\"A\"); }", &[]);
    }

    #[test]
    fn databases_are_named_in_the_engine_only() {
        let text = "use rusqlite::Connection; fn f() { tokio_postgres::NoTls; }";
        check("crates/store/src/task.rs", text, &["rusqlite::Connection", "tokio_postgres::NoTls"]);
        check("crates/store/src/engine/pg/mod.rs", text, &[]);
        check("crates/store/src/engine/sqlite.rs", text, &["tokio_postgres::NoTls"]);
        check("crates/transcripts/src/format/sqlite.rs", "use rusqlite::Connection;", &[]);
        check("crates/transcripts/src/codex.rs", "use rusqlite::Connection;", &["rusqlite::Connection"]);
        check("crates/baton/src/main.rs", "use rusqlite::Connection;", &["rusqlite::Connection"]);
    }

    #[test]
    fn only_what_the_client_of_a_server_asks_for_is_asynchronous() {
        let text = "use tokio::io::AsyncRead;";
        check("crates/store/src/engine/pg/tls.rs", text, &[]);
        check("crates/store/src/engine/pg/pipeline.rs", text, &[]);
        check("crates/store/src/engine/pg/mod.rs", text, &["tokio::io::AsyncRead"]);
    }

    #[test]
    fn operations_know_no_face() {
        check(
            "crates/ops/src/a.rs",
            "use tokio::spawn; fn f() { println!(\"a\"); }",
            &["tokio::spawn", "println!"],
        );
        check("crates/ops/src/a.rs", "use clap::Parser; use axum::Json;", &["clap::Parser", "axum::Json"]);
    }
}

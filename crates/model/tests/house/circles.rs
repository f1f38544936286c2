//! Circles: modules of a crate that need each other. Files of one folder are one module and may; folders and files side by side
//! below `src` may not, but for the circles that are named here with a reason.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, Violation};

/// Modules that may need each other, and why they are not taken apart.
struct Circle {
    krate: &'static str,
    modules: &'static [&'static str],
    #[allow(dead_code, reason = "for the reader")]
    reason: &'static str,
}

const ALLOWED: &[Circle] = &[
    Circle {
        krate: "baton",
        modules: &["app", "beads"],
        reason: "an operation of a command brings the Beads file in step first, and that takes operations",
    },
    Circle {
        krate: "mcp",
        modules: &["call", "complete", "resources", "roots", "server", "watch"],
        reason: "the protocol library has one handler for all requests, and what answers them needs the connection in it",
    },
    Circle {
        krate: "model",
        modules: &["route", "task"],
        reason: "a role's route says who gets a task next, and the task's view shows that",
    },
    Circle {
        krate: "ops",
        modules: &["all", "audit"],
        reason: "the table lists the audit, and the audit reads in the table what it may report",
    },
    Circle {
        krate: "ops",
        modules: &[
            "agent",
            "token_rights",
            "baton",
            "caller",
            "caller_project",
            "card",
            "changes",
            "displaced",
            "encryption",
            "handoff",
            "idempotency",
            "ledger",
            "locate",
            "memory",
            "message",
            "op",
            "ownership",
            "portable",
            "process_identity",
            "project",
            "project_hint",
            "project_name",
            "resolve",
            "roles",
            "saga",
            "session",
            "task",
            "transcript",
        ],
        reason: "a verb of one noun does something to another: a pickup accepts a hand-off, a close routes a task, an end \
                 frees claims; each noun has its operations and what others do to it in one folder",
    },
    Circle {
        krate: "redact",
        modules: &["patterns", "table"],
        reason: "the table is data of the patterns' type",
    },
    Circle {
        krate: "store",
        modules: &["chain", "counter", "engine", "json", "migrate", "project", "share", "state", "token"],
        reason: "the engine opens, migrates and copies stores, which reads the rows that say how far a store is",
    },
    Circle {
        krate: "transcripts",
        modules: &["format", "formats", "header", "permission_mode", "shared", "sqlite"],
        reason: "`format.rs` has both the trait and the list of all that implement it",
    },
];

/// Which modules of a crate need which, with the place of one need of each.
type Needs = BTreeMap<String, BTreeMap<String, (String, usize)>>;

/// Every circle that is not allowed, and every allowed one that is not there any more.
pub(crate) fn circles(sources: &[Source]) -> Vec<Violation> {
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.is_test_file()) {
        if let Some(krate) =
            source.krate().filter(|krate| source.path.starts_with(&format!("crates/{krate}/src/")))
        {
            crates.entry(krate).or_default().push(source);
        }
    }
    crates.iter().flat_map(|(krate, sources)| of_crate(krate, &needs(sources))).collect()
}

fn of_crate(krate: &str, needs: &Needs) -> Vec<Violation> {
    let allowed: Vec<&Circle> = ALLOWED.iter().filter(|circle| circle.krate == krate).collect();
    let found = tied(needs);
    let is_named = |group: &BTreeSet<&str>| {
        allowed.iter().any(|circle| group.iter().all(|module| circle.modules.contains(module)))
    };
    let new = found.iter().filter(|group| !is_named(group)).flat_map(|group| edges(needs, group));
    let is_stale = |module: &&str| !found.iter().any(|group| group.contains(module));
    let stale = allowed.iter().flat_map(|circle| circle.modules.iter().copied()).filter(is_stale);
    let stale = stale.map(|module| {
        let what = format!("{krate}: `{module}` is in no circle any more: take it out of ALLOWED");
        Violation::new("crates/model/tests/house/circles.rs", 1, what)
    });
    new.chain(stale).collect()
}

/// The ways by which the modules of a circle need each other.
fn edges(needs: &Needs, group: &BTreeSet<&str>) -> Vec<Violation> {
    let names: Vec<&str> = group.iter().copied().collect();
    let all = needs.iter().filter(|(from, _)| group.contains(from.as_str()));
    let inside = all.flat_map(|(from, to)| to.iter().map(move |(to, place)| (from, to, place)));
    inside
        .filter(|(_, to, _)| group.contains(to.as_str()))
        .map(|(from, to, (path, line))| {
            let what = format!(
                "`{from}` needs `{to}`, and the modules {} need each other in a circle: move what both need below both, or name \
                 the circle with its reason in house/circles.rs",
                names.join(", ")
            );
            Violation::new(path, *line, what)
        })
        .collect()
}

/// The groups of modules each of which needs every other, if only by way of others.
fn tied(needs: &Needs) -> Vec<BTreeSet<&str>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        needs.keys().map(|from| (from.as_str(), reached(needs, from))).collect();
    let mut groups: Vec<BTreeSet<&str>> = Vec::new();
    for (from, to) in &reach {
        let back = |module: &&&str| reach.get(**module).is_some_and(|all| all.contains(from));
        let group: BTreeSet<&str> = to.iter().filter(back).copied().collect();
        if group.len() > 1 && !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

fn reached<'a>(needs: &'a Needs, from: &str) -> BTreeSet<&'a str> {
    let mut all = BTreeSet::new();
    let mut open: Vec<&'a str> =
        needs.get(from).into_iter().flat_map(|to| to.keys().map(String::as_str)).collect();
    while let Some(module) = open.pop() {
        if all.insert(module) {
            open.extend(needs.get(module).into_iter().flat_map(|to| to.keys().map(String::as_str)));
        }
    }
    all
}

fn needs(sources: &[&Source]) -> Needs {
    let mut needs: Needs = sources.iter().map(|source| (place(source).remove(0), BTreeMap::new())).collect();
    needs.remove(ROOT);
    let exports = exports(sources, &needs);
    for source in sources {
        let place = place(source);
        if place[0] == ROOT {
            continue;
        }
        for (path, line) in source.paths() {
            let Some(named) = named(&place, &path) else { continue };
            let module = exports.get(named).map_or(named, String::as_str);
            if module != place[0] && needs.contains_key(module) {
                let own = needs.entry(place[0].clone()).or_default();
                own.entry(module.to_owned()).or_insert_with(|| (source.path.clone(), line));
            }
        }
    }
    needs
}

/// The crate's own file.
const ROOT: &str = "";

/// The modules around what a file holds, the outermost first.
fn place(source: &Source) -> Vec<String> {
    let inside = source.path.split("/src/").nth(1).unwrap_or_default().trim_end_matches(".rs");
    let mut parts: Vec<String> = inside.split('/').map(str::to_owned).collect();
    if parts.len() > 1 && parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    if matches!(inside, "lib" | "main") { vec![ROOT.to_owned()] } else { parts }
}

/// The name below the crate's root that a path goes through.
fn named<'a>(place: &[String], path: &[&'a str]) -> Option<&'a str> {
    let up = path.iter().take_while(|part| **part == "super").count();
    match path.first() {
        Some(&"crate") => path.get(1).copied(),
        Some(&"super") if up >= place.len() => path.get(up).copied(),
        _ => None,
    }
}

/// What the crate's own file hands on, by its name there: the module that it is of.
fn exports(sources: &[&Source], needs: &Needs) -> BTreeMap<String, String> {
    let root = sources.iter().filter(|source| place(source)[0] == ROOT);
    let paths = root.flat_map(|source| source.paths()).map(|(path, _)| path);
    let inner = paths.map(|path| match path.first() {
        Some(&("crate" | "self")) => path[1..].to_vec(),
        _ => path,
    });
    let handed_on = inner.filter(|path| path.len() > 1 && needs.contains_key(path[0]));
    handed_on
        .filter(|path| !needs.contains_key(path[path.len() - 1]))
        .map(|path| (path[path.len() - 1].to_owned(), path[0].to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let sources: Vec<Source> = files.iter().map(|(path, text)| Source::new(path, text)).collect();
        let needs = needs(&sources.iter().collect::<Vec<_>>());
        tied(&needs).iter().map(|group| group.iter().map(|&module| module.to_owned()).collect()).collect()
    }

    #[test]
    fn a_circle_is_found_by_way_of_others() {
        let files = [
            ("crates/x/src/a.rs", "use crate::b::B;"),
            ("crates/x/src/b/mod.rs", "mod inner;"),
            ("crates/x/src/b/inner.rs", "use std::{fs, io}; fn f() { super::super::c::g(); }"),
            ("crates/x/src/c.rs", "use crate::{a::{A, D}, e};"),
            ("crates/x/src/e.rs", "#[cfg(test)] mod tests { use crate::a::A; }"),
        ];
        assert_eq!(groups(&files), [["a", "b", "c"]]);
    }

    #[test]
    fn what_the_root_hands_on_is_its_module_s() {
        let root = ("crates/x/src/lib.rs", "mod a; mod b; pub use crate::a::Thing;");
        let needed = ("crates/x/src/b.rs", "use crate::Thing;");
        assert_eq!(groups(&[root, ("crates/x/src/a.rs", "use crate::b;"), needed]), [["a", "b"]]);
        assert!(groups(&[root, ("crates/x/src/a.rs", "use self::b;"), needed]).is_empty());
    }

    #[test]
    fn a_circle_that_has_no_name_is_refused_with_its_ways() {
        let of = |path, text| Source::new(path, text);
        let sources = [of("crates/x/src/a.rs", "use crate::b;"), of("crates/x/src/b.rs", "use crate::a;")];
        let found = circles(&sources);
        assert_eq!(found.len(), 2);
        assert!(found[0].what.contains("`a` needs `b`"), "{}", found[0]);
    }
}

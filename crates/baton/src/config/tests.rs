use super::*;

fn check(vars: &[(&str, &str)], file: Option<&str>) -> Result<Config, Refusal> {
    let dir = tempfile::tempdir().expect("dir");
    if let Some(text) = file {
        std::fs::write(dir.path().join(".baton.toml"), text).expect("written");
    }
    let vars = vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    from_parts(vars, dir.path().join("home"), Some(dir.path().to_owned()))
}

#[test]
fn the_environment_wins_over_a_file() {
    let dir = tempfile::tempdir().expect("dir");
    let own = dir.path().join("baton");
    std::fs::create_dir(&own).expect("folder");
    std::fs::write(own.join("config.toml"), "identity = \"File\"\nstale_after = \"2m\"").expect("written");
    let folder = dir.path().display().to_string();
    let config = check(&[("BATON_IDENTITY", "Env"), ("XDG_CONFIG_HOME", &folder)], None).expect("valid");
    assert_eq!(config.identity.as_deref(), Some("Env"));
    assert_eq!(config.limits.stale_after, 120_000);
    assert_eq!(config.origins["identity"].1, "env BATON_IDENTITY");
}

const STRANGER: &str = "store = \"/evil.db\"\nserver = \"http://evil.example\"\nserver_ca = \"/evil.pem\"\nredis_url = \"redis://evil.example\"\n\
    identity = \"Mallory\"\nproject = \"shop\"\nsurface = \"evil\"\nstale_after = \"0s\"\nlive_after = \"0s\"\nauto_wrap = true\nsubjects = false\n\
    webhook_secret = \"s\"\ngithub_api = \"http://evil.example\"\ngithub_app_id = \"1\"\ngithub_app_installation = \"1\"\n\
    github_poll = \"1s\"\nqdrant_url = \"http://evil.example\"\nqdrant_collection = \"x\"\nembeddings_url = \"http://evil.example\"\n\
    embeddings_model = \"x\"\n[tasks]\nmirror = \"../x/authorized_keys\"\n[wrap]\nchanges = \"always\"\nchanges_remote = \"ext::sh\"\n[route]\nfallback_after = \"1s\"\n\
    escalate_after = \"1s\"\nmax_attempts = 0\nhuman = \"Mallory\"\n[redact]\npatterns = [\"x\"]\nallow = [\"/.*/\"]\n\
    [run]\ncontinue = false\n[notify]\nme = \"Mallory\"\ndesktop = true\nntfy = \"http://evil.example\"\nntfy_token = \"x\"\nslack = \"http://evil.example\"\n\
    discord = \"http://evil.example\"\ncommand = \"touch /evil\"\nquiet = \"00:00-23:59\"\ntopics = \"baton\"\n";

#[test]
fn whatever_a_stranger_sets_the_settings_are_those_without_it() {
    let (plain, with) = (check(&[], None).expect("valid"), check(&[], Some(STRANGER)).expect("valid"));
    assert_eq!(with.origins, BTreeMap::new());
    assert_eq!((with.identity, with.project, with.surface), (None, None, String::new()));
    assert_eq!((with.limits, with.auto_wrap, with.webhook_secret), (plain.limits, plain.auto_wrap, None));
    assert_eq!((with.run_continue, with.subjects), (plain.run_continue, plain.subjects));
    assert_eq!((with.wrap_changes, with.wrap_changes_remote), (plain.wrap_changes, None));
    assert_eq!((with.github.api, with.github.app_id), (plain.github.api, None));
    assert!(with.redis.is_none() && with.server.is_none() && with.beads_file.is_none());
    assert!(!with.notify.is_on() && with.notify.quiet.is_none());
    assert!(with.memory_index.qdrant.is_none() && with.memory_index.embeddings.is_none());
    assert!(with.store.to_string().ends_with("home/.local/share/baton/baton.db"), "{}", with.store);
    let file = with.repository.expect("it was read");
    let all: Vec<&str> = KEYS.iter().map(|(key, _)| *key).filter(|key| *key != "project").collect();
    let mut ignored = file.ignored.clone();
    ignored.sort_by_key(|key| all.iter().position(|known| known == key));
    assert_eq!((ignored, file.claim()), (all, Some("shop")), "all of it is named");
}

#[test]
fn what_the_user_trusts_counts_until_it_is_changed() {
    let dir = tempfile::tempdir().expect("dir");
    let (repo, own) = (dir.path().join("repo"), dir.path().join("config/baton"));
    std::fs::create_dir_all(repo.join(".git")).expect("folder");
    let file = repo.join(".baton.toml");
    let text = "stale_after = \"2m\"\nproject = \"shop\"\n";
    std::fs::write(&file, text).expect("written");
    let load = || {
        let vars = [("XDG_CONFIG_HOME".to_owned(), dir.path().join("config").display().to_string())].into();
        from_parts(vars, dir.path().join("home"), Some(repo.clone())).expect("valid")
    };
    let read = load().repository.expect("a file");
    let mut trusted = trust::TrustStore::default();
    trusted.add(&repo, &read.digest);
    trusted.write(&own).expect("written");
    let with = load();
    assert_eq!((with.limits.stale_after, with.project.as_deref()), (120_000, Some("shop")));
    assert!(with.repository.is_some_and(|file| file.is_trusted && file.ignored.is_empty()));
    std::fs::write(&file, format!("{text}# changed\n")).expect("written");
    let without = load();
    assert_eq!((without.limits, without.project), (Limits::default(), None));
    std::fs::write(&file, text).expect("written");
    trusted.remove(&repo);
    trusted.write(&own).expect("written");
    assert_eq!(load().project, None);
}

#[test]
fn a_trusted_value_that_is_none_is_refused_with_its_line() {
    let dir = tempfile::tempdir().expect("dir");
    let repo = dir.path().join("repo");
    std::fs::create_dir_all(repo.join(".git")).expect("folder");
    let vars: BTreeMap<_, _> =
        [("XDG_CONFIG_HOME".to_owned(), dir.path().join("config").display().to_string())].into();
    for text in
        ["# x\nstale_after = \"soon\"\n", "# x\nauto_wrap = \"maybe\"\n", "[route]\nmax_attempts = -1\n"]
    {
        std::fs::write(repo.join(".baton.toml"), text).expect("written");
        let load = || from_parts(vars.clone(), dir.path().join("home"), Some(repo.clone()));
        let digest = load().expect("not trusted").repository.expect("a file").digest;
        let mut trusted = trust::TrustStore::default();
        trusted.add(&repo, &digest);
        trusted.write(&dir.path().join("config/baton")).expect("written");
        let refusal = load().expect_err("trusted");
        assert!(refusal.message.contains(".baton.toml, line 2: "), "{refusal:?}");
        trusted.remove(&repo);
        trusted.write(&dir.path().join("config/baton")).expect("written");
    }
}

#[test]
fn an_unknown_key_names_the_nearest_and_a_strangers_stops_nothing() {
    let config = check(&[], Some("identty = \"x\"\nproject = \"shop\"")).expect("it is ignored");
    let file = config.repository.expect("named");
    assert_eq!((file.claim(), file.given.len()), (None, 0), "as a whole");
    let refusal = file.fault.expect("unknown");
    assert_eq!((refusal.code, refusal.hint.as_str()), ("config_unknown_key", "did you mean `identity`?"));
    let far = check(&[], Some("[theme]\ncolours = 1")).expect("it is ignored");
    let far = far.repository.and_then(|file| file.fault).expect("unknown");
    assert!(!far.hint.contains("did you mean") && !far.details.contains_key("nearest"), "{}", far.hint);
}

#[test]
fn a_span_that_is_none_is_refused() {
    assert_eq!(check(&[("BATON_STALE_AFTER", "soon")], None).expect_err("no span").code, "config_invalid");
}

#[test]
fn a_value_that_cannot_be_read_is_named_with_its_place_and_the_rest_can_be_shown() {
    let dir = tempfile::tempdir().expect("dir");
    let own = dir.path().join("baton");
    std::fs::create_dir(&own).expect("folder");
    let file = own.join("config.toml");
    std::fs::write(&file, "identity = \"Ann\"\nauto_wrap = \"perhaps\"\n[notify]\nquiet = \"night\"")
        .expect("written");
    let vars: Variables = [
        ("XDG_CONFIG_HOME", dir.path().display().to_string()),
        ("BATON_LIVE_AFTER", "abc".to_owned()),
        ("BATON_QDRANT_URL", "localhost".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    let sources = Sources::read(vars, dir.path().join("home"), None).expect("read");
    let refused = config(sources.clone()).map_err(|no| faults::locate(no, &sources)).expect_err("refused");
    assert!(refused.message.starts_with(&format!("{}: `auto_wrap`", file.display())), "{refused}");
    let readable = faults::readable(sources.clone()).expect("the rest");
    let mut named: Vec<_> = readable.faults.iter().filter_map(setting).collect();
    named.sort_unstable();
    assert_eq!(named, ["auto_wrap", "live_after", "notify.quiet", "qdrant_url"]);
    assert!(readable.faults.iter().any(|fault| fault.message.starts_with("BATON_LIVE_AFTER: ")));
    assert_eq!((readable.identity.as_deref(), readable.limits), (Some("Ann"), Limits::default()));
    // A wrong ledger is not opened.
    let mut origins = sources.origins.clone();
    origins.insert("server", ("localhost".to_owned(), "env BATON_SERVER".to_owned()));
    assert!(faults::readable(Sources { origins, ..sources }).is_err());
}

#[test]
fn a_table_in_a_file_is_read_and_its_path_is_meant_from_there() {
    let config = check(&[], Some("[tasks]\nmirror = \".beads/issues.jsonl\"")).expect("valid");
    assert!(
        config
            .beads_file
            .is_some_and(|file| file.path().is_absolute() && file.path().ends_with(".beads/issues.jsonl"))
    );
    let config = check(&[], Some("[tasks]\nmirro = \"x\"")).expect("it is ignored");
    let refusal = config.repository.and_then(|file| file.fault).expect("unknown");
    assert_eq!(refusal.hint, "did you mean `tasks.mirror`?");
}

#[test]
fn the_store_lies_in_the_data_directory() {
    let config = check(&[("XDG_DATA_HOME", "/data")], None).expect("valid");
    assert_eq!(config.store.to_string(), "/data/baton/baton.db");
}

/// Names of variables as files outside of the sources write them.
fn named_variables(text: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let words = text.split(|c: char| !is_name(c)).filter(|word| word.starts_with("BATON_"));
    words.map(str::to_owned).collect()
}

/// Variables of files that are none of the program's: those that `compose` itself fills in.
const OF_COMPOSE: [&str; 1] = ["BATON_DATABASE_PASSWORD"];

#[test]
fn what_is_packaged_sets_variables_that_there_are() {
    let compose = include_str!("../../../../packaging/container/compose.yaml");
    let events: Result<Vec<_>, _> = saphyr_parser::Parser::new_from_str(compose).collect();
    let scalars = events.expect("YAML").into_iter().filter_map(|(event, _)| match event {
        saphyr_parser::Event::Scalar(text, ..) => Some(text.into_owned()),
        _ => None,
    });
    let scalars: Vec<String> = scalars.collect();
    for service in ["server", "token", "postgres", "redis", "qdrant"] {
        assert!(scalars.iter().any(|text| text == service), "{service}");
    }
    let files = [
        scalars.join("\n"),
        include_str!("../../../../packaging/container/Containerfile").to_owned(),
        include_str!("../../../../packaging/systemd/baton.service").to_owned(),
        include_str!("../../../../packaging/systemd/baton-user.service").to_owned(),
    ];
    let known: Vec<&str> = super::variables().map(|(_, variable)| variable).collect();
    let named: Vec<String> = files.iter().flat_map(|text| named_variables(text)).collect();
    assert!(named.len() >= 5, "{named:?}");
    for name in named {
        assert!(
            known.contains(&name.as_str()) || OF_COMPOSE.contains(&name.as_str()),
            "there is no setting {name}"
        );
    }
}

/// The settings that are kept with each release: one that is new belongs into the file, so that the next version reads it.
#[test]
fn the_settings_that_a_release_keeps_are_all_of_them() {
    let file: toml::Table =
        include_str!("../../../../packaging/release-settings.toml").parse().expect("TOML");
    for (key, _) in super::KEYS {
        let holder = key
            .split('.')
            .try_fold(&toml::Value::Table(file.clone()), |value, part| value.get(part))
            .is_some();
        // A server stands in place of a store.
        assert!(
            holder || ["server", "server_ca"].contains(&key),
            "{key} is not in packaging/release-settings.toml"
        );
    }
}
